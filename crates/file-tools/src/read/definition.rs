//! `part def NAME`: which lines the definitions of a name have, by line patterns, braces and indentation.
//!
//! A small file is outlined as it is decoded; a larger one takes a pass over it, with memory for its definitions alone.

use std::{collections::BTreeSet, ops::Range};

use confined_fs::WorkspacePath;
use source_outline::{Definition, definitions, may_have_definitions, named};
use text_file::nearest_name::{ONE_OF_MANY, did_you_mean, nearest_names};
use tree_search::outline_of_file;

use super::{
    super::{CallContext, Kind, ToolError},
    open::Source,
    request::{FileRequest, LineRange, Start, Terms},
    section::Section,
    text::read_text,
};

const OFFERED_NAMES: usize = 3;

/// The definitions that `name` means, each whole; parts of others between them are left out.
///
/// # Errors
/// `not_found` where there is none, `invalid_input` where none is recognised in files of that kind.
pub(super) fn read_definition(
    cx: &CallContext,
    request: &FileRequest,
    mut source: Source,
    name: &str,
) -> Result<Section, ToolError> {
    let all = outline(cx, request, &mut source)?;
    let found = lines_of(&all, name);
    if found.is_empty() {
        // A hint is outside the fence, and the names in an untrusted file are its author's words.
        let known = if cx.workspace.is_untrusted(source.file.real_path()) { &[][..] } else { &all };
        return Err(not_found(source.path(), name, known));
    }
    let lines = match found[..] {
        [Range { start, end }] => {
            LineRange::From { start: Start::Skip(start), take: Some(end - start), terms: Terms::Numbers }
        }
        _ => LineRange::Ranges(found),
    };
    let with_lead = named(&all, name).into_iter().filter(|one| one.start < one.line);
    let leads = with_lead.map(|one| one.start).collect();
    read_text(cx, &FileRequest { lines, leads, ..request.clone() }, source)
}

/// The lines of the definitions that `name` means, counted from 0: ascending and disjoint.
pub(super) fn lines_of(all: &[Definition], name: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = named(all, name).iter().map(|one| one.start - 1..one.end).collect();
    found.sort_by_key(|range| range.start);
    // One may be within another.
    found.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        last.end = if overlaps { last.end.max(next.end) } else { last.end };
        overlaps
    });
    found
}

/// The error for a file of a kind in which no definitions are recognised.
pub(super) fn no_definitions(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("definitions are not recognised in files like {path}"))
        .hint("find the line with grep, then name the lines by their numbers")
}

fn outline(cx: &CallContext, request: &FileRequest, source: &mut Source) -> Result<Vec<Definition>, ToolError> {
    let name = source.path().to_string();
    if !may_have_definitions(&name) {
        return Err(no_definitions(source.path()));
    }
    if source.whole {
        let text = text_file::view(&source.head, request.encoding).map_err(|error| source.binary(&error))?;
        return Ok(definitions(&name, &text));
    }
    // For its error alone, which says what the file is instead of text; the outline has only one of reading.
    source.encoding(request.encoding)?;
    let found = outline_of_file(&mut source.file, &name, request.encoding, &cx.stop);
    // A call that was stopped ends the outline with an error of reading.
    found.map_err(|error| cx.check().err().unwrap_or_else(|| source.failed(error)))
}

pub(super) fn not_found(path: &WorkspacePath, name: &str, all: &[Definition]) -> ToolError {
    let bare = |name: &'_ str| name.rsplit(['.', ':', ' ']).next().unwrap_or_default().to_owned();
    let known: BTreeSet<String> = all.iter().map(|one| bare(&one.name)).collect();
    let wanted = bare(name);
    let near = nearest_names(&wanted, known, ONE_OF_MANY);
    let search = format!("grep with pattern=\"{wanted}\" output_mode=\"definitions\" searches other files");
    let hint = match did_you_mean(near.iter().take(OFFERED_NAMES)) {
        Some(question) => format!("{question} {search}"),
        None => search,
    };
    ToolError::new(Kind::NotFound, format!("no definition of {name:?} in {path}")).hint(hint)
}
