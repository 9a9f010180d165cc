//! The names of the differences that a match disregarded.

use std::fmt;

/// A difference between `old_string` and the file that a match disregarded, from strict to tolerant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// The text as given.
    Exact,
    /// LF and CR LF taken for the same.
    LineEndings,
    /// Spaces and tabs at line ends ignored.
    TrailingWhitespace,
    /// All lines indented by the same amount more or less, or in tabs for spaces.
    Indentation,
    /// Curly quotes, dashes, no-break spaces and the Unicode normal form taken for their plain forms.
    Typography,
    /// The line-number gutter of `read` pasted along with the text.
    LineNumbers,
    /// `\n`, `\t` and `\"` spelled out.
    Escapes,
    /// `&lt;`, `&amp;` and the like for the characters themselves.
    Entities,
    /// Typos in lines that stay as the file has them.
    Typos,
    /// A blank line more or less between lines that stay.
    BlankLines,
}

/// All of them in their order, with what they are called.
const STRATEGY_NAMES: [(Strategy, &str); 10] = [
    (Strategy::Exact, "exact"),
    (Strategy::LineEndings, "line endings"),
    (Strategy::TrailingWhitespace, "trailing white space"),
    (Strategy::Indentation, "indentation"),
    (Strategy::Typography, "typographic characters"),
    (Strategy::LineNumbers, "line-number gutter"),
    (Strategy::Escapes, "literal escapes"),
    (Strategy::Entities, "HTML entities"),
    (Strategy::Typos, "typos in unchanged lines"),
    (Strategy::BlankLines, "blank lines"),
];

/// All differences that one match disregarded: several damages can come at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strategies(u16);

impl Strategies {
    /// These strategies and `other` ones, each once.
    #[must_use]
    pub fn with(self, other: impl Into<Self>) -> Self {
        Self(self.0 | other.into().0)
    }

    /// Whether the text was found as given.
    pub const fn is_exact(self) -> bool {
        self.0 == 0
    }

    /// Whether nothing but line endings was disregarded.
    pub fn is_as_given(self) -> bool {
        self.is_exact() || self == Strategy::LineEndings
    }

    /// Whether nothing but line endings and white space at the start and end of lines was disregarded.
    pub fn are_of_layout(self) -> bool {
        use Strategy::{Exact, Indentation, LineEndings, TrailingWhitespace};
        self.iter().all(|one| matches!(one, Exact | LineEndings | TrailingWhitespace | Indentation))
    }

    /// Whether `strategy` is one of them; [`Strategy::Exact`] is where no other is.
    pub const fn has(self, strategy: Strategy) -> bool {
        match strategy {
            Strategy::Exact => self.is_exact(),
            _ => self.0 >> strategy as u16 & 1 == 1,
        }
    }

    /// Each of them, from strict to tolerant; only [`Strategy::Exact`] where there is no other.
    pub fn iter(self) -> impl Iterator<Item = Strategy> {
        STRATEGY_NAMES.into_iter().map(|(strategy, _)| strategy).filter(move |strategy| self.has(*strategy))
    }
}

impl From<Strategy> for Strategies {
    fn from(strategy: Strategy) -> Self {
        // Exact is what remains where nothing else is.
        if strategy == Strategy::Exact { Self(0) } else { Self(1 << strategy as u16) }
    }
}

impl PartialEq<Strategy> for Strategies {
    fn eq(&self, other: &Strategy) -> bool {
        *self == Self::from(*other)
    }
}

impl fmt::Display for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(|strategy| STRATEGY_NAMES[strategy as usize].1).collect();
        f.write_str(&names.join(", "))
    }
}
