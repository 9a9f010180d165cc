//! The definition around each match.

use source_outline::{Definition, definitions, enclosing, enclosing_definition};

use tree_search::{ContentHits, FileHits, outline_of_file};

use super::super::CallContext;

/// Notes for each match which definition it is in; returns how many files that was not possible for, because they
/// changed, cannot be read again or the time is up. With `outer`, a line that defines something is in what is around
/// that.
pub(super) fn note_scopes(cx: &CallContext, found: &mut ContentHits, outer: bool) -> usize {
    let mut unknown = 0;
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty()) {
        let Some(definitions) = outline(cx, hits) else {
            unknown += 1;
            continue;
        };
        for line in hits.lines.iter_mut().filter(|line| line.hit.is_some()) {
            let number = usize::try_from(line.number).unwrap_or(usize::MAX);
            let around =
                if outer { enclosing_definition(&definitions, number) } else { enclosing(&definitions, number) };
            line.scope = around.map(Definition::label);
        }
    }
    unknown
}

fn outline(cx: &CallContext, hits: &FileHits) -> Option<Vec<Definition>> {
    let name = hits.path.to_string();
    if let Some(bytes) = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref()) {
        return text_file::view(bytes, None).ok().map(|text| definitions(&name, &text));
    }
    let mut file = cx.workspace.open_file(&hits.real).ok()?;
    let found = outline_of_file(&mut file, &name, None, &cx.stop).ok()?;
    file.restat().ok()?.same_file_state(&hits.stat).then_some(found)
}
