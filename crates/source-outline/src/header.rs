//! What precedes a `{` or `;`: the words and punctuation that say whether something is defined, and what; and the
//! buffer that holds them, within those of the headers around it.

use crate::definition::Definition;
use crate::lexer::{Lexeme, LexemeKind};

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: LexemeKind,
    pub(super) depth: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'h> {
    pub(super) text: &'h str,
    pub(super) token: usize,
    pub(super) line: usize,
}

impl Word<'_> {
    pub(super) fn named(self, kind: &'static str) -> Named {
        Named::new(kind, self.text, self.line)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term<'h> {
    Word(Word<'h>),
    /// The content of `(`, `[` or `<`: the first byte, and the places of the tokens between.
    Group(u8, usize, usize),
    Braces,
    Arrow,
    PathSeparator,
    Operator,
    Text,
    Number,
    Sign(u8),
}

impl<'h> Term<'h> {
    pub(super) fn text(&self) -> &'h str {
        if let Self::Word(word) = self { word.text } else { "" }
    }

    pub(super) fn is_word(&self) -> bool {
        matches!(self, Self::Word(_))
    }

    pub(super) fn is_group(&self, open: u8) -> bool {
        matches!(self, Self::Group(own, ..) if *own == open)
    }
}

pub(super) fn word<'h>(terms: &[Term<'h>], at: usize) -> Option<Word<'h>> {
    if let Term::Word(word) = terms.get(at)? { Some(*word) } else { None }
}

/// The text of the word at `at`, "" where there is none.
pub(super) fn text<'h>(terms: &[Term<'h>], at: usize) -> &'h str {
    terms.get(at).map_or("", Term::text)
}

pub(super) fn find(terms: &[Term<'_>], wanted: Term<'_>) -> Option<usize> {
    terms.iter().position(|term| *term == wanted)
}

pub(super) fn find_word(terms: &[Term<'_>], wanted: &str) -> Option<usize> {
    terms.iter().position(|term| term.text() == wanted)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'h> {
    pub(super) tokens: &'h [Token],
    pub(super) text: &'h str,
}

/// Tokens between `<` and `>` at most.
const MAX_ANGLE_TOKENS: usize = 128;

impl<'h> Header<'h> {
    pub(super) fn word(&self, at: usize) -> &'h str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    pub(super) fn named(&self, kind: &'static str, from: usize, to: usize) -> Named {
        Named::new(kind, self.joined(from, to), self.tokens.get(from).map_or(1, |token| token.line))
    }

    fn joined(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        let mut after_word = false;
        for at in from..to.min(self.tokens.len()) {
            let token = &self.tokens[at];
            let is_word = matches!(token.kind, LexemeKind::Word | LexemeKind::Number);
            let word = self.word(at);
            if is_word && (after_word || text.ends_with([',', '+', ';', '>'])) {
                text.push(' ');
            }
            text.push_str(word);
            after_word = is_word;
        }
        text
    }

    /// `@Component({…})` and no more: what follows belongs to it. So many tokens are known to be decorators.
    pub(super) fn is_only_decorators(&self, known: usize) -> bool {
        let is_name = |term: &Term<'_>| matches!(term, Term::Word(_) | Term::Sign(b'@' | b'.') | Term::Group(b'(', ..));
        let after_name = known > 0 && !self.is_sign(known - 1, b'@') && !self.is_sign(known - 1, b'.');
        let terms = Header { tokens: self.tokens.get(known..).unwrap_or_default(), text: self.text }.terms(false);
        self.is_sign(0, b'@')
            && terms.iter().all(is_name)
            && !(after_name && matches!(terms.first(), Some(Term::Word(_))))
            && !terms.windows(2).any(|pair| matches!(pair, [Term::Word(_) | Term::Group(..), Term::Word(_)]))
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == LexemeKind::Sign(sign))
    }

    /// The last part that is not closed, as the last argument of a call that is open; all where nothing is open.
    pub(super) fn innermost(&self, open: usize) -> Header<'h> {
        let is_start = |token: &Token| match token.kind {
            LexemeKind::Sign(b'(' | b'[') => token.depth < open,
            LexemeKind::Sign(b',') => token.depth == open && open > 0,
            _ => false,
        };
        let from = self.tokens.iter().rposition(is_start).map_or(0, |at| at + 1);
        Header { tokens: &self.tokens[from..], text: self.text }
    }

    /// The terms; with `angles`, `<…>` is a group where it can be one.
    pub(super) fn terms(&self, angles: bool) -> Vec<Term<'h>> {
        let Some(base) = self.tokens.first().map(|token| token.depth) else { return Vec::new() };
        let is_end = |token: &Token| token.depth <= base && matches!(token.kind, LexemeKind::Sign(b')' | b']'));
        let (mut terms, mut at) = (Vec::new(), 0);
        while let Some(token) = self.tokens.get(at) {
            at += 1;
            // The end of a group, where this begins one.
            let end = match token.kind {
                LexemeKind::Sign(b'(' | b'[') => {
                    Some(self.tokens[at..].iter().position(is_end).map_or(self.tokens.len(), |end| at + end))
                }
                LexemeKind::Sign(b'<') if angles => self.end_of_angles(at, base),
                _ => None,
            };
            terms.push(match (token.kind, end) {
                (LexemeKind::Sign(open), Some(end)) => {
                    let group = Term::Group(open, at, end);
                    at = end + 1;
                    group
                }
                (LexemeKind::Sign(sign), None) => Term::Sign(sign),
                (LexemeKind::Word, _) => Term::Word(Word { text: self.word(at - 1), token: at - 1, line: token.line }),
                (LexemeKind::Number, _) => Term::Number,
                (LexemeKind::Text, _) => Term::Text,
                (LexemeKind::Arrow, _) => Term::Arrow,
                (LexemeKind::PathSeparator, _) => Term::PathSeparator,
                (LexemeKind::Operator, _) => Term::Operator,
                (LexemeKind::Braces, _) => Term::Braces,
            });
        }
        terms
    }

    fn end_of_angles(&self, from: usize, base: usize) -> Option<usize> {
        let mut open = 1;
        // Bounded, as each `<` that is a comparison looks for its end in vain.
        let near = self.tokens.iter().enumerate().skip(from).take(MAX_ANGLE_TOKENS);
        for (at, token) in near.filter(|(_, token)| token.depth <= base) {
            match token.kind {
                LexemeKind::Sign(b'<') => open += 1,
                LexemeKind::Sign(b'>') if open == 1 => return Some(at),
                LexemeKind::Sign(b'>') => open -= 1,
                LexemeKind::Sign(b';') | LexemeKind::Operator => return None,
                _ => {}
            }
        }
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) prototype: bool,
}

impl Named {
    pub(super) fn new(kind: &'static str, name: impl Into<String>, line: usize) -> Self {
        Self { kind, name: name.into(), line, prototype: false }
    }

    pub(super) fn prototype(self) -> Self {
        Self { prototype: true, ..self }
    }

    pub(super) fn definition(self, start: usize, end: usize, level: usize) -> Definition {
        let Self { kind, name, line, prototype } = self;
        Definition { start: start.min(line), line, end, kind, name, level, prototype }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Items,
    Members,
    Statements,
    Values,
    Properties,
}

#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) named: Option<Named>,
    pub(super) block: BlockKind,
    pub(super) continues: bool,
}

impl Opening {
    pub(super) fn of(named: Option<Named>, block: BlockKind) -> Self {
        Self { named, block, continues: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Nothing,
    Named(Named),
    /// It has not ended: the parameters of an old C function.
    GoesOn,
}

impl From<Option<Named>> for Ending {
    fn from(named: Option<Named>) -> Self {
        named.map_or(Self::Nothing, Self::Named)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderContext<'a> {
    pub(super) block: BlockKind,
    pub(super) outer_functions: bool,
    pub(super) owner: &'a str,
    pub(super) group: &'a str,
    pub(super) open: usize,
}

/// Tokens of one header at most; the last one is replaced by what follows.
const MAX_HEADER_TOKENS: usize = 512;
const MAX_WORD_BYTES: usize = 200;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeaderStart {
    pub(super) token: usize,
    pub(super) line: usize,
    pub(super) parens: usize,
    decorators: usize,
}

/// Holds the headers of all open braces; the last one grows.
#[derive(Debug, Default)]
pub(super) struct HeaderBuffer {
    tokens: Vec<Token>,
    text: String,
    pub(super) start: HeaderStart,
}

impl HeaderBuffer {
    pub(super) fn header(&self) -> Header<'_> {
        Header { tokens: &self.tokens[self.start.token..], text: &self.text }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.len() == self.start.token
    }

    /// Whether there are only decorators, so far; each token is looked at once.
    pub(super) fn is_only_decorators(&mut self) -> bool {
        let length = self.tokens.len() - self.start.token;
        // What follows a full header would replace its end.
        let is_only = length < MAX_HEADER_TOKENS && self.header().is_only_decorators(self.start.decorators);
        if is_only {
            self.start.decorators = length;
        }
        is_only
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn last(&self) -> Option<(Token, &str)> {
        let token = self.tokens.last().filter(|_| !self.is_empty())?;
        Some((*token, &self.text[token.start..token.end]))
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    pub(super) fn push(&mut self, lexeme: &Lexeme, line: &str, number: usize) {
        let mut end = lexeme.end.min(lexeme.start + MAX_WORD_BYTES);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        // The content of a string is of no interest.
        let word = if lexeme.kind == LexemeKind::Text { "" } else { &line[lexeme.start..end] };
        self.push_token(lexeme.kind, word, number);
    }

    pub(super) fn push_token(&mut self, kind: LexemeKind, word: &str, line: usize) {
        if self.tokens.len() - self.start.token >= MAX_HEADER_TOKENS {
            self.truncate(self.tokens.len() - 1);
        }
        let start = self.text.len();
        self.text.push_str(word);
        self.tokens.push(Token { kind, depth: self.start.parens, line, start, end: self.text.len() });
    }

    pub(super) fn truncate(&mut self, length: usize) {
        if let Some(first) = self.tokens.get(length) {
            self.text.truncate(first.start);
            self.tokens.truncate(length);
        }
    }

    pub(super) fn clear(&mut self) {
        self.truncate(self.start.token);
        (self.start.parens, self.start.decorators) = (0, 0);
    }

    pub(super) fn nest(&mut self) {
        self.start.token = self.tokens.len();
        (self.start.parens, self.start.decorators) = (0, 0);
    }
}
