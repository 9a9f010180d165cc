//! The files that a server has open, with the text that it was sent last.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    time::Instant,
};

use serde_json::{Value, json};

/// Files that are open at once; the least recently changed is closed for a further one.
const MAX_OPEN: usize = 32;

/// One open file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) version: i64,
    pub(super) sent: Instant,
    /// When the diagnostics of this version that have arrived were asked for.
    pub(super) pulled: Option<Instant>,
    /// Whether a request for them is under way, and since when.
    pub(super) pulling: Option<Instant>,
    /// When the server answered a request that was sent after this version.
    pub(super) passed: Option<Instant>,
    text: u64,
}

/// The open files by URI; returns the messages that keep the copies of the server current.
#[derive(Debug, Default)]
pub(super) struct Documents(HashMap<String, Document>);

impl Documents {
    pub(super) fn get(&self, uri: &str) -> Option<&Document> {
        self.0.get(uri)
    }

    pub(super) fn get_mut(&mut self, uri: &str) -> Option<&mut Document> {
        self.0.get_mut(uri)
    }

    pub(super) fn uris(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.0.values_mut()
    }

    /// The messages after which the server has `text` as the content of a file; none if it has it already.
    pub(super) fn put(&mut self, uri: &str, language: &str, text: &str, now: Instant) -> Vec<Value> {
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(text);
        if let Some(document) = self.0.get_mut(uri) {
            if document.text == hash {
                return Vec::new();
            }
            let version = document.version + 1;
            *document = Document { version, sent: now, pulled: None, pulling: None, passed: None, text: hash };
            let file = json!({ "uri": uri, "version": version });
            let params = json!({ "textDocument": file, "contentChanges": [{ "text": text }] });
            return vec![notification("textDocument/didChange", &params)];
        }
        let mut messages = Vec::new();
        if self.0.len() >= MAX_OPEN
            && let Some(oldest) = self.0.iter().min_by_key(|(_, document)| document.sent).map(|(uri, _)| uri.clone())
        {
            messages.extend(self.close(&oldest));
        }
        let document = Document { version: 1, sent: now, pulled: None, pulling: None, passed: None, text: hash };
        self.0.insert(uri.to_owned(), document);
        let file = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        messages.push(notification("textDocument/didOpen", &json!({ "textDocument": file })));
        messages
    }

    /// The message that closes a file, if it is open.
    pub(super) fn close(&mut self, uri: &str) -> Option<Value> {
        self.0.remove(uri)?;
        Some(notification("textDocument/didClose", &json!({ "textDocument": { "uri": uri } })))
    }
}

/// A message without an answer.
pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_opened_changed_and_closed_for_others() {
        let (mut documents, now) = (Documents::default(), Instant::now());
        let methods = |messages: Vec<Value>| -> Vec<String> {
            messages.iter().map(|message| message["method"].as_str().unwrap().replace("textDocument/", "")).collect()
        };
        assert_eq!(methods(documents.put("a", "rust", "1", now)), ["didOpen"]);
        assert!(documents.put("a", "rust", "1", now).is_empty());
        assert_eq!(methods(documents.put("a", "rust", "2", now)), ["didChange"]);
        assert_eq!(documents.get("a").unwrap().version, 2);
        for number in 1..MAX_OPEN {
            assert_eq!(methods(documents.put(&number.to_string(), "rust", "1", Instant::now())), ["didOpen"]);
        }
        assert_eq!(methods(documents.put("x", "rust", "1", Instant::now())), ["didClose", "didOpen"]);
        assert!(documents.get("a").is_none());
    }
}
