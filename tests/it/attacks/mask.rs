//! `--secrets mask`: a secret file is shown, its values are not, by any call or in any other file.

use serde_json::{Value, json};

use super::{Barrier, Case, Expect, aliases, case, world::SECRET, world::World};

/// Calls that must fail, and leave the file and all others as they are.
fn refused() -> Vec<Case> {
    const INVALID: Expect = Expect::Fails(&["invalid_input"]);
    const DENIED: Expect = super::DENIED;
    let own = |name: &str, tool, arguments: Value, expect| case(format!("masked: {name}"), tool, arguments, expect);
    let write = |path: &str, content: &str| json!({ "path": path, "content": content });
    vec![
        own("the value as a name", "write", write("app/.env", "<secret:TOKEN>=1\n"), INVALID),
        own("the value within a name", "write", write("app/.env", "A_<secret:TOKEN>=1\n"), INVALID),
        own("the value as a section", "write", write("app/.env", "[<secret:TOKEN>]\n"), INVALID),
        own("half of it in quotes", "write", write("app/.env", "A=\"\nTOKEN=<secret:TOKEN>\nB=\"\n"), INVALID),
        own("a forged sentinel", "write", write("app/.env", "TOKEN=<secret:TOKEN.2>\n"), INVALID),
        own("an open sentinel", "write", write("app/.env", "TOKEN=<secret:TOKEN\n"), INVALID),
        own("another case", "write", write("app/.env", "TOKEN=<Secret:TOKEN>\n"), INVALID),
        own("a part of it", "edit", json!({ "path": "app/.env", "old_string": "<secret:", "new_string": "" }), INVALID),
        own("into a plain file", "write", write("app/a.txt", "<secret:TOKEN>\n"), INVALID),
        own(
            "appended",
            "write",
            json!({ "path": "app/a.txt", "content": "<secret:TOKEN>", "mode": "append" }),
            INVALID,
        ),
        own(
            "in UTF-16",
            "write",
            json!({ "path": "app/masked.txt", "content": "<secret:TOKEN>", "encoding": "utf-16le" }),
            INVALID,
        ),
        own("into another secret", "write", write("app/.env.new", "A=<secret:TOKEN>\n"), INVALID),
        own("copied", "copy", json!({ "path": "app/.env", "to": "app/masked.txt" }), DENIED),
        own("copied to a secret name", "copy", json!({ "path": "app/.env", "to": "app/.env.new" }), DENIED),
        own("moved", "move", json!({ "path": "app/.env", "to": "app/masked.txt" }), DENIED),
        own("moved under a public name", "move", json!({ "path": "app/.env", "to": "app/.env.example" }), DENIED),
        own("deleted", "delete", json!({ "path": "app/.env" }), DENIED),
        own("replaced by a copy", "copy", json!({ "path": "app/a.txt", "to": "app/.env", "overwrite": true }), DENIED),
    ]
}

/// Calls that show the file, by each of its names, and ask for its value.
fn shown() -> Vec<Case> {
    let reading = |case: &Case| matches!(case.tool, "read" | "ls" | "glob" | "grep");
    let by_alias = aliases::secrets().into_iter().filter(reading).map(|case| Case { expect: Expect::Harmless, ..case });
    let guesses = ["SECRET", "of-the", "inside$", "TOKEN=S", "TOKEN=.{20}$"].into_iter().flat_map(|pattern| {
        ["content", "count", "files_with_matches"].map(|mode| {
            let arguments =
                json!({ "path": "app/.env", "pattern": pattern, "case_sensitive": true, "output_mode": mode });
            case(format!("masked: guess {pattern} by {mode}"), "grep", arguments, Expect::Without("TOKEN="))
        })
    });
    by_alias
        .chain(guesses)
        .chain([
            case("masked: read", "read", json!({ "path": "app/.env" }), Expect::Answers("TOKEN=<secret:TOKEN>")),
            case("masked: ls", "ls", json!({ "path": "app/.env", "long": true }), Expect::Answers("[masked]")),
        ])
        .collect()
}

#[test]
fn no_call_shows_a_masked_value_or_moves_it() {
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        if cfg!(windows) && barrier != Barrier::All {
            continue;
        }
        let mut world = World::with(barrier, &["--secrets", "mask"]);
        let cases: Vec<Case> = shown().into_iter().chain(refused()).filter(World::has_what_it_needs).collect();
        let mut complaints: Vec<String> = cases.iter().filter_map(|case| world.attack(case).err()).collect();
        complaints.extend(world.compare().err());
        assert!(complaints.is_empty(), "{barrier:?}\n{}", complaints.join("\n"));
        let env = std::fs::read_to_string(world.path("root/.env")).expect("it is there");
        assert_eq!(env, format!("TOKEN={SECRET}\n"));
    }
}
