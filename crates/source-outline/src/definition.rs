//! One definition of a source text, and finding the one that is meant.

use std::{fmt::Debug, ops::RangeInclusive};

use text_file::{hidden::printable, shorten};

use crate::lexer::Lexeme;

pub(super) const MAX_DEFINITIONS: usize = 200_000;

/// A function, type, macro, heading or the like, by its lines. All lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The first line that belongs to it: of its attributes, decorators and directly attached comments, if any.
    pub start: usize,
    /// The line with its name.
    pub line: usize,
    /// The last line that belongs to it.
    pub end: usize,
    /// The word that introduces it, as in the language: `fn`, `struct`, `impl`, `def`, `class`, `#define`, `##` …
    pub kind: &'static str,
    /// Its name, qualified where the source qualifies it: `load`, `Cache::load`, `Display for Cache`.
    pub name: String,
    /// How many definitions enclose it.
    pub level: usize,
    /// Declared only: a C prototype, a method without a body.
    pub prototype: bool,
}

pub(super) trait Outline: Debug + Send {
    /// Takes the next line, without its line break. `lexemes` is a buffer for those of a line, of any content.
    fn line(&mut self, line: &str, lexemes: &mut Vec<Lexeme>);

    /// The definitions found; their order and the end of some is still to be corrected.
    fn finish(self: Box<Self>) -> Vec<Definition>;
}

impl Definition {
    /// Its kind and name, as in `fn load`.
    pub fn label(&self) -> String {
        format!("{} {}", self.kind, printable(&self.name))
    }

    /// Whether it is meant by `name`: by its name, the end of its qualified name, or the type of an `impl`.
    fn answers_to(&self, name: &str) -> bool {
        ends_with_name(&self.name, name)
            || self.kind == "impl" && implemented_type(&self.name) == name
            || self.kind.starts_with("SYSCALL_DEFINE") && name.strip_prefix("sys_") == Some(&self.name)
    }
}

fn ends_with_name(qualified: &str, name: &str) -> bool {
    qualified
        .strip_suffix(name)
        .is_some_and(|before| before.is_empty() || before.ends_with([':', '.', '#', ' ', '/', '\\']))
}

fn implemented_type(name: &str) -> &str {
    let name = name.rsplit_once(" for ").map_or(name, |(_, name)| name);
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name).trim_start_matches('&').trim()
}

/// The innermost definition around `line`: of one with the name of a definition, what is around that.
pub fn enclosing(definitions: &[Definition], line: usize) -> Option<&Definition> {
    let around = |one: &&Definition| !one.prototype && one.line != line && (one.start..=one.end).contains(&line);
    definitions.iter().filter(around).max_by_key(|one| (one.start, one.level))
}

/// The definitions that `name` means: a bare name (`load`), one qualified by its owners (`Cache::load`, `Cache.load`),
/// or one with its kind (`fn load`, `impl Display for Cache`). Prototypes only where there is nothing else.
/// `definitions` are in the order of their lines.
///
/// # Examples
/// ```
/// use source_outline::{definitions, named};
///
/// let text = "struct Cache;\n\nimpl Cache {\n    fn load() {}\n}\n";
/// let all = definitions("a.rs", text);
/// assert_eq!(named(&all, "Cache::load")[0].line, 4);
/// assert_eq!(named(&all, "struct Cache")[0].line, 1);
/// assert_eq!(named(&all, "Cache").len(), 2);
/// ```
pub fn named<'d>(definitions: &'d [Definition], name: &str) -> Vec<&'d Definition> {
    let name = name.trim().trim_end_matches("()");
    let mut found = with_owners(definitions, name);
    if found.is_empty()
        && let Some((kind, rest)) = name.split_once(char::is_whitespace)
    {
        let is_kind = |one: &&Definition| one.kind == kind || (one.kind == "fn" && FUNCTION_WORDS.contains(&kind));
        found = with_owners(definitions, rest.trim()).into_iter().filter(is_kind).collect();
    }
    if found.iter().any(|one| !one.prototype) {
        found.retain(|one| !one.prototype);
    }
    found
}

/// Words that people use for a function in any language.
const FUNCTION_WORDS: &[&str] = &["function", "method", "func", "def"];

/// Those that `name` means, of which the last part is the name and those before it name what encloses it.
fn with_owners<'d>(definitions: &'d [Definition], name: &str) -> Vec<&'d Definition> {
    if name.is_empty() {
        return Vec::new();
    }
    let whole: Vec<_> = definitions.iter().filter(|one| one.answers_to(name)).collect();
    if !whole.is_empty() {
        return whole;
    }
    let parts: Vec<&str> = name.split([':', '.', '#']).filter(|part| !part.is_empty()).collect();
    let Some((last, owners)) = parts.split_last().filter(|(_, owners)| !owners.is_empty()) else { return Vec::new() };
    let mut around: Vec<&Definition> = Vec::new();
    let mut found = Vec::new();
    for one in definitions {
        while around.pop_if(|outer| outer.level >= one.level || outer.end < one.line).is_some() {}
        if one.answers_to(last) && has_owners(one, &around, owners) {
            found.push(one);
        }
        around.push(one);
    }
    found
}

/// Whether `owners`, the outermost first, are among what is `around` a definition, in that order, or in its own name.
fn has_owners(inner: &Definition, around: &[&Definition], owners: &[&str]) -> bool {
    let mut left = owners;
    for outer in around.iter().rev() {
        if let Some((last, rest)) = left.split_last()
            && outer.answers_to(last)
        {
            left = rest;
        }
    }
    // As the source has it: `void Cache::load()`.
    left.iter().all(|owner| inner.name.split([':', '.', '#']).any(|part| part == *owner))
}

/// Lines at most for the definitions that a cut left out, and characters of each.
const OUTLINE_LINES: usize = 5;
const OUTLINE_LINE_CHARS: usize = 100;
const NAME_CHARS: usize = 40;
const NAME_SEPARATOR: &str = " · ";
const VALUE_KINDS: &[&str] = &["const", "let", "var", "val", "static", "#define", "property", "mod", "signature"];
const OUTLINE_BEGIN: &str = "not shown: ";

/// `not shown: 2104 fn parse · 2390 impl Walk · …`: the definitions that begin on these lines, and no others; at most
/// five lines. The outermost ones where there are too many for all. `None` where there is none.
///
/// # Examples
/// ```
/// use source_outline::{definitions, not_shown};
///
/// let all = definitions("a.rs", "fn one() {}\nfn two() {}\nfn three() {}\n");
/// assert_eq!(not_shown(&all, &[2..=3]).as_deref(), Some("not shown: 2 fn two · 3 fn three"));
/// assert_eq!(not_shown(&all, &[4..=9]), None);
/// ```
pub fn not_shown(definitions: &[Definition], lines: &[RangeInclusive<usize>]) -> Option<String> {
    let hidden: Vec<&Definition> =
        definitions.iter().filter(|one| lines.iter().any(|range| range.contains(&one.line))).collect();
    let is_major = |one: &&&Definition| !one.prototype && !VALUE_KINDS.contains(&one.kind);
    let major: Vec<&Definition> = hidden.iter().filter(is_major).copied().collect();
    let deepest = major.iter().map(|one| one.level).max().unwrap_or(0);
    // All of them, or without values and prototypes, or without the inner ones, as far as they fit.
    let inner = (0..=deepest).rev().map(|depth| major.iter().copied().filter(|one| one.level <= depth).collect());
    let mut text = None;
    for shown in std::iter::once(hidden).chain(inner).filter(|shown: &Vec<&Definition>| !shown.is_empty()) {
        let (lines, fits) = written(&shown);
        text = Some(lines);
        if fits {
            break;
        }
    }
    text
}

fn written(shown: &[&Definition]) -> (String, bool) {
    let width = |text: &str| text.chars().count();
    let mut lines = vec![OUTLINE_BEGIN.to_owned()];
    for (at, one) in shown.iter().enumerate() {
        let item = format!("{} {} {}", one.line, one.kind, printable(&shorten(&one.name, NAME_CHARS)));
        let is_last_line = lines.len() == OUTLINE_LINES;
        // Room for the sign that there are more.
        let reserve = if is_last_line && at + 1 < shown.len() { width(NAME_SEPARATOR) + 1 } else { 0 };
        let Some(line) = lines.last_mut() else { break };
        let separator = if line == OUTLINE_BEGIN { "" } else { NAME_SEPARATOR };
        if separator.is_empty() || width(line) + width(separator) + width(&item) + reserve <= OUTLINE_LINE_CHARS {
            line.push_str(separator);
            line.push_str(&item);
        } else if is_last_line {
            line.push_str(NAME_SEPARATOR);
            line.push('…');
            return (lines.join("\n"), false);
        } else {
            lines.push(item);
        }
    }
    (lines.join("\n"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(lines: (usize, usize), kind: &'static str, name: &str, level: usize) -> Definition {
        Definition { start: lines.0, line: lines.0, end: lines.1, kind, name: name.to_owned(), level, prototype: false }
    }

    fn all() -> Vec<Definition> {
        vec![
            definition((1, 3), "struct", "Cache", 0),
            definition((5, 20), "impl", "Display for Cache<T>", 0),
            definition((6, 10), "fn", "fmt", 1),
            Definition { prototype: true, ..definition((12, 12), "fn", "load", 1) },
            definition((30, 40), "fn", "Cache::load", 0),
        ]
    }

    fn lines(name: &str) -> Vec<usize> {
        named(&all(), name).iter().map(|one| one.line).collect()
    }

    #[test]
    fn innermost_definition_encloses() {
        let all = all();
        assert_eq!(enclosing(&all, 7).unwrap().name, "fmt");
        assert_eq!(enclosing(&all, 12).unwrap().kind, "impl");
        assert!(enclosing(&all, 4).is_none());
    }

    #[test]
    fn names_are_found_bare_qualified_and_with_their_kind() {
        assert_eq!(lines("fmt"), [6]);
        assert_eq!(lines("Cache::fmt"), [6]);
        assert_eq!(lines("Cache.fmt()"), [6]);
        assert_eq!(lines("fn fmt"), [6]);
        assert_eq!(lines("impl Cache"), [5]);
        assert_eq!(lines("impl Display for Cache<T>"), [5]);
        assert_eq!(lines("Cache"), [1, 5]);
        assert_eq!(lines("Other::fmt"), [] as [usize; 0]);
        assert_eq!(lines(""), [] as [usize; 0]);
    }

    #[test]
    fn prototype_is_found_only_where_there_is_nothing_else() {
        assert_eq!(lines("load"), [30]);
        let only = vec![Definition { prototype: true, ..definition((12, 12), "fn", "load", 1) }];
        assert_eq!(named(&only, "load").len(), 1);
    }

    fn functions(count: usize, level: impl Fn(usize) -> usize) -> Vec<Definition> {
        let one = |line: usize| Definition {
            start: line,
            line,
            end: line,
            kind: "fn",
            name: format!("function_{line}"),
            level: level(line),
            prototype: false,
        };
        (1..=count).map(one).collect()
    }

    #[test]
    fn only_hidden_definitions_are_named() {
        let all = functions(10, |_| 0);
        assert_eq!(
            not_shown(&all, &[1..=1, 9..=20]).unwrap(),
            "not shown: 1 fn function_1 · 9 fn function_9 · 10 fn function_10"
        );
        assert_eq!(not_shown(&[], &[1..=9]), None);
        assert_eq!(not_shown(&all, &[]), None);
    }

    #[test]
    fn outermost_come_first_when_there_are_too_many() {
        let all = functions(200, |line| usize::from(line % 20 != 0));
        let text = not_shown(&all, &[1..=200]).unwrap();
        assert!(text.contains("20 fn function_20 · 40 fn function_40") && !text.contains("function_21"), "{text}");
    }

    #[test]
    fn five_lines_at_most_and_a_sign_that_there_are_more() {
        let all = functions(500, |_| 0);
        let text = not_shown(&all, &[1..=500]).unwrap();
        assert_eq!(text.lines().count(), OUTLINE_LINES);
        assert!(text.lines().all(|line| line.chars().count() <= OUTLINE_LINE_CHARS), "{text}");
        assert!(text.ends_with(" · …"), "{text}");
    }
}
