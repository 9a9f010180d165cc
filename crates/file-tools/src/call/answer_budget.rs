//! How much one answer may hold, in the unit that its client counts in.

use std::fmt;

use text_file::estimated_tokens;

/// Characters that `/mnt/user-data/workspace/` adds to a relative path.
const DEERFLOW_PREFIX_CHARS: usize = "/mnt/user-data/workspace/".len();
/// Units that a line costs at least where a client also counts lines: a text within the budget has fewer than it allows.
const MIN_LINE: usize = 25;

/// The unit in which a client counts a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextUnit {
    /// Bytes of the text in UTF-8.
    Bytes,
    /// Bytes of the text as a JSON string: a line break, a quotation mark and a backslash are two.
    JsonBytes,
    /// Characters as JavaScript counts them: UTF-16 units.
    Characters,
    /// Characters after each relative path in the text was made an absolute one below `/mnt/user-data/workspace`.
    /// Which words are paths of files is not known here: each that may be is counted as one.
    CharactersWithPaths,
    /// Tokens of a model, as [`estimated_tokens`] counts them, and at least five for twelve characters: Claude Code
    /// 2.1.332 also moves what has over 50,000 UTF-16 units out of the conversation, however few tokens they are.
    Tokens,
    /// Bytes of the text in UTF-8, and at least 25 for each line.
    BytesOfLines,
}

/// How much one answer may hold.
///
/// # Examples
/// ```
/// use file_tools::AnswerBudget;
///
/// let budget = AnswerBudget::bytes(10);
/// assert!(budget.fits("ten bytes!") && !budget.fits("ten bytes, and more"));
/// assert!(budget.less("eight by").fits("10"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBudget {
    /// Units of text, in all blocks together.
    pub limit: usize,
    pub unit: TextUnit,
    /// Bytes of images, in all blocks together, before they are put into base64.
    pub image_bytes: usize,
    /// Whether the facts of an answer may be in its `_meta`: where a client shows that to its model, they may not.
    pub has_facts: bool,
}

impl AnswerBudget {
    /// The budget for a client that is not in the table.
    pub const UNKNOWN_CLIENT: Self = Self::bytes(40_000);
    /// Bytes of images that every client accepts.
    pub const IMAGE_BYTES: usize = 700 << 10;
    /// Units kept free for the lines around a list.
    const HEADER_AND_FOOTER: usize = 1024;

    /// A budget of so many bytes of text.
    pub const fn bytes(limit: usize) -> Self {
        Self { limit, unit: TextUnit::Bytes, image_bytes: Self::IMAGE_BYTES, has_facts: true }
    }

    pub fn cost(&self, text: &str) -> usize {
        let line = |line: &str| if line.ends_with('\n') { line.len().max(MIN_LINE) } else { line.len() };
        match self.unit {
            TextUnit::Bytes => text.len(),
            TextUnit::JsonBytes => json_bytes(text),
            TextUnit::Characters => text.encode_utf16().count(),
            TextUnit::CharactersWithPaths => text.chars().count() + DEERFLOW_PREFIX_CHARS * relative_paths(text),
            TextUnit::Tokens => estimated_tokens(text).max((text.encode_utf16().count() * 5).div_ceil(12)),
            TextUnit::BytesOfLines => text.split_inclusive('\n').map(line).sum(),
        }
    }

    pub fn fits(&self, text: &str) -> bool {
        self.gauge().fits(text)
    }

    /// Bytes of text that are within the budget (or nearly) for any text.
    pub fn text_bytes(&self) -> usize {
        // JSON makes two bytes of one at most, but for control characters, which are rare.
        if self.unit == TextUnit::JsonBytes { self.limit / 2 } else { self.limit }
    }

    /// Bytes of the longest usual text that is within the budget: more need not be prepared for an answer.
    pub fn most_bytes(&self) -> usize {
        match self.unit {
            TextUnit::Bytes | TextUnit::JsonBytes | TextUnit::BytesOfLines => self.limit,
            // A character has at most four bytes in UTF-8.
            TextUnit::Characters | TextUnit::CharactersWithPaths => self.limit.saturating_mul(4),
            TextUnit::Tokens => self.limit.saturating_mul(8),
        }
    }

    #[must_use]
    pub fn less(self, text: &str) -> Self {
        self.reduced(self.cost(text))
    }

    /// The budget reduced by a number of its units.
    #[must_use]
    pub fn reduced(self, units: usize) -> Self {
        Self { limit: self.limit.saturating_sub(units), ..self }
    }

    #[must_use]
    pub fn share(self, parts: usize) -> Self {
        let parts = parts.max(1);
        Self { limit: self.limit / parts, image_bytes: self.image_bytes / parts, ..self }
    }

    #[must_use]
    pub fn of_json(self) -> Self {
        let unit = if self.unit == TextUnit::JsonBytes { TextUnit::Bytes } else { self.unit };
        Self { unit, ..self }
    }

    /// The share of a list: the rest of the budget is for its header and its footer.
    #[must_use]
    pub fn list(self) -> Self {
        let limit = self.limit.saturating_sub(Self::HEADER_AND_FOOTER).max(self.limit / 2);
        Self { limit, ..self }
    }

    pub fn gauge(self) -> Gauge {
        Gauge { budget: self, measured: 0, cost: 0 }
    }
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self::UNKNOWN_CLIENT
    }
}

impl fmt::Display for AnswerBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.unit {
            TextUnit::Bytes => "bytes",
            TextUnit::JsonBytes => "bytes of JSON",
            TextUnit::Characters => "characters",
            TextUnit::CharactersWithPaths => "characters with its paths made absolute",
            TextUnit::Tokens => "tokens, estimated",
            TextUnit::BytesOfLines => "bytes in lines of at least 25",
        };
        write!(f, "{} {what}", self.limit)?;
        if self.image_bytes < Self::IMAGE_BYTES {
            write!(f, ", {} KiB of images", self.image_bytes >> 10)?;
        }
        Ok(())
    }
}

/// Measures a text that grows. Each byte is measured once, and none as long as the text is surely within the budget.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauge {
    budget: AnswerBudget,
    /// Bytes at the start of the text that have been measured, and what they cost.
    measured: usize,
    cost: usize,
}

impl Gauge {
    /// Whether `text` is within the budget. Since the last call it has only been added to, at its end and by whole
    /// lines.
    pub fn fits(&mut self, text: &str) -> bool {
        let AnswerBudget { limit, unit, .. } = self.budget;
        // What is counted in these units is never more than the bytes.
        let is_at_most_bytes = matches!(unit, TextUnit::Bytes | TextUnit::Characters | TextUnit::Tokens);
        if is_at_most_bytes && self.cost + text.len().saturating_sub(self.measured) <= limit {
            return true;
        }
        self.cost += self.budget.cost(text.get(self.measured..).unwrap_or_default());
        self.measured = text.len();
        self.cost <= limit
    }

    /// Adds `piece`, whole lines, to `text` where that fits then, or in any case.
    pub fn push(&mut self, text: &mut String, piece: &str, in_any_case: bool) -> bool {
        let end = text.len();
        text.push_str(piece);
        let stays = self.fits(text) || in_any_case;
        if !stays {
            text.truncate(end);
        }
        stays
    }
}

/// The most that each of `costs` may be, so that all of them together are at most `limit`: what is below it leaves its
/// rest to the others.
pub(crate) fn fair_share(costs: &[usize], limit: usize) -> usize {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable();
    let mut left = limit;
    for (index, cost) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *cost > share {
            return share;
        }
        left -= cost;
    }
    usize::MAX
}

/// Bytes of `text` in a JSON string, without its quotation marks.
fn json_bytes(text: &str) -> usize {
    let escaped = |byte: &u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        // As `\u0007`, six bytes for one.
        0..32 => 5,
        _ => 0,
    };
    text.len() + text.as_bytes().iter().map(escaped).sum::<usize>()
}

/// Words of `text` that a client may take for relative paths: a name, a slash and more.
fn relative_paths(text: &str) -> usize {
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"'\"<>|*?".contains(&byte);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte) || byte >= 128;
    let bytes = text.as_bytes();
    let (mut found, mut from) = (0, 0);
    while let Some(slash) = memchr::memchr(b'/', &bytes[from..]).map(|at| from + at) {
        let follows = bytes.get(slash + 1).is_some_and(|byte| !ends(*byte));
        found += usize::from(follows && slash > from && is_name(bytes[slash - 1]));
        // The rest of the word belongs to the same path.
        from = bytes[slash..].iter().position(|byte| ends(*byte)).map_or(bytes.len(), |end| slash + end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(unit: TextUnit, limit: usize) -> AnswerBudget {
        AnswerBudget { unit, image_bytes: 0, ..AnswerBudget::bytes(limit) }
    }

    #[test]
    fn each_unit_counts_what_its_client_counts() {
        let cost = |unit, text| budget(unit, 0).cost(text);
        assert_eq!(cost(TextUnit::Bytes, "é\n"), 3);
        assert_eq!(cost(TextUnit::Characters, "é😀\n"), 4);
        let astral = " ".repeat(120) + &"😀".repeat(10);
        assert_eq!(cost(TextUnit::Tokens, &astral), 59);
        for text in ["plain", "a\t\"b\"\\\r\n", "\u{1}\u{8}\u{c}é\u{7f}"] {
            let json = serde_json::to_string(text).expect("a string");
            assert_eq!(cost(TextUnit::JsonBytes, text), json.len() - 2, "{text:?}");
        }
    }

    #[test]
    fn short_lines_cost_more_than_they_hold_where_lines_are_counted() {
        let budget = budget(TextUnit::BytesOfLines, 100);
        assert_eq!((budget.cost("\n\n"), budget.cost("a\nb")), (50, 26));
        assert_eq!(budget.cost(&("é".repeat(40) + "\n")), 81);
        assert!(budget.fits("\n\n\n\n") && !budget.fits("\n\n\n\n\n"));
        let mut gauge = budget.gauge();
        assert!(gauge.fits("a\n\n\n\n") && !gauge.fits("a\n\n\n\n\n"));
    }

    #[test]
    fn relative_paths_grow_and_absolute_ones_do_not() {
        for (text, expected) in [
            ("src/a.rs and (lib/b.rs): \"c/d\"", 3),
            ("/mnt/user-data/workspace/src/a.rs:12: x", 0),
            ("// a comment, </div> and https://example.org/a/b", 0),
            ("./a ../b a/ / a", 2),
            ("x=é/ü", 1),
        ] {
            assert_eq!(relative_paths(text), expected, "{text}");
        }
    }

    #[test]
    fn small_ones_leave_their_rest_to_the_others() {
        assert_eq!(fair_share(&[10, 20, 30], 60), usize::MAX);
        assert_eq!(fair_share(&[10, 200, 300], 110), 50);
        assert_eq!(fair_share(&[100, 1, 200, 60], 161), 53);
        assert_eq!(fair_share(&[100; 20], 20), 1);
        assert_eq!(fair_share(&[0, 0], 0), usize::MAX);
    }

    #[test]
    fn gauge_says_of_a_growing_text_what_the_budget_says_of_it() {
        for unit in [
            TextUnit::Bytes,
            TextUnit::JsonBytes,
            TextUnit::Characters,
            TextUnit::CharactersWithPaths,
            TextUnit::Tokens,
            TextUnit::BytesOfLines,
        ] {
            let budget = budget(unit, 300);
            let (mut gauge, mut text) = (budget.gauge(), String::new());
            while gauge.fits(&text) {
                assert!(budget.cost(&text) <= 300, "{unit:?}");
                text.push_str("a line with \"é\" and src/lib.rs\n");
            }
            assert!(budget.cost(&text) > 300, "{unit:?}");
        }
    }
}
