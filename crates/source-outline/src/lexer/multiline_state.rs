//! Comments and strings that continue on the next line.

use crate::lex_rules::{LexRules, Quotes, is_word};

/// Where the last line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OpenLiteral {
    Code,
    /// In a comment, so many deep.
    Comment(usize),
    /// In a string that ends with this quote; whether a backslash escapes it.
    Quoted(u8, bool),
    /// In a string that ends with three of this quote.
    Tripled(u8),
    /// In a string that ends with these bytes.
    Raw(Vec<u8>),
    /// In a here-document that ends with a line of this word.
    Heredoc(Vec<u8>),
    /// In a block that ends with a line that begins with these bytes.
    Pod(&'static [u8]),
}

/// Comments and strings that are open at the end of a line.
#[derive(Debug)]
pub(super) struct MultilineState {
    rules: &'static LexRules,
    pub(super) open: OpenLiteral,
    /// The end of a here-document that begins on the next line.
    heredoc: Option<Vec<u8>>,
    /// Open braces in each `${…}` of template strings, the outermost first.
    pub(super) templates: Vec<usize>,
}

/// Template strings within each other at most; deeper ones are read as plain ones.
const TEMPLATES: usize = 32;

impl MultilineState {
    pub(super) fn new(rules: &'static LexRules) -> Self {
        Self { rules, open: OpenLiteral::Code, heredoc: None, templates: Vec::new() }
    }

    /// Ends a line, and with it the strings that may not span lines.
    pub(super) fn end_line(&mut self, line: &[u8]) {
        if let OpenLiteral::Quoted(quote, _) = self.open
            && !self.spans_lines(quote)
            && line.last() != Some(&b'\\')
        {
            self.open = OpenLiteral::Code;
        }
        if let Some(word) = self.heredoc.take_if(|_| self.open == OpenLiteral::Code) {
            self.open = OpenLiteral::Heredoc(word);
        }
    }

    fn spans_lines(&self, quote: u8) -> bool {
        matches!(self.rules.quotes(quote), Quotes::Lines | Quotes::Raw | Quotes::Template)
    }

    /// Leaves what a line before has opened; `None` where all of the line belongs to it.
    pub(super) fn resume(&mut self, line: &[u8]) -> Option<usize> {
        match &self.open {
            OpenLiteral::Code => {
                if let Some((_, end)) = self.rules.pods.iter().find(|(start, _)| line.starts_with(start)) {
                    self.open = OpenLiteral::Pod(end);
                    return None;
                }
                Some(0)
            }
            OpenLiteral::Heredoc(word) => {
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

    /// Continues in a comment or string from `at`; returns where code continues, `None` if the line ends first.
    pub(super) fn inside(&mut self, line: &[u8], mut at: usize) -> Option<usize> {
        match &mut self.open {
            OpenLiteral::Comment(depth) => {
                let (open, close) = self.rules.block_comment?;
                while *depth > 0 {
                    let rest = &line[at..];
                    let end = find(rest, close);
                    let nested = if self.rules.nested_comments { find(rest, open) } else { None };
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
                self.open = OpenLiteral::Code;
                Some(at)
            }
            OpenLiteral::Quoted(quote, escapes) => {
                let (quote, escapes) = (*quote, *escapes);
                let template = quote == b'`' && self.rules.backtick == Quotes::Template;
                while let Some(byte) = line.get(at) {
                    at += 1;
                    if *byte == b'\\' && escapes {
                        at += 1;
                    } else if *byte == quote {
                        self.open = OpenLiteral::Code;
                        return Some(at);
                    } else if template
                        && *byte == b'$'
                        && line.get(at) == Some(&b'{')
                        && self.templates.len() < TEMPLATES
                    {
                        self.templates.push(0);
                        self.open = OpenLiteral::Code;
                        return Some(at + 1);
                    }
                }
                None
            }
            OpenLiteral::Tripled(quote) => {
                let end = [*quote; 3];
                while let Some(found) = memchr::memchr2(*quote, b'\\', line.get(at..).unwrap_or_default()) {
                    at += found;
                    if line[at] == b'\\' {
                        at += 2;
                    } else if line[at..].starts_with(&end) {
                        self.open = OpenLiteral::Code;
                        // A fourth quote is the last character of the string.
                        let more = line[at + 3..].iter().take_while(|byte| **byte == end[0]).count();
                        return Some(at + 3 + more);
                    } else {
                        at += 1;
                    }
                }
                None
            }
            OpenLiteral::Raw(end) => {
                let found = find(&line[at..], end)?;
                at += found + end.len();
                self.open = OpenLiteral::Code;
                Some(at)
            }
            OpenLiteral::Code | OpenLiteral::Heredoc(_) | OpenLiteral::Pod(_) => Some(at),
        }
    }

    /// Notes the here-document that begins at `<<`.
    pub(super) fn note_heredoc(&mut self, line: &[u8], at: usize) {
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

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}
