//! `rootbound guide`: what is pasted goes to stdout alone, and needs no directory.

use std::fs;

use file_tools::{Selection, Toolbox};

use crate::harness::program::{Outcome, program};

/// Runs `rootbound guide` in a home directory, which is never offered by default.
fn guide(arguments: &[&str]) -> Outcome {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = program(home.path());
    command.env("HOME", home.path()).env("USERPROFILE", home.path());
    let outcome = Outcome::of(command.arg("guide").args(arguments));
    assert_eq!(fs::read_dir(home.path()).expect("it exists").count(), 0, "a guide leaves nothing behind");
    outcome
}

#[test]
fn paragraph_names_the_tools_as_each_client_shows_them() {
    for (client, prefix) in [
        (None, ""),
        (Some("claude-code"), "mcp__files__"),
        (Some("Claude-Code"), "mcp__files__"),
        (Some("claude-desktop"), ""),
        (Some("codex"), "mcp__files__"),
        (Some("gemini-cli"), "mcp_files_"),
        (Some("gemini"), "mcp_files_"),
        (Some("vscode"), "mcp_files_"),
        (Some("cursor"), ""),
        (Some("zed"), ""),
        (Some("inspector"), ""),
        (Some("vscode-insiders"), "mcp_files_"),
        (Some("deerflow"), "files_"),
        (Some("opencode"), "files_"),
        (Some("copilot-cli"), "files-"),
        (Some("qwen-code"), "mcp__files__"),
        (Some("roo"), "mcp--files--"),
        (Some("other"), ""),
    ] {
        let outcome = guide(&client.into_iter().collect::<Vec<_>>());
        assert!(outcome.stderr.contains("tokens"), "{}", outcome.stderr);
        let text = outcome.succeeded();
        for tool in Toolbox::new(&Selection::default()).tools() {
            assert!(text.contains(&format!("`{prefix}{}` ", tool.spec.name)), "{client:?}: {text}");
        }
        assert_eq!(text.starts_with("---\n"), client == Some("deerflow"), "{text}");
        assert!(text.contains("## Files\n") && !text.contains("tokens"), "{text}");
    }
}

#[test]
fn matcher_for_hooks_of_claude_code_is_on_stderr_alone() {
    for (arguments, names) in [
        (&["claude-code"][..], "mcp__files__(edit|write)\n"),
        (&["claude-code", "--prefix", "mcp__f__", "--allow", "patch"], "mcp__f__(edit|write|apply_patch)\n"),
    ] {
        let outcome = guide(arguments);
        assert!(outcome.stderr.contains(&format!(": Edit|Write|{names}")), "{}", outcome.stderr);
        assert!(!outcome.succeeded().contains("Edit|Write"));
    }
    assert!(!guide(&["codex"]).stderr.contains("Edit|Write"));
}

#[test]
fn deerflow_gets_a_skill_file_and_a_paragraph_which_can_be_printed_alone() {
    let both = guide(&["deerflow"]).succeeded();
    let skill = guide(&["deerflow", "--part", "skill"]).succeeded();
    let paragraph = guide(&["deerflow", "--part", "paragraph"]).succeeded();
    assert_eq!(both, format!("{skill}\n{paragraph}"));
    // What DeerFlow's `skills/validation.py` asks of the front matter.
    let (front, _) = skill.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).expect("front matter");
    let fields: Vec<_> = front.lines().map(|line| line.split_once(": ").expect("a field")).collect();
    assert_eq!((fields.len(), fields[0]), (2, ("name", "rootbound-files")));
    assert_eq!(fields[1].0, "description");
    let description: String = serde_json::from_str(fields[1].1).expect("a quoted text");
    assert!(description.len() <= 1024 && !description.contains(['<', '>']), "{description}");
    // The directories that `rootbound setup deerflow` offers.
    let folder = tempfile::tempdir().expect("a folder");
    let entry = Outcome::of(program(folder.path()).args(["setup", "deerflow"])).succeeded();
    let words = entry.split('"').filter_map(|word| word.split_once('='));
    let offered: Vec<&str> = words.map(|(name, _)| name).filter(|name| name.starts_with("/mnt/")).collect();
    assert!(offered.len() >= 5, "{entry}");
    for path in offered {
        assert!(skill.contains(&format!("`{path}`")) && paragraph.contains(&format!("`{path}`")), "{path}");
    }
}

#[test]
fn prefix_and_options_of_the_server_decide_what_is_named() {
    let text = guide(&["deerflow", "--prefix", "ro_", "--read-only", "--root", "docs=/srv/docs:ro"]).succeeded();
    assert!(text.contains("`ro_read` ") && text.contains("`docs/…` (read-only)"), "{text}");
    assert!(!text.contains("ro_edit") && !text.contains("files_") && !text.contains("/mnt/"), "{text}");
    assert!(guide(&["--allow", "manage"]).succeeded().contains("`undo` reverts your last change"));
}

#[test]
fn wrong_client_or_prefix_is_refused_with_what_is_possible() {
    let unknown = guide(&["deer"]).failed(2);
    assert!(unknown.contains("deerflow") && unknown.contains("claude-code"), "{unknown}");
    for prefix in ["a b", "`x`", "\n", &"x".repeat(57)] {
        assert!(guide(&["--prefix", prefix]).failed(2).contains("at most 56"), "{prefix}");
    }
    assert!(guide(&["--part", "all"]).failed(2).contains("paragraph"));
    assert!(guide(&["--max-output", "lots"]).failed(2).contains("--max-output"));
}
