//! The notes below the lines of content mode: on the files they are from, and on lines that are cut.

use confined_fs::Workspace;
use tree_search::ContentHits;

use crate::tools::{answer::count, hidden_note::HiddenNote};

use super::{output::MatchLine, page::Page};

/// Files whose unusual encoding or line ending a note names.
const NAMED: usize = 3;
/// Columns that a note advises to read of a line that is cut, and how many of them are before its match.
const COLUMNS: u64 = 2000;
const COLUMNS_BEFORE: u64 = 200;

/// Shown files that are not UTF-8 with LF: an edit keeps that, and it is not seen in the lines.
#[derive(Debug, Default)]
pub(super) struct UnusualFiles {
    /// The first ones by their places on the page, each with its unusual encoding or line ending.
    pub(super) named: Vec<(usize, Vec<String>)>,
    more: usize,
}

impl UnusualFiles {
    pub(super) fn of(workspace: &Workspace, found: &ContentHits, page: &Page) -> Self {
        let mut unusual = Self::default();
        for (place, (at, lines)) in page.files.iter().enumerate() {
            let hits = &found.files[*at].1;
            if lines.is_empty() || hits.is_plain() == Some(true) {
                continue;
            }
            let all_named = unusual.named.len() == NAMED;
            if all_named && hits.is_plain().is_some() {
                unusual.more += 1;
                continue;
            }
            let words = hits.unusual(workspace);
            if !words.is_empty() && all_named {
                unusual.more += 1;
            } else if !words.is_empty() {
                unusual.named.push((place, words));
            }
        }
        unusual
    }

    /// `(a.txt: windows-1252, CRLF; b.txt: CRLF)`.
    pub(super) fn note(&self, found: &ContentHits, page: &Page) -> Option<String> {
        let file = |(place, words): &(usize, Vec<String>)| {
            format!("{}: {}", found.files[page.files[*place].0].1.path, words.join(", "))
        };
        let mut parts: Vec<String> = self.named.iter().map(file).collect();
        let verb = if self.more == 1 { "is" } else { "are" };
        parts.extend((self.more > 0).then(|| format!("{} {verb} not UTF-8 with LF", count(self.more, "more file"))));
        (!parts.is_empty()).then(|| format!("({})", parts.join("; ")))
    }
}

/// Where the lines hold characters that one does not see. The column of a line that is cut is not known.
pub(super) fn hidden_note(found: &ContentHits, page: &Page) -> Option<String> {
    let mut note = HiddenNote::default();
    for (at, lines) in &page.files {
        let path = &found.files[*at].1.path;
        for MatchLine { number, text, cut_at, .. } in lines {
            match (page.files.len(), cut_at) {
                (1, None) => note.look(number, text),
                (_, None) => note.look(format_args!("{path}:{number}"), text),
                (_, Some(_)) => note.look_at_part(format_args!("{path}:{number}"), text),
            }
        }
    }
    note.text()
}

/// How to get the rest of the first line that is cut. `is_one_file`: a heading names it.
pub(super) fn cut_note(found: &ContentHits, page: &Page, is_one_file: bool) -> Option<String> {
    let cut = |(at, lines): &(usize, Vec<MatchLine>)| {
        // A line that matches, before its context.
        let line = lines.iter().filter(|line| line.cut_at.is_some()).min_by_key(|line| line.context)?;
        Some((*at, line.number, line.cut_at?))
    };
    let (at, number, column) = page.files.iter().find_map(cut)?;
    let first = column.saturating_sub(COLUMNS_BEFORE).max(1);
    let last = first + COLUMNS - 1;
    let path = &found.files[at].1.path;
    let file = if is_one_file { String::new() } else { format!(" of {path}") };
    Some(format!("(more of line {number}{file}: read part=\"columns {first}-{last}\")"))
}

/// The note on files whose letters beyond ASCII are other bytes than the pattern's.
pub(super) fn not_utf8_note(files: usize) -> String {
    let (verb, them) = if files == 1 { ("is", "it") } else { ("are", "them") };
    format!(
        "({} without a match {verb} not UTF-8: characters beyond ASCII are not found in {them}; search for an ASCII part of the text)",
        count(files, "file")
    )
}
