//! The seen-and-unchanged check before a file is changed.

use crate::{
    edit,
    text::Document,
    workspace::{Revision, Snapshot, TreeGuard, WorkspacePath, WritablePath},
};

use super::{CallContext, Kind, ReadBeforeWrite, ToolError};

/// Lines of diff that show how a stale file differs from what was seen.
const STALE_DIFF_LINES: usize = 40;

/// Parses the argument `expected_revision`.
pub(super) fn expected(text: Option<&str>) -> Result<Option<Revision>, ToolError> {
    let Some(text) = text else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| {
        ToolError::invalid(format!("`expected_revision` is not a revision: {text:?}"))
            .hint("pass the `revision` that read, write or edit returned in _meta, or leave it out")
    })
}

/// Checks that the file in `now` is what the model believes it is.
///
/// # Errors
/// `not_read` where it was never seen, `stale` (with what changed) where it is something else now.
fn check(cx: &CallContext, asked: &WorkspacePath, now: &Snapshot, expected: Option<Revision>) -> Result<(), ToolError> {
    let seen = cx.session.ledger.seen(&now.path);
    if let Some(expected) = expected {
        return if expected == now.revision {
            Ok(())
        } else {
            Err(ToolError::new(
                Kind::Stale,
                format!("{asked} is at revision {}, not at expected_revision {expected}", now.revision),
            )
            .hint(format!("read {asked} again and repeat the change on what is there now")))
        };
    }
    match (seen, cx.settings.read_before_write) {
        (_, ReadBeforeWrite::Off) | (None, ReadBeforeWrite::ChangedOnly) => Ok(()),
        (None, ReadBeforeWrite::Strict) => {
            Err(ToolError::new(Kind::NotRead, format!("{asked} has not been read in this session"))
                .hint(format!("read {asked} first, then repeat this call")))
        }
        (Some(seen), _) if seen.revision == now.revision => Ok(()),
        (Some(seen), _) => {
            let error = ToolError::new(Kind::Stale, format!("{asked} has changed since it was read"))
                .hint(format!("read {asked} again and repeat the change on what is there now"));
            let was = seen.content.and_then(|bytes| Document::decode(bytes.to_vec(), None).ok());
            let is = Document::decode(now.bytes.clone(), None).ok();
            Err(match (was, is) {
                (Some(was), Some(is)) => {
                    let diff = edit::unified_diff(&diff_name(asked), was.text(), is.text(), Some(STALE_DIFF_LINES));
                    error.details(format!("what changed:\n{}", diff.text.trim_end()))
                }
                _ => error,
            })
        }
    }
}

/// As [`check`], fair to calls that run at the same time: another call of this session may have
/// written or made the file and be about to note that. What looks stale or never seen is looked at
/// once more when nobody here is writing it. Returns the file as it was checked.
pub(super) fn settled(
    cx: &CallContext,
    asked: &WorkspacePath,
    target: &WritablePath,
    now: Snapshot,
    expected: Option<Revision>,
) -> Result<Snapshot, ToolError> {
    match check(cx, asked, &now, expected) {
        Ok(()) => Ok(now),
        Err(error) if matches!(error.kind(), Kind::Stale | Kind::NotRead) && expected.is_none() => {
            drop(now);
            let _quiet = TreeGuard::acquire_within(&cx.workspace, &[target], cx.patience())?;
            let now = cx.read_to_change(asked)?;
            check(cx, asked, &now, expected)?;
            Ok(now)
        }
        Err(error) => Err(error),
    }
}

/// The name of a file in a diff's header: `a/` and `b/` are put before it.
pub(super) fn diff_name(path: &WorkspacePath) -> String {
    path.to_string().trim_start_matches('/').to_owned()
}
