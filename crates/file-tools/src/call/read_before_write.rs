//! The seen-and-unchanged check before a file is changed.

use std::{collections::HashMap, ops::Range, sync::Arc};

use change_set::{ChangeSet, Node, Tree, WritablePath};
use confined_fs::{AccessError, AccessErrorKind, Revision, RevisionPrefix, Snapshot, WorkspacePath};
use image_view::ImageFile;
use text_edit::changed_lines;
use text_file::{DecodeError, Document, is_document_name};

use crate::session::{Seen, Shown, View, Writer};

use super::{
    super::shown_diff::{self, BRIEF_EXTENT, ShownDiff},
    context::{CallContext, ReadBeforeWrite},
    decode_memory::DecodeMemory,
    error::{Kind, ToolError},
};

/// Files up to which what was seen of them counts at their new paths, too.
const MAX_CARRIED: usize = 100;

pub(crate) fn parse_rev(name: &str, text: Option<&str>) -> Result<Option<RevisionPrefix>, ToolError> {
    let Some(text) = text else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        ToolError::invalid(format!("`{name}` is not a revision: {text:?}"))
            .hint("pass the rev that the last line of a read shows, at least 5 of its digits, or leave it out")
    })
}

/// The error for a file that is to be made, and was expected at a revision.
pub(crate) fn absent(path: &WorkspacePath, expected: RevisionPrefix) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} does not exist, so it is not at expected_revision {expected}"))
        .hint("leave expected_revision out to create it")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartFrom {
    /// The content that was last seen, as whatever else is there would be lost: for a replacement.
    LastSeen,
    /// Likewise, for what takes no `expected_revision`: a removal.
    LastSeenAlone,
    /// Any, for an edit, which names the text that it replaces: [`check_lines`] looks at what has changed.
    AnySeen,
}

/// The check for a change that was worked out before, on a file that had passed, and lost the race to another change.
///
/// # Errors
/// `stale` where the file had to be at `expected`; what it shows counts as seen, as in [`check`].
pub(crate) fn check_again(
    cx: &CallContext,
    asked: &WorkspacePath,
    now: Snapshot,
    expected: Option<RevisionPrefix>,
) -> Result<Snapshot, ToolError> {
    match expected.map_or(Ok(()), |_| check_now(cx, asked, &now, expected, StartFrom::LastSeen)) {
        Ok(()) => Ok(now),
        Err(outdated) => Err(outdated.answered(cx, &now)),
    }
}

struct Outdated {
    error: ToolError,
    /// Whether the error shows all that changed since the model saw it.
    is_shown: bool,
}

impl Outdated {
    /// The error as it is sent: where it shows all that changed, the file counts as seen from then on.
    fn answered(self, cx: &CallContext, now: &Snapshot) -> ToolError {
        if self.is_shown {
            let (bytes, by) = (Some(now.bytes.as_slice()), cx.by.as_ref());
            cx.session.ledger.record_read(&now.path, now.revision, bytes, by, Shown::Change);
        }
        self.error
    }
}

impl From<ToolError> for Outdated {
    fn from(error: ToolError) -> Self {
        Self { error, is_shown: false }
    }
}

/// Checks that the file in `now` is what the model believes it is.
///
/// # Errors
/// `not_read` where it was never seen, `stale` (with what changed) where it is something else now.
fn check_now(
    cx: &CallContext,
    asked: &WorkspacePath,
    now: &Snapshot,
    expected: Option<RevisionPrefix>,
    start_from: StartFrom,
) -> Result<(), Outdated> {
    let ledger = &cx.session.ledger;
    if let Some(expected) = expected {
        if expected.fits(now.revision) {
            // Whoever writes a file can make the few digits of a short rev collide: the content that was seen decides.
            let is_other = |seen: &Seen| {
                let fits = seen.revision != now.revision && expected.fits(seen.revision);
                fits && !ledger.was_seen_at(&now.path, now.revision)
            };
            let Some(seen) = ledger.seen(&now.path).filter(is_other) else { return Ok(()) };
            return Err(changed(cx, asked, now, &seen));
        }
        let rev = expected.same_digits_of(now.revision);
        let again = format!("repeat the call with expected_revision={rev} and ");
        let was = ledger.content_of(&now.path, |seen| expected.fits(seen));
        let by = by(cx, &now.path, (was.as_deref(), now.revision), "; changed");
        let message = format!("{asked} is at revision {rev}, not at expected_revision {expected}{by}");
        return Err(stale(cx, asked, message, &again, now, was.as_deref()));
    }
    let replaceable = |kind, why: String| {
        let sentence = format!("{asked} {why}, {} bytes", now.bytes.len());
        ToolError::new(kind, sentence).hint(way_out(asked, now.revision)).into()
    };
    let is_replaced = matches!(start_from, StartFrom::LastSeen | StartFrom::LastSeenAlone);
    let seen = if is_replaced { ledger.seen_here(&now.path) } else { ledger.seen(&now.path) };
    match (seen, cx.settings.read_before_write) {
        (_, ReadBeforeWrite::Off) => Ok(()),
        (None, ReadBeforeWrite::Strict) => {
            if let Some(kind) = unreadable(cx, &now.bytes) {
                let cannot = if is_document_name(asked.relative()) { "" } else { ", and cannot be" };
                let why = format!("has not been read{cannot}: it is not text but {kind}");
                return Err(replaceable(Kind::NotRead, why));
            }
            let error = ToolError::new(Kind::NotRead, format!("{asked} has not been read in this session")).hint(
                "read it first, then repeat this call; any of these counts: a read, a grep hit in it, a write by this server",
            );
            let is_elsewhere = start_from == StartFrom::LastSeen && ledger.seen(&now.path).is_some();
            let way =
                "or pass expected_revision, the rev that you were shown: it was shown in another session, which runs";
            Err(if is_elsewhere { error.hint(way) } else { error }.into())
        }
        (Some(seen), _) if seen.revision == now.revision || start_from == StartFrom::AnySeen => Ok(()),
        (Some(seen), _) => {
            if let Some(kind) = unreadable(cx, &now.bytes) {
                let why = format!("has changed since it was read and is no longer text: {kind}");
                return Err(replaceable(Kind::Binary, why));
            }
            let outdated = changed(cx, asked, now, &seen);
            let is_log = start_from == StartFrom::LastSeen && !now.bytes.is_empty() && seen.is_beginning_of(&now.bytes);
            Err(if is_log { Outdated { error: outdated.error.hint(APPEND_HINT), ..outdated } } else { outdated })
        }
    }
}

/// The way for a file that a program may be writing.
const APPEND_HINT: &str =
    "it has only grown: to add to its end without losing what a program writes, use write with mode=append";

/// The error for a file that is another one than was `seen`.
fn changed(cx: &CallContext, asked: &WorkspacePath, now: &Snapshot, seen: &Seen) -> Outdated {
    let was = seen.content.clone().or_else(|| cx.session.history.content(seen.revision).map(Arc::from));
    let by = by(cx, &now.path, (was.as_deref(), now.revision), ",");
    let message = format!("{asked} has changed since it was read{by}");
    stale(cx, asked, message, "repeat the call with ", now, was.as_deref())
}

const MAX_MAKERS: usize = 3;
/// A caller of this session who has no name.
pub(crate) const UNNAMED_CALLER: &str = "another caller";

/// Who made the file at the real path `real` what it is at `revision`, and all that came after the content `was` where that
/// is known, after `lead` as the end of a clause; empty where nobody is known. Without a `lead` it is nobody that this
/// caller knows, even if they have the same name.
pub(crate) fn by(
    cx: &CallContext,
    real: &WorkspacePath,
    (was, revision): (Option<&[u8]>, Revision),
    lead: &str,
) -> String {
    let mut states = cx.session.ledger.states(real).seen;
    match states.iter().rposition(|state| was.is_some() && state.content.as_deref() == was) {
        Some(at) => drop(states.drain(..=at)),
        None => states.retain(|state| state.revision == revision),
    }
    let mut names: Vec<Arc<str>> = Vec::new();
    let known = states.iter().filter_map(|state| state.by.clone());
    let is_known = states.last().is_some_and(|last| last.revision == revision && last.by.is_some());
    let other = || cx.session.history.other_makers(real, &[revision]).into_values().next().map(Arc::from);
    for name in known.chain((!is_known).then(other).flatten()) {
        let is_own = cx.by.as_ref() == Some(&name);
        // A model need not know what its own thread is called; what all callers are called says nothing.
        let name = if is_own && cx.is_individual { "you".into() } else { name };
        if !names.contains(&name) && (!is_own || cx.is_individual || lead.is_empty()) {
            names.push(name);
        }
    }
    names.truncate(MAX_MAKERS);
    if names.is_empty() { String::new() } else { format!("{lead} by {}", names.join(" and ")) }
}

/// Names the content that `read` cannot show: asking for a read would send the model round in a circle.
pub(crate) fn unreadable(cx: &CallContext, bytes: &[u8]) -> Option<String> {
    let image = image_view::image_info(bytes).and_then(|info| ImageFile::open(bytes, &info).ok());
    if let Some(image) = image {
        let _memory = DecodeMemory::reserve(cx, image.memory()).ok()?;
        if image.check().is_ok() {
            return None;
        }
    }
    text_file::view(bytes, None).err().map(|error| error.kind)
}

/// The error for a file that is to be changed in part, and is not text.
pub(crate) fn not_text(path: &WorkspacePath, size: u64, now: Revision, error: &DecodeError) -> ToolError {
    let kind = &error.kind;
    ToolError::new(Kind::Binary, format!("{path} is not text but {kind}, {size} bytes, and only text can be changed"))
        .hint(way_out(path, now))
}

fn way_out(path: &WorkspacePath, now: Revision) -> String {
    if is_document_name(path.relative()) {
        return "a document can be read and not edited: write the text to a new file, or ask the user to change it in \
                the program that it is of"
            .to_owned();
    }
    format!("leave it as it is, or replace it whole: write with mode=overwrite and expected_revision={}", now.short())
}

/// The error for a file whose content was `was`, where that is still known, and is another one now. `again` says how
/// the call is to be repeated, up to "the change made to what is there now".
fn stale(
    cx: &CallContext,
    asked: &WorkspacePath,
    message: String,
    again: &str,
    now: &Snapshot,
    was: Option<&[u8]>,
) -> Outdated {
    let was = was.and_then(|bytes| Document::decode(bytes.to_vec(), None).ok());
    let is = Document::decode(now.bytes.clone(), None).ok();
    match was.zip(is) {
        Some((was, is)) => compared(cx, asked, &now.path, message, again, (was.text(), is.text())),
        None => ToolError::new(Kind::Stale, message).hint(READ_AGAIN).into(),
    }
}

/// The next step where a diff cannot be shown.
const READ_AGAIN: &str = "read it again and repeat the change on what is there now";

/// The error for the file that is truly at `real`, with the diff between the texts that it `had` and has.
fn compared(
    cx: &CallContext,
    asked: &WorkspacePath,
    real: &WorkspacePath,
    message: String,
    again: &str,
    (was, is): (&str, &str),
) -> Outdated {
    let error = ToolError::new(Kind::Stale, message);
    if was == is {
        return error.hint(READ_AGAIN).into();
    }
    let diff = text_edit::unified_diff(&shown_diff::diff_name(asked), was, is, BRIEF_EXTENT);
    let shown = ShownDiff::within(cx, real, &diff.text, diff.cut_lines, cx.budget.text_bytes() / 2);
    // A change that was shown in part has to be read.
    let is_shown = shown.cut_lines == 0 && shown.text == diff.text;
    let hint = if is_shown {
        format!("what changed is shown below and counts as read; {again}the change made to what is there now")
    } else {
        "what changed is shown below in part; read it again and repeat the change on what is there now".to_owned()
    };
    Outdated { error: error.hint(hint).details(format!("what changed:\n{}", shown.block)), is_shown }
}

/// The error for lines that are not what they were when the file had the text `was`. Where it shows all that changed,
/// the file counts as seen from then on.
pub(crate) fn lines_changed(
    cx: &CallContext,
    asked: &WorkspacePath,
    real: &WorkspacePath,
    message: String,
    was: &Document,
    (is, revision): (&Document, Revision),
) -> ToolError {
    let again = format!("repeat the call with the numbers of the lines now, rev={} and ", revision.short());
    let message = message + &by(cx, real, (Some(was.bytes()), revision), ",");
    let outdated = compared(cx, asked, real, message, &again, (was.text(), is.text()));
    if outdated.is_shown {
        cx.session.ledger.record_read(real, revision, Some(is.bytes()), cx.by.as_ref(), Shown::Change);
    }
    outdated.error
}

/// As [`check_now`], fair to calls that run at the same time: another call of this session, or another process with
/// its state folder, may have written or made the file and be about to note that. What looks stale or never seen
/// is looked at once more when none of them is writing it. Returns the file as it was checked.
///
/// # Errors
/// As [`check_now`]. Where the error shows all that changed, the file counts as seen from then on: the call that is
/// corrected by it works.
pub(crate) fn check(
    cx: &CallContext,
    asked: &WorkspacePath,
    target: &WritablePath,
    now: Snapshot,
    expected: Option<RevisionPrefix>,
    start_from: StartFrom,
) -> Result<Snapshot, ToolError> {
    let (now, checked) = match check_now(cx, asked, &now, expected, start_from) {
        Ok(()) => return Ok(now),
        Err(outdated) if expected.is_none() => {
            // A large file must not be in memory twice while this waits for a lock.
            drop((outdated, now));
            let _quiet = ChangeSet::acquire(&cx.workspace, &[target], &[], cx.wait_limit())?;
            let now = cx.read_to_change(asked)?;
            let checked = check_now(cx, asked, &now, expected, start_from);
            (now, checked)
        }
        Err(outdated) => (now, Err(outdated)),
    };
    match checked {
        Ok(()) => Ok(now),
        Err(outdated) => Err(outdated.answered(cx, &now)),
    }
}

/// Lines around one that a call changes in which nobody may have changed anything unseen.
const NEIGHBOUR_LINES: usize = 3;

/// The text of what a caller was last shown, where it is still kept.
fn text_of(cx: &CallContext, real: &WorkspacePath, view: &View) -> Option<String> {
    let bytes = match view {
        View::Text(text) => return Some(text.to_string()),
        View::At(revision) => {
            let held = cx.session.ledger.content_of(real, |one| one == *revision).map(|bytes| bytes.to_vec());
            held.or_else(|| cx.session.history.content(*revision))?
        }
    };
    Some(Document::decode(bytes, None).ok()?.text().to_owned())
}

/// Checks that nobody else has changed a line that a call changes, or one of the three around it, since the caller was last
/// shown it. Where the call `is_anchored`, it names its lines at a rev, and they may have moved: lines that are new matter only
/// next to them.
/// `new` is what the call makes of the file, which is `old` at `revision`. Without `is_locked`, another call of
/// the same caller may have written the file and be about to note that, which is waited for.
///
/// # Errors
/// `stale`, once, with that change, which counts as shown.
pub(crate) fn check_lines(
    cx: &CallContext,
    (asked, target): (&WorkspacePath, &WritablePath),
    (old, revision): (&Document, Revision),
    (new, is_anchored): (&str, bool),
    is_locked: bool,
) -> Result<(), ToolError> {
    let file = (asked, target.path());
    let look = || unseen_change(cx, target.path(), (old, revision), new, is_anchored);
    let mut unseen = look();
    if unseen.is_some() && !is_locked {
        let _quiet = ChangeSet::acquire(&cx.workspace, &[target], &[], cx.wait_limit())?;
        // A file that was replaced is found by the commit, which plans again.
        unseen = match cx.read_to_change(asked) {
            Ok(now) if now.revision == revision => look(),
            _ => None,
        };
    }
    let Some(unseen) = unseen else { return Ok(()) };
    let (ledger, by) = (&cx.session.ledger, cx.by.as_ref());
    let caller = Revision::of(by.map_or("", |by| by).as_bytes());
    if unseen.refused_at.is_some_and(|base| !ledger.refuse_once(target.path(), base, caller, true)) {
        // Whoever repeats the call means it.
        ledger.set_view(target.path(), by, View::At(revision));
        return Ok(());
    }
    Err(unseen.refused(cx, file, (old, revision)))
}

struct UnseenChange {
    /// What it was last shown; `None` where that is not kept.
    was: Option<String>,
    /// The lines of the change that matter, as they were and as they are.
    lines: Vec<[Range<usize>; 2]>,
    is_growth: bool,
    /// Where the change may be elsewhere: what it is remembered by that it was refused.
    refused_at: Option<Revision>,
}

fn unseen_change(
    cx: &CallContext,
    real: &WorkspacePath,
    (old, revision): (&Document, Revision),
    new: &str,
    is_anchored: bool,
) -> Option<UnseenChange> {
    let (ledger, by) = (&cx.session.ledger, cx.by.as_ref());
    let (view, is_recalled) = ledger.view(real, by).filter(|(view, _)| *view != View::At(revision))?;
    if cx.settings.read_before_write == ReadBeforeWrite::Off {
        return None;
    }
    let total = old.text().split_inclusive('\n').count();
    let mut edited: Vec<Range<usize>> = changed_lines(old.text(), new).into_iter().map(|[was, _]| was).collect();
    let was = text_of(cx, real, &view);
    // Else what was shown of it is in the view.
    let is_held = if let View::At(at) = &view { ledger.content_of(real, |one| one == *at).is_some() } else { true };
    edited.retain(|lines| {
        let around = lines.start.saturating_sub(NEIGHBOUR_LINES)..(lines.end + NEIGHBOUR_LINES).min(total);
        is_held && !is_recalled || !ledger.has_shown(real, by, revision, around)
    });
    if edited.is_empty() {
        return None;
    }
    let Some(was) = was else {
        return Some(UnseenChange { was, lines: Vec::new(), is_growth: false, refused_at: Some(revision) });
    };
    let mut lines = changed_lines(&was, old.text());
    let is_growth = !was.is_empty() && was.ends_with('\n') && old.text().starts_with(&was);
    let is_near = |[was, now]: &[Range<usize>; 2]| {
        let around = if is_anchored && was.is_empty() { 1 } else { NEIGHBOUR_LINES };
        edited.iter().any(|lines| now.start < lines.end + around && lines.start < now.end + around)
    };
    if lines.iter().any(is_near) {
        lines.retain(is_near);
        return Some(UnseenChange { was: Some(was), lines, is_growth, refused_at: None });
    }
    // A log that a program writes, which would go on in a file without a name.
    if is_growth && makers(cx, real, revision, &lines).is_empty() {
        let refused_at = Some(Revision::of(was.as_bytes()));
        return Some(UnseenChange { was: Some(was), lines, is_growth, refused_at });
    }
    if !is_held {
        // What this call changes is shown to its caller; the rest stays what it was.
        ledger.set_view(real, by, View::Text(was.into()));
    }
    None
}

impl UnseenChange {
    /// The error, which shows all that has changed, or these lines where that is too much.
    fn refused(
        self,
        cx: &CallContext,
        (asked, real): (&WorkspacePath, &WorkspacePath),
        (now, revision): (&Document, Revision),
    ) -> ToolError {
        let makers = makers(cx, real, revision, &self.lines);
        let by = if makers.is_empty() { String::new() } else { format!(", by {}", makers.join(" and ")) };
        let message = format!("{asked} has changed since it was read{by}");
        let Some(was) = &self.was else { return ToolError::new(Kind::Stale, message).hint(READ_AGAIN) };
        let again = "repeat the call with ";
        let mut outdated = compared(cx, asked, real, message.clone(), again, (was, now.text()));
        let mut shown = Shown::Change;
        let lines: Vec<_> = self.lines.iter().map(|[_, now]| now.start.saturating_sub(1)..now.end + 1).collect();
        if !outdated.is_shown {
            outdated = compared(cx, asked, real, message, again, (&self.without(now.text()), now.text()));
            shown = Shown::Lines(&lines);
        }
        if outdated.is_shown && self.refused_at.is_none() {
            cx.session.ledger.record_read(real, revision, Some(now.bytes()), cx.by.as_ref(), shown);
        }
        if self.is_growth { outdated.error.hint(APPEND_HINT) } else { outdated.error }
    }

    fn without(&self, now: &str) -> String {
        let was: Vec<&str> = self.was.iter().flat_map(|was| was.split_inclusive('\n')).collect();
        let now: Vec<&str> = now.split_inclusive('\n').collect();
        let (mut text, mut at) = (String::new(), 0);
        for [old, new] in &self.lines {
            text.extend(now[at..new.start].iter().chain(&was[old.clone()]).copied());
            at = new.end;
        }
        text.extend(now[at..].iter().copied());
        text
    }
}

/// Who else than the caller has made these lines of the file what they are at `revision`, as far as that is known.
fn makers(cx: &CallContext, real: &WorkspacePath, revision: Revision, changed: &[[Range<usize>; 2]]) -> Vec<String> {
    let mut states = cx.session.ledger.states(real).seen;
    states.truncate(states.iter().position(|state| state.revision == revision).map_or(0, |at| at + 1));
    let steps = steps(cx, real, &states);
    let mut names: Vec<String> = Vec::new();
    let known = states.first().and_then(|first| lines(first, &steps));
    for lines in changed.iter().flat_map(|[_, now]| now.start..now.end.max(now.start + 1)) {
        let name = known.as_ref().and_then(|known| *known.get(lines)?);
        names.extend(name.filter(|name| *name != ANOTHER_PROGRAM).map(str::to_owned));
    }
    if known.is_none() || states.len() < 2 {
        names.extend(cx.session.history.other_makers(real, &[revision]).into_values());
    }
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_MAKERS);
    names
}

/// The error for a call that fails on the file as it is now, and would not have before somebody else changed it, as
/// `would_apply` finds; it shows that change, which counts as shown.
pub(crate) fn not_as_shown(
    cx: &CallContext,
    asked: &WorkspacePath,
    target: &WritablePath,
    would_apply: impl FnOnce(&Document) -> bool,
) -> Option<ToolError> {
    let real = target.path();
    let unseen = || {
        let (view, _) = cx.session.ledger.view(real, cx.by.as_ref())?;
        cx.read_to_change(asked).ok().filter(|now| view != View::At(now.revision)).map(|now| (view, now))
    };
    unseen()?;
    // Another call of the same caller may have written the file and be about to note that.
    let _quiet = ChangeSet::acquire(&cx.workspace, &[target], &[], cx.wait_limit()).ok()?;
    let (view, now) = unseen()?;
    let was = text_of(cx, real, &view)?;
    let is = Document::decode(now.bytes, None).ok()?;
    let lines = changed_lines(&was, is.text());
    let is_meant = !lines.is_empty() && would_apply(&Document::from(was.clone()));
    let change = UnseenChange { was: Some(was), lines, is_growth: false, refused_at: None };
    is_meant.then(|| change.refused(cx, (asked, real), (&is, now.revision)))
}

/// As [`check`], for a file that is going to be replaced as a whole by another one. What is not text or too large
/// cannot have been read: such a file passes, unless another content of it was seen. Its content is kept in the
/// history. Returns its revision.
pub(crate) fn check_replaceable(
    cx: &CallContext,
    path: &WorkspacePath,
    target: &WritablePath,
) -> Result<Option<Revision>, ToolError> {
    let must_be_as_seen =
        cx.settings.read_before_write != ReadBeforeWrite::Off && cx.session.ledger.seen(target.path()).is_some();
    let mut now = match cx.workspace.read(path, cx.settings.max_file_size) {
        Ok(now) => now,
        Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) if must_be_as_seen => {
            let message = format!("{path} has changed since it was read and is too large by now to be read again");
            return Err(ToolError::new(Kind::Stale, message).hint("leave it as it is, or ask the user"));
        }
        Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_text = || text_file::view(&now.bytes, None).is_ok();
    if !now.bytes.is_empty() && (must_be_as_seen || is_text()) {
        let revision = now.revision;
        now = check(cx, path, target, now, None, StartFrom::LastSeenAlone).map_err(|error| match error.kind() {
            // It cannot be read, so this error is all that can be known of it before it goes.
            Kind::Binary => {
                cx.session.ledger.record_read(target.path(), revision, None, cx.by.as_ref(), Shown::Change);
                error.hint("if that may be lost, repeat the call: this counts as read")
            }
            _ => error,
        })?;
    }
    Ok(Some(now.revision))
}

/// As [`check_replaceable`], for a file that is going to be deleted: one that was never seen may be, text or not, as
/// a directory may with everything in it, since it can be brought back. One that was seen must be unchanged.
pub(crate) fn check_deletable(
    cx: &CallContext,
    path: &WorkspacePath,
    target: &WritablePath,
) -> Result<Option<Revision>, ToolError> {
    if cx.session.ledger.seen(target.path()).is_some() {
        return check_replaceable(cx, path, target);
    }
    match cx.workspace.read(path, cx.settings.max_file_size) {
        Ok(snapshot) => Ok(Some(snapshot.revision)),
        Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets what was read of the files of a moved tree count at their new paths.
pub(crate) fn carry_seen(cx: &CallContext, tree: &Tree, to: &WorkspacePath) {
    if tree.files() > MAX_CARRIED {
        return;
    }
    for ((old, entry), (new, _)) in tree.paths().zip(tree.paths_at(to)) {
        if matches!(entry.node, Node::File(_))
            && let Some(seen) = cx.session.ledger.seen(&old)
        {
            cx.session.ledger.record_write(&new, seen.revision, seen.content.as_deref(), Writer::MovedFrom(&old));
        }
    }
}

/// Adds the note on the file that is truly at `real`, to which this call has just appended, as a line to `text` and to the
/// `notes`: what others have done next to it since this caller was shown the whole file. An edit or a patch there is refused.
///
/// The states since then are followed from one to the next, and each line keeps who put it there, so that what the caller
/// did itself is left out wherever it has moved to. Where no state came from somebody else, nothing is compared.
pub(crate) fn note_unseen(cx: &CallContext, real: &WorkspacePath, text: &mut String, notes: &mut Vec<String>) {
    let ledger = &cx.session.ledger;
    let Some(whole) = ledger.whole_before(real, cx.by.as_ref()) else { return };
    let mut states = ledger.states(real).seen;
    states.drain(..states.iter().rposition(|state| state.revision == whole).unwrap_or(states.len()));
    let steps = steps(cx, real, &states);
    if !steps.is_empty() && steps.iter().all(|(by, _)| by.is_none()) {
        return;
    }
    let Some(mut lines) = states.first().and_then(|whole| lines(whole, &steps)) else { return };
    let mut texts =
        states.iter().rev().map_while(|state| Document::decode(state.content.as_deref()?.to_vec(), None).ok());
    let (Some(now), Some(before)) = (texts.next(), texts.next()) else { return };
    let appended = changed_lines(before.text(), now.text()).first().map_or(0, |[_, now]| now.start);
    lines[..appended.saturating_sub(NEIGHBOUR_LINES)].fill(None);
    if let Some((makers, places)) = places(&lines) {
        notes.push(format!("(changed by {makers} since you last saw the whole file{places})"));
        text.extend(notes.last().map(|note| format!("\n{note}")));
    }
}

/// The states after the first one, and who made each of them; `None` for the caller.
fn steps<'s>(cx: &CallContext, real: &WorkspacePath, states: &'s [Seen]) -> Vec<(Option<String>, &'s Seen)> {
    // In one look at the journal: a formatter that runs after each edit makes as many states as the caller.
    let foreign: Vec<_> = states.iter().skip(1).filter(|state| !state.is_made).map(|state| state.revision).collect();
    let others = if foreign.is_empty() { HashMap::new() } else { cx.session.history.other_makers(real, &foreign) };
    let maker = |state: &Seen| match &state.by {
        by if state.is_made && *by == cx.by => None,
        by if state.is_made => Some(by.as_deref().unwrap_or(UNNAMED_CALLER).to_owned()),
        _ => Some(others.get(&state.revision).cloned().unwrap_or_else(|| ANOTHER_PROGRAM.to_owned())),
    };
    states.iter().skip(1).map(|state| (maker(state), state)).collect()
}

/// Whoever does not write through a server whose history this one knows.
const ANOTHER_PROGRAM: &str = "another program";

/// Who else has changed each line of the last state or removed what was before it. The last one is the end of the file.
/// `None` where a state is not kept, or no text.
fn lines<'s>(whole: &Seen, steps: &'s [(Option<String>, &Seen)]) -> Option<Vec<Option<&'s str>>> {
    let document = |state: &Seen| Document::decode(state.content.as_deref()?.to_vec(), None).ok();
    let mut was = document(whole)?;
    let mut lines = vec![None; was.text().split_inclusive('\n').count() + 1];
    // What one has done in a row is one change.
    for run in steps.chunk_by(|(one, _), (other, _)| one == other) {
        let (by, is) = (run[0].0.as_deref(), document(run.last()?.1)?);
        let (mut next, mut at) = (Vec::new(), 0);
        for [old, new] in changed_lines(was.text(), is.text()) {
            next.extend_from_slice(lines.get(at..old.start)?);
            next.resize(next.len() + new.len(), by);
            at = old.end;
            let after = lines.get_mut(at)?;
            *after = by.filter(|_| new.is_empty()).or(*after);
        }
        next.extend_from_slice(lines.get(at..)?);
        (lines, was) = (next, is);
    }
    Some(lines)
}

/// Who they are, and the end of the sentence that says where; `None` for nowhere.
fn places(lines: &[Option<&str>]) -> Option<(String, String)> {
    let (mut ranges, mut makers): (Vec<[usize; 2]>, Vec<&str>) = Default::default();
    for (index, maker) in lines.iter().enumerate().filter_map(|(index, by)| Some((index, (*by)?))) {
        // What is gone at the end was after the last line.
        let number = (index + 1).min(lines.len() - 1).max(1);
        match ranges.last_mut().filter(|last| last[1] + 1 >= number) {
            Some(last) => last[1] = number,
            None => ranges.push([number; 2]),
        }
        makers.extend((!makers.contains(&maker)).then_some(maker));
    }
    let range = |[first, last]: &[usize; 2]| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let shown: Vec<String> = ranges.iter().map(range).collect();
    let word = if ranges.iter().map(|[first, last]| last - first + 1).sum::<usize>() == 1 { "line" } else { "lines" };
    makers.truncate(MAX_MAKERS);
    (!shown.is_empty()).then(|| (makers.join(" and "), format!(": {word} {}", shown.join(", "))))
}
