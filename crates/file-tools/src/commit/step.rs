//! A change as it is planned, step by step (what must be there, what is there then, where its content comes from), and
//! its result.

use std::sync::Arc;

use change_set::{Base, CreatedTree, EntryChange, EntryState, FileState, NewContent, Node, Rights, Tree, WritablePath};
use confined_fs::{AccessError, Revision, WorkspacePath};

use super::super::CallContext;

/// A step of a change. Every path is removed or left at most once, and gets an entry at most once.
pub(crate) struct ChangeStep {
    /// Where: from [`Workspace::writable`](change_set::Workspace::writable) for a content, else from
    /// [`Workspace::writable_entry`](change_set::Workspace::writable_entry). Of a move the new path.
    pub(crate) target: WritablePath,
    /// Where the entry is moved from.
    pub(crate) source: Option<WritablePath>,
    /// From what must be there, rights not compared, to what is there then.
    pub(crate) change: EntryChange,
    pub(super) content: Option<StepContent>,
    /// The file whose mode, owner and attributes a new file gets.
    pub(super) like: Option<WorkspacePath>,
    /// Whether a file stays the one that programs have open, where it can.
    pub(super) stays: bool,
    /// What goes, is moved or is copied, with everything in it, as it must still be.
    pub(super) tree: Option<Tree>,
}

/// Where the content of a file comes from.
#[derive(Clone)]
pub(super) enum StepContent {
    Bytes(Arc<NewContent<'static>>),
    /// The history, which keeps it: read when it is written.
    Kept(Revision),
}

impl ChangeStep {
    fn new(target: WritablePath, from: Option<EntryState>, to: Option<EntryState>) -> Self {
        let change = EntryChange::new(target.path(), from, to);
        Self { target, source: None, change, content: None, like: None, stays: false, tree: None }
    }

    fn of_content(target: WritablePath, base: Base, content: StepContent, rights: Rights) -> Self {
        let from = match base {
            Base::Absent => None,
            Base::Revision(revision) => Some(revision.into()),
        };
        let revision = match &content {
            StepContent::Bytes(bytes) => bytes.revision(),
            StepContent::Kept(revision) => *revision,
        };
        let to = EntryState::File(FileState { revision, rights });
        Self { content: Some(content), ..Self::new(target, from, Some(to)) }
    }

    /// A file gets these bytes. `Absent`: nothing is there, or an entry that the same change removes. Of rights that are a
    /// mode alone a file that is replaced keeps no more.
    pub(crate) fn write(target: WritablePath, base: Base, bytes: Vec<u8>, rights: Rights) -> Self {
        Self::of_content(target, base, StepContent::Bytes(Arc::new(NewContent::of(bytes))), rights)
    }

    /// A file comes back that the history keeps, where nothing is.
    pub(crate) fn bring_back(target: WritablePath, former: FileState) -> Self {
        Self::of_content(target, Base::Absent, StepContent::Kept(former.revision), former.rights)
    }

    /// As [`Self::write`], with the mode, owner and attributes of the file `like`.
    #[must_use]
    pub(crate) fn like(self, like: Option<WorkspacePath>) -> Self {
        Self { like, ..self }
    }

    /// As [`Self::write`], in place where that is safe, as programs may have the file open.
    #[must_use]
    pub(crate) fn staying(self, stays: bool) -> Self {
        Self { stays, ..self }
    }

    /// The file with this content, the link with this target, or the directory, which must be empty at that moment, goes.
    /// `is_parent`: a directory that was made for another entry of a change that is taken back.
    pub(crate) fn remove(target: WritablePath, was: EntryState, is_parent: bool) -> Self {
        let step = Self::new(target, Some(was), None);
        Self { change: EntryChange { is_parent, ..step.change }, ..step }
    }

    /// An entry goes with everything in it, of a file with this content, where that is known.
    pub(crate) fn remove_tree(target: WritablePath, tree: Tree, content: Option<Revision>) -> Self {
        let was = content.map_or_else(|| kind_of(tree.node()), EntryState::from);
        Self { tree: Some(tree), ..Self::new(target, Some(was), None) }
    }

    /// The same entry, its inode kept, gets a path that is free or that this change frees.
    pub(crate) fn move_to(from: WritablePath, to: WritablePath, is: EntryState) -> Self {
        let moved_from = Some(from.path().clone());
        let step = Self::new(to, None, Some(is));
        Self { source: Some(from), change: EntryChange { moved_from, ..step.change }, ..step }
    }

    /// As [`Self::move_to`], with everything in it.
    pub(crate) fn move_tree(from: WritablePath, to: WritablePath, tree: Tree) -> Self {
        let is = kind_of(tree.node());
        Self { tree: Some(tree), ..Self::move_to(from, to, is) }
    }

    /// A copy of an entry, with everything in it, comes where nothing is.
    pub(crate) fn copy_tree(tree: Tree, to: WritablePath) -> Self {
        let is = kind_of(tree.node());
        Self { tree: Some(tree), ..Self::create(to, is) }
    }

    /// A directory or a link comes where nothing is. Missing parent directories need no step.
    pub(crate) fn create(target: WritablePath, is: EntryState) -> Self {
        Self::new(target, None, Some(is))
    }

    /// The directory that is there gets these rights; of a mode alone it keeps no more.
    pub(crate) fn give(target: WritablePath, rights: Rights) -> Self {
        let was = EntryState::Directory { rights: Rights::default() };
        Self::new(target, Some(was), Some(EntryState::Directory { rights }))
    }

    /// Whether an entry goes and nothing takes its place.
    pub(crate) fn removes(&self) -> bool {
        self.change.to.is_none()
    }

    /// What is copied, with everything in it.
    pub(super) fn copies(&self) -> Option<&Tree> {
        self.tree.as_ref().filter(|_| self.creates())
    }

    /// Whether an entry comes where nothing was: none that is moved.
    pub(crate) fn creates(&self) -> bool {
        self.change.from.is_none() && self.source.is_none()
    }

    /// The paths that get an entry or lose one.
    pub(super) fn paths(&self) -> impl Iterator<Item = &WritablePath> {
        std::iter::once(&self.target).chain(&self.source)
    }

    pub(super) fn leaves(&self) -> Option<&WritablePath> {
        self.source.as_ref().or_else(|| Some(&self.target).filter(|_| self.removes()))
    }

    /// The bytes of the content that a file gets.
    pub(super) fn new_content(&self, cx: &CallContext) -> Result<Option<Arc<NewContent<'static>>>, AccessError> {
        let kept = |revision| cx.session.history.content(revision).ok_or_else(|| self.target.path().not_stored());
        Ok(match &self.content {
            None => None,
            Some(StepContent::Bytes(content)) => Some(Arc::clone(content)),
            Some(StepContent::Kept(revision)) => Some(Arc::new(NewContent::of(kept(*revision)?))),
        })
    }

    /// The rights that the entry has then.
    pub(super) fn rights(&self) -> Rights {
        match &self.change.to {
            Some(EntryState::File(FileState { rights, .. }) | EntryState::Directory { rights }) => rights.clone(),
            _ => Rights::default(),
        }
    }
}

/// A state of the kind of a listed entry: of a file that nobody has read.
pub(super) fn kind_of(node: &Node) -> EntryState {
    match node {
        Node::Directory(_) => EntryState::Directory { rights: Rights::default() },
        Node::Link(target) => EntryState::Link(target.clone()),
        Node::File(_) | Node::Other(_) => Revision::of(b"").into(),
    }
}

#[derive(Debug, Default)]
pub(crate) struct CommittedFiles {
    /// For each step, in order, where it was made and the revision of a file's content now.
    pub(crate) files: Vec<(WorkspacePath, Option<Revision>)>,
    /// Notes for the answer.
    pub(crate) notes: Vec<String>,
    /// Whether what was moved was copied and its old place emptied, as the system does not rename it.
    pub(crate) copied: bool,
    /// Whether every former content is on the disk.
    pub(crate) is_durable: bool,
    /// What was made, of several trees without their revisions; the directories are those that no step names.
    pub(crate) created: CreatedTree,
}
