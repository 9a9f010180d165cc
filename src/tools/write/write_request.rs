//! What a call of `write` asks for, and the content that it comes to on the file as it is now.

use schemars::JsonSchema;
use serde::Deserialize;
use text_file::{Document, EncodingLabel};

use confined_fs::{AccessError, AccessErrorKind, Base, RevisionPrefix, Snapshot, WorkspacePath, WritablePath};

use super::{
    super::{
        Answer, CallContext, ToolError,
        answer::count,
        read_before_write::{self, StartFrom},
    },
    append_at::AppendAt,
    content::{NewContent, appended, created, line_count, replaced},
    output::{Facts, Output},
    unknown_change,
};

/// How the content is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Overwrite,
    Append,
    Create,
}

/// What was asked for.
pub(super) struct WriteRequest {
    /// The path as the call spells it.
    pub(super) given: String,
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) content: String,
    pub(super) mode: Mode,
    pub(super) expected: Option<RevisionPrefix>,
    /// What an append continues.
    pub(super) at: Option<AppendAt>,
    /// The encoding that was asked for.
    pub(super) encoding: Option<EncodingLabel>,
}

impl WriteRequest {
    /// The answer to a call that was made before: what it appends is there, at the place that it names.
    pub(super) fn appended_already(&self, cx: &CallContext) -> Result<Option<Answer>, ToolError> {
        let Some(at) = &self.at else { return Ok(None) };
        let now = match cx.read_to_change(&self.path) {
            Err(error) if error.kind == AccessErrorKind::NotFound => return Ok(None),
            now => now?,
        };
        if at.is_of(&now) {
            return Ok(None);
        }
        let Some(done) = at.appended_already(&self.path, &now, &self.content, self.encoding) else { return Ok(None) };
        let document = Document::decode(now.bytes, None).ok();
        let lines = document.as_ref().map_or(0, |document| line_count(document.text()));
        let bytes = document.as_ref().map_or(0, |document| document.bytes().len());
        let facts = Facts {
            created: false,
            bytes,
            lines,
            revision: now.revision.to_string(),
            encoding: document.map_or_else(String::new, |document| document.encoding().name().to_owned()),
            added: 0,
            removed: 0,
            diff_cut_lines: 0,
            appended_bytes: Some(0),
            appended_lines: Some(0),
            problems: Vec::new(),
        };
        let text = format!(
            "Appended already, nothing was written: these {}, {} are the end of the file (now {}, {}), rev {}",
            count(done.bytes, "byte"),
            count(done.lines, "line"),
            count(bytes, "byte"),
            count(lines, "line"),
            now.revision.short()
        );
        let data = Output { path: self.path.to_string(), diff: String::new(), notes: Vec::new(), facts: facts.clone() };
        Ok(Some(Answer::text(text, &facts).data(cx, &data)))
    }

    /// The new content on the file as it is now; writes nothing.
    pub(super) fn plan_content(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
        let known = if self.mode == Mode::Append { StartFrom::Grown } else { StartFrom::LastSeen };
        let (base, planned) = self.plan_on(cx, |now| {
            // A caller that names the rev knows what is there.
            let expected = self.expected.or_else(|| self.at.as_ref()?.rev_of(&now));
            read_before_write::check(cx, &self.path, &self.target, now, expected, known)
        })?;
        if let (Mode::Overwrite, None, Base::Revision(revision), Some(now)) =
            (self.mode, self.expected, base, planned.old.as_ref())
        {
            let path = (&self.path, self.target.path());
            unknown_change::check(cx, path, (now, revision), planned.shown_bytes())?;
        }
        Ok((base, planned))
    }

    /// As [`Self::plan_content`], once more, where another change came between that and the commit.
    pub(super) fn plan_again(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
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
            Ok(now) => now,
        };
        if let Some(at) = self.at.as_ref().filter(|at| !at.is_of(&now)) {
            return Err(at.stale(path, &now));
        }
        let now = checked(now)?;
        let base = Base::Revision(now.revision);
        let planned = match self.mode {
            Mode::Append => appended(path, now.bytes, now.revision, &self.content, self.encoding)?,
            Mode::Overwrite | Mode::Create => replaced(now, &self.content, self.encoding)?,
        };
        self.within(cx, base, planned)
    }

    fn created(&self, cx: &CallContext) -> Result<(Base, NewContent), ToolError> {
        if let Some(expected) = self.expected {
            return Err(read_before_write::absent(&self.path, expected));
        }
        if let Some(at) = self.at.as_ref().filter(|at| !at.is_start()) {
            return Err(at.absent(&self.path));
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

pub(super) fn exists(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("{path} already exists, and mode=create never replaces a file"))
        .hint("choose another name, or read it and use mode=overwrite or edit")
}
