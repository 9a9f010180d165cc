//! The request and the text, prepared once for all steps of the ladder, and a place of whole lines in it.
//!
//! What takes more than a look at the request is made when a step first asks for it: most requests are found exactly,
//! and for them nothing of it is needed.

use std::{borrow::Cow, cell::OnceCell};

use text_file::{Line, LineEnding};

use super::{
    Found, LineEdit, LineReading, MAX_PLACES, Outcome, Reading, Refusal, Request, Strategies,
    indent_shift::FileIndentation, line_parts, readings, typography,
};

/// Lines of a file in which a text is looked for that is not in it exactly: each takes some 40 bytes of memory, which
/// in a file of nothing but newlines is 40 times its size.
pub(super) const MAX_LINES: usize = 8_000_000;

/// Lines of a text whose hashes are kept for the next request.
const MAX_HASHED: usize = 1_000_000;

/// What is known of a text whatever is looked for in it: the hunks of a patch share it.
#[derive(Default)]
pub(super) struct TextFacts {
    lines: OnceCell<Vec<Line>>,
    indentation: OnceCell<FileIndentation>,
    content_hashes: OnceCell<Vec<u64>>,
    folded: [OnceCell<Vec<u64>>; 5],
}

/// The request and the text. Steps read it and change nothing.
pub(super) struct Prepared<'a> {
    pub(super) text: &'a str,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// The text to be replaced, its lines ended by LF.
    pub(super) canonical_old: Cow<'a, str>,
    /// The new text, its lines ended by LF.
    pub(super) canonical_new: Cow<'a, str>,
    /// Whether every place is to be replaced.
    pub(super) wants_all: bool,
    /// Whether a place within a longer word is none.
    pub(super) whole_words: bool,
    /// Stop collecting after so many places.
    pub(super) limit: usize,
    pub(super) ending: LineEnding,
    canonical_text: OnceCell<Cow<'a, str>>,
    facts: &'a TextFacts,
    texts: &'a OnceCell<Vec<Reading>>,
    readings: OnceCell<Vec<LineReading<'a>>>,
}

impl<'a> Prepared<'a> {
    /// `facts` are those of `text`, and `texts` is where the readings of the request are kept, which their lines borrow from.
    pub(super) fn new(
        text: &'a str,
        facts: &'a TextFacts,
        request: &Request<'a>,
        texts: &'a OnceCell<Vec<Reading>>,
    ) -> Self {
        let wants_all = request.wants_all();
        Self {
            text,
            old: request.old,
            new: request.new,
            canonical_old: text_file::with_lf(request.old),
            canonical_new: text_file::with_lf(request.new),
            wants_all,
            whole_words: false,
            limit: if wants_all { request.most_places() } else { MAX_PLACES },
            ending: LineEnding::of(text),
            canonical_text: OnceCell::new(),
            facts,
            texts,
            readings: OnceCell::new(),
        }
    }

    /// The text, its lines ended by LF.
    pub(super) fn canonical_text(&self) -> &str {
        self.canonical_text.get_or_init(|| text_file::with_lf(self.text))
    }

    /// The lines of the text.
    pub(super) fn lines(&self) -> &[Line] {
        self.facts.lines.get_or_init(|| text_file::lines(self.text).collect())
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
        *self.facts.indentation.get_or_init(|| FileIndentation::of(self.contents()))
    }

    /// For each line the hash of its content in plain characters.
    pub(super) fn content_hashes(&self) -> &[u64] {
        let hash = |line| line_parts::hash(&typography::content(line));
        self.facts.content_hashes.get_or_init(|| self.contents().map(hash).collect())
    }

    /// The hash of each line, folded. `kept` is the number of the folding.
    pub(super) fn folded(&self, kept: usize, fold: fn(&str) -> Cow<'_, str>) -> Cow<'_, [u64]> {
        let hashes = || self.contents().map(|line| line_parts::hash(&fold(line))).collect();
        if self.lines().len() > MAX_HASHED {
            return Cow::Owned(hashes());
        }
        Cow::Borrowed(self.facts.folded[kept].get_or_init(hashes))
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
            let texts = self.texts.get_or_init(|| readings::all(given()));
            let reading = |text| LineReading::new(text, readings::escapes::brings_in_quotes(text));
            texts.iter().map(reading).collect()
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

/// Where the old lines of an edit may be.
#[derive(Clone, Copy)]
pub(super) struct Site<'s, 'a> {
    pub(super) prepared: &'s Prepared<'a>,
    pub(super) edit: &'s LineEdit<'s>,
    /// Index of the first line.
    pub(super) line: usize,
    /// Whether `old` starts after the indentation of that line.
    pub(super) after_indent: bool,
}

impl<'a> Site<'_, 'a> {
    /// Offset at which the first line starts.
    pub(super) fn start(self) -> usize {
        self.prepared.lines()[self.line].start
    }

    /// The file's lines here, the first one without its indentation where the site starts after it.
    pub(super) fn file_lines(self) -> Vec<&'a str> {
        let lines = self.line..self.line + self.edit.old.len();
        let mut file: Vec<&str> = lines.map(|line| self.prepared.line(line)).collect();
        if self.after_indent {
            file[0] = file[0].trim_start_matches([' ', '\t']);
        }
        file
    }
}

/// The step before the first one that lists the file's lines: refuses a file with too many of them.
pub(super) fn refuse_too_many_lines(prepared: &Prepared<'_>) -> Outcome {
    let text = prepared.text;
    if text.len() > MAX_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > MAX_LINES {
        return Outcome::Refused(Refusal::TooManyLines);
    }
    Outcome::None
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::{Exact, LineNumbers},
        testing::{assert_edited, assert_missed, edited},
    };

    const FILE: &str = "fn f() {\n    log(\"a < b\");\n    go('x');\n}\n";
    const OLD: &str = "    log(\"a < b\");\n    go('x');\n";
    const NEW: &str = "    log(\"a < b\");\n    log(\"a < c\");\n    go('x');\n";

    /// What is done to a text on its way.
    type Damage = fn(&str) -> String;

    fn by_line(text: &str, edit: impl Fn(usize, &str) -> String) -> String {
        text.lines().enumerate().map(|(index, line)| edit(index, line) + "\n").collect()
    }

    const DAMAGES: [(&str, Damage); 8] = [
        ("curly quotes", |text| text.replace("(\"", "(“").replace("\")", "”)")),
        ("entities", |text| text.replace('<', "&lt;").replace('"', "&quot;")),
        ("quotes escaped", |text| text.replace('"', "\\\"").replace('“', "\\“").replace('”', "\\”")),
        ("white space", |text| by_line(text, |_, line| format!("{line}  "))),
        ("indentation", |text| by_line(text, |_, line| line.trim_start().to_owned())),
        ("gutter", |text| by_line(text, |index, line| format!("{}\t{line}", index + 2))),
        ("newlines escaped", |text| text.strip_suffix('\n').unwrap_or(text).replace('\n', "\\n").replace('\t', "\\t")),
        ("CR LF", |text| text.replace('\n', "\r\n")),
    ];

    #[test]
    fn new_text_gets_the_repairs_of_the_old_one_for_each_pair_of_damages() {
        let wanted = FILE.replace(OLD, NEW);
        let mut right = 0;
        for (at, (first_name, first)) in DAMAGES.iter().enumerate() {
            for (second_name, second) in &DAMAGES[at + 1..] {
                for (old, new) in [(OLD, NEW), (OLD.trim_end_matches('\n'), NEW.trim_end_matches('\n'))] {
                    let damaged = |text: &str| second(&first(text));
                    if let Ok((_, made)) = edited(FILE, &damaged(old), &damaged(new)) {
                        assert_eq!(made, wanted, "{first_name}, {second_name}");
                        right += 1;
                    }
                }
            }
        }
        assert!(right >= 44, "only {right} of 56 are made");
    }

    #[test]
    fn escapes_that_a_second_damage_hides_are_never_written() {
        let file = "a = load(\"one\")\nb = load(\"two\")\nc = receive(\"three\")\n";
        let old = file.replace('"', "\\\"");
        let new = format!("{old}d = load(\\\"four\\\")\n");
        let wanted = format!("{file}d = load(\"four\")\n");
        for damage in [|text: &str| text.replace("receive", "recieve"), |text: &str| text.replace(", ", ",")] {
            if let Ok((_, made)) = edited(file, &damage(&old), &damage(&new)) {
                assert_eq!(made, wanted);
            }
        }
        // Nor those of quotes that only new text has.
        let (file, old, new) = ("a = load(1)\nb = load(2)\n", "1\ta = load(1)\n", "1\ta = load(\\\"1\\\")\n");
        assert_missed(file, old, new);
        assert_missed(file, "a = load(1) \n", "a = load(\\\"1\\\") \n");
        assert_edited(file, "a = load(1)", "a = load(\\\"1\\\")", Exact, &file.replace('1', "\\\"1\\\""));
        // The file's own escapes are as good as any.
        let file = "x = \"a \\\"b\\\"\"\ny = 1\n";
        let (old, new) = ("1\tx = \"a \\\"b\\\"\"\n2\ty = 1\n", "1\tx = \"a \\\"c\\\"\"\n2\ty = 1\n");
        assert_edited(file, old, new, LineNumbers, &file.replace('b', "c"));
    }
}
