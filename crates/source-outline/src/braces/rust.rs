//! Rust.

use crate::{
    header::{Around, BlockKind, Ending, Header, Named, Opening, Term},
    lex_rules,
};

use super::BraceGrammar;

pub(crate) static RUST: BraceGrammar =
    BraceGrammar { lex: &lex_rules::RUST, open, end, newline_ends: false, directives: false, groups: &[], labels: &[] };

const MODIFIERS: &[&str] = &["pub", "async", "unsafe", "extern", "default", "safe", "const", "auto"];

fn open(header: &Header<'_>, around: Around<'_>) -> Opening {
    if header.tokens.last().is_some_and(|_| header.is_sign(header.tokens.len() - 1, b'<')) {
        // `Array<{ N }>`
        return Opening { named: None, block: BlockKind::Values, continues: true };
    }
    // Neither fields nor the rules of a macro define anything.
    if around.block == BlockKind::Values {
        return Opening::of(None, BlockKind::Values);
    }
    match item(header) {
        Some((named, block)) => Opening::of(Some(named), block),
        None if is_transparent(header) => Opening::of(None, around.block),
        None => Opening::of(None, BlockKind::Statements),
    }
}

fn end(header: &Header<'_>, around: Around<'_>) -> Ending {
    if around.block == BlockKind::Values {
        return Ending::Nothing;
    }
    let Some((named, _)) = item(header) else { return Ending::Nothing };
    Ending::Named(if matches!(named.kind, "fn" | "mod") { named.prototype() } else { named })
}

/// `extern "C" {` and macros around definitions, as `cfg_if! {`.
fn is_transparent(header: &Header<'_>) -> bool {
    let last = header.tokens.len().wrapping_sub(1);
    header.is_sign(last, b'!')
        || matches!(header.terms(false).as_slice(), [.., Term::Word(word), Term::Text] if header.word(*word) == "extern")
}

fn item(header: &Header<'_>) -> Option<(Named, BlockKind)> {
    // Most statements begin with none of the words of an item.
    let starts = header.is_sign(0, b'#') || MODIFIERS.contains(&header.word(0)) || keyword(header.word(0)).is_some();
    if !starts {
        return None;
    }
    let terms = header.terms(true);
    let mut at = 0;
    while let (Some(Term::Sign(b'#')), Some(Term::Group(b'[', ..))) = (terms.get(at), terms.get(at + 1)) {
        at += 2;
    }
    let word = |at: usize| match terms.get(at) {
        Some(Term::Word(word)) => header.word(*word),
        _ => "",
    };
    loop {
        let is_modifier = MODIFIERS.contains(&word(at))
            && (word(at) != "const" || MODIFIERS.contains(&word(at + 1)) || word(at + 1) == "fn");
        at += match terms.get(at)? {
            Term::Word(_) if is_modifier => 1,
            // `pub(crate)`, `extern "C"`
            Term::Group(b'(', ..) | Term::Text if at > 0 => 1,
            _ => break,
        };
    }
    let (kind, block) = keyword(word(at))?;
    let Some(Term::Word(keyword)) = terms.get(at) else { return None };
    if kind == "impl" {
        let (from, to) = implementation(header, &terms[at + 1..], *keyword + 1);
        return Some((Named::new(kind, header.joined(from, to), header.line(*keyword)), block));
    }
    at += 1;
    while matches!(word(at), "ref" | "mut") || kind == "macro" && terms.get(at) == Some(&Term::Sign(b'!')) {
        at += 1;
    }
    match terms.get(at)? {
        // `union` and `macro` are names, too.
        Term::Word(name) => Some((Named::new(kind, header.word(*name), header.line(*name)), block)),
        _ => None,
    }
}

/// The tokens of the trait and type, without the generics and bounds.
fn implementation(header: &Header<'_>, rest: &[Term], start: usize) -> (usize, usize) {
    let from = match rest.first() {
        Some(Term::Group(b'<', _, to)) => to + 1,
        _ => start,
    };
    let bounds = rest.iter().find_map(|term| match term {
        Term::Word(word) if header.word(*word) == "where" => Some(*word),
        _ => None,
    });
    (from, bounds.unwrap_or(header.tokens.len()))
}

fn keyword(word: &str) -> Option<(&'static str, BlockKind)> {
    Some(match word {
        "fn" => ("fn", BlockKind::Statements),
        "struct" => ("struct", BlockKind::Values),
        "enum" => ("enum", BlockKind::Values),
        "union" => ("union", BlockKind::Values),
        "trait" => ("trait", BlockKind::Members),
        "impl" => ("impl", BlockKind::Members),
        "mod" => ("mod", BlockKind::Items),
        "type" => ("type", BlockKind::Statements),
        "const" => ("const", BlockKind::Statements),
        "static" => ("static", BlockKind::Statements),
        "macro_rules" | "macro" => ("macro", BlockKind::Values),
        _ => return None,
    })
}
