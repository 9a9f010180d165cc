//! What a check of one text has found.

/// What is wrong at one place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte it is at.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl SyntaxError {
    /// An error at the byte `at`.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// What a check of a text has found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Where the text stops being valid; what follows was not checked.
    pub error: Option<SyntaxError>,
    /// What is allowed, but hardly meant.
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
