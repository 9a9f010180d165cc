//! `read`: lines of a text file, numbered, or an image.
//!
//! Small files are decoded whole, larger ones are streamed.

mod copied_text;
mod definition;
mod image;
mod notebook;
mod open;
#[cfg(feature = "pdf")]
mod pdf;
mod request;
mod resource;
mod section;
mod selection;
mod several;
mod since;
mod text;
mod window;

use definition::read_definition;
use image::read_image;
use notebook::read_notebook;
use open::{Format, Opened, Source, open, open_cached};
use pdf::read_pdf;
use request::{Args, FileRequest};
use section::{Output, Section};
use selection::{Part, may_end_in_selection};
use several::read_several;
use since::compared;
use text::read_text;

use super::{
    Alias, Answer, Blocking, CallContext, ExistingKind, Group, Kind, Plan, Spec, Tool, ToolError,
    answer::try_fitted,
    fence::FENCE,
    ls,
    tool::{LINE_ALIASES, PATH_ALIASES},
};
pub(in crate::tools) use copied_text::{CopiedText, TextSource};
pub(in crate::tools) use resource::{ResourceText, read_resource};
pub(in crate::tools) use section::Properties;
pub(in crate::tools) use selection::path_before_selection;
pub(in crate::tools) use since::Held;
pub(in crate::tools) use text::{Content, describe};

/// Stands in for the reader of PDF files in a build without it.
#[cfg(not(feature = "pdf"))]
mod pdf {
    use super::{CallContext, FileRequest, ToolError, open::Source, section::Section};
    use crate::tools::Kind;

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

/// The tool that shows files.
pub(crate) struct Read;

impl Tool for Read {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "read",
        title: "Read a file",
        purpose: "shows a file",
        description: "Use this instead of shell cat, head, tail or sed. Read a text file as numbered lines, whole or a range, the text of a PDF, or view an image (PNG, JPEG, WebP, GIF). \
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
                Shown::Directory(answer) => answer,
            })
        };
        let answer = try_fitted(cx, cx.budget, read)?;
        let sighting = record.and_then(|record| record(ledger)).map(Box::new);
        Ok(Plan::Answer(Answer { sighting, ..answer }))
    }
}

/// The answer for one path.
enum Shown {
    File(Box<Section>),
    /// The answer of `ls` about a directory.
    Directory(Answer),
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
        return show(cx, request, Opened::File(open_cached(cx, &request.path)?));
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

fn show(cx: &CallContext, request: &FileRequest, opened: Opened) -> Result<Shown, ToolError> {
    match opened {
        Opened::File(source) => Ok(Shown::File(Box::new(section(cx, request, source)?))),
        Opened::Directory(_) if request.is_whole() => {
            let cx = CallContext { budget: request.budget, ..cx.clone() };
            ls::directory(&cx, &request.path).map(Shown::Directory)
        }
        Opened::Directory(error) => Err(error),
    }
}

/// An open file as its format is shown; fenced where it is untrusted.
fn section(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
    let real = source.file.real_path().clone();
    let is_untrusted = cx.workspace.is_untrusted(&real);
    let reduced = is_untrusted.then(|| FileRequest { budget: request.budget.reduced(FENCE), ..request.clone() });
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
        // What a PDF takes is too much for the thread that reads requests.
        (Format::Pdf, _) if cx.blocking == Blocking::Never => Err(ToolError::would_block()),
        (Format::Pdf, None) if request.encoding.is_none() => read_pdf(cx, request, source, None),
        (Format::Pdf, Some(Part::Pages { first, last })) => read_pdf(cx, request, source, Some((*first, *last))),
        (Format::Image(info), _) => read_image(cx, request, source, info),
        (Format::Notebook | Format::Text, Some(Part::Columns { .. })) | (Format::Pdf | Format::Text, None) => {
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

    use serde_json::json;

    use super::*;
    use crate::tools::Blocking;
    use confined_fs::{Access, Workspace};

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
