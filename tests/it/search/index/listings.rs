//! Random calls of `ls`.

use serde_json::{Map, Value, json};

use super::comparison::{FOLDERS, Random};

/// The arguments of one.
pub(super) fn arguments(random: &mut Random) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut put = |key: &str, value: Value| {
        arguments.insert(key.to_owned(), value);
    };
    let path = random.pick(FOLDERS);
    if !path.is_empty() {
        put("path", json!(path));
    }
    put("depth", json!(random.below(5) + 1));
    put("sort", json!(random.pick(&["name", "name", "modified", "size"])));
    put("no_ignore", json!(random.chance(20)));
    put("long", json!(random.chance(30)));
    if random.chance(40) {
        put("max_results", json!(random.below(12) + 1));
        put("offset", json!(random.below(4)));
    }
    arguments
}
