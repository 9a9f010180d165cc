//! The tree as it would be: what changes, laid over what is on the disk.
//!
//! A [`DiskOfCall`] says what is there. Nothing of the disk is listed that does not change.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    io,
    ops::Range,
    path::Path,
};

use change_set::{EntryChange, EntryState, FileState, HashedBytes, Node, Purpose, Rights, Tree, WritablePath};
use confined_fs::{FileKind, Revision, Stat, WorkspacePath};
use text_edit::changed_lines;

use crate::{
    CallContext,
    commit::{self, ChangedPart},
    session::history::AppendedPart,
};

/// The entry that would be at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VirtualNode {
    Absent,
    /// The entry that the disk has at this path, with everything in it.
    OnDisk(WorkspacePath),
    /// A file with a content that is kept.
    Kept(FileState),
    /// A link with this target.
    Link(OsString),
    Directory(VirtualDirectory),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VirtualDirectory {
    /// The directory of the disk that it is; none if it would be made.
    pub(super) disk: Option<WorkspacePath>,
    /// The rights that it would have, where they matter.
    pub(super) rights: Rights,
    /// Its changed entries, by name.
    names: BTreeMap<OsString, VirtualNode>,
}

/// The roots, and what changes in them.
#[derive(Clone, Debug, Default)]
pub(super) struct VirtualTree {
    /// By the root directory's path.
    roots: BTreeMap<WorkspacePath, VirtualNode>,
}

impl From<&EntryState> for VirtualNode {
    fn from(node: &EntryState) -> Self {
        match node {
            EntryState::File(former) => Self::Kept(former.clone()),
            EntryState::Link(target) => Self::Link(target.clone()),
            EntryState::Directory { rights } => {
                Self::Directory(VirtualDirectory { rights: rights.clone(), ..VirtualDirectory::default() })
            }
        }
    }
}

impl VirtualDirectory {
    /// The entry called `name`, if nothing has changed that.
    fn unchanged(&self, name: &OsStr) -> VirtualNode {
        let child = self.disk.as_ref().map(|disk| disk.child(Path::new(name)));
        child.map_or(VirtualNode::Absent, VirtualNode::OnDisk)
    }
}

impl VirtualTree {
    /// The entry that would be at `path`. `OnDisk` may be nothing.
    pub(super) fn node(&self, path: &WorkspacePath) -> VirtualNode {
        let root = root_of(path);
        let Some(mut node) = self.roots.get(&root) else { return VirtualNode::OnDisk(path.clone()) };
        let mut names = path.relative().iter();
        while let Some(name) = names.next() {
            match node {
                VirtualNode::OnDisk(disk) => {
                    return VirtualNode::OnDisk(disk.child(Path::new(name)).child(names.as_path()));
                }
                VirtualNode::Directory(directory) => match directory.names.get(name) {
                    Some(child) => node = child,
                    None => {
                        return match directory.unchanged(name) {
                            VirtualNode::OnDisk(disk) => VirtualNode::OnDisk(disk.child(names.as_path())),
                            other => other,
                        };
                    }
                },
                VirtualNode::Absent | VirtualNode::Kept(_) | VirtualNode::Link(_) => return VirtualNode::Absent,
            }
        }
        node.clone()
    }

    /// The kind of entry that would be at `path`.
    pub(super) fn kind(&self, disk: DiskOfCall<'_>, path: &WorkspacePath) -> Option<FileKind> {
        match self.node(path) {
            VirtualNode::Absent => None,
            VirtualNode::OnDisk(path) => disk.kind(&path),
            VirtualNode::Kept(_) => Some(FileKind::File),
            VirtualNode::Link(_) => Some(FileKind::Symlink),
            VirtualNode::Directory(_) => Some(FileKind::Directory),
        }
    }

    /// Puts `node` at `path`. What would be there is lost, and directories that are missing above it would be made.
    pub(super) fn put(&mut self, path: &WorkspacePath, node: VirtualNode) {
        let root = root_of(path);
        let mut here = self.roots.entry(root.clone()).or_insert(VirtualNode::OnDisk(root));
        for name in path.relative() {
            let directory = here.opened();
            let unchanged = directory.unchanged(name);
            here = directory.names.entry(name.to_os_string()).or_insert(unchanged);
        }
        *here = node;
    }

    /// The directory of the disk at `path` becomes one that had these rights.
    pub(super) fn give(&mut self, path: &WorkspacePath, rights: Rights) {
        let mut node = self.node(path);
        node.opened().rights = rights;
        self.put(path, node);
    }

    /// Takes away what would be at `path`.
    pub(super) fn take(&mut self, path: &WorkspacePath) -> VirtualNode {
        let node = self.node(path);
        self.put(path, VirtualNode::Absent);
        node
    }

    /// Whether there would be a directory at `path` with nothing in it.
    pub(super) fn is_empty_directory(&self, disk: DiskOfCall<'_>, path: &WorkspacePath) -> bool {
        match self.node(path) {
            VirtualNode::OnDisk(path) => {
                disk.kind(&path) == Some(FileKind::Directory) && disk.names(&path).is_some_and(|names| names.is_empty())
            }
            VirtualNode::Directory(directory) => {
                let is_there = |node: &VirtualNode| match node {
                    VirtualNode::Absent => false,
                    VirtualNode::OnDisk(path) => disk.kind(path).is_some(),
                    _ => true,
                };
                let unchanged = match &directory.disk {
                    Some(path) if disk.kind(path).is_some() => disk.names(path),
                    // It would be made for what is put into it.
                    _ => Some(Vec::new()),
                };
                !directory.names.values().any(is_there)
                    && unchanged.is_some_and(|names| names.iter().all(|name| directory.names.contains_key(name)))
            }
            _ => false,
        }
    }

    /// The changes of the disk that make it this tree. Nothing is in them that stays as it is. Paths of removed entries are
    /// those of the tree as it is, all others as it would be; the content of what is there is not looked at.
    pub(super) fn net_changes(&self, disk: DiskOfCall<'_>) -> Vec<EntryChange> {
        // In two passes: what moves away must neither be cleared nor written over, wherever in the tree it goes.
        let mut difference = TreeComparison { disk, moved: HashSet::new(), changes: Vec::new() };
        for (path, node) in &self.roots {
            difference.find_moved(node, Some(path));
        }
        for (path, node) in &self.roots {
            difference.add(path, node, Some(path));
        }
        difference.changes
    }
}

impl VirtualNode {
    /// The node as a directory in which something changes.
    fn opened(&mut self) -> &mut VirtualDirectory {
        if !matches!(self, Self::Directory(_)) {
            let disk = match self {
                Self::OnDisk(path) => Some(path.clone()),
                _ => None,
            };
            *self = Self::Directory(VirtualDirectory { disk, ..VirtualDirectory::default() });
        }
        match self {
            Self::Directory(directory) => directory,
            _ => unreachable!("made a directory above"),
        }
    }
}

/// The difference while it is found.
///
/// A directory that moves whole is one move. If something in it changes as well, each entry of it moves, so that no
/// change is inside of another one's directory.
struct TreeComparison<'d> {
    disk: DiskOfCall<'d>,
    /// Paths of the disk whose entries move away.
    moved: HashSet<WorkspacePath>,
    changes: Vec<EntryChange>,
}

/// A move of what nobody has looked at.
fn moved(from: &WorkspacePath, to: &WorkspacePath) -> EntryChange {
    let change = EntryChange::new(to, None, Some(Revision::of(b"").into()));
    EntryChange { moved_from: Some(from.clone()), ..change }
}

impl TreeComparison<'_> {
    /// Notes what of the disk is in another place. `there`: where the disk has now what would be at `path` without a
    /// change.
    fn find_moved(&mut self, node: &VirtualNode, there: Option<&WorkspacePath>) {
        match node {
            VirtualNode::OnDisk(disk) if Some(disk) != there && self.disk.kind(disk).is_some() => {
                self.moved.insert(disk.clone());
            }
            VirtualNode::Directory(directory) => {
                let stays = directory.disk.as_ref().filter(|disk| Some(*disk) == there);
                if stays.is_none() {
                    self.moved.extend(self.moving_with(directory).into_iter().map(|(_, from)| from));
                }
                for (name, child) in &directory.names {
                    let there = stays.map(|disk| disk.child(Path::new(name)));
                    self.find_moved(child, there.as_ref());
                }
            }
            _ => {}
        }
    }

    /// The unchanged entries in a directory that moves: each name, and its path now.
    fn moving_with(&self, directory: &VirtualDirectory) -> Vec<(OsString, WorkspacePath)> {
        let Some(disk) = &directory.disk else { return Vec::new() };
        let names = self.disk.names(disk).unwrap_or_default().into_iter();
        let unchanged = names.filter(|name| !directory.names.contains_key(name));
        unchanged.map(|name| (name.clone(), disk.child(Path::new(&name)))).collect()
    }

    fn add(&mut self, path: &WorkspacePath, node: &VirtualNode, there: Option<&WorkspacePath>) {
        let stays = |disk: &WorkspacePath| Some(disk) == there;
        match node {
            VirtualNode::OnDisk(disk) if stays(disk) => return,
            VirtualNode::Directory(VirtualDirectory { disk: Some(disk), names, rights }) if stays(disk) => {
                self.give(disk, rights);
                for (name, child) in names {
                    let name = Path::new(name);
                    self.add(&path.child(name), child, Some(&disk.child(name)));
                }
                return;
            }
            VirtualNode::Kept(former) if there.is_some_and(|there| self.has(there, FileKind::File)) => {
                let to = Some(EntryState::File(former.clone()));
                self.changes.push(EntryChange::new(path, Some(Revision::of(b"").into()), to));
                return;
            }
            VirtualNode::Link(target) if there.is_some_and(|there| self.has_link(there, target)) => return,
            VirtualNode::Directory(directory) => {
                if let Some(there) = there.filter(|there| self.has(there, FileKind::Directory)) {
                    self.become_in_place(path, directory, there);
                    return;
                }
            }
            _ => {}
        }
        self.clear(there);
        let create = |is| EntryChange::new(path, None, Some(is));
        match node {
            VirtualNode::OnDisk(disk) if self.disk.kind(disk).is_some() => {
                self.changes.push(moved(disk, path));
            }
            VirtualNode::OnDisk(_) | VirtualNode::Absent => {}
            VirtualNode::Kept(former) => self.changes.push(create(EntryState::File(former.clone()))),
            VirtualNode::Link(target) => self.changes.push(create(EntryState::Link(target.clone()))),
            VirtualNode::Directory(directory) => {
                self.changes.push(create(EntryState::Directory { rights: self.rights(directory) }));
                for (name, from) in self.moving_with(directory) {
                    self.changes.push(moved(&from, &path.child(Path::new(&name))));
                }
                for (name, child) in &directory.names {
                    self.add(&path.child(Path::new(name)), child, None);
                }
            }
        }
    }

    fn has_link(&self, there: &WorkspacePath, target: &OsStr) -> bool {
        !self.moved.contains(there) && self.disk.target(there).is_some_and(|says| says == target)
    }

    /// Whether such an entry is at `there`, and does not move away.
    fn has(&self, there: &WorkspacePath, kind: FileKind) -> bool {
        !self.moved.contains(there) && self.disk.kind(there) == Some(kind)
    }

    /// A directory that would be made, or come, where the disk has one stays that one, and holds only what the other
    /// would: what went and came back on the way is no change.
    fn become_in_place(&mut self, path: &WorkspacePath, directory: &VirtualDirectory, there: &WorkspacePath) {
        self.give(there, &self.rights(directory));
        let mut names = directory.names.clone();
        names.extend(self.moving_with(directory).into_iter().map(|(name, from)| (name, VirtualNode::OnDisk(from))));
        let others = self.disk.names(there).unwrap_or_default().into_iter();
        for name in others.filter(|name| !names.contains_key(name)) {
            self.clear(Some(&there.child(Path::new(&name))));
        }
        for (name, child) in &names {
            let name = Path::new(name);
            self.add(&path.child(name), child, Some(&there.child(name)));
        }
    }

    fn rights(&self, directory: &VirtualDirectory) -> Rights {
        directory.disk.as_ref().map_or_else(|| directory.rights.clone(), |disk| self.disk.rights(disk))
    }

    /// What comes into the directory may be seen by nobody who might not enter the former one.
    fn give(&mut self, there: &WorkspacePath, rights: &Rights) {
        let now = self.disk.rights(there);
        // Who has narrowed the one that is there meant it.
        let rights = rights.in_place_of(&now);
        if rights.changes(&now) {
            let [now, then] = [now, rights].map(|rights| Some(EntryState::Directory { rights }));
            self.changes.push(EntryChange::new(there, now, then));
        }
    }

    /// Removes what is at `there`, but for what moves.
    fn clear(&mut self, there: Option<&WorkspacePath>) {
        let Some(there) = there.filter(|there| !self.moved.contains(*there)) else { return };
        let Some(kind) = self.disk.kind(there) else { return };
        if kind == FileKind::Directory {
            // The innermost first, as only an empty directory is removed.
            for name in self.disk.names(there).unwrap_or_default() {
                self.clear(Some(&there.child(Path::new(&name))));
            }
        }
        self.changes.push(EntryChange::new(there, Some(Revision::of(b"").into()), None));
    }
}

fn root_of(path: &WorkspacePath) -> WorkspacePath {
    let mut top = path.clone();
    while let Some(parent) = top.parent() {
        top = parent;
    }
    top
}

/// The disk as a call sees it. Everything that its policy does not let it change is as if nothing were there.
#[derive(Clone, Copy)]
pub(super) struct DiskOfCall<'c>(pub(super) &'c CallContext);

impl DiskOfCall<'_> {
    /// The entry itself. None where the way to it is no longer the one that it was, as when a directory was replaced
    /// with a link.
    fn entry(self, path: &WorkspacePath) -> Option<WritablePath> {
        self.0.workspace.writable_entry(path).ok().filter(|entry| entry.path() == path)
    }

    fn tree(self, path: &WorkspacePath) -> Option<Tree> {
        self.0.workspace.tree(&self.entry(path)?, Purpose::Remove).ok()
    }

    /// The metadata of the entry at a path, links not followed; `None` where nothing is.
    pub(super) fn stat(self, path: &WorkspacePath) -> Option<Stat> {
        self.0.workspace.entry_stat(&self.entry(path)?).ok().flatten()
    }

    /// The kind of entry at a path, links not followed; `None` where nothing is.
    pub(super) fn kind(self, path: &WorkspacePath) -> Option<FileKind> {
        // A root is no entry of its own that could be written.
        if path.is_root() { Some(FileKind::Directory) } else { self.stat(path).map(|stat| stat.kind) }
    }

    /// The rights to a file or directory.
    pub(super) fn rights(self, path: &WorkspacePath) -> Rights {
        self.stat(path).map_or_else(Rights::default, |stat| Rights::of(path, &stat, None))
    }

    /// The names in a directory; `None` if they cannot be known.
    pub(super) fn names(self, directory: &WorkspacePath) -> Option<Vec<OsString>> {
        let tree = self.tree(directory)?;
        let inside = tree.entries().iter().filter(|entry| entry.position.depth == 1);
        Some(inside.map(|entry| entry.position.name.clone()).collect())
    }

    /// The target of a link; `None` for anything else.
    pub(super) fn target(self, path: &WorkspacePath) -> Option<OsString> {
        match self.tree(path)?.node() {
            Node::Link(target) => Some(target.clone()),
            _ => None,
        }
    }

    /// Whether the file there has this content.
    pub(super) fn holds(self, path: &WorkspacePath, revision: Revision) -> bool {
        let hashed = || -> io::Result<bool> {
            let mut file = self.0.workspace.open_file(path).map_err(io::Error::other)?;
            Ok(Revision::of_reader(&mut file)? == revision)
        };
        // What cannot be read is not known to be what the change left, and so is left alone.
        self.kind(path) == Some(FileKind::File) && hashed().unwrap_or(false)
    }

    /// The content of a file that would be there, as text tools may read it.
    fn content(self, file: &VirtualNode) -> Option<Vec<u8>> {
        match file {
            VirtualNode::OnDisk(path) => Some(self.0.workspace.read(path, self.0.settings.max_file_size).ok()?.bytes),
            VirtualNode::Kept(former) => self.0.session.history.content(former.revision),
            _ => None,
        }
    }

    /// Keeps a content from now on. Returns its revision, and that of the one that it was worked out from.
    fn keep(self, content: &[u8], now: &[u8]) -> (Revision, Revision) {
        let content = HashedBytes::of(content);
        let _ = self.0.session.history.keep_content(content, None);
        (content.revision(), Revision::of(now))
    }

    /// The revision of a file without what an append has put into it, and that of the file.
    pub(super) fn without(self, file: &VirtualNode, part: AppendedPart) -> Option<(Revision, Revision)> {
        let now = self.content(file)?;
        let without = self.0.session.history.without(&now, part)?;
        Some(self.keep(&without, &now))
    }

    /// The revision of a file in which somebody has changed other lines than a change from the content `before` to `after`,
    /// without that change, and that of the file.
    pub(super) fn around(
        self,
        file: &VirtualNode,
        change: &EntryChange,
        before: Revision,
        after: Revision,
    ) -> Option<(Revision, Revision)> {
        let session = &self.0.session;
        let (now, before) = (self.content(file)?, session.history.content(before)?);
        let edited = change.edited.as_ref().and_then(|part| part.content(&before));
        let left = edited.filter(|bytes| Revision::of(bytes) == after).or_else(|| {
            let seen = session.ledger.content_of(&change.path, |seen| seen == after);
            seen.map(|bytes| bytes.to_vec()).or_else(|| session.history.content(after))
        })?;
        let [left, now_text, before] = [&left, &now, &before].map(|bytes| std::str::from_utf8(bytes).ok());
        let around = merged(left?, now_text?, before?)?;
        Some(self.keep(around.as_bytes(), &now))
    }

    /// The path `old` as the name to which the entry at `now` goes back, where the two differ in case alone and the file
    /// system finds it by both.
    pub(super) fn respelled(self, now: &WorkspacePath, old: &WorkspacePath) -> Option<WritablePath> {
        self.0.workspace.respelled(&self.entry(now)?, old)
    }

    /// Whether the directory that is there was made by a change as one with this `identity`, or was brought back for it.
    pub(super) fn is_made(self, directory: &WorkspacePath, identity: Option<(u64, u64)>) -> bool {
        let Some((identity, now)) = identity.zip(self.stat(directory)) else { return true };
        let now = now.device_and_inode();
        now == identity || self.0.session.history.undo_list().brought_back.contains(&now)
    }

    pub(super) fn is_kept(self, revision: Revision) -> bool {
        self.0.session.history.has_content(revision)
    }

    /// Why a path may not be changed, if it may not.
    pub(super) fn refusal(self, path: &WorkspacePath, part: ChangedPart) -> Option<String> {
        match commit::writable(self.0, path, part) {
            Ok(target) if target.path() == path => None,
            Ok(_) => Some("a link leads elsewhere now".to_owned()),
            Err(_) => Some("it may not be changed".to_owned()),
        }
    }

    /// The mark of what is there ([`Tree::content_mark`]).
    pub(super) fn content_mark(self, path: &WorkspacePath) -> Option<Revision> {
        Some(self.tree(path)?.content_mark())
    }
}

/// `base` with the lines that differ in `one` and those that differ in `other`; `None` where these meet.
fn merged(base: &str, one: &str, other: &str) -> Option<String> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let texts = [lines(one), lines(other)];
    let changes = [one, other].into_iter().enumerate();
    let changes = changes.flat_map(|(side, text)| changed_lines(base, text).into_iter().map(move |at| (side, at)));
    let mut changes: Vec<(usize, [Range<usize>; 2])> = changes.collect();
    changes.sort_by_key(|(side, [was, _])| (was.start, was.end, *side));
    let base = lines(base);
    let (mut merged, mut at, mut ends) = (String::new(), 0, [None; 2]);
    for (side, [was, is]) in changes {
        // Lines next to each other could be one change for who made them.
        if ends[1 - side].is_some_and(|end| was.start <= end) {
            return None;
        }
        ends[side] = Some(was.end);
        merged.extend(base[at..was.start].iter().chain(&texts[side][is]).copied());
        at = was.end;
    }
    merged.extend(base[at..].iter().copied());
    Some(merged)
}
