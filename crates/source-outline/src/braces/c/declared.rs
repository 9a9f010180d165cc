//! The names of C and C++ types and variables.

use crate::header::{Header, Named, Term};

use super::terms::{ATTRIBUTES, STORAGE, word_at};

const AGGREGATES: &[(&str, &str)] = &[("struct", "struct"), ("union", "union"), ("enum", "enum"), ("class", "class")];

/// `struct name`, where that is defined and no type of a variable or function.
pub(super) fn aggregate(header: &Header<'_>, terms: &[Term]) -> Option<(&'static str, Option<(String, usize)>)> {
    let at = terms.iter().position(|term| match term {
        Term::Word(word) => AGGREGATES.iter().any(|(keyword, _)| *keyword == header.word(*word)),
        _ => false,
    })?;
    let is_storage = |term: &Term| matches!(term, Term::Word(word) if STORAGE.contains(header.word(*word)));
    if !terms[..at].iter().all(is_storage) {
        return None;
    }
    let Term::Word(keyword) = terms[at] else { return None };
    let kind = AGGREGATES.iter().find(|(word, _)| *word == header.word(keyword))?.1;
    let rest = &terms[at + 1..];
    // Up to the types it derives from.
    let end = rest.iter().position(|term| matches!(term, Term::Sign(b':') | Term::Braces)).unwrap_or(rest.len());
    let mut name = None;
    for (at, term) in rest[..end].iter().enumerate() {
        match term {
            Term::Word(word) => {
                let text = header.word(*word);
                let is_attribute = matches!(rest.get(at + 1), Some(Term::Group(b'(', ..))) || ATTRIBUTES.contains(text);
                let is_late = name.is_some() && (text.starts_with("__") || text == "final" || text == "sealed");
                if !is_attribute && !is_late && !matches!(text, "class" | "struct") {
                    name = Some((text.to_owned(), header.line(*word)));
                }
            }
            Term::Sign(b'*' | b'&') => return None,
            _ => {}
        }
    }
    Some((kind, name))
}

/// The name that `typedef …` ends with.
pub(super) fn type_definition(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let pointer = terms.iter().find_map(|term| match term {
        Term::Group(b'(', from, to) if header.is_sign(*from, b'*') || header.is_sign(*from + 1, b'*') => (*from..*to)
            .rfind(|at| header.word(*at).starts_with(|letter: char| letter.is_alphabetic() || letter == '_')),
        _ => None,
    });
    let parameters = terms.iter().rposition(|term| matches!(term, Term::Group(b'(', ..)));
    let called = parameters.and_then(|at| at.checked_sub(1)).and_then(|at| match terms[at] {
        Term::Word(word) if !ATTRIBUTES.contains(header.word(word)) => Some(word),
        // `typedef int (compare)(int, int);`
        Term::Group(b'(', from, to) if to == from + 1 => Some(from),
        _ => None,
    });
    let (name, line) = match pointer.or(called) {
        Some(at) => (header.word(at).to_owned(), header.line(at)),
        None => last_name(header, terms)?,
    };
    Some(Named::new("typedef", name, line))
}

/// The last word that is not an attribute, before parentheses, brackets, a comma or a width.
pub(super) fn last_name(header: &Header<'_>, terms: &[Term]) -> Option<(String, usize)> {
    let mut name = None;
    for (at, term) in terms.iter().enumerate() {
        match term {
            Term::Word(word) => {
                let is_attribute =
                    ATTRIBUTES.contains(header.word(*word)) || header.word(*word).starts_with("__") && name.is_some();
                if !is_attribute {
                    name = Some((header.word(*word).to_owned(), header.line(*word)));
                }
            }
            Term::Sign(b',' | b':') if name.is_some() => break,
            Term::Group(b'[', ..) if name.is_some() && at > 0 => break,
            _ => {}
        }
    }
    name
}

/// The variable that these words declare: two words at least, and nothing but a type before the name.
pub(super) fn variable(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let end = terms.iter().position(|term| *term == Term::Sign(b',')).unwrap_or(terms.len());
    let terms = &terms[..end];
    let words = terms.iter().filter(|term| matches!(term, Term::Word(_))).count();
    let pointer = terms.iter().find_map(|term| match term {
        Term::Group(b'(', from, to) if header.is_sign(*from, b'*') => Some((*from + 1, *to)),
        _ => None,
    });
    if let Some((from, to)) = pointer {
        return (from < to).then(|| Named::new("var", header.word(from), header.line(from)));
    }
    if words < 2 || matches!(word_at(header, terms, 0), "return" | "using" | "goto" | "case") {
        return None;
    }
    let (name, line) = last_name(header, terms)?;
    Some(Named::new("var", name, line))
}
