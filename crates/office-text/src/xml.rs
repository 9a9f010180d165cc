//! The XML of a part: its elements and texts one after the other, in bounded memory.
//!
//! No entity but the five of XML is expanded, whatever a DTD declares: ECMA-376 part 2, 7.1.4 forbids DTDs.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read},
    mem,
    str::{self, FromStr},
    sync::Arc,
};

use memchr::memmem;
use quick_xml::{
    Error, Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesEnd, BytesStart, Event, attributes::Attribute},
};

use unicode_normalization::UnicodeNormalization as _;

use crate::{
    OfficeError,
    budget::{Budget, Result},
};

/// Bytes of the largest tag or text. Word writes pictures of hundreds of kilobytes into an attribute (`o:gfxdata`).
const MAX_EVENT: usize = 8 << 20;

/// How deep elements may be nested: five tables within each other are some fifty.
const MAX_DEPTH: usize = 512;

/// Work of an event beside its bytes: of those of a few bytes it is most.
const EVENT_WORK: usize = 20;

/// The source of a part, which bounds what is read of it, and the bytes of each event.
struct Metered<'p> {
    source: Box<dyn BufRead + 'p>,
    budget: &'p Budget<'p>,
    /// Bytes that the event has so far.
    event: usize,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer)
    }
}

impl BufRead for Metered<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.event > MAX_EVENT {
            return Err(OfficeError::TooLarge("one of its texts has more than 8 MiB").into());
        }
        // Fails for what `consume` counted, which cannot.
        self.budget.inflate(0)?;
        self.source.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.event += bytes;
        let _ = self.budget.inflate(bytes);
        self.source.consume(bytes);
    }
}

pub(crate) struct Xml<'p> {
    reader: Reader<Metered<'p>>,
    buffer: Vec<u8>,
    pub(crate) depth: usize,
}

/// The beginning or the end of an element, or a text; an empty element begins and ends.
pub(crate) enum Node<'x> {
    Start(Tag<'x>),
    End(BytesEnd<'x>),
    /// A piece of a text: references divide it.
    Text(Cow<'x, str>),
}

pub(crate) struct Tag<'x>(pub(crate) BytesStart<'x>);

/// A name without its prefix: producers choose the prefix of a namespace freely.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The text as people type it, who want to find it: composed, with plain blanks and hyphens, without hyphens for the ends of
/// lines, ligatures as their letters. A PDF file is read so as well.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.nfc() {
        match character {
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' => plain.push(' '),
            '\u{2010}' | '\u{2011}' => plain.push('-'),
            '\u{ad}' => {}
            'ﬀ'..='ﬆ' => plain.extend(character.nfkd()),
            other => plain.push(other),
        }
    }
    plain.into()
}

/// The character of a hexadecimal number; `None` for those that control a terminal.
pub(crate) fn character(code: &str) -> Option<char> {
    u32::from_str_radix(code, 16)
        .ok()
        .and_then(char::from_u32)
        .filter(|sign| !sign.is_control() || sign.is_whitespace())
}

impl Tag<'_> {
    pub(crate) fn name(&self) -> &str {
        local(self.full_name())
    }

    fn find(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| is_wanted(attribute.key.0));
        let text = |one: Attribute<'_>| {
            one.normalized_value(XmlVersion::Implicit1_0).map_or_else(|_| one.value.to_string(), Cow::into_owned)
        };
        found.map(text)
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| local(key) == name)
    }

    /// The attribute of this local name; empty where it is missing.
    pub(crate) fn text(&self, name: &str) -> String {
        self.attribute(name).unwrap_or_default()
    }

    /// An identifier in an attribute; empty for one of more than 255 bytes, which no writer makes: comparing it again and
    /// again would be work.
    pub(crate) fn id(&self, name: &str) -> String {
        Some(self.text(name)).filter(|id| id.len() < 256).unwrap_or_default()
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name).trim().parse().ok()
    }

    /// The attribute of this local name that has a prefix, as `r:id` beside `id`.
    pub(crate) fn prefixed(&self, name: &str) -> String {
        self.find(|key| key.rsplit_once(':').is_some_and(|(_, local)| local == name)).unwrap_or_default()
    }

    /// Whether an attribute says no, in one of the ways of ECMA-376 part 1, 22.9.2.7.
    pub(crate) fn is_off(&self, name: &str) -> bool {
        matches!(self.text(name).as_str(), "0" | "false" | "off")
    }

    pub(crate) fn full_name(&self) -> &str {
        self.0.name().0
    }
}

impl<'p> Xml<'p> {
    pub(crate) fn new(source: Box<dyn BufRead + 'p>, budget: &'p Budget<'p>) -> Self {
        let mut reader = Reader::from_reader(Metered { source, budget, event: 0 });
        reader.config_mut().expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), depth: 0 }
    }

    /// The next node; `None` at the end.
    ///
    /// # Errors
    /// For XML that is not well-formed or ends too early, and at a limit.
    pub(crate) fn next(&mut self) -> Result<Option<Node<'_>>> {
        self.buffer.clear();
        let source = self.reader.get_mut();
        source.event = 0;
        source.budget.inflate(EVENT_WORK)?;
        Ok(Some(match self.reader.read_event_into(&mut self.buffer).map_err(xml_error)? {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(OfficeError::TooLarge("its elements are nested too deeply"));
                }
                Node::Start(Tag(tag))
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                Node::End(tag)
            }
            Event::Text(text) => Node::Text(plain(text.xml10_content())),
            Event::CData(text) => Node::Text(plain(text.xml10_content())),
            Event::GeneralRef(name) => match (name.resolve_char_ref(), resolve_predefined_entity(&name)) {
                (Ok(Some(character)), _) => Node::Text(plain(character.to_string().into())),
                (_, Some(text)) => Node::Text(text.into()),
                _ => Node::Text(format!("&{};", &*name).into()),
            },
            Event::Eof if self.depth > 0 => return Err(OfficeError::Damaged("its XML ends too early")),
            Event::Eof => return Ok(None),
            // Comments, declarations and instructions, which no loop here can go past: a node borrows the buffer.
            _ => Node::Text("".into()),
        }))
    }

    pub(crate) fn skip(&mut self) -> Result<()> {
        let around = self.depth.saturating_sub(1);
        while self.depth > around && self.next()?.is_some() {}
        Ok(())
    }

    /// Goes to the next element that is wanted, among those whose names begin with `prefix`: several times as fast as reading
    /// what is between. What is open then is that element alone. False at the end of the part.
    pub(crate) fn skip_to(&mut self, prefix: &str, mut is_wanted: impl FnMut(&Tag<'_>) -> bool) -> Result<bool> {
        let source = self.reader.get_mut();
        let (mut bytes, start) = (Vec::new(), [b'<', prefix.as_bytes()[0]]);
        loop {
            source.event = 0;
            let piece = source.fill_buf()?;
            let length = piece.len();
            // Where a piece ends with the sign, the letter after it is in the next one.
            let at = memmem::find(piece, &start).or_else(|| piece.ends_with(b"<").then(|| length - 1));
            source.consume(at.map_or(length, |at| at + 1));
            if length == 0 {
                return Ok(false);
            }
            if at.is_none() || source.fill_buf()?.first() != start.last() {
                continue;
            }
            source.budget.inflate(EVENT_WORK)?;
            bytes.clear();
            source.read_until(b'>', &mut bytes)?;
            let Some(tag) = bytes.strip_suffix(b">").and_then(|tag| str::from_utf8(tag).ok()) else { continue };
            if !tag.starts_with(prefix) {
                continue;
            }
            let content = tag.trim_end_matches('/');
            let name = content.find(|sign: char| sign.is_ascii_whitespace()).unwrap_or(content.len());
            // An empty one has no end that would be read.
            if is_wanted(&Tag(BytesStart::from_content(content, name))) && content == tag {
                break;
            }
        }
        // Those around it, and one without content at which this began, are not open: their ends mean nothing.
        let rest = mem::replace(&mut source.source, Box::new(io::empty()));
        *self = Self { depth: 1, ..Self::new(rest, source.budget) };
        self.reader.config_mut().allow_unmatched_ends = true;
        Ok(true)
    }
}

fn xml_error(error: Error) -> OfficeError {
    match error {
        Error::Io(error) => Arc::into_inner(error).map_or(OfficeError::Stopped, OfficeError::from),
        Error::Encoding(_) => OfficeError::Damaged("its XML is not UTF-8"),
        _ => OfficeError::Damaged("its XML is not well-formed"),
    }
}
