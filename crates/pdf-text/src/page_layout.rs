//! From glyphs at places to lines of text.
//!
//! Glyphs are taken in the order in which the page draws them, which for nearly all writers is the order of reading,
//! also in several columns. Spaces and line ends are found by the gaps. A page drawn from its bottom to its top is
//! turned round. Accents that are drawn as separate glyphs are put on the letter before them; lines in Hebrew and Arabic
//! are turned round, too.

use unicode_normalization::char::compose;

/// Characters of the longest line; a longer one is continued on the next.
const MAX_LINE_CHARS: usize = 1000;

/// Bytes of the text of one page; no answer takes more.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Glyphs of a line among which one is looked for that was drawn there before, to look bold.
const DRAWN_TWICE: usize = 128;

#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph<'t> {
    pub(super) text: &'t str,
    /// Where it begins, in the units of the page.
    pub(super) at: (f64, f64),
    pub(super) end: (f64, f64),
    pub(super) size: f64,
}

#[derive(Debug)]
struct TextLine {
    text: String,
    height: Option<f64>,
    apart: bool,
}

#[derive(Debug, Default)]
pub(super) struct PageLayout {
    lines: Vec<TextLine>,
    size: usize,
    current: String,
    /// Whether the current line is drawn from right to left, in the order of reading.
    is_logical: bool,
    characters: usize,
    line: Option<Placed>,
    last: Option<Placed>,
    drop: f64,
    apart: bool,
    /// Glyphs of the current line: where each begins, and its text.
    drawn: Vec<((f64, f64), u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    at: (f64, f64),
    end: (f64, f64),
    /// Direction of the text, of length 1.
    along: (f64, f64),
    size: f64,
}

impl PageLayout {
    pub(super) fn push(&mut self, glyph: &Glyph<'_>) {
        let vector = (glyph.end.0 - glyph.at.0, glyph.end.1 - glyph.at.1);
        let length = vector.0.hypot(vector.1);
        let fallback = self.last.map_or((1.0, 0.0), |last| last.along);
        let along = if length > 1e-6 { (vector.0 / length, vector.1 / length) } else { fallback };
        let size = if glyph.size.is_finite() { glyph.size.max(1e-3) } else { 1.0 };
        let placed = Placed { at: glyph.at, end: glyph.end, along, size };
        let text = glyph.text;
        if let Some(last) = self.last {
            match self.step(&last, &placed, text) {
                GlyphStep::Same => {}
                GlyphStep::Under => {
                    self.put_under(text);
                    self.last = Some(placed);
                    return;
                }
                GlyphStep::Before => self.is_logical = true,
                GlyphStep::Space(spaces) => {
                    if text != " " && !self.current.ends_with(' ') {
                        self.current.push_str(spaces);
                    }
                }
                GlyphStep::Again => {
                    if self.is_drawn(&placed, text) {
                        return;
                    }
                    self.end_line(&placed, false);
                }
                GlyphStep::Line { apart } => self.end_line(&placed, apart),
            }
        }
        if self.line.is_none() {
            self.line = Some(placed);
        }
        if self.drawn.len() == DRAWN_TWICE {
            self.drawn.clear();
        }
        self.drawn.push((placed.at, key(text)));
        for character in text.chars() {
            self.push_character(character);
        }
        self.last = Some(placed);
        if self.characters >= MAX_LINE_CHARS {
            self.end_line(&placed, false);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.size > MAX_TEXT_BYTES
    }

    fn step(&self, last: &Placed, next: &Placed, text: &str) -> GlyphStep {
        let along = last.along;
        if along.0 * next.along.0 + along.1 * next.along.1 < 0.9 {
            return GlyphStep::Line { apart: true };
        }
        let size = last.size.max(next.size);
        let way = (next.at.0 - last.end.0, next.at.1 - last.end.1);
        let gap = (way.0 * along.0 + way.1 * along.1) / size;
        let line = self.line.unwrap_or(*last);
        let from_line = (next.at.0 - line.at.0, next.at.1 - line.at.1);
        // Positive below the line.
        let drop = from_line.0 * along.1 - from_line.1 * along.0;
        let is_level = drop.abs() < 0.3 * size;
        // A raised or lowered letter next to the one before it.
        let is_script =
            drop.abs() < 0.8 * size && (-0.3..1.0).contains(&gap) && (last.size / next.size - 1.0).abs() > 0.1;
        let from_last = (next.at.0 - last.at.0, next.at.1 - last.at.1);
        let is_back = (from_last.0 * along.1 - from_last.1 * along.0).abs() < 0.3 * size && gap.abs() < 1.0;
        // TeX draws an accent and then the letter below it.
        let is_near = drop.abs() < 0.8 * size && (-1.2..-0.05).contains(&gap);
        if is_near && self.current.chars().next_back().is_some_and(is_accent) && text.starts_with(char::is_alphabetic) {
            return GlyphStep::Under;
        }
        let to_last = (last.at.0 - next.end.0, last.at.1 - next.end.1);
        let before = (to_last.0 * along.0 + to_last.1 * along.1) / size;
        if is_level && (-0.2..0.14).contains(&before) && text.chars().any(is_right_to_left) {
            return GlyphStep::Before;
        }
        if is_level || is_script || is_back && drop.abs() < 0.8 * size {
            return match gap {
                gap if gap < -0.4 => GlyphStep::Again,
                gap if gap > 1.8 => GlyphStep::Space("  "),
                gap if gap > 0.14 => GlyphStep::Space(" "),
                _ => GlyphStep::Same,
            };
        }
        let is_usual = (drop - self.drop).abs() < 0.15 * size;
        GlyphStep::Line { apart: drop < 0.0 || drop > 1.75 * size && !is_usual }
    }

    fn put_under(&mut self, text: &str) {
        let mut letters = text.chars();
        if let (Some(accent), Some(letter)) = (self.current.pop(), letters.next()) {
            self.current.extend(composed(letter, accent));
        }
        self.current.push_str(letters.as_str());
    }

    fn is_drawn(&self, next: &Placed, text: &str) -> bool {
        let near = 0.15 * next.size;
        self.drawn
            .iter()
            .any(|((x, y), drawn)| *drawn == key(text) && (x - next.at.0).abs() < near && (y - next.at.1).abs() < near)
    }

    fn push_character(&mut self, character: char) {
        let simple = match character {
            'ﬀ' => "ff",
            'ﬁ' => "fi",
            'ﬂ' => "fl",
            'ﬃ' => "ffi",
            'ﬄ' => "ffl",
            'ﬅ' | 'ﬆ' => "st",
            // The hyphen at the end of a line; not a hidden character here.
            '\u{ad}' | '\u{2010}' | '\u{2011}' => "-",
            // A bullet in the fonts Symbol and Wingdings.
            '\u{f0b7}' | '\u{f0a7}' => "•",
            '\u{a0}' | '\t' | '\u{2002}'..='\u{200a}' | '\u{202f}' => " ",
            '\u{200b}' | '\u{feff}' => "",
            character if character.is_control() => "",
            character => {
                self.current.push(character);
                self.characters += 1;
                return;
            }
        };
        self.current.push_str(simple);
        self.characters += 1;
    }

    fn end_line(&mut self, next: &Placed, apart: bool) {
        let line = self.line.take();
        self.drop = line.map_or(0.0, |line| {
            let way = (next.at.0 - line.at.0, next.at.1 - line.at.1);
            way.0 * line.along.1 - way.1 * line.along.0
        });
        // Most writers draw Hebrew and Arabic from left to right, the last letter first.
        if !self.is_logical && self.current.chars().any(is_right_to_left) {
            self.current = in_reading_order(&self.current);
        }
        self.is_logical = false;
        let text = self.current.trim_end();
        if !text.trim_start().is_empty() {
            let height = line.filter(|line| line.along.0 > 0.99).map(|line| line.at.1);
            self.size += text.len();
            self.lines.push(TextLine { text: text.to_owned(), height, apart: self.apart });
            self.apart = false;
        }
        self.apart |= apart;
        self.current.clear();
        self.characters = 0;
        self.drawn.clear();
        self.last = None;
    }

    /// The lines, an empty one where there is a gap.
    pub(super) fn finish(mut self) -> String {
        if let Some(last) = self.last {
            self.end_line(&last, false);
        }
        if self.is_upside_down() {
            self.lines.reverse();
            for line in &mut self.lines {
                line.apart = false;
            }
        }
        let mut text = String::new();
        for line in &self.lines {
            if line.apart && !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    fn is_upside_down(&self) -> bool {
        let heights: Vec<f64> = self.lines.iter().filter_map(|line| line.height).collect();
        let up = heights.windows(2).filter(|pair| pair[1] > pair[0]).count();
        heights.len() > 3 && up * 10 >= (heights.len() - 1) * 9
    }
}

enum GlyphStep {
    Same,
    Under,
    Before,
    Space(&'static str),
    Again,
    Line { apart: bool },
}

/// A text as a number, so that nothing is kept for each glyph.
fn key(text: &str) -> u64 {
    text.bytes().fold(0, |key, byte| key.wrapping_mul(257).wrapping_add(u64::from(byte)))
}

/// Accents as characters with a width, and in the same order as marks on the letter before them.
const SPACING_ACCENTS: &str = "`´ˆ˜¯˘˙¨˚˝ˇ¸";
const COMBINING_MARKS: &str = "\u{300}\u{301}\u{302}\u{303}\u{304}\u{306}\u{307}\u{308}\u{30a}\u{30b}\u{30c}\u{327}";

pub(super) fn is_accent(character: char) -> bool {
    SPACING_ACCENTS.contains(character)
}

/// A letter with its accent: one character where there is one, else the letter and the mark.
pub(super) fn composed(letter: char, accent: char) -> impl Iterator<Item = char> {
    // A dotless letter is what accents are put on.
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    let mark = SPACING_ACCENTS
        .chars()
        .zip(COMBINING_MARKS.chars())
        .find_map(|(listed, mark)| (listed == accent).then_some(mark));
    let whole = mark.and_then(|mark| compose(letter, mark));
    [Some(whole.unwrap_or(letter)), mark.filter(|_| whole.is_none())].into_iter().flatten()
}

/// Whether a character is of a script that is written from right to left.
fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// A line drawn from left to right, as it is read: Hebrew and Arabic, whose letters most writers draw in the order of their
/// places on the line.
///
/// An approximation of <https://www.unicode.org/reports/tr9/> backwards: good for lines of one direction with numbers
/// and words of another one.
fn in_reading_order(line: &str) -> String {
    let mut read = String::with_capacity(line.len());
    // Numbers and words of other scripts keep their order; so do the spaces within several such words.
    let mut kept = String::new();
    let mut between = String::new();
    for character in line.chars().rev() {
        let character = mirrored(character);
        if is_right_to_left(character) {
            flush(&mut read, &mut kept, &mut between);
            read.push(character);
        } else if character.is_alphanumeric() {
            kept.extend(between.drain(..));
            kept.push(character);
        } else if kept.is_empty() {
            read.push(character);
        } else {
            between.push(character);
        }
    }
    flush(&mut read, &mut kept, &mut between);
    read
}

fn flush(read: &mut String, kept: &mut String, between: &mut String) {
    read.extend(kept.chars().rev());
    kept.clear();
    read.extend(between.drain(..));
}

/// A bracket that is drawn opening to the left closes what is read before it.
fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_composed_with_their_accents() {
        for (letter, accent, text) in [('e', '´', "é"), ('ı', '¨', "ï"), ('y', 'ˆ', "ŷ"), ('q', '˜', "q\u{303}")]
        {
            assert_eq!(composed(letter, accent).collect::<String>(), text);
        }
        assert!(is_accent('ˇ') && !is_accent('e'));
        assert_eq!((SPACING_ACCENTS.chars().count(), COMBINING_MARKS.chars().count()), (12, 12));
        assert_eq!(composed('c', '¸').collect::<String>(), "ç");
    }

    #[test]
    fn letters_are_turned_and_numbers_are_not() {
        assert_eq!(in_reading_order("םולש"), "שלום");
        assert_eq!(in_reading_order("2024 תנש םולש"), "שלום שנת 2024");
        assert_eq!(in_reading_order("ב PDF file א"), "א PDF file ב");
        assert_eq!(in_reading_order("(ב)א"), "א(ב)");
        assert_eq!(in_reading_order("3.14 א"), "א 3.14");
    }
}
