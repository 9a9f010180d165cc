//! What `read` would make of a file that is searched: text, and in which encoding.
//!
//! Asked of few files: those with a NUL byte, and those that are not UTF-8 where it matters. Looks at no more of
//! a file than `read` does.

use std::{
    borrow::Cow,
    io::{Read as _, Seek as _},
};

use encoding_rs::Encoding;

use super::{
    merge::Skipped,
    worker::{Ended, Loaded},
};
use crate::{
    text::{self, Document},
    workspace::OpenFile,
};

/// The encoding that it is shown in; `None` where it is binary.
pub(super) fn encoding(file: &mut OpenFile, loaded: &Loaded<'_>) -> Result<Option<&'static Encoding>, Ended> {
    let (head, is_all) = head(file, loaded)?;
    let encoding = if is_all {
        Document::decode(head.into_owned(), None).map(|document| document.encoding())
    } else {
        text::encoding_of_head(&head, None)
    };
    Ok(encoding.ok())
}

/// Whether the beginning of it is UTF-8.
pub(super) fn is_utf8(file: &mut OpenFile, loaded: &Loaded<'_>) -> Result<bool, Ended> {
    let (head, is_all) = head(file, loaded)?;
    // A character that is cut at the end is none that is invalid.
    Ok(str::from_utf8(&head).map_or_else(|error| !is_all && error.error_len().is_none(), |_| true))
}

/// Whether a file with a NUL byte may be text all the same: UTF-16 without a mark, or one whose NUL is farther
/// back than `read` looks.
pub(super) fn may_be_text(file: &mut OpenFile, loaded: &Loaded<'_>) -> Result<bool, Ended> {
    if text::looks_like_utf16(loaded.content) {
        return Ok(true);
    }
    if loaded.whole && loaded.content.len() <= text::HEAD {
        return Ok(false);
    }
    let (head, is_all) = head(file, loaded)?;
    Ok(text::looks_like_utf16(&head) || !is_all && memchr::memchr(0, &head).is_none())
}

/// What `read` recognises the encoding by, and whether that is all of the file.
fn head<'l>(file: &mut OpenFile, loaded: &Loaded<'l>) -> Result<(Cow<'l, [u8]>, bool), Ended> {
    let most = text::HEAD;
    if loaded.whole {
        let content = loaded.content;
        return Ok((Cow::Borrowed(&content[..content.len().min(most)]), content.len() <= most));
    }
    let failed = |_| Ended(Skipped::Unreadable);
    let mut head = Vec::new();
    file.rewind().map_err(failed)?;
    file.take(most as u64 + 1).read_to_end(&mut head).map_err(failed)?;
    let is_all = head.len() <= most;
    head.truncate(most);
    Ok((Cow::Owned(head), is_all))
}
