//! Whether bytes that come in pieces are UTF-8.
//!
//! Decides that and nothing else; a byte order mark of UTF-16 at the front settles it as fine, as
//! such a text is decoded by whoever reads it.

/// The bytes so far; see the module.
#[derive(Debug, Default)]
pub struct Utf8Check {
    /// The beginning of a character whose rest has not come.
    begun: Vec<u8>,
    started: bool,
    decoded: bool,
    invalid: bool,
}

impl Utf8Check {
    /// Looks at the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.started && !bytes.is_empty() {
            self.started = true;
            self.decoded = encoding_rs::Encoding::for_bom(bytes).is_some();
        }
        if self.decoded || self.invalid {
            return;
        }
        if self.begun.is_empty() {
            self.look(bytes);
            return;
        }
        // Three more bytes end any character.
        let (rest, after) = bytes.split_at(bytes.len().min(3));
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend_from_slice(rest);
        self.look(&joined);
        if self.begun.is_empty() || after.is_empty() {
            self.look_on(after);
        } else {
            // The three began another one.
            let mut joined = std::mem::take(&mut self.begun);
            joined.extend_from_slice(after);
            self.look(&joined);
        }
    }

    /// Whether all of it is UTF-8, or is decoded.
    pub fn is_valid(&self) -> bool {
        self.decoded || (!self.invalid && self.begun.is_empty())
    }

    fn look_on(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.look(bytes);
        }
    }

    fn look(&mut self, bytes: &[u8]) {
        if let Err(error) = str::from_utf8(bytes) {
            if error.error_len().is_some() {
                self.invalid = true;
            } else {
                self.begun = bytes[error.valid_up_to()..].to_vec();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]]) -> bool {
        let mut check = Utf8Check::default();
        for piece in pieces {
            check.push(piece);
        }
        check.is_valid()
    }

    #[test]
    fn the_answer_does_not_depend_on_the_pieces() {
        let texts: [&[u8]; 8] = [
            "plain and é, 日本語, 🦀🦀 end".as_bytes(),
            b"caf\xe9 au lait",
            b"caf\xe9",
            "🦀".as_bytes(),
            b"\xf0\x9f\xa6",
            b"a\x80b",
            b"\xff\xfea\0b\0",
            b"",
        ];
        for text in texts {
            let whole = check(&[text]);
            assert_eq!(whole, str::from_utf8(text).is_ok() || text.starts_with(b"\xff\xfe"), "{text:?}");
            // A mark that comes in two reads is no mark: readers hand over more than that.
            for size in 2..=text.len() {
                assert_eq!(check(&text.chunks(size).collect::<Vec<_>>()), whole, "{text:?} in pieces of {size}");
            }
        }
    }
}
