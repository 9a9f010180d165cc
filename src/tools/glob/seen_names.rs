//! The names that a walk met, for a second look when nothing matched.

use std::path::Path;

use confined_fs::FileKind;

/// Names that are kept: more are not looked at again.
pub(super) const MOST: usize = 100_000;

/// Names in the order of a walk, as text.
#[derive(Debug, Default)]
pub(super) struct SeenNames {
    /// The paths below their starts, one after the other.
    text: String,
    names: Vec<SeenName>,
    /// Names that were met, with those that are not to be looked at.
    met: usize,
    /// Whether a name is missing here.
    lacks_some: bool,
}

#[derive(Debug)]
struct SeenName {
    /// The number of the start.
    start: usize,
    kind: FileKind,
    /// Where the path ends in the text.
    end: usize,
}

impl SeenNames {
    /// Adds a name below the start of this number; `None` is one that is not to be looked at.
    pub(super) fn push(&mut self, start: usize, name: Option<(FileKind, &Path)>) {
        self.met += 1;
        let Some((kind, relative)) = name.filter(|_| self.met <= MOST && !self.lacks_some) else { return };
        match relative.to_str() {
            Some(relative) => {
                self.text.push_str(relative);
                self.names.push(SeenName { start, kind, end: self.text.len() });
            }
            // A path with such a name may end in one that is text.
            None => self.lacks_some = true,
        }
    }

    /// Leaves them all out.
    pub(super) fn forget(&mut self) {
        *self = Self { lacks_some: true, ..Self::default() };
    }

    /// The numbers of the starts, the kinds and the paths; `None` where not all that are to be looked at are here.
    pub(super) fn all(&self) -> Option<impl Iterator<Item = (usize, FileKind, &Path)>> {
        let mut from = 0;
        (!self.lacks_some).then(|| {
            self.names.iter().map(move |name| {
                let path = &self.text[std::mem::replace(&mut from, name.end)..name.end];
                (name.start, name.kind, Path::new(path))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_names_are_all_or_none() {
        let mut seen = SeenNames::default();
        seen.push(0, Some((FileKind::Directory, Path::new("src"))));
        seen.push(0, None);
        seen.push(1, Some((FileKind::File, Path::new("src/a.rs"))));
        let all: Vec<_> = seen.all().unwrap().collect();
        assert_eq!(all, [(0, FileKind::Directory, Path::new("src")), (1, FileKind::File, Path::new("src/a.rs"))]);
        for _ in 3..MOST + 7 {
            seen.push(0, Some((FileKind::File, Path::new("x"))));
        }
        assert_eq!(seen.all().unwrap().count(), MOST - 1, "the second one met is none");
        seen.forget();
        seen.push(0, Some((FileKind::File, Path::new("x"))));
        assert!(seen.all().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_needs_another_walk() {
        use std::os::unix::ffi::OsStrExt as _;
        let mut seen = SeenNames::default();
        seen.push(0, Some((FileKind::File, Path::new(std::ffi::OsStr::from_bytes(b"\xff/a.rs")))));
        assert!(seen.all().is_none());
    }
}
