//! One section of a patch, applied to the files as those before it leave them.

use std::{borrow::Cow, ops::Range};

use change_set::EntryState;
use confined_fs::WorkspacePath;
use text_edit::{
    ContextNote, LocatedHunk, Replacement,
    patch::{FileAction, FilePatch, HunkLine, PatchHunk, PatchPath},
};
use text_file::Document;

use super::{
    super::{CallContext, ExistingKind, Kind, ToolError, read_before_write},
    patched_files::{FileBody, HunkReport, NewFile, OnDisk, PatchedFiles},
    problems::{self, Problems},
};

/// Applies `section`; what is wrong with it goes to `problems`.
///
/// # Errors
/// Where the call has to end.
pub(super) fn apply(
    cx: &CallContext,
    files: &mut PatchedFiles,
    section: &FilePatch<'_>,
    problems: &mut Problems,
) -> Result<(), ToolError> {
    let mut applier = SectionApplier { cx, files, problems };
    let outcome = match &section.action {
        FileAction::Add { path, lines, final_newline, executable } => {
            let end = if *final_newline && !lines.is_empty() { "\n" } else { "" };
            applier.add(path, lines.join("\n") + end, *executable)
        }
        FileAction::Delete { path, hunks } => applier.delete(path, hunks),
        FileAction::Update { path, to, hunks } => applier.update(path, to.as_ref(), hunks),
        FileAction::Copy { path, to, hunks } => applier.copy(path, to, hunks),
    };
    outcome.or_else(|error| problems.add(error))
}

struct SectionApplier<'s> {
    cx: &'s CallContext,
    files: &'s mut PatchedFiles,
    problems: &'s mut Problems,
}

impl SectionApplier<'_> {
    fn add(&mut self, path: &PatchPath, text: String, executable: bool) -> Result<(), ToolError> {
        let path = new_path(self.cx, path)?;
        if text.contains(LOST_BYTES_MARK) {
            return Err(problems::lost_characters(&path.to_string()));
        }
        self.files.take(self.cx, text.len())?;
        self.check_size(&path, text.len())?;
        let index = self.files.make(self.cx, &path)?;
        let document = Document::created(text).map_err(|error| problems::undeclarable(&path, &error))?;
        self.files.get_mut(index).now = Some(NewFile::added(document.into_bytes(), executable));
        Ok(())
    }

    fn delete(&mut self, path: &PatchPath, hunks: &[PatchHunk<'_>]) -> Result<(), ToolError> {
        let path = existing_path(self.cx, self.files, path)?;
        let index = self.files.open_entry(self.cx, &path, true)?;
        // Also of a file that an earlier section has made: only a link has no lines.
        let is_link = matches!(&self.files.get_mut(index).disk, Some(OnDisk { state: EntryState::Link(_), .. }));
        if !hunks.is_empty() && !is_link {
            let before = self.problems.count();
            let Some(made) = self.patched(index, &path, hunks)? else { return Ok(()) };
            if !made.document.text().is_empty() && self.problems.count() == before {
                let sentence = format!("the patch deletes {path}, but the file has lines that it does not remove");
                return Err(ToolError::new(Kind::NoMatch, sentence)
                    .hint("read the file; to delete it whatever it holds, send `*** Delete File:` without lines"));
            }
        }
        self.files.get_mut(index).now = None;
        Ok(())
    }

    fn update(&mut self, path: &PatchPath, to: Option<&PatchPath>, hunks: &[PatchHunk<'_>]) -> Result<(), ToolError> {
        let path = match existing_path(self.cx, self.files, path) {
            Err(error) if error.kind() == Kind::NotFound && to.is_none() && creates(hunks) => {
                return self.create(&new_path(self.cx, path)?, hunks);
            }
            found => found?,
        };
        if to.is_none() && creates(hunks) && !self.files.holds(&path) && self.cx.workspace.is_missing(&path) {
            return self.create(&path, hunks);
        }
        let index = match to {
            // Before the file is read as one that changes: a link or a directory is not moved by a patch.
            Some(_) => {
                let index = self.files.open_entry(self.cx, &path, false)?;
                if hunks.is_empty() { index } else { self.files.open_changed(self.cx, &path)? }
            }
            None => self.files.open_changed(self.cx, &path)?,
        };
        let made = if hunks.is_empty() { None } else { self.patched(index, &path, hunks)? };
        if made.is_none() && !hunks.is_empty() {
            return Ok(());
        }
        if let Some(made) = made {
            self.put(index, made)?;
        }
        let Some(to) = to else { return Ok(()) };
        let to = new_path(self.cx, to)?;
        if to == path {
            return Ok(());
        }
        let destination = self.files.make(self.cx, &to)?;
        let moved = self.files.get_mut(index).now.take();
        self.files.get_mut(destination).now = moved;
        Ok(())
    }

    /// A file that is changed, and missing: models send its first content as hunks that add lines to nothing.
    fn create(&mut self, path: &WorkspacePath, hunks: &[PatchHunk<'_>]) -> Result<(), ToolError> {
        let lines: Vec<&str> = hunks.iter().flat_map(PatchHunk::new_lines).collect();
        let plain = PatchPath { choices: vec![path.to_string()] };
        self.add(&plain, lines.join("\n") + "\n", false)
    }

    fn copy(&mut self, path: &PatchPath, to: &PatchPath, hunks: &[PatchHunk<'_>]) -> Result<(), ToolError> {
        let path = existing_path(self.cx, self.files, path)?;
        let index = self.files.open_entry(self.cx, &path, false)?;
        let to = new_path(self.cx, to)?;
        let destination = self.files.make(self.cx, &to)?;
        let copy = self.files.get_mut(index).now.clone();
        let size = copy.as_ref().map_or(0, |copy| copy.body.bytes().len());
        self.files.take(self.cx, size)?;
        let copy = copy.map(|copy| NewFile { is_copy: true, is_changed: true, ..copy });
        self.files.get_mut(destination).now = copy;
        if !hunks.is_empty()
            && let Some(made) = self.patched(destination, &to, hunks)?
        {
            self.put(destination, made)?;
        }
        Ok(())
    }

    /// The file with its hunks made; `None` where some have no place, which is among the problems then.
    fn patched(
        &mut self,
        index: usize,
        path: &WorkspacePath,
        hunks: &[PatchHunk<'_>],
    ) -> Result<Option<PatchedDocument>, ToolError> {
        let cx = self.cx;
        let file = self.files.get_mut(index);
        let real = file.real.clone();
        let Some(now) = &file.now else { return Ok(None) };
        let (document, hunks) = with_mark(document(path, &now.body)?, hunks);
        let text = document.text();
        let located = text_edit::locate_hunks(text, &hunks, &mut || cx.check().is_ok());
        cx.check()?;
        let (mut replacements, mut reports, mut missed): (Vec<Replacement>, _, _) = (Vec::new(), Vec::new(), false);
        for (index, (located, hunk)) in located.into_iter().zip(hunks.iter()).enumerate() {
            let number = index + 1;
            match located {
                Ok(found)
                    if hunk.assumed > 0 && !(found.strategy.is_exact() && found.lines.len() == hunk.old().len()) =>
                {
                    missed = true;
                    self.problems.add(problems::cut(path, (number, hunk)))?;
                }
                Ok(found) => {
                    if !text.contains(LOST_BYTES_MARK)
                        && found.replacements.iter().any(|one| one.text.contains(LOST_BYTES_MARK))
                    {
                        missed = true;
                        self.problems.add(problems::lost_characters(&problems::named(path, (number, hunk))))?;
                    }
                    reports.extend(report(number, hunk, &found));
                    replacements.extend(found.replacements);
                }
                Err(miss) => {
                    missed = true;
                    cx.check()?;
                    self.problems
                        .add_explained(|| problems::explain(cx, (path, &real), text, (number, hunk), &miss))?;
                }
            }
        }
        if missed {
            return Ok(None);
        }
        // A splice takes them in the order of their places.
        replacements.sort_by_key(|one| (one.span.start, one.span.end));
        let spans: Vec<(Range<usize>, &str)> =
            replacements.iter().map(|one| (one.span.clone(), one.text.as_str())).collect();
        let grown: usize = spans.iter().map(|(span, new)| new.len().saturating_sub(span.len())).sum();
        // In any encoding, text takes at most twice the room of its bytes.
        self.check_size(path, grown / 2)?;
        let changed = document.splice(&spans).map_err(|error| problems::unwritable(path, &hunks, &error))?;
        let changed = if changed.text().starts_with(BYTE_ORDER_MARK) { mark_apart(changed) } else { changed };
        self.check_size(path, changed.bytes().len())?;
        self.files.take(cx, changed.bytes().len())?;
        Ok(Some(PatchedDocument { is_changed: !spans.is_empty(), document: changed, reports }))
    }

    fn put(&mut self, index: usize, made: PatchedDocument) -> Result<(), ToolError> {
        let file = self.files.get_mut(index);
        if let Some(now) = &mut file.now {
            now.body = FileBody::Text(made.document);
            now.is_changed |= made.is_changed;
            now.hunks.extend(made.reports);
        }
        self.cx.check()
    }

    fn check_size(&self, path: &WorkspacePath, bytes: usize) -> Result<(), ToolError> {
        let limit = self.cx.settings.max_file_size;
        if bytes as u64 <= limit { Ok(()) } else { Err(ToolError::would_grow(path, bytes as u64, limit)) }
    }
}

struct PatchedDocument {
    document: Document,
    is_changed: bool,
    reports: Vec<HunkReport>,
}

/// Whether hunks of a file that is missing can be its content: they only add lines, from its beginning on.
fn creates(hunks: &[PatchHunk<'_>]) -> bool {
    let only_adds = |hunk: &PatchHunk<'_>| hunk.is_insertion && hunk.lines.iter().all(|line| line.old().is_none());
    hunks.iter().all(only_adds) && hunks.first().is_some_and(|hunk| hunk.at == Some(0))
}

fn document(path: &WorkspacePath, body: &FileBody) -> Result<Document, ToolError> {
    match body {
        FileBody::Text(document) => Ok(document.clone()),
        FileBody::Bytes(bytes) => Document::decode(bytes.clone(), None).map_err(|error| {
            let revision = confined_fs::Revision::of(bytes);
            read_before_write::not_text(path, bytes.len() as u64, revision, &error)
        }),
    }
}

/// The report on a hunk, where it was found otherwise than the patch has it.
fn report(number: usize, hunk: &PatchHunk<'_>, found: &LocatedHunk) -> Option<HunkReport> {
    let at = found.lines.start + 1;
    let elsewhere = hunk.at.filter(|number| *number != at && !hunk.is_insertion).map(|number| (at, number));
    let note = match &found.note {
        Some(ContextNote::Missing(context)) => Some(format!("`@@ {context}` is not a line of the file")),
        Some(ContextNote::NotBelow(context)) => Some(format!("it is not below `@@ {context}`")),
        None => None,
    };
    let is_plain = found.strategy.is_exact() && elsewhere.is_none() && note.is_none();
    (!is_plain).then_some(HunkReport { number, strategy: found.strategy, elsewhere, note })
}

/// The mark of bytes that could not be read.
const LOST_BYTES_MARK: char = char::REPLACEMENT_CHARACTER;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The document and its hunks, where lines of these begin with a byte-order mark. Where they have it as the file has it,
/// it is a part of the text, and stays or goes with its line. Where only one of both has it, it is left as it is.
fn with_mark<'h, 'p>(document: Document, hunks: &'h [PatchHunk<'p>]) -> (Document, Cow<'h, [PatchHunk<'p>]>) {
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let is_marked = |line: &HunkLine<'_>| line.text().starts_with(BYTE_ORDER_MARK);
    let is_before = lines().any(|line| is_marked(line) && line.old().is_some());
    match document.has_bom() {
        true if is_before => return (document.with_mark_as_text(), Cow::Borrowed(hunks)),
        false if !is_before || document.text().contains(BYTE_ORDER_MARK) => return (document, Cow::Borrowed(hunks)),
        _ if !lines().any(is_marked) => return (document, Cow::Borrowed(hunks)),
        _ => {}
    }
    let mut hunks = hunks.to_vec();
    for line in hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        let (HunkLine::Kept(text) | HunkLine::Removed(text) | HunkLine::Added(text)) = line;
        *text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    }
    (document, Cow::Owned(hunks))
}

fn mark_apart(document: Document) -> Document {
    Document::decode(document.bytes().to_vec(), Some(document.encoding())).unwrap_or(document)
}

// Which file a path of a patch means.

/// The path of something that is there, on the disk or by an earlier section: the first choice that is, else as every
/// tool resolves the first one.
fn existing_path(cx: &CallContext, files: &PatchedFiles, path: &PatchPath) -> Result<WorkspacePath, ToolError> {
    let known = |text: &String| cx.workspace.resolve(text).ok().filter(|path| is_there(cx, files, path));
    match path.choices.iter().find_map(known) {
        Some(found) => Ok(found),
        None if files.has_removed(&cx.workspace.resolve(path.text())?) => Ok(cx.workspace.resolve(path.text())?),
        None => cx.existing(path.text(), ExistingKind::File),
    }
}

/// The path of something that is to be made: the first choice whose directory is there, else the first one.
fn new_path(cx: &CallContext, path: &PatchPath) -> Result<WorkspacePath, ToolError> {
    if path.choices.len() > 1 {
        let in_directory = |text: &&String| {
            let parent = cx.workspace.resolve(text).ok().and_then(|path| path.parent());
            parent.is_some_and(|parent| !cx.workspace.is_missing(&parent))
        };
        if let Some(found) = path.choices.iter().find(in_directory) {
            return Ok(cx.workspace.resolve(found)?);
        }
    }
    cx.resolve_new_file(path.text(), |_| false)
}

fn is_there(cx: &CallContext, files: &PatchedFiles, path: &WorkspacePath) -> bool {
    files.holds(path) || !files.has_removed(path) && !cx.workspace.is_missing(path)
}
