//! New lines spelled in the file's characters: its quotes, dashes, spaces and normal form.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use similar::Algorithm;

use super::whitespace;
use crate::{
    Hunk, LineEdit, Site, diff,
    ladder::spelling::{Spelling, transfer_spelling},
    line_parts::{self, without_trailing_whitespace},
    typography::{self, folded, joined, plain},
};

/// Time for the comparison of one hunk's old and new lines.
const DIFF_TIME: Duration = Duration::from_millis(50);

/// Whether lines that read alike in the request are spelled in several ways in the file and do not all stay: then
/// nobody can tell which of them is which.
pub(super) fn has_unclear_spelling(site: Site<'_, '_>) -> bool {
    let edit = site.edit;
    let mut spelled: HashMap<&str, &str> = HashMap::new();
    let mut unclear: HashSet<&str> = HashSet::new();
    for (old, file) in edit.old.iter().zip(site.file_lines()) {
        let (old, file) = (line_parts::content(old), line_parts::content(file));
        if *spelled.entry(old).or_insert(file) != file {
            unclear.insert(old);
        }
    }
    let has_unclear = |lines: &[&str]| lines.iter().any(|line| unclear.contains(line_parts::content(line)));
    edit.changes().any(|(is_kept, old, new)| !is_kept && (has_unclear(&edit.old[old]) || has_unclear(&edit.new[new])))
}

/// Whether lines of the request end with unusual spaces: how many of them are meant nobody can tell.
pub(super) fn has_unusual_ends(edit: &LineEdit<'_>) -> bool {
    let is_unusual = |line: &&str| {
        let last = without_trailing_whitespace(line).chars().next_back();
        last.is_some_and(|last| plain(last) == Some(" ")) && !typography::content(line).is_empty()
    };
    edit.old.iter().chain(&edit.new).any(is_unusual)
}

/// The new lines of a hunk, what they share with its old lines spelled as in the file.
pub(super) fn lines(hunk: &Hunk<'_>, spelling: &Spelling<'_>, pasted: Option<&str>) -> Option<Vec<String>> {
    // A line that is only reindented is the file's.
    let known = |new: &&str| {
        let (indent, content, _) = line_parts::parts(new);
        let file = spelling.line(content)?;
        Some(format!("{indent}{file}"))
    };
    let content =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| line_parts::content(line).to_owned()).collect() };
    let deadline = diff::deadline(hunk.old.len() + hunk.new.len(), DIFF_TIME);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &content(hunk.old), &content(hunk.new), deadline);
    let mut bodies = Vec::with_capacity(hunk.new.len());
    for op in ops {
        let (old, new) = (op.old_range(), &hunk.new[op.new_range()]);
        if let Some(lines) = new.iter().map(known).collect::<Option<Vec<String>>>() {
            bodies.extend(lines);
        } else {
            let lines = reworded(&hunk.old[old.clone()], &hunk.file[old], new, spelling)?;
            bodies.extend(lines.into_iter().zip(new).map(|(line, new)| known(new).unwrap_or(line)));
        }
    }
    let line = |(index, body)| format!("{body}{}", whitespace::trailing(hunk, index, pasted));
    Some(bodies.into_iter().enumerate().map(line).collect())
}

fn reworded(old: &[&str], file: &[&str], new: &[&str], spelling: &Spelling<'_>) -> Option<Vec<String>> {
    if new.is_empty() {
        return Some(Vec::new());
    }
    let count = new.len();
    let new = joined(new);
    let respelled = transfer_spelling(&joined(old), &joined(file), &new, spelling)?;
    // Some scripts compose across what is taken for letters here; then nothing is certain.
    let is_sure = folded(&respelled) == folded(&new) && respelled.matches('\n').count() + 1 == count;
    is_sure.then(|| respelled.split('\n').map(str::to_owned).collect())
}
