//! What precedes a `{` or `;`: the words and signs that say whether something is defined, and what.

use super::lexer::LexemeKind;

/// A word or sign before a brace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Parentheses and brackets around it.
    pub(super) depth: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its text, in the text of the header.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// What the lexer met.
    Lexeme(LexemeKind),
    /// Braces and all between them.
    Braces,
}

/// A token, or several that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// A word, as the place of its token.
    Word(usize),
    /// What is in `(`, `[` or `<`: the first byte, and the places of the tokens between.
    Group(u8, usize, usize),
    /// `{…}`
    Braces,
    Arrow,
    PathSeparator,
    Operator,
    Text,
    Number,
    Sign(u8),
}

/// The tokens since the last boundary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'h> {
    pub(super) tokens: &'h [Token],
    pub(super) text: &'h str,
}

/// Tokens between `<` and `>` at most.
const ANGLES: usize = 128;

impl<'h> Header<'h> {
    pub(super) fn word(&self, at: usize) -> &'h str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(1, |token| token.line)
    }

    /// The text of these tokens, with spaces between words.
    pub(super) fn joined(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        let mut after_word = false;
        for at in from..to.min(self.tokens.len()) {
            let token = &self.tokens[at];
            let is_word = matches!(token.kind, TokenKind::Lexeme(LexemeKind::Word | LexemeKind::Number));
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
        let is_name = |term: &Term| matches!(term, Term::Word(_) | Term::Sign(b'@' | b'.') | Term::Group(b'(', ..));
        let after_name = known > 0 && !self.is_sign(known - 1, b'@') && !self.is_sign(known - 1, b'.');
        let terms = Header { tokens: self.tokens.get(known..).unwrap_or_default(), text: self.text }.terms(false);
        self.is_sign(0, b'@')
            && terms.iter().all(is_name)
            && !(after_name && matches!(terms.first(), Some(Term::Word(_))))
            && !terms.windows(2).any(|pair| matches!(pair, [Term::Word(_) | Term::Group(..), Term::Word(_)]))
    }

    fn lexeme(&self, at: usize) -> Option<LexemeKind> {
        match self.tokens.get(at)?.kind {
            TokenKind::Lexeme(kind) => Some(kind),
            TokenKind::Braces => None,
        }
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.lexeme(at) == Some(LexemeKind::Sign(sign))
    }

    /// The last part that is not closed, as the last argument of a call that is open; all where nothing is open.
    pub(super) fn innermost(&self, open: usize) -> Header<'h> {
        let is_start = |token: &Token| match token.kind {
            TokenKind::Lexeme(LexemeKind::Sign(b'(' | b'[')) => token.depth < open,
            TokenKind::Lexeme(LexemeKind::Sign(b',')) => token.depth == open && open > 0,
            _ => false,
        };
        let from = self.tokens.iter().rposition(is_start).map_or(0, |at| at + 1);
        Header { tokens: &self.tokens[from..], text: self.text }
    }

    /// The terms; with `angles`, `<…>` is a group where it can be one.
    pub(super) fn terms(&self, angles: bool) -> Vec<Term> {
        let Some(base) = self.tokens.first().map(|token| token.depth) else { return Vec::new() };
        let mut terms = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let token = &self.tokens[at];
            let TokenKind::Lexeme(kind) = token.kind else {
                terms.push(Term::Braces);
                at += 1;
                continue;
            };
            at += 1;
            terms.push(match kind {
                LexemeKind::Word => Term::Word(at - 1),
                LexemeKind::Number => Term::Number,
                LexemeKind::Text => Term::Text,
                LexemeKind::Arrow => Term::Arrow,
                LexemeKind::PathSeparator => Term::PathSeparator,
                LexemeKind::Operator => Term::Operator,
                LexemeKind::Sign(open @ (b'(' | b'[')) => {
                    let is_end = |token: &Token| {
                        token.depth <= base && matches!(token.kind, TokenKind::Lexeme(LexemeKind::Sign(b')' | b']')))
                    };
                    let end = self.tokens[at..].iter().position(is_end).map_or(self.tokens.len(), |end| at + end);
                    let group = Term::Group(open, at, end);
                    at = end + 1;
                    group
                }
                LexemeKind::Sign(b'<') if angles => match self.end_of_angles(at, base) {
                    Some(end) => {
                        let group = Term::Group(b'<', at, end);
                        at = end + 1;
                        group
                    }
                    None => Term::Sign(b'<'),
                },
                LexemeKind::Sign(sign) => Term::Sign(sign),
            });
        }
        terms
    }

    /// The place of the `>` that belongs to the `<` before `from`.
    fn end_of_angles(&self, from: usize, base: usize) -> Option<usize> {
        let mut open = 1;
        for at in from..self.tokens.len().min(from + ANGLES) {
            if self.tokens[at].depth > base {
                continue;
            }
            match self.lexeme(at) {
                Some(LexemeKind::Sign(b'<')) => open += 1,
                Some(LexemeKind::Sign(b'>')) => {
                    open -= 1;
                    if open == 0 {
                        return Some(at);
                    }
                }
                Some(LexemeKind::Sign(b';') | LexemeKind::Operator) => return None,
                _ => {}
            }
        }
        None
    }
}

/// A definition that a header makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// The line of the name.
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
}

/// What is between braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Definitions, as in a file.
    Items,
    /// Members of a type.
    Members,
    /// Statements.
    Statements,
    /// Values, or fields without definitions.
    Values,
    /// Properties of an object literal.
    Properties,
}

/// What a header before `{` means.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) named: Option<Named>,
    pub(super) block: BlockKind,
    /// The header continues after the braces.
    pub(super) continues: bool,
}

impl Opening {
    pub(super) fn of(named: Option<Named>, block: BlockKind) -> Self {
        Self { named, block, continues: false }
    }
}

/// What a header means where its statement ends.
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

/// Where a header is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) block: BlockKind,
    /// The name of the type whose members these are.
    pub(super) owner: &'a str,
    /// The word before the parentheses around a group of definitions, or nothing.
    pub(super) group: &'a str,
    /// Parentheses of the header that are open.
    pub(super) open: usize,
}
