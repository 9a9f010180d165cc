//! What a change of several entries notes for the audit.

use crate::{
    audit::{ChangeLog, RecordedContent},
    session::history::{FormerEntry, FormerNode},
    workspace::{Node, Revision, Tree, TreeEntry, TreePosition, WorkspacePath},
};

use super::super::CallContext;

/// Bytes of moved files that are read for their revisions; a move itself reads nothing.
const READ: u64 = 64 << 20;

/// A tree was moved to `to`, where a file with the content `over` was.
pub(in crate::tools) fn record_moved(cx: &CallContext, tree: &Tree, to: &WorkspacePath, over: Option<Revision>) {
    let Some(log) = &cx.changes else { return };
    let mut left = READ;
    for ((old, entry), (new, _)) in tree.paths().zip(tree.paths_at(to)) {
        match &entry.node {
            Node::File(stat) if log.is_full() || stat.size > left => {
                log.file(&old, RecordedContent::Unknown, None);
                log.file(&new, over, RecordedContent::Unknown);
            }
            Node::File(stat) => {
                left -= stat.size;
                let content =
                    cx.workspace.open_file(&new).ok().and_then(|mut file| Revision::of_reader(&mut file).ok());
                let content = content.map_or(RecordedContent::Unknown, RecordedContent::Content);
                log.file(&old, content, None);
                log.file(&new, over, content);
            }
            node => {
                record_other(log, &old, node);
                record_other(log, &new, node);
            }
        }
    }
}

/// Entries were made, with these contents.
pub(in crate::tools) fn record_made<'e>(
    cx: &CallContext,
    entries: impl Iterator<Item = (WorkspacePath, &'e TreeEntry)>,
    contents: &[Option<Revision>],
) {
    let Some(log) = &cx.changes else { return };
    for ((path, entry), content) in entries.zip(contents) {
        match content {
            Some(revision) => log.file(&path, None, Some(*revision)),
            None => record_other(log, &path, &entry.node),
        }
    }
}

/// Where the entries that a call removed or brought back are by now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum FormerIs {
    Gone,
    Back,
}

/// Entries at `top` were removed or brought back.
pub(in crate::tools) fn record_former(cx: &CallContext, top: &WorkspacePath, entries: &[FormerEntry], is: FormerIs) {
    let Some(log) = &cx.changes else { return };
    for (path, entry) in TreePosition::paths_at(top, entries.iter().map(|entry| &entry.position)).zip(entries) {
        match &entry.node {
            FormerNode::File(former) if is == FormerIs::Gone => log.file(&path, Some(former.revision), None),
            FormerNode::File(former) => log.file(&path, None, Some(former.revision)),
            FormerNode::Directory { .. } => log.other(&path, "directory"),
            FormerNode::Link(_) => log.other(&path, "link"),
        }
    }
}

fn record_other(log: &ChangeLog, path: &WorkspacePath, node: &Node) {
    log.other(path, if matches!(node, Node::Directory(_)) { "directory" } else { "link" });
}
