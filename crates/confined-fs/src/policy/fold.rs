//! Folds names to the form in which policy compares them: one form for all spellings that some file system takes for the
//! same name.
//!
//! APFS and NTFS ignore case (CVE-2025-59944: `.cUrSoR/mcp.json`), NTFS drops trailing dots and spaces and reads streams
//! (`.git::$INDEX_ALLOCATION`, CVE-2019-1352), HFS+ ignores invisible characters (CVE-2014-9390: `.g\u{200c}it`).
//! Folding on every system costs little and errs on the side of refusing.

use std::{borrow::Cow, ffi::OsStr, path::Path};

use unicode_normalization::UnicodeNormalization as _;

use crate::path::is_invisible;

/// A relative path with each name folded, joined by `/`.
#[derive(Debug)]
pub(super) struct Folded {
    path: String,
    /// Where each name begins.
    starts: Vec<usize>,
}

impl Folded {
    /// The whole path; "" for the root.
    pub(super) fn as_str(&self) -> &str {
        &self.path
    }

    /// The rest of the path from each of its names on.
    pub(super) fn tails(&self) -> impl Iterator<Item = &str> {
        self.starts.iter().map(|start| &self.path[*start..])
    }

    /// Its last name, "" for the root.
    pub(super) fn file_name(&self) -> &str {
        self.starts.last().map_or("", |start| &self.path[*start..])
    }
}

/// Folds a path below a root.
pub(super) fn fold(relative: &Path) -> Folded {
    let mut path = String::with_capacity(relative.as_os_str().len());
    let mut starts = Vec::with_capacity(16);
    for name in relative {
        if !path.is_empty() {
            path.push('/');
        }
        starts.push(path.len());
        path.push_str(&fold_name(name));
    }
    Folded { path, starts }
}

/// Lower case, compatibility form, nothing invisible, no dots or spaces at the end, no stream of NTFS.
fn fold_name(name: &OsStr) -> Cow<'_, str> {
    let text = name.to_string_lossy();
    let simple = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && !byte.is_ascii_control() && byte != b':';
    if text.bytes().all(simple) && !text.ends_with(['.', ' ']) { text } else { Cow::Owned(fold_text(&text)) }
}

/// A whole name, which is text.
pub(super) fn fold_text(name: &str) -> String {
    without_stream(&fold_characters(name)).trim_end_matches(['.', ' ']).to_owned()
}

/// A part of a name: its characters only, not what is special about the end of a name.
pub(super) fn fold_characters(text: &str) -> String {
    // Twice through case: U+017F (long s) is lower case already, and becomes `s` by way of `S`.
    text.nfkc()
        .filter(|character| !is_invisible(*character) && !character.is_control())
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        // Again, as a change of case does not keep the normal form (Unicode Standard, 5.18).
        .nfkc()
        // NFKC makes a slash of U+FF0F and `a/c` of U+2100: one name must not become two.
        .map(|character| if character == '/' { '\u{fffd}' } else { character })
        .collect()
}

/// `.git::$INDEX_ALLOCATION` and `.env::$DATA` are `.git` and `.env` to NTFS, which Linux mounts too.
/// A type begins with `$`; other names with colons stay what they are.
fn without_stream(name: &str) -> &str {
    match name.split_once(':') {
        Some((file, stream)) if !file.is_empty() && (stream.starts_with('$') || stream.contains(":$")) => file,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_fold_together() {
        for spelling in ["config", "CONFIG", "config.", "config . ", "con\u{200b}fig", "ｃonfig"] {
            assert_eq!(fold(Path::new(spelling)).as_str(), "config", "{spelling:?}");
        }
        assert_eq!(fold(Path::new("a/\u{212a}ey\u{17f}")).as_str(), "a/keys");
    }

    #[test]
    fn ntfs_streams_fold_to_their_file_and_other_colons_stay() {
        for (name, folded) in [
            (".git::$INDEX_ALLOCATION/config", ".git/config"),
            (".git:$I30:$INDEX_ALLOCATION", ".git"),
            (".env::$DATA", ".env"),
            (".env .:$DATA", ".env"),
            ("12:30:00.log", "12:30:00.log"),
            ("a:b", "a:b"),
            ("std::fs.md", "std::fs.md"),
            ("price:5$", "price:5$"),
            (":$x", ":$x"),
        ] {
            // On Windows no name of a path can be `a:b`: that is `b` in the current folder of drive `a:`.
            if cfg!(unix) || name != "a:b" {
                assert_eq!(fold(Path::new(name)).as_str(), folded, "{name}");
            }
        }
    }
}
