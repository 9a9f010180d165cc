//! Masks the values of a file with secrets: names and structure stay, each value becomes a sentinel.
//!
//! `DB_PASSWORD=hunter2` is shown as `DB_PASSWORD=<secret:DB_PASSWORD>`. A sentinel is made of the name before the value
//! and of nothing in the value: neither its length nor whether two values are equal can be read off it, and it is the
//! same in every process. The way back, [`MaskedText::restore`], puts the bytes of the value where the sentinel is.
//!
//! Errs on the side of masking: comments, continued lines and whatever is not understood in a file of lines become
//! sentinels as a whole, and a JSON, YAML or TOML file that is not understood to its end is not shown at all, nor is one
//! with a quote that is still open there.
//!
//! Limits: names, their order, the number of values and comments, and whether a value is empty are visible.

mod lines;
mod password_files;
mod sentinel;
pub(crate) mod span;

use std::{collections::HashSet, ops::Range};

use encoding_rs::Encoding;
use text_file::{Document, LineEnding, encode};

use crate::{json, toml, yaml};
use sentinel::{OPENER, sentinels, unique_name};
use span::{Slot, Span, is_disjoint};

pub use sentinel::{cuts_sentinel, new_sentinel};

/// How a file is written, as far as masking needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskFormat {
    /// `KEY=value` in lines, as in `.env`.
    Dotenv,
    /// Sections and `key = value`, as in `.aws/credentials`.
    Ini,
    /// JSON; with a comment it is not masked.
    Json,
    /// The block style of YAML, where flow collections are masked whole, or JSON.
    Yaml,
    /// TOML, line by line.
    Toml,
    /// `machine name login name password word`.
    Netrc,
    /// `host:port:database:user:password` in each line.
    Pgpass,
    /// `user:hash` in each line.
    Htpasswd,
    /// One value and nothing else.
    Whole,
}

/// A file with a sentinel for each value, and the values.
///
/// # Examples
/// ```
/// use structured_text::mask::{MaskFormat, MaskedText};
///
/// let masked = MaskedText::of(MaskFormat::Dotenv, b"PORT=80\nKEY=abc\n").unwrap();
/// assert_eq!(masked.bytes(), b"PORT=<secret:PORT>\nKEY=<secret:KEY>\n");
/// let changed = masked.restore(b"PORT=8080\nOLD=<secret:KEY>\n").unwrap();
/// assert_eq!(changed.real, b"PORT=8080\nOLD=abc\n");
/// assert_eq!(changed.shown, b"PORT=<secret:PORT>\nOLD=<secret:OLD>\n");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MaskedText {
    format: MaskFormat,
    layout: Wrapping,
    shown: Vec<u8>,
    values: Vec<Value>,
}

/// One value: the name in its sentinel, where it was and its bytes.
#[derive(Clone, PartialEq, Eq)]
struct Value {
    name: String,
    place: Slot,
    bytes: Vec<u8>,
}

/// The values of a masked text that was changed are in it again.
#[derive(Clone, PartialEq, Eq)]
pub struct RestoredText {
    /// The bytes for the file, with the values.
    pub real: Vec<u8>,
    /// As it is shown from then on.
    pub shown: Vec<u8>,
}

/// Why values cannot be put back into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// No value of the file has this sentinel.
    Unknown(String),
    /// The sentinel is not a whole value, or the value is of another kind of place.
    Misplaced(String),
    /// The text could be larger than any that is masked.
    TooManyValues,
    /// The text is no file of its format, or would not be shown as it is meant.
    Unmaskable,
}

/// The encoding around the text of a file: its byte-order mark, and whether it is UTF-16.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Wrapping {
    bom: bool,
    utf16: Option<&'static Encoding>,
}

impl MaskedText {
    /// Bytes of the largest file that is masked.
    pub const LARGEST: u64 = 32 << 20;
    /// Bytes of the largest value in it.
    pub const LARGEST_VALUE: usize = 32 << 10;
    /// Values of a file, as their sentinels may be longer than they are.
    const MAX_VALUES: usize = 1 << 18;

    /// Masks a file. `None` where that is not possible with certainty.
    pub fn of(format: MaskFormat, bytes: &[u8]) -> Option<Self> {
        let (layout, body) = unwrapped(bytes)?;
        let (shown, values, _) = masked_body(format, &body)?;
        Some(Self { format, layout, shown: layout.wrapped(&shown)?, values })
    }

    /// A file that does not exist yet.
    pub fn empty(format: MaskFormat) -> Self {
        Self { format, layout: Wrapping { bom: false, utf16: None }, shown: Vec::new(), values: Vec::new() }
    }

    /// Bytes that the file itself has at most, as far as can be told by what is shown of it.
    pub fn bound(&self) -> u64 {
        bound(self.shown.len(), self.values.len(), self.layout)
    }

    /// Another content of the same file.
    pub fn same_format(&self, bytes: &[u8]) -> Option<Self> {
        Self::of(self.format, bytes)
    }

    /// The file as it is shown, in its own encoding.
    pub fn bytes(&self) -> &[u8] {
        &self.shown
    }

    /// The same as [`Self::bytes`], without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.shown
    }

    /// Puts the values back into a text that was made of the shown one: for each sentinel the bytes of its value. What
    /// has no sentinel is a new value.
    ///
    /// Whether that is possible depends on the shown text alone, so that neither a refusal nor an acceptance says anything
    /// of the values. They count as the largest that there are: a file grows by copies of its values, too.
    ///
    /// # Errors
    /// Where a sentinel is unknown, not a whole value or of another kind of place, and where the new file could not be
    /// masked: a value that was moved into the place of a name would be shown by the next read.
    pub fn restore(&self, new: &[u8]) -> Result<RestoredText, RestoreError> {
        let (layout, body) = unwrapped(new).ok_or(RestoreError::Unmaskable)?;
        let value = |(place, name): (Range<usize>, String)| match self.values.iter().find(|value| value.name == name) {
            Some(value) => Ok((place, value)),
            None => Err(RestoreError::Unknown(name)),
        };
        let sentinels = sentinels(&body).map_err(RestoreError::Unknown)?;
        let sentinels = sentinels.into_iter().map(value).collect::<Result<Vec<_>, _>>()?;
        if !sentinels.is_empty() && layout.utf16.is_some() != self.layout.utf16.is_some() {
            return Err(RestoreError::Unmaskable);
        }
        let spans = scan(self.format, &body).ok_or(RestoreError::Unmaskable)?;
        if bound(body.len(), spans.len(), layout) > Self::LARGEST {
            return Err(RestoreError::TooManyValues);
        }
        let (mut real, mut at) = (Vec::with_capacity(body.len()), 0);
        for (place, value) in &sentinels {
            let span = span_of(&body, place, &spans).filter(|span| span.place.takes(value.place));
            let Span { range, .. } = span.ok_or_else(|| RestoreError::Misplaced(value.name.clone()))?;
            real.extend_from_slice(&body[at..range.start]);
            real.extend_from_slice(&value.bytes);
            at = range.end;
        }
        real.extend_from_slice(&body[at..]);
        // With the values in it, the text is read as it was without them: no part of a value may be a name now. The
        // places see to that, and this would notice.
        let (shown, _, found) = masked_body(self.format, &real).ok_or(RestoreError::Unmaskable)?;
        if visible(&real, &found) != visible(&body, &spans) || found.len() != spans.len() {
            return Err(RestoreError::Unmaskable);
        }
        let wrapped = |body: &[u8]| layout.wrapped(body).ok_or(RestoreError::Unmaskable);
        Ok(RestoredText { real: wrapped(&real)?, shown: wrapped(&shown)? })
    }
}

/// The place that a sentinel fills: a whole value, with quotes that somebody has put around it.
fn span_of<'s>(body: &[u8], sentinel: &Range<usize>, spans: &'s [Span]) -> Option<&'s Span> {
    let span = spans.get(spans.partition_point(|span| span.range.end <= sentinel.start))?;
    let range = &span.range;
    let quote = body.get(range.start).filter(|byte| matches!(byte, b'"' | b'\''));
    let is_quoted = range.start + 1 == sentinel.start
        && sentinel.end + 1 == range.end
        && quote.is_some()
        && body.get(sentinel.end) == quote;
    (range == sentinel || is_quoted).then_some(span)
}

/// Bytes of the largest file that is shown so.
fn bound(shown: usize, values: usize, layout: Wrapping) -> u64 {
    let bytes = shown.saturating_add(values.saturating_mul(MaskedText::LARGEST_VALUE)) as u64;
    bytes.saturating_mul(if layout.utf16.is_some() { 2 } else { 1 })
}

/// The parts of a text that are outside of its values.
fn visible<'b>(body: &'b [u8], spans: &[Span]) -> Vec<&'b [u8]> {
    let starts = std::iter::once(0).chain(spans.iter().map(|span| span.range.end));
    let ends = spans.iter().map(|span| span.range.start).chain([body.len()]);
    starts.zip(ends).map(|(start, end)| &body[start..end]).collect()
}

/// A text with its sentinels, and the values with their places, in order.
fn masked_body(format: MaskFormat, body: &[u8]) -> Option<(Vec<u8>, Vec<Value>, Vec<Span>)> {
    let spans = scan(format, body)?;
    if spans.len() > MaskedText::MAX_VALUES || spans.iter().any(|one| one.range.len() > MaskedText::LARGEST_VALUE) {
        return None;
    }
    // A name that looks like a sentinel would be taken for one.
    if visible(body, &spans).iter().any(|part| sentinel::holds_opener(part)) {
        return None;
    }
    let (mut shown, mut values, mut at) = (Vec::with_capacity(body.len()), Vec::new(), 0);
    let mut taken = HashSet::new();
    for span in &spans {
        let name = unique_name(&mut taken, &span.name);
        let quote = if span.quoted { "\"" } else { "" };
        shown.extend_from_slice(&body[at..span.range.start]);
        shown.extend_from_slice(format!("{quote}{OPENER}{name}>{quote}").as_bytes());
        values.push(Value { name, place: span.place, bytes: body[span.range.clone()].to_vec() });
        at = span.range.end;
    }
    shown.extend_from_slice(&body[at..]);
    Some((shown, values, spans))
}

/// The values of a text, in order.
fn scan(format: MaskFormat, body: &[u8]) -> Option<Vec<Span>> {
    let text = || str::from_utf8(body).ok();
    let spans = match format {
        MaskFormat::Dotenv => lines::scan(body, lines::LineDialect::Dotenv)?,
        MaskFormat::Ini => lines::scan(body, lines::LineDialect::Ini)?,
        MaskFormat::Json => json::values(text()?)?,
        MaskFormat::Yaml => yaml::values(text()?).or_else(|| json::values(text()?))?,
        MaskFormat::Toml => toml::values(text()?)?,
        MaskFormat::Netrc => password_files::netrc(body)?,
        MaskFormat::Pgpass => password_files::colons(body, password_files::pgpass),
        MaskFormat::Htpasswd => password_files::colons(body, password_files::htpasswd),
        MaskFormat::Whole => span::whole(body),
    };
    is_disjoint(&spans, body.len()).then_some(spans)
}

impl Wrapping {
    /// A text as the bytes of a file.
    fn wrapped(self, body: &[u8]) -> Option<Vec<u8>> {
        match self.utf16 {
            Some(encoding) => encode(str::from_utf8(body).ok()?, encoding, self.bom, LineEnding::None).ok(),
            None if self.bom => Some([b"\xef\xbb\xbf", body].concat()),
            None => Some(body.to_vec()),
        }
    }
}

/// The text in the bytes of a file: its own bytes, or UTF-8 where it is UTF-16. `None` for what is not text, or not
/// surely the same again when it is written.
fn unwrapped(bytes: &[u8]) -> Option<(Wrapping, Vec<u8>)> {
    if bytes.len() as u64 > MaskedText::LARGEST {
        return None;
    }
    let document = Document::decode(bytes.to_vec(), None).ok()?;
    let encoding = document.encoding();
    let is_utf16 = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
    // Without a mark it is a guess by the values.
    if is_utf16 && document.has_bom() {
        let layout = Wrapping { bom: document.has_bom(), utf16: Some(encoding) };
        let body = document.text().as_bytes().to_vec();
        return (layout.wrapped(&body).as_deref() == Some(bytes)).then_some((layout, body));
    }
    // In ISO-2022-JP the bytes of a character look like ASCII, such as the marks that end a value.
    if memchr::memchr(0, bytes).is_some() || encoding == encoding_rs::ISO_2022_JP {
        return None;
    }
    let body = bytes.strip_prefix(b"\xef\xbb\xbf");
    let layout = Wrapping { bom: body.is_some(), utf16: None };
    Some((layout, body.unwrap_or(bytes).to_vec()))
}

#[cfg(test)]
mod tests;
