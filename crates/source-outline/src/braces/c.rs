//! C, C++ and Objective-C.
//!
//! A function is a name before the first parentheses that are not an attribute, even on the line after its return type;
//! a macro call in capitals that has a body defines what its first argument names (`SYSCALL_DEFINE3(read, …) {`).

mod declared;
mod function;
mod terms;

use declared::{aggregate, last_name, type_definition, variable};
use function::{function_before_value, is_old_style};
use terms::{colon_after_parameters, value_at, without_prefix, word_at};

use crate::{
    header::{Around, BlockKind, Ending, Header, Named, Opening, Term},
    lex_rules,
};

use super::BraceGrammar;

/// C, and headers of either language.
pub(crate) static C: BraceGrammar = BraceGrammar {
    lex: &lex_rules::C,
    open,
    end,
    newline_ends: false,
    directives: true,
    groups: &[],
    labels: &["public", "private", "protected", "signals", "slots"],
};

fn open(header: &Header<'_>, around: Around<'_>) -> Opening {
    if matches!(around.block, BlockKind::Statements | BlockKind::Values) {
        return Opening::of(None, around.block);
    }
    let all = header.terms(true);
    let terms = without_prefix(header, &all);
    let word = |at: usize| word_at(header, terms, at);
    if terms.is_empty() || terms == [Term::Text] || (word(0) == "extern" && terms[1..] == [Term::Text]) {
        return Opening::of(None, around.block);
    }
    let namespace = usize::from(word(0) == "inline");
    if word(namespace) == "namespace" {
        let named = match terms.get(namespace + 1) {
            Some(Term::Word(first)) => {
                let name = header.joined(*first, header.tokens.len());
                Some(Named::new("namespace", name, header.line(*first)))
            }
            _ => None,
        };
        return Opening::of(named, BlockKind::Items);
    }
    if let Some(function) = function_before_value(header, terms, around, true) {
        // `Cache::Cache() : size{1} {`: braces within the list of initial values.
        if let Some(colon) = colon_after_parameters(terms)
            && matches!(terms.last(), Some(Term::Word(_) | Term::Group(b'<', ..)))
            && terms.len() > colon + 1
        {
            return Opening { named: None, block: BlockKind::Values, continues: true };
        }
        return Opening::of(Some(function), BlockKind::Statements);
    }
    if let Some(value) = value_at(terms) {
        let block = if terms.last() == Some(&Term::Sign(b'=')) { BlockKind::Values } else { BlockKind::Statements };
        let named = if around.block == BlockKind::Items { variable(header, &terms[..value]) } else { None };
        return Opening { named, block, continues: false };
    }
    if let Some((kind, name)) = aggregate(header, terms) {
        let block = if kind == "enum" { BlockKind::Values } else { BlockKind::Members };
        let named = name.map(|(name, line)| Named::new(kind, name, line));
        // What follows the braces may be named, too: `typedef struct { … } point;`
        return Opening { named, block, continues: true };
    }
    Opening::of(None, BlockKind::Statements)
}

fn end(header: &Header<'_>, around: Around<'_>) -> Ending {
    if matches!(around.block, BlockKind::Statements | BlockKind::Values) {
        return Ending::Nothing;
    }
    let all = header.terms(true);
    let terms = without_prefix(header, &all);
    let word = |at: usize| word_at(header, terms, at);
    match word(0) {
        "typedef" => return type_definition(header, &terms[1..]).into(),
        "using" => {
            let named = match (terms.get(1), value_at(terms)) {
                (Some(Term::Word(name)), Some(_)) => Some(Named::new("using", header.word(*name), header.line(*name))),
                _ => None,
            };
            return named.into();
        }
        "friend" | "return" | "goto" | "namespace" | "template" => return Ending::Nothing,
        _ => {}
    }
    if is_old_style(header, terms) {
        return Ending::GoesOn;
    }
    if let Some(function) = function_before_value(header, terms, around, false) {
        let is_made = function.kind == "macro";
        return Ending::Named(if is_made { function } else { function.prototype() });
    }
    if let Some(braces) = terms.iter().position(|term| *term == Term::Braces) {
        // `struct point { … } origin;`
        let after = &terms[braces + 1..];
        let named =
            if value_at(after).is_none() && around.block == BlockKind::Items { last_name(header, after) } else { None };
        let is_plain = |name: &&(String, usize)| {
            name.0.contains(|letter: char| letter.is_lowercase()) && !name.0.starts_with("__")
        };
        return named.filter(|name| is_plain(&name)).map(|(name, line)| Named::new("var", name, line)).into();
    }
    if let Some((kind, Some((name, line)))) = aggregate(header, terms)
        && (terms.len() == 2 || terms.contains(&Term::Sign(b':')))
        && value_at(terms).is_none()
    {
        return Ending::Named(Named::new(kind, name, line).prototype());
    }
    if around.block != BlockKind::Items {
        return Ending::Nothing;
    }
    let declared = &terms[..value_at(terms).unwrap_or(terms.len())];
    let named = variable(header, declared);
    let is_extern = word(0) == "extern" && declared.len() == terms.len();
    named.map(|named| if is_extern { named.prototype() } else { named }).into()
}
