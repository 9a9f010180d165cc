//! Policy: which names are secrets, which run later, which are hidden.
//!
//! Pure: a path below a root goes in, a verdict with the rule that matched comes out. It is asked about every name of a
//! file, and about files that do not exist yet: an agent that may create `.git/hooks/pre-commit` or `.mcp.json` runs
//! programs (CVE-2025-61260, CVE-2026-21852, CVE-2026-25725). Names are compared folded (`fold`), since a file system
//! may take several spellings for one name (CVE-2025-59944).
//!
//! Limits: decides by names alone. A secret in a file with an ordinary name is read, and a `Makefile` is written. The
//! default rules are in `secrets` and `run_later`.

mod agent_file;
mod agent_rules;
mod fold;
mod globs;
mod machine_patterns;
pub(crate) mod reserved_names;
mod rule;
mod run_later;
mod secrets;
mod startup_rules;

use std::{ffi::OsStr, path::Path};

use structured_text::key_names::NamesFormat;

use crate::revision::{Revision, RevisionHasher};

use fold::{Folded, fold};
use globs::{Globs, Refusals};
use rule::{Prefilter, Rule};
use secrets::{PUBLIC, names_format, secrets};

pub use agent_file::AgentFile;
pub(super) use agent_file::{ParsedRules, RULE_FILES, RuleFile};
pub(super) use agent_rules::{AgentRules, compiled as compiled_lines};
pub use globs::{PolicyRules, RuleError, Secrets};
pub(super) use run_later::is_place_of_worktrees;
pub(super) use startup_rules::{ProtectedPaths, StartupRules};

/// The answer of policy about one use of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Allowed,
    Refused(String),
}

#[derive(Clone, Debug)]
pub struct Policy {
    deny: Refusals,
    allow_secret: Globs,
    protect: Refusals,
    allow_protected: Globs,
    hide: Refusals,
    secrets: Prefilter,
    run_later: Prefilter,
    startup: StartupRules,
    /// Whether the names in secrets on the default list are shown.
    shows_names: bool,
    pub(super) untrusted: bool,
}

impl Policy {
    /// Compiles the rules. A pattern that is no glob (see [`PolicyRules::check`]) refuses everything, and excepts nothing.
    pub(super) fn new(rules: &PolicyRules) -> Self {
        Self {
            deny: Refusals::new(&rules.deny),
            allow_secret: Globs::new(&rules.allow_secret, true, false),
            protect: Refusals::new(&rules.protect),
            allow_protected: Globs::new(&rules.allow_protected, true, false),
            hide: Refusals::new(&rules.hide),
            secrets: Prefilter::new(secrets()),
            run_later: Prefilter::new(run_later::rules()),
            startup: StartupRules::default(),
            shows_names: rules.secrets == Some(Secrets::Names),
            untrusted: rules.untrusted,
        }
    }

    pub(super) fn with_startup_rules(&self, startup: StartupRules) -> Self {
        Self { startup, ..self.clone() }
    }

    pub(super) fn content(&self, relative: &Path) -> Verdict {
        // Here ends the question for nearly every file of a search, whose names are not even folded.
        if self.deny.is_empty() && self.startup.allows_all_reads() && self.secrets.rules_out(relative) {
            return Verdict::Allowed;
        }
        let paths = self.judged_paths(relative);
        if let Some(rule) = self.denied(&paths) {
            return Verdict::Refused(rule);
        }
        let path = &paths[0].1;
        let is_allowed = || self.allow_secret.first_match(path.as_str()).is_some();
        decide(path, is_allowed, secrets(), &PUBLIC, self.startup.secrets.why(relative, path))
    }

    /// How the names in the content at this path are read, where they are shown and nothing but the default list of
    /// secrets refuses it.
    pub(super) fn names_format(&self, relative: &Path) -> Option<NamesFormat> {
        if !self.shows_names {
            return None;
        }
        let paths = self.judged_paths(relative);
        let path = &paths[0].1;
        let is_open = || PUBLIC.iter().any(|rule| rule.matches(path));
        if self.denied(&paths).is_some() || is_open() { None } else { names_format(path) }
    }

    /// The rule that a person has made against the content at a path.
    fn denied(&self, paths: &[(&Path, Folded)]) -> Option<String> {
        own_rule(paths, |path| self.startup.denied(path, self.untrusted), &self.deny, "deny")
    }

    /// Whether this path, a directory or not, may be created, replaced, moved or deleted. Some names are harmless for
    /// directories. In a worktree with its own rules the default list counts from its top, and rules that people wrote
    /// from both.
    pub fn write(&self, relative: &Path, is_directory: bool) -> Verdict {
        // A move asks twice about each entry of a tree, of which folding its names took half of the time.
        if self.protect.is_empty() && self.startup.allows_all_writes() && self.run_later.rules_out(relative) {
            return Verdict::Allowed;
        }
        let paths = self.judged_paths(relative);
        let by_file = |path: &Path| self.startup.protected(path, self.untrusted);
        if let Some(rule) = own_rule(&paths, by_file, &self.protect, "protect") {
            return Verdict::Refused(rule);
        }
        let rules = run_later::rules().filter(|rule| !is_directory || !run_later::is_harmless_directory(*rule));
        let is_allowed = || paths.iter().any(|(_, path)| self.allow_protected.first_match(path.as_str()).is_some());
        let (whole, own) = (&paths[0].1, &paths[paths.len() - 1].1);
        decide(own, is_allowed, rules, &[], self.startup.run_later.why(relative, whole))
    }

    /// Whether this is no file that the server starts from, and may be changed. For real paths alone: a
    /// file behind a link that the server starts from is not itself one.
    pub fn server_file(&self, relative: &Path) -> Verdict {
        let files = &self.startup.server_files;
        let why = if files.is_empty() { None } else { files.why(relative, &fold(relative)) };
        why.map_or(Verdict::Allowed, |why| Verdict::Refused(why.to_owned()))
    }

    /// Whether a link may have this name. Behind `.vscode -> plain`, the file `plain/tasks.json` would run later.
    pub fn link(&self, relative: &Path) -> Verdict {
        let path = fold(relative);
        if let Some(why) = self.startup.server_files.why_above(relative, &path) {
            return Verdict::Refused(why.to_owned());
        }
        let by_link = || self.startup.run_later.why_above(relative, &path).map(str::to_owned);
        let by_name = || Some(run_later::rules().find(|rule| rule.rest_below(&path).is_some())?.to_string());
        match by_link().or_else(by_name) {
            Some(rule) if self.allow_protected.first_match(path.as_str()).is_none() => Verdict::Refused(rule),
            _ => Verdict::Allowed,
        }
    }

    /// The paths below a directory of this name that default rules match, each with whether it is a secret; without
    /// rules that match the whole directory.
    pub(super) fn rests_below(directory: &Path) -> Vec<(&'static str, bool)> {
        let path = fold(directory);
        let rules = run_later::rules().map(|rule| (rule, false)).chain(secrets().map(|rule| (rule, true)));
        rules.filter_map(|(rule, secret)| Some((rule.rest_below(&path)?, secret))).collect()
    }

    /// Whether the configuration allows a write to this path although it is protected by default.
    pub(super) fn allows_protected(&self, relative: &Path) -> bool {
        !self.allow_protected.is_empty() && self.allow_protected.first_match(fold(relative).as_str()).is_some()
    }

    pub(super) fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
        names.contains(&fold(Path::new(name)).as_str())
    }

    pub(super) fn first_names() -> impl Iterator<Item = &'static str> {
        run_later::rules().chain(secrets()).filter_map(Rule::first_name)
    }

    pub(super) fn leads_to_protected(directory: &Path) -> bool {
        let path = fold(directory);
        run_later::rules()
            .chain(secrets())
            .any(|rule| rule.rest_below(&path).is_some() || (rule.covers_directory() && rule.matches(&path)))
    }

    /// Whether this path is a public exception to the default secrets (`.env.example`).
    pub(super) fn is_public(relative: &Path) -> bool {
        let path = fold(relative);
        PUBLIC.iter().any(|rule| rule.matches(&path))
    }

    pub(super) fn hidden(&self, relative: &Path) -> bool {
        let is_hidden = |(path, folded): &(&Path, Folded)| self.hide.first_match(folded, path).is_some();
        !self.hide.is_empty() && self.judged_paths(relative).iter().any(is_hidden)
    }

    /// A path from the top of its root, and from that of the worktree in it that has its own rules; each as it is and
    /// folded.
    fn judged_paths<'p>(&self, relative: &'p Path) -> Vec<(&'p Path, Folded)> {
        let tops = [Some(relative), self.startup.below_worktree(relative)];
        tops.into_iter().flatten().map(|path| (path, fold(path))).collect()
    }

    /// A digest of the rules about which content may be shown: what was kept of files under other rules, or those of
    /// another version of the program, is not used.
    pub(super) fn content_digest(&self) -> Revision {
        let mut digest = ListDigest(Revision::hasher());
        digest.list([env!("CARGO_PKG_VERSION")]);
        digest.list(secrets().map(|rule| rule.written));
        digest.list(PUBLIC.iter().map(|rule| rule.written));
        digest.list(self.deny.sources());
        digest.list(self.allow_secret.sources());
        digest.list(self.hide.sources());
        digest.list(self.startup.secrets.exact_paths());
        for agent in &self.startup.agents {
            digest.list(agent.denied_patterns());
        }
        digest.0.finish()
    }
}

/// Hashes lists of texts so that no other lists have the same bytes.
struct ListDigest(RevisionHasher);

impl ListDigest {
    fn list<T: AsRef<OsStr>>(&mut self, texts: impl IntoIterator<Item = T>) {
        for text in texts {
            self.0.update(&(text.as_ref().len() as u64).to_le_bytes());
            self.0.update(text.as_ref().as_encoded_bytes());
        }
        // No text has that length: it ends the list.
        self.0.update(&u64::MAX.to_le_bytes());
    }
}

/// The words of a rule that a person has made against a path: in a file for agents, else in a list of the configuration.
fn own_rule(
    paths: &[(&Path, Folded)],
    by_file: impl Fn(&Path) -> Option<String>,
    list: &Refusals,
    name: &str,
) -> Option<String> {
    let by_list = || paths.iter().find_map(|(path, folded)| list.first_match(folded, path));
    let words =
        paths.iter().find_map(|(path, _)| by_file(path)).or_else(|| Some(format!("{} of {name}", by_list()?)))?;
    Some(if is_own_rule(&words) { words } else { format!("the rule {words}") })
}

pub(super) fn is_own_rule(words: &str) -> bool {
    words.starts_with("the rule ") || words.starts_with("a rule in ")
}

/// The verdict of the default rules, and of what a link is known to lead to (`linked`).
fn decide(
    path: &Folded,
    is_allowed: impl FnOnce() -> bool,
    mut defaults: impl Iterator<Item = Rule>,
    exceptions: &[Rule],
    linked: Option<&str>,
) -> Verdict {
    // A secret directory is secret whatever its files are called, so exceptions are for names only.
    let is_excepted = |rule: &Rule| !rule.covers_directory() && exceptions.iter().any(|other| other.matches(path));
    let by_default = defaults.find(|rule| !path.as_str().is_empty() && rule.matches(path) && !is_excepted(rule));
    match by_default.map(|rule| rule.to_string()).or_else(|| linked.map(str::to_owned)) {
        Some(rule) if !is_allowed() => Verdict::Refused(rule),
        _ => Verdict::Allowed,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn policy(change: impl FnOnce(&mut PolicyRules)) -> Policy {
        let mut rules = PolicyRules::default();
        change(&mut rules);
        let lists = [&rules.deny, &rules.allow_secret, &rules.protect, &rules.allow_protected, &rules.hide];
        assert!(lists.into_iter().flatten().all(|glob| PolicyRules::check(glob).is_ok()), "{rules:?}");
        Policy::new(&rules)
    }

    fn secret(policy: &Policy, path: &str) -> bool {
        policy.content(Path::new(path)) != Verdict::Allowed
    }

    fn protected(policy: &Policy, path: &str) -> bool {
        policy.write(Path::new(path), false) != Verdict::Allowed
    }

    #[test]
    fn secrets_are_refused() {
        let policy = policy(|_| {});
        for path in [
            ".env",
            "a/b/.env.production",
            ".ENV",
            ".env.",
            ".env ",
            ".e\u{200b}nv",
            ".env::$DATA",
            "keys/x.pem:$DATA",
            ".ｅnv",
            ".env.pub",
            ".env.id_x.pub",
            "republic.pem",
            "nonpublic.key",
            "nonpubkey.pem",
            "republic_key.pem",
            "id_rsa",
            "keys/id_ed25519",
            "ID_RSA",
            "server.pem",
            "tls/server.KEY",
            "x.p12",
            "x.pfx",
            "x.jks",
            "vault.kdbx",
            ".netrc",
            ".pgpass",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            "home/.aws/credentials",
            ".kube/config",
            ".docker/config.json",
            ".ssh/id_rsa.pub",
            ".ssh/deep/er/file",
            ".gnupg/pubring.kbx",
            "my-service-account.json",
            "application_default_credentials.json",
            "infra/terraform.tfstate",
            "infra/terraform.tfstate.backup",
        ] {
            assert!(secret(&policy, path), "{path}");
        }
    }

    #[test]
    fn examples_and_public_keys_are_no_secrets() {
        let policy = policy(|_| {});
        for path in [
            ".env.example",
            ".env.sample",
            "x/.env.template",
            ".env.local.example",
            "id_rsa.pub",
            "keys/id_ed25519.pub",
            "public.pem",
            "id_ecdsa_sk.pub",
            "jwt-public.pem",
            "jwt_public_key.pem",
            "site.pubkey.pem",
            "server.pub.pem",
            "a.public.key",
            "environment.rs",
            "env",
            "src/env.rs",
            "docs/aws/credentials",
            "config.json",
            "keynote.rs",
            "ssh/config",
            "",
        ] {
            assert!(!secret(&policy, path), "{path}");
        }
    }

    #[test]
    fn files_that_run_later_are_protected_from_writing() {
        let policy = policy(|_| {});
        for path in [
            ".git",
            ".git/config",
            ".GIT/hooks/pre-commit",
            "sub/.git/hooks/post-checkout",
            ".git./config",
            ".g\u{200d}it/config",
            ".git::$INDEX_ALLOCATION/config",
            ".Git:$I30:$Index_Allocation/hooks/pre-commit",
            "vendor/any/HEAD",
            ".bashrc::$DATA",
            "git~2/config",
            "GIT~1/config",
            ".husky/pre-commit",
            ".vscode/tasks.json",
            ".vscode/settings.json",
            "x/.vscode/launch.json",
            ".idea/workspace.xml",
            ".claude/settings.json",
            ".cursor/mcp.json",
            ".mcp.json",
            ".gemini/settings.json",
            ".codex/config.toml",
            ".envrc",
            ".bashrc",
            ".zshenv",
            ".profile",
            ".npmrc",
            "sitecustomize.py",
            ".gitmodules",
        ] {
            assert!(protected(&policy, path), "{path}");
        }
        for path in [
            ".gitignore",
            ".gitattributes",
            "HEAD.md",
            "include/head.h",
            ".rgignore",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".pre-commit-config.yaml",
            "conftest.py",
            "notes:today",
            "12:30:00.log",
            ".vscode/readme.md",
            "src/sitecustomize.py",
            "claude/settings.json",
            "git/config",
            "Makefile",
        ] {
            assert!(!protected(&policy, path), "{path}");
        }
    }

    #[test]
    fn configured_denials_win_over_configured_exceptions() {
        let policy = policy(|rules| {
            rules.deny = vec!["private".into(), "/docs/*.txt".into()];
            rules.allow_secret = vec![".env.test".into(), "private/**".into(), ".ssh".into()];
            rules.allow_protected = vec![".vscode/**".into()];
            rules.protect = vec!["*.lock".into()];
        });
        assert!(secret(&policy, "private"));
        assert!(secret(&policy, "a/Private/x"));
        assert!(secret(&policy, "docs/a.txt"));
        assert!(!secret(&policy, "x/docs/a.txt"));
        assert!(!secret(&policy, ".env.test"));
        assert!(!secret(&policy, ".ssh/config"));
        assert!(secret(&policy, ".env"));
        assert!(!protected(&policy, ".vscode/tasks.json"));
        assert!(protected(&policy, "Cargo.lock"));
    }

    #[test]
    fn a_configured_pattern_is_compared_in_any_spelling() {
        let policy = policy(|rules| rules.deny = vec!["re\u{301}sume\u{301}.txt".into(), "STRA\u{df}E".into()]);
        for path in ["r\u{e9}sum\u{e9}.txt", "RE\u{301}SUM\u{c9}.TXT", "stra\u{df}e", "Strasse/x"] {
            assert!(secret(&policy, path), "{path}");
        }
    }

    #[test]
    fn a_pattern_is_about_the_name_that_it_spells() {
        for name in
            ["secret.", "notes ", "a\u{200d}b.dat", "\u{2764}\u{fe0f}.md", "［x］.dat", "＊.k2", "k:$v", "d:$x/f"]
        {
            let policy = policy(|rules| {
                rules.deny = vec![name.into()];
                rules.hide = vec![name.into()];
                rules.protect = vec![name.into()];
            });
            assert!(secret(&policy, name) && protected(&policy, name) && policy.hidden(Path::new(name)), "{name:?}");
            assert!(!secret(&policy, "other.k2") && !protected(&policy, "x.dat"), "{name:?}");
        }
        let policy = policy(|rules| rules.deny = vec!["*.x\u{ad}".into(), "{a. ,b}/c.".into(), "*.!.".into()]);
        for path in ["n.x", "n.x\u{ad}", "a/c", "a. /c.", "b/c", "z.!."] {
            assert!(secret(&policy, path), "{path:?}");
        }
    }

    #[test]
    fn a_pattern_that_folds_to_nothing_does_not_match_everything() {
        let policy = policy(|rules| {
            rules.deny = vec!["*.".into(), "\u{200b}".into()];
            rules.allow_secret = vec!["*.".into(), "\u{200b}".into()];
        });
        assert!(secret(&policy, "a.") && secret(&policy, "\u{200b}") && secret(&policy, ".env"));
        assert!(!secret(&policy, "a") && !secret(&policy, "a/b"));
    }

    #[test]
    fn a_question_mark_and_a_class_stand_for_a_character_of_any_script() {
        let policy = policy(|rules| rules.deny = vec!["?.k2".into(), "[日é!-]*.k3".into(), "x[!a]y".into()]);
        for path in
            ["é.k2", "日.k2", "\u{1f600}.k2", "a.k2", "-.k2", "].k2", "日本.k3", "É.k3", "!x.k3", "-.k3", "xéy", "x]y"]
        {
            assert!(secret(&policy, path), "{path}");
        }
        for path in ["ab.k2", "éé.k2", "é·.k2", "·¿.k2", "é«x.k2", "d/.k2", "a.k3", "xay", "xAy", "xy", "x/y"] {
            assert!(!secret(&policy, path), "{path}");
        }
    }

    #[test]
    fn rules_about_content_change_the_digest_and_others_do_not() {
        let digest = |rules: &PolicyRules| Policy::new(rules).content_digest();
        let none = PolicyRules::default();
        let one = || vec!["a".to_owned()];
        for rules in [
            PolicyRules { deny: one(), ..none.clone() },
            PolicyRules { allow_secret: one(), ..none.clone() },
            PolicyRules { hide: one(), ..none.clone() },
        ] {
            assert_ne!(digest(&rules), digest(&none), "{rules:?}");
            assert_eq!(digest(&rules), digest(&rules));
        }
        let others = PolicyRules { protect: one(), untrusted: true, secrets: Some(Secrets::Names), ..none.clone() };
        assert_eq!(digest(&others), digest(&none));
    }

    proptest! {
        #[test]
        fn every_name_matches_the_pattern_that_is_its_own_escape(
            names in prop::collection::vec("[a-zA-Z.: $?*\\[\\]{},!^-]{1,4}|\\PC{1,4}|[^/\\x00]{1,4}", 1..3),
        ) {
            // On Windows a backslash separates names, and `a:` is a drive: no name holds either.
            let separates = |character| character == '/' || cfg!(windows) && matches!(character, '\\' | ':');
            prop_assume!(!names.iter().any(|name| name.contains(separates) || matches!(name.as_str(), "." | "..")));
            let path = names.join("/");
            let pattern = PolicyRules::exactly(Path::new(&path)).expect("it is not the root");
            let rules = PolicyRules {
                deny: vec![pattern.clone()], protect: vec![pattern.clone()], hide: vec![pattern.clone()],
                ..PolicyRules::default()
            };
            let policy = Policy::new(&rules);
            prop_assert!(secret(&policy, &path) && protected(&policy, &path), "{path:?} {pattern:?}");
            prop_assert!(policy.hidden(Path::new(&path)), "{path:?} {pattern:?}");
            if !path.contains('\\') {
                let policy = Policy::new(&PolicyRules { deny: vec![globset::escape(&path)], ..PolicyRules::default() });
                prop_assert!(secret(&policy, &path), "{path:?} by globset::escape");
            }
        }
    }

    fn with_worktrees(change: impl FnOnce(&mut PolicyRules), startup: impl FnOnce(&mut StartupRules)) -> Policy {
        let worktrees = [".claude/worktrees/a", ".claude/worktrees/a/.codex/worktrees/in"].map(PathBuf::from).into();
        let mut rules = StartupRules { worktrees, ..StartupRules::default() };
        startup(&mut rules);
        policy(change).with_startup_rules(rules)
    }

    #[test]
    fn worktree_of_an_agent_is_judged_from_its_own_top() {
        let policy = with_worktrees(|_| {}, |_| {});
        for path in
            ["src/x", "x", "src", "notes.md", "claude/x", ".vscode/notes.md", "in/x", ".codex/worktrees/in/src/x"]
        {
            assert!(!protected(&policy, &format!(".claude/worktrees/a/{path}")), "{path}");
        }
        for path in [
            ".git",
            ".git/hooks/x",
            ".GIT/hooks/x",
            ".git./config",
            "GIT~1/config",
            "sub/.git/config",
            ".claude/settings.json",
            ".Claude/worktrees/b/x",
            ".codex/worktrees",
            ".codex/worktrees/in",
            ".codex/worktrees/in/.git",
            ".codex/worktrees/in/.codex/config.toml",
            ".codex/worktrees/other/x",
            ".vscode/tasks.json",
            ".mcp.json",
            "mcp.json",
            "sitecustomize.py",
            "HEAD",
            ".husky/pre-commit",
        ] {
            assert!(protected(&policy, &format!(".claude/worktrees/a/{path}")), "{path}");
        }
        for path in [
            ".claude",
            ".claude/worktrees",
            ".claude/worktrees/a",
            ".claude/settings.json",
            ".claude/worktrees/b/x",
            ".claude/worktrees/a2/x",
            ".claude/worktrees/A/x",
            ".claude/worktrees/a./x",
            ".claude/worktrees/a /x",
            ".claude/worktrees/a\u{200b}/x",
            ".claude/worktrees/a::$INDEX_ALLOCATION/x",
            ".CLAUDE/worktrees/a/x",
            ".claude./worktrees/a/x",
            "sub/.claude/worktrees/a/x",
            ".codex/worktrees/in/x",
        ] {
            assert!(protected(&policy, path), "{path}");
            assert_ne!(policy.write(Path::new(path), true), Verdict::Allowed, "{path}");
        }
        assert!(secret(&policy, ".claude/worktrees/a/.env") && secret(&policy, ".claude/worktrees/a/keys/id_rsa"));
        assert!(!secret(&policy, ".claude/worktrees/a/.env.example"));
        assert_eq!(policy.link(Path::new(".claude/worktrees/a/link")), Verdict::Allowed);
        assert_ne!(policy.link(Path::new(".claude/worktrees/a/.vscode")), Verdict::Allowed);
    }

    #[test]
    fn rules_that_people_wrote_hold_from_the_root_and_from_the_worktree() {
        let policy = with_worktrees(
            |rules| {
                rules.deny = vec!["secrets/**".into(), ".claude/worktrees/*/notes.md".into()];
                rules.protect = vec!["/gen/*".into(), ".claude/worktrees/a/lock".into()];
                rules.hide = vec!["/ghosts/*".into(), ".claude/worktrees/a/hidden".into()];
                rules.allow_protected = vec!["/.vscode/tasks.json".into(), ".claude/worktrees/a/.envrc".into()];
                rules.allow_secret = vec!["/fixtures/.env".into()];
            },
            |_| {},
        );
        let at = |path: &str| format!(".claude/worktrees/a/{path}");
        for path in ["secrets/x", "notes.md"] {
            assert!(secret(&policy, &at(path)), "{path}");
        }
        for path in ["gen/x", "lock", ".vscode/settings.json", ".zshenv"] {
            assert!(protected(&policy, &at(path)), "{path}");
        }
        for path in [".vscode/tasks.json", ".envrc", "sub/gen/x"] {
            assert!(!protected(&policy, &at(path)), "{path}");
        }
        assert!(policy.hidden(Path::new(&at("ghosts/x"))) && policy.hidden(Path::new(&at("hidden"))));
        // A secret is one by the whole path alone.
        assert!(!secret(&policy, "fixtures/.env") && secret(&policy, &at("fixtures/.env")));
        assert!(
            !protected(&policy, ".vscode/tasks.json") && protected(&policy, ".claude/worktrees/b/.vscode/tasks.json")
        );
        assert!(!secret(&policy, ".claude/worktrees/b/secrets/x"), "no worktree");
    }

    #[test]
    fn names_in_a_secret_of_a_worktree_are_denied_by_a_rule_from_its_own_top() {
        let shown = |deny: &[&str], path: &str| {
            let deny = deny.iter().map(|glob| (*glob).to_owned()).collect();
            let rules = |rules: &mut PolicyRules| (rules.secrets, rules.deny) = (Some(Secrets::Names), deny);
            with_worktrees(rules, |_| {}).names_format(Path::new(path)).is_some()
        };
        assert!(shown(&[], ".claude/worktrees/a/conf/.env") && shown(&["/conf/*"], ".claude/worktrees/b/conf/.env"));
        assert!(!shown(&["/conf/*"], ".claude/worktrees/a/conf/.env"));
    }

    #[test]
    fn targets_of_links_stay_protected_in_a_worktree() {
        let add = |rules: &mut StartupRules| {
            rules.run_later.add(Path::new(".claude/worktrees/a/scripts"), true, "the target of a link");
            rules.secrets.add(Path::new(".claude/worktrees/a/ring"), true, "the target of a link");
        };
        let policy = with_worktrees(|_| {}, add);
        assert!(protected(&policy, ".claude/worktrees/a/scripts/x") && secret(&policy, ".claude/worktrees/a/Ring/x"));
        assert!(!protected(&policy, ".claude/worktrees/a/script/x"));
    }

    #[test]
    fn worktrees_are_kept_in_one_folder_of_an_agent() {
        for path in [
            ".claude/worktrees/a",
            ".codex/worktrees/9f2c/repo",
            ".cursor/worktrees/repo/a",
            "sub/.qwen/worktrees/a",
            ".claude/worktrees/a/.claude/worktrees/b",
            ".claude/worktrees/fix-login",
        ] {
            assert!(is_place_of_worktrees(Path::new(path)), "{path}");
        }
        for path in [
            "",
            "a",
            ".claude",
            ".claude/a",
            ".claude/worktrees",
            ".claude/skills/a",
            ".claude/commands/worktrees/a",
            ".claude/worktrees2/a",
            ".git/worktrees/a",
            ".git/.claude/worktrees/a",
            ".claude/worktrees/.git",
            ".claude/worktrees/a/.git/b",
            ".husky/worktrees/a",
            ".vscode/worktrees/a",
            ".claude/worktrees/.vscode",
            ".claude/worktrees/.husky",
            ".claude/worktrees/.config",
            ".claude/worktrees/HEAD",
            ".idea/.claude/worktrees/a",
            ".mvn/x/.claude/worktrees/a",
        ] {
            assert!(!is_place_of_worktrees(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn hidden_names_cover_what_lies_below() {
        let policy = policy(|rules| rules.hide = vec!["secret".into()]);
        assert!(policy.hidden(Path::new("a/SECRET/b")));
        assert!(!policy.hidden(Path::new("a/secrets")));
    }

    #[test]
    fn a_verdict_names_its_rule() {
        let policy = policy(|_| {});
        assert_eq!(policy.content(Path::new("a/x.pem")), Verdict::Refused("`*.pem`".into()));
        assert_eq!(policy.write(Path::new(".git/x"), false), Verdict::Refused("`.git/`".into()));
    }

    #[test]
    fn a_pattern_that_cannot_be_compiled_empties_no_list() {
        // Nests more groups than a glob may.
        let deep = format!("{}a,b{}", "{".repeat(300), "}".repeat(300));
        assert!(PolicyRules::check(&deep).unwrap_err().to_string().contains("nested too deeply"));
        let lists = |list: [&str; 4]| list.map(str::to_owned).to_vec();
        let list = || lists(["a*.k", "b*.k", &deep, "c*.k"]);
        let refusing = PolicyRules { deny: list(), protect: list(), hide: list(), ..PolicyRules::default() };
        let refusing = Policy::new(&refusing);
        let path = Path::new("any");
        assert!(secret(&refusing, "any") && protected(&refusing, "any") && refusing.hidden(path));
        assert_eq!(refusing.content(Path::new("b1.k")), Verdict::Refused("the rule `b*.k` of deny".into()));
        let list = || lists([".env.a*", ".envrc", &deep, ".env.c*"]);
        let excepting = PolicyRules { allow_secret: list(), allow_protected: list(), ..PolicyRules::default() };
        let excepting = Policy::new(&excepting);
        assert!(!secret(&excepting, ".env.a1") && !secret(&excepting, ".env.c1") && secret(&excepting, ".env.b1"));
        assert!(!protected(&excepting, ".envrc") && protected(&excepting, ".bashrc"));
    }

    #[test]
    fn a_pattern_that_is_none_is_told() {
        for broken in ["[", "a{b", "", "/", "./", "."] {
            assert!(PolicyRules::check(broken).is_err(), "{broken:?}");
        }
        assert_eq!(PolicyRules::check("a/**/*.{b,c}"), Ok(()));
    }
}
