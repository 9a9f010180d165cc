//! Building a tree below a temporary name: directories, files and links, each hashed, synced and given its rights.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};

use beneath::{OpenFor, Stat};

use crate::{
    AccessError, AccessErrorKind, AtPath as _, Dir, DirectoryStack, NewDirectory, Revision, WaitLimit, WorkspacePath,
};

use super::NewNode;
use super::new_node::{CHANGED, MovedNode, NewNodes};

/// Files and directories that are put on the disk one by one; with more, all of them at once at the
/// end, which takes a fraction of the time, where the system can.
const SYNCED_ONE_BY_ONE: usize = if cfg!(target_os = "linux") { 64 } else { usize::MAX - 1 };

/// What was made.
#[derive(Clone, Debug, Default)]
pub struct CreatedTree {
    /// The content of each node, in order; none for what is no file.
    pub revisions: Vec<Option<Revision>>,
    /// Bytes in its files.
    pub bytes: u64,
    /// Links that were left out because they would have led outside of the roots.
    pub links_left_out: Vec<WorkspacePath>,
    /// Directories that were made above it, the outermost first.
    pub made: Vec<NewDirectory>,
    /// The name, in the same directory, of the file that it replaced, while that is kept.
    pub(super) replaced: Option<OsString>,
}

/// Builds the nodes as the entry `aside` of `dir`, which shows nothing of them yet, and is wiped by the
/// caller when this fails.
pub(super) fn build(
    dir: &Dir,
    aside: &OsStr,
    nodes: NewNodes<'_>,
    asked: &WorkspacePath,
    wait_limit: &WaitLimit,
) -> Result<CreatedTree, AccessError> {
    let failed = |error| AccessError::from_io(error, asked);
    let mut created = CreatedTree::default();
    let mut builder = TreeBuilder {
        stack: DirectoryStack::new(dir, OpenFor::Traverse),
        modes: Vec::new(),
        synced: 0,
        asked,
        wait_limit,
    };
    for node in nodes {
        builder.check_cancelled()?;
        let (position, node) = node?;
        builder.finish(position.depth)?;
        let own = if position.depth == 0 { aside } else { &position.name };
        let holder = builder.stack.dir().at(asked)?;
        let revision = match node {
            NewNode::Directory { mode } => {
                holder.make_dir(own, false).at(asked)?;
                builder.stack.enter(own).at(asked)?;
                builder.modes.push(mode);
                None
            }
            NewNode::Moved(MovedNode { stat, content: None }) => {
                holder.make_dir(own, false).at(asked)?;
                builder.stack.enter(own).at(asked)?;
                builder.stack.dir().at(asked)?.set_owner_of(&stat);
                builder.modes.push(stat.permissions());
                None
            }
            NewNode::ExistingDirectory => {
                builder.stack.enter(own).at(asked)?;
                builder.modes.push(0);
                None
            }
            NewNode::Link(target) => {
                holder.make_link(&target, own).at(asked)?;
                None
            }
            node @ (NewNode::File { .. } | NewNode::Moved(_)) => {
                let (mode, content, like) = match node {
                    NewNode::File { mode, content } => (mode, content, None),
                    NewNode::Moved(MovedNode { stat, content: Some((content, file)) }) => {
                        (0, content, Some((file, stat)))
                    }
                    _ => continue,
                };
                let one_by_one = builder.synced < SYNCED_ONE_BY_ONE;
                builder.synced += 1;
                let written = write_file(holder, own, mode, content, like.as_ref(), wait_limit, one_by_one);
                let (revision, bytes) = written.map_err(|error| {
                    // What stopped in the middle of a file stopped for that reason.
                    match error.kind() {
                        io::ErrorKind::Interrupted => AccessError::new(AccessErrorKind::Stopped, asked),
                        CHANGED => AccessError::new(AccessErrorKind::Stale, asked),
                        _ => failed(error),
                    }
                })?;
                created.bytes += bytes;
                Some(revision)
            }
        };
        created.revisions.push(revision);
    }
    builder.finish(0)?;
    if builder.synced > SYNCED_ONE_BY_ONE {
        dir.sync_file_system().at(asked)?;
    }
    Ok(created)
}

/// What is being built: the directories that are not done yet, from the outermost.
struct TreeBuilder<'b> {
    stack: DirectoryStack<&'b Dir>,
    /// The permission bits that each of them gets once everything is in it.
    modes: Vec<u32>,
    /// Files and directories so far.
    synced: usize,
    asked: &'b WorkspacePath,
    wait_limit: &'b WaitLimit,
}

impl TreeBuilder<'_> {
    fn check_cancelled(&self) -> Result<(), AccessError> {
        if self.wait_limit.ended() { Err(AccessError::new(AccessErrorKind::Stopped, self.asked)) } else { Ok(()) }
    }

    /// Finishes directories until so many are open: nothing more comes into them. One without the
    /// right to write would have taken nothing.
    fn finish(&mut self, depth: usize) -> Result<(), AccessError> {
        while self.stack.depth() > depth {
            self.check_cancelled()?;
            let mode = self.modes.pop().unwrap_or_default();
            let done = self.stack.dir().at(self.asked)?;
            if self.synced < SYNCED_ONE_BY_ONE {
                let _ = done.sync();
            }
            self.synced += 1;
            // Looked at first, which costs less than to open it for being changed.
            if mode != 0 && done.stat().at(self.asked)?.identity.mode & 0o7777 != mode & 0o777 {
                done.set_mode(mode).at(self.asked)?;
            }
            self.stack.leave();
        }
        Ok(())
    }
}

/// `Interrupted` when the wait limit ends first.
fn write_file(
    holder: &Dir,
    name: &OsStr,
    mode: u32,
    mut content: Box<dyn Read>,
    like: Option<&(File, Stat)>,
    wait_limit: &WaitLimit,
    sync: bool,
) -> io::Result<(Revision, u64)> {
    let file = holder.create(name, false)?;
    let mut hasher = Revision::hasher();
    let mut buffer = vec![0; 128 * 1024];
    let mut bytes = 0;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            answer => answer?,
        };
        if wait_limit.ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        hasher.update(&buffer[..count]);
        beneath::write_all(&file, &buffer[..count])?;
        bytes += count as u64;
    }
    if mode != 0 {
        beneath::set_mode(&file, mode)?;
    }
    if let Some((original, stat)) = like {
        beneath::carry_attributes(original, stat, &file)?;
        if let Some(modified) = stat.modified {
            // A file system may not keep times; the content is what counts.
            let _ = beneath::set_modified(&file, modified);
        }
    }
    if sync {
        beneath::sync_data(&file)?;
    }
    Ok((hasher.finish(), bytes))
}
