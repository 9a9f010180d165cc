//! Calls of several edits, and edits of every place.
//!
//! Each edit of a call is a change of what the ones before it made, so that its oracle is that of a single edit. Files
//! have no white space at line ends here, or a reworded line would have several right results.

use super::{
    case::Case,
    change::{Change, NewLine, indent},
    damage,
    random::Random,
    source::Source,
    spelling,
};

/// Makes a request of a change.
type Damage = fn(&Change, &mut Random) -> Option<Case>;

/// Damage that only the request shows, with what leaves it as it is.
const DAMAGES: [Damage; 10] = [
    damage::nothing,
    damage::nothing,
    damage::fragment,
    damage::crlf_request,
    damage::trailing_added,
    damage::indent_lost,
    damage::indent_more,
    |change, random| damage::gutter(change, random, 6, "\t"),
    spelling::curly_request,
    damage::quotes_escaped,
];

/// How often another block is tried where one does not serve.
const TRIES: usize = 30;

/// Lines between two copies.
const APART: usize = 20;

/// The change without white space at line ends.
fn clean(change: &Change) -> Option<Change> {
    let clean = change.map(|line| line.trim_end().to_owned());
    let is_same = clean.old == clean.new_lines();
    (!is_same && clean.is_single()).then_some(clean)
}

fn text(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// A request for `change` in nothing but its own text, with one result.
fn sole(change: &Change, make: Damage, random: &mut Random) -> Option<Case> {
    let case = make(change, random)?;
    (case.accepted.len() == 1 && case.file == text(&change.lines).into_bytes()).then_some(case)
}

/// The next change, after `before` was made: anywhere, or in lines that are new or are next to them.
fn after(before: &Change, made: &Case, within: bool, random: &mut Random) -> Option<Change> {
    let made = made.accepted.first()?;
    let lines = String::from_utf8_lossy(made).lines().map(str::to_owned).collect();
    let source = Source { lines, comment: before.comment };
    (0..TRIES).find_map(|_| {
        let change = if within {
            let first = before.start.saturating_sub(2);
            let start = first + random.below(before.start + before.new.len().max(1) - first);
            let count = 1 + random.below(6);
            if start + count > source.lines.len() {
                return None;
            }
            Change::at(&source, start, count, random)?
        } else {
            Change::of(&source, 1, 8, random)?
        };
        clean(&change)
    })
}

/// Whether `old` holds a line that only `before` brought in.
fn needs(old: &[String], before: &Change) -> bool {
    let is_new = |line: &&NewLine| {
        !line.text.trim().is_empty() && before.lines.iter().all(|other| other.trim() != line.text.trim())
    };
    before.new.iter().filter(is_new).any(|line| old.contains(&line.text))
}

/// Requests one after another, with the changes that they ask for.
fn chain(first: &Change, damages: &[Damage], within: Option<bool>, random: &mut Random) -> Option<Vec<(Change, Case)>> {
    let mut change = clean(first)?;
    let count = 2 + random.below(4);
    let mut steps = Vec::new();
    loop {
        let case = (0..TRIES).find_map(|_| sole(&change, *random.pick(damages), random))?;
        let next = after(&change, &case, within.unwrap_or_else(|| random.one_in(2)), random);
        steps.push((change, case));
        if steps.len() == count {
            return Some(steps);
        }
        change = next?;
    }
}

/// One call of all the requests.
fn joined(steps: Vec<(Change, Case)>) -> Option<Case> {
    let mut cases = steps.into_iter().map(|(_, case)| case);
    let mut whole = cases.next()?;
    for case in cases {
        whole.more.push((case.old, case.new));
        whole.accepted = case.accepted;
    }
    // Where the last edit takes everything back there would be nothing to see.
    (!whole.accepted.contains(&whole.file)).then_some(whole)
}

pub(crate) fn exact(change: &Change, random: &mut Random) -> Option<Case> {
    joined(chain(change, &[damage::nothing], None, random)?)
}

pub(crate) fn damaged(change: &Change, random: &mut Random) -> Option<Case> {
    joined(chain(change, &DAMAGES, None, random)?)
}

pub(crate) fn dependent(change: &Change, random: &mut Random) -> Option<Case> {
    joined(chain(change, &DAMAGES, Some(true), random)?)
}

pub(crate) fn counted(change: &Change, random: &mut Random) -> Option<Case> {
    let case = damaged(change, random)?;
    Some(Case { expected: Some(1 + case.more.len()), ..case })
}

pub(crate) fn miscounted(change: &Change, random: &mut Random) -> Option<Case> {
    let case = damaged(change, random)?;
    let more = if random.one_in(2) { 2 } else { 0 };
    Some(Case { expected: Some(case.more.len() + more), ..case.refused() })
}

pub(crate) fn out_of_order(change: &Change, random: &mut Random) -> Option<Case> {
    let mut steps = chain(change, &[damage::nothing], Some(true), random)?;
    steps.truncate(2);
    let is_dependent = needs(&steps.get(1)?.0.old, &steps[0].0);
    let mut case = joined(steps)?.refused();
    let (old, new) = case.more.pop()?;
    case.more.push((std::mem::replace(&mut case.old, old), std::mem::replace(&mut case.new, new)));
    is_dependent.then_some(case)
}

/// The call with one more edit at some place in it.
fn with(mut case: Case, old: String, new: String, random: &mut Random) -> Case {
    let at = random.below(case.more.len() + 2);
    if at == 0 {
        case.more.insert(0, (std::mem::replace(&mut case.old, old), std::mem::replace(&mut case.new, new)));
    } else {
        case.more.insert(at - 1, (old, new));
    }
    case.refused()
}

pub(crate) fn one_absent(change: &Change, random: &mut Random) -> Option<Case> {
    let case = damaged(change, random)?;
    let before = indent(&change.old[0]);
    let old = format!("{before}nothing_like_it(41);\n{before}is_in_this_file(43);");
    let new = old.replace("41", "42");
    Some(with(case, old, new, random))
}

pub(crate) fn one_ambiguous(change: &Change, random: &mut Random) -> Option<Case> {
    let case = exact(change, random)?;
    // A word that occurs often enough to do so after the other edits as well.
    let whole = text(&change.lines);
    let word = spelling::words(&whole).map(|(_, word)| word).find(|word| {
        let is_touched = case.old.contains(word) || case.more.iter().any(|(old, _)| old.contains(word));
        word.len() > 3 && !is_touched && whole.matches(word).count() > 2
    })?;
    let word = word.to_owned();
    Some(with(case, word, "another_word".to_owned(), random))
}

pub(crate) fn all_of_word(change: &Change, random: &mut Random) -> Option<Case> {
    let line = random.pick(&change.old);
    let words: Vec<&str> = spelling::words(line).map(|(_, word)| word).filter(|word| word.len() > 2).collect();
    let word = if words.is_empty() { None } else { Some((*random.pick(&words)).to_owned()) }?;
    let whole = text(&change.lines);
    let count = whole.matches(&word).count();
    // A case of any request, for the file.
    let case = damage::nothing(change, random)?;
    let accepted = [whole.replace(&word, "another_name").into_bytes()].into();
    let expected = if random.one_in(2) { Some(count) } else { None };
    // An expected number above one is as good as asking for all.
    let replace_all = expected.is_none() || count == 1 || random.one_in(2);
    Some(Case { old: word, new: "another_name".to_owned(), accepted, replace_all, expected, ..case })
}

/// The change in a file with one to three copies of the block, and the file when all are changed.
fn copied(change: &Change, random: &mut Random, others: &[Vec<String>]) -> Option<(Change, usize, String)> {
    let change = clean(change)?;
    let copies = 1 + random.below(3);
    let (mut lines, mut result) = (change.lines.clone(), change.result());
    let (end, new_end) = (change.start + change.old.len(), change.start + change.new.len());
    let place = |end: usize, n: usize, len: usize| (end + n * APART).min(len);
    // From the last to the first, so that the places of the others stay.
    for n in (1..=copies + others.len()).rev() {
        let (old, new) = match others.get(n.wrapping_sub(1 + copies)) {
            Some(other) => (other.clone(), other.clone()),
            None => (change.old.clone(), change.new_lines()),
        };
        let (at, new_at) = (place(end, n, change.lines.len()), place(new_end, n, change.result().len()));
        lines.splice(at..at, old);
        result.splice(new_at..new_at, new.into_iter().map(|text| NewLine { from: None, text }));
    }
    let result: Vec<String> = result.into_iter().map(|line| line.text).collect();
    let unit = change.unit.clone();
    Some((Change { lines, unit, ..change }, 1 + copies, text(&result)))
}

/// A request for all copies, and how many there are.
fn all(change: &Change, make: Damage, random: &mut Random) -> Option<(Case, usize)> {
    let (change, count, result) = copied(change, random, &[])?;
    let case = sole(&change, make, random)?;
    let is_whole = text(&change.lines).matches(&text(&change.old)).count() == count;
    is_whole.then(|| (Case { accepted: [result.into_bytes()].into(), ..case }, count))
}

/// Says that all are meant in one of the ways there are.
fn asked((case, count): (Case, usize), random: &mut Random) -> Case {
    let expected = if random.one_in(2) { Some(count) } else { None };
    Case { replace_all: expected.is_none() || random.one_in(2), expected, ..case }
}

pub(crate) fn all_copies(change: &Change, random: &mut Random) -> Option<Case> {
    Some(asked(all(change, damage::nothing, random)?, random))
}

/// Damage to whole lines: a part of one is another request than the block.
fn whole_lines(random: &mut Random) -> Damage {
    DAMAGES[3 + random.below(DAMAGES.len() - 3)]
}

pub(crate) fn all_copies_damaged(change: &Change, random: &mut Random) -> Option<Case> {
    let make = whole_lines(random);
    Some(asked(all(change, make, random)?, random))
}

pub(crate) fn all_miscounted(change: &Change, random: &mut Random) -> Option<Case> {
    let make = whole_lines(random);
    let (case, count) = all(change, make, random)?;
    let wrong = if random.one_in(2) { count + 1 } else { count - 1 };
    Some(Case { expected: Some(wrong), replace_all: true, ..case }.refused())
}

pub(crate) fn all_but_near(change: &Change, random: &mut Random) -> Option<Case> {
    let at = change.old.iter().position(|line| line.contains(|one: char| one.is_ascii_digit()))?;
    let mut other = change.old.clone();
    for line in &mut other {
        line.truncate(line.trim_end().len());
    }
    other[at] = other[at].replace(|one: char| one.is_ascii_digit(), "77");
    if other[at] == change.old[at].trim_end() {
        return None;
    }
    let (change, count, result) = copied(change, random, &[other])?;
    let case = sole(&change, damage::nothing, random)?;
    let is_whole = text(&change.lines).matches(&case.old).count() == count;
    is_whole.then(|| Case { accepted: [result.into_bytes()].into(), replace_all: true, ..case })
}

pub(crate) fn all_depths(change: &Change, random: &mut Random) -> Option<Case> {
    let change = clean(change)?;
    let deeper = |lines: Vec<String>| -> Vec<String> {
        let line = |line: String| if line.is_empty() { line } else { format!("{}{line}", change.unit) };
        lines.into_iter().map(line).collect()
    };
    let at = (change.start + change.old.len() + APART).min(change.lines.len());
    let mut lines = change.lines.clone();
    lines.splice(at..at, deeper(change.old.clone()));
    let mut result = lines.clone();
    result.splice(at..at + change.old.len(), deeper(change.new_lines()));
    result.splice(change.start..change.start + change.old.len(), change.new_lines());
    let change = Change { lines, ..change };
    let case = sole(&change, damage::indent_lost, random)?;
    Some(Case { accepted: [text(&result).into_bytes()].into(), replace_all: true, ..case })
}
