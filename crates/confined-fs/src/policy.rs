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
mod prefilter;
mod rule;
mod rules;
mod run_later;
mod secrets;
mod startup_rules;

use std::{ffi::OsStr, path::Path};

use structured_text::mask::MaskFormat;

use crate::{Revision, RevisionHasher};

use fold::{Folded, fold};
use globs::{Globs, Refusals};
use prefilter::Prefilter;
use rule::Rule;
use secrets::{PUBLIC, mask_format, secrets};

pub use agent_file::AgentFile;
pub(super) use agent_file::{ParsedRules, RULE_FILES, RuleFile};
pub(super) use agent_rules::{AgentRules, compiled as compiled_lines};
pub use rules::{PolicyRules, Secrets};
pub(super) use startup_rules::{ProtectedPaths, StartupRules};

/// The answer of policy about one use of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// No rule is against it.
    Allowed,
    /// Refused, by this rule.
    Refused(String),
}

/// The rules in force.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    deny: Refusals,
    allow_secret: Globs,
    protect: Refusals,
    allow_protected: Globs,
    hide: Refusals,
    /// Of the default secrets.
    secrets: Prefilter,
    /// Of the default write protection.
    run_later: Prefilter,
    startup: StartupRules,
    /// Whether secrets on the default list are shown with their values masked.
    pub(super) masks: bool,
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
            masks: rules.secrets == Some(Secrets::Mask),
            untrusted: rules.untrusted,
        }
    }

    /// The same rules with those that start-up found.
    pub(super) fn with_startup_rules(&self, startup: StartupRules) -> Self {
        Self { startup, ..self.clone() }
    }

    /// Whether the content at this path may be read or replaced.
    pub(super) fn content(&self, relative: &Path) -> Verdict {
        // Here ends the question for nearly every file of a search, whose names are not even folded.
        if self.deny.is_empty() && self.startup.allows_all_reads() && self.secrets.rules_out(relative) {
            return Verdict::Allowed;
        }
        if let Some(rule) = self.startup.denied(relative, self.untrusted) {
            return Verdict::Refused(own_rule(&rule));
        }
        let path = fold(relative);
        let refused = self.deny.first_match(&path, relative).map(|rule| own_rule(&format!("{rule} of deny")));
        let refused = refused.as_deref();
        let verdict = decide(&path, refused, &self.allow_secret, secrets(), &PUBLIC);
        or_linked(verdict, self.startup.secrets.why(relative, &path), &path, &self.allow_secret)
    }

    /// How the content at this path is masked, where nothing but the default list of secrets refuses it.
    pub(super) fn mask(&self, relative: &Path) -> Option<MaskFormat> {
        if !self.masks || self.startup.denied(relative, true).is_some() {
            return None;
        }
        let path = fold(relative);
        let is_denied = self.deny.first_match(&path, relative).is_some();
        if is_denied || PUBLIC.iter().any(|rule| rule.matches(&path)) { None } else { mask_format(&path) }
    }

    /// Whether this path, a directory or not, may be created, replaced, moved or deleted. Some names are harmless for
    /// directories.
    pub(super) fn write(&self, relative: &Path, is_directory: bool) -> Verdict {
        // A move asks twice about each entry of a tree, of which folding its names took half of the time.
        if self.protect.is_empty() && self.startup.allows_all_writes() && self.run_later.rules_out(relative) {
            return Verdict::Allowed;
        }
        let path = fold(relative);
        if let Some(rule) = self.startup.protected(relative, self.untrusted) {
            return Verdict::Refused(own_rule(&rule));
        }
        let refused = self.protect.first_match(&path, relative).map(|rule| own_rule(&format!("{rule} of protect")));
        let rules = run_later::rules().filter(|rule| !is_directory || !run_later::is_harmless_directory(*rule));
        let verdict = decide(&path, refused.as_deref(), &self.allow_protected, rules, &[]);
        or_linked(verdict, self.startup.run_later.why(relative, &path), &path, &self.allow_protected)
    }

    /// Whether this is no file that the server starts from, and may be changed. For real paths alone: a
    /// file behind a link that the server starts from is not itself one.
    pub(super) fn server_file(&self, relative: &Path) -> Verdict {
        let files = &self.startup.server_files;
        let why = if files.is_empty() { None } else { files.why(relative, &fold(relative)) };
        why.map_or(Verdict::Allowed, |why| Verdict::Refused(why.to_owned()))
    }

    /// Whether a link may have this name. Behind `.vscode -> plain`, the file `plain/tasks.json` would run later.
    pub(super) fn link(&self, relative: &Path) -> Verdict {
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

    /// Whether a name is one of these in any spelling.
    pub(super) fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
        names.contains(&fold(Path::new(name)).as_str())
    }

    /// The first names of the paths on the default lists.
    pub(super) fn first_names() -> impl Iterator<Item = &'static str> {
        run_later::rules().chain(secrets()).filter_map(Rule::first_name)
    }

    /// Whether a default rule matches this directory or a path below it.
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

    /// Whether this path is treated as missing.
    pub(super) fn hidden(&self, relative: &Path) -> bool {
        !self.hide.is_empty() && self.hide.first_match(&fold(relative), relative).is_some()
    }

    /// A digest of the rules about which content may be shown: what was kept of files under other rules, or those of
    /// another version of the program, is not used.
    pub(super) fn content_digest(&self) -> Revision {
        let mut digest = ListDigest(Revision::hasher());
        digest.list([env!("CARGO_PKG_VERSION"), if self.masks { "masks" } else { "denies" }]);
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

/// A verdict by names, or by the links that lead to the path.
fn or_linked(verdict: Verdict, why: Option<&str>, path: &Folded, allowed: &Globs) -> Verdict {
    match why {
        Some(why) if verdict == Verdict::Allowed && allowed.first_match(path.as_str()).is_none() => {
            Verdict::Refused(why.to_owned())
        }
        _ => verdict,
    }
}

/// The words of a rule that a person has made.
fn own_rule(words: &str) -> String {
    if is_own_rule(words) { words.to_owned() } else { format!("the rule {words}") }
}

/// Whether they are of such a rule, not of the built-in list.
pub(super) fn is_own_rule(words: &str) -> bool {
    words.starts_with("the rule ") || words.starts_with("a rule in ")
}

fn decide(
    path: &Folded,
    refused: Option<&str>,
    allowed: &Globs,
    mut defaults: impl Iterator<Item = Rule>,
    exceptions: &[Rule],
) -> Verdict {
    if let Some(rule) = refused {
        return Verdict::Refused(rule.to_owned());
    }
    if path.as_str().is_empty() {
        return Verdict::Allowed;
    }
    // A secret directory is secret whatever its files are called, so exceptions are for names only.
    let by_default = defaults.find(|rule| {
        rule.matches(path) && (rule.covers_directory() || !exceptions.iter().any(|other| other.matches(path)))
    });
    match by_default {
        Some(rule) if allowed.first_match(path.as_str()).is_none() => Verdict::Refused(rule.to_string()),
        _ => Verdict::Allowed,
    }
}

#[cfg(test)]
mod tests {
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
            PolicyRules { secrets: Some(Secrets::Mask), ..none.clone() },
        ] {
            assert_ne!(digest(&rules), digest(&none), "{rules:?}");
            assert_eq!(digest(&rules), digest(&rules));
        }
        assert_eq!(digest(&PolicyRules { protect: one(), untrusted: true, ..none.clone() }), digest(&none));
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
        // It is a glob, and nests more groups than a regex may.
        let deep = format!("{}a,b{}", "{".repeat(300), "}".repeat(300));
        assert!(PolicyRules::check(&deep).unwrap_err().contains("too deeply nested"));
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
