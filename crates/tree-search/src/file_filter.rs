//! grep's `glob` and `type`: which files are searched.
//!
//! Pure matching of paths relative to where a search starts, on ripgrep's own matchers. Filters
//! only narrow: unlike `rg -g`, a glob never brings back what the ignore rules leave out.

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{FileTypeDef, Types, TypesBuilder};
use text_file::look_alike::folded;
use text_file::nearest_name::{ONE_OF_FEW, nearest_names};

use crate::name_glob::GlobError;
use crate::name_glob::{
    GlobEncoding, GlobReach, anchored, check_bounds, escape_glob, interpretations, split_globs, windows_glob,
};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("invalid glob {glob:?}: {error}")]
    Glob {
        glob: String,
        #[source]
        error: GlobError,
    },
    /// A file type that ripgrep does not know.
    #[error("unknown file type {name:?}")]
    Type {
        name: String,
        /// The most similar known types, the best first.
        nearest: Vec<String>,
    },
}

/// grep's `glob` and `type`: which files are searched.
#[derive(Clone, Debug, Default)]
pub struct FileFilter {
    globs: Option<Override>,
    /// For names beyond ASCII, where they need it.
    unicode: Option<(GlobEncoding, Override)>,
    types: Option<Types>,
    found: Vec<String>,
    /// The last parent asked about and whether a `!` glob excludes it: names come in path order.
    last: Option<(PathBuf, bool)>,
}

impl FileFilter {
    /// Reads `glob` (as `rg -g`; several by commas, `!` excludes) and `kind`
    /// (as `rg -t`).
    ///
    /// # Errors
    /// Naming the glob or type that cannot be used.
    pub fn new(glob: Option<&str>, kind: Option<&str>) -> Result<Self, FilterError> {
        // Names are compared in the form that all have that look the same.
        let glob = glob.map(folded);
        let glob = glob.as_deref();
        let globs = glob.map(overrides).transpose()?.filter(|globs| !globs.is_empty());
        let types = kind.map(file_types).transpose()?.filter(|types| !types.is_empty());
        let unicode = glob.and_then(|glob| {
            let encoding = GlobEncoding::of(glob, false)?;
            let globs = overrides(&encoding.encode_pattern(glob)).ok()?;
            Some((encoding, globs))
        });
        let parts = glob.map(split_globs).unwrap_or_default();
        let mut found: Vec<String> =
            parts.iter().filter(|part| !part.starts_with('!')).map(|part| below(part)).collect();
        if found.is_empty() {
            found.push("**".to_owned());
        }
        Ok(Self { globs, unicode, types, found, last: None })
    }

    /// As [`Self::new`], for a glob that is the name of a file and nothing else.
    ///
    /// # Errors
    /// As there.
    pub fn literal(name: &str, kind: Option<&str>) -> Result<Self, FilterError> {
        Self::new(Some(&escape_glob(name.trim())), kind)
    }

    pub fn reach(&self) -> GlobReach {
        GlobReach::of(self.found.iter().map(String::as_str), true)
    }

    pub fn excludes(&self, relative: &Path) -> bool {
        self.globs.as_ref().is_some_and(|globs| globs.matched(relative, true).is_ignore())
    }

    pub fn admits_all(&self) -> bool {
        self.types.is_none() && self.globs.is_none()
    }

    /// Whether the file at `relative` (to the start of the search) is searched.
    pub fn admits(&mut self, relative: &Path) -> bool {
        if self.types.as_ref().is_some_and(|types| types.matched(relative, false).is_ignore()) {
            return false;
        }
        let Some(globs) = &self.globs else { return true };
        let alike = relative.to_str().filter(|text| !text.is_ascii()).map(folded);
        let relative = alike.as_ref().map_or(relative, |text| Path::new(&**text));
        let encoded =
            self.unicode.as_ref().and_then(|(encoding, globs)| Some((encoding.encode_path(relative)?, globs)));
        let (relative, globs) = encoded.as_ref().map_or((relative, globs), |(path, globs)| (path.as_path(), *globs));
        if globs.matched(relative, false).is_ignore() {
            return false;
        }
        if globs.num_ignores() == 0 {
            return true;
        }
        // `!vendor` leaves out everything below a folder of that name, as ripgrep never enters it.
        let Some(parent) = relative.parent() else { return true };
        if let Some((known, excluded)) = &self.last
            && known == parent
        {
            return !excluded;
        }
        let excluded = parent
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| globs.matched(folder, true).is_ignore());
        self.last = Some((parent.to_owned(), excluded));
        !excluded
    }
}

fn below(glob: &str) -> String {
    anchored(glob.trim_start_matches("./").trim_start_matches('/'))
}

fn overrides(glob: &str) -> Result<Override, FilterError> {
    let wrong = |one: &str, error| FilterError::Glob { glob: one.to_owned(), error };
    check_bounds(glob).map_err(|error| wrong(glob, error))?;
    let mut builder = OverrideBuilder::new(".");
    for one in split_globs(glob) {
        let (not, mut plain) = one.strip_prefix('!').map_or(("", one), |rest| ("!", rest));
        while let Some(rest) = plain.strip_prefix("./") {
            plain = rest;
        }
        let others = windows_glob(plain).map(|other| other.trim_start_matches("./").to_owned());
        for (index, interpretation) in interpretations(plain).iter().chain(&others).enumerate() {
            match builder.add(&format!("{not}{interpretation}")) {
                // Only the first is what was written: another meaning that is no glob is left out.
                Err(error) if index == 0 => return Err(wrong(one, GlobError::Syntax(reason(&error)))),
                _ => {}
            }
        }
    }
    // A name may hold what several globs are split at.
    if split_globs(glob).len() > 1 && !glob.starts_with('!') {
        // An error leaves out this meaning alone.
        let _ = builder.add(&escape_glob(glob.trim_start_matches("./")));
    }
    builder.build().map_err(|error| wrong(glob, GlobError::Syntax(reason(&error))))
}

/// The part of an `ignore` error that is about the glob.
fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithLineNumber { err, .. }
        | ignore::Error::WithDepth { err, .. } => reason(err),
        other => other.to_string(),
    }
}

/// Types that ripgrep, which knows `pdf`, has no names for.
const DOCUMENT_TYPES: [(&str, &str); 6] = [
    ("docx", "*.{docx,docm,dotx}"),
    ("xlsx", "*.{xlsx,xlsm,xltx}"),
    ("pptx", "*.{pptx,pptm,ppsx}"),
    ("odt", "*.{odt,ott}"),
    ("ods", "*.{ods,ots}"),
    ("odp", "*.{odp,otp}"),
];

fn file_types(names: &str) -> Result<Types, FilterError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for (name, glob) in DOCUMENT_TYPES {
        // It fails only for a name that is no word.
        let _ = builder.add(name, glob);
    }
    for name in names.split(',').map(|name| name.trim().trim_start_matches('.')).filter(|name| !name.is_empty()) {
        let definitions = builder.definitions();
        let known = |wanted: &str| definitions.iter().any(|known| known.name() == wanted);
        let lower = name.to_lowercase();
        // ripgrep reads `all` as every type, which is what it searches when a type is known.
        if !known(&lower) && lower != "all" {
            return Err(unknown_type(name, &lower, &definitions));
        }
        builder.select(&lower);
    }
    builder.build().map_err(|_| FilterError::Type { name: names.to_owned(), nearest: Vec::new() })
}

fn unknown_type(name: &str, lower: &str, definitions: &[FileTypeDef]) -> FilterError {
    // A file extension is the commonest slip: `rs` for `rust`.
    let extension = format!("*.{lower}");
    let of_extension = definitions.iter().filter(|known| known.globs().contains(&extension)).map(FileTypeDef::name);
    let similar = nearest_names(lower, definitions.iter().map(FileTypeDef::name), ONE_OF_FEW);
    let mut nearest: Vec<String> = Vec::new();
    for known in of_extension.chain(similar) {
        if nearest.len() < 3 && !nearest.iter().any(|other| other == known) {
            nearest.push(known.to_owned());
        }
    }
    FilterError::Type { name: name.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NameGlob;

    fn globs(pattern: &str, path: &str) -> bool {
        NameGlob::compile(pattern, true).unwrap().matches(Path::new(path))
    }

    fn admits(glob: Option<&str>, kind: Option<&str>, path: &str) -> bool {
        FileFilter::new(glob, kind).unwrap().admits(Path::new(path))
    }

    #[test]
    fn question_mark_and_class_match_one_unicode_character() {
        for (pattern, path, expected) in [
            ("?.txt", "é.txt", true),
            ("?.txt", "日.txt", true),
            ("?.txt", "\u{1f600}.txt", true),
            ("?.txt", "a.txt", true),
            ("?.txt", "éé.txt", false),
            ("?.txt", "é\u{b7}.txt", false),
            ("??.txt", "é.txt", false),
            ("[é日].txt", "日.txt", true),
            ("[é日].txt", "本.txt", false),
            ("[!é].txt", "ü.txt", true),
            ("[!é].txt", "é.txt", false),
            ("[à-ü]x", "éx", true),
            ("[à-ü]x", "őx", false),
            ("größe?/*.[ch]", "größe1/ä.c", true),
            ("größe?/*.[ch]", "grüße1/ä.c", false),
            ("{?,日本}.md", "語.md", true),
            ("{?,日本}.md", "日本.md", true),
        ] {
            assert_eq!(globs(pattern, path), expected, "{pattern} {path}");
            assert_eq!(admits(Some(pattern), None, path), expected, "grep {pattern} {path}");
        }
        assert!(!admits(Some("!?"), None, "é/ab") && admits(Some("!?"), None, "éé/ab"));
        let loose = |pattern: &str, path: &str| NameGlob::compile(pattern, false).unwrap().matches(Path::new(path));
        assert!(loose("ÉCOLE*", "école.txt") && loose("?COLE", "École") && !loose("ÉCOLE*", "ecole"));
        #[cfg(unix)]
        {
            let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff.txt");
            assert!(NameGlob::compile("?.txt", true).unwrap().matches(Path::new(name)), "a byte that is no text");
        }
    }

    #[test]
    fn filter_takes_several_globs_and_exclusions() {
        assert!(admits(Some("*.ts, *.{js,jsx}"), None, "a/b.jsx") && !admits(Some("*.ts,*.js"), None, "a.rs"));
        assert!(admits(Some("*.ts|*.js"), None, "a/b.js") && !admits(Some("*.ts|*.js"), None, "a.rs"));
        assert!(admits(Some("a,b|c.txt"), None, "x/a,b|c.txt"));
        let mut literal = FileFilter::literal("!a,b.txt", None).unwrap();
        assert!(literal.admits(Path::new("!a,b.txt")) && !literal.admits(Path::new("b.txt")));
        assert!(admits(Some("!*.min.js"), None, "a.js") && !admits(Some("!*.min.js"), None, "a.min.js"));
        assert!(!admits(Some("*.js,!vendor"), None, "src/vendor/deep/a.js"));
        assert!(admits(Some("src/**"), None, "src/a/b") && !admits(Some("src/**"), None, "lib/a"));
    }

    #[test]
    fn excluded_folder_is_cached_per_parent() {
        let mut filter = FileFilter::new(Some("!out"), None).unwrap();
        assert!(!filter.admits(Path::new("out/a")));
        assert!(!filter.admits(Path::new("out/b")));
        assert!(filter.admits(Path::new("src/a")));
    }

    #[test]
    fn file_types_are_those_of_ripgrep() {
        assert!(admits(None, Some("rust"), "a/b.rs") && !admits(None, Some("rust"), "a.py"));
        assert!(admits(None, Some("py,js"), "a.js"));
    }

    #[test]
    fn unknown_type_suggests_the_nearest() {
        let FilterError::Type { nearest, .. } = FileFilter::new(None, Some("rs")).unwrap_err() else {
            panic!("not a type error")
        };
        assert_eq!(nearest.first().map(String::as_str), Some("rust"));
        let FilterError::Type { nearest, .. } = FileFilter::new(None, Some("pythn")).unwrap_err() else {
            panic!("not a type error")
        };
        assert_eq!(nearest.first().map(String::as_str), Some("python"));
    }

    #[test]
    fn invalid_filter_glob_is_named() {
        assert!(matches!(
            FileFilter::new(Some("*.rs,a[b"), None),
            Err(FilterError::Glob { glob, .. }) if glob.contains("a[b")
        ));
    }
}
