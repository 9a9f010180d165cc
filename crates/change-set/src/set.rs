//! Changes of entries, all or none.
//!
//! One entry with all that is in it is made, moved or removed by one rename, which is whole by itself. Else a change is a
//! transaction, a net set of steps: each path is removed or left at most once, and gets an entry at most once. Under
//! the locks of all paths every base is checked, new entries are made under reserved names, and then the names change.
//! After any error everything is as it was.
//!
//! | question | file |
//! |---|---|
//! | How is one entry made, moved or removed with all in it? | `create_tree`, `move_tree`, `remove_tree` |
//! | How is a base checked, and a step added? | here |
//! | When does it count? | `commit` |
//! | What is one step, and how is its entry recognised? In which order are steps made, and where are their entries in between? | `steps` |
//! | How are new entries made, and how do names change? | `publish` |
//! | How is a file written that cannot be replaced? | `in_place` |
//! | How does everything become as it was? | `roll_back` |
//! | What is recorded first, and how is it read after a crash? | `intent`, `intent_folder` |
//! | What happens after a crash? | `recovery` |
//!
//! Limits: at most [`MAX_STEPS`] steps. An entry that is moved keeps its inode, so it stays on its file system; a file or a
//! link gets to another one as a copy, and the intent has two steps then.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs::File,
    path::PathBuf,
    sync::Arc,
};

use beneath::{FileKind, OpenFor, Stat};

use crate::tree::{Node, Rights, Tree};
use crate::write::{EntryLocks, NewContent, allowed, entry_in_parent, may_write, random};
use crate::{
    tree::EntryChange, tree::EntryState, tree::FileState, workspace::Shared, workspace::Workspace, write::Approval,
    write::Base, write::FileLock, write::WaitLimit, write::WritablePath, write::WriteGuard,
};
use commit::commit_steps;
use confined_fs::{
    AccessError, AccessErrorKind, Revision, WorkspacePath,
    for_changes::{AtPath as _, IfThere as _, repository},
};
use steps::{MAX_STEPS, NewFile, Step, Steps};

mod commit;
mod create_tree;
mod in_place;
mod intent;
mod intent_folder;
mod move_tree;
mod publish;
mod recovery;
mod remove_tree;
mod roll_back;
mod steps;

pub(super) use commit::commit_in_place;
pub use commit::{CommitError, CommittedSet};
pub(super) use intent_folder::Intents;
pub use move_tree::MovedTree;
pub use remove_tree::RemoveError;
pub use roll_back::{UnrestoredEntry, Unreverted};

/// The locks of all entries of a change, and its steps so far. Nothing has been touched.
pub struct ChangeSet<'n> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) wait_limit: WaitLimit,
    pub(crate) locks: Arc<EntryLocks>,
    /// Paths whose entries are removed or moved away.
    vacated_paths: HashSet<PathBuf>,
    steps: Vec<Step<'n>>,
    /// Directories that are there and get these rights before anything comes into them.
    rights: Vec<(WorkspacePath, Rights)>,
}

/// A file that a transaction replaces or removes.
pub struct FormerFile {
    /// Its content, as it is on the disk.
    pub content: File,
    /// Its length in bytes.
    pub size: u64,
    /// The revision of its content, when it was checked.
    pub revision: Revision,
    /// Whether nothing takes its place.
    pub is_removed: bool,
}

impl<'n> ChangeSet<'n> {
    /// Waits for the locks of all entries at once. `leaving`: those of them that are removed or moved away.
    ///
    /// # Errors
    /// `TooMany` for more than 5,000 steps, and those of the rights and of the locks.
    pub fn acquire(
        workspace: &Workspace,
        entries: &[&WritablePath],
        leaving: &[&WritablePath],
        wait_limit: WaitLimit,
    ) -> Result<Self, AccessError> {
        let shared = Arc::clone(&workspace.shared);
        let first = workspace.first_asked(entries);
        // Before the locks: each directory that is locked takes a file descriptor.
        if entries.len() > MAX_STEPS {
            return Err(AccessError::new(AccessErrorKind::TooMany { limit: MAX_STEPS }, &first));
        }
        let mut paths: Vec<WorkspacePath> = entries.iter().map(|entry| entry.path().clone()).collect();
        // The entries of a removed directory as well: another process may be about to add one.
        let inside = leaving.iter().map(|entry| entry.path().child("rootbound".as_ref()));
        paths.extend(inside.filter(|path| {
            path.parent()
                .is_some_and(|parent| path.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse).is_ok())
        }));
        let paths: Vec<&WorkspacePath> = paths.iter().collect();
        let locks = workspace.hold_recovered(&paths, &first, &wait_limit)?;
        let vacated_paths = leaving.iter().map(|entry| entry.path().host()).collect();
        Ok(Self { shared, wait_limit, locks: Arc::new(locks), vacated_paths, steps: Vec::new(), rights: Vec::new() })
    }

    /// The right to give a file another content, or to make it, if it is what the plan saw.
    ///
    /// # Errors
    /// `Stale` and `Exists` as [`WriteGuard::acquire`].
    pub fn guard(&self, path: &WritablePath, base: Base) -> Result<WriteGuard<'static>, AccessError> {
        allowed(path)?;
        let lock = FileLock::of_held(Arc::clone(&self.shared), path.clone(), Arc::clone(&self.locks));
        if base == Base::Absent && self.is_freed(path.path()) { Ok(lock.guard_of_freed()) } else { lock.guard(base) }
    }

    /// Adds a file's new content. A new file gets the attributes of the file `like`, if any.
    pub fn write(&mut self, guard: WriteGuard<'_>, content: Arc<NewContent<'n>>, like: Option<WorkspacePath>) {
        let new = content.revision();
        let path = guard.path().clone();
        let (old, rights) = guard.into_checked();
        let (from, seen) = match old {
            // Nothing to do.
            Some((_, old, false)) if old == new => return,
            Some((stat, old, _)) => (Some(EntryState::from(old)), Some(stat)),
            None => (None, None),
        };
        let like = like.map(|like| (self.vacated_paths.contains(&like.host()), like));
        let file = Some(NewFile::Content { content, rights, like, stays: false });
        let change = EntryChange::new(&path, from, Some(new.into()));
        self.steps.push(Step { seen, file, ..Step::from(change) });
    }

    /// Adds the removal of an entry. Returns its state with the rights that it has now.
    ///
    /// # Errors
    /// `Stale` when it is something else.
    pub fn remove(&mut self, entry: &WritablePath, mut was: EntryState) -> Result<EntryState, AccessError> {
        let seen = self.checked(entry, &was)?;
        if let EntryState::File(FileState { rights, .. }) | EntryState::Directory { rights } = &mut was {
            let above = std::iter::successors(Some(entry.path().clone()), WorkspacePath::parent);
            let gone = above.take_while(|path| self.is_freed(path)).last();
            *rights = Rights::of(entry.path(), &seen, gone.as_ref());
        }
        let change = EntryChange::new(entry.path(), Some(was.clone()), None);
        self.steps.push(Step { seen: Some(seen), ..Step::from(change) });
        Ok(was)
    }

    /// Adds a move of an entry to a path that is free, or becomes free by this transaction.
    ///
    /// # Errors
    /// `Stale` when it is something else, `Exists` when the new path is taken.
    pub fn move_to(&mut self, from: &WritablePath, to: &WritablePath, was: EntryState) -> Result<(), AccessError> {
        let seen = self.checked(from, &was)?;
        self.check_free(to)?;
        let (moved_from, identity) = (Some(from.path().clone()), Some(seen.device_and_inode()));
        let change = EntryChange { moved_from, identity, ..EntryChange::new(to.path(), None, Some(was)) };
        self.steps.push(Step { seen: Some(seen), ..Step::from(change) });
        Ok(())
    }

    /// As [`Self::move_to`], of a file or link to another file system: it is copied, and its old place is emptied.
    pub fn move_by_copy(&mut self, from: &WritablePath, to: &WritablePath, was: EntryState) -> Result<(), AccessError> {
        let seen = self.checked(from, &was)?;
        self.check_free(to)?;
        // Whatever the order of the two steps, the copy is complete before the first name changes.
        let copy = NewFile::CopyOf { from: from.path().clone(), seen: seen.clone(), rights: None };
        let file = Some(copy).filter(|_| matches!(was, EntryState::File(_)));
        self.steps.push(Step { file, ..Step::from(EntryChange::new(to.path(), None, Some(was.clone()))) });
        self.steps.push(Step { seen: Some(seen), ..Step::from(EntryChange::new(from.path(), Some(was), None)) });
        Ok(())
    }

    /// Adds a copy of `tree` where nothing is, as [`Self::copy`] makes it. Returns what comes, and the links that are left out.
    ///
    /// # Errors
    /// `Exists` when something is there, `TooMany` for more than 5,000 steps, `Denied` for a link that would be left out alone.
    pub fn add_copy(
        &mut self,
        tree: &Tree,
        to: &WritablePath,
    ) -> Result<(Vec<EntryChange>, Vec<WorkspacePath>), AccessError> {
        self.check_free(to)?;
        if self.steps.len() + tree.entries().len() > MAX_STEPS {
            return Err(AccessError::new(AccessErrorKind::TooMany { limit: MAX_STEPS }, tree.top()));
        }
        let left_out = self.links_left_out(tree, to)?;
        let (first, mut out) = (self.steps.len(), left_out.iter().peekable());
        for ((from, entry), (path, _)) in tree.paths().zip(tree.paths_at(to.path())) {
            if out.next_if(|left| **left == from).is_some() {
                continue;
            }
            let (is, file) = copied(&from, &entry.node)?;
            self.steps.push(Step { file, ..Step::from(EntryChange::new(&path, None, Some(is))) });
        }
        Ok((self.steps[first..].iter().map(|step| step.change.clone()).collect(), left_out))
    }

    /// Adds a directory or a link where nothing is.
    ///
    /// # Errors
    /// `Exists` when something is there.
    pub fn create(&mut self, at: &WritablePath, is: EntryState) -> Result<(), AccessError> {
        self.check_free(at)?;
        self.steps.push(EntryChange::new(at.path(), None, Some(is)).into());
        Ok(())
    }

    /// The directory that is there gets these rights; of a mode alone it keeps no more. A kill in the middle may leave it so.
    ///
    /// # Errors
    /// Those of the rights to change it.
    pub fn give(&mut self, at: &WritablePath, rights: Rights) -> Result<(), AccessError> {
        allowed(at)?;
        self.rights.push((at.path().clone(), rights));
        Ok(())
    }

    /// The files that are replaced or removed, each opened when the iterator reaches it.
    pub fn former_files(&self) -> impl Iterator<Item = (&WorkspacePath, Result<FormerFile, AccessError>)> {
        // Where entries are moved to, and the files that are moved by a copy: nothing of these is lost.
        let (mut moved_over, mut moved) = (HashSet::new(), HashSet::new());
        for step in &self.steps {
            match (step.moved(), &step.file) {
                (Some((to, _)), _) => drop(moved_over.insert(to.host())),
                (_, Some(NewFile::CopyOf { from, rights: None, .. })) => {
                    moved_over.insert(step.path.host());
                    moved.insert(from.host());
                }
                _ => {}
            }
        }
        self.steps.iter().filter_map(move |step| {
            let (revision, is_removed) = match (step.replaced(), step.removed()) {
                (Some((old, _)), _) => (old, false),
                (None, Some(EntryState::File(old))) if !moved.contains(&step.path.host()) => {
                    (old.revision, !moved_over.contains(&step.path.host()))
                }
                _ => return None,
            };
            let open = || {
                let content = step.path.root().dir().file_beneath(step.path.relative()).at(&step.path)?;
                let size = beneath::file_stat(&content).at(&step.path)?.size;
                Ok(FormerFile { content, size, revision, is_removed })
            };
            Some((&step.path, open()))
        })
    }

    /// Whether the entry at a path, or a directory above it, is removed or moved away.
    fn is_freed(&self, path: &WorkspacePath) -> bool {
        let mut above = std::iter::successors(Some(path.clone()), WorkspacePath::parent);
        above.any(|path| self.vacated_paths.contains(&path.host()))
    }

    fn check_free(&self, at: &WritablePath) -> Result<(), AccessError> {
        allowed(at)?;
        let path = at.path();
        let is_taken = || path.root().dir().stat_beneath(path.relative()).if_there().at(path);
        if self.is_freed(path) || is_taken()?.is_none() {
            return Ok(());
        }
        Err(AccessError::new(AccessErrorKind::Exists, at.asked()))
    }

    /// Looks at an entry again under the lock; `Stale` where it is not as the plan saw it.
    #[expect(clippy::unused_self, reason = "the locks are what entitles to the look")]
    fn checked(&self, entry: &WritablePath, was: &EntryState) -> Result<Stat, AccessError> {
        let (asked, (parent, name)) = (entry.asked(), entry_in_parent(entry)?);
        let stale = || AccessError::new(AccessErrorKind::Stale, asked);
        let dir = parent.root().dir().dir_beneath(parent.relative(), OpenFor::Traverse);
        let dir = dir.if_there().at(asked)?.ok_or_else(stale)?;
        let seen = dir.child_stat(name).if_there().at(asked)?.ok_or_else(stale)?;
        if seen.kind == FileKind::File && seen.is_marked_read_only() {
            return Err(AccessError::new(AccessErrorKind::MarkedReadOnly, asked));
        }
        if was.is_at(&dir, name).at(asked)? { Ok(seen) } else { Err(stale()) }
    }

    /// Drops the steps of directories that would be removed and made again.
    fn net_directories(&mut self) {
        let going = |step: &Step<'_>| matches!(step.removed(), Some(EntryState::Directory { .. }));
        let coming = |step: &Step<'_>| matches!(step.made(), Some(EntryState::Directory { .. }));
        let paths = |is: fn(&Step<'_>) -> bool| -> HashSet<PathBuf> {
            self.steps.iter().filter(|step| is(step)).map(|step| step.path.host()).collect()
        };
        let both = &paths(going) & &paths(coming);
        self.steps.retain(|step| !both.contains(&step.path.host()) || !(going(step) || coming(step)));
    }

    /// Refuses what is moved over a file that this user may not write.
    fn may_move_over(&self) -> Result<(), AccessError> {
        let arrives = |step: &Step<'_>| match (step.moved(), step.made()) {
            (Some((to, _)), _) => Some(to.host()),
            (_, Some(EntryState::File(_))) => Some(step.path.host()),
            _ => None,
        };
        let coming: HashSet<PathBuf> = self.steps.iter().filter_map(arrives).collect();
        for step in &self.steps {
            let (Some(EntryState::File(_)), Some(seen)) = (step.removed(), &step.seen) else {
                continue;
            };
            if coming.contains(&step.path.host()) {
                may_write(&step.path, seen, &step.path)?;
            }
        }
        Ok(())
    }

    /// Refuses what several steps together make a repository, each of which could be made alone.
    fn makes_no_repository(&self) -> Result<(), AccessError> {
        let mut coming: HashMap<WorkspacePath, Vec<(&OsStr, FileKind)>> = HashMap::new();
        for step in &self.steps {
            let path = &step.change.path;
            let (Some(parent), Some(name), Some(is)) = (path.parent(), path.file_name(), &step.change.to) else {
                continue;
            };
            if repository::is_part(name) {
                let kind = match is {
                    EntryState::File(_) => FileKind::File,
                    EntryState::Directory { .. } => FileKind::Directory,
                    EntryState::Link(_) => FileKind::Symlink,
                };
                coming.entry(parent).or_default().push((name, kind));
            }
        }
        for (directory, parts) in coming {
            if let Some(rule) = repository::why_refused_together(&directory, &parts) {
                return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, &directory, &rule));
            }
        }
        Ok(())
    }

    /// Adds the directories that are missing above new entries.
    fn add_missing_directories(&mut self) -> Result<(), AccessError> {
        let arrives = |step: &Step<'_>| {
            let comes = step.made().is_some() || step.moved().is_some();
            comes.then(|| step.change.path.clone())
        };
        let coming: Vec<WorkspacePath> = self.steps.iter().filter_map(arrives).collect();
        let mut known: HashSet<PathBuf> = coming.iter().map(WorkspacePath::host).collect();
        for path in coming {
            for above in std::iter::successors(path.parent(), WorkspacePath::parent) {
                if above.is_root() || !known.insert(above.host()) {
                    break;
                }
                if !self.is_freed(&above) {
                    match above.root().dir().stat_beneath(above.relative()).if_there().at(&path)? {
                        Some(stat) if stat.kind == FileKind::Directory => break,
                        Some(_) => return Err(AccessError::new(AccessErrorKind::NotADirectory, &path)),
                        None => {}
                    }
                }
                let made = EntryState::Directory { rights: Rights::default() };
                self.steps.push(EntryChange::new(&above, None, Some(made)).into());
            }
        }
        if self.steps.len() > MAX_STEPS {
            return Err(AccessError::new(AccessErrorKind::TooMany { limit: MAX_STEPS }, &self.steps[0].path));
        }
        Ok(())
    }
}

/// The state of the copy of an entry, and the material of a file.
fn copied(from: &WorkspacePath, node: &Node) -> Result<(EntryState, Option<NewFile<'static>>), AccessError> {
    Ok(match node {
        Node::Directory(stat) => (EntryState::Directory { rights: Rights::of_copy(from, stat) }, None),
        Node::Link(target) => (EntryState::Link(target.clone()), None),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), from)),
        Node::File(seen) => {
            let mut file = from.root().dir().file_beneath(from.relative()).at(from)?;
            let revision = Revision::of_reader(&mut file).at(from)?;
            let rights = Rights::of_copy(from, seen);
            let copy = NewFile::CopyOf { from: from.clone(), seen: seen.clone(), rights: Some(rights.clone()) };
            (EntryState::File(FileState { revision, rights }), Some(copy))
        }
    })
}

impl ChangeSet<'_> {
    /// Makes all steps, or none. `note` is called while the locks are still held.
    ///
    /// # Errors
    /// With everything as it was, but for what [`CommitError::not_restored`] says.
    pub fn commit(mut self, _: Approval, note: impl FnOnce(&CommittedSet)) -> Result<CommittedSet, CommitError> {
        self.add_missing_directories()?;
        // In this order: a removed directory above a new entry first gets its second step, and then both are dropped.
        self.net_directories();
        self.may_move_over()?;
        self.makes_no_repository()?;
        let steps = Steps::new(random(), std::mem::take(&mut self.steps));
        self.sweep(&steps);
        commit_steps(&self.shared, steps, (&self.rights, &self.wait_limit), note)
    }

    /// Removes temporary files that an earlier process left behind in the directories of the entries.
    fn sweep(&self, steps: &Steps<'_>) {
        for parent in steps.paths().filter(|path| !steps.is_in_new(path)).filter_map(WorkspacePath::parent) {
            if let Ok(dir) = steps.directory(&parent) {
                self.shared.stale_temporaries.sweep_once(&parent, &dir);
            }
        }
    }
}
