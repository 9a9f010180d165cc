//! Calls of every tool, large ones above all.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::harness::Harness;

use super::tree::{FILES, LINES};

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// Whether the file that it changes was read as it is.
    seen: bool,
}

/// A file that is written again before each call.
const TARGET: &str = "edit/target.txt";
/// Lines of it.
const TARGET_LINES: usize = 400;

/// Makes what a call changes, so that each finds the same.
pub(super) fn prepare(h: &Harness, called: &Called) {
    if !["edit", "write", "undo", "delete", "copy", "move"].contains(&called.tool) {
        return;
    }
    let wide = "wide ünïcode \"line\" ".repeat(20);
    let line = |number| format!("{number} src/lib.rs same line\n{number} {wide}漢字\r\n");
    h.write(TARGET, (0..TARGET_LINES).map(line).collect::<String>());
    let _ = std::fs::remove_dir_all(h.path("new"));
    if called.seen {
        h.call("read", json!({ "path": TARGET }));
    }
}

/// `arguments` without those that are null.
fn given(arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    Value::Object(arguments.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

fn maybe<T: Clone + std::fmt::Debug + 'static>(values: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop_oneof![2 => Just(None), 1 => values.prop_map(Some)]
}

fn read() -> impl Strategy<Value = Value> {
    let lines = i64::try_from(LINES).expect("fits");
    let path = || select(FILES);
    prop_oneof![
        path().prop_map(|path| json!({ "path": path })),
        (path(), -lines..lines, 1..5000_i64)
            .prop_map(|(path, offset, limit)| json!({ "path": path, "offset": offset, "limit": limit })),
        (path(), 1..lines, 0..5000_i64)
            .prop_map(|(path, start, more)| json!({ "path": path, "start_line": start, "end_line": start + more })),
        (path(), 1..3000_i64, 0..100_000_i64).prop_map(
            |(path, first, more)| json!({ "path": path, "part": format!("columns {first}-{}", first + more) })
        ),
        select(&["main", "large", "nowhere", "small_3"][..])
            .prop_map(|name| json!({ "path": "text/code.rs", "part": format!("def {name}") })),
        prop::collection::vec(entry(), 1..=20).prop_map(|paths| json!({ "paths": paths })),
    ]
}

/// One of `paths`.
fn entry() -> impl Strategy<Value = String> {
    let lines = i64::try_from(LINES).expect("fits");
    let path = || select(FILES).prop_map(str::to_owned);
    prop_oneof![
        3 => path(),
        1 => (path(), 1..lines).prop_map(|(path, start)| format!("{path}:{start}-")),
        1 => select(&["many", "names", ".env", "text/nowhere", "text/code.rs:def large"][..]).prop_map(str::to_owned),
    ]
}

fn grep() -> impl Strategy<Value = Value> {
    let pattern = select(&["needle", "e", "^", "\\w+", "漢|é", "needle in a long name", "nowhere at all"][..]);
    let path =
        select(&["text", "many", "names", "deep", "odd", "text/plain.rs", "text/cjk.txt", "text/control.txt"][..]);
    let mode = select(&["content", "files_with_matches", "files_without_match", "count", "definitions"][..]);
    let context = maybe(0..=50_i64);
    (pattern, maybe(path), maybe(mode), context, maybe(1..=500_i64), maybe(0..3000_i64), any::<bool>()).prop_map(
        |(pattern, path, output_mode, context, max_results, offset, no_ignore)| {
            given(json!({
                "pattern": pattern, "path": path, "output_mode": output_mode, "context": context,
                "max_results": max_results, "offset": offset, "no_ignore": no_ignore,
            }))
        },
    )
}

fn glob() -> impl Strategy<Value = Value> {
    let pattern = select(&["**", "*.txt", "*名*", "long_name*", "**/g.rs", "nowhere*"][..]);
    (pattern, maybe(any::<bool>()), maybe(1..=1000_i64), maybe(0..1500_i64), any::<bool>()).prop_map(
        |(pattern, include_dirs, max_results, offset, no_ignore)| {
            given(json!({
                "pattern": pattern, "include_dirs": include_dirs, "max_results": max_results, "offset": offset,
                "no_ignore": no_ignore, "sort": "path",
            }))
        },
    )
}

fn ls() -> impl Strategy<Value = Value> {
    let path = select(&["many", "wide", "names", "deep", "odd", "text", "many/file_0001.txt"][..]);
    let more = (any::<bool>(), maybe(0..600_i64));
    (maybe(path), maybe(1..=9_i64), maybe(1..=2500_i64), any::<bool>(), more).prop_map(
        |(path, depth, max_results, no_ignore, (long, offset))| {
            given(json!({
                "path": path, "depth": depth, "max_results": max_results, "no_ignore": no_ignore, "long": long,
                "offset": offset,
            }))
        },
    )
}

/// Text of up to some 20,000 characters.
fn large() -> impl Strategy<Value = String> {
    let piece = select(&["same line", "needle\n", "漢字", "\\\"", "\u{1}", "src/lib.rs ", "x"][..]);
    (piece, 1..2000_usize).prop_map(|(piece, count)| piece.repeat(count))
}

fn edit() -> impl Strategy<Value = Value> {
    let with = |old: &str, new: String, all: bool| json!({ "path": TARGET, "old_string": old, "new_string": new, "replace_all": all });
    prop_oneof![
        large().prop_map(move |new| with("17 src/lib.rs same line", new, false)),
        large().prop_map(move |new| with("same line", new, true)),
        large().prop_map(move |new| with("same line", new, false)),
        (large(), large()).prop_map(move |(old, new)| with(&format!("{old}?"), new, false)),
        large().prop_map(|new| {
            json!({ "path": TARGET, "dry_run": true, "edits": [
                { "old_string": "3 src/lib.rs", "new_string": new }, { "old_string": "7 src/lib.rs", "new_string": "" },
            ] })
        }),
    ]
}

/// Names that are long and not there.
fn nowhere() -> impl Strategy<Value = String> {
    let piece = select(&["d/", "long_name_", "漢", "\u{1}", "many/file_", "../"][..]);
    (piece, 1..500_usize).prop_map(|(piece, count)| piece.repeat(count))
}

fn faulty() -> impl Strategy<Value = (&'static str, Value)> {
    let tool = select(&["read", "ls", "glob", "grep", "edit", "write", "delete", "move", "copy", "mkdir", "undo"][..]);
    prop_oneof![
        (tool.clone(), nowhere()).prop_map(|(tool, path)| {
            (tool, json!({
                "path": path, "pattern": path, "old_string": path, "new_string": "", "content": path, "source": path,
                "destination": path,
            }))
        }),
        (tool, nowhere()).prop_map(|(tool, name)| (tool, json!({ name.as_str(): name, "path": [name] }))),
        nowhere().prop_map(|path| ("read", json!({ "path": path }))),
        nowhere().prop_map(|path| ("edit", json!({ "path": path, "old_string": "a", "new_string": path }))),
        nowhere().prop_map(|text| ("grep", json!({ "pattern": format!("({text}"), "glob": format!("[{text}") }))),
        nowhere().prop_map(|text| ("read", json!({ "path": "text/plain.rs", "encoding": text }))),
        nowhere().prop_map(|text| ("edit", json!({
            "path": TARGET, "old_string": "a", "new_string": "b", "expected_revision": text,
        }))),
    ]
}

fn manage() -> impl Strategy<Value = (&'static str, Value)> {
    // Wine cannot remove a tree of hundreds of levels afterwards.
    let most = if cfg!(windows) { 90 } else { usize::MAX };
    let to = move || {
        nowhere()
            .prop_map(move |path| format!("new/{}", path.replace("../", "up/").chars().take(most).collect::<String>()))
    };
    prop_oneof![
        to().prop_map(|path| ("mkdir", json!({ "path": path }))),
        to().prop_map(|path| ("copy", json!({ "source": "names", "destination": path }))),
        to().prop_map(|path| ("copy", json!({ "source": TARGET, "destination": path }))),
        to().prop_map(|path| ("move", json!({ "source": TARGET, "destination": path }))),
        Just(("delete", json!({ "path": TARGET }))),
        Just(("undo", json!({}))),
    ]
}

/// Any call.
pub(super) fn call() -> impl Strategy<Value = Called> {
    let write = large().prop_map(|content| json!({ "path": TARGET, "content": content }));
    let called = prop_oneof![
        3 => read().prop_map(|arguments| ("read", arguments)),
        3 => grep().prop_map(|arguments| ("grep", arguments)),
        2 => glob().prop_map(|arguments| ("glob", arguments)),
        2 => ls().prop_map(|arguments| ("ls", arguments)),
        2 => edit().prop_map(|arguments| ("edit", arguments)),
        1 => write.prop_map(|arguments| ("write", arguments)),
        2 => faulty(),
        1 => manage(),
    ];
    (called, any::<bool>()).prop_map(|((tool, arguments), seen)| Called { tool, arguments, seen })
}
