//! The definitions that a cut left out, in a few lines.

use std::ops::RangeInclusive;

use text_file::shorten;

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

/// The lines, and whether all fit.
fn written(shown: &[&Definition]) -> (String, bool) {
    let width = |text: &str| text.chars().count();
    let mut lines = vec![BEGIN.to_owned()];
    for (at, one) in shown.iter().enumerate() {
        let item = format!("{} {} {}", one.line, one.kind, shorten(&one.name, NAME));
        let is_last_line = lines.len() == LINES;
        // Room for the sign that there are more.
        let reserve = if is_last_line && at + 1 < shown.len() { width(SEPARATOR) + 1 } else { 0 };
        let Some(line) = lines.last_mut() else { break };
        let separator = if line == BEGIN { "" } else { SEPARATOR };
        if separator.is_empty() || width(line) + width(separator) + width(&item) + reserve <= WIDTH {
            line.push_str(separator);
            line.push_str(&item);
        } else if is_last_line {
            line.push_str(SEPARATOR);
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
