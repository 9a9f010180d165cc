//! Where `move` and `copy` put something, and what may be there.

use change_set::{Base, Tree, WritablePath};
use confined_fs::{FileKind, LookAlikes, Revision, WorkspacePath};

use super::super::{CallContext, Fingerprint, ToolError, read_before_write, tool::Alias};

pub(crate) const MOVE_ALIASES: &[Alias] = &[
    Alias::names("source", &["from", "src", "path", "old_path", "oldPath", "source_path", "sourcePath", "file_path"]),
    Alias::names(
        "destination",
        &["to", "dst", "dest", "target", "new_path", "newPath", "destination_path", "destinationPath"],
    ),
    Alias::names("sources", &["paths", "files", "source_paths", "sourcePaths", "file_paths"]),
    Alias::names("overwrite", &["replace"]),
];

/// Where an entry is to go.
pub(super) enum Place<'p> {
    Given(&'p str),
    /// Into a directory, under the name that it has.
    Named(WorkspacePath),
}

pub(super) struct Destination {
    pub(super) path: WorkspacePath,
    pub(super) target: WritablePath,
    pub(super) occupant: Occupant,
    pub(super) bytes: u64,
}

impl Destination {
    pub(super) fn replacing(&self) -> &'static str {
        if self.occupant == Occupant::Nothing { "" } else { ", replacing the file there" }
    }

    pub(super) fn fingerprint(&self, source: &WorkspacePath, tree: &Tree) -> Fingerprint {
        Fingerprint {
            path: format!("{source} to {}", self.target.path()),
            base: self.occupant.base(),
            content: Some(tree.mark()),
        }
    }

    pub(super) fn check_replaces(&self, tree: &Tree) -> Result<(), ToolError> {
        if !tree.is_directory() || self.occupant == Occupant::Nothing {
            return Ok(());
        }
        let why = format!("{} is a file, and a directory does not replace a file", self.path);
        Err(ToolError::invalid(why).hint("choose another destination, or delete the file first"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Occupant {
    Nothing,
    /// A file that may be replaced; its content, where it was looked at.
    File(Option<Revision>),
}

impl Occupant {
    pub(super) fn base(self) -> Base {
        match self {
            Self::Nothing | Self::File(None) => Base::Absent,
            Self::File(Some(revision)) => Base::Revision(revision),
        }
    }
}

/// The directory that a destination with a slash at its end means; none of one without.
pub(super) fn directory(cx: &CallContext, text: &str) -> Result<Option<WorkspacePath>, ToolError> {
    if !text.trim_end().ends_with('/') {
        return Ok(None);
    }
    let path = cx.resolve(text)?;
    match cx.workspace.stat(&path) {
        Ok(stat) if stat.kind != FileKind::Directory => {
            let sentence = format!("{path} is a file, and a destination that ends in / is a directory");
            Err(ToolError::invalid(sentence).hint("choose another destination"))
        }
        _ => Ok(Some(path)),
    }
}

/// The destination of a move that changes nothing but the case of the name, where the file system finds `from` by both
/// names, or makes another name of one that looks the same.
pub(super) fn respelled(
    cx: &CallContext,
    from: &WritablePath,
    place: &Place<'_>,
) -> Result<Option<Destination>, ToolError> {
    let Place::Given(text) = place else { return Ok(None) };
    let path = cx.workspace.resolve(text)?;
    let is_alike = || cx.workspace.look_alikes(&path) == LookAlikes::One(from.path().clone());
    let target = match cx.workspace.respelled(from, &path) {
        None if is_alike() => Some(cx.workspace.writable_entry(&path)?),
        target => target,
    };
    Ok(target.map(|target| Destination { path, target, occupant: Occupant::Nothing, bytes: 0 }))
}

/// Looks at the destination.
pub(super) fn resolve(
    cx: &CallContext,
    source: &WorkspacePath,
    place: &Place<'_>,
    overwrite: bool,
) -> Result<Destination, ToolError> {
    let path = match place {
        Place::Given(text) => cx.resolve_new(text, |_| overwrite)?,
        // A backslash is part of that name, which nobody has typed.
        Place::Named(path) if path.display_name().contains('\\') => path.clone(),
        Place::Named(path) => cx.resolve_new(&path.to_string(), |_| overwrite)?,
    };
    // First: the source itself is what is there, and would be refused as an entry in the way.
    if path == *source {
        return Err(same_path(source));
    }
    let target = cx.workspace.writable_entry(&path).map_err(|error| match cx.workspace.stat(&path) {
        // A root cannot be replaced, and the call means a place in it.
        Ok(stat) if stat.kind == FileKind::Directory && path.is_root() => is_directory(source, place, &path),
        _ => error.into(),
    })?;
    let stat = cx.workspace.entry_stat(&target)?;
    let bytes = stat.as_ref().map_or(0, |stat| stat.size);
    let occupant = match stat.map(|stat| stat.kind) {
        None => Occupant::Nothing,
        Some(FileKind::Directory) => return Err(is_directory(source, place, &path)),
        // A rename would replace the link itself, where the call means the directory.
        Some(FileKind::Symlink) if cx.workspace.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Directory) => {
            return Err(is_directory(source, place, &path));
        }
        Some(FileKind::File) if overwrite => Occupant::File(read_before_write::check_replaceable(cx, &path, &target)?),
        Some(FileKind::File) => {
            return Err(ToolError::invalid(format!("{path} already exists"))
                .hint("choose another destination, or pass overwrite=true to replace that file"));
        }
        Some(_) => {
            return Err(ToolError::invalid(format!("{path} already exists and is not a regular file"))
                .hint("choose another destination"));
        }
    };
    Ok(Destination { path, target, occupant, bytes })
}

fn is_directory(source: &WorkspacePath, place: &Place<'_>, directory: &WorkspacePath) -> ToolError {
    if matches!(place, Place::Named(_)) {
        return ToolError::invalid(format!("{directory} is a directory already, which is not replaced"))
            .hint("choose another destination, or name what is in the source");
    }
    let error = ToolError::invalid(format!("{directory} is a directory; the destination is the entry's own new path"));
    match directory.join(&source.display_name()) {
        Ok(inside) if !source.is_root() => error.hint(format!("pass destination={inside} to put it there")),
        _ => error.hint("pass the whole new path"),
    }
}

fn same_path(path: &WorkspacePath) -> ToolError {
    ToolError::invalid(format!("source and destination are both {path}"))
        .hint("pass another destination; name and directory may differ")
}

/// Refuses a destination in or at the source itself.
pub(super) fn check_apart(source: &WorkspacePath, destination: &WorkspacePath) -> Result<(), ToolError> {
    // These are real paths: by way of a link, one place may have two names.
    if source == destination {
        return Err(same_path(source));
    }
    if source.root().key() == destination.root().key() && destination.relative().starts_with(source.relative()) {
        let why = format!("{destination} is inside {source}; a directory cannot be moved or copied into itself");
        return Err(ToolError::invalid(why).hint("pass a destination outside of the source"));
    }
    Ok(())
}
