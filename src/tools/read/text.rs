//! A text file: decoded whole where it is small, streamed where it is not, so that a slice of a log of gigabytes costs a
//! pass over it and not its size in memory.

use std::{
    io::{Read as _, Seek as _},
    ops::Range,
};

use confined_fs::{OpenFile, Revision, RevisionHasher, WorkspacePath};
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
    open::{Format, Opened, Source, binary, changed, encoding_of, failed, open},
    request::FileRequest,
    section::{FOOTER, Properties, Section, footer, shown_lines},
    since::{Changes, Held},
    window::{LineTotals, Window, WindowBounds},
};

/// The note on a file whose values are masked.
const MASKED: &str =
    "(`<secret:NAME>` masks a value: an edit or write that keeps it keeps the value, anything else is a new value)";

/// Reads the requested part of a text file. The file counts as seen, unless it changed meanwhile or is too large to be
/// hashed.
pub(super) fn read_text(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let Source { path, mut file, head, whole } = source;
    let (page, document) = if whole {
        let (page, document) = read_whole(cx, &path, &file, head, request)?;
        (page, Some(document))
    } else {
        (read_streamed(cx, &path, &mut file, &head, request)?, None)
    };
    let (revision, real) = (page.properties.revision, file.real_path());
    let changes = document.as_ref().and_then(|document| changes(cx, request, &path, real, &page, document));
    let is_from_start = changes.is_some() || page.window.shown.first().is_none_or(|shown| shown.start == 0);
    let shown = page.window.shown.clone();
    // A diff has numbers of both revisions, what a cut left out is named by its lines.
    let of_two: Vec<Range<usize>> = changes.iter().flat_map(|changes| hunk_lines(&changes.text)).collect();
    let named: Vec<Range<usize>> = page.outline.iter().flat_map(|outline| numbers(outline)).collect();
    let section = changes.unwrap_or_else(|| page.section(path, request));
    let content = document.as_ref().map(Document::bytes);
    let sighting = revision.and_then(|revision| cx.session.ledger.note(real, revision, content));
    if is_from_start {
        cx.session.ledger.count_reading(real);
    }
    if revision.is_some() {
        cx.session.ledger.showed(real, revision, shown.into_iter().chain(named));
        cx.session.ledger.showed(real, None, of_two);
    }
    let closing = if file.is_masked() { format!("{}\n{MASKED}", section.closing) } else { section.closing };
    Ok(Section { closing, sighting, ..section })
}

/// The changes since the revision that the caller has, where its content is still known and a diff is shorter.
fn changes(
    cx: &CallContext,
    request: &FileRequest,
    path: &WorkspacePath,
    real: &WorkspacePath,
    page: &Page,
    document: &Document,
) -> Option<Section> {
    if request.part.is_some() {
        return None;
    }
    let (since, properties) = (request.since?, &page.properties);
    let Held::Former(old) = Held::of(cx, real, properties.revision?, since) else { return None };
    let old = Document::decode(old, request.encoding).ok()?;
    let asked = request.lines.named(properties.total);
    let changes = Changes { since, old: &old, new: document, properties, asked, budget: request.budget };
    changes.section(path)
}

/// Bytes kept free for the names of definitions that a cut leaves out: five lines of at most 100 characters.
const OUTLINE: usize = 600;

/// The lines asked for, and everything.
fn read_whole(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &OpenFile,
    bytes: Vec<u8>,
    request: &FileRequest,
) -> Result<(Page, Document), ToolError> {
    let changed = changed(path, file)?;
    let revision = cx.session.ledger.revision_of(file.real_path(), &bytes).unwrap_or_else(|| Revision::of(&bytes));
    let size = bytes.len() as u64;
    let document = Document::decode(bytes, request.encoding).map_err(|error| binary(path, size, &error))?;
    let (mut window, totals) = lines_of(&document, request, FOOTER)?;
    let file_path = path.to_string();
    let mut outline = None;
    let is_cut = |window: &Window| window.kept > 0 && (window.full || !request.lines.is_exact());
    let end = |window: &Window| window.shown.last().map_or(0, |last| last.end);
    // Names from an untrusted file stay out of what the server says.
    let is_shown = request.part.is_none() && !cx.workspace.is_untrusted(file.real_path());
    if is_shown && is_cut(&window) && end(&window) < totals.lines {
        let definitions = definitions(&file_path, document.text());
        let left_out = |window: &Window| not_shown(&definitions, &[end(window) + 1..=totals.lines]);
        outline = left_out(&window);
        if outline.is_some() && window.full {
            (window, _) = lines_of(&document, request, FOOTER + OUTLINE)?;
            outline = left_out(&window);
        }
        let room = request.budget.reduced(FOOTER).less(&window.text);
        outline = outline.filter(|outline| room.fits(outline));
    }
    let properties = Properties {
        total: totals.lines,
        size,
        layout: document.layout(),
        nuls: window.nuls,
        final_newline: totals.final_newline,
        revision: Some(revision).filter(|_| !changed),
    };
    Ok((Page { window, properties, changed, outline }, document))
}

/// The lines that are asked for, within the budget reduced by `kept_back` units.
fn lines_of(document: &Document, request: &FileRequest, kept_back: usize) -> Result<(Window, LineTotals), ToolError> {
    let ranges = request.lines.ranges(|| Ok(text_file::lines(document.text().trim_end_matches('\0')).count()))?;
    let budget = request.budget.reduced(kept_back);
    let mut window = Window::new(WindowBounds { ranges, columns: request.columns(), budget });
    window.push(document.text());
    let totals = window.finish();
    Ok((window, totals))
}

/// A file of which most is NULs, where its first bytes say no more.
const MOSTLY_NULS: &str = "binary data";
/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Bytes between two reports of progress.
const REPORT_EVERY: u64 = 64 << 20;

/// The lines asked for; the rest is only counted.
fn read_streamed(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &mut OpenFile,
    head: &[u8],
    request: &FileRequest,
) -> Result<Page, ToolError> {
    let size = file.stat().size;
    let encoding = encoding_of(path, file, head, request.encoding)?;
    // Only what can be edited needs a revision; hashing gigabytes would double the time.
    let hash = size <= cx.settings.max_file_size;
    let ranges = request.lines.ranges(|| {
        if ends_in_bytes(encoding) {
            return count_lines(cx, path, file);
        }
        let mut count = Window::new(WindowBounds::default());
        stream(cx, path, file, encoding, None, &mut count)?;
        Ok(count.finish().lines)
    })?;
    let bounds = WindowBounds { ranges, columns: request.columns(), budget: request.budget.reduced(FOOTER) };
    let mut hasher = hash.then(Revision::hasher);
    let Some((window, mut properties)) = scan(cx, path, file, head, encoding, hasher.as_mut(), bounds)? else {
        let kind = text_file::binary_kind(head).unwrap_or_else(|| MOSTLY_NULS.to_owned());
        return Err(binary(path, size, &DecodeError { kind }));
    };
    let changed = changed(path, file)?;
    properties.revision = hasher.map(RevisionHasher::finish).filter(|_| !changed);
    Ok(Page { window, properties, changed, outline: None })
}

/// The lines of a streamed file in `bounds`; `None` for one of which most is NULs.
fn scan(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &mut OpenFile,
    head: &[u8],
    encoding: &'static Encoding,
    hasher: Option<&mut RevisionHasher>,
    bounds: WindowBounds,
) -> Result<Option<(Window, Properties)>, ToolError> {
    let mut window = Window::new(bounds);
    let lossy = stream(cx, path, file, encoding, hasher, &mut window)?;
    let size = file.stat().size;
    if is_mostly_nuls(encoding, size, &window) {
        return Ok(None);
    }
    let LineTotals { lines: total, final_newline, line_ending } = window.finish();
    let bom = Encoding::for_bom(head).is_some_and(|(marked, _)| marked == encoding);
    let layout = Layout { encoding: encoding.name(), bom, lossy, line_ending };
    let properties = Properties { total, size, layout, nuls: window.nuls, final_newline, revision: None };
    Ok(Some((window, properties)))
}

/// Whether NULs outnumber the other bytes of a file of which `window` has seen the text.
fn is_mostly_nuls(encoding: &'static Encoding, size: u64, window: &Window) -> bool {
    let unit = if encoding == UTF_16LE || encoding == UTF_16BE { 2 } else { 1 };
    window.nuls as u64 * unit > size / 2
}

/// Whether each LF of the text is a byte LF of the file, and the other way round.
fn ends_in_bytes(encoding: &'static Encoding) -> bool {
    encoding == encoding_rs::UTF_8 || encoding.is_single_byte()
}

/// The lines of the whole file, counted in its bytes: decoding them takes several times as long.
fn count_lines(cx: &CallContext, path: &WorkspacePath, file: &mut OpenFile) -> Result<usize, ToolError> {
    let (mut ends, mut open) = (0, false);
    read_pieces(cx, path, file, "counting the lines of", |piece| {
        ends += memchr::memchr_iter(b'\n', piece).count();
        open = piece.iter().rfind(|byte| **byte != 0).map_or(open, |last| *last != b'\n');
        true
    })?;
    Ok(ends + usize::from(open))
}

/// Decodes the whole file into `window`, piece by piece, as far as it is text; returns whether something was not valid.
fn stream(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &mut OpenFile,
    encoding: &'static Encoding,
    mut hasher: Option<&mut RevisionHasher>,
    window: &mut Window,
) -> Result<bool, ToolError> {
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(CHUNK).unwrap_or(CHUNK * 3));
    let (mut lossy, size) = (false, file.stat().size);
    read_pieces(cx, path, file, "reading", |piece| {
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

/// Hands the file to `take` piece by piece, the last one empty, as long as it asks for more; `doing` names the work in
/// its progress.
fn read_pieces(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &mut OpenFile,
    doing: &str,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<(), ToolError> {
    file.rewind().map_err(|error| failed(path, error))?;
    let size = file.stat().size;
    let mut bytes = vec![0; CHUNK];
    let (mut done, mut reported) = (0u64, 0);
    loop {
        cx.check()?;
        let n = file.read(&mut bytes).map_err(|error| failed(path, error))?;
        // Not past the size at the start: a file that grows as fast as it is read has an end here.
        let left = usize::try_from(size.saturating_sub(done)).unwrap_or(usize::MAX);
        let piece = &bytes[..n.min(left)];
        if !take(piece) || piece.is_empty() {
            return Ok(());
        }
        done += piece.len() as u64;
        if done - reported >= REPORT_EVERY {
            reported = done;
            cx.report(done, Some(size), format!("{doing} {path}"));
        }
    }
}

/// The lines that were read, and the file that they are of.
struct Page {
    window: Window,
    properties: Properties,
    /// Whether the file changed while it was read.
    changed: bool,
    /// The definitions in what a cut left out.
    outline: Option<String>,
}

impl Page {
    /// The answer to `request`.
    fn section(self, path: WorkspacePath, request: &FileRequest) -> Section {
        let Self { window, properties, changed, outline } = self;
        let (total, asked) = (properties.total, &request.lines);
        let mut closing = window.hidden.text().map(|note| note + "\n").unwrap_or_default();
        let columns = request.columns();
        let last = window.shown.last().map_or(0, |last| last.end);
        // Lines without such columns are skipped.
        let end = if columns.is_some() && !window.full { window.end().min(total) } else { last };
        let has_more = window.kept > 0 && end < total;
        let next = (has_more && (window.full || !asked.is_exact())).then(|| match &request.part {
            Some(part) => format!("part=\"{part}\", {}", asked.continued(&path, end)),
            None => asked.continued(&path, end),
        });
        let mut lines = if total == 0 {
            closing.push_str("(empty file)\n");
            count(0, "line")
        } else if let Some(columns) = columns.as_ref().filter(|_| window.kept == 0 && window.longest > 0) {
            format!(
                "no column {}: the longest of these lines has {}, {}",
                columns.start + 1,
                window.longest,
                count(total, "line")
            )
        } else if window.kept == 0 {
            let skip = asked.named(total).map_or(0, |named| named.start);
            format!("{} is past the end: {path} has {}", asked.first(skip), count(total, "line"))
        } else {
            shown_lines(&window.shown, total)
        };
        if let Some(part) = request.part.as_ref().filter(|_| columns.is_some() && window.kept > 0) {
            lines = format!("{part}, {lines}");
        }
        if changed {
            closing.push_str("(the file changed while it was read; read it again before an edit)\n");
        }
        closing.push_str(&footer(&lines, &properties, next.as_deref()));
        if let Some(outline) = outline {
            closing.push('\n');
            closing.push_str(&outline);
        }
        let mut facts = properties.facts(window.kept, has_more.then_some(end));
        facts.total_columns = columns.map(|_| window.longest);
        Section { closing, ..Section::of(path, window.text, facts) }
    }
}

/// The content of a file, by its kind.
#[derive(Debug)]
pub(in crate::tools) enum Content {
    Text(Properties),
    /// An image, by its magic bytes.
    Image(ImageInfo),
    /// Neither: what it is instead.
    Binary(String),
}

/// Describes the file at `path`, without its content. The revision is `None` for a file that is too large to be changed:
/// it is not hashed.
///
/// # Errors
/// Where it cannot be read, and at the time limit.
pub(in crate::tools) fn describe(
    cx: &CallContext,
    path: &WorkspacePath,
) -> Result<(Content, Option<Revision>), ToolError> {
    let Source { path, mut file, head, whole } = match open(cx, path.clone())? {
        Opened::File(source) => source,
        Opened::Directory(error) => return Err(error),
    };
    let size = file.stat().size;
    let hasher = || (size <= cx.settings.max_file_size).then(Revision::hasher);
    // The detection of an encoding sees more of a small file than its head.
    let encoding = if whole {
        Document::decode(head.clone(), None).map(|document| document.encoding())
    } else {
        encoding_of_file(&mut file, &head, None).map_err(|error| failed(&path, error))?
    };
    let mut hash = hasher();
    let content = match (Format::of(&path, &head), encoding) {
        (Format::Image(image), _) => Content::Image(image),
        (Format::Pdf, _) => Content::Binary("PDF document".to_owned()),
        (_, Err(error)) => Content::Binary(error.kind),
        (_, Ok(encoding)) => {
            let all = scan(cx, &path, &mut file, &head, encoding, hash.as_mut(), WindowBounds::default())?;
            match all {
                Some((_, properties)) => Content::Text(properties),
                None => Content::Binary(MOSTLY_NULS.to_owned()),
            }
        }
    };
    if !matches!(content, Content::Text(_)) {
        hash = hasher();
        if let Some(hash) = &mut hash {
            read_pieces(cx, &path, &mut file, "reading", |piece| {
                hash.update(piece);
                true
            })?;
        }
    }
    Ok((content, hash.map(RevisionHasher::finish)))
}
