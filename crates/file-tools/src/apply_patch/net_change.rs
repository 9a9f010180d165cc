//! The net change of each path after all sections of a patch: the steps that are committed, and what is shown of them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use change_set::{Base, EntryState, Rights};
use confined_fs::{Revision, WorkspacePath};
use text_edit::DiffExtent;
use text_file::Document;

use super::{
    super::{CallContext, ToolError, commit::ChangeStep, shown_diff},
    patched_files::{HunkReport, NewFile, OnDisk, PatchedFile, PatchedFiles},
    problems::Problems,
};

/// The permission bits of a new program.
const PROGRAM_MODE: u32 = 0o755;

/// All changes of a patch, none of which changes the same path as another.
pub(super) struct NetChanges {
    pub(super) steps: Vec<ChangeStep>,
    pub(super) files: Vec<NetChange>,
    pub(super) made: u64,
    pub(super) notes: Vec<String>,
}

/// The net change of one path, or of a file that gets another one.
pub(super) struct NetChange {
    pub(super) kind: NetKind,
    pub(super) path: WorkspacePath,
    pub(super) real: WorkspacePath,
    pub(super) from: Option<WorkspacePath>,
    pub(super) old: Option<Document>,
    pub(super) new: Option<Document>,
    pub(super) hunks: Vec<HunkReport>,
    /// The entry before the patch; `Absent` for a new file.
    pub(super) base: Base,
    pub(super) after: Option<Revision>,
    /// Bytes before and after.
    pub(super) sizes: (u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetKind {
    Added,
    Modified,
    Deleted,
    Renamed,
    Copied,
}

impl NetKind {
    /// The letter that git and codex have for it.
    pub(super) fn letter(self) -> char {
        format!("{self:?}").remove(0)
    }

    pub(super) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl NetChanges {
    /// Compares the files as they will be with those on the disk.
    ///
    /// # Errors
    /// Where one may not be written as it would be.
    pub(super) fn of(cx: &CallContext, files: PatchedFiles) -> Result<Self, ToolError> {
        let files = files.into_files();
        // The first other path that gets the content of a path on the disk, unchanged.
        let mut heirs: HashMap<&WorkspacePath, &WorkspacePath> = HashMap::new();
        for file in &files {
            if let Some(now) = file.now.as_ref().filter(|now| !now.is_copy)
                && let Some(origin) = now.origin.as_ref().filter(|origin| **origin != file.real)
            {
                heirs.entry(origin).or_insert(&file.real);
            }
        }
        let by_real: HashMap<&WorkspacePath, &PatchedFile> = files.iter().map(|file| (&file.real, file)).collect();
        let net = Net { cx, heirs: &heirs, by_real: &by_real };
        let (mut steps, mut changes, mut problems) = (Vec::new(), Vec::new(), Problems::default());
        for file in &files {
            match net.of(file) {
                Ok(Some((step, change))) => {
                    steps.push(step);
                    changes.extend(change);
                }
                Ok(None) => {}
                Err(error) => problems.add(error)?,
            }
        }
        problems.finish()?;
        // For the quota: a directory counts as a file, each one once.
        let made = made(cx, &changes);
        Ok(Self { steps, files: changes, made, notes: Vec::new() })
    }
}

impl NetChange {
    /// The letter and the paths, for an approval.
    pub(super) fn named(&self) -> String {
        match &self.from {
            Some(from) => format!("{} {from} -> {}", self.kind.letter(), self.path),
            None => format!("{} {}", self.kind.letter(), self.path),
        }
    }

    pub(super) fn diff(&self, extent: DiffExtent) -> text_edit::Diff {
        let text = |document: &Option<Document>| document.as_ref().map_or("", Document::text).to_owned();
        let is_gone = self.kind == NetKind::Deleted;
        let (old, new) = if is_gone { (String::new(), String::new()) } else { (text(&self.old), text(&self.new)) };
        text_edit::unified_diff(&shown_diff::diff_name(&self.path), &old, &new, extent)
    }
}

fn made(cx: &CallContext, changes: &[NetChange]) -> u64 {
    let new = changes.iter().filter(|change| matches!(change.kind, NetKind::Added | NetKind::Copied)).count();
    let mut directories = HashSet::new();
    for change in changes.iter().filter(|change| change.base == Base::Absent || change.from.is_some()) {
        let above = std::iter::successors(change.real.parent(), WorkspacePath::parent);
        for parent in above.take_while(|parent| cx.workspace.is_missing(parent)) {
            if !directories.insert(parent) {
                break;
            }
        }
    }
    (new + directories.len()) as u64
}

struct Net<'n> {
    cx: &'n CallContext,
    heirs: &'n HashMap<&'n WorkspacePath, &'n WorkspacePath>,
    by_real: &'n HashMap<&'n WorkspacePath, &'n PatchedFile>,
}

/// The step of one path, and what is shown of it: nothing for the old path of a file that is renamed.
type NetStep = Option<(ChangeStep, Option<NetChange>)>;

impl Net<'_> {
    fn of(&self, file: &PatchedFile) -> Result<NetStep, ToolError> {
        file.now.as_ref().map_or_else(|| self.gone(file), |now| self.present(file, now))
    }

    /// Whether the entry on the disk at `file` is renamed as it is, and not written at its new path. Only between
    /// paths of which one is free before and the other one afterwards: such a step can be made and undone alone.
    fn is_renamed_as_it_is(&self, file: &PatchedFile) -> bool {
        let heir = self.heirs.get(&file.real).and_then(|heir| self.by_real.get(heir));
        file.now.is_none()
            && heir.is_some_and(|heir| heir.disk.is_none() && heir.now.as_ref().is_some_and(|now| !now.is_changed))
    }

    fn gone(&self, file: &PatchedFile) -> Result<NetStep, ToolError> {
        let Some(OnDisk { state, bytes }) = file.disk.as_ref().filter(|_| !self.is_renamed_as_it_is(file)) else {
            return Ok(None);
        };
        let target = self.cx.workspace.writable_entry(&file.asked)?;
        let revision = file.file_on_disk().map_or_else(|| Revision::of(b"link"), |(revision, _)| revision);
        // What is renamed with other content is one change for the reader.
        let is_renamed = self.heirs.contains_key(&file.real);
        let change = (!is_renamed).then(|| NetChange {
            kind: NetKind::Deleted,
            base: Base::Revision(revision),
            sizes: (bytes.len() as u64, 0),
            ..NetChange::at(file)
        });
        Ok(Some((ChangeStep::remove(target, state.clone(), false), change)))
    }

    fn present(&self, file: &PatchedFile, now: &NewFile) -> Result<NetStep, ToolError> {
        let is_at_home = now.origin.as_ref() == Some(&file.real) && !now.is_copy;
        if is_at_home && !now.is_changed {
            return Ok(None);
        }
        let origin = now.origin.as_ref().filter(|_| !now.is_copy).and_then(|origin| self.by_real.get(origin));
        if let Some(from) = origin
            && self.is_renamed_as_it_is(from)
        {
            return self.renamed(file, from);
        }
        let from = now.origin.as_ref().filter(|_| !is_at_home).and_then(|origin| self.by_real.get(origin));
        let replaced = file.file_on_disk();
        let before = from.and_then(|from| from.file_on_disk()).or(replaced).map(|(_, bytes)| bytes);
        let old_bytes = before.map_or(&[][..], Vec::as_slice);
        let target = self.cx.workspace.writable(&file.asked)?;
        let bytes = now.body.bytes().to_vec();
        if replaced.is_some_and(|(_, old)| *old == bytes) {
            return Ok(None);
        }
        let base = replaced.map_or(Base::Absent, |(revision, _)| Base::Revision(revision));
        let kind = match (from.is_some(), now.is_copy, replaced.is_some()) {
            (true, true, _) => NetKind::Copied,
            (true, false, _) => NetKind::Renamed,
            (false, _, true) => NetKind::Modified,
            (false, _, false) => NetKind::Added,
        };
        let change = NetChange {
            kind,
            from: from.map(|from| from.asked.clone()),
            old: before.and_then(|bytes| Document::decode(bytes.clone(), None).ok()),
            new: Document::decode(bytes.clone(), None).ok(),
            base,
            after: Some(Revision::of(&bytes)),
            sizes: (if now.is_copy { 0 } else { old_bytes.len() as u64 }, bytes.len() as u64),
            hunks: now.hunks.clone(),
            ..NetChange::at(file)
        };
        let rights = Rights::of_mode(if now.executable && kind == NetKind::Added { PROGRAM_MODE } else { 0 });
        let like = from.map(|from| from.real.clone());
        Ok(Some((ChangeStep::write(target, base, bytes, rights).like(like), Some(change))))
    }

    /// A file that only gets another path keeps its inode.
    fn renamed(&self, file: &PatchedFile, from: &PatchedFile) -> Result<NetStep, ToolError> {
        let Some((revision, bytes)) = from.file_on_disk() else { return Ok(None) };
        let (to, base) = (self.cx.workspace.writable_entry(&file.asked)?, EntryState::from(revision));
        let target = self.cx.workspace.writable_entry(&from.asked)?;
        let is_same_root = Arc::ptr_eq(from.real.root(), file.real.root());
        let size = bytes.len() as u64;
        let change = NetChange {
            kind: NetKind::Renamed,
            from: Some(from.asked.clone()),
            base: Base::Revision(revision),
            sizes: (if is_same_root { size } else { 0 }, size),
            ..NetChange::at(file)
        };
        Ok(Some((ChangeStep::move_to(target, to, base), Some(change))))
    }
}

impl NetChange {
    fn at(file: &PatchedFile) -> Self {
        Self {
            kind: NetKind::Modified,
            path: file.asked.clone(),
            real: file.real.clone(),
            from: None,
            old: None,
            new: None,
            hunks: Vec::new(),
            base: Base::Absent,
            after: None,
            sizes: (0, 0),
        }
    }
}
