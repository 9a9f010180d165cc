//! What one caller was shown of one file: lines with their numbers, by revision, and what it was last shown of each line, as
//! one text.

use std::{
    mem,
    ops::Range,
    sync::Arc,
    time::{Duration, SystemTime},
};

use confined_fs::Revision;
use text_edit::changed_lines;

/// A line in the state file is renewed when it is older than this.
const RENEWAL_AGE: Duration = Duration::from_secs(60 * 60);
/// Ranges and revisions remembered of a file; beyond them more is taken to have been shown.
pub(super) const MAX_REMEMBERED: usize = 256;
/// Ranges that a line of the state file has.
const MAX_SAVED: usize = 16;

pub(super) const ALL_LINES: Range<usize> = 0..usize::MAX;
/// In the state file: all lines that the caller knows of are of this revision.
pub(super) const ALL_LINES_MARK: &str = "all";

/// What a caller was last shown of each line of a file; lines that it was never shown are those of its first sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    At(Revision),
    Text(Arc<str>),
}

impl View {
    pub(super) fn size(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 0 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Caller {
    pub(super) view: View,
    /// Whether this process has shown it no more than some lines: others may have shown it more before.
    pub(super) is_partial: bool,
    pub(super) is_recalled: bool,
    /// The content that it was last shown whole, or has made of that itself.
    pub(super) whole: Option<Revision>,
    /// Lines counted from 0, and their revision; `None` for those of a diff, which has the numbers of two.
    lines: Vec<(Option<Revision>, Range<usize>)>,
    /// What the state file has: when, at which revision, and which lines.
    saved: Option<(SystemTime, Revision, String)>,
}

impl Caller {
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            view: View::At(revision),
            is_partial: true,
            is_recalled: false,
            whole: None,
            lines: Vec::new(),
            saved: None,
        }
    }

    pub(super) fn add_lines(&mut self, revision: Option<Revision>, lines: Range<usize>) {
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

    pub(super) fn forget_lines(&mut self) {
        self.lines = vec![(None, ALL_LINES)];
    }

    /// Frees the text that it holds: what the caller does not know is no longer known.
    pub(super) fn forget_text(&mut self) {
        if let View::Text(text) = &self.view {
            self.view = View::At(Revision::of(text.as_bytes()));
        }
    }

    pub(super) fn are_all_of(&self, revision: Revision, lines: &Range<usize>) -> bool {
        let other = |(of, shown): &(Option<Revision>, Range<usize>)| {
            *of != Some(revision) && shown.start < lines.end && lines.start < shown.end
        };
        !self.lines.iter().any(other)
    }

    pub(super) fn has_shown(&self, revision: Revision, mut lines: Range<usize>) -> bool {
        while !lines.is_empty() {
            let at = |(of, known): &&(_, Range<usize>)| *of == Some(revision) && known.contains(&lines.start);
            let Some((_, known)) = self.lines.iter().find(at) else { return false };
            lines.start = known.end;
        }
        true
    }

    /// What the state file has to be told of the file, which is at `revision`; not at every look, or it would grow with each.
    pub(super) fn unsaved(&mut self, revision: Revision, now: SystemTime) -> Option<String> {
        let lines = if self.is_partial || self.view != View::At(revision) {
            let shown = self.lines.iter().filter(|(of, _)| *of == Some(revision)).take(MAX_SAVED);
            shown.fold("-".to_owned(), |text, (_, lines)| format!("{text}{}-{},", lines.start, lines.end))
        } else {
            ALL_LINES_MARK.to_owned()
        };
        let is_saved = |(then, of, saved): &(SystemTime, Revision, String)| {
            *of == revision && *saved == lines && now.duration_since(*then).is_ok_and(|age| age < RENEWAL_AGE)
        };
        if self.saved.as_ref().is_some_and(is_saved) {
            return None;
        }
        self.saved = Some((now, revision, lines.clone()));
        Some(lines)
    }
}

/// The lines of a line of the state file, where they are not all.
pub(super) fn parse(text: &str) -> Vec<Range<usize>> {
    let range = |text: &str| {
        let (start, end) = text.split_once('-')?;
        Some(start.parse().ok()?..end.parse().ok()?)
    };
    text.trim_start_matches('-').split(',').filter_map(range).collect()
}

fn hull(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

/// The lines of `new` that took the place of others of `old`, with the lines around what was removed.
pub(super) fn made(old: &str, new: &str) -> Vec<Range<usize>> {
    let lines = changed_lines(old, new).into_iter().map(|[_, is]| is);
    lines.map(|is| if is.is_empty() { is.start.saturating_sub(1)..is.end + 1 } else { is }).collect()
}

/// The text `was` with those lines of the text `is` that are `shown`. What is gone between two lines was shown with both
/// of them.
pub(super) fn merged(was: &str, is: &str, shown: &[Range<usize>]) -> String {
    let changes = changed_lines(was, is);
    let (was, is): (Vec<&str>, Vec<&str>) = (was.split_inclusive('\n').collect(), is.split_inclusive('\n').collect());
    let (mut is_shown, mut marked) = (vec![false; is.len()], 0);
    let mut shown: Vec<_> = shown.iter().collect();
    shown.sort_unstable_by_key(|lines| lines.start);
    for lines in shown {
        // Each line once, however they overlap.
        if let Some(new) = is_shown.get_mut(lines.start.max(marked)..lines.end.min(is.len())) {
            new.fill(true);
        }
        marked = marked.max(lines.end);
    }
    let (mut lines, mut at) = (Vec::new(), 0);
    for [old, new] in changes {
        lines.extend_from_slice(&was[at..old.start]);
        at = old.end;
        let is_gone = (new.end == 0 || is_shown[new.end - 1]) && (new.end == is.len() || is_shown[new.end]);
        // Line for line, as far as there are two.
        for index in 0..old.len().max(new.len()) {
            let (old, new) = (old.start + index..old.end, new.start + index..new.end);
            if !new.is_empty() && is_shown[new.start] {
                lines.push(is[new.start]);
            } else if !(old.is_empty() || new.is_empty() && is_gone) {
                lines.push(was[old.start]);
            }
        }
    }
    lines.extend_from_slice(&was[at..]);
    let last = lines.len().saturating_sub(1);
    let whole = |(index, line): (usize, &&str)| {
        // What was the last line of one text may have others after it.
        if index < last && !line.ends_with('\n') { format!("{line}\n") } else { (*line).to_owned() }
    };
    lines.iter().enumerate().map(whole).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "lists of ranges")]

    use super::*;

    #[test]
    fn lines_are_certain_at_the_only_revision_that_showed_them() {
        let [one, two] = [b"1", b"2"].map(|bytes| Revision::of(bytes));
        let mut shown = Caller::new(one);
        assert!(shown.are_all_of(one, &ALL_LINES));
        shown.add_lines(Some(one), 0..10);
        shown.add_lines(Some(one), 10..20);
        shown.add_lines(Some(two), 18..30);
        assert_eq!(shown.lines.len(), 2);
        assert!(shown.are_all_of(one, &(0..18)) && !shown.are_all_of(one, &(17..19)));
        assert!(shown.are_all_of(two, &(20..40)) && !shown.are_all_of(two, &(19..20)));
        shown.add_lines(None, 2..5);
        assert!(shown.are_all_of(one, &(0..2)) && !shown.are_all_of(one, &(4..5)));
    }

    #[test]
    fn more_lines_than_are_remembered_are_taken_together_by_revision() {
        let revision = |n: usize| Revision::of(&n.to_le_bytes());
        let mut shown = Caller::new(revision(0));
        for n in 0..MAX_REMEMBERED + 5 {
            shown.add_lines(Some(revision(0)), 2 * n..2 * n + 1);
        }
        assert!(shown.lines.len() < MAX_REMEMBERED && shown.are_all_of(revision(0), &ALL_LINES));
        assert!(!shown.are_all_of(revision(1), &(1..2)));
        shown.forget_lines();
        assert!(!shown.are_all_of(revision(0), &(0..1)));
    }

    #[test]
    fn saved_lines_are_those_of_the_revision() {
        let [one, two] = [b"1", b"2"].map(|bytes| Revision::of(bytes));
        let (mut shown, now) = (Caller::new(one), SystemTime::now());
        shown.add_lines(Some(one), 3..5);
        shown.add_lines(Some(one), 9..10);
        shown.add_lines(Some(two), 20..21);
        let saved = shown.unsaved(one, now).unwrap();
        assert_eq!((parse(&saved), parse("-")), (vec![3..5, 9..10], vec![]));
        assert_eq!((shown.unsaved(one, now), shown.unsaved(one, now + RENEWAL_AGE).as_ref()), (None, Some(&saved)));
        shown.is_partial = false;
        assert_eq!(shown.unsaved(one, now).as_deref(), Some(ALL_LINES_MARK));
        assert_eq!(shown.unsaved(two, now).map(|saved| parse(&saved)), Some(vec![20..21]));
    }

    #[test]
    fn shown_lines_take_the_place_of_what_was_known() {
        let lines = |text: &str| text.replace(' ', "\n") + "\n";
        for (was, is, shown, expected) in [
            ("a b c d e", "a B c D e", 1..2, "a B c d e"),
            ("a b c d e", "a b c D E", 3..4, "a b c D e"),
            ("a b e", "a b 1 2 3 4 e", 3..5, "a b 2 3 e"),
            ("a b c d e", "a e", 0..2, "a e"),
            ("a b c d e", "a e", 0..1, "a b c d e"),
            ("a b c d", "a", 0..1, "a"),
            ("a b c d e", "a X e", 1..3, "a X e"),
            ("a b c d e", "a X e", 0..2, "a X c d e"),
            ("a b", "c d", 9..10, "a b"),
        ] {
            assert_eq!(
                merged(&lines(was), &lines(is), std::slice::from_ref(&shown)),
                lines(expected),
                "{was} -> {is} {shown:?}"
            );
        }
        assert_eq!(merged("a", "b\nc", &[1..2]), "a\nc");
        let (was, is) = (lines("a b c d e f"), lines("A B C D E F"));
        assert_eq!(merged(&was, &is, &[4..9, 1..2, 0..3, 1..2, 3..3]), lines("A B C d E F"), "in any order");
    }

    #[test]
    fn lines_may_have_been_shown_by_several_answers() {
        let [one, two] = [b"1", b"2"].map(|bytes| Revision::of(bytes));
        let mut caller = Caller::new(one);
        for (of, lines) in [(one, 4..6), (one, 0..2), (two, 2..4), (one, 1..3), (one, 8..9)] {
            caller.add_lines(Some(of), lines);
        }
        for (lines, expected) in [(0..3, true), (1..2, true), (7..7, true), (4..6, true), (2..5, false), (4..9, false)]
        {
            assert_eq!(caller.has_shown(one, lines.clone()), expected, "{lines:?}");
        }
        assert!(caller.has_shown(two, 2..4) && !caller.has_shown(two, 1..4));
    }
}
