//! How large the crates are, how many files a folder has, and how much a user has to read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{Source, crates, none, root, sources};

/// Ceilings of the product lines of each crate: lines of code without tests, blanks and comments. Each commit that removes
/// lines lowers them to the next multiple of 20; one that raises a ceiling says what it is paid for with.
const MAX_LINES: &[(&str, usize)] = &[
    ("crates/beneath", 1_780),
    ("crates/change-set", 5_340),
    ("crates/confined-fs", 7_080),
    ("crates/file-tools", 22_600),
    ("crates/image-view", 960),
    ("crates/lsp-check", 1_600),
    ("crates/office-text", 2_940),
    ("crates/pdf-text", 3_020),
    ("crates/self-sandbox", 1_440),
    ("crates/source-outline", 3_700),
    ("crates/structured-text", 1_160),
    ("crates/text-edit", 6_120),
    ("crates/text-file", 1_520),
    ("crates/tree-search", 8_260),
    ("src", 10_820),
];

/// Modules that a folder may have; a file and the folder of its name count once.
const MAX_SIBLINGS: usize = 20;

/// Folders that are wider, and how wide they may be until they are divided.
const WIDE: &[(&str, usize)] = &[];

/// Words of `README.md` and the pages of `docs/` together: what a user may have to read. `docs/internals/` is for others, and what
/// tests write between their marks is looked up.
const MAX_USER_WORDS: usize = 14_200;

/// Words about one version in `CHANGELOG.md`.
const MAX_VERSION_WORDS: usize = 200;

/// Whether a file of `src` is part of the program.
fn is_product(name: &str) -> bool {
    let (folders, file) = name.rsplit_once('/').expect("a folder");
    !folders.split('/').any(|part| ["tests", "testing"].contains(&part))
        && !["tests", "testing", "properties"].contains(&file)
        && !file.ends_with("_tests")
}

/// The lines of code without tests, blanks and comments.
fn product_lines(source: &Source) -> usize {
    let mut lines = source.text.lines().map(str::trim);
    let mut count = 0;
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(") && line.contains("test") && !line.contains("not(test") {
            // The item that follows is for tests.
            let mut depth = 0_usize;
            for line in lines.by_ref() {
                depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
                if depth == 0 && line.ends_with([';', '}', ',']) {
                    break;
                }
            }
        } else if !line.is_empty() && !line.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// The crate of a source: `crates/pdf-text`, or `src`.
fn crate_of(source: &str) -> &str {
    if source.starts_with("src/") { "src" } else { source.split_once("/src/").expect("in src").0 }
}

#[test]
fn a_crate_has_no_more_lines_than_agreed() {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let sources = sources();
    for source in sources.iter().filter(|source| is_product(&source.name)) {
        *found.entry(crate_of(&source.name)).or_default() += product_lines(source);
    }
    let most = |name: &str| MAX_LINES.iter().find(|(listed, _)| *listed == name).map(|(_, most)| *most);
    none(
        &found
            .iter()
            .filter(|(name, lines)| most(name).is_none_or(|most| **lines > most))
            .map(|(name, lines)| format!("{name} has {lines} product lines, of {:?}", most(name)))
            .collect::<Vec<_>>(),
    );
    assert_eq!(found.len(), MAX_LINES.len(), "a row without a crate");
}

#[test]
fn documents_have_no_more_words_than_agreed() {
    let text = |path: &Path| fs::read_to_string(path).expect("a document");
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let pages: Vec<String> = pages.chain([root().join("README.md")]).map(|path| text(&path)).collect();
    let by_hand =
        pages.iter().flat_map(|page| page.split("<!-- end")).filter_map(|part| part.split(": written by").next());
    let words: usize = by_hand.map(|text| text.split_whitespace().count()).sum();
    assert!(pages.len() > 8 && words <= MAX_USER_WORDS, "{words} words in {} pages, of {MAX_USER_WORDS}", pages.len());
    for version in text(&root().join("CHANGELOG.md")).split("\n## ") {
        let words = version.split_whitespace().count();
        assert!(words <= MAX_VERSION_WORDS, "{words} words of {MAX_VERSION_WORDS}:\n{version}");
    }
}

#[test]
fn a_folder_has_no_more_modules_than_a_reader_can_look_through() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources().iter().filter(|source| is_product(&source.name)) {
        let parts: Vec<&str> = source.name.split('/').collect();
        let depth = parts.iter().position(|part| *part == "src").expect("in src") + 1;
        for at in depth..parts.len() {
            found.entry(parts[..at].join("/")).or_default().insert(parts[at].to_owned());
        }
    }
    let most = |name: &str| WIDE.iter().find(|(wide, _)| *wide == name).map_or(MAX_SIBLINGS, |(_, most)| *most);
    none(
        &found
            .iter()
            .filter(|(folder, modules)| modules.len() > most(folder))
            .map(|(folder, modules)| format!("{folder} has {} modules of {}", modules.len(), most(folder)))
            .collect::<Vec<_>>(),
    );
}

/// `cargo test` in the root of a workspace sees its own package alone, unless the members are named.
#[test]
fn every_crate_is_tested_with_the_root() {
    let manifest: toml::Table =
        toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).expect("a manifest");
    let members = manifest["workspace"]["default-members"].as_array().expect("a list");
    let members: Vec<&str> = members.iter().filter_map(|member| member.as_str()).collect();
    assert_eq!(members, [".", "crates/*"]);
    for folder in crates().iter().filter(|folder| *folder != root()) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let table: toml::Table = toml::from_str(&manifest).expect("a manifest");
        assert_eq!(
            table["lints"]["workspace"].as_bool(),
            Some(true),
            "{}: `unsafe` is not forbidden",
            folder.display()
        );
        for key in ["version", "rust-version", "license", "edition"] {
            assert_eq!(table["package"][key]["workspace"].as_bool(), Some(true), "{}: {key}", folder.display());
        }
        let page = fs::read_to_string(folder.join("src/lib.rs")).expect("a front page");
        assert!(page.starts_with("//! ") && page.contains("//! # Map"), "{}: no map", folder.display());
        assert!(page.contains("//! ```\n"), "{}: no example", folder.display());
        assert!(Path::new(folder).join("LICENSE-MIT").exists(), "{}: no licence", folder.display());
    }
}
