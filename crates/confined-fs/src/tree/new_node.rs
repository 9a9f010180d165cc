//! The entries of a tree that is going to be made, and the reader that copies a file only while it stays the same.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};

use beneath::Stat;

use crate::{AccessError, AccessErrorKind, AtPath as _, WorkspacePath};

use super::{Node, TreeEntry, TreePosition};

/// One entry to be made. Modes are permission bits; 0 leaves them to the umask.
pub enum NewNode {
    /// A directory.
    Directory {
        /// Permission bits, set once everything is in it.
        mode: u32,
    },
    /// A file.
    File {
        /// Permission bits.
        mode: u32,
        /// What it will hold.
        content: Box<dyn Read>,
    },
    /// A link that says this.
    Link(OsString),
    /// A directory that is there already, into which something comes.
    ExistingDirectory,
    /// A directory or a file with the owner, the rights and the time of the one that it takes the place of.
    Moved(MovedNode),
}

/// What is moved by a copy and a removal.
pub struct MovedNode {
    pub(super) stat: Stat,
    /// Of a file: what it holds, and itself, for its attributes.
    pub(super) content: Option<(Box<dyn Read>, File)>,
}

/// Entries to be made, each directory before what it holds, the top first.
pub(super) type NewNodes<'p> = &'p mut dyn Iterator<Item = Result<(TreePosition, NewNode), AccessError>>;

/// An entry of the tree on the disk, which is at `path`, as one to be made.
pub(super) fn new_node(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    let node = match &entry.node {
        Node::Directory(stat) => NewNode::Directory { mode: stat.permissions() },
        Node::Link(target) => NewNode::Link(target.clone()),
        Node::Other(stat) => return Err(AccessError::new(AccessErrorKind::Special(stat.special()), path)),
        Node::File(seen) => NewNode::File { mode: seen.permissions(), content: Box::new(open_unchanged(path, seen)?) },
    };
    Ok((entry.position.clone(), node))
}

/// As [`new_node`], for a move: with all that the system keeps of an entry besides its content.
pub(super) fn moved_node(path: &WorkspacePath, entry: &TreeEntry) -> Result<(TreePosition, NewNode), AccessError> {
    match &entry.node {
        Node::Directory(stat) => {
            Ok((entry.position.clone(), NewNode::Moved(MovedNode { stat: stat.clone(), content: None })))
        }
        Node::File(seen) => {
            let content = open_unchanged(path, seen)?;
            let file = content.content.get_ref().try_clone().at(path)?;
            let content: (Box<dyn Read>, _) = (Box::new(content), file);
            Ok((entry.position.clone(), NewNode::Moved(MovedNode { stat: seen.clone(), content: Some(content) })))
        }
        Node::Link(_) | Node::Other(_) => new_node(path, entry),
    }
}

/// The file at `path`, which must be the one that was seen.
fn open_unchanged(path: &WorkspacePath, seen: &Stat) -> Result<UnchangedReader, AccessError> {
    let opened = path.root().dir.file_beneath(path.relative());
    let file = opened.at(path)?;
    let stat = beneath::file_stat(&file).at(path)?;
    if !stat.same_content_state(seen) {
        return Err(AccessError::new(AccessErrorKind::Stale, path));
    }
    Ok(UnchangedReader { content: file.take(seen.size.saturating_add(1)), seen: seen.clone() })
}

/// A file that is to be what it was to its last byte: one more than there was shows that it grew.
struct UnchangedReader {
    content: io::Take<File>,
    seen: Stat,
}

impl Read for UnchangedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        if count == 0
            && !buffer.is_empty()
            && !beneath::file_stat(self.content.get_ref())?.same_content_state(&self.seen)
        {
            return Err(CHANGED.into());
        }
        Ok(count)
    }
}

/// What an [`UnchangedReader`] says of a file that has changed.
pub(super) const CHANGED: io::ErrorKind = io::ErrorKind::StaleNetworkFileHandle;
