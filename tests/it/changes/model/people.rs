//! Two processes and a person on the same files: whatever they do, nothing is lost, and nobody gets more rights.
//!
//! A call that is refused has changed nothing: no content, no rights, no link. After one that was made, each line that is
//! in no file any more is in the history, what the person wrote last is still in a file after an undo, and each file gives
//! nobody more than the file that was there, or after an undo the last one with the same content.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    changes::undo_rights::{Rights, USERS, give_acl},
    harness::process::Process,
    harness::program::memory_folder,
    harness::seeded_random::Random,
};

use super::operation::Operation;

/// The numbers of the person's lines begin here, and the lines with this.
const FIRST_OF_PERSON: u32 = 900_000;
const PERSONS: &str = "line 9";

/// What the person does, with the number of a line that nobody else writes.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A new line at the end, into the file that is there.
    Append(u32),
    /// Another content, in a file that takes the place of the former.
    Replace(u32),
    Mode(u32),
    Group(u32),
    Acl(u16, u16),
    Link(String),
    Remove,
}

/// A step, which does not depend on the tree.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Call { process: usize, operation: Operation },
    Read { process: usize, path: String },
    UndoPath { process: usize, path: String },
    Person { path: String, act: Act },
}

/// A path that operations use as well.
fn path(random: &mut Random) -> String {
    let folder = *random.pick(&["", "", "a/", "b/", "a/b/"]);
    format!("{folder}{}", random.pick::<&str>(&["x", "y", "z", "a", "b"]))
}

pub(super) fn steps(seed: u64, count: usize) -> Vec<Step> {
    let mut random = Random(seed);
    let operations = Operation::list(&mut random, count).into_iter().zip(0_u32..);
    let step = |(operation, number): (Operation, u32)| {
        let (process, path) = (random.below(2), path(&mut random));
        match random.below(10) {
            0..=3 => Step::Call { process, operation },
            4..=5 => Step::Read { process, path },
            6 => Step::UndoPath { process, path },
            _ => {
                let line = FIRST_OF_PERSON + number;
                let act = match random.below(9) {
                    0..=1 => Act::Append(line),
                    2 => Act::Replace(line),
                    3..=4 => Act::Mode(*random.pick(&[0o600, 0o640, 0o644, 0o664, 0o755, 0o700])),
                    5 => Act::Group(*random.pick(&[4001, 4444])),
                    6 => Act::Acl(*random.pick(&[0, 4, 6]), *random.pick(&[0, 4, 6])),
                    7 => Act::Link(self::path(&mut random)),
                    _ => Act::Remove,
                };
                Step::Person { path, act }
            }
        }
    };
    operations.map(step).collect()
}

/// An entry: a directory, a link with its target, or a file with its content.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Directory,
    Link(PathBuf),
    File(String),
}

/// All below the root, with its rights.
type World = BTreeMap<String, (Kind, Rights)>;

fn world(root: &Path) -> World {
    let (mut all, mut left) = (World::new(), vec![root.to_path_buf()]);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            let is = fs::symlink_metadata(&path).expect("it is there");
            let kind = if is.is_dir() {
                left.push(path.clone());
                Kind::Directory
            } else if is.is_symlink() {
                Kind::Link(fs::read_link(&path).expect("a link"))
            } else {
                Kind::File(fs::read_to_string(&path).expect("UTF-8"))
            };
            let shown = path.strip_prefix(root).expect("below the root").display().to_string();
            all.insert(shown, (kind, Rights::of(&path)));
        }
    }
    all
}

fn lines(world: &World) -> BTreeSet<String> {
    let contents =
        world.values().filter_map(|(kind, _)| if let Kind::File(content) = kind { Some(content) } else { None });
    contents.flat_map(|content| content.lines().map(str::to_owned)).collect()
}

/// The contents of files that were something else before.
fn changed_contents(before: &World, after: &World) -> BTreeSet<String> {
    let is_other = |path: &str, content: &str| {
        !before.get(path).is_some_and(|(was, _)| matches!(was, Kind::File(was) if was == content))
    };
    let contents = after.iter().filter_map(|(path, (kind, _))| match kind {
        Kind::File(content) if is_other(path, content) => Some(content.clone()),
        _ => None,
    });
    contents.collect()
}

/// What each user may do.
type Bits = [u32; USERS.len()];

fn bits(rights: &Rights) -> Bits {
    USERS.map(|(user, group)| rights.bits(user, group))
}

/// What was given last: to each path that was no file, and to each content, by the paths of the files that had it.
#[derive(Default)]
struct Given {
    others: BTreeMap<String, Bits>,
    contents: BTreeMap<String, BTreeMap<String, Bits>>,
}

impl Given {
    fn add(&mut self, world: &World) {
        for (path, (kind, rights)) in world {
            let Kind::File(content) = kind else {
                self.others.insert(path.clone(), bits(rights));
                continue;
            };
            self.contents.entry(content.clone()).or_default().insert(path.clone(), bits(rights));
        }
    }

    /// Who has more than before: than `was` there, or where it came back or from elsewhere, than what was last like it, or
    /// than those that `went`, which the call may have moved here with the rights that they had.
    fn wider(
        &self,
        (path, kind, rights): (&str, &Kind, &Rights),
        was: Option<&Rights>,
        went: impl Iterator<Item = Bits>,
        tool: &str,
    ) -> Option<String> {
        let comes_back = match kind {
            Kind::File(content) => self
                .contents
                .get(content)
                .map(|given| given.get(path).map_or_else(|| given.values().copied().collect(), |here| vec![*here])),
            // One that is missing above what comes back is made as for a new file: see undo_rights.
            _ => self.others.get(path).filter(|_| was.is_some()).map(|given| vec![*given]),
        };
        let known: Vec<Bits> = match tool {
            "undo" => {
                comes_back.or(was.map(|was| vec![bits(was)])).map(|known| known.into_iter().chain(went).collect())
            }
            // A file may have come from elsewhere with its rights.
            _ if was.is_some() => Some(comes_back.into_iter().flatten().chain(was.map(bits)).collect()),
            "move" | "copy" if matches!(kind, Kind::File(_)) => comes_back,
            _ => None,
        }?;
        let most: Bits = std::array::from_fn(|at| known.iter().fold(0, |all, bits| all | bits[at]));
        let is = bits(rights);
        let more = (0..USERS.len()).find(|at| is[*at] & !most[*at] != 0)?;
        Some(format!("{path}: user and group {:?} has {:o}, and had {:o} at most", USERS[more], is[more], most[more]))
    }
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) made: u64,
    refused: u64,
    pub(super) undone: u64,
    by_person: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.refused += other.refused;
        self.undone += other.undone;
        self.by_person += other.by_person;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { made, refused, undone, by_person } = self;
        write!(f, "{made} changes ({undone} of them undone), {refused} refused, {by_person} by the person")
    }
}

/// Does what the person does; whether anything came of it.
fn act(root: &Path, path: &str, act: &Act) -> bool {
    let at = root.join(path);
    let is = fs::symlink_metadata(&at);
    let is_file = is.as_ref().is_ok_and(fs::Metadata::is_file);
    match act {
        Act::Append(line) if is_file => {
            let old = fs::read_to_string(&at).expect("a file");
            // In place, as an editor may do it.
            fs::write(&at, format!("{old}line {line};\n")).is_ok()
        }
        Act::Replace(line) if is.is_err() || is_file => {
            let new = at.with_file_name(".new");
            fs::write(&new, format!("line {line};\n")).and_then(|()| fs::rename(&new, &at)).is_ok()
        }
        Act::Mode(mode) if is.as_ref().is_ok_and(|is| !is.is_symlink()) => {
            fs::set_permissions(&at, fs::Permissions::from_mode(mode | if is_file { 0 } else { 0o700 })).is_ok()
        }
        Act::Group(group) if is.is_ok() && !at.is_symlink() => chown(&at, None, Some(*group)).is_ok(),
        Act::Acl(named, group) if is_file => give_acl(&at, *named, *group),
        Act::Link(target) if is.is_err() => symlink(root.join(target), &at).is_ok(),
        Act::Remove if is_file || at.is_symlink() => fs::remove_file(&at).is_ok(),
        _ => false,
    }
}

/// Plays the steps in a new folder. The error says what is lost, or who got what.
pub(super) fn play(steps: &[Step]) -> Result<Counts, String> {
    let folder = memory_folder();
    let (root, state) = (folder.path().join("root"), folder.path().join("state"));
    fs::create_dir(&root).expect("a folder");
    let mut processes = ["strict", "off"].map(|rule| {
        let options = ["--allow", "manage", "--allow", "patch", "--read-before-write", rule, "."];
        let mut process = Process::start_remembering(&root, &state, &options);
        process.initialize();
        process
    });
    let (mut given, mut counts) = (Given::default(), Counts::default());
    let (mut of_person, mut kept): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    for (index, step) in steps.iter().enumerate() {
        let before = world(&root);
        given.add(&before);
        let (process, tool, arguments) = match step {
            Step::Person { path, act } => {
                counts.by_person += u64::from(self::act(&root, path, act));
                of_person.extend(changed_contents(&before, &world(&root)));
                continue;
            }
            Step::Call { process, operation } => {
                let (tool, arguments) = operation.call(&super::tree::Tree::of_files(&root));
                (process, tool, arguments)
            }
            Step::Read { process, path } => (process, "read", json!({ "path": path })),
            Step::UndoPath { process, path } => (process, "undo", json!({ "path": path })),
        };
        let call = json!({ "name": tool, "arguments": arguments });
        let answer = processes[*process].ask("tools/call", &call)["result"].take();
        let after = world(&root);
        let failed = |why: String| Err(format!("step {index}, {step:?}: {why}\nthe answer: {answer}"));
        if answer["isError"] == true || tool == "read" {
            counts.refused += u64::from(tool != "read");
            let differs = before.iter().chain(&after).find(|(path, _)| before.get(*path) != after.get(*path));
            if let Some((path, _)) = differs {
                return failed(format!("{path} has changed: {:?}, it was {:?}", after.get(path), before.get(path)));
            }
            continue;
        }
        counts.made += 1;
        counts.undone += u64::from(tool == "undo");
        let (had, have) = (lines(&before), lines(&after));
        let gone: BTreeSet<String> = had.difference(&have).cloned().collect();
        let lost: BTreeSet<String> = changed_contents(&after, &before);
        let of_others = lost.iter().filter(|content| of_person.contains(*content));
        if tool == "undo"
            && let Some(content) = of_others
                .clone()
                .find(|content| content.lines().any(|line| line.starts_with(PERSONS) && gone.contains(line)))
        {
            return failed(format!("the person's {content:?} is in no file any more"));
        }
        // A tool has replaced it, or has made another file with it: that may be undone and done again.
        let met: Vec<String> = of_others.cloned().chain(changed_contents(&before, &after)).collect();
        of_person.retain(|content| !met.contains(content));
        if !gone.is_subset(&kept) {
            kept = lines_of_history(&state);
        }
        if let Some(line) = gone.difference(&kept).next() {
            return failed(format!("{line:?} is in no file and not in the history"));
        }
        for (path, (kind, rights)) in &after {
            let is_same_kind = |(was, _): &&(Kind, Rights)| std::mem::discriminant(was) == std::mem::discriminant(kind);
            let was = before.get(path).filter(is_same_kind).map(|(_, was)| was);
            let went = before.iter().filter(|(path, (was, _))| {
                let is_here = || after.get(*path).is_some_and(|(now, _)| now == kind);
                was == kind && matches!(kind, Kind::File(_)) && !is_here()
            });
            let went = went.map(|(_, (_, rights))| bits(rights));
            if !matches!(kind, Kind::Link(_))
                && was != Some(rights)
                && let Some(why) = given.wider((path, kind, rights), was, went, tool)
            {
                return failed(format!("{why}; it was {:?}, and is {rights:?}", before.get(path)));
            }
        }
    }
    Ok(counts)
}

fn lines_of_history(state: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(state.join("history")).into_iter().flatten().map(|file| file.expect("a file").path());
    let contents = files.filter(|path| path.file_name().is_some_and(|name| name.len() == 32));
    let text = contents.filter_map(|path| fs::read_to_string(path).ok());
    text.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}
