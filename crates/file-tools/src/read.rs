//! `read`: lines of a text file, numbered, or an image.
//!
//! Small files are decoded whole, larger ones are streamed. Several files are one answer, within one budget.

mod copied_text;
mod definition;
mod document_text;
mod image;
mod notebook;
#[cfg(feature = "office")]
mod office;
mod open;
#[cfg(feature = "pdf")]
mod pdf;
mod request;
pub(crate) mod section;
pub(crate) mod selection;
mod since;
pub(crate) mod text;
mod window;

use std::mem;

use confined_fs::{Revision, SecretNames, WorkspacePath, escape::escape_controls};
use definition::read_definition;
use image::read_image;
use notebook::read_notebook;
use office::read_office;
use open::{Format, OpenedEntry, Source, open, open_cached};
use pdf::read_pdf;
use request::{Args, FileRequest, LineRange};
use section::{FileOutput, Output, ReadRecord, Section, ShownImage, Totals};
use selection::{Part, may_end_in_selection};
use serde_json::json;
use since::compared;
use text::read_text;
use text_file::{Document, media_type};

use crate::session;

use super::{
    Alias, Answer, AnswerBudget, Blocking, CallContext, ExistingKind, Group, Kind, Plan, Spec, Tool, ToolError,
    answer::{self, count, try_fitted},
    answer_budget::fair_share,
    fence::{FENCE_BYTES, fence, fenced},
    ls,
    tool::{LINE_ALIASES, PATH_ALIASES},
};
pub(crate) use copied_text::{TextSource, copied_text};
pub(crate) use document_text::{ReadDocument, read_document};
pub(crate) use since::Base;

/// Stands in for the reader of PDF files in a build without it.
#[cfg(not(feature = "pdf"))]
mod pdf {
    use super::{CallContext, FileRequest, ToolError, open::Source, section::Section};
    use crate::Kind;

    pub(super) fn read_pdf(
        _: &CallContext,
        _: &FileRequest,
        source: Source,
        _: Option<(usize, usize)>,
    ) -> Result<Section, ToolError> {
        let (path, size) = (source.path(), source.size());
        let sentence = format!("{path} is a PDF of {size} bytes, and this program was built without PDF");
        Err(ToolError::new(Kind::Binary, sentence).hint("ask the user for its text"))
    }
}

/// Takes the place of the reader of Word, Excel, `PowerPoint` and `OpenDocument` files in a build without it.
#[cfg(not(feature = "office"))]
mod office {
    use super::{CallContext, FileRequest, ToolError, open::Source, section::Section};
    use crate::Kind;

    pub(super) fn read_office(_: &CallContext, _: &FileRequest, source: Source) -> Result<Section, ToolError> {
        let (path, size) = (source.path(), source.size());
        let sentence = format!("{path} is an Office document of {size} bytes, and this program was built without them");
        Err(ToolError::new(Kind::Binary, sentence).hint("ask the user for its text"))
    }
}

pub(crate) struct Read;

impl Tool for Read {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "read",
        title: "Read a file",
        purpose: "shows a file",
        description: "Use this instead of shell cat, head, tail or sed. Read a text file as numbered lines, whole or a range, the text of a PDF, docx, xlsx or pptx, or view an image. \
            Number and tab are not part of the file.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LINE_ALIASES, &[Alias::names("paths", &["files", "file_paths", "filePaths"])]],
        ..Spec::READS
    };

    const INLINE: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let ledger = &cx.session.ledger;
        if let Some(paths) = args.paths.as_ref().filter(|paths| !paths.is_empty() || args.path.is_none()) {
            let mut records = Vec::new();
            let answer = try_fitted(cx, cx.budget, |room| read_several(cx, &args, paths, room, &mut records))?;
            records.into_iter().filter_map(|record| record(ledger)).for_each(|pending| ledger.save(&pending));
            return Ok(Plan::Answer(answer));
        }
        let Some(path) = args.path.clone() else {
            return Err(
                ToolError::invalid("the argument `path` is missing").hint("call read again with path, or with paths")
            );
        };
        let request = FileRequest::of(&args, path, cx.budget)?;
        let mut record = None;
        let read = |budget| -> Result<Answer, ToolError> {
            Ok(match read_one(cx, &FileRequest { budget, ..request.clone() })? {
                Shown::File(mut section) => {
                    record = section.record.take();
                    section.answer(cx)
                }
                Shown::Other(answer) => answer,
            })
        };
        let answer = try_fitted(cx, cx.budget, read)?;
        let sighting = record.and_then(|record| record(ledger)).map(Box::new);
        Ok(Plan::Answer(Answer { sighting, ..answer }))
    }
}

enum Shown {
    File(Box<Section>),
    /// The answer of `ls` about a directory, or the names in a secret file.
    Other(Answer),
}

/// Reads one file, or lists a directory if no part is requested. A path that names no file may have a selection
/// at its end.
///
/// # Errors
/// Those of the file, and `invalid_input` for a part that its format does not have.
fn read_one(cx: &CallContext, request: &FileRequest) -> Result<Shown, ToolError> {
    if cx.blocking == Blocking::Never {
        // What the session knows of former revisions may be on the disk.
        if request.since.is_some() {
            return Err(ToolError::would_block());
        }
        return show(cx, request, OpenedEntry::File(open_cached(cx, &request.path)?));
    }
    let existing = |path: &str| open(cx, &cx.existing(path, ExistingKind::FileOrDirectory)?);
    match cx.workspace.resolve(&request.path).map_err(ToolError::from).and_then(|path| open(cx, &path)) {
        Ok(opened) => show(cx, request, opened),
        Err(error) if may_end_in_selection(error.kind()) => match request.without_selection() {
            Some(selected) => {
                let selected = selected?;
                show(cx, &selected, existing(&selected.path)?)
            }
            None if error.kind() == Kind::NotFound => show(cx, request, existing(&request.path)?),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn show(cx: &CallContext, request: &FileRequest, opened: OpenedEntry) -> Result<Shown, ToolError> {
    match opened {
        OpenedEntry::File(source) => Ok(Shown::File(Box::new(section(cx, request, source)?))),
        OpenedEntry::Directory(_) if request.is_whole() => {
            let cx = CallContext { budget: request.budget, ..cx.clone() };
            ls::directory(&cx, &request.path).map(Shown::Other)
        }
        OpenedEntry::Directory(error) => Err(error),
        // Whichever part is asked for: where a name is in the file depends on the values.
        OpenedEntry::Names(found, _) => Ok(Shown::Other(names_answer(cx, &found))),
    }
}

/// Bytes of the names that an answer has at most: less than the least that a client takes.
const MAX_NAMES: usize = 6_000;

/// The names in a secret file, which does not count as seen.
fn names_answer(cx: &CallContext, SecretNames { asked, real, names }: &SecretNames) -> Answer {
    let mut left = MAX_NAMES;
    let fitting = names.iter().take_while(|name| {
        left = left.saturating_sub(name.len() + 2);
        left > 0
    });
    let shown: Vec<&str> = fitting.map(String::as_str).collect();
    let more = (names.len() > shown.len()).then(|| names.len() - shown.len());
    let more = more.map(|more| format!("\n({more} more names in this file do not fit, and cannot be shown)"));
    let more = more.unwrap_or_default();
    let text = format!("names in {asked} (values hidden): {}{more}", shown.join(", "));
    let text = fenced(&cx.workspace, [real], text);
    let file = FileOutput { text: Some(text.clone()), path: asked.to_string(), ..FileOutput::default() };
    Answer::text(text, &json!({})).data_of(cx, || Output { file: Some(file), ..Output::default() })
}

/// An open file as its format is shown; fenced where it is untrusted.
fn section(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let real = source.file.real_path().clone();
    let is_untrusted = cx.workspace.is_untrusted(&real);
    let reduced = is_untrusted.then(|| FileRequest { budget: request.budget.reduced(FENCE_BYTES), ..request.clone() });
    let section = read_as_format(cx, reduced.as_ref().unwrap_or(request), source)?;
    // A server may take long to start: begun here, it may be ready by the time of the edit that asks for its findings.
    if let Some(servers) = &cx.language_servers {
        servers.opened(&cx.workspace, &real);
    }
    let section = match request.since {
        Some(since) if section.facts.since.is_none() => compared(cx, section, &real, since),
        _ => section,
    };
    Ok(if is_untrusted { section.fenced() } else { section })
}

fn read_as_format(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let format = Format::of(source.path(), &source.head);
    match (format, &request.part) {
        // What these take is too much for the thread that reads requests.
        (Format::Pdf | Format::Office, _) if cx.blocking == Blocking::Never => Err(ToolError::would_block()),
        (Format::Pdf, None) if request.encoding.is_none() => read_pdf(cx, request, source, None),
        (Format::Pdf, Some(Part::Pages(pages))) => read_pdf(cx, request, source, Some(*pages)),
        (Format::Office, _) => read_office(cx, request, source),
        (Format::Image(info), _) => read_image(cx, request, source, info),
        (Format::Notebook | Format::Text, Some(Part::Columns(_))) | (Format::Pdf | Format::Text, None) => {
            read_text(cx, request, source)
        }
        (Format::Text, Some(Part::Def(name))) => read_definition(cx, request, source, name),
        (Format::Notebook, _) => read_notebook(cx, request, source),
        (_, Some(part)) => Err(part.unfit(source.path(), format)),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use super::*;
    use crate::Blocking;
    use change_set::Workspace;
    use confined_fs::Access;

    #[test]
    fn only_utf8_text_is_read_inline() {
        let root = tempfile::tempdir().unwrap();
        let cx = CallContext::on(Workspace::of_directory(root.path(), Access::ReadOnly));
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

const MAX_FILES: usize = 50;

/// Units of any budget for the footer and the first line of a file, without its path.
const MIN_SHARE: usize = 600;

struct Piece {
    text: String,
    image: Option<ShownImage>,
    output: FileOutput,
    error: Option<ToolError>,
    record: Option<ReadRecord>,
}

const FILE_SEPARATOR: &str = "\n\n";

impl Piece {
    fn heading(&self) -> String {
        format!("==> {} <==\n", escape_controls(&self.output.path))
    }
}

/// The answer for `paths` within `budget`: small files whole, and what they leave of it shared by the others. Files that
/// it has no room for are named. An error is in its file's place. `records` are those of the files in it.
///
/// # Errors
/// `invalid_input` for arguments that contradict each other, and where no file could be read.
fn read_several(
    cx: &CallContext,
    args: &Args,
    paths: &[String],
    budget: AnswerBudget,
    records: &mut Vec<ReadRecord>,
) -> Result<Answer, ToolError> {
    check(args, paths)?;
    let encoding = args.encoding()?;
    if cx.blocking == Blocking::Never {
        return Err(ToolError::would_block());
    }
    let read = |path: &String, budget| read_piece(cx, &FileRequest::of_entry(path.clone(), encoding, budget));
    let mut pieces = read_whole_pieces(cx, paths, budget, read)?;
    let left_out = not_shown(&paths[pieces.len()..], &budget);
    let headings: String = pieces.iter().map(|piece| piece.heading() + FILE_SEPARATOR).collect();
    let shares = shares(&pieces, budget.less(&headings).less(&left_out));
    for ((path, piece), share) in paths.iter().zip(&mut pieces).zip(shares) {
        if let Some(share) = share {
            cx.check()?;
            // Read again, and not cut here: its footer says where the text ends and how to go on.
            *piece = read(path, share)?;
        }
    }
    // A footer may have taken more than its share.
    let fits = |pieces: &[Piece]| {
        let text: String = pieces.iter().map(|piece| piece.heading() + &piece.text + FILE_SEPARATOR).collect();
        budget.less(&not_shown(&paths[pieces.len()..], &budget)).fits(&text)
    };
    while pieces.len() > 1 && !fits(&pieces) {
        // From the end: the note on what is not shown continues with the files from here on.
        pieces.pop();
    }
    // The last answer is the one that is sent: what longer ones before it had was not seen.
    *records = pieces.iter_mut().filter_map(|piece| piece.record.take()).collect();
    let rest = &paths[pieces.len()..];
    answer(cx, pieces, rest, &not_shown(rest, &budget))
}

/// The first of the files, as many as there is room for when each but the small ones is cut to [`MIN_SHARE`]. The others
/// are not read: they do not count as seen.
fn read_whole_pieces(
    cx: &CallContext,
    paths: &[String],
    budget: AnswerBudget,
    read: impl Fn(&String, AnswerBudget) -> Result<Piece, ToolError>,
) -> Result<Vec<Piece>, ToolError> {
    let mut pieces = Vec::new();
    let mut left = budget.limit;
    for (index, path) in paths.iter().enumerate() {
        cx.check()?;
        // Another one has to leave room for the names of those after it.
        let note = budget.cost(&not_shown(&paths[index + 1..], &budget));
        if index > 0 && left < note + MIN_SHARE {
            break;
        }
        let piece = read(path, budget)?;
        let heading = budget.cost(&(piece.heading() + FILE_SEPARATOR));
        left = left.saturating_sub(heading + budget.cost(&piece.text).min(MIN_SHARE + 2 * budget.cost(path)));
        pieces.push(piece);
    }
    Ok(pieces)
}

/// The names of the files that the answer has no room for, as the argument that continues; empty where there are none.
fn not_shown(paths: &[String], budget: &AnswerBudget) -> String {
    let [first, ..] = paths else { return String::new() };
    let quoted = |path: &String| serde_json::Value::from(escape_controls(path).into_owned()).to_string();
    let names: Vec<String> = paths.iter().map(quoted).collect();
    let files = count(paths.len(), "file");
    let note = format!("(no room for {files}; continue with paths=[{}])", names.join(","));
    if budget.cost(&note) <= budget.limit / 4 {
        return note;
    }
    format!("(no room for the last {files}; continue with paths from {} on)", quoted(first))
}

fn check(args: &Args, paths: &[String]) -> Result<(), ToolError> {
    const LINES_HINT: &str = "name the lines after each file, as in src/a.rs:120-180,300-340";
    const PART_HINT: &str = "name the part after each file, as in src/a.rs:def load and a.pdf:page 1, or use path";
    let of_one = [
        ("path", args.path.is_some(), "send all files in paths"),
        ("offset", args.offset.is_some(), LINES_HINT),
        ("limit", args.limit.is_some(), LINES_HINT),
        ("start_line", args.start_line.is_some(), LINES_HINT),
        ("end_line", args.end_line.is_some(), LINES_HINT),
        ("since", args.since.is_some(), "a rev belongs to one file: use path"),
        ("part", args.part.is_some(), PART_HINT),
    ];
    if let Some((name, _, hint)) = of_one.iter().find(|(_, is_given, _)| *is_given) {
        return Err(ToolError::invalid(format!("`paths` and `{name}` were both given")).hint(*hint));
    }
    match paths.len() {
        0 => Err(ToolError::invalid("`paths` names no file").hint("name up to 50 files, or use path")),
        1..=MAX_FILES => Ok(()),
        n => Err(ToolError::invalid(format!("`paths` names {n} files; at most {MAX_FILES} are read at once"))
            .hint("send the others in another call")),
    }
}

/// Reads one file; only an error of the whole call is returned as `Err`.
fn read_piece(cx: &CallContext, request: &FileRequest) -> Result<Piece, ToolError> {
    let piece = |text, output| Piece { text, image: None, output, error: None, record: None };
    let named = FileOutput { path: request.path.clone(), ..FileOutput::default() };
    match read_one(cx, request) {
        Ok(Shown::File(section)) => {
            let (path, text) = (section.path.to_string(), section.render());
            let output = FileOutput { path, facts: Some(section.facts), ..named };
            Ok(Piece { image: section.image, record: section.record, ..piece(text, output) })
        }
        Ok(Shown::Other(answer)) => {
            // It has one text.
            let first = answer.content.into_iter().next();
            let Some(answer::Content::Text(text)) = first else { return Ok(piece(String::new(), named)) };
            Ok(piece(text, named))
        }
        Err(error) if error.kind() == Kind::Cancelled => Err(error),
        Err(error) => {
            let output = FileOutput { error: Some(error.kind().as_str()), ..named };
            let text = error.text_within(&request.budget);
            Ok(Piece { error: Some(error), ..piece(text, output) })
        }
    }
}

/// The budget of each file that has to be cut; the others stay as they are.
fn shares(pieces: &[Piece], budget: AnswerBudget) -> Vec<Option<AnswerBudget>> {
    let costs: Vec<usize> = pieces.iter().map(|piece| budget.cost(&piece.text)).collect();
    let share = fair_share(&costs, budget.limit);
    let sizes: Vec<usize> =
        pieces.iter().map(|piece| piece.image.as_ref().map_or(0, |image| image.bytes.len())).collect();
    let image_share = fair_share(&sizes, budget.image_bytes);
    let is_over = |index: &usize| costs[*index] > share || sizes[*index] > image_share;
    let cut = AnswerBudget { limit: share, image_bytes: image_share, ..budget };
    (0..pieces.len()).map(|index| Some(cut).filter(|_| is_over(&index))).collect()
}

/// The answer of these files. `rest` are those that it has no room for, and `note` says so.
fn answer(cx: &CallContext, pieces: Vec<Piece>, rest: &[String], note: &str) -> Result<Answer, ToolError> {
    let failed = pieces.iter().filter(|piece| piece.error.is_some()).count();
    if failed == pieces.len() && rest.is_empty() {
        let error = |mut piece: Piece| Some((piece.error.take()?, piece.heading() + &piece.text));
        return Err(ToolError::of_all(pieces.into_iter().filter_map(error).collect(), "read"));
    }
    let lines = |piece: &Piece| piece.output.facts.as_ref().and_then(|facts| facts.returned_lines).unwrap_or(0);
    let total_returned_lines = pieces.iter().map(lines).sum();
    let totals = Totals { read: pieces.len() - failed, failed, total_returned_lines };
    let files = pieces.iter().map(|piece| piece.output.clone()).collect();
    let mut output = Output { file: None, files: Some(files), not_shown: rest.to_vec(), totals: Some(totals) };
    let mut answer = Answer { content: Vec::new(), ..Answer::text("", &output) };
    let mut text = String::new();
    for (piece, output) in pieces.into_iter().zip(output.files.iter_mut().flatten()) {
        if !text.is_empty() {
            text.push_str(FILE_SEPARATOR);
        }
        text.push_str(&piece.heading());
        text.push_str(&piece.text);
        output.mime_type = piece.image.as_ref().map(|image| image.mime);
        output.text = Some(piece.text).filter(|_| cx.settings.structured_output);
        if let Some(ShownImage { bytes, mime }) = piece.image {
            // Blocks have no names in MCP: the heading in the text right before an image tells which file it is of.
            answer.content.push(answer::Content::Text(std::mem::take(&mut text)));
            answer.content.push(answer::Content::Image { bytes, mime });
        }
    }
    if !note.is_empty() {
        text.push_str(FILE_SEPARATOR);
        text.push_str(note);
    }
    if !text.is_empty() {
        // After an image it begins with the separator of what is in the block before.
        answer.content.push(answer::Content::Text(text.trim_start_matches('\n').to_owned()));
    }
    Ok(answer.data(cx, &output))
}

/// Bytes of the longest text of a resource, where `--max-output` does not say it: some 250,000 tokens. The limits of
/// clients are for the results of tools; what a person attaches is theirs to choose.
const MAX_TEXT: usize = 1 << 20;

/// A file for a conversation.
///
/// A file as a resource: its text as it is in the file, without line numbers and footer, since a client puts it into the
/// conversation as an attachment. Other formats are shown as `read` shows them. It is whole or an error, never cut.
pub(crate) type ResourceText = (answer::Content, &'static str);

/// The file at `path`; `None` for a directory.
///
/// # Errors
/// Those of `read`, and `too_large` for what it would show a part of.
pub(crate) fn read_resource(cx: &CallContext, path: &WorkspacePath) -> Result<Option<ResourceText>, ToolError> {
    let source = match open(cx, path)? {
        OpenedEntry::File(source) => source,
        OpenedEntry::Directory(_) => return Ok(None),
        OpenedEntry::Names(_, refusal) => return Err(refusal),
    };
    let limit = cx.settings.max_output.unwrap_or(MAX_TEXT);
    let is_text = Format::of(path, &source.head) == Format::Text;
    if is_text { read_plain(cx, source, limit) } else { read_shown(cx, source, limit) }.map(Some)
}

/// A text file. The file counts as seen: the client got all of it, for the conversation.
fn read_plain(cx: &CallContext, mut source: Source, limit: usize) -> Result<ResourceText, ToolError> {
    if !source.whole {
        return Err(too_large(&source, limit));
    }
    let is_changed = source.has_changed()?;
    let document = Document::decode(mem::take(&mut source.head), None).map_err(|error| source.binary(&error))?;
    if document.text().len() > limit {
        return Err(too_large(&source, limit));
    }
    let real = source.file.real_path();
    if !is_changed {
        let known = cx.session.ledger.revision_of(real, document.bytes());
        let revision = known.unwrap_or_else(|| Revision::of(document.bytes()));
        cx.session.ledger.record_read(real, revision, Some(document.bytes()), cx.by.as_ref(), session::Shown::Whole);
    }
    let text = document.text();
    let text = if cx.workspace.is_untrusted(real) { fence(text) } else { text.to_owned() };
    // The name says the type, and the content was found to be text: a type of bytes would belie what is sent.
    let mime_type = media_type(&source.path().display_name()).filter(|kind| !is_of_bytes(kind)).unwrap_or("text/plain");
    Ok((answer::Content::Text(text), mime_type))
}

/// Whether a media type is that of a format that is no text, whatever the file of that name holds.
fn is_of_bytes(media_type: &str) -> bool {
    media_type == "application/pdf" || media_type.starts_with("image/") && media_type != "image/svg+xml"
}

fn read_shown(cx: &CallContext, source: Source, limit: usize) -> Result<ResourceText, ToolError> {
    let too_large = too_large(&source, limit);
    let budget = AnswerBudget { image_bytes: cx.budget.image_bytes, ..AnswerBudget::bytes(limit) };
    let mut request = FileRequest::of_entry(source.path().to_string(), None, budget);
    if Format::of(source.path(), &source.head) == Format::Office {
        request.lines = LineRange::EVERY;
    }
    let shown = section(cx, &request, source)?;
    // A client attaches a resource as it comes: nobody would act on a footer that says how to go on.
    if shown.facts.has_more == Some(true) {
        return Err(too_large);
    }
    let (ledger, text) = (&cx.session.ledger, shown.render());
    shown.record.and_then(|record| record(ledger)).inspect(|pending| ledger.save(pending));
    Ok(match shown.image {
        Some(ShownImage { bytes, mime }) => (answer::Content::Image { bytes, mime }, mime),
        None => (answer::Content::Text(text), "text/plain"),
    })
}

fn too_large(source: &Source, limit: usize) -> ToolError {
    let (path, size) = (source.path(), source.size());
    let sentence = format!("{path} has {size} bytes; a resource is sent whole, and its text has at most {limit}");
    ToolError::new(Kind::TooLarge, sentence)
        .hint("ask for a part of the file in the conversation: the read tool shows parts of files of any size")
}
