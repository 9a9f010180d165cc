//! A text file: decoded whole where it is small, streamed where it is not, so that a slice of a log of gigabytes costs a
//! pass over it and not its size in memory.

use std::{
    fmt::Write as _,
    io::{Read as _, Seek as _},
    mem,
    ops::Range,
};

use crate::session::{Ledger, Shown};
use confined_fs::{Revision, RevisionHasher, WorkspacePath};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use image_view::ImageInfo;
use source_outline::{definitions, not_shown};
use text_file::{DecodeError, Document, Layout};
use tree_search::encoding_of_file;

use super::{
    super::{
        CallContext, ToolError,
        answer::count,
        shown_diff::{hunk_lines, numbers},
    },
    open::{Format, OpenedEntry, Source, open},
    request::FileRequest,
    section::{CHANGED_NOTE, FOOTER_BYTES, Properties, Section, footer, shown_lines},
    since::changes,
    window::{LineTotals, Window, WindowBounds},
};

/// Reads the requested part of a text file. The file counts as seen, unless it changed meanwhile or is too large to be
/// hashed.
pub(super) fn read_text(cx: &CallContext, request: &FileRequest, mut source: Source) -> Result<Section, ToolError> {
    let mut page =
        if source.whole { read_whole(cx, request, &mut source)? } else { read_streamed(cx, request, &mut source)? };
    let (revision, real, document) = (page.properties.revision, source.file.real_path().clone(), page.document.take());
    // Compared before this content is recorded, or a rev of the file as it is now would be a known one.
    let changes = document.as_ref().and_then(|document| changes(cx, request, &source.file, &page.properties, document));
    let is_from_start = changes.is_some() || page.window.shown.first().is_none_or(|shown| shown.start == 0);
    let shown = page.window.shown.clone();
    // Also where a caller that has an earlier state is shown only what has changed.
    let is_whole = !page.window.full && request.columns().is_none() && page.window.kept == page.properties.total;
    let by = cx.by.clone();
    // A diff has numbers of both revisions, what a cut left out is named by its lines.
    let of_two: Vec<Range<usize>> = changes.iter().flat_map(|changes| hunk_lines(&changes.text)).collect();
    let named: Vec<Range<usize>> = page.outline.iter().flat_map(|outline| numbers(outline)).collect();
    let record = move |ledger: &Ledger| {
        let content = document.as_ref().map(Document::bytes);
        let shown = if is_whole { Shown::Whole } else { Shown::Lines(&shown) };
        let unsaved = |revision| ledger.unsaved_read(&real, revision, content, by.as_ref(), shown);
        let pending = revision.and_then(unsaved);
        if is_from_start {
            ledger.record_first_line(&real);
        }
        if revision.is_some() {
            ledger.record_numbers(&real, by.as_ref(), revision, named);
            ledger.record_numbers(&real, by.as_ref(), None, of_two);
        }
        pending
    };
    let section = changes.unwrap_or_else(|| page.section(source.path().clone(), request));
    Ok(Section { record: Some(Box::new(record)), ..section })
}

/// Bytes kept free for the names of definitions that a cut leaves out: five lines of at most 100 characters.
const OUTLINE_BYTES: usize = 600;

fn read_whole(cx: &CallContext, request: &FileRequest, source: &mut Source) -> Result<Page, ToolError> {
    let (changed, real) = (source.has_changed()?, source.file.real_path());
    let bytes = mem::take(&mut source.head);
    let revision = cx.session.ledger.revision_of(real, &bytes).unwrap_or_else(|| Revision::of(&bytes));
    let size = bytes.len() as u64;
    let document = Document::decode(bytes, request.encoding).map_err(|error| source.binary(&error))?;
    let (mut window, totals) = lines_of(&document, request, FOOTER_BYTES)?;
    let mut outline = None;
    let is_cut = window.kept > 0 && (window.full || !request.lines.is_exact());
    let end = |window: &Window| window.shown.last().map_or(0, |last| last.end);
    // Names from an untrusted file stay out of what the server says.
    let is_shown = request.part.is_none() && !cx.workspace.is_untrusted(real);
    if is_shown && is_cut && end(&window) < totals.lines {
        let definitions = definitions(&source.path().to_string(), document.text());
        let left_out = |window: &Window| not_shown(&definitions, &[end(window) + 1..=totals.lines]);
        outline = left_out(&window);
        if outline.is_some() && window.full {
            (window, _) = lines_of(&document, request, FOOTER_BYTES + OUTLINE_BYTES)?;
            outline = left_out(&window);
        }
        let room = request.budget.reduced(FOOTER_BYTES).less(&window.text);
        outline = outline.filter(|outline| room.fits(outline));
    }
    let revision = Some(revision).filter(|_| !changed);
    let properties = Properties { revision, ..Properties::of(totals, window.nuls, size, document.layout()) };
    Ok(Page { window, properties, changed, outline, document: Some(document) })
}

/// The lines that are asked for, within the budget reduced by `kept_back` units.
fn lines_of(document: &Document, request: &FileRequest, kept_back: usize) -> Result<(Window, LineTotals), ToolError> {
    // Padding with NULs at the end is no line, here as in the window.
    let bounds = request.bounds(kept_back, || Ok(text_file::lines(document.text().trim_end_matches('\0')).count()))?;
    let mut window = Window::new(bounds);
    window.push(document.text());
    let totals = window.finish();
    Ok((window, totals))
}

/// A file of which most is NULs, where its first bytes say no more.
const MOSTLY_NULS: &str = "binary data";
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes between two reports of progress.
const REPORT_EVERY: u64 = 64 << 20;

/// The lines asked for; the rest is only counted.
fn read_streamed(cx: &CallContext, request: &FileRequest, source: &mut Source) -> Result<Page, ToolError> {
    let encoding = source.encoding(request.encoding)?;
    let bounds = request.bounds(FOOTER_BYTES, || source.count_lines(cx, encoding))?;
    let Some((window, mut properties)) = source.scan(cx, encoding, bounds)? else {
        let kind = text_file::binary_kind(&source.head).unwrap_or_else(|| MOSTLY_NULS.to_owned());
        return Err(source.binary(&DecodeError { kind }));
    };
    let changed = source.has_changed()?;
    // The hash may be of half of one state and half of another.
    properties.revision = properties.revision.filter(|_| !changed);
    Ok(Page { window, properties, changed, outline: None, document: None })
}

/// Whether NULs outnumber the other bytes of a file of which `window` has seen the text.
fn is_mostly_nuls(encoding: &'static Encoding, size: u64, window: &Window) -> bool {
    let unit = if encoding == UTF_16LE || encoding == UTF_16BE { 2 } else { 1 };
    window.nuls as u64 * unit > size / 2
}

impl Source {
    /// Hashes the content, where that is of use: only what can be edited needs a revision, and hashing gigabytes would
    /// double the time.
    fn hasher(&self, cx: &CallContext) -> Option<RevisionHasher> {
        (self.size() <= cx.settings.max_file_size).then(Revision::hasher)
    }

    /// The revision of the content, by a pass of its own; `None` as for [`hasher`](Self::hasher).
    pub(super) fn hash(&mut self, cx: &CallContext) -> Result<Option<Revision>, ToolError> {
        let mut hasher = self.hasher(cx);
        if let Some(hasher) = &mut hasher {
            self.pieces(cx, "reading", |piece| {
                hasher.update(piece);
                true
            })?;
        }
        Ok(hasher.map(RevisionHasher::finish))
    }

    /// The lines in `bounds`, and the file as a whole; `None` for one of which most is NULs.
    fn scan(
        &mut self,
        cx: &CallContext,
        encoding: &'static Encoding,
        bounds: WindowBounds,
    ) -> Result<Option<(Window, Properties)>, ToolError> {
        let (mut window, mut hasher, size) = (Window::new(bounds), self.hasher(cx), self.size());
        let lossy = self.stream(cx, encoding, hasher.as_mut(), &mut window)?;
        if is_mostly_nuls(encoding, size, &window) {
            return Ok(None);
        }
        let totals = window.finish();
        let bom = Encoding::for_bom(&self.head).is_some_and(|(marked, _)| marked == encoding);
        let layout = Layout { encoding: encoding.name(), bom, lossy, line_ending: totals.line_ending };
        let revision = hasher.map(RevisionHasher::finish);
        let properties = Properties { revision, ..Properties::of(totals, window.nuls, size, layout) };
        Ok(Some((window, properties)))
    }

    fn count_lines(&mut self, cx: &CallContext, encoding: &'static Encoding) -> Result<usize, ToolError> {
        // Where each LF of the text is a byte LF of the file, and the other way round, the bytes are counted: decoding
        // them takes several times as long.
        if encoding != encoding_rs::UTF_8 && !encoding.is_single_byte() {
            let mut count = Window::new(WindowBounds::default());
            self.stream(cx, encoding, None, &mut count)?;
            return Ok(count.finish().lines);
        }
        let (mut ends, mut open) = (0, false);
        self.pieces(cx, "counting the lines of", |piece| {
            ends += memchr::memchr_iter(b'\n', piece).count();
            open = piece.iter().rfind(|byte| **byte != 0).map_or(open, |last| *last != b'\n');
            true
        })?;
        Ok(ends + usize::from(open))
    }

    /// Decodes the whole file into `window`, piece by piece, as far as it is text; returns whether something was not
    /// valid.
    fn stream(
        &mut self,
        cx: &CallContext,
        encoding: &'static Encoding,
        mut hasher: Option<&mut RevisionHasher>,
        window: &mut Window,
    ) -> Result<bool, ToolError> {
        let mut decoder = encoding.new_decoder_with_bom_removal();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(CHUNK_BYTES).unwrap_or(CHUNK_BYTES * 3));
        let (mut lossy, size) = (false, self.size());
        self.pieces(cx, "reading", |piece| {
            if let Some(hasher) = hasher.as_deref_mut() {
                hasher.update(piece);
            }
            text.clear();
            let (_, _, errors) = decoder.decode_to_string(piece, &mut text, piece.is_empty());
            lossy |= errors;
            window.push(&text);
            !is_mostly_nuls(encoding, size, window)
        })?;
        Ok(lossy)
    }

    /// Hands the file to `take` piece by piece, the last one empty, as long as it asks for more; `doing` names the work
    /// in its progress.
    fn pieces(&mut self, cx: &CallContext, doing: &str, mut take: impl FnMut(&[u8]) -> bool) -> Result<(), ToolError> {
        self.file.rewind().map_err(|error| self.failed(error))?;
        let size = self.size();
        let mut bytes = vec![0; CHUNK_BYTES];
        let (mut done, mut reported) = (0u64, 0);
        loop {
            cx.check()?;
            let n = self.file.read(&mut bytes).map_err(|error| self.failed(error))?;
            // Not past the size at the start: a file that grows as fast as it is read has an end here.
            let left = usize::try_from(size.saturating_sub(done)).unwrap_or(usize::MAX);
            let piece = &bytes[..n.min(left)];
            if !take(piece) || piece.is_empty() {
                return Ok(());
            }
            done += piece.len() as u64;
            if done - reported >= REPORT_EVERY {
                reported = done;
                cx.report(done, Some(size), format!("{doing} {}", self.path()));
            }
        }
    }
}

struct Page {
    window: Window,
    properties: Properties,
    changed: bool,
    outline: Option<String>,
    document: Option<Document>,
}

impl Page {
    fn section(self, path: WorkspacePath, request: &FileRequest) -> Section {
        let Self { window, properties, changed, outline, .. } = self;
        let (total, asked) = (properties.total, &request.lines);
        let mut closing = window.hidden.text().map(|note| note + "\n").unwrap_or_default();
        let columns = request.columns();
        let last = window.shown.last().map_or(0, |last| last.end);
        // Lines without such columns are skipped.
        let end = if columns.is_some() && !window.full { window.end().min(total) } else { last };
        let has_more = window.kept > 0 && end < total;
        let part = request.part.as_ref().map(|part| format!("part=\"{part}\", ")).unwrap_or_default();
        let next = (has_more && (window.full || !asked.is_exact())).then(|| part + &asked.continued(&path, end));
        let mut lines = if total == 0 {
            closing.push_str("(empty file)\n");
            count(0, "line")
        } else if let Some(columns) = columns.as_ref().filter(|_| window.kept == 0 && window.longest > 0) {
            let (column, longest, lines) = (columns.start + 1, window.longest, count(total, "line"));
            format!("no column {column}: the longest of these lines has {longest}, {lines}")
        } else if window.kept == 0 {
            let skip = asked.named(total).map_or(0, |named| named.start);
            format!("{} is past the end: {path} has {}", asked.first(skip), count(total, "line"))
        } else {
            shown_lines(&window.shown, total)
        };
        if let Some(part) = request.part.as_ref().filter(|_| columns.is_some() && window.kept > 0) {
            lines = format!("{part}, {lines}");
        }
        if let Some(lead) = request.leads.iter().find_map(|line| lead(&window.text, *line)) {
            let _ = write!(lines, ", with the {lead} above");
        }
        if changed {
            closing.push_str(CHANGED_NOTE);
        }
        closing.push_str(&footer(&lines, &properties, next.as_deref()));
        closing.extend(outline.map(|outline| format!("\n{outline}")));
        let mut facts = properties.facts(window.kept, has_more.then_some(end));
        facts.total_columns = columns.map(|_| window.longest);
        Section { closing, ..Section::of(path, window.text, facts) }
    }
}

/// What the line of this number is in what is shown, above a definition; `None` for a line of its header.
fn lead(shown: &str, number: usize) -> Option<&'static str> {
    let gutter = format!("{number}\t");
    let line = shown.lines().find_map(|line| line.strip_prefix(&gutter))?.trim_start();
    match line.bytes().next()? {
        b'@' | b'[' => Some("attributes"),
        b'#' if line.starts_with("#[") => Some("attributes"),
        first if b"/#-*;%{\"'".contains(&first) => Some("comment"),
        _ => None,
    }
}

#[derive(Debug)]
pub(crate) enum Content {
    Text(Properties),
    Image(ImageInfo),
    Binary(String),
}

/// Describes the file at `path`, without its content. The revision is `None` for a file that is too large to be changed:
/// it is not hashed.
///
/// # Errors
/// Where it cannot be read, and at the time limit.
pub(crate) fn describe(cx: &CallContext, path: &WorkspacePath) -> Result<(Content, Option<Revision>), ToolError> {
    let mut source = match open(cx, path)? {
        OpenedEntry::File(source) => source,
        OpenedEntry::Directory(error) | OpenedEntry::Names(_, error) => return Err(error),
    };
    // The detection of an encoding sees more of a small file than its head.
    let encoding = if source.whole {
        Document::decode(source.head.clone(), None).map(|document| document.encoding())
    } else {
        encoding_of_file(&mut source.file, &source.head, None).map_err(|error| source.failed(error))?
    };
    let content = match (Format::of(path, &source.head), encoding) {
        (Format::Image(image), _) => Content::Image(image),
        (Format::Pdf, _) => Content::Binary("PDF document".to_owned()),
        (_, Err(error)) => Content::Binary(error.kind),
        (_, Ok(encoding)) => match source.scan(cx, encoding, WindowBounds::default())? {
            Some((_, properties)) => {
                let revision = properties.revision;
                return Ok((Content::Text(properties), revision));
            }
            None => Content::Binary(MOSTLY_NULS.to_owned()),
        },
    };
    // A scan of text has hashed it on its way.
    Ok((content, source.hash(cx)?))
}
