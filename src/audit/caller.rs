//! Who called, as far as the client says so. Anybody can say anything: no right depends on it.

use std::borrow::Cow;

use serde_json::{Map, Value};
use text_file::shorten;

use confined_fs::escape_controls;

/// Characters of a thread's or user's name that a line shows.
const SHOWN: usize = 128;

/// How clients spell the thread and the user in a request's `_meta`, the first that is there counting.
const THREAD: &[&str] = &["thread_id", "threadId", "thread", "rootbound/thread"];
const USER: &[&str] = &["user_id", "userId", "user", "rootbound/user"];
/// The same as headers, in upper or lower case: an interceptor of `deerflow` sets headers, which a stdio server gets as
/// `_meta.headers`
/// (<https://github.com/bytedance/deer-flow/blob/main/backend/docs/MCP_SERVER.md#custom-tool-interceptors>).
const THREAD_HEADERS: &[&str] = &["x-thread-id", "x-deerflow-thread-id", "thread-id", "thread_id"];
const USER_HEADERS: &[&str] = &["x-user-id", "x-deerflow-user-id", "x-deerflow-owner-user-id", "user-id", "user_id"];

/// Who called, and what.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Name and version, as the client says.
    pub client: Option<(String, String)>,
    /// The request's id.
    pub request: String,
    /// The conversation, as the request's `_meta` says.
    pub thread: Option<String>,
    /// The person, as the request's `_meta` says.
    pub user: Option<String>,
}

impl Caller {
    /// The caller of the request `request` with this `_meta`.
    pub fn new(client: Option<(String, String)>, request: String, meta: &Map<String, Value>) -> Self {
        let headers = meta.get("headers").and_then(Value::as_object);
        let find = |keys: &[&str], in_headers: &[&str]| {
            let own = keys.iter().find_map(|key| name(meta.get(*key)?));
            own.or_else(|| {
                let headers = headers?;
                let is_it = |given: &str, key: &str| given.eq_ignore_ascii_case(key);
                in_headers.iter().find_map(|key| name(headers.iter().find(|(given, _)| is_it(given, key))?.1))
            })
        };
        Self { thread: find(THREAD, THREAD_HEADERS), user: find(USER, USER_HEADERS), client, request }
    }

    /// Who made a change, in the words of a sentence, where the request says so.
    pub fn named(&self) -> Option<String> {
        let thread = self.thread.as_ref().map(|thread| format!("thread {thread}"));
        thread.or_else(|| self.user.as_ref().map(|user| format!("user {user}")))
    }
}

/// A name in one line of bounded length; none for what is no name.
fn name(value: &Value) -> Option<String> {
    let text: Cow<'_, str> = match value {
        Value::String(text) => text.trim().into(),
        Value::Number(number) => number.to_string().into(),
        _ => return None,
    };
    (!text.is_empty()).then(|| escape_controls(&shorten(&text, SHOWN)).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(meta: &Value) -> (Option<String>, Option<String>) {
        let caller = Caller::new(None, "1".into(), meta.as_object().expect("an object"));
        (caller.thread, caller.user)
    }

    #[test]
    fn every_documented_spelling_is_found() {
        for key in THREAD {
            assert_eq!(of(&json!({ *key: "t1" })), (Some("t1".into()), None), "{key}");
        }
        for key in USER {
            assert_eq!(of(&json!({ *key: 7 })), (None, Some("7".into())), "{key}");
        }
        for key in THREAD_HEADERS {
            assert_eq!(of(&json!({ "headers": { key.to_uppercase(): "t" } })).0, Some("t".into()), "{key}");
        }
        for key in USER_HEADERS {
            assert_eq!(of(&json!({ "headers": { *key: "u" } })).1, Some("u".into()), "{key}");
        }
        let both = json!({ "user_id": "", "user": "own", "headers": { "X-User-Id": "header" } });
        assert_eq!(of(&both).1, Some("own".into()));
    }

    #[test]
    fn what_is_no_name_is_ignored_and_long_or_hidden_text_is_cut_and_escaped() {
        for wrong in [json!(null), json!([1]), json!({"a": 1}), json!(true), json!(" "), json!("")] {
            assert_eq!(of(&json!({ "thread_id": wrong, "headers": wrong })), (None, None), "{wrong}");
        }
        let hostile = of(&json!({ "thread_id": "x".repeat(1 << 20), "user_id": "a\u{202e}b\u{1b}[2J" }));
        assert_eq!(hostile.0.expect("shown").chars().count(), SHOWN + 1);
        assert_eq!(hostile.1.as_deref(), Some("a\\u{202e}b\\u{1b}[2J"));
    }
}
