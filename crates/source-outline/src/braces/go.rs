//! Go.

use crate::{
    header::{Around, BlockKind, Ending, Header, Named, Opening, Term},
    lex_rules,
};

use super::BraceGrammar;

pub(crate) static GO: BraceGrammar = BraceGrammar {
    lex: &lex_rules::GO,
    open,
    end,
    newline_ends: true,
    directives: false,
    groups: &["type", "const", "var"],
    labels: &[],
};

fn open(header: &Header<'_>, around: Around<'_>) -> Opening {
    let last = header.word(header.tokens.len().wrapping_sub(1));
    let begins = header.word(0);
    let named =
        if around.block == BlockKind::Items && around.open == 0 { declared(header, around.group) } else { None };
    let is_type = named.as_ref().is_some_and(|named| named.kind == "type");
    if matches!(last, "interface" | "struct") && !is_type {
        // A type within a signature or statement.
        return Opening { named: None, block: BlockKind::Values, continues: begins == "func" };
    }
    let block = if is_type { BlockKind::Values } else { BlockKind::Statements };
    Opening::of(named, block)
}

fn end(header: &Header<'_>, around: Around<'_>) -> Ending {
    if around.block != BlockKind::Items {
        return Ending::Nothing;
    }
    // A function without a body is written in assembly.
    declared(header, around.group).map(|named| if named.kind == "func" { named.prototype() } else { named }).into()
}

fn declared(header: &Header<'_>, group: &str) -> Option<Named> {
    let terms = header.terms(false);
    let word = |at: usize| match terms.get(at) {
        Some(Term::Word(word)) => header.word(*word),
        _ => "",
    };
    let name = |kind, at: usize| match terms.get(at) {
        Some(Term::Word(name)) if header.word(*name) != "_" => {
            Some(Named::new(kind, header.word(*name), header.line(*name)))
        }
        _ => None,
    };
    match group {
        "type" => return name("type", 0),
        "const" => return name("const", 0),
        "var" => return name("var", 0),
        _ => {}
    }
    match word(0) {
        "func" => match terms.get(1)? {
            Term::Group(b'(', from, to) => {
                // `func (c *Cache[K]) load()`
                let receiver = (*from..*to).filter(|at| header.tokens[*at].depth == 1 && !header.word(*at).is_empty());
                let words: Vec<&str> = receiver.map(|at| header.word(at)).filter(|word| is_name(word)).collect();
                let method = name("func", 2)?;
                let owner = words.last()?;
                Some(Named { name: format!("{owner}.{}", method.name), ..method })
            }
            _ => name("func", 1),
        },
        "type" => name("type", 1),
        "const" => name("const", 1),
        "var" => name("var", 1),
        _ => None,
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}
