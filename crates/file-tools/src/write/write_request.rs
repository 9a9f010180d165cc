//! A call of `write`: what it asks for, with `at`, the size or the rev that an append continues, so that a repeated call is
//! not applied twice; the content that it comes to on the file as it is now; and the result as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_file::{Document, EncodingLabel, LineEnding};

use change_set::{Base, WritablePath};
use confined_fs::{AccessError, AccessErrorKind, Revision, RevisionPrefix, Snapshot, WorkspacePath};

use crate::session::Writer;

use super::{
    super::{
        Answer, CallContext, Kind, ToolError,
        answer::count,
        introduced_problems::Problem,
        read_before_write::{self, StartFrom},
    },
    content::{Appended, NewContent, appended, created, line_count, replaced},
    unknown_change,
};

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The file, as paths are printed.
    pub(super) path: String,
    /// Unified diff of a replacement, cut to 60 lines; a long line is cut to what changed in it.
    pub(super) diff: String,
    /// Notes on it.
    pub(super) notes: Vec<String>,
    /// Whether the file did not exist before.
    pub(super) created: bool,
    /// Directories that were made for it, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directories: Vec<String>,
    /// Bytes in the file now.
    pub(super) bytes: usize,
    /// Lines in the file now.
    pub(super) lines: usize,
    /// Revision of the file now, for `expected_revision`.
    pub(super) revision: String,
    /// Encoding that was written.
    pub(super) encoding: String,
    /// Lines added.
    pub(super) added: usize,
    /// Lines removed.
    pub(super) removed: usize,
    /// Lines of the diff that are not shown.
    pub(super) diff_cut_lines: usize,
    /// Bytes that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) appended_bytes: Option<usize>,
    /// Lines that were appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) appended_lines: Option<usize>,
    /// Problems that the change has introduced, such as syntax errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
}

impl Output {
    pub(super) const TEXT_MEMBERS: &[&str] = &["path", "diff", "notes"];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Overwrite,
    Append,
    Create,
}

pub(super) struct WriteRequest {
    pub(super) given: String,
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) content: String,
    pub(super) mode: Mode,
    pub(super) expected: Option<RevisionPrefix>,
    pub(super) at: Option<AppendAt>,
    pub(super) encoding: Option<EncodingLabel>,
}

impl WriteRequest {
    /// The answer to a call that was made before: what it appends is there, at the place that it names.
    pub(super) fn appended_already(&self, cx: &CallContext) -> Result<Option<Answer>, ToolError> {
        let Some(at) = &self.at else { return Ok(None) };
        let now = match cx.read_to_append(&self.path) {
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
        let output = Output {
            path: self.path.to_string(),
            bytes,
            lines,
            revision: now.revision.to_string(),
            encoding: document.map_or_else(String::new, |document| document.encoding().name().to_owned()),
            appended_bytes: Some(0),
            appended_lines: Some(0),
            ..Output::default()
        };
        let text = format!(
            "Appended already, nothing was written: these {}, {} are the end of the file (now {}, {}), rev {}",
            count(done.bytes, "byte"),
            count(done.lines, "line"),
            count(bytes, "byte"),
            count(lines, "line"),
            now.revision.short()
        );
        Ok(Some(Answer::of(cx, text, &output, Output::TEXT_MEMBERS)))
    }

    /// The new content on the file as it is now; writes nothing.
    pub(super) fn plan_content(&self, cx: &CallContext) -> Result<NewContent, ToolError> {
        let planned = self.plan_on(cx, |now| match self.mode {
            // It neither needs nor touches what is there.
            Mode::Append if self.expected.is_none() => Ok(now),
            _ => read_before_write::check(cx, &self.path, &self.target, now, self.expected, StartFrom::LastSeen),
        })?;
        if let (Mode::Overwrite, None, Base::Revision(revision), Some(now)) =
            (self.mode, self.expected, planned.base, planned.old.as_ref())
        {
            let path = (&self.path, self.target.path());
            unknown_change::check(cx, path, (now, revision), &planned.bytes)?;
        }
        Ok(planned)
    }

    pub(super) fn plan_again(&self, cx: &CallContext) -> Result<NewContent, ToolError> {
        self.plan_on(cx, |now| read_before_write::check_again(cx, &self.path, now, self.expected))
    }

    fn plan_on(
        &self,
        cx: &CallContext,
        checked: impl FnOnce(Snapshot) -> Result<Snapshot, ToolError>,
    ) -> Result<NewContent, ToolError> {
        let path = &self.path;
        let now = match self.mode {
            Mode::Append => cx.read_to_append(path),
            Mode::Overwrite | Mode::Create => cx.read_to_change(path),
        };
        let now = match now {
            Err(error) if error.kind == AccessErrorKind::NotFound => return self.created(cx),
            // It is there, whatever its size.
            Err(AccessError { kind: AccessErrorKind::TooLarge { .. }, .. }) if self.mode == Mode::Create => {
                return Err(exists(path));
            }
            Err(error) => return Err(error.into()),
            Ok(_) if self.mode == Mode::Create => return Err(exists(path)),
            Ok(now) => now,
        };
        if let Some(at) = self.at.as_ref().filter(|at| !at.is_of(&now)) {
            return Err(at.stale(cx, path, &now));
        }
        let now = checked(now)?;
        cx.session.ledger.record_write(self.target.path(), now.revision, Some(&now.bytes), Writer::AnotherProgram);
        let base = Base::Revision(now.revision);
        let planned = match self.mode {
            Mode::Append => appended(path, now.bytes, now.revision, &self.content, self.encoding)?,
            Mode::Overwrite | Mode::Create => replaced(&self.path, now, &self.content, self.encoding)?,
        };
        let continues = self.at.is_some() || self.expected.is_some();
        let appended = planned.appended.map(|appended| Appended { continues, ..appended });
        self.within(cx, base, NewContent { appended, ..planned })
    }

    fn created(&self, cx: &CallContext) -> Result<NewContent, ToolError> {
        if let Some(expected) = self.expected {
            return Err(read_before_write::absent(&self.path, expected));
        }
        if let Some(at) = self.at.as_ref().filter(|at| !at.is_start()) {
            return Err(at.absent(&self.path));
        }
        self.within(cx, Base::Absent, created(&self.content, self.encoding)?)
    }

    /// The plan, if its file is not too large.
    fn within(&self, cx: &CallContext, base: Base, planned: NewContent) -> Result<NewContent, ToolError> {
        let (size, limit) = (planned.bytes.len() as u64, cx.settings.max_file_size);
        if size > limit {
            return Err(ToolError::would_grow(&self.path, size, limit));
        }
        Ok(NewContent { base, ..planned })
    }
}

pub(super) fn exists(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("{path} already exists, and mode=create never replaces a file"))
        .hint("choose another name, or read it and use mode=overwrite or edit")
}

/// The state of a file that an append continues. Digits can be both a size and a rev.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppendAt {
    given: String,
    size: Option<u64>,
    rev: Option<RevisionPrefix>,
}

impl AppendAt {
    /// Parses the argument `at`: a size in bytes, a rev, or digits that can be both.
    ///
    /// # Errors
    /// `invalid_input` for what is neither a size nor a rev.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let given = text.trim();
        let is_number = !given.is_empty() && given.bytes().all(|byte| byte.is_ascii_digit());
        // Too many digits are a size beyond any file.
        let size = is_number.then(|| given.parse().unwrap_or(u64::MAX));
        let rev = given.parse().ok();
        if size.is_none() && rev.is_none() {
            return Err(ToolError::invalid(format!("`at` is neither a size in bytes nor a rev: {text:?}"))
                .hint("pass the size or the rev that the answer to the write before names"));
        }
        Ok(Self { given: given.to_owned(), size, rev })
    }

    /// Whether a missing file is what it continues: there are no bytes before the first part.
    fn is_start(&self) -> bool {
        self.size == Some(0)
    }

    fn is_of(&self, now: &Snapshot) -> bool {
        self.size == Some(now.bytes.len() as u64) || self.rev_of(now).is_some()
    }

    /// The rev, if it is that of the file: then the caller knows what is there.
    fn rev_of(&self, now: &Snapshot) -> Option<RevisionPrefix> {
        self.rev.filter(|rev| rev.fits(now.revision))
    }

    /// The part of the file that was appended to this state, if that is `content` and nothing else.
    fn appended_already(
        &self,
        path: &WorkspacePath,
        now: &Snapshot,
        content: &str,
        encoding: Option<EncodingLabel>,
    ) -> Option<Appended> {
        // At its whole length nothing was appended.
        let by_size = self.size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size < now.bytes.len());
        let by_rev = self.rev.into_iter().flat_map(|rev| lengths_at(rev, &now.bytes, content, encoding));
        by_size.into_iter().chain(by_rev).find_map(|length| {
            let before = &now.bytes[..length];
            let made = appended(path, before.to_vec(), Revision::of(before), content, encoding).ok()?;
            made.appended.filter(|_| made.bytes == now.bytes)
        })
    }

    fn stale(&self, cx: &CallContext, path: &WorkspacePath, now: &Snapshot) -> ToolError {
        let (size, rev) = (now.bytes.len(), now.revision.short());
        let by = read_before_write::by(cx, &now.path, (None, now.revision), "; last changed");
        let sentence = format!(
            "{path} has {} and is at rev {rev} now, so `at` {} is not its end{by}",
            count(size, "byte"),
            self.given
        );
        ToolError::new(Kind::Stale, sentence).hint(format!(
            "nothing was appended; read the end of the file with offset=-20, then append what is missing with at={size}"
        ))
    }

    fn absent(&self, path: &WorkspacePath) -> ToolError {
        ToolError::new(Kind::Stale, format!("{path} does not exist, so `at` {} is not its end", self.given))
            .hint("nothing was written; write the first part with at=0, or without at")
    }
}

/// Where `content` would begin as the end of `bytes`, in any of the forms that an append gives it, and the bytes before
/// it are at `rev`.
fn lengths_at(rev: RevisionPrefix, bytes: &[u8], content: &str, encoding: Option<EncodingLabel>) -> Vec<usize> {
    let of_file = Document::decode(bytes.to_vec(), None).ok().map(|document| document.encoding());
    let encodings = [Some(encoding_rs::UTF_8), of_file, encoding.map(|label| label.encoding)];
    let mut lengths: Vec<usize> = Vec::new();
    for encoding in encodings.into_iter().flatten() {
        for ending in [LineEnding::None, LineEnding::CrLf] {
            let tail = text_file::encode(content, encoding, false, ending).ok();
            let length = tail.filter(|tail| bytes.ends_with(tail)).map(|tail| bytes.len() - tail.len());
            // Encodings often agree, and each length costs the hash of a beginning.
            lengths.extend(length.filter(|length| !lengths.contains(length)));
        }
    }
    lengths.retain(|length| rev.fits(Revision::of(&bytes[..*length])));
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_revs_are_read() {
        let at = |text: &str| AppendAt::parse(text).unwrap();
        assert_eq!((at("0").size, at("0").rev, at("0").is_start()), (Some(0), None, true));
        assert_eq!((at(" 1234 ").size, at("1234").rev), (Some(1234), None));
        assert!(at("123456").size == Some(123_456) && at("123456").rev.is_some());
        assert!(at("rev k".replace('k', "abc123").as_str()).rev.is_some() && at("rev abc123").size.is_none());
        assert_eq!(at("99999999999999999999999999").size, Some(u64::MAX));
        for text in ["", "-1", "+5", "12.5", "end", "abc", "٣", "5 bytes"] {
            assert!(AppendAt::parse(text).is_err(), "{text}");
        }
    }
}
