//! The default list of files that run later: some program runs or obeys them without asking, so no call writes them.
//!
//! A new name is a word in the line of `run_later.txt` with the page that says so. What one edits every day stays out,
//! though something runs it: workflows, a `Makefile`, `package.json`, `conftest.py` (SECURITY.md, "Names that are
//! refused").

use std::{path::Path, sync::LazyLock};

use super::{Rule, fold};

/// The list, which is data: its head says what a line is.
const RUN_LATER: &str = include_str!("run_later.txt");

/// The rules of each line, and the page that they come from.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    RUN_LATER.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once("  "))
}

pub(super) fn rules() -> impl Iterator<Item = Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| rows().flat_map(|(rules, _)| Rule::all(rules)).collect());
    RULES.iter().copied()
}

/// Whether a directory may have the name of a rule: none called `head` is what git begins a repository with
/// (`is_git_directory` in its `setup.c` wants a file or a link), and commands and parts of pages are called so.
pub(super) fn is_harmless_directory(rule: Rule) -> bool {
    rule.written == "head"
}

/// Rules about folders in which agents keep the worktrees of their tasks, in `worktrees`. What else is there (`skills`,
/// `commands`, `rules` …) they load.
const KEEP_WORKTREES: &str =
    ".agents/ .claude/ .codex/ .cursor/ .factory/ .gemini/ .kilo/ .kilocode/ .kiro/ .opencode/ .qwen/ .roo/";

/// Whether a worktree at this path is where an agent keeps them, and no other rule is about it or a path that leads
/// through it, as below `.git` or where it is called `.vscode`.
pub(crate) fn is_place_of_worktrees(relative: &Path) -> bool {
    let path = fold(relative);
    let folders = || KEEP_WORKTREES.split(' ');
    let is_below = |rest: &str| rest.starts_with("worktrees/");
    let is_kept = |tail: &str| folders().any(|folder| tail.strip_prefix(folder).is_some_and(is_below));
    let mut concerned = rules().filter(|rule| rule.matches(&path) || rule.rest_below(&path).is_some());
    path.tails().any(is_kept) && concerned.all(|rule| folders().any(|folder| rule.written == folder))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::{Policy, PolicyRules, Verdict};

    fn protected(policy: &Policy, path: &str) -> bool {
        policy.write(Path::new(path), false) != Verdict::Allowed
    }

    #[test]
    fn each_row_refuses_its_files_in_any_spelling_at_any_depth() {
        let policy = Policy::new(&PolicyRules::default());
        for rule in rules() {
            for path in rule.examples() {
                let mut spellings = vec![
                    path.clone(),
                    path.to_uppercase(),
                    format!("{path}."),
                    format!("{path} "),
                    format!("{path}::$DATA"),
                ];
                if !rule.written.starts_with('/') {
                    spellings.extend([format!("a/{path}"), format!("a/b/{path}")]);
                }
                if rule.covers_directory() {
                    spellings.extend([
                        format!("{path}/x"),
                        format!("a/{path}/x/y"),
                        format!("{}/x", path.to_uppercase()),
                    ]);
                }
                for spelling in spellings {
                    assert!(protected(&policy, &spelling), "{rule}: {spelling:?}");
                }
            }
        }
    }

    #[test]
    fn each_row_has_a_source() {
        for (rules, source) in rows() {
            assert!(source.starts_with("https://") && source.len() > 12, "{rules}: {source:?}");
        }
        let lines = RUN_LATER.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(rows().count(), lines.count(), "each line has two spaces before its page");
    }

    #[test]
    fn each_row_is_lower_case_and_unique() {
        let mut shown = std::collections::HashSet::new();
        for rule in rules() {
            let text = rule.written;
            assert_eq!(text, text.to_lowercase(), "names are compared in lower case");
            assert!(shown.insert(text), "{text} is there twice");
        }
    }

    #[test]
    fn files_edited_every_day_are_writable() {
        let policy = Policy::new(&PolicyRules::default());
        for path in [
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            "sub/AGENTS.md",
            "CLAUDE.local.md",
            ".github/workflows/ci.yml",
            ".github/copilot-instructions.md",
            ".github/dependabot.yml",
            ".gitlab-ci.yml",
            ".pre-commit-config.yaml",
            "Makefile",
            "package.json",
            "conftest.py",
            "pyproject.toml",
            "setup.py",
            "build.gradle",
            "gradlew",
            "gradle/wrapper/gradle-wrapper.properties",
            "Cargo.toml",
            "build.rs",
            ".gitignore",
            ".gitattributes",
            ".editorconfig",
            ".prettierrc.js",
            ".eslintrc.js",
            ".tool-versions",
            ".nvmrc",
            ".dockerignore",
            "Dockerfile",
            ".devcontainer/Dockerfile",
            ".devcontainer/setup.sh",
            "docs/agents/notes.md",
            "src/claude/settings.json",
            "kiro/hooks/x",
            "config/git/config",
            "config/nvim/init.lua",
            ".config/app/settings.toml",
            ".vscode/notes.md",
            ".yarn/cache/x.zip",
            ".yarn/patches/x.patch",
            "model.pth/readme",
            "weights/model.pth",
            "site-packages/x.py",
            "src/mcp.json",
            "docs/mcp.md",
            ".env.example",
            ".github/hooks.md",
            ".github/PULL_REQUEST_TEMPLATE.md",
        ] {
            assert!(!protected(&policy, path), "{path}");
        }
    }
}
