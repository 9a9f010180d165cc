//! One tree, played in epochs: changes, an index that is stored in some way, more changes, and processes that are asked.

use std::{
    fs,
    os::unix::fs::FileExt as _,
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, SystemTime},
};

use super::damage::{Kept, damage};
use crate::search::index::{
    comparison::{Comparison, FOLDERS, Rules},
    mapping::Mapper,
    mounts::{self, mount, unmount},
    searchers::End,
};

/// Longer than a file must be left alone before what it held is believed later.
pub(in crate::search::index) const REST: Duration = Duration::from_millis(2300);
/// Files that are added to a large tree: more than `--index auto` needs.
const MANY: usize = 2200;

pub(super) struct Epochs {
    pub(super) comparison: Comparison,
    /// A mapping that outlives processes and stored indexes.
    mapper: Mapper,
    /// How often the mapping was written to; `None` without one.
    mapped: Option<usize>,
    /// Earlier stored indexes.
    kept: Kept,
}

impl Epochs {
    pub(super) fn new(seed: u64, rules: Rules) -> Self {
        let mut comparison = Comparison::of_processes(seed, rules);
        for _ in 0..60 {
            let file = comparison.file();
            comparison.write(&file);
        }
        if seed.is_multiple_of(5) {
            let many = comparison.path("lib/many");
            for number in 0..MANY {
                let folder = many.join(format!("{}", number % 20));
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(format!("{number}.txt")), format!("kernel {number} of many\n")).unwrap();
            }
        }
        let kept = Kept::new(comparison.dir.path().join("aside/kept-indexes"));
        Self { comparison, mapper: Mapper::start(), mapped: None, kept }
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.comparison.random.chance(percent)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.comparison.random.below(limit)
    }

    fn log(&mut self, what: &str) {
        self.comparison.log.push(format!("-- {what}"));
    }

    pub(super) fn play(&mut self) {
        self.perhaps_other_policy();
        self.mutate(6);
        self.poke();
        if self.chance(70) {
            self.log("rest");
            thread::sleep(REST);
        }
        if self.chance(20) {
            self.mutate(3);
        }
        self.store();
        self.kept.keep(self.comparison.processes());
        if self.chance(50) {
            self.poke();
        }
        self.within_a_tick();
        self.mutate(4);
        if self.chance(35) {
            let what = damage(&mut self.comparison, &self.kept);
            self.log(&what);
        }
        if self.chance(6) {
            self.replace_root();
        }
        if mounts::is_inside() && self.chance(6) {
            self.store_another_file_system();
        }
        self.ask();
    }

    fn mutate(&mut self, most: usize) {
        for _ in 0..self.below(most + 1) {
            self.comparison.mutate();
        }
    }

    /// What is stored of files that are denied later must not be missed, nor shown.
    fn perhaps_other_policy(&mut self) {
        if self.comparison.is_ours() && self.chance(15) {
            let options: &[&[&str]] =
                &[&[], &["--deny", "*.md"], &["--hide", "src/deep"], &["--secrets", "names"], &["--ignore", "*.c"]];
            let options = options[self.below(options.len())];
            self.log(&format!("options {options:?}"));
            self.comparison.processes().set_options(options);
        }
    }

    /// Maps a file, or writes to the one that is mapped. A live index sees that by the end of the mapping or a comparison
    /// a minute later, as documented; so those that run are ended. A stored one may never miss it.
    fn poke(&mut self) {
        let Some(times) = self.mapped else {
            if self.chance(30) {
                let folder = self.comparison.random.pick(FOLDERS);
                let file = self.comparison.path(folder).join("held.txt");
                let _ = file.parent().map(fs::create_dir_all);
                if fs::write(&file, "nothing of interest here\n".repeat(400)).is_ok() {
                    self.comparison.age(&file);
                    self.mapped = self.mapper.hold(&file).then_some(0);
                    self.log(&format!("{} mapped: {:?}", file.display(), self.mapped));
                }
            }
            return;
        };
        self.comparison.processes().end_all();
        if self.chance(20) {
            self.mapper.release();
            self.mapped = None;
            return self.log("mapping released");
        }
        let word = self.comparison.random.pick(&["needle", "KERNEL", "привет", "TODO", "_x_"]);
        // The same page, most often: it is dirty already, so its next write changes no time.
        let at = if self.chance(80) { 40 * (times % 40) } else { 5000 + 40 * (times % 40) };
        self.mapper.poke(at, &format!(" {word}\n"));
        self.mapped = Some(times + 1);
        self.log(&format!("{word} written to the mapping at {at}"));
    }

    /// Changes of one file within a tick of the clock, with the same size, before and after an index is stored.
    fn within_a_tick(&mut self) {
        if !self.chance(25) {
            return;
        }
        let file = self.comparison.file();
        let Ok(before) = fs::read(&file) else { return };
        let other = before.iter().map(|byte| if *byte == b'e' { b'i' } else { *byte }).collect::<Vec<u8>>();
        let Ok(open) = fs::File::options().write(true).open(&file) else { return };
        self.log(&format!("{} changed within a tick", file.display()));
        for turn in 0..=self.below(4) {
            let (now, then) = if turn % 2 == 0 { (&other, &before) } else { (&before, &other) };
            let _ = open.write_at(now, 0);
            if self.chance(50) {
                let wait = Duration::from_micros(1 << self.below(16));
                self.comparison.processes().build(Some(wait));
            } else {
                self.comparison.query();
            }
            let _ = open.write_at(then, 0);
        }
    }

    /// Leaves an index in one of the ways that there are, or does not come to it.
    fn store(&mut self) {
        let (choice, number) = (self.below(10), self.below(40) + 1);
        self.log(&format!("stored by way {choice}, {number}"));
        match choice {
            0..4 => self.comparison.processes().build(None),
            4 => self.comparison.processes().build(Some(Duration::from_millis(number as u64 * 2))),
            5 => {
                let faults = ["kill-before", "kill-within", "kill-after", "EIO", "ENOSPC", "EINTR"];
                let fault = format!("{}:{number}", self.comparison.random.pick(&faults));
                self.log(&fault);
                self.comparison.processes().start_with_fault(&fault);
            }
            6 | 7 => {
                self.comparison.processes().start("eager");
                self.comparison.query();
                let how = if choice == 6 { End::Input } else { End::Killed(number as u64 * 5000) };
                self.comparison.processes().end(how);
            }
            8 => {
                // Two at once.
                self.comparison.processes().start("eager");
                self.comparison.processes().build(None);
                self.comparison.query();
            }
            _ => {}
        }
    }

    /// Processes that are asked while the tree changes.
    fn ask(&mut self) {
        if self.chance(40) {
            self.comparison.processes().end_all();
        }
        for _ in 0..self.below(3) {
            let index = self.comparison.random.pick(&["auto", "eager", "auto", "off"]);
            self.log(&format!("a process with --index {index}"));
            self.comparison.processes().start(index);
        }
        for _ in 0..6 + self.below(16) {
            match self.below(12) {
                0 | 1 => self.comparison.mutate(),
                2 => {
                    let how = self.comparison.processes().some_end();
                    self.log(&format!("a process ends: {how:?}"));
                    self.comparison.processes().end(how);
                }
                3 if self.comparison.processes().running() < 3 => {
                    let index = self.comparison.random.pick(&["auto", "eager"]);
                    self.log(&format!("one more process with --index {index}"));
                    self.comparison.processes().start(index);
                }
                4 if self.chance(20) => {
                    self.log("an index is built meanwhile");
                    self.comparison.processes().build(None);
                }
                _ => {}
            }
            self.comparison.query();
        }
    }

    /// Another directory, with the same names, contents and times, at the path of the root.
    fn replace_root(&mut self) {
        if !mounts::mounted_below(self.comparison.dir.path()).is_empty() {
            return;
        }
        self.log("the root is another directory");
        self.comparison.processes().forget_root();
        let (root, old) = (self.root(), self.comparison.dir.path().join("aside/old-root"));
        fs::rename(&root, &old).unwrap();
        let copied = Command::new("cp").arg("-a").arg(&old).arg(&root).status().unwrap();
        assert!(copied.success());
        if self.chance(50) {
            // The old one is back.
            self.comparison.processes().build(None);
            fs::remove_dir_all(&root).unwrap();
            fs::rename(&old, &root).unwrap();
        } else {
            fs::remove_dir_all(&old).unwrap();
            // A mapping of the old one is none of a file in the new one.
            self.mapper.release();
            self.mapped = None;
        }
    }

    /// An index is stored of another file system at the path of the root, which is gone then.
    fn store_another_file_system(&mut self) {
        if !mounts::mounted_below(self.comparison.dir.path()).is_empty() {
            return;
        }
        self.comparison.processes().forget_root();
        let root = self.root();
        if !mount(&["-t", "tmpfs", "none"], &root) {
            return;
        }
        self.log("another file system at the root");
        for _ in 0..20 {
            let file = self.comparison.file();
            self.comparison.write(&file);
        }
        self.comparison.processes().build(None);
        for _ in 0..3 {
            self.comparison.query();
        }
        self.comparison.processes().forget_root();
        assert!(unmount(&[], &root) || unmount(&["--lazy"], &root));
    }

    fn root(&self) -> PathBuf {
        self.comparison.dir.path().join("root")
    }
}

/// A time that no file of a test has.
pub(super) fn a_day_from_now() -> SystemTime {
    SystemTime::now() + Duration::from_secs(24 * 3600)
}
