//! The tools that change the tree, planned and committed as the dispatcher does, on a temporary workspace.

use std::sync::Arc;

use change_set::{Approval, Workspace};
use confined_fs::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::session::Session;

use super::{AnswerBudget, CallContext, Content, Group, Kind, Plan, Preview, Selection, ToolError, Toolbox, undo};

struct Tools {
    _root: TempDir,
    cx: CallContext,
    toolbox: Toolbox,
}

impl Tools {
    /// An empty writable root.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let cx = CallContext::on(Workspace::of_directory(root.path(), Access::ReadWrite));
        let toolbox = Toolbox::new(&Selection {
            groups: vec![Group::Manage, Group::Patch, Group::Watch],
            ..Selection::default()
        });
        Self { _root: root, cx, toolbox }
    }

    /// A root with these files, each of which counts as seen.
    fn with(files: &[(&str, &str)]) -> Self {
        let tools = Self::new();
        for (path, content) in files {
            tools.call("write", json!({ "path": path, "content": content })).unwrap();
        }
        tools
    }

    /// The same root, where nothing was seen yet.
    fn of_another_session(&self) -> Self {
        let cx = CallContext { session: Arc::new(Session::new(None)), ..self.cx.clone() };
        Self { cx, ..Self::new() }
    }

    fn plan(&self, tool: &str, arguments: Value) -> Result<Plan, ToolError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        self.toolbox.get(tool).unwrap().plan(&self.cx, arguments)
    }

    /// The text of the answer; a change is made.
    fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        let answer = match self.plan(tool, arguments)? {
            Plan::Answer(answer) => answer,
            Plan::Change(change) => change.commit(&self.cx, Approval::by_policy())?,
            Plan::Wait(wait) => panic!("{tool}: {}", wait.subject()),
        };
        let Some(Content::Text(text)) = answer.content.into_iter().next() else { panic!("{tool} answers with text") };
        Ok(text)
    }

    fn preview(&self, tool: &str, arguments: Value) -> Preview {
        match self.plan(tool, arguments).unwrap() {
            Plan::Change(change) => change.preview(),
            other => panic!("{tool} changes nothing: {other:?}"),
        }
    }

    fn fails(&self, tool: &str, arguments: Value, kind: Kind, said: &str) {
        let error = self.call(tool, arguments).unwrap_err();
        assert_eq!(error.kind(), kind, "{}", error.text());
        assert!(error.text().contains(said) && error.text().contains("\n\nhint: "), "{}", error.text());
    }

    /// The names below the root, one a line.
    fn names(&self) -> String {
        let listed = self.call("glob", json!({ "pattern": "**", "include_dirs": true, "sort": "path" })).unwrap();
        listed.lines().filter_map(|line| Some(line.split_once(". ")?.1)).collect::<Vec<_>>().join(" ")
    }

    fn content(&self, path: &str) -> String {
        let shown = self.call("read", json!({ "path": path })).unwrap();
        shown.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn planning_a_change_changes_nothing() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    for (tool, arguments, summary) in [
        ("copy", json!({ "source": "a.txt", "destination": "b.txt" }), "Copy a.txt"),
        ("delete", json!({ "path": "a.txt" }), "Delete a.txt"),
        ("delete", json!({ "paths": ["a.txt", "./a.txt"] }), "Delete a.txt"),
        ("mkdir", json!({ "path": "d" }), "Make the directory d"),
        ("move", json!({ "source": "a.txt", "destination": "b.txt" }), "Move a.txt"),
        ("undo", json!({}), "Delete a.txt"),
    ] {
        let preview = tools.preview(tool, arguments);
        assert!(preview.summary.starts_with(summary), "{}", preview.summary);
        assert_eq!(tools.names(), "a.txt", "{tool}");
    }
}

#[test]
fn copy_takes_a_directory_with_everything_in_it() {
    let tools = Tools::with(&[("d/a.txt", "one\n"), ("d/e/b.txt", "two\n")]);
    let text = tools.call("copy", json!({ "source": "d", "destination": "new/d" })).unwrap();
    assert!(text.starts_with("Copied d to new/d: 2 files"), "{text}");
    assert_eq!((tools.content("new/d/a.txt"), tools.content("new/d/e/b.txt")), ("one".into(), "two".into()));
    assert_eq!(tools.content("d/a.txt"), "one");
}

#[test]
fn copy_and_move_replace_a_file_only_with_overwrite() {
    let tools = Tools::with(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    for tool in ["copy", "move"] {
        let arguments = json!({ "source": "a.txt", "destination": "b.txt" });
        tools.fails(tool, arguments, Kind::InvalidInput, "b.txt already exists");
    }
    tools.call("copy", json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true })).unwrap();
    assert_eq!(tools.content("b.txt"), "one");
    tools.call("move", json!({ "source": "a.txt", "destination": "c.txt", "overwrite": true })).unwrap();
    assert_eq!((tools.content("c.txt"), tools.names()), ("one".into(), "b.txt c.txt".into()));
}

#[test]
fn copy_and_move_refuse_a_missing_source_and_a_destination_in_it() {
    let tools = Tools::with(&[("d/a.txt", "one\n")]);
    for tool in ["copy", "move"] {
        tools.fails(tool, json!({ "source": "x", "destination": "y" }), Kind::NotFound, "no such file or directory: x");
        tools.fails(tool, json!({ "source": "d", "destination": "d/e" }), Kind::InvalidInput, "into itself");
        tools.fails(tool, json!({ "source": "d/a.txt", "destination": "d" }), Kind::InvalidInput, "d is a directory");
        tools.fails(tool, json!({ "source": "d", "destination": "d" }), Kind::InvalidInput, "are both d");
    }
    assert_eq!(tools.names(), "d/ d/a.txt");
}

#[test]
fn moved_file_counts_as_seen_at_its_new_path() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    let text = tools.call("move", json!({ "source": "a.txt", "destination": "d/b.txt" })).unwrap();
    assert_eq!(text, "Moved a.txt to d/b.txt; created folder d/");
    tools.call("edit", json!({ "path": "d/b.txt", "old_string": "one", "new_string": "two" })).unwrap();
    assert_eq!((tools.content("d/b.txt"), tools.names()), ("two".into(), "d/ d/b.txt".into()));
}

#[test]
fn delete_of_a_directory_needs_recursive() {
    let tools = Tools::with(&[("d/a.txt", "one\n")]);
    tools.fails("delete", json!({ "path": "d" }), Kind::InvalidInput, "d is a directory and not empty (1 entry)");
    tools.fails("delete", json!({ "path": "x" }), Kind::NotFound, "no such file or directory: x");
    let text = tools.call("delete", json!({ "path": "d", "recursive": true })).unwrap();
    assert!(text.starts_with("Deleted d with 1 file; "), "{text}");
    assert_eq!(tools.names(), "");
}

#[test]
fn change_of_the_file_after_planning_is_noticed_at_the_commit() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    for (tool, arguments) in
        [("delete", json!({ "path": "a.txt" })), ("move", json!({ "source": "a.txt", "destination": "b.txt" }))]
    {
        let Plan::Change(change) = tools.plan(tool, arguments).unwrap() else { panic!("{tool} changes something") };
        let content = format!("changed before {tool}\n");
        tools.call("write", json!({ "path": "a.txt", "content": content })).unwrap();
        let error = change.commit(&tools.cx, Approval::by_policy()).unwrap_err();
        assert_eq!(error.kind(), Kind::Stale, "{tool}: {}", error.text());
        assert_eq!(tools.content("a.txt"), content.trim_end());
    }
}

#[test]
fn a_copy_over_a_file_is_refused_when_its_source_has_changed_since_it_was_planned() {
    let tools = Tools::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let arguments = json!({ "source": "a.txt", "destination": "b.txt", "overwrite": true });
    let Plan::Change(change) = tools.plan("copy", arguments).unwrap() else { panic!("copy changes something") };
    tools.call("write", json!({ "path": "a.txt", "content": "changed since\n" })).unwrap();
    let error = change.commit(&tools.cx, Approval::by_policy()).unwrap_err();
    assert_eq!(error.kind(), Kind::Stale, "{}", error.text());
    assert_eq!(tools.content("b.txt"), "two");
}

#[test]
fn a_patch_that_leaves_no_text_of_a_file_that_was_changed_elsewhere_is_refused() {
    let lines: String = (0..40).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let tools = Tools::with(&[("a.txt", &lines)]);
    let other = tools.of_another_session();
    other.content("a.txt");
    other.call("edit", json!({ "path": "a.txt", "old_string": "line 39", "new_string": "last" })).unwrap();
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.txt\n line 0\n-line 1\n+{}\n line 2\n*** End Patch",
        "\0".repeat(900)
    );
    let before = other.content("a.txt");
    let error = tools.call("apply_patch", json!({ "patch": patch })).unwrap_err();
    assert_eq!(error.kind(), Kind::Stale, "{}", error.text());
    assert_eq!(other.content("a.txt"), before);
}

#[test]
fn a_file_that_is_cut_among_several_counts_as_read_once() {
    let lines: String = (0..400).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let tools = Tools::with(&[("a.txt", &lines), ("b.txt", &lines)]);
    let cx = CallContext { budget: AnswerBudget::bytes(4_000), ..tools.of_another_session().cx };
    let tools = Tools { cx, ..Tools::new() };
    let text = tools.call("read", json!({ "paths": ["a.txt", "b.txt"] })).unwrap();
    assert!(text.contains("==> b.txt <==") && text.contains("line 1\n") && !text.contains("line 399"), "{text}");
    let path = tools.cx.workspace.resolve("a.txt").unwrap();
    assert_eq!(tools.cx.session.ledger.states(&path).reads, 1);
    let cut = CallContext { budget: AnswerBudget::bytes(400), ..tools.cx.clone() };
    let tools = Tools { cx: cut, ..Tools::new() };
    tools.call("read", json!({ "path": "b.txt" })).unwrap();
    let path = tools.cx.workspace.resolve("b.txt").unwrap();
    assert_eq!(tools.cx.session.ledger.states(&path).reads, 2);
}

#[test]
fn mkdir_makes_missing_parents_and_accepts_a_directory_that_exists() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    let text = tools.call("mkdir", json!({ "path": "d/e/f" })).unwrap();
    assert_eq!(text, "Created d/e/f and 2 directories above it");
    assert!(tools.call("mkdir", json!({ "path": "d" })).is_ok());
    tools.fails("mkdir", json!({ "path": "a.txt" }), Kind::InvalidInput, "a.txt exists");
    assert_eq!(tools.names(), "a.txt d/ d/e/ d/e/f/");
}

#[test]
fn undo_reverts_each_change_the_last_one_first() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    tools.call("edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })).unwrap();
    tools.call("copy", json!({ "source": "a.txt", "destination": "b.txt" })).unwrap();
    tools.call("move", json!({ "source": "b.txt", "destination": "d/c.txt" })).unwrap();
    tools.call("mkdir", json!({ "path": "e" })).unwrap();
    tools.call("delete", json!({ "path": "a.txt" })).unwrap();
    for expected in ["a.txt d/ d/c.txt e/", "a.txt d/ d/c.txt", "a.txt b.txt", "a.txt"] {
        tools.call("undo", json!({})).unwrap();
        assert_eq!(tools.names(), expected);
    }
    assert_eq!(tools.content("a.txt"), "two");
    let text = tools.call("undo", json!({})).unwrap();
    assert!(text.starts_with("Reverted the last edit of a.txt, rev ") && text.ends_with(" (+1 -1 lines)"), "{text}");
    tools.call("undo", json!({})).unwrap();
    assert_eq!(tools.names(), "");
    tools.fails("undo", json!({}), Kind::NotFound, "no change");
}

#[test]
fn undo_refuses_what_has_changed_since() {
    let tools = Tools::with(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    tools.call("delete", json!({ "path": "a.txt" })).unwrap();
    tools.call("write", json!({ "path": "a.txt", "content": "new\n" })).unwrap();
    tools.call("undo", json!({ "path": "a.txt" })).unwrap();
    tools.call("undo", json!({ "path": "a.txt" })).unwrap();
    assert_eq!(tools.content("a.txt"), "one");
    tools.call("move", json!({ "source": "b.txt", "destination": "c.txt" })).unwrap();
    tools.call("mkdir", json!({ "path": "b.txt" })).unwrap();
    tools.fails("undo", json!({ "path": "c.txt" }), Kind::Stale, "another entry is at b.txt");
}

#[test]
fn delete_refuses_once_a_file_that_was_read_as_text_and_is_binary_by_now() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    let other = tools.of_another_session();
    other.call("read", json!({ "path": "a.txt" })).unwrap();
    other.call("write", json!({ "path": "a.txt", "content": "\0\u{1}\u{2}" })).unwrap();
    tools.fails("delete", json!({ "path": "a.txt" }), Kind::Binary, "has changed since it was read");
    tools.fails("move", json!({ "source": "b", "destination": "a.txt" }), Kind::NotFound, "no such file");
    tools.call("delete", json!({ "path": "a.txt" })).unwrap();
}

#[test]
fn restore_needs_a_revision_and_a_history() {
    let tools = Tools::with(&[("a.txt", "one\n")]);
    let error = undo::restore::restore(&tools.cx, "a.txt", Some("xyz")).unwrap_err();
    assert_eq!((error.kind(), error.text().contains("xyz")), (Kind::InvalidInput, true), "{}", error.text());
    let error = undo::restore::restore(&tools.cx, "a.txt", None).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{}", error.text());
    assert!(error.text().contains("the history has no content of a.txt"), "{}", error.text());
}
