//! The hits of a content search in each file, and the reasons why it did not look into others.

use std::io;

use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::{Revision, Stat, Workspace, WorkspacePath, walk::WalkReport};
use text_file::Document;

use crate::documents::MetDocument;
use crate::{MetLinks, PathSource, ProgressReader};

#[derive(Debug, Default)]
pub struct ContentHits {
    pub files: Vec<(usize, Box<FileHits>)>,
    pub matches: usize,
    /// How often the pattern was found in the lines that are matches, at least once in each; 0 where a match is no single
    /// line (over several lines, or a file as a whole).
    pub occurrences: usize,
    pub matching_files: usize,
    pub capped: bool,
    pub stopped: Option<StopReason>,
    pub tally: Tally,
    /// In path order; none of them is searched here, see [`DocumentSearch`](crate::documents::DocumentSearch).
    pub documents: Vec<MetDocument>,
    pub skipped: SkippedPaths,
    pub walk: WalkReport,
    pub links: MetLinks,
    pub source: PathSource,
}

impl ContentHits {
    pub fn complete(&self) -> bool {
        !self.capped
            && self.stopped.is_none()
            && self.tally.skipped_as(Skipped::OutOfFiles) == 0
            && self.walk.limits_hit.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitLine {
    /// The line's number in the file, counted from 1.
    pub number: u64,
    pub text: String,
    /// Which match of the file it belongs to, counted from 0; `None` for context.
    pub hit: Option<usize>,
    /// Where the line is cut: the column of its match, or its first one, counted from 1.
    pub cut_at: Option<u64>,
    /// The innermost definition around it, where that was looked for: `fn load`.
    pub scope: Option<String>,
    /// The part of a document or a notebook that it is in, as `read` takes it: `page 3`, `cell 2 line 1`.
    pub part: Option<String>,
}

#[derive(Clone, Debug)]
pub struct SeenContent {
    pub revision: Revision,
    pub bytes: Option<Vec<u8>>,
    /// Whether it is UTF-8 without a byte-order mark or a carriage return.
    pub(super) is_plain: bool,
}

#[derive(Clone, Debug)]
pub struct FileHits {
    pub path: WorkspacePath,
    pub real: WorkspacePath,
    pub stat: Stat,
    /// Matches found in the file, to the limit of the search.
    pub matches: usize,
    pub occurrences: usize,
    pub lines: Vec<HitLine>,
    pub prototypes: bool,
    /// Whether it is a document, whose lines are those of its text.
    pub is_document: bool,
    pub seen: Option<SeenContent>,
    /// Bytes of text in `lines`.
    pub(super) bytes: usize,
    pub(super) cut: bool,
}

impl FileHits {
    /// No hits yet, in a document.
    pub(super) fn of_document(path: WorkspacePath, real: WorkspacePath, stat: Stat) -> Self {
        let (lines, seen) = (Vec::new(), None);
        let (matches, occurrences, bytes) = (0, 0, 0);
        Self {
            path,
            real,
            stat,
            matches,
            occurrences,
            lines,
            prototypes: false,
            is_document: true,
            seen,
            bytes,
            cut: false,
        }
    }

    /// The revision that the hits were seen in; reads a file again that was streamed, up to `limit` bytes.
    /// `None` when it is larger, has changed since, or the call was stopped.
    pub fn revision(&self, workspace: &Workspace, limit: u64, stop: &StopSignal) -> Option<Revision> {
        if let Some(seen) = &self.seen {
            return Some(seen.revision);
        }
        if self.stat.size > limit {
            return None;
        }
        let mut file = workspace.open_file(&self.real).ok()?;
        let mut reader = ProgressReader::new(&mut file, self.stat.size, stop, None);
        let revision = Revision::of_reader(&mut reader).ok()?;
        // What was hashed may be a later state than that of the hits.
        file.restat().ok()?.same_file_state(&self.stat).then_some(revision)
    }

    /// Whether the text is UTF-8 without a byte-order mark or a carriage return, where that is known.
    pub fn is_plain(&self) -> Option<bool> {
        if self.is_document { Some(true) } else { self.seen.as_ref().map(|seen| seen.is_plain) }
    }

    /// Unusual encoding and line ending of the file, in the words of `read`. Looks at its beginning again.
    pub fn unusual(&self, workspace: &Workspace) -> Vec<String> {
        let Ok(mut file) = workspace.open_file(&self.real) else { return Vec::new() };
        let mut head = Vec::new();
        let Ok(is_all) = file.read_to_limit(&mut head, text_file::HEAD_BYTES as u64) else { return Vec::new() };
        // A line that is cut may end within a character.
        if !is_all {
            head.truncate(text_file::whole_lines(&head).len());
        }
        Document::decode(head, None).map(|document| document.layout().unusual()).unwrap_or_default()
    }

    /// Bytes of text in its lines.
    pub fn text_bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of content that are handed on with the hits.
    pub(super) fn content(&self) -> usize {
        self.seen.as_ref().and_then(|seen| seen.bytes.as_ref()).map_or(0, Vec::len)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    Binary,
    /// Among [`ContentHits::documents`].
    Document,
    /// Over the size limit of directory searches.
    TooLarge,
    Secret,
    Unreadable,
    /// Too many files were open for it to be opened.
    OutOfFiles,
}

impl Skipped {
    const COUNT: usize = Self::OutOfFiles as usize + 1;
}

impl From<io::Error> for Skipped {
    fn from(_: io::Error) -> Self {
        Self::Unreadable
    }
}

/// Paths that were left out, each with the reason: the first ones, as many as an answer names.
#[derive(Clone, Debug, Default)]
pub struct SkippedPaths(Vec<(WorkspacePath, Skipped)>);

impl SkippedPaths {
    /// How many paths are kept.
    pub const MAX_NAMED: usize = 3;

    /// Adds a path, unless there are enough.
    pub fn push(&mut self, path: WorkspacePath, why: Skipped) {
        if self.0.len() < Self::MAX_NAMED {
            self.0.push((path, why));
        }
    }

    pub(super) fn add(&mut self, other: Self, count: usize) {
        other.0.into_iter().take(count).for_each(|(path, why)| self.push(path, why));
    }

    pub fn iter(&self) -> impl Iterator<Item = &(WorkspacePath, Skipped)> {
        self.0.iter()
    }
}

/// Lines that match and are no uses, in the files that were searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub definitions: usize,
    pub prototypes: usize,
    pub comments: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub searched: usize,
    /// Looked into without a match, and not UTF-8; counted for patterns beyond ASCII only.
    pub not_utf8: usize,
    pub left_out: LeftOut,
    pub(super) skipped: [usize; Skipped::COUNT],
}

impl Tally {
    pub fn skipped(&self) -> usize {
        self.skipped.iter().sum()
    }

    pub fn skipped_as(&self, why: Skipped) -> usize {
        self.skipped[why as usize]
    }

    pub(super) fn skip(&mut self, why: Skipped) {
        self.skipped[why as usize] += 1;
    }

    pub(super) fn plus(mut self, other: Self) -> Self {
        self.searched += other.searched;
        self.not_utf8 += other.not_utf8;
        self.left_out.definitions += other.left_out.definitions;
        self.left_out.prototypes += other.left_out.prototypes;
        self.left_out.comments += other.left_out.comments;
        self.skipped.iter_mut().zip(other.skipped).for_each(|(sum, files)| *sum += files);
        self
    }
}
