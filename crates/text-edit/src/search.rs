//! A request and a text, with what the steps of the ladder ask of both, and a place of whole lines.
//!
//! What takes more than a look at the request is made when a step first asks for it: most requests are found exactly,
//! and for them nothing of it is needed.

use std::{borrow::Cow, cell::OnceCell};

use text_file::{Line, LineEnding, with_lf};

use crate::found::{Found, Refusal, StepResult};
use crate::interpretation::{Interpretation, LineEdit};
use crate::{MAX_PLACES, Request, Strategies, indent_shift::FileIndentation, line_parts, longer_word, typography};

/// Lines of a file in which a text is looked for that is not in it exactly: each takes some 40 bytes of memory, which
/// in a file of nothing but newlines is 40 times its size.
pub(super) const MAX_LINES: usize = 8_000_000;

/// Lines of a text whose hashes are kept for the next request.
const MAX_HASHED: usize = 1_000_000;

/// How two lines are compared: they are equal when their foldings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    AsGiven,
    TrailingWhitespace,
    Indentation,
    /// In plain characters, without white space at its end.
    Typography,
    /// In plain characters, without white space at either end.
    Content,
}

impl Fold {
    pub(super) const fn ignores_indentation(self) -> bool {
        matches!(self, Self::Indentation | Self::Content)
    }

    pub(super) const fn ignores_typography(self) -> bool {
        matches!(self, Self::Typography | Self::Content)
    }

    pub(super) fn of(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::AsGiven => Cow::Borrowed(line),
            Self::TrailingWhitespace => Cow::Borrowed(line_parts::without_trailing_whitespace(line)),
            Self::Indentation => Cow::Borrowed(line_parts::content(line)),
            Self::Typography => typography::fold(line),
            Self::Content => typography::content(line),
        }
    }
}

/// The lines of a text under a folding, each by its hash: equal hashes are no proof yet.
pub(super) struct FoldedLines<'h> {
    pub(super) fold: Fold,
    pub(super) hashes: Cow<'h, [u64]>,
}

/// All that is known of a text whatever is looked for in it: the hunks of a patch share it.
#[derive(Default)]
pub(super) struct TextFacts {
    lines: OnceCell<Vec<Line>>,
    indentation: OnceCell<FileIndentation>,
    folded: [OnceCell<Vec<u64>>; 5],
}

pub(super) struct Search<'a> {
    pub(super) text: &'a str,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) canonical_old: Cow<'a, str>,
    pub(super) canonical_new: Cow<'a, str>,
    pub(super) wants_all: bool,
    pub(super) whole_words: bool,
    pub(super) limit: usize,
    pub(super) ending: LineEnding,
    canonical_text: OnceCell<Cow<'a, str>>,
    facts: &'a TextFacts,
    interpretations: &'a OnceCell<Vec<Interpretation>>,
    edits: OnceCell<Vec<OnceCell<Option<LineEdit<'a>>>>>,
}

impl<'a> Search<'a> {
    /// `facts` are those of `text`; `interpretations` of the request are kept where their lines can borrow from them.
    pub(super) fn new(
        text: &'a str,
        facts: &'a TextFacts,
        request: &Request<'a>,
        interpretations: &'a OnceCell<Vec<Interpretation>>,
    ) -> Self {
        let wants_all = request.wants_all();
        Self {
            text,
            old: request.old,
            new: request.new,
            canonical_old: with_lf(request.old),
            canonical_new: with_lf(request.new),
            wants_all,
            whole_words: false,
            limit: if wants_all { request.most_places() } else { MAX_PLACES },
            ending: LineEnding::of(text),
            canonical_text: OnceCell::new(),
            facts,
            interpretations,
            edits: OnceCell::new(),
        }
    }

    pub(super) fn canonical_text(&self) -> &str {
        self.canonical_text.get_or_init(|| with_lf(self.text))
    }

    pub(super) fn lines(&self) -> &[Line] {
        self.facts.lines.get_or_init(|| text_file::lines(self.text).collect())
    }

    /// A line of the text, counted from 0, without its ending.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.lines()[index].content(self.text)
    }

    pub(super) fn contents(&self) -> impl Iterator<Item = &'a str> {
        self.lines().iter().map(|line| line.content(self.text))
    }

    pub(super) fn indentation(&self) -> FileIndentation {
        *self.facts.indentation.get_or_init(|| FileIndentation::of(self.contents()))
    }

    /// The lines of the text under a folding. In a text of very many lines only the one that most steps use is kept.
    pub(super) fn folded(&self, fold: Fold) -> FoldedLines<'_> {
        let hashes = || self.contents().map(|line| line_parts::hash(&fold.of(line))).collect();
        let is_kept = fold == Fold::Content || self.lines().len() <= MAX_HASHED;
        let kept = || self.facts.folded[fold as usize].get_or_init(hashes);
        FoldedLines { fold, hashes: if is_kept { Cow::Borrowed(kept()) } else { Cow::Owned(hashes()) } }
    }

    /// Where the lines of `edit.old` may be, overlapping places too, in linear time: Knuth, Morris and Pratt's search over
    /// the hashes of the file's lines under the same folding.
    pub(super) fn sites<'s>(
        &'s self,
        edit: &'s LineEdit<'_>,
        FoldedLines { fold, hashes }: &FoldedLines<'_>,
        after_indent: bool,
    ) -> Vec<Site<'s, 'a>> {
        let old = &edit.old;
        let pattern: Vec<u64> =
            old[usize::from(after_indent)..].iter().map(|line| line_parts::hash(&fold.of(line))).collect();
        let first = fold.of(old[0]);
        let is_first = |line: usize| {
            let content = self.line(line);
            let content = if after_indent { content.trim_start_matches([' ', '\t']) } else { content };
            fold.of(content) == first
        };
        let ends = line_parts::sequences(hashes.iter().copied(), &pattern);
        // After an indentation the pattern lacks the first line, which may then be before the beginning of the text.
        ends.filter_map(|end| end.checked_sub(old.len()))
            .filter(|start| is_first(*start))
            .map(|line| Site { search: self, edit, line, after_indent })
            .collect()
    }

    /// Every way in which the request may have been meant; as it was given first.
    pub(super) fn interpretations(&self) -> &'a [Interpretation] {
        self.interpretations.get_or_init(|| {
            let (old, new) = (self.canonical_old.to_string(), self.canonical_new.to_string());
            Interpretation::all(Interpretation { old, new, by: Strategies::default(), is_doubtful: false })
        })
    }

    /// Those that are wanted as whole lines, as far as they can be taken as such; their lines are compared once.
    pub(super) fn edits(
        &self,
        is_wanted: impl Fn(&Interpretation) -> bool,
    ) -> impl Iterator<Item = (&'a Interpretation, &LineEdit<'a>)> {
        let all = self.interpretations();
        let edits = self.edits.get_or_init(|| all.iter().map(|_| OnceCell::new()).collect());
        let wanted = all.iter().zip(edits).filter(move |(one, _)| is_wanted(one));
        wanted.filter_map(|(one, edit)| Some((one, edit.get_or_init(|| one.edit()).as_ref()?)))
    }

    /// First result of `place` over the likely interpretations.
    pub(super) fn first_likely(&self, place: impl Fn(&LineEdit<'a>) -> StepResult) -> StepResult {
        for (one, edit) in self.edits(Interpretation::is_likely).filter(|(_, edit)| edit.has_substance()) {
            if let Some(found) = place(edit)? {
                return Ok(Some(Found { by: found.by.with(one.by), ..found }));
            }
        }
        Ok(None)
    }

    /// Whether whole words are wanted, and the text at `span` is only a part of one.
    pub(super) fn is_within_word(&self, span: &std::ops::Range<usize>) -> bool {
        self.whole_words && longer_word(self.text, span.clone()).is_some()
    }
}

#[derive(Clone, Copy)]
pub(super) struct Site<'s, 'a> {
    pub(super) search: &'s Search<'a>,
    pub(super) edit: &'s LineEdit<'s>,
    pub(super) line: usize,
    pub(super) after_indent: bool,
}

impl<'a> Site<'_, 'a> {
    pub(super) fn start(self) -> usize {
        self.search.lines()[self.line].start
    }

    /// The file's lines here, the first one without its indentation where the site starts after it.
    pub(super) fn file_lines(self) -> Vec<&'a str> {
        let lines = self.line..self.line + self.edit.old.len();
        let mut file: Vec<&str> = lines.map(|line| self.search.line(line)).collect();
        if self.after_indent {
            file[0] = file[0].trim_start_matches([' ', '\t']);
        }
        file
    }

    /// Whether the lines are indented by blanks in place of the file's tabs, or the other way round.
    pub(super) fn is_retabbed(self) -> bool {
        let is_other = |(file, old): (&&str, &&str)| {
            let (file, old) = (line_parts::parts(file).0, line_parts::parts(old).0);
            !file.is_empty() && !old.is_empty() && file.contains('\t') != old.contains('\t')
        };
        self.file_lines().iter().zip(&self.edit.old).any(is_other)
    }

    pub(super) fn is_equal(self, fold: Fold) -> bool {
        self.file_lines().iter().zip(&self.edit.old).all(|(file, old)| fold.of(file) == fold.of(old))
    }
}

/// The step before the first one that lists the file's lines: refuses a file with too many of them.
pub(super) fn refuse_too_many_lines(search: &Search<'_>) -> StepResult {
    if has_too_many_lines(search.text) { Err(Refusal::TooManyLines) } else { Ok(None) }
}

pub(super) fn has_too_many_lines(text: &str) -> bool {
    // A text of fewer bytes need not be counted.
    text.len() > MAX_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > MAX_LINES
}
