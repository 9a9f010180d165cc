//! The policy options → [`PolicyRules`]: for all directories, or for one `[[root]]` of the file.
//!
//! Spelling only; what a pattern means below a root is the workspace's matter.

use std::path::{Path, PathBuf};

use crate::workspace::PolicyRules;

use super::{
    host_path,
    raw::{Origin, RawArgs},
};

/// The rules in `raw`; each pattern that cannot be one is a problem.
pub(super) fn rules(raw: &RawArgs, problems: &mut Vec<String>) -> PolicyRules {
    let mut globs = |flag: &str| -> Vec<String> {
        for (option, given) in raw.each(flag) {
            if let Err(why) = PolicyRules::check(&given.text) {
                problems.push(format!("{} pattern {:?} {why}", Origin(option, &given.source), given.text));
            }
        }
        raw.list(flag)
    };
    let mut deny = globs("deny");
    let (allow_secret, protect) = (globs("allow-secret"), globs("protect"));
    let (allow_protected, hide) = (globs("allow-protected"), globs("hide"));
    deny.extend(extensions(raw, problems));
    PolicyRules { deny, allow_secret, protect, allow_protected, hide }
}

/// The options that take patterns.
const PATTERNS: [&str; 5] = ["deny", "allow-secret", "protect", "allow-protected", "hide"];

/// Notes each pattern in `raw` that names a path of the host: what begins with a slash begins at the
/// root. One that begins with a root's own path, or the home directory's, is taken for such a path
/// unless the root has an entry of its first name.
///
/// `/` is no such path: a process without a home directory of its own has that one.
pub(super) fn host_paths(raw: &RawArgs, roots: &[PathBuf], home: Option<&Path>, problems: &mut Vec<String>) {
    for (option, given) in PATTERNS.into_iter().flat_map(|flag| raw.each(flag)) {
        let pattern = Path::new(&given.text);
        let first = pattern.components().nth(1);
        if !pattern.is_absolute()
            || first.is_some_and(|first| roots.iter().any(|root| host_path::holds(root, first.as_ref())))
        {
            continue;
        }
        let is_named = |directory: &Path| directory.parent().is_some();
        let why = if let Some(below) =
            roots.iter().filter(|root| is_named(root)).find_map(|root| pattern.strip_prefix(root).ok())
        {
            format!("it is a path of this machine, and patterns begin at the root: write /{}", below.display())
        } else if home.is_some_and(|home| is_named(home) && pattern.starts_with(home)) {
            "it is a path of this machine outside of the directories offered, where nothing is reached: leave it out"
                .to_owned()
        } else {
            continue;
        };
        problems.push(format!(
            "{} pattern {:?} would never match as it is meant: {why}",
            Origin(option, &given.source),
            given.text
        ));
    }
}

/// `exe`, `.exe` and `*.exe` are one extension, and `tar.gz` is one of two parts.
fn extensions(raw: &RawArgs, problems: &mut Vec<String>) -> Vec<String> {
    let mut globs = Vec::new();
    for (option, given) in raw.each("deny-extension") {
        let text = given.text.trim();
        let extension = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
        // Trailing dots and spaces are no part of a name where names are compared.
        if extension.is_empty() || extension.ends_with('.') || extension.contains(['/', '\\', '*', '?', '[', '{']) {
            problems.push(format!(
                "{} {:?} is no file name extension: write it as exe, .pem or tar.gz (--deny takes patterns)",
                Origin(option, &given.source),
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
    use crate::config::{options::OPTIONS, raw::Source};

    fn denied(given: &[&str]) -> (Vec<String>, Vec<String>) {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let option = OPTIONS.iter().find(|option| option.flag == "deny-extension").expect("in the table");
        for text in given {
            raw.push(option, (*text).to_owned(), Source::CommandLine);
        }
        (rules(&raw, &mut problems).deny, problems)
    }

    #[test]
    fn an_extension_may_be_written_with_and_without_its_dot() {
        assert_eq!(denied(&["exe", ".PEM", "*.tar.gz", "c++"]).0, ["*.exe", "*.PEM", "*.tar.gz", "*.c++"]);
    }

    #[test]
    fn what_is_no_extension_is_told() {
        let (globs, problems) = denied(&["", ".", "a/b", "e*", "x.", "[ab]"]);
        assert_eq!((globs.len(), problems.len()), (0, 6), "{problems:?}");
        assert!(problems[2].contains("--deny-extension \"a/b\" is no file name extension"), "{problems:?}");
    }
}
