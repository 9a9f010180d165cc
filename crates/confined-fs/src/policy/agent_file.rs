//! Parses rule files that people wrote for agents: deny rules of Claude Code and the ignore files of others.
//!
//! Pure: the text of a rule file goes in, patterns come out. They can only take away. Syntax, from the vendors:
//! <https://code.claude.com/docs/en/permissions> (`Read` and `Edit` rules are gitignore patterns with four kinds
//! of beginnings), <https://cloud.google.com/gemini/docs/codeassist/create-aiexclude-file> (no negation; an empty
//! file refuses everything), and <https://git-scm.com/docs/gitignore> for the rest.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use globset::{ErrorKind, Glob};
use ignore::gitignore::GitignoreBuilder;

use super::{AgentRules, agent_rules::Matchers};

/// Patterns of one file that are used: some 30 KiB each once compiled.
const MAX_PATTERNS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, with a list of rules in `permissions.deny`.
    Claude,
    Gitignore,
    /// The same without negation; an empty file means everything.
    Aiexclude,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleFile {
    pub(crate) path: &'static str,
    pub(crate) syntax: Syntax,
}

/// Every rule file there is, with the page that says what it means.
pub(crate) const RULE_FILES: &[RuleFile] = &[
    // https://code.claude.com/docs/en/settings
    RuleFile { path: ".claude/settings.json", syntax: Syntax::Claude },
    RuleFile { path: ".claude/settings.local.json", syntax: Syntax::Claude },
    // https://cloud.google.com/gemini/docs/codeassist/create-aiexclude-file
    RuleFile { path: ".aiexclude", syntax: Syntax::Aiexclude },
    // https://www.jetbrains.com/help/ai-assistant/disable-ai-assistant.html
    RuleFile { path: ".aiignore", syntax: Syntax::Gitignore },
    // https://cursor.com/docs/context/ignore-files
    RuleFile { path: ".cursorignore", syntax: Syntax::Gitignore },
    // https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/gemini-ignore.md
    RuleFile { path: ".geminiignore", syntax: Syntax::Gitignore },
    // https://docs.windsurf.com/context-awareness/windsurf-ignore
    RuleFile { path: ".codeiumignore", syntax: Syntax::Gitignore },
    // https://docs.roocode.com/features/rooignore
    RuleFile { path: ".rooignore", syntax: Syntax::Gitignore },
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFile {
    pub name: String,
    /// Patterns of files whose content is refused.
    pub refused: Vec<String>,
    pub protected: Vec<String>,
    pub unused: Vec<String>,
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ParsedRules {
    deny: Vec<(Start, String, String)>,
    protect: Vec<(Start, String, String)>,
    /// The same as text for a person.
    pub(crate) summary: AgentFile,
}

impl ParsedRules {
    /// Understands a rule file. `homes`: the home directory by each of its names.
    pub(crate) fn new(text: &str, syntax: Syntax, homes: &[PathBuf]) -> Self {
        // serde_json takes a byte-order mark for an error, and `ignore` would take it for a part of the first pattern.
        let text = text.trim_start_matches('\u{feff}');
        let mut parsed = Self::default();
        match syntax {
            Syntax::Claude => parsed.settings(text, homes),
            Syntax::Gitignore => parsed.lines(text, true),
            Syntax::Aiexclude if text.trim().is_empty() => parsed.add(true, Start::Top, "**", "(empty: everything)"),
            Syntax::Aiexclude => parsed.lines(text, false),
        }
        parsed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.protect.is_empty()
    }

    fn add(&mut self, reads: bool, start: Start, pattern: &str, shown: &str) {
        let (rules, summary) = if reads {
            (&mut self.deny, &mut self.summary.refused)
        } else {
            (&mut self.protect, &mut self.summary.protected)
        };
        rules.push((start, pattern.to_owned(), shown.to_owned()));
        if summary.last().is_none_or(|last| last != shown) {
            summary.push(shown.to_owned());
        }
    }

    fn unused(&mut self, what: &str, why: &str) {
        self.summary.unused.push(format!("{what} ({why})"));
    }

    fn lines(&mut self, text: &str, negation: bool) {
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if self.deny.len() >= MAX_PATTERNS {
                self.summary.problem = Some(format!("only its first {MAX_PATTERNS} patterns are in force"));
                return;
            }
            if line.starts_with('!') && !negation {
                self.unused(line, "negation has no effect in this file");
            } else if let Err(why) = check(line) {
                self.unused(line, &why);
            } else {
                self.add(true, Start::Top, line, line);
            }
        }
    }

    fn settings(&mut self, text: &str, homes: &[PathBuf]) {
        if text.trim().is_empty() {
            return;
        }
        let settings: serde_json::Value = match serde_json::from_str(text) {
            Ok(settings) => settings,
            Err(error) => {
                self.summary.problem = Some(format!("it is not JSON: {error}"));
                return;
            }
        };
        let permissions = settings.get("permissions").unwrap_or(&serde_json::Value::Null);
        let rules = match permissions.get("deny") {
            None if permissions.is_object() || permissions.is_null() && settings.is_object() => return,
            Some(serde_json::Value::Array(rules)) => rules,
            _ => {
                self.summary.problem = Some("its permissions.deny is not a list of rules".to_owned());
                return;
            }
        };
        for rule in rules {
            if self.deny.len() + self.protect.len() >= MAX_PATTERNS {
                self.summary.problem = Some(format!("only its first {MAX_PATTERNS} rules are in force"));
                return;
            }
            match rule.as_str() {
                Some(rule) => self.rule(rule.trim(), homes),
                None => self.unused(&rule.to_string(), "no text"),
            }
        }
    }

    /// One deny rule: `Tool` or `Tool(pattern)`.
    fn rule(&mut self, rule: &str, homes: &[PathBuf]) {
        let (tool, pattern) =
            rule.split_once('(').map_or((rule, None), |(tool, rest)| (tool.trim(), rest.strip_suffix(')')));
        let reads = match tool {
            "Read" => true,
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => false,
            // Commands, the web, other servers: nothing that is a file here.
            _ => return,
        };
        if !rule.contains('(') {
            // It takes the agent's own tool away, often so that a server's is used in its place.
            return self.unused(rule, "about that tool, not about files");
        }
        let Some(pattern) = pattern.map(str::trim).filter(|pattern| !pattern.is_empty()) else {
            return self.unused(rule, "no pattern in brackets");
        };
        match patterns(pattern, homes) {
            Ok(patterns) => {
                for (start, pattern) in patterns {
                    self.add(reads, start, &pattern, rule);
                }
            }
            Err(why) => self.unused(rule, &why),
        }
    }

    /// The rules as they apply below one root. `below_top`: its path below the root that has the file. `hosts`: the
    /// root's own path on the host, by each of its names.
    pub(crate) fn rules(&self, below_top: Option<&Path>, hosts: &[PathBuf]) -> Vec<AgentRules> {
        let of = |start, prefix: PathBuf| {
            let choose = |list: &[(Start, String, String)]| -> Vec<(String, String)> {
                let wanted = list.iter().filter(|(of, ..)| *of == start);
                wanted.map(|(_, pattern, shown)| (pattern.clone(), shown.clone())).collect()
            };
            let (deny, protect) = (choose(&self.deny), choose(&self.protect));
            let is_any = !deny.is_empty() || !protect.is_empty();
            is_any.then(|| {
                let matchers = |patterns: &[_]| Matchers::new(patterns, &self.summary.name);
                AgentRules::new(prefix, matchers(&deny), matchers(&protect))
            })
        };
        let top = below_top.and_then(|prefix| of(Start::Top, prefix.to_owned()));
        top.into_iter().chain(hosts.iter().filter_map(|host| of(Start::Host, names_of(host)))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Top,
    /// `/` of the host.
    Host,
}

fn patterns(pattern: &str, homes: &[PathBuf]) -> Result<Vec<(Start, String)>, String> {
    let found: Vec<(Start, String)> = if pattern.starts_with("//") {
        vec![(Start::Host, format!("/{}", pattern.trim_start_matches('/')))]
    } else if pattern == "~" || pattern.starts_with("~/") {
        let below = &pattern[1..];
        let at = |home: &PathBuf| (Start::Host, format!("{}{below}", escaped(&names_of(home))));
        homes.iter().map(at).collect()
    } else if pattern.starts_with('!') {
        return Err("negation is not used in rules".to_owned());
    } else {
        // `./x` is `x`: as in a .gitignore, a name without a slash is one at any depth.
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let pattern = if pattern.is_empty() || pattern == "." { "**" } else { pattern };
        let escaped = if pattern.starts_with(['#', '!']) { format!("\\{pattern}") } else { pattern.to_owned() };
        vec![(Start::Top, escaped)]
    };
    if found.is_empty() {
        return Err("there is no home directory".to_owned());
    }
    for (_, pattern) in &found {
        if pattern.split('/').any(|name| name == "..") {
            return Err("`..` leads out of the directory".to_owned());
        }
        check(pattern)?;
    }
    Ok(found)
}

fn check(line: &str) -> Result<(), String> {
    // A pattern, of a size that none can be compiled of: it refuses everything.
    if Glob::new(line).is_err_and(|error| *error.kind() == ErrorKind::TooManyNestedAlternates) {
        return Ok(());
    }
    GitignoreBuilder::new("").add_line(None, line).map(drop).map_err(|error| {
        let text = error.to_string();
        format!("no pattern: {}", text.lines().next().unwrap_or_default())
    })
}

fn names_of(host: &Path) -> PathBuf {
    let drive = |prefix: &OsStr| -> PathBuf {
        let text = prefix.to_string_lossy();
        // `C:` and `\\?\C:` are the same drive.
        let letter = text.trim_end_matches(':').chars().next_back().unwrap_or_default();
        letter.to_lowercase().collect::<String>().into()
    };
    host.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(PathBuf::from(name)),
            Component::Prefix(prefix) => Some(drive(prefix.as_os_str())),
            Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

fn escaped(path: &Path) -> String {
    let mut out = String::new();
    for name in path {
        out.push('/');
        for character in name.to_string_lossy().chars() {
            if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ' ') {
                out.push('\\');
            }
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str, syntax: Syntax) -> Vec<AgentRules> {
        let parsed = ParsedRules::new(text, syntax, &[PathBuf::from("/home/me")]);
        parsed.rules(Some(Path::new("")), &[PathBuf::from("/home/me/app")])
    }

    fn claude(deny: &[&str]) -> Vec<AgentRules> {
        rules(&serde_json::json!({ "permissions": { "deny": deny } }).to_string(), Syntax::Claude)
    }

    fn denied(rules: &[AgentRules], path: &str) -> bool {
        rules.iter().any(|rules| rules.denied(Path::new(path), true).is_some())
    }

    fn protected(rules: &[AgentRules], path: &str) -> bool {
        rules.iter().any(|rules| rules.protected(Path::new(path), true).is_some())
    }

    #[test]
    fn claude_patterns_begin_in_four_ways() {
        for (rule, yes, no) in [
            ("Read(//home/me/app/private/**)", &["private/a", "private/b/c", "PRIVATE/a"][..], &["x/private/a"][..]),
            ("Read(//home/me/other/**)", &[], &["other/a"]),
            ("Read(~/app/*.dat)", &["a.dat", "A.DAT"], &["sub/a.dat"]),
            ("Read(~/other/*)", &[], &["other/a"]),
            ("Read(/docs/*.md)", &["docs/a.md"], &["x/docs/a.md", "docs/x/a.md"]),
            ("Read(docs/*.md)", &["docs/a.md"], &["x/docs/a.md"]),
            ("Read(./secrets/**)", &["secrets/a", "secrets/b/c"], &["secrets.txt", "x/secrets/a"]),
            ("Read(notes.txt)", &["notes.txt", "a/b/notes.txt"], &["notes.txt.bak"]),
            ("Read(./notes.txt)", &["notes.txt"], &["other.txt"]),
            ("Read(**/private/**)", &["private/a", "x/y/private/z"], &["privately/a"]),
            ("Read(build/)", &["build/a", "x/build/a"], &["build"]),
            ("Read(**)", &["a", "b/c"], &[]),
        ] {
            let rules = claude(&[rule]);
            for path in yes {
                assert!(denied(&rules, path), "{rule}: {path}");
            }
            for path in no {
                assert!(!denied(&rules, path), "{rule}: {path}");
            }
        }
    }

    #[test]
    fn edit_rules_protect_and_read_rules_deny() {
        let rules = claude(&["Edit(/gen/**)", "Write(*.lock)", "Read(x)", "Bash(cat:*)", "WebFetch(domain:x)"]);
        assert!(protected(&rules, "gen/a") && !denied(&rules, "gen/a"));
        assert!(protected(&rules, "a/Cargo.lock"));
        assert!(denied(&rules, "x") && !protected(&rules, "x"));
        assert!(!denied(&rules, "cat:") && !protected(&rules, "domain:x"));
    }

    #[test]
    fn unused_rules_are_listed() {
        let deny = ["Read", "Read()", "Read(!x)", "Read(../x)", "Edit(a{b)", "Bash", "mcp__x__y", "Read(ok)"];
        let text = serde_json::json!({ "permissions": { "deny": deny } }).to_string();
        let parsed = ParsedRules::new(&text, Syntax::Claude, &[]);
        assert_eq!(parsed.summary.refused, ["Read(ok)"]);
        assert_eq!(parsed.summary.unused.len(), 5, "{:?}", parsed.summary.unused);
        assert_eq!(parsed.summary.problem, None);
    }

    #[test]
    fn damaged_settings_are_reported() {
        for text in ["{", "[]", "null", "{\"permissions\": []}", "{\"permissions\": {\"deny\": \"Read(x)\"}}", "\u{0}"]
        {
            let parsed = ParsedRules::new(text, Syntax::Claude, &[]);
            assert!(parsed.summary.problem.is_some() && parsed.is_empty(), "{text:?}");
        }
        for text in ["{}", "", "{\"permissions\": {}}", "{\"permissions\": {\"allow\": [\"Read(x)\"]}}"] {
            let parsed = ParsedRules::new(text, Syntax::Claude, &[]);
            assert!(parsed.summary.problem.is_none() && parsed.is_empty(), "{text:?}");
        }
        assert!(denied(&rules("\u{feff}{\"permissions\":{\"deny\":[\"Read(x)\"]}}", Syntax::Claude), "x"));
    }

    #[test]
    fn ignore_files_have_git_semantics() {
        let rules = rules("# notes\r\n*.dat\r\n!open.dat\r\nvault/\n!vault/open.dat\n/top.txt\n", Syntax::Gitignore);
        for path in ["a.dat", "x/B.DAT", "vault/any", "sub/vault/x/y", "vault/open.dat", "top.txt"] {
            assert!(denied(&rules, path), "{path}");
        }
        for path in ["open.dat", "x/open.dat", "vault", "sub/top.txt", "# notes"] {
            assert!(!denied(&rules, path), "{path}");
        }
    }

    #[test]
    fn aiexclude_has_no_negation_and_empty_excludes_everything() {
        let one = rules("*.dat\n!open.dat\n", Syntax::Aiexclude);
        assert!(denied(&one, "open.dat") && !denied(&one, "a.txt"));
        let all = rules(" \n", Syntax::Aiexclude);
        assert!(denied(&all, "a") && denied(&all, "a/b"));
    }

    #[test]
    fn names_match_in_any_spelling() {
        let rules = rules("Geheim\u{dc}.txt\nprivate/\n", Syntax::Gitignore);
        for path in ["geheim\u{fc}.txt", "GEHEIMU\u{308}.TXT", "geheim\u{dc}.txt.", "pri\u{200b}vate/x", "ｐrivate/x"]
        {
            assert!(denied(&rules, path), "{path:?}");
        }
    }

    #[test]
    fn rules_of_a_root_apply_in_a_nested_root() {
        let parsed = ParsedRules::new("/inner/x\n*.dat\n", Syntax::Gitignore, &[]);
        let rules = parsed.rules(Some(Path::new("inner")), &[]);
        assert!(denied(&rules, "x") && denied(&rules, "sub/a.dat") && !denied(&rules, "sub/x"));
        assert!(parsed.rules(None, &[]).is_empty());
    }

    #[test]
    fn refusal_names_rule_and_file() {
        let mut parsed = ParsedRules::new("vault/\n", Syntax::Gitignore, &[]);
        parsed.summary.name = ".cursorignore".to_owned();
        let rules = parsed.rules(Some(Path::new("")), &[]);
        let words = |untrusted| rules[0].denied(Path::new("vault/x"), untrusted).unwrap();
        assert_eq!(words(false), "`vault/` in .cursorignore");
        assert_eq!(words(true), "a rule in .cursorignore");
    }

    #[test]
    fn a_rule_that_cannot_be_compiled_refuses_everything_and_such_an_exception_nothing() {
        let deep = format!("{}a,b{}", "{".repeat(300), "}".repeat(300));
        let one = rules(&format!("*.dat\n{deep}\n*.x\n"), Syntax::Gitignore);
        assert!(denied(&one, "any") && denied(&one, "a/b.dat") && denied(&one, "c.x"));
        let except = rules(&format!("*.dat\n*.y\n!{deep}\n!open.dat\n*.x\n"), Syntax::Gitignore);
        assert!(denied(&except, "a/b.dat") && denied(&except, "b.y") && denied(&except, "B.X"));
        assert!(!denied(&except, "open.dat") && !denied(&except, "any"));
        assert!(protected(&claude(&[&format!("Edit({deep})")]), "any"));
    }

    #[test]
    fn a_full_width_sign_is_a_letter_of_a_rule() {
        let rules = rules("*.x\n\u{ff3b}draft\n\u{ff01}b.x\n\u{ff0a}.y\n", Syntax::Gitignore);
        for path in ["\u{ff3b}draft", "[DRAFT", "B.X", "!B.X", "*.Y"] {
            assert!(denied(&rules, path), "{path}");
        }
        for path in ["draft", "a.y", "any"] {
            assert!(!denied(&rules, path), "{path}");
        }
    }

    #[test]
    fn number_of_patterns_is_limited() {
        let text = "name\n".repeat(3_000);
        let parsed = ParsedRules::new(&text, Syntax::Gitignore, &[]);
        assert_eq!(parsed.deny.len(), MAX_PATTERNS);
        assert!(parsed.summary.problem.is_some());
    }
}
