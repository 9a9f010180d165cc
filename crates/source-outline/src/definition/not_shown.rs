//! What a cut left out, in a few lines.

use std::ops::RangeInclusive;

use super::Definition;

/// Lines at most, and characters of each.
const LINES: usize = 5;
const WIDTH: usize = 100;
/// Characters of a name.
const NAME: usize = 40;
const SEPARATOR: &str = " · ";
/// Kinds that are left out first.
const VALUES: &[&str] = &["const", "let", "var", "val", "static", "#define", "property", "mod", "signature"];
const BEGIN: &str = "not shown: ";

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
    let is_major = |one: &&&Definition| !one.prototype && !VALUES.contains(&one.kind);
    let major: Vec<&Definition> = hidden.iter().filter(is_major).copied().collect();
    let deepest = major.iter().map(|one| one.level).max().unwrap_or(0);
    // All of them, or without values and prototypes, or without the inner ones, as far as they fit.
    let inner = (0..=deepest).rev().map(|depth| major.iter().copied().filter(|one| one.level <= depth).collect());
    let mut text = String::new();
    for shown in std::iter::once(hidden).chain(inner) {
        let shown: Vec<&Definition> = shown;
        if shown.is_empty() {
            continue;
        }
        let fits;
        (text, fits) = written(&shown);
        if fits {
            break;
        }
    }
    Some(text).filter(|text| !text.is_empty())
}

/// The lines, and whether all fit.
fn written(shown: &[&Definition]) -> (String, bool) {
    let mut lines = vec![BEGIN.to_owned()];
    let mut width = BEGIN.chars().count();
    for (at, one) in shown.iter().enumerate() {
        let name: String = one.name.chars().take(NAME).collect();
        let cut = if one.name.chars().nth(NAME).is_some() { "…" } else { "" };
        let item = format!("{} {} {name}{cut}", one.line, one.kind);
        let length = item.chars().count();
        let last_line = lines.len() == LINES;
        let is_last = at + 1 == shown.len();
        // Room for the sign that there are more.
        let reserve = if last_line && !is_last { SEPARATOR.chars().count() + 1 } else { 0 };
        let line = &mut lines.last_mut();
        let Some(line) = line.as_mut() else { break };
        let is_first = line.is_empty() || line.as_str() == BEGIN;
        let separator = if is_first { 0 } else { SEPARATOR.chars().count() };
        if width + separator + length + reserve <= WIDTH || is_first {
            if !is_first {
                line.push_str(SEPARATOR);
            }
            line.push_str(&item);
            width += separator + length;
        } else if last_line {
            line.push_str(SEPARATOR);
            line.push('…');
            return (lines.join("\n"), false);
        } else {
            lines.push(item);
            width = length;
        }
    }
    (lines.join("\n"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(text.lines().count(), LINES);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.ends_with(" · …"), "{text}");
    }
}
