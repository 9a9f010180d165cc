//! One file with one selection, shown in the way of its format.

use super::{
    super::{Answer, Blocking, CallContext, ExistingKind, Kind, ToolError, fence::FENCE, ls},
    definition::read_definition,
    image::read_image,
    notebook::read_notebook,
    open::{Format, Opened, Source, open, open_cached},
    pdf::read_pdf,
    request::FileRequest,
    section::Section,
    selection::{Part, may_end_in_selection},
    since::compared,
    text::read_text,
};

/// The answer for one path.
pub(super) enum Shown {
    File(Box<Section>),
    /// The answer of `ls` about a directory.
    Directory(Answer),
}

/// Reads one file, or lists a directory if no part is requested. A path that names no file may have a selection
/// at its end.
///
/// # Errors
/// Those of the file, and `invalid_input` for a part that its format does not have.
pub(super) fn read_one(cx: &CallContext, request: &FileRequest) -> Result<Shown, ToolError> {
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
pub(super) fn section(cx: &CallContext, request: &FileRequest, source: Source) -> Result<Section, ToolError> {
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
