//! What is wrong and what is unusual in the values that were given, as far as it has been found.

use std::path::{Path, PathBuf};

use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

use super::{Environment, RawArgs, RawValue, Source};

/// The values that are read, what their paths are relative to, and what was found in them.
pub(super) struct Findings<'r> {
    pub(super) raw: &'r RawArgs,
    pub(super) file_base: &'r Path,
    pub(super) environment: &'r Environment,
    /// Reasons not to start, one sentence each.
    pub(super) problems: Vec<String>,
    /// Unusual but not wrong, for the log.
    pub(super) warnings: Vec<String>,
}

impl Findings<'_> {
    pub(super) fn wrong(&mut self, given: &RawValue, why: &str) {
        self.problems.push(format!("{} {why}", given.origin()));
    }

    /// The absolute path of a text that is all of a value, or its end.
    pub(super) fn path(&self, given: &RawValue, text: &str) -> PathBuf {
        let is_in_file = matches!(given.source, Source::File { .. });
        let base = if is_in_file { self.file_base } else { &self.environment.directory };
        self.environment.absolute(Path::new(text), base)
    }
}

/// Advice in place of an unknown name: the nearest one, or a list of all.
pub(super) fn nearest_or_all<T: AsRef<str>>(name: &str, known: &[T], what: &str) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    did_you_mean(nearest_names(name, known.iter().copied(), ONE_OF_FEW).first())
        .unwrap_or_else(|| format!("the {what} are {}", known.join(", ")))
}
