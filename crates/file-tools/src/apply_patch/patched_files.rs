//! The files of a patch as the sections so far leave them.

use std::collections::HashMap;

use text_edit::Strategies;
use text_file::Document;

use change_set::{EntryState, Node, Purpose, WritablePath};
use confined_fs::{Revision, Snapshot, WorkspacePath};

use crate::session::Writer;

use super::super::{
    CallContext, Kind, ToolError,
    read_before_write::{self, StartFrom},
};

#[derive(Default)]
pub(super) struct PatchedFiles {
    files: Vec<PatchedFile>,
    by_path: HashMap<WorkspacePath, usize>,
    /// Bytes of all of them: they are in memory together.
    bytes: u64,
}

/// A path, with what is there on the disk and what the patch makes of it.
pub(super) struct PatchedFile {
    pub(super) asked: WorkspacePath,
    pub(super) real: WorkspacePath,
    /// The entry on the disk; `None` for none.
    pub(super) disk: Option<OnDisk>,
    /// The file as it will be; `None` for none.
    pub(super) now: Option<NewFile>,
    is_checked: bool,
}

/// The entry at a path before the patch: a file or a link.
pub(super) struct OnDisk {
    pub(super) state: EntryState,
    /// The content of a file; nothing for a link.
    pub(super) bytes: Vec<u8>,
}

impl PatchedFile {
    pub(super) fn file_on_disk(&self) -> Option<(Revision, &Vec<u8>)> {
        match self.disk.as_ref()? {
            OnDisk { state: EntryState::File(file), bytes } => Some((file.revision, bytes)),
            OnDisk { .. } => None,
        }
    }

    fn new(path: &WorkspacePath, target: &WritablePath, disk: Option<OnDisk>, now: Option<NewFile>) -> Self {
        let (asked, real) = (path.clone(), target.path().clone());
        Self { asked, real, disk, now, is_checked: true }
    }
}

#[derive(Clone)]
pub(super) struct NewFile {
    pub(super) body: FileBody,
    pub(super) origin: Option<WorkspacePath>,
    pub(super) is_copy: bool,
    pub(super) is_changed: bool,
    pub(super) executable: bool,
    pub(super) hunks: Vec<HunkReport>,
}

#[derive(Clone)]
pub(super) enum FileBody {
    Bytes(Vec<u8>),
    Text(Document),
}

/// A hunk that was not found just where and as the patch has it.
#[derive(Clone, Debug)]
pub(super) struct HunkReport {
    /// Counted from 1, in its section.
    pub(super) number: usize,
    pub(super) strategy: Strategies,
    /// Where it is, from 1, and where the patch has it.
    pub(super) elsewhere: Option<(usize, usize)>,
    pub(super) note: Option<String>,
}

impl FileBody {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(document) => document.bytes(),
        }
    }
}

impl NewFile {
    pub(super) fn added(bytes: Vec<u8>, executable: bool) -> Self {
        Self {
            body: FileBody::Bytes(bytes),
            origin: None,
            is_copy: false,
            is_changed: true,
            executable,
            hunks: Vec::new(),
        }
    }
}

impl PatchedFiles {
    pub(super) fn into_files(self) -> Vec<PatchedFile> {
        self.files
    }

    pub(super) fn holds(&self, path: &WorkspacePath) -> bool {
        self.known(path).is_some_and(|file| file.now.is_some())
    }

    pub(super) fn has_removed(&self, path: &WorkspacePath) -> bool {
        self.known(path).is_some_and(|file| file.now.is_none())
    }

    fn known(&self, path: &WorkspacePath) -> Option<&PatchedFile> {
        let by_name = || self.files.iter().find(|file| file.asked == *path);
        self.by_path.get(path).map(|index| &self.files[*index]).or_else(by_name)
    }

    /// The file of a section before, if one has named it.
    ///
    /// # Errors
    /// Where that section leaves nothing there.
    fn named(&self, target: &WritablePath, path: &WorkspacePath) -> Result<Option<usize>, ToolError> {
        match self.by_path.get(target.path()) {
            Some(index) if self.files[*index].now.is_none() => Err(gone(path)),
            index => Ok(index.copied()),
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut PatchedFile {
        &mut self.files[index]
    }

    fn push(&mut self, file: PatchedFile) -> usize {
        self.by_path.insert(file.real.clone(), self.files.len());
        self.files.push(file);
        self.files.len() - 1
    }

    /// Counts bytes that are in memory from now on.
    ///
    /// # Errors
    /// Where they are more than may be changed at once.
    pub(super) fn take(&mut self, cx: &CallContext, bytes: usize) -> Result<(), ToolError> {
        self.bytes += bytes as u64;
        // A file and what it becomes, each as large as one file may be.
        let limit = cx.settings.max_file_size.saturating_mul(2);
        if self.bytes <= limit {
            return Ok(());
        }
        let message = format!("the files of this patch have over {limit} bytes together, before and after it");
        Err(ToolError::new(Kind::TooLarge, message).hint("send the patch in several calls"))
    }

    /// The file at `path`, whose content is to be changed.
    ///
    /// # Errors
    /// Where there is none, it may not be written, or is not what the model has seen.
    pub(super) fn open_changed(&mut self, cx: &CallContext, path: &WorkspacePath) -> Result<usize, ToolError> {
        let target = cx.workspace.writable(path)?;
        if let Some(index) = self.named(&target, path)? {
            // A file that came here from elsewhere is checked where it was.
            if let Some(origin) = self.files[index].now.as_ref().and_then(|now| now.origin.clone()) {
                self.check_origin(cx, &origin)?;
            }
            return Ok(index);
        }
        let snapshot = cx.read_to_change(path).map_err(|error| ToolError::access(&cx.workspace, error))?;
        let snapshot = if snapshot.bytes.is_empty() {
            snapshot
        } else {
            read_before_write::check(cx, path, &target, snapshot, None, StartFrom::AnySeen)?
        };
        self.take(cx, snapshot.bytes.len())?;
        Ok(self.push(on_disk(path, &target, snapshot)))
    }

    /// Checks that nobody has changed unseen what the patch changes; of one that could not be read to its end, whether
    /// somebody has changed a file since it was seen.
    ///
    /// # Errors
    /// `stale`, with the change.
    pub(super) fn check_lines(&self, cx: &CallContext, is_whole: bool) -> Result<(), ToolError> {
        let text = |bytes: &[u8]| Document::decode(bytes.to_vec(), None).ok();
        for file in &self.files {
            let (Some((revision, bytes)), Some(now)) = (file.file_on_disk(), &file.now) else { continue };
            let (asked, real) = (&file.asked, &file.real);
            if !is_whole {
                let is_other =
                    |_: &Document| cx.session.ledger.seen(real).is_some_and(|seen| seen.revision != revision);
                let target = cx.workspace.writable(asked)?;
                read_before_write::not_as_shown(cx, asked, &target, is_other).map_or(Ok(()), Err)?;
            } else if let Some(old) = text(bytes).filter(|_| now.is_changed) {
                // What is no text by then is another one everywhere.
                let new = text(now.body.bytes());
                let new = new.as_ref().map_or("", Document::text);
                cx.session.ledger.record_write(real, revision, Some(bytes), Writer::AnotherProgram);
                let target = cx.workspace.writable(asked)?;
                read_before_write::check_lines(cx, (asked, &target), (&old, revision), (new, false), false)?;
            }
        }
        Ok(())
    }

    fn check_origin(&mut self, cx: &CallContext, origin: &WorkspacePath) -> Result<(), ToolError> {
        let Some(index) = self.by_path.get(origin).copied() else { return Ok(()) };
        let file = &mut self.files[index];
        if !file.is_checked {
            let target = cx.workspace.writable(&file.asked)?;
            let now = cx.read_to_change(&file.asked)?;
            if !now.bytes.is_empty() {
                read_before_write::check(cx, &file.asked, &target, now, None, StartFrom::AnySeen)?;
            }
            file.is_checked = true;
        }
        Ok(())
    }

    /// The file at `path`, text or not, which is to be renamed, copied or, with `is_deleted`, removed: then a link is one,
    /// too.
    ///
    /// # Errors
    /// Where there is none, it may not be moved or removed, or is deleted and not what the model has seen.
    pub(super) fn open_entry(
        &mut self,
        cx: &CallContext,
        path: &WorkspacePath,
        is_deleted: bool,
    ) -> Result<usize, ToolError> {
        let target = cx.workspace.writable_entry(path)?;
        if let Some(index) = self.named(&target, path)? {
            return Ok(index);
        }
        let tree =
            cx.workspace.tree(&target, Purpose::Remove).map_err(|error| ToolError::access(&cx.workspace, error))?;
        match tree.node() {
            Node::Link(says) if is_deleted => {
                let disk = OnDisk { state: EntryState::Link(says.clone()), bytes: Vec::new() };
                let now = NewFile { is_changed: false, ..NewFile::added(Vec::new(), false) };
                Ok(self.push(PatchedFile::new(path, &target, Some(disk), Some(now))))
            }
            Node::File(_) => {
                if is_deleted {
                    read_before_write::check_deletable(cx, path, &target)?;
                }
                let now = cx.workspace.read(path, cx.settings.max_file_size)?;
                self.take(cx, now.bytes.len())?;
                Ok(self.push(PatchedFile { is_checked: false, ..on_disk(path, &target, now) }))
            }
            _ => Err(no_file(path, tree.is_directory())),
        }
    }

    /// The place for a new file at `path`.
    ///
    /// # Errors
    /// Where something is there, or nothing may be.
    pub(super) fn make(&mut self, cx: &CallContext, path: &WorkspacePath) -> Result<usize, ToolError> {
        let target = cx.workspace.writable(path)?;
        if let Some(index) = self.by_path.get(target.path()).copied() {
            let file = &self.files[index];
            if file.now.is_some() {
                return Err(exists(path));
            }
            if file.file_on_disk().is_some() && !self.is_origin(&file.real) {
                // Deleted and made again: what was there is replaced unseen.
                read_before_write::check_replaceable(cx, path, &target)?;
            }
            return Ok(index);
        }
        let entry = cx.workspace.writable_entry(path)?;
        if cx.workspace.entry_stat(&entry)?.is_some() {
            return Err(exists(path));
        }
        Ok(self.push(PatchedFile::new(path, &target, None, None)))
    }

    /// Whether the content that is on the disk at `real` is now at another path.
    fn is_origin(&self, real: &WorkspacePath) -> bool {
        let comes_from = |file: &PatchedFile| file.now.as_ref().is_some_and(|now| now.origin.as_ref() == Some(real));
        self.files.iter().any(comes_from)
    }
}

fn on_disk(path: &WorkspacePath, target: &WritablePath, now: Snapshot) -> PatchedFile {
    let new = NewFile::added(now.bytes.clone(), false);
    let new = NewFile { origin: Some(target.path().clone()), is_changed: false, ..new };
    // A removal compares no mode.
    let disk = OnDisk { state: EntryState::from(now.revision), bytes: now.bytes };
    PatchedFile::new(path, target, Some(disk), Some(new))
}

fn gone(path: &WorkspacePath) -> ToolError {
    let sentence = format!("{path} is no longer there: an earlier section of the patch deletes or renames it");
    ToolError::new(Kind::NotFound, sentence).hint("change the file in a section before that one, or name its new path")
}

fn no_file(path: &WorkspacePath, is_directory: bool) -> ToolError {
    let what = if is_directory { "a directory" } else { "no regular file" };
    ToolError::invalid(format!("{path} is {what}, and a patch changes files only"))
        .hint("name each file below it, or leave it as it is")
}

fn exists(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("{path} already exists, and a patch never replaces a file that it does not delete"))
        .hint("change it in an update section; to replace it whole, delete it in a section before this one")
}
