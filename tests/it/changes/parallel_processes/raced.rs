//! What becomes of a change when another process, or another program, was there first.

use std::{fs, path::Path, sync::Arc, time::Duration};

use change_set::{Approval, StateDir, Workspace};
use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
use file_tools::{CallContext, Change, Kind, Plan, Selection, ToolError, Toolbox, session::Session};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A root, and the folder in which states are.
fn place(content: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("root")).unwrap();
    fs::write(folder.path().join("root/f"), content).unwrap();
    folder
}

fn content(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("root/f")).unwrap()
}

fn put(folder: &TempDir, content: &str) {
    fs::write(folder.path().join("root/f"), content).unwrap();
}

/// One process: its own workspace and session.
struct Caller {
    cx: CallContext,
    toolbox: Toolbox,
}

impl Caller {
    fn new(folder: &Path, state: &str) -> Self {
        let spec = RootSpec {
            name: None,
            path: folder.join("root"),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
            optional: false,
        };
        let workspace = Workspace::open(&[spec], WorkspaceOptions::default()).unwrap().workspace;
        let session = Session::new(Some(StateDir::open(&folder.join(state)).unwrap()));
        let limit = Duration::from_secs(300);
        let cx = CallContext::new(Arc::new(workspace), Arc::new(session), Arc::default(), Arc::default(), limit);
        Self { cx, toolbox: Toolbox::new(&Selection::default()) }
    }

    /// One that has read the file.
    fn reader(folder: &TempDir, state: &str) -> Self {
        let this = Self::new(folder.path(), state);
        this.read();
        this
    }

    fn read(&self) {
        let Ok(Plan::Answer(answer)) = self.planned("read", json!({ "path": "f" })) else { panic!("not read") };
        // As the dispatcher does before it answers.
        answer.sighting.iter().for_each(|sighting| self.cx.session.ledger.save(sighting));
    }

    fn planned(&self, tool: &str, arguments: Value) -> Result<Plan, ToolError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        self.toolbox.get(tool).unwrap().plan(&self.cx, arguments)
    }

    fn change(&self, tool: &str, arguments: Value) -> Box<dyn Change> {
        match self.planned(tool, arguments) {
            Ok(Plan::Change(change)) => change,
            other => panic!("{tool} is not a change: {other:?}"),
        }
    }

    fn commit(&self, change: Box<dyn Change>) -> Result<String, ToolError> {
        change.commit(&self.cx, Approval::by_policy()).map(|answer| format!("{answer:?}"))
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        match self.planned(tool, arguments)? {
            Plan::Change(change) => self.commit(change),
            Plan::Answer(answer) => Ok(format!("{answer:?}")),
            Plan::Wait(wait) => panic!("{tool}: {}", wait.subject()),
        }
    }
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "f", "old_string": old, "new_string": new })
}

fn append(text: &str) -> Value {
    json!({ "path": "f", "content": text, "mode": "append" })
}

fn overwrite(text: &str) -> Value {
    json!({ "path": "f", "content": text })
}

#[track_caller]
fn refused(result: Result<String, ToolError>, kind: Kind) {
    assert_eq!(result.unwrap_err().kind(), kind);
}

#[test]
fn an_edit_is_retried_if_another_program_wrote_after_the_check() {
    let far = "x\n".repeat(8);
    let folder = place(&format!("one\n{far}two\n"));
    let caller = Caller::reader(&folder, "a");
    let change = caller.change("edit", edit("two", "2"));
    put(&folder, &format!("zero\none\n{far}two\n"));
    caller.commit(change).unwrap();
    assert_eq!(content(&folder), format!("zero\none\n{far}2\n"));
    // Beside it, the change has to be seen first.
    let change = caller.change("edit", edit("2", "3"));
    put(&folder, &format!("zero\none\n{far}new\n2\n"));
    refused(caller.commit(change), Kind::Stale);
    put(&folder, "zero\none\n2\n");

    // Its place is gone, or there are two.
    for (now, kind) in [("zero\n", Kind::NoMatch), ("2\n2\n", Kind::Ambiguous)] {
        caller.read();
        let change = caller.change("edit", edit("2", "3"));
        put(&folder, now);
        refused(caller.commit(change), kind);
        assert_eq!(content(&folder), now);
        put(&folder, "zero\none\n2\n");
    }
}

#[test]
fn an_append_is_retried_and_an_overwrite_is_not() {
    let folder = place("one\n");
    let caller = Caller::reader(&folder, "a");
    let change = caller.change("write", append("two\n"));
    put(&folder, "another\n");
    caller.commit(change).unwrap();
    assert_eq!(content(&folder), "another\ntwo\n");

    // The append has shown nothing of what was there.
    caller.read();
    let change = caller.change("write", overwrite("mine\n"));
    put(&folder, "another one\n");
    refused(caller.commit(change), Kind::Stale);
    assert_eq!(content(&folder), "another one\n");

    // Two that append to a file which is not there: one makes it.
    fs::remove_file(folder.path().join("root/f")).unwrap();
    let other = Caller::new(folder.path(), "b");
    let changes = [caller.change("write", append("a\n")), other.change("write", append("b\n"))];
    for (caller, change) in [&caller, &other].into_iter().zip(changes) {
        caller.commit(change).unwrap();
    }
    assert_eq!(content(&folder), "a\nb\n");
}

#[test]
fn a_change_with_a_revision_or_an_approval_is_not_retried() {
    let folder = place("one\n");
    let caller = Caller::reader(&folder, "a");
    let revision = confined_fs::Revision::of(b"one\n").to_string();
    for (tool, mut arguments) in [("edit", edit("one", "1")), ("write", append("two\n"))] {
        let shown = caller.change(tool, arguments.clone());
        arguments["expected_revision"] = revision.clone().into();
        let exact = caller.change(tool, arguments);
        put(&folder, "one\nmore\n");
        refused(caller.commit(exact), Kind::Stale);
        let answer = shown.commit(&caller.cx, Approval::by_person());
        refused(answer.map(|answer| format!("{answer:?}")), Kind::Stale);
        assert_eq!(content(&folder), "one\nmore\n");
        put(&folder, "one\n");
    }
}

#[test]
fn a_change_of_another_server_with_the_same_state_may_be_edited_but_not_overwritten() {
    let folder = place("one\ntwo\n");
    let (first, second) = (Caller::reader(&folder, "a"), Caller::reader(&folder, "a"));
    first.call("edit", edit("one", "1")).unwrap();
    // Beside the change, once that is shown.
    refused(second.call("edit", edit("two", "2")), Kind::Stale);
    second.call("edit", edit("two", "2")).unwrap();
    assert_eq!(content(&folder), "1\n2\n");
    first.call("write", append("three\n")).unwrap();
    refused(second.call("write", overwrite("mine\n")), Kind::Stale);
    // Another program: the rule holds as ever.
    put(&folder, "1\n2\nthree\nfour\n");
    refused(second.call("edit", edit("2", "II")), Kind::Stale);
    second.read();
    second.call("edit", edit("2", "II")).unwrap();
    assert_eq!(content(&folder), "1\nII\nthree\nfour\n");
}

#[test]
fn a_change_of_a_server_with_another_state_must_be_read_before_an_edit() {
    let folder = place("one\ntwo\n");
    let (first, second) = (Caller::reader(&folder, "a"), Caller::reader(&folder, "b"));
    first.call("edit", edit("one", "1")).unwrap();
    refused(second.call("edit", edit("two", "2")), Kind::Stale);
    assert_eq!(content(&folder), "1\ntwo\n");
}

#[test]
fn an_append_follows_whatever_others_have_written() {
    let folder = place("one\n");
    let (first, second) = (Caller::reader(&folder, "a"), Caller::reader(&folder, "b"));
    first.call("write", append("two\n")).unwrap();
    second.call("write", append("three\n")).unwrap();
    put(&folder, &(content(&folder) + "four\n"));
    // A process for each call remembers the revision alone.
    Caller::new(folder.path(), "a").call("write", append("five\n")).unwrap();
    assert_eq!(content(&folder), "one\ntwo\nthree\nfour\nfive\n");
    put(&folder, "something else\n");
    for caller in ["a", "c"] {
        Caller::new(folder.path(), caller).call("write", append("x\n")).unwrap();
        // What the first one was shown counts once it has ended.
        refused(Caller::new(folder.path(), caller).call("write", overwrite("")), Kind::NotRead);
    }
    second.call("write", append("six\n")).unwrap();
    assert_eq!(content(&folder), "something else\nx\nx\nsix\n");
}

#[test]
#[cfg(unix)]
fn nothing_is_changed_in_a_directory_that_another_process_has_locked() {
    use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};

    let folder = place("one\n");
    let mut caller = Caller::reader(&folder, "a");
    let root = openat(CWD, folder.path().join("root"), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    flock(&root, FlockOperation::LockExclusive).unwrap();
    for (tool, arguments) in
        [("write", append("two\n")), ("edit", edit("one", "1")), ("write", json!({ "path": "new/g", "content": "x" }))]
    {
        let change = caller.change(tool, arguments);
        caller.cx.stop = confined_fs::stop::StopSignal::after(Duration::from_millis(20));
        refused(caller.commit(change), Kind::TimedOut);
        caller.cx.stop = confined_fs::stop::StopSignal::after(Duration::from_secs(300));
    }
    let names = || fs::read_dir(folder.path().join("root")).unwrap().count();
    assert_eq!((content(&folder).as_str(), names()), ("one\n", 1));
    flock(&root, FlockOperation::Unlock).unwrap();
    caller.call("edit", edit("one", "1")).unwrap();
    assert_eq!(content(&folder), "1\n");
}
