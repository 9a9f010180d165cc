//! Hard links: a write in place would change the file outside (openclaw#26051).

use serde_json::json;

use super::{Case, Expect, case};

pub(super) fn hard_links() -> Vec<Case> {
    const DONE: Expect = Expect::Answers("");
    vec![
        case("a hard link is read", "read", json!({ "path": "app/hard.txt" }), Expect::Answers("hard linked")),
        case(
            "an edit leaves the other name alone",
            "edit",
            json!({ "path": "app/hard.txt", "old_string": "hard", "new_string": "soft" }),
            DONE,
        )
        .writes(),
        case(
            "append likewise",
            "write",
            json!({ "path": "app/hard.txt", "content": "more\n", "mode": "append" }),
            DONE,
        )
        .writes(),
        case("overwrite likewise", "write", json!({ "path": "app/hard.txt", "content": "new\n" }), DONE).writes(),
    ]
}
