//! The lines that an entry names, in the file as it is now: at the same place, or where they have moved since `rev`.

use text_edit::{AnchorError, LinePlace, MovedOffsets, anchored};
use text_file::Document;

use confined_fs::{Revision, RevisionPrefix, WorkspacePath};

use super::{
    super::{CallContext, Kind, ToolError, answer::count, read::Held, read_before_write},
    entry::{EditEntry, EntryChange},
    numbered_lines::{LinesPlace, NumberedLines},
    places::Places,
    search,
};

/// A file as it is now.
#[derive(Clone, Copy)]
pub(super) struct FileNow<'f> {
    /// As the call spells it.
    pub(super) path: &'f WorkspacePath,
    pub(super) real: &'f WorkspacePath,
    pub(super) document: &'f Document,
    pub(super) revision: Revision,
}

/// The lines of one entry as they are now.
#[derive(Clone, Debug)]
pub(super) struct NowLines {
    pub(super) place: LinePlace,
    /// That they moved, for the answer.
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
        moved: &MovedOffsets,
    ) -> Result<Places, ToolError> {
        let EntryChange::Lines(edit) = &one.change else { return Ok(Places::default()) };
        let place = edit.lines.place;
        if edit.new.is_empty() && matches!(self.place, LinePlace::After(_)) {
            return Err(ToolError::invalid(format!("there is nothing to insert {place}"))
                .hint("for an empty line pass new_string=\"\\n\""));
        }
        let span = self.place.span(now.document.text()).ok().and_then(|span| moved.now(&span)).ok_or_else(|| {
            ToolError::invalid(format!("an earlier edit of this call changed a part of {place}"))
                .hint("make one edit of both, or send them in two calls")
        })?;
        let made = self.place.replacement(document.text(), span, &edit.new, one.copied.is_some());
        if document.text()[made.span.clone()] == made.text {
            return Err(ToolError::new(
                Kind::NoMatch,
                format!("the new text is what {place} of {} is already", now.path),
            )
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
        let lines = now_lines(cx, now, &edit.lines).map_err(|error| one.label(error))?;
        let others = edits.iter().zip(&found).filter_map(|(other, known)| Some((other, known.as_ref()?)));
        for (other, known) in others {
            if overlap(&known.place, &lines.place) {
                return Err(overlapping(other, one));
            }
        }
        found.push(Some(lines));
    }
    Ok(found)
}

fn now_lines(cx: &CallContext, now: FileNow<'_>, lines: &NumberedLines) -> Result<NowLines, ToolError> {
    if search::notebook(now.real, now.document).is_some() {
        return Err(ToolError::invalid(format!(
            "{} is a notebook: read shows its cells, and no line numbers",
            now.path
        ))
        .hint("pass text of a cell's source as old_string"));
    }
    let (place, path) = (lines.place.counted_from_0(), now.path);
    if lines.rev.is_none() && !cx.session.ledger.shows_only(now.real, now.revision, &lines.place.named()) {
        let subject = lines.place.subject();
        return Err(ToolError::invalid(format!(
            "the argument `rev` is missing: {subject} of {path} may have been shown at another rev, too"
        ))
        .hint("pass the rev in the last line of the read or grep that showed these numbers"));
    }
    let rev = lines.rev.unwrap_or_else(|| now.revision.prefix());
    let beyond = |total: usize| {
        let place = lines.place.to_string();
        let missing = place.strip_prefix("after ").map_or(place.clone(), |line| format!("{line} to insert after"));
        ToolError::invalid(format!("{path} has {} at rev {rev}, so there is no {missing}", count(total, "line")))
            .hint("nothing was changed; read it again and use the numbers and the rev that it shows")
    };
    let was = match lines.rev.map_or(Held::Same, |rev| Held::of(cx, now.real, now.revision, rev)) {
        Held::Same => {
            place.span(now.document.text()).map_err(beyond)?;
            return Ok(NowLines { place, moved: None });
        }
        Held::Former(was) => was,
        Held::Ambiguous => {
            return Err(ToolError::invalid(format!("several states of {path} have a rev that begins with {rev}"))
                .hint(
                    "pass more digits of it, as `revision` in the result of a read has them, or read the file again",
                ));
        }
        Held::Unknown => return Err(unknown(cx, now, rev)),
    };
    let size = was.len() as u64;
    let old =
        Document::decode(was, None).map_err(|error| read_before_write::not_text(path, size, now.revision, &error))?;
    let why = match anchored(old.text(), now.document.text(), &place) {
        Ok(at) => {
            let is_same = at == place;
            let moved = format!("{} moved to {} since rev {rev}", lines.place, LinesPlace::of(&at).numbers());
            return Ok(NowLines { place: at, moved: (!is_same).then_some(moved) });
        }
        Err(AnchorError::Beyond(total)) => return Err(beyond(total)),
        Err(AnchorError::Changed) => format!("{} of {path} changed since rev {rev}", lines.place.subject()),
        Err(AnchorError::Uncertain) => {
            format!("{path} changed since rev {rev}, and where {} moved is not certain", lines.place.subject())
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
        (LinePlace::After(_), LinePlace::After(_)) => false,
    }
}

fn overlapping(one: &EditEntry, other: &EditEntry) -> ToolError {
    let place = |entry: &EditEntry| match &entry.change {
        EntryChange::Lines(edit) => edit.lines.place.to_string(),
        EntryChange::Text(_) => String::new(),
    };
    ToolError::invalid(format!("{} ({}) and {} ({}) overlap", one.name, place(one), other.name, place(other)))
        .hint("nothing was changed; make one entry of them, all numbers are those of rev")
}
