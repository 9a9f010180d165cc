//! The table of options: one entry is a flag, an environment variable and a key of the file.
//!
//! It says how an option is spelled and explained; what a value means is `validate`'s matter.

use std::fmt;

pub(super) use super::spelling::nearest;

/// How often and in what form an option may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One text.
    One,
    /// True or false; the bare flag means true.
    Switch,
    /// Any number of texts.
    List,
}

/// One option.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opt {
    /// Its flag without the dashes; the other two spellings derive from it.
    pub(super) flag: &'static str,
    pub(super) shape: Shape,
    /// What the help calls its value.
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    /// Under which heading the help lists it.
    pub(super) heading: &'static str,
}

impl Opt {
    /// The key in the configuration file: `max_output`.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// The environment variable: `ROOTBOUND_MAX_OUTPUT`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key().to_uppercase())
    }
}

/// What the name of each environment variable begins with.
pub(super) const PREFIX: &str = "ROOTBOUND_";

const ROOTS: &str = "Directories";
const TOOLS: &str = "Tools";
const POLICY: &str = "Policy (patterns are globs on paths below a root, and add to the built-in lists)";
const LIMITS: &str = "Limits";
const AUDIT: &str = "Audit";
const PROCESS: &str = "Process";

/// Every option there is.
pub(super) const OPTIONS: &[Opt] = &[
    Opt {
        flag: "root",
        shape: Shape::List,
        value: "[NAME=]PATH[:ro]",
        help: "Offer a directory, under NAME where one is given: a plain word, or a virtual absolute path such as \
               /mnt/user-data/workspace. `:ro` makes it read-only. A path that itself holds `=` is written \
               `=PATH`, one that ends in `:ro` is written `PATH:rw`",
        heading: ROOTS,
    },
    Opt {
        flag: "read-only",
        shape: Shape::Switch,
        value: "BOOL",
        help: "Offer only the tools that change nothing, and open every directory read-only",
        heading: ROOTS,
    },
    Opt {
        flag: "tools",
        shape: Shape::One,
        value: "LIST",
        help: "Offer only these tools, by name with commas between",
        heading: TOOLS,
    },
    Opt {
        flag: "allow",
        shape: Shape::List,
        value: "GROUP",
        help: "Offer an optional group of tools as well: `manage`",
        heading: TOOLS,
    },
    Opt {
        flag: "structured-output",
        shape: Shape::Switch,
        value: "BOOL",
        help: "Send each result also as data, and advertise its schema. Off by default: several clients then hide the \
               text and images from the model",
        heading: TOOLS,
    },
    Opt {
        flag: "read-before-write",
        shape: Shape::One,
        value: "MODE",
        help: "`strict` (default): a file must have been read, and be unchanged since, before it is changed; \
               `changed-only`: a file that was read must be unchanged since; `off`: no check",
        heading: TOOLS,
    },
    Opt {
        flag: "confirm",
        shape: Shape::One,
        value: "MODE",
        help: "Show a person each change and make it only on their yes: `destructive` asks where something that was \
               there is replaced or removed, `writes` always, `never` (default) not at all. A client that cannot ask is \
               refused",
        heading: TOOLS,
    },
    Opt {
        flag: "no-default-ignore",
        shape: Shape::Switch,
        value: "BOOL",
        help: "Do not skip what is never source by name (node_modules, caches, build output …); .gitignore and .ignore \
               still count",
        heading: TOOLS,
    },
    Opt {
        flag: "ignore",
        shape: Shape::List,
        value: "PATTERN",
        help: "Skip what matches in ls, glob and grep; gitignore syntax",
        heading: TOOLS,
    },
    Opt { flag: "deny", shape: Shape::List, value: "GLOB", help: "Refuse the content of these files", heading: POLICY },
    Opt {
        flag: "deny-extension",
        shape: Shape::List,
        value: "EXT",
        help: "Refuse the content of files whose names end so: `exe`, `.pem`, `tar.gz`; upper and lower case alike",
        heading: POLICY,
    },
    Opt {
        flag: "hide",
        shape: Shape::List,
        value: "GLOB",
        help: "Refuse these files and show not even their names",
        heading: POLICY,
    },
    Opt {
        flag: "protect",
        shape: Shape::List,
        value: "GLOB",
        help: "Refuse to create or change these files",
        heading: POLICY,
    },
    Opt {
        flag: "allow-secret",
        shape: Shape::List,
        value: "GLOB",
        help: "Show the content of these files although their names are on the built-in list of secrets",
        heading: POLICY,
    },
    Opt {
        flag: "allow-protected",
        shape: Shape::List,
        value: "GLOB",
        help: "Let these files be changed although they are on the built-in list of files that run later",
        heading: POLICY,
    },
    Opt {
        flag: "agent-rules",
        shape: Shape::One,
        value: "MODE",
        help: "`auto` (default): what the files at the top of a directory forbid agents is refused here, too \
               (`.claude/settings.json`, `.cursorignore` and the like, see below); `off`: they are not read",
        heading: POLICY,
    },
    Opt {
        flag: "max-output",
        shape: Shape::One,
        value: "BYTES",
        help: "Text in one answer [default: 50KiB]; DeerFlow works best with 11000",
        heading: LIMITS,
    },
    Opt {
        flag: "max-file-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Largest file that edit and write take [default: 64MiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-image-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Largest image that read shows; clients refuse larger ones than the default [default: 5MiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-search-file-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Largest file that grep looks into when it searches a directory [default: 16MiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "time-limit",
        shape: Shape::One,
        value: "SECONDS",
        help: "How long one call may work before it changes anything [default: 30]",
        heading: LIMITS,
    },
    Opt {
        flag: "confirm-time-limit",
        shape: Shape::One,
        value: "SECONDS",
        help: "How long a person may take to answer; without an answer the change is not made [default: 300]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-concurrent",
        shape: Shape::One,
        value: "N",
        help: "Searches that run at the same time [default: twice the processors, at least 4]. At most 1024 calls, of \
               64 MiB in all, wait or run at once; more are refused and can be sent again",
        heading: LIMITS,
    },
    Opt {
        flag: "max-files-created",
        shape: Shape::One,
        value: "N",
        help: "Files and directories that one session may make [default: 10000]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-bytes-written",
        shape: Shape::One,
        value: "BYTES",
        help: "What one session may write in all [default: 1GiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-root-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Refuse to write below a directory whose files together would pass this; counted at most once a minute, \
               and up to 500000 entries [default: no limit]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-arguments",
        shape: Shape::One,
        value: "N",
        help: "Arguments of one call [default: 50]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-nesting",
        shape: Shape::One,
        value: "N",
        help: "Lists and objects within one another in the arguments of one call [default: 8]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-glob",
        shape: Shape::One,
        value: "BYTES",
        help: "Longest glob; its braces are never expanded, so this bounds the compiled one too [default: 1KiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-regex",
        shape: Shape::One,
        value: "BYTES",
        help: "Longest pattern of grep [default: 8KiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-regex-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Largest pattern of grep once it is compiled, which bounds the time for that too [default: 10MiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-regex-repeats",
        shape: Shape::One,
        value: "N",
        help: "Positions that the counted repetitions of a pattern may stand for, as 6000 in `(.{1,100}){1,60}` \
               [default: 3000]",
        heading: LIMITS,
    },
    Opt {
        flag: "max-message",
        shape: Shape::One,
        value: "BYTES",
        help: "Longest message that is read from the client [default: 16MiB]",
        heading: LIMITS,
    },
    Opt {
        flag: "audit",
        shape: Shape::One,
        value: "FILE",
        help: "Append one JSON line for each call: when, who, what, where and how it ended; of content only length and \
               SHA-256. Its folder must hold nothing that is offered",
        heading: AUDIT,
    },
    Opt {
        flag: "audit-required",
        shape: Shape::Switch,
        value: "BOOL",
        help: "Refuse calls that cannot be recorded; a change is announced by a line of its own before it is made",
        heading: AUDIT,
    },
    Opt {
        flag: "audit-size",
        shape: Shape::One,
        value: "BYTES",
        help: "Set the file aside as FILE.1 (up to FILE.5) when it has grown to this [default: 10MiB]",
        heading: AUDIT,
    },
    Opt {
        flag: "confine",
        shape: Shape::One,
        value: "MODE",
        help: "Have the kernel confine the whole process to the directories (Landlock) and refuse it programs, sockets \
               and the like (seccomp): `auto` (default) where it can, `required` or not start, `off`",
        heading: PROCESS,
    },
    Opt {
        flag: "resolver",
        shape: Shape::One,
        value: "WAY",
        help: "How paths are opened beneath a directory: `auto` (default): in one step that the kernel confines, \
               where it can; `walk`: name by name, as on systems without openat2. For diagnosis",
        heading: PROCESS,
    },
    Opt {
        flag: "state-dir",
        shape: Shape::One,
        value: "DIR",
        help: "Where to remember which files have been read, for clients that start a new process for each call, and \
               what files held before; `off` keeps that in memory [default: $XDG_STATE_HOME/rootbound]",
        heading: PROCESS,
    },
    Opt {
        flag: "index",
        shape: Shape::One,
        value: "MODE",
        help: "Keep the names in a directory, and which files a search can leave out, true in memory between calls: \
               `auto` (default) for large trees after their first search, `eager` for every tree from the start, `off`",
        heading: PROCESS,
    },
    Opt {
        flag: "history",
        shape: Shape::One,
        value: "MODE",
        help: "Keep what files held before they are changed or deleted, for `undo`, `rootbound history` and `rootbound \
               restore`: `auto` (default) in the state folder, `off` only in memory and for this session",
        heading: PROCESS,
    },
    Opt {
        flag: "history-size",
        shape: Shape::One,
        value: "BYTES",
        help: "How much of that is kept on the disk, the oldest giving way; nothing is kept for more than 30 days \
               [default: 256MiB]",
        heading: PROCESS,
    },
    Opt {
        flag: "config",
        shape: Shape::One,
        value: "FILE",
        help: "Read options from a TOML file; paths in it are relative to its folder",
        heading: PROCESS,
    },
    Opt {
        flag: "log",
        shape: Shape::One,
        value: "LEVEL",
        help: "What is logged to stderr: off, error, warn (default), info, debug or trace",
        heading: PROCESS,
    },
];

/// One value as it was given, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) text: String,
    pub(super) source: Source,
    /// What a `[[root]]` table of the file says beside its path, which is the text.
    pub(super) table: Option<RootTable>,
}

/// A `[[root]]` table: what counts below one directory alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RootTable {
    /// The mount name as it was written.
    pub(super) name: Option<String>,
    /// Its rights and rules: the options of [`PER_ROOT`].
    pub(super) own: Typed,
}

/// The options that may stand in a `[[root]]` table.
pub(super) const PER_ROOT: &[&str] =
    &["read-only", "deny", "deny-extension", "hide", "protect", "allow-secret", "allow-protected"];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A line of the configuration file.
    File {
        /// The file as it was named.
        name: String,
        /// Counted from 1.
        line: usize,
    },
    Environment,
    CommandLine,
}

/// Names an option the way the person gave it: `--log`, `ROOTBOUND_LOG`, `log (rootbound.toml:3)`.
pub(super) struct Place<'a>(pub(super) &'a Opt, pub(super) &'a Source);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(option, source) = self;
        match source {
            Source::CommandLine => write!(f, "--{}", option.flag),
            Source::Environment => f.write_str(&option.variable()),
            Source::File { name, line } => write!(f, "{name}:{line}: {}", option.key()),
        }
    }
}

/// What was typed: for each option the values of each source, not yet understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    given: Vec<(&'static Opt, Given)>,
}

impl Typed {
    /// Notes one value.
    pub(super) fn push(&mut self, option: &'static Opt, text: String, source: Source) {
        self.given.push((option, Given { text, source, table: None }));
    }

    /// Notes a directory that a table of the file names.
    pub(super) fn push_root(&mut self, option: &'static Opt, path: String, source: Source, table: RootTable) {
        self.given.push((option, Given { text: path, source, table: Some(table) }));
    }

    /// Every value there is.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static Opt, &Given)> {
        self.given.iter().map(|(option, given)| (*option, given))
    }

    /// The value of the highest source, the last one where it was given twice there.
    pub(super) fn one(&self, flag: &str) -> Option<(&'static Opt, &Given)> {
        self.of(flag).max_by_key(|(_, given)| rank(&given.source))
    }

    /// The values of the highest source alone.
    pub(super) fn highest(&self, flag: &str) -> Vec<(&'static Opt, &Given)> {
        let top = self.of(flag).map(|(_, given)| rank(&given.source)).max();
        self.of(flag).filter(|(_, given)| Some(rank(&given.source)) == top).collect()
    }

    /// The values of every source: the file's, then the environment's, then the command line's.
    pub(super) fn each(&self, flag: &str) -> Vec<(&'static Opt, &Given)> {
        let mut all: Vec<_> = self.of(flag).collect();
        all.sort_by_key(|(_, given)| rank(&given.source));
        all
    }

    /// The texts of [`Self::each`].
    pub(super) fn list(&self, flag: &str) -> Vec<String> {
        self.each(flag).into_iter().map(|(_, given)| given.text.clone()).collect()
    }

    fn of(&self, flag: &str) -> impl Iterator<Item = (&'static Opt, &Given)> {
        debug_assert!(OPTIONS.iter().any(|option| option.flag == flag), "no option is called {flag}");
        self.all().filter(move |(option, _)| option.flag == flag)
    }
}

/// The command line wins over the environment, the environment over the file.
fn rank(source: &Source) -> u8 {
    match source {
        Source::File { .. } => 0,
        Source::Environment => 1,
        Source::CommandLine => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_spellings_derive_from_the_flag() {
        let option = OPTIONS.iter().find(|option| option.flag == "max-output").expect("in the table");
        assert_eq!(option.key(), "max_output");
        assert_eq!(option.variable(), "ROOTBOUND_MAX_OUTPUT");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the README is no file of a workspace")]
    fn the_readme_has_a_row_for_each_option_with_its_help() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        let readme = std::fs::read_to_string(path).expect("there is one");
        let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `--")).collect();
        let expected: Vec<String> = OPTIONS
            .iter()
            .map(|option| {
                let value = if option.shape == Shape::Switch { String::new() } else { format!(" {}", option.value) };
                let many = if option.shape == Shape::List { " (repeatable)" } else { "" };
                format!("| `--{}{value}`{many} | {} |", option.flag, option.help)
            })
            .collect();
        for (row, expected) in rows.iter().zip(&expected) {
            assert_eq!(row, expected);
        }
        assert_eq!(rows.len(), expected.len());
    }

    #[test]
    fn no_flag_is_one_that_deerflow_refuses_to_register() {
        for refused in ["print", "eval", "shell", "call"] {
            assert!(OPTIONS.iter().all(|option| option.flag != refused), "--{refused}");
        }
    }

    #[test]
    fn a_later_source_wins_and_the_last_value_within_one() {
        let option = OPTIONS.iter().find(|option| option.flag == "log").expect("in the table");
        let mut typed = Typed::default();
        typed.push(option, "debug".into(), Source::CommandLine);
        typed.push(option, "trace".into(), Source::CommandLine);
        typed.push(option, "info".into(), Source::Environment);
        typed.push(option, "warn".into(), Source::File { name: "f".into(), line: 1 });
        assert_eq!(typed.one("log").expect("given").1.text, "trace");
        assert_eq!(typed.highest("log").len(), 2);
    }
}
