//! Patterns on paths of the whole machine, as they apply below one root.
//!
//! An administrator does not know which directories people will offer: a pattern names a path of the machine
//! (`/srv/hr`), or names at any depth (`*.pem`, `secrets/prod`), also where the root is inside of what it names.

use std::{collections::BTreeSet, path::Path};

use super::{
    fold::fold,
    globs::{PolicyRules, Refusals, RuleError},
};
use text_file::with_slashes;

const ANY_DEPTH: &str = "**";

impl PolicyRules {
    /// Whether `pattern` can be one on paths of the machine.
    ///
    /// # Errors
    /// As [`Self::check`]; also braces with a `/` in them, as each name is compared by itself.
    pub fn check_on_machine(pattern: &str) -> Result<(), RuleError> {
        let pattern = with_slashes(pattern);
        Self::check(without_drive(&pattern))?;
        let is_split = |name: &str| name.matches('{').count() != name.matches('}').count();
        if pattern.split('/').any(is_split) {
            return Err(RuleError::NoGlob("braces hold a `/`: write one pattern for each alternative".to_owned()));
        }
        Ok(())
    }

    /// What a pattern on paths of the machine refuses below the root at `host`, an absolute path: `**` if it names the root
    /// or a directory above it, nothing if it names other places.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(unix)] {
    /// use confined_fs::PolicyRules;
    ///
    /// let below = |pattern, host: &str| PolicyRules::below(pattern, host.as_ref());
    /// assert_eq!(below("/home/*/private/*.pdf", "/home/ann"), ["/private/*.pdf"]);
    /// assert_eq!(below("/home/*/private", "/home/ann/private/2026"), ["**"]);
    /// assert!(below("/home/*/private", "/srv/app").is_empty());
    /// assert_eq!(below("secrets/prod", "/srv/secrets"), ["**/secrets/prod", "/prod"]);
    /// # }
    /// ```
    pub fn below(pattern: &str, host: &Path) -> Vec<String> {
        let pattern = with_slashes(pattern);
        let pattern = pattern.strip_prefix("./").unwrap_or(&pattern).trim_end_matches('/');
        let is_absolute = pattern.starts_with('/') || without_drive(pattern) != pattern;
        let names = pattern.split('/').filter(|name| !name.is_empty());
        let names: Vec<&str> = (!is_absolute).then_some(ANY_DEPTH).into_iter().chain(names).collect();
        // As the states of an automaton: how many names of the pattern the names of the path so far have used up.
        let mut states = BTreeSet::new();
        reach(&names, 0, &mut states);
        let host = host.to_string_lossy();
        let host = with_slashes(host.trim_start_matches(r"\\?\"));
        for name in host.split('/').filter(|name| !name.is_empty()) {
            let mut next = BTreeSet::new();
            for state in states {
                match names.get(state) {
                    Some(&ANY_DEPTH) => reach(&names, state, &mut next),
                    Some(one) if matches(one, name) => reach(&names, state + 1, &mut next),
                    // All names are used up: what is named is this place, or one above it.
                    None => return vec![ANY_DEPTH.to_owned()],
                    Some(_) => {}
                }
            }
            states = next;
        }
        if states.contains(&names.len()) {
            return vec![ANY_DEPTH.to_owned()];
        }
        let is_covered = |state: usize| state > 0 && names[state - 1] == ANY_DEPTH && states.contains(&(state - 1));
        let rest = |state: &usize| match &names[*state..] {
            // As a person writes it, who reads it in a refusal.
            [ANY_DEPTH, name] => (*name).to_owned(),
            rest if rest[0] == ANY_DEPTH => rest.join("/"),
            rest => format!("/{}", rest.join("/")),
        };
        states.iter().filter(|state| !is_covered(**state)).map(rest).collect()
    }
}

/// Adds a state, and those that are reached without a name, as `**` may stand for none.
fn reach(names: &[&str], state: usize, states: &mut BTreeSet<usize>) {
    states.insert(state);
    if names.get(state) == Some(&ANY_DEPTH) {
        reach(names, state + 1, states);
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let name = Path::new(name);
    Refusals::new(&[pattern.to_owned()]).first_match(&fold(name), name).is_some()
}

/// The path after `C:`.
fn without_drive(pattern: &str) -> &str {
    match pattern.as_bytes() {
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => &pattern[2..],
        _ => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(pattern: &str, host: &str) -> Vec<String> {
        PolicyRules::check_on_machine(pattern).unwrap();
        PolicyRules::below(pattern, Path::new(host))
    }

    #[test]
    fn pattern_on_the_machine_is_cut_at_the_root() {
        for (pattern, host, expected) in [
            ("*.pem", "/srv/app", &["*.pem"][..]),
            ("hr", "/srv/HR/app", &["**"]),
            ("/srv/hr", "/srv", &["/hr"]),
            ("/srv/hr/", "/srv/hr", &["**"]),
            ("/srv/hr/**", "/srv/hr/deep/er", &["**"]),
            ("/srv/*/keys/**/x", "/srv/a", &["/keys/**/x"]),
            ("/srv/*/keys/**/x", "/srv/a/keys/b", &["x"]),
            ("/srv/*/keys/**/x", "/opt/a", &[]),
            ("/srv/{a,b}/k", "/srv/b", &["/k"]),
            ("/**/k", "/srv/b", &["k"]),
            ("**", "/srv/b", &["**"]),
            ("a/b/c", "/x/a/b", &["**/a/b/c", "/c"]),
            ("a/*/a/b", "/a/a/a", &["**/a/*/a/b", "/*/a/b", "/a/b", "/b"]),
            ("C:/Users/*/k", "C:/users/ann", &["/k"]),
            ("C:/Users/*/k", "D:/users/ann", &[]),
        ] {
            assert_eq!(below(pattern, host), expected, "{pattern} at {host}");
        }
    }

    #[test]
    fn what_is_no_pattern_on_the_machine_is_refused() {
        for wrong in ["", "/", "~/x", "a/../b", "!x", "{a/b,c}", "[", "C:/"] {
            assert!(PolicyRules::check_on_machine(wrong).is_err(), "{wrong}");
        }
    }
}
