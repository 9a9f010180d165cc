//! Requests that fit several places, or none: applying one of them is always wrong.

use encoding_rs::WINDOWS_1252;

use super::{
    case::Case,
    change::{Change, NewLine, indent},
    damage::{self, request},
    random::Random,
    spelling::{self, words},
};

/// Lines between two copies of a block.
const APART: usize = 20;

/// The file with a second block some lines after the first, or at its end.
fn with_copy(change: &Change, copy: &[String]) -> Change {
    let mut lines = change.lines.clone();
    let at = (change.start + change.old.len() + APART).min(lines.len());
    lines.splice(at..at, copy.iter().cloned());
    Change { lines, ..change.clone() }
}

/// The file with other lines in the place of the block.
fn with_block(change: &Change, block: &[String]) -> Change {
    let mut lines = change.lines.clone();
    lines.splice(change.start..change.start + change.old.len(), block.iter().cloned());
    // The block that the case is made of is no longer as long as the request.
    let old = block.to_vec();
    let new = old.iter().enumerate().map(|(index, text)| NewLine { from: Some(index), text: text.clone() }).collect();
    Change { lines, old, new, ..change.clone() }
}

/// Nothing may come of `old` and `new`, which do not occur in the file.
fn hopeless(file: &Change, old: &[String], new: &[String], random: &mut Random) -> Option<Case> {
    let (old, new) = request(old, new, random);
    let is_there = file.lines.join("\n").contains(old.trim_matches(['\n', ' ', '\t']));
    (!is_there).then(|| Case::new(file, old, new))?.map(Case::refused)
}

fn of_copies(case: Option<Case>) -> Option<Case> {
    case.map(Case::refused)
}

pub(crate) fn two_copies(change: &Change, random: &mut Random) -> Option<Case> {
    of_copies(damage::nothing(&with_copy(change, &change.old), random))
}

pub(crate) fn two_copies_trail_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let spaced = |trailing: &str| -> Vec<String> {
        change.old.iter().map(|line| format!("{}{trailing}", line.trim_end())).collect()
    };
    let file = with_copy(&with_block(change, &spaced(" ")), &spaced("  "));
    hopeless(&file, &change.old, &change.new_lines(), random)
}

pub(crate) fn two_depths(change: &Change, random: &mut Random) -> Option<Case> {
    let deeper = |depth: usize| -> Vec<String> {
        let more = change.unit.repeat(depth);
        change.old.iter().map(|line| if line.is_empty() { String::new() } else { format!("{more}{line}") }).collect()
    };
    let file = with_copy(&with_block(change, &deeper(1)), &deeper(2));
    let is_multiline = change.old.iter().filter(|line| !line.trim().is_empty()).count() > 1;
    is_multiline.then(|| hopeless(&file, &change.old, &change.new_lines(), random))?
}

pub(crate) fn two_copies_curly(change: &Change, random: &mut Random) -> Option<Case> {
    of_copies(spelling::curly_request(&with_copy(change, &change.old), random))
}

pub(crate) fn two_copies_gutter(change: &Change, random: &mut Random) -> Option<Case> {
    let case = damage::gutter(&with_copy(change, &change.old), random, 6, "\t")?;
    // Numbers of a place where neither copy is.
    let moved = |text: &str| -> String {
        let line = |line: &str| match line.trim_start().split_once('\t') {
            Some((number, rest)) => format!("{:>6}\t{rest}", number.parse().unwrap_or(0) + 5000),
            None => line.to_owned(),
        };
        text.split('\n').map(line).collect::<Vec<_>>().join("\n")
    };
    Some(Case { old: moved(&case.old), new: moved(&case.new), ..case }.refused())
}

pub(crate) fn absent(change: &Change, random: &mut Random) -> Option<Case> {
    // The file without the block.
    let mut file = change.clone();
    file.lines.drain(change.start..change.start + change.old.len());
    file.start = file.start.min(file.lines.len().checked_sub(1)?);
    file.old = vec![file.lines[file.start].clone()];
    file.new = vec![NewLine { from: Some(0), text: file.old[0].clone() }];
    hopeless(&file, &change.old, &change.new_lines(), random)
}

pub(crate) fn other_middle(change: &Change, random: &mut Random) -> Option<Case> {
    let count = change.old.len();
    let from = random.below(change.lines.len().checked_sub(count)?);
    let mut block = change.old.clone();
    block[1..count - 1].clone_from_slice(&change.lines[from + 1..from + count - 1]);
    let differs = |index: &usize| words(&block[*index]).ne(words(&change.old[*index]));
    ((1..count - 1).filter(differs).count() >= 2)
        .then(|| hopeless(&with_block(change, &block), &change.old, &change.new_lines(), random))?
}

pub(crate) fn near_duplicate(change: &Change, random: &mut Random) -> Option<Case> {
    let case = spelling::typo(change, random, 1, false)?;
    let middle = change.old.len() / 2;
    // A name of few letters in a block of many: near enough to be taken for the other.
    let (at, word) = words(&change.old[middle]).find(|(_, word)| (3..8).contains(&word.len()))?;
    let mut copy = change.old.clone();
    copy[middle].replace_range(at..at + word.len(), "another");
    let letters = change.old.iter().map(|line| line.trim().len()).sum::<usize>();
    if letters < 100 || change.old.first() == change.old.get(middle) {
        return None;
    }
    let file = with_copy(change, &copy);
    Some(Case::new(&file, case.old, case.new)?.refused())
}

pub(crate) fn commented_copy(change: &Change, random: &mut Random) -> Option<Case> {
    let commented: Vec<String> = change.old.iter().map(|line| format!("{} {line}", change.comment)).collect();
    hopeless(&with_block(change, &commented), &change.old, &change.new_lines(), random)
}

/// The request remembers one middle line as `other` makes it.
fn remembered(change: &Change, random: &mut Random, other: impl Fn(&str) -> Option<String>) -> Option<Case> {
    let last = change.old.len() - 1;
    let is_kept = |index: usize| {
        let mut versions = change.new.iter().filter(|line| line.from == Some(index));
        versions.next().is_some_and(|line| line.text == change.old[index])
    };
    let places: Vec<(usize, String)> = (1..last)
        .filter(|index| is_kept(*index))
        .filter_map(|index| Some((index, other(&change.old[index])?)))
        .collect();
    if places.is_empty() {
        return None;
    }
    let (place, text) = random.pick(&places).clone();
    let (mut old, mut new) = (change.old.clone(), change.new_lines());
    for (line, new) in change.new.iter().zip(&mut new) {
        if line.from == Some(place) {
            new.clone_from(&text);
        }
    }
    old[place] = text;
    hopeless(change, &old, &new, random)
}

pub(crate) fn other_number(change: &Change, random: &mut Random) -> Option<Case> {
    remembered(change, random, |line| {
        let at = line.find(|one: char| one.is_ascii_digit())?;
        let other = if &line[at..=at] == "7" { "8" } else { "7" };
        Some(format!("{}{other}{}", &line[..at], &line[at + 1..]))
    })
}

pub(crate) fn other_operator(change: &Change, random: &mut Random) -> Option<Case> {
    const PAIRS: [(&str, &str); 8] = [
        (" == ", " != "),
        (" != ", " == "),
        (" < ", " > "),
        (" >= ", " <= "),
        (" + ", " - "),
        (" - ", " + "),
        ("&&", "||"),
        (" += ", " -= "),
    ];
    let is_comment = |line: &str| line.contains(change.comment) || line.trim_start().starts_with(['*', '/']);
    remembered(change, random, |line| {
        let (from, to) = PAIRS.iter().find(|(from, _)| line.contains(from))?;
        (!is_comment(line)).then(|| line.replacen(from, to, 1))
    })
}

pub(crate) fn other_word(change: &Change, random: &mut Random) -> Option<Case> {
    const PAIRS: [(&str, &str); 14] = [
        ("get", "set"),
        ("true", "false"),
        ("True", "False"),
        ("min", "max"),
        ("first", "last"),
        ("start", "end"),
        ("left", "right"),
        ("upper", "lower"),
        ("read", "write"),
        ("u32", "u64"),
        ("None", "Some"),
        ("self", "other"),
        ("encode", "decode"),
        ("push", "pop"),
    ];
    let is_comment = |line: &str| line.contains(change.comment) || line.trim_start().starts_with(['*', '/']);
    remembered(change, random, |line| {
        let whole = |from: &str| words(line).find(|(_, word)| *word == from).map(|(at, _)| at);
        let (at, from, to) = PAIRS.iter().find_map(|(from, to)| Some((whole(from)?, *from, *to)))?;
        (!is_comment(line)).then(|| format!("{}{to}{}", &line[..at], &line[at + from.len()..]))
    })
}

pub(crate) fn negation(change: &Change, random: &mut Random) -> Option<Case> {
    let comment = change.comment;
    remembered(change, random, |line| {
        let code = !line.contains(comment);
        let (from, to) = if comment == "#" { ("if ", "if not ") } else { ("if ", "if !") };
        (code && line.trim_start().starts_with("if ")).then(|| line.replacen(from, to, 1))
    })
}

pub(crate) fn line_missing(change: &Change, random: &mut Random) -> Option<Case> {
    let at = 1 + random.below(change.old.len() - 2);
    let mut old = change.old.clone();
    let gone = old.remove(at);
    let new: Vec<String> =
        change.new.iter().filter(|line| line.from != Some(at)).map(|line| line.text.clone()).collect();
    let is_substance = gone.chars().filter(|one| one.is_alphanumeric()).count() > 2;
    is_substance.then(|| hopeless(change, &old, &new, random))?
}

pub(crate) fn line_extra(change: &Change, random: &mut Random) -> Option<Case> {
    let at = 1 + random.below(change.old.len() - 1);
    let extra = format!("{}remembered = wrongly(1)", indent(&change.old[at]));
    let (mut old, mut new) = (change.old.clone(), change.new_lines());
    old.insert(at, extra.clone());
    new.insert(at.min(new.len()), extra);
    hopeless(change, &old, &new, random)
}

pub(crate) fn lines_swapped(change: &Change, random: &mut Random) -> Option<Case> {
    let at = 1 + random.below(change.old.len() - 3);
    let mut old = change.old.clone();
    old.swap(at, at + 1);
    let is_shown =
        words(&old[at]).ne(words(&old[at + 1])) && !old[at].trim().is_empty() && !old[at + 1].trim().is_empty();
    is_shown.then(|| hopeless(change, &old, &change.new_lines(), random))?
}

/// The block with `line` in the place of all but two lines at each end.
fn shortened(change: &Change, random: &mut Random, line: &str) -> Option<Case> {
    let count = change.old.len();
    let mut old = change.old.clone();
    let line = format!("{}{line}", indent(&old[2]));
    old.splice(2..count - 2, [line.clone()]);
    let mut new = old.clone();
    new[0] = format!("{} {} changed", new[0], change.comment);
    hopeless(change, &old, &new, random)
}

pub(crate) fn elided(change: &Change, random: &mut Random) -> Option<Case> {
    let line = *random.pick(&["...", "…", "[...]"]);
    shortened(change, random, line)
}

pub(crate) fn placeholder(change: &Change, random: &mut Random) -> Option<Case> {
    shortened(change, random, &format!("{} ... existing code ...", change.comment))
}

/// The request again, after it was made.
fn repeated(change: &Change, made: &Change, random: &mut Random) -> Option<Case> {
    let result: Vec<String> = made.result().into_iter().map(|line| line.text).collect();
    let lines = if result.is_empty() { vec![String::new()] } else { result };
    let old = vec![lines[0].clone()];
    let new = vec![NewLine { from: Some(0), text: old[0].clone() }];
    let file = Change { lines, start: 0, old, new, ..change.clone() };
    hopeless(&file, &change.old, &change.new_lines(), random)
}

pub(crate) fn made_already(change: &Change, random: &mut Random) -> Option<Case> {
    repeated(change, change, random)
}

pub(crate) fn made_already_trail_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let made = change.map(|line| if line.is_empty() { String::new() } else { format!("{}  ", line.trim_end()) });
    repeated(change, &made, random)
}

pub(crate) fn unrepresentable(change: &Change, random: &mut Random) -> Option<Case> {
    let mut change = spelling::in_language(change, 2);
    let last = change.new.last_mut()?;
    last.text.push_str(" 日本");
    let (old, new) = request(&change.old, &change.new_lines(), random);
    last_resort(&change, old, new)
}

/// The file in windows-1252, whatever the request holds.
fn last_resort(change: &Change, old: String, new: String) -> Option<Case> {
    Case::new(change, old, new)?.refused().in_encoding(WINDOWS_1252)
}
