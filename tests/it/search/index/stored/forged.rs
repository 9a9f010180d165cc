//! A stored index that says something wrong of a file, with checksums that fit: it is believed where all facts are those
//! of now, which shows that it was asked, and in no other case.
//!
//! The file was changed after the index was stored. In what is stored, its facts are replaced by those of now, and then
//! one thing is changed. Nothing else could show that a search compares the inode alone, or that a checksum is not
//! looked at: on the disk, several facts change together.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, json};

use super::{
    damage::{seal, stored},
    epoch::REST,
};
use crate::search::index::{
    comparison::{Comparison, Rules},
    searchers::End,
};

/// Where numbers of the header are, and how long it is (docs/internals/search-index.md, `stored_index/header.rs`).
const HEADER: usize = 192;
const MAGIC: usize = 0;
const VERSION: usize = 8;
const FILTER_VERSION: usize = 12;
const WRITTEN: usize = 24;
const STARTED: usize = 32;
const FILE_SYSTEM: usize = 40;
const DEVICE: usize = 48;
const INODE: usize = 56;
const KEY: usize = 64;
const POLICY: usize = 96;
const DIRECTORIES: usize = 136;
const PATHS: usize = 140;
const ENTRIES: usize = 144;
const TABLES_CHECKSUM: usize = 148;
const SEGMENTS: usize = 152;
const FILE_SYSTEM_ID: usize = 172;
const CREATED: usize = 180;
/// Bytes at the end.
const TRAILER: usize = 16;
/// In the first byte of a file: that both times are the same, and not written twice.
const ONE_TIME: u8 = 1 << 4;
/// How the file begins in the tables: no byte shared with the name before, the length of the name, the name.
const NAME: &[u8] = b"\0\x05f.txt";

/// Inode, size, seconds and nanoseconds of both times.
type Facts = [i64; 6];
const FACTS: [&str; 6] = ["inode", "size", "mtime", "mtime, nanoseconds", "ctime", "ctime, nanoseconds"];
const CTIME: usize = 4;

fn facts_of(path: &Path) -> Facts {
    let stat = fs::metadata(path).unwrap();
    let unsigned = [stat.ino(), stat.size()].map(u64::cast_signed);
    [unsigned[0], unsigned[1], stat.mtime(), stat.mtime_nsec(), stat.ctime(), stat.ctime_nsec()]
}

fn nanoseconds_now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// The bytes of an index whose last file has these facts, as if it was written then.
fn with_facts(stored: &[u8], facts: &Facts, written: i64) -> Vec<u8> {
    let number = |at: usize| u32::from_le_bytes(stored[at..at + 4].try_into().unwrap()) as usize;
    let length = number(DIRECTORIES) * 8 + number(PATHS) + number(ENTRIES);
    let tables = &stored[HEADER..HEADER + length];
    let at = tables.windows(NAME.len()).rposition(|window| window == NAME).unwrap();
    let tag = tables[at - 1];
    let mut rest = &tables[at + NAME.len()..];
    for _ in 0..if tag & ONE_TIME == 0 { 6 } else { 4 } {
        rest = &rest[1 + rest.iter().position(|byte| byte & 0x80 == 0).unwrap()..];
    }
    let mut made = [&tables[..at - 1], &[tag & !ONE_TIME], NAME].concat();
    let [inode, size, modified, modified_nanoseconds, changed, changed_nanoseconds] = *facts;
    put_signed(&mut made, inode);
    put_number(&mut made, size.cast_unsigned());
    put_signed(&mut made, modified);
    put_number(&mut made, modified_nanoseconds.cast_unsigned());
    put_signed(&mut made, changed - modified);
    put_number(&mut made, changed_nanoseconds.cast_unsigned());
    made.extend(rest);

    let mut bytes = [&stored[..HEADER], &made, &stored[HEADER + length..]].concat();
    let entries = number(ENTRIES) + made.len() - length;
    put(&mut bytes, ENTRIES, &u32::try_from(entries).unwrap().to_le_bytes());
    put(&mut bytes, WRITTEN, &written.to_le_bytes());
    // The number of the store, and that of the part, come first.
    let part = [&stored[16..24], &(1_u64 << 32).to_le_bytes(), &made].concat();
    put(&mut bytes, TABLES_CHECKSUM, &crc32fast::hash(&part).to_le_bytes());
    let (end, whole) = (bytes.len() - 8, bytes.len() as u64);
    put(&mut bytes, end, &whole.to_le_bytes());
    seal(&mut bytes);
    bytes
}

fn put(bytes: &mut [u8], at: usize, number: &[u8]) {
    bytes[at..at + number.len()].copy_from_slice(number);
}

/// LEB128.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7F).unwrap() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap());
}

fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, (number << 1 ^ number >> 63).cast_unsigned());
}

/// What is changed of an index that would be believed.
type Change = fn(&mut Vec<u8>);

/// Each makes it one that is not believed.
const CHANGES: &[(&str, Change)] = &[
    ("another magic", |bytes| sealed(bytes, MAGIC, 1)),
    ("a later version", |bytes| sealed(bytes, VERSION, 1)),
    ("another filter", |bytes| sealed(bytes, FILTER_VERSION, 1)),
    ("written later than now", |bytes| put_sealed(bytes, WRITTEN, nanoseconds_now() + 3600 * 1_000_000_000)),
    ("the clock was set back since", |bytes| {
        let started = i64::from_le_bytes(bytes[STARTED..STARTED + 8].try_into().unwrap());
        put_sealed(bytes, STARTED, started + 60 * 1_000_000_000);
    }),
    ("another file system", |bytes| sealed(bytes, FILE_SYSTEM, 1)),
    ("another device", |bytes| sealed(bytes, DEVICE, 1)),
    ("another file system of that type", |bytes| sealed(bytes, FILE_SYSTEM_ID, 1)),
    ("a root that was made at another time", |bytes| sealed(bytes, CREATED, 1)),
    ("another inode of the root", |bytes| sealed(bytes, INODE, 1)),
    ("another root", |bytes| sealed(bytes, KEY, 1)),
    ("other rules", |bytes| sealed(bytes, POLICY, 1)),
    ("header without its checksum", |bytes| bytes[WRITTEN] ^= 1),
    ("tables without their checksum", |bytes| sealed(bytes, TABLES_CHECKSUM, 1)),
    ("a byte cut off", |bytes| bytes.truncate(bytes.len() - 1)),
    ("a byte more", |bytes| bytes.push(0)),
    ("another end", |bytes| *bytes.last_mut().unwrap() ^= 1),
];

fn sealed(bytes: &mut [u8], at: usize, bit: u8) {
    bytes[at] ^= bit;
    seal(bytes);
}

fn put_sealed(bytes: &mut [u8], at: usize, number: i64) {
    put(bytes, at, &number.to_le_bytes());
    seal(bytes);
}

/// Two words: one that the last file has now and had not when the index was stored, and one that another file has had
/// all the time.
const NEW: &str = "needle";
const OLD: &str = "haystack";

#[test]
fn stored_index_is_believed_with_all_facts_and_checksums_alone() {
    let mut comparison = Comparison::of_processes(7, Rules::Rgs);
    if !super::equipped(&comparison) {
        return;
    }
    let file = comparison.path("zz/f.txt");
    for (path, text) in [("aa/o.txt", "haystack\n"), ("zz/f.txt", "nothing\n")] {
        let path = comparison.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    thread::sleep(REST);
    comparison.processes().build(None);
    let Some(path) = stored(&comparison.processes().state()).pop() else {
        eprintln!("SKIPPED: nothing is stored of temporary folders");
        return;
    };
    let bytes = fs::read(&path).unwrap();
    fs::write(&file, "needles\n").unwrap();
    // Later than the change, by the clock that files have.
    thread::sleep(Duration::from_millis(20));
    let (facts, written) = (facts_of(&file), nanoseconds_now());
    let whole = with_facts(&bytes, &facts, written);
    let ask = |comparison: &mut Comparison, bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        comparison.log.push(format!("-- {what}"));
        comparison.processes().start("auto");
        for word in [NEW, OLD] {
            comparison.compare("grep", &query(word));
        }
        comparison.processes().end(End::Killed(0));
    };

    fs::write(&path, &whole).unwrap();
    comparison.processes().start("auto");
    let (with, without) = comparison.answers("grep", &query(NEW));
    let is_found = |text: &str| text.contains("zz/f.txt");
    assert_eq!((is_found(&with), is_found(&without)), (false, true), "it is asked, and believed: {with}");
    comparison.processes().end(End::Killed(0));

    for (at, name) in FACTS.iter().enumerate() {
        let mut other = facts;
        other[at] += if facts[at] % 2 == 0 || at == 0 { 1 } else { -1 };
        ask(&mut comparison, &with_facts(&bytes, &other, written), name);
    }
    // The clock stood still since the file was changed, so that it may be changed once more without another time.
    let changed = facts[CTIME] * 1_000_000_000 + facts[CTIME + 1];
    ask(&mut comparison, &with_facts(&bytes, &facts, changed), "written in the tick of the change");
    for (name, change) in CHANGES {
        let mut bytes = whole.clone();
        change(&mut bytes);
        ask(&mut comparison, &bytes, name);
    }
    // Without a bit in any column, no file could hold a match; without the list of segments, they have no content.
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let segments = HEADER + number(DIRECTORIES) * 8 + number(PATHS) + number(ENTRIES);
    let columns = segments + number(SEGMENTS);
    for (name, range) in [("no bit set", columns..bytes.len() - TRAILER), ("no segments", segments..columns)] {
        let mut bytes = bytes.clone();
        bytes[range].fill(0);
        ask(&mut comparison, &bytes, name);
    }
}

fn query(word: &str) -> Map<String, Value> {
    let arguments = json!({ "pattern": word, "output_mode": "files_with_matches" });
    arguments.as_object().unwrap().clone()
}
