//! The table of options. One row is a flag, an environment variable, a key of the configuration file, the help, the range
//! and the field of [`Config`](super::Config) that it sets.
//!
//! To add an option, add a row. A switch, a choice, a number, a size or a time needs nothing more; `validate` reads a
//! text or a list by its name.

use confined_fs::Secrets;
use self_sandbox::Confine;
use tracing::level_filters::LevelFilter;
use tree_search::IndexMode;

use super::{NumberField, OptionRow, UNBOUNDED, ValueKind};
use crate::{
    server::{Confirm, ConfirmThrough},
    tools::ReadBeforeWrite,
};

/// The headings of the help, each with its options, in this order.
pub(super) const SECTIONS: &[(&str, &[OptionRow])] = &[
    ("Directories", ROOTS),
    ("Tools", TOOLS),
    ("Policy (patterns are globs on paths below a root, in addition to the built-in lists)", POLICY),
    ("Limits", LIMITS),
    ("Audit", AUDIT),
    ("Process", PROCESS),
];

/// The row of an option that exists.
pub(super) fn option(flag: &str) -> &'static OptionRow {
    options().find(|option| option.flag == flag).expect("a row of the table")
}

pub(super) fn options() -> impl Iterator<Item = &'static OptionRow> {
    SECTIONS.iter().flat_map(|(_, options)| *options)
}

const MIB: u64 = 1 << 20;

const ROOTS: &[OptionRow] = &[
    OptionRow {
        flag: "root",
        help: "Offer a directory, under NAME if one is given: a plain word, or a virtual absolute path such as \
               /mnt/user-data/workspace. `:ro` makes it read-only, `:untrusted` is --untrusted for it alone, `:optional` \
               lets it be missing and serves it once it exists; they combine: `:ro:optional`. Write a path that contains `=` as `=PATH`, and one that ends in `:ro` as `PATH:rw`",
        kind: ValueKind::List("[NAME=]PATH[:ro]"),
    },
    OptionRow {
        flag: "read-only",
        help: "Offer only the tools that change nothing, and open every directory read-only",
        kind: ValueKind::Switch(|config| &mut config.selection.read_only),
    },
    OptionRow {
        flag: "untrusted",
        help: "Fence names and text from the files of every directory in answers: a line before them says that they are \
               data and not instructions, and where they end. For files that others may have written to mislead a model",
        kind: ValueKind::Switch(|config| &mut config.workspace.policy.untrusted),
    },
];

const TOOLS: &[OptionRow] = &[
    OptionRow {
        flag: "tools",
        help: "Offer only these tools: names separated by commas",
        kind: ValueKind::Text("LIST"),
    },
    OptionRow {
        flag: "allow",
        help: "Also offer an optional group of tools: `manage` (mkdir, move, copy, delete, undo), `patch` (apply_patch), `watch` (wait), `present` (present)",
        kind: ValueKind::List("GROUP"),
    },
    OptionRow {
        flag: "structured-output",
        help: "Also send each result as data, and advertise its schema. Off by default: several clients then hide the \
               text and images from the model",
        kind: ValueKind::Switch(|config| &mut config.settings.structured_output),
    },
    OptionRow {
        flag: "images",
        help: "`on` (default): read shows images; `off`: it describes them in a line, for models that accept no images",
        kind: ValueKind::Choice(
            "MODE",
            &[("on", |config| config.settings.images = true), ("off", |config| config.settings.images = false)],
        ),
    },
    OptionRow {
        flag: "read-before-write",
        help: "`strict` (default): a file must have been read, and be unchanged since, before it is changed (delete \
               accepts unread files, because it can be undone); `off`: no check",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("strict", |config| config.settings.read_before_write = ReadBeforeWrite::Strict),
                ("off", |config| config.settings.read_before_write = ReadBeforeWrite::Off),
            ],
        ),
    },
    OptionRow {
        flag: "diagnostics",
        help: "`on` (default): the answer about a change names the problems that it has introduced, such as syntax errors; \
               `off`: files are not checked",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("on", |config| config.settings.diagnostics = true),
                ("off", |config| config.settings.diagnostics = false),
            ],
        ),
    },
    OptionRow {
        flag: "confirm",
        help: "Show a person each change and make it only if they approve: `never` (default); `destructive`: changes \
               that replace or remove something; `writes`: all changes. Such a change is refused if the client cannot \
               ask",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("never", |config| config.server.confirm = Confirm::Never),
                ("destructive", |config| config.server.confirm = Confirm::Destructive),
                ("writes", |config| config.server.confirm = Confirm::Writes),
            ],
        ),
    },
    OptionRow {
        flag: "confirm-through",
        help: "Who asks the person about a change where the client cannot: `client` (default): nobody, the change is refused; \
               `model`: the model, with a tool of its client. The refusal carries a code for this change alone, with which the \
               model repeats the call. A courtesy, not a wall: a model could repeat the call without asking",
        kind: ValueKind::Choice(
            "WHO",
            &[
                ("client", |config| config.server.confirm_through = ConfirmThrough::Client),
                ("model", |config| config.server.confirm_through = ConfirmThrough::Model),
            ],
        ),
    },
    OptionRow {
        flag: "no-default-ignore",
        help: "Do not skip names that are never source (node_modules, caches, build output …); .gitignore and .ignore \
               still apply",
        kind: ValueKind::Switch(|config| &mut config.workspace.ignore.no_default),
    },
    OptionRow {
        flag: "ignore",
        help: "Skip matching paths in ls, glob and grep; gitignore syntax",
        kind: ValueKind::List("PATTERN"),
    },
];

const POLICY: &[OptionRow] = &[
    OptionRow { flag: "deny", help: "Refuse the content of these files", kind: ValueKind::List("GLOB") },
    OptionRow { flag: "hide", help: "Refuse these files and do not show their names", kind: ValueKind::List("GLOB") },
    OptionRow { flag: "protect", help: "Refuse to create or change these files", kind: ValueKind::List("GLOB") },
    OptionRow {
        flag: "secrets",
        help: "What is shown of files on the built-in list of secrets: `deny` (default): nothing; `mask`: names and \
               structure with `<secret:NAME>` for each value, of formats whose values can all be found (.env, INI, JSON, \
               YAML, TOML and the like). Edits keep the values. Files that --deny names stay denied",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("deny", |config| config.workspace.policy.secrets = Some(Secrets::Deny)),
                ("mask", |config| config.workspace.policy.secrets = Some(Secrets::Mask)),
            ],
        ),
    },
    OptionRow {
        flag: "allow-secret",
        help: "Show the content of these files although the built-in list of secrets names them",
        kind: ValueKind::List("GLOB"),
    },
    OptionRow {
        flag: "allow-protected",
        help: "Allow changes to these files although the built-in list of files that run later names them",
        kind: ValueKind::List("GLOB"),
    },
    OptionRow {
        flag: "agent-rules",
        help: "`auto` (default): also refuse what files at the top of a directory forbid to agents \
               (`permissions.deny` of `.claude/settings.json`, `.cursorignore` and the like); `off`: do not read \
               these files",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("auto", |config| config.workspace.agent_rules = true),
                ("off", |config| config.workspace.agent_rules = false),
            ],
        ),
    },
];

const LIMITS: &[OptionRow] = &[
    OptionRow {
        flag: "max-output",
        help: "Longest text of one answer, for every client [default: by the name that the client sends; 40 KB if \
               it is not known; docs/clients.md has the table]",
        // An error with its hint needs up to a thousand bytes; no model takes 10 MiB.
        kind: ValueKind::Size(1_000..=10 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_output)),
    },
    OptionRow {
        flag: "max-file-size",
        help: "Largest file that edit and write accept, and largest PDF that read accepts",
        kind: ValueKind::Size(1..=u32::MAX as u64, |config| NumberField::U64(&mut config.settings.max_file_size)),
    },
    OptionRow {
        flag: "max-image-size",
        help: "Largest image that read sends, or several in one answer together; larger ones are scaled down or \
               compressed [default: 700KiB, less for a client that accepts less]",
        // The message with the image is in memory several times.
        kind: ValueKind::Size(1..=256 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_image_size)),
    },
    OptionRow {
        flag: "time-limit",
        help: "Time that one call may take before it changes anything",
        // Clients give up long before an hour.
        kind: ValueKind::Seconds(3_600.0, |config| &mut config.server.deadline),
    },
    OptionRow {
        flag: "max-files-created",
        help: "Files and directories that one session may create",
        kind: ValueKind::Count(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.files)),
    },
    OptionRow {
        flag: "max-bytes-written",
        help: "Bytes that one session may write",
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.bytes)),
    },
    OptionRow {
        flag: "max-root-size",
        help: "Refuse to write below a directory whose files would exceed this in total; counted at most once per \
               minute, and up to 500000 entries [default: no limit]",
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::OptU64(&mut config.quota.root_bytes)),
    },
];

const AUDIT: &[OptionRow] = &[
    OptionRow {
        flag: "audit",
        help: "Append one JSON line for each call: when, who, what, where, how it ended and the revision of each \
               changed file before and after; of content only its length and SHA-256. The folder of the file must be outside of the directories offered",
        kind: ValueKind::Text("FILE"),
    },
    OptionRow {
        flag: "audit-label",
        help: "Text in each line of the audit that says which server wrote it, of at most 100 characters",
        kind: ValueKind::Text("TEXT"),
    },
    OptionRow {
        flag: "audit-required",
        help: "Refuse calls that cannot be recorded; a change is recorded before it is made as well",
        kind: ValueKind::Switch(|config| &mut config.audit.required),
    },
    OptionRow {
        flag: "events",
        help: "Write one JSON line for each change that is made, such as file.written, to this file, FIFO or listening \
               socket (unix:PATH), for interfaces and plug-ins; never waited for. It must be outside of the directories offered",
        kind: ValueKind::Text("FILE"),
    },
];

const PROCESS: &[OptionRow] = &[
    OptionRow {
        flag: "confine",
        help: "Let the kernel confine the whole process to the directories (Landlock) and refuse it programs, sockets \
               and the like (seccomp): `auto` (default): as far as the kernel supports it; `required`: do not start \
               without it; `off`",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("auto", |config| config.confine = Confine::Auto),
                ("required", |config| config.confine = Confine::Required),
                ("off", |config| config.confine = Confine::Off),
            ],
        ),
    },
    OptionRow {
        flag: "resolver",
        help: "How paths are opened below a directory: `auto` (default): in one step that the kernel confines, where \
               it can; `walk`: name by name, as on systems without openat2. For diagnosis",
        kind: ValueKind::Choice(
            "WAY",
            &[
                ("auto", |config| config.workspace.force_fallback = false),
                ("walk", |config| config.workspace.force_fallback = true),
            ],
        ),
    },
    OptionRow {
        flag: "state-dir",
        help: "Folder for the record of files that have been read, for clients that start a new process for each \
               call, for the former content of files, and for the stored index; `off` keeps them in memory [default: \
               $XDG_STATE_HOME/rootbound]",
        kind: ValueKind::Text("DIR"),
    },
    OptionRow {
        flag: "stage",
        help: "Keep every change in a layer in the state folder: tools see it as made, and the disk stays as it is until a \
               person runs `rootbound stage apply`. `rootbound stage` shows it, `rootbound stage discard` drops it. A layer holds as much \
               as --history-size allows",
        kind: ValueKind::Switch(|config| &mut config.stage),
    },
    OptionRow {
        flag: "index",
        help: "Keep an index of the paths below a directory and an n-gram filter over its files between calls, and in the \
               state folder for the next process: `auto` (default) for large trees after their first search, `eager` \
               for every tree from the start, `off`",
        kind: ValueKind::Choice(
            "MODE",
            &[
                ("auto", |config| config.index = IndexMode::Auto),
                ("eager", |config| config.index = IndexMode::Eager),
                ("off", |config| config.index = IndexMode::Off),
            ],
        ),
    },
    OptionRow {
        flag: "index-size",
        help: "Disk space for the stored indexes of all directories; those that were not used for the longest time are \
               removed first. 0: nothing is stored",
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.index_size)),
    },
    OptionRow {
        flag: "history",
        help: "Keep the content of files before they are changed or deleted, for `undo` and \
               `rootbound history`: `auto` (default): in the state folder; `off`: in memory, until the server ends",
        kind: ValueKind::Choice(
            "MODE",
            &[("auto", |config| config.history.on_disk = true), ("off", |config| config.history.on_disk = false)],
        ),
    },
    OptionRow {
        flag: "history-size",
        help: "Disk space for former content; the oldest is removed first, and all of it after 30 days",
        // Less would not hold the former content of one larger file.
        kind: ValueKind::Size(MIB..=UNBOUNDED, |config| NumberField::U64(&mut config.history.bytes)),
    },
    OptionRow {
        flag: "config",
        help: "Read options from a TOML file; paths in it are relative to its folder",
        kind: ValueKind::Text("FILE"),
    },
    OptionRow {
        flag: "log",
        help: "What is logged to stderr: off, error (default of `call`), warn (default), info, debug or trace",
        kind: ValueKind::Choice(
            "LEVEL",
            &[
                ("off", |config| config.log = LevelFilter::OFF),
                ("error", |config| config.log = LevelFilter::ERROR),
                ("warn", |config| config.log = LevelFilter::WARN),
                ("info", |config| config.log = LevelFilter::INFO),
                ("debug", |config| config.log = LevelFilter::DEBUG),
                ("trace", |config| config.log = LevelFilter::TRACE),
            ],
        ),
    },
];

/// The options that a `[[role]]` table of the file may have.
pub(super) const PER_ROLE: [&str; 5] =
    ["tools", "read-only", "max-files-created", "max-bytes-written", "max-root-size"];

/// The options that may also be keys of a `[[root]]` table.
pub(super) const PER_ROOT: &str = "read-only untrusted deny hide protect secrets allow-secret allow-protected";

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn flag_gives_key_and_variable() {
        let option = options().find(|option| option.flag == "max-output").expect("in the table");
        assert_eq!(option.key(), "max_output");
        assert_eq!(option.variable(), "ROOTBOUND_MAX_OUTPUT");
    }

    #[test]
    fn each_default_is_within_its_range_and_in_the_help() {
        for option in options() {
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
                ValueKind::Choice(_, choices) => {
                    assert!(help.contains("(default)"), "{help}");
                    assert!(choices.iter().all(|(name, _)| help.contains(name)), "{help}");
                }
                ValueKind::Switch(_) | ValueKind::Text(_) | ValueKind::List(_) => {}
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
        for (heading, options) in SECTIONS {
            let _ = writeln!(text, "\n## {heading}\n\n| option | meaning |\n|---|---|");
            for option in *options {
                let _ = writeln!(text, "{}", option.markdown_row());
            }
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
        let known: Vec<String> = options().map(OptionRow::markdown_row).collect();
        for row in readme.lines().filter(|line| line.starts_with("| `--")) {
            assert!(known.iter().any(|known| known == row), "{row}");
        }
    }

    #[test]
    fn no_flag_is_one_that_deerflow_refuses_to_register() {
        for refused in ["print", "eval", "shell", "call"] {
            assert!(options().all(|option| option.flag != refused), "--{refused}");
        }
    }
}
