//! The revision of a content: SHA-256, cut to the 32 hexadecimal digits that are printed.
//!
//! Limits: 128 bits are no protection against somebody who makes two contents collide on purpose (2^64 tries); they
//! distinguish the states of a file.

use std::{fmt, io, str::FromStr};

use sha2::{Digest, Sha256};

use beneath::read_some;

/// Digits that texts show.
const SHORT_DIGITS: usize = 6;
/// Digits that a prefix has at least.
const MIN_DIGITS: usize = 5;
/// Digits of a whole one: 128 bits.
const REVISION_DIGITS: usize = 32;

/// SHA-256 of a content, cut to its first 128 bits: what is printed is what is compared.
///
/// # Examples
/// ```
/// use confined_fs::Revision;
///
/// let revision = Revision::of(b"abc");
/// assert_eq!(revision.to_string(), "ba7816bf8f01cfea414140de5dae2223");
/// assert_eq!(revision.to_string().parse(), Ok(revision));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Revision([u8; 16]);

impl Revision {
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Self::hasher();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Its bytes, to be kept on the disk.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The revision of everything that `source` still gives, held 64 KiB at a time.
    pub fn of_reader(source: &mut impl io::Read) -> io::Result<Self> {
        Self::of_pieces(source, &mut vec![0; 64 * 1024], |_| Ok(()))
    }

    /// As [`Self::of_reader`], of what is copied meanwhile: `copy` gets each piece, at most 128 KiB, and its error ends it.
    pub fn of_copied(
        source: &mut (impl io::Read + ?Sized),
        copy: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Self> {
        Self::of_pieces(source, &mut vec![0; 128 * 1024], copy)
    }

    fn of_pieces(
        source: &mut (impl io::Read + ?Sized),
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut hasher = Self::hasher();
        loop {
            let count = read_some(source, buffer)?;
            if count == 0 {
                return Ok(hasher.finish());
            }
            hasher.update(&buffer[..count]);
            each(&buffer[..count])?;
        }
    }

    /// Whether it is that of the first so many lines of `bytes`, or of none of them. Says no where there are more
    /// than 100,000 lines or 64 MiB, which take about 0.1 s.
    pub fn is_of_first_lines(self, bytes: &[u8]) -> bool {
        const LINES: usize = 100_000;
        const BYTES: usize = 64 << 20;
        if bytes.len() > BYTES {
            return false;
        }
        let mut hasher = Self::hasher();
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').take(LINES);
        loop {
            if hasher.clone().finish() == self {
                return true;
            }
            match lines.next() {
                Some(line) => hasher.update(line),
                None => return false,
            }
        }
    }

    /// The digits that texts for a model show, enough to compare two states of one file.
    pub fn short(self) -> String {
        self.prefix().to_string()
    }

    pub fn prefix(self) -> RevisionPrefix {
        RevisionPrefix::of(self, SHORT_DIGITS)
    }

    pub fn hasher() -> RevisionHasher {
        RevisionHasher(Sha256::new())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0REVISION_DIGITS$x}", u128::from_be_bytes(self.0))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rev is {MIN_DIGITS} to {REVISION_DIGITS} hexadecimal digits, as the last line of a read shows")]
pub struct RevisionError;

impl FromStr for Revision {
    type Err = RevisionError;

    fn from_str(text: &str) -> Result<Self, RevisionError> {
        // `from_str_radix` alone would take a sign as well.
        if text.len() != REVISION_DIGITS || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(RevisionError);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| RevisionError)?;
        Ok(Self(number.to_be_bytes()))
    }
}

/// The first digits of a revision, as a caller repeats them: at least 5.
///
/// # Examples
/// ```
/// use confined_fs::{Revision, RevisionPrefix};
///
/// let prefix: RevisionPrefix = "ba7816".parse().unwrap();
/// assert!(prefix.fits(Revision::of(b"abc")) && !prefix.fits(Revision::of(b"abd")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RevisionPrefix {
    bits: u128,
    digits: usize,
}

impl RevisionPrefix {
    fn of(revision: Revision, digits: usize) -> Self {
        Self { bits: u128::from_be_bytes(revision.0) >> (4 * (REVISION_DIGITS - digits)), digits }
    }

    pub fn fits(self, revision: Revision) -> bool {
        Self::of(revision, self.digits) == self
    }

    /// As many digits of `revision`, to be compared with these; no fewer than texts show.
    pub fn same_digits_of(self, revision: Revision) -> String {
        Self::of(revision, self.digits.max(SHORT_DIGITS)).to_string()
    }
}

impl fmt::Display for RevisionPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.bits, width = self.digits)
    }
}

impl FromStr for RevisionPrefix {
    type Err = RevisionError;

    fn from_str(text: &str) -> Result<Self, RevisionError> {
        let text = text.trim();
        let digits = text.strip_prefix("rev").map_or(text, str::trim_start);
        if !(MIN_DIGITS..=REVISION_DIGITS).contains(&digits.len())
            || !digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Err(RevisionError);
        }
        let bits = u128::from_str_radix(digits, 16).map_err(|_| RevisionError)?;
        Ok(Self { bits, digits: digits.len() })
    }
}

#[derive(Clone, Debug)]
pub struct RevisionHasher(Sha256);

impl RevisionHasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Revision {
        let digest: [u8; 32] = self.0.finalize().into();
        // Of 32 bytes there are two such pieces.
        let (kept, _) = digest.as_chunks::<16>();
        Revision(kept[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_revision_is_parsed_strictly() {
        assert!("+a7816bf8f01cfea414140de5dae2223".parse::<Revision>().is_err());
    }

    #[test]
    fn prefixes_of_five_digits_and_more_are_compared() {
        let revision = Revision::of(b"abc");
        for text in ["ba781", "ba7816", " BA7816 ", "rev ba7816", "ba7816bf8f01cfea414140de5dae2223"] {
            assert!(text.parse::<RevisionPrefix>().unwrap().fits(revision), "{text}");
        }
        for text in ["", "ba78", "rev", "ba781g", "+ba781", "ba7816bf8f01cfea414140de5dae22230"] {
            assert!(text.parse::<RevisionPrefix>().is_err(), "{text}");
        }
        let other: RevisionPrefix = "0a7816bf".parse().unwrap();
        assert!(!other.fits(revision));
        assert_eq!((other.to_string(), other.same_digits_of(revision)), ("0a7816bf".into(), "ba7816bf".into()));
        assert_eq!("00000".parse::<RevisionPrefix>().unwrap().same_digits_of(revision), revision.short());
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let mut hasher = Revision::hasher();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), Revision::of(b"abc"));
    }
}
