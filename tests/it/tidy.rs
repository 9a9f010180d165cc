//! The architecture's invariants, read off the sources: those that neither Cargo (who may use which crate) nor lints
//! (`.clippy.toml`, `Cargo.toml`) hold.

mod exports;
mod imports;
mod size;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Top-level modules of `src` and their layers; a module uses only modules of lower layers.
const LAYERS: &[(&str, u8)] = &[("main", 4), ("cli", 3), ("config", 2), ("server", 1), ("log", 0)];

/// Modules of `confined-fs`, from the lowest layer up; a module imports only those of lower layers, by their paths: its
/// `lib.rs` is for other crates.
const SANDBOX_LAYERS: &[&[&str]] = &[
    &["limits", "revision", "stop"],
    &["policy"],
    &["root"],
    &["path"],
    &["error"],
    &["roots"],
    &["disk_rules"],
    &["shared"],
    &["open", "resolve"],
    &["walk"],
    &["watch"],
    &["workspace"],
    &["for_changes"],
];

/// The imports of `confined-fs` that run upward: from, to, and why.
const UPWARD: [(&str, &str, &str); 2] = [
    ("shared", "walk/ignores", "a workspace keeps the rules of its walks"),
    ("shared", "watch", "it keeps the events of mounts"),
];

/// A crate or path prefix, and the only places that may name it.
const CONFINED: &[(&str, &[&str])] = &[
    ("rmcp::", &["src/server"]),
    ("tokio::", &["src/server"]),
    ("tokio_util::", &["src/server"]),
    (
        "std::fs",
        &[
            "crates/beneath/src",
            "crates/change-set/src",
            "crates/confined-fs/src",
            "crates/self-sandbox/src",
            "src/config/file",
            "crates/tree-search/src/stored_index/testing",
        ],
    ),
    // The program has no client of a network, and no server.
    ("std::net", &["crates/change-set/src/tests"]),
    ("TcpStream", &[]),
    ("UdpSocket", &[]),
    ("ignore::gitignore", &["crates/confined-fs/src"]),
    // Handles of directories, for paths that nothing has checked.
    ("for_changes", &["crates/change-set/src", "crates/confined-fs/src"]),
    (".root().dir()", &["crates/change-set/src"]),
    ("WalkBuilder", &[]),
    ("WalkParallel", &[]),
    ("memmap", &[]),
    // Each is a point at which a test ends the process or makes the call fail (beneath/src/testing/faults.rs).
    (".sync_data()", &["crates/beneath/src"]),
    (".sync_all()", &["crates/beneath/src"]),
    (".set_len(", &["crates/beneath/src"]),
    (".set_modified(", &["crates/beneath/src"]),
];

/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "common", "misc", "manager", "service", "mod"];

/// Lines of code (before the tests) after which a file has two concerns.
const LONGEST: usize = 800;

struct Source {
    /// Below the project's root, with slashes and without `.rs`: `crates/file-tools/src/glob`.
    name: String,
    text: String,
}

impl Source {
    /// The text before the unit tests; a `mod testing;` that is compiled for tests ends nothing.
    fn before_tests(&self) -> &str {
        let end = self.text.find("\nmod tests {");
        &self.text[..end.unwrap_or(self.text.len())]
    }

    /// The lines before the unit tests, without comments, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.before_tests()
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of the crates: the root and those in `crates/`.
fn crates() -> Vec<PathBuf> {
    let mut out = vec![root().to_owned()];
    out.extend(fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    out.sort();
    assert!(out.len() > 5, "the crates are where this test looks");
    out
}

fn sources() -> Vec<Source> {
    fn collect(dir: &Path, out: &mut Vec<Source>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().with_extension("");
                out.push(Source {
                    name: name.to_str().unwrap().replace('\\', "/"),
                    text: fs::read_to_string(&path).unwrap().replace("\r\n", "\n"),
                });
            }
        }
    }
    let mut out = Vec::new();
    for folder in crates() {
        collect(&folder.join("src"), &mut out);
    }
    assert!(out.len() > 20, "the sources are where this test looks");
    out
}

/// Every complaint at once, as a reader would want them.
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn modules_use_only_lower_layers() {
    let layer = |module: &str| LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer);
    let module = |file: &str| file.split('/').next().unwrap_or_default().to_owned();
    let mut complaints = Vec::new();
    for (file, uses) in imports::read(&root().join("src")).edges.iter().filter(|(file, _)| *file != "lib") {
        let Some(own) = layer(&module(file)) else {
            complaints.push(format!("{file}: `{}` has no layer in tidy.rs", module(file)));
            continue;
        };
        for (used, names) in uses.iter().filter(|(used, _)| module(used) != module(file)) {
            if layer(&module(used)).is_none_or(|other| other >= own) {
                complaints.push(format!("{file} uses {names:?} of {used}, which is not on a lower layer"));
            }
        }
    }
    none(&complaints);
}

#[test]
fn no_two_files_use_each_other() {
    let circles = |folder: &PathBuf| {
        let (src, by_path) = (folder.join("src"), !folder.ends_with("crates/change-set"));
        let named = by_path.then(|| imports::read_by_path(&src));
        std::iter::once(imports::read(&src)).chain(named).flat_map(|uses| uses.circles()).collect::<Vec<_>>()
    };
    none(&crates().iter().flat_map(circles).collect::<Vec<_>>());
}

#[test]
fn a_module_of_the_sandbox_imports_lower_ones_by_their_path() {
    let layer = |module: &str| SANDBOX_LAYERS.iter().position(|layer| layer.contains(&module));
    let mut upward: Vec<(String, String)> = Vec::new();
    let mut complaints = Vec::new();
    for (file, uses) in imports::read_by_exact_path(&root().join("crates/confined-fs/src")).edges {
        let module = |file: &str| file.split('/').next().unwrap_or_default().to_owned();
        for (used, names) in uses.iter().filter(|(used, _)| module(used) != module(&file)) {
            match (layer(&module(&file)), layer(&module(used))) {
                _ if used == "lib" => complaints.push(format!("{file} imports {names:?} through lib.rs")),
                (None, _) => complaints.push(format!("{file}: `{}` has no layer in tidy.rs", module(&file))),
                (own, other) if other >= own => upward.push((file.clone(), used.clone())),
                _ => {}
            }
        }
    }
    let known = |(from, to): &&(String, String)| UPWARD.iter().any(|(one, other, _)| from == one && to == other);
    complaints.extend(
        upward.iter().filter(|it| !known(it)).map(|(from, to)| format!("{from} imports {to}, which is not lower")),
    );
    assert_eq!(upward.iter().filter(known).count(), UPWARD.len(), "each exception is one");
    none(&complaints);
}

#[test]
fn what_belongs_to_one_layer_is_named_only_there() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (number, line) in source.code() {
            for (what, places) in CONFINED {
                let allowed =
                    places.iter().any(|place| source.name == *place || source.name.starts_with(&format!("{place}/")));
                if !allowed && line.contains(what) {
                    complaints.push(format!("{}:{number} names {what}", source.name));
                }
            }
        }
    }
    none(&complaints);
}

#[test]
fn a_file_says_what_it_is() {
    none(
        &sources()
            .iter()
            .filter(|source| !source.text.starts_with("//! "))
            .map(|source| format!("{}: begins without `//!`", source.name))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_file_has_one_concern() {
    none(
        &sources()
            .iter()
            .map(|source| (source, source.before_tests().lines().count()))
            .filter(|(_, lines)| *lines > LONGEST)
            .map(|(source, lines)| format!("{}: {lines} lines before its tests", source.name))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_module_has_a_name_of_the_domain() {
    none(
        &sources()
            .iter()
            .filter(|source| source.name.split('/').any(|part| EMPTY_NAMES.contains(&part)))
            .map(|source| format!("{}: says nothing of what is inside", source.name))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn nothing_is_left_over() {
    let mut complaints = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            for left in ["TODO", "FIXME", "XXX", "todo!(", "unimplemented!(", "#[allow(", "#![allow(", "dbg!("] {
                // `pattern=TODO` in an example is no promise; a comment is.
                let promise = left.chars().all(char::is_uppercase);
                let looked_at = if promise { line.split_once("//").map_or("", |(_, comment)| comment) } else { line };
                if looked_at.contains(left) && !looked_at.contains(&format!("={left}")) {
                    complaints.push(format!("{}:{number} has {left}", source.name));
                }
            }
        }
    }
    none(&complaints);
}

#[test]
fn every_file_is_a_module_of_the_one_above_it() {
    fn orphans(dir: &Path, parents: &[PathBuf], out: &mut Vec<String>) {
        let parents: Vec<String> = parents.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let is_named = parents.iter().any(|text| text.contains(&format!("mod {stem};")));
            if path.is_dir() {
                orphans(&path, &[path.with_extension("rs")], out);
            } else if path.extension().is_some_and(|it| it == "rs")
                && !["main", "lib"].contains(&stem.as_str())
                && !is_named
            {
                out.push(format!("{} is no module of the file above it, so it is not compiled", path.display()));
            }
        }
    }
    let mut complaints = Vec::new();
    let sources = crates().into_iter().map(|folder| (folder.join("src"), ["lib.rs", "main.rs"].as_slice()));
    for (dir, tops) in sources.chain([(root().join("tests/it"), ["main.rs"].as_slice())]) {
        let tops: Vec<PathBuf> = tops.iter().map(|top| dir.join(top)).collect();
        orphans(&dir, &tops, &mut complaints);
    }
    none(&complaints);
}

#[test]
fn the_corpus_of_the_fuzz_targets_is_complete_and_small() {
    let fuzz = root().join("fuzz");
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(fuzz.join("fuzz_targets")).unwrap() {
        let target = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let replay = fs::read_to_string(root().join("tests/it/rules/fuzz_corpus.rs")).unwrap();
        assert!(replay.contains(&format!("replay(\"{target}\", {target}::check)")), "{target} is not replayed");
        assert!(fuzz.join(format!("dictionaries/{target}.dict")).is_file(), "{target} has no dictionary");
        for input in fs::read_dir(fuzz.join("corpus").join(target)).unwrap() {
            files += 1;
            bytes += input.unwrap().metadata().unwrap().len();
        }
    }
    assert!((40..300).contains(&files) && bytes < 300_000, "{files} files of {bytes} bytes");
}
