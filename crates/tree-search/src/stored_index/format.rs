//! The format of a stored index: its header (what it belongs to, when it was written, how long its parts are), the entry
//! of one file, and the numbers in both.
//!
//! Numbers of the tables are LEB128, small ones in one byte, signed ones folded (zigzag).

use std::io;

use change_set::state::StoredMoment;
use confined_fs::{IdentityError, RootIdentity, StatFacts};

use crate::ngram_filter::{BLOCK_SEGMENTS, COLUMN_COUNT, FILTER_VERSION};
use crate::{FileSegments, KnownContent, SegmentSlice};

#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("{0}")]
    Root(IdentityError),
    #[error("nothing is stored")]
    Missing,
    /// The file or its folder cannot be opened, or others may write to it.
    #[error("it cannot be used: {0}")]
    Refused(io::Error),
    #[error("it is damaged")]
    Damaged,
    #[error("another version of rootbound wrote it")]
    OtherVersion,
    /// It is about another directory than the one that is there now, or one on another file system.
    #[error("the directory has been replaced, or its file system has changed")]
    OtherDirectory,
    #[error("the rules about secret content have changed")]
    OtherRules,
    /// By the clock it was written in the future, or the clock was set back since.
    #[error("the clock was set back after it was written")]
    Clock,
    /// It has more bytes than all may have together.
    #[error("it is larger than --index-size allows")]
    TooLarge,
}

pub(super) const HEADER_BYTES: usize = 192;
/// Bytes at the end of the file: the number of the store, and the length of the file.
pub(super) const TRAILER_BYTES: usize = 16;
/// Bytes of a checksum after each column.
pub(super) const CHECKSUM_BYTES: usize = 4;
const SEGMENT_BYTES: u32 = 4;

/// Numbers of parts, for [`Header::checksum`]; columns are numbered from 0.
pub(super) const TABLES_PART: u64 = 1 << 32;
pub(super) const SEGMENT_LIST: u64 = 2 << 32;
pub(super) const LISTING_PART: u64 = 3 << 32;

const MAGIC_BYTES: [u8; 8] = *b"RBindex\n";
/// Another number for another meaning of the bytes.
const FORMAT_VERSION: u32 = 7;
const KEY_BYTES: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The number of this store, which begins each checksum: parts of another store do not fit.
    pub(super) id: u64,
    pub(super) identity: RootIdentity,
    pub(super) written: StoredMoment,
    /// Directories in the tables: those with a file whose content is known.
    pub(super) directories: u32,
    pub(super) files: u64,
    /// Bytes of the paths of the directories.
    pub(super) paths: u32,
    /// Bytes of the files in the directories.
    pub(super) entries: u32,
    pub(super) tables_checksum: u32,
    pub(super) segments: u32,
    pub(super) segments_checksum: u32,
    /// Words of a column; 0 without a filter.
    pub(super) blocks: u32,
    /// Bytes of the names below the root; 0 without them.
    pub(super) listing: u32,
    pub(super) listing_checksum: u32,
}

/// Bytes of a directory in the table of directories: where its path and its entries begin.
pub(super) const DIRECTORY_BYTES: usize = 8;

impl Header {
    /// Bytes of the tables, which follow the header.
    pub(super) fn tables(&self) -> u64 {
        u64::from(self.directories) * DIRECTORY_BYTES as u64 + u64::from(self.paths) + u64::from(self.entries)
    }

    /// When it was written, in seconds and nanoseconds since 1970.
    pub(super) fn written_seconds(&self) -> (i64, u32) {
        let (seconds, rest) =
            (self.written.wall.div_euclid(1_000_000_000), self.written.wall.rem_euclid(1_000_000_000));
        (seconds, u32::try_from(rest).unwrap_or_default())
    }

    /// Where the part of that number begins, how many bytes it has, and its checksum.
    pub(super) fn part(&self, part: u64) -> (u64, u64, u32) {
        let listing = HEADER_BYTES as u64 + self.tables();
        match part {
            TABLES_PART => (HEADER_BYTES as u64, self.tables(), self.tables_checksum),
            LISTING_PART => (listing, self.listing.into(), self.listing_checksum),
            _ => (listing + u64::from(self.listing), self.segments.into(), self.segments_checksum),
        }
    }

    pub(super) fn column_at(&self, column: usize) -> u64 {
        let (segments, length, _) = self.part(SEGMENT_LIST);
        let column_bytes = u64::from(self.blocks) * size_of::<u64>() as u64 + CHECKSUM_BYTES as u64;
        segments + length + column as u64 * column_bytes
    }

    /// Of how many segments a word has the bits of one column: all 64 of a block, but of a filter with a single block as
    /// many as are in use. A word has room for several columns then, and the file fewer words.
    pub(super) fn width(&self) -> usize {
        // Without a filter there are neither segments nor blocks.
        (self.segment_count() / self.blocks.max(1)) as usize
    }

    /// How many columns are stored. Column `n` is in the one of number `n` modulo this.
    pub(super) fn columns(&self) -> usize {
        COLUMN_COUNT * self.width() / BLOCK_SEGMENTS
    }

    fn has_valid_columns(&self) -> bool {
        let all = u64::from(self.blocks) * BLOCK_SEGMENTS as u64 * u64::from(SEGMENT_BYTES);
        let is_part = self.blocks == 1 && self.segments.is_power_of_two() && self.segments >= SEGMENT_BYTES;
        u64::from(self.segments) == all || is_part && u64::from(self.segments) < all
    }

    /// Says that a filter follows the listing, with this list of segments and the number of words in a column.
    ///
    /// # Errors
    /// `FileTooLarge` where that is more than the header can say.
    pub(super) fn set_filter(&mut self, segments: &[u8], blocks: usize) -> io::Result<()> {
        (self.segments, self.blocks) = (narrow(segments.len())?, narrow(blocks)?);
        self.segments_checksum = Self::checksum(self.id, SEGMENT_LIST, segments);
        Ok(())
    }

    pub(super) fn length(&self) -> u64 {
        self.column_at(self.columns()) + TRAILER_BYTES as u64
    }

    pub(super) fn segment_count(&self) -> u32 {
        self.segments / SEGMENT_BYTES
    }

    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend(MAGIC_BYTES);
        out.extend(FORMAT_VERSION.to_le_bytes());
        out.extend(FILTER_VERSION.to_le_bytes());
        out.extend(self.id.to_le_bytes());
        out.extend(self.written.wall.to_le_bytes());
        out.extend(self.written.started.to_le_bytes());
        for number in [self.identity.file_system, self.identity.device, self.identity.inode] {
            out.extend(number.to_le_bytes());
        }
        for text in [&self.identity.key, &self.identity.policy.to_string()] {
            out.extend(text.as_bytes());
            out.resize(out.len() + (KEY_BYTES - text.len()), 0);
        }
        out.extend(self.files.to_le_bytes());
        for number in [
            self.directories,
            self.paths,
            self.entries,
            self.tables_checksum,
            self.segments,
            self.segments_checksum,
            self.blocks,
            self.listing,
            self.listing_checksum,
        ] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.identity.file_system_id.to_le_bytes());
        out.extend(self.identity.created.to_le_bytes());
        out.extend(crc32fast::hash(&out).to_le_bytes());
        // The numbers fill it to its last byte, which `copy_from_slice` demands: one more needs a longer header.
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&out);
        header
    }

    pub(super) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Unusable> {
        let (content, checksum) = bytes.split_at(HEADER_BYTES - CHECKSUM_BYTES);
        let mut reader = ByteReader(content);
        let versions = (reader.array(), small(&mut reader), small(&mut reader));
        // Before the checksum, which another version may have in another place.
        if versions.0 == Some(MAGIC_BYTES)
            && versions != (Some(MAGIC_BYTES), Some(FORMAT_VERSION), Some(FILTER_VERSION))
        {
            return Err(Unusable::OtherVersion);
        }
        if versions.0 != Some(MAGIC_BYTES) || checksum != crc32fast::hash(content).to_le_bytes() {
            return Err(Unusable::Damaged);
        }
        Self::decode_numbers(&mut reader).ok_or(Unusable::Damaged)
    }

    fn decode_numbers(reader: &mut ByteReader<'_>) -> Option<Self> {
        let id = wide(reader)?;
        let written = StoredMoment { wall: wide(reader)?.cast_signed(), started: wide(reader)?.cast_signed() };
        let (file_system, device, inode) = (wide(reader)?, wide(reader)?, wide(reader)?);
        let key = std::str::from_utf8(reader.take(KEY_BYTES)?).ok()?.to_owned();
        let policy = std::str::from_utf8(reader.take(KEY_BYTES)?).ok()?.parse().ok()?;
        let mut header = Self {
            id,
            // The rest of what it belongs to comes last.
            identity: RootIdentity { key, policy, file_system, file_system_id: 0, device, inode, created: 0 },
            written,
            files: wide(reader)?,
            directories: small(reader)?,
            paths: small(reader)?,
            entries: small(reader)?,
            tables_checksum: small(reader)?,
            segments: small(reader)?,
            segments_checksum: small(reader)?,
            blocks: small(reader)?,
            listing: small(reader)?,
            listing_checksum: small(reader)?,
        };
        header.identity.file_system_id = wide(reader)?;
        header.identity.created = wide(reader)?.cast_signed();
        Some(header).filter(Self::has_valid_columns)
    }

    pub(super) fn trailer(&self) -> [u8; TRAILER_BYTES] {
        let mut trailer = [0; TRAILER_BYTES];
        trailer[..8].copy_from_slice(&self.id.to_le_bytes());
        trailer[8..].copy_from_slice(&self.length().to_le_bytes());
        trailer
    }

    /// The checksum of a part of this store. `part` is another number for each.
    pub(super) fn checksum(id: u64, part: u64, bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        // So that no part of another store or place fits, where a write was torn.
        hasher.update(&id.to_le_bytes());
        hasher.update(&part.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize()
    }
}

fn wide(reader: &mut ByteReader<'_>) -> Option<u64> {
    reader.array().map(u64::from_le_bytes)
}

fn small(reader: &mut ByteReader<'_>) -> Option<u32> {
    reader.array().map(u32::from_le_bytes)
}

/// A length as the header has it.
///
/// # Errors
/// `FileTooLarge` where it says more than 4 GiB.
pub(super) fn narrow(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// Bytes that are read from front to back. `None` from every method once they end too early.
#[derive(Clone, Debug)]
pub(super) struct ByteReader<'b>(pub(super) &'b [u8]);

impl<'b> ByteReader<'b> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let folded = self.number()?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }
}

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7F).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, (number << 1 ^ number >> 63).cast_unsigned());
}

/// A file in the state that these facts say, with the knowledge of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    pub(crate) facts: StatFacts,
    /// Never `Unread` or `Secret`.
    pub(crate) content: KnownContent,
}

/// The numbers of the entry before in the same directory, to which those of an entry are relative.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    inode: u64,
    seconds: i64,
    segment: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) device: u64,
    /// How many segments the filter has; `None` without a filter, when segments say nothing.
    pub(super) segments: Option<u32>,
    /// When it was written: facts that do not lie before that are not used.
    pub(super) written: (i64, u32),
}

/// The first byte of an entry: what is known of its content.
const CONTENT_MASK: u8 = 0b11;
const ALWAYS_SEARCH: u8 = 0;
const TAG_BINARY: u8 = 1;
const TAG_ONE_SEGMENT: u8 = 2;
const TAG_MANY_SEGMENTS: u8 = 3;
const UTF8_BIT: u8 = 1 << 2;
const WITHIN_LINE: u8 = 1 << 3;
/// Both times are the same.
const ONE_TIME: u8 = 1 << 4;
const ALL_BITS: u8 = CONTENT_MASK | UTF8_BIT | WITHIN_LINE | ONE_TIME;

/// The first byte of an entry. `None` for content that is not kept.
pub(super) fn tag(file: &StoredFile) -> Option<u8> {
    let StoredFile { facts, content } = file;
    let content = match content {
        KnownContent::Unread | KnownContent::Secret => return None,
        KnownContent::AlwaysSearch => ALWAYS_SEARCH,
        KnownContent::Binary(_) => TAG_BINARY,
        KnownContent::Filtered(FileSegments::One(_), _, utf8) => TAG_ONE_SEGMENT | flag(*utf8, UTF8_BIT),
        KnownContent::Filtered(FileSegments::Many { within_line, .. }, _, utf8) => {
            TAG_MANY_SEGMENTS | flag(*utf8, UTF8_BIT) | flag(*within_line, WITHIN_LINE)
        }
    };
    Some(content | flag(facts.modified == facts.changed, ONE_TIME))
}

/// That bit of the first byte of an entry, where it is set.
pub(super) fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

impl StoredFile {
    /// Writes it after its first byte and its name.
    pub(super) fn put(&self, out: &mut Vec<u8>, previous: &mut Previous) {
        put_facts(out, &self.facts, previous);
        let KnownContent::Filtered(segments, ..) = &self.content else { return };
        let mut put = |out: &mut Vec<u8>, segment: u32| {
            put_signed(out, i64::from(segment) - i64::from(previous.segment));
            previous.segment = segment;
        };
        match segments {
            FileSegments::One(slice) => put(out, slice.segment),
            FileSegments::Many { segments, .. } => {
                put_number(out, segments.len() as u64);
                let mut start = 0;
                for slice in segments {
                    put(out, slice.segment);
                    put_number(out, u64::from(slice.end.saturating_sub(start)));
                    start = slice.end;
                }
            }
        }
    }

    /// Reads what [`Self::put`] wrote; `None` where it cannot be true.
    pub(super) fn read(tag: u8, reader: &mut ByteReader<'_>, previous: &mut Previous, bounds: &Bounds) -> Option<Self> {
        if tag & !ALL_BITS != 0 {
            return None;
        }
        let facts = read_facts(reader, tag & ONE_TIME != 0, previous, bounds.device)?;
        // The largest file that the filter takes is far smaller.
        let size = u32::try_from(facts.size);
        let mut segment = |reader: &mut ByteReader<'_>| {
            let segment = u32::try_from(i64::from(previous.segment).checked_add(reader.signed()?)?).ok()?;
            previous.segment = segment;
            bounds.segments.is_none_or(|count| segment < count).then_some(segment)
        };
        let content = match tag & CONTENT_MASK {
            ALWAYS_SEARCH => KnownContent::AlwaysSearch,
            TAG_BINARY => KnownContent::Binary(size.ok()?),
            TAG_ONE_SEGMENT => {
                let slice = SegmentSlice { segment: segment(reader)?, end: size.ok()? };
                KnownContent::Filtered(FileSegments::One(slice), slice.end, tag & UTF8_BIT != 0)
            }
            _ => {
                let count = reader.length()?;
                // Each takes two bytes or more.
                if count > reader.0.len() / 2 {
                    return None;
                }
                let (mut segments, mut end) = (Vec::with_capacity(count), 0_u32);
                for _ in 0..count {
                    let segment = segment(reader)?;
                    end = end.checked_add(reader.small().filter(|bytes| *bytes > 0)?)?;
                    segments.push(SegmentSlice { segment, end });
                }
                let size = size.ok().filter(|size| count > 0 && *size == end)?;
                let segments = FileSegments::Many { segments: segments.into(), within_line: tag & WITHIN_LINE != 0 };
                KnownContent::Filtered(segments, size, tag & UTF8_BIT != 0)
            }
        };
        let is_unknown = bounds.segments.is_none() && matches!(content, KnownContent::Filtered(..));
        Some(Self { facts, content: if is_unknown { KnownContent::AlwaysSearch } else { content } })
    }
}

/// Writes facts without the device; the second time where it is another one.
pub(super) fn put_facts(out: &mut Vec<u8>, facts: &StatFacts, previous: &mut Previous) {
    put_signed(out, facts.inode.wrapping_sub(previous.inode).cast_signed());
    put_number(out, facts.size);
    put_signed(out, facts.modified.0.wrapping_sub(previous.seconds));
    put_number(out, u64::from(facts.modified.1));
    if facts.modified != facts.changed {
        put_signed(out, facts.changed.0.wrapping_sub(facts.modified.0));
        put_number(out, u64::from(facts.changed.1));
    }
    (previous.inode, previous.seconds) = (facts.inode, facts.modified.0);
}

/// Reads what [`put_facts`] wrote. `one_time`: both times are the same.
pub(super) fn read_facts(
    reader: &mut ByteReader<'_>,
    one_time: bool,
    previous: &mut Previous,
    device: u64,
) -> Option<StatFacts> {
    // Wrapping as in `put_facts`: any two numbers have a difference, and no number of a hostile file overflows.
    let inode = previous.inode.wrapping_add(reader.signed()?.cast_unsigned());
    let size = reader.number()?;
    let modified = (previous.seconds.wrapping_add(reader.signed()?), reader.small()?);
    let changed = if one_time { modified } else { (modified.0.wrapping_add(reader.signed()?), reader.small()?) };
    (previous.inode, previous.seconds) = (inode, modified.0);
    Some(StatFacts { device, inode, size, modified, changed })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number: u64, signed: i64) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            put_signed(&mut bytes, signed);
            let mut reader = ByteReader(&bytes);
            prop_assert_eq!((reader.number(), reader.signed(), reader.0.len()), (Some(number), Some(signed), 0));
        }
    }

    #[test]
    fn number_that_is_too_long_or_cut_is_none() {
        for bytes in [&[0x80; 11][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], &[0x80], &[]] {
            assert_eq!(ByteReader(bytes).number(), None, "{bytes:?}");
        }
    }
}
