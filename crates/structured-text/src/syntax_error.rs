//! What a check of one text has found, and which texts no check can judge.

/// One error at its place in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at byte {at})")]
pub struct SyntaxError {
    /// The byte of the text that it is at.
    pub at: usize,
    /// A sentence without a full stop that names the error.
    pub message: String,
}

impl SyntaxError {
    /// An error at the byte `at` of the text.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

pub(crate) fn fail<T>(at: usize, message: impl Into<String>) -> Result<T, SyntaxError> {
    Err(SyntaxError::new(at, message))
}

/// The findings of a check of one text.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Where the text stops being valid; what follows was not checked.
    pub error: Option<SyntaxError>,
    /// Places that are allowed, but hardly meant.
    pub warnings: Vec<SyntaxError>,
}

/// The line of the byte `at`, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count() + 1
}

/// Characters of a file that a message repeats at most.
const MAX_QUOTED: usize = 24;

/// A piece of a file's text as a message repeats it: short, in one line, without hidden characters. All that a message
/// repeats goes through here.
///
/// # Examples
/// ```
/// use structured_text::quoted;
///
/// assert_eq!(quoted("name"), "`name`");
/// assert_eq!(quoted("a\tb\u{202e}"), r"`a\tb\u{202e}`");
/// assert_eq!(quoted("abcdefghijklmnopqrstuvwxyz"), "`abcdefghijklmnopqrstuvwx…`");
/// ```
pub fn quoted(piece: &str) -> String {
    let mut shown = String::from("`");
    for (index, character) in piece.chars().enumerate() {
        if index == MAX_QUOTED {
            shown.push('…');
            break;
        }
        // Escapes what is not printable, which the hidden characters are.
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown.push('`');
    shown
}

/// Whether `text` holds marks of Jinja, Helm, ERB and the like outside of quotes: then what the parser of its format
/// says of it means nothing. `${{ … }}`, as in workflows of GitHub, is a value like others.
pub fn is_template(text: &str) -> bool {
    text.lines().any(|line| {
        ["{{", "{%", "<%"].iter().any(|mark| {
            line.find(mark).is_some_and(|at| {
                let before = &line[..at];
                !before.ends_with('$') && !before.contains(['"', '\'', '`']) && !before.trim_start().starts_with('#')
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_outside_of_quotes_make_a_template() {
        for text in
            ["{{- if .Values.x }}\na: 1", "a: {{ b }}", "  {% for x in y %}", "<a><% b %></a>", "a: 'b'\n{{ c }}"]
        {
            assert!(is_template(text), "{text}");
        }
        for text in ["run: ${{ matrix.os }}", "name: \"{{ item }}\"", "# {{ comment }}", "{\"a\": {\"b\": {}}}", ""] {
            assert!(!is_template(text), "{text}");
        }
    }
}
