//! A PDF file: its objects by reference, and the bytes of its streams.
//!
//! Nothing is read before it is asked for, and but for streams of objects nothing is kept.
//!
//! # Map
//! `xref` says where an object is, the lexer reads it there. The bytes of a stream are decrypted by `crypt` and
//! decoded by `filter`.

mod crypt;
mod filter;
mod xref;

use std::{cell::RefCell, rc::Rc};

use crate::budget::{PdfBudget, PdfError};
use crate::lexer::{PdfLexer, read_indirect, stream_range};
use crate::object::{Dict, Object, Reference, Stream};
use crypt::Decryptor;
use filter::{Decoded, Filter, direct_filters, filters};
use xref::{Xref, XrefEntry};

/// References that lead from one to the next.
const MAX_REFERENCE_HOPS: usize = 16;

/// Bytes of one decoded stream of objects, and of those that are kept.
const OBJECT_STREAM: usize = 16 << 20;
const KEPT_BYTES: usize = 32 << 20;

const MAX_STREAM_MEMBERS: usize = 200_000;

/// Bytes of a file from which its header is looked for.
const HEADER_SEARCH_BYTES: usize = 1024;

pub(super) struct PdfFile<'a> {
    bytes: &'a [u8],
    pub(super) budget: PdfBudget<'a>,
    xref: Xref,
    decryptor: Option<Decryptor>,
    object_streams: RefCell<Vec<Rc<ObjectStream>>>,
}

struct ObjectStream {
    number: u32,
    bytes: Vec<u8>,
    members: Vec<(u32, usize)>,
}

impl<'a> PdfFile<'a> {
    pub(super) fn open(bytes: &'a [u8], budget: PdfBudget<'a>) -> Result<Self, PdfError> {
        let head = &bytes[..bytes.len().min(HEADER_SEARCH_BYTES)];
        let start = memchr::memmem::find(head, b"%PDF-").unwrap_or(0);
        // Positions are kept in 32 bits, as a file may have two million objects.
        if u32::try_from(bytes.len()).is_err() {
            return Err(PdfError::TooLarge("the file has 4 GB or more"));
        }
        let bytes = &bytes[start..];
        if let Some(xref) = Xref::read(bytes, &budget)? {
            let file = Self::of(bytes, budget, xref)?;
            if file.root()?.is_some() {
                return Ok(file);
            }
            return file.repaired();
        }
        Self::of(bytes, budget, Xref::default())?.repaired()
    }

    fn of(bytes: &'a [u8], budget: PdfBudget<'a>, xref: Xref) -> Result<Self, PdfError> {
        let mut file = Self { bytes, budget, xref, decryptor: None, object_streams: RefCell::default() };
        file.decryptor = file.find_decryptor()?;
        Ok(file)
    }

    /// The same file by the objects that a search finds, for one whose tables are wrong.
    pub(super) fn repaired(self) -> Result<Self, PdfError> {
        let Self { bytes, budget, xref: damaged, .. } = self;
        let mut xref = Xref::search(bytes, &budget)?;
        if xref.trailer.get(b"Root").is_none() {
            xref.trailer = damaged.trailer;
        }
        let mut file = Self::of(bytes, budget, xref)?;
        let numbers: Vec<u32> = file.xref.numbers().collect();
        let mut root = None;
        for number in numbers {
            let reference = Reference { number, generation: 0 };
            let object = file.resolve(&Object::Reference(reference))?;
            let Some(dict) = object.dict() else { continue };
            match dict.get(b"Type").and_then(Object::name) {
                Some(b"Catalog") => root = Some(reference),
                Some(b"XRef") if dict.get(b"Root").is_some() && file.xref.trailer.get(b"Root").is_none() => {
                    file.xref.trailer = dict.clone();
                    file.decryptor = None;
                    file.decryptor = file.find_decryptor()?;
                }
                Some(b"ObjStm") => file.add_members(number)?,
                _ => {}
            }
        }
        // A catalog within a stream of objects is found by the trailer alone.
        if file.root()?.is_none() {
            let root = root.ok_or(PdfError::Damaged("it has no catalog"))?;
            file.xref.trailer = Dict::of(vec![(b"Root".to_vec(), Object::Reference(root))]);
        }
        Ok(file)
    }

    fn add_members(&mut self, number: u32) -> Result<(), PdfError> {
        let Some(stream) = self.object_stream(number)? else { return Ok(()) };
        for (index, (member, _)) in (0_u32..).zip(&stream.members) {
            if self.xref.entry(*member) == XrefEntry::Missing {
                self.xref.set(u64::from(*member), XrefEntry::Within { stream: number, index });
            }
        }
        Ok(())
    }

    fn find_decryptor(&self) -> Result<Option<Decryptor>, PdfError> {
        let Some(encrypt) = self.xref.trailer.get(b"Encrypt") else { return Ok(None) };
        let encrypt = self.resolve(encrypt)?;
        let Some(dict) = encrypt.dict() else { return Ok(None) };
        // One level is enough: the entries that are read, and the ciphers in `CF`.
        let id = self.get(&self.xref.trailer, b"ID")?;
        let id = id.array().and_then(<[Object]>::first).and_then(Object::string).unwrap_or_default().to_vec();
        Decryptor::new(dict, &id).map(Some)
    }

    pub(super) fn root(&self) -> Result<Option<Dict>, PdfError> {
        let root = self.get(&self.xref.trailer, b"Root")?;
        Ok(root.dict().filter(|root| root.get(b"Pages").is_some()).cloned())
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.xref.numbers()
    }

    /// The value of an entry, with its reference followed; null if there is none.
    pub(super) fn get(&self, dict: &Dict, key: &[u8]) -> Result<Object, PdfError> {
        dict.get(key).map_or(Ok(Object::Null), |value| self.resolve(value))
    }

    /// The object that is meant; null for a reference that leads nowhere.
    pub(super) fn resolve(&self, object: &Object) -> Result<Object, PdfError> {
        let Object::Reference(reference) = object else { return Ok(object.clone()) };
        let mut reference = *reference;
        for _ in 0..MAX_REFERENCE_HOPS {
            match self.object(reference)? {
                Some(Object::Reference(next)) => reference = next,
                Some(object) => return Ok(object),
                None => break,
            }
        }
        Ok(Object::Null)
    }

    fn object(&self, reference: Reference) -> Result<Option<Object>, PdfError> {
        self.budget.work(16)?;
        match self.xref.entry(reference.number) {
            XrefEntry::Missing => Ok(None),
            XrefEntry::At(position) => {
                let found = read_indirect(self.bytes, position as usize, &self.budget)?;
                // A table that is wrong leads to another object.
                let Some(mut found) = found.filter(|found| found.reference.number == reference.number) else {
                    return Ok(None);
                };
                if let Some(decryptor) = &self.decryptor {
                    found.object = decryptor.object(found.object, found.reference);
                }
                let (Some(start), Object::Dict(dict)) = (found.stream, &found.object) else {
                    return Ok(Some(found.object));
                };
                let length = self.length(dict.get(b"Length"))?;
                let bytes = stream_range(self.bytes, start, length, &self.budget)?;
                Ok(Some(Object::Stream(Box::new(Stream { dict: dict.clone(), bytes, reference: found.reference }))))
            }
            XrefEntry::Within { stream, index } => {
                let Some(stream) = self.object_stream(stream)? else { return Ok(None) };
                let mut member = stream.members.get(index as usize).filter(|member| member.0 == reference.number);
                if member.is_none() {
                    self.budget.work(stream.members.len() as u64)?;
                    member = stream.members.iter().find(|member| member.0 == reference.number);
                }
                let Some((_, position)) = member else { return Ok(None) };
                let mut lexer = PdfLexer::of_file(&stream.bytes, *position);
                let object = lexer.object();
                self.budget.parsed(lexer.position().saturating_sub(*position))?;
                Ok(object)
            }
        }
    }

    /// A length is a number, or a reference to one, but not to a stream: references cannot form a cycle.
    fn length(&self, length: Option<&Object>) -> Result<Option<usize>, PdfError> {
        let Some(Object::Reference(reference)) = length else { return Ok(length.and_then(Object::index)) };
        let XrefEntry::At(position) = self.xref.entry(reference.number) else { return Ok(None) };
        let found = read_indirect(self.bytes, position as usize, &self.budget)?;
        Ok(found.and_then(|found| found.object.index()))
    }

    fn object_stream(&self, number: u32) -> Result<Option<Rc<ObjectStream>>, PdfError> {
        if let Some(kept) = self.object_streams.borrow().iter().find(|kept| kept.number == number) {
            return Ok(Some(Rc::clone(kept)));
        }
        // Not one that is within another: that could go round in circles.
        let XrefEntry::At(_) = self.xref.entry(number) else { return Ok(None) };
        let reference = Reference { number, generation: 0 };
        let Some(Object::Stream(stream)) = self.object(reference)? else { return Ok(None) };
        let Some(decoded) = self.decode_with(&stream, direct_filters, OBJECT_STREAM)? else {
            return Ok(None);
        };
        let first = stream.dict.get(b"First").and_then(Object::index).unwrap_or(0);
        let count = stream.dict.get(b"N").and_then(Object::index).unwrap_or(0).min(MAX_STREAM_MEMBERS);
        let mut lexer = PdfLexer::of_file(&decoded.bytes, 0);
        let mut members = Vec::new();
        for _ in 0..count {
            self.budget.work(4)?;
            let (Some(member), Some(offset)) = (lexer.unsigned(), lexer.unsigned()) else { break };
            let (Ok(member), Ok(offset)) = (u32::try_from(member), usize::try_from(offset)) else { break };
            members.push((member, first.saturating_add(offset)));
        }
        let stream = Rc::new(ObjectStream { number, bytes: decoded.bytes, members });
        let mut kept = self.object_streams.borrow_mut();
        let mut size: usize = kept.iter().map(|kept| kept.bytes.len()).sum();
        let most = KEPT_BYTES.min(self.budget.largest_stream.saturating_mul(2));
        while !kept.is_empty() && size + stream.bytes.len() > most {
            size -= kept.remove(0).bytes.len();
        }
        kept.push(Rc::clone(&stream));
        Ok(Some(stream))
    }

    /// The bytes of a stream, at most `limit`; `None` for an image, or an unknown filter.
    pub(super) fn decode(&self, stream: &Stream, limit: usize) -> Result<Option<Decoded>, PdfError> {
        let deep = |key| -> Result<Object, PdfError> {
            Ok(match self.get(&stream.dict, key)? {
                Object::Array(items) => {
                    Object::Array(items.iter().take(16).map(|item| self.resolve(item)).collect::<Result<_, _>>()?)
                }
                other => other,
            })
        };
        let filters = filters(&deep(b"Filter")?, &deep(b"DecodeParms")?);
        self.decode_with(stream, |_| filters, limit)
    }

    fn decode_with(
        &self,
        stream: &Stream,
        filters: impl FnOnce(&Dict) -> Option<Vec<Filter>>,
        limit: usize,
    ) -> Result<Option<Decoded>, PdfError> {
        let Some(filters) = filters(&stream.dict) else { return Ok(None) };
        let bytes = &self.bytes[stream.bytes.clone()];
        // A stream with its own encryption filter is left as it is: that is the identity in practice.
        let own = filters.first().is_some_and(|filter| filter.name == b"Crypt");
        let bytes = match &self.decryptor {
            Some(decryptor) if !own => {
                self.budget.decoded(bytes.len())?;
                decryptor.stream(bytes, stream.reference)
            }
            _ => bytes.into(),
        };
        filter::decode(bytes, &filters, limit, &self.budget)
    }
}
