//! JSON: every string, number and word that is no key is a value.

use std::ops::Range;

use super::span::Span;

/// Levels of lists and objects.
const DEEPEST: usize = 128;

/// The values of the text; `None` if it is not JSON from beginning to end.
pub(super) fn scan(text: &str) -> Option<Vec<Span>> {
    let mut reader = Reader { text: text.as_bytes(), at: 0, spans: Vec::new() };
    reader.skip_space();
    if reader.at == text.len() {
        return Some(Vec::new());
    }
    reader.value("value", DEEPEST)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(reader.spans)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    spans: Vec<Span>,
}

impl Reader<'_> {
    /// One value below the key `name`.
    fn value(&mut self, name: &str, levels: usize) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        match self.text.get(self.at)? {
            b'{' => self.list(b'}', |reader| {
                let key = reader.string()?;
                let key = String::from_utf8_lossy(&reader.text[key.start + 1..key.end - 1]).into_owned();
                reader.skip_space();
                reader.take(b':')?;
                reader.skip_space();
                reader.value(&key, levels)
            }),
            b'[' => self.list(b']', |reader| reader.value(name, levels)),
            b'"' => {
                let range = self.string()?;
                self.spans.push(Span::quoted(range, name));
                Some(())
            }
            _ => {
                let start = self.at;
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                self.at += self.text[start..].iter().take_while(|byte| is_part(byte)).count();
                let word = &self.text[start..self.at];
                if !matches!(word, b"true" | b"false" | b"null") && !is_number(word) {
                    return None;
                }
                self.spans.push(Span::quoted(start..self.at, name));
                Some(())
            }
        }
    }

    /// What is between two brackets, with commas between.
    fn list(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.skip_space();
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            self.skip_space();
            item(self)?;
            self.skip_space();
            if self.take(close).is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                b'\\' => self.at += 2,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text[self.at..].iter().take_while(|byte| space(byte)).count();
    }
}

/// Whether a word is a number, by its beginning.
fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}
