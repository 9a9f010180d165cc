//! Lists of what a search found, fenced where they come from an untrusted root.

use tree_search::Scope;

use super::{CallContext, fence::fence, omissions::with_notes};

/// A list of names or lines below its header, with the notes on it, which may hold names as well.
pub(super) fn listed(is_untrusted: bool, header: String, list: &str, notes: &[String]) -> String {
    if !is_untrusted || (list.is_empty() && notes.is_empty()) {
        return with_notes(header + list, notes);
    }
    format!("{header}\n{}", fence(&with_notes(list.to_owned(), notes)))
}

/// Whether a search looks into an untrusted root. A link may lead into one.
pub(super) fn is_untrusted_scope(cx: &CallContext, scope: &Scope) -> bool {
    scope.starts().iter().any(|start| {
        cx.workspace.is_untrusted(start)
            || cx.workspace.canonical(start).is_ok_and(|real| cx.workspace.is_untrusted(&real))
    })
}
