//! Small questions about the terms of a C declaration.

use super::super::header::{Header, Term};

pub(super) fn word_at<'h>(header: &Header<'h>, terms: &[Term], at: usize) -> &'h str {
    match terms.get(at) {
        Some(Term::Word(word)) => header.word(*word),
        _ => "",
    }
}

/// Without `template <…>`, `[[…]]` and `__extension__` before a declaration.
pub(super) fn without_prefix<'t>(header: &Header<'_>, mut terms: &'t [Term]) -> &'t [Term] {
    loop {
        terms = match terms {
            [Term::Word(word), Term::Group(b'<', ..), rest @ ..] if header.word(*word) == "template" => rest,
            [Term::Word(word), Term::Group(b'(', ..), rest @ ..]
                if matches!(header.word(*word), "requires" | "__attribute__") =>
            {
                rest
            }
            [Term::Word(word), rest @ ..] if matches!(header.word(*word), "export" | "__extension__") => rest,
            [Term::Group(b'[', ..) | Term::Sign(b'@'), rest @ ..] => rest,
            _ => return terms,
        };
    }
}

/// The `=` of a value, outside of parentheses.
pub(super) fn value_at(terms: &[Term]) -> Option<usize> {
    terms.iter().position(|term| *term == Term::Sign(b'='))
}

pub(super) fn colon_after_parameters(terms: &[Term]) -> Option<usize> {
    let group = terms.iter().position(|term| matches!(term, Term::Group(b'(', ..)))?;
    terms[group..].iter().position(|term| *term == Term::Sign(b':')).map(|at| group + at)
}
