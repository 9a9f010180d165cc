//! The lines of content mode, within a budget. A cut is always at a whole match.
//!
//! Two forms. Matches in several files without context are `path:12: text`. With context, or in one file, the path is
//! a heading, and nothing comes between a line's mark and its text (`12:text`, `13-text`): a model copies the text with
//! its indentation.

use std::fmt::Write as _;

use tree_search::{FileHits, HitLine};

use crate::tools::AnswerBudget;

use super::{output::MatchLine, page::Page, scope_labels::ScopeLabels};

/// Which matches are shown, with how many lines around each, and in which form.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineForm {
    pub(super) skip: usize,
    /// Matches shown at most.
    pub(super) take: usize,
    /// Lines shown before each match.
    pub(super) before: u64,
    /// Lines shown after each match.
    pub(super) after: u64,
    /// The path is a heading.
    pub(super) headed: bool,
}

/// Adjacent lines of a file, each with its match where that is shown.
type Group<'h> = Vec<(&'h HitLine, Option<usize>)>;

impl LineForm {
    /// The lines of `files`, each file with the number of matches before it, within `budget`: as many whole
    /// matches as fit. Where not even one does, its context is less; where it has none, its own lines are.
    pub(super) fn page(self, files: &[(usize, Box<FileHits>)], budget: AnswerBudget) -> Page {
        let mut form = self;
        loop {
            match form.fill(files, budget) {
                Ok(page) => {
                    let less = (form.before, form.after) != (self.before, self.after);
                    return Page { less_context: less.then_some((form.before, form.after)), ..page };
                }
                Err(0) => {
                    // One match is shown in any case.
                    (form.before, form.after) = (form.before / 2, form.after / 2);
                    form.take = self.take;
                }
                Err(fitting) => form.take = fitting,
            }
        }
    }

    /// All lines of the page; an error says how many matches may fit where they do not.
    fn fill(self, files: &[(usize, Box<FileHits>)], budget: AnswerBudget) -> Result<Page, usize> {
        let (mut page, mut gauge) = (Page::default(), budget.gauge());
        let mut in_prototypes = false;
        for (at, (matches_before, hits)) in files.iter().enumerate() {
            let groups = self.groups(*matches_before, hits);
            if groups.is_empty() {
                continue;
            }
            if hits.prototypes && !in_prototypes {
                in_prototypes = true;
                page.text.push_str("\nprototypes:");
            }
            let path = hits.path.to_string();
            if self.headed {
                let _ = write!(page.text, "\n==> {path} <==");
            }
            let (mut lines, mut last_match) = (Vec::new(), None);
            let mut scopes = ScopeLabels::of(hits);
            for (place, group) in groups.iter().enumerate() {
                if self.has_context() && place > 0 {
                    page.text.push_str("\n--");
                    scopes.begin_group();
                }
                for (index, (HitLine { number, text, cut_at, scope, .. }, hit)) in group.iter().enumerate() {
                    let label = scopes.label(group, index);
                    if let Some(label) = label {
                        let _ = write!(page.text, "\n[{label}]");
                    }
                    page.shown += usize::from(hit.is_some() && *hit != last_match.map(|(hit, _)| hit));
                    last_match = hit.map(|hit| (hit, *number)).or(last_match);
                    let mark = if hit.is_some() { ':' } else { '-' };
                    let _ = if self.headed {
                        write!(page.text, "\n{number}{mark}{text}")
                    } else {
                        write!(page.text, "\n{path}{mark}{number}{mark} {text}")
                    };
                    lines.push(MatchLine {
                        number: *number,
                        text: text.clone(),
                        context: hit.is_none(),
                        cut_at: *cut_at,
                        scope: scope.clone().filter(|_| hit.is_some()),
                        prototype: hits.prototypes,
                    });
                    if gauge.fits(&page.text) {
                        continue;
                    }
                    // Behind the reach of the last match it is context of the next one.
                    let in_reach = last_match.is_some_and(|(_, last)| number - last <= self.after);
                    let fitting = page.shown - usize::from(in_reach);
                    if fitting > 0 || self.has_context() {
                        return Err(fitting);
                    }
                    let left = group[index + 1..].iter().filter(|(_, other)| other == hit).count();
                    if left > 0 {
                        let _ = write!(page.text, "\n(… {left} more lines of this match)");
                    }
                    page.files.push((at, lines));
                    return Ok(page);
                }
            }
            page.files.push((at, lines));
        }
        Ok(page)
    }

    fn has_context(&self) -> bool {
        self.before + self.after > 0
    }

    /// The lines of `hits` that are on the page.
    fn groups<'h>(&self, matches_before: usize, hits: &'h FileHits) -> Vec<Group<'h>> {
        let first = self.skip.saturating_sub(matches_before);
        let end = (self.skip + self.take).saturating_sub(matches_before).min(hits.matches);
        let shown = |line: &HitLine| line.hit.filter(|hit| (first..end).contains(hit));
        let numbers: Vec<u64> =
            hits.lines.iter().filter(|line| shown(line).is_some()).map(|line| line.number).collect();
        let mut groups: Vec<Group<'h>> = Vec::new();
        for line in &hits.lines {
            let hit = shown(line);
            if hit.is_none() && !near(&numbers, line.number, self.before, self.after) {
                continue;
            }
            match groups.last_mut() {
                Some(group) if group.last().is_some_and(|(last, _)| last.number + 1 == line.number) => {
                    group.push((line, hit));
                }
                _ => groups.push(vec![(line, hit)]),
            }
        }
        groups
    }
}

/// Whether line `number` is within `before` lines before, or `after` lines after, one of the
/// ascending `numbers`.
fn near(numbers: &[u64], number: u64, before: u64, after: u64) -> bool {
    let at = numbers.partition_point(|hit| *hit < number);
    numbers.get(at).is_some_and(|next| next - number <= before)
        || at.checked_sub(1).is_some_and(|at| number - numbers[at] <= after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_near_a_shown_match() {
        let numbers = [10, 20];
        assert!(near(&numbers, 8, 2, 0) && !near(&numbers, 7, 2, 0) && !near(&numbers, 11, 2, 0));
        assert!(near(&numbers, 12, 0, 2) && !near(&numbers, 13, 0, 2) && near(&numbers, 22, 0, 2));
    }
}
