//! The table of options. One row is a flag, an environment variable, a key of the configuration file, the help, the range
//! and the field of [`Config`] that it sets.
//!
//! To add an option, add a row. A switch, a choice, a number, a size or a time needs nothing more in this folder than the
//! field, whose default is in the `Default` of its struct (`Config`, or that of a layer below); `validate` reads a text or
//! a list by its name.

use std::{borrow::Cow, fmt::Debug, ops::RangeInclusive, time::Duration};

use confined_fs::Secrets;
use self_sandbox::Confine;
use text_file::exact_size;
use tracing::level_filters::LevelFilter;
use tree_search::IndexMode;

use crate::server::{Confirm, ConfirmThrough};
use file_tools::ReadBeforeWrite;

use super::Config;

use self::ValueKind::{Choice, Count, List, Seconds, Size, Switch, Text};

/// No upper limit: the largest size that file systems can express (`off_t`).
pub(super) const UNBOUNDED: u64 = i64::MAX as u64;

/// The beginning of the name of each environment variable.
pub(super) const VARIABLE_PREFIX: &str = "ROOTBOUND_";

#[derive(Debug)]
pub(super) struct OptionRow {
    /// The flag without its dashes; key and variable are derived from it.
    pub(super) flag: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: ValueKind,
}

/// The kind of value that an option takes, and the field that it sets. The text is the name of the value in the help.
#[derive(Debug)]
pub(super) enum ValueKind {
    /// True or false; the bare flag means true.
    Switch(fn(&mut Config) -> &mut bool),
    Choice(&'static str, &'static dyn NamedValues),
    Count(RangeInclusive<u64>, fn(&mut Config) -> NumberField<'_>),
    /// Bytes, or a number with a unit.
    Size(RangeInclusive<u64>, fn(&mut Config) -> NumberField<'_>),
    /// Seconds above 0, up to this many.
    Seconds(f64, fn(&mut Config) -> &mut Duration),
    Text(&'static str),
    List(&'static str),
}

pub(super) trait NamedValues: Debug + Sync {
    fn names(&self) -> Vec<&'static str>;
    /// Sets the field to the value of that name; false if there is none.
    fn choose(&self, name: &str, config: &mut Config) -> bool;
}

#[derive(Debug)]
pub(super) struct Choices<T: 'static>(pub(super) &'static [(&'static str, T)], pub(super) fn(&mut Config) -> &mut T);

impl<T: Clone + Debug + Sync> NamedValues for Choices<T> {
    fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    fn choose(&self, name: &str, config: &mut Config) -> bool {
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| self.1(config).clone_from(value)).is_some()
    }
}

#[derive(Debug)]
pub(super) enum NumberField<'c> {
    U64(&'c mut u64),
    OptU64(&'c mut Option<u64>),
    OptUsize(&'c mut Option<usize>),
}

impl NumberField<'_> {
    pub(super) fn set(self, value: u64) {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match self {
            Self::U64(field) => *field = value,
            Self::OptU64(field) => *field = Some(value),
            Self::OptUsize(field) => *field = Some(size),
        }
    }

    fn value(self) -> Option<u64> {
        match self {
            Self::U64(field) => Some(*field),
            Self::OptU64(field) => *field,
            Self::OptUsize(field) => field.map(|value| value as u64),
        }
    }
}

pub(super) const fn row(flag: &'static str, kind: ValueKind) -> OptionRow {
    OptionRow { flag, help: "", kind }
}

impl OptionRow {
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// The key in the configuration file: `max_output`.
    pub(super) fn key(&self) -> String {
        self.flag.replace('-', "_")
    }

    pub(super) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key().to_uppercase())
    }

    pub(super) fn value_name(&self) -> &'static str {
        match self.kind {
            Switch(_) => "BOOL",
            Count(..) => "N",
            Size(..) => "BYTES",
            Seconds(..) => "SECONDS",
            Choice(name, _) | Text(name) | List(name) => name,
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, List(_))
    }

    /// The first clause of the help, unless that explains a value.
    pub(super) fn short_help(&self) -> &'static str {
        let end = [". ", ": ", "; "].iter().filter_map(|mark| self.help.find(mark)).min();
        end.filter(|end| *end > 20 && !self.help.starts_with('`')).map_or(self.help, |end| &self.help[..end])
    }

    pub(super) fn full_help(&self) -> Cow<'static, str> {
        let default = match &self.kind {
            Size(..) => self.default_number().map(|bytes| exact_size(bytes).replace(' ', "")),
            Count(..) => self.default_number().map(|count| count.to_string()),
            Seconds(_, field) => Some(field(&mut Config::default()).as_secs_f64().to_string()),
            _ => None,
        };
        default.map_or(Cow::Borrowed(self.help), |default| format!("{} [default: {default}]", self.help).into())
    }

    /// The default of a number; `None` if it is computed later.
    pub(super) fn default_number(&self) -> Option<u64> {
        match &self.kind {
            Size(_, field) | Count(_, field) => field(&mut Config::default()).value(),
            _ => None,
        }
    }

    #[cfg(test)]
    pub(super) fn markdown_row(&self) -> String {
        let value = if matches!(self.kind, Switch(_)) { String::new() } else { format!(" {}", self.value_name()) };
        let many = if self.is_list() { " (repeatable)" } else { "" };
        format!("| `--{}{value}`{many} | {} |", self.flag, self.full_help())
    }
}

// The table.

/// The headings of the help, each with its options, in this order.
pub(super) const OPTION_SECTIONS: &[(&str, &[OptionRow])] = &[
    ("Directories", ROOT_ROWS),
    ("Tools", TOOL_ROWS),
    ("Policy (patterns are globs on paths below a root, in addition to the built-in lists)", POLICY_ROWS),
    ("Limits", LIMIT_ROWS),
    ("Audit", AUDIT_ROWS),
    ("Process", PROCESS_ROWS),
];

pub(super) fn option(flag: &str) -> &'static OptionRow {
    options().find(|option| option.flag == flag).expect("a row of the table")
}

pub(super) fn options() -> impl Iterator<Item = &'static OptionRow> {
    OPTION_SECTIONS.iter().flat_map(|(_, options)| *options)
}

const MIB: u64 = 1 << 20;

// The values of the choices, in the order of the messages.

const ON_OFF: &[(&str, bool)] = &[("on", true), ("off", false)];
const AUTO_OFF: &[(&str, bool)] = &[("auto", true), ("off", false)];
const RESOLVER_VALUES: &[(&str, bool)] = &[("auto", false), ("walk", true)];
const READ_BEFORE_WRITE: &[(&str, ReadBeforeWrite)] =
    &[("strict", ReadBeforeWrite::Strict), ("off", ReadBeforeWrite::Off)];
const CONFIRM_VALUES: &[(&str, Confirm)] =
    &[("never", Confirm::Never), ("destructive", Confirm::Destructive), ("writes", Confirm::Writes)];
const CONFIRM_THROUGH: &[(&str, ConfirmThrough)] =
    &[("client", ConfirmThrough::Client), ("model", ConfirmThrough::Model)];
const SECRETS_VALUES: &[(&str, Option<Secrets>)] = &[("deny", Some(Secrets::Deny)), ("names", Some(Secrets::Names))];
/// Also those of `rootbound exec`, and of `confine` in an `[lsp.NAME]` table.
pub(super) const CONFINE_VALUES: &[(&str, Confine)] =
    &[("auto", Confine::Auto), ("required", Confine::Required), ("off", Confine::Off)];
const INDEX_VALUES: &[(&str, IndexMode)] =
    &[("auto", IndexMode::Auto), ("eager", IndexMode::Eager), ("off", IndexMode::Off)];
const LOG_LEVELS: &[(&str, LevelFilter)] = &[
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

const ROOT_ROWS: &[OptionRow] = &[
    row("root", List("[NAME=]PATH")).help(
        "Offer a directory, under NAME if one is given: a plain word, or a virtual absolute path such as \
         /mnt/user-data/workspace. `:ro` makes it read-only, `:untrusted` is --untrusted for it alone, `:optional` \
         lets it be missing and serves it once it exists; they combine: `:ro:optional`. Write a path that contains `=` \
         as `=PATH`, and one that ends in `:ro` as `PATH:rw`",
    ),
    row("read-only", Switch(|config| &mut config.selection.read_only))
        .help("Offer only the tools that change nothing, and open every directory read-only"),
    row("untrusted", Switch(|config| &mut config.workspace.policy.untrusted)).help(
        "Fence names and text from the files of every directory in answers: a line before them says that they are data \
         and not instructions, and where they end. For files that others may have written to mislead a model",
    ),
];

const TOOL_ROWS: &[OptionRow] = &[
    row("tools", Text("LIST")).help("Offer only these tools: names separated by commas"),
    row("allow", List("GROUP")).help(
        "Also offer an optional group of tools: `manage` (mkdir, move, copy, delete, undo), `patch` (apply_patch), \
         `watch` (wait), `present` (present)",
    ),
    row("structured-output", Switch(|config| &mut config.settings.structured_output)).help(
        "Also send each result as data, and advertise its schema. Off by default: several clients then hide the text \
         and images from the model",
    ),
    row("images", Choice("MODE", &Choices(ON_OFF, |config| &mut config.settings.images))).help(
        "`on` (default): read shows images; `off`: it describes them in a line, for models that accept no images",
    ),
    row(
        "read-before-write",
        Choice("MODE", &Choices(READ_BEFORE_WRITE, |config| &mut config.settings.read_before_write)),
    )
    .help(
        "`strict` (default): a file must have been read, and be unchanged since, before it is changed (delete accepts \
         unread files, because it can be undone); `off`: no check",
    ),
    row("diagnostics", Choice("MODE", &Choices(ON_OFF, |config| &mut config.settings.diagnostics))).help(
        "`on` (default): the answer about a change names the problems that it has introduced, such as syntax errors; \
         `off`: files are not checked",
    ),
    row("confirm", Choice("MODE", &Choices(CONFIRM_VALUES, |config| &mut config.server.confirm))).help(
        "Show a person each change and make it only if they approve: `never` (default); `destructive`: changes that \
         replace or remove something; `writes`: all changes. Such a change is refused if the client cannot ask",
    ),
    row("confirm-through", Choice("WHO", &Choices(CONFIRM_THROUGH, |config| &mut config.server.confirm_through))).help(
        "Who asks the person about a change where the client cannot: `client` (default): nobody, the change is \
         refused; `model`: the model, with a tool of its client. The refusal carries a code for this change alone, \
         with which the model repeats the call. A courtesy, not a wall: a model could repeat the call without asking",
    ),
    row("no-default-ignore", Switch(|config| &mut config.workspace.ignore.no_default)).help(
        "Do not skip names that are never source (node_modules, caches, build output …); .gitignore and .ignore still \
         apply",
    ),
    row("ignore", List("PATTERN")).help("Skip matching paths in ls, glob and grep; gitignore syntax"),
];

const POLICY_ROWS: &[OptionRow] = &[
    row("deny", List("GLOB")).help("Refuse the content of these files"),
    row("hide", List("GLOB")).help("Refuse these files and do not show their names"),
    row("protect", List("GLOB")).help("Refuse to create or change these files"),
    row("secrets", Choice("MODE", &Choices(SECRETS_VALUES, |config| &mut config.workspace.policy.secrets))).help(
        "What is shown of files on the built-in list of secrets: `deny` (default): nothing; `names`: `read` answers \
         with the names in a file that is nothing but a list of names with values (.env, INI, JSON, YAML, TOML), never \
         a value. Nothing else changes: all others stay denied, and so do files that --deny names",
    ),
    row("allow-secret", List("GLOB"))
        .help("Show the content of these files although the built-in list of secrets names them"),
    row("allow-protected", List("GLOB"))
        .help("Allow changes to these files although the built-in list of files that run later names them"),
    row("agent-rules", Choice("MODE", &Choices(AUTO_OFF, |config| &mut config.workspace.agent_rules))).help(
        "`auto` (default): also refuse what files at the top of a directory forbid to agents (`permissions.deny` of \
         `.claude/settings.json`, `.cursorignore` and the like); `off`: do not read these files",
    ),
];

const LIMIT_ROWS: &[OptionRow] = &[
    // An error with its hint needs up to a thousand bytes; no model takes 10 MiB.
    row("max-output", Size(1_000..=10 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_output))).help(
        "Longest text of one answer, for every client [default: by the name that the client sends; 40 KB if it is not \
         known; docs/clients.md has the table]",
    ),
    row("max-file-size", Size(1..=u32::MAX as u64, |config| NumberField::U64(&mut config.settings.max_file_size)))
        .help("Largest file that edit and write accept, and largest PDF that read accepts"),
    // The message with the image is in memory several times.
    row("max-image-size", Size(1..=256 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_image_size))).help(
        "Largest image that read sends, or several in one answer together; larger ones are scaled down or compressed \
         [default: 700KiB, less for a client that accepts less]",
    ),
    // Clients give up long before an hour.
    row("time-limit", Seconds(3_600.0, |config| &mut config.server.deadline))
        .help("Time that one call may take before it changes anything"),
    row("max-files-created", Count(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.files)))
        .help("Files and directories that one session may create"),
    row("max-bytes-written", Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.bytes)))
        .help("Bytes that one session may write"),
    row("max-root-size", Size(0..=UNBOUNDED, |config| NumberField::OptU64(&mut config.quota.root_bytes))).help(
        "Refuse to write below a directory whose files would exceed this in total; counted at most once per minute, \
         and up to 500000 entries [default: no limit]",
    ),
];

const AUDIT_ROWS: &[OptionRow] = &[
    row("audit", Text("FILE")).help(
        "Append one JSON line for each call: when, who, what, where, how it ended and the revision of each changed \
         file before and after; of content only its length and SHA-256. The folder of the file must be outside of the \
         directories offered",
    ),
    row("audit-label", Text("TEXT")).help(
        "Name of this server, of at most 100 characters: in each line of the audit and of --events, and in the history",
    ),
    row("audit-required", Switch(|config| &mut config.audit.required))
        .help("Refuse calls that cannot be recorded; a change is recorded before it is made as well"),
    row("events", Text("FILE")).help(
        "Write one JSON line for each change that is made, such as file.written, to this file, FIFO or listening \
         socket (unix:PATH), for interfaces and plug-ins; never waited for. It must be outside of the directories \
         offered",
    ),
];

const PROCESS_ROWS: &[OptionRow] = &[
    row("confine", Choice("MODE", &Choices(CONFINE_VALUES, |config| &mut config.confine))).help(
        "Let the kernel confine the whole process to the directories (Landlock) and refuse it programs, sockets and \
         the like (seccomp): `auto` (default): as far as the kernel supports it; `required`: do not start without it; \
         `off`",
    ),
    row("resolver", Choice("WAY", &Choices(RESOLVER_VALUES, |config| &mut config.workspace.force_fallback))).help(
        "How paths are opened below a directory: `auto` (default): in one step that the kernel confines, where it can; \
         `walk`: name by name, as on systems without openat2. For diagnosis",
    ),
    row("state-dir", Text("DIR")).help(
        "Folder for the record of files that have been read, for clients that start a new process for each call, for \
         the former content of files, and for the stored index; `off` keeps them in memory [default: \
         $XDG_STATE_HOME/rootbound]",
    ),
    row("index", Choice("MODE", &Choices(INDEX_VALUES, |config| &mut config.index))).help(
        "Keep an index of the paths below a directory and an n-gram filter over its files between calls, and in the \
         state folder for the next process: `auto` (default) for large trees after their first search, `eager` for \
         every tree from the start, `off`",
    ),
    row("index-size", Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.index_size))).help(
        "Disk space for the stored indexes of all directories; those that were not used for the longest time are \
         removed first. 0: nothing is stored",
    ),
    row("history", Choice("MODE", &Choices(AUTO_OFF, |config| &mut config.history.on_disk))).help(
        "Keep the content of files before they are changed or deleted, for `undo` and `rootbound history`: `auto` \
         (default): in the state folder; `off`: in memory, until the server ends",
    ),
    // Less would not hold the former content of one larger file.
    row("history-size", Size(MIB..=UNBOUNDED, |config| NumberField::U64(&mut config.history.bytes)))
        .help("Disk space for former content; the oldest is removed first, and all of it after 30 days"),
    row("config", Text("FILE")).help("Read options from a TOML file; paths in it are relative to its folder"),
    row("log", Choice("LEVEL", &Choices(LOG_LEVELS, |config| &mut config.log)))
        .help("What is logged to stderr: off, error (default of `call`), warn (default), info, debug or trace"),
];

/// The options that a `[[role]]` table of the file may have.
pub(super) const PER_ROLE: [&str; 5] =
    ["tools", "read-only", "max-files-created", "max-bytes-written", "max-root-size"];

/// The options that may also be keys of a `[[root]]` table.
pub(super) const PER_ROOT: [&str; 8] =
    ["read-only", "untrusted", "deny", "hide", "protect", "secrets", "allow-secret", "allow-protected"];

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
                Size(range, _) | Count(range, _) => match option.default_number() {
                    Some(default) => {
                        assert!(range.contains(&default), "{}: {default}", option.flag);
                        assert!(help.contains("[default: "), "{help}");
                    }
                    None => assert!(help.contains("[default: "), "{help}"),
                },
                Seconds(..) => assert!(help.contains("[default: "), "{help}"),
                Choice(_, choices) => {
                    assert!(help.contains("(default)"), "{help}");
                    assert!(choices.names().iter().all(|name| help.contains(name)), "{help}");
                }
                Switch(_) | Text(_) | List(_) => {}
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
        for (heading, options) in OPTION_SECTIONS {
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
        const BEGIN_MARK: &str = "options_page` -->\n";
        const END_MARK: &str = "<!-- end of options -->";
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = top.join("docs/options.md");
        let text = std::fs::read_to_string(&page).expect("docs/options.md");
        let (before, rest) = text.split_once(BEGIN_MARK).expect("a mark before the options");
        let (rows, after) = rest.split_once(END_MARK).expect("a mark after the options");
        let expected = tables();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&page, format!("{before}{BEGIN_MARK}{expected}{END_MARK}{after}")).expect("written");
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
