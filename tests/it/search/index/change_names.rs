//! Changes of what is in a directory, or of what a name is, which a comparison of some times alone would miss.

use std::{
    fs::{self, FileTimes},
    os::unix::fs::FileExt as _,
    path::Path,
    process::Command,
};

use super::{
    change::Places,
    comparison::{Comparison, NAMES},
    mounts,
};

/// Names come and go while the modification time of the directory stays; its change time cannot.
pub(super) fn behind_its_time(comparison: &mut Comparison, at: &Places) -> bool {
    let Ok(modified) = fs::metadata(&at.folder).and_then(|meta| meta.modified()) else { return false };
    let file = at.folder.join(comparison.random.pick(NAMES));
    let changed = match comparison.random.below(3) {
        0 => comparison.write(&file),
        1 => fs::remove_file(&file).is_ok(),
        _ => fs::rename(&file, file.with_extension("new")).is_ok(),
    };
    let restored = |open: fs::File| open.set_times(FileTimes::new().set_modified(modified));
    fs::File::open(&at.folder).and_then(restored).is_ok() && changed
}

/// Each has the name of the other.
pub(super) fn files_swapped(comparison: &mut Comparison, at: &Places) -> bool {
    if comparison.is_secret_later(&at.file) || comparison.is_secret_later(&at.other) {
        return false;
    }
    let between = comparison.path("between");
    at.file != at.other
        && fs::rename(&at.file, &between).is_ok()
        && fs::rename(&at.other, &at.file).is_ok()
        && fs::rename(&between, &at.other).is_ok()
}

/// Another directory with the same names, sizes and times, and another content of one file. One that was moved away
/// comes back later.
pub(super) fn same_names_in_another_folder(comparison: &mut Comparison, at: &Places) -> bool {
    let copy = comparison.dir.path().join("aside/copy");
    if !mounts::mounted_below(&at.folder).is_empty() || !at.folder.is_dir() {
        return false;
    }
    let copied = Command::new("cp").arg("-a").arg(&at.folder).arg(&copy).output();
    if !copied.is_ok_and(|done| done.status.success()) {
        let _ = fs::remove_dir_all(&copy);
        return false;
    }
    let file = copy.join(comparison.random.pick(NAMES));
    if !file.is_symlink() {
        overwritten(&file, |byte| if byte == b'e' { b'i' } else { byte });
    }
    let kept = comparison.dir.path().join("aside/kept");
    fs::rename(&at.folder, &kept).is_ok_and(|()| {
        let swapped = fs::rename(&copy, &at.folder).is_ok();
        let _ = fs::remove_dir_all(&kept);
        swapped
    })
}

/// Rules of the same size and modification time.
pub(super) fn rules_overwritten(comparison: &mut Comparison, at: &Places) -> bool {
    let name = comparison.random.pick(&[".gitignore", ".ignore"]);
    let place = comparison.place(&at.folder).join(name);
    let (from, to) = if comparison.random.chance(50) { (b'r', b'c') } else { (b'c', b'r') };
    overwritten(&place, |byte| if byte == from { to } else { byte })
}

fn overwritten(file: &Path, other: impl Fn(u8) -> u8) -> bool {
    let (Ok(bytes), Ok(meta)) = (fs::read(file), fs::metadata(file)) else { return false };
    let Ok(open) = fs::File::options().write(true).open(file) else { return false };
    let changed: Vec<u8> = bytes.iter().map(|byte| other(*byte)).collect();
    open.write_all_at(&changed, 0).unwrap();
    open.set_modified(meta.modified().unwrap()).unwrap();
    bytes != changed
}

/// The second name of a file is gone.
pub(super) fn unlinked(_: &mut Comparison, at: &Places) -> bool {
    fs::remove_file(at.file.with_extension("link")).is_ok()
}

/// One name is a file, a FIFO, a directory or nothing. No other change writes to it, which a FIFO would stop.
pub(super) fn of_another_kind(comparison: &mut Comparison, at: &Places) -> bool {
    let place = at.folder.join("changing");
    let _ = fs::remove_file(&place);
    let _ = fs::remove_dir(&place);
    match comparison.random.below(4) {
        0 => comparison.write(&place),
        1 => Command::new("mkfifo").arg(&place).output().is_ok_and(|done| done.status.success()),
        2 => fs::create_dir(&place).is_ok(),
        _ => true,
    }
}
