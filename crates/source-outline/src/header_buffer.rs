//! The tokens since the last boundary, within those of the headers around it.

use super::{
    header::{Header, Token, TokenKind},
    lexer::{Lexeme, LexemeKind},
};

/// Tokens of one header at most; the last one is replaced by what follows.
const HEADER: usize = 512;
/// Bytes of a word that are kept.
const WORD: usize = 200;

/// Where a header begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeaderStart {
    /// Its first token.
    pub(super) token: usize,
    /// The first line that belongs to it.
    pub(super) line: usize,
    /// Parentheses that are open in it.
    pub(super) parens: usize,
    /// Its first tokens that are known to be decorators.
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
        let is_only = length < HEADER && self.header().is_only_decorators(self.start.decorators);
        if is_only {
            self.start.decorators = length;
        }
        is_only
    }

    /// Tokens of all headers.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn last(&self) -> Option<(Token, &str)> {
        let token = self.tokens.last().filter(|_| !self.is_empty())?;
        Some((*token, &self.text[token.start..token.end]))
    }

    /// The word at this place among the tokens of all headers.
    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    pub(super) fn push(&mut self, lexeme: &Lexeme, line: &str, number: usize) {
        let mut end = lexeme.end.min(lexeme.start + WORD);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        // The content of a string is of no interest.
        let word = if lexeme.kind == LexemeKind::Text { "" } else { &line[lexeme.start..end] };
        self.push_token(TokenKind::Lexeme(lexeme.kind), word, number);
    }

    pub(super) fn push_braces(&mut self, number: usize) {
        self.push_token(TokenKind::Braces, "", number);
    }

    fn push_token(&mut self, kind: TokenKind, word: &str, line: usize) {
        if self.tokens.len() - self.start.token >= HEADER {
            self.truncate(self.tokens.len() - 1);
        }
        let start = self.text.len();
        self.text.push_str(word);
        self.tokens.push(Token { kind, depth: self.start.parens, line, start, end: self.text.len() });
    }

    /// Keeps so many tokens of all headers.
    pub(super) fn truncate(&mut self, length: usize) {
        if let Some(first) = self.tokens.get(length) {
            self.text.truncate(first.start);
            self.tokens.truncate(length);
        }
    }

    /// Forgets the current header.
    pub(super) fn clear(&mut self) {
        self.truncate(self.start.token);
        (self.start.parens, self.start.decorators) = (0, 0);
    }

    /// Begins a header within the current one.
    pub(super) fn nest(&mut self) {
        self.start.token = self.tokens.len();
        (self.start.parens, self.start.decorators) = (0, 0);
    }
}
