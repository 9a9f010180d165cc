//! A file as a resource: its text as it is in the file, without line numbers and footer, since a client puts it into the
//! conversation as an attachment. Other formats are shown as `read` shows them. It is whole or an error, never cut.

use std::mem;

use confined_fs::{Revision, WorkspacePath};
use text_file::{Document, media_type};

use crate::session::ALL_LINES;

use super::{
    super::{AnswerBudget, CallContext, Content, Kind, ToolError, fence::fence},
    open::{Format, Opened, Source, open},
    request::FileRequest,
    section,
};

/// Bytes of the longest text of a resource, where `--max-output` does not say it: some 250,000 tokens. The limits of
/// clients are for the results of tools; what a person attaches is theirs to choose.
const MAX_TEXT: usize = 1 << 20;

/// A file for a conversation.
pub(in crate::tools) struct ResourceText {
    pub(in crate::tools) content: Content,
    pub(in crate::tools) mime_type: &'static str,
}

/// The file at `path`; `None` for a directory.
///
/// # Errors
/// Those of `read`, and `too_large` for what it would show a part of.
pub(in crate::tools) fn read_resource(
    cx: &CallContext,
    path: &WorkspacePath,
) -> Result<Option<ResourceText>, ToolError> {
    let source = match open(cx, path)? {
        Opened::File(source) => source,
        Opened::Directory(_) => return Ok(None),
    };
    let limit = cx.settings.max_output.unwrap_or(MAX_TEXT);
    match Format::of(path, &source.head) {
        Format::Text => read_plain(cx, source, limit).map(Some),
        Format::Image(_) | Format::Pdf | Format::Notebook => read_shown(cx, source, limit).map(Some),
    }
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
        cx.session.ledger.saw(real, revision, Some(document.bytes()));
        cx.session.ledger.showed(real, Some(revision), [ALL_LINES]);
        cx.session.ledger.showed_whole(real, cx.by.as_ref(), None, revision);
    }
    let text = document.text();
    let text = if cx.workspace.is_untrusted(real) { fence(text) } else { text.to_owned() };
    // The name says the type, and the content was found to be text: a type of bytes would belie what is sent.
    let mime_type = media_type(&source.path().display_name()).filter(|kind| !is_of_bytes(kind)).unwrap_or("text/plain");
    Ok(ResourceText { content: Content::Text(text), mime_type })
}

/// Whether a media type is that of a format that is no text, whatever the file of that name holds.
fn is_of_bytes(media_type: &str) -> bool {
    media_type == "application/pdf" || media_type.starts_with("image/") && media_type != "image/svg+xml"
}

/// A file of another format, as `read` shows it.
fn read_shown(cx: &CallContext, source: Source, limit: usize) -> Result<ResourceText, ToolError> {
    let too_large = too_large(&source, limit);
    let budget = AnswerBudget { image_bytes: cx.budget.image_bytes, ..AnswerBudget::bytes(limit) };
    let request = FileRequest::of_entry(source.path().to_string(), None, budget);
    let shown = section(cx, &request, source)?;
    // A client attaches a resource as it comes: nobody would act on a footer that says how to go on.
    if shown.facts.has_more == Some(true) {
        return Err(too_large);
    }
    let (ledger, text) = (&cx.session.ledger, shown.render());
    shown.record.and_then(|record| record(ledger)).inspect(|pending| ledger.save(pending));
    Ok(match shown.image {
        Some(image) => {
            ResourceText { content: Content::Image { bytes: image.bytes, mime: image.mime }, mime_type: image.mime }
        }
        None => ResourceText { content: Content::Text(text), mime_type: "text/plain" },
    })
}

fn too_large(source: &Source, limit: usize) -> ToolError {
    let (path, size) = (source.path(), source.size());
    ToolError::new(
        Kind::TooLarge,
        format!("{path} has {size} bytes; a resource is sent whole, and its text has at most {limit}"),
    )
    .hint("ask for a part of the file in the conversation: the read tool shows parts of files of any size")
}
