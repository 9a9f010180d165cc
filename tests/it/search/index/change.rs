//! Random changes of the tree that the server does not make, by kind.
//!
//! Each returns whether it changed anything; `comparison` makes the queries.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{FileExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::{
    change_names,
    comparison::{Comparison, FOLDERS, NAMES},
    mounts::{self, mount, unmount},
};

/// One kind of change and how often it is chosen.
pub(super) struct Kind {
    pub(super) name: &'static str,
    weight: usize,
    make: fn(&mut Comparison, &Places) -> bool,
}

/// Where a change is made: paths that may or may not exist.
pub(super) struct Places {
    pub(super) file: PathBuf,
    pub(super) other: PathBuf,
    pub(super) folder: PathBuf,
}

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "created or rewritten", weight: 5, make: written },
    Kind { name: "appended", weight: 1, make: appended },
    Kind { name: "truncated", weight: 1, make: truncated },
    Kind { name: "overwritten, same size and time", weight: 2, make: overwritten },
    Kind { name: "file renamed", weight: 1, make: renamed },
    Kind { name: "folder renamed", weight: 1, make: folder_renamed },
    Kind {
        name: "folder renamed back",
        weight: 1,
        make: |comparison, at| fs::rename(comparison.path("moved"), &at.folder).is_ok(),
    },
    Kind { name: "file removed", weight: 1, make: |_, at| fs::remove_file(&at.file).is_ok() },
    Kind { name: "folder removed", weight: 1, make: |_, at| fs::remove_dir_all(&at.folder).is_ok() },
    Kind { name: "time set back", weight: 1, make: |comparison, at| comparison.age(&at.file) },
    Kind { name: "written through a hard link", weight: 1, make: linked },
    Kind {
        name: "written through a mapping",
        weight: 2,
        make: |comparison, at| comparison.mapper.write(&at.file, 2, "needle ÉKERNEL "),
    },
    Kind { name: "mapping held meanwhile", weight: 1, make: mapped_for_a_while },
    Kind { name: "ignore file written", weight: 1, make: rules_written },
    Kind { name: "ignore or mark file removed", weight: 1, make: rules_removed },
    Kind { name: "mark file written", weight: 1, make: marked },
    Kind { name: "rights changed", weight: 1, make: rights },
    Kind { name: "replaced by renaming", weight: 1, make: replaced },
    Kind { name: "replaced by a link", weight: 1, make: symlinked },
    Kind { name: "folder swapped", weight: 1, make: folder_swapped },
    Kind { name: "repository excludes changed", weight: 1, make: excludes },
    Kind { name: "worktree or submodule made, or none", weight: 3, make: worktrees },
    Kind { name: "open for writing during a query", weight: 1, make: open_meanwhile },
    Kind { name: "written by AIO, open during a query", weight: 1, make: written_by_aio },
    Kind { name: "rules linked", weight: 1, make: rules_linked },
    Kind { name: "rules hard-linked", weight: 1, make: rules_hard_linked },
    Kind { name: "linked rules written", weight: 2, make: linked_rules_written },
    Kind { name: "names changed behind the folder's time", weight: 3, make: change_names::behind_its_time },
    Kind { name: "files swapped", weight: 1, make: change_names::files_swapped },
    Kind { name: "same names in another folder", weight: 2, make: change_names::same_names_in_another_folder },
    Kind { name: "rules overwritten, same size and time", weight: 2, make: change_names::rules_overwritten },
    Kind { name: "second name removed", weight: 1, make: change_names::unlinked },
    Kind { name: "of another kind", weight: 2, make: change_names::of_another_kind },
    Kind { name: "file system mounted", weight: 1, make: mounted },
    Kind { name: "folder mounted elsewhere, too", weight: 1, make: bound },
    Kind { name: "file mounted over", weight: 1, make: file_bound },
    Kind { name: "overlay mounted", weight: 1, make: overlaid },
    Kind { name: "mount moved", weight: 1, make: mount_moved },
    Kind { name: "unmounted", weight: 3, make: unmounted },
];

impl Comparison {
    /// One change; it may have no effect.
    pub(super) fn mutate(&mut self) {
        let (file, other) = (self.file(), self.file());
        let folder = self.random.pick(&FOLDERS[1..]);
        let at = Places { file, other, folder: self.path(folder) };
        let mut chosen = self.random.below(KINDS.iter().map(|kind| kind.weight).sum());
        let kind = KINDS.iter().find(|kind| {
            let here = chosen < kind.weight;
            chosen = chosen.wrapping_sub(kind.weight);
            here
        });
        let kind = kind.expect("the weights add up");
        let (file, other, folder) = (at.file.display(), at.other.display(), at.folder.display());
        self.log.push(format!("{}: {file} {other} {folder}", kind.name));
        if (kind.make)(self, &at) {
            *self.tally.changes.entry(kind.name).or_default() += 1;
        }
    }

    /// The root or the folder of the change.
    pub(super) fn place(&mut self, folder: &Path) -> PathBuf {
        if self.random.chance(50) { self.path("") } else { folder.to_owned() }
    }
}

fn written(comparison: &mut Comparison, at: &Places) -> bool {
    comparison.write(&at.file)
}

fn appended(comparison: &mut Comparison, at: &Places) -> bool {
    let Ok(mut open) = fs::File::options().append(true).open(&at.file) else { return false };
    open.write_all(b"\nneedle appended kernel\n").unwrap();
    comparison.age(&at.file);
    true
}

fn truncated(comparison: &mut Comparison, at: &Places) -> bool {
    let Ok(open) = fs::File::options().write(true).open(&at.file) else { return false };
    let length = open.metadata().unwrap().len();
    open.set_len(length / 2).unwrap();
    comparison.age(&at.file);
    length > 0
}

fn overwritten(_: &mut Comparison, at: &Places) -> bool {
    let (Ok(bytes), Ok(meta)) = (fs::read(&at.file), fs::metadata(&at.file)) else { return false };
    let Ok(open) = fs::File::options().write(true).open(&at.file) else { return false };
    let other: Vec<u8> = bytes.iter().map(|byte| if *byte == b'e' { b'i' } else { *byte }).collect();
    open.write_all_at(&other, 0).unwrap();
    open.set_modified(meta.modified().unwrap()).unwrap();
    bytes != other
}

fn renamed(comparison: &mut Comparison, at: &Places) -> bool {
    !(at.file.is_symlink() && comparison.is_secret_later(&at.other)) && fs::rename(&at.file, &at.other).is_ok()
}

fn folder_renamed(comparison: &mut Comparison, at: &Places) -> bool {
    let target = comparison.random.pick(&["moved", "lib/moved", "src/moved", "docs"]);
    fs::rename(&at.folder, comparison.path(target)).is_ok()
}

/// A second name next to it, and a write through that. (If the second name is in an unwatched folder, there is no
/// event: see `workspace::watch`.)
fn linked(_: &mut Comparison, at: &Places) -> bool {
    let other = at.file.with_extension("link");
    let _ = fs::hard_link(&at.file, &other);
    let open = fs::File::options().write(true).open(&other);
    open.is_ok_and(|open| open.write_at(b"needle KERNEL ", 3).is_ok())
}

/// The writes cause no event; the end of the mapping does.
fn mapped_for_a_while(comparison: &mut Comparison, at: &Places) -> bool {
    if !comparison.mapper.hold(&at.file) {
        return false;
    }
    let wrote = comparison.mapper.poke(1, "привет");
    if comparison.random.chance(50) {
        comparison.settle();
    }
    comparison.mapper.poke(0, "SKI needle");
    comparison.mapper.release();
    wrote
}

fn rules_written(comparison: &mut Comparison, at: &Places) -> bool {
    let rules = comparison.random.pick(&["*.rs\n", "deep\n", "/src\n", "!*.log\n*.txt\n", "", "a.*\n!a.rs\n"]);
    let name = comparison.random.pick(&[".gitignore", ".ignore"]);
    fs::write(comparison.place(&at.folder).join(name), rules).is_ok()
}

fn rules_removed(comparison: &mut Comparison, at: &Places) -> bool {
    let name = comparison.random.pick(&[".gitignore", ".ignore", "CACHEDIR.TAG", "Cargo.toml", "package.json"]);
    fs::remove_file(comparison.place(&at.folder).join(name)).is_ok()
}

fn marked(comparison: &mut Comparison, at: &Places) -> bool {
    let name = comparison.random.pick(&["CACHEDIR.TAG", "Cargo.toml", "package.json"]);
    fs::write(comparison.place(&at.folder).join(name), "x").is_ok()
}

fn rights(comparison: &mut Comparison, at: &Places) -> bool {
    let mode = if comparison.random.chance(50) { 0o000 } else { 0o755 };
    let what = if comparison.random.chance(50) { &at.file } else { &at.folder };
    fs::set_permissions(what, fs::Permissions::from_mode(mode)).is_ok()
}

/// Replaced by a rename, as editors do.
fn replaced(comparison: &mut Comparison, at: &Places) -> bool {
    let temporary = at.file.with_extension("tmp");
    comparison.write(&temporary);
    fs::rename(&temporary, &at.file).is_ok()
}

fn symlinked(comparison: &mut Comparison, at: &Places) -> bool {
    if comparison.is_secret_later(&at.file) {
        return false;
    }
    let _ = fs::remove_file(&at.file);
    std::os::unix::fs::symlink(&at.other, &at.file).is_ok()
}

fn folder_swapped(comparison: &mut Comparison, at: &Places) -> bool {
    if !mounts::mounted_below(&at.folder).is_empty() {
        // It could not be removed.
        return false;
    }
    let (aside, kept) = (comparison.dir.path().join("aside/folder"), comparison.dir.path().join("aside/kept"));
    fs::create_dir_all(&aside).unwrap();
    let content = comparison.content();
    fs::write(aside.join(comparison.random.pick(NAMES)), content).unwrap();
    if fs::rename(&at.folder, &kept).is_err() {
        return false;
    }
    let swapped = fs::rename(&aside, &at.folder).is_ok();
    let _ = fs::set_permissions(&kept, fs::Permissions::from_mode(0o755));
    let _ = fs::remove_dir_all(&kept);
    swapped
}

fn excludes(comparison: &mut Comparison, at: &Places) -> bool {
    let place = comparison.place(&at.folder);
    let rules = comparison.random.pick(&["*.py\n", "lib\n", ""]);
    if comparison.random.chance(70) {
        fs::create_dir_all(place.join(".git/info")).is_ok() && fs::write(place.join(".git/info/exclude"), rules).is_ok()
    } else {
        fs::remove_dir_all(place.join(".git")).is_ok()
    }
}

/// The `.git` file of a linked worktree, of a submodule or of none, of the same size, and often with the same time.
fn worktrees(comparison: &mut Comparison, at: &Places) -> bool {
    let git = at.folder.join(".git");
    let content =
        comparison.random.pick(&["gitdir: /r/.git/worktrees/x\n", "gitdir: /r/.git/modules/abc\n", "", "none"]);
    if content == "none" {
        return fs::remove_file(&git).is_ok();
    }
    let before = fs::metadata(&git).and_then(|meta| meta.modified());
    let wrote = fs::write(&git, content).is_ok();
    if let (Ok(before), true) = (before, comparison.random.chance(60)) {
        let _ = fs::File::options().write(true).open(&git).and_then(|open| open.set_modified(before));
    }
    wrote
}

/// Still open when the next query comes: closed after it.
fn open_meanwhile(comparison: &mut Comparison, at: &Places) -> bool {
    let Ok(open) = fs::File::options().write(true).open(&at.file) else { return false };
    let _ = open.write_at("É module_init".as_bytes(), 1);
    comparison.query();
    open.write_at(b"needle", 0).is_ok()
}

/// The write causes no event until the file is closed, after the next query.
fn written_by_aio(comparison: &mut Comparison, at: &Places) -> bool {
    if !comparison.mapper.open(&at.file) {
        return false;
    }
    let begun = comparison.mapper.begin_aio();
    if comparison.random.chance(50) {
        comparison.settle();
    }
    let wrote = begun && comparison.mapper.write_by_aio(2, "needle ÉKERNEL ");
    comparison.query();
    let wrote = begun && comparison.mapper.write_by_aio(1, "привет SKI") || wrote;
    if begun {
        comparison.mapper.end_aio();
    }
    comparison.query();
    comparison.mapper.close();
    wrote
}

/// Targets of linked ignore files.
const RULES: &[&str] = &["docs/rules", "lib/rules", "src/deep/rules"];

fn put_rules(comparison: &mut Comparison, place: &Path, link: impl Fn(&Path, &Path) -> std::io::Result<()>) -> bool {
    let rules = comparison.random.pick(RULES);
    let rules = comparison.path(rules);
    let _ = rules.parent().map(fs::create_dir_all);
    let _ = fs::File::options().append(true).create(true).open(&rules);
    let name = comparison.random.pick(&[".gitignore", ".ignore"]);
    let place = comparison.place(place).join(name);
    let _ = fs::remove_file(&place);
    link(&rules, &place).is_ok()
}

fn rules_linked(comparison: &mut Comparison, at: &Places) -> bool {
    put_rules(comparison, &at.folder, |rules, place| std::os::unix::fs::symlink(rules, place))
}

fn rules_hard_linked(comparison: &mut Comparison, at: &Places) -> bool {
    put_rules(comparison, &at.folder, |rules, place| fs::hard_link(rules, place))
}

fn linked_rules_written(comparison: &mut Comparison, _: &Places) -> bool {
    let file = comparison.random.pick(RULES);
    let file = comparison.path(file);
    let rules = comparison.random.pick(&["*.rs\n", "deep\n", "/src\n", "!*.log\n*.txt\n", "", "a.*\n!a.rs\n"]);
    match comparison.random.below(4) {
        0 => fs::remove_file(&file).is_ok(),
        1 => {
            let other = file.with_extension("new");
            fs::write(&other, rules).is_ok() && fs::rename(&other, &file).is_ok()
        }
        _ => fs::write(&file, rules).is_ok(),
    }
}

fn mounted(comparison: &mut Comparison, at: &Places) -> bool {
    if !mounts::is_inside() || !mount(&["-t", "tmpfs", "none"], &at.folder) {
        return false;
    }
    for _ in 0..comparison.random.below(4) {
        let file = at.folder.join(comparison.random.pick(NAMES));
        comparison.write(&file);
    }
    true
}

fn bound(comparison: &mut Comparison, at: &Places) -> bool {
    let from = comparison.random.pick(&FOLDERS[1..]);
    let from = comparison.path(from);
    // A folder mounted in itself would have no end.
    let apart = !at.folder.starts_with(&from) && !from.starts_with(&at.folder);
    apart && mounts::is_inside() && mount(&["--bind", from.to_str().unwrap()], &at.folder)
}

fn file_bound(comparison: &mut Comparison, at: &Places) -> bool {
    let outside = comparison.dir.path().join("aside/bound.txt");
    let from = if comparison.random.chance(50) { outside } else { at.other.clone() };
    comparison.write(&from);
    mounts::is_inside() && mount(&["--bind", from.to_str().unwrap()], &at.file)
}

/// On a separate file system, because overlays do not nest.
fn overlaid(comparison: &mut Comparison, at: &Places) -> bool {
    if !mounts::is_inside() || !mount(&["-t", "tmpfs", "none"], &at.folder) {
        return false;
    }
    for folder in ["lower", "upper", "work", "merged"] {
        fs::create_dir(at.folder.join(folder)).unwrap();
    }
    let lower = at.folder.join("lower").join(comparison.random.pick(NAMES));
    comparison.write(&lower);
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| at.folder.join(name).display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let merged = at.folder.join("merged");
    let done = mount(&["-t", "overlay", "overlay", "-o", &options], &merged);
    if done {
        let file = merged.join(comparison.random.pick(NAMES));
        comparison.write(&file);
        comparison.query();
        comparison.write(&file);
    }
    done
}

fn mount_moved(comparison: &mut Comparison, at: &Places) -> bool {
    let places = mounts::mounted_below(comparison.dir.path());
    let Some(from) = (!places.is_empty()).then(|| &places[comparison.random.below(places.len())]) else { return false };
    mount(&["--move", from.to_str().unwrap()], &at.folder)
}

fn unmounted(comparison: &mut Comparison, _: &Places) -> bool {
    let places = mounts::mounted_below(comparison.dir.path());
    let Some(place) = (!places.is_empty()).then(|| &places[comparison.random.below(places.len())]) else {
        return false;
    };
    if comparison.random.chance(50) { unmount(&["--lazy"], place) } else { unmount(&[], place) }
}
