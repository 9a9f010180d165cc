//! The text of a document as searches see it: lines, each in a part that `read` takes by the same name (`page 3`).

use confined_fs::{Stat, WorkspacePath};
use serde::{Deserialize, Serialize};

/// Bytes of text that are kept of one document: a book has a tenth.
const MAX_TEXT_BYTES: usize = 16 << 20;

/// A document that a search met: its text is that of its parts, and no lines of its bytes.
#[derive(Clone, Debug)]
pub struct MetDocument {
    pub path: WorkspacePath,
    pub real: WorkspacePath,
    /// When it was opened.
    pub stat: Stat,
}

/// The lines of a document, in sections: a match, and the context around it, is within one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Stored beside the rest.
    #[serde(skip)]
    pub(crate) lines: String,
    places: Vec<Place>,
    /// What parts are called before their number: `page`, `sheet Plan row`.
    nouns: Vec<String>,
    /// Why text is missing, as the end of a sentence about the file: `damaged: it has no pages`.
    flaw: Option<String>,
}

/// Where a part begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    #[serde(rename = "a")]
    at: usize,
    /// Its noun, as a place in the list of them.
    #[serde(rename = "n")]
    noun: usize,
    /// Its number; 0 for a part without one.
    #[serde(rename = "i")]
    number: usize,
    #[serde(rename = "s", default, skip_serializing_if = "std::ops::Not::not")]
    begins_section: bool,
}

impl DocumentText {
    /// A document of which nothing can be read.
    pub fn unreadable(why: String) -> Self {
        Self { flaw: Some(why), ..Self::default() }
    }

    /// Adds a part: its lines, and what it is called (`page` and 3; 0 for no number). False once there is no more room.
    pub fn push(&mut self, begins_section: bool, noun: &str, number: usize, text: &str) -> bool {
        let text = text.trim_end_matches('\n');
        if text.is_empty() {
            return true;
        }
        if self.lines.len() + text.len() > MAX_TEXT_BYTES {
            self.flaw = Some(format!("too large: {noun} {number} and what follows is left out"));
            return false;
        }
        if self.nouns.last().is_none_or(|last| last != noun) {
            self.nouns.push(noun.to_owned());
        }
        let at = self.lines.len();
        self.places.push(Place { at, noun: self.nouns.len() - 1, number, begins_section: begins_section || at == 0 });
        // A search takes what holds NUL for no text.
        self.lines.extend(text.chars().map(|character| if character == '\0' { '\u{FFFD}' } else { character }));
        self.lines.push('\n');
        true
    }

    /// Notes why text is missing, unless that is noted already.
    pub fn note_flaw(&mut self, why: impl FnOnce() -> String) {
        self.flaw.get_or_insert_with(why);
    }

    pub fn flaw(&self) -> Option<&str> {
        self.flaw.as_deref()
    }

    /// Whether it has no text.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn without_lines(&self) -> Self {
        let Self { places, nouns, flaw, .. } = self;
        Self { lines: String::new(), places: places.clone(), nouns: nouns.clone(), flaw: flaw.clone() }
    }

    /// Bytes that it takes in memory, about.
    pub fn weight(&self) -> usize {
        self.lines.len() + self.places.len() * size_of::<Place>() + size_of::<Self>()
    }

    /// Whether all that it says of its lines can be: for one that comes from the disk.
    pub(crate) fn is_valid(&self) -> bool {
        let is_line = |at: usize| at == 0 || self.lines.as_bytes().get(at - 1) == Some(&b'\n') && at < self.lines.len();
        self.places.is_sorted_by(|one, next| one.at < next.at)
            && self.places.iter().all(|place| is_line(place.at) && place.noun < self.nouns.len())
            && self.places.first().is_none_or(|first| first.at == 0 && first.begins_section)
            && self.places.is_empty() == self.lines.is_empty()
    }

    /// Its sections: where each begins, and its lines.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts: Vec<usize> =
            self.places.iter().filter(|place| place.begins_section).map(|place| place.at).collect();
        let ends = starts.clone().into_iter().skip(1).chain([self.lines.len()]);
        starts.into_iter().zip(ends).map(|(start, end)| (start, &self.lines[start..end]))
    }

    /// The part in which the byte at that place is, as `read` takes it.
    pub(crate) fn part_at(&self, at: usize) -> String {
        let place = self.places.partition_point(|place| place.at <= at).checked_sub(1).map(|index| self.places[index]);
        match place {
            Some(Place { noun, number: 0, .. }) => self.nouns[noun].clone(),
            Some(Place { noun, number, .. }) => format!("{} {number}", self.nouns[noun]),
            None => String::new(),
        }
    }
}
