//! `write`: create a file, replace it whole, or append to it.

mod content;
mod unknown_change;
mod write_request;

use std::{borrow::Cow, fmt::Write as _};

use change_set::{Approval, Base, Committed};
use confined_fs::{AccessError, Revision, WorkspacePath};
use schemars::JsonSchema;
use serde::Deserialize;
use text_edit::{Diff, DiffExtent};
use text_file::Document;

use crate::session::{Cost, Shown};

use super::{
    Alias, Answer, CallContext, Change, ExistingKind, Fingerprint, FlagValue, Group, Kind, Plan, Preview,
    ReadBeforeWrite, Spec, Tool, ToolError,
    answer::{count, noted},
    args,
    commit::{self, Rewrite},
    hidden_note::HiddenNote,
    introduced_problems::{ChangedText, IntroducedProblems},
    read_before_write,
    shown_diff::{self, ShownDiff},
    tool::PATH_ALIASES,
};
use content::{Appended, NewContent, fits_notebook, line_count};
use write_request::{AppendAt, Mode, Output, WriteRequest, exists};

pub(crate) struct Write;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file to write; missing parent directories are made.
    path: String,
    /// The whole new text, or the text to append.
    content: String,
    /// overwrite replaces a file (which must have been seen, as for edit), append adds to its end (no read
    /// needed), create fails if it exists. Default: overwrite.
    mode: Option<Mode>,
    /// The rev that an existing file must have; then no read is needed.
    expected_revision: Option<String>,
    /// For append: the size or rev that it continues, so that a repeated call is not applied twice.
    at: Option<String>,
    /// WHATWG label for a new or replaced file. Default: UTF-8, or what it has.
    encoding: Option<String>,
}

impl Tool for Write {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "write",
        title: "Write a file",
        purpose: "creates or replaces a file",
        description: "Use this instead of shell redirection. Create a text file, replace a whole file, or append to it. The write is atomic. To change part \
            of a file use edit.",
        group: Group::Core,
        aliases: &[
            PATH_ALIASES,
            &[
                Alias::names("content", &["contents", "text", "file_text"]),
                Alias::names("expected_revision", &["expectedRevision"]),
                Alias::flags("mode", FlagValue::Text("append"), &["append"]),
            ],
        ],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let mode = args.mode.unwrap_or_default();
        let expected = read_before_write::parse_rev("expected_revision", args.expected_revision.as_deref())?;
        let encoding = args.encoding.as_deref().map(args::encoding).transpose()?;
        let at = args.at.as_deref().map(AppendAt::parse).transpose()?;
        if at.is_some() && mode != Mode::Append {
            return Err(ToolError::invalid("`at` is for mode=append, and the mode is another")
                .hint("pass mode=append with at, or leave at out"));
        }
        // A file of a name that looks the same is one that was seen, unless that does not matter.
        let is_meant = |path: &WorkspacePath| match mode {
            Mode::Create => false,
            Mode::Append => true,
            Mode::Overwrite => {
                let real = || cx.workspace.canonical(path).ok();
                cx.settings.read_before_write == ReadBeforeWrite::Off
                    || real().is_some_and(|real| cx.session.ledger.seen(&real).is_some())
            }
        };
        // Whoever knows a revision means a file that is there.
        let exists = expected.is_some() && !args.path.ends_with('/');
        let path = if exists {
            cx.existing(&args.path, ExistingKind::File)?
        } else {
            cx.resolve_new_file(&args.path, is_meant)?
        };
        fits_notebook(&path, encoding)?;
        let target = cx.workspace.writable(&path)?;
        let limit = cx.settings.max_file_size;
        if args.content.len() as u64 > limit {
            let sentence =
                format!("`content` is {} bytes; at most {limit} bytes are written to one file", args.content.len());
            return Err(ToolError::new(Kind::TooLarge, sentence).hint("split it over several files"));
        }
        let given = args.path;
        let request = WriteRequest { given, path, target, content: args.content, mode, expected, at, encoding };
        // Before the check of what was read: a repeated append finds its own text there, which is no error.
        if let Some(answer) = request.appended_already(cx)? {
            return Ok(Plan::Answer(answer));
        }
        let planned = request.plan_content(cx)?;
        Ok(Plan::Change(Box::new(PlannedWrite { request, planned })))
    }
}

impl Rewrite for NewContent {
    fn base(&self) -> Base {
        self.base
    }

    fn old(&self) -> Option<&Document> {
        self.old.as_ref()
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn tail(&self) -> Option<(&[u8], bool)> {
        let (old, appended) = self.old.as_ref().zip(self.appended)?;
        Some((&self.bytes[old.bytes().len()..], appended.continues))
    }
}

struct PlannedWrite {
    request: WriteRequest,
    planned: NewContent,
}

impl PlannedWrite {
    /// The new text of the file, read back from its bytes.
    fn text(&self) -> Option<Cow<'_, str>> {
        text_file::view(&self.planned.bytes, Some(self.planned.encoding)).ok()
    }

    /// The diff of what is really written; `new` is its text.
    fn diff(&self, new: &str, extent: DiffExtent) -> Option<Diff> {
        let old = self.planned.old.as_ref()?;
        Some(text_edit::unified_diff(&shown_diff::diff_name(&self.request.path), old.text(), new, extent))
    }
}

impl Change for PlannedWrite {
    fn preview(&self) -> Preview {
        let verb = match (self.planned.base, self.request.mode) {
            (Base::Absent, _) => "Create",
            (_, Mode::Append) => "Append to",
            _ => "Replace",
        };
        let new = self.text();
        let lost = new.as_deref().and_then(|new| lost_text(self.planned.old.as_ref()?, new));
        let notes: Vec<String> = self.planned.notes.iter().cloned().chain(lost).collect();
        Preview {
            summary: noted(
                format!("{verb} {}: {} when done", self.request.path, count(self.planned.bytes.len(), "byte")),
                &notes,
            ),
            diff: new.as_deref().and_then(|new| self.diff(new, DiffExtent::Full)).map_or_else(
                || {
                    let old = if self.planned.base == Base::Absent { "/dev/null" } else { "(not text)" };
                    let new = new.clone().unwrap_or_else(|| String::from_utf8_lossy(&self.planned.bytes));
                    let mut diff = format!("--- {old}\n+++ b/{}\n", shown_diff::diff_name(&self.request.path));
                    for line in new.split_inclusive('\n') {
                        diff.push('+');
                        diff.push_str(line);
                    }
                    diff
                },
                |diff| diff.text,
            ),
            destructive: self.planned.base != Base::Absent && self.request.mode != Mode::Append,
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            path: self.request.target.path().to_string(),
            base: self.planned.base,
            content: Some(Revision::of(&self.planned.bytes)),
        }
    }

    fn cost(&self) -> Cost {
        let new = self.planned.bytes.len() as u64;
        Cost::of_file(&self.request.target, self.planned.base == Base::Absent, self.planned.old_bytes, new)
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { request, planned } = *self;
        // An append is planned again if another call or process changed the file first.
        let again = |error: AccessError| match request.mode {
            Mode::Append => request.plan_again(cx),
            Mode::Create => Err(exists(&request.path)),
            // Its content was made for what was read: on anything else it would undo a change that it does not know.
            Mode::Overwrite => Err(error.into()),
        };
        let made = commit::rewrite(cx, "write", &request.target, planned, approval, again);
        let (planned, committed, kept) = match made {
            // The same call may have run twice at once.
            Err(error) if error.kind() == Kind::Stale => {
                // Planned once more, a replacement says who came first, and with what.
                let again = if request.mode == Mode::Overwrite { request.plan_content(cx).err() } else { None };
                return request.appended_already(cx)?.ok_or(again.unwrap_or(error));
            }
            made => made?,
        };
        let mut planned = planned;
        if let Some(now) = committed.appended.as_ref().and_then(|done| done.now.clone()) {
            planned.bytes = now;
            planned.notes.push("another program has appended to it at the same time".to_owned());
        }
        Ok(Self { request, planned }.answer(cx, &committed, kept))
    }
}

impl PlannedWrite {
    fn answer(self, cx: &CallContext, committed: &Committed, kept: Option<String>) -> Answer {
        let (path, real) = (&self.request.path, self.request.target.path());
        let old = self.planned.old.as_ref().map(Document::text);
        // Once for all that follows: to check that a large text is UTF-8 is a part of the whole cost.
        let text = self.text();
        let new = text.as_deref();
        let introduced = new.map_or_else(IntroducedProblems::default, |new| {
            IntroducedProblems::by(cx, &ChangedText { path, real, old, new })
        });
        let cx = &introduced.leave_room(cx);
        // The lines of another program are not shown as if this call had written them.
        let is_shared = committed.appended.as_ref().is_some_and(|done| done.now.is_some());
        let diff = new.filter(|_| !is_shared).and_then(|new| self.diff(new, shown_diff::BRIEF_EXTENT));
        let shown = diff.as_ref().map(|diff| ShownDiff::of(cx, self.request.target.path(), &diff.text, diff.cut_lines));
        let lines = new.map_or(0, line_count);
        let mut output = Output {
            path: path.to_string(),
            created: committed.created,
            directories: commit::made_names(&committed.made),
            bytes: self.planned.bytes.len(),
            lines,
            revision: committed.revision.to_string(),
            encoding: self.planned.encoding.name().to_owned(),
            added: diff.as_ref().map_or(self.planned.appended.map_or(lines, |own| own.lines), |diff| diff.added),
            removed: diff.as_ref().map_or(0, |diff| diff.removed),
            diff_cut_lines: shown.as_ref().map_or(0, |shown| shown.cut_lines),
            appended_bytes: self.planned.appended.map(|appended| appended.bytes),
            appended_lines: self.planned.appended.map(|appended| appended.lines),
            problems: introduced.problems,
            ..Output::default()
        };
        let back = if cx.offers_undo && kept.is_none() { "; undo brings it back" } else { "" };
        let lost = new.and_then(|new| lost_text(self.planned.old.as_ref()?, new)).map(|lost| lost + back);
        let mut notes = self.planned.notes.clone();
        notes.extend(commit::made_note(&committed.made));
        notes.extend(lost);
        notes.extend(kept);
        notes.extend(commit::other_names("this file", committed.other_names));
        let rev = committed.revision.short();
        let total = format!("{}, {}", count(output.bytes, "byte"), count(lines, "line"));
        let text = match self.planned.appended {
            Some(Appended { bytes, lines, .. }) if self.planned.base != Base::Absent => {
                format!("Appended {}, {} (now {total}), rev {rev}", count(bytes, "byte"), count(lines, "line"))
            }
            _ if self.planned.base == Base::Absent => {
                // A model knows the path that it passed; one that was resolved to another spelling is named.
                let path = self.request.path.to_string();
                let path = if path == self.request.given { String::new() } else { format!(" {path}") };
                format!("Created{path}: {total}, rev {rev}")
            }
            _ => format!("Replaced: {total}, rev {rev}"),
        };
        let mut text = noted(text, &notes);
        if self.request.mode != Mode::Append {
            let (revision, bytes) = (committed.revision, Some(self.planned.bytes.as_slice()));
            cx.session.ledger.record_read(real, revision, bytes, cx.by.as_ref(), Shown::Whole);
        }
        if self.request.mode == Mode::Append {
            read_before_write::note_unseen(cx, real, &mut text, &mut notes);
        }
        if let Some(shown) = shown.as_ref().filter(|shown| !shown.text.is_empty()) {
            let _ = write!(text, "\n\n{}", shown.block);
            notes.extend(shown.hidden.clone());
        } else if self.planned.base == Base::Revision(committed.revision) {
            text.push_str(" (no change)");
        } else if let Some(hidden) = new.filter(|_| !is_shared).and_then(hidden_in) {
            // No diff shows them.
            let _ = write!(text, "\n{hidden}");
            notes.push(hidden);
        }
        text.push_str(&introduced.text);
        output.diff = shown.map(|shown| shown.text).unwrap_or_default();
        output.notes = notes;
        Answer::of(cx, text, &output, Output::TEXT_MEMBERS)
    }
}

/// The note on hidden characters in a text that was written, which is without a byte-order mark.
fn hidden_in(text: &str) -> Option<String> {
    let mut note = HiddenNote::default();
    for (line, number) in text.lines().zip(1..) {
        note.look(number, line);
    }
    note.text()
}

/// Lines and bytes that a file has to lose before that is reported, and then more than half of its text.
const REPORTED_LOSS: (usize, usize) = (10, 400);

/// The note on an overwrite of `old` that leaves little of it: its content may have been cut on the way.
fn lost_text(old: &Document, new: &str) -> Option<String> {
    let text = old.text();
    // Lines are counted only where the lengths leave it open.
    if new.len() * 2 >= text.len() {
        return None;
    }
    let lines = line_count(text);
    let is_much = text.len() >= new.len() + REPORTED_LOSS.1 || lines >= line_count(new) + REPORTED_LOSS.0;
    is_much.then(|| {
        format!("most of the file is gone: it had {}, {}", count(old.bytes().len(), "byte"), count(lines, "line"))
    })
}
