//! The policy options → [`PolicyRules`]: for all directories, or for one `[[root]]` of the file.
//!
//! Spelling only; what a pattern means below a root is decided by the workspace.

use std::path::{Component, Path, PathBuf};

use confined_fs::PolicyRules;

use super::{Config, RawArgs, host_path, options::options, parse_value};

/// The rules in `raw`; each invalid pattern is a problem.
pub(super) fn rules(raw: &RawArgs, problems: &mut Vec<String>) -> PolicyRules {
    let mut globs = |flag: &str| -> Vec<String> {
        for given in raw.each(flag) {
            if let Err(why) = PolicyRules::check(&given.text) {
                problems.push(format!("{} pattern {:?} {why}", given.origin(), given.text));
            }
        }
        raw.list(flag)
    };
    let mut deny = globs("deny");
    let (allow_secret, protect) = (globs("allow-secret"), globs("protect"));
    let (allow_protected, hide) = (globs("allow-protected"), globs("hide"));
    deny.extend(extensions(raw, problems));
    let mut read = Config::default();
    for option in options().filter(|option| option.flag == "secrets") {
        parse_value::apply(option, raw, &mut read, problems);
    }
    let secrets = read.workspace.policy.secrets;
    PolicyRules { deny, allow_secret, protect, allow_protected, hide, secrets, untrusted: false }
}

/// The options that take patterns.
const PATTERNS: [&str; 5] = ["deny", "allow-secret", "protect", "allow-protected", "hide"];

/// Reports each pattern in `raw` that names a path of the host, which would never match: a pattern with a leading
/// slash begins at the root. A pattern that begins with the path of a root, or of the home directory, is taken for
/// a host path unless the root has an entry with its first name.
///
/// `/` counts as neither: it is the home directory of a process that has none.
pub(super) fn host_paths(raw: &RawArgs, roots: &[PathBuf], home: Option<&Path>, problems: &mut Vec<String>) {
    for given in PATTERNS.into_iter().flat_map(|flag| raw.each(flag)) {
        let pattern = Path::new(&given.text);
        let first = pattern.components().find(|part| matches!(part, Component::Normal(_)));
        if !pattern.is_absolute()
            || first.is_some_and(|first| roots.iter().any(|root| host_path::holds(root, first.as_ref())))
        {
            continue;
        }
        let is_named = |directory: &Path| directory.parent().is_some();
        let why = if let Some(below) =
            roots.iter().filter(|root| is_named(root)).find_map(|root| pattern.strip_prefix(root).ok())
        {
            let below = below.display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
            format!("it is a path of this machine, but a pattern begins at the root: write /{below}")
        } else if home.is_some_and(|home| is_named(home) && pattern.starts_with(home)) {
            "it is a path of this machine outside of the directories offered, which no call reaches: remove it"
                .to_owned()
        } else {
            continue;
        };
        problems.push(format!("{} pattern {:?} would never match as it is meant: {why}", given.origin(), given.text));
    }
}

/// `exe`, `.exe` and `*.exe` are the same extension; `tar.gz` is one, too.
fn extensions(raw: &RawArgs, problems: &mut Vec<String>) -> Vec<String> {
    let mut globs = Vec::new();
    for given in raw.each("deny-extension") {
        let text = given.text.trim();
        let extension = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
        // Names are compared without trailing dots and spaces.
        if extension.is_empty() || extension.ends_with('.') || extension.contains(['/', '\\', '*', '?', '[', '{']) {
            problems.push(format!(
                "{} {:?} is not a file name extension: write it as exe, .pem or tar.gz (--deny takes patterns)",
                given.origin(),
                given.text
            ));
        } else {
            globs.push(format!("*.{}", globset::escape(extension)));
        }
    }
    globs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{options::options, raw::Source};

    fn denied(given: &[&str]) -> (Vec<String>, Vec<String>) {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let option = options().find(|option| option.flag == "deny-extension").expect("in the table");
        for text in given {
            raw.push(option, (*text).to_owned(), Source::CommandLine);
        }
        (rules(&raw, &mut problems).deny, problems)
    }

    #[test]
    fn an_extension_is_accepted_with_and_without_its_dot() {
        assert_eq!(denied(&["exe", ".PEM", "*.tar.gz", "c++"]).0, ["*.exe", "*.PEM", "*.tar.gz", "*.c++"]);
    }

    #[test]
    fn a_pattern_or_path_is_refused_as_an_extension() {
        let (globs, problems) = denied(&["", ".", "a/b", "e*", "x.", "[ab]"]);
        assert_eq!((globs.len(), problems.len()), (0, 6), "{problems:?}");
        assert!(problems[2].contains("--deny-extension \"a/b\" is not a file name extension"), "{problems:?}");
    }
}
