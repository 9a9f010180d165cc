//! What a layer knows besides its files: which names of the disk do not show, and what each path was on the disk before
//! it was first changed.
//!
//! A file of lines that is only appended to, read again where another process has added to it. A line that is cut or
//! damaged does not count: a change whose base is not known is reported as a conflict and never applied.
//!
//! | line | meaning |
//! |---|---|
//! | `hide PATH` | what the disk has at PATH, and everything below it, does not show |
//! | `base absent PATH`, `base directory PATH`, `base link REVISION PATH`, `base file REVISION MODE PATH`, `base other PATH` | what the disk had there |
//! | `forget PATH` | all of this about PATH and what is below it no longer counts |

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::{ffi::OsStr, fmt, io};

use beneath::FileKind;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::{Revision, limits::IfThere as _, path::name_of};

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordLine {
    Hide(PathBuf),
    Base(NodeSummary, PathBuf),
    Forget(PathBuf),
}

/// The sum of all lines.
#[derive(Debug, Default)]
pub(super) struct Record {
    hidden: HashSet<PathBuf>,
    bases: BTreeMap<PathBuf, (PathBuf, NodeSummary)>,
    /// Counts each line that was added.
    pub(super) generation: u64,
}

impl Record {
    /// Adds what complete lines say; others are left out.
    pub(super) fn add_text(&mut self, text: &str) {
        for line in text.lines() {
            if let Some(line) = RecordLine::parse(line) {
                self.add(&line);
            } else {
                tracing::warn!("a damaged line in the record of staged changes is left out");
            }
        }
    }

    /// One without lines, which comes after this one.
    pub(super) fn emptied(&self) -> Self {
        Self { generation: self.generation + 1, ..Self::default() }
    }

    pub(super) fn add(&mut self, line: &RecordLine) {
        self.generation += 1;
        match line {
            RecordLine::Hide(path) => {
                self.hidden.insert(folded(path));
            }
            RecordLine::Base(base, path) => {
                self.bases.entry(folded(path)).or_insert_with(|| (path.clone(), *base));
            }
            RecordLine::Forget(path) => {
                let top = folded(path);
                self.hidden.retain(|hidden| !hidden.starts_with(&top));
                self.bases.retain(|path, _| !path.starts_with(&top));
            }
        }
    }

    /// Whether what the disk has at `path` does not show.
    pub(super) fn hides(&self, path: &Path) -> bool {
        !self.hidden.is_empty() && folded(path).ancestors().any(|above| self.hidden.contains(above))
    }

    /// Whether `path` is in a directory of the disk that does not show.
    pub(super) fn hides_above(&self, path: &Path) -> bool {
        path.parent().is_some_and(|parent| self.hides(parent))
    }

    /// The names below `path` that do not show, folded.
    pub(super) fn hidden_below(&self, path: &Path) -> impl Iterator<Item = &Path> {
        let top = folded(path);
        self.hidden.iter().map(PathBuf::as_path).filter(move |hidden| *hidden != top && hidden.starts_with(&top))
    }

    /// The state of the disk at `path` before its first change; `None` where that is not known.
    pub(super) fn base(&self, path: &Path) -> Option<NodeSummary> {
        let path = folded(path);
        if let Some((_, base)) = self.bases.get(&path) {
            return Some(*base);
        }
        // What is in a directory that was made or taken away as a whole has a line where the disk had something.
        path.ancestors().skip(1).any(|above| self.bases.contains_key(above)).then_some(NodeSummary::Absent)
    }

    /// Whether `path` itself has a base.
    pub(super) fn has_base(&self, path: &Path) -> bool {
        self.bases.contains_key(&folded(path))
    }

    /// Every path that was changed, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.bases.values().map(|(path, _)| path.as_path())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.bases.is_empty()
    }
}

/// As the usual file systems of this system compare names (NTFS and APFS: without case).
pub(super) fn folded(path: &Path) -> PathBuf {
    if cfg!(any(windows, target_vendor = "apple"))
        && let Some(text) = path.to_str()
    {
        return PathBuf::from(text.to_lowercase());
    }
    path.to_owned()
}

impl RecordLine {
    /// Reads one line; `None` for what no version has written.
    fn parse(line: &str) -> Option<Self> {
        let (head, path) = line.rsplit_once(' ')?;
        let path = decoded(path)?;
        let base = match head.split(' ').collect::<Vec<_>>()[..] {
            ["hide"] => return Some(Self::Hide(path)),
            ["forget"] => return Some(Self::Forget(path)),
            ["base", "absent"] => NodeSummary::Absent,
            ["base", "directory"] => NodeSummary::Directory,
            ["base", "other"] => NodeSummary::Other,
            ["base", "link", target] => NodeSummary::Link(target.parse().ok()?),
            ["base", "file", content, mode] => {
                NodeSummary::File(content.parse().ok()?, u32::from_str_radix(mode, 8).ok()?)
            }
            _ => return None,
        };
        Some(Self::Base(base, path))
    }

    /// Whether its path can be written down: on Windows a name may be no Unicode.
    pub(super) fn is_writable(path: &Path) -> bool {
        encoded(path).is_some()
    }
}

impl fmt::Display for RecordLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hide(_) => f.write_str("hide"),
            Self::Forget(_) => f.write_str("forget"),
            Self::Base(NodeSummary::Absent, _) => f.write_str("base absent"),
            Self::Base(NodeSummary::Directory, _) => f.write_str("base directory"),
            Self::Base(NodeSummary::Other, _) => f.write_str("base other"),
            Self::Base(NodeSummary::Link(target), _) => write!(f, "base link {target}"),
            Self::Base(NodeSummary::File(content, mode), _) => write!(f, "base file {content} {mode:o}"),
        }?;
        let (Self::Hide(path) | Self::Forget(path) | Self::Base(_, path)) = self;
        writeln!(f, " {}", encoded(path).unwrap_or_default())
    }
}

/// The bytes of a name that are written as they are.
const PLAIN: AsciiSet = NON_ALPHANUMERIC
    .remove(b'.')
    .remove(b'_')
    .remove(b'-')
    .remove(b'+')
    .remove(b'@')
    .remove(b',')
    .remove(b'=')
    .remove(b'~');

/// A relative path as one word: `/` between its names, `%` and two digits for each byte that is not a plain one; `None` on
/// Windows for a name that is no Unicode.
fn encoded(path: &Path) -> Option<String> {
    let name = |name: &OsStr| {
        let bytes = if cfg!(unix) { name.as_encoded_bytes() } else { name.to_str()?.as_bytes() };
        Some(percent_encode(bytes, &PLAIN).to_string())
    };
    Some(path.iter().map(name).collect::<Option<Vec<_>>>()?.join("/"))
}

/// The path of a word; `None` for what [`encoded`] does not write, `..` and an absolute path among it.
fn decoded(word: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in word.split('/').filter(|_| !word.is_empty()) {
        let bytes: Vec<u8> = percent_decode_str(part).collect();
        // Earlier versions wrote small digits.
        if !percent_encode(&bytes, &PLAIN).to_string().eq_ignore_ascii_case(part) {
            return None;
        }
        let name = name_of(bytes)?;
        let mut parts = Path::new(&name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(one)), None) if one == name && !name.as_encoded_bytes().contains(&0) => {
                path.push(&name);
            }
            _ => return None,
        }
    }
    Some(path)
}

// What is at a path, in so few words that a record can keep it and two of them can be compared.

/// The entry that the disk or a layer has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSummary {
    /// There is nothing.
    Absent,
    /// A file with this content and these permission bits.
    File(Revision, u32),
    /// A link whose target has this hash.
    Link(Revision),
    /// A directory, whatever it holds.
    Directory,
    /// A FIFO, socket or device.
    Other,
}

impl NodeSummary {
    /// Looks at a name in `dir`, and hashes the file there.
    pub(super) fn of(dir: &beneath::Dir, name: &OsStr) -> io::Result<Self> {
        let Some(stat) = dir.child_stat(name).if_there()? else { return Ok(Self::Absent) };
        Ok(match stat.kind {
            FileKind::File => Self::File(Revision::of_reader(&mut dir.child_file(name)?)?, stat.permissions()),
            FileKind::Directory => Self::Directory,
            FileKind::Symlink => Self::Link(Revision::of(dir.child_link(name)?.as_encoded_bytes())),
            FileKind::Other => Self::Other,
        })
    }

    /// Whether both are the same but for permission bits.
    pub fn same_content(self, other: Self) -> bool {
        match (self, other) {
            (Self::File(one, _), Self::File(other, _)) => one == other,
            (one, other) => one == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(text: &str) -> Record {
        let mut record = Record::default();
        record.add_text(text);
        record
    }

    #[test]
    fn hidden_path_hides_what_is_below_it_until_it_is_forgotten() {
        let mut record = record("hide a/b\nhide c\nbase directory a/b\nbase absent new\n");
        assert!(record.hides(Path::new("a/b")) && record.hides(Path::new("a/b/c")) && record.hides(Path::new("c")));
        assert!(!record.hides(Path::new("a")) && !record.hides(Path::new("a/bc")) && !record.hides(Path::new("")));
        assert_eq!(record.base(Path::new("a/b")), Some(NodeSummary::Directory));
        assert_eq!(record.base(Path::new("a/b/c")), Some(NodeSummary::Absent));
        assert_eq!(record.base(Path::new("a/x")), None);
        record.add_text("forget a\n");
        assert!(!record.hides(Path::new("a/b")) && record.hides(Path::new("c")));
        assert_eq!(record.base(Path::new("a/b")), None);
        record.add_text("forget \n");
        assert!(record.is_empty());
    }

    #[test]
    fn first_base_counts() {
        let record = record("base absent a\nbase directory a\n");
        assert_eq!(record.base(Path::new("a")), Some(NodeSummary::Absent));
    }

    #[test]
    fn forged_and_damaged_lines_do_not_count() {
        let record = record(
            "hide ../x\nhide a/../../x\nhide /etc\nhide %2e%2e/x\nhide a%2fb\nhide a%\nhide a%zz\nhide a//b\n\
             base file xyz 644 a\nbase link a\nbase\nhide\n\u{0}\nbase absent a%00\nhide .\n",
        );
        assert!(record.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".*") {
            record(&text);
        }

        #[test]
        fn each_line_is_read_as_it_was_written(names in prop::collection::vec("[^/\\\\\u{0}:]{1,8}", 1..4), mode in 0..0o777_u32) {
            prop_assume!(names.iter().all(|name| name != "." && name != ".."));
            let path: PathBuf = names.iter().collect();
            let revision = Revision::of(b"x");
            for line in [
                RecordLine::Hide(path.clone()),
                RecordLine::Forget(path.clone()),
                RecordLine::Base(NodeSummary::Absent, path.clone()),
                RecordLine::Base(NodeSummary::File(revision, mode), path.clone()),
                RecordLine::Base(NodeSummary::Link(revision), path.clone()),
            ] {
                prop_assert_eq!(RecordLine::parse(line.to_string().trim_end_matches('\n')), Some(line));
            }
        }
    }
}
