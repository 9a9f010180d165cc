//! Hunks of real changes: pairs of files, before and after, as `benches/mine.py` lays them out.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use similar::{Algorithm, DiffOp};

use super::{
    change::{Change, NewLine},
    random::Random,
    source::Source,
};

/// Lines of a file that is used: fewer hold no context, and of more each try takes longer without saying more.
const LINES: Range<usize> = 8..6000;

/// Bytes of the longest line of a file that is used.
const LONGEST_LINE: usize = 20_000;

/// Changes with more removed or added lines than these are rewrites that nobody sends as one edit.
const MOST: (usize, usize) = (25, 40);

/// Changes with so few equal lines between them are one hunk.
const GAP: usize = 3;

/// Lines of context that a request has at most on one side, where fewer do not make it unique.
const CONTEXT: usize = 10;

/// The farthest that another change may be for a request to show it as its context.
const NEIGHBOUR: usize = 10;

/// Hunks taken from one file.
const PER_FILE: usize = 8;

/// What a request says: the old lines and the new.
pub(crate) type View = (Vec<String>, Vec<String>);

/// One change of a real file, with the context that a request needs.
pub(crate) struct Hunk {
    pub(crate) change: Change,
    /// The change with more context, and the request for it as one sees it who knows a version in which a change
    /// nearby was made.
    pub(crate) stale: Option<(Change, View)>,
}

/// The pairs of files below `dir`, in a stable order: `old/NAME/PATH` and `new/NAME/PATH`.
pub(crate) fn pairs(dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![dir.join("old")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(inner) = path.strip_prefix(dir.join("old")) {
                let after = dir.join("new").join(inner);
                found.push((path, after));
            }
        }
    }
    found.sort();
    found
}

/// The hunks between two versions of a file.
pub(crate) fn of(before: &Path, after: &Path, random: &mut Random) -> Vec<Hunk> {
    let (Some(old), Some(new)) = (lines(before), lines(after)) else { return Vec::new() };
    let source = Source { comment: comment(before), lines: old };
    let groups = groups(&similar::capture_diff_slices(Algorithm::Myers, &source.lines, &new));
    let mut hunks = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let is_small = group.iter().map(DiffOp::old_range).map(|range| range.len()).sum::<usize>() <= MOST.0
            && group.iter().map(DiffOp::new_range).map(|range| range.len()).sum::<usize>() <= MOST.1;
        if !is_small {
            continue;
        }
        if let Some(change) = change(&source, &new, group, random) {
            let stale = groups.get(index + 1).and_then(|next| stale(&source, &new, group, next));
            hunks.push(Hunk { change, stale });
        }
    }
    while hunks.len() > PER_FILE {
        hunks.swap_remove(random.below(hunks.len()));
    }
    hunks
}

/// The lines of a text file; `None` for one that is not plain UTF-8 with a newline at the end.
fn lines(path: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(path).ok()?.replace("\r\n", "\n");
    let is_plain = !text.contains(['\r', '\0', '\u{feff}', '\u{c}']) && text.ends_with('\n');
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (is_plain && LINES.contains(&lines.len()) && lines.iter().all(|line| line.len() < LONGEST_LINE)).then_some(lines)
}

fn comment(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "py" | "pyi" | "rb" | "yml" | "yaml" | "toml" | "sh" | "mk" | "cmake" | "" => "#",
        "sql" => "--",
        _ => "//",
    }
}

/// Runs of differences with few equal lines between them; each begins and ends with one that is none.
fn groups(ops: &[DiffOp]) -> Vec<Vec<DiffOp>> {
    let mut groups: Vec<Vec<DiffOp>> = Vec::new();
    let mut between: Option<DiffOp> = None;
    for op in ops {
        match op {
            DiffOp::Equal { .. } => between = Some(*op),
            _ => match (groups.last_mut(), between.take()) {
                (Some(group), Some(equal)) if equal.old_range().len() <= GAP => group.extend([equal, *op]),
                (Some(group), None) => group.push(*op),
                _ => groups.push(vec![*op]),
            },
        }
    }
    groups
}

/// What a group replaces, in lines of the file before.
fn old_range(group: &[DiffOp]) -> Range<usize> {
    group.first().map_or(0, |op| op.old_range().start)..group.last().map_or(0, |op| op.old_range().end)
}

/// The group as a change of the block of lines `block`.
fn within(source: &Source, new: &[String], group: &[DiffOp], block: Range<usize>) -> Change {
    let kept = |from: usize| NewLine { from: Some(from - block.start), text: source.lines[from].clone() };
    let core = old_range(group);
    let mut lines: Vec<NewLine> = (block.start..core.start).map(kept).collect();
    for op in group {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            lines.extend(old_range.map(kept));
            continue;
        }
        for (index, text) in new[new_range].iter().enumerate() {
            let from = (index < old_range.len()).then(|| old_range.start + index - block.start);
            lines.push(NewLine { from, text: text.clone() });
        }
    }
    lines.extend((core.end..block.end).map(kept));
    Change {
        lines: source.lines.clone(),
        start: block.start,
        old: source.lines[block.clone()].to_vec(),
        new: lines,
        comment: source.comment,
        unit: source.unit(block),
    }
}

/// The change with up to three lines of context on each side, and more where the block is not unique.
fn change(source: &Source, new: &[String], group: &[DiffOp], random: &mut Random) -> Option<Change> {
    let core = old_range(group);
    let (mut before, mut after) = (random.below(4), random.below(4));
    while before <= CONTEXT && after <= CONTEXT {
        let block = core.start.saturating_sub(before)..(core.end + after).min(source.lines.len());
        if !block.is_empty() {
            let change = within(source, new, group, block);
            let letters = change.old.iter().flat_map(|line| line.chars()).filter(|one| one.is_alphanumeric()).count();
            if letters >= 8 && change.is_single() {
                return Some(change);
            }
        }
        if random.one_in(2) { before += 2 } else { after += 2 }
    }
    None
}

/// The change in a block that reaches over the next change, and the request for it once that one was made.
fn stale(source: &Source, new: &[String], group: &[DiffOp], next: &[DiffOp]) -> Option<(Change, View)> {
    let (core, other) = (old_range(group), old_range(next));
    let between = other.start - core.end;
    if between > NEIGHBOUR || other.len() > MOST.0 {
        return None;
    }
    let block = core.start.saturating_sub(1)..(other.end + 1).min(source.lines.len());
    let equal = DiffOp::Equal { old_index: core.end, new_index: 0, len: between };
    let both: Vec<DiffOp> = group.iter().chain([&equal]).chain(next).copied().collect();
    let view =
        (within(source, new, next, block.clone()).new_lines(), within(source, new, &both, block.clone()).new_lines());
    let change = within(source, new, group, block);
    (change.old.len() <= MOST.1 && change.is_single()).then_some((change, view))
}
