//! What a wait looks at, and all that it knows from its first look on.

use std::time::Instant;

use confined_fs::{AccessErrorKind, FileKind, OpenFile, PathWatch, RootGone, Stat};

use super::{
    super::{CallContext, ToolError},
    file_tail::FileTail,
    new_lines::NewLines,
    new_names::DirectoryNames,
    request::{NewFrom, Until, WaitRequest},
};

/// A wait between two looks.
pub(super) struct PendingWait {
    pub(super) request: WaitRequest,
    pub(super) until: Until,
    pub(super) before: Before,
    pub(super) tail: FileTail,
    /// Whether the file has lines.
    pub(super) is_text: bool,
    pub(super) new: NewLines,
    /// Bytes of the unfinished last line that are not new.
    pub(super) known: u64,
    /// Its length when it was last looked at, since when it has that, and whether it was compared with the pattern.
    pub(super) unfinished: (u64, Instant, bool),
    pub(super) notes: Vec<String>,
    /// The last line that was there already and matches: its number, its text and whether that is cut.
    pub(super) there: Option<(usize, String, bool)>,
    pub(super) watch: Option<PathWatch>,
}

/// The entry at the path of a wait, under the rules of `read`. Special files are never opened.
pub(super) enum Observed {
    Missing,
    File(OpenFile),
    Directory,
    Special(Stat),
    /// It changed while it was looked at.
    Unsettled,
}

/// The entry at the path when the call began.
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
        let (why, hint) = match self {
            Observed::Directory if request.new_from != NewFrom::Now => (
                format!("`offset` and `since` are about lines, and {path} is a directory"),
                "leave them out to wait for new names in it",
            ),
            Observed::Special(stat) if until == Until::Line => (
                format!("{path} is a {}, and has no lines to wait for", stat.special()),
                "only regular files and directories have lines or names; until=changes or until=gone work",
            ),
            _ => return Ok(()),
        };
        Err(ToolError::invalid(why).hint(hint))
    }
}

/// Looks at what is at the path; `until` as far as it is known.
///
/// # Errors
/// Those of the path, as `read` has them; a missing one is no error.
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
                // Another kind of entry took its place between the two system calls.
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
