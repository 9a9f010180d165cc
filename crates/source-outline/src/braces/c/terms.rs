//! Small questions about the terms of a C or C++ declaration, and the words that say what it is.

use crate::{
    header::{Header, Term},
    keyword_grammar::Words,
};

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

/// Words before a name in parentheses that make it no definition.
pub(super) const CONTROL: Words = Words(
    "if while for switch return sizeof else do case catch goto new delete throw static_assert _Static_assert \
     defined co_await co_return",
);
/// Words whose parentheses say something about a declaration and name nothing.
pub(super) const ATTRIBUTES: Words = Words(
    "__attribute__ __attribute __declspec alignas _Alignas __aligned __asm__ __asm asm noexcept throw decltype \
     requires explicit typeof __typeof__ _Pragma __pragma alignof __section __printf __scanf __alloc_size \
     __must_hold __acquires __releases __counted_by",
);
/// Words that are not types.
pub(super) const STORAGE: Words = Words(
    "static extern inline virtual constexpr consteval constinit friend typedef register thread_local _Thread_local \
     __inline __inline__ __always_inline noinline __extension__ export mutable explicit _Noreturn volatile __init \
     __exit asmlinkage __visible notrace",
);
