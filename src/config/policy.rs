//! The policy options → [`PolicyRules`]: for all directories, or for one `[[root]]` of the file.
//!
//! Spelling only; what a pattern means below a root is decided by the workspace.

use std::path::{Component, Path, PathBuf};

use confined_fs::PolicyRules;

use super::{Config, RawArgs, host_path, options::option};

/// The rules in `raw`; each invalid pattern is a problem.
pub(super) fn rules(raw: &RawArgs, problems: &mut Vec<String>) -> PolicyRules {
    let mut globs = |flag: &str| -> Vec<String> {
        for given in raw.of_all_sources(flag) {
            if let Err(why) = PolicyRules::check(&given.text) {
                problems.push(format!("{} pattern {:?} {why}", given.origin(), given.text));
            }
        }
        raw.texts(flag)
    };
    let (deny, allow_secret, protect) = (globs("deny"), globs("allow-secret"), globs("protect"));
    let (allow_protected, hide) = (globs("allow-protected"), globs("hide"));
    let mut read = Config::default();
    raw.apply(option("secrets"), &mut read, problems);
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
    for given in PATTERNS.into_iter().flat_map(|flag| raw.of_all_sources(flag)) {
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
