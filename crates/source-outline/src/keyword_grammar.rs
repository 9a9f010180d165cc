//! What the engine for languages with keywords needs to know of each, and the lines that they look at.

use crate::header::Named;
use crate::lex_rules::{LexRules, WordSet};
use crate::lexer::{Lexeme, LexemeKind};

#[derive(Debug)]
pub(super) struct KeywordGrammar {
    pub(super) lex: &'static LexRules,
    pub(super) modifiers: WordSet,
    /// Keywords that define the name after them; with `=` what that is called, if not by the keyword.
    pub(super) keywords: WordSet,
    /// A definition without keyword, by its line; asked first.
    pub(super) other: fn(&LexedLine<'_>) -> Option<Named>,
    /// Words that end a definition where one begins a line with the same indentation.
    pub(super) closers: WordSet,
    /// Words that belong to a definition where one begins a line with the same indentation.
    pub(super) joiners: WordSet,
    pub(super) parens: bool,
    pub(super) outermost: WordSet,
    /// A kind whose lines are text up to one that begins with the closer.
    pub(super) verbatim: &'static str,
}

impl KeywordGrammar {
    pub(super) const fn new(lex: &'static LexRules, keywords: &'static str) -> Self {
        Self {
            lex,
            modifiers: WordSet(""),
            keywords: WordSet(keywords),
            other: |_| None,
            closers: WordSet("}"),
            joiners: WordSet("{ ) ]"),
            parens: true,
            outermost: WordSet(""),
            verbatim: "",
        }
    }

    pub(super) const fn modifiers(self, modifiers: &'static str) -> Self {
        Self { modifiers: WordSet(modifiers), ..self }
    }

    pub(super) const fn other(self, other: fn(&LexedLine<'_>) -> Option<Named>) -> Self {
        Self { other, ..self }
    }

    pub(super) const fn ends(self, closers: &'static str, joiners: &'static str) -> Self {
        Self { closers: WordSet(closers), joiners: WordSet(joiners), ..self }
    }

    pub(super) const fn outermost(self, outermost: &'static str) -> Self {
        Self { outermost: WordSet(outermost), ..self }
    }

    pub(super) const fn without_parens(self) -> Self {
        Self { parens: false, ..self }
    }
}

/// The kind of definitions that may have several parts in sequence.
pub(super) const MERGED_KIND: &str = "function";

#[derive(Clone, Copy, Debug)]
pub(super) struct LexedLine<'l> {
    pub(super) text: &'l str,
    pub(super) lexemes: &'l [Lexeme],
    pub(super) number: usize,
    pub(super) indent: usize,
}

impl<'l> LexedLine<'l> {
    pub(super) fn at(&self, at: usize) -> &'l str {
        self.lexemes.get(at).map_or("", |lexeme| &self.text[lexeme.start..lexeme.end])
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.lexemes.get(at).is_some_and(|lexeme| lexeme.kind == LexemeKind::Word)
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.lexemes.get(at).is_some_and(|lexeme| lexeme.kind == LexemeKind::Sign(sign))
    }

    pub(super) fn touches(&self, at: usize) -> bool {
        self.lexemes.get(at).is_some_and(|next| at > 0 && self.lexemes[at - 1].end == next.start)
    }

    /// The lexeme after `<…>` at `at`, or that at `at`.
    fn after_angles(&self, at: usize) -> usize {
        if !self.is_sign(at, b'<') {
            return at;
        }
        let mut open = 0;
        for (place, lexeme) in self.lexemes.iter().enumerate().skip(at) {
            match lexeme.kind {
                LexemeKind::Sign(b'<') => open += 1,
                LexemeKind::Sign(b'>') => open -= 1,
                _ => {}
            }
            if open == 0 {
                return place + 1;
            }
        }
        at
    }

    /// The name at `from`, with what qualifies it: `self.load`, `A::B`, `List<T>.first`, a word in quotes.
    pub(super) fn name(&self, from: usize) -> Option<String> {
        let mut at = self.after_angles(from);
        while matches!(self.at(at), "&" | "*" | "!" | "@") {
            at += 1;
        }
        let first = self.lexemes.get(at)?;
        if first.kind == LexemeKind::Text {
            return Some(self.at(at).trim_matches(['"', '\'']).to_owned());
        }
        if first.kind == LexemeKind::Sign(b'`') {
            let rest = &self.text[first.end..];
            return Some(rest[..rest.find('`')?].to_owned());
        }
        if first.kind != LexemeKind::Word {
            // An operator, as in `def ==(other)`.
            let rest = &self.text[first.start..];
            let end = rest.find(|letter: char| letter == '(' || letter.is_whitespace() || letter.is_alphanumeric());
            return Some(rest[..end.unwrap_or(rest.len())].to_owned())
                .filter(|name| !name.is_empty() && !name.starts_with(['{', ':', '=']) || name.starts_with("=="));
        }
        let mut name = self.at(at).to_owned();
        loop {
            let next = self.after_angles(at + 1);
            let is_separator = [".", "::", ":", "#", "\\"].contains(&self.at(next)) && self.touches(next);
            if !is_separator || !self.is_word(next + 1) || !self.touches(next + 1) {
                return Some(name);
            }
            name.push_str(self.at(next));
            name.push_str(self.at(next + 1));
            at = next + 1;
        }
    }
}
