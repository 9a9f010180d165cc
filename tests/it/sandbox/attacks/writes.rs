//! Replacement: no files left behind, no predictable temporary names, no inherited set-user-id.

use serde_json::json;

use super::{Barrier, Case, Expect, case, world::World};

/// Changes that a model may make; none affects anything else.
pub(super) fn cases() -> Vec<Case> {
    const DONE: Expect = Expect::Answers("");
    vec![
        case("create", "write", json!({ "path": "app/new.txt", "content": "one\n" }), DONE).writes(),
        case("create deep", "write", json!({ "path": "app/n1/n2/n3/new.txt", "content": "one\n" }), DONE).writes(),
        case("replace", "write", json!({ "path": "app/new.txt", "content": "two\n" }), DONE).writes(),
        case("append", "write", json!({ "path": "app/new.txt", "content": "three\n", "mode": "append" }), DONE)
            .writes(),
        case(
            "several edits, one wrong",
            "edit",
            json!({ "path": "app/new.txt", "edits": [
                { "old_string": "two", "new_string": "2" }, { "old_string": "no such", "new_string": "x" }] }),
            Expect::Fails(&["no_match"]),
        ),
        case(
            "an edit that would grow without end",
            "edit",
            json!({ "path": "app/long-line.txt", "old_string": "x", "new_string": "y".repeat(1 << 20), "replace_all": true }),
            Expect::Fails(&["too_large"]),
        ),
        case(
            "create where something is",
            "write",
            json!({ "path": "app/a.txt", "content": "x", "mode": "create" }),
            Expect::Fails(&["invalid_input", "stale"]),
        ),
        case("create below a file", "write", json!({ "path": "app/a.txt/b", "content": "x" }), NO_PLACE),
        case("create below a FIFO", "write", json!({ "path": "app/fifo/b", "content": "x" }), NO_PLACE),
        case(
            "a name that is too long",
            "write",
            json!({ "path": format!("app/{}", "n".repeat(300)), "content": "x" }),
            NO_PLACE,
        ),
        case("a name that is a slash", "write", json!({ "path": "app/x\\x2fy", "content": "x" }), NO_PLACE),
        case("an escaped dot-dot", "write", json!({ "path": "app/\\x2e\\x2e/zebra.txt", "content": "x" }), NO_PLACE),
    ]
}

const NO_PLACE: Expect = Expect::Fails(&["invalid_input", "not_found", "denied"]);

fn barriers() -> [Barrier; 3] {
    [Barrier::All, Barrier::Openat2, Barrier::Walk]
}

/// CVE-2026-46406: new content must not inherit the set-user-id bit.
#[test]
#[cfg(unix)] // Windows has no such bit
fn set_user_id_does_not_survive_a_replacement() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    for barrier in barriers() {
        let mut world = World::new(barrier);
        let tool = world.path("root/tool.sh");
        fs::write(&tool, "old\n").expect("a file");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o6755)).expect("a mode");
        let call = case("replace", "write", json!({ "path": "app/tool.sh", "content": "new\n" }), Expect::Answers(""));
        world.attack(&call.writes()).expect("an honest call");
        assert_eq!(fs::metadata(&tool).expect("it exists").permissions().mode() & 0o7777, 0o755, "{barrier:?}");
    }
}

#[test]
fn no_temporary_file_is_left_behind() {
    for barrier in barriers() {
        let mut world = World::new(barrier);
        for case in cases().into_iter().filter(World::has_what_it_needs) {
            world.attack(&case).unwrap_or_else(|error| panic!("{barrier:?}: {error}"));
        }
        let left: Vec<_> = world.picture().into_keys().filter(|path| path.to_string_lossy().contains(".tmp")).collect();
        assert!(left.is_empty(), "{barrier:?}: {left:?}");
    }
}
