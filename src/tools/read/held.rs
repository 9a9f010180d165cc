//! Finds the content that a caller has, by the rev that it passes as `since`.

use confined_fs::{Revision, RevisionPrefix, WorkspacePath};

use super::super::CallContext;

use super::section::Section;

/// Compares the file at the real path `real` with the rev `since`; an unchanged file is reduced to that statement.
pub(super) fn compared(cx: &CallContext, section: Section, real: &WorkspacePath, since: RevisionPrefix) -> Section {
    let now = section.facts.revision.as_deref().and_then(|revision| revision.parse().ok());
    match now.map(|now| Held::of(cx, real, now, since)) {
        Some(Held::Same) => section.unchanged(since),
        Some(Held::Former(_)) => section.changed("changed", &format!("changed since {since}; a diff would be longer")),
        Some(Held::Unknown) => {
            section.changed("unknown", &format!("rev {since} is no longer known; nothing was compared"))
        }
        Some(Held::Ambiguous) => {
            section.changed("unknown", &format!("rev {since} matches several states of the file; nothing was compared"))
        }
        None => section
            .changed("unknown", "the file is too large for a rev, or changed while it was read; nothing was compared"),
    }
}

/// The content that a caller has, next to the file as it is now.
pub(in crate::tools) enum Held {
    Same,
    Former(Vec<u8>),
    /// Another content, which is not kept.
    Unknown,
    /// Several states of the file have a rev with this prefix.
    Ambiguous,
}

impl Held {
    /// What the caller has of the file at the real path `path`, which is at `now`.
    pub(in crate::tools) fn of(cx: &CallContext, path: &WorkspacePath, now: Revision, since: RevisionPrefix) -> Self {
        let ledger = &cx.session.ledger;
        let mut known = ledger.revisions_of(path, |one| since.fits(one));
        known.extend(Some(now).filter(|now| since.fits(*now)));
        let mut known = known.into_iter();
        match (known.next(), known.next()) {
            (_, Some(_)) => Self::Ambiguous,
            (Some(revision), None) if revision == now => Self::Same,
            (Some(revision), None) => {
                let seen = ledger.content_of(path, |one| one == revision).map(|content| content.to_vec());
                // Masked if the file is by now: it may have been open to other callers, or at another time.
                let former = seen.or_else(|| cx.session.history.content(revision));
                former.and_then(|bytes| cx.workspace.shown(path, bytes)).map_or(Self::Unknown, Self::Former)
            }
            (None, None) => Self::Unknown,
        }
    }
}
