//! Which file a path of a patch means.

use text_edit::patch::PatchPath;

use confined_fs::WorkspacePath;

use super::{
    super::{CallContext, ExistingKind, ToolError},
    patched_files::PatchedFiles,
};

/// The path of something that is there, on the disk or by an earlier section: the first choice that is, else as every
/// tool resolves the first one.
pub(super) fn existing(cx: &CallContext, files: &PatchedFiles, path: &PatchPath) -> Result<WorkspacePath, ToolError> {
    let known = |text: &String| cx.workspace.resolve(text).ok().filter(|path| is_there(cx, files, path));
    match path.choices.iter().find_map(known) {
        Some(found) => Ok(found),
        None if files.has_removed(&cx.workspace.resolve(path.text())?) => Ok(cx.workspace.resolve(path.text())?),
        None => cx.existing(path.text(), ExistingKind::File),
    }
}

/// The path of something that is to be made: the first choice whose directory is there, else the first one.
pub(super) fn new(cx: &CallContext, path: &PatchPath) -> Result<WorkspacePath, ToolError> {
    if path.choices.len() > 1 {
        let in_directory = |text: &&String| {
            let parent = cx.workspace.resolve(text).ok().and_then(|path| path.parent());
            parent.is_some_and(|parent| !cx.workspace.is_missing(&parent))
        };
        if let Some(found) = path.choices.iter().find(in_directory) {
            return Ok(cx.workspace.resolve(found)?);
        }
    }
    cx.resolve_new_file(path.text())
}

fn is_there(cx: &CallContext, files: &PatchedFiles, path: &WorkspacePath) -> bool {
    files.holds(path) || !files.has_removed(path) && !cx.workspace.is_missing(path)
}
