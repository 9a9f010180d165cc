//! The text that another tool copies from a file, named as `read` takes it: `src/b.rs`, `src/b.rs:10-40` or
//! `src/b.rs:def load`.

use std::ops::Range;

use confined_fs::{Revision, Snapshot, WorkspacePath};
use source_outline::{definitions, may_have_definitions};
use text_file::{Document, LineEnding, encode, lines};

use super::{
    super::{CallContext, ExistingKind, Kind, ToolError, answer::count},
    definition::{lines_of, no_definitions, not_found},
    open::{Format, binary},
    selection::{Part, Selection, may_end_in_selection},
};

#[derive(Clone, Debug)]
pub(crate) struct TextSource {
    pub(crate) named: String,
    pub(crate) real: WorkspacePath,
    pub(crate) revision: Revision,
    pub(crate) line_ending: LineEnding,
}

/// Reads what `from` names. A file that is literally called so wins.
///
/// # Errors
/// Those of reading the file; `invalid_input` for lines that it does not have; `binary` for what is not text, or not
/// the same bytes when it is written again.
pub(crate) fn copied_text(cx: &CallContext, from: &str) -> Result<(String, TextSource), ToolError> {
    let (path, selection, file) = open(cx, from)?;
    let size = file.bytes.len() as u64;
    let format = Format::of(&path, &file.bytes);
    let without_lines = match format {
        Format::Pdf => Some("a PDF file"),
        Format::Office => Some("an Office document"),
        Format::Image(_) => Some("an image"),
        Format::Notebook => selection.is_some().then_some("a notebook, which has cells instead of lines"),
        Format::Text => None,
    };
    if let Some(kind) = without_lines {
        return Err(ToolError::new(Kind::Binary, format!("{path} is {kind}: no lines can be copied from it"))
            .hint("pass the text as new_string"));
    }
    let document = Document::decode(file.bytes, None).map_err(|error| binary(&path, size, &error))?;
    let text = match selection {
        None => document.text().to_owned(),
        Some(selection) => {
            let ranges = selected(cx, (&path, &file.path), &document, selection, from)?;
            ranges.into_iter().map(|bytes| &document.text()[bytes]).collect()
        }
    };
    // What is copied goes into a file: a U+FFFD that was shown in place of a byte would be written there for good.
    if !is_same_when_written(&document, &text) {
        let encoding = document.encoding().name();
        let sentence =
            format!("what `{from}` names has bytes that are not valid {encoding}, so it cannot be copied as text");
        return Err(ToolError::new(Kind::Binary, sentence)
            .hint("copy lines without such bytes (read shows them as \u{fffd}), or pass the text as new_string"));
    }
    let (line_ending, named) = (LineEnding::of(&text), from.to_owned());
    let source = TextSource { named, real: file.path, revision: file.revision, line_ending };
    Ok((text, source))
}

fn open(cx: &CallContext, from: &str) -> Result<(WorkspacePath, Option<Selection>, Snapshot), ToolError> {
    let read = |path: WorkspacePath| match cx.read_to_change(&path) {
        Ok(file) => Ok((path, file)),
        Err(error) => Err(ToolError::access(&cx.workspace, error)),
    };
    let exact = cx.workspace.resolve(from).map_err(ToolError::from).and_then(read);
    let refused = match exact {
        Ok((path, file)) => return Ok((path, None, file)),
        Err(error) => error,
    };
    if !may_end_in_selection(refused.kind()) {
        return Err(refused);
    }
    let (path, selection) = match Selection::split(from) {
        Some((path, selection)) => (path, Some(selection?)),
        None if refused.kind() == Kind::NotFound => (from, None),
        None => return Err(refused),
    };
    let (path, file) = read(cx.existing(path, ExistingKind::File)?)?;
    Ok((path, selection, file))
}

/// The bytes of the text that are selected, whole lines with their endings; `named` is how the call names them.
fn selected(
    cx: &CallContext,
    (path, real): (&WorkspacePath, &WorkspacePath),
    document: &Document,
    selection: Selection,
    named: &str,
) -> Result<Vec<Range<usize>>, ToolError> {
    let text = document.text();
    let ranges = match selection {
        Selection::Lines(ranges) => ranges,
        Selection::Part(Part::Def(name)) => {
            let file = path.to_string();
            if !may_have_definitions(&file) {
                return Err(no_definitions(path));
            }
            let all = definitions(&file, text);
            let found = lines_of(&all, &name);
            if found.is_empty() {
                // As `read` does it: names in an untrusted file stay out of the server's own words.
                return Err(not_found(path, &name, if cx.workspace.is_untrusted(real) { &[] } else { &all }));
            }
            // `read` shows all of them; which one is to be copied is for the caller to say.
            if found.len() > 1 {
                let shown: Vec<String> =
                    found.iter().take(20).map(|range| format!("{}-{}", range.start + 1, range.end)).collect();
                let sentence = format!("{path} has {} definitions of {name}: lines {}", found.len(), shown.join(", "));
                return Err(ToolError::new(Kind::Ambiguous, sentence)
                    .hint(format!("name the lines, as in {path}:{}", shown[0])));
            }
            found
        }
        Selection::Part(part) => {
            let why = format!("`new_from` names {part} of {path}; it takes lines or a definition");
            let hint = "name a whole file, or lines as in src/b.rs:10-40, or src/b.rs:def NAME";
            return Err(ToolError::invalid(why).hint(hint));
        }
    };
    // `10-`; a number too large for any file is parsed to the same range.
    let goes_to_end = named.trim_end().ends_with('-');
    let starts: Vec<usize> = lines(text).map(|line| line.start).chain([text.len()]).collect();
    let total = starts.len() - 1;
    let bytes = |range: &Range<usize>| {
        let end = if range.end == usize::MAX && goes_to_end { total } else { range.end };
        // Not cut to the lines there are, as in `read`: less than was named would be written without a word.
        let is_there = range.start < end && end <= total;
        is_there.then(|| starts[range.start]..starts[end])
    };
    ranges.iter().map(bytes).collect::<Option<_>>().ok_or_else(|| {
        let lines = count(total, "line");
        ToolError::invalid(format!("{path} has {lines}, so `new_from` names lines that it does not have"))
            .hint("read it, and name lines that it shows")
    })
}

/// Whether `text`, a part of the document, is written as the bytes that it was read from.
fn is_same_when_written(document: &Document, text: &str) -> bool {
    !document.had_errors()
        // An invalid byte is decoded to this character, so that a part without it has none. A file may also hold the
        // character itself: then only encoding it again tells them apart.
        || !text.contains(char::REPLACEMENT_CHARACTER)
        || encode(document.text(), document.encoding(), document.has_bom(), LineEnding::None)
            .is_ok_and(|bytes| bytes == document.bytes())
}
