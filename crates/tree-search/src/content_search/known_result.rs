//! What the indexes know of the result for a file, and what the stored index knows of the files that a walk meets.
//!
//! A result counts only for a file that a stat of now shows in the state that the index knows. Names, ignore rules and
//! policy are the walk's to decide.

use std::{
    ffi::OsStr,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use confined_fs::{Entry, EntryOrigin, FileKind, SiblingCache, StatFacts};

use crate::{
    Candidates, FilterQuery, KnownContent, MayMatch, Pattern, Skipped,
    path_index::PathText,
    stored_index::{StoredCursor, StoredIndex},
};

/// The results for one pattern below one root.
#[derive(Debug)]
pub(super) struct StoredResults {
    cursor: StoredCursor,
    candidates: Candidates,
    /// Files of which nothing is known.
    pub(super) unknown: usize,
}

/// The result for a file, as long as it is in a state.
#[derive(Clone, Debug)]
pub(super) struct StoredResult {
    pub(super) facts: StatFacts,
    /// Why it is left out; `None` where it holds no match.
    pub(super) skipped: Option<Skipped>,
}

impl StoredResults {
    /// What `index` knows about `pattern`; `None` where that is nothing.
    pub(super) fn of(index: &Arc<StoredIndex>, pattern: &Pattern) -> Option<Self> {
        let candidates = index.candidates(FilterQuery::of(pattern)).filter(|candidates| !candidates.all())?;
        Some(Self { candidates, cursor: index.cursor(), unknown: 0 })
    }

    /// What is known of the result for a file, by its path below the root, as long as it has those facts.
    pub(super) fn of_file(
        &mut self,
        relative: &Path,
        max_file_size: u64,
        searches_decoded: bool,
    ) -> Option<(KnownResult, StatFacts)> {
        let Some(stored) = self.cursor.file(relative) else {
            self.unknown += 1;
            return None;
        };
        let result = KnownResult::of(&stored.content, &mut self.candidates, max_file_size, searches_decoded);
        Some((result, stored.facts))
    }
}

/// Consecutive files of one directory that hold no match as long as they are in known states.
#[derive(Clone, Debug)]
pub(super) struct UnmatchedFiles {
    origin: EntryOrigin,
    /// Its path below the root.
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

    /// How many they are.
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

    /// The file at that position, to be searched.
    pub(super) fn entry(&self, at: usize) -> Entry {
        self.origin.entry(&self.directory.join(self.names.get(at)), FileKind::File)
    }
}

impl StoredResult {
    /// Whether the file is in that state now. Where policy or a special file would keep it from being read, it is not.
    pub(super) fn is_of(&self, entry: &Entry, siblings: &mut SiblingCache) -> bool {
        entry.stat_to_read(siblings).is_some_and(|stat| stat.links() == 1 && stat.facts() == Some(self.facts))
    }
}

/// What is known of the result for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KnownResult {
    /// It holds no match.
    NoMatch,
    /// It is left out.
    Skipped(Skipped),
    /// It has to be searched, but these lines alone.
    Within(Vec<Range<u32>>),
    /// It has to be searched.
    Anywhere,
}

impl KnownResult {
    /// What `candidates` leave of a file with that content. `searches_decoded`: whether the pattern is searched in what
    /// files that are not UTF-8 decode to, which the filter does not know.
    pub(super) fn of(
        content: &KnownContent,
        candidates: &mut Candidates,
        max_file_size: u64,
        searches_decoded: bool,
    ) -> Self {
        match content {
            KnownContent::Secret => Self::Skipped(Skipped::Secret),
            KnownContent::Binary(bytes) if u64::from(*bytes) <= max_file_size => Self::Skipped(Skipped::Binary),
            KnownContent::Filtered(_, _, false) if searches_decoded => Self::Anywhere,
            KnownContent::Filtered(segments, bytes, _) if u64::from(*bytes) <= max_file_size => {
                match candidates.may_match(segments) {
                    MayMatch::Nowhere => Self::NoMatch,
                    MayMatch::Within(lines) => Self::Within(lines),
                    MayMatch::Anywhere => Self::Anywhere,
                }
            }
            _ => Self::Anywhere,
        }
    }
}
