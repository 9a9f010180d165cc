//! The answer to a caller that has an earlier revision of a file: that nothing changed, or what did.

use std::ops::Range;

use confined_fs::{OpenFile, Revision, RevisionPrefix, WorkspacePath};
use text_edit::{DiffExtent, unified_diff};
use text_file::{Document, lines, with_lf};

use super::{
    super::{
        AnswerBudget, CallContext,
        answer::count,
        shown_diff::{hidden_in, hunk_sides},
    },
    request::FileRequest,
    section::{FOOTER_BYTES, Properties, ReadFacts, Section, footer},
    window::LINE_CHARS,
};

/// Bytes of the lines around the hunks.
const RESERVED_BYTES: usize = 200;
/// Bytes of hunks that are shown however short the file is.
const MIN_HUNK_BYTES: usize = 500;

/// The changes since the revision that the caller has, where its content is still known and a diff is shorter.
pub(super) fn changes(
    cx: &CallContext,
    request: &FileRequest,
    file: &OpenFile,
    properties: &Properties,
    new: &Document,
) -> Option<Section> {
    let since = request.since.filter(|_| request.part.is_none())?;
    let Base::Former(old) = Base::of(cx, file.real_path(), properties.revision?, since) else { return None };
    let old = Document::decode(old, request.encoding).ok()?;
    let asked = request.lines.named(properties.total);
    let (old, new, budget) = (old.text(), new.text(), request.budget);
    Changes { since, old, new, properties, asked, budget }.section(file.path())
}

/// The changes for a caller that has the content `old` of the file `new`.
struct Changes<'c> {
    since: RevisionPrefix,
    old: &'c str,
    new: &'c str,
    properties: &'c Properties,
    /// The lines that were asked for, numbered from 0; `None` for all.
    asked: Option<Range<usize>>,
    budget: AnswerBudget,
}

impl Changes<'_> {
    /// The hunks in the lines that were asked for. `None` if the lines themselves are much shorter, or the
    /// hunks cannot be shown.
    fn section(&self, path: &WorkspacePath) -> Option<Section> {
        let section = |text: String, closing: String, returned, next| {
            let facts = ReadFacts { since: Some("changed"), ..self.properties.facts(returned, next) };
            let closing = hidden_in(&text).map(|note| note + "\n").unwrap_or_default() + &closing;
            Some(Section { closing, ..Section::of(path.clone(), text, facts) })
        };
        let total = count(self.properties.total, "line");
        let footer = |next: Option<&str>| footer(&total, self.properties, next);
        if with_lf(self.old) == with_lf(self.new) {
            let text = format!("only line endings or encoding changed since {}\n", self.since);
            return section(String::new(), text + &footer(None), 0, None);
        }
        let all = hunks(self.old, self.new)?;
        let inside: Vec<&DiffHunk> =
            all.iter().filter(|hunk| self.asked.as_ref().is_none_or(|asked| touch(&hunk.lines, asked))).collect();
        let elsewhere = match all.len() - inside.len() {
            0 => String::new(),
            n => format!("({} outside these lines)\n", count(n, "change")),
        };
        if inside.is_empty() {
            let asked = self.asked.clone()?;
            let text = self.unchanged_lines(&all, asked.start..asked.end.min(self.properties.total))?;
            return section(String::new(), text + &elsewhere + &footer(None), 0, None);
        }
        // A file that was rewritten has both its texts in the hunks.
        if inside.iter().map(|hunk| hunk.text.len()).sum::<usize>() > self.plain_bytes() / 2 * 3 + MIN_HUNK_BYTES {
            return None;
        }
        let mut text = format!("changed since {}:\n", self.since);
        let mut gauge = self.budget.reduced(FOOTER_BYTES + RESERVED_BYTES).gauge();
        let mut returned = 0;
        for hunk in &inside {
            let before = text.len();
            text.push_str(&hunk.text);
            if gauge.fits(&text) {
                returned += hunk.lines.len();
                continue;
            }
            // Not even one change fits. The lines themselves can be cut at any of them.
            if returned == 0 {
                return None;
            }
            text.truncate(before);
            let end = self.asked.as_ref().filter(|asked| asked.end < self.properties.total);
            let end = end.map(|asked| format!(", end_line={}", asked.end)).unwrap_or_default();
            let next = format!("since={}, start_line={}{end}", self.since, hunk.lines.start + 1);
            return section(text, footer(Some(&next)), returned, Some(hunk.lines.start));
        }
        section(text, elsewhere + &footer(None), returned, None)
    }

    /// Bytes of the lines that were asked for.
    fn plain_bytes(&self) -> usize {
        match &self.asked {
            None => self.new.len(),
            Some(asked) => lines(self.new).take(asked.end).skip(asked.start).map(|line| line.next - line.start).sum(),
        }
    }

    /// The sentence that nothing changed in the lines `asked`, with their former numbers. `None` if there are no such
    /// lines.
    fn unchanged_lines(&self, all: &[DiffHunk], asked: Range<usize>) -> Option<String> {
        if asked.is_empty() {
            return None;
        }
        let before = |line: usize| line.saturating_add_signed(-shift(all, asked.start));
        let numbers = |range: &Range<usize>| format!("{}-{}", range.start + 1, range.end);
        let old = before(asked.start)..before(asked.end);
        let was = if old == asked { String::new() } else { format!(", where they were lines {}", numbers(&old)) };
        Some(format!("lines {} unchanged since {}{was}\n", numbers(&asked), self.since))
    }
}

fn touch(hunk: &Range<usize>, asked: &Range<usize>) -> bool {
    // A hunk that leaves no line in the new text still is at a place in it.
    hunk.start < asked.end && asked.start < hunk.end.max(hunk.start + 1)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffHunk {
    pub(super) text: String,
    /// Its lines in the new text, numbered from 0.
    pub(super) lines: Range<usize>,
    growth: isize,
}

/// The hunks between two texts; `None` if they cannot be shown whole.
pub(super) fn hunks(old: &str, new: &str) -> Option<Vec<DiffHunk>> {
    let diff = unified_diff("", old, new, DiffExtent::Brief(usize::MAX));
    let is_long = |line: &str| line.len() > LINE_CHARS && line.chars().count() > LINE_CHARS;
    if diff.cut_lines > 0 || diff.text.split('\n').any(is_long) {
        return None;
    }
    let mut found: Vec<DiffHunk> = Vec::new();
    for line in diff.text.split_inclusive('\n').skip(2) {
        if line.starts_with("@@") {
            let [old, new] = hunk_sides(line)?;
            let growth = new.len().cast_signed() - old.len().cast_signed();
            found.push(DiffHunk { text: String::new(), lines: new, growth });
        }
        found.last_mut()?.text.push_str(line);
    }
    Some(found)
}

/// How many lines further down the line `line` of the new text is than it was in the old one, where no hunk has it.
pub(super) fn shift(hunks: &[DiffHunk], line: usize) -> isize {
    hunks.iter().take_while(|hunk| hunk.lines.end <= line).map(|hunk| hunk.growth).sum()
}

/// Compares the file at the real path `real` with the rev `since`; an unchanged file is reduced to that statement.
pub(super) fn compared(cx: &CallContext, section: Section, real: &WorkspacePath, since: RevisionPrefix) -> Section {
    let now = section.facts.revision.as_deref().and_then(|revision| revision.parse().ok());
    let (state, sentence) = match now.map(|now| Base::of(cx, real, now, since)) {
        Some(Base::Same) => return section.unchanged(since),
        Some(Base::Former(_)) => ("changed", format!("changed since {since}; a diff would be longer")),
        Some(Base::Unknown) => ("unknown", format!("rev {since} is no longer known; nothing was compared")),
        Some(Base::Ambiguous) => {
            ("unknown", format!("rev {since} matches several states of the file; nothing was compared"))
        }
        None => {
            let why = "the file is too large for a rev, or changed while it was read; nothing was compared";
            ("unknown", why.to_owned())
        }
    };
    let closing = format!("({sentence})\n{}", section.closing);
    Section { closing, facts: ReadFacts { since: Some(state), ..section.facts }, ..section }
}

/// The content that a caller has, next to the file as it is now.
pub(crate) enum Base {
    Same,
    Former(Vec<u8>),
    Unknown,
    Ambiguous,
}

impl Base {
    /// Finds the caller's content of the file at the real path `path`, which is at `now`.
    pub(crate) fn of(cx: &CallContext, path: &WorkspacePath, now: Revision, since: RevisionPrefix) -> Self {
        let ledger = &cx.session.ledger;
        let mut known = ledger.revisions_of(path, |one| since.fits(one));
        known.extend(Some(now).filter(|now| since.fits(*now)));
        let mut known = known.into_iter();
        match (known.next(), known.next()) {
            (_, Some(_)) => Self::Ambiguous,
            (Some(revision), None) if revision == now => Self::Same,
            (Some(revision), None) => {
                let seen = ledger.content_of(path, |one| one == revision).map(|content| content.to_vec());
                seen.or_else(|| cx.session.history.content(revision)).map_or(Self::Unknown, Self::Former)
            }
            (None, None) => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_hunk_has_its_lines_in_the_new_text() {
        let old: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
        let mut new = old.clone();
        new[4] = "five".into();
        new.insert(5, "and more".into());
        new.remove(31);
        let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let found = hunks(&old, &new).unwrap();
        assert_eq!(found.iter().map(|hunk| hunk.lines.clone()).collect::<Vec<_>>(), [3..7, 30..32]);
        assert!(found[0].text.starts_with("@@ -4,3 +4,4 @@\n 4\n"), "{}", found[0].text);
        assert_eq!([0, 7, 20, 32, 39].map(|line| shift(&found, line)), [0, 1, 1, 0, 0]);
    }

    #[test]
    fn empty_ranges_are_where_the_text_was() {
        assert_eq!(hunks("a\nb\n", "").unwrap()[0].lines, 0..0);
        assert_eq!(hunks("", "a\n").unwrap()[0].lines, 0..1);
    }

    #[test]
    fn endless_lines_have_no_hunks() {
        assert_eq!(hunks(&"a".repeat(3000), "b\n"), None);
    }

    proptest! {
        /// Old lines that no hunk has are those of the new text, moved by the shift.
        #[test]
        fn lines_without_a_hunk_moved_by_the_shift(old in "([abc]\n){0,30}", new in "([abc]\n){0,30}") {
            let found = hunks(&old, &new).unwrap();
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            for (number, line) in new.iter().enumerate() {
                if !found.iter().any(|hunk| hunk.lines.contains(&number)) {
                    let before = number.checked_add_signed(-shift(&found, number)).unwrap();
                    prop_assert_eq!(Some(line), old.get(before));
                }
            }
        }
    }
}
