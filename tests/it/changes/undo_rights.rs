//! Rights after each way of going back: nobody may do more with an entry than before the change, by its mode, its owner,
//! its group or its ACL.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
    thread,
};

use file_tools::{Group, ReadBeforeWrite, Selection, Settings};
use rustix::{
    fs::{XattrFlags, getxattr, setxattr},
    process::{getegid, geteuid},
};
use serde_json::{Value, json};

use crate::{
    harness::program::{Outcome, program},
    harness::{Harness, Setup},
};

// What a caller may do, as acl(5) has it.

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";
const NOTE: &str = "user.note";
const OWNER: u16 = 1;
const USER: u16 = 2;
const GROUP: u16 = 4;
const NAMED_GROUP: u16 = 8;
const MASK: u16 = 16;
const OTHER: u16 = 32;
/// A user whom an ACL names.
const NAMED: u32 = 12_345;
/// A group that the folder of a team belongs to, where the tests may give it away.
const TEAM: u32 = 4_444;

/// Users, each in one group, who are not the server's: the named one, one of the team, one of root's group, and another.
pub(crate) const USERS: [(u32, u32); 4] = [(NAMED, 4001), (4003, TEAM), (4004, 0), (4005, 4005)];

type AclEntry = (u16, u16, u32);

fn set_acl(path: &Path, name: &str, entries: &[AclEntry]) -> bool {
    let mut value = 2_u32.to_le_bytes().to_vec();
    for (tag, bits, id) in entries {
        value.extend([tag.to_le_bytes(), bits.to_le_bytes()].concat());
        value.extend(id.to_le_bytes());
    }
    setxattr(path, name, &value, XattrFlags::empty()).is_ok()
}

fn acl(path: &Path) -> Vec<AclEntry> {
    let mut value = [0; 4096];
    let Ok(size) = getxattr(path, ACCESS, &mut value) else { return Vec::new() };
    let two = |bytes: &[u8]| u16::from_le_bytes(bytes.try_into().expect("two bytes"));
    let entry = |entry: &[u8]| {
        (two(&entry[..2]), two(&entry[2..4]), u32::from_le_bytes(entry[4..].try_into().expect("four bytes")))
    };
    value[4..size].chunks_exact(8).map(entry).collect()
}

/// All that the system knows of the rights to an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rights {
    mode: u32,
    owner: u32,
    group: u32,
    acl: Vec<AclEntry>,
    note: Option<Vec<u8>>,
}

impl Rights {
    pub(crate) fn of(path: &Path) -> Self {
        let is = fs::symlink_metadata(path).expect("it is there");
        let mut note = [0; 64];
        let note = getxattr(path, NOTE, &mut note).ok().map(|size| note[..size].to_vec());
        Self { mode: is.mode() & 0o7777, owner: is.uid(), group: is.gid(), acl: acl(path), note }
    }

    /// The bits of a user who is in one group.
    pub(crate) fn bits(&self, user: u32, group: u32) -> u32 {
        if user == self.owner {
            return self.mode >> 6 & 7;
        }
        let tagged = |tag: u16| self.acl.iter().filter(move |entry| entry.0 == tag);
        let bounded = |entry: &AclEntry| u32::from(entry.1) & self.mode >> 3 & 7;
        if let Some(named) = tagged(USER).find(|entry| entry.2 == user) {
            return bounded(named);
        }
        let own = if self.acl.is_empty() { Some(self.mode >> 3 & 7) } else { tagged(GROUP).next().map(bounded) };
        let of_groups = own.filter(|_| group == self.group).into_iter();
        let all: Vec<u32> =
            of_groups.chain(tagged(NAMED_GROUP).filter(|entry| entry.2 == group).map(bounded)).collect();
        if all.is_empty() { self.mode & 7 } else { all.into_iter().fold(0, |all, bits| all | bits) }
    }
}

/// The rights to every entry below the root.
type RightsOfAll = BTreeMap<String, Rights>;

fn rights(h: &Harness) -> RightsOfAll {
    let mut all = RightsOfAll::new();
    let mut left = vec![h.path("")];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let shown = path.strip_prefix(h.path("")).expect("below the root").display().to_string();
            all.insert(shown, Rights::of(&path));
            if path.is_dir() {
                left.push(path);
            }
        }
    }
    all
}

/// What somebody may do afterwards and might not before.
fn wider(before: &RightsOfAll, after: &RightsOfAll) -> Vec<String> {
    let mut found = Vec::new();
    for (path, was) in before {
        let Some(is) = after.get(path) else { continue };
        let own_group = getegid().as_raw();
        let users =
            [(was.owner, was.group), (4001, 4001), (NAMED, 4001), (4002, was.group), (4003, TEAM), (4004, own_group)];
        for (user, group) in users {
            let more = is.bits(user, group) & !was.bits(user, group);
            if more != 0 {
                found.push(format!("{path}: {more:o} more for user {user} of group {group}: {is:?}, it was {was:?}"));
            }
        }
        // Without the sticky bit everybody who may write in a folder removes what others have put there.
        if is.mode & !was.mode & 0o7000 != 0 || is.mode & 0o22 != 0 && was.mode & !is.mode & 0o1000 != 0 {
            found.push(format!("{path}: mode {:o}, it was {:o}", is.mode, was.mode));
        }
    }
    found
}

// The rights before, and the ways of going back.

/// Gives `d`, `d/f` and `d/g` rights; false where the system has no such rights.
type Prepare = fn(&Harness) -> bool;

fn set_mode(h: &Harness, path: &str, mode: u32) {
    fs::set_permissions(h.path(path), fs::Permissions::from_mode(mode)).expect("rights are set");
}

fn of_file(h: &Harness, mode: u32) -> bool {
    set_mode(h, "d/f", mode);
    true
}

/// Gives a file an ACL for a user; false where the file system has none.
pub(crate) fn give_acl(path: &Path, named: u16, group: u16) -> bool {
    file_acl(path, named, group, 0)
}

fn file_acl(path: &Path, named: u16, group: u16, other: u16) -> bool {
    let entries =
        [(OWNER, 6, !0), (USER, named, NAMED), (GROUP, group, !0), (MASK, named | group, !0), (OTHER, other, !0)];
    set_acl(path, ACCESS, &entries)
}

fn default_acl(h: &Harness) -> bool {
    let entries = [(OWNER, 7, !0), (USER, 6, NAMED), (GROUP, 4, !0), (MASK, 6, !0), (OTHER, 4, !0)];
    set_acl(&h.path("d"), DEFAULT, &entries)
}

const RIGHTS: &[(&str, Prepare)] = &[
    ("0600", |h| of_file(h, 0o600)),
    ("0640", |h| of_file(h, 0o640)),
    ("0755", |h| of_file(h, 0o755)),
    ("0444", |h| of_file(h, 0o444)),
    // Nobody but the superuser reads it.
    ("0000", |h| of_file(h, 0) && geteuid().is_root()),
    ("a folder of 1777", |h| {
        set_mode(h, "d", 0o1777);
        true
    }),
    ("a folder of 0700", |h| {
        set_mode(h, "d", 0o700);
        true
    }),
    ("a folder with set-group-ID", |h| {
        // Of another group where that may be given.
        let _ = chown(h.path("d"), None, Some(TEAM));
        set_mode(h, "d", 0o2775);
        of_file(h, 0o640)
    }),
    ("an ACL", |h| file_acl(&h.path("d/f"), 4, 0, 0)),
    ("an ACL against a user", |h| file_acl(&h.path("d/f"), 0, 4, 4)),
    ("a default ACL that came later", |h| default_acl(h) && of_file(h, 0o640)),
    ("an inherited ACL", |h| {
        fs::remove_file(h.path("d/f")).expect("it is there");
        let is_set = default_acl(h);
        h.write("d/f", "one\n");
        is_set
    }),
    ("an attribute", |h| setxattr(h.path("d/f"), NOTE, b"kept", XattrFlags::empty()).is_ok() && of_file(h, 0o640)),
];

/// A change and what takes it back. `None` where the change was refused.
type Way = fn(&Harness) -> Option<()>;

fn call(h: &Harness, tool: &str, arguments: Value) -> Option<()> {
    let answer = h.call(tool, arguments);
    if answer.error_kind() == Some("read_only") {
        return None;
    }
    answer.ok();
    Some(())
}

fn edit(h: &Harness) -> Option<()> {
    call(h, "edit", json!({ "path": "d/f", "old_string": "one", "new_string": "two" }))
}

fn write(h: &Harness, path: &str, content: &str) -> Option<()> {
    call(h, "write", json!({ "path": path, "content": content }))
}

fn delete(h: &Harness, path: &str) -> Option<()> {
    call(h, "delete", json!({ "path": path, "recursive": true }))
}

fn patch(h: &Harness, text: &str) -> Option<()> {
    call(h, "apply_patch", json!({ "patch": format!("*** Begin Patch\n{text}*** End Patch\n") }))
}

fn undo(h: &Harness) -> Option<()> {
    call(h, "undo", json!({}))
}

fn redo(h: &Harness) -> Option<()> {
    call(h, "undo", json!({ "to": "redo" }))
}

fn to(h: &Harness, to: &str) -> Option<()> {
    call(h, "undo", json!({ "to": to, "include_others": true }))
}

fn command(h: &Harness, arguments: &[&str]) {
    let mut command = program(&h.path(""));
    Outcome::of(command.env("ROOTBOUND_STATE_DIR", h.outside("state")).args(arguments)).succeeded();
}

const WAYS: &[(&str, Way)] = &[
    ("an edit", |h| edit(h).and_then(|()| undo(h))),
    ("an edit, undone, done and undone again", |h| {
        edit(h)?;
        undo(h)?;
        redo(h)?;
        undo(h)
    }),
    ("an overwrite", |h| write(h, "d/f", "new\n").and_then(|()| undo(h))),
    ("an append", |h| {
        call(h, "write", json!({ "path": "d/f", "content": "more\n", "mode": "append" }))?;
        undo(h)
    }),
    ("an edit of several files", |h| {
        let entry = |path, old| json!({ "path": path, "old_string": old, "new_string": "two" });
        call(h, "edit", json!({ "edits": [entry("d/f", "one"), entry("d/g", "other")] }))?;
        undo(h)
    }),
    ("a change after which a person gave more rights", |h| {
        edit(h)?;
        set_mode(h, "d/f", 0o666);
        undo(h)
    }),
    ("changes of several files after which a person gave more rights", |h| {
        edit(h)?;
        write(h, "d/g", "two\n")?;
        set_mode(h, "d/f", 0o666);
        to(h, "session")
    }),
    ("a deletion", |h| delete(h, "d/f").and_then(|()| undo(h))),
    ("a deletion, undone, done and undone again", |h| {
        delete(h, "d/f")?;
        undo(h)?;
        redo(h)?;
        undo(h)
    }),
    ("a deletion of a folder", |h| delete(h, "d").and_then(|()| undo(h))),
    ("a deletion in a patch", |h| patch(h, "*** Delete File: d/f\n").and_then(|()| undo(h))),
    ("a patch", |h| patch(h, "*** Update File: d/f\n@@\n-one\n+two\n").and_then(|()| undo(h))),
    ("a move in a patch", |h| {
        patch(h, "*** Update File: d/f\n*** Move to: moved\n")?;
        undo(h)
    }),
    ("a move with a change in a patch", |h| {
        patch(h, "*** Update File: d/f\n*** Move to: moved\n@@\n-one\n+two\n")?;
        undo(h)
    }),
    ("a deletion and a new file in a patch", |h| {
        patch(h, "*** Delete File: d/f\n*** Add File: d/f\n+two\n")?;
        undo(h)
    }),
    ("a patch of two files, undone, done and undone again", |h| {
        patch(h, "*** Delete File: d/f\n*** Update File: d/g\n@@\n-other\n+two\n")?;
        undo(h)?;
        redo(h)?;
        undo(h)
    }),
    ("a move", |h| {
        call(h, "move", json!({ "source": "d/f", "destination": "moved" }))?;
        undo(h)
    }),
    ("a move of a folder", |h| {
        call(h, "move", json!({ "source": "d", "destination": "moved" }))?;
        undo(h)
    }),
    ("a move over it", |h| {
        call(h, "move", json!({ "source": "d/g", "destination": "d/f", "overwrite": true }))?;
        undo(h)
    }),
    ("a copy over it", |h| {
        call(h, "copy", json!({ "source": "d/g", "destination": "d/f", "overwrite": true }))?;
        undo(h)
    }),
    ("to=session after an edit", |h| edit(h).and_then(|()| to(h, "session"))),
    ("to=session after a deletion", |h| delete(h, "d/f").and_then(|()| to(h, "session"))),
    ("to=session after a deletion in a patch", |h| {
        patch(h, "*** Delete File: d/f\n")?;
        to(h, "session")
    }),
    ("to=session after another file has the name", |h| {
        delete(h, "d/f")?;
        write(h, "d/f", "new\n")?;
        to(h, "session")
    }),
    ("to=session after another file with the same content has the name", |h| {
        delete(h, "d/f")?;
        write(h, "d/f", "one\n")?;
        to(h, "session")
    }),
    ("to=session after a move and another file", |h| {
        call(h, "move", json!({ "source": "d/f", "destination": "moved" }))?;
        write(h, "d/f", "new\n")?;
        delete(h, "moved")?;
        to(h, "session")
    }),
    ("to=session after another folder has the name", |h| {
        delete(h, "d")?;
        write(h, "d/f", "new\n")?;
        to(h, "session")
    }),
    ("to=NAME after another file has the name", |h| {
        write(h, "d/g", "more\n")?;
        call(h, "delete", json!({ "path": "d/f", "checkpoint": "here" }))?;
        write(h, "d/f", "new\n")?;
        to(h, "here")
    }),
    ("to=NAME, taken back and repeated", |h| {
        call(h, "delete", json!({ "path": "d", "recursive": true, "checkpoint": "here" }))?;
        write(h, "d/f", "new\n")?;
        to(h, "here")?;
        undo(h)?;
        to(h, "here")
    }),
    ("undo of another session's deletion", |h| {
        delete(h, "d/f")?;
        h.restart();
        call(h, "undo", json!({ "path": "d/f" }))
    }),
    ("undo of another session's patch", |h| {
        patch(h, "*** Delete File: d/f\n*** Delete File: d/g\n")?;
        h.restart();
        call(h, "undo", json!({ "path": "d/f" }))
    }),
    ("restore --to", |h| {
        command(h, &["history", "checkpoint", "before"]);
        delete(h, "d/f")?;
        write(h, "d/f", "new\n")?;
        command(h, &["history", "restore", "--to", "before", "--include-others"]);
        Some(())
    }),
    ("restore --to of a folder", |h| {
        command(h, &["history", "checkpoint", "before"]);
        delete(h, "d")?;
        write(h, "d/f", "new\n")?;
        command(h, &["history", "restore", "--to", "before", "--include-others"]);
        Some(())
    }),
    ("restore of a deleted file", |h| {
        delete(h, "d/f")?;
        command(h, &["history", "restore", "d/f"]);
        Some(())
    }),
    ("restore of a file in whose place is another", |h| {
        delete(h, "d/f")?;
        write(h, "d/f", "new\n")?;
        command(h, &["history", "restore", "d/f"]);
        Some(())
    }),
    ("restore of a deleted folder", |h| {
        delete(h, "d")?;
        command(h, &["history", "restore", "d"]);
        Some(())
    }),
];

fn prepared(prepare: Prepare) -> Option<Harness> {
    let selection = Selection { groups: vec![Group::Manage, Group::Patch], ..Selection::default() };
    let settings = Settings { read_before_write: ReadBeforeWrite::Off, ..Settings::default() };
    let h = Setup { selection, settings, state: true, ..Setup::default() }.open();
    h.write("d/f", "one\n");
    h.write("d/g", "other\n");
    prepare(&h).then_some(h)
}

/// What comes of each way with one kind of rights: the ways after which something is wider, and those after which
/// something is not what it was.
fn gone_all_ways(kind: &str, prepare: Prepare) -> [Vec<String>; 2] {
    let mut found: [Vec<String>; 2] = Default::default();
    for (way, go) in WAYS {
        let Some(h) = prepared(prepare) else {
            println!("SKIPPED: the file system has no {kind}");
            break;
        };
        let (before, content) = (rights(&h), h.bytes("d/f"));
        if go(&h).is_none() {
            println!("SKIPPED: {kind} refuses {way}");
            continue;
        }
        assert_eq!(h.bytes("d/f"), content, "{way} of {kind}");
        let after = rights(&h);
        let wider = wider(&before, &after);
        if !wider.is_empty() {
            found[0].push(format!("{way} of {kind}: {wider:?}"));
        }
        if after != before {
            found[1].push(format!("{way} of {kind}"));
        }
    }
    found
}

#[test]
fn rights_are_what_they_were_after_any_way_of_going_back() {
    let found: Vec<[Vec<String>; 2]> = thread::scope(|scope| {
        let started: Vec<_> =
            RIGHTS.iter().map(|(kind, prepare)| scope.spawn(|| gone_all_ways(kind, *prepare))).collect();
        started.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    let [mut wider, other]: [BTreeSet<String>; 2] =
        [0, 1].map(|at| found.iter().flat_map(|both| both[at].clone()).collect());
    // By who may do what the person has given more, before the undo: the bits without the ACL are the same.
    wider.retain(|found| !found.contains("after which a person gave more rights of an ACL against a user"));
    assert!(wider.is_empty(), "{}: {wider:#?}", wider.len());
    assert!(other.is_empty(), "these are not what they were: {other:#?}");
}

#[test]
fn directory_whose_rights_a_person_has_narrowed_has_them_after_undo_and_redo() {
    let is_private = |h: &Harness, path: &str| assert_eq!(Rights::of(&h.path(path)).mode, 0o700, "{path}");
    for (tool, arguments, made) in [
        ("mkdir", json!({ "path": "k" }), "k"),
        ("mkdir", json!({ "path": "k/l" }), "k/l"),
        ("write", json!({ "path": "k/f", "content": "x\n" }), "k"),
        ("copy", json!({ "source": "d", "destination": "k/d" }), "k/d"),
    ] {
        let h = prepared(|_| true).expect("no rights are asked for");
        h.call(tool, arguments).ok();
        set_mode(&h, made, 0o700);
        h.call("undo", json!({})).ok();
        h.call("undo", json!({ "to": "redo" })).ok();
        is_private(&h, made);
        h.call("undo", json!({ "to": "session" })).ok();
        h.call("undo", json!({})).ok();
        is_private(&h, made);
    }
}

#[test]
fn directory_that_is_missing_above_what_comes_back_has_the_rights_that_it_had() {
    let h = prepared(|_| true).expect("no rights are asked for");
    h.call("write", json!({ "path": "k/f", "content": "x\n" })).ok();
    set_mode(&h, "k", 0o700);
    h.call("undo", json!({})).ok();
    assert!(!h.path("k").exists());
    h.call("undo", json!({ "to": "redo" })).ok();
    assert_eq!(Rights::of(&h.path("k")).mode, 0o700);
}
