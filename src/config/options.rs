//! The table of options. One row is a flag, an environment variable, a key of the configuration file, the help, the range
//! and the field of [`Config`](super::Config) that it sets.
//!
//! To add an option, add a row. One that is a switch, a choice, a number or a size needs nothing more;
//! a text or a list is read by its name in `validate`.

use tracing::level_filters::LevelFilter;

use super::option::{NumberField, OptionRow, UNBOUNDED, ValueKind};
use crate::{search::IndexMode, server::Confirm, tools::ReadBeforeWrite, workspace::Confine};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const ROOTS: &str = "Directories";
const TOOLS: &str = "Tools";
const POLICY: &str = "Policy (patterns are globs on paths below a root, and add to the built-in lists)";
const LIMITS: &str = "Limits";
const AUDIT: &str = "Audit";
const PROCESS: &str = "Process";

/// Every option there is, in the order of the help.
pub(super) const OPTIONS: &[OptionRow] = &[
    OptionRow {
        flag: "root",
        value: "[NAME=]PATH[:ro]",
        help: "Offer a directory, under NAME where one is given: a plain word, or a virtual absolute path such as \
               /mnt/user-data/workspace. `:ro` makes it read-only. A path that itself holds `=` is written \
               `=PATH`, one that ends in `:ro` is written `PATH:rw`",
        heading: ROOTS,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "read-only",
        value: "BOOL",
        help: "Offer only the tools that change nothing, and open every directory read-only",
        heading: ROOTS,
        kind: ValueKind::Switch(|config| &mut config.selection.read_only),
    },
    OptionRow {
        flag: "tools",
        value: "LIST",
        help: "Offer only these tools, by name with commas between",
        heading: TOOLS,
        kind: ValueKind::Text,
    },
    OptionRow {
        flag: "allow",
        value: "GROUP",
        help: "Offer an optional group of tools as well: `manage`",
        heading: TOOLS,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "structured-output",
        value: "BOOL",
        help: "Send each result also as data, and advertise its schema. Off by default: several clients then hide the \
               text and images from the model",
        heading: TOOLS,
        kind: ValueKind::Switch(|config| &mut config.settings.structured_output),
    },
    OptionRow {
        flag: "read-before-write",
        value: "MODE",
        help: "`strict` (default): a file must have been read, and be unchanged since, before it is changed (a deletion, \
               which can be undone, takes unread files too); \
               `changed-only`: a file that was read must be unchanged since; `off`: no check",
        heading: TOOLS,
        kind: ValueKind::Choice(&[
            ("strict", |config| config.settings.read_before_write = ReadBeforeWrite::Strict),
            ("changed-only", |config| config.settings.read_before_write = ReadBeforeWrite::ChangedOnly),
            ("off", |config| config.settings.read_before_write = ReadBeforeWrite::Off),
        ]),
    },
    OptionRow {
        flag: "confirm",
        value: "MODE",
        help: "Show a person each change and make it only on their yes: `destructive` asks where something that was \
               there is replaced or removed, `writes` always, `never` (default) not at all. A client that cannot ask is \
               refused",
        heading: TOOLS,
        kind: ValueKind::Choice(&[
            ("never", |config| config.server.confirm = Confirm::Never),
            ("destructive", |config| config.server.confirm = Confirm::Destructive),
            ("writes", |config| config.server.confirm = Confirm::Writes),
        ]),
    },
    OptionRow {
        flag: "no-default-ignore",
        value: "BOOL",
        help: "Do not skip what is never source by name (node_modules, caches, build output …); .gitignore and .ignore \
               still count",
        heading: TOOLS,
        kind: ValueKind::Switch(|config| &mut config.workspace.ignore.no_default),
    },
    OptionRow {
        flag: "ignore",
        value: "PATTERN",
        help: "Skip what matches in ls, glob and grep; gitignore syntax",
        heading: TOOLS,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "deny",
        value: "GLOB",
        help: "Refuse the content of these files",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "deny-extension",
        value: "EXT",
        help: "Refuse the content of files whose names end so: `exe`, `.pem`, `tar.gz`; upper and lower case alike",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "hide",
        value: "GLOB",
        help: "Refuse these files and show not even their names",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "protect",
        value: "GLOB",
        help: "Refuse to create or change these files",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "allow-secret",
        value: "GLOB",
        help: "Show the content of these files although their names are on the built-in list of secrets",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "allow-protected",
        value: "GLOB",
        help: "Let these files be changed although they are on the built-in list of files that run later",
        heading: POLICY,
        kind: ValueKind::List,
    },
    OptionRow {
        flag: "agent-rules",
        value: "MODE",
        help: "`auto` (default): what the files at the top of a directory forbid agents is refused here, too \
               (`permissions.deny` of `.claude/settings.json`, `.cursorignore` and the like); `off`: they are not read",
        heading: POLICY,
        kind: ValueKind::Choice(&[
            ("auto", |config| config.workspace.agent_rules = true),
            ("off", |config| config.workspace.agent_rules = false),
        ]),
    },
    OptionRow {
        flag: "max-output",
        value: "BYTES",
        help: "Text in one answer; DeerFlow works best with 11000",
        heading: LIMITS,
        // Below a thousand bytes not even an error with its hint fits; 10 MiB are far beyond what any model takes.
        kind: ValueKind::Size(1_000..=10 * MIB, |config| NumberField::Usize(&mut config.settings.max_output)),
    },
    OptionRow {
        flag: "max-file-size",
        value: "BYTES",
        help: "Largest file that edit and write take",
        heading: LIMITS,
        kind: ValueKind::Size(1..=u32::MAX as u64, |config| NumberField::U64(&mut config.settings.max_file_size)),
    },
    OptionRow {
        flag: "max-image-size",
        value: "BYTES",
        help: "Largest image that read shows; clients refuse larger ones than the default",
        heading: LIMITS,
        // A message, of which the image is a part, is held in memory several times over.
        kind: ValueKind::Size(1..=256 * MIB, |config| NumberField::U64(&mut config.settings.max_image_size)),
    },
    OptionRow {
        flag: "max-search-file-size",
        value: "BYTES",
        help: "Largest file that grep looks into when it searches a directory",
        heading: LIMITS,
        kind: ValueKind::Size(1..=UNBOUNDED, |config| NumberField::U64(&mut config.settings.max_search_file_size)),
    },
    OptionRow {
        flag: "time-limit",
        value: "SECONDS",
        help: "How long one call may work before it changes anything",
        heading: LIMITS,
        // An hour: a client has given up long before.
        kind: ValueKind::Seconds(3_600.0, |config| &mut config.server.deadline),
    },
    OptionRow {
        flag: "confirm-time-limit",
        value: "SECONDS",
        help: "How long a person may take to answer; without an answer the change is not made",
        heading: LIMITS,
        // A day: a person may be away.
        kind: ValueKind::Seconds(86_400.0, |config| &mut config.server.confirm_limit),
    },
    OptionRow {
        flag: "max-concurrent",
        value: "N",
        help: "Searches that run at the same time [default: twice the processors, at least 4]. At most 1024 calls, of \
               64 MiB in all, wait or run at once; more are refused and can be sent again",
        heading: LIMITS,
        kind: ValueKind::Count(1..=256, |config| NumberField::OptUsize(&mut config.server.max_concurrent)),
    },
    OptionRow {
        flag: "max-files-created",
        value: "N",
        help: "Files and directories that one session may make",
        heading: LIMITS,
        kind: ValueKind::Count(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.files)),
    },
    OptionRow {
        flag: "max-bytes-written",
        value: "BYTES",
        help: "What one session may write in all",
        heading: LIMITS,
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.bytes)),
    },
    OptionRow {
        flag: "max-root-size",
        value: "BYTES",
        help: "Refuse to write below a directory whose files together would pass this; counted at most once a minute, \
               and up to 500000 entries [default: no limit]",
        heading: LIMITS,
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::OptU64(&mut config.quota.root_bytes)),
    },
    OptionRow {
        flag: "max-arguments",
        value: "N",
        help: "Arguments of one call",
        heading: LIMITS,
        kind: ValueKind::Count(1..=10_000, |config| NumberField::Usize(&mut config.settings.max_arguments)),
    },
    OptionRow {
        flag: "max-nesting",
        value: "N",
        help: "Lists and objects within one another in the arguments of one call",
        heading: LIMITS,
        kind: ValueKind::Count(1..=100, |config| NumberField::Usize(&mut config.settings.max_nesting)),
    },
    OptionRow {
        flag: "max-glob",
        value: "BYTES",
        help: "Longest glob; its braces are never expanded, so this bounds the compiled one too",
        heading: LIMITS,
        // Parsing takes a multiple of the pattern on the stack and in time.
        kind: ValueKind::Size(1..=MIB, |config| NumberField::Usize(&mut config.settings.patterns.glob)),
    },
    OptionRow {
        flag: "max-regex",
        value: "BYTES",
        help: "Longest pattern of grep",
        heading: LIMITS,
        kind: ValueKind::Size(1..=MIB, |config| NumberField::Usize(&mut config.settings.patterns.regex)),
    },
    OptionRow {
        flag: "max-regex-size",
        value: "BYTES",
        help: "Largest pattern of grep once it is compiled, which bounds the time for that too",
        heading: LIMITS,
        // Below 64 KiB a class of letters does not fit; each search thread may need as much.
        kind: ValueKind::Size(64 * KIB..=GIB, |config| NumberField::Usize(&mut config.settings.patterns.compiled)),
    },
    OptionRow {
        flag: "max-regex-repeats",
        value: "N",
        help: "Positions that the counted repetitions of a pattern may stand for, as 6000 in `(.{1,100}){1,60}`",
        heading: LIMITS,
        kind: ValueKind::Count(1..=1_000_000, |config| NumberField::Usize(&mut config.settings.patterns.repeated)),
    },
    OptionRow {
        flag: "max-message",
        value: "BYTES",
        help: "Longest message that is read from the client",
        heading: LIMITS,
        // Below 64 KiB an honest write of a source file does not fit.
        kind: ValueKind::Size(64 * KIB..=256 * MIB, |config| NumberField::Usize(&mut config.server.max_line)),
    },
    OptionRow {
        flag: "audit",
        value: "FILE",
        help: "Append one JSON line for each call: when, who, what, where and how it ended; of content only length and \
               SHA-256. Its folder must hold nothing that is offered",
        heading: AUDIT,
        kind: ValueKind::Text,
    },
    OptionRow {
        flag: "audit-required",
        value: "BOOL",
        help: "Refuse calls that cannot be recorded; a change is announced by a line of its own before it is made",
        heading: AUDIT,
        kind: ValueKind::Switch(|config| &mut config.audit.required),
    },
    OptionRow {
        flag: "audit-size",
        value: "BYTES",
        help: "Set the file aside as FILE.1 (up to FILE.5) when it has grown to this",
        heading: AUDIT,
        // Below 64 KiB hardly a line fits.
        kind: ValueKind::Size(64 * KIB..=UNBOUNDED, |config| NumberField::U64(&mut config.audit.size)),
    },
    OptionRow {
        flag: "confine",
        value: "MODE",
        help: "Have the kernel confine the whole process to the directories (Landlock) and refuse it programs, sockets \
               and the like (seccomp): `auto` (default) where it can, `required` or not start, `off`",
        heading: PROCESS,
        kind: ValueKind::Choice(&[
            ("auto", |config| config.confine = Confine::Auto),
            ("required", |config| config.confine = Confine::Required),
            ("off", |config| config.confine = Confine::Off),
        ]),
    },
    OptionRow {
        flag: "resolver",
        value: "WAY",
        help: "How paths are opened beneath a directory: `auto` (default): in one step that the kernel confines, \
               where it can; `walk`: name by name, as on systems without openat2. For diagnosis",
        heading: PROCESS,
        kind: ValueKind::Choice(&[
            ("auto", |config| config.workspace.force_fallback = false),
            ("walk", |config| config.workspace.force_fallback = true),
        ]),
    },
    OptionRow {
        flag: "state-dir",
        value: "DIR",
        help: "Where to remember which files have been read, for clients that start a new process for each call, and \
               what files held before; `off` keeps that in memory [default: $XDG_STATE_HOME/rootbound]",
        heading: PROCESS,
        kind: ValueKind::Text,
    },
    OptionRow {
        flag: "index",
        value: "MODE",
        help: "Keep an index of the paths below a directory and an n-gram filter over its files in memory between calls: \
               `auto` (default) for large trees after their first search, `eager` for every tree from the start, `off`",
        heading: PROCESS,
        kind: ValueKind::Choice(&[
            ("auto", |config| config.index = IndexMode::Auto),
            ("eager", |config| config.index = IndexMode::Eager),
            ("off", |config| config.index = IndexMode::Off),
        ]),
    },
    OptionRow {
        flag: "history",
        value: "MODE",
        help: "Keep what files held before they are changed or deleted, for `undo`, `rootbound history` and `rootbound \
               restore`: `auto` (default) in the state folder, `off` only in memory and for this session",
        heading: PROCESS,
        kind: ValueKind::Choice(&[
            ("auto", |config| config.history.on_disk = true),
            ("off", |config| config.history.on_disk = false),
        ]),
    },
    OptionRow {
        flag: "history-size",
        value: "BYTES",
        help: "How much of that is kept on the disk, the oldest giving way; nothing is kept for more than 30 days",
        heading: PROCESS,
        // Below 1 MiB hardly an edit can be undone.
        kind: ValueKind::Size(MIB..=UNBOUNDED, |config| NumberField::U64(&mut config.history.bytes)),
    },
    OptionRow {
        flag: "config",
        value: "FILE",
        help: "Read options from a TOML file; paths in it are relative to its folder",
        heading: PROCESS,
        kind: ValueKind::Text,
    },
    OptionRow {
        flag: "log",
        value: "LEVEL",
        help: "What is logged to stderr: off, error, warn (default), info, debug or trace",
        heading: PROCESS,
        kind: ValueKind::Choice(&[
            ("off", |config| config.log = LevelFilter::OFF),
            ("error", |config| config.log = LevelFilter::ERROR),
            ("warn", |config| config.log = LevelFilter::WARN),
            ("info", |config| config.log = LevelFilter::INFO),
            ("debug", |config| config.log = LevelFilter::DEBUG),
            ("trace", |config| config.log = LevelFilter::TRACE),
        ]),
    },
];

/// The options that may also be keys of a `[[root]]` table.
pub(super) const PER_ROOT: &[&str] =
    &["read-only", "deny", "deny-extension", "hide", "protect", "allow-secret", "allow-protected"];

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn flag_gives_key_and_variable() {
        let option = OPTIONS.iter().find(|option| option.flag == "max-output").expect("in the table");
        assert_eq!(option.key(), "max_output");
        assert_eq!(option.variable(), "ROOTBOUND_MAX_OUTPUT");
    }

    #[test]
    fn each_default_is_within_its_range_and_in_the_help() {
        for option in OPTIONS {
            let help = option.full_help();
            match &option.kind {
                ValueKind::Size(range, _) | ValueKind::Count(range, _) => match option.default_number() {
                    Some(default) => {
                        assert!(range.contains(&default), "{}: {default}", option.flag);
                        assert!(help.contains("[default: "), "{help}");
                    }
                    None => assert!(help.contains("[default: "), "{help}"),
                },
                ValueKind::Seconds(..) => assert!(help.contains("[default: "), "{help}"),
                ValueKind::Choice(choices) => {
                    assert!(help.contains("(default)"), "{help}");
                    assert!(choices.iter().all(|(name, _)| help.contains(name)), "{help}");
                }
                ValueKind::Switch(_) | ValueKind::Text | ValueKind::List => {}
            }
        }
    }

    /// The rows of `docs/options.md`: a table of the commands, and one for each heading.
    fn tables() -> String {
        let mut text = "\n## Commands\n\n| command | meaning |\n|---|---|\n".to_owned();
        for command in crate::config::command().get_subcommands() {
            let about = command.get_about().expect("a description");
            let _ = writeln!(text, "| `rootbound {}` | {about} |", command.get_name());
        }
        let mut heading = "";
        for option in OPTIONS {
            if option.heading != heading {
                heading = option.heading;
                let _ = writeln!(text, "\n## {heading}\n\n| option | meaning |\n|---|---|");
            }
            let _ = writeln!(text, "{}", option.markdown_row());
        }
        text + "\n"
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the documentation is no file of a workspace")]
    fn options_page_has_each_row_and_the_readme_only_such_rows() {
        const BEGIN: &str = "options_page` -->\n";
        const END: &str = "<!-- end of options -->";
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = top.join("docs/options.md");
        let text = std::fs::read_to_string(&page).expect("docs/options.md");
        let (before, rest) = text.split_once(BEGIN).expect("a mark before the options");
        let (rows, after) = rest.split_once(END).expect("a mark behind the options");
        let expected = tables();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&page, format!("{before}{BEGIN}{expected}{END}{after}")).expect("written");
        } else {
            assert_eq!(rows, expected, "docs/options.md differs from the table: run the command that it names");
        }
        let readme = std::fs::read_to_string(top.join("README.md")).expect("README.md");
        let known: Vec<String> = OPTIONS.iter().map(OptionRow::markdown_row).collect();
        for row in readme.lines().filter(|line| line.starts_with("| `--")) {
            assert!(known.iter().any(|known| known == row), "{row}");
        }
    }

    #[test]
    fn no_flag_is_one_that_deerflow_refuses_to_register() {
        for refused in ["print", "eval", "shell", "call"] {
            assert!(OPTIONS.iter().all(|option| option.flag != refused), "--{refused}");
        }
    }
}
