//! The first bytes of a stored index: what it belongs to, when it was written, and how long its parts are; and why an
//! index is not used.

use std::{fmt, io};

use confined_fs::{IdentityError, RootIdentity, StoredMoment};

use crate::ngram_filter::{COLUMNS, FILTER_VERSION, SEGMENTS};

use super::bytes::ByteReader;

/// Why a stored index is not used, for people.
#[derive(Debug)]
pub enum Unusable {
    /// Nothing is kept of this root.
    Root(IdentityError),
    /// There is none.
    Missing,
    /// The file or its folder cannot be opened, or others may write to it.
    Refused(io::Error),
    /// It was cut off or changed.
    Damaged,
    /// Another version of the program wrote it.
    OtherVersion,
    /// It is about another directory than the one that is there now, or one on another file system.
    OtherDirectory,
    /// The rules about content are others now.
    OtherRules,
    /// By the clock it was written in the future, or the clock was set back since.
    Clock,
    /// It has more bytes than all may have together.
    TooLarge,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Root(why) => return why.fmt(f),
            Self::Refused(error) => return write!(f, "it cannot be used: {error}"),
            Self::Missing => "nothing is stored",
            Self::Damaged => "it is damaged",
            Self::OtherVersion => "another version of rootbound wrote it",
            Self::OtherDirectory => "the directory has been replaced, or its file system has changed",
            Self::OtherRules => "the rules about secret content have changed",
            Self::Clock => "the clock was set back after it was written",
            Self::TooLarge => "it is larger than --index-size allows",
        };
        f.write_str(text)
    }
}

/// Bytes of the header.
pub(super) const HEADER: usize = 192;
/// Bytes at the end of the file: the number of the store, and the length of the file.
pub(super) const TRAILER: usize = 16;
/// Bytes of a checksum behind each column.
pub(super) const CHECKSUM: usize = 4;
/// Bytes of a segment in the list of segments.
const SEGMENT_BYTES: u32 = 4;

/// Numbers of parts, for [`Header::checksum`]; columns are numbered from 0.
pub(super) const TABLES: u64 = 1 << 32;
pub(super) const SEGMENT_LIST: u64 = 2 << 32;
pub(super) const LISTING: u64 = 3 << 32;

const MAGIC: [u8; 8] = *b"RBindex\n";
/// Another number for another meaning of the bytes.
const VERSION: u32 = 5;
/// Bytes of the text of [`RootIdentity::key`] that are kept.
const KEY: usize = 32;

/// See the module. All numbers are little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The number of this store, which begins each checksum: parts of another store do not fit.
    pub(super) id: u64,
    pub(super) identity: RootIdentity,
    pub(super) written: StoredMoment,
    /// Directories in the tables: those with a file whose content is known.
    pub(super) directories: u32,
    /// Files whose content is known.
    pub(super) files: u64,
    /// Bytes of the paths of the directories.
    pub(super) paths: u32,
    /// Bytes of the files in the directories.
    pub(super) entries: u32,
    /// The checksum of the tables.
    pub(super) tables_checksum: u32,
    /// Bytes of the list of segments.
    pub(super) segments: u32,
    pub(super) segments_checksum: u32,
    /// Words of a column; 0 without a filter.
    pub(super) blocks: u32,
    /// Bytes of the names below the root; 0 without them.
    pub(super) listing: u32,
    pub(super) listing_checksum: u32,
}

/// Bytes of a directory in the table of directories: where its path and its entries begin.
pub(super) const DIRECTORY: usize = 8;

impl Header {
    /// Bytes of the tables, which follow the header.
    pub(super) fn tables(&self) -> u64 {
        u64::from(self.directories) * DIRECTORY as u64 + u64::from(self.paths) + u64::from(self.entries)
    }

    /// When it was written, in seconds and nanoseconds since 1970.
    pub(super) fn written_seconds(&self) -> (i64, u32) {
        let (seconds, rest) =
            (self.written.wall.div_euclid(1_000_000_000), self.written.wall.rem_euclid(1_000_000_000));
        (seconds, u32::try_from(rest).unwrap_or_default())
    }

    /// Where the names begin.
    pub(super) fn listing_at(&self) -> u64 {
        HEADER as u64 + self.tables()
    }

    /// Where the list of segments begins.
    pub(super) fn segments_at(&self) -> u64 {
        self.listing_at() + u64::from(self.listing)
    }

    /// Where a column begins.
    pub(super) fn column_at(&self, column: usize) -> u64 {
        self.segments_at() + u64::from(self.segments) + column as u64 * self.column_bytes()
    }

    /// Of how many segments a word has the bits of one column: all 64 of a block, but of a filter with a single block as
    /// many as are in use. A word has room for several columns then, and the file fewer words.
    pub(super) fn width(&self) -> usize {
        (self.segment_count() / self.blocks.max(1)) as usize
    }

    /// How many columns are stored. Column `n` is in the one of number `n` modulo this.
    pub(super) fn columns(&self) -> usize {
        COLUMNS * self.width() / SEGMENTS
    }

    /// Whether such columns can be.
    fn has_valid_columns(&self) -> bool {
        let all = u64::from(self.blocks) * SEGMENTS as u64 * u64::from(SEGMENT_BYTES);
        let is_part = self.blocks == 1 && self.segments.is_power_of_two() && self.segments >= SEGMENT_BYTES;
        u64::from(self.segments) == all || is_part && u64::from(self.segments) < all
    }

    /// Bytes of a column with its checksum.
    fn column_bytes(&self) -> u64 {
        u64::from(self.blocks) * size_of::<u64>() as u64 + CHECKSUM as u64
    }

    /// Bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.column_at(self.columns()) + TRAILER as u64
    }

    /// How many segments there are.
    pub(super) fn segment_count(&self) -> u32 {
        self.segments / SEGMENT_BYTES
    }

    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut out = Vec::with_capacity(HEADER);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(FILTER_VERSION.to_le_bytes());
        out.extend(self.id.to_le_bytes());
        out.extend(self.written.wall.to_le_bytes());
        out.extend(self.written.started.to_le_bytes());
        for number in [self.identity.file_system, self.identity.device, self.identity.inode] {
            out.extend(number.to_le_bytes());
        }
        for text in [&self.identity.key, &self.identity.policy.to_string()] {
            let mut bytes = text.clone().into_bytes();
            bytes.resize(KEY, 0);
            out.extend(bytes);
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
        out.resize(HEADER - CHECKSUM, 0);
        out.extend(crc32fast::hash(&out).to_le_bytes());
        let mut header = [0; HEADER];
        header.copy_from_slice(&out);
        header
    }

    /// The header that these bytes are.
    pub(super) fn decode(bytes: &[u8; HEADER]) -> Result<Self, Unusable> {
        let (content, checksum) = bytes.split_at(HEADER - CHECKSUM);
        let mut reader = ByteReader::new(content);
        let versions = (reader.array(), narrow(&mut reader), narrow(&mut reader));
        if versions.0 == Some(MAGIC) && versions != (Some(MAGIC), Some(VERSION), Some(FILTER_VERSION)) {
            return Err(Unusable::OtherVersion);
        }
        if versions.0 != Some(MAGIC) || checksum != crc32fast::hash(content).to_le_bytes() {
            return Err(Unusable::Damaged);
        }
        Self::decode_numbers(&mut reader).ok_or(Unusable::Damaged)
    }

    /// What follows the versions.
    fn decode_numbers(reader: &mut ByteReader<'_>) -> Option<Self> {
        let id = wide(reader)?;
        let written = StoredMoment { wall: wide(reader)?.cast_signed(), started: wide(reader)?.cast_signed() };
        let (file_system, device, inode) = (wide(reader)?, wide(reader)?, wide(reader)?);
        let key = std::str::from_utf8(reader.take(KEY)?).ok()?.to_owned();
        let policy = std::str::from_utf8(reader.take(KEY)?).ok()?.parse().ok()?;
        let mut header = Self {
            id,
            // The rest of what it belongs to comes last.
            identity: RootIdentity { key, policy, file_system, file_system_id: 0, device, inode, created: 0 },
            written,
            files: wide(reader)?,
            directories: narrow(reader)?,
            paths: narrow(reader)?,
            entries: narrow(reader)?,
            tables_checksum: narrow(reader)?,
            segments: narrow(reader)?,
            segments_checksum: narrow(reader)?,
            blocks: narrow(reader)?,
            listing: narrow(reader)?,
            listing_checksum: narrow(reader)?,
        };
        header.identity.file_system_id = wide(reader)?;
        header.identity.created = wide(reader)?.cast_signed();
        Some(header).filter(Self::has_valid_columns)
    }

    pub(super) fn trailer(&self) -> [u8; TRAILER] {
        let mut trailer = [0; TRAILER];
        trailer[..8].copy_from_slice(&self.id.to_le_bytes());
        trailer[8..].copy_from_slice(&self.length().to_le_bytes());
        trailer
    }

    /// The checksum of a part of this store. `part` is another number for each.
    pub(super) fn checksum(id: u64, part: u64, bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&id.to_le_bytes());
        hasher.update(&part.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize()
    }
}

fn wide(reader: &mut ByteReader<'_>) -> Option<u64> {
    reader.array().map(u64::from_le_bytes)
}

fn narrow(reader: &mut ByteReader<'_>) -> Option<u32> {
    reader.array().map(u32::from_le_bytes)
}
