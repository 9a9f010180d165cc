//! What the former option `--stage` left in the state folder: layers of changes that were never applied. They are named,
//! and otherwise left alone.
//!
//! A layer is the folder `stage/KEY`. Its folder `upper` has each new or changed entry under the path that it was to have
//! below a root; the lines of its file `record` say of a path `hide` (it was deleted), `base …` (it was changed), or
//! `forget` (earlier lines about it and what is below it no longer count), with each name percent-encoded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, io};

use beneath::{Dir, FileKind, OpenFor};
use percent_encoding::percent_decode_str;

use super::StateDir;
use confined_fs::escape::name_of;
use confined_fs::for_changes::{IfThere as _, is_temporary};

/// A longer record was never written.
const MAX_RECORD_BYTES: u64 = 256 << 20;
const STAGE: &str = "stage";

impl StateDir {
    /// The paths of the layers below this folder that hold changes, sorted. One that cannot be read counts.
    pub fn unapplied_layers(&self) -> Vec<PathBuf> {
        let Ok(stage) = self.dir.child_dir(OsStr::new(STAGE), OpenFor::List) else { return Vec::new() };
        let holds = |name: &OsStr| {
            let layer = stage.child_dir(name, OpenFor::Traverse);
            layer.and_then(|dir| holds_changes(&Self { dir })).unwrap_or(true)
        };
        let listed = stage.list().unwrap_or_default().into_iter().filter(|listed| listed.kind == FileKind::Directory);
        let names = listed.map(|listed| listed.name).filter(|name| holds(name));
        let mut paths: Vec<PathBuf> = names.map(|name| Path::new(STAGE).join(name)).collect();
        paths.sort();
        paths
    }
}

fn holds_changes(layer: &StateDir) -> io::Result<bool> {
    let record = layer.read("record", MAX_RECORD_BYTES).if_there()?.unwrap_or_default();
    let (mut forgotten, mut changed) = (HashSet::new(), HashSet::new());
    for line in String::from_utf8_lossy(&record).lines().rev() {
        let Some((head, path)) = line.rsplit_once(' ') else { continue };
        let names = path.split('/').map(|name| name_of(percent_decode_str(name).collect()));
        let Some(path) = names.collect::<Option<PathBuf>>() else { continue };
        match head {
            "forget" => drop(forgotten.insert(path)),
            _ if path.ancestors().any(|above| forgotten.contains(above)) => {}
            "hide" => return Ok(true),
            _ => drop(changed.insert(path)),
        }
    }
    let upper = layer.dir.child_dir(OsStr::new("upper"), OpenFor::Traverse).if_there()?;
    upper.map_or(Ok(false), |upper| holds_entries(&upper, &changed))
}

/// Whether there is more than directories that were made for what is no longer in them.
fn holds_entries(upper: &Dir, changed: &HashSet<PathBuf>) -> io::Result<bool> {
    let mut todo = vec![PathBuf::new()];
    while let Some(path) = todo.pop() {
        for listed in upper.dir_beneath(&path, OpenFor::List)?.list()? {
            let own = path.join(&listed.name);
            match listed.kind {
                FileKind::Directory if !changed.contains(&own) => todo.push(own),
                FileKind::File if is_temporary(&listed.name) => {}
                _ => return Ok(true),
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test writes what an earlier version left")]

    use std::fs;

    use super::*;

    #[test]
    fn layer_is_unapplied_while_it_holds_or_hides_something() {
        let temp = tempfile::tempdir().unwrap();
        // Names that end in a slash are directories.
        let layer = |name: &str, record: &str, entries: &[&str]| {
            let layer = temp.path().join("stage").join(name);
            fs::create_dir_all(layer.join("upper")).unwrap();
            for entry in entries {
                let path = layer.join("upper").join(entry);
                if entry.ends_with('/') { fs::create_dir(path).unwrap() } else { fs::write(path, "staged\n").unwrap() }
            }
            if !record.is_empty() {
                fs::write(layer.join("record"), record).unwrap();
            }
        };
        layer("applied", "", &[]);
        layer("deleted", "base file 73cb3858a687a8494ca3323053016282 644 gone\nhide gone\n", &[]);
        layer("forgotten", "base directory d\nhide d/a%20b\nhide d\nforget d\nbase absent e\n", &[]);
        layer("made", "base absent made\n", &["made/", "made/deep/"]);
        layer("partly", "hide a\nbase absent b%20c\nforget a\n", &["b c"]);
        layer("taken back", "base absent d/new\n", &["d/", "d/.rootbound-0123456789abcdef.tmp"]);
        layer("unrecorded", "", &["d/", "d/f"]);
        fs::write(temp.path().join("stage/file"), "").unwrap();
        let state = StateDir::existing(temp.path()).unwrap();
        let unapplied = ["deleted", "made", "partly", "unrecorded"].map(|name| Path::new("stage").join(name));
        assert_eq!(state.unapplied_layers(), unapplied);
        assert!(StateDir::existing(&temp.path().join("stage/applied")).unwrap().unapplied_layers().is_empty());
    }
}
