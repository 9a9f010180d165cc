//! The argument `at`: the size or the rev that an append continues, so that a repeated call is not applied twice.

use text_file::{Document, EncodingLabel, LineEnding};

use confined_fs::{Revision, RevisionPrefix, Snapshot, WorkspacePath};

use super::{
    super::{Kind, ToolError, answer::count},
    content::{Appended, appended},
};

/// The state of a file that an append continues. Digits can be both a size and a rev.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppendAt {
    /// As it was given.
    given: String,
    size: Option<u64>,
    rev: Option<RevisionPrefix>,
}

impl AppendAt {
    /// Parses the argument.
    ///
    /// # Errors
    /// `invalid_input` for what is neither a size nor a rev.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let given = text.trim();
        let is_number = !given.is_empty() && given.bytes().all(|byte| byte.is_ascii_digit());
        let size = is_number.then(|| given.parse().unwrap_or(u64::MAX));
        let rev = given.parse().ok();
        if size.is_none() && rev.is_none() {
            return Err(ToolError::invalid(format!("`at` is neither a size in bytes nor a rev: {text:?}"))
                .hint("pass the size or the rev that the answer to the write before names"));
        }
        Ok(Self { given: given.to_owned(), size, rev })
    }

    /// Whether a missing file is what it continues: there are no bytes before the first part.
    pub(super) fn is_start(&self) -> bool {
        self.size == Some(0)
    }

    /// Whether the file is in this state.
    pub(super) fn is_of(&self, now: &Snapshot) -> bool {
        self.size == Some(now.bytes.len() as u64) || self.rev_of(now).is_some()
    }

    /// The rev, if it is that of the file: then the caller knows what is there.
    pub(super) fn rev_of(&self, now: &Snapshot) -> Option<RevisionPrefix> {
        self.rev.filter(|rev| rev.fits(now.revision))
    }

    /// What of the file was appended to this state, if that is `content` and nothing else.
    pub(super) fn appended_already(
        &self,
        path: &WorkspacePath,
        now: &Snapshot,
        content: &str,
        encoding: Option<EncodingLabel>,
    ) -> Option<Appended> {
        let by_size = self.size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size < now.bytes.len());
        let by_rev = self.rev.into_iter().flat_map(|rev| lengths_at(rev, &now.bytes, content, encoding));
        by_size.into_iter().chain(by_rev).find_map(|length| {
            let before = &now.bytes[..length];
            let made = appended(path, before.to_vec(), Revision::of(before), content, encoding).ok()?;
            made.appended.filter(|_| made.bytes == now.bytes)
        })
    }

    /// The error for a file in another state.
    pub(super) fn stale(&self, path: &WorkspacePath, now: &Snapshot) -> ToolError {
        let (size, rev) = (now.bytes.len(), now.revision.short());
        let sentence = format!(
            "{path} has {} and is at rev {rev} now, so `at` {} is not its end",
            count(size, "byte"),
            self.given
        );
        ToolError::new(Kind::Stale, sentence).hint(format!(
            "nothing was appended; read the end of the file with offset=-20, then append what is missing with at={size}"
        ))
    }

    /// The error for a file that does not exist.
    pub(super) fn absent(&self, path: &WorkspacePath) -> ToolError {
        ToolError::new(Kind::Stale, format!("{path} does not exist, so `at` {} is not its end", self.given))
            .hint("nothing was written; write the first part with at=0, or without at")
    }
}

/// Where `content` would begin as the end of `bytes`, in any of the forms that an append gives it, and the bytes before
/// it are at `rev`.
fn lengths_at(rev: RevisionPrefix, bytes: &[u8], content: &str, encoding: Option<EncodingLabel>) -> Vec<usize> {
    let of_file = Document::decode(bytes.to_vec(), None).ok().map(|document| document.encoding());
    let encodings = [Some(encoding_rs::UTF_8), of_file, encoding.map(|label| label.encoding)];
    let mut lengths: Vec<usize> = Vec::new();
    for encoding in encodings.into_iter().flatten() {
        for ending in [LineEnding::None, LineEnding::CrLf] {
            let tail = text_file::encode(content, encoding, false, ending).ok();
            let length = tail.filter(|tail| bytes.ends_with(tail)).map(|tail| bytes.len() - tail.len());
            lengths.extend(length.filter(|length| !lengths.contains(length)));
        }
    }
    lengths.retain(|length| rev.fits(Revision::of(&bytes[..*length])));
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_revs_are_read() {
        let at = |text: &str| AppendAt::parse(text).unwrap();
        assert_eq!((at("0").size, at("0").rev, at("0").is_start()), (Some(0), None, true));
        assert_eq!((at(" 1234 ").size, at("1234").rev), (Some(1234), None));
        assert!(at("123456").size == Some(123_456) && at("123456").rev.is_some());
        assert!(at("rev k".replace('k', "abc123").as_str()).rev.is_some() && at("rev abc123").size.is_none());
        assert_eq!(at("99999999999999999999999999").size, Some(u64::MAX));
        for text in ["", "-1", "+5", "12.5", "end", "abc", "٣", "5 bytes"] {
            assert!(AppendAt::parse(text).is_err(), "{text}");
        }
    }
}
