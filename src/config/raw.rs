//! What was typed: the values of each option as text, with where each was given. Nothing is understood here.

use std::fmt;

use super::{option::OptionRow, options::OPTIONS};

/// One value as it was given, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawValue {
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
    /// Its rights and rules: the options of [`PER_ROOT`](super::options::PER_ROOT).
    pub(super) own: RawArgs,
}

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
pub(super) struct Origin<'a>(pub(super) &'a OptionRow, pub(super) &'a Source);

impl fmt::Display for Origin<'_> {
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
pub(super) struct RawArgs {
    given: Vec<(&'static OptionRow, RawValue)>,
}

impl RawArgs {
    /// Notes one value.
    pub(super) fn push(&mut self, option: &'static OptionRow, text: String, source: Source) {
        self.given.push((option, RawValue { text, source, table: None }));
    }

    /// Notes a directory that a table of the file names.
    pub(super) fn push_root(&mut self, option: &'static OptionRow, path: String, source: Source, table: RootTable) {
        self.given.push((option, RawValue { text: path, source, table: Some(table) }));
    }

    /// Every value there is.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static OptionRow, &RawValue)> {
        self.given.iter().map(|(option, given)| (*option, given))
    }

    /// The value of the highest source, the last one where it was given twice there.
    pub(super) fn one(&self, flag: &str) -> Option<(&'static OptionRow, &RawValue)> {
        self.of(flag).max_by_key(|(_, given)| rank(&given.source))
    }

    /// The values of the highest source alone.
    pub(super) fn highest(&self, flag: &str) -> Vec<(&'static OptionRow, &RawValue)> {
        let top = self.of(flag).map(|(_, given)| rank(&given.source)).max();
        self.of(flag).filter(|(_, given)| Some(rank(&given.source)) == top).collect()
    }

    /// The values of every source: the file's, then the environment's, then the command line's.
    pub(super) fn each(&self, flag: &str) -> Vec<(&'static OptionRow, &RawValue)> {
        let mut all: Vec<_> = self.of(flag).collect();
        all.sort_by_key(|(_, given)| rank(&given.source));
        all
    }

    /// The texts of [`Self::each`].
    pub(super) fn list(&self, flag: &str) -> Vec<String> {
        self.each(flag).into_iter().map(|(_, given)| given.text.clone()).collect()
    }

    fn of(&self, flag: &str) -> impl Iterator<Item = (&'static OptionRow, &RawValue)> {
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
    fn higher_source_wins_and_last_value_within_one() {
        let option = OPTIONS.iter().find(|option| option.flag == "log").expect("in the table");
        let mut raw = RawArgs::default();
        raw.push(option, "debug".into(), Source::CommandLine);
        raw.push(option, "trace".into(), Source::CommandLine);
        raw.push(option, "info".into(), Source::Environment);
        raw.push(option, "warn".into(), Source::File { name: "f".into(), line: 1 });
        assert_eq!(raw.one("log").expect("given").1.text, "trace");
        assert_eq!(raw.highest("log").len(), 2);
    }
}
