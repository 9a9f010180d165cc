//! What was typed: the values of each option as text, with where each was given. Nothing is interpreted here.

use std::path::{Path, PathBuf};

use super::{Environment, OptionRow, lsp_table::LspTable, options::options};

/// One value as it was given, and where.
#[derive(Clone, Debug)]
pub(super) struct RawValue {
    pub(super) option: &'static OptionRow,
    pub(super) text: String,
    pub(super) source: Source,
    /// What a `[[root]]` table of the file has besides its path, which is the text.
    pub(super) table: Option<RootTable>,
}

impl RawValue {
    /// Names the option the way the person gave it: `--log`, `ROOTBOUND_LOG`, `rootbound.toml:3: log`.
    pub(super) fn origin(&self) -> String {
        match &self.source {
            Source::CommandLine => format!("--{}", self.option.flag),
            Source::Environment => self.option.variable(),
            Source::File { name, line } => format!("{name}:{line}: {}", self.option.key()),
        }
    }

    /// The absolute path of `text`: in the configuration file relative to its folder, elsewhere to the current one.
    pub(super) fn path(&self, text: &str, file_base: &Path, environment: &Environment) -> PathBuf {
        let base = if matches!(self.source, Source::File { .. }) { file_base } else { &environment.directory };
        environment.absolute(Path::new(text), base)
    }
}

/// A `[[root]]` table: what counts below one directory alone.
#[derive(Clone, Debug, Default)]
pub(super) struct RootTable {
    /// The mount name as it was written.
    pub(super) name: Option<String>,
    /// Whether it may be missing.
    pub(super) optional: bool,
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
        line: usize,
    },
    Environment,
    CommandLine,
}

/// A `[[role]]` table as it was written.
#[derive(Clone, Debug)]
pub(super) struct RoleTable {
    pub(super) source: Source,
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) client: Option<String>,
    /// The names of its roots, each with its place in the file.
    pub(super) roots: Option<Vec<(String, Source)>>,
    /// The options of [`PER_ROLE`](super::options::PER_ROLE).
    pub(super) own: RawArgs,
}

/// The values of all options from all sources.
#[derive(Clone, Debug, Default)]
pub(super) struct RawArgs {
    pub(super) values: Vec<RawValue>,
    /// The `[[role]]` tables of the file.
    pub(super) roles: Vec<RoleTable>,
    pub(super) language_servers: Vec<LspTable>,
}

impl RawArgs {
    pub(super) fn push(&mut self, option: &'static OptionRow, text: String, source: Source) {
        self.values.push(RawValue { option, text, source, table: None });
    }

    /// Adds a directory that a table of the file names.
    pub(super) fn push_root(&mut self, option: &'static OptionRow, path: String, source: Source, table: RootTable) {
        self.values.push(RawValue { option, text: path, source, table: Some(table) });
    }

    /// The value of the highest source, the last one where it was given twice there.
    pub(super) fn one(&self, flag: &str) -> Option<&RawValue> {
        self.of(flag).max_by_key(|value| rank(&value.source))
    }

    /// The values of the highest source alone.
    pub(super) fn highest(&self, flag: &str) -> Vec<&RawValue> {
        let top = self.of(flag).map(|value| rank(&value.source)).max();
        self.of(flag).filter(|value| Some(rank(&value.source)) == top).collect()
    }

    /// The values of every source: the file's, then the environment's, then the command line's.
    pub(super) fn each(&self, flag: &str) -> Vec<&RawValue> {
        let mut all: Vec<_> = self.of(flag).collect();
        all.sort_by_key(|value| rank(&value.source));
        all
    }

    /// The texts of [`Self::each`].
    pub(super) fn list(&self, flag: &str) -> Vec<String> {
        self.each(flag).into_iter().map(|value| value.text.clone()).collect()
    }

    fn of(&self, flag: &str) -> impl Iterator<Item = &RawValue> {
        debug_assert!(options().any(|option| option.flag == flag), "no option is called {flag}");
        self.values.iter().filter(move |value| value.option.flag == flag)
    }
}

/// The command line overrides the environment, the environment overrides the file.
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
        let option = options().find(|option| option.flag == "log").expect("in the table");
        let mut raw = RawArgs::default();
        raw.push(option, "debug".into(), Source::CommandLine);
        raw.push(option, "trace".into(), Source::CommandLine);
        raw.push(option, "info".into(), Source::Environment);
        raw.push(option, "warn".into(), Source::File { name: "f".into(), line: 1 });
        assert_eq!(raw.one("log").expect("given").text, "trace");
        assert_eq!(raw.highest("log").len(), 2);
    }
}
