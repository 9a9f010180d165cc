//! JavaScript and TypeScript.

use crate::{
    header::{Around, BlockKind, Ending, Header, Named, Opening, Term},
    keyword_grammar::Words,
    lex_rules,
};

use super::BraceGrammar;

pub(crate) static JAVASCRIPT: BraceGrammar = BraceGrammar {
    lex: &lex_rules::JAVASCRIPT,
    open,
    end,
    newline_ends: true,
    directives: false,
    groups: &[],
    labels: &[],
};

/// Words before parentheses that name no method, though others of the language may.
const CONTROL: Words = Words("if for while switch function await typeof super");
const MODIFIERS: Words =
    Words("async static get set public private protected override readonly abstract declare accessor export default");
const TYPES: &[(&str, &str, BlockKind)] = &[
    ("class", "class", BlockKind::Members),
    ("interface", "interface", BlockKind::Members),
    ("enum", "enum", BlockKind::Values),
    ("namespace", "namespace", BlockKind::Items),
    ("module", "module", BlockKind::Items),
    ("type", "type", BlockKind::Values),
];

fn open(header: &Header<'_>, around: Around<'_>) -> Opening {
    let inner = header.innermost(around.open);
    let terms = inner.terms(true);
    let word = |at: usize| word_at(&inner, &terms, at);
    if let Some((named, block)) = type_of(&inner, &terms) {
        return Opening::of(named, block);
    }
    let last = terms.last().copied();
    let is_function = terms.iter().any(|term| matches!(term, Term::Word(at) if inner.word(*at) == "function"));
    let is_method = matches!(around.block, BlockKind::Members | BlockKind::Properties) && around.open == 0;
    let method = if is_method { method(&inner, &terms) } else { None };
    if is_function || method.is_some() {
        // `): { a: string } {`
        if matches!(last, Some(Term::Sign(b':' | b'|' | b'&' | b'<' | b',' | b'=' | b'('))) {
            return Opening { named: None, block: BlockKind::Values, continues: true };
        }
        let named = if is_function { function(&inner, &terms) } else { method };
        return Opening::of(named, BlockKind::Statements);
    }
    if last == Some(Term::Arrow) {
        return Opening::of(assigned(&inner, &terms, around), BlockKind::Statements);
    }
    // `const load = async (id: number): Promise<{`
    let is_arrow_type = around.open == 0
        && matches!(last, Some(Term::Sign(b':' | b'|' | b'&' | b'<')))
        && around.block != BlockKind::Properties;
    if is_arrow_type {
        return Opening { named: None, block: BlockKind::Values, continues: true };
    }
    let is_value = match last {
        Some(Term::Sign(b'=' | b'(' | b'[' | b',' | b':' | b'?') | Term::Operator) => true,
        Some(Term::Word(at)) => {
            matches!(inner.word(at), "return" | "default" | "const" | "let" | "var" | "import" | "export")
        }
        _ => around.open > 0,
    };
    if is_value {
        let named = if last == Some(Term::Sign(b'=')) && around.block == BlockKind::Items && around.open == 0 {
            constant(&inner, &terms)
        } else {
            None
        };
        let continues = matches!(word(terms.len().wrapping_sub(1)), "const" | "let" | "var" | "import" | "export");
        return Opening { named, block: BlockKind::Properties, continues };
    }
    Opening::of(
        None,
        if around.block == BlockKind::Items && terms.is_empty() { BlockKind::Items } else { BlockKind::Statements },
    )
}

fn end(header: &Header<'_>, around: Around<'_>) -> Ending {
    if around.open > 0 || around.block == BlockKind::Values {
        return Ending::Nothing;
    }
    let is_statement = around.block == BlockKind::Statements;
    // In statements only functions count.
    if is_statement && !matches!(header.word(0), "const" | "let" | "var" | "type") {
        return Ending::Nothing;
    }
    let terms = header.terms(true);
    let is_function = terms.iter().any(|term| matches!(term, Term::Word(at) if header.word(*at) == "function"));
    if !terms.contains(&Term::Braces)
        && let Some((Some(named), _)) = type_of(header, &terms)
    {
        return Ending::Named(named);
    }
    if word_at(header, without_modifiers(header, &terms), 0) == "type" {
        return type_of(header, &terms).and_then(|(named, _)| named).into();
    }
    if terms.contains(&Term::Arrow) && terms.contains(&Term::Sign(b'='))
        || terms.contains(&Term::Arrow) && around.block == BlockKind::Properties
    {
        return assigned(header, &terms, around).into();
    }
    if is_statement {
        return Ending::Nothing;
    }
    if is_function && !terms.contains(&Term::Sign(b'=')) && !terms.contains(&Term::Braces) {
        return function(header, &terms).map(Named::prototype).into();
    }
    match around.block {
        BlockKind::Members => method(header, &terms).map(Named::prototype).into(),
        BlockKind::Items if terms.contains(&Term::Sign(b'=')) => constant(header, &terms).into(),
        _ => Ending::Nothing,
    }
}

fn word_at<'h>(header: &Header<'h>, terms: &[Term], at: usize) -> &'h str {
    match terms.get(at) {
        Some(Term::Word(word)) => header.word(*word),
        _ => "",
    }
}

fn without_modifiers<'t>(header: &Header<'_>, mut terms: &'t [Term]) -> &'t [Term] {
    loop {
        terms = match terms {
            // A modifier that is followed by parentheses or a value is a name.
            [
                Term::Word(word),
                next @ (Term::Word(_) | Term::Sign(b'*' | b'#' | b'[') | Term::Text | Term::Group(b'[', ..)),
                ..,
            ] if MODIFIERS.contains(header.word(*word)) && *next != Term::Sign(b'=') => &terms[1..],
            [Term::Sign(b'@'), Term::Word(_), Term::Sign(b'.'), Term::Word(_), rest @ ..]
            | [Term::Sign(b'@'), Term::Word(_), rest @ ..]
            | [Term::Sign(b'*' | b'#'), rest @ ..] => match rest {
                // The arguments of a decorator.
                [Term::Group(b'(', ..), rest @ ..] if terms[0] == Term::Sign(b'@') => rest,
                _ => rest,
            },
            _ => return terms,
        };
    }
}

/// A class, interface, enum or the like; without a name where it is an expression.
fn type_of(header: &Header<'_>, terms: &[Term]) -> Option<(Option<Named>, BlockKind)> {
    let terms = without_modifiers(header, terms);
    let first = match word_at(header, terms, 0) {
        // `const enum`
        "const" if word_at(header, terms, 1) == "enum" => 1,
        _ => 0,
    };
    let keyword = |at: usize| TYPES.iter().find(|(keyword, ..)| *keyword == word_at(header, terms, at));
    if let Some((_, kind, block)) = keyword(first) {
        if *kind == "module" && matches!(terms.get(first + 1), Some(Term::Text)) {
            return Some((None, *block));
        }
        return match terms.get(first + 1) {
            Some(Term::Word(name)) if header.word(*name) != "extends" => {
                let named = Named::new(kind, header.word(*name), header.line(*name));
                Some((Some(named), *block))
            }
            None | Some(Term::Word(_)) if *kind == "class" => Some((None, *block)),
            _ => None,
        };
    }
    if word_at(header, terms, first) == "global" && terms.len() == first + 1 {
        return Some((None, BlockKind::Items));
    }
    // `const Cache = class {`, `return class extends Base {`
    let at = terms.iter().position(|term| matches!(term, Term::Word(word) if header.word(*word) == "class"))?;
    let before = terms.get(at.checked_sub(1)?)?;
    let is_expression = matches!(before, Term::Sign(b'=' | b'(' | b',' | b':') | Term::Arrow | Term::Operator)
        || matches!(before, Term::Word(word) if header.word(*word) == "return");
    is_expression
        .then(|| (left_side(header, &terms[..at]).map(|named| Named { kind: "class", ..named }), BlockKind::Members))
}

/// The function that the header begins, by its own name or what it is assigned to.
fn function(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let at = terms.iter().position(|term| matches!(term, Term::Word(word) if header.word(*word) == "function"))?;
    let star = usize::from(terms.get(at + 1) == Some(&Term::Sign(b'*')));
    match terms.get(at + 1 + star) {
        Some(Term::Word(name)) => Some(Named::new("function", header.word(*name), header.line(*name))),
        _ => left_side(header, &terms[..at]).map(|named| Named { kind: "function", ..named }),
    }
}

/// What an arrow function is assigned to.
fn assigned(header: &Header<'_>, terms: &[Term], around: Around<'_>) -> Option<Named> {
    if around.open > 0 {
        return None;
    }
    let arrow = terms.iter().position(|term| *term == Term::Arrow)?;
    let equals = terms[..arrow].iter().position(|term| *term == Term::Sign(b'='));
    let end = match equals {
        // `const load: (id: number) => void = (id) => {`
        None => match terms[arrow..].iter().position(|term| *term == Term::Sign(b'=')) {
            Some(at) => arrow + at,
            None => {
                return if around.block == BlockKind::Properties { left_side(header, &terms[..arrow]) } else { None };
            }
        },
        Some(at) => at,
    };
    // What follows is the function, not a call that takes one.
    let is_function = terms[end + 1..].iter().all(|term| !matches!(term, Term::Sign(b'.') | Term::Operator))
        || terms.get(end + 1) != terms.last();
    if !is_function {
        return None;
    }
    left_side(header, &terms[..=end])
}

/// The name before `=` or `:`: of a variable, a property or a member of an object.
fn left_side(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let end = terms.iter().position(|term| matches!(term, Term::Sign(b'=')));
    let end = end.or_else(|| terms.iter().position(|term| *term == Term::Sign(b':')))?;
    let before = &terms[..end];
    let colon = before.iter().position(|term| matches!(term, Term::Sign(b':')));
    let before = &before[..colon.unwrap_or(end)];
    let before = if before.last() == Some(&Term::Sign(b'?')) || before.last() == Some(&Term::Sign(b'!')) {
        &before[..before.len() - 1]
    } else {
        before
    };
    let Some(Term::Word(name)) = before.last() else { return None };
    let kind = match word_at(header, without_modifiers(header, before), 0) {
        "const" => "const",
        "let" => "let",
        "var" => "var",
        _ => "fn",
    };
    Some(Named::new(kind, header.word(*name), header.line(*name)))
}

/// `async load(id) {`
fn method(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let terms = without_modifiers(header, terms);
    let rest = match terms {
        [Term::Word(_), Term::Sign(b'?' | b'!'), rest @ ..] | [Term::Word(_), rest @ ..] => rest,
        [Term::Group(b'[', from, to), Term::Group(b'(', ..), ..] => {
            return Some(Named::new("fn", format!("[{}]", header.joined(*from, *to)), header.line(*from)));
        }
        _ => return None,
    };
    let rest = match rest {
        [Term::Group(b'<', ..), rest @ ..] => rest,
        _ => rest,
    };
    let Some(Term::Group(b'(', ..)) = rest.first() else { return None };
    let Term::Word(name) = terms[0] else { return None };
    let is_type = rest.len() == 1 || matches!(rest[1], Term::Sign(b':'));
    (is_type && !CONTROL.contains(header.word(name))).then(|| Named::new("fn", header.word(name), header.line(name)))
}

/// A value at the top of a file; what only brings in another module is none.
fn constant(header: &Header<'_>, terms: &[Term]) -> Option<Named> {
    let inner = without_modifiers(header, terms);
    if !matches!(word_at(header, inner, 0), "const" | "let" | "var") {
        return None;
    }
    let value = inner.iter().position(|term| *term == Term::Sign(b'='))?;
    let imports = matches!(word_at(header, inner, value + 1), "require" | "import")
        || word_at(header, inner, value + 1) == "await" && word_at(header, inner, value + 2) == "import";
    if imports { None } else { left_side(header, inner) }
}
