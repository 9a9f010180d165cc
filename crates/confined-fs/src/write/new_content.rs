//! The new content of a file: its bytes, and what tools show of it.
//!
//! A sentinel for a masked value never reaches the disk: in its own file the value is put back, and any other file is
//! refused.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use beneath::Stat;
use structured_text::mask::{MaskedText, RestoreError, new_sentinel};

use crate::{
    AccessError, AccessErrorKind, AtPath as _, PlaceholderError, Revision, Shared, WorkspacePath, masked_file,
};

use super::WritablePath;

/// What a commit writes.
#[derive(Default)]
pub struct NewContent<'n> {
    real: Cow<'n, [u8]>,
    /// Of `real`, once it was asked for.
    revision: OnceLock<Revision>,
    /// What is shown of it, where that is something else.
    shown: Option<Vec<u8>>,
    /// The mark of the state that a masked file has with it, once it is written.
    state: OnceLock<Revision>,
    /// The mark that it had when this was its content.
    pub former: Option<Revision>,
}

impl<'n> NewContent<'n> {
    /// Bytes that are shown as they are.
    pub(super) fn plain(bytes: &'n [u8]) -> Self {
        Self { real: Cow::Borrowed(bytes), ..Self::default() }
    }

    /// The content of a masked file when it was at `state`.
    pub(super) fn former(bytes: &'n [u8], masked: &MaskedText, state: Option<Revision>) -> Self {
        let shown = masked.same_format(bytes).map_or_else(Vec::new, MaskedText::into_bytes);
        Self { real: Cow::Borrowed(bytes), shown: Some(shown), former: state, ..Self::default() }
    }

    /// `bytes` with the values of the masked file in it.
    pub(super) fn restored(bytes: &[u8], masked: &MaskedText, asked: &WorkspacePath) -> Result<Self, AccessError> {
        let restored = masked.restore(bytes).map_err(|error| fault(error, asked))?;
        Ok(Self { real: Cow::Owned(restored.real), shown: Some(restored.shown), ..Self::default() })
    }

    /// The bytes for the disk.
    pub(crate) fn real(&self) -> &[u8] {
        &self.real
    }

    /// The revision of the bytes on the disk. Not for answers where the file is masked: short values could be guessed.
    pub fn revision(&self) -> Revision {
        *self.revision.get_or_init(|| Revision::of(&self.real))
    }

    /// It was written to the masked file that is `stat`.
    pub(super) fn written(&self, stat: &Stat) {
        self.state.get_or_init(|| masked_file::state(self.revision(), stat));
    }

    /// What the file is with it, to be compared later: the mark of its state where it is masked and was written.
    pub fn state(&self) -> Revision {
        self.state.get().copied().unwrap_or_else(|| self.revision())
    }

    /// Whether the file is masked.
    pub fn is_masked(&self) -> bool {
        self.shown.is_some()
    }

    /// What is shown of it.
    pub fn shown(&self) -> &[u8] {
        self.shown.as_deref().unwrap_or(&self.real)
    }

    /// The revision of what is shown.
    pub fn shown_revision(&self) -> Revision {
        self.shown.as_deref().map_or_else(|| self.revision(), Revision::of)
    }
}

fn fault(error: RestoreError, asked: &WorkspacePath) -> AccessError {
    let fault = match error {
        RestoreError::Unknown(name) => PlaceholderError::Unknown(name),
        RestoreError::Misplaced(name) => PlaceholderError::Misplaced(name),
        RestoreError::TooManyValues => PlaceholderError::TooManyValues,
        RestoreError::Unmaskable => PlaceholderError::Unmaskable,
    };
    AccessError::new(AccessErrorKind::Sentinel(fault), asked)
}

/// Whether a file that is not masked could get a sentinel by these bytes.
pub(super) fn may_hold_sentinel(shared: &Shared, bytes: &[u8]) -> bool {
    shared.roots.list().iter().any(|root| root.policy().masks) && new_sentinel(&[], bytes).is_some()
}

/// Refuses a sentinel that `old`, the content of a file that is not masked, does not have already.
pub(super) fn refuse_new_sentinel(old: &[u8], new: &[u8], asked: &WorkspacePath) -> Result<(), AccessError> {
    let refused = |name| AccessError::new(AccessErrorKind::Sentinel(PlaceholderError::Elsewhere(name)), asked);
    new_sentinel(old, new).map_or(Ok(()), |name| Err(refused(name)))
}

/// See [`Workspace::check_sentinels`](crate::Workspace::check_sentinels).
pub(crate) fn check_sentinels(
    shared: &Arc<Shared>,
    target: &WritablePath,
    old: &[u8],
    new: &[u8],
) -> Result<Option<Vec<u8>>, AccessError> {
    let (asked, real) = (target.asked(), target.path());
    let Some(format) = target.mask()? else {
        if may_hold_sentinel(shared, new) {
            refuse_new_sentinel(old, new, asked)?;
        }
        return Ok(None);
    };
    let masked = match real.root().dir.file_beneath(real.relative()) {
        Ok(file) => {
            let stat = beneath::file_stat(&file).at(asked)?;
            masked_file::read(&file, asked, stat, format)?.0
        }
        Err(failure) if failure.is_missing() => MaskedText::empty(format),
        Err(failure) => return Err(AccessError::from_failure(failure, asked)),
    };
    NewContent::restored(new, &masked, asked).map(|content| content.shown)
}
