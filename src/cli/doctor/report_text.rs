//! The lines of the report: a heading of one or two words, then text.

use std::fmt::Write as _;

/// In place of a mount name.
pub(super) const UNNAMED: &str = "(unnamed)";

/// The report so far.
#[derive(Default)]
pub(super) struct ReportText(String);

impl ReportText {
    pub(super) fn head(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "{name:<13}{text}");
    }

    pub(super) fn line(&mut self, text: &str) {
        self.head("", text);
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}
