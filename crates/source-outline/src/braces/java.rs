//! Java, C#, Dart and Groovy: types by their keyword, methods by a name before parentheses within a type.

use crate::{
    header::{Around, BlockKind, Ending, Header, Named, Opening, Term},
    keyword_grammar::Words,
    lex_rules,
};

use super::BraceGrammar;

pub(crate) static JAVA: BraceGrammar =
    BraceGrammar { lex: &lex_rules::JAVA, open, end, newline_ends: false, directives: false, groups: &[], labels: &[] };
pub(crate) static CSHARP: BraceGrammar = BraceGrammar { lex: &lex_rules::CSHARP, ..JAVA };
/// Functions are not only within types.
pub(crate) static DART: BraceGrammar = BraceGrammar { lex: &lex_rules::DART, open: open_dart, end: end_dart, ..JAVA };

const TYPES: Words = Words("class interface enum record struct namespace mixin extension trait");
const CONTROL: Words = Words(
    "if for foreach while switch catch synchronized using lock fixed return new throw else do try assert await \
     yield case when checked unchecked",
);

fn open(header: &Header<'_>, around: Around<'_>) -> Opening {
    opening(header, around, around.block == BlockKind::Members)
}

fn end(header: &Header<'_>, around: Around<'_>) -> Ending {
    ending(header, around, around.block == BlockKind::Members)
}

fn open_dart(header: &Header<'_>, around: Around<'_>) -> Opening {
    opening(header, around, matches!(around.block, BlockKind::Members | BlockKind::Items))
}

fn end_dart(header: &Header<'_>, around: Around<'_>) -> Ending {
    ending(header, around, matches!(around.block, BlockKind::Members | BlockKind::Items))
}

fn opening(header: &Header<'_>, around: Around<'_>, has_methods: bool) -> Opening {
    if around.open > 0 {
        // An anonymous class, or the body of a lambda, as an argument.
        let block =
            if is_anonymous_class(header.innermost(around.open)) { BlockKind::Members } else { BlockKind::Statements };
        return Opening::of(None, block);
    }
    if let Some((named, block)) = type_of(header) {
        return Opening::of(Some(named), block);
    }
    if has_methods {
        if let Some(named) = method(header, around, true) {
            return Opening::of(Some(named), BlockKind::Statements);
        }
        if let Some(named) = property(header) {
            return Opening { named: Some(named), block: BlockKind::Values, continues: false };
        }
        if is_enum_constant(header) {
            return Opening::of(None, BlockKind::Members);
        }
    }
    if is_anonymous_class(*header) {
        return Opening::of(None, BlockKind::Members);
    }
    Opening::of(None, BlockKind::Statements)
}

fn ending(header: &Header<'_>, around: Around<'_>, has_methods: bool) -> Ending {
    if let Some((named, _)) = type_of(header) {
        // A record without members, or a namespace of the whole file.
        return if named.kind == "namespace" { Ending::Nothing } else { Ending::Named(named) };
    }
    if !has_methods {
        return Ending::Nothing;
    }
    let terms = header.terms(true);
    if let Some(named) = method(header, around, false) {
        let has_body = terms.contains(&Term::Arrow);
        return Ending::Named(if has_body { named } else { named.prototype() });
    }
    let word = |term: &Term| match term {
        Term::Word(word) => header.word(*word),
        _ => "",
    };
    let value = terms.iter().position(|term| *term == Term::Sign(b'='));
    let is_constant = |term: &Term| matches!(word(term), "final" | "const");
    match value.and_then(|at| at.checked_sub(1)).map(|at| terms[at]) {
        Some(Term::Word(name)) if terms.iter().any(is_constant) => {
            Ending::Named(Named::new("const", header.word(name), header.line(name)))
        }
        _ => Ending::Nothing,
    }
}

/// `new Type(…)` at the end.
fn is_anonymous_class(header: Header<'_>) -> bool {
    let terms = header.terms(true);
    let is_new = |term: &Term| matches!(term, Term::Word(word) if header.word(*word) == "new");
    match terms.iter().rposition(is_new) {
        Some(at) => {
            matches!(terms.last(), Some(Term::Group(b'(', ..)))
                && terms[at + 1..terms.len() - 1]
                    .iter()
                    .all(|term| matches!(term, Term::Word(_) | Term::Group(b'<', ..) | Term::Sign(b'.')))
        }
        None => false,
    }
}

/// `PLUS("+") {`: a constant with members of its class.
fn is_enum_constant(header: &Header<'_>) -> bool {
    let all = header.terms(true);
    let from = all.iter().rposition(|term| *term == Term::Sign(b',')).map_or(0, |at| at + 1);
    match without_annotations(&all[from..]) {
        [Term::Word(name)] | [Term::Word(name), Term::Group(b'(', ..)] => {
            !CONTROL.contains(header.word(*name)) && header.word(*name) != "static"
        }
        _ => false,
    }
}

/// Without annotations and attributes.
fn without_annotations(mut terms: &[Term]) -> &[Term] {
    loop {
        let length = match terms {
            [Term::Sign(b'@'), Term::Word(_), Term::Sign(b'.'), Term::Word(_), ..] => 4,
            [Term::Sign(b'@'), Term::Word(_), ..] => 2,
            // `[Test]`, and the arguments of an annotation.
            [Term::Group(b'[' | b'(', ..), ..] => 1,
            _ => return terms,
        };
        terms = &terms[length..];
    }
}

fn type_of(header: &Header<'_>) -> Option<(Named, BlockKind)> {
    let keyword = |word: &str| TYPES.value_of(word);
    if !header.tokens.iter().enumerate().any(|(at, _)| keyword(header.word(at)).is_some()) {
        return None;
    }
    let all = header.terms(true);
    let mut terms = without_annotations(&all);
    loop {
        match terms {
            [Term::Word(word), rest @ ..] => {
                if let Some(kind) = keyword(header.word(*word))
                    && let Some(Term::Word(name)) = rest.first()
                {
                    // `record` is a name, too; `enum class`, `mixin class`.
                    if keyword(header.word(*name)).is_some() && rest.len() > 1 && matches!(rest[1], Term::Word(_)) {
                        terms = rest;
                        continue;
                    }
                    let follows = rest.get(1);
                    let is_record = kind != "record" || matches!(follows, None | Some(Term::Group(..) | Term::Word(_)));
                    if !is_record {
                        return None;
                    }
                    let block = if kind == "namespace" { BlockKind::Items } else { BlockKind::Members };
                    let end = if kind == "namespace" { header.tokens.len() } else { *name + 1 };
                    return Some((Named::new(kind, header.joined(*name, end), header.line(*name)), block));
                }
                terms = rest;
            }
            // `@interface Name`
            [Term::Group(b'<' | b'[', ..) | Term::Sign(b'.' | b'@'), rest @ ..] => terms = rest,
            _ => return None,
        }
        terms = match terms {
            [Term::Sign(b'@'), Term::Word(word), ..] if keyword(header.word(*word)).is_some() => terms,
            _ => without_annotations(terms),
        };
    }
}

/// The method whose parameters come before any `=`.
fn method(header: &Header<'_>, around: Around<'_>, has_body: bool) -> Option<Named> {
    let all = header.terms(true);
    let terms = without_annotations(&all);
    let at = terms.iter().position(|term| matches!(term, Term::Group(b'(', ..) | Term::Sign(b'=') | Term::Arrow))?;
    let (Term::Group(b'(', ..), Some(mut before)) = (terms[at], at.checked_sub(1)) else { return None };
    // `RED, @Deprecated(since = "2") GREEN` of an enum.
    if terms[..at].contains(&Term::Sign(b',')) {
        return None;
    }
    // `T first<T>(…)`
    if matches!(terms[before], Term::Group(b'<', ..)) {
        before = before.checked_sub(1)?;
    }
    let Term::Word(name) = terms[before] else {
        return operator(header, terms, at);
    };
    let word = header.word(name);
    let words: Vec<&str> = terms[..before]
        .iter()
        .filter_map(|term| if let Term::Word(word) = term { Some(header.word(*word)) } else { None })
        .collect();
    if CONTROL.contains(word) || words.iter().any(|word| CONTROL.contains(word) && *word != "new") {
        return None;
    }
    if words.contains(&"new") && !words.contains(&"void") {
        return None;
    }
    let owner = around.owner.rsplit('.').next().unwrap_or_default();
    let is_constructor =
        word == owner || words.first() == Some(&owner) || terms.get(before.wrapping_sub(1)) == Some(&Term::Sign(b'~'));
    // Dart may leave types out.
    let is_untyped = has_body && (around.owner.is_empty() || is_asynchronous(header, &terms[at + 1..]));
    if words.is_empty() && !is_constructor && !is_untyped {
        return None;
    }
    Some(Named::new("fn", word, header.line(name)))
}

fn is_asynchronous(header: &Header<'_>, rest: &[Term]) -> bool {
    matches!(rest, [Term::Word(word), ..] if matches!(header.word(*word), "async" | "sync"))
}

/// `public static Money operator +(…)`
fn operator(header: &Header<'_>, terms: &[Term], at: usize) -> Option<Named> {
    let is_operator = |term: &Term| matches!(term, Term::Word(word) if header.word(*word) == "operator");
    let place = terms[..at].iter().position(is_operator)?;
    let (Term::Word(first), Term::Group(_, parameters, _)) = (terms[place], terms[at]) else { return None };
    Some(Named::new("fn", header.joined(first, parameters - 1), header.line(first)))
}

/// `public int Count {`
fn property(header: &Header<'_>) -> Option<Named> {
    let all = header.terms(true);
    let terms = without_annotations(&all);
    let is_plain =
        terms.iter().all(|term| matches!(term, Term::Word(_) | Term::Group(b'<' | b'[', ..) | Term::Sign(b'?' | b'.')));
    let words = terms.iter().filter(|term| matches!(term, Term::Word(_))).count();
    match terms.last() {
        Some(Term::Word(name)) if is_plain && words >= 2 && !CONTROL.contains(header.word(*name)) => {
            Some(Named::new("property", header.word(*name), header.line(*name)))
        }
        _ => None,
    }
}
