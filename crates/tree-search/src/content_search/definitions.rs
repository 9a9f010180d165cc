//! What the lines of one source are to the names in them: definitions, prototypes, comments or uses.
//!
//! By the outline of the file, so by patterns of its lines. [`DefinitionSearch`] finds the definitions whose names match;
//! [`NoUses`] the matching lines that are none of the uses: those that declare what matches, and those that have it nowhere
//! but as the name that they define, or in comments.

use std::{borrow::Cow, io, ops::Range};

use confined_fs::{OpenFile, stop::StopSignal};
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use source_outline::{CommentScanner, Definition, Lines, may_have_definitions};

use super::collector::{CHECK_EVERY, FileLimits, FileMatches, excerpt};
use crate::{HitLine, LeftOut, Skipped, file_text::FileContent, outline_of_file, read_decoded};

/// The text of one source, which is read once more where it is large.
struct Source<'s> {
    name: String,
    /// All of it, where it is small.
    text: Option<Cow<'s, str>>,
    file: &'s mut OpenFile,
    stop: &'s StopSignal,
}

impl<'s> Source<'s> {
    fn new(file: &'s mut OpenFile, content: FileContent<'s>, stop: &'s StopSignal) -> io::Result<Self> {
        let is_small = content.whole && content.bytes.len() <= text_file::HEAD_BYTES;
        let view = || text_file::view(content.bytes, None).map_err(|_| io::ErrorKind::InvalidData);
        Ok(Self { name: file.path().to_string(), text: is_small.then(view).transpose()?, file, stop })
    }

    fn definitions(&mut self) -> io::Result<Vec<Definition>> {
        match &self.text {
            Some(text) => Ok(source_outline::definitions(&self.name, text)),
            None => outline_of_file(self.file, &self.name, None, self.stop),
        }
    }

    fn each_line(&mut self, mut take: impl FnMut(&str)) -> io::Result<()> {
        let mut lines = Lines::default();
        match &self.text {
            Some(text) => lines.push(text, &mut take),
            None => read_decoded(self.file, None, self.stop, |piece| lines.push(piece, &mut take))?,
        }
        lines.finish(take);
        Ok(())
    }
}

/// What a file is counted as whose source cannot be read.
pub(super) fn failed(stop: &StopSignal, error: &io::Error) -> Result<FileMatches, Skipped> {
    match stop.stopped() {
        Some(reason) => Ok(FileMatches { stopped: Some(reason), ..FileMatches::default() }),
        None if error.kind() == io::ErrorKind::InvalidData => Err(Skipped::Binary),
        None => Err(Skipped::Unreadable),
    }
}

/// A search for definitions: which of them are hits, and how many are kept.
pub(super) struct DefinitionSearch<'s> {
    pub(super) names: &'s RegexMatcher,
    pub(super) prototypes: bool,
    pub(super) limits: FileLimits,
    pub(super) stop: &'s StopSignal,
}

impl DefinitionSearch<'_> {
    pub(super) fn search(&self, file: &mut OpenFile, content: FileContent<'_>) -> Result<FileMatches, Skipped> {
        self.find(file, content).or_else(|error| failed(self.stop, &error))
    }

    fn find(&self, file: &mut OpenFile, content: FileContent<'_>) -> io::Result<FileMatches> {
        let mut source = Source::new(file, content, self.stop)?;
        let mut definitions = source.definitions()?;
        definitions.retain(|one| one.prototype == self.prototypes);
        let (mut found, mut number, mut rest) = (FileMatches::default(), 0, &definitions[..]);
        source.each_line(|line| {
            number += 1;
            // Several on one line are one hit.
            let hit = on_line(&mut rest, number).iter().filter(|_| !found.cut).find_map(|one| self.hit(one, line));
            if let Some(hit) = hit {
                self.take(number as u64, line, hit, &mut found);
            }
        })?;
        Ok(found)
    }

    fn take(&self, number: u64, line: &str, hit: Range<usize>, found: &mut FileMatches) {
        let index = found.matches;
        found.matches += 1;
        if index >= self.limits.skip {
            let shown = excerpt(line.as_bytes(), |_| Some(hit));
            found.bytes += shown.text.len() + size_of::<HitLine>();
            found.lines.push(HitLine { number, hit: Some(index), ..shown });
        }
        found.cut = found.matches >= self.limits.matches || found.bytes >= self.limits.text;
    }

    /// The matched part of the line, where the definition is meant: its name, in the line or alone (`^load$`), or what
    /// comes before it with the word that defines it (`pub fn`).
    fn hit(&self, one: &Definition, line: &str) -> Option<Range<usize>> {
        let place = NamePlace::new(one, line);
        let mut hit = None;
        // It cannot fail: the error of a regex is `NoError`.
        let _ = self.names.find_iter(line.as_bytes(), |found| {
            hit = Some(found.start()..found.end()).filter(|found| place.is_named_by(found));
            hit.is_none()
        });
        let is_named = |text: &str| self.names.is_match(text.as_bytes()).unwrap_or(false);
        hit.or_else(|| {
            let is_meant = is_named(last_part(&one.name)) || is_named(&one.name) || is_named(&one.label());
            is_meant.then_some(place.name)
        })
    }
}

/// Takes those on line `number` from the definitions whose lines are still to come.
fn on_line<'d>(rest: &mut &'d [Definition], number: usize) -> &'d [Definition] {
    let here = rest.partition_point(|one| one.line <= number);
    let (taken, left) = rest.split_at(here);
    *rest = left;
    taken
}

/// Where a line has the name of a definition, and the word that defines it.
struct NamePlace {
    /// The name, or the last part of it; nothing at the end of a line that has neither.
    name: Range<usize>,
    /// The other parts, where the line has them apart: `func (c *Cache) Load()`.
    owners: Vec<Range<usize>>,
    keyword: Option<Range<usize>>,
}

impl NamePlace {
    fn new(one: &Definition, line: &str) -> Self {
        let part = last_part(&one.name);
        let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let is_whole = |place: &Range<usize>| {
            !is_part(line[..place.start].chars().next_back()) && !is_part(line[place.end..].chars().next())
        };
        let place = |text: &str, start: usize| start..start + text.len();
        let whole = |text: &str| line.match_indices(text).map(|(start, _)| place(text, start)).find(is_whole);
        let (name, owners) = if let Some(name) = whole(&one.name) {
            (name, Vec::new())
        } else {
            let parts = one.name.split(['.', ':', '#', ' ']).filter(|part| !part.is_empty());
            let name = whole(part).or_else(|| Some(place(part, line.rfind(part)?)));
            (name.unwrap_or(line.len()..line.len()), parts.filter_map(whole).collect())
        };
        let keyword = line[..name.start].find(one.kind).map(|start| start..start + one.kind.len());
        Self { name, owners, keyword }
    }

    /// Whether what was found in the line is the name, or the keyword and what may follow it.
    fn is_named_by(&self, found: &Range<usize>) -> bool {
        let has_keyword = |word: &Range<usize>| found.start <= word.start && word.end <= found.end;
        let overlaps = |place: &Range<usize>| found.start < place.end && place.start < found.end;
        overlaps(&self.name) || self.owners.iter().any(overlaps) || self.keyword.as_ref().is_some_and(has_keyword)
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':']).next().filter(|part| !part.is_empty()).unwrap_or(name)
}

/// The lines of a file that match and are no uses.
#[derive(Debug, Default)]
pub(super) struct NoUses {
    /// Their numbers, ascending.
    pub(super) lines: Vec<u64>,
    pub(super) left_out: LeftOut,
}

/// What a matching line is where it is no use; the first of these that one of its matches is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NoUse {
    Prototype,
    Definition,
    Comment,
}

impl NoUses {
    /// Those of `file`, of which `content` has been read.
    ///
    /// # Errors
    /// Those of reading, where the file is not text, and where the call is stopped.
    pub(super) fn of(
        file: &mut OpenFile,
        content: FileContent<'_>,
        matcher: &RegexMatcher,
        stop: &StopSignal,
    ) -> io::Result<Self> {
        let name = file.path().to_string();
        let (mut comments, mut this) = (CommentScanner::new(&name), Self::default());
        if !comments.is_known() && !may_have_definitions(&name) {
            return Ok(this);
        }
        let mut source = Source::new(file, content, stop)?;
        let definitions = source.definitions()?;
        let (mut number, mut rest, mut is_stopped) = (0, &definitions[..], false);
        source.each_line(|line| {
            number += 1;
            // A pattern may need a millisecond for a line.
            is_stopped = is_stopped || number % CHECK_EVERY == 0 && stop.stopped().is_some();
            let (here, comments) = (on_line(&mut rest, number), comments.line(line));
            if here.is_empty() && comments.is_empty() || is_stopped {
                return;
            }
            let left_out = match no_use(matcher, line, here, comments) {
                None => return,
                Some(NoUse::Prototype) => &mut this.left_out.prototypes,
                Some(NoUse::Definition) => &mut this.left_out.definitions,
                Some(NoUse::Comment) => &mut this.left_out.comments,
            };
            *left_out += 1;
            this.lines.push(number as u64);
        })?;
        if is_stopped { Err(io::ErrorKind::Interrupted.into()) } else { Ok(this) }
    }
}

/// What a line with these definitions and comments is, where it matches and is no use: each match in it is in a comment or
/// is the name of a definition. Nothing is used in a line of a prototype that matches.
fn no_use(matcher: &RegexMatcher, line: &str, here: &[Definition], comments: &[Range<usize>]) -> Option<NoUse> {
    let places: Vec<_> = here.iter().map(|one| (one, NamePlace::new(one, line))).collect();
    let kind = |one: &Definition| if one.prototype { NoUse::Prototype } else { NoUse::Definition };
    let is_alias = |one: &Definition, text: &str| one.kind == "typedef" && text == one.name;
    let (mut least, mut uses) = (None, 0);
    // It cannot fail: the error of a regex is `NoError`.
    let _ = matcher.find_iter(line.as_bytes(), |found| {
        let span = if found.is_empty() { 0..line.len() } else { found.start()..found.end() };
        let text = line.get(span.clone()).unwrap_or_default();
        let own = if is_comment(line, &span, comments) {
            Some(NoUse::Comment)
        } else {
            let named = places.iter().find(|(one, place)| place.is_named_by(&span) || is_alias(one, text));
            named.map(|(one, _)| kind(one))
        };
        uses += usize::from(own.is_none());
        least = [least, own].into_iter().flatten().min();
        // Such a match is everywhere.
        !found.is_empty()
    });
    let is_declared = least == Some(NoUse::Prototype) && here.iter().all(|one| one.prototype);
    least.filter(|_| uses == 0 || is_declared)
}

/// Whether all of a span that is not white space is in these comments, which are ascending.
fn is_comment(line: &str, span: &Range<usize>, comments: &[Range<usize>]) -> bool {
    let is_blank = |from: usize, to: usize| line.as_bytes()[from..to].trim_ascii().is_empty();
    let mut at = span.start;
    let later = &comments[comments.partition_point(|comment| comment.end <= at)..];
    for comment in later.iter().take_while(|comment| comment.start < span.end) {
        if comment.start > at && !is_blank(at, comment.start) {
            return false;
        }
        at = comment.end.min(span.end);
    }
    at > span.start && is_blank(at, span.end)
}
