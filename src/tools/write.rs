//! `write`: create a file, replace it whole, or append to it.

mod content;

use std::{borrow::Cow, fmt::Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    edit::{self, Diff, DiffExtent},
    session::{Cost, RootBytes},
    text::{self, Document, EncodingLabel, LineEnding, problems::Problem},
    workspace::{
        AccessError, AccessErrorKind, Approval, Base, Committed, Revision, RevisionPrefix, Snapshot, WorkspacePath,
        WritablePath,
    },
};

use super::{
    Alias, Answer, CallContext, Change, ExistingKind, Fingerprint, FlagValue, Group, Kind, Plan, Preview, Spec, Tool,
    ToolError,
    alias::PATH_ALIASES,
    answer::{count, noted},
    encoding_argument,
    introduced_problems::{ChangedText, IntroducedProblems},
    read_before_write::{self, StartFrom},
    shown_diff::{self, ShownDiff},
    with_history::{self, Rewrite},
};
use content::{Appended, NewContent, appended, created, fits_notebook, line_count, replaced};

/// The tool.
pub(crate) struct Write;

/// Arguments of `write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file to write; missing parent directories are made.
    path: String,
    /// The whole new text, or the text to append.
    content: String,
    /// overwrite replaces an existing file (which must have been seen, as for edit), append adds to its end,
    /// create fails if it exists. Default: overwrite.
    mode: Option<Mode>,
    /// The rev that an existing file must have; then no read is needed.
    expected_revision: Option<String>,
    /// WHATWG label for a new or replaced file. Default: UTF-8, or what it has.
    encoding: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Overwrite,
    Append,
    Create,
}

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The file, as paths are printed.
    path: String,
    /// Unified diff of a replacement, cut to 60 lines; a long line is cut to what changed in it.
    diff: String,
    /// What else there is to know of it.
    notes: Vec<String>,
    #[serde(flatten)]
    facts: Facts,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Facts {
    /// Whether the file did not exist before.
    created: bool,
    /// Bytes in the file now.
    bytes: usize,
    /// Lines in the file now.
    lines: usize,
    /// Revision of the file now, for `expected_revision`.
    revision: String,
    /// Encoding that was written.
    encoding: String,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// Lines of the diff that are not shown.
    diff_cut_lines: usize,
    /// Bytes that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    appended_bytes: Option<usize>,
    /// Lines that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    appended_lines: Option<usize>,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

impl Tool for Write {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "write",
        title: "Write a file",
        purpose: "creates or replaces a file",
        description: "Create a text file, replace a whole file, or append to it. The write is atomic. To change part \
            of a file use edit.",
        group: Group::Core,
        aliases: &[
            PATH_ALIASES,
            &[
                Alias::names("content", &["contents", "text", "file_text"]),
                Alias::names("expected_revision", &["expectedRevision"]),
                Alias::Flag { given: "append", name: "mode", value: FlagValue::Text("append") },
            ],
        ],
        read_only: false,
        destructive: true,
        idempotent: false,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let mode = args.mode.unwrap_or_default();
        let expected = read_before_write::parse_rev("expected_revision", args.expected_revision.as_deref())?;
        let encoding = args.encoding.as_deref().map(encoding_argument::parse).transpose()?;
        // Whoever knows a revision means a file that is there.
        let exists = expected.is_some() && !args.path.ends_with('/');
        let path = if exists { cx.existing(&args.path, ExistingKind::File)? } else { cx.resolve_new_file(&args.path)? };
        fits_notebook(&path, encoding)?;
        let target = cx.workspace.writable(&path)?;
        let limit = cx.settings.max_file_size;
        if args.content.len() as u64 > limit {
            return Err(ToolError::new(
                Kind::TooLarge,
                format!("`content` is {} bytes; at most {limit} bytes are written to one file", args.content.len()),
            )
            .hint("split it over several files"));
        }
        let given = args.path;
        let request = WriteRequest { given, path, target, content: args.content, mode, expected, encoding };
        let (base, planned) = request.plan_content(cx)?;
        Ok(Plan::Change(Box::new(PlannedWrite { request, base, planned })))
    }
}

/// What was asked for.
struct WriteRequest {
    /// The path as the call spells it.
    given: String,
    path: WorkspacePath,
    target: WritablePath,
    content: String,
    mode: Mode,
    expected: Option<RevisionPrefix>,
    /// The encoding that was asked for.
    encoding: Option<EncodingLabel>,
}

impl WriteRequest {
    /// The new content on the file as it is now; writes nothing.
    fn plan_content(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
        let known = if self.mode == Mode::Append { StartFrom::Grown } else { StartFrom::LastSeen };
        self.plan_on(cx, |now| read_before_write::check(cx, &self.path, &self.target, now, self.expected, known))
    }

    /// As [`Self::plan_content`], once more, where another change came between that and the commit.
    fn plan_again(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
        self.plan_on(cx, |now| {
            read_before_write::check_again(cx, &self.path, &now, self.expected)?;
            Ok(now)
        })
    }

    fn plan_on(
        &self,
        cx: &CallContext,
        checked: impl FnOnce(Snapshot) -> Result<Snapshot, ToolError>,
    ) -> Result<(Base, NewContent), ToolError> {
        let path = &self.path;
        let now = match cx.read_to_change(path) {
            Err(error) if error.kind == AccessErrorKind::NotFound => return self.created(cx),
            Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) if self.mode == Mode::Create => {
                return Err(exists(path));
            }
            Err(error) => return Err(error.into()),
            Ok(_) if self.mode == Mode::Create => return Err(exists(path)),
            Ok(now) => checked(now)?,
        };
        let base = Base::Revision(now.revision);
        let planned = match self.mode {
            Mode::Append => appended(path, now, &self.content, self.encoding)?,
            Mode::Overwrite | Mode::Create => replaced(now, &self.content, self.encoding)?,
        };
        self.within(cx, base, planned)
    }

    fn created(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
        if let Some(expected) = self.expected {
            return Err(read_before_write::absent(&self.path, expected));
        }
        self.within(cx, Base::Absent, created(&self.content, self.encoding)?)
    }

    /// The plan, if its file is not too large and its sentinels are those of the file.
    fn within(&self, cx: &CallContext, base: Base, planned: NewContent) -> Result<(Base, NewContent), ToolError> {
        let (size, limit) = (planned.bytes.len() as u64, cx.settings.max_file_size);
        if size > limit {
            return Err(ToolError::would_grow(&self.path, size, limit));
        }
        let old = planned.old.as_ref().map_or(&[][..], Document::bytes);
        let shown = cx.workspace.check_sentinels(&self.target, old, &planned.bytes)?;
        Ok((base, planned.shown_as(shown)))
    }
}

fn exists(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("{path} already exists, and mode=create never replaces a file"))
        .hint("choose another name, or read it and use mode=overwrite or edit")
}

/// Lines and bytes that a file has to lose before the answer says so, and then half of its bytes at least.
const LOSS: (usize, u64) = (10, 400);

impl Rewrite for (Base, NewContent) {
    fn base(&self) -> Base {
        self.0
    }

    fn old(&self) -> Option<&Document> {
        self.1.old.as_ref()
    }

    fn bytes(&self) -> &[u8] {
        &self.1.bytes
    }
}

struct PlannedWrite {
    request: WriteRequest,
    base: Base,
    planned: NewContent,
}

impl PlannedWrite {
    /// The new text of the file as it is shown, read back from its bytes.
    fn text(&self) -> Option<Cow<'_, str>> {
        text::view(self.planned.shown_bytes(), Some(self.planned.encoding)).ok()
    }

    /// The diff of what is really written.
    fn diff(&self, extent: DiffExtent) -> Option<Diff> {
        let old = self.planned.old.as_ref()?;
        let new = self.text()?;
        let name = shown_diff::diff_name(&self.request.path);
        if LineEnding::of(old.text()) == LineEnding::Cr && LineEnding::of(&new) == LineEnding::Cr {
            // Otherwise the file would be one line of the diff.
            let by_line = |text: &str| text.replace('\r', "\n");
            return Some(edit::unified_diff(&name, &by_line(old.text()), &by_line(&new), extent));
        }
        Some(edit::unified_diff(&name, old.text(), &new, extent))
    }
}

impl Change for PlannedWrite {
    fn preview(&self) -> Preview {
        let verb = match (self.base, self.request.mode) {
            (Base::Absent, _) => "Create",
            (_, Mode::Append) => "Append to",
            _ => "Replace",
        };
        Preview {
            summary: noted(
                format!("{verb} {}: {} when done", self.request.path, count(self.planned.bytes.len(), "byte")),
                &self.planned.notes,
            ),
            diff: self.diff(DiffExtent::Full).map_or_else(
                || {
                    let old = if self.base == Base::Absent { "/dev/null" } else { "(not text)" };
                    let new = self.text().unwrap_or_else(|| String::from_utf8_lossy(self.planned.shown_bytes()));
                    let mut diff = format!("--- {old}\n+++ b/{}\n", shown_diff::diff_name(&self.request.path));
                    for line in new.split_inclusive('\n') {
                        diff.push('+');
                        diff.push_str(line);
                    }
                    diff
                },
                |diff| diff.text,
            ),
            destructive: self.base != Base::Absent && self.request.mode != Mode::Append,
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            path: self.request.target.path().to_string(),
            base: self.base,
            content: Some(Revision::of(&self.planned.bytes)),
        }
    }

    fn cost(&self) -> Cost {
        let (root, bytes) = (self.request.target.path().root(), self.planned.bytes.len() as u64);
        Cost {
            files: if self.base == Base::Absent { 1 + self.request.target.missing_above() } else { 0 },
            bytes,
            growth: RootBytes::of(root, bytes.saturating_sub(self.planned.old_bytes)),
            freed: RootBytes::of(root, self.planned.old_bytes.saturating_sub(bytes)),
        }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { request, base, planned } = *self;
        // An append is planned again if another call or process changed the file first.
        let again = |error: AccessError| match request.mode {
            Mode::Append => request.plan_again(cx),
            Mode::Create => Err(exists(&request.path)),
            Mode::Overwrite => Err(error.into()),
        };
        let ((base, planned), committed, kept) =
            with_history::rewrite(cx, "write", &request.target, (base, planned), approval, again)?;
        Ok(Self { request, base, planned }.answer(cx, &committed, kept))
    }
}

impl PlannedWrite {
    /// The note if a text of `lines` lines replaced one that was much longer: the content may have been cut.
    fn lost(&self, lines: usize) -> Option<String> {
        let (old, bytes) = (self.planned.old.as_ref()?, self.planned.bytes.len() as u64);
        let (old_lines, old_bytes) = (line_count(old.text()), self.planned.old_bytes);
        let is_much = old_lines >= lines + LOSS.0 || old_bytes >= bytes + LOSS.1 || (bytes == 0 && old_bytes > 0);
        (is_much && bytes * 2 < old_bytes).then(|| {
            format!(
                "most of the file is gone: it had {}, {}",
                count(usize::try_from(old_bytes).unwrap_or(usize::MAX), "byte"),
                count(old_lines, "line")
            )
        })
    }

    fn answer(self, cx: &CallContext, committed: &Committed, kept: Option<String>) -> Answer {
        let (path, real) = (&self.request.path, self.request.target.path());
        let old = self.planned.old.as_ref().map(Document::text);
        let introduced = self.text().map_or_else(IntroducedProblems::default, |new| {
            IntroducedProblems::by(cx, &ChangedText { path, real, old, new: &new })
        });
        let cx = &introduced.leave_room(cx);
        let diff = self.diff(shown_diff::BRIEF);
        let shown = diff.as_ref().map(|diff| ShownDiff::of(cx, self.request.target.path(), &diff.text, diff.cut_lines));
        let lines = self.text().map_or(0, |text| line_count(&text));
        let facts = Facts {
            created: committed.created,
            bytes: self.planned.bytes.len(),
            lines,
            revision: committed.revision.to_string(),
            encoding: self.planned.encoding.name().to_owned(),
            added: diff.as_ref().map_or(lines, |diff| diff.added),
            removed: diff.as_ref().map_or(0, |diff| diff.removed),
            diff_cut_lines: shown.as_ref().map_or(0, |shown| shown.cut_lines),
            appended_bytes: self.planned.appended.map(|appended| appended.bytes),
            appended_lines: self.planned.appended.map(|appended| appended.lines),
            problems: introduced.problems,
        };
        let lost = self.lost(lines);
        let mut notes = self.planned.notes;
        notes.extend(lost);
        notes.extend(kept);
        let rev = committed.revision.short();
        let total = format!("{}, {}", count(facts.bytes, "byte"), count(lines, "line"));
        let text = match self.planned.appended {
            Some(Appended { bytes, lines }) if self.base != Base::Absent => {
                format!("Appended {}, {} (now {total}), rev {rev}", count(bytes, "byte"), count(lines, "line"))
            }
            _ if self.base == Base::Absent => {
                // A model knows the path that it passed; one that was resolved to another spelling is named.
                let path = self.request.path.to_string();
                let path = if path == self.request.given { String::new() } else { format!(" {path}") };
                format!("Created{path}: {total}, rev {rev}")
            }
            _ => format!("Replaced: {total}, rev {rev}"),
        };
        let mut text = noted(text, &notes);
        if let Some(shown) = shown.as_ref().filter(|shown| !shown.text.is_empty()) {
            let _ = write!(text, "\n\n{}", shown.block);
            notes.extend(shown.hidden.clone());
        } else if self.base == Base::Revision(committed.revision) && self.planned.shown.is_none() {
            text.push_str(" (no change)");
        }
        text.push_str(&introduced.text);
        let diff = shown.map(|shown| shown.text).unwrap_or_default();
        let data = Output { path: self.request.path.to_string(), diff, notes, facts: facts.clone() };
        Answer::text(text, &facts).data(cx, &data)
    }
}
