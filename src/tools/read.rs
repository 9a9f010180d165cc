//! `read`: lines of a text file, numbered, or an image.
//!
//! Small files are decoded whole; larger ones are streamed, so that a slice of a log of gigabytes
//! costs a pass over it and not its size in memory.

mod page;
mod window;

use std::io::Read as _;

use encoding_rs::Encoding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    session::PendingSighting,
    text::{self, DecodeError, Document, ImageFlaw, LineEnding},
    workspace::{AccessError, OpenFile, Revision, WorkspacePath},
};

use super::{
    Answer, Blocking, CallContext, Content, Group, Kind, Plan, Spec, Tool, ToolError,
    alias::{LINE_ALIASES, PATH_ALIASES},
};
use page::Page;
use window::{Range, Window};

/// Lines shown without a limit.
const DEFAULT_LIMIT: usize = 2000;
/// Bytes of a file that are decoded whole; larger files are streamed.
const WHOLE: u64 = text::HEAD as u64;
/// Bytes of the largest file that is read inline: a fraction of a millisecond if it is UTF-8; the detection of another
/// encoding takes a hundred times as long.
const INLINE: usize = 64 << 10;
/// Bytes read at a time from a larger file.
const CHUNK: usize = 256 << 10;
/// Bytes after which the progress is told.
const REPORT_EVERY: u64 = 64 << 20;
/// Bytes of output kept back for the footer.
const FOOTER: usize = 160;

/// The tool.
#[derive(Debug)]
pub struct Read;

/// Arguments of `read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file to read.
    path: String,
    /// How many lines to skip; a negative number counts from the end. Default: 0.
    offset: Option<i64>,
    /// How many lines to return. Default: 2000.
    limit: Option<i64>,
    /// First line to return, counted from 1. Not together with offset or limit.
    start_line: Option<i64>,
    /// Last line to return, inclusive. Not together with offset or limit.
    end_line: Option<i64>,
    /// Text encoding as a WHATWG label such as `shift_jis`. Default: detected.
    encoding: Option<String>,
}

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file, as paths are printed.
    path: String,
    /// The lines, numbered as in the text; absent for an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Media type of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(flatten)]
    facts: Facts,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct Facts {
    /// Lines in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    /// Lines returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    returned_lines: Option<usize>,
    /// Whether lines follow the returned ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_more: Option<bool>,
    /// The offset that continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    /// Revision of the content, for `expected_revision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    /// Encoding of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// Line endings: lf, crlf, cr, mixed or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_ending: Option<String>,
    /// Whether the last line ends with a line ending.
    #[serde(skip_serializing_if = "Option::is_none")]
    final_newline: Option<bool>,
    /// Bytes in the file.
    size: u64,
    /// Pixels across an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<usize>,
    /// Pixels down an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<usize>,
}

impl Tool for Read {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "read",
        title: "Read a file",
        purpose: "shows a file",
        description: "Read a text file with line numbers (like cat -n), whole or a range of lines, or view an image \
            (PNG, JPEG, WebP, GIF). The numbers and the tab after them are not part of the file.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LINE_ALIASES],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    const INLINE: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let wanted = Wanted::of(&args)?;
        let encoding = args.encoding.as_deref().map(encoding).transpose()?;
        let Opened { path, file, head, whole } = match cx.blocking {
            Blocking::Allowed => open(cx, &args.path)?,
            Blocking::Never => open_cached(cx, &args.path)?,
        };
        if let Some(image) = text::image_info(&head) {
            return image_answer(cx, &path, file, head, whole, image).map(Plan::Answer);
        }
        let (page, sighting) = if whole {
            small(cx, &path, &file, head, encoding, wanted)?
        } else {
            (large(cx, &path, file, &head, encoding, wanted)?, None)
        };
        Ok(Plan::Answer(Answer { sighting: sighting.map(Box::new), ..page.answer(cx, &path, args.by_number()) }))
    }
}

/// A file and the start of its content.
struct Opened {
    path: WorkspacePath,
    file: OpenFile,
    head: Vec<u8>,
    /// Whether `head` is all of it.
    whole: bool,
}

fn open(cx: &CallContext, path: &str) -> Result<Opened, ToolError> {
    let path = cx.workspace.resolve(path)?;
    let mut file = cx.workspace.open_file(&path).map_err(|error| ToolError::access(&cx.workspace, error))?;
    let mut head = Vec::new();
    let whole = file.read_to_limit(&mut head, WHOLE).map_err(|error| failed(&path, error))?;
    Ok(Opened { path, file, head, whole })
}

/// As [`open`], for a small file of UTF-8 text that the kernel has in memory.
fn open_cached(cx: &CallContext, path: &str) -> Result<Opened, ToolError> {
    let path = cx.workspace.resolve_lexically(path).ok_or_else(ToolError::would_block)?;
    let (file, head) = cx.workspace.read_cached(&path, INLINE).ok_or_else(ToolError::would_block)?;
    if !text::is_plain(&head) || text::image_info(&head).is_some() {
        return Err(ToolError::would_block());
    }
    Ok(Opened { path, file, head, whole: true })
}

impl Args {
    /// Whether lines were asked for by their numbers.
    fn by_number(&self) -> bool {
        self.start_line.is_some() || self.end_line.is_some()
    }
}

/// The lines that were asked for.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    From {
        skip: usize,
        take: usize,
    },
    /// The last `back` lines, of which `take` are shown.
    Tail {
        back: usize,
        take: usize,
    },
}

impl Wanted {
    fn of(args: &Args) -> Result<Self, ToolError> {
        if args.start_line.is_some() || args.end_line.is_some() {
            if args.offset.is_some() || args.limit.is_some() {
                return Err(ToolError::invalid("start_line/end_line and offset/limit were both given")
                    .hint("use one pair: start_line and end_line count from 1, offset is how many lines to skip"));
            }
            let start = args.start_line.unwrap_or(1);
            if start < 1 {
                return Err(ToolError::invalid(format!("`start_line` counts from 1, got {start}"))
                    .hint("to count from the end, use a negative offset"));
            }
            let skip = size(start - 1);
            let take = match args.end_line {
                None => DEFAULT_LIMIT,
                Some(end) if end < start => {
                    return Err(ToolError::invalid(format!("`end_line` {end} is before `start_line` {start}"))
                        .hint("both count from 1 and are inclusive; leave end_line out to read on from start_line"));
                }
                Some(end) => size(end) - skip,
            };
            return Ok(Self::From { skip, take });
        }
        let take = args.limit.filter(|limit| *limit > 0).map_or(DEFAULT_LIMIT, size);
        Ok(match args.offset.unwrap_or(0) {
            back if back < 0 => Self::Tail { back: size(back.saturating_neg()), take },
            skip => Self::From { skip: size(skip), take },
        })
    }

    /// The range, once the number of lines is known.
    fn range(self, total: impl FnOnce() -> Result<usize, ToolError>, budget: usize) -> Result<Range, ToolError> {
        Ok(match self {
            Self::From { skip, take } => Range { skip, take, budget },
            Self::Tail { back, take } => Range { skip: total()?.saturating_sub(back), take, budget },
        })
    }
}

fn small(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &OpenFile,
    bytes: Vec<u8>,
    encoding: Option<&'static Encoding>,
    wanted: Wanted,
) -> Result<(Page, Option<PendingSighting>), ToolError> {
    let changed = changed(path, file)?;
    let ledger = &cx.session.ledger;
    let revision = ledger.revision_of(file.real_path(), &bytes).unwrap_or_else(|| Revision::of(&bytes));
    let size = bytes.len() as u64;
    let document = Document::decode(bytes, encoding).map_err(|error| binary(path, size, &error))?;
    let range = wanted.range(|| Ok(lines(document.text())), cx.settings.max_output.saturating_sub(FOOTER))?;
    let mut window = Window::new(range);
    window.push(document.text());
    let totals = window.finish();
    let sighting = if changed { None } else { ledger.note(file.real_path(), revision, Some(document.bytes())) };
    let page = Page {
        range,
        text: window.text,
        kept: window.kept,
        totals,
        line_ending: document.line_ending(),
        encoding: document.encoding().name(),
        revision: Some(revision),
        size,
        changed,
        lossy: document.had_errors(),
        hidden: window.hidden,
        hidden_count: window.hidden_count,
    };
    Ok((page, sighting))
}

fn large(
    cx: &CallContext,
    path: &WorkspacePath,
    mut file: OpenFile,
    head: &[u8],
    encoding: Option<&'static Encoding>,
    wanted: Wanted,
) -> Result<Page, ToolError> {
    let size = file.stat().size;
    let encoding = text::encoding_of_head(head, encoding).map_err(|error| binary(path, size, &error))?;
    // Only what can be edited needs a revision; hashing gigabytes would double the time.
    let hash = size <= cx.settings.max_file_size;
    let range = wanted.range(
        || {
            if ends_in_bytes(encoding) {
                return count_lines(cx, path, &mut file);
            }
            let mut count = Window::new(Range { skip: 0, take: 0, budget: 0 });
            stream(cx, path, &mut file, encoding, None, &mut count)?;
            Ok(count.finish().lines)
        },
        cx.settings.max_output.saturating_sub(FOOTER),
    )?;
    let mut window = Window::new(range);
    let mut hasher = hash.then(Revision::hasher);
    let lossy = stream(cx, path, &mut file, encoding, hasher.as_mut(), &mut window)?;
    let totals = window.finish();
    let changed = changed(path, &file)?;
    let revision = hasher.map(crate::workspace::RevisionHasher::finish);
    if let Some(revision) = revision.filter(|_| !changed) {
        cx.session.ledger.saw(file.real_path(), revision, None);
    }
    Ok(Page {
        range,
        text: window.text,
        kept: window.kept,
        totals,
        line_ending: match (totals.lf, totals.crlf) {
            (0, 0) => LineEnding::None,
            (_, 0) => LineEnding::Lf,
            (0, _) => LineEnding::CrLf,
            _ => LineEnding::Mixed,
        },
        encoding: encoding.name(),
        revision,
        size,
        changed,
        lossy,
        hidden: window.hidden,
        hidden_count: window.hidden_count,
    })
}

/// Whether each LF of the text is a byte LF of the file, and the other way round.
fn ends_in_bytes(encoding: &'static Encoding) -> bool {
    encoding == encoding_rs::UTF_8 || encoding.is_single_byte()
}

/// The lines of the whole file, counted in its bytes: decoding them takes several times as long.
fn count_lines(cx: &CallContext, path: &WorkspacePath, file: &mut OpenFile) -> Result<usize, ToolError> {
    std::io::Seek::rewind(file).map_err(|error| failed(path, error))?;
    let size = file.stat().size;
    let mut bytes = vec![0; CHUNK];
    let (mut done, mut ends, mut open, mut reported) = (0u64, 0, false, 0);
    loop {
        cx.check()?;
        let n = file.read(&mut bytes).map_err(|error| failed(path, error))?;
        let left = usize::try_from(size.saturating_sub(done)).unwrap_or(usize::MAX);
        let piece = &bytes[..n.min(left)];
        let Some(last) = piece.last() else { return Ok(ends + usize::from(open)) };
        ends += memchr::memchr_iter(b'\n', piece).count();
        open = *last != b'\n';
        done += piece.len() as u64;
        if done - reported >= REPORT_EVERY {
            reported = done;
            cx.report(done, Some(size), format!("counting the lines of {path}"));
        }
    }
}

/// Decodes the whole file into `window`, piece by piece; returns whether something was not valid.
fn stream(
    cx: &CallContext,
    path: &WorkspacePath,
    file: &mut OpenFile,
    encoding: &'static Encoding,
    mut hasher: Option<&mut crate::workspace::RevisionHasher>,
    window: &mut Window,
) -> Result<bool, ToolError> {
    std::io::Seek::rewind(file).map_err(|error| failed(path, error))?;
    let size = file.stat().size;
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut bytes = vec![0; CHUNK];
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(CHUNK).unwrap_or(CHUNK * 3));
    let (mut done, mut lossy, mut reported) = (0u64, false, 0);
    loop {
        cx.check()?;
        let n = file.read(&mut bytes).map_err(|error| failed(path, error))?;
        // Not past the size at the start: a file that grows as fast as it is read has an end here.
        let left = usize::try_from(size.saturating_sub(done)).unwrap_or(usize::MAX);
        let piece = &bytes[..n.min(left)];
        let last = piece.is_empty();
        if let Some(hasher) = hasher.as_deref_mut() {
            hasher.update(piece);
        }
        text.clear();
        let (_, _, errors) = decoder.decode_to_string(piece, &mut text, last);
        lossy |= errors;
        window.push(&text);
        done += piece.len() as u64;
        if done - reported >= REPORT_EVERY {
            reported = done;
            cx.report(done, Some(size), format!("reading {path}"));
        }
        if last {
            return Ok(lossy);
        }
    }
}

fn image_answer(
    cx: &CallContext,
    path: &WorkspacePath,
    mut file: OpenFile,
    mut bytes: Vec<u8>,
    whole: bool,
    image: text::ImageInfo,
) -> Result<Answer, ToolError> {
    let (size, limit) = (file.stat().size, cx.settings.max_image_size);
    if size > limit {
        return Err(ToolError::new(
            Kind::TooLarge,
            format!("{path} is an image of {size} bytes; at most {limit} bytes are returned"),
        )
        .hint("ask the person for a smaller version"));
    }
    if !whole {
        file.read_to_limit(&mut bytes, limit).map_err(|error| failed(path, error))?;
    }
    cx.check()?;
    text::check_image(&bytes, &image).map_err(|flaw| flawed(path, &image, bytes.len(), flaw))?;
    let revision = Revision::of(&bytes);
    cx.session.ledger.saw(file.real_path(), revision, None);
    let facts = Facts {
        revision: Some(revision.to_string()),
        size: bytes.len() as u64,
        width: Some(image.width),
        height: Some(image.height),
        ..Facts::default()
    };
    let said = format!("{path}: {} image, {}×{} pixels, {} bytes", image.mime, image.width, image.height, bytes.len());
    let mut answer = Answer::text(said, &facts).data(
        cx,
        &Output { path: path.to_string(), text: None, mime_type: Some(image.mime.to_owned()), facts: facts.clone() },
    );
    answer.content.push(Content::Image { bytes, mime: image.mime });
    Ok(answer)
}

/// The error for an image that no model could be shown.
fn flawed(path: &WorkspacePath, image: &text::ImageInfo, size: usize, flaw: ImageFlaw) -> ToolError {
    let what = format!("{path} is an image ({}, {}×{} pixels, {size} bytes)", image.mime, image.width, image.height);
    match flaw {
        ImageFlaw::TooLarge => ToolError::new(
            Kind::TooLarge,
            format!("{what}; at most 64 megapixels and {} on a side are shown", text::LONGEST_SIDE),
        )
        .hint("ask the person for a smaller version"),
        ImageFlaw::Broken(why) => ToolError::new(Kind::Binary, format!("{what} that cannot be decoded: {why}"))
            .hint("it is damaged or not finished; make it again, or ask the person for another copy"),
    }
}

/// The number of lines of `text`, as they are numbered.
pub(super) fn lines(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// Looks an encoding up by its WHATWG label.
pub(super) fn encoding(label: &str) -> Result<&'static Encoding, ToolError> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| {
        ToolError::invalid(format!("unknown encoding {label:?}"))
            .hint("use a WHATWG label such as utf-8, utf-16le, windows-1252, shift_jis or gb18030, or leave it out")
    })
}

/// The error for a file that is not text.
pub(super) fn binary(path: &WorkspacePath, size: u64, error: &DecodeError) -> ToolError {
    let DecodeError::Binary { kind } = error;
    if ["PNG image", "JPEG image", "WebP image", "GIF image"].contains(&kind.as_str()) {
        // One that decodes has been shown by now.
        return ToolError::new(
            Kind::Binary,
            format!("{path} is a {kind} of {size} bytes whose header is damaged or cut off"),
        )
        .hint("make it again, or ask the person for another copy");
    }
    ToolError::new(Kind::Binary, format!("{path} is not text: {kind}, {size} bytes"))
        .hint("only text and PNG, JPEG, WebP or GIF images can be read; for text in another encoding pass encoding")
}

fn changed(path: &WorkspacePath, file: &OpenFile) -> Result<bool, ToolError> {
    let now = file.restat().map_err(|error| failed(path, error))?;
    Ok(!now.same_file_state(file.stat()))
}

fn failed(path: &WorkspacePath, error: std::io::Error) -> ToolError {
    AccessError::from_io(error, path).into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use serde_json::json;

    use super::*;
    use crate::workspace::{Access, Workspace};

    #[test]
    fn only_utf8_text_is_read_inline() {
        let root = tempfile::tempdir().unwrap();
        let cx = CallContext::for_tests(Workspace::of_directory(root.path(), Access::ReadOnly));
        let cx = CallContext { blocking: Blocking::Never, ..cx };
        for (name, content) in [
            ("latin", &b"caf\xe9 cr\xe8me\n"[..]),
            ("sjis", b"\x93\xfa\x96\x7b\x8c\xea\n"),
            ("utf16", b"\xff\xfea\0\n\0"),
            ("nul", b"a\0b"),
            ("gif", b"GIF89a@@@@@@@@@@@@"),
        ] {
            std::fs::write(root.path().join(name), content).unwrap();
            let args = serde_json::from_value(json!({ "path": name })).unwrap();
            assert!(Read::plan(&cx, args).is_err(), "{name}");
        }
    }
}
