//! Reading a file piece by piece, so that a slice of a log of gigabytes costs a pass over it and not its size in
//! memory.

use std::io::{Read as _, Seek as _};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use text_file::DecodeError;

use confined_fs::{OpenFile, Revision, RevisionHasher, WorkspacePath};

use super::{
    super::{CallContext, ToolError},
    footer::FOOTER,
    page::Page,
    properties::Properties,
    request::FileRequest,
    source::{binary, changed, encoding_of, failed},
    window::{Window, WindowBounds},
};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// Bytes between two reports of progress.
const REPORT_EVERY: u64 = 64 << 20;

/// The lines asked for; the rest is only counted.
pub(super) fn read_streamed(
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
        let mut count = Window::new(WindowBounds::nothing());
        stream(cx, path, file, encoding, None, &mut count)?;
        Ok(count.finish().lines)
    })?;
    let budget = request.budget.reduced(FOOTER);
    let mut window = Window::new(WindowBounds { ranges, columns: request.columns(), budget });
    let mut hasher = hash.then(Revision::hasher);
    let lossy = stream(cx, path, file, encoding, hasher.as_mut(), &mut window)?;
    if is_mostly_nuls(encoding, size, &window) {
        let kind = text_file::binary_kind(head).unwrap_or_else(|| "binary data".to_owned());
        return Err(binary(path, size, &DecodeError { kind }));
    }
    let totals = window.finish();
    let changed = changed(path, file)?;
    let properties = Properties {
        total: totals.lines,
        size,
        encoding: encoding.name(),
        bom: Encoding::for_bom(head).is_some_and(|(marked, _)| marked == encoding),
        lossy,
        nuls: window.nuls,
        line_ending: totals.line_ending(),
        final_newline: totals.final_newline,
        revision: hasher.map(RevisionHasher::finish).filter(|_| !changed),
    };
    Ok(Page { window, properties, changed, outline: None })
}

/// Whether NULs outnumber the other bytes of a file of which `window` has seen the text.
pub(super) fn is_mostly_nuls(encoding: &'static Encoding, size: u64, window: &Window) -> bool {
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
pub(super) fn stream(
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
pub(super) fn read_pieces(
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
