//! Source lines → words and signs, without comments and the content of strings.
//!
//! Knows of a language no more than where its comments and strings begin and end; what spans lines is kept from line to
//! line. One pass over the bytes of a line, of any content.

mod multiline_state;

use multiline_state::{MultilineState, OpenLiteral};

use super::lex_rules::{LexRules, Quotes, Words, is_word, is_word_start};

/// The kinds of lexemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// A keyword or name.
    Word,
    /// A literal number.
    Number,
    /// A literal string, character or regular expression.
    Text,
    /// `=>` or `->`
    Arrow,
    /// `::`
    PathSeparator,
    /// A comparison or logical operator of two signs.
    Operator,
    /// Any other sign.
    Sign(u8),
}

/// A word or sign, as a range of bytes of its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) kind: LexemeKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Splits the lines of one file, in order.
#[derive(Debug)]
pub(crate) struct Lexer {
    rules: &'static LexRules,
    multiline: MultilineState,
}

impl Lexer {
    pub(crate) fn new(rules: &'static LexRules) -> Self {
        Self { rules, multiline: MultilineState::new(rules) }
    }

    /// Whether the next line begins outside of comments and strings.
    pub(crate) fn is_in_code(&self) -> bool {
        self.multiline.open == OpenLiteral::Code
    }

    /// Whether the next line begins in a comment.
    pub(crate) fn is_in_comment(&self) -> bool {
        matches!(self.multiline.open, OpenLiteral::Comment(_) | OpenLiteral::Pod(_))
    }

    /// A line that is not code, such as a directive: only a comment that it opens counts.
    pub(super) fn pass(&mut self, line: &[u8]) {
        if let Some((open, close)) = self.rules.block_comment
            && let Some(from) = memchr::memmem::find(line, open)
            && memchr::memmem::find(&line[from + open.len()..], close).is_none()
        {
            self.multiline.open = OpenLiteral::Comment(1);
        }
    }

    /// The lexemes of the next line, without its line break.
    pub(crate) fn line(&mut self, line: &[u8], out: &mut Vec<Lexeme>) {
        out.clear();
        let Some(mut at) = self.multiline.resume(line) else { return };
        while at < line.len() {
            at = self.next(line, at, out);
        }
        self.multiline.end_line(line);
    }

    /// Takes the next lexeme, comment or space; returns where the next one begins.
    fn next(&mut self, line: &[u8], at: usize, out: &mut Vec<Lexeme>) -> usize {
        let byte = line[at];
        if byte.is_ascii_whitespace() {
            return at + 1;
        }
        if is_word_start(byte) || (byte == b'$' && self.rules.dollar_words) {
            return self.word(line, at, out);
        }
        if byte.is_ascii_digit() {
            let mut end = at + 1;
            let is_number = |at: usize| {
                line.get(at).is_some_and(|byte| {
                    is_word(*byte)
                        || *byte == b'.' && line.get(at + 1).is_some_and(u8::is_ascii_digit)
                        || *byte == b'\''
                            && self.rules.single == Quotes::Char
                            && line.get(at + 1).is_some_and(|byte| is_word(*byte))
                })
            };
            while is_number(end) {
                end += 1;
            }
            out.push(Lexeme { kind: LexemeKind::Number, start: at, end });
            return end;
        }
        if self.is_line_comment(line, at) {
            return line.len();
        }
        if let Some((open, _)) = self.rules.block_comment
            && line[at..].starts_with(open)
        {
            self.multiline.open = OpenLiteral::Comment(1);
            return self.multiline.inside(line, at + open.len()).unwrap_or(line.len());
        }
        if matches!(byte, b'"' | b'\'' | b'`') {
            return self.quoted(line, at, out);
        }
        if byte == b'/' && self.rules.regexes && begins_regex(line, out) {
            let end = end_of_regex(line, at);
            if let Some(end) = end {
                out.push(Lexeme { kind: LexemeKind::Text, start: at, end });
                return end;
            }
        }
        if byte == b'<' && self.rules.heredocs {
            self.multiline.note_heredoc(line, at);
        }
        self.sign(line, at, out)
    }

    fn is_line_comment(&self, line: &[u8], at: usize) -> bool {
        self.rules.line_comments.iter().any(|mark| {
            line[at..].starts_with(mark)
                // `$#` and `${x#y}` of shells, `\#` of Make.
                && (mark != b"#" || at == 0 || line[at - 1].is_ascii_whitespace() || matches!(line[at - 1], b';' | b')' | b'(' | b'{' | b'}' | b','))
                // A long string of Lua is a block comment.
                && !self.rules.block_comment.is_some_and(|(open, _)| open.len() > mark.len() && line[at..].starts_with(open))
        })
    }

    fn word(&mut self, line: &[u8], at: usize, out: &mut Vec<Lexeme>) -> usize {
        let mut end = at + 1;
        while line.get(end).is_some_and(|byte| is_word(*byte) || (*byte == b'$' && self.rules.dollar_words)) {
            end += 1;
        }
        let is_more = |byte: &u8| self.rules.word_ends.contains(byte);
        if line.get(end).is_some_and(is_more) && line.get(end + 1) != Some(&b'=') {
            end += 1;
        }
        if let Some(begin) = self.raw_string(line, at, end) {
            out.push(Lexeme { kind: LexemeKind::Text, start: at, end: begin });
            return self.multiline.inside(line, begin).unwrap_or(line.len());
        }
        out.push(Lexeme { kind: LexemeKind::Word, start: at, end });
        end
    }

    /// Opens the raw string whose prefix is the word; returns where its content begins.
    fn raw_string(&mut self, line: &[u8], at: usize, end: usize) -> Option<usize> {
        let rest = line.get(end..)?;
        match &line[at..end] {
            b"r" | b"br" | b"cr" if self.rules.rust_raw => {
                let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
                (rest.get(hashes) == Some(&b'"')).then(|| {
                    let mut close = vec![b'"'];
                    close.resize(hashes + 1, b'#');
                    self.multiline.open = OpenLiteral::Raw(close);
                    end + hashes + 1
                })
            }
            b"R" | b"LR" | b"uR" | b"UR" | b"u8R" if self.rules.cpp_raw && rest.first() == Some(&b'"') => {
                let delimiter = rest[1..].iter().position(|byte| *byte == b'(').filter(|length| *length <= 16)?;
                let close = [b")", &rest[1..=delimiter], b"\""].concat();
                self.multiline.open = OpenLiteral::Raw(close);
                Some(end + delimiter + 2)
            }
            _ => None,
        }
    }

    fn quoted(&mut self, line: &[u8], at: usize, out: &mut Vec<Lexeme>) -> usize {
        let quote = line[at];
        let sign = |out: &mut Vec<Lexeme>| {
            out.push(Lexeme { kind: LexemeKind::Sign(quote), start: at, end: at + 1 });
            at + 1
        };
        let tripled = self.rules.triples && quote != b'`' && line[at..].starts_with(&[quote; 3]);
        let begin = match self.rules.quotes(quote) {
            _ if tripled => {
                self.multiline.open = OpenLiteral::Tripled(quote);
                at + 3
            }
            Quotes::None => return sign(out),
            Quotes::Char => {
                // Not an apostrophe in text that is not code.
                let Some(end) = end_of_char(line, at) else { return sign(out) };
                out.push(Lexeme { kind: LexemeKind::Text, start: at, end });
                return end;
            }
            Quotes::Lifetime => {
                let length = match line.get(at + 1) {
                    Some(b'\\') => return end_of_char(line, at).unwrap_or(at + 1),
                    Some(byte) => utf8_length(*byte),
                    None => 1,
                };
                let is_char = line.get(at + 1 + length) == Some(&b'\'');
                return if is_char { at + length + 2 } else { sign(out) };
            }
            Quotes::Line | Quotes::Lines | Quotes::Template => {
                let verbatim =
                    self.rules.verbatim && at > 0 && (line[at - 1] == b'@' || line[at.saturating_sub(2)..at] == *b"@$");
                self.multiline.open = if verbatim {
                    OpenLiteral::Raw(vec![quote])
                } else {
                    OpenLiteral::Quoted(quote, self.rules.escapes)
                };
                at + 1
            }
            Quotes::Raw => {
                self.multiline.open = OpenLiteral::Quoted(quote, false);
                at + 1
            }
        };
        let end = self.multiline.inside(line, begin).unwrap_or(line.len());
        out.push(Lexeme { kind: LexemeKind::Text, start: at, end });
        end
    }

    fn sign(&mut self, line: &[u8], at: usize, out: &mut Vec<Lexeme>) -> usize {
        let byte = line[at];
        match byte {
            b'{' => {
                if let Some(open) = self.multiline.templates.last_mut() {
                    *open += 1;
                }
            }
            b'}' => {
                if let Some(open) = self.multiline.templates.last_mut() {
                    if *open == 0 {
                        // Back in the template string around it.
                        self.multiline.templates.pop();
                        self.multiline.open = OpenLiteral::Quoted(b'`', true);
                        return self.multiline.inside(line, at + 1).unwrap_or(line.len());
                    }
                    *open -= 1;
                }
            }
            _ => {}
        }
        let pair = [byte, line.get(at + 1).copied().unwrap_or(0)];
        let kind = match &pair {
            b"=>" | b"->" => LexemeKind::Arrow,
            b"::" => LexemeKind::PathSeparator,
            b"==" | b"!=" | b"<=" | b">=" | b"&&" | b"||" | b":=" | b"+=" | b"-=" => LexemeKind::Operator,
            _ => {
                out.push(Lexeme { kind: LexemeKind::Sign(byte), start: at, end: at + 1 });
                return at + 1;
            }
        };
        out.push(Lexeme { kind, start: at, end: at + 2 });
        at + 2
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// The end of the character literal at `at`, within a few bytes.
fn end_of_char(line: &[u8], at: usize) -> Option<usize> {
    const LONGEST: usize = 14;
    let mut end = at + 1;
    while let Some(byte) = line.get(end).filter(|_| end < at + LONGEST) {
        match byte {
            b'\\' => end += 2,
            b'\'' => return Some(end + 1),
            _ => end += 1,
        }
    }
    None
}

/// Whether a `/` after these lexemes begins a regular expression and is not a division.
fn begins_regex(line: &[u8], before: &[Lexeme]) -> bool {
    let Some(last) = before.last() else { return true };
    match last.kind {
        LexemeKind::Word => {
            let word = str::from_utf8(&line[last.start..last.end]).unwrap_or_default();
            Words("return typeof case in of delete void throw else do await yield").contains(word)
        }
        // `</div>`
        LexemeKind::Number | LexemeKind::Text | LexemeKind::Sign(b')' | b']' | b'}' | b'<') => false,
        _ => true,
    }
}

fn end_of_regex(line: &[u8], at: usize) -> Option<usize> {
    let (mut end, mut in_class) = (at + 1, false);
    while let Some(byte) = line.get(end) {
        match byte {
            b'\\' => end += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(end + 1),
            _ => {}
        }
        end += 1;
    }
    None
}
