//! How a text was found that is not exactly in a file, in words for the answer.

use crate::{
    edit::{Strategies, Strategy},
    text::{Document, LineEnding},
};

/// What was assumed to find a text, and what was kept of the file.
pub(super) fn kept(strategies: Strategies, file: Option<&Document>) -> String {
    let phrases: Vec<String> = strategies
        .iter()
        .map(|strategy| match strategy {
            Strategy::Exact => String::new(),
            Strategy::LineEndings => layout(file),
            Strategy::TrailingWhitespace => "white space at line ends ignored".to_owned(),
            Strategy::Indentation => "the new text indented as the file is there".to_owned(),
            Strategy::Typography => "quotes, dashes and spaces spelled as in the file".to_owned(),
            Strategy::LineNumbers => "line numbers taken off".to_owned(),
            Strategy::Escapes => "escapes read as the characters they mean".to_owned(),
            Strategy::Entities => "HTML entities read as the characters they mean".to_owned(),
            Strategy::Typos => "unchanged lines with a typo kept as in the file".to_owned(),
            Strategy::BlankLines => "unchanged blank lines kept as in the file".to_owned(),
        })
        .collect();
    phrases.join(", ")
}

/// The line endings of a file and its encoding, where that is not the usual one.
fn layout(file: Option<&Document>) -> String {
    let endings = endings(file.map_or(LineEnding::None, Document::line_ending));
    let encoding = file.and_then(other_encoding);
    encoding.map_or_else(|| format!("{endings} kept"), |name| format!("{endings} and {name} kept"))
}

pub(super) fn endings(ending: LineEnding) -> &'static str {
    match ending {
        LineEnding::CrLf => "line endings CRLF",
        LineEnding::Lf => "line endings LF",
        LineEnding::Cr => "line endings CR",
        LineEnding::Mixed => "mixed line endings",
        LineEnding::None => "line endings",
    }
}

pub(super) fn other_encoding(file: &Document) -> Option<&'static str> {
    Some(file.encoding().name()).filter(|name| *name != "UTF-8")
}
