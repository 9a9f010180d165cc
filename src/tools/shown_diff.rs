//! The diff that an answer shows of a change.

use crate::{
    edit::{self, DiffExtent},
    text::Document,
    workspace::WorkspacePath,
};

use super::CallContext;

/// Lines of a diff that are shown.
pub(super) const DIFF_LINES: usize = 60;
/// What an answer shows of a change that the model itself made.
pub(super) const BRIEF: DiffExtent = DiffExtent::Brief(DIFF_LINES);
/// Bytes of an answer reserved for the text around a diff.
const AROUND: usize = 400;

/// The whole diff between two contents, where both are text; `None` is a file that does not exist.
pub(super) fn diff(path: &WorkspacePath, old: Option<Vec<u8>>, new: Option<Vec<u8>>) -> String {
    let text = |bytes: Option<Vec<u8>>| match bytes {
        None => Some(String::new()),
        Some(bytes) => Document::decode(bytes, None).ok().map(|document| document.text().to_owned()),
    };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return String::new() };
    edit::unified_diff(&diff_name(path), &old, &new, DiffExtent::Full).text
}

/// Bytes of a diff that an answer about `path` has room for.
pub(super) fn room(cx: &CallContext, path: &WorkspacePath) -> usize {
    cx.budget.text_bytes().saturating_sub(AROUND + path.to_string().len())
}

/// The name of a file in a diff's header: `a/` and `b/` are put before it.
pub(super) fn diff_name(path: &WorkspacePath) -> String {
    path.to_string().trim_start_matches('/').to_owned()
}
