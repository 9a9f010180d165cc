//! Listing a tree and judging every entry of it: what policy protects refuses all of it.
//!
//! By descriptor, from each directory to what it holds, so that depth costs nothing. Content is not
//! looked at.

use std::path::Path;

use beneath::{FileKind, Listed, OpenFor, Stat};

use crate::disk_rules::repository;
use crate::open::{changeable, readable};
use crate::write::is_reserved;
use crate::{
    AccessError, AccessErrorKind, AtPath as _, Dir, DirectoryStack, Location, Shared, WorkspacePath, WritablePath,
    links,
};

use super::path_stack::PathStack;
use super::{Node, Tree, TreeEntry, TreePosition};

/// Entries of the largest tree that is moved, copied or deleted in one call.
const MAX_ENTRIES: usize = 20_000;

/// What is going to be done with a tree: decides what may be in it.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Deleting it.
    Remove,
    /// Moving it to this path.
    Move(&'a WritablePath),
    /// Copying it to this path.
    Copy(&'a WritablePath),
}

/// The listing of one tree.
pub(super) struct Scan<'a> {
    pub(super) shared: &'a Shared,
    /// Where its top truly is, and by which names.
    pub(super) top: &'a Location,
    /// As the caller called it.
    pub(super) asked: &'a WorkspacePath,
    pub(super) purpose: Purpose<'a>,
}

impl Scan<'_> {
    pub(super) fn run(&self) -> Result<Tree, AccessError> {
        let top = &self.top.real;
        let root = &top.root().dir;
        let stat = root.stat_beneath(top.relative()).at(self.asked)?;
        let parent = top.relative().parent().unwrap_or(Path::new(""));
        let parent = root.dir_beneath(parent, OpenFor::Traverse).at(self.asked)?;
        let mut stack = DirectoryStack::new(&parent, OpenFor::List);
        let mut below_top = PathStack::default();
        let mut entries = Vec::new();
        let mut waiting = vec![self.entry(TreePosition::top(), Path::new(""), stat, &parent)?];
        while let Some(entry) = waiting.pop() {
            if entries.len() + waiting.len() >= MAX_ENTRIES {
                return Err(self.too_many());
            }
            if let Node::Directory(_) = &entry.node {
                let TreePosition { depth, name } = &entry.position;
                let here = top.child(below_top.step(&entry.position));
                stack.leave_to(*depth);
                let own = if *depth == 0 { top.file_name().unwrap_or_default() } else { name };
                stack.enter(own).at(&here)?;
                let dir = stack.dir().at(&here)?;
                let mut names = dir.list().at(&here)?;
                self.repository(&here, below_top.as_path(), &names)?;
                // Before each of them is looked at.
                if entries.len() + waiting.len() + names.len() >= MAX_ENTRIES {
                    return Err(self.too_many());
                }
                names.sort_unstable_by(|one, two| two.name.as_encoded_bytes().cmp(one.name.as_encoded_bytes()));
                if matches!(self.purpose, Purpose::Copy(_)) {
                    // A write that is running in another call, or was killed: no part of what the tree holds.
                    names.retain(|listed| !is_reserved(&listed.name));
                }
                for listed in names {
                    let stat = dir.child_stat(&listed.name).at(&here)?;
                    let below = below_top.join(&listed.name);
                    let position = TreePosition { depth: depth + 1, name: listed.name };
                    waiting.push(self.entry(position, &below, stat, dir)?);
                }
            }
            entries.push(entry);
        }
        Ok(Tree { top: top.clone(), entries })
    }

    fn too_many(&self) -> AccessError {
        AccessError::new(AccessErrorKind::TooMany { limit: MAX_ENTRIES }, self.asked)
    }

    /// Judges one entry of the directory `dir`; `below` is its path below the top.
    fn entry(&self, position: TreePosition, below: &Path, stat: Stat, dir: &Dir) -> Result<TreeEntry, AccessError> {
        let path = self.top.real.child(below);
        self.judge(&path, below, stat.kind == FileKind::Directory)?;
        let node = match stat.kind {
            FileKind::File => Node::File(stat),
            FileKind::Directory => Node::Directory(stat),
            FileKind::Symlink => {
                let name = path.file_name().unwrap_or_default();
                Node::Link(dir.child_link(name).map_err(|error| match error.kind() {
                    // It was a link a moment ago: another program is swapping names.
                    std::io::ErrorKind::InvalidInput => AccessError::new(AccessErrorKind::Changed, &path),
                    _ => AccessError::from_io(error, &path),
                })?)
            }
            FileKind::Other if matches!(self.purpose, Purpose::Move(_)) => Node::Other(stat),
            FileKind::Other => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), &path)),
        };
        if let Node::Link(_) = &node {
            self.judge_link(&path, below)?;
        }
        if let (Node::Link(target), Purpose::Move(to)) = (&node, self.purpose)
            // An absolute link leads to the same file from anywhere.
            && !Path::new(target).has_root()
            && !links::stays_inside(&self.shared.roots, &to.path().child(below), Path::new(target))
        {
            return Err(AccessError::new(AccessErrorKind::Denied, &path));
        }
        Ok(TreeEntry { position, node })
    }

    /// A link decides what its name leads to.
    fn judge_link(&self, path: &WorkspacePath, below: &Path) -> Result<(), AccessError> {
        let link = |path: &WorkspacePath| changeable(path.root().policy().link(path.relative()), path);
        match self.purpose {
            Purpose::Remove => link(path),
            Purpose::Copy(to) => link(&to.path().child(below)),
            Purpose::Move(to) => link(path).and_then(|()| link(&to.path().child(below))),
        }
    }

    /// Refuses to take a repository away, and to make one.
    fn repository(&self, here: &WorkspacePath, below: &Path, names: &[Listed]) -> Result<(), AccessError> {
        let to = match self.purpose {
            Purpose::Move(to) | Purpose::Copy(to) => Some(to.path().child(below)),
            Purpose::Remove => None,
        };
        let from = (!matches!(self.purpose, Purpose::Copy(_))).then(|| here.clone());
        for path in from.into_iter().chain(to) {
            if let Some(rule) = repository::why_refused_listed(&path, names) {
                return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, &path, &rule));
            }
        }
        Ok(())
    }

    fn judge(&self, path: &WorkspacePath, below: &Path, directory: bool) -> Result<(), AccessError> {
        let deepest = self.shared.roots.deepest(path);
        if deepest.root().index != self.top.real.root().index {
            // Another root, with other rights.
            return Err(AccessError::new(AccessErrorKind::IsRoot, path));
        }
        let from = || std::iter::once(path.clone()).chain(self.top.aliases.iter().map(|alias| alias.child(below)));
        if from().any(|path| path.hidden()) {
            // Its name is not shown.
            let rule = "something below it whose name is hidden";
            return Err(AccessError::by_rule(AccessErrorKind::ProtectedWrite, self.asked, rule));
        }
        from().try_for_each(|name| readable(&name, path))?;
        if !matches!(self.purpose, Purpose::Copy(_)) {
            changeable(path.root().policy().server_file(path.relative()), path)?;
            from().try_for_each(|name| protected(&name, path, directory))?;
        }
        if let Purpose::Move(to) | Purpose::Copy(to) = self.purpose {
            let new = to.path().child(below);
            changeable(new.root().policy().server_file(new.relative()), &new)?;
            for name in to.names().map(|name| name.child(below)) {
                readable(&name, &new)?;
                protected(&name, &new, directory)?;
            }
        }
        Ok(())
    }
}

fn protected(name: &WorkspacePath, path: &WorkspacePath, directory: bool) -> Result<(), AccessError> {
    changeable(name.root().policy().write(name.relative(), directory), path)
}
