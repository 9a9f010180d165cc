//! Source lines → words and signs, without comments and the content of strings.
//!
//! Knows of a language no more than where its comments and strings begin and end; what spans lines is kept from line to
//! line. One pass over the bytes of a line, of any content.

use std::ops::Range;

use memchr::memmem;

use super::lex_rules::{LexRules, Quotes, WordSet, is_word, is_word_start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    Word,
    Number,
    Text,
    /// `=>` or `->`, of a function or a type.
    Arrow,
    PathSeparator,
    /// A comparison or logical operator of two signs.
    Operator,
    Sign(u8),
    Braces,
}

/// A word or sign, as a range of bytes of its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub(crate) kind: LexemeKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum OpenLiteral {
    Code,
    Comment(usize),
    /// In a string that ends with this quote; whether a backslash escapes it.
    Quoted(u8, bool),
    Tripled(u8),
    /// In a string that ends with these bytes.
    Raw(Vec<u8>),
    Heredoc(Vec<u8>),
    /// In a block that ends with a line that begins with these bytes.
    Pod(&'static [u8]),
}

#[derive(Debug)]
pub(crate) struct Lexer {
    rules: &'static LexRules,
    open: OpenLiteral,
    heredoc: Option<Vec<u8>>,
    /// Open braces in each `${…}` of template strings, the outermost first.
    templates: Vec<usize>,
    /// The comments of the last line, ascending.
    pub(crate) comments: Vec<Range<usize>>,
}

/// Template strings within each other at most; deeper ones are read as plain ones.
const MAX_TEMPLATES: usize = 32;

impl Lexer {
    pub(crate) fn new(rules: &'static LexRules) -> Self {
        Self { rules, open: OpenLiteral::Code, heredoc: None, templates: Vec::new(), comments: Vec::new() }
    }

    pub(crate) fn is_in_code(&self) -> bool {
        self.open == OpenLiteral::Code
    }

    pub(crate) fn is_in_comment(&self) -> bool {
        matches!(self.open, OpenLiteral::Comment(_) | OpenLiteral::Pod(_))
    }

    /// A line that is not code, such as a directive: only a comment that it opens counts.
    pub(super) fn pass(&mut self, line: &[u8]) {
        if let Some((open, close)) = self.rules.block_comment
            && let Some(from) = memmem::find(line, open)
            && memmem::find(&line[from + open.len()..], close).is_none()
        {
            self.open = OpenLiteral::Comment(1);
        }
    }

    pub(crate) fn line(&mut self, line: &[u8], out: &mut Vec<Lexeme>) {
        out.clear();
        self.comments.clear();
        let began_in_comment = self.is_in_comment();
        let resumed = self.resume(line);
        if began_in_comment || resumed.is_none() && self.is_in_comment() {
            self.comments.push(0..resumed.unwrap_or(line.len()));
        }
        let Some(mut at) = resumed else { return };
        while at < line.len() {
            let (kind, end) = self.next(line, at, out);
            out.extend(kind.map(|kind| Lexeme { kind, start: at, end }));
            at = end;
        }
        self.end_line(line);
    }

    /// Takes the next lexeme, comment or space; returns what it is, if that is a lexeme, and where the next one begins.
    fn next(&mut self, line: &[u8], at: usize, before: &[Lexeme]) -> (Option<LexemeKind>, usize) {
        let byte = line[at];
        if byte.is_ascii_whitespace() {
            return (None, at + 1);
        }
        if is_word_start(byte) || (byte == b'$' && self.rules.dollar_words) {
            return self.word(line, at);
        }
        if byte.is_ascii_digit() {
            let is_followed_by = |at: usize, is: fn(u8) -> bool| line.get(at + 1).is_some_and(|next| is(*next));
            let is_number = |at: usize| match line.get(at) {
                // Not the dot of `1..2` or `1.max(2)`.
                Some(b'.') => is_followed_by(at, |next| next.is_ascii_digit()),
                // `1'000` of C++14.
                Some(b'\'') => self.rules.single == Quotes::Char && is_followed_by(at, is_word),
                Some(byte) => is_word(*byte),
                None => false,
            };
            let end = (at + 1..line.len()).find(|at| !is_number(*at)).unwrap_or(line.len());
            return (Some(LexemeKind::Number), end);
        }
        if self.is_line_comment(line, at) {
            // `#[Attribute]` of PHP
            if !(self.rules.dollar_words && line[at..].starts_with(b"#[")) {
                self.comments.push(at..line.len());
            }
            return (None, line.len());
        }
        if let Some((open, _)) = self.rules.block_comment
            && line[at..].starts_with(open)
        {
            let end = self.skip(OpenLiteral::Comment(1), line, at + open.len());
            self.comments.push(at..end);
            return (None, end);
        }
        if matches!(byte, b'"' | b'\'' | b'`') {
            return self.quoted(line, at);
        }
        if byte == b'/'
            && self.rules.regexes
            && begins_regex(line, before)
            && let Some(end) = end_of_regex(line, at)
        {
            return (Some(LexemeKind::Text), end);
        }
        if byte == b'<' && self.rules.heredocs {
            self.note_heredoc(line, at);
        }
        self.sign(line, at)
    }

    fn is_line_comment(&self, line: &[u8], at: usize) -> bool {
        let before = &line[..at];
        let is_apart = before.last().is_none_or(|last| last.is_ascii_whitespace() || b";)({},".contains(last));
        let begins = |mark: &[u8]| match mark {
            // `$#`, `${#x}` and `${x#y}` of shells, `\#` of Make, `#{x}` of Ruby.
            b"#" => {
                let is_code = line.get(at + 1) == Some(&b'{') && !before.trim_ascii().is_empty();
                is_apart && !is_code && !before.ends_with(b"${")
            }
            b";" => is_apart,
            b"%" => !before.ends_with(b"\\"),
            // In text that is no code, as between the tags of JSX.
            b"//" => !before.ends_with(b"http:") && !before.ends_with(b"https:"),
            _ => true,
        };
        // A long string of Lua is a block comment.
        let is_block = |mark: &[u8]| {
            self.rules.block_comment.is_some_and(|(open, _)| open.len() > mark.len() && line[at..].starts_with(open))
        };
        self.rules.line_comments.iter().any(|mark| line[at..].starts_with(mark) && begins(mark) && !is_block(mark))
    }

    fn word(&mut self, line: &[u8], at: usize) -> (Option<LexemeKind>, usize) {
        let is_part = |byte: &u8| is_word(*byte) || (*byte == b'$' && self.rules.dollar_words);
        let mut end = at + 1 + line[at + 1..].iter().take_while(|byte| is_part(byte)).count();
        let is_more = |byte: &u8| self.rules.word_ends.contains(byte);
        // `a!=b` is a comparison, not the name `a!`.
        if line.get(end).is_some_and(is_more) && line.get(end + 1) != Some(&b'=') {
            end += 1;
        }
        match self.raw_string(line, at, end) {
            Some((close, begin)) => (Some(LexemeKind::Text), self.skip(OpenLiteral::Raw(close), line, begin)),
            None => (Some(LexemeKind::Word), end),
        }
    }

    /// The raw string whose prefix is the word: what closes it, and where its content begins.
    fn raw_string(&self, line: &[u8], at: usize, end: usize) -> Option<(Vec<u8>, usize)> {
        let rest = line.get(end..)?;
        match &line[at..end] {
            b"r" | b"br" | b"cr" if self.rules.rust_raw => {
                let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
                let close = || [b"\"", &rest[..hashes]].concat();
                (rest.get(hashes) == Some(&b'"')).then(|| (close(), end + hashes + 1))
            }
            b"R" | b"LR" | b"uR" | b"UR" | b"u8R" if self.rules.cpp_raw && rest.first() == Some(&b'"') => {
                // The standard allows 16 characters ([lex.string]).
                let delimiter = rest[1..].iter().position(|byte| *byte == b'(').filter(|length| *length <= 16)?;
                Some(([b")", &rest[1..=delimiter], b"\""].concat(), end + delimiter + 2))
            }
            _ => None,
        }
    }

    fn quoted(&mut self, line: &[u8], at: usize) -> (Option<LexemeKind>, usize) {
        let quote = line[at];
        let sign = (Some(LexemeKind::Sign(quote)), at + 1);
        let tripled = self.rules.triples && quote != b'`' && line[at..].starts_with(&[quote; 3]);
        let (open, begin) = match self.rules.quotes(quote) {
            _ if tripled => (OpenLiteral::Tripled(quote), at + 3),
            Quotes::None => return sign,
            // Not an apostrophe in text that is not code.
            Quotes::Char => return end_of_char(line, at).map_or(sign, |end| (Some(LexemeKind::Text), end)),
            Quotes::Lifetime => {
                // `'a'` and `'\n'` are characters, and `'a` alone is a lifetime.
                let length = match line.get(at + 1) {
                    Some(b'\\') => return (None, end_of_char(line, at).unwrap_or(at + 1)),
                    Some(byte) => utf8_length(*byte),
                    None => 1,
                };
                let is_char = line.get(at + 1 + length) == Some(&b'\'');
                return if is_char { (None, at + length + 2) } else { sign };
            }
            Quotes::Raw => (OpenLiteral::Quoted(quote, false), at + 1),
            Quotes::Line | Quotes::Lines | Quotes::Template => {
                let is_verbatim = self.rules.verbatim && (line[..at].ends_with(b"@") || line[..at].ends_with(b"@$"));
                (if is_verbatim { OpenLiteral::Raw(vec![quote]) } else { OpenLiteral::Quoted(quote, true) }, at + 1)
            }
        };
        (Some(LexemeKind::Text), self.skip(open, line, begin))
    }

    fn sign(&mut self, line: &[u8], at: usize) -> (Option<LexemeKind>, usize) {
        let byte = line[at];
        if let (b'{' | b'}', Some(open)) = (byte, self.templates.last_mut()) {
            if byte == b'{' {
                *open += 1;
            } else if *open > 0 {
                *open -= 1;
            } else {
                // Back in the template string around it.
                self.templates.pop();
                return (None, self.skip(OpenLiteral::Quoted(b'`', true), line, at + 1));
            }
        }
        let (kind, length) = match &[byte, line.get(at + 1).copied().unwrap_or(0)] {
            b"=>" | b"->" => (LexemeKind::Arrow, 2),
            b"::" => (LexemeKind::PathSeparator, 2),
            b"==" | b"!=" | b"<=" | b">=" | b"&&" | b"||" | b":=" | b"+=" | b"-=" => (LexemeKind::Operator, 2),
            _ => (LexemeKind::Sign(byte), 1),
        };
        (Some(kind), at + length)
    }

    fn end_line(&mut self, line: &[u8]) {
        if let OpenLiteral::Quoted(quote, _) = self.open
            && !matches!(self.rules.quotes(quote), Quotes::Lines | Quotes::Raw | Quotes::Template)
            && line.last() != Some(&b'\\')
        {
            self.open = OpenLiteral::Code;
        }
        if let Some(word) = self.heredoc.take_if(|_| self.open == OpenLiteral::Code) {
            self.open = OpenLiteral::Heredoc(word);
        }
    }

    /// Leaves what a line before has opened; `None` where all of the line belongs to it.
    fn resume(&mut self, line: &[u8]) -> Option<usize> {
        match &self.open {
            OpenLiteral::Code => {
                if let Some((_, end)) = self.rules.pods.iter().find(|(start, _)| line.starts_with(start)) {
                    self.open = OpenLiteral::Pod(end);
                    return None;
                }
                Some(0)
            }
            OpenLiteral::Heredoc(word) => {
                // In PHP `;` or `)` may follow the word, which may be indented since 7.3.
                let content = line.trim_ascii();
                if content.strip_prefix(&word[..]).is_some_and(|rest| !rest.first().is_some_and(|byte| is_word(*byte)))
                {
                    self.open = OpenLiteral::Code;
                }
                None
            }
            OpenLiteral::Pod(end) => {
                if line.starts_with(end) {
                    self.open = OpenLiteral::Code;
                }
                None
            }
            _ => self.inside(line, 0),
        }
    }

    /// Opens a comment or string whose content begins at `at`; where it ends, or the line.
    fn skip(&mut self, open: OpenLiteral, line: &[u8], at: usize) -> usize {
        self.open = open;
        self.inside(line, at).unwrap_or(line.len())
    }

    /// Continues in a comment or string from `at`; returns where code continues, `None` if the line ends first.
    fn inside(&mut self, line: &[u8], mut at: usize) -> Option<usize> {
        match &mut self.open {
            OpenLiteral::Comment(depth) => {
                let (open, close) = self.rules.block_comment?;
                while *depth > 0 {
                    let rest = &line[at..];
                    let end = memmem::find(rest, close);
                    let nested = if self.rules.nested_comments { memmem::find(rest, open) } else { None };
                    match (nested, end) {
                        (Some(nested), end) if end.is_none_or(|end| nested < end) => {
                            *depth += 1;
                            at += nested + open.len();
                        }
                        (_, Some(end)) => {
                            *depth -= 1;
                            at += end + close.len();
                        }
                        _ => return None,
                    }
                }
            }
            OpenLiteral::Quoted(quote, escapes) => {
                let is_template = *quote == b'`' && self.rules.backtick == Quotes::Template;
                loop {
                    let byte = *line.get(at)?;
                    at += 1;
                    if byte == b'\\' && *escapes {
                        at += 1;
                    } else if byte == *quote {
                        break;
                    } else if byte == b'$'
                        && is_template
                        && line.get(at) == Some(&b'{')
                        && self.templates.len() < MAX_TEMPLATES
                    {
                        self.templates.push(0);
                        at += 1;
                        break;
                    }
                }
            }
            OpenLiteral::Tripled(quote) => loop {
                // `get`, as a backslash at the end of the line leads one byte beyond it.
                at += memchr::memchr2(*quote, b'\\', line.get(at..)?)?;
                // A fourth quote is the last character of the string.
                let quotes = line[at..].iter().take_while(|byte| *byte == quote).count();
                // Nothing but a backslash is found otherwise.
                at += if quotes == 0 { 2 } else { quotes };
                if quotes >= 3 {
                    break;
                }
            },
            OpenLiteral::Raw(end) => at += memmem::find(&line[at..], end)? + end.len(),
            OpenLiteral::Code | OpenLiteral::Heredoc(_) | OpenLiteral::Pod(_) => return Some(at),
        }
        self.open = OpenLiteral::Code;
        Some(at)
    }

    fn note_heredoc(&mut self, line: &[u8], at: usize) {
        let Some(rest) = line[at..].strip_prefix(b"<<") else { return };
        // `<<<` begins one in PHP, and a string in shells.
        let php = rest.first() == Some(&b'<');
        if php && !self.rules.dollar_words || at > 0 && line[at - 1] == b'<' {
            return;
        }
        let mut rest = &rest[usize::from(php)..];
        if self.rules.spaced_heredocs {
            rest = rest.trim_ascii_start();
        }
        let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~")).unwrap_or(rest);
        let rest = rest.strip_prefix(b"'").or_else(|| rest.strip_prefix(b"\"")).unwrap_or(rest);
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        // A number or a small letter is more often what is shifted.
        let is_quoted = rest.get(length).is_some_and(|byte| b"'\"".contains(byte));
        if length > 0 && (is_quoted || rest[0].is_ascii_uppercase()) {
            self.heredoc = Some(rest[..length].to_vec());
        }
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
    // `'\U0010FFFF'` has twelve bytes.
    const MAX_HEREDOC: usize = 14;
    let mut end = at + 1;
    while let Some(byte) = line.get(end).filter(|_| end < at + MAX_HEREDOC) {
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
            WordSet("return typeof case in of delete void throw else do await yield").contains(word)
        }
        // `</div>`
        LexemeKind::Number | LexemeKind::Text | LexemeKind::Sign(b')' | b']' | b'}' | b'<') => false,
        _ => true,
    }
}

fn end_of_regex(line: &[u8], at: usize) -> Option<usize> {
    let (mut end, mut in_class) = (at + 1, false);
    loop {
        match line.get(end)? {
            b'\\' => end += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(end + 1),
            _ => {}
        }
        end += 1;
    }
}
