//! Searches one file at a time with buffers that live as long as the worker.
//!
//! [`FileResult`] is the result for a file. A small file costs one read and
//! one pass of the matcher's prefilter; a large one is streamed.
//! Never maps a file: a truncation under a mapped reader ends the process with SIGBUS.
//!
//! # Map
//! `file_text` reads a small file and tells whether it is text, `required_bytes` leaves it out where no match can be in it.
//! The searcher runs an [`InterruptibleMatcher`] and hands lines to `collector`. In a file with a match, `definitions` finds
//! the definitions that are meant, or the lines that are no uses.
//!
//! # Stopping
//! A regex engine cannot be interrupted, and some patterns need a millisecond for a byte. Where no
//! match spans lines, a buffer is searched piece by piece, each piece whole lines: the
//! answer is the same, and a slow pattern stops after the current piece.
//!
//! # Limits
//! A multiline pattern, and one line however long, is searched in one piece.

use std::cell::{Cell, OnceCell};
use std::io::{self, Cursor, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::walk::{Entry, SiblingCache};
use confined_fs::{AccessError, AccessErrorKind, OpenFile, Revision, Workspace, WorkspacePath};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use text_file::{DOCUMENT_HEAD_BYTES, document_format, is_document_name};

use super::collector::{Collector, FileMatches};
use super::definitions::{DefinitionSearch, NoUses, failed};
use super::known_result::{Expected, UnmatchedFiles, has_facts};
use super::required_bytes::RequiredBytes;
use crate::documents::MetDocument;
use crate::file_text::{FileContent, MAX_SMALL, read_long_line, read_small, stopped_error};
use crate::{BeyondAscii, FileHits, ProgressReader, Query, SearchMode, SeenContent, Skipped, Tally};

pub(super) use crate::content_search::collector::FileLimits;

#[derive(Debug)]
pub(super) enum FileResult {
    Done {
        hits: Option<Box<FileHits>>,
        /// The call was stopped within the file: there may be more.
        stopped: Option<StopReason>,
        /// One file, and what else there is to count of it.
        tally: Tally,
    },
    Skipped(WorkspacePath, Skipped),
    Document(Box<MetDocument>),
    /// No longer there, or no regular file: nothing to report.
    Gone,
}

impl FileResult {
    fn nothing() -> Self {
        Self::Done { hits: None, stopped: None, tally: Tally { searched: 1, ..Tally::default() } }
    }
}

const SMALL_FILE: u64 = MAX_SMALL as u64;
/// Bytes of the longest line, and of the largest file in a multiline search.
const MAX_HEAP_BYTES: usize = 64 << 20;
const HEAP_FILE: u64 = MAX_HEAP_BYTES as u64;
/// Bytes up to which the content of a file with hits is handed on to the ledger.
const KEPT_CONTENT: usize = 64 << 10;

/// How long a search waits until fewer files are open, and how often in all.
const OPEN_FILES_WAIT: Duration = Duration::from_millis(10);
const MAX_WAITS: u32 = 50;

/// The searcher of one thread, with buffers that are used again.
pub(super) struct Worker<'a> {
    pub(super) workspace: &'a Workspace,
    query: &'a Query<'a>,
    matcher: RegexMatcher,
    pub(super) beyond_ascii: BeyondAscii,
    searcher: Searcher,
    buffer: Vec<u8>,
    /// Bytes that are searched between two looks at the clock; learnt while the worker works.
    piece_size: Cell<usize>,
    pub(super) siblings: SiblingCache,
    required: OnceCell<Option<RequiredBytes>>,
    /// Files that were in another state than the stored index knows, and those that it answered for.
    pub(super) outdated: usize,
    pub(super) answered: usize,
    /// How often it has waited until fewer files are open.
    waits: u32,
}

/// The content of one opened file that is searched, and how much of it may be kept.
struct SearchTarget<'t> {
    content: FileContent<'t>,
    /// Bytes of the file when it was opened.
    size: u64,
    limits: FileLimits,
    /// Named by the caller: the result is more exact.
    named: bool,
    /// Lines that are no uses, ascending; `None` where it is only asked whether there is a match.
    no_uses: Option<&'t [u64]>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(workspace: &'a Workspace, query: &'a Query<'a>) -> Self {
        Self {
            workspace,
            query,
            matcher: query.pattern.matcher.clone(),
            beyond_ascii: query.pattern.beyond_ascii(),
            searcher: builder(query).build(),
            buffer: Vec::new(),
            piece_size: Cell::new(FIRST_PIECE),
            siblings: SiblingCache::default(),
            required: OnceCell::new(),
            outdated: 0,
            answered: 0,
            waits: 0,
        }
    }

    pub(super) fn search(&mut self, entry: Entry, expected: &Expected, limits: FileLimits) -> FileResult {
        // None is recognised in files of that name.
        if matches!(self.query.mode, SearchMode::Definitions { .. })
            && !source_outline::may_have_definitions(&entry.path().to_string())
        {
            return FileResult::nothing();
        }
        if let Expected::Result(known) = expected {
            let (skipped, facts) = **known;
            if has_facts(&entry, facts, &mut self.siblings) {
                self.answered += 1;
                return skipped.map_or_else(FileResult::nothing, |why| FileResult::Skipped(entry.into_path(), why));
            }
            self.outdated += 1;
        }
        match entry.open_among(&mut self.siblings) {
            Ok(file) => self.search_open(file, expected, limits, false),
            Err(error) => match self.open_later(error) {
                Ok(file) => self.search_open(file, expected, limits, false),
                Err(error) => skipped_by(error),
            },
        }
    }

    /// Opens a file once more that could not be opened as too many are open: those of another call, or of the walk that keeps
    /// the paths of a tree, are closed in a moment.
    fn open_later(&mut self, mut error: AccessError) -> Result<OpenFile, AccessError> {
        let is_limit =
            |error: &AccessError| matches!(&error.kind, AccessErrorKind::Limit(limit) if limit.is_open_files());
        while is_limit(&error) && self.waits < MAX_WAITS && self.query.stop.stopped().is_none() {
            self.waits += 1;
            thread::sleep(OPEN_FILES_WAIT);
            error = match self.workspace.open_file(&error.path) {
                Ok(file) => return Ok(file),
                Err(error) => error,
            };
        }
        Err(error)
    }

    /// Searches the file of that path. `named`: the caller asked about this one, whatever its size.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn search_path(
        &mut self,
        path: &WorkspacePath,
        limits: FileLimits,
        named: bool,
    ) -> Result<FileResult, AccessError> {
        let file = self.workspace.open_file(path)?;
        Ok(self.search_open(file, &Expected::Unknown, limits, named))
    }

    /// Whether a file still is in the state in which it holds no match.
    pub(super) fn is_unmatched(&mut self, files: &UnmatchedFiles, at: usize) -> bool {
        let is_unchanged = files.is_unchanged(at, &mut self.siblings);
        *if is_unchanged { &mut self.answered } else { &mut self.outdated } += 1;
        is_unchanged
    }

    /// Whether the file is in that state and none of `lines` matches.
    fn holds_none(&mut self, file: &mut OpenFile, lines: &[Range<u32>], state: u64) -> bool {
        if file.stat().fingerprint() != state {
            return false;
        }
        let matcher =
            InterruptibleMatcher { inner: &self.matcher, stop: self.query.stop, piece_size: &self.piece_size };
        for range in lines {
            self.buffer.resize(self.buffer.len().max(range.len()), 0);
            let lines = &mut self.buffer[..range.len()];
            let read = file.seek(SeekFrom::Start(range.start.into())).and_then(|_| file.read_exact(lines));
            // A stopped search is no answer, and the search of the whole says why.
            if read.is_err() || !matches!(matcher.find_candidate_line(lines), Ok(None)) {
                return false;
            }
        }
        // Written meanwhile, the lines that were read may be of no single state of the file.
        file.restat().is_ok_and(|stat| stat.fingerprint() == state)
    }

    fn search_open(&mut self, mut file: OpenFile, expected: &Expected, limits: FileLimits, named: bool) -> FileResult {
        match self.search_file(&mut file, expected, limits, named) {
            Ok(searched) => searched,
            Err(Skipped::Document) => {
                let (path, real, stat) = (file.path().clone(), file.real_path().clone(), file.stat().clone());
                FileResult::Document(Box::new(MetDocument { path, real, stat }))
            }
            Err(why) => FileResult::Skipped(file.into_path(), why),
        }
    }

    fn search_file(
        &mut self,
        file: &mut OpenFile,
        expected: &Expected,
        limits: FileLimits,
        named: bool,
    ) -> Result<FileResult, Skipped> {
        if let Expected::Within(lines, state) = expected {
            if self.holds_none(file, lines, *state) {
                return Ok(FileResult::nothing());
            }
            file.rewind()?;
        }
        let size = file.stat().size;
        let is_too_large = !named && size > self.query.max_file_size;
        // Before it is read whole: only its beginning says that it is one.
        let may_be_document = is_document_name(file.path().relative());
        if (may_be_document || is_too_large || size > SMALL_FILE) && is_document(file)? {
            return Err(Skipped::Document);
        }
        if is_too_large {
            return Err(Skipped::TooLarge);
        }
        if size > text_file::HEAD_BYTES as u64 && file.is_mostly_holes() {
            return Err(Skipped::Binary);
        }
        let (length, whole) = match size {
            0..=SMALL_FILE => read_small(file, size, &mut self.buffer)?,
            0..=HEAP_FILE if !self.query.pattern.multiline() => read_long_line(file, size, &mut self.buffer)?,
            _ => (0, false),
        };
        if whole && !may_be_document && document_format(file.path().relative(), &self.buffer[..length]).is_some() {
            return Err(Skipped::Document);
        }
        if whole && !named && self.rules_out(length) {
            return Ok(FileResult::nothing());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let content = FileContent { bytes: &buffer[..length], whole };
        let target = SearchTarget { content, size, limits, named, no_uses: None };
        let found = self.search_text(file, &target);
        let found = found.and_then(|found| match self.query.mode {
            SearchMode::Definitions { prototypes } if found.matches > 0 && found.stopped.is_none() => {
                let wanted = self.query.names.unwrap_or(self.query.pattern);
                DefinitionSearch { names: &wanted.matcher, prototypes, limits, stop: self.query.stop }
                    .search(file, content)
            }
            SearchMode::Uses { .. } if found.matches > 0 && found.stopped.is_none() => {
                let no_uses = match NoUses::of(file, content, &self.matcher, self.query.stop) {
                    Ok(no_uses) => no_uses,
                    Err(error) => return failed(self.query.stop, &error),
                };
                let uses = self.search_text(file, &SearchTarget { no_uses: Some(&no_uses.lines), ..target })?;
                Ok(FileMatches { left_out: no_uses.left_out, ..uses })
            }
            _ => Ok(found),
        });
        let searched = found.map(|found| {
            let stopped = found.stopped;
            let is_utf8 = !found.undecoded || found.matches > 0 || stopped.is_some();
            let (not_utf8, left_out) = (usize::from(!is_utf8), found.left_out);
            let tally = Tally { searched: 1, not_utf8, left_out, ..Tally::default() };
            // Of a file that was left early it is not known whether it holds a match.
            let is_result = self.query.is_result(found.matches) && (found.matches > 0 || stopped.is_none());
            let hits = is_result.then(|| self.file_hits(file, content, limits, found));
            FileResult::Done { hits, stopped, tally }
        });
        self.buffer = buffer;
        searched
    }

    fn rules_out(&mut self, length: usize) -> bool {
        let content = &self.buffer[..length];
        // What is not UTF-8 may be searched in another form, and a file without a match may itself be a result.
        if self.query.mode == SearchMode::FilesWithout
            || length > MAX_SMALL
            || Encoding::for_bom(content).is_some()
            || self.beyond_ascii.searches_decoded() && !content.is_ascii()
        {
            return false;
        }
        self.required.get_or_init(|| RequiredBytes::of(self.query.pattern));
        let Some(Some(required)) = self.required.get_mut() else { return false };
        // A file with a NUL is left out as binary, which the answer counts.
        required.rules_out(content) && memchr::memchr(0, content).is_none()
    }

    fn file_hits(
        &self,
        file: &OpenFile,
        content: FileContent<'_>,
        limits: FileLimits,
        found: FileMatches,
    ) -> Box<FileHits> {
        let FileMatches { lines, bytes, matches, occurrences, cut, .. } = found;
        let shown = self.query.mode.is_of_lines() && !lines.is_empty();
        let prototypes = self.query.mode == SearchMode::Definitions { prototypes: true };
        let seen = (shown && content.whole).then(|| SeenContent {
            revision: Revision::of(content.bytes),
            bytes: (content.bytes.len() <= KEPT_CONTENT.min(limits.content)).then(|| content.bytes.to_vec()),
            is_plain: content.is_plain(),
        });
        let (path, real, stat) = (file.path().clone(), file.real_path().clone(), file.stat().clone());
        let is_document = false;
        Box::new(FileHits { path, real, stat, matches, occurrences, lines, prototypes, is_document, seen, bytes, cut })
    }

    /// Searches what `read` would show of the file. Its bytes are searched first: where they are UTF-8 they are the
    /// text, and for a pattern of ASCII alone nearly every other encoding has the same. A file in another encoding in
    /// which something may match, or is to be shown, is decoded and searched again.
    fn search_text(&mut self, file: &mut OpenFile, target: &SearchTarget<'_>) -> Result<FileMatches, Skipped> {
        let content = target.content.bytes;
        let marked = Encoding::for_bom(content).is_some();
        if target.content.whole && (marked || text_file::is_padded(content)) {
            return self.search_decoded(file, target);
        }
        // A NUL anywhere, as where a larger file is streamed.
        let late = target.content.whole && content.len() > MAX_SMALL && memchr::memchr(0, content).is_some();
        let mut found = if late {
            FileMatches { binary: true, ..FileMatches::default() }
        } else {
            self.run(file, target, Input::Bytes(None))?
        };
        if !marked && !found.binary && found.foreign && !target.content.is_utf8(file)? {
            let encoding = target.content.encoding(file)?;
            let damaged = encoding == Some(UTF_8);
            match self.beyond_ascii {
                _ if encoding.is_none() => {}
                // Once more, with the lines as they are to be shown.
                BeyondAscii::Bytes => found = self.run(file, target, Input::Bytes(encoding))?,
                BeyondAscii::Nothing if damaged => {}
                _ => found = self.search_decoded(file, target)?,
            }
            found.undecoded = damaged && self.beyond_ascii == BeyondAscii::Named;
        }
        if found.binary && target.content.may_be_text(file)? {
            return self.search_decoded(file, target);
        }
        // The searcher looks for NUL in what comes first and in matching lines. That is enough among
        // many files; not for one that is named, or that is shown for having no match.
        let is_exact = target.named || self.query.mode == SearchMode::FilesWithout;
        let is_binary = found.binary
            || is_exact && found.matches == 0 && target.content.whole && memchr::memchr(0, content).is_some()
            || (is_exact || found.matches > 0) && text_file::binary_kind(content).is_some();
        if is_binary { Err(Skipped::Binary) } else { Ok(found) }
    }

    /// Searches what the file decodes to; an error if that is not text.
    fn search_decoded(&mut self, file: &mut OpenFile, target: &SearchTarget<'_>) -> Result<FileMatches, Skipped> {
        let found = if target.content.whole && target.content.bytes.len() <= text_file::HEAD_BYTES {
            let mut text = text_file::view(target.content.bytes, None).map_err(|_| Skipped::Binary)?;
            if memchr::memchr(0, text.as_bytes()).is_some() {
                text = text.replace('\0', "").into();
            }
            self.run(file, target, Input::Decoded(&text))
        } else {
            let encoding = target.content.encoding(file)?.ok_or(Skipped::Binary)?;
            self.run(file, target, Input::Stream(encoding))
        };
        found.and_then(|found| if found.binary { Err(Skipped::Binary) } else { Ok(found) })
    }

    fn run(
        &mut self,
        file: &mut OpenFile,
        target: &SearchTarget<'_>,
        input: Input<'_>,
    ) -> Result<FileMatches, Skipped> {
        let stop = self.query.stop;
        let content = target.content.bytes;
        let slice = match input {
            Input::Decoded(text) => Some(text.as_bytes()),
            Input::Bytes(_) => target.content.whole.then_some(content),
            Input::Stream(_) => None,
        };
        let shown_in = if let Input::Bytes(encoding) = input { encoding } else { None };
        let (mut is_ascii, mut nuls) = (true, 0);
        let (matcher, mode, limits, found) = (&self.matcher, self.query.mode, target.limits, FileMatches::default());
        let no_uses = target.no_uses;
        let mut sink = Collector { matcher, mode, limits, stop, whole: slice, found, encoding: shown_in, no_uses };
        let matcher = InterruptibleMatcher { inner: matcher, stop, piece_size: &self.piece_size };
        let result = if let Some(content) = slice {
            self.searcher.search_slice(&matcher, content, &mut sink)
        } else {
            // What a small file that grew had at first, then the rest.
            file.seek(SeekFrom::Start(content.len() as u64))?;
            // Of one file among many, the number of files is enough.
            let report = target.named.then_some(self.query.progress);
            let mut reader = ProgressReader::new(Cursor::new(content).chain(file), target.size, stop, report);
            let result = if let Input::Stream(encoding) = input {
                let is_utf16 = encoding == UTF_16LE || encoding == UTF_16BE;
                reader.nuls = (!is_utf16).then_some(0);
                let encoding = grep_searcher::Encoding::new(encoding.name()).ok();
                let mut builder = builder(self.query);
                builder.binary_detection(BinaryDetection::none()).encoding(encoding);
                builder.build().search_reader(&matcher, &mut reader, &mut sink)
            } else {
                self.searcher.search_reader(&matcher, &mut reader, &mut sink)
            };
            (is_ascii, nuls) = (reader.is_ascii, reader.nuls.unwrap_or_default());
            result
        };
        let mut found = sink.found;
        if found.matches <= target.limits.skip {
            (found.lines, found.bytes) = (Vec::new(), 0);
        }
        found.binary |= nuls > target.size / 2;
        if self.beyond_ascii.searches_decoded() {
            found.foreign |= !is_ascii || slice.is_some_and(|content| !content.is_ascii());
        }
        if let Err(error) = result {
            match stop.stopped() {
                // Only an error of that kind is of our own making, or of the searcher's.
                Some(reason) if error.kind() == io::ErrorKind::Other => found.stopped = Some(reason),
                // The searcher's heap limit: one line, or for multiline the file, is too long.
                _ if error.kind() == io::ErrorKind::Other => return Err(Skipped::TooLarge),
                _ => return Err(Skipped::Unreadable),
            }
        }
        Ok(found)
    }
}

impl Worker<'_> {
    /// Searches text that is in memory, in a mode other than that of definitions.
    pub(super) fn search_text_of_document(&mut self, text: &str, mode: SearchMode, limits: FileLimits) -> FileMatches {
        let (matcher, stop, found) = (&self.matcher, self.query.stop, FileMatches::default());
        let mut sink = Collector { matcher, mode, limits, stop, whole: None, found, encoding: None, no_uses: None };
        let matcher = InterruptibleMatcher { inner: matcher, stop, piece_size: &self.piece_size };
        let searched = self.searcher.search_slice(&matcher, text.as_bytes(), &mut sink);
        let mut found = sink.found;
        if found.matches <= limits.skip {
            (found.lines, found.bytes) = (Vec::new(), 0);
        }
        if searched.is_err() {
            // It fails only where it is stopped: the text is in memory, and no larger than a line may be.
            found.stopped = stop.stopped();
        }
        found
    }
}

#[derive(Clone, Copy)]
enum Input<'i> {
    /// Its bytes, whose lines are shown in that encoding, or else as UTF-8.
    Bytes(Option<&'static Encoding>),
    Decoded(&'i str),
    Stream(&'static Encoding),
}

fn builder(query: &Query<'_>) -> SearcherBuilder {
    let (before, after) = query.mode.context().unwrap_or_default();
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(query.mode.context().is_some())
        .before_context(before)
        .after_context(after)
        .multi_line(query.pattern.multiline())
        // As ripgrep: what holds a NUL is no text.
        .binary_detection(BinaryDetection::quit(0))
        // Else the buffer grows with the longest line.
        .heap_limit(Some(MAX_HEAP_BYTES));
    builder
}

/// Whether the file is a document, by its beginning; it is read from its start afterwards.
fn is_document(file: &mut OpenFile) -> io::Result<bool> {
    let mut head = Vec::new();
    let mut found = false;
    // Most are recognised by their first bytes; archives with another first part, by all that `read` looks at.
    for most in [DOCUMENT_HEAD_BYTES, text_file::HEAD_BYTES] {
        file.by_ref().take((most - head.len()) as u64).read_to_end(&mut head)?;
        found = document_format(file.path().relative(), &head).is_some();
        if found || !head.starts_with(b"PK") {
            break;
        }
    }
    file.rewind()?;
    Ok(found)
}

fn skipped_by(error: AccessError) -> FileResult {
    let why = match &error.kind {
        // Replaced since the walk met it: as if the walk had been a moment later.
        AccessErrorKind::NotFound | AccessErrorKind::Special(_) | AccessErrorKind::IsDirectory => {
            return FileResult::Gone;
        }
        AccessErrorKind::Secret => Skipped::Secret,
        AccessErrorKind::Limit(limit) if limit.is_open_files() => Skipped::OutOfFiles,
        AccessErrorKind::TooLarge { .. } => Skipped::TooLarge,
        _ => Skipped::Unreadable,
    };
    FileResult::Skipped(error.path, why)
}

/// Bytes of the first piece, and bounds of later ones.
const FIRST_PIECE: usize = 4 << 10;
const MIN_PIECE: usize = 256;
const MAX_PIECE: usize = 256 << 10;
/// A piece that took less is followed by a larger one, one that took more by a smaller one.
const QUICK_PIECE: Duration = Duration::from_micros(200);
const SLOW_PIECE: Duration = Duration::from_millis(5);

/// A matcher that fails once the call should stop.
#[derive(Debug)]
struct InterruptibleMatcher<'a> {
    inner: &'a RegexMatcher,
    stop: &'a StopSignal,
    piece_size: &'a Cell<usize>,
}

impl InterruptibleMatcher<'_> {
    fn check(&self) -> io::Result<()> {
        self.stop.stopped().map_or(Ok(()), |_| Err(stopped_error()))
    }
}

/// Turns an error that the inner matcher never returns into one of ours.
fn infallible<T>(result: Result<T, grep_matcher::NoError>) -> io::Result<T> {
    result.map_err(|_| stopped_error())
}

impl Matcher for InterruptibleMatcher<'_> {
    type Captures = NoCaptures;
    type Error = io::Error;

    fn find_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<Match>> {
        self.check()?;
        infallible(self.inner.find_at(haystack, at))
    }

    fn new_captures(&self) -> io::Result<NoCaptures> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<usize>> {
        self.check()?;
        infallible(self.inner.shortest_match_at(haystack, at))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.inner.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.inner.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> io::Result<Option<LineMatchKind>> {
        // Without a line terminator the pattern may be anchored to where the haystack begins.
        if self.inner.line_terminator().is_none() || haystack.is_empty() {
            return infallible(self.inner.find_candidate_line(haystack));
        }
        let mut start = 0;
        while start < haystack.len() {
            self.check()?;
            let size = self.piece_size.get();
            let end = end_of_piece(haystack, start, size);
            let began = Instant::now();
            let found = infallible(self.inner.find_candidate_line(&haystack[start..end]))?;
            match began.elapsed() {
                took if took < QUICK_PIECE => self.piece_size.set(size.saturating_mul(4).min(MAX_PIECE)),
                took if took > SLOW_PIECE => self.piece_size.set((size / 4).max(MIN_PIECE)),
                _ => {}
            }
            let found = found.map(|kind| match kind {
                LineMatchKind::Confirmed(at) => LineMatchKind::Confirmed(start + at),
                LineMatchKind::Candidate(at) => LineMatchKind::Candidate(start + at),
            });
            match found {
                // An empty match after the last line break of a piece is about the line that begins
                // there, which the next piece decides.
                Some(LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at))
                    if at < end || end == haystack.len() =>
                {
                    return Ok(found);
                }
                _ => start = end,
            }
        }
        Ok(None)
    }
}

/// The end of the last line that ends within `step` bytes from `start`, else of the first line.
fn end_of_piece(haystack: &[u8], start: usize, step: usize) -> usize {
    let reach = start.saturating_add(step);
    if reach >= haystack.len() {
        return haystack.len();
    }
    let back = haystack[start..reach].iter().rposition(|byte| *byte == b'\n');
    let forward = || haystack[reach..].iter().position(|byte| *byte == b'\n').map(|at| at + (reach - start));
    back.or_else(forward).map_or(haystack.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, PatternOptions};

    fn candidates(pattern: &str, text: &[u8], size: usize) -> Vec<usize> {
        let pattern = Pattern::compile(pattern, PatternOptions::default()).unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        let (mut at, mut lines) = (0, Vec::new());
        while at < text.len() {
            // A new piece_size for each, as it grows.
            let piece_size = Cell::new(size);
            let matcher = InterruptibleMatcher { inner: &pattern.matcher, stop: &stop, piece_size: &piece_size };
            let found = matcher.find_candidate_line(&text[at..]).unwrap();
            let Some(LineMatchKind::Confirmed(offset) | LineMatchKind::Candidate(offset)) = found else { break };
            let start = text[..at + offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end =
                text[at + offset..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |n| at + offset + n + 1);
            lines.push(start);
            at = end;
        }
        lines
    }

    #[test]
    fn piecewise_search_finds_the_same_lines() {
        let text = "a\n\nbb\n\n\nccc x\nx\n".repeat(50);
        for pattern in ["^$", "x", "^x$", "c+ x", "\\bbb\\b", "[^a]$"] {
            let whole = candidates(pattern, text.as_bytes(), usize::MAX);
            for step in [1, 2, 3, 5, 17] {
                let pieces = candidates(pattern, text.as_bytes(), step);
                assert_eq!(pieces, whole, "{pattern} in pieces from {step}");
            }
            assert!(!whole.is_empty());
        }
    }

    #[test]
    fn stopped_call_fails_the_matcher() {
        let pattern = Pattern::compile("x", PatternOptions::default()).unwrap();
        let stop = StopSignal::after(Duration::from_secs(3600));
        stop.cancel();
        let matcher =
            InterruptibleMatcher { inner: &pattern.matcher, stop: &stop, piece_size: &Cell::new(FIRST_PIECE) };
        assert!(matcher.find_candidate_line(b"abc\n").is_err());
    }
}
