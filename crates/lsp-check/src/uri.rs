//! `file:` URIs of the host, in one spelling: servers encode more or fewer characters than they were sent.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI of an absolute path.
pub(super) fn file_uri(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_encoded_bytes(), KEPT))
}

/// The same URI in this spelling.
pub(super) fn respelled(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    format!("file://{}", percent_encode(&bytes, KEPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_one_file_are_one_text() {
        let own = file_uri(Path::new("/a b/c+d@e/ü.rs"));
        assert_eq!(own, "file:///a%20b/c%2Bd%40e/%C3%BC.rs");
        assert_eq!(respelled("file:///a%20b/c+d%40e/%c3%bc.rs"), own);
        assert_eq!(respelled("untitled:x"), "untitled:x");
    }
}
