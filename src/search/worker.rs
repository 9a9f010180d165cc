//! Searches one file at a time with buffers that live as long as the worker.
//!
//! A small file costs one read and one pass of the matcher's prefilter; a large one is streamed.
//! Never maps a file: a truncation under a mapped reader would kill the process.

use std::{
    io::{self, Cursor, Read, Seek, SeekFrom},
    ops::Range,
};

use encoding_rs::{Encoding, UTF_8};
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

use crate::{
    stop::{StopReason, StopSignal},
    text,
    workspace::{AccessError, AccessErrorKind, Entry, OpenFile, Revision, Stat, Workspace, WorkspacePath},
};

use super::{
    content::Query,
    load::{SMALL, read_long_line, read_small},
    merge::{FileHits, Skipped, Tally},
    progress::Metered,
    reading,
    sink::{Collector, HitLine, Limits, Mode},
    watched::{Pace, Stopped, Watched},
};

const SMALL_FILE: u64 = SMALL as u64;
/// Bytes of the longest line, and of the largest file in a multiline search.
const HEAP: usize = 64 << 20;
const HEAP_FILE: u64 = HEAP as u64;
/// Bytes up to which the content of a file with hits is handed on to the ledger.
const KEPT_CONTENT: usize = 64 << 10;

/// A file to be searched: met on the walk, or named by the caller.
#[derive(Clone, Debug)]
pub(super) enum Haystack {
    /// Met on the walk of a directory.
    Walked(Entry),
    /// Named as the path of the call.
    Named(WorkspacePath),
    /// Met before and counted: wanted for its lines.
    Again(WorkspacePath),
    /// Met, with lines that may match, and nowhere else while it is in the state of this fingerprint.
    Within(Entry, Vec<Range<u32>>, u64),
    /// Files in a row that need not be opened, and what a search of them comes to.
    Answered(Tally),
}

/// What was seen of a file whose hits are shown.
#[derive(Clone, Debug)]
pub struct SeenContent {
    /// Hash of all of it.
    pub revision: Revision,
    /// The bytes, where they are few.
    pub bytes: Option<Vec<u8>>,
}

/// What came of one file.
#[derive(Debug)]
pub(super) enum Searched {
    /// Looked into; there may be hits.
    Done(Option<Box<FileHits>>),
    /// Looked into without a hit, for a pattern beyond ASCII, and not UTF-8.
    NotUtf8,
    /// Left out.
    Skipped(Skipped),
    /// No longer there, or no regular file: nothing to report.
    Gone,
    /// The call was told to stop within the file; hits so far.
    Stopped(StopReason, Option<Box<FileHits>>),
}

/// One thread's searcher.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    workspace: &'a Workspace,
    query: &'a Query<'a>,
    matcher: RegexMatcher,
    /// Whether it matters that a file is not UTF-8.
    beyond_ascii: bool,
    searcher: Searcher,
    buffer: Vec<u8>,
    pace: Pace,
}

impl<'a> Worker<'a> {
    pub(super) fn new(workspace: &'a Workspace, query: &'a Query<'a>) -> Self {
        Self {
            workspace,
            query,
            matcher: query.pattern.matcher().clone(),
            beyond_ascii: query.pattern.beyond_ascii(),
            searcher: builder(query).build(),
            buffer: Vec::new(),
            pace: Pace::default(),
        }
    }

    /// Searches `haystack`. `keep_content` is how many bytes of content may be handed on.
    ///
    /// # Errors
    /// Only for a named file, which the caller has to be told about.
    pub(super) fn search(
        &mut self,
        haystack: Haystack,
        limits: Limits,
        keep_content: usize,
    ) -> Result<Searched, AccessError> {
        let named = matches!(haystack, Haystack::Named(_));
        let mut within = None;
        let (path, opened) = match haystack {
            Haystack::Within(entry, lines, state) => {
                within = Some((lines, state));
                let opened = entry.open();
                (entry.into_path(), opened)
            }
            Haystack::Walked(entry) => {
                let opened = entry.open();
                (entry.into_path(), opened)
            }
            Haystack::Answered(_) => return Ok(Searched::Gone),
            Haystack::Named(path) | Haystack::Again(path) => {
                let opened = self.workspace.open_file(&path);
                (path, opened)
            }
        };
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if named => return Err(error),
            Err(error) => return Ok(left_out(&error.kind)),
        };
        if !named && file.stat().size > self.query.max_file_size {
            return Ok(Searched::Skipped(Skipped::TooLarge));
        }
        if let Some((lines, state)) = within {
            if self.holds_none(&mut file, &lines, state) {
                return Ok(Searched::Done(None));
            }
            if file.rewind().is_err() {
                return Ok(Searched::Skipped(Skipped::Unreadable));
            }
        }
        Ok(self.search_open(path, file, limits, keep_content, named))
    }

    /// Whether the file is in that state and none of `lines` matches.
    fn holds_none(&mut self, file: &mut OpenFile, lines: &[Range<u32>], state: u64) -> bool {
        if file.stat().fingerprint() != state {
            return false;
        }
        let matcher = Watched { inner: &self.matcher, stop: self.query.stop, pace: &self.pace };
        for range in lines {
            self.buffer.resize(self.buffer.len().max(range.len()), 0);
            let lines = &mut self.buffer[..range.len()];
            let read = file.seek(SeekFrom::Start(range.start.into())).and_then(|_| file.read_exact(lines));
            // A stopped search is no answer, and the search of the whole says why.
            if read.is_err() || !matches!(matcher.find_candidate_line(lines), Ok(None)) {
                return false;
            }
        }
        file.restat().is_ok_and(|stat| stat.fingerprint() == state)
    }

    fn search_open(
        &mut self,
        path: WorkspacePath,
        mut file: OpenFile,
        limits: Limits,
        keep_content: usize,
        named: bool,
    ) -> Searched {
        let size = file.stat().size;
        let read = match size {
            0..=SMALL_FILE => read_small(&mut file, size, &mut self.buffer),
            0..=HEAP_FILE if !self.query.pattern.multiline() => read_long_line(&mut file, size, &mut self.buffer),
            _ => Ok((0, false)),
        };
        let Ok((length, whole)) = read else { return Searched::Skipped(Skipped::Unreadable) };
        let buffer = std::mem::take(&mut self.buffer);
        let loaded = Loaded { content: &buffer[..length], whole, size, limits, named };
        let found = self.search_text(&mut file, &loaded);
        let result = match found {
            Err(Ended(why)) => Searched::Skipped(why),
            Ok(Text { matches: 0, stopped: None, undecoded: true, .. }) => Searched::NotUtf8,
            Ok(Text { lines, bytes, matches, cut, stopped, .. }) => {
                let content = loaded.content;
                let hits = (matches > 0).then(|| {
                    let shown = matches!(self.query.mode, Mode::Lines { .. }) && !lines.is_empty();
                    let seen = (shown && whole).then(|| SeenContent {
                        revision: Revision::of(content),
                        bytes: (content.len() <= KEPT_CONTENT.min(keep_content)).then(|| content.to_vec()),
                    });
                    Box::new(FileHits {
                        path,
                        real: file.real_path().clone(),
                        stat: file.stat().clone(),
                        matches,
                        lines,
                        bytes,
                        cut,
                        seen,
                    })
                });
                match stopped {
                    Some(reason) => Searched::Stopped(reason, hits),
                    None => Searched::Done(hits),
                }
            }
        };
        self.buffer = buffer;
        result
    }

    /// Searches what `read` would show of the file. Its bytes are searched as they are where they are text
    /// in UTF-8, or nearly: in other encodings ASCII is the same, and lines end alike. What holds no bytes of
    /// that kind (UTF-16), and for a pattern beyond ASCII every other encoding, is decoded.
    fn search_text(&mut self, file: &mut OpenFile, loaded: &Loaded<'_>) -> Result<Text, Ended> {
        let content = loaded.content;
        let marked = Encoding::for_bom(content).is_some();
        if loaded.whole && marked {
            return self.search_decoded(file, loaded);
        }
        let mut undecoded = false;
        let may_be_foreign = self.beyond_ascii && !marked && memchr::memchr(0, content).is_none();
        if may_be_foreign && !reading::is_utf8(file, loaded)? {
            let encoding = reading::encoding(file, loaded)?;
            if encoding.is_some_and(|encoding| encoding != UTF_8) {
                return self.search_decoded(file, loaded);
            }
            undecoded = encoding.is_some();
        }
        // As where a larger file is streamed, wherever the NUL is.
        let late = loaded.whole && content.len() > SMALL && memchr::memchr(0, content).is_some();
        let mut found = if late { Found::Binary } else { self.run(file, loaded, Form::Bytes(None))? };
        let may_look_otherwise = !marked && matches!(&found, Found::Text(text) if text.foreign);
        if may_look_otherwise && !reading::is_utf8(file, loaded)? {
            // Once more, with the lines as they are to be shown.
            if let Some(encoding) = reading::encoding(file, loaded)?.filter(|encoding| *encoding != UTF_8) {
                found = self.run(file, loaded, Form::Bytes(Some(encoding)))?;
            }
        }
        match found {
            Found::Binary if reading::may_be_text(file, loaded)? => self.search_decoded(file, loaded),
            Found::Binary => Err(Ended(Skipped::Binary)),
            // The searcher looks for NUL in what comes first and in matching lines. That is enough among
            // many files; for one that is named the answer says so.
            Found::Text(text) if loaded.named && text.matches == 0 && loaded.holds_nul() => Err(Ended(Skipped::Binary)),
            Found::Text(text) if (loaded.named || text.matches > 0) && text::binary_kind(content).is_some() => {
                Err(Ended(Skipped::Binary))
            }
            Found::Text(text) => Ok(Text { undecoded, ..text }),
        }
    }

    /// Searches what the file decodes to; an error where that is no text.
    fn search_decoded(&mut self, file: &mut OpenFile, loaded: &Loaded<'_>) -> Result<Text, Ended> {
        let found = if loaded.whole && loaded.content.len() <= text::HEAD {
            let text = text::view(loaded.content, None).map_err(|_| Ended(Skipped::Binary))?;
            self.run(file, loaded, Form::Decoded(&text))
        } else {
            let encoding = reading::encoding(file, loaded)?.ok_or(Ended(Skipped::Binary))?;
            self.run(file, loaded, Form::Stream(encoding))
        };
        match found? {
            Found::Text(text) => Ok(text),
            Found::Binary => Err(Ended(Skipped::Binary)),
        }
    }

    /// One pass of the searcher over the file in that form.
    fn run(&mut self, file: &mut OpenFile, loaded: &Loaded<'_>, form: Form<'_>) -> Result<Found, Ended> {
        let (stop, multiline) = (self.query.stop, self.query.pattern.multiline());
        let content = loaded.content;
        let slice = match form {
            Form::Decoded(text) => Some(text.as_bytes()),
            Form::Bytes(_) => loaded.whole.then_some(content),
            Form::Stream(_) => None,
        };
        let shown_in = if let Form::Bytes(encoding) = form { encoding } else { None };
        let mut sink =
            Collector::new(&self.matcher, multiline, self.query.mode, loaded.limits, stop, slice).shown_in(shown_in);
        let matcher = Watched { inner: &self.matcher, stop, pace: &self.pace };
        let result = if let Some(content) = slice {
            self.searcher.search_slice(&matcher, content, &mut sink)
        } else {
            // What a small file that grew had at first, then the rest.
            file.seek(SeekFrom::Start(content.len() as u64)).map_err(|_| Ended(Skipped::Unreadable))?;
            let reader = Cursor::new(content).chain(Stoppable { inner: file, stop });
            // Of one file among many, the number of files tells enough.
            let reader = Metered::new(reader, loaded.size, loaded.named.then_some(self.query.progress));
            match form {
                Form::Stream(encoding) => {
                    // `read` shows a NUL character that comes after the bytes by which the encoding is recognised.
                    let mut searcher =
                        builder(self.query).binary_detection(BinaryDetection::none()).encoding(label(encoding)).build();
                    searcher.search_reader(&matcher, reader, &mut sink)
                }
                _ => self.searcher.search_reader(&matcher, reader, &mut sink),
            }
        };
        let Collector { lines, bytes, matches, binary, cut, mut stopped, foreign, .. } = sink;
        if let Err(error) = result {
            match stop.stopped() {
                // Only an error of that kind is of our own making, or of the searcher's.
                Some(reason) if error.kind() == io::ErrorKind::Other => stopped = Some(reason),
                // The searcher's heap limit: one line, or for multiline the file, is too long.
                _ if error.kind() == io::ErrorKind::Other => return Err(Ended(Skipped::TooLarge)),
                _ => return Err(Ended(Skipped::Unreadable)),
            }
        }
        if binary {
            return Ok(Found::Binary);
        }
        Ok(Found::Text(Text { lines, bytes, matches, cut, stopped, foreign, undecoded: false }))
    }
}

/// A file that was opened, as far as it was read.
pub(super) struct Loaded<'l> {
    pub(super) content: &'l [u8],
    /// Whether that is all of it.
    pub(super) whole: bool,
    size: u64,
    limits: Limits,
    /// Named by the caller.
    named: bool,
}

impl Loaded<'_> {
    fn holds_nul(&self) -> bool {
        self.whole && memchr::memchr(0, self.content).is_some()
    }
}

/// In which form a file is given to the searcher.
#[derive(Clone, Copy)]
enum Form<'f> {
    /// Its bytes, whose lines are shown in that encoding, or else as UTF-8.
    Bytes(Option<&'static Encoding>),
    /// The text of all of it.
    Decoded(&'f str),
    /// Decoded as it comes.
    Stream(&'static Encoding),
}

/// Why a file was left out after it had been opened.
#[derive(Debug)]
pub(super) struct Ended(pub(super) Skipped);

/// What a pass of the searcher came to.
enum Found {
    /// There is a NUL byte.
    Binary,
    Text(Text),
}

struct Text {
    lines: Vec<HitLine>,
    bytes: usize,
    matches: usize,
    cut: bool,
    stopped: Option<StopReason>,
    /// A line that is kept is not ASCII.
    foreign: bool,
    /// The file is not UTF-8, and in no encoding that is recognised.
    undecoded: bool,
}

fn builder(query: &Query<'_>) -> SearcherBuilder {
    let (before, after) = match query.mode {
        Mode::Lines { before, after } => (before, after),
        Mode::Files | Mode::Counts => (0, 0),
    };
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(matches!(query.mode, Mode::Lines { .. }))
        .before_context(before)
        .after_context(after)
        .multi_line(query.pattern.multiline())
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP));
    builder
}

/// The searcher's name for an encoding; it knows all of them.
fn label(encoding: &'static Encoding) -> Option<grep_searcher::Encoding> {
    grep_searcher::Encoding::new(encoding.name()).ok()
}

/// The revision of what a search saw in `hits`, read again because it was streamed; `None` when
/// the file is larger than `limit` bytes, changed since or the call was stopped.
pub(super) fn revision_of(
    workspace: &Workspace,
    path: &WorkspacePath,
    searched: &Stat,
    limit: u64,
    stop: &StopSignal,
) -> Option<Revision> {
    if searched.size > limit {
        return None;
    }
    let mut file = workspace.open_file(path).ok()?;
    let mut hasher = Revision::hasher();
    let mut chunk = vec![0; 64 << 10];
    loop {
        if stop.stopped().is_some() {
            return None;
        }
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => hasher.update(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    file.restat().ok()?.same_file_state(searched).then(|| hasher.finish())
}

fn left_out(kind: &AccessErrorKind) -> Searched {
    match kind {
        AccessErrorKind::Secret => Searched::Skipped(Skipped::Secret),
        AccessErrorKind::NotFound | AccessErrorKind::Special(_) | AccessErrorKind::IsDirectory => Searched::Gone,
        AccessErrorKind::Limit(limit) if limit.is_open_files() => Searched::Skipped(Skipped::OutOfFiles),
        AccessErrorKind::TooLarge { .. } => Searched::Skipped(Skipped::TooLarge),
        _ => Searched::Skipped(Skipped::Unreadable),
    }
}

/// A reader that ends with an error once the call should stop, so that a large file without a
/// match does not outlive its call.
struct Stoppable<'a> {
    inner: &'a mut OpenFile,
    stop: &'a StopSignal,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.stopped().is_some() {
            return Err(io::Error::other(Stopped));
        }
        self.inner.read(buffer)
    }
}
