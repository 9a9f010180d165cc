//! What can become of a file with a stored index.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use super::epoch::a_day_from_now;
use crate::search::index::{
    comparison::{Comparison, Random},
    searchers::Processes,
};

/// Where the header has the version, the wall clock at the writing, and the checksum of what is before it.
const VERSION: usize = 8;
const WRITTEN: usize = 24;
const CHECKSUM: usize = 188;

/// Copies of indexes that were stored before.
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    pub(super) fn new(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// Copies what is stored now.
    pub(super) fn keep(&self, processes: &Processes) {
        let number = self.all().len() % 8;
        for file in stored(&processes.state()) {
            let _ = fs::copy(file, self.folder.join(number.to_string()));
        }
    }

    fn all(&self) -> Vec<PathBuf> {
        files(&self.folder)
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

pub(super) fn stored(state: &Path) -> Vec<PathBuf> {
    let mut files = files(&state.join("index"));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "index"));
    files
}

/// Damages what is stored, and says how.
pub(super) fn damage(comparison: &mut Comparison, kept: &Kept) -> String {
    let state = comparison.processes().state();
    let Some(file) = stored(&state).pop() else { return "nothing to damage".to_owned() };
    let mut bytes = fs::read(&file).unwrap_or_default();
    if bytes.is_empty() {
        return "an empty one".to_owned();
    }
    // A file that is kept open by a process changes under it, or another one takes its place.
    let in_place = comparison.random.chance(50);
    let put = |bytes: &[u8]| {
        if !in_place {
            let _ = fs::remove_file(&file);
        }
        let _ = fs::write(&file, bytes);
        let _ = fs::set_permissions(&file, fs::Permissions::from_mode(0o600));
    };
    let what = match comparison.random.below(14) {
        kind @ 0..=7 => {
            let what = damage_bytes(&mut comparison.random, kind, &mut bytes);
            put(&bytes);
            what
        }
        8 | 9 => {
            let all = kept.all();
            if !all.is_empty() {
                put(&fs::read(&all[comparison.random.below(all.len())]).unwrap());
            }
            "an earlier one"
        }
        10 => {
            foreign(comparison, &file);
            "that of another root"
        }
        11 => {
            let mode = [0o666, 0o620, 0o602, 0o000][comparison.random.below(4)];
            let _ = fs::set_permissions(&file, fs::Permissions::from_mode(mode));
            "other rights"
        }
        12 => {
            let _ = chown(&file, Some(12345), None);
            "of another user"
        }
        _ => {
            let aside = comparison.dir.path().join("aside/linked.index");
            let _ = fs::rename(&file, &aside);
            match comparison.random.below(4) {
                0 => drop(symlink(&aside, &file)),
                1 => drop(fs::hard_link(&aside, &file)),
                2 => drop(fs::create_dir(&file)),
                _ => drop(Command::new("mkfifo").arg(&file).status()),
            }
            "a link, a folder or a FIFO"
        }
    };
    format!("the stored index is damaged: {what}")
}

/// Changes the bytes of an index, and says how.
fn damage_bytes(random: &mut Random, kind: usize, bytes: &mut Vec<u8>) -> &'static str {
    match kind {
        0 => {
            bytes.truncate(random.below(bytes.len()));
            "cut off"
        }
        1 | 2 => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            "bits flipped"
        }
        3 => {
            // The header, with a checksum that fits.
            let at = random.below(CHECKSUM.min(bytes.len()));
            bytes[at] ^= 1 << random.below(8);
            seal(bytes);
            "header changed"
        }
        4 => {
            let from = random.below(bytes.len());
            let until = (from + random.below(5000)).min(bytes.len());
            bytes[from..until].fill(0);
            "a hole"
        }
        5 => {
            bytes.extend(std::iter::repeat_n(b'x', random.below(3000)));
            "longer"
        }
        6 => {
            if bytes.len() > CHECKSUM {
                bytes[VERSION] += 1;
                seal(bytes);
            }
            "of a later version"
        }
        _ => {
            if bytes.len() > CHECKSUM {
                let later = a_day_from_now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
                bytes[WRITTEN..WRITTEN + 8].copy_from_slice(&u64::try_from(later).unwrap().to_le_bytes());
                seal(bytes);
            }
            "written tomorrow"
        }
    }
}

/// The index of another folder with other contents and the same names, under the name of this one.
fn foreign(comparison: &Comparison, file: &Path) {
    let other = comparison.dir.path().join("aside/other");
    let state = other.join("state");
    let root = other.join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a.rs"), "nothing\n").unwrap();
    let mut command = crate::harness::program::program(&root);
    command.arg("--state-dir").arg(&state).args(["index", "build", "."]);
    let _ = command.output();
    if let Some(one) = stored(&state).pop() {
        let _ = fs::copy(one, file);
        let _ = fs::set_permissions(file, fs::Permissions::from_mode(0o600));
    }
}

/// Gives the header a checksum that fits it.
pub(super) fn seal(bytes: &mut [u8]) {
    if bytes.len() >= CHECKSUM + 4 {
        let checksum = crc32fast::hash(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..CHECKSUM + 4].copy_from_slice(&checksum.to_le_bytes());
    }
}
