//! Clauses for an answer: how a text was found that is not exactly in a file.

use text_edit::{Strategies, Strategy};
use text_file::{Document, LineEnding};

/// A clause about the assumptions by which a text was found, and about the form of the file that was kept, besides its line
/// endings; `None` without any.
pub(crate) fn kept(strategies: Strategies) -> Option<String> {
    let phrases: Vec<&str> = strategies
        .iter()
        .filter_map(|strategy| match strategy {
            Strategy::Exact | Strategy::LineEndings => None,
            Strategy::TrailingWhitespace => Some("white space at line ends ignored"),
            Strategy::Indentation => Some("the new text indented as the file is there"),
            Strategy::Typography => Some("quotes, dashes and spaces spelled as in the file"),
            Strategy::LineNumbers => Some("line numbers taken off"),
            Strategy::Escapes => Some("escapes read as the characters they mean"),
            Strategy::Entities => Some("HTML entities read as the characters they mean"),
            Strategy::Typos => Some("unchanged lines with a typo kept as in the file"),
            Strategy::BlankLines => Some("unchanged blank lines kept as in the file"),
        })
        .collect();
    (!phrases.is_empty()).then(|| phrases.join(", "))
}

/// The line endings of a file and its encoding, where that is not the usual one.
pub(crate) fn layout(file: Option<&Document>) -> String {
    let endings = endings(file.map_or(LineEnding::None, Document::line_ending));
    let encoding = file.and_then(other_encoding);
    encoding.map_or_else(|| format!("{endings} kept"), |name| format!("{endings} and {name} kept"))
}

pub(crate) fn endings(ending: LineEnding) -> &'static str {
    match ending {
        LineEnding::CrLf => "line endings CRLF",
        LineEnding::Lf => "line endings LF",
        LineEnding::Mixed => "mixed line endings",
        LineEnding::None => "line endings",
    }
}

pub(crate) fn other_encoding(file: &Document) -> Option<&'static str> {
    Some(file.encoding().name()).filter(|name| *name != "UTF-8")
}
