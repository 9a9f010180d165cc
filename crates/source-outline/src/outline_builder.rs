//! Feeding a text to the outline of its language, in pieces of any size; [`Lines`] puts lines together.

use crate::definition::{Definition, Outline};
use crate::{language::Language, lexer::Lexeme};

const MAX_LINE_BYTES: usize = 64 << 10;

/// The definitions of the file `path` with this text, by line; empty if the language is not known.
///
/// # Examples
/// ```
/// use source_outline::definitions;
///
/// let found = definitions("cache.c", "static int\nload(int key)\n{\n\treturn key;\n}\n");
/// assert_eq!((found[0].label().as_str(), found[0].start, found[0].line, found[0].end), ("fn load", 1, 2, 5));
/// ```
pub fn definitions(path: &str, text: &str) -> Vec<Definition> {
    let mut outline = OutlineBuilder::new(path);
    outline.push(text);
    outline.finish()
}

/// Whether definitions can be found in a file of this name: its language is known, or its first line may say it.
pub fn may_have_definitions(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    Language::of_name(name).is_some() || !name.contains('.')
}

/// Takes the text of a file piece by piece, with bounded memory.
#[derive(Debug)]
pub struct OutlineBuilder {
    /// `None` where the first line decides the language.
    engine: Option<Box<dyn Outline>>,
    is_unknown: bool,
    lines: Lines,
    lexemes: Vec<Lexeme>,
}

impl OutlineBuilder {
    /// The outline of a file of this name.
    pub fn new(path: &str) -> Self {
        let engine = Language::of_name(path).map(Language::outline);
        Self { engine, is_unknown: !may_have_definitions(path), lines: Lines::default(), lexemes: Vec::new() }
    }

    /// Takes the next piece of text.
    pub fn push(&mut self, piece: &str) {
        if self.is_unknown {
            return;
        }
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(piece, |line| self.line(line));
        self.lines = lines;
    }

    /// The definitions, in the order of their lines.
    pub fn finish(mut self) -> Vec<Definition> {
        std::mem::take(&mut self.lines).finish(|line| self.line(line));
        let mut definitions = self.engine.map_or_else(Vec::new, Outline::finish);
        for one in &mut definitions {
            one.end = one.end.max(one.line);
        }
        definitions.sort_by_key(|one| (one.line, one.level));
        definitions
    }

    fn line(&mut self, line: &str) {
        if self.is_unknown {
            return;
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        if self.engine.is_none() {
            self.engine = Language::of_first_line(line).map(Language::outline);
            self.is_unknown = self.engine.is_none();
        }
        if let Some(engine) = &mut self.engine {
            engine.line(line, &mut self.lexemes);
        }
    }
}

/// Puts together the lines of a text that comes in pieces. Of a line no more than 64 KiB are handed on.
#[derive(Debug, Default)]
pub struct Lines {
    partial: String,
}

impl Lines {
    /// Takes the next piece of text, and hands on each line that ends in it, without its line feed.
    pub fn push(&mut self, mut piece: &str, mut take: impl FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', piece.as_bytes()) {
            if self.partial.is_empty() {
                take(beginning(&piece[..end], MAX_LINE_BYTES));
            } else {
                self.extend_partial(&piece[..end]);
                take(&self.partial);
                self.partial.clear();
            }
            piece = &piece[end + 1..];
        }
        self.extend_partial(piece);
    }

    /// Hands on what follows the last line feed, unless that is nothing.
    pub fn finish(self, take: impl FnOnce(&str)) {
        if !self.partial.is_empty() {
            take(&self.partial);
        }
    }

    fn extend_partial(&mut self, piece: &str) {
        let room = MAX_LINE_BYTES.saturating_sub(self.partial.len());
        self.partial.push_str(beginning(piece, room));
    }
}

/// The first `most` bytes, or a few less.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}
