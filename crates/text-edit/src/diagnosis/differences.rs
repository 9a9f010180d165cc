//! The differences between a request and the block of the file that is nearest to it, as text.

use text_file::shorten_around;

use crate::line_parts::{content, parts};
use crate::near_match::{Alignment, LinePair};
use crate::{placeholder, search::Search, typography};

/// How the clause for an elided line continues.
pub(super) const LEAVES_OUT: &str = ", leaves out ";

pub(super) fn described(search: &Search<'_>, old: &[&str], alignment: &Alignment, most: usize) -> Vec<String> {
    let mut clauses = Vec::new();
    let is_one_sided = |pair: &LinePair| pair.both().is_none();
    for run in alignment.pairs.chunk_by(|pair, next| is_one_sided(pair) && is_one_sided(next)) {
        if clauses.len() >= most {
            break;
        }
        if let Some((at, file)) = run[0].both() {
            let what = difference(old[at], search.line(file));
            clauses.extend(what.map(|what| format!("line {}: {what}", file + 1)));
        } else {
            one_sided(search, old, alignment, run, &mut clauses);
        }
    }
    clauses
}

fn one_sided(search: &Search<'_>, old: &[&str], alignment: &Alignment, run: &[LinePair], clauses: &mut Vec<String>) {
    let only_old = || run.iter().filter_map(|pair| pair.old);
    let only_file = || run.iter().filter_map(|pair| pair.file);
    let (old_count, file_count) = (only_old().count(), only_file().count());
    match (only_old().next(), only_file().next()) {
        (Some(first), Some(line)) if old_count == 1 && placeholder::is_placeholder(old[first]) => {
            clauses.push(format!(
                "line {} of old_string, {}{LEAVES_OUT}{} of the file: write the lines out, or send fewer",
                first + 1,
                quoted(old[first]),
                range(line, file_count)
            ));
        }
        (first, line) => {
            clauses.extend(line.map(|line| only_in_file(search, line, file_count)));
            clauses.extend(first.map(|first| only_in_old(search, old, first, old_count, alignment)));
        }
    }
}

/// Lines of the file as text, `count` of them from `first` on, counted from 0.
pub(super) fn range(first: usize, count: usize) -> String {
    match count {
        0 | 1 => format!("line {}", first + 1),
        _ => format!("lines {}-{}", first + 1, first + count),
    }
}

fn only_in_file(search: &Search<'_>, first: usize, count: usize) -> String {
    let lines = &search.lines()[first..first + count];
    match lines.iter().map(|line| line.content(search.text)).find(|line| !line.trim().is_empty()) {
        None => format!("old_string lacks the blank {} of the file", range(first, count)),
        Some(line) if count == 1 => format!("old_string lacks {} of the file, {}", range(first, count), quoted(line)),
        Some(line) => format!("old_string lacks {} of the file, {} and so on", range(first, count), quoted(line)),
    }
}

fn only_in_old(search: &Search<'_>, old: &[&str], first: usize, count: usize, alignment: &Alignment) -> String {
    let lines = range(first, count);
    let is_are = if count == 1 { "is" } else { "are" };
    let Some(line) = old[first..first + count].iter().find(|line| !line.trim().is_empty()) else {
        return format!("{lines} of old_string {is_are} blank, and the file has no blank line there");
    };
    let block = alignment.block();
    let before = |pair: &&LinePair| pair.file.is_none();
    let is_tail = alignment.pairs.iter().rev().take_while(before).count() >= old.len() - first;
    if is_tail && block.end >= search.lines().len() {
        return format!("{lines} of old_string {is_are} beyond the end of the file");
    }
    let and = if count == 1 { "" } else { " and so on" };
    let wanted = content(line);
    let elsewhere = || (wanted.len() > 3).then(|| search.contents().position(|line| content(line) == wanted)).flatten();
    match elsewhere() {
        Some(other) => {
            format!("{lines} of old_string, {}{and}, {is_are} at line {} instead", quoted(line), other + 1)
        }
        None => format!("{lines} of old_string, {}{and}, {is_are} not in the file", quoted(line)),
    }
}

/// Names the difference between a line of the request and the file's; `None` when there is none.
pub(super) fn difference(old: &str, file: &str) -> Option<String> {
    if old == file {
        return None;
    }
    let (old_indent, old_content, old_trail) = parts(old);
    let (file_indent, file_content, file_trail) = parts(file);
    if old_content != file_content {
        return Some(content_difference(old, file));
    }
    if old_indent != file_indent {
        return Some(format!("the file is indented by {}, old_string by {}", spaces(file_indent), spaces(old_indent)));
    }
    Some(format!("the file has {} at the end, old_string has {}", spaces(file_trail), spaces(old_trail)))
}

/// The first place where two lines differ in more than the white space around them.
fn content_difference(old: &str, file: &str) -> String {
    let same = old.chars().zip(file.chars()).take_while(|(old, file)| old == file).count();
    let (in_old, in_file) = (old.chars().nth(same), file.chars().nth(same));
    let is_unusual = |character: Option<char>| {
        character.is_some_and(|one| one.is_control() || !one.is_ascii() && !one.is_alphanumeric())
    };
    if is_unusual(in_old) || is_unusual(in_file) || typography::fold(old) == typography::fold(file) {
        let column = same + 1;
        return format!("the file has {} at column {column}, old_string has {}", named(in_file), named(in_old));
    }
    let has = format!("the file has {}, old_string has {}", around(file, same), around(old, same));
    if old.to_lowercase() == file.to_lowercase() { format!("only the casing differs: {has}") } else { has }
}

fn quoted(line: &str) -> String {
    around(line, 0)
}

/// A line, or the part of it around its `column`th character, in quotes.
fn around(line: &str, column: usize) -> String {
    const SHOWN_CHARS: usize = 50;
    const CHARS_BEFORE: usize = 20;
    let indent = line.chars().count() - line.trim_start_matches([' ', '\t']).chars().count();
    let line = content(line);
    format!("`{}`", shorten_around(line, column.saturating_sub(indent), CHARS_BEFORE, SHOWN_CHARS))
}

/// A character by sight where it can be seen for what it is, and by number.
fn named(character: Option<char>) -> String {
    match character {
        None => "nothing".to_owned(),
        Some(' ') => "a space".to_owned(),
        Some('\t') => "a tab".to_owned(),
        Some(one) if one.is_ascii_graphic() => format!("{one:?}"),
        Some(one) if one.is_alphanumeric() => format!("{one} (U+{:04X})", u32::from(one)),
        Some(one) => format!("U+{:04X}", u32::from(one)),
    }
}

fn spaces(space: &str) -> String {
    let tabs = space.matches('\t').count();
    let spaces = space.len() - tabs;
    let counted = |count: usize, noun: &str| match count {
        1 => format!("a {noun}"),
        _ => format!("{count} {noun}s"),
    };
    match (tabs, spaces) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => counted(spaces, "space"),
        (_, 0) => counted(tabs, "tab"),
        _ => format!("{} and {}", counted(tabs, "tab"), counted(spaces, "space")),
    }
}
