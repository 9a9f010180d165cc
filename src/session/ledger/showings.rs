//! Which lines of a file were shown by their numbers, and at which revision: lines that are named by numbers alone are
//! certain only where nobody can have other ones in mind.

use std::{mem, ops::Range};

use confined_fs::Revision;

/// Ranges and revisions remembered of a file; beyond them more is taken to have been shown.
const MAX_REMEMBERED: usize = 256;

/// All lines of a file.
pub const ALL_LINES: Range<usize> = 0..usize::MAX;

/// The lines that were shown of one file.
#[derive(Debug, Default)]
pub(super) struct Showings {
    /// Every revision that this process knows of.
    pub(super) revisions: Vec<Revision>,
    /// Lines counted from 0, and their revision; `None` for those of a diff, which has the numbers of two.
    lines: Vec<(Option<Revision>, Range<usize>)>,
}

impl Showings {
    pub(super) fn know(&mut self, revision: Revision) {
        if self.revisions.contains(&revision) {
            return;
        }
        self.revisions.push(revision);
        if self.revisions.len() > MAX_REMEMBERED {
            self.revisions.clear();
            self.lines = vec![(None, ALL_LINES)];
        }
    }

    pub(super) fn add(&mut self, revision: Option<Revision>, lines: Range<usize>) {
        let touches = |(of, known): &&mut (Option<Revision>, Range<usize>)| {
            *of == revision && known.start <= lines.end && lines.start <= known.end
        };
        match self.lines.iter_mut().find(touches) {
            Some((_, known)) => *known = hull(known, &lines),
            None => self.lines.push((revision, lines)),
        }
        if self.lines.len() > MAX_REMEMBERED {
            for (of, lines) in mem::take(&mut self.lines) {
                match self.lines.iter_mut().find(|(known, _)| *known == of) {
                    Some((_, known)) => *known = hull(known, &lines),
                    None => self.lines.push((of, lines)),
                }
            }
        }
    }

    /// Whether `lines` were shown at no other revision.
    pub(super) fn are_all_of(&self, revision: Revision, lines: &Range<usize>) -> bool {
        let other = |(of, shown): &(Option<Revision>, Range<usize>)| {
            *of != Some(revision) && shown.start < lines.end && lines.start < shown.end
        };
        !self.lines.iter().any(other)
    }
}

fn hull(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_certain_at_the_only_revision_that_showed_them() {
        let [one, two] = [b"1", b"2"].map(|bytes| Revision::of(bytes));
        let mut shown = Showings::default();
        assert!(shown.are_all_of(one, &ALL_LINES));
        shown.add(Some(one), 0..10);
        shown.add(Some(one), 10..20);
        shown.add(Some(two), 18..30);
        assert_eq!(shown.lines.len(), 2);
        assert!(shown.are_all_of(one, &(0..18)) && !shown.are_all_of(one, &(17..19)));
        assert!(shown.are_all_of(two, &(20..40)) && !shown.are_all_of(two, &(19..20)));
        shown.add(None, 2..5);
        assert!(shown.are_all_of(one, &(0..2)) && !shown.are_all_of(one, &(4..5)));
    }

    #[test]
    fn more_lines_than_are_remembered_are_taken_together_by_revision() {
        let mut shown = Showings::default();
        let revision = |n: usize| Revision::of(&n.to_le_bytes());
        for n in 0..MAX_REMEMBERED + 5 {
            shown.add(Some(revision(0)), 2 * n..2 * n + 1);
        }
        assert!(shown.lines.len() < MAX_REMEMBERED && shown.are_all_of(revision(0), &ALL_LINES));
        assert!(!shown.are_all_of(revision(1), &(1..2)));
        (0..=MAX_REMEMBERED).for_each(|n| shown.know(revision(n)));
        assert!(!shown.are_all_of(revision(0), &(0..1)));
    }
}
