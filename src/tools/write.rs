//! `write`: create a file, replace it whole, or append to it.

use std::{fmt::Write as _, sync::Arc};

use encoding_rs::UTF_8;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    edit::{self, Diff},
    session::Cost,
    text::{self, Document, LineEnding},
    workspace::{AccessErrorKind, Approval, Base, Revision, Snapshot, WorkspacePath, WritablePath, WriteGuard},
};

use super::{
    Alias, Answer, CallContext, Change, Fingerprint, Group, Kind, Plan, Preview, Spec, Tool, ToolError,
    args::{FlagValue, PATH_ALIASES, joined},
    freshness,
    output::count,
    recorded,
};

/// Lines of the diff that are shown after a replacement.
const DIFF_LINES: usize = 60;

/// The tool.
#[derive(Debug)]
pub struct Write;

/// Arguments of `write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file to write; missing parent directories are made.
    path: String,
    /// The whole new text, or the text to append.
    content: String,
    /// overwrite replaces an existing file (which must have been read), append adds to its end,
    /// create fails if it exists. Default overwrite.
    mode: Option<Mode>,
    /// Revision that an existing file must have; stands in for having read it.
    expected_revision: Option<String>,
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
pub struct Output {
    /// The file, as paths are printed.
    path: String,
    /// Unified diff of a replacement, cut to 60 lines.
    diff: String,
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
}

impl Tool for Write {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "write",
        title: "Write a file",
        description: "Create a text file, replace a whole file, or append to it. The write is atomic. To change part \
            of a file use edit.",
        group: Group::Core,
        aliases: &joined::<10>(&[
            &PATH_ALIASES,
            &[
                Alias::name("contents", "content"),
                Alias::name("text", "content"),
                Alias::name("file_text", "content"),
                Alias::Flag { given: "append", name: "mode", value: FlagValue::Text("append") },
            ],
        ]),
        read_only: false,
        destructive: true,
        idempotent: false,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let mode = args.mode.unwrap_or_default();
        let expected = freshness::expected(args.expected_revision.as_deref())?;
        let path = cx.workspace.resolve(&args.path)?;
        let target = cx.workspace.writable(&path)?;
        let limit = cx.settings.max_file_size;
        if args.content.len() as u64 > limit {
            return Err(ToolError::new(
                Kind::TooLarge,
                format!("`content` is {} bytes; at most {limit} bytes are written to one file", args.content.len()),
            )
            .hint("split it over several files"));
        }
        let plan = match cx.workspace.read(&path, limit) {
            Err(error) if error.kind == AccessErrorKind::NotFound => {
                if let Some(expected) = expected {
                    return Err(ToolError::new(
                        Kind::Stale,
                        format!("{path} does not exist, so it is not at expected_revision {expected}"),
                    )
                    .hint("leave expected_revision out to create it"));
                }
                let planned = Planned {
                    bytes: args.content.into_bytes(),
                    old: None,
                    encoding: UTF_8.name(),
                    note: String::new(),
                };
                Planning { path, target, base: Base::Absent, mode, planned }
            }
            Err(error) => return Err(error.into()),
            Ok(_) if mode == Mode::Create => {
                return Err(ToolError::invalid(format!(
                    "{path} already exists, and mode=create never replaces a file"
                ))
                .hint("choose another name, or read it and use mode=overwrite or edit"));
            }
            Ok(now) => {
                let now = freshness::settled(cx, &path, &target, now, expected)?;
                let base = Base::Revision(now.revision);
                let planned = match mode {
                    Mode::Append => appended(&path, now, &args.content)?,
                    Mode::Overwrite | Mode::Create => replaced(now, args.content),
                };
                if planned.bytes.len() as u64 > limit {
                    return Err(ToolError::new(
                        Kind::TooLarge,
                        format!("{path} would grow to {} bytes; at most {limit} are allowed", planned.bytes.len()),
                    )
                    .hint("write the rest to another file"));
                }
                Planning { path, target, base, mode, planned }
            }
        };
        Ok(Plan::Change(Box::new(plan)))
    }
}

/// The bytes that would be written.
struct Planned {
    bytes: Vec<u8>,
    /// What is replaced, as text where it is text.
    old: Option<String>,
    encoding: &'static str,
    note: String,
}

struct Planning {
    path: WorkspacePath,
    target: WritablePath,
    base: Base,
    mode: Mode,
    planned: Planned,
}

/// The new text in the old file's encoding, with its BOM and its uniform CRLF.
fn replaced(now: Snapshot, content: String) -> Planned {
    let Ok(old) = Document::decode(now.bytes, None) else {
        return Planned { bytes: content.into_bytes(), old: None, encoding: UTF_8.name(), note: String::new() };
    };
    let line_ending = match old.line_ending() {
        LineEnding::CrLf if !content.contains('\r') => LineEnding::CrLf,
        _ => LineEnding::None,
    };
    // A detected encoding is only kept where the old file was certainly in it.
    let keep = old.has_bom() || (!old.had_errors() && old.encoding() == UTF_8) || legacy(&old);
    let (encoding, bom) = if keep { (old.encoding(), old.has_bom()) } else { (UTF_8, false) };
    let content = content.strip_prefix('\u{feff}').map_or(content.clone(), str::to_owned);
    let (bytes, encoding, mut note) = match text::encode(&content, encoding, bom, line_ending) {
        Ok(bytes) => (bytes, encoding, String::new()),
        Err(_) => (
            text::encode(&content, UTF_8, false, line_ending).unwrap_or_else(|_| content.clone().into_bytes()),
            UTF_8,
            format!("; now in UTF-8, as {} cannot hold the new text", encoding.name()),
        ),
    };
    if encoding != UTF_8 {
        note = format!("; encoding {} kept", encoding.name());
    } else if line_ending == LineEnding::CrLf {
        note.push_str("; CRLF line endings kept");
    }
    Planned { bytes, old: Some(old.text().to_owned()), encoding: encoding.name(), note }
}

/// Whether the bytes are exactly what the detected legacy encoding would write.
fn legacy(old: &Document) -> bool {
    !old.had_errors()
        && text::encode(old.text(), old.encoding(), old.has_bom(), LineEnding::None)
            .is_ok_and(|bytes| bytes == old.bytes())
}

/// The old bytes, untouched, and the new text behind them in the same encoding.
fn appended(path: &WorkspacePath, now: Snapshot, content: &str) -> Result<Planned, ToolError> {
    let size = now.bytes.len() as u64;
    let old = Document::decode(now.bytes, None).map_err(|error| super::read::binary(path, size, &error))?;
    let line_ending = match old.line_ending() {
        LineEnding::CrLf if !content.contains('\r') => LineEnding::CrLf,
        _ => LineEnding::None,
    };
    // Plain ASCII says nothing of the encoding: what is appended is UTF-8 then, as everything new.
    let encoding = if old.text().is_ascii() && !old.has_bom() { UTF_8 } else { old.encoding() };
    let tail = text::encode(content, encoding, false, line_ending).map_err(|_| {
        ToolError::invalid(format!(
            "`content` has characters that {path}, which is in {}, cannot hold",
            encoding.name()
        ))
        .hint("write them another way, or overwrite the whole file")
    })?;
    let joined = !old.text().is_empty() && !old.text().ends_with(['\n', '\r']) && !content.is_empty();
    let note = if joined { "; the file did not end with a newline, so its last line was continued" } else { "" };
    let text = old.text().to_owned();
    let mut bytes = old.into_bytes();
    bytes.extend_from_slice(&tail);
    Ok(Planned { bytes, old: Some(text), encoding: encoding.name(), note: note.to_owned() })
}

impl Planning {
    /// The diff of what is really written, with at most `max_lines` lines of hunks.
    fn diff(&self, max_lines: Option<usize>) -> Option<Diff> {
        let old = self.planned.old.as_ref()?;
        let new = Document::decode(
            self.planned.bytes.clone(),
            encoding_rs::Encoding::for_label(self.planned.encoding.as_bytes()),
        )
        .ok()?;
        Some(edit::unified_diff(&freshness::diff_name(&self.path), old, new.text(), max_lines))
    }

    fn verb(&self) -> &'static str {
        match (self.base, self.mode) {
            (Base::Absent, _) => "Created",
            (_, Mode::Append) => "Appended to",
            _ => "Replaced",
        }
    }
}

impl Change for Planning {
    fn preview(&self) -> Preview {
        let verb = match (self.base, self.mode) {
            (Base::Absent, _) => "Create",
            (_, Mode::Append) => "Append to",
            _ => "Replace",
        };
        Preview {
            summary: format!(
                "{verb} {}: {} when done{}",
                self.path,
                count(self.planned.bytes.len(), "byte"),
                self.planned.note
            ),
            diff: self.diff(None).map_or_else(
                || {
                    let old = if self.base == Base::Absent { "/dev/null" } else { "(not text)" };
                    let new = String::from_utf8_lossy(&self.planned.bytes);
                    let mut diff = format!("--- {old}\n+++ b/{}\n", freshness::diff_name(&self.path));
                    for line in new.split_inclusive('\n') {
                        diff.push('+');
                        diff.push_str(line);
                    }
                    diff
                },
                |diff| diff.text,
            ),
            destructive: self.base != Base::Absent && self.mode != Mode::Append,
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint {
            path: self.target.path().to_string(),
            base: self.base,
            content: Some(Revision::of(&self.planned.bytes)),
        }
    }

    fn cost(&self) -> Cost {
        let bytes = self.planned.bytes.len() as u64;
        let old = self.planned.old.as_ref().map_or(0, String::len) as u64;
        Cost {
            root: Some(Arc::clone(self.target.path().root())),
            files: u64::from(self.base == Base::Absent),
            bytes,
            growth: bytes.saturating_sub(old),
        }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let diff = self.diff(Some(DIFF_LINES));
        let verb = self.verb();
        let guard = WriteGuard::acquire(&cx.workspace, self.target, self.base).map_err(|error| match error.kind {
            AccessErrorKind::Stale | AccessErrorKind::Exists if approval.is_for_this_plan_only() => {
                ToolError::changed_while_asked(&self.path)
            }
            _ => error.into(),
        })?;
        let (committed, kept) =
            recorded::commit(cx, guard, "write", recorded::Undoable::Yes, &self.planned.bytes, approval)?;
        let lines =
            Document::decode(self.planned.bytes.clone(), None).map_or(0, |document| document.text().lines().count());
        let facts = Facts {
            created: committed.created,
            bytes: self.planned.bytes.len(),
            lines,
            revision: committed.revision.to_string(),
            encoding: self.planned.encoding.to_owned(),
            added: diff.as_ref().map_or(lines, |diff| diff.added),
            removed: diff.as_ref().map_or(0, |diff| diff.removed),
            diff_cut_lines: diff.as_ref().map_or(0, |diff| diff.cut_lines),
        };
        let mut text = format!(
            "{verb} {}: {}, {}{}{}",
            self.path,
            count(facts.bytes, "byte"),
            count(lines, "line"),
            self.planned.note,
            kept.text()
        );
        let diff = diff.map(|diff| diff.text).unwrap_or_default();
        if !diff.is_empty() {
            text.push_str("\n\n");
            text.push_str(diff.trim_end_matches('\n'));
            if facts.diff_cut_lines > 0 {
                let _ = write!(text, "\n… {} more lines of diff", facts.diff_cut_lines);
            }
        } else if !committed.created {
            text.push_str(" (no change)");
        }
        let data = Output { path: self.path.to_string(), diff, facts: facts.clone() };
        Ok(Answer::text(text, &facts).data(cx, &data))
    }
}
