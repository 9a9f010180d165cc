//! Keeping what a file holds before something else takes its place.

use std::io::{self, Seek as _};

use confined_fs::{AccessError, Durable, Node, OpenFile, ReplacedFile, Revision, Tree, WorkspacePath};

use crate::session::history::{Former, FormerNode, Kept};

use super::{
    super::{CallContext, Kind, ToolError},
    note::note_of,
};

/// Keeps the file that is going to be moved over.
pub(in crate::tools) fn keep_replaced(
    cx: &CallContext,
    path: &WorkspacePath,
    expected: Option<Revision>,
) -> Result<(ReplacedFile, Option<String>, bool), ToolError> {
    let stat = cx.workspace.open_file(path)?.stat().clone();
    let (revision, kept) = keep_file(cx, path, expected, Durable::Now)?;
    if expected.is_some_and(|expected| expected != revision) {
        return Err(changed(path));
    }
    let usable = !matches!(kept, Kept::Nowhere(_));
    Ok((ReplacedFile { stat, revision }, note_of(&kept), usable))
}

/// What an entry is, if it is one that can be part of a change of several.
pub(in crate::tools) fn former_node(cx: &CallContext, tree: &Tree) -> Result<Option<FormerNode>, ToolError> {
    let path = tree.top();
    Ok(match tree.node() {
        Node::File(stat) => {
            let revision = hash(cx.workspace.open_file(path)?).map_err(|error| read_failed(path, error))?;
            Some(FormerNode::File(Former::new(revision, stat.permissions())))
        }
        Node::Link(says) => Some(FormerNode::Link(says.clone())),
        Node::Directory(_) | Node::Other(_) => None,
    })
}

/// Keeps a file as it is now. Its revision is exact even where its content could not be kept.
pub(super) fn keep_file(
    cx: &CallContext,
    path: &WorkspacePath,
    known: Option<Revision>,
    durable: Durable,
) -> Result<(Revision, Kept), ToolError> {
    let mut open = cx.workspace.open_file(path)?;
    let size = open.stat().size;
    let (revision, kept) =
        cx.session.history.keep(&mut open, size, known, durable).map_err(|error| read_failed(path, error))?;
    let same = |open: &OpenFile| open.restat().is_ok_and(|now| now.same_file_state(open.stat()));
    if !same(&open) {
        return Err(changed(path));
    }
    match (revision, known) {
        (Some(revision), _) => Ok((revision, kept)),
        (None, Some(known)) => Ok((known, kept)),
        (None, None) => Ok((hash(open).map_err(|error| read_failed(path, error))?, kept)),
    }
}

fn hash(mut file: OpenFile) -> io::Result<Revision> {
    file.rewind()?;
    Revision::of_reader(&mut file)
}

/// The sentence for what is something else now.
pub(in crate::tools) fn changed(path: &WorkspacePath) -> ToolError {
    ToolError::new(Kind::Stale, format!("{path} has changed during the call, and nothing was done"))
        .hint("look at what is there now, then repeat the call")
}

pub(super) fn read_failed(path: &WorkspacePath, error: io::Error) -> ToolError {
    AccessError::from_io(error, path).into()
}
