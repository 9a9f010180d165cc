//! The results that the indexes know, and [`SearchItem`], a file of a search with what is known of its result.
//!
//! A result counts only for a file that a stat of now shows in the state that the index knows. Names, ignore rules and
//! policy are the walk's to decide.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, ops::Range, sync::Arc};

use confined_fs::walk::{Entry, EntryOrigin, SiblingCache};
use confined_fs::{FileKind, StatFacts, WorkspacePath};

use crate::stored_index::{StoredCursor, StoredIndex};
use crate::{Candidates, FilterQuery, KnownContent, MayMatch, Pattern, Skipped, Tally, path_index::PathText};

#[derive(Debug)]
pub(super) struct StoredResults {
    cursor: StoredCursor,
    candidates: Candidates,
    pub(super) unknown: usize,
}

/// A file that a search met, or files of which the result is known.
#[derive(Clone, Debug)]
pub(super) enum SearchItem {
    /// To be searched, unless what is known of it says that this is not needed.
    File(Entry, Expected),
    /// Consecutive files of a directory that hold no match, by what is known; that has to be checked first.
    Unmatched(Box<UnmatchedFiles>),
    /// Consecutive files that need not be opened: the path index knows their result.
    Counted(Tally),
    LeftOut(WorkspacePath, Skipped),
}

/// The result to expect for a file, as long as it is in a state.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    Unknown,
    Within(Vec<Range<u32>>, u64),
    /// No match, or that it is left out, as long as it has those facts.
    Result(Box<(Option<Skipped>, StatFacts)>),
}

impl Expected {
    /// The expectation that `left` is for a file as long as it has the fingerprint `state`; `None` where that is not known.
    pub(super) fn within(left: MayMatch, state: Option<u64>) -> Self {
        match (left, state) {
            (MayMatch::Within(lines), Some(state)) => Self::Within(lines, state),
            _ => Self::Unknown,
        }
    }

    /// The expectation by what the stored index knows of a file, as long as it has those facts.
    pub(super) fn stored(known: Option<(Result<MayMatch, Skipped>, StatFacts)>) -> Self {
        match known {
            Some((Ok(MayMatch::Nowhere), facts)) => Self::Result(Box::new((None, facts))),
            Some((Ok(left), facts)) => Self::within(left, Some(facts.fingerprint())),
            Some((Err(why), facts)) => Self::Result(Box::new((Some(why), facts))),
            None => Self::Unknown,
        }
    }
}

impl StoredResults {
    /// Asks `index` about `pattern`; `None` where it knows nothing.
    pub(super) fn of(index: &Arc<StoredIndex>, pattern: &Pattern) -> Option<Self> {
        let candidates = index.candidates(FilterQuery::of(pattern)).filter(|candidates| !candidates.all())?;
        Some(Self { candidates, cursor: index.cursor(), unknown: 0 })
    }

    /// The known result for the file at that path below the root, as long as it has those facts.
    pub(super) fn of_file(
        &mut self,
        relative: &Path,
        max_file_size: u64,
        searches_decoded: bool,
    ) -> Option<(Result<MayMatch, Skipped>, StatFacts)> {
        let Some(stored) = self.cursor.file(relative) else {
            self.unknown += 1;
            return None;
        };
        let result = known_result(&stored.content, &mut self.candidates, max_file_size, searches_decoded);
        Some((result, stored.facts))
    }
}

/// Consecutive files of one directory that hold no match as long as they are in known states.
#[derive(Clone, Debug)]
pub(super) struct UnmatchedFiles {
    origin: EntryOrigin,
    directory: PathBuf,
    names: PathText,
    facts: Vec<StatFacts>,
}

impl UnmatchedFiles {
    /// None yet, in the directory of that path below the root.
    pub(super) fn new(origin: &EntryOrigin, directory: &Path) -> Self {
        let (names, facts) = (PathText::default(), Vec::new());
        Self { origin: origin.clone(), directory: directory.to_path_buf(), names, facts }
    }

    /// Adds a file of that directory; false where it is in another one.
    pub(super) fn push(&mut self, directory: &Path, name: &OsStr, facts: StatFacts) -> bool {
        let is_here = self.directory.as_os_str() == directory.as_os_str();
        if is_here {
            self.names.push(Path::new(name));
            self.facts.push(facts);
        }
        is_here
    }

    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether the file at that position is in the known state now. Policy is the same as when that was kept: it belongs to
    /// the identity of the stored index.
    pub(super) fn is_unchanged(&self, at: usize, siblings: &mut SiblingCache) -> bool {
        let stat = self.origin.stat(&self.directory, self.names.get(at).as_os_str(), siblings);
        stat.is_some_and(|stat| {
            stat.kind == FileKind::File && stat.links() == 1 && stat.facts() == Some(self.facts[at])
        })
    }

    pub(super) fn entry(&self, at: usize) -> Entry {
        self.origin.entry(&self.directory.join(self.names.get(at)), FileKind::File)
    }
}

/// Whether the file has these facts now. Where policy or a special file would keep it from being read, it has not.
pub(super) fn has_facts(entry: &Entry, facts: StatFacts, siblings: &mut SiblingCache) -> bool {
    entry.stat_to_read(siblings).is_some_and(|stat| stat.links() == 1 && stat.facts() == Some(facts))
}

/// Where `candidates` leave a match in a file with that content, or why it is left out. `searches_decoded`: whether the
/// pattern is searched in what files that are not UTF-8 decode to, which the filter does not know.
pub(super) fn known_result(
    content: &KnownContent,
    candidates: &mut Candidates,
    max_file_size: u64,
    searches_decoded: bool,
) -> Result<MayMatch, Skipped> {
    match content {
        KnownContent::Secret => Err(Skipped::Secret),
        KnownContent::Binary(bytes) if u64::from(*bytes) <= max_file_size => Err(Skipped::Binary),
        KnownContent::Filtered(_, _, false) if searches_decoded => Ok(MayMatch::Anywhere),
        KnownContent::Filtered(segments, bytes, _) if u64::from(*bytes) <= max_file_size => {
            Ok(candidates.may_match(segments))
        }
        // Of a larger file the search decides: one that is named is searched whatever its size.
        _ => Ok(MayMatch::Anywhere),
    }
}
