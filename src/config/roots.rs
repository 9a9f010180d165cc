//! Which directories are offered, from `[NAME=]PATH[:ro][:untrusted][:optional]`, `[[root]]` tables and plain arguments.
//!
//! Decides names and access, and refuses directories that are too wide. It opens nothing: `Workspace::open` reports
//! which of them do not exist. The policy options, for all directories or for one table, are read here as well: their
//! spelling only; what a pattern means below a root is decided by the workspace.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use confined_fs::{Access, PolicyRules, RootSpec};

use super::{
    Config, Environment, RawArgs, RawValue,
    environment::{self, is_file_system_root, names_of, real},
    findings::Findings,
    options::option,
};

pub(super) struct RootArgs<'a> {
    pub(super) directories: &'a [OsString],
    pub(super) roots: Vec<&'a RawValue>,
    pub(super) read_only: bool,
    /// Whether the current directory is offered when none is named.
    pub(super) default_to_current: bool,
    /// Whether a server starts, which can say to its client that there is no directory to offer.
    pub(super) serves: bool,
}

/// Works out the roots. Problems stop the start, warnings are logged. `unconfigured` becomes why there is none where the
/// server starts nevertheless: clients that start it in the home directory show a person nothing of its last words.
pub(super) fn specs(args: &RootArgs<'_>, found: &mut Findings<'_>, unconfigured: &mut Option<String>) -> Vec<RootSpec> {
    let environment = found.environment;
    let access = |read_only: bool| if read_only || args.read_only { Access::ReadOnly } else { Access::ReadWrite };
    let unnamed =
        |path| RootSpec { name: None, path, access: access(false), policy: PolicyRules::default(), optional: false };
    let mut specs: Vec<RootSpec> = Vec::new();
    for directory in args.directories {
        if directory.is_empty() {
            found.problems.push(EMPTY_ARGUMENT.to_owned());
            continue;
        }
        specs.push(unnamed(environment.absolute(Path::new(directory), &environment.directory)));
    }
    for given in &args.roots {
        let own = given.table.as_ref().map(|table| policy_rules(&table.own, &mut found.problems));
        match parts(given) {
            Ok(RootText { name, path, read_only, untrusted, optional }) => {
                let path = found.path(given, path);
                if let Some(table) = &given.table {
                    report_host_paths(&table.own, &names_of(&path), environment.home.as_deref(), &mut found.problems);
                }
                let policy = PolicyRules { untrusted, ..own.unwrap_or_default() };
                specs.push(RootSpec { name, path, access: access(read_only), policy, optional });
            }
            Err(why) => found.problems.push(format!("{} {:?}: {why}", given.origin(), given.text)),
        }
    }

    if args.directories.is_empty() && args.roots.is_empty() {
        if !args.default_to_current {
            return specs;
        }
        let is_wide = too_wide(&environment.directory, environment).is_some();
        match current_directory(environment, "rootbound DIR") {
            Ok(path) => specs.push(unnamed(path)),
            // Claude Code has started servers in the home directory, with the project in a variable.
            Err(why) => match project_of_client(environment).filter(|_| is_wide) {
                Some(path) => specs.push(unnamed(path)),
                None if is_wide && args.serves => *unconfigured = Some(why),
                None => found.problems.push(why),
            },
        }
        return specs;
    }
    // A client may start the server in another folder to ask for its tools, where `../x` leads elsewhere.
    specs.retain(|spec| {
        let is_too_wide = spec.optional && is_file_system_root(&real(&spec.path));
        if is_too_wide {
            found
                .warnings
                .push(format!("the optional {} is the whole file system, which is never offered", spec.path.display()));
        }
        !is_too_wide
    });
    for spec in &specs {
        let real = real(&spec.path);
        if is_file_system_root(&real) {
            found.problems.push(format!(
                "{} is the whole file system, which is never offered: name the directories to work in",
                spec.path.display()
            ));
        } else if environment.home.as_deref().is_some_and(|home| environment::real(home).starts_with(&real)) {
            found.warnings.push(format!(
                "{} contains the home directory with its keys, histories and settings; a project directory is a safer \
                 choice",
                spec.path.display()
            ));
        }
    }
    same_names(&specs, &mut found.problems);
    specs.dedup();
    specs
}

const EMPTY_ARGUMENT: &str = "an empty directory argument: remove it, or name a directory (a client may put \"\" where its own \
                     variable is not set)";

/// The current directory, which is offered when none is named, unless it is too wide. `how` names one.
pub(super) fn current_directory(environment: &Environment, how: &str) -> Result<PathBuf, String> {
    let why = if environment.directory.as_os_str().is_empty() {
        "cannot be determined"
    } else if let Some(why) = too_wide(&environment.directory, environment) {
        why
    } else {
        return Ok(environment.directory.clone());
    };
    Err(format!(
        "no directory was named, and the current one {why}; start it in a project directory, or name the directory to \
         offer: {how}"
    ))
}

fn too_wide(directory: &Path, environment: &Environment) -> Option<&'static str> {
    let real = real(directory);
    // Where nobody chose it: Claude Desktop starts its servers in `/`, and clients have done so in the home directory.
    let home =
        environment.home.as_deref().map(environment::real).filter(|home| real.has_root() && home.starts_with(&real));
    match home {
        _ if is_file_system_root(&real) => Some("is /"),
        Some(home) if home == real => Some("is the home directory"),
        Some(_) => Some("contains the home directory"),
        None => None,
    }
}

/// The project that Claude Code has open, which it passes to the servers that it starts.
fn project_of_client(environment: &Environment) -> Option<PathBuf> {
    let path = PathBuf::from(environment.variable("CLAUDE_PROJECT_DIR")?);
    let is_usable = path.is_absolute() && environment::is_directory(&path) == Some(true);
    (is_usable && too_wide(&path, environment).is_none()).then_some(path)
}

/// The first root that contains `folder`, which is the program's own, or is inside of it.
pub(super) fn overlapping<'r>(folder: &Path, roots: &'r [RootSpec]) -> Option<&'r RootSpec> {
    let folder = real(folder);
    roots.iter().find(|root| {
        let root = real(&root.path);
        folder.starts_with(&root) || root.starts_with(&folder)
    })
}

fn same_names(specs: &[RootSpec], problems: &mut Vec<String>) {
    let names: Vec<&str> = specs.iter().filter_map(|spec| spec.name.as_deref()).collect();
    for (index, name) in names.iter().enumerate() {
        for earlier in &names[..index] {
            if name == earlier {
                problems.push(format!("two directories are called {name:?}: give one of them another NAME"));
            } else if Path::new(name).starts_with(earlier) || Path::new(earlier).starts_with(name) {
                problems.push(format!(
                    "the names {earlier:?} and {name:?} overlap, so a path could mean either: give one of them another NAME"
                ));
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct RootText<'a> {
    name: Option<String>,
    path: &'a str,
    read_only: bool,
    untrusted: bool,
    optional: bool,
}

fn parts(given: &RawValue) -> Result<RootText<'_>, String> {
    let Some(table) = &given.table else { return split(&given.text) };
    let name = table.name.as_deref().map(checked).transpose()?;
    if given.text.is_empty() {
        return Err("the path is empty: write path = \"/srv/docs\"".to_owned());
    }
    let is_true = |flag| table.own.effective(flag).is_some_and(|given| given.text == "true");
    Ok(RootText {
        name,
        path: &given.text,
        read_only: is_true("read-only"),
        untrusted: is_true("untrusted"),
        optional: table.optional,
    })
}

/// Takes `[NAME=]PATH[:ro|:rw][:untrusted][:optional]` apart; the endings may be in any order.
///
/// The text before the first `=` is a name only where it can be one: a word without `/`, or a virtual absolute path.
/// So `./a=b` is a path; after an empty name (`=/srv/a=b`) all is path.
fn split(text: &str) -> Result<RootText<'_>, String> {
    let (name, rest) = match text.split_once('=') {
        Some(("", rest)) => (None, rest),
        Some((name, rest)) if name.starts_with('/') || !name.contains(['/', '\\']) => (Some(checked(name)?), rest),
        _ => (None, text),
    };
    let (mut path, mut read_only, mut untrusted, mut optional) = (rest, None, false, false);
    // From the end: a path may have colons of its own.
    while let Some((before, ending)) = path.rsplit_once(':') {
        match ending {
            // `C:ro` on Windows is a file of drive C.
            _ if cfg!(windows) && before.len() == 1 && before != "." => break,
            "ro" | "rw" if read_only.is_none() => read_only = Some(ending == "ro"),
            "untrusted" if !untrusted => untrusted = true,
            "optional" if !optional => optional = true,
            _ => break,
        }
        path = before;
    }
    if path.is_empty() {
        return Err(
            "the path is empty: write [NAME=]PATH[:ro][:untrusted][:optional], such as docs=/srv/docs:ro".to_owned()
        );
    }
    Ok(RootText { name, path, read_only: read_only.unwrap_or(false), untrusted, optional })
}

/// A mount name, which a model sees and types: without characters that mean something else in a path.
fn checked(name: &str) -> Result<String, String> {
    if let Some(below) = name.strip_prefix('/') {
        let below = below.trim_end_matches('/');
        if below.is_empty() {
            return Err("/ cannot be a NAME: use a longer virtual path, such as /workspace".to_owned());
        }
        for part in below.split('/') {
            component(part).map_err(|why| format!("{why} in the NAME {name:?}: use a path such as /mnt/workspace"))?;
        }
        return Ok(format!("/{below}"));
    }
    component(name).map_err(|why| {
        format!(
            "{why} in the NAME {name:?}: use letters, digits, `-`, `_` and `.`; for a path that contains `=` write =PATH"
        )
    })?;
    Ok(name.to_owned())
}

fn component(part: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    match part {
        "" => Err("an empty component".to_owned()),
        "." | ".." => Err(format!("{part:?}")),
        _ => part.chars().find(|c| !allowed(*c)).map_or(Ok(()), |odd| Err(format!("{odd:?}"))),
    }
}

/// The rules in `raw`; each invalid pattern is a problem.
pub(super) fn policy_rules(raw: &RawArgs, problems: &mut Vec<String>) -> PolicyRules {
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

const PATTERN_OPTIONS: [&str; 5] = ["deny", "allow-secret", "protect", "allow-protected", "hide"];

/// Reports each pattern in `raw` that names a path of the host, which would never match: a pattern with a leading
/// slash begins at the root. A pattern that begins with the path of a root, or of the home directory, is taken for
/// a host path unless the root has an entry with its first name.
///
/// `/` counts as neither: it is the home directory of a process that has none.
pub(super) fn report_host_paths(raw: &RawArgs, roots: &[PathBuf], home: Option<&Path>, problems: &mut Vec<String>) {
    for given in PATTERN_OPTIONS.into_iter().flat_map(|flag| raw.of_all_sources(flag)) {
        let pattern = Path::new(&given.text);
        let first = pattern.components().find(|part| matches!(part, Component::Normal(_)));
        if !pattern.is_absolute()
            || first.is_some_and(|first| roots.iter().any(|root| environment::holds(root, first.as_ref())))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<String>, String, bool) {
        let RootText { name, path, read_only, .. } = split(text).expect(text);
        (name, path.to_owned(), read_only)
    }

    #[test]
    fn a_root_may_have_a_name_and_an_access() {
        assert_eq!(parsed("."), (None, ".".into(), false));
        assert_eq!(parsed("docs=/srv/docs:ro"), (Some("docs".into()), "/srv/docs".into(), true));
        assert_eq!(parsed("/mnt/user-data/workspace=."), (Some("/mnt/user-data/workspace".into()), ".".into(), false));
        assert_eq!(parsed("/mnt/w/=x"), (Some("/mnt/w".into()), "x".into(), false));
    }

    #[test]
    fn a_root_may_be_untrusted() {
        for (text, expected) in [
            ("d=/srv/d:untrusted", ("/srv/d", false, true)),
            ("/srv/d:ro:untrusted", ("/srv/d", true, true)),
            ("/srv/d:untrusted:ro", ("/srv/d", true, true)),
            ("/srv/d:untrusted:untrusted", ("/srv/d:untrusted", false, true)),
            ("/srv/d:Untrusted", ("/srv/d:Untrusted", false, false)),
        ] {
            let RootText { path, read_only, untrusted, .. } = split(text).expect(text);
            assert_eq!((path, read_only, untrusted), expected, "{text}");
        }
        assert!(split(":untrusted").is_err());
    }

    #[test]
    fn endings_of_a_root_may_be_in_any_order() {
        for text in ["n=/d:ro:untrusted:optional", "n=/d:optional:ro:untrusted", "n=/d:untrusted:optional:ro"] {
            let expected =
                RootText { name: Some("n".into()), path: "/d", read_only: true, untrusted: true, optional: true };
            assert_eq!(split(text).expect(text), expected);
        }
        let RootText { path, optional, .. } = split("/d:optional:optional").expect("a path");
        assert_eq!((path, optional), ("/d:optional", true));
        assert!(!split("/d:Optional").expect("a path").optional);
        assert!(split("x=:optional").is_err());
    }

    #[test]
    fn a_path_with_an_equals_sign_or_colon_can_be_written() {
        assert_eq!(parsed("./a=b"), (None, "./a=b".into(), false));
        assert_eq!(parsed("../a=b:ro"), (None, "../a=b".into(), true));
        assert_eq!(parsed("=/srv/a=b"), (None, "/srv/a=b".into(), false));
        assert_eq!(parsed("/srv/odd:ro:rw"), (None, "/srv/odd:ro".into(), false));
        assert_eq!(parsed("n=x=y"), (Some("n".into()), "x=y".into(), false));
        assert_eq!(parsed("/srv/a:b"), (None, "/srv/a:b".into(), false));
    }

    #[test]
    fn a_windows_drive_letter_is_not_an_access() {
        assert_eq!(parsed(".:ro"), (None, ".".into(), true));
        assert_eq!(parsed(r"C:\work"), (None, r"C:\work".into(), false));
        assert_eq!(parsed(r"src=C:\work:ro"), (Some("src".into()), r"C:\work".into(), true));
    }

    #[test]
    fn invalid_mount_names_are_refused() {
        for text in ["/=x", "/a/../b=x", "/a//b=x", "..=x", "a b=x", "~=x", "n=", "n=:ro", "", "a\u{200b}=x"] {
            assert!(split(text).is_err(), "{text:?}");
        }
    }
}
