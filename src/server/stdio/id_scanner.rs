//! Finds the id of a message that cannot be parsed: broken, or too long to keep.
//!
//! A byte-wise scan for the member `id` of the outermost object, bounded in memory. In broken input it finds an id that
//! is there as a whole, or nothing.

use rmcp::model::RequestId;

/// The longest id that is recovered, in bytes as written.
const LONGEST: usize = 256;

/// A scan over the bytes of one line, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next scalar of the outermost object is a value, not a key.
    at_value: bool,
    key_is_id: bool,
    /// The current key or the value of `id`, as written.
    token: Vec<u8>,
    overlong: bool,
    found: Option<RequestId>,
}

impl IdScanner {
    /// Scans the next piece.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    /// The id, if one was found whole.
    pub(super) fn finish(self) -> Option<RequestId> {
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                // An object or list is no id.
                self.overlong |= self.depth == 1;
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.member_ends();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && !self.at_value => {
                self.key_is_id = !self.overlong && self.token == b"\"id\"";
                self.at_value = true;
                self.token.clear();
                self.overlong = false;
            }
            b',' if self.depth == 1 => self.member_ends(),
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || (self.at_value && !self.key_is_id) {
            return;
        }
        if self.token.len() < LONGEST {
            self.token.push(byte);
        } else {
            self.overlong = true;
        }
    }

    fn member_ends(&mut self) {
        if self.at_value && self.key_is_id && !self.overlong {
            // The last one counts, as with parsers.
            self.found = serde_json::from_slice(&self.token).ok();
        }
        self.at_value = false;
        self.key_is_id = false;
        self.overlong = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<RequestId> {
        let mut whole = IdScanner::default();
        whole.feed(text.as_bytes());
        let mut bytewise = IdScanner::default();
        text.bytes().for_each(|byte| bytewise.feed(&[byte]));
        let found = whole.finish();
        assert_eq!(found, bytewise.finish(), "pieces must not matter");
        found
    }

    #[test]
    fn outermost_id_is_found_at_any_position() {
        assert_eq!(scan(r#"{"id":7,"method":"#), Some(RequestId::Number(7)));
        assert_eq!(scan(r#"{"method":"x","params":{"id":3,"a":[{"id":4}]},"id": 9 }"#), Some(RequestId::Number(9)));
        assert_eq!(scan(r#"{"id" : "a\"b,}" , "x": nonsense"#), Some(RequestId::String("a\"b,}".into())));
    }

    #[test]
    fn nested_broken_and_overlong_ids_are_not_found() {
        assert_eq!(scan(r#"{"method":"id","params":"\"id\":5,"}"#), None);
        assert_eq!(scan(r#"{"id":{"id":5},"x":1}"#), None);
        assert_eq!(scan(r#"{"id":null}"#), None);
        assert_eq!(scan(r#"{"id":12"#), None, "more digits may have followed");
        assert_eq!(scan(r#"hello "id": 5, }"#), None);
        assert_eq!(scan(&format!(r#"{{"id":"{}","x":1}}"#, "a".repeat(LONGEST))), None);
    }
}
