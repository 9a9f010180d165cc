//! The text of a profile, and the parameters that carry its paths.
//!
//! No path is part of the text: a rule names a parameter, and `sandbox-exec` takes its value from an argument of its
//! own (`-D KEY=VALUE`). A quote, a parenthesis or a line break in a path has no meaning there.
//!
//! The language has no public reference. What is used here is what [Chromium's design document] describes, and the
//! rules that start a program are those of the profiles of Chromium and Codex. The kernel compares the path that it
//! gives a file itself (`vn_getpath`), so each path must be real: `/private/tmp`, not `/tmp`.
//!
//! [Chromium's design document]: https://chromium.googlesource.com/chromium/src/+/HEAD/sandbox/mac/seatbelt_sandbox_design.md

use std::path::{Component, Path, PathBuf};
use std::{ffi::OsString, fmt::Write as _};

/// The paths that the process may use, real and absolute.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// The program, which is the only one that may be executed.
    pub(super) program: PathBuf,
    /// Directories whose content may be read and changed. They may be missing.
    pub(super) writable: Vec<PathBuf>,
    /// Directories whose content may be read, also where they are inside of a writable one. They may be missing.
    pub(super) read_only: Vec<PathBuf>,
    /// Files that may be read, and directories that may be listed, without what is below them.
    pub(super) files: Vec<PathBuf>,
    /// Whether the system has `dyld-support.sb`, its own rules for the dynamic linker, which change with the system.
    pub(super) dyld_support: bool,
}

/// A profile, and the values of its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Profile {
    text: String,
    parameters: Vec<(String, PathBuf)>,
}

/// Rules that every program needs. Without `/` each one aborts before `main`. The whole of `/System` would include
/// `/System/Volumes/Data`, another name of the user's files.
const START: &str = r#"(version 1)
(deny default)
(allow sysctl-read)
(allow signal (target self))
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom"))
(allow file-write-data (literal "/dev/null"))
(allow file-read* file-map-executable
    (subpath "/usr/lib")
    (subpath "/System/Library")
    (subpath "/System/Cryptexes")
    (subpath "/System/Volumes/Preboot/Cryptexes")
    (subpath "/private/preboot/Cryptexes")
    (subpath "/private/var/db/dyld"))
(allow file-read* (subpath "/usr/share/zoneinfo") (subpath "/usr/share/zoneinfo.default") (subpath "/private/var/db/timezone"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
"#;

/// Rules that a command of a host needs besides: other programs of the system and of package managers, what they read,
/// and devices without content. Signals and process information only among themselves.
const COMMAND: &str = r#"(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow process-exec file-read* file-map-executable
    (subpath "/usr")
    (subpath "/bin")
    (subpath "/sbin")
    (subpath "/System/Library")
    (subpath "/Library/Apple")
    (subpath "/Library/Developer")
    (subpath "/Applications/Xcode.app")
    (subpath "/opt/homebrew")
    (subpath "/opt/local")
    (subpath "/nix/store"))
(allow file-read*
    (literal "/private/etc/passwd")
    (literal "/private/etc/group")
    (literal "/private/etc/localtime")
    (literal "/private/etc/ssl/openssl.cnf"))
(allow file-read* file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
"#;

/// With the internet: the system's resolver is reached by a local socket, no other program is.
const COMMAND_NETWORK: &str = r#"(allow network-outbound (remote ip "*:*"))
(allow network-bind network-inbound (local ip "*:*"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow system-socket)
(allow mach-lookup (global-name "com.apple.trustd.agent") (global-name "com.apple.SystemConfiguration.configd"))
(allow file-read* (literal "/private/etc/hosts") (literal "/private/etc/resolv.conf") (literal "/private/var/run/resolv.conf"))
(allow file-read* (subpath "/private/etc/ssl/certs") (literal "/private/etc/ssl/cert.pem"))
"#;

/// Rules that no rule before them may loosen: the last one that matches decides.
const END: &str = "(deny network*)\n(deny process-fork)\n(deny file-write-setugid)\n";

impl Profile {
    /// The profile of the server, with what it grants.
    ///
    /// # Errors
    /// A path that cannot be part of a profile, as text.
    pub(super) fn new(grants: &Grants) -> Result<Self, String> {
        let mut profile = Self { text: START.to_owned(), parameters: Vec::new() };
        if grants.dyld_support {
            profile.text.push_str("(import \"dyld-support.sb\")\n");
        }
        let program = profile.parameter("PROGRAM", &grants.program)?;
        profile.rule("process-exec", &format!("(literal {program})"));
        profile.rule("file-read* file-map-executable", &format!("(literal {program})"));
        for (number, file) in grants.files.iter().enumerate() {
            let file = profile.parameter(&format!("FILE_{number}"), file)?;
            profile.rule("file-read*", &format!("(literal {file})"));
        }
        for (number, folder) in grants.read_only.iter().enumerate() {
            let folder = profile.parameter(&format!("READ_ONLY_{number}"), folder)?;
            profile.rule("file-read*", &format!("(subpath {folder})"));
        }
        for (number, folder) in grants.writable.iter().enumerate() {
            let mut except = String::new();
            for (number, inner) in grants.read_only.iter().enumerate() {
                if inner != folder && inner.starts_with(folder) {
                    // Writing to a string does not fail.
                    let _ = write!(except, " (require-not (subpath (param \"READ_ONLY_{number}\")))");
                }
            }
            let folder = profile.parameter(&format!("WRITABLE_{number}"), folder)?;
            profile.rule("file-read*", &format!("(subpath {folder})"));
            profile.rule("file-write*", &format!("(require-all (subpath {folder}){except})"));
        }
        profile.text.push_str(END);
        Ok(profile)
    }

    /// Grants a command paths: `executable` may be read and executed, `writable` changed as well, by real absolute
    /// paths.
    ///
    /// # Errors
    /// A path that cannot be part of a profile, as text.
    pub(super) fn of_command(
        executable: &[PathBuf],
        writable: &[PathBuf],
        network: bool,
        dyld_support: bool,
    ) -> Result<Self, String> {
        let mut profile = Self { text: [START, COMMAND].concat(), parameters: Vec::new() };
        if dyld_support {
            profile.text.push_str("(import \"dyld-support.sb\")\n");
        }
        for (number, path) in executable.iter().chain(writable).enumerate() {
            let path = profile.parameter(&format!("EXECUTABLE_{number}"), path)?;
            profile.rule("process-exec file-read* file-map-executable", &format!("(subpath {path})"));
        }
        for (number, path) in writable.iter().enumerate() {
            let path = profile.parameter(&format!("WRITABLE_{number}"), path)?;
            profile.rule("file-write*", &format!("(subpath {path})"));
        }
        profile.text.push_str(if network { COMMAND_NETWORK } else { "(deny network*)\n" });
        // At the end, as the last rule that matches decides.
        profile.text.push_str("(deny file-write-setugid)\n");
        Ok(profile)
    }

    /// The arguments of `sandbox-exec` up to the program that it runs.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec!["-p".into(), OsString::from(&self.text)];
        for (key, value) in &self.parameters {
            let mut argument = OsString::from(format!("-D{key}="));
            argument.push(value);
            arguments.push(argument);
        }
        arguments.push("--".into());
        arguments
    }

    fn rule(&mut self, operations: &str, filter: &str) {
        let _ = writeln!(self.text, "(allow {operations} {filter})");
    }

    /// Gives `path` the name `key`, and returns how a rule refers to it.
    fn parameter(&mut self, key: &str, path: &Path) -> Result<String, String> {
        let shown = path.display();
        let odd = |part| !matches!(part, Component::RootDir | Component::Normal(_));
        // A text of Rust may contain NUL, an argument may not.
        let Some(text) = path.to_str().filter(|text| !text.contains('\0')) else {
            return Err(format!("the path {shown} is not UTF-8"));
        };
        if !text.starts_with('/') || path.components().any(odd) || path.parent().is_none() {
            return Err(format!("the path {shown} is not that of one file or directory"));
        }
        // Without a final `/`, which no path of the kernel has.
        self.parameters.push((key.to_owned(), path.components().collect()));
        Ok(format!("(param \"{key}\")"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    fn grants() -> Grants {
        Grants {
            program: "/opt/bin/rootbound".into(),
            writable: ["/srv/app", "/srv/app/docs/drafts", "/state"].map(PathBuf::from).into(),
            read_only: ["/srv/app/docs", "/skills", "/later"].map(PathBuf::from).into(),
            files: vec!["/home/me/rootbound.toml".into()],
            dyld_support: true,
        }
    }

    /// One expression of the language.
    #[derive(Debug, Clone, PartialEq)]
    enum Expression {
        Word(String),
        Text(String),
        List(Vec<Expression>),
    }

    /// Reads the expressions up to the end of a list.
    fn parse(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Vec<Expression> {
        let mut list = Vec::new();
        while let Some(first) = text.next() {
            match first {
                '(' => list.push(Expression::List(parse(text))),
                ')' => return list,
                '"' => list.push(Expression::Text(text.by_ref().take_while(|character| *character != '"').collect())),
                _ if first.is_whitespace() => {}
                _ => {
                    let mut word = String::from(first);
                    while let Some(next) = text.next_if(|next| !next.is_whitespace() && !"()\"".contains(*next)) {
                        word.push(next);
                    }
                    list.push(Expression::Word(word));
                }
            }
        }
        list
    }

    /// Whether a filter applies to a path; `value` gives the path that is written or named in it.
    fn matches(filter: &Expression, path: &Path, value: &dyn Fn(&Expression) -> PathBuf) -> bool {
        let Expression::List(list) = filter else { panic!("{filter:?}") };
        let (Expression::Word(kind), rest) = (&list[0], &list[1..]) else { panic!("{list:?}") };
        match kind.as_str() {
            "literal" => path == value(&rest[0]),
            "subpath" => path.starts_with(value(&rest[0])),
            "require-all" => rest.iter().all(|inner| matches(inner, path, value)),
            "require-not" => !matches(&rest[0], path, value),
            "target" | "global-name" | "remote" | "local" => false,
            other => panic!("{other}"),
        }
    }

    /// The answer of a profile, by the rules of the language: the last rule that matches decides.
    fn allows(profile: &Profile, operation: &str, path: &str) -> bool {
        let value = |of: &Expression| match of {
            Expression::Text(text) => PathBuf::from(text),
            Expression::List(list) => {
                let [Expression::Word(param), Expression::Text(key)] = list.as_slice() else { panic!("{list:?}") };
                assert_eq!(param, "param");
                profile.parameters.iter().find(|(known, _)| known == key).expect("a parameter").1.clone()
            }
            Expression::Word(word) => panic!("{word}"),
        };
        let covers = |word: &str| match word.strip_suffix('*') {
            Some(start) => operation.starts_with(start),
            None => word == operation || word == "default",
        };
        let mut allowed = None;
        for rule in parse(&mut profile.text.chars().peekable()) {
            let Expression::List(rule) = rule else { panic!("{rule:?}") };
            let (Expression::Word(answer), rest) = (&rule[0], &rule[1..]) else { panic!("{rule:?}") };
            if !["allow", "deny"].contains(&answer.as_str()) {
                continue;
            }
            let (words, filters): (Vec<_>, Vec<_>) =
                rest.iter().partition(|expression| matches!(expression, Expression::Word(_)));
            let is_covered = words.iter().any(|word| matches!(word, Expression::Word(word) if covers(word)));
            if is_covered
                && (filters.is_empty() || filters.iter().any(|filter| matches(filter, Path::new(path), &value)))
            {
                allowed = Some(answer == "allow");
            }
        }
        allowed.expect("the default decides")
    }

    #[test]
    fn only_what_is_granted_may_be_read_written_or_executed() {
        let profile = Profile::new(&grants()).unwrap();
        for (operation, path, expected) in [
            ("file-read-data", "/srv/app/a", true),
            ("file-write-create", "/srv/app/a", true),
            ("file-write-setugid", "/srv/app/a", false),
            ("file-read-data", "/srv/app/docs/a", true),
            ("file-write-data", "/srv/app/docs/a", false),
            ("file-write-unlink", "/srv/app/docs", false),
            ("file-write-data", "/srv/app/docs/drafts/a", true),
            ("file-write-data", "/srv/app/docs2", true),
            ("file-read-data", "/srv/app2", false),
            ("file-write-data", "/srv/app2/a", false),
            ("file-read-data", "/work", false),
            ("file-write-data", "/state/seen", true),
            ("file-read-data", "/later/when/it/is/there", true),
            ("file-write-data", "/later/a", false),
            ("file-read-data", "/home/me/rootbound.toml", true),
            ("file-write-data", "/home/me/rootbound.toml", false),
            ("file-read-data", "/home/me/rootbound.toml2", false),
            ("file-read-data", "/home/me/.ssh/id_rsa", false),
            ("file-read-metadata", "/home/me/.ssh/id_rsa", true),
            ("file-read-data", "/private/etc/passwd", false),
            ("file-read-data", "/System/Volumes/Data/Users/me/a", false),
            ("file-read-data", "/usr/lib/dyld", true),
            ("file-write-data", "/usr/lib/dyld", false),
            ("file-write-data", "/dev/null", true),
            ("file-ioctl", "/dev/ttys001", false),
            ("process-exec", "/opt/bin/rootbound", true),
            ("file-map-executable", "/opt/bin/rootbound", true),
            ("file-write-data", "/opt/bin/rootbound", false),
            ("process-exec", "/bin/sh", false),
            ("process-exec", "/srv/app/a", false),
            ("file-map-executable", "/srv/app/a", false),
            ("process-fork", "/", false),
            ("network-outbound", "/private/var/run/mDNSResponder", false),
            ("network-bind", "/srv/app/socket", false),
            ("mach-lookup", "/", false),
        ] {
            assert_eq!(allows(&profile, operation, path), expected, "{operation} {path}");
        }
    }

    #[test]
    fn command_may_execute_what_it_was_given_and_the_system_and_write_its_directories() {
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let profile = |network| {
            Profile::of_command(&paths(&["/opt/tool/bin/x", "/srv/ro"]), &paths(&["/srv/app"]), network, true).unwrap()
        };
        for (operation, path, expected) in [
            ("process-exec", "/bin/sh", true),
            ("process-exec", "/srv/app/script", true),
            ("process-exec", "/srv/ro/script", true),
            ("process-exec", "/opt/tool/bin/x", true),
            ("process-exec", "/opt/tool/bin/y", false),
            ("process-exec", "/home/me/x", false),
            ("process-fork", "/", true),
            ("file-write-data", "/srv/app/a", true),
            ("file-write-setugid", "/srv/app/a", false),
            ("file-write-data", "/srv/ro/a", false),
            ("file-write-data", "/usr/lib/a", false),
            ("file-write-data", "/dev/null", true),
            ("file-read-data", "/srv/app2", false),
            ("file-read-data", "/home/me/.ssh/id_rsa", false),
            ("file-read-data", "/private/etc/master.passwd", false),
        ] {
            assert_eq!(allows(&profile(false), operation, path), expected, "{operation} {path}");
        }
        let dns = |network| allows(&profile(network), "network-outbound", "/private/var/run/mDNSResponder");
        assert!(dns(true) && !dns(false));
        assert!(!allows(&profile(true), "network-outbound", "/var/run/docker.sock"));
    }

    #[test]
    fn path_that_is_no_real_path_is_refused() {
        for path in ["", "/", "relative", "/a/../b", "../a", "/a\0b", "~/a"] {
            for grants in [
                Grants { program: path.into(), ..grants() },
                Grants { writable: vec![path.into()], ..grants() },
                Grants { read_only: vec![path.into()], ..grants() },
                Grants { files: vec![path.into()], ..grants() },
            ] {
                assert!(Profile::new(&grants).is_err(), "{path:?}");
            }
        }
        let foreign = PathBuf::from(OsStr::from_bytes(b"/work/\xff"));
        let error = Profile::new(&Grants { writable: vec![foreign], ..grants() }).unwrap_err();
        assert!(error.contains("not UTF-8"), "{error}");
    }

    #[test]
    fn path_is_an_argument_of_its_own_and_never_part_of_the_text() {
        let odd = "/work/a\")) (allow default) (\"\n;#|\\ = $(x) -D PROGRAM=/bin/sh é\u{202e}";
        let plain = Profile::new(&grants()).unwrap();
        let profile = Profile::new(&Grants {
            program: odd.into(),
            writable: vec![odd.into(), format!("{odd}/b/").into(), "/state".into()],
            read_only: vec!["/x".into(), "/y".into(), "/z".into()],
            ..grants()
        });
        let profile = profile.unwrap();
        assert!(!profile.text.contains("/work") && !profile.text.contains("allow default"), "{}", profile.text);
        assert_eq!(plain.text.matches("(allow").count(), profile.text.matches("(allow").count());
        let arguments = profile.arguments();
        assert_eq!(arguments[2], format!("-DPROGRAM={odd}").as_str());
        assert!(arguments.contains(&format!("-DWRITABLE_1={odd}/b").into()));
        assert_eq!((arguments[0].as_os_str(), arguments.last().unwrap().as_os_str()), ("-p".as_ref(), "--".as_ref()));
    }

    proptest! {
        #[test]
        fn text_depends_on_no_character_of_a_path(name in "[^\0/]{1,20}", inner in "[^\0/]{1,20}") {
            prop_assume!(![".", ".."].contains(&name.as_str()) && ![".", ".."].contains(&inner.as_str()));
            let with = |name: &str, inner: &str| Profile::new(&Grants {
                program: format!("/{name}").into(),
                writable: vec![format!("/w/{name}").into()],
                read_only: vec![format!("/w/{name}/{inner}").into()],
                files: vec![format!("/f/{inner}").into()],
                dyld_support: false,
            }).unwrap();
            let (profile, plain) = (with(&name, &inner), with("a", "b"));
            prop_assert_eq!(&profile.text, &plain.text);
            let inside = format!("/w/{name}/x");
            prop_assert!(allows(&profile, "file-write-data", &inside) || inner == "x");
            let read_only = format!("/w/{name}/{inner}/x");
            prop_assert!(!allows(&profile, "file-write-data", &read_only));
            prop_assert!(allows(&profile, "file-read-data", &read_only));
        }
    }
}
