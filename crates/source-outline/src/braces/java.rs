//! Java, C#, Dart and Groovy: types by their keyword, methods by a name before parentheses within a type.

use super::BraceGrammar;
use crate::header::{BlockKind, Ending, Header, HeaderContext, Named, Opening, Term, find, find_word, word};
use crate::lex_rules::{self, WordSet};

pub(crate) static JAVA: BraceGrammar = BraceGrammar::new(&lex_rules::JAVA, open, end);
pub(crate) static CSHARP: BraceGrammar = BraceGrammar::new(&lex_rules::CSHARP, open, end);
pub(crate) static DART: BraceGrammar =
    BraceGrammar { outer_functions: true, ..BraceGrammar::new(&lex_rules::DART, open, end) };

const TYPE_WORDS: WordSet = WordSet("class interface enum record struct namespace mixin extension trait");
const CONTROL_WORDS: WordSet = WordSet(
    "if for foreach while switch catch synchronized using lock fixed return new throw else do try assert await \
     yield case when checked unchecked",
);

fn has_methods(around: HeaderContext<'_>) -> bool {
    around.block == BlockKind::Members || around.outer_functions && around.block == BlockKind::Items
}

fn open(header: &Header<'_>, around: HeaderContext<'_>) -> Opening {
    if around.open > 0 {
        // An anonymous class, or the body of a lambda, as an argument.
        return Opening::of(None, anonymous(header.innermost(around.open)));
    }
    if let Some(named) = type_of(header) {
        let block = if named.kind == "namespace" { BlockKind::Items } else { BlockKind::Members };
        return Opening::of(Some(named), block);
    }
    if has_methods(around) {
        if let Some(named) = method(header, around, true) {
            return Opening::of(Some(named), BlockKind::Statements);
        }
        if let Some(named) = property(header) {
            return Opening::of(Some(named), BlockKind::Values);
        }
        if is_enum_constant(header) {
            return Opening::of(None, BlockKind::Members);
        }
    }
    Opening::of(None, anonymous(*header))
}

fn end(header: &Header<'_>, around: HeaderContext<'_>) -> Ending {
    if let Some(named) = type_of(header) {
        // A record without members, or a namespace of the whole file.
        return if named.kind == "namespace" { Ending::Nothing } else { Ending::Named(named) };
    }
    if !has_methods(around) {
        return Ending::Nothing;
    }
    let terms = header.terms(true);
    if let Some(named) = method(header, around, false) {
        let has_body = terms.contains(&Term::Arrow);
        return Ending::Named(if has_body { named } else { named.prototype() });
    }
    let is_constant = terms.iter().any(|term| matches!(term.text(), "final" | "const"));
    let name = || word(&terms, find(&terms, Term::Sign(b'='))?.checked_sub(1)?);
    name().filter(|_| is_constant).map(|name| name.named("const")).into()
}

/// The block of `new Type(…) {`, which has members, or of anything else.
fn anonymous(header: Header<'_>) -> BlockKind {
    let terms = header.terms(true);
    match (terms.iter().rposition(|term| term.text() == "new"), terms.as_slice()) {
        (Some(at), [.., Term::Group(b'(', ..)])
            if terms[at + 1..terms.len() - 1]
                .iter()
                .all(|term| matches!(term, Term::Word(_) | Term::Group(b'<', ..) | Term::Sign(b'.'))) =>
        {
            BlockKind::Members
        }
        _ => BlockKind::Statements,
    }
}

/// `PLUS("+") {`: a constant with members of its class.
fn is_enum_constant(header: &Header<'_>) -> bool {
    let all = header.terms(true);
    let from = all.iter().rposition(|term| *term == Term::Sign(b',')).map_or(0, |at| at + 1);
    match without_annotations(&all[from..]) {
        [Term::Word(name)] | [Term::Word(name), Term::Group(b'(', ..)] => {
            !CONTROL_WORDS.contains(name.text) && name.text != "static"
        }
        _ => false,
    }
}

fn without_annotations<'t, 'h>(mut terms: &'t [Term<'h>]) -> &'t [Term<'h>] {
    loop {
        terms = match terms {
            [Term::Sign(b'@'), Term::Word(_), Term::Sign(b'.'), Term::Word(_), rest @ ..]
            | [Term::Sign(b'@'), Term::Word(_), rest @ ..]
            // `[Test]`, and the arguments of an annotation.
            | [Term::Group(b'[' | b'(', ..), rest @ ..] => rest,
            _ => return terms,
        };
    }
}

fn type_of(header: &Header<'_>) -> Option<Named> {
    if !(0..header.tokens.len()).any(|at| TYPE_WORDS.contains(header.word(at))) {
        return None;
    }
    let all = header.terms(true);
    let mut terms = without_annotations(&all);
    loop {
        match terms {
            [Term::Word(keyword), Term::Word(name), rest @ ..] if TYPE_WORDS.contains(keyword.text) => {
                // `record` is a name, too; `enum class`, `mixin class`.
                if !TYPE_WORDS.contains(name.text) || !rest.first().is_some_and(Term::is_word) {
                    let kind = TYPE_WORDS.value_of(keyword.text)?;
                    let is_record = matches!(rest.first(), None | Some(Term::Group(..) | Term::Word(_)));
                    let end = if kind == "namespace" { header.tokens.len() } else { name.token + 1 };
                    return (kind != "record" || is_record).then(|| header.named(kind, name.token, end));
                }
                terms = &terms[1..];
                continue;
            }
            // `@interface Name`
            [Term::Word(_) | Term::Group(b'<' | b'[', ..) | Term::Sign(b'.' | b'@'), rest @ ..] => terms = rest,
            _ => return None,
        }
        if !matches!(terms, [Term::Sign(b'@'), word, ..] if TYPE_WORDS.contains(word.text())) {
            terms = without_annotations(terms);
        }
    }
}

fn method(header: &Header<'_>, around: HeaderContext<'_>, has_body: bool) -> Option<Named> {
    let all = header.terms(true);
    let terms = without_annotations(&all);
    let at = terms.iter().position(|term| term.is_group(b'(') || matches!(term, Term::Sign(b'=') | Term::Arrow))?;
    let (Term::Group(_, parameters, _), Some(mut before)) = (terms[at], at.checked_sub(1)) else { return None };
    // `RED, @Deprecated(since = "2") GREEN` of an enum.
    if terms[..at].contains(&Term::Sign(b',')) {
        return None;
    }
    // `T first<T>(…)`
    if terms[before].is_group(b'<') {
        before = before.checked_sub(1)?;
    }
    let Some(name) = word(terms, before) else {
        // `public static Money operator +(…)`
        let first = word(terms, find_word(&terms[..at], "operator")?)?;
        return Some(header.named("fn", first.token, parameters - 1));
    };
    let words: Vec<&str> = terms[..before].iter().filter(|term| term.is_word()).map(Term::text).collect();
    let is_control =
        CONTROL_WORDS.contains(name.text) || words.iter().any(|word| CONTROL_WORDS.contains(word) && *word != "new");
    if is_control || words.contains(&"new") && !words.contains(&"void") {
        return None;
    }
    let owner = around.owner.rsplit('.').next().unwrap_or_default();
    let is_constructor = name.text == owner
        || words.first() == Some(&owner)
        || terms.get(before.wrapping_sub(1)) == Some(&Term::Sign(b'~'));
    // Dart may leave types out.
    let is_asynchronous = terms.get(at + 1).is_some_and(|next| matches!(next.text(), "async" | "sync"));
    let is_untyped = has_body && (around.owner.is_empty() || is_asynchronous);
    (!words.is_empty() || is_constructor || is_untyped).then(|| name.named("fn"))
}

/// `public int Count {`
fn property(header: &Header<'_>) -> Option<Named> {
    let all = header.terms(true);
    let terms = without_annotations(&all);
    let is_plain =
        terms.iter().all(|term| matches!(term, Term::Word(_) | Term::Group(b'<' | b'[', ..) | Term::Sign(b'?' | b'.')));
    let words = terms.iter().filter(|term| term.is_word()).count();
    let name = word(terms, terms.len().checked_sub(1)?)?;
    (is_plain && words >= 2 && !CONTROL_WORDS.contains(name.text)).then(|| name.named("property"))
}
