//! Characters that a person does not see but a model reads.
//!
//! Finds bidirectional controls, tag characters, invisible fillers, soft hyphens, control characters, those of private
//! use, spaces that only look like one, and
//! zero-width characters outside the emoji and scripts that need them ("Trojan Source", CVE-2021-42574,
//! <https://trojansource.codes>, and "ASCII smuggling"). It only points them out: the text stays exact, so that an edit
//! still matches.

use std::borrow::Cow;

use crate::escape::push_escape;

/// A character that a person does not see, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its column in the line, in characters counted from 1.
    pub column: usize,
    /// The character itself, which is not to be printed as it is.
    pub character: char,
}

/// The hidden characters of one line, in order.
///
/// # Examples
/// ```
/// use text_file::hidden;
///
/// let columns: Vec<usize> = hidden::in_line("if admin\u{202e} {").map(|hidden| hidden.column).collect();
/// assert_eq!(columns, [9]);
/// assert_eq!(hidden::in_line("👩\u{200d}💻 می\u{200c}خواهم").count(), 0);
/// ```
pub fn in_line(line: &str) -> impl Iterator<Item = Hidden> + '_ {
    // A line of plain ASCII is decided by one fast scan.
    let suspicious = line.bytes().any(|byte| !byte.is_ascii() || is_control(char::from(byte)));
    let mut previous = Context::default();
    let line_has = Line {
        right_to_left: suspicious && line.chars().any(is_right_to_left),
        only_ascii: suspicious && line.chars().all(|character| character.is_ascii() || is_other_space(character)),
    };
    let characters = line.char_indices().take(if suspicious { usize::MAX } else { 0 });
    characters.zip(1..).filter_map(move |((at, character), column)| {
        let next = line[at + character.len_utf8()..].chars().next();
        let is_hidden = is_hidden(character, &previous, next, line_has);
        previous.push(character);
        is_hidden.then_some(Hidden { column, character })
    })
}

/// A title, a name or another text of a file as the server's own words repeat it: one line, and what a person does not see
/// in it as `\u{…}`, but for spaces and the signs of fonts. All of them go through here.
///
/// # Examples
/// ```
/// use text_file::hidden::printable;
///
/// assert_eq!(printable("plan\u{202e}\nhint: x"), r"plan\u{202e}\u{a}hint: x");
/// assert_eq!(printable("می\u{200c}خواهم 👩\u{200d}💻"), "می\u{200c}خواهم 👩\u{200d}💻");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    let mut hidden = in_line(text).map(|one| one.column).peekable();
    let is_one_line = !text.contains(|one: char| one.is_control());
    if is_one_line && hidden.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (character, column) in text.chars().zip(1..) {
        let is_hidden = hidden.next_if_eq(&column).is_some();
        let is_seen = is_other_space(character) || matches!(character, '\u{e000}'..='\u{f8ff}');
        if character.is_control() || is_hidden && !is_seen {
            push_escape(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[derive(Clone, Copy, Debug)]
struct Line {
    right_to_left: bool,
    /// But for spaces that look like U+0020: text in other languages is set with them, code is not.
    only_ascii: bool,
}

/// The characters before one, as far as they matter.
#[derive(Debug, Default)]
struct Context {
    last: Option<char>,
    base: Option<char>,
}

impl Context {
    fn push(&mut self, character: char) {
        self.last = Some(character);
        if !matches!(character, '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}') {
            self.base = Some(character);
        }
    }
}

fn is_hidden(character: char, before: &Context, next: Option<char>, line: Line) -> bool {
    match character {
        // Marks that right-to-left text is written with.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => !line.right_to_left,
        // Tag characters belong to the flags of regions only, which begin with a black flag.
        '\u{e0000}'..='\u{e007f}' => before.base != Some('\u{1f3f4}'),
        // Joiners: inside emoji, and between letters of scripts that shape by them.
        '\u{200d}' => {
            let joins_emoji = before.base.is_some_and(is_emoji) && next.is_some_and(is_emoji);
            !joins_emoji && !before.base.is_some_and(needs_joiners)
        }
        '\u{200c}' => !before.base.is_some_and(needs_joiners),
        // One selector chooses a glyph; a run of them carries data.
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            before.last.is_none_or(|last| matches!(last, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'))
        }
        _ if is_other_space(character) => line.only_ascii,
        _ if is_control(character) => true,
        // Two are ends of lines to some programs. Embeddings, overrides and isolates reorder what a person sees; the rest is
        // not seen at all.
        _ => matches!(character,
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{2060}'..='\u{2064}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}'
            // Private use: what is drawn for them, if anything is, depends on the font.
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}'),
    }
}

/// Control characters but those that lay out text: tabs, the ends of lines and pages. NUL is another matter: a file with
/// many of them is not text.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\0')
}

/// Spaces that look like U+0020 and are none (Unicode category Zs, without the wide one of Chinese text), and the
/// empty Braille pattern.
fn is_other_space(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}')
}

fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
        | '\u{25a0}'..='\u{25ff}' | '\u{2b00}'..='\u{2bff}' | '\u{2934}' | '\u{2935}')
}

/// Scripts whose spelling uses U+200C and U+200D: Arabic and its kin, the Indic family, Mongolian.
fn needs_joiners(character: char) -> bool {
    matches!(character,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1a20}'..='\u{1b7f}' | '\u{a840}'..='\u{a87f}' | '\u{a980}'..='\u{a9ff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}

fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<(usize, u32)> {
        in_line(line).map(|one| (one.column, u32::from(one.character))).collect()
    }

    #[test]
    fn reordering_and_invisible_characters_are_found_at_their_column() {
        assert_eq!(found("if admin\u{202e} { // }"), [(9, 0x202e)]);
        assert_eq!(found("a\u{200b}b\u{feff}"), [(2, 0x200b), (4, 0xfeff)]);
        assert_eq!(found("x\u{e0069}\u{e0067}"), [(2, 0xe0069), (3, 0xe0067)]);
        assert_eq!(found("const \u{3164} = 1"), [(7, 0x3164)]);
        assert_eq!(found("a\u{200e}b"), [(2, 0x200e)]);
        assert_eq!(found("a\u{200d}b"), [(2, 0x200d)]);
        assert_eq!(found("let\u{a0}x = 1;\u{2003}//"), [(4, 0xa0), (11, 0x2003)]);
        assert_eq!(found("pass\u{ad}word"), [(5, 0xad)]);
        assert_eq!(found("a\u{8}b\u{1b}[8m\u{9b}"), [(2, 8), (4, 0x1b), (8, 0x9b)]);
        assert_eq!(found("x\u{e000}\u{f0001}"), [(2, 0xe000), (3, 0xf0001)]);
        assert_eq!(found("☺\u{fe0f}\u{fe01}\u{fe02}"), [(3, 0xfe01), (4, 0xfe02)]);
    }

    #[test]
    fn ordinary_text_has_no_hidden_characters() {
        for line in [
            "plain ascii",
            "\tcell\u{c}",
            "« déjà\u{a0}vu\u{202f}»",
            "全角\u{3000}空白",
            "déjà vu — “quoted”",
            "family 👩\u{200d}👩\u{200d}👧 and ❤\u{fe0f}\u{200d}🔥",
            "flag 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "שלום\u{200f} (עולם)",
        ] {
            assert_eq!(found(line), [], "{line}");
        }
    }
}
