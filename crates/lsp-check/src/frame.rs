//! The frames of the protocol: headers, an empty line, a body.
//!
//! <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol>

/// Bytes of the longest headers: two short lines are usual.
const LONGEST_HEADERS: usize = 4096;
/// Bytes of the longest body; the diagnostics of a file with thousands of errors have less than one.
const LONGEST_BODY: usize = 4 << 20;

/// Why what a server sent is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameError {
    /// No header with a length.
    Headers,
    /// A body that is too long.
    TooLong,
}

/// Puts frames together from pieces of any size.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    buffer: Vec<u8>,
}

impl FrameReader {
    /// Adds what was read; call [`Self::next_body`] until it has no more.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next body, if it is complete.
    pub(super) fn next_body(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(end) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") else {
            return if self.buffer.len() > LONGEST_HEADERS { Err(FrameError::Headers) } else { Ok(None) };
        };
        if end > LONGEST_HEADERS {
            return Err(FrameError::Headers);
        }
        let headers = std::str::from_utf8(&self.buffer[..end]).map_err(|_| FrameError::Headers)?;
        let length = headers.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let length = length.ok_or(FrameError::Headers)?;
        if length > LONGEST_BODY {
            return Err(FrameError::TooLong);
        }
        let body = end + 4;
        if self.buffer.len() < body + length {
            return Ok(None);
        }
        let rest = self.buffer.split_off(body + length);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.drain(..body);
        Ok(Some(frame))
    }
}

/// A message as it is sent.
pub(super) fn framed(message: &serde_json::Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bodies(pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, FrameError> {
        let mut reader = FrameReader::default();
        let mut found = Vec::new();
        for piece in pieces {
            reader.push(piece);
            while let Some(body) = reader.next_body()? {
                found.push(body);
            }
        }
        Ok(found)
    }

    #[test]
    fn frames_come_out_whole_however_they_are_cut() {
        let sent = b"Content-Length: 2\r\n\r\n{}content-type: x\r\nCONTENT-LENGTH:  3 \r\n\r\n[1]";
        let each: Vec<&[u8]> = sent.chunks(1).collect();
        let expected = Ok(vec![b"{}".to_vec(), b"[1]".to_vec()]);
        assert_eq!(bodies(&[sent]), expected);
        assert_eq!(bodies(&each), expected);
    }

    #[test]
    fn what_is_no_frame_or_too_long_is_refused() {
        for sent in ["{}\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: x\r\n\r\n", ": 2\r\n\r\n{}"] {
            assert_eq!(bodies(&[sent.as_bytes()]), Err(FrameError::Headers), "{sent:?}");
        }
        assert_eq!(bodies(&[&[b'x'; LONGEST_HEADERS + 1]]), Err(FrameError::Headers));
        assert_eq!(bodies(&[b"Content-Length: 99999999999\r\n\r\n"]), Err(FrameError::TooLong));
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_refused(pieces in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                Just(b"Content-Length: ".to_vec()), Just(b"\r\n\r\n".to_vec()), Just(b"12".to_vec()),
            ], 0..12)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = bodies(&pieces);
        }
    }
}
