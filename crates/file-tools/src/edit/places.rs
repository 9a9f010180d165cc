//! The places of an edit in the text of a file, and how many of them are within longer words: a rename of all changes those
//! as well.

use std::ops::Range;

use text_edit::{Located, Strategies, longer_word};
use text_file::{hidden::printable, shorten};

use super::super::answer::count;

#[derive(Default)]
pub(super) struct Places {
    /// In the text of the file; ascending and disjoint.
    pub(super) spans: Vec<(Range<usize>, String)>,
    pub(super) strategy: Strategies,
    /// How often the old text is replaced, which may be several times in one span.
    pub(super) replacements: usize,
    /// The cells of a notebook that they are in, counted from 1; empty if the text of the file itself was searched.
    pub(super) cells: Vec<usize>,
    pub(super) note: Option<String>,
    pub(super) within: WithinWords,
}

impl Places {
    pub(super) fn one(span: Range<usize>, new: String) -> Self {
        Self { spans: vec![(span, new)], replacements: 1, ..Self::default() }
    }
}

const MAX_NAMED_WORDS: usize = 2;
const MAX_WORD_CHARS: usize = 60;

#[derive(Clone, Debug, Default)]
pub(super) struct WithinWords {
    places: usize,
    within: usize,
    named: Vec<(String, String)>,
    /// Places within longer words that are not replaced, as whole words are asked for.
    left: usize,
}

impl WithinWords {
    /// Looks at the places that were found in `text`, or at those of the whole `word` that were not; `what` is in front of
    /// the number of a line.
    pub(super) fn look(&mut self, text: &str, word: Option<&String>, located: &Located, what: &str) {
        if let Some(word) = word {
            let all = text.match_indices(word);
            self.left += all.filter(|(at, old)| longer_word(text, *at..at + old.len()).is_some()).count();
            return;
        }
        let (mut line, mut counted_to) = (1, 0);
        for span in located.replacements.iter().map(|one| &one.span) {
            self.places += 1;
            let Some(word) = longer_word(text, span.clone()) else { continue };
            self.within += 1;
            if self.named.len() < MAX_NAMED_WORDS {
                line += text[counted_to..span.start].matches('\n').count();
                counted_to = span.start;
                self.name(&printable(&shorten(word, MAX_WORD_CHARS)), format!("{what}{line}"));
            }
        }
    }

    fn name(&mut self, word: &str, place: String) {
        if self.named.len() < MAX_NAMED_WORDS && self.named.iter().all(|(known, _)| known != word) {
            self.named.push((word.to_owned(), place));
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.places += other.places;
        self.within += other.within;
        self.left += other.left;
        for (word, place) in &other.named {
            self.name(word, place.clone());
        }
    }

    /// `3 of 8 places were within longer words, such as …` and `4 places in longer words left alone`; without the words if
    /// those are not for a sentence of the server. None where no such place was met.
    pub(super) fn notes(&self, names_words: bool) -> impl Iterator<Item = String> {
        let named: Vec<String> = self.named.iter().map(|(word, place)| format!("{word} ({place})")).collect();
        let such = if names_words { format!(", such as {}", named.join(" and ")) } else { String::new() };
        let (within, places) = (self.within, count(self.places, "place"));
        let within = (within > 0)
            .then(|| format!("{within} of {places} were within longer words{such}; pass word=true for whole words"));
        let left = (self.left > 0).then(|| format!("{} in longer words left alone", count(self.left, "place")));
        within.into_iter().chain(left)
    }
}
