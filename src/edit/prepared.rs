//! The request and the text, prepared once for all steps of the ladder.
//!
//! What takes more than a look at the request is made when a step first asks for it: most requests are found exactly,
//! and for them nothing of it is needed.

use std::{borrow::Cow, cell::OnceCell};

use super::{
    Found, LineEdit, LineReading, MAX_PLACES, Outcome, Reading, Refusal, Request, Strategies, entities, escapes,
    gutter, indent_shift::FileIndentation, line_parts, typography,
};
use crate::text::{self, Line, LineEnding};

/// Lines of a file in which a text is looked for that is not in it exactly: each takes some 40 bytes of memory, which
/// in a file of nothing but newlines is 40 times its size.
pub(super) const MOST_LINES: usize = 8_000_000;

/// The request and the text. Steps read it and change nothing.
pub(super) struct Prepared<'a> {
    pub(super) text: &'a str,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// The text to be replaced, its lines ended by LF.
    pub(super) canonical_old: Cow<'a, str>,
    /// The new text, its lines ended by LF; also the last, where the old text ends with half of a CR LF.
    pub(super) canonical_new: Cow<'a, str>,
    /// Whether every place is to be replaced.
    pub(super) wants_all: bool,
    /// Stop collecting after so many places.
    pub(super) limit: usize,
    pub(super) ending: LineEnding,
    canonical_text: OnceCell<Cow<'a, str>>,
    lines: OnceCell<Vec<Line>>,
    indentation: OnceCell<FileIndentation>,
    content_hashes: OnceCell<Vec<u64>>,
    texts: &'a OnceCell<Vec<Reading>>,
    readings: OnceCell<Vec<LineReading<'a>>>,
}

impl<'a> Prepared<'a> {
    /// `texts` is where the readings of the request are kept, which their lines borrow from.
    pub(super) fn new(text: &'a str, request: &Request<'a>, texts: &'a OnceCell<Vec<Reading>>) -> Self {
        let wants_all = request.wants_all();
        let ending = LineEnding::of(text);
        // A lone CR at the end of the old text is half of a pasted CR LF: the file's line goes on ending there.
        let has_half_ending = request.old.ends_with('\r') && !request.new.ends_with(['\n', '\r']);
        let mut canonical_new = text::with_lf(request.new);
        if has_half_ending && ending != LineEnding::Cr {
            canonical_new.to_mut().push('\n');
        }
        Self {
            text,
            old: request.old,
            new: request.new,
            canonical_old: text::with_lf(request.old),
            canonical_new,
            wants_all,
            limit: if wants_all { request.most_places() } else { MAX_PLACES },
            ending,
            canonical_text: OnceCell::new(),
            lines: OnceCell::new(),
            indentation: OnceCell::new(),
            content_hashes: OnceCell::new(),
            texts,
            readings: OnceCell::new(),
        }
    }

    /// The text, its lines ended by LF.
    pub(super) fn canonical_text(&self) -> &str {
        self.canonical_text.get_or_init(|| text::with_lf(self.text))
    }

    /// The lines of the text; ended by CR where nothing else ends one.
    pub(super) fn lines(&self) -> &[Line] {
        self.lines.get_or_init(|| match self.ending {
            LineEnding::Cr => text::lines_ended_by_cr(self.text).collect(),
            _ => text::lines(self.text).collect(),
        })
    }

    /// A line of the text, counted from 0, without its ending.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.lines()[index].content(self.text)
    }

    /// All lines of the text without their endings.
    pub(super) fn contents(&self) -> impl Iterator<Item = &'a str> {
        self.lines().iter().map(|line| line.content(self.text))
    }

    /// How the file is indented as a whole.
    pub(super) fn indentation(&self) -> FileIndentation {
        *self.indentation.get_or_init(|| FileIndentation::of(self.contents()))
    }

    /// For each line the hash of its content in plain characters.
    pub(super) fn content_hashes(&self) -> &[u64] {
        let hash = |line| line_parts::hash(&typography::content(line));
        self.content_hashes.get_or_init(|| self.contents().map(hash).collect())
    }

    /// Every way in which the request may have been meant; as it was given first.
    pub(super) fn readings(&self) -> &[LineReading<'a>] {
        self.readings.get_or_init(|| {
            let given = || Reading {
                old: self.canonical_old.to_string(),
                new: self.canonical_new.to_string(),
                by: Strategies::default(),
                is_doubtful: false,
            };
            self.texts.get_or_init(|| all_readings(given())).iter().map(LineReading::new).collect()
        })
    }

    /// What `place` answers for the first likely reading that it has an answer for.
    pub(super) fn first_likely(&self, place: impl Fn(&LineEdit<'a>) -> Result<Option<Found>, Refusal>) -> Outcome {
        for reading in self.readings().iter().filter(|reading| reading.is_likely()) {
            let Some(edit) = reading.edit().filter(|edit| edit.has_substance()) else { continue };
            match place(edit) {
                Ok(None) => {}
                Ok(Some(found)) => return Found { by: found.by.with(reading.text.by), ..found }.into(),
                Err(refusal) => return Outcome::Refused(refusal),
            }
        }
        Outcome::None
    }
}

/// Every way in which a request may have been meant.
fn all_readings(given: Reading) -> Vec<Reading> {
    let mut all = vec![given];
    all.extend(gutter::readings(&all[0]));
    let entities: Vec<Reading> = all.iter().filter_map(entities::reading).collect();
    all.extend(escapes::readings(&all[0]));
    all.extend(entities);
    all
}

/// The step before the first one that lists the file's lines: refuses a file with too many of them.
pub(super) fn refuse_too_many_lines(prepared: &Prepared<'_>) -> Outcome {
    let text = prepared.text;
    if text.len() > MOST_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > MOST_LINES {
        return Outcome::Refused(Refusal::TooManyLines);
    }
    Outcome::None
}
