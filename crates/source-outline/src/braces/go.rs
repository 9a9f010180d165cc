//! Go.

use super::BraceGrammar;
use crate::header::{BlockKind, Ending, Header, HeaderContext, Named, Opening, Term, text, word};
use crate::lex_rules::{self, WordSet};

pub(crate) static GO: BraceGrammar =
    BraceGrammar { newline_ends: true, groups: DEFINING_WORDS, ..BraceGrammar::new(&lex_rules::GO, open, end) };

const DEFINING_WORDS: WordSet = WordSet("type const var");

fn open(header: &Header<'_>, around: HeaderContext<'_>) -> Opening {
    let last = header.word(header.tokens.len().wrapping_sub(1));
    let named =
        if around.block == BlockKind::Items && around.open == 0 { declared(header, around.group) } else { None };
    let is_type = named.as_ref().is_some_and(|named| named.kind == "type");
    if matches!(last, "interface" | "struct") && !is_type {
        // A type within a signature or statement.
        return Opening { named: None, block: BlockKind::Values, continues: header.word(0) == "func" };
    }
    let block = match last {
        "interface" => BlockKind::Members,
        _ if is_type => BlockKind::Values,
        _ => BlockKind::Statements,
    };
    Opening::of(named, block)
}

fn end(header: &Header<'_>, around: HeaderContext<'_>) -> Ending {
    if around.block == BlockKind::Members {
        let terms = header.terms(false);
        let is_method = matches!(terms.as_slice(), [Term::Word(_), Term::Group(b'(', ..), ..]);
        return word(&terms, 0).filter(|_| is_method).map(|name| name.named("func").prototype()).into();
    }
    if around.block != BlockKind::Items {
        return Ending::Nothing;
    }
    // A function without a body is written in assembly.
    declared(header, around.group).map(|named| if named.kind == "func" { named.prototype() } else { named }).into()
}

fn declared(header: &Header<'_>, group: &str) -> Option<Named> {
    let terms = header.terms(false);
    let name = |kind, at: usize| word(&terms, at).filter(|name| name.text != "_").map(|name| name.named(kind));
    if let Some(kind) = DEFINING_WORDS.value_of(group) {
        return name(kind, 0);
    }
    if text(&terms, 0) != "func" {
        return name(DEFINING_WORDS.value_of(text(&terms, 0))?, 1);
    }
    // `func (c *Cache[K]) load()`
    let Term::Group(b'(', from, to) = *terms.get(1)? else { return name("func", 1) };
    let is_name = |word: &&str| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    let mut receiver = (from..to).filter(|at| header.tokens[*at].depth == 1).map(|at| header.word(at));
    let method = name("func", 2)?;
    Some(Named { name: format!("{}.{}", receiver.rfind(is_name)?, method.name), ..method })
}
