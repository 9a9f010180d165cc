//! A text file: decoded whole where it is small, streamed where it is not.

use std::ops::Range;

use text_file::Document;

use confined_fs::WorkspacePath;

use super::{
    super::{
        CallContext, ToolError,
        shown_diff::{hunk_lines, numbers},
    },
    held::Held,
    page::Page,
    request::FileRequest,
    section::Section,
    since::Changes,
    source::Source,
    stream::read_streamed,
    whole::read_whole,
};

/// What is said of a file whose values are masked.
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

/// What changed since the revision that the caller has, where its content is still known and a diff is shorter.
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
