//! The objects that a PDF is made of (ISO 32000-1, 7.3).

use std::ops::Range;

/// Where an indirect object is: its number and generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reference {
    pub(super) number: u32,
    pub(super) generation: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    /// Integers too: those that matter fit.
    Number(f64),
    String(Vec<u8>),
    Name(Vec<u8>),
    Array(Vec<Self>),
    Dict(Dict),
    Reference(Reference),
    Stream(Box<Stream>),
}

/// A dictionary; of several entries of one name the last counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dict(Vec<(Vec<u8>, Object)>);

/// A stream: its dictionary and where its bytes are in the file, still encoded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) dict: Dict,
    pub(super) bytes: Range<usize>,
    /// Which object it is: the key that decrypts it depends on that.
    pub(super) reference: Reference,
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn index(&self) -> Option<usize> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        self.number().filter(|number| (0.0..=4_294_967_295.0).contains(number)).map(|number| number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    pub(super) fn string(&self) -> Option<&[u8]> {
        if let Self::String(string) = self { Some(string) } else { None }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            Self::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    pub(super) fn reference(&self) -> Option<Reference> {
        if let Self::Reference(reference) = self { Some(*reference) } else { None }
    }
}

impl Dict {
    pub(super) fn of(mut entries: Vec<(Vec<u8>, Object)>) -> Self {
        // The sort is stable: of entries with one name the last in the file comes first, and stays.
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|(later, _), (earlier, _)| later == earlier);
        Self(entries)
    }

    pub(super) fn map(self, change: impl Fn(Object) -> Object) -> Self {
        Self(self.0.into_iter().map(|(key, value)| (key, change(value))).collect())
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Object> {
        let at = self.0.binary_search_by(|(name, _)| name.as_slice().cmp(key)).ok()?;
        Some(&self.0[at].1)
    }
}
