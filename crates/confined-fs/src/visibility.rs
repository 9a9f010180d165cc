//! What tools see of a file by its names: all of it, its masked form, or nothing.

use structured_text::mask::MaskFormat;

use super::{AccessError, AccessErrorKind, Verdict, WorkspacePath};

/// What tools see of the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Open,
    /// A sentinel for each value.
    Masked,
    /// Nothing.
    Denied,
}

/// What tools see of the content of a file with these names: the strictest that one of them asks for. Names that ask for
/// different masks are as one that is denied.
pub(super) fn visibility<'n>(names: impl IntoIterator<Item = &'n WorkspacePath>) -> Visibility {
    match mask_of(names) {
        Ok(None) => Visibility::Open,
        Ok(Some(_)) => Visibility::Masked,
        Err(_) => Visibility::Denied,
    }
}

/// Refuses secret content that cannot be masked by one of its names, and says how the rest is masked.
pub(super) fn mask_or_open<'n>(
    names: impl IntoIterator<Item = &'n WorkspacePath>,
    asked: &WorkspacePath,
) -> Result<Option<MaskFormat>, AccessError> {
    mask_of(names).map_err(|rule| AccessError::by_rule(AccessErrorKind::Secret, asked, &rule))
}

fn mask_of<'n>(names: impl IntoIterator<Item = &'n WorkspacePath>) -> Result<Option<MaskFormat>, String> {
    let mut mask = None;
    for name in names {
        let policy = name.root().policy();
        if let Verdict::Refused(rule) = policy.content(name.relative()) {
            let Some(format) = policy.mask(name.relative()).filter(|format| mask.is_none_or(|mask| mask == *format))
            else {
                return Err(rule);
            };
            mask = Some(format);
        }
    }
    Ok(mask)
}
