//! What has been read of a searched file, and what `read` would make of it: text, and in which encoding.
//!
//! The encoding is determined for few files only: those with a NUL byte, and those that are not UTF-8 where it matters.
//! Looks at no more of a file than `read` does.

use std::{
    borrow::Cow,
    io::{Read as _, Seek as _},
};

use confined_fs::OpenFile;
use encoding_rs::Encoding;
use text_file::Document;

use crate::{Skipped, encoding_of_file};

/// The beginning of a file, or all of it.
#[derive(Clone, Copy)]
pub(super) struct FileContent<'c> {
    pub(super) bytes: &'c [u8],
    /// Whether that is all of it.
    pub(super) whole: bool,
}

impl<'c> FileContent<'c> {
    /// Whether all of it is here and holds a NUL byte.
    pub(super) fn holds_nul(&self) -> bool {
        self.whole && memchr::memchr(0, self.bytes).is_some()
    }

    /// Whether it is UTF-8 without a byte-order mark or a carriage return.
    pub(super) fn is_plain(&self) -> bool {
        text_file::is_plain(self.bytes)
            && memchr::memchr(b'\r', self.bytes).is_none()
            && Encoding::for_bom(self.bytes).is_none()
    }

    /// The encoding that it is shown in; `None` where it is binary.
    pub(super) fn encoding(&self, file: &mut OpenFile) -> Result<Option<&'static Encoding>, Skipped> {
        let (head, is_all) = self.head(file)?;
        let encoding = if is_all {
            Document::decode(head.into_owned(), None).map(|document| document.encoding())
        } else {
            encoding_of_file(file, &head, None).map_err(|_| Skipped::Unreadable)?
        };
        Ok(encoding.ok())
    }

    /// Whether the beginning of it is UTF-8.
    pub(super) fn is_utf8(&self, file: &mut OpenFile) -> Result<bool, Skipped> {
        let (head, is_all) = self.head(file)?;
        // A character that is cut at the end is not an invalid one.
        Ok(str::from_utf8(&head).map_or_else(|error| !is_all && error.error_len().is_none(), |_| true))
    }

    /// Whether a file with a NUL byte may still be text: UTF-16 without a mark, or one whose NULs are at its beginning, at
    /// its end, or farther back than `read` looks.
    pub(super) fn may_be_text(&self, file: &mut OpenFile) -> Result<bool, Skipped> {
        if self.whole && self.bytes.len() <= text_file::HEAD {
            return Ok(text_file::looks_like_utf16(self.bytes) || text_file::is_padded(self.bytes));
        }
        Ok(self.encoding(file)?.is_some())
    }

    /// What `read` recognises the encoding by, and whether that is all of the file.
    fn head(&self, file: &mut OpenFile) -> Result<(Cow<'c, [u8]>, bool), Skipped> {
        let most = text_file::HEAD;
        if self.whole {
            return Ok((Cow::Borrowed(&self.bytes[..self.bytes.len().min(most)]), self.bytes.len() <= most));
        }
        let failed = |_| Skipped::Unreadable;
        let mut head = Vec::new();
        file.rewind().map_err(failed)?;
        file.take(most as u64 + 1).read_to_end(&mut head).map_err(failed)?;
        let is_all = head.len() <= most;
        head.truncate(most);
        Ok((Cow::Owned(head), is_all))
    }
}
