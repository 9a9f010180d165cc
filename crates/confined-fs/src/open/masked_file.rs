//! What tools see of a file by its names: all of it, its masked form, or nothing. The masked form of a secret file is
//! what is shown of it instead of its bytes.
//!
//! All that leaves this layer of such a file is made here or, after a change, in `write/content`. How a text is
//! masked is `structured_text::mask`.

use std::fs::File;
use std::io::{Cursor, Read as _, Seek as _};

use beneath::Stat;
use structured_text::mask::{MaskFormat, MaskedText};

use crate::{AccessError, AccessErrorKind, AtPath as _, Revision, Verdict, WorkspacePath};

/// How much tools see of the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of it, as it is on the disk.
    Open,
    /// A sentinel for each value.
    Masked,
    /// Nothing: it is refused to be read.
    Denied,
}

/// How much tools see of a file with these names: the strictest that one of them asks for. Names that ask for
/// different masks are as one that is denied.
pub(crate) fn visibility<'n>(names: impl IntoIterator<Item = &'n WorkspacePath>) -> Visibility {
    match mask_of(names) {
        Ok(None) => Visibility::Open,
        Ok(Some(_)) => Visibility::Masked,
        Err(_) => Visibility::Denied,
    }
}

/// Refuses secret content that cannot be masked by one of its names, and says how the rest is masked.
pub(crate) fn mask_or_open<'n>(
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

/// How often a file is read that changes meanwhile.
const ATTEMPTS: usize = 4;

/// The masked content of an open file.
#[derive(Debug)]
pub(super) struct MaskedFile {
    pub(super) content: Cursor<Vec<u8>>,
    /// The stat of the file itself.
    real: Stat,
    /// The mark of its state.
    pub(super) state: Revision,
}

impl MaskedFile {
    /// Reads and masks a file that was `stat` when it was opened.
    pub(super) fn of(file: &File, asked: &WorkspacePath, stat: Stat, format: MaskFormat) -> Result<Self, AccessError> {
        let (masked, bytes, real) = read(file, asked, stat, format)?;
        Ok(Self { content: Cursor::new(masked.into_bytes()), state: state(Revision::of(&bytes), &real), real })
    }

    /// The stat that is shown of the file, as long as its masked form.
    pub(super) fn stat(&self) -> Stat {
        self.stat_now(&self.real)
    }

    /// As [`Self::stat`], with what the file is by now.
    pub(super) fn stat_now(&self, now: &Stat) -> Stat {
        Stat { size: self.content.get_ref().len() as u64, ..now.clone() }
    }
}

/// A file as it was at one moment: masked, its own bytes, and what it was.
pub(crate) fn read(
    mut file: &File,
    asked: &WorkspacePath,
    mut stat: Stat,
    format: MaskFormat,
) -> Result<(MaskedText, Vec<u8>, Stat), AccessError> {
    for _ in 0..ATTEMPTS {
        if stat.size > MaskedText::LARGEST {
            return Err(unmaskable(asked));
        }
        let mut bytes = Vec::new();
        file.rewind().at(asked)?;
        file.take(MaskedText::LARGEST + 1).read_to_end(&mut bytes).at(asked)?;
        let now = beneath::file_stat(file).at(asked)?;
        if now.same_file_state(&stat) {
            let masked = MaskedText::of(format, &bytes).ok_or_else(|| unmaskable(asked))?;
            return Ok((masked, bytes, now));
        }
        stat = now;
    }
    Err(AccessError::new(AccessErrorKind::Changed, asked))
}

/// The mark of the state in which a masked file with this content is. Each write makes another one, so that it does not
/// tell whether what was written is what had been there. Not with the change time, which a rename touches; on Windows not
/// with the other one, which may come late, as a number is not used again there.
pub(crate) fn state(content: Revision, stat: &Stat) -> Revision {
    let time = stat.modified.filter(|_| !cfg!(windows));
    Revision::of(format!("{content} {} {time:?}", stat.inode()).as_bytes())
}

fn unmaskable(asked: &WorkspacePath) -> AccessError {
    let rule = "the list of secrets, and its values cannot be masked with certainty";
    AccessError::by_rule(AccessErrorKind::Secret, asked, rule)
}

/// The part of `bytes` that may be shown at a real path.
pub(crate) fn masked(real: &WorkspacePath, bytes: Vec<u8>) -> Option<Vec<u8>> {
    match mask_or_open([real], real).ok()? {
        None => Some(bytes),
        Some(format) => Some(MaskedText::of(format, &bytes)?.into_bytes()),
    }
}
