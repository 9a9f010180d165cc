//! Why a pattern cannot be used, with the place of the mistake.

use regex_syntax::ast::Span;

use text_file::shorten;

/// Characters of the pattern that an error shows around the place.
const SHOWN: usize = 80;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// Longer than `limit` bytes.
    TooLong {
        /// Bytes given.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not a regular expression.
    Syntax {
        /// What is wrong, in a few words.
        reason: String,
        /// Where, counted in characters from 1.
        column: usize,
        /// The pattern around the place, with a line of carets under it.
        place: String,
    },
    /// It needs a line break to match, but lines are searched one by one.
    LineBreak,
    /// It needs a NUL byte to match, which no text holds.
    Nul,
    /// Compiled, it would have more than `limit` bytes.
    TooBig {
        /// Bytes allowed.
        limit: usize,
    },
    /// Its counted repetitions expand to more than `limit` positions.
    TooRepetitive {
        /// Positions that they expand to.
        positions: usize,
        /// Positions allowed.
        limit: usize,
    },
}

impl PatternError {
    /// `reason` at `span` of `text`.
    pub(super) fn syntax(text: &str, reason: &impl ToString, span: &Span) -> Self {
        let before = text.get(..span.start.offset).unwrap_or(text);
        // A pattern of several lines is shown by the line that holds the place.
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        let width = text.get(span.start.offset..span.end.offset).map_or(1, |part| part.chars().count().max(1));

        let skipped = column.saturating_sub(SHOWN / 2);
        let mut place: String = line.chars().skip(skipped).take(SHOWN).collect();
        let shown = place.chars().count();
        let mut carets_at = column - skipped;
        if skipped > 0 {
            place.insert(0, '…');
            carets_at += 1;
        }
        if line.chars().count() > skipped + SHOWN {
            place.push('…');
        }
        let carets = width.min((shown + 1).saturating_sub(column - skipped)).max(1);
        place.push('\n');
        place.extend(std::iter::repeat_n(' ', carets_at));
        place.extend(std::iter::repeat_n('^', carets));
        Self::Syntax { reason: first_line(&reason.to_string()), column: before.chars().count() + 1, place }
    }

    /// `reason` without a place.
    pub(super) fn elsewhere(reason: &str) -> Self {
        Self::Syntax { reason: first_line(reason), column: 1, place: String::new() }
    }
}

/// The first line of a reason: the others explain it at length.
fn first_line(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    shorten(first, 200).into_owned()
}
