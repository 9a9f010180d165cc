//! What is kept of one file, and how it is written down.

use confined_fs::StatFacts;

use crate::{FileSegments, KnownContent, SegmentSlice};

use super::bytes::{ByteReader, put_number, put_signed};

/// What was known of a file in the state that these facts say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    pub(crate) facts: StatFacts,
    /// Never `Unread` or `Secret`.
    pub(crate) content: KnownContent,
}

/// What the numbers of an entry are written relative to: those of the entry before it in the same directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    inode: u64,
    seconds: i64,
    segment: u32,
}

/// What is the same for all files of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The device that all of it is on.
    pub(super) device: u64,
    /// How many segments the filter has; `None` without a filter, when segments say nothing.
    pub(super) segments: Option<u32>,
    /// When it was written: facts that do not lie before that are not used.
    pub(super) written: (i64, u32),
}

/// The first byte of an entry: what is known of its content.
const CONTENT: u8 = 0b11;
const ALWAYS_SEARCH: u8 = 0;
const BINARY: u8 = 1;
const ONE: u8 = 2;
const MANY: u8 = 3;
const UTF8: u8 = 1 << 2;
const WITHIN_LINE: u8 = 1 << 3;
/// Both times are the same.
const ONE_TIME: u8 = 1 << 4;
const ALL: u8 = CONTENT | UTF8 | WITHIN_LINE | ONE_TIME;

/// The first byte of an entry. `None` for content that is not kept.
pub(super) fn tag(file: &StoredFile) -> Option<u8> {
    let StoredFile { facts, content } = file;
    let content = match content {
        KnownContent::Unread | KnownContent::Secret => return None,
        KnownContent::AlwaysSearch => ALWAYS_SEARCH,
        KnownContent::Binary(_) => BINARY,
        KnownContent::Filtered(segments, _, utf8) => {
            let utf8 = if *utf8 { UTF8 } else { 0 };
            match segments {
                FileSegments::One(_) => ONE | utf8,
                FileSegments::Many { within_line: true, .. } => MANY | WITHIN_LINE | utf8,
                FileSegments::Many { within_line: false, .. } => MANY | utf8,
            }
        }
    };
    Some(content | if facts.modified == facts.changed { ONE_TIME } else { 0 })
}

impl StoredFile {
    /// Writes it behind its first byte and its name.
    pub(super) fn put(&self, out: &mut Vec<u8>, previous: &mut Previous) {
        put_facts(out, &self.facts, self.facts.modified == self.facts.changed, previous);
        let KnownContent::Filtered(segments, ..) = &self.content else { return };
        let mut put = |out: &mut Vec<u8>, segment: u32| {
            put_signed(out, i64::from(segment) - i64::from(previous.segment));
            previous.segment = segment;
        };
        match segments {
            FileSegments::One(segment) => put(out, *segment),
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
        if tag & !ALL != 0 {
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
        let content = match tag & CONTENT {
            ALWAYS_SEARCH => KnownContent::AlwaysSearch,
            BINARY => KnownContent::Binary(size.ok()?),
            ONE => KnownContent::Filtered(FileSegments::One(segment(reader)?), size.ok()?, tag & UTF8 != 0),
            _ => {
                let count = reader.length()?;
                // Each takes two bytes or more.
                if count > reader.len() / 2 {
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
                KnownContent::Filtered(segments, size, tag & UTF8 != 0)
            }
        };
        match content {
            KnownContent::Filtered(..) if bounds.segments.is_none() => {
                Some(Self { facts, content: KnownContent::AlwaysSearch })
            }
            content => Some(Self { facts, content }),
        }
    }
}

/// Writes facts without the device. `one_time`: both times are the same.
pub(super) fn put_facts(out: &mut Vec<u8>, facts: &StatFacts, one_time: bool, previous: &mut Previous) {
    put_signed(out, facts.inode.wrapping_sub(previous.inode).cast_signed());
    put_number(out, facts.size);
    put_signed(out, facts.modified.0.wrapping_sub(previous.seconds));
    put_number(out, u64::from(facts.modified.1));
    if !one_time {
        put_signed(out, facts.changed.0.wrapping_sub(facts.modified.0));
        put_number(out, u64::from(facts.changed.1));
    }
    (previous.inode, previous.seconds) = (facts.inode, facts.modified.0);
}

/// Reads what [`put_facts`] wrote.
pub(super) fn read_facts(
    reader: &mut ByteReader<'_>,
    one_time: bool,
    previous: &mut Previous,
    device: u64,
) -> Option<StatFacts> {
    let inode = previous.inode.wrapping_add(reader.signed()?.cast_unsigned());
    let size = reader.number()?;
    let modified = (previous.seconds.wrapping_add(reader.signed()?), reader.small()?);
    let changed = if one_time { modified } else { (modified.0.wrapping_add(reader.signed()?), reader.small()?) };
    (previous.inode, previous.seconds) = (inode, modified.0);
    Some(StatFacts { device, inode, size, modified, changed })
}
