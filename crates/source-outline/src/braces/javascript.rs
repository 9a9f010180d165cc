//! JavaScript and TypeScript.

use super::BraceGrammar;
use crate::header::{BlockKind, Ending, Header, HeaderContext, Named, Opening, Term, find, find_word, text, word};
use crate::lex_rules::{self, WordSet};

pub(crate) static JAVASCRIPT: BraceGrammar =
    BraceGrammar { newline_ends: true, ..BraceGrammar::new(&lex_rules::JAVASCRIPT, open, end) };

/// Words before parentheses that name no method, though others of the language may.
const CONTROL_WORDS: WordSet = WordSet("if for while switch function await typeof super");
const MODIFIER_WORDS: WordSet =
    WordSet("async static get set public private protected override readonly abstract declare accessor export default");
const TYPE_WORDS: WordSet = WordSet("class interface enum namespace module type");
const VARIABLE_WORDS: WordSet = WordSet("const let var");

fn open(header: &Header<'_>, around: HeaderContext<'_>) -> Opening {
    let inner = header.innermost(around.open);
    let terms = inner.terms(true);
    if let Some((named, block)) = type_of(&terms) {
        return Opening::of(named, block);
    }
    let continued = Opening { named: None, block: BlockKind::Values, continues: true };
    let last = terms.last().copied();
    let is_function = find_word(&terms, "function").is_some();
    let is_method = matches!(around.block, BlockKind::Members | BlockKind::Properties) && around.open == 0;
    let method = if is_method { method(&inner, &terms) } else { None };
    if is_function || method.is_some() {
        // `): { a: string } {`
        if matches!(last, Some(Term::Sign(b':' | b'|' | b'&' | b'<' | b',' | b'=' | b'('))) {
            return continued;
        }
        return Opening::of(if is_function { function(&terms) } else { method }, BlockKind::Statements);
    }
    if last == Some(Term::Arrow) {
        return Opening::of(assigned(&terms, around), BlockKind::Statements);
    }
    // `const load = async (id: number): Promise<{`
    let is_arrow_type = around.open == 0
        && matches!(last, Some(Term::Sign(b':' | b'|' | b'&' | b'<')))
        && around.block != BlockKind::Properties;
    if is_arrow_type {
        return continued;
    }
    let is_declared = last.is_some_and(|last| WordSet("const let var import export").contains(last.text()));
    let is_value = match last {
        Some(Term::Sign(b'=' | b'(' | b'[' | b',' | b':' | b'?') | Term::Operator) => true,
        Some(Term::Word(word)) => is_declared || matches!(word.text, "return" | "default"),
        _ => around.open > 0,
    };
    if is_value {
        let is_outer = last == Some(Term::Sign(b'=')) && around.block == BlockKind::Items && around.open == 0;
        let named = if is_outer { constant(&terms) } else { None };
        return Opening { named, block: BlockKind::Properties, continues: is_declared };
    }
    let is_outer = around.block == BlockKind::Items && terms.is_empty();
    Opening::of(None, if is_outer { BlockKind::Items } else { BlockKind::Statements })
}

fn end(header: &Header<'_>, around: HeaderContext<'_>) -> Ending {
    if around.open > 0 || around.block == BlockKind::Values {
        return Ending::Nothing;
    }
    let is_statement = around.block == BlockKind::Statements;
    // In statements only functions count.
    if is_statement && !VARIABLE_WORDS.contains(header.word(0)) && header.word(0) != "type" {
        return Ending::Nothing;
    }
    let terms = header.terms(true);
    let (has_arrow, has_value) = (terms.contains(&Term::Arrow), terms.contains(&Term::Sign(b'=')));
    let has_braces = terms.contains(&Term::Braces);
    if !has_braces && let Some((Some(named), _)) = type_of(&terms) {
        return Ending::Named(named);
    }
    if text(without_modifiers(&terms), 0) == "type" {
        return type_of(&terms).and_then(|(named, _)| named).into();
    }
    if has_arrow && (has_value || around.block == BlockKind::Properties) {
        return assigned(&terms, around).into();
    }
    if is_statement {
        return Ending::Nothing;
    }
    if !has_value && !has_braces && find_word(&terms, "function").is_some() {
        return function(&terms).map(Named::prototype).into();
    }
    match around.block {
        BlockKind::Members => method(header, &terms).map(Named::prototype).into(),
        BlockKind::Items if has_value => constant(&terms).into(),
        _ => Ending::Nothing,
    }
}

fn without_modifiers<'t, 'h>(mut terms: &'t [Term<'h>]) -> &'t [Term<'h>] {
    loop {
        terms = match terms {
            // A modifier that is followed by parentheses or a value is a name.
            [
                Term::Word(word),
                Term::Word(_) | Term::Sign(b'*' | b'#' | b'[') | Term::Text | Term::Group(b'[', ..),
                ..,
            ] if MODIFIER_WORDS.contains(word.text) => &terms[1..],
            // The arguments of a decorator go with it.
            [Term::Sign(b'@'), Term::Word(_), Term::Sign(b'.'), Term::Word(_), Term::Group(b'(', ..), rest @ ..]
            | [Term::Sign(b'@'), Term::Word(_), Term::Sign(b'.'), Term::Word(_), rest @ ..]
            | [Term::Sign(b'@'), Term::Word(_), Term::Group(b'(', ..), rest @ ..]
            | [Term::Sign(b'@'), Term::Word(_), rest @ ..]
            | [Term::Sign(b'*' | b'#'), rest @ ..] => rest,
            _ => return terms,
        };
    }
}

/// A class, interface, enum or the like; without a name where it is an expression.
fn type_of(terms: &[Term<'_>]) -> Option<(Option<Named>, BlockKind)> {
    let terms = without_modifiers(terms);
    // `const enum`
    let first = usize::from(text(terms, 0) == "const" && text(terms, 1) == "enum");
    if let Some(kind) = TYPE_WORDS.value_of(text(terms, first)) {
        let block = match kind {
            "class" | "interface" => BlockKind::Members,
            "namespace" | "module" => BlockKind::Items,
            _ => BlockKind::Values,
        };
        return match terms.get(first + 1) {
            Some(Term::Text) if kind == "module" => Some((None, block)),
            Some(Term::Word(name)) if name.text != "extends" => Some((Some(name.named(kind)), block)),
            None | Some(Term::Word(_)) if kind == "class" => Some((None, block)),
            _ => None,
        };
    }
    if text(terms, first) == "global" && terms.len() == first + 1 {
        return Some((None, BlockKind::Items));
    }
    // `const Cache = class {`, `return class extends Base {`
    let at = find_word(terms, "class")?;
    let before = terms.get(at.checked_sub(1)?)?;
    let is_expression = matches!(before, Term::Sign(b'=' | b'(' | b',' | b':') | Term::Arrow | Term::Operator)
        || before.text() == "return";
    let named = left_side(&terms[..at]).map(|named| Named { kind: "class", ..named });
    is_expression.then_some((named, BlockKind::Members))
}

/// The function that the header begins, by its own name or what it is assigned to.
fn function(terms: &[Term<'_>]) -> Option<Named> {
    let at = find_word(terms, "function")?;
    let star = usize::from(terms.get(at + 1) == Some(&Term::Sign(b'*')));
    match word(terms, at + 1 + star) {
        Some(name) => Some(name.named("function")),
        None => left_side(&terms[..at]).map(|named| Named { kind: "function", ..named }),
    }
}

fn assigned(terms: &[Term<'_>], around: HeaderContext<'_>) -> Option<Named> {
    if around.open > 0 {
        return None;
    }
    let arrow = find(terms, Term::Arrow)?;
    // The first one, also in `const load: (id: number) => void = (id) => {`.
    let Some(end) = find(terms, Term::Sign(b'=')) else {
        return if around.block == BlockKind::Properties { left_side(&terms[..arrow]) } else { None };
    };
    // What follows is the function, not a call that takes one.
    let is_function = terms[end + 1..].iter().all(|term| !matches!(term, Term::Sign(b'.') | Term::Operator))
        || terms.get(end + 1) != terms.last();
    if is_function { left_side(&terms[..=end]) } else { None }
}

/// The name before `=` or `:`: of a variable, a property or a member of an object.
fn left_side(terms: &[Term<'_>]) -> Option<Named> {
    let (equals, colon) = (find(terms, Term::Sign(b'=')), find(terms, Term::Sign(b':')));
    let end = equals.or(colon)?;
    let before = &terms[..colon.map_or(end, |colon| colon.min(end))];
    let before = if let [name @ .., Term::Sign(b'?' | b'!')] = before { name } else { before };
    let name = word(before, before.len().checked_sub(1)?)?;
    Some(name.named(VARIABLE_WORDS.value_of(text(without_modifiers(before), 0)).unwrap_or("fn")))
}

/// A method by its name before parentheses, as in `async load(id) {`.
fn method(header: &Header<'_>, terms: &[Term<'_>]) -> Option<Named> {
    let (name, rest) = match without_modifiers(terms) {
        [Term::Word(name), Term::Sign(b'?' | b'!'), rest @ ..] | [Term::Word(name), rest @ ..] => (name, rest),
        [Term::Group(b'[', from, to), Term::Group(b'(', ..), ..] => {
            let named = header.named("fn", *from, *to);
            return Some(Named { name: format!("[{}]", named.name), ..named });
        }
        _ => return None,
    };
    let ([Term::Group(b'<', ..), Term::Group(b'(', ..), rest @ ..] | [Term::Group(b'(', ..), rest @ ..]) = rest else {
        return None;
    };
    let is_type = matches!(rest, [] | [Term::Sign(b':'), ..]);
    (is_type && !CONTROL_WORDS.contains(name.text)).then(|| name.named("fn"))
}

/// A value at the top of a file; what only brings in another module is none.
fn constant(terms: &[Term<'_>]) -> Option<Named> {
    let inner = without_modifiers(terms);
    let value = find(inner, Term::Sign(b'=')).filter(|_| VARIABLE_WORDS.contains(text(inner, 0)))?;
    let (first, second) = (text(inner, value + 1), text(inner, value + 2));
    let imports = matches!(first, "require" | "import") || first == "await" && second == "import";
    if imports { None } else { left_side(inner) }
}
