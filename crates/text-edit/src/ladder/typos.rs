//! Typos in lines that the change does not touch.
//!
//! The request is merged rather than pasted. A line with a typo that `new` has exactly as the file is the file's line;
//! one that both texts have alike keeps the file's content, in a block that is nearly identical otherwise and has no
//! rival. A difference that could be one of meaning (a number, another name, a word more or less) is no typo but another
//! place, and lines that the request changes must be in the file as it says.

use std::{borrow::Cow, collections::HashMap};

use super::misspelling::{Words, corrected, is_slip, is_unknown};
use super::{spelling, whole_lines};
use crate::found::{Found, Refusal, StepResult};
use crate::line_parts::{self, has_letters, hash};
use crate::near_match::{self, Budget};
use crate::search::{Fold, Search, Site};
use crate::{Strategy, interpretation::LineEdit, typography};

/// The least similarity of a block whose typos `new` repeats.
const MIN_BLOCK_SIMILARITY: f64 = 0.9;

/// The least similarity of each of its lines.
const MIN_LINE_SIMILARITY: f64 = 0.7;

/// No other block may come so near to it.
const RIVAL_MARGIN: f64 = 0.15;

/// Blocks with fewer lines have too little besides a typo that `new` repeats.
const MIN_LINES: usize = 3;

/// Lines looked at before a search among ever-matching anchors is given up.
const LINE_BUDGET: usize = 2_000_000;

/// Windows that are looked at, by how many lines they share with the request.
const MAX_WINDOWS: usize = 24;

/// Letters and digits that a line must have to be the only one that is known of a place.
const MIN_LETTERS: usize = 8;

pub(super) fn find(search: &Search<'_>) -> StepResult {
    search.first_likely(|edit| {
        if edit.old.len() > search.lines().len() {
            return Ok(None);
        }
        let request = PlainEdit::of(edit);
        let Some((line, typos)) = place(search, edit, &request) else { return Ok(None) };
        made(search, edit, line, &typos).map(Some)
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Typo {
    Corrected(usize),
    Repeated(usize),
}

/// A request with its lines in plain characters.
struct PlainEdit<'e> {
    old: Vec<Cow<'e, str>>,
    new: Vec<Cow<'e, str>>,
    kept: Vec<Option<usize>>,
    /// For each line of `old` those of `new` of which it may be a misspelt form.
    corrected: Vec<Vec<usize>>,
}

impl<'e> PlainEdit<'e> {
    fn of(edit: &LineEdit<'e>) -> Self {
        let plain =
            |lines: &[&'e str]| -> Vec<Cow<'e, str>> { lines.iter().map(|line| typography::content(line)).collect() };
        let (old, new) = (plain(&edit.old), plain(&edit.new));
        let mut kept = vec![None; old.len()];
        for (_, from, to) in edit.changes().filter(|(is_kept, ..)| *is_kept) {
            from.zip(to).for_each(|(from, to)| kept[from] = Some(to));
        }
        let corrected = corrected(edit, &old, &new);
        Self { old, new, kept, corrected }
    }
}

fn place(search: &Search<'_>, edit: &LineEdit<'_>, request: &PlainEdit<'_>) -> Option<(usize, Vec<(usize, Typo)>)> {
    let count = edit.old.len();
    let lines = search.lines();
    let anchored = anchored(search, request)?;
    let voted = voted(search, request);
    let voted = voted.into_iter().filter(|start| start + count <= lines.len() && !anchored.contains(start));
    let starts: Vec<usize> = anchored.iter().copied().chain(voted).collect();
    let mut fitting = Vec::new();
    let words = Words::of(search.text);
    for start in &starts {
        let typos = typos(search, request, *start, &words);
        fitting.extend(typos.filter(|typos| !typos.is_empty()).map(|typos| (*start, typos)));
        if fitting.len() > 1 {
            return None;
        }
    }
    let (start, typos) = fitting.pop()?;
    let mut repeated = typos.iter().filter(|(_, typo)| matches!(typo, Typo::Repeated(_))).peekable();
    let repeats = repeated.peek().is_some();
    // A line that the file has as it is given, and elsewhere, is that one and no typo for another.
    let hashes = &search.folded(Fold::Content).hashes;
    if repeated.any(|(index, _)| hashes.contains(&hash(&request.old[*index]))) {
        return None;
    }
    if !repeats {
        // What is known of the place must be more than what every place has.
        let known = |index: usize| typos.iter().any(|(typo, _)| *typo == index);
        let all = || request.old.iter().map(AsRef::as_ref);
        let sure = all().enumerate().filter(|(index, _)| !known(*index)).map(|(_, line)| line);
        let is_telling = has_letters(sure, MIN_LETTERS) || count <= 2 && has_letters(all(), MIN_LETTERS);
        return is_telling.then_some((start, typos));
    }
    if count < MIN_LINES {
        return None;
    }
    let old: Vec<&str> = request.old.iter().map(AsRef::as_ref).collect();
    let mut budget = Budget::default();
    let mut alike = |start: usize| {
        let file: Vec<Cow<'_, str>> =
            (start..start + count).map(|line| typography::content(search.line(line))).collect();
        near_match::of_blocks(&old, file.iter().map(AsRef::as_ref), MIN_BLOCK_SIMILARITY - RIVAL_MARGIN, &mut budget)
    };
    let best = alike(start).filter(|alike| *alike >= MIN_BLOCK_SIMILARITY)?;
    let has_rival = starts
        .iter()
        .filter(|other| **other != start)
        .filter_map(|other| alike(*other))
        .any(|alike| alike >= best - RIVAL_MARGIN);
    let mut budget = Budget::default();
    let is_near = (0..count).all(|index| {
        near_match::of_lines(old[index], &typography::content(search.line(start + index)), &mut budget).0
            >= MIN_LINE_SIMILARITY
    });
    (is_near && !has_rival).then_some((start, typos))
}

/// Windows that begin and end with the lines of the request; `None` where they are too many to look at.
fn anchored(search: &Search<'_>, request: &PlainEdit<'_>) -> Option<Vec<usize>> {
    let count = request.old.len();
    if count < MIN_LINES {
        return Some(Vec::new());
    }
    let hashes = &search.folded(Fold::Content).hashes;
    let (first, last) = (hash(&request.old[0]), hash(&request.old[count - 1]));
    let starts =
        (0..=hashes.len() - count).filter(|start| hashes[*start] == first && hashes[start + count - 1] == last);
    let starts: Vec<usize> = starts.take(LINE_BUDGET / count + 1).collect();
    // Unfinished means undecided.
    (starts.len() * count <= LINE_BUDGET).then_some(starts)
}

/// First lines of the windows that share the most lines with the request.
fn voted(search: &Search<'_>, request: &PlainEdit<'_>) -> Vec<usize> {
    let hashes = &search.folded(Fold::Content).hashes;
    let old = request.old.iter().enumerate();
    let new = request.corrected.iter().enumerate();
    let new = new.flat_map(|(index, corrected)| corrected.iter().map(move |to| (index, &request.new[*to])));
    let says = |line: &str| line.chars().any(char::is_alphanumeric).then(|| hash(line));
    let lines = old.chain(new).map(|(index, line)| (index, says(line)));
    near_match::windows(&near_match::shared_lines(lines, hashes.iter().copied().map(Some)), MAX_WINDOWS)
}

/// The typos of the request if it is the block at `start` but for them.
fn typos(search: &Search<'_>, request: &PlainEdit<'_>, start: usize, words: &Words<'_>) -> Option<Vec<(usize, Typo)>> {
    let mut found = Vec::new();
    for (index, old) in request.old.iter().enumerate() {
        let file = typography::content(search.line(start + index));
        if *old == file {
            continue;
        }
        let known = |word: &str| words.has(word);
        if let Some(to) = request.corrected[index].iter().find(|to| request.new[**to] == file) {
            if !is_unknown(old, &file, &known) {
                return None;
            }
            found.push((index, Typo::Corrected(*to)));
            continue;
        }
        let to = request.kept[index].filter(|_| is_slip(old, &file, &known))?;
        found.push((index, Typo::Repeated(to)));
    }
    Some(found)
}

fn made(search: &Search<'_>, edit: &LineEdit<'_>, line: usize, typos: &[(usize, Typo)]) -> Result<Found, Refusal> {
    let file = |index: usize| search.line(line + index);
    // Lines that the file has, indented as the request has them.
    let corrected: HashMap<usize, String> = typos
        .iter()
        .filter(|(_, typo)| matches!(typo, Typo::Repeated(_)))
        .map(|(index, _)| {
            let (indent, _) = typography::indented(edit.old[*index]);
            let (_, content) = typography::indented(file(*index));
            (*index, format!("{indent}{content}{}", line_parts::parts(edit.old[*index]).2))
        })
        .collect();
    // A line that the request reindents as well says nothing of the other new lines' indentation.
    let is_reindented = |(index, typo): &(usize, Typo)| match typo {
        Typo::Corrected(to) => typography::indented(edit.old[*index]).0 != typography::indented(edit.new[*to]).0,
        Typo::Repeated(_) => false,
    };
    if typos.iter().any(is_reindented) {
        return Err(Refusal::Unclear);
    }
    // Typographic characters on a line with a typo say what those of new lines are.
    let pairs: Vec<(&str, &str)> = edit.old.iter().enumerate().map(|(index, old)| (*old, file(index))).collect();
    let plain = spelling::plain_classes(&pairs, &edit.new, search.text).ok_or(Refusal::Unclear)?;
    let spelled = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| spelling::plained(line, plain)).collect() };
    let (plain_old, plain_new) = (spelled(&edit.old), spelled(&edit.new));
    let mut old: Vec<&str> = plain_old.iter().map(String::as_str).collect();
    let mut new: Vec<&str> = plain_new.iter().map(String::as_str).collect();
    for (index, typo) in typos {
        match typo {
            Typo::Corrected(to) => old[*index] = new[*to],
            Typo::Repeated(to) => {
                old[*index] = &corrected[index];
                new[*to] = &corrected[index];
            }
        }
    }
    let other = LineEdit::of_lines(old, new, edit.deletes);
    let stays = |index: usize| other.changes().any(|(is_kept, old, _)| is_kept && old.contains(&index));
    if !typos.iter().all(|(index, _)| stays(*index)) {
        return Err(Refusal::Unclear);
    }
    // Elsewhere it would have been looked for as an exact text is.
    let folded = search.folded(Fold::Content);
    let sites = search.sites(&other, &folded, false);
    if sites.iter().any(|site| site.line != line) {
        return Err(Refusal::Unclear);
    }
    if let Some(refusal) = whole_lines::refusal_of(search, &other, &folded) {
        return Err(refusal);
    }
    let (replacement, by) = whole_lines::at(Site { search, edit: &other, line, after_indent: false })?;
    let by = if plain.contains(&true) { by.with(Strategy::Typography) } else { by };
    Ok(Found::one(replacement, by.with(Strategy::Typos)))
}

#[cfg(test)]
mod tests;
