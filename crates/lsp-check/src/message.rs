//! One message of a server, read no further than its kind.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// What a server sent. What is inside is read by whoever needs it.
#[derive(Debug)]
pub(super) enum Incoming<'m> {
    /// The answer to a request: a result, or an error.
    Response { id: u64, result: Option<&'m RawValue>, error: Option<&'m RawValue> },
    /// A request, which must be answered.
    Request { id: &'m RawValue, method: Cow<'m, str>, params: Option<&'m RawValue> },
    /// A message without an answer.
    Notification { method: Cow<'m, str>, params: Option<&'m RawValue> },
}

#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

impl<'m> Incoming<'m> {
    /// The message of a body; `None` if it is none.
    pub(super) fn read(body: &'m [u8]) -> Option<Self> {
        let Envelope { id, method, params, result, error } = serde_json::from_slice(body).ok()?;
        match (id, method) {
            (Some(id), Some(method)) => Some(Self::Request { id, method, params }),
            (None, Some(method)) => Some(Self::Notification { method, params }),
            (Some(id), None) => {
                // A result of null is none here; only the answers that must have one are looked at.
                let result = result.filter(|_| error.is_none());
                // No request that is waited for has the number 0.
                Some(Self::Response { id: id.get().parse().unwrap_or_default(), result, error })
            }
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_messages_are_distinguished() {
        let read = |body: &'static str| format!("{:?}", Incoming::read(body.as_bytes()));
        assert!(read(r#"{"id":3,"result":{}}"#).contains("Response { id: 3, result: Some"));
        assert!(read(r#"{"id":"x","result":{}}"#).contains("Response { id: 0"));
        assert!(read(r#"{"id":3,"error":{"code":1}}"#).contains("result: None"));
        assert!(read(r#"{"id":"x","method":"a/b","params":[]}"#).contains("Request"));
        assert!(read(r#"{"method":"a\u0062"}"#).contains("Notification { method: \"ab\""));
        for none in ["", "1", "{}", "[]", "{\"method\":1}", "\u{0}"] {
            assert_eq!(read(none), "None", "{none:?}");
        }
        let deep: &'static str =
            Box::leak(format!("{{\"method\":\"x\",\"params\":{}", "[".repeat(100_000)).into_boxed_str());
        assert_eq!(read(deep), "None");
    }
}
