//! The names below a root, as they are written: each directory with its facts and its names, those of a directory in it
//! right behind its name.
//!
//! The bytes may have been written by anybody. What is wrong anywhere makes all of them unknown.

use confined_fs::{DirectoryListing, FileKind, NameInTree, RULE_FILES, Revision, TreeListing};

use super::{
    bytes::{ByteReader, put_number},
    stored_file::{Previous, put_facts, read_facts},
    tables::is_name,
};

/// Directories one below the other; more than are ever listed.
const DEEPEST: usize = 300;
/// Bytes of a digest.
const DIGEST: usize = 16;

/// The first byte of a directory.
const HAS_FACTS: u8 = 1;
/// Both times are the same.
const ONE_TIME: u8 = 1 << 1;
const INCOMPLETE: u8 = 1 << 2;
const RULES: u32 = 3;

/// The first byte of a name.
const KINDS: [FileKind; 4] = [FileKind::File, FileKind::Directory, FileKind::Symlink, FileKind::Other];
const KIND: u8 = 0b11;
const IGNORED: u8 = 1 << 2;
const HAS_NAMES: u8 = 1 << 3;

/// A file of rules could be read.
const HAS_CONTENT: u8 = 1 << 2;

/// The bytes of a listing.
pub(super) fn encode_listing(listing: &TreeListing) -> Vec<u8> {
    let mut out = listing.rules.to_bytes().to_vec();
    if !listing.directories.is_empty() {
        put_directory(&mut out, listing, 0, &mut Previous::default());
    }
    out
}

fn put_directory(out: &mut Vec<u8>, listing: &TreeListing, at: u32, previous: &mut Previous) {
    let directory = &listing.directories[at as usize];
    let facts = directory.facts.map(|facts| (facts, facts.modified == facts.changed));
    let times = if facts.is_some_and(|(_, one_time)| one_time) { ONE_TIME } else { 0 };
    let rules = u8::try_from(directory.rules.len()).unwrap_or_default() << RULES;
    let incomplete = if directory.incomplete { INCOMPLETE } else { 0 };
    out.push(rules | times | incomplete | if facts.is_some() { HAS_FACTS } else { 0 });
    if let Some((facts, one_time)) = facts {
        put_facts(out, &facts, one_time, previous);
    }
    for (file, content) in &directory.rules {
        let file = RULE_FILES.iter().position(|known| known == file).and_then(|at| u8::try_from(at).ok());
        out.push(file.unwrap_or_default() | if content.is_some() { HAS_CONTENT } else { 0 });
        out.extend(content.iter().flat_map(|content| content.to_bytes()));
    }
    put_number(out, directory.names.len() as u64);
    for name in &directory.names {
        let kind = KINDS.iter().position(|kind| *kind == name.kind).and_then(|at| u8::try_from(at).ok());
        let ignored = if name.ignored { IGNORED } else { 0 };
        out.push(kind.unwrap_or_default() | ignored | if name.below.is_some() { HAS_NAMES } else { 0 });
        let text = listing.name(*name);
        put_number(out, text.len() as u64);
        out.extend(text);
        if let Some(below) = name.below {
            put_directory(out, listing, below, previous);
        }
    }
}

/// The listing that these bytes are, of a root on that device. Facts that do not lie before `written`, seconds and
/// nanoseconds since 1970, are left out.
pub(super) fn decode_listing(bytes: &[u8], device: u64, written: (i64, u32)) -> Option<TreeListing> {
    let mut reader = ByteReader::new(bytes);
    let rules = Revision::from_bytes(reader.array::<DIGEST>()?);
    let listing = TreeListing { rules, directories: Vec::new(), text: Vec::with_capacity(bytes.len() / 2) };
    let mut decoder = Decoder { reader, listing, previous: Previous::default(), device, written };
    decoder.directory(0)?;
    (decoder.reader.len() == 0).then_some(decoder.listing)
}

struct Decoder<'b> {
    reader: ByteReader<'b>,
    listing: TreeListing,
    previous: Previous,
    device: u64,
    written: (i64, u32),
}

impl Decoder<'_> {
    /// The next directory; its number.
    fn directory(&mut self, depth: usize) -> Option<u32> {
        if depth > DEEPEST {
            return None;
        }
        let number = self.listing.directories.len();
        self.listing.directories.push(DirectoryListing::default());
        let mut directory = self.facts_and_rules()?;
        let count = self.reader.length()?;
        // Each takes three bytes or more.
        if count > self.reader.len() / 3 {
            return None;
        }
        directory.names.reserve_exact(count);
        let mut last = None;
        for _ in 0..count {
            let name = self.name(depth)?;
            let is_next = last.is_none_or(|last| self.listing.name(last) < self.listing.name(name));
            is_next.then_some(())?;
            last = Some(name);
            directory.names.push(name);
        }
        self.listing.directories[number] = directory;
        u32::try_from(number).ok()
    }

    fn facts_and_rules(&mut self) -> Option<DirectoryListing> {
        let tag = self.reader.byte()?;
        let mut directory = DirectoryListing { incomplete: tag & INCOMPLETE != 0, ..DirectoryListing::default() };
        if tag & HAS_FACTS != 0 {
            let facts = read_facts(&mut self.reader, tag & ONE_TIME != 0, &mut self.previous, self.device)?;
            directory.facts = Some(facts).filter(|facts| facts.is_older_than(self.written));
        }
        for _ in 0..tag >> RULES {
            let file = self.reader.byte()?;
            let name = RULE_FILES.get(usize::from(file & !HAS_CONTENT))?;
            let content = if file & HAS_CONTENT == 0 { None } else { Some(self.reader.array::<DIGEST>()?) };
            directory.rules.push((name, content.map(Revision::from_bytes)));
        }
        Some(directory)
    }

    fn name(&mut self, depth: usize) -> Option<NameInTree> {
        let tag = self.reader.byte()?;
        if tag & !(KIND | IGNORED | HAS_NAMES) != 0 {
            return None;
        }
        let kind = KINDS[usize::from(tag & KIND)];
        let length = self.reader.length()?;
        let bytes = self.reader.take(length).filter(|bytes| is_name(bytes))?;
        let text = (u32::try_from(self.listing.text.len()).ok()?, u16::try_from(length).ok()?);
        self.listing.text.extend(bytes);
        let below = match (tag & HAS_NAMES != 0, kind) {
            (false, _) => None,
            (true, FileKind::Directory) => Some(self.directory(depth + 1)?),
            (true, _) => return None,
        };
        Some(NameInTree { text, kind, ignored: tag & IGNORED != 0, below })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What was written comes back; what another program wrote neither panics nor names what no directory holds.

    use proptest::prelude::*;

    use super::*;
    use confined_fs::StatFacts;

    const DEVICE: u64 = 7;
    const WRITTEN: (i64, u32) = (2000, 0);

    fn facts(inode: u64, changed: i64) -> StatFacts {
        StatFacts { device: DEVICE, inode, size: 4096, modified: (1000, 5), changed: (changed, 9) }
    }

    /// A root with a file, a directory with a link in it, and an ignored directory.
    fn listing() -> TreeListing {
        let name = |start: u32, kind, ignored, below| NameInTree { text: (start, 1), kind, ignored, below };
        let root = DirectoryListing {
            facts: Some(facts(70, 1000)),
            incomplete: false,
            rules: vec![(RULE_FILES[0], None), (RULE_FILES[2], Some(Revision::of(b"*.o\n")))],
            names: vec![
                name(0, FileKind::File, false, None),
                name(1, FileKind::Directory, false, Some(1)),
                name(3, FileKind::Directory, true, None),
            ],
        };
        let inner = DirectoryListing {
            facts: Some(facts(3, 1500)),
            incomplete: true,
            names: vec![name(2, FileKind::Symlink, false, None)],
            ..DirectoryListing::default()
        };
        TreeListing { rules: Revision::of(b"rules"), directories: vec![root, inner], text: b"abxz".to_vec() }
    }

    #[test]
    fn listing_comes_back_without_facts_that_are_too_young() {
        let (listing, bytes) = (listing(), encode_listing(&listing()));
        let read = |written| decode_listing(&bytes, DEVICE, written).unwrap();
        let read_again = read(WRITTEN);
        assert_eq!(encode_listing(&read_again), bytes);
        assert_eq!(read_again.directories[0].rules, listing.directories[0].rules);
        assert_eq!(read_again.directories[1].facts, listing.directories[1].facts);
        assert!(read_again.directories[1].incomplete);
        assert_eq!(read((1200, 0)).directories.iter().filter(|one| one.facts.is_some()).count(), 1);
        for end in 0..bytes.len() {
            assert_eq!(decode_listing(&bytes[..end], DEVICE, WRITTEN), None, "{end}");
        }
    }

    #[test]
    fn names_that_no_directory_holds_are_refused() {
        let bytes = encode_listing(&listing());
        for (name, other) in [(b'a', b'/'), (b'a', 0), (b'a', b'.'), (b'a', b'z'), (b'x', b'/')] {
            let mut wrong = bytes.clone();
            // The length of a name of one byte is before it.
            let at = wrong.windows(2).position(|pair| pair == [1, name]).unwrap();
            wrong[at + 1] = other;
            assert_eq!(decode_listing(&wrong, DEVICE, WRITTEN), None, "{}", other.escape_ascii());
        }
    }

    #[test]
    fn depth_is_bounded() {
        let mut bytes = Revision::of(b"").to_bytes().to_vec();
        for _ in 0..100_000 {
            bytes.extend([0, 1, 1 | HAS_NAMES, 1, b'd']);
        }
        bytes.extend([0, 0]);
        assert_eq!(decode_listing(&bytes, DEVICE, WRITTEN), None);
    }

    proptest! {
        #[test]
        fn forged_listings_never_panic(
            mutations in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..8),
            more in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = encode_listing(&listing());
            for (at, byte) in mutations {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            for bytes in [&bytes, &[&bytes[..], &more].concat(), &[&bytes[..16], &more].concat()] {
                if let Some(listing) = decode_listing(bytes, DEVICE, WRITTEN) {
                    let names = listing.directories.iter().flat_map(|directory| &directory.names);
                    for name in names {
                        prop_assert!(is_name(listing.name(*name)));
                        prop_assert!(name.below.is_none_or(|below| (below as usize) < listing.directories.len()));
                    }
                }
            }
        }
    }
}
