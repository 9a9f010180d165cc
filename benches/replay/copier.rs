//! A model that, when its edit is refused, copies what the error shows and tries once more.
//!
//! It knows what it wants to change, and copies the lines around that from the error, number and tab taken off: it
//! never looks at the file. Where the error lists several places, it puts the shown neighbours of the one it means
//! around its own text.

use std::ops::Range;

use super::case::Case;

/// What the model sends after an error; `None` where that does not show the lines to be changed.
pub(crate) fn again(case: &Case, intended: &[u8], error: &str) -> Option<Case> {
    let file = lines(&case.file);
    let after = lines(intended);
    let wish = Wish::between(&file, &after);
    let shown = runs(error);
    let (old, new) = if error.contains("[ambiguous]") {
        shown.iter().find_map(|run| wish.beside(run, case))?
    } else {
        shown
            .iter()
            .find_map(|run| wish.in_lines(run))
            .or_else(|| shown.iter().find_map(|run| wish.in_part(run, &file, &after)))?
    };
    (old != new && !old.is_empty()).then(|| Case { old, new, ..case.clone() })
}

/// Lines that the error shows one after another.
struct Run {
    /// Counted from 0.
    first: usize,
    lines: Vec<String>,
}

/// The runs of numbered lines, as `read` shows them.
fn runs(error: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut follows = false;
    for line in error.lines() {
        let number =
            line.split_once('\t').and_then(|(number, text)| Some((number.trim().parse::<usize>().ok()?, text)));
        let Some((number, text)) = number.filter(|(number, _)| *number > 0) else {
            follows = false;
            continue;
        };
        match runs.last_mut() {
            Some(run) if follows && run.first + run.lines.len() + 1 == number => run.lines.push(text.to_owned()),
            _ => runs.push(Run { first: number - 1, lines: vec![text.to_owned()] }),
        }
        follows = true;
    }
    runs
}

/// What is to be changed: lines of the file, and what takes their place.
struct Wish {
    lines: Range<usize>,
    new: Vec<String>,
}

impl Wish {
    fn between(file: &[String], after: &[String]) -> Self {
        let most = file.len().min(after.len());
        let before = file.iter().zip(after).take_while(|(a, b)| a == b).count();
        let behind = file.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count().min(most - before);
        Self { lines: before..file.len() - behind, new: after[before..after.len() - behind].to_vec() }
    }

    /// The shown lines as they are, and with the change made in them.
    fn in_lines(&self, run: &Run) -> Option<(String, String)> {
        let end = run.first + run.lines.len();
        if self.lines.start < run.first || self.lines.end > end {
            return None;
        }
        let mut new = run.lines.clone();
        new.splice(self.lines.start - run.first..self.lines.end - run.first, self.new.iter().cloned());
        let old = run.lines.join("\n");
        Some(if new.is_empty() { (old + "\n", String::new()) } else { (old, new.join("\n")) })
    }

    /// The shown part of one long line, and that with the change made in it.
    fn in_part(&self, run: &Run, file: &[String], after: &[String]) -> Option<(String, String)> {
        let [part] = run.lines.as_slice() else { return None };
        let (line, new) = (file.get(run.first)?, after.get(run.first)?);
        let at = line.find(part.as_str())?;
        let (head, tail) = (&line[..at], &line[at + part.len()..]);
        let is_all = self.lines == (run.first..run.first + 1) && self.new.len() == 1;
        let middle = new.strip_prefix(head)?.strip_suffix(tail)?;
        is_all.then(|| (part.clone(), middle.to_owned()))
    }

    /// What was sent, with the lines around it that the error shows for the place that was meant.
    fn beside(&self, run: &Run, case: &Case) -> Option<(String, String)> {
        let old = case.old.replace("\r\n", "\n");
        let new = case.new.replace("\r\n", "\n");
        let is_deleted = new.is_empty();
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            // Lines that go altogether.
            (Some(old), None) if is_deleted => (old, ""),
            // A blank line at the end of one of them.
            _ => (old.as_str(), new.as_str()),
        };
        let asked: Vec<&str> = old.split('\n').collect();
        // Where the request begins in the shown lines, or before them: the model knows its own text.
        let whole = run.first + run.lines.len();
        let (start, end) =
            (run.first.saturating_sub(asked.len()).max(self.lines.end.saturating_sub(asked.len() + 1)), whole);
        let at = (start..end).find(|at| {
            let covers = self.lines.start + 1 >= *at && self.lines.end <= at + asked.len() + 1;
            let shown = |index: usize| run.lines.get((at + index).checked_sub(run.first)?);
            let mut seen =
                asked.iter().enumerate().filter_map(|(index, asked)| Some((asked, shown(index)?))).peekable();
            covers && seen.peek().is_some() && seen.all(|(asked, shown)| asked.trim() == shown.trim())
        })?;
        let head = run.lines.get(..at.saturating_sub(run.first))?;
        let tail = run.lines.get((at + asked.len()).saturating_sub(run.first)..).unwrap_or_default();
        let around = |middle: &[String]| [head, middle, tail].concat().join("\n");
        let new = if is_deleted { Vec::new() } else { vec![new.to_owned()] };
        Some((around(&[old.to_owned()]), around(&new)))
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}
