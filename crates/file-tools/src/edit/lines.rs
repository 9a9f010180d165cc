//! Entries that name whole lines: `120-134`, `120` or `after 120`, by the numbers that `read` showed at `rev`. And where
//! those lines are in the file now: at the same place, or where they have moved since.

use std::ops::Range;

use text_edit::{AnchorError, LinePlace, MovedOffsets, anchored};
use text_file::Document;

use confined_fs::{Revision, RevisionPrefix, WorkspacePath};

use super::{
    super::{CallContext, Kind, ToolError, answer::count, read::Base, read_before_write},
    cells,
    entry::{EditEntry, EntryChange, LinesEdit},
    places::Places,
};

/// Parses the argument `lines`: the cell of a notebook, as grep names it, and the place. A number too large for any file is
/// read as the largest one.
///
/// # Errors
/// `invalid_input`, which names the value and the forms there are.
pub(super) fn parse(text: &str) -> Result<(Option<usize>, LinePlace), ToolError> {
    let text = text.trim();
    let of_cell = text.strip_prefix("cell ").and_then(|rest| {
        let (cell, place) = rest.trim_start().split_once(' ')?;
        Some((cell.trim_end_matches([':', ',']).parse().ok()?, place.trim_start()))
    });
    let Some((cell, place)) = of_cell else { return Ok((None, line_place(text)?)) };
    let place = ["lines ", "line "].iter().find_map(|word| place.strip_prefix(word)).unwrap_or(place);
    Ok((Some(cell), line_place(place)?))
}

fn line_place(text: &str) -> Result<LinePlace, ToolError> {
    let text = text.trim();
    let wrong = |why: &str| {
        ToolError::invalid(format!("`lines` is not valid: {text:?}: {why}"))
            .hint("use lines=\"120-134\" or \"120\" to replace whole lines, or \"after 120\" to insert after one")
    };
    let number = |text: &str| {
        let text = text.trim();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    let not_a_number = || wrong("it is not a line number or a range of two");
    if let Some(after) = text.strip_prefix("after ") {
        return number(after).map(LinePlace::After).ok_or_else(not_a_number);
    }
    if text.contains(',') {
        return Err(wrong("it names several ranges; pass an entry of edits for each"));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (number(first), number(last)) {
        (Some(0), _) => Err(wrong("lines count from 1; to insert before the first line use \"after 0\"")),
        (Some(first), Some(last)) if last < first => Err(wrong("it ends before it starts")),
        (Some(first), Some(last)) => Ok(LinePlace::Range(first - 1..last)),
        _ => Err(not_a_number()),
    }
}

/// `12`, `12-14` or `after 12`, counted from 1.
fn numbers(place: &LinePlace) -> String {
    match place {
        LinePlace::Range(lines) if lines.len() == 1 => lines.end.to_string(),
        LinePlace::Range(lines) => format!("{}-{}", lines.start + 1, lines.end),
        LinePlace::After(line) => format!("after {line}"),
    }
}

/// `line 12`, `lines 12-14` or `after line 12`.
fn place_text(place: &LinePlace) -> String {
    match place {
        LinePlace::After(line) => format!("after line {line}"),
        LinePlace::Range(lines) => format!("{} {}", if lines.len() == 1 { "line" } else { "lines" }, numbers(place)),
    }
}

/// The lines that the numbers name, counted from 0.
fn named_lines(place: &LinePlace) -> Range<usize> {
    match place {
        LinePlace::Range(lines) => lines.clone(),
        // `after 0` names no line, so none has to be as it was.
        LinePlace::After(line) => line.saturating_sub(1)..*line,
    }
}

#[derive(Clone, Copy)]
pub(super) struct FileNow<'f> {
    pub(super) path: &'f WorkspacePath,
    pub(super) real: &'f WorkspacePath,
    pub(super) document: &'f Document,
    pub(super) revision: Revision,
}

#[derive(Clone, Debug)]
pub(super) struct NowLines {
    pub(super) place: LinePlace,
    cell: Option<usize>,
    pub(super) moved: Option<String>,
}

impl NowLines {
    /// Where the lines of `one` are in `document`, which has the changes of the entries before it, and what takes their
    /// place.
    ///
    /// # Errors
    /// `invalid_input` for an insertion of nothing and for lines that an entry before changed in part; `no_match`
    /// where the new text is there already.
    pub(super) fn places(
        &self,
        one: &EditEntry,
        now: FileNow<'_>,
        document: &Document,
        (before, moved): (&[&EditEntry], &MovedOffsets),
    ) -> Result<Places, ToolError> {
        let EntryChange::Lines(edit) = &one.change else { return Ok(Places::default()) };
        let lines = place_text(&edit.place);
        if edit.new.is_empty() && matches!(self.place, LinePlace::After(_)) {
            return Err(ToolError::invalid(format!("there is nothing to insert {lines}"))
                .hint("for an empty line pass new_string=\"\\n\""));
        }
        if let Some((cell, first)) = self.cell.zip(cells::notebook(now.real, now.document)) {
            let changed =
                || ToolError::invalid("an earlier edit of this call leaves no notebook").hint("leave one out");
            let now_cells = cells::notebook(now.real, document).ok_or_else(changed)?;
            return cells::replaced_lines(edit, (now.path, cell), (&first, &now_cells), one.copied.is_some());
        }
        let span = self.place.span(now.document.text()).ok();
        let other = span.as_ref().and_then(|span| moved.changed_by(span)).and_then(|other| before.get(other));
        let span = span.filter(|_| other.is_none()).and_then(|span| moved.now(&span)).ok_or_else(|| {
            let other = other.map_or("an earlier edit", |other| other.place());
            ToolError::invalid(format!("{other} of this call replaces a part of {lines}: join both"))
                .hint("make one entry of both, or send them in two calls")
        })?;
        let made = self.place.replacement(document.text(), span, &edit.new, one.copied.is_some());
        if document.text()[made.span.clone()] == made.text {
            let sentence = format!("the new text is what {lines} of {} is already", now.path);
            return Err(ToolError::new(Kind::NoMatch, sentence)
                .hint("the change may already be made; there is nothing to change here"));
        }
        Ok(Places::one(made.span, made.text))
    }
}

/// The lines of each of `edits` in the file `now`, `None` for one that names none.
///
/// # Errors
/// `stale` where lines changed since their revision, or where that is not known; `invalid_input` for lines that the file
/// never had, for those of a notebook, and for entries that overlap.
pub(super) fn find(
    cx: &CallContext,
    now: FileNow<'_>,
    edits: &[EditEntry],
) -> Result<Vec<Option<NowLines>>, ToolError> {
    let mut found: Vec<Option<NowLines>> = Vec::with_capacity(edits.len());
    for one in edits {
        let EntryChange::Lines(edit) = &one.change else {
            found.push(None);
            continue;
        };
        cx.check()?;
        let lines = now_lines(cx, now, edit).map_err(|error| one.label(error))?;
        let others = edits.iter().zip(&found).filter_map(|(other, known)| Some((other, known.as_ref()?)));
        for (other, known) in others {
            if known.cell == lines.cell && overlap(&known.place, &lines.place) {
                return Err(overlapping(other, one));
            }
        }
        found.push(Some(lines));
    }
    Ok(found)
}

fn now_lines(cx: &CallContext, now: FileNow<'_>, edit: &LinesEdit) -> Result<NowLines, ToolError> {
    match (edit.cell, cells::notebook(now.real, now.document)) {
        (None, None) => {}
        (Some(cell), None) => {
            return Err(ToolError::invalid(format!("{} is no notebook, so it has no cell {cell}", now.path))
                .hint("name lines of the file, as 120-134"));
        }
        (None, Some(_)) => {
            return Err(ToolError::invalid(format!("{} is a notebook: its lines are counted in each cell", now.path))
                .hint("name the cell, as in lines=\"cell 2 lines 3-4\", or pass text of its source as old_string"));
        }
        // Which numbers were shown is not kept of cells.
        (cell @ Some(_), Some(_)) => {
            return match edit.rev {
                Some(rev) if rev.fits(now.revision) => Ok(NowLines { place: edit.place.clone(), cell, moved: None }),
                Some(rev) => {
                    let (path, now) = (now.path, rev.same_digits_of(now.revision));
                    Err(ToolError::new(
                        Kind::Stale,
                        format!("{path} is at rev {now}, not at {rev}, and its cells may be others"),
                    )
                    .hint("read it again and repeat the call with the lines and the rev that it shows"))
                }
                None => Err(ToolError::invalid("the argument `rev` is missing: lines of a cell are those of one rev")
                    .hint("pass the rev in the last line of the read or grep that showed the cell")),
            };
        }
    }
    let (place, path, text) = (&edit.place, now.path, place_text(&edit.place));
    // The lines that must be as they were.
    let subject = text.trim_start_matches("after ");
    if edit.rev.is_none() && !cx.session.ledger.shows_only(now.real, now.revision, &named_lines(place)) {
        let sentence =
            format!("the argument `rev` is missing: {subject} of {path} may have been shown at another rev, too");
        return Err(ToolError::invalid(sentence)
            .hint("pass the rev in the last line of the read or grep that showed these numbers"));
    }
    let rev = edit.rev.unwrap_or_else(|| now.revision.prefix());
    let beyond = |total: usize| {
        let to_insert = if matches!(place, LinePlace::After(_)) { " to insert after" } else { "" };
        let sentence = format!("{path} has {} at rev {rev}, so there is no {subject}{to_insert}", count(total, "line"));
        ToolError::invalid(sentence)
            .hint("nothing was changed; read it again and use the numbers and the rev that it shows")
    };
    let was = match edit.rev.map_or(Base::Same, |rev| Base::of(cx, now.real, now.revision, rev)) {
        Base::Same => {
            place.span(now.document.text()).map_err(beyond)?;
            return Ok(NowLines { place: place.clone(), cell: None, moved: None });
        }
        Base::Former(was) => was,
        Base::Ambiguous => {
            return Err(ToolError::invalid(format!("several states of {path} have a rev that begins with {rev}"))
                .hint(
                    "pass more digits of it, as `revision` in the result of a read has them, or read the file again",
                ));
        }
        Base::Unknown => return Err(unknown(cx, now, rev)),
    };
    let size = was.len() as u64;
    let old =
        Document::decode(was, None).map_err(|error| read_before_write::not_text(path, size, now.revision, &error))?;
    let why = match anchored(old.text(), now.document.text(), place) {
        Ok(at) => {
            let moved = format!("{} moved to {} since rev {rev}", place_text(place), numbers(&at));
            return Ok(NowLines { moved: (at != *place).then_some(moved), place: at, cell: None });
        }
        Err(AnchorError::Beyond(total)) => return Err(beyond(total)),
        Err(AnchorError::Changed) => format!("{subject} of {path} changed since rev {rev}"),
        Err(AnchorError::Uncertain) => {
            format!("{path} changed since rev {rev}, and where {subject} moved is not certain")
        }
    };
    Err(read_before_write::lines_changed(cx, path, now.real, why, &old, (now.document, now.revision)))
}

/// The error for a rev whose content is not known.
fn unknown(cx: &CallContext, now: FileNow<'_>, rev: RevisionPrefix) -> ToolError {
    let path = now.path;
    if cx.session.ledger.seen(now.real).is_none() {
        return ToolError::new(
            Kind::NotRead,
            format!("{path} has not been read in this session, so no rev {rev} of it is known"),
        )
        .hint("read it and repeat the call with the line numbers and the rev that it shows");
    }
    let now = rev.same_digits_of(now.revision);
    ToolError::new(Kind::Stale, format!("{path} is at rev {now}, and rev {rev} of it is not known"))
        .hint("read it again and repeat the call with the line numbers and the rev that it shows")
}

fn overlap(one: &LinePlace, other: &LinePlace) -> bool {
    match (one, other) {
        (LinePlace::Range(one), LinePlace::Range(other)) => one.start < other.end && other.start < one.end,
        (LinePlace::Range(range), LinePlace::After(at)) | (LinePlace::After(at), LinePlace::Range(range)) => {
            range.start < *at && *at < range.end
        }
        // An insertion changes no line that another one names.
        (LinePlace::After(_), LinePlace::After(_)) => false,
    }
}

fn overlapping(one: &EditEntry, other: &EditEntry) -> ToolError {
    let place = |entry: &EditEntry| {
        if let EntryChange::Lines(edit) = &entry.change { place_text(&edit.place) } else { String::new() }
    };
    let sentence = format!("{} of this call replaces {}: join both, they overlap", one.place(), place(one));
    other
        .label(ToolError::invalid(format!("{}: {sentence}", place(other))))
        .hint("nothing was changed; make one entry of both, all numbers are those of rev")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_single_lines_and_insertions_are_read() {
        for (text, place) in [
            ("120-134", LinePlace::Range(119..134)),
            (" 120 - 134 ", LinePlace::Range(119..134)),
            ("7", LinePlace::Range(6..7)),
            ("after 0", LinePlace::After(0)),
            ("after  12 ", LinePlace::After(12)),
            ("1-999999999999999999999", LinePlace::Range(0..usize::MAX)),
        ] {
            assert_eq!(parse(text).unwrap(), (None, place), "{text}");
        }
        for (text, place) in [
            ("cell 2 line 1", LinePlace::Range(0..1)),
            ("cell 2 lines 3-4", LinePlace::Range(2..4)),
            ("cell 2: after 3", LinePlace::After(3)),
        ] {
            assert_eq!(parse(text).unwrap(), (Some(2), place), "{text}");
        }
    }

    #[test]
    fn invalid_lines_are_named_with_the_forms() {
        for (text, why) in [
            ("", "not a line number"),
            ("0", "count from 1"),
            ("0-3", "count from 1"),
            ("-3", "not a line number"),
            ("after -1", "not a line number"),
            ("after", "not a line number"),
            ("5-3", "ends before it starts"),
            ("3-", "not a line number"),
            ("1-2,5", "an entry of edits for each"),
            ("1-2-3", "not a line number"),
            ("٣", "not a line number"),
            ("１-２", "not a line number"),
            ("+3", "not a line number"),
            ("0x10", "not a line number"),
        ] {
            let error = parse(text).unwrap_err().text();
            assert!(error.contains(why) && error.contains("after 120"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(after)?[- 0-9a-z,٣]{0,12}") {
            let _ = parse(&text);
        }
    }
}
