//! From what was typed to what it means: one [`Config`], or every problem there is.
//!
//! Nothing here stops at the first wrong value: each is noted and a default stands in for it.

use std::{
    ffi::OsString,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use tracing::level_filters::LevelFilter;

use crate::{
    search::{IndexMode, PatternLimits},
    server::{self, Confirm},
    session::{HistoryLimits, QuotaLimits},
    tools::{Group, ReadBeforeWrite, Selection, Settings, Toolbox},
    workspace::{self, AppendLog, Confine, IgnoreRules, RootSpec},
};

use super::{
    Action, AuditFile, Config, Surroundings,
    options::{Given, Opt, Place, Source, Typed, nearest},
    policy, readable, roots,
};

/// Understands what was typed. `file` is the configuration file, where there is one.
pub(super) fn config(
    typed: &Typed,
    action: Action,
    directories: &[OsString],
    file: Option<&Path>,
    around: &Surroundings,
    mut problems: Vec<String>,
) -> Result<Config, Vec<String>> {
    let file_base = file.and_then(Path::parent).unwrap_or(&around.directory);
    placeholders(typed, directories, &mut problems);
    let mut warnings = Vec::new();
    let mut values = Values { typed, problems: &mut problems };

    let read_only = values.switch("read-only");
    let selection = values.selection(read_only);
    let settings = values.settings();
    let server = values.server();
    let history = values.history();
    let index = values.choice("index", INDEX, IndexMode::default());
    let quota = values.quota();
    let audit = values.audit(file_base, around);
    let log = values.choice("log", LEVELS, LevelFilter::WARN);
    let confine = values.choice("confine", CONFINE, Confine::Auto);
    let force_fallback = values.choice("resolver", RESOLVER, false);
    let ignore = IgnoreRules { extra: typed.list("ignore"), no_default: values.switch("no-default-ignore") };
    let agent_rules = values.choice("agent-rules", AGENT_RULES, true);
    let policy = policy::rules(typed, &mut problems);
    for (option, given) in typed.each("ignore") {
        let one = IgnoreRules { extra: vec![given.text.clone()], no_default: true };
        problems.extend(one.validate().into_iter().map(|why| format!("{}: {why}", Place(option, &given.source))));
    }
    let mut named = typed.highest("root");
    if !directories.is_empty() {
        // Plain directories are the command line's; roots of the environment and the file give way to them.
        named.retain(|(_, given)| given.source == Source::CommandLine);
    }
    left_out(typed, &named, &mut warnings);
    let asked = roots::Asked { directories, roots: named, file_base, read_only };
    let roots = roots::specs(&asked, around, &mut problems, &mut warnings);
    let paths: Vec<PathBuf> = roots.iter().flat_map(|root| roots::names_of(&root.path)).collect();
    policy::host_paths(typed, &paths, around.home.as_deref(), &mut problems);
    if let Some(root) = audit.as_ref().and_then(|file| roots::overlapping(file.path.parent()?, &roots)) {
        problems.push(format!(
            "the audit file lies in, or beside, {}, which is offered: choose a folder of its own outside of all \
             directories",
            root.path.display()
        ));
    }
    let state = state(typed, &roots, file_base, around, &mut problems, &mut warnings);

    if !problems.is_empty() {
        return Err(problems);
    }
    let own = own(file, audit.as_ref(), state.as_deref(), around);
    let workspace =
        workspace::Options { policy, ignore, force_fallback, own, agent_rules, ..workspace::Options::default() };
    Ok(Config {
        action,
        log,
        roots,
        workspace,
        confine,
        state,
        history,
        index,
        quota,
        audit,
        selection,
        settings,
        server,
        warnings,
    })
}

const LEVELS: &[(&str, LevelFilter)] = &[
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];
const CONFINE: &[(&str, Confine)] = &[("auto", Confine::Auto), ("required", Confine::Required), ("off", Confine::Off)];
/// Whether the walk name by name is forced.
const RESOLVER: &[(&str, bool)] = &[("auto", false), ("walk", true)];
const READ_BEFORE_WRITE: &[(&str, ReadBeforeWrite)] = &[
    ("strict", ReadBeforeWrite::Strict),
    ("changed-only", ReadBeforeWrite::ChangedOnly),
    ("off", ReadBeforeWrite::Off),
];
const CONFIRM: &[(&str, Confirm)] =
    &[("never", Confirm::Never), ("destructive", Confirm::Destructive), ("writes", Confirm::Writes)];
const INDEX: &[(&str, IndexMode)] = &[("auto", IndexMode::Auto), ("eager", IndexMode::Eager), ("off", IndexMode::Off)];
const HISTORY: &[(&str, bool)] = &[("auto", true), ("off", false)];
/// Whether rules that people wrote for agents count.
const AGENT_RULES: &[(&str, bool)] = &[("auto", true), ("off", false)];
const GROUPS: &[(&str, Group)] = &[("manage", Group::Manage)];

/// Below this not even an error with its hint fits.
const LEAST_OUTPUT: u64 = 1_000;
/// Far beyond what any model takes in one answer.
const MOST_OUTPUT: u64 = 10 << 20;
/// Below this hardly an edit can be undone.
const LEAST_HISTORY: u64 = 1 << 20;
/// Below this an honest write of a source file does not fit.
const LEAST_MESSAGE: u64 = 64 << 10;
/// A message is held in memory several times over.
const MOST_MESSAGE: u64 = 256 << 20;
/// Below this hardly a line fits.
const LEAST_AUDIT: u64 = 64 << 10;
/// Some 20,000 calls.
const AUDIT_SIZE: u64 = 10 << 20;
/// Parsing takes a multiple of it on the stack and in time.
const MOST_PATTERN: u64 = 1 << 20;
/// Below this a class of letters does not fit.
const LEAST_COMPILED: u64 = 64 << 10;
/// Each search thread may need as much.
const MOST_COMPILED: u64 = 1 << 30;
/// An hour: a client has given up long before.
const LONGEST_CALL: f64 = 3_600.0;
/// A day: a person may be away.
const LONGEST_ANSWER: f64 = 86_400.0;

/// Reads values one by one, noting what is wrong.
struct Values<'a> {
    typed: &'a Typed,
    problems: &'a mut Vec<String>,
}

impl Values<'_> {
    fn selection(&mut self, read_only: bool) -> Selection {
        let known = Toolbox::known();
        let only = self.typed.one("tools").map(|(option, given)| {
            let names: Vec<String> =
                given.text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let place = Place(option, &given.source);
            for name in &names {
                if !known.contains(&name.as_str()) {
                    let hint = nearest(name, known.iter().copied()).map_or_else(
                        || format!("there are {}", known.join(", ")),
                        |near| format!("did you mean {near}?"),
                    );
                    self.problems.push(format!("{place} names {name:?}, which is no tool: {hint}"));
                }
            }
            if names.is_empty() {
                self.problems.push(format!("{place} is empty: leave it out, or name some of {}", known.join(", ")));
            }
            names
        });
        let groups = self.groups();
        let selection = Selection { only, groups, read_only };
        if let Some(only) = &selection.only {
            let offered = Toolbox::new(&selection);
            for name in only.iter().filter(|name| known.contains(&name.as_str()) && offered.get(name).is_none()) {
                let next = if read_only { "remove it, or --read-only" } else { "add --allow manage" };
                let place = self
                    .typed
                    .one("tools")
                    .map_or_else(|| "--tools".to_owned(), |(option, given)| Place(option, &given.source).to_string());
                self.problems.push(format!("{place} names {name}, which the other options leave out: {next}"));
            }
        }
        selection
    }

    fn groups(&mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        for (option, given) in self.typed.each("allow") {
            let place = Place(option, &given.source);
            for name in given.text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                match GROUPS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    Some((_, group)) => groups.push(*group),
                    None => self.problems.push(format!("{place} {name:?} is no group of tools: there is `manage`")),
                }
            }
        }
        groups
    }

    fn settings(&mut self) -> Settings {
        let default = Settings::default();
        let bytes = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Settings {
            max_output: bytes(self.size("max-output", LEAST_OUTPUT..=MOST_OUTPUT, default.max_output as u64)),
            structured_output: self.switch("structured-output"),
            read_before_write: self.choice("read-before-write", READ_BEFORE_WRITE, default.read_before_write),
            max_file_size: self.size("max-file-size", 1..=u64::from(u32::MAX), default.max_file_size),
            max_image_size: self.size("max-image-size", 1..=MOST_MESSAGE, default.max_image_size),
            max_search_file_size: self.size("max-search-file-size", 1..=i64::MAX as u64, default.max_search_file_size),
            max_arguments: self.count("max-arguments", 1..=10_000, default.max_arguments),
            max_nesting: self.count("max-nesting", 1..=100, default.max_nesting),
            patterns: self.patterns(default.patterns),
            ..default
        }
    }

    fn patterns(&mut self, default: PatternLimits) -> PatternLimits {
        let mut bytes = |flag: &str, least: u64, most: u64, default: usize| {
            usize::try_from(self.size(flag, least..=most, default as u64)).unwrap_or(usize::MAX)
        };
        PatternLimits {
            glob: bytes("max-glob", 1, MOST_PATTERN, default.glob),
            regex: bytes("max-regex", 1, MOST_PATTERN, default.regex),
            compiled: bytes("max-regex-size", LEAST_COMPILED, MOST_COMPILED, default.compiled),
            repeated: self.count("max-regex-repeats", 1..=1_000_000, default.repeated),
        }
    }

    fn history(&mut self) -> HistoryLimits {
        let default = HistoryLimits::default();
        HistoryLimits {
            on_disk: self.choice("history", HISTORY, default.on_disk),
            bytes: self.size("history-size", LEAST_HISTORY..=i64::MAX as u64, default.bytes),
            ..default
        }
    }

    fn quota(&mut self) -> QuotaLimits {
        let default = QuotaLimits::default();
        let all = 0..=i64::MAX as u64;
        QuotaLimits {
            files: self.count("max-files-created", 0..=usize::MAX, usize::try_from(default.files).unwrap_or(usize::MAX))
                as u64,
            bytes: self.size("max-bytes-written", all.clone(), default.bytes),
            root_bytes: self.typed.one("max-root-size").is_some().then(|| self.size("max-root-size", all, u64::MAX)),
        }
    }

    fn audit(&mut self, file_base: &Path, around: &Surroundings) -> Option<AuditFile> {
        let required = self.switch("audit-required");
        let size = self.size("audit-size", LEAST_AUDIT..=i64::MAX as u64, AUDIT_SIZE);
        let Some((option, given)) = self.typed.one("audit") else {
            if required {
                self.problems.push("--audit-required needs --audit FILE".to_owned());
            }
            return None;
        };
        if given.text.is_empty() {
            self.problems.push(format!("{} is empty: name a file, or leave it out", Place(option, &given.source)));
            return None;
        }
        let base = if matches!(given.source, Source::File { .. }) { file_base } else { &around.directory };
        Some(AuditFile { path: around.absolute(Path::new(&given.text), base), size, required })
    }

    fn count(&mut self, flag: &str, range: RangeInclusive<usize>, default: usize) -> usize {
        let Some((option, given)) = self.typed.one(flag) else { return default };
        match given.text.trim().parse::<usize>() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let bounds = match (range.start(), *range.end()) {
                    // The end of the type is no bound that anybody chose.
                    (least, usize::MAX) => format!("of at least {least}"),
                    (least, most) => format!("from {least} to {most}"),
                };
                let place = Place(option, &given.source);
                self.problems.push(format!("{place} {:?} is no count: write a whole number {bounds}", given.text));
                default
            }
        }
    }

    fn server(&mut self) -> server::Options {
        let mut options = server::Options::default();
        options.deadline = self.seconds("time-limit", LONGEST_CALL, options.deadline);
        options.confirm = self.choice("confirm", CONFIRM, options.confirm);
        options.confirm_limit = self.seconds("confirm-time-limit", LONGEST_ANSWER, options.confirm_limit);
        if self.typed.one("max-concurrent").is_some() {
            options.max_concurrent = Some(self.count("max-concurrent", 1..=256, 1));
        }
        let longest = self.size("max-message", LEAST_MESSAGE..=MOST_MESSAGE, options.max_line as u64);
        options.max_line = usize::try_from(longest).unwrap_or(usize::MAX);
        options
    }

    fn seconds(&mut self, flag: &str, longest: f64, default: Duration) -> Duration {
        let Some((option, given)) = self.typed.one(flag) else { return default };
        match given.text.trim().trim_end_matches('s').parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= longest => Duration::from_secs_f64(seconds),
            _ => {
                self.problems.push(format!(
                    "{} {:?} is no time: write seconds, above 0 and up to {longest}, as {}",
                    Place(option, &given.source),
                    given.text,
                    default.as_secs()
                ));
                default
            }
        }
    }

    fn switch(&mut self, flag: &str) -> bool {
        let Some((option, given)) = self.typed.one(flag) else { return false };
        match given.text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => {
                self.problems.push(format!(
                    "{} {:?} is neither true nor false: write true, false, 1 or 0",
                    Place(option, &given.source),
                    given.text
                ));
                false
            }
        }
    }

    fn choice<T: Copy>(&mut self, flag: &str, choices: &[(&str, T)], default: T) -> T {
        let Some((option, given)) = self.typed.one(flag) else { return default };
        if let Some((_, value)) = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(given.text.trim())) {
            return *value;
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        self.problems.push(format!(
            "{} {:?} is unknown: choose one of {}",
            Place(option, &given.source),
            given.text,
            names.join(", ")
        ));
        default
    }

    fn size(&mut self, flag: &str, range: RangeInclusive<u64>, default: u64) -> u64 {
        let Some((option, given)) = self.typed.one(flag) else { return default };
        let place = Place(option, &given.source);
        match bytes(&given.text) {
            Some(bytes) if range.contains(&bytes) => bytes,
            Some(bytes) => {
                let bounds = match (*range.start(), *range.end()) {
                    (least, most) if most == i64::MAX as u64 => format!("at least {}", readable(least)),
                    (least, most) => format!("{} to {}", readable(least), readable(most)),
                };
                self.problems.push(format!("{place} of {bytes} bytes is out of range: choose {bounds}"));
                default
            }
            None => {
                self.problems.push(format!(
                    "{place} {:?} is no size: write bytes, or a number with KiB, MiB or GiB, as 50KiB",
                    given.text
                ));
                default
            }
        }
    }
}

/// Reads `4096`, `50KiB`, `1.5 MiB`. KB and K mean KiB, as in most tools that take either.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    let number = number.trim();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    let value = number.parse::<f64>().ok().filter(|value| shift > 0 && *value >= 0.0)? * f64::from(1_u32 << shift);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in the range of u64")]
    (value < 1e18).then_some(value as u64)
}

/// A client's own variable that it did not fill in: Claude Desktop leaves the text of an unset option
/// as it stands, and a directory or pattern of that name would be taken for real.
fn placeholders(typed: &Typed, directories: &[OsString], problems: &mut Vec<String>) {
    const NEXT: &str = "a client did not fill this in; set the option in the client, or take the argument out";
    for directory in directories {
        if directory.to_string_lossy().contains("${") {
            problems.push(format!("the argument {} still holds `${{`: {NEXT}", directory.display()));
        }
    }
    let outside = typed.all().filter(|(_, given)| !matches!(given.source, Source::File { .. }));
    for (option, given) in outside.filter(|(_, given)| given.text.contains("${")) {
        problems.push(format!("{} {:?} still holds `${{`: {NEXT}", Place(option, &given.source), given.text));
    }
}

/// The files that decide about the next start: a model that could write one would allow itself more by it.
fn own(file: Option<&Path>, audit: Option<&AuditFile>, state: Option<&Path>, around: &Surroundings) -> Vec<PathBuf> {
    let logs = audit.into_iter().flat_map(|audit| AppendLog::names(&audit.path));
    let others = file.into_iter().chain(state).map(|path| around.directory.join(path));
    others.chain(logs).chain(around.program.iter().cloned()).collect()
}

/// Rules of a directory that the environment or the command line leaves out count nowhere, which a
/// person should know.
fn left_out(typed: &Typed, used: &[(&'static Opt, &Given)], warnings: &mut Vec<String>) {
    for (option, given) in typed.each("root") {
        let has_rules =
            given.table.as_ref().is_some_and(|table| table.own.all().any(|(own, _)| own.flag != "read-only"));
        if has_rules && !used.iter().any(|(_, other)| std::ptr::eq(*other, given)) {
            warnings.push(format!(
                "{} {} and its rules are not used: other directories were named",
                Place(option, &given.source),
                given.text
            ));
        }
    }
}

/// The folder for what outlives the process. One that calls could reach would let a model forge what
/// it has read, and the rights to write it would reach into a read-only directory.
fn state(
    typed: &Typed,
    roots: &[RootSpec],
    file_base: &Path,
    around: &Surroundings,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let Some((option, given)) = typed.one("state-dir") else {
        if around.state.is_none() {
            warnings.push(
                "there is no home directory, so what has been read is remembered in memory only; --state-dir names a \
                 folder for it"
                    .to_owned(),
            );
        }
        let reachable = around.state.as_deref().and_then(|path| roots::overlapping(path, roots));
        if let Some(root) = reachable {
            warnings.push(format!(
                "the state folder of this account overlaps {}, which is offered, so what has been read is remembered in \
                 memory only; --state-dir names a folder outside",
                root.path.display()
            ));
            return None;
        }
        return around.state.clone();
    };
    match given.text.as_str() {
        "off" => None,
        "" => {
            problems.push(format!("{} is empty: name a folder, or `off`", Place(option, &given.source)));
            None
        }
        text => {
            let base = if matches!(given.source, Source::File { .. }) { file_base } else { &around.directory };
            let path = around.absolute(Path::new(text), base);
            if let Some(root) = roots::overlapping(&path, roots) {
                problems.push(format!(
                    "{} {text:?} lies in, or beside, {}, which is offered: choose a folder of its own outside of all \
                     directories, or `off`",
                    Place(option, &given.source),
                    root.path.display()
                ));
            }
            Some(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        assert_eq!(bytes("11000"), Some(11_000));
        assert_eq!(bytes("50KiB"), Some(51_200));
        assert_eq!(bytes(" 1.5 MiB "), Some(1_572_864));
        assert_eq!(bytes("2g"), Some(2 << 30));
        for wrong in ["", "lots", "-1", "1.5", "5 KiBs", "99999999999G", "nanK"] {
            assert_eq!(bytes(wrong), None, "{wrong:?}");
        }
    }
}
