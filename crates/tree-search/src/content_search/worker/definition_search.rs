//! The definitions of one file whose names match, as hits.

use std::{io, ops::Range};

use confined_fs::{OpenFile, stop::StopSignal};
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use source_outline::Definition;

use crate::{HitLine, Skipped, outline_of_file, read_decoded};

use super::{
    collector::{FileLimits, FileMatches},
    excerpt::{Excerpt, excerpt},
    file_content::FileContent,
};

/// Bytes of a line that are looked at.
const LINE: usize = 64 << 10;

/// What a definition must be to be found, and how many are kept.
pub(super) struct DefinitionSearch<'s> {
    pub(super) names: &'s RegexMatcher,
    /// Declarations without a body, and no others.
    pub(super) prototypes: bool,
    pub(super) limits: FileLimits,
    pub(super) stop: &'s StopSignal,
}

impl DefinitionSearch<'_> {
    /// Searches a file, of which `content` has been read.
    pub(super) fn search(&self, file: &mut OpenFile, content: FileContent<'_>) -> Result<FileMatches, Skipped> {
        let name = file.path().to_string();
        let mut found = FileMatches::default();
        if content.whole && content.bytes.len() <= text_file::HEAD {
            let text = text_file::view(content.bytes, None).map_err(|_| Skipped::Binary)?;
            let definitions = self.wanted(source_outline::definitions(&name, &text));
            let mut lines = DefiningLines::new(&definitions);
            lines.push(&text, |one, line| self.take(one, line, &mut found));
            lines.finish(|one, line| self.take(one, line, &mut found));
            return Ok(found);
        }
        let definitions = match outline_of_file(file, &name, None, self.stop) {
            Ok(definitions) => self.wanted(definitions),
            Err(error) => return self.failed(&error),
        };
        let mut lines = DefiningLines::new(&definitions);
        let read = read_decoded(file, None, self.stop, |piece| {
            lines.push(piece, |one, line| self.take(one, line, &mut found));
        });
        if let Err(error) = read {
            return self.failed(&error);
        }
        lines.finish(|one, line| self.take(one, line, &mut found));
        Ok(found)
    }

    fn failed(&self, error: &io::Error) -> Result<FileMatches, Skipped> {
        match self.stop.stopped() {
            Some(reason) => Ok(FileMatches { stopped: Some(reason), ..FileMatches::default() }),
            None if error.kind() == io::ErrorKind::InvalidData => Err(Skipped::Binary),
            None => Err(Skipped::Unreadable),
        }
    }

    fn wanted(&self, mut definitions: Vec<Definition>) -> Vec<Definition> {
        definitions.retain(|one| one.prototype == self.prototypes);
        definitions
    }

    /// Takes the definition, which is on this line, where it matches.
    fn take(&self, one: &Definition, line: &str, found: &mut FileMatches) {
        let number = one.line as u64;
        // Several on one line are one hit.
        if found.cut || found.lines.last().is_some_and(|last| last.number == number) {
            return;
        }
        let Some(hit) = self.hit(one, line) else { return };
        let index = found.matches;
        found.matches += 1;
        if index >= self.limits.skip {
            let Excerpt { text, cut_at } = excerpt(line.as_bytes(), |_| Some(hit));
            found.bytes += text.len() + size_of::<HitLine>();
            found.lines.push(HitLine { number, text, hit: Some(index), cut_at, scope: None });
        }
        found.cut = found.matches >= self.limits.matches || found.bytes >= self.limits.text;
    }

    /// What is matched of the line, where the definition is meant: its name, in the line or alone (`^load$`), or what
    /// comes before it with the word that defines it (`pub fn`).
    fn hit(&self, one: &Definition, line: &str) -> Option<Range<usize>> {
        let name = span_of(&one.name, line);
        let keyword = line[..name.start].find(one.kind).map(|start| start..start + one.kind.len());
        let mut hit = None;
        let _ = self.names.find_iter(line.as_bytes(), |found| {
            let overlaps = |span: &Range<usize>| found.start() < span.end && span.start < found.end();
            let has_keyword =
                keyword.as_ref().is_some_and(|word| found.start() <= word.start && word.end <= found.end());
            if overlaps(&name) || has_keyword {
                hit = Some(found.start()..found.end());
            }
            hit.is_none()
        });
        let is_named = |text: &str| self.names.is_match(text.as_bytes()).unwrap_or(false);
        hit.or_else(|| {
            (is_named(last_part(&one.name)) || is_named(&one.name) || is_named(&one.label())).then_some(name)
        })
    }
}

/// Where the line has the name, or the last part of it; nothing at its end where it has neither.
fn span_of(name: &str, line: &str) -> Range<usize> {
    let part = last_part(name);
    let found = line.find(name).map(|start| start..start + name.len());
    found.or_else(|| line.rfind(part).map(|start| start..start + part.len())).unwrap_or(line.len()..line.len())
}

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':']).next().filter(|part| !part.is_empty()).unwrap_or(name)
}

/// Finds the lines of definitions in a text that comes in pieces.
#[derive(Debug)]
struct DefiningLines<'d> {
    /// Those whose lines are still to come, ascending.
    definitions: &'d [Definition],
    /// The number of the line that is coming, and what has come of it where it is wanted.
    number: usize,
    line: String,
}

impl<'d> DefiningLines<'d> {
    fn new(definitions: &'d [Definition]) -> Self {
        Self { definitions, number: 1, line: String::new() }
    }

    fn push(&mut self, mut piece: &str, mut take: impl FnMut(&Definition, &str)) {
        while let Some(next) = self.definitions.first() {
            let end = memchr::memchr(b'\n', piece.as_bytes());
            if next.line == self.number {
                let line = &piece[..end.unwrap_or(piece.len())];
                let mut length = line.len().min(LINE.saturating_sub(self.line.len()));
                while !line.is_char_boundary(length) {
                    length -= 1;
                }
                self.line.push_str(&line[..length]);
            }
            let Some(end) = end else { return };
            self.end_line(&mut take);
            piece = &piece[end + 1..];
        }
    }

    /// Ends the text.
    fn finish(mut self, mut take: impl FnMut(&Definition, &str)) {
        self.end_line(&mut take);
    }

    fn end_line(&mut self, take: &mut impl FnMut(&Definition, &str)) {
        while let Some((next, rest)) = self.definitions.split_first().filter(|(next, _)| next.line <= self.number) {
            take(next, &self.line);
            self.definitions = rest;
        }
        self.line.clear();
        self.number += 1;
    }
}
