//! Languages whose definitions begin a line with a keyword: extents by indentation.
//!
//! A definition ends before the next line that is indented no more, or with it where that closes it (`end`, `}`). So
//! neither nested blocks nor quotes that a line-wise look gets wrong matter.

pub(super) mod keywords;
mod line_patterns;

use crate::definition::{Definition, MAX_DEFINITIONS, Outline};
use crate::header::Named;
use crate::keyword_grammar::{KeywordGrammar, LexedLine, MERGED_KIND};
use crate::lex_rules::width;
use crate::lexer::{Lexeme, LexemeKind, Lexer};

#[derive(Clone, Copy, Debug)]
struct OpenDefinition {
    indent: usize,
    definition: usize,
}

/// Definitions within each other at most.
const MAX_DEPTH: usize = 64;
/// Lines that open parentheses may span: more are a mistake of the look at the line.
const PAREN_LINES: usize = 300;

#[derive(Debug)]
pub(super) struct IndentOutline {
    grammar: &'static KeywordGrammar,
    lexer: Lexer,
    definitions: Vec<Definition>,
    open: Vec<OpenDefinition>,
    line: usize,
    last: usize,
    above: Option<usize>,
    parens: usize,
    paren_lines: usize,
}

impl Outline for IndentOutline {
    fn line(&mut self, line: &str, lexemes: &mut Vec<Lexeme>) {
        self.line += 1;
        let bytes = line.as_bytes();
        let began_in_code = self.lexer.is_in_code();
        let began_in_comment = self.lexer.is_in_comment();
        self.lexer.line(bytes, lexemes);
        if !began_in_code {
            if !began_in_comment {
                self.last = self.line;
            }
        } else if lexemes.is_empty() {
            if bytes.trim_ascii().is_empty() {
                self.above = None;
            } else if !(self.line == 1 && line.starts_with("#!")) {
                self.above.get_or_insert(self.line);
            }
        } else {
            let blanks = bytes.iter().take_while(|byte| b" \t".contains(byte)).count();
            let indent = width(&bytes[..blanks]).0;
            self.code(&LexedLine { text: line, lexemes, number: self.line, indent });
            self.last = self.line;
        }
        self.count_parens(lexemes);
    }

    fn finish(mut self: Box<Self>) -> Vec<Definition> {
        self.close(0, self.last);
        self.definitions
    }
}

impl IndentOutline {
    pub(super) fn new(grammar: &'static KeywordGrammar) -> Self {
        Self {
            grammar,
            lexer: Lexer::new(grammar.lex),
            definitions: Vec::new(),
            open: Vec::new(),
            line: 0,
            last: 0,
            above: None,
            parens: 0,
            paren_lines: 0,
        }
    }

    fn count_parens(&mut self, lexemes: &[Lexeme]) {
        if !self.grammar.parens {
            return;
        }
        for lexeme in lexemes {
            match lexeme.kind {
                LexemeKind::Sign(b'(' | b'[') => self.parens += 1,
                LexemeKind::Sign(b')' | b']') => self.parens = self.parens.saturating_sub(1),
                _ => {}
            }
        }
        self.paren_lines = if self.parens > 0 { self.paren_lines + 1 } else { 0 };
        if self.paren_lines > PAREN_LINES {
            self.parens = 0;
        }
    }

    fn code(&mut self, line: &LexedLine<'_>) {
        if self.parens > 0 {
            return;
        }
        let (indent, first) = (line.indent, line.at(0));
        let is_verbatim = |open: &OpenDefinition| self.definitions[open.definition].kind == self.grammar.verbatim;
        if self.open.last().is_some_and(is_verbatim) && !self.grammar.closers.contains(first) {
            return;
        }
        self.close(indent + 1, self.last);
        let is_closer = self.grammar.closers.contains(first);
        let is_joiner = self.grammar.joiners.contains(first);
        if self.open.last().is_some_and(|open| open.indent == indent) {
            if is_closer {
                self.close(indent, self.line);
            } else if !is_joiner {
                self.close(indent, self.last);
            }
        }
        let is_decorator =
            line.is_sign(0, b'@') && !line.lexemes.iter().enumerate().any(|(at, _)| self.keyword(line, at).is_some());
        if is_decorator {
            self.above.get_or_insert(self.line);
            return;
        }
        let above = self.above.take();
        let Some(named) = self.definition(line) else { return };
        if self.definitions.len() >= MAX_DEFINITIONS || self.open.len() >= MAX_DEPTH || named.name.is_empty() {
            return;
        }
        let is_next_equation =
            |last: &Definition| named.kind == MERGED_KIND && last.kind == named.kind && last.name == named.name;
        let level = self.open.len();
        if !self.definitions.last().is_some_and(is_next_equation) {
            let (start, end) = (above.unwrap_or(self.line), named.line);
            self.definitions.push(named.definition(start, end, level));
        }
        self.open.push(OpenDefinition { indent, definition: self.definitions.len() - 1 });
    }

    fn keyword(&self, line: &LexedLine<'_>, at: usize) -> Option<&'static str> {
        self.grammar.keywords.value_of(line.at(at))
    }

    fn definition(&self, line: &LexedLine<'_>) -> Option<Named> {
        if let Some(named) = (self.grammar.other)(line) {
            return Some(named);
        }
        let mut at = 0;
        loop {
            if line.is_sign(at, b'@') {
                // `@objc func`, `@Test(timeout = 1) fun`
                at += 2;
                if line.is_sign(at, b'(') {
                    at += line.lexemes[at..].iter().position(|lexeme| lexeme.kind == LexemeKind::Sign(b')'))? + 1;
                }
            } else if let Some(kind) = self.keyword(line, at) {
                let is_modifier = self.keyword(line, at + 1).is_some() && line.lexemes.len() > at + 2;
                if !is_modifier {
                    return self.named(line, at, kind);
                }
                at += 1;
            } else if self.grammar.modifiers.contains(line.at(at)) {
                at += 1;
                // `private[core]`, `internal(set)`
                if (line.is_sign(at, b'[') || line.is_sign(at, b'(')) && line.touches(at) {
                    at += line.lexemes[at..]
                        .iter()
                        .position(|lexeme| matches!(lexeme.kind, LexemeKind::Sign(b']' | b')')))?
                        + 1;
                }
            } else {
                return None;
            }
        }
    }

    fn named(&self, line: &LexedLine<'_>, at: usize, kind: &'static str) -> Option<Named> {
        let keyword = line.at(at);
        if self.grammar.outermost.contains(keyword) && (line.indent > 0 || !self.open.is_empty()) {
            return None;
        }
        // `init(` names itself.
        let is_own = matches!(keyword, "init" | "deinit" | "subscript" | "constructor");
        let name = if is_own { keyword.to_owned() } else { line.name(at + 1)? };
        // `class << self`
        if kind == "class" && name.starts_with('<') {
            return None;
        }
        let name = name.strip_prefix("self.").map(str::to_owned).unwrap_or(name);
        Some(Named::new(kind, name, self.line))
    }

    fn close(&mut self, indent: usize, end: usize) {
        while let Some(open) = self.open.pop_if(|open| open.indent >= indent) {
            let definition = &mut self.definitions[open.definition];
            definition.end = definition.end.max(end);
        }
    }
}
