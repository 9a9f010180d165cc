//! The completion script of bash, run by bash.

use std::{fs, process::Command};

use crate::harness::program::{Outcome, program};

/// What bash completes for the last word: the words, in order.
fn completed(lines: &[&[&str]]) -> Option<Vec<String>> {
    let bash = Command::new("bash").arg("--version").output().ok()?;
    assert!(bash.status.success(), "{bash:?}");
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("folder")).expect("a folder");
    fs::write(dir.path().join("file.toml"), "").expect("written");
    let mut script = Outcome::of(program(dir.path()).args(["completions", "bash"])).succeeded();
    script += r#"
line() {
    COMP_WORDS=(rootbound "$@")
    COMP_CWORD=$#
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=()
    _rootbound rootbound "$cur" "$prev" 2>/dev/null
    echo "${COMPREPLY[*]}"
}
"#;
    for line in lines {
        let words: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
        script.extend(["line ", &words.join(" "), "\n"]);
    }
    // Longer than one argument may be.
    fs::write(dir.path().join("folder/script"), script).expect("written");
    let mut bash = Command::new("bash");
    let printed = Outcome::of(bash.args(["--norc", "folder/script"]).current_dir(dir.path())).succeeded();
    Some(printed.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_subcommands_clients_choices_and_files() {
    let cases: &[(&[&str], &str)] = &[
        (&["s"], "setup"),
        (&["--max-f"], "--max-file-size --max-files-created"),
        (&["--confirm", ""], "never destructive writes"),
        (&["--images", "off", "--history", ""], "auto off"),
        (&["--allow", ""], "manage patch watch present"),
        (&["--tools", "gl"], "glob"),
        (&["--config", "fi"], "file.toml"),
        (&["--audit", "fi"], "file.toml"),
        (&["history", "re"], "restore"),
        (&["setup", "cl"], "claude-desktop claude-code cline"),
        (&["setup", "codex", "--sp"], "--split"),
        (&["setup", "codex", "--scope", ""], "user project local"),
        (&["guide", "d"], "deerflow"),
        (&["guide", "--part", ""], "skill paragraph"),
        (&["call", "gr"], "grep"),
        (&["completions", "z"], "zsh"),
        // Nothing: bash completes directories and files.
        (&["--state-dir", ""], ""),
        (&["doctor", "fo"], ""),
    ];
    let lines: Vec<&[&str]> = cases.iter().map(|(line, _)| *line).collect();
    // A system without bash has nobody who uses the script.
    let Some(printed) = completed(&lines) else { return };
    for ((line, expected), printed) in cases.iter().zip(&printed) {
        assert_eq!(printed, expected, "{line:?}");
    }
    assert_eq!(printed.len(), cases.len());
}
