//! The names of C and C++ functions.

use crate::header::{Around, Header, Named, Term};

use super::terms::{ATTRIBUTES, CONTROL, STORAGE, value_at};

/// The function whose parameters come before any `=`; `has_body` where a `{` follows.
pub(super) fn function_before_value(
    header: &Header<'_>,
    terms: &[Term],
    around: Around<'_>,
    has_body: bool,
) -> Option<Named> {
    let is_operator = |term: &Term| matches!(term, Term::Word(word) if header.word(*word) == "operator");
    if let Some(at) = terms.iter().position(is_operator) {
        return operator(header, terms, at);
    }
    let end = value_at(terms).unwrap_or(terms.len());
    // `class Cache : Base<int(char)> {` and `struct x y = f(1)` have no parameters.
    let mut types = 0;
    for (at, term) in terms[..end].iter().enumerate() {
        match term {
            Term::Word(word) => {
                let word = header.word(*word);
                if CONTROL.contains(word) {
                    return None;
                }
                types += usize::from(!STORAGE.contains(word));
            }
            Term::Group(b'(', from, to) => {
                let Some(Term::Word(name)) = at.checked_sub(1).map(|at| terms[at]) else { continue };
                types -= usize::from(types > 0 && !STORAGE.contains(header.word(name)));
                let call = NamedParens { header, terms, at, name, inside: (*from, *to), types, has_body };
                match call.meaning(around.owner) {
                    ParenMeaning::Attribute => {}
                    ParenMeaning::Nothing => return None,
                    ParenMeaning::Function(named) => return Some(named),
                }
            }
            Term::Sign(b':') if types > 0 => return None,
            _ => {}
        }
    }
    None
}

/// Parentheses after a name.
struct NamedParens<'c> {
    header: &'c Header<'c>,
    terms: &'c [Term],
    /// The place of the parentheses among the terms.
    at: usize,
    /// The token of the name.
    name: usize,
    /// The tokens within.
    inside: (usize, usize),
    /// Words of a type before the name.
    types: usize,
    has_body: bool,
}

/// What parentheses after a name make of a declaration.
enum ParenMeaning {
    /// Nothing: they are an attribute's.
    Attribute,
    /// Not a function.
    Nothing,
    Function(Named),
}

impl From<Option<Named>> for ParenMeaning {
    fn from(named: Option<Named>) -> Self {
        named.map_or(Self::Nothing, Self::Function)
    }
}

impl NamedParens<'_> {
    /// `owner` is the type whose members are declared.
    fn meaning(&self, owner: &str) -> ParenMeaning {
        let Self { header, terms, at, name, inside, types, has_body } = *self;
        let word = header.word(name);
        if ATTRIBUTES.contains(word) {
            return ParenMeaning::Attribute;
        }
        if self.is_pointer(inside.0) {
            return self.returns_pointer().into();
        }
        let function = |text: String| ParenMeaning::Function(Named::new("fn", text, header.line(name)));
        let (first, qualified) = qualified_start(terms, at - 1);
        let is_capital = !word.contains(|letter: char| letter.is_lowercase());
        let before_word = matches!(terms.get(at + 1), Some(Term::Word(_) | Term::PathSeparator));
        if types == 0 && !qualified {
            let is_destructor = at > 1 && terms[at - 2] == Term::Sign(b'~');
            if word == owner || is_destructor {
                return function(if is_destructor { format!("~{word}") } else { word.to_owned() });
            }
            // `PyAPI_FUNC(int) f(void)`, `__printf(1, 2) int f(…)`
            if before_word && self.next_name().is_some() && !is_old_style(header, terms) {
                return ParenMeaning::Attribute;
            }
            if is_capital || word.ends_with("_FUNCTION") {
                return made_by_macro(header, word, inside, has_body).into();
            }
            // A call of a macro, or a function without a type.
            return if has_body { function(word.to_owned()) } else { ParenMeaning::Nothing };
        }
        // `int LIKE_PRINTF(1, 2) f(…)` and `int printflike(1, 2) f(…)`, but `int f(void) __acquires(lock)`
        let is_function = |next: &str| !next.starts_with("__") && next.contains(|letter: char| letter.is_lowercase());
        let is_attribute = is_capital || self.has_only_numbers();
        if is_attribute && before_word && self.next_name().is_some_and(is_function) {
            return ParenMeaning::Attribute;
        }
        match terms[first] {
            Term::Word(first) => function(header.joined(first, name + 1)),
            _ => ParenMeaning::Attribute,
        }
    }

    fn has_only_numbers(&self) -> bool {
        let (from, to) = self.inside;
        from < to && (from..to).all(|at| self.header.word(at).bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
    }

    /// The next name with parentheses.
    fn next_name(&self) -> Option<&str> {
        let next = self.terms[self.at + 1..].windows(2).find_map(|pair| match pair {
            [Term::Word(word), Term::Group(b'(', ..)] => Some(*word),
            _ => None,
        })?;
        Some(self.header.word(next)).filter(|next| !ATTRIBUTES.contains(next))
    }

    fn is_pointer(&self, at: usize) -> bool {
        self.header.is_sign(at, b'*') || self.header.is_sign(at, b'^')
    }

    /// `void (*signal(int number))(int) {`, not `int (*handler)(int);`
    fn returns_pointer(&self) -> Option<Named> {
        let is_called = matches!(self.terms.get(self.at + 1), Some(Term::Group(b'(', ..)));
        let name = (self.inside.0..self.inside.1).find(|at| !self.is_pointer(*at))?;
        let is_function = self.has_body && is_called && self.header.is_sign(name + 1, b'(');
        is_function.then(|| Named::new("fn", self.header.word(name), self.header.line(name)))
    }
}

/// Where the qualified name that ends with the term at `at` begins, and whether it is qualified.
fn qualified_start(terms: &[Term], at: usize) -> (usize, bool) {
    let mut first = at;
    let mut qualified = false;
    loop {
        let before = first.checked_sub(1).map(|at| terms[at]);
        let tilde = before == Some(Term::Sign(b'~'));
        let separator = first.checked_sub(1 + usize::from(tilde));
        if separator.is_none_or(|at| terms[at] != Term::PathSeparator) {
            return (first, qualified);
        }
        let Some(mut owner) = separator.and_then(|at| at.checked_sub(1)) else { return (first, qualified) };
        if matches!(terms[owner], Term::Group(b'<', ..)) && owner > 0 {
            owner -= 1;
        }
        if !matches!(terms[owner], Term::Word(_)) {
            return (first, qualified);
        }
        (first, qualified) = (owner, true);
    }
}

/// What a macro call in capitals defines.
fn made_by_macro(header: &Header<'_>, word: &str, inside: (usize, usize), has_body: bool) -> Option<Named> {
    let args: Vec<usize> = (inside.0..inside.1)
        .filter(|at| *at == inside.0 || header.is_sign(at - 1, b','))
        .filter(|at| header.word(*at).starts_with(|letter: char| letter.is_alphabetic() || letter == '_'))
        .collect();
    let first = *args.first()?;
    let second = args.get(1).copied();
    let name = |at: usize| header.word(at).to_owned();
    if has_body {
        let kind = SYSCALLS.iter().find(|kind| **kind == word).copied().unwrap_or("macro");
        // `TEST(Suite, Name) {`
        let text = match second {
            Some(second) if word.starts_with("TEST") || word.ends_with("_TEST") || word.ends_with("METHOD") => {
                format!("{}.{}", header.word(first), header.word(second))
            }
            _ => name(first),
        };
        return Some(Named {
            kind: if kind == "macro" { "fn" } else { kind },
            ..Named::new("fn", text, header.line(first))
        });
    }
    let is_second = word.contains("PER_CPU") || word == "DEFINE_EVENT";
    let at = if is_second { second? } else { first };
    let makes =
        ["DEFINE_", "DEFINE", "TRACE_EVENT"].iter().any(|start| word.starts_with(start)) || word.ends_with("LIST_HEAD");
    (makes && !word.starts_with("DEFINED")).then(|| Named::new("macro", name(at), header.line(at)))
}

/// The macros that define system calls, whose kind says that the name lacks its `sys_`.
const SYSCALLS: &[&str] = &[
    "SYSCALL_DEFINE0",
    "SYSCALL_DEFINE1",
    "SYSCALL_DEFINE2",
    "SYSCALL_DEFINE3",
    "SYSCALL_DEFINE4",
    "SYSCALL_DEFINE5",
    "SYSCALL_DEFINE6",
];

/// `int main(argc, argv) int argc; char **argv;`: names alone as parameters, and their declarations.
pub(super) fn is_old_style(header: &Header<'_>, terms: &[Term]) -> bool {
    let Some(at) = terms.iter().position(|term| matches!(term, Term::Group(b'(', ..))) else { return false };
    let Term::Group(_, from, to) = terms[at] else { return false };
    let is_names = (from..to).all(|at| (at - from) % 2 == 1 || !header.is_sign(at, b','))
        && (to - from) % 2 == 1
        && (from..to).skip(1).step_by(2).all(|at| header.is_sign(at, b','));
    let is_name = |at: usize| header.word(at).starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    let follows = match terms.get(at + 1) {
        Some(Term::Word(word)) => !ATTRIBUTES.contains(header.word(*word)) && !header.word(*word).starts_with("__"),
        _ => false,
    };
    let declares = terms[at + 1..].iter().filter(|term| matches!(term, Term::Word(_))).count() >= 2;
    // A function after the attribute does not declare a parameter.
    let no_more = !terms[at + 1..].iter().any(|term| matches!(term, Term::Group(b'(', ..)));
    at > 0 && is_names && is_name(from) && follows && declares && no_more
}

/// `operator==`, with what qualifies it.
fn operator(header: &Header<'_>, terms: &[Term], at: usize) -> Option<Named> {
    let is_call =
        matches!((terms.get(at + 1), terms.get(at + 2)), (Some(Term::Group(b'(', ..)), Some(Term::Group(b'(', ..))));
    let skip = if is_call { 2 } else { 1 };
    let group = terms[at + skip..].iter().position(|term| matches!(term, Term::Group(b'(', ..)))?;
    let Term::Group(_, parameters, _) = terms[at + skip + group] else { return None };
    let Term::Word(own) = terms[at] else { return None };
    let (first, _) = qualified_start(terms, at);
    let Term::Word(first) = terms[first] else { return None };
    Some(Named::new("fn", header.joined(first, parameters - 1), header.line(own)))
}
