//! What is at the path of a wait, under the rules of `read`. Special files are never opened.

use confined_fs::{AccessErrorKind, FileKind, OpenFile, RootGone, Stat};

use super::{
    super::{CallContext, ToolError},
    args::Until,
    new_names::DirectoryNames,
    request::{NewFrom, WaitRequest},
};

/// What is at the path.
pub(super) enum Observed {
    Missing,
    File(OpenFile),
    Directory,
    Special(Stat),
    /// It changed while it was looked at.
    Unsettled,
}

/// What was at the path when the call began.
#[derive(Debug)]
pub(super) enum Before {
    Missing,
    File(Stat),
    Directory(DirectoryNames),
    Special(Stat),
}

impl Observed {
    /// Refuses arguments that do not go with what is there.
    ///
    /// # Errors
    /// `invalid_input`.
    pub(super) fn check(&self, request: &WaitRequest, until: Until) -> Result<(), ToolError> {
        let path = &request.path;
        match self {
            Observed::Directory if request.new_from != NewFrom::Now => {
                return Err(ToolError::invalid(format!(
                    "`offset` and `since` are about lines, and {path} is a directory"
                ))
                .hint("leave them out to wait for new names in it"));
            }
            Observed::Special(stat) if until == Until::Line => {
                return Err(ToolError::invalid(format!(
                    "{path} is a {}, and has no lines to wait for",
                    stat.special()
                ))
                .hint("only regular files and directories have lines or names; until=changes or until=gone work"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Looks at what is at the path; `until` as far as it is known.
///
/// # Errors
/// Those of the path, as `read` has them; a missing one is none.
pub(super) fn observe(cx: &CallContext, request: &WaitRequest, until: Option<Until>) -> Result<Observed, ToolError> {
    let path = &request.path;
    let stat_alone = until == Some(Until::Gone);
    let observed = cx.workspace.check_readable(path).and_then(|()| {
        if stat_alone {
            return cx.workspace.stat(path).map(Observed::Special);
        }
        match cx.workspace.open_file(path) {
            Err(error) if matches!(error.kind, AccessErrorKind::Special(_)) => {
                let stat = cx.workspace.stat(path)?;
                Ok(if stat.kind == FileKind::Other { Observed::Special(stat) } else { Observed::Unsettled })
            }
            opened => opened.map(Observed::File),
        }
    });
    observed.or_else(|error| match error.kind {
        AccessErrorKind::NotFound | AccessErrorKind::RootGone(RootGone::NotYet | RootGone::NoDirectory) => {
            Ok(Observed::Missing)
        }
        AccessErrorKind::IsDirectory => Ok(Observed::Directory),
        AccessErrorKind::Changed | AccessErrorKind::InUse => Ok(Observed::Unsettled),
        _ => Err(error.into()),
    })
}
