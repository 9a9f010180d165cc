//! C, C++ and Objective-C.
//!
//! A function is a name before the first parentheses that are not an attribute, even on the line after its return type;
//! a macro call in capitals that has a body defines what its first argument names (`SYSCALL_DEFINE3(read, …) {`).

use std::ops::ControlFlow;

use super::BraceGrammar;
use crate::header::{
    BlockKind, Ending, Header, HeaderContext, Named, Opening, Term, Word, find, find_word, text, word,
};
use crate::lex_rules::{self, WordSet};

pub(crate) static C: BraceGrammar = BraceGrammar {
    directives: true,
    labels: WordSet("public private protected signals slots"),
    ..BraceGrammar::new(&lex_rules::C, open, end)
};

/// Words whose parentheses say something about a declaration and name nothing.
const ATTRIBUTE_WORDS: WordSet = WordSet(
    "__attribute__ __attribute __declspec alignas _Alignas __aligned __asm__ __asm asm noexcept throw decltype \
     requires explicit typeof __typeof__ _Pragma __pragma alignof __section __printf __scanf __alloc_size \
     __must_hold __acquires __releases __counted_by",
);
const STORAGE_WORDS: WordSet = WordSet(
    "static extern inline virtual constexpr consteval constinit friend typedef register thread_local _Thread_local \
     __inline __inline__ __always_inline noinline __extension__ export mutable explicit _Noreturn volatile __init \
     __exit asmlinkage __visible notrace",
);

fn open(header: &Header<'_>, around: HeaderContext<'_>) -> Opening {
    if matches!(around.block, BlockKind::Statements | BlockKind::Values) {
        return Opening::of(None, around.block);
    }
    let all = header.terms(true);
    let terms = without_prefix(&all);
    if terms.is_empty() || terms == [Term::Text] || (text(terms, 0) == "extern" && terms[1..] == [Term::Text]) {
        return Opening::of(None, around.block);
    }
    let namespace = usize::from(text(terms, 0) == "inline");
    if text(terms, namespace) == "namespace" {
        let name = word(terms, namespace + 1);
        let named = name.map(|name| header.named("namespace", name.token, header.tokens.len()));
        return Opening::of(named, BlockKind::Items);
    }
    if let Some(function) = function_before_value(header, terms, around, true) {
        // `Cache::Cache() : size{1} {`: braces within the list of initial values.
        let parameters = terms.iter().position(|term| term.is_group(b'('));
        if let Some(colon) = parameters.and_then(|at| Some(at + find(&terms[at..], Term::Sign(b':'))?))
            && terms.last().is_some_and(|last| last.is_word() || last.is_group(b'<'))
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
    if let Some((kind, name)) = aggregate(terms) {
        let block = if kind == "enum" { BlockKind::Values } else { BlockKind::Members };
        // What follows the braces may be named, too: `typedef struct { … } point;`
        return Opening { named: name.map(|name| name.named(kind)), block, continues: true };
    }
    Opening::of(None, BlockKind::Statements)
}

fn end(header: &Header<'_>, around: HeaderContext<'_>) -> Ending {
    if matches!(around.block, BlockKind::Statements | BlockKind::Values) {
        return Ending::Nothing;
    }
    let all = header.terms(true);
    let terms = without_prefix(&all);
    match text(terms, 0) {
        "typedef" => return type_definition(header, &terms[1..]).into(),
        "using" => return word(terms, 1).filter(|_| value_at(terms).is_some()).map(|name| name.named("using")).into(),
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
    if let Some(braces) = find(terms, Term::Braces) {
        // `struct point { … } origin;`
        let after = &terms[braces + 1..];
        let name = last_name(after).filter(|_| value_at(after).is_none() && around.block == BlockKind::Items);
        let is_plain =
            |name: &Word<'_>| name.text.contains(|letter: char| letter.is_lowercase()) && !name.text.starts_with("__");
        return name.filter(is_plain).map(|name| name.named("var")).into();
    }
    if let Some((kind, Some(name))) = aggregate(terms)
        && (terms.len() == 2 || terms.contains(&Term::Sign(b':')))
        && value_at(terms).is_none()
    {
        return Ending::Named(name.named(kind).prototype());
    }
    if around.block != BlockKind::Items {
        return Ending::Nothing;
    }
    let declared = &terms[..value_at(terms).unwrap_or(terms.len())];
    let named = variable(header, declared);
    let is_extern = text(terms, 0) == "extern" && declared.len() == terms.len();
    named.map(|named| if is_extern { named.prototype() } else { named }).into()
}

/// The terms without `template <…>`, `[[…]]` and `__extension__` before a declaration.
fn without_prefix<'t, 'h>(mut terms: &'t [Term<'h>]) -> &'t [Term<'h>] {
    loop {
        terms = match (text(terms, 0), terms) {
            ("template", [_, Term::Group(b'<', ..), rest @ ..])
            | ("requires" | "__attribute__", [_, Term::Group(b'(', ..), rest @ ..])
            | ("export" | "__extension__", [_, rest @ ..])
            | (_, [Term::Group(b'[', ..) | Term::Sign(b'@'), rest @ ..]) => rest,
            _ => return terms,
        };
    }
}

fn value_at(terms: &[Term<'_>]) -> Option<usize> {
    find(terms, Term::Sign(b'='))
}

/// The keyword and name of `struct name`, where that is defined and no type of a variable or function.
fn aggregate<'h>(terms: &[Term<'h>]) -> Option<(&'static str, Option<Word<'h>>)> {
    let kind_of = |term: &Term<'_>| WordSet("struct union enum class").value_of(term.text());
    let at = terms.iter().position(|term| kind_of(term).is_some())?;
    if !terms[..at].iter().all(|term| STORAGE_WORDS.contains(term.text())) {
        return None;
    }
    let kind = kind_of(&terms[at])?;
    let rest = &terms[at + 1..];
    // Up to the types it derives from.
    let end = rest.iter().position(|term| matches!(term, Term::Sign(b':') | Term::Braces)).unwrap_or(rest.len());
    let mut name = None;
    for (at, term) in rest[..end].iter().enumerate() {
        match term {
            Term::Word(word) => {
                let text = word.text;
                let is_attribute =
                    rest.get(at + 1).is_some_and(|next| next.is_group(b'(')) || ATTRIBUTE_WORDS.contains(text);
                let is_late = name.is_some() && (text.starts_with("__") || text == "final" || text == "sealed");
                if !is_attribute && !is_late && !matches!(text, "class" | "struct") {
                    name = Some(*word);
                }
            }
            Term::Sign(b'*' | b'&') => return None,
            _ => {}
        }
    }
    Some((kind, name))
}

/// The name that `typedef …` ends with.
fn type_definition(header: &Header<'_>, terms: &[Term<'_>]) -> Option<Named> {
    let pointer = terms.iter().find_map(|term| match term {
        Term::Group(b'(', from, to) if header.is_sign(*from, b'*') || header.is_sign(*from + 1, b'*') => (*from..*to)
            .rfind(|at| header.word(*at).starts_with(|letter: char| letter.is_alphabetic() || letter == '_')),
        _ => None,
    });
    let parameters = terms.iter().rposition(|term| term.is_group(b'('));
    let called = || match terms[parameters?.checked_sub(1)?] {
        Term::Word(word) if !ATTRIBUTE_WORDS.contains(word.text) => Some(word.token),
        // `typedef int (compare)(int, int);`
        Term::Group(b'(', from, to) if to == from + 1 => Some(from),
        _ => None,
    };
    match pointer.or_else(called) {
        Some(at) => Some(header.named("typedef", at, at + 1)),
        None => Some(last_name(terms)?.named("typedef")),
    }
}

/// The last word that is not an attribute, before parentheses, brackets, a comma or a width.
fn last_name<'h>(terms: &[Term<'h>]) -> Option<Word<'h>> {
    let mut name = None;
    for term in terms {
        match term {
            Term::Word(word)
                if ATTRIBUTE_WORDS.contains(word.text) || word.text.starts_with("__") && name.is_some() => {}
            Term::Word(word) => name = Some(*word),
            Term::Sign(b',' | b':') | Term::Group(b'[', ..) if name.is_some() => break,
            _ => {}
        }
    }
    name
}

/// The variable that these words declare: two words at least, and nothing but a type before the name.
fn variable(header: &Header<'_>, terms: &[Term<'_>]) -> Option<Named> {
    let terms = &terms[..find(terms, Term::Sign(b',')).unwrap_or(terms.len())];
    let pointer = terms.iter().find_map(|term| match term {
        Term::Group(b'(', from, to) if header.is_sign(*from, b'*') => Some((*from + 1, *to)),
        _ => None,
    });
    if let Some((from, to)) = pointer {
        return (from < to).then(|| header.named("var", from, from + 1));
    }
    let words = terms.iter().filter(|term| term.is_word()).count();
    if words < 2 || matches!(text(terms, 0), "return" | "using" | "goto" | "case") {
        return None;
    }
    Some(last_name(terms)?.named("var"))
}

/// Words before a name in parentheses that make it no definition.
const CONTROL_WORDS: WordSet = WordSet(
    "if while for switch return sizeof else do case catch goto new delete throw static_assert _Static_assert \
     defined co_await co_return",
);
/// The macros that define system calls, whose kind says that the name lacks its `sys_`.
const SYSCALL_MACROS: WordSet = WordSet(
    "SYSCALL_DEFINE0 SYSCALL_DEFINE1 SYSCALL_DEFINE2 SYSCALL_DEFINE3 SYSCALL_DEFINE4 SYSCALL_DEFINE5 SYSCALL_DEFINE6",
);

/// The function whose parameters come before any `=`; `has_body` where a `{` follows.
fn function_before_value(
    header: &Header<'_>,
    terms: &[Term<'_>],
    around: HeaderContext<'_>,
    has_body: bool,
) -> Option<Named> {
    if let Some(at) = find_word(terms, "operator") {
        return operator(header, terms, at);
    }
    let end = value_at(terms).unwrap_or(terms.len());
    // `class Cache : Base<int(char)> {` and `struct x y = f(1)` have no parameters.
    let mut types = 0;
    for (at, term) in terms[..end].iter().enumerate() {
        match *term {
            Term::Word(word) if CONTROL_WORDS.contains(word.text) => return None,
            Term::Word(word) => types += usize::from(!STORAGE_WORDS.contains(word.text)),
            Term::Group(b'(', from, to) => {
                let Some(name) = at.checked_sub(1).and_then(|at| word(terms, at)) else { continue };
                types -= usize::from(types > 0 && !STORAGE_WORDS.contains(name.text));
                let call = NamedParens { header, terms, at, name, inside: (from, to), types, has_body };
                if let ControlFlow::Break(named) = call.named(around.owner) {
                    return named;
                }
            }
            Term::Sign(b':') if types > 0 => return None,
            _ => {}
        }
    }
    None
}

struct NamedParens<'c> {
    header: &'c Header<'c>,
    terms: &'c [Term<'c>],
    at: usize,
    name: Word<'c>,
    inside: (usize, usize),
    types: usize,
    has_body: bool,
}

impl NamedParens<'_> {
    /// The function of this name, if it is one, unless the parentheses are those of an attribute: then the search goes
    /// on. `owner` is the type whose members are declared.
    fn named(&self, owner: &str) -> ControlFlow<Option<Named>> {
        let Self { header, terms, at, name, inside, types, has_body } = *self;
        if ATTRIBUTE_WORDS.contains(name.text) {
            return ControlFlow::Continue(());
        }
        if self.is_pointer(inside.0) {
            return ControlFlow::Break(self.returns_pointer());
        }
        let (first, qualified) = qualified_start(terms, at - 1);
        let is_capital = !name.text.contains(|letter: char| letter.is_lowercase());
        let before_word = matches!(terms.get(at + 1), Some(Term::Word(_) | Term::PathSeparator));
        if types == 0 && !qualified {
            if at > 1 && terms[at - 2] == Term::Sign(b'~') {
                return ControlFlow::Break(Some(Named::new("fn", format!("~{}", name.text), name.line)));
            }
            if name.text == owner {
                return ControlFlow::Break(Some(name.named("fn")));
            }
            // `PyAPI_FUNC(int) f(void)`, `__printf(1, 2) int f(…)`
            if before_word && self.next_name().is_some() && !is_old_style(header, terms) {
                return ControlFlow::Continue(());
            }
            return ControlFlow::Break(if is_capital || name.text.ends_with("_FUNCTION") {
                made_by_macro(header, name.text, inside, has_body)
            } else {
                // A call of a macro, or a function without a type.
                has_body.then(|| name.named("fn"))
            });
        }
        // `int LIKE_PRINTF(1, 2) f(…)` and `int printflike(1, 2) f(…)`, but `int f(void) __acquires(lock)`
        let is_function = |next: &str| !next.starts_with("__") && next.contains(|letter: char| letter.is_lowercase());
        let is_attribute = is_capital || self.has_only_numbers();
        if is_attribute && before_word && self.next_name().is_some_and(is_function) {
            return ControlFlow::Continue(());
        }
        match terms[first] {
            Term::Word(first) => {
                let named = header.named("fn", first.token, name.token + 1);
                ControlFlow::Break(Some(Named { line: name.line, ..named }))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn has_only_numbers(&self) -> bool {
        let (from, to) = self.inside;
        from < to && (from..to).all(|at| self.header.word(at).bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
    }

    fn next_name(&self) -> Option<&str> {
        let next = self.terms[self.at + 1..].windows(2).find(|pair| pair[0].is_word() && pair[1].is_group(b'('))?;
        Some(next[0].text()).filter(|next| !ATTRIBUTE_WORDS.contains(next))
    }

    fn is_pointer(&self, at: usize) -> bool {
        self.header.is_sign(at, b'*') || self.header.is_sign(at, b'^')
    }

    /// `void (*signal(int number))(int) {`, not `int (*handler)(int);`
    fn returns_pointer(&self) -> Option<Named> {
        let is_called = self.terms.get(self.at + 1).is_some_and(|next| next.is_group(b'('));
        let name = (self.inside.0..self.inside.1).find(|at| !self.is_pointer(*at))?;
        let is_function = self.has_body && is_called && self.header.is_sign(name + 1, b'(');
        is_function.then(|| self.header.named("fn", name, name + 1))
    }
}

/// Where the qualified name that ends with the term at `at` begins, and whether it is qualified.
fn qualified_start(terms: &[Term<'_>], at: usize) -> (usize, bool) {
    let mut first = at;
    loop {
        let tilde = usize::from(first > 0 && terms[first - 1] == Term::Sign(b'~'));
        let ([owner @ .., Term::Word(_), Term::Group(b'<', ..), Term::PathSeparator]
        | [owner @ .., Term::Word(_), Term::PathSeparator]) = &terms[..first - tilde]
        else {
            return (first, first != at);
        };
        first = owner.len();
    }
}

fn made_by_macro(header: &Header<'_>, macro_name: &str, inside: (usize, usize), has_body: bool) -> Option<Named> {
    let mut args = (inside.0..inside.1)
        .filter(|at| *at == inside.0 || header.is_sign(at - 1, b','))
        .filter(|at| header.word(*at).starts_with(|letter: char| letter.is_alphabetic() || letter == '_'));
    let first = args.next()?;
    let second = args.next();
    if has_body {
        let named = header.named(SYSCALL_MACROS.value_of(macro_name).unwrap_or("fn"), first, first + 1);
        // `TEST(Suite, Name) {`
        let is_test = macro_name.starts_with("TEST") || macro_name.ends_with("_TEST") || macro_name.ends_with("METHOD");
        return Some(match second.filter(|_| is_test) {
            Some(second) => Named { name: format!("{}.{}", named.name, header.word(second)), ..named },
            None => named,
        });
    }
    let is_second = macro_name.contains("PER_CPU") || macro_name == "DEFINE_EVENT";
    let at = if is_second { second? } else { first };
    let makes = ["DEFINE", "TRACE_EVENT"].iter().any(|start| macro_name.starts_with(start))
        || macro_name.ends_with("LIST_HEAD");
    (makes && !macro_name.starts_with("DEFINED")).then(|| header.named("macro", at, at + 1))
}

/// `int main(argc, argv) int argc; char **argv;`: names alone as parameters, and their declarations.
fn is_old_style(header: &Header<'_>, terms: &[Term<'_>]) -> bool {
    let Some(at) = terms.iter().position(|term| term.is_group(b'(')) else { return false };
    let Term::Group(_, from, to) = terms[at] else { return false };
    // Every second token is a comma, and no other.
    let is_names = (to - from) % 2 == 1 && (from..to).all(|at| ((at - from) % 2 == 1) == header.is_sign(at, b','));
    let is_name = |at: usize| header.word(at).starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    let after = &terms[at + 1..];
    let follows =
        word(after, 0).is_some_and(|word| !ATTRIBUTE_WORDS.contains(word.text) && !word.text.starts_with("__"));
    let declares = after.iter().filter(|term| term.is_word()).count() >= 2;
    // A function after the attribute does not declare a parameter.
    let no_more = !after.iter().any(|term| term.is_group(b'('));
    at > 0 && is_names && is_name(from) && follows && declares && no_more
}

fn operator(header: &Header<'_>, terms: &[Term<'_>], at: usize) -> Option<Named> {
    let is_call = [1, 2].iter().all(|next| terms.get(at + next).is_some_and(|term| term.is_group(b'(')));
    let after = &terms[at + if is_call { 2 } else { 1 }..];
    let Term::Group(_, parameters, _) = after.iter().find(|term| term.is_group(b'('))? else { return None };
    let first = word(terms, qualified_start(terms, at).0)?;
    Some(Named { line: word(terms, at)?.line, ..header.named("fn", first.token, parameters - 1) })
}
