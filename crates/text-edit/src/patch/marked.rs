//! The `*** Begin Patch` form.

use super::envelope::{BEGIN_PATCH, END_PATCH, MarkedLines, is_wrapping};
use super::{FileAction, FilePatch, MAX_HUNKS, MOST_FILES, Patch, PatchError, PatchHunk, PatchPath, hunk::HunkHeader};

const END_OF_FILE: &str = "*** End of File";
const HEADER_HINT: &str =
    "a section begins with `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`";

pub(super) fn parse<'p>(lines: &MarkedLines<'p>) -> Result<Patch<'p>, PatchError> {
    let mut reader = MarkedReader { lines, at: lines.begin + 1, hunks: 0, notes: Vec::new() };
    reader.outside(0..lines.begin);
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        match line.trim() {
            "" => reader.at += 1,
            END_PATCH => reader.after_end(),
            _ => {
                PatchError::check_count(reader.number(), files.len(), MOST_FILES, "files")?;
                files.push(reader.file(line)?);
            }
        }
    }
    Ok(Patch { files, notes: reader.notes })
}

struct MarkedReader<'r, 'p> {
    lines: &'r MarkedLines<'p>,
    at: usize,
    hunks: usize,
    notes: Vec<String>,
}

impl<'p> MarkedReader<'_, 'p> {
    /// The line to be read, unless the patch has ended.
    fn peek(&self) -> Option<&'p str> {
        self.lines.all.get(self.at).copied()
    }

    /// The line to be read within a section, unless that has ended.
    fn peek_in_section(&self) -> Option<&'p str> {
        // White space before `*** End Patch` may be a context line's; at the end of the patch it is not.
        let is_end = |line: &&str| self.at == self.lines.end || line.trim_end() == END_PATCH;
        self.peek().filter(|line| !is_end(line))
    }

    fn number(&self) -> usize {
        self.at + 1
    }

    fn outside(&mut self, range: std::ops::Range<usize>) {
        let ignored = self.lines.all[range.clone()].iter().filter(|line| !is_wrapping(line)).count();
        if ignored > 0 {
            let place =
                if range.start == 0 { format!("before `{BEGIN_PATCH}`") } else { format!("after `{END_PATCH}`") };
            let lines = if ignored == 1 { "1 line" } else { &format!("{ignored} lines") };
            self.notes.push(format!("{lines} {place} not used"));
        }
    }

    /// Goes on after `*** End Patch`: at the next patch, if one follows.
    fn after_end(&mut self) {
        let rest = self.at + 1;
        let next = self.lines.all[rest..].iter().position(|line| line.trim() == BEGIN_PATCH).map(|found| rest + found);
        let next = next.filter(|next| *next < self.lines.end);
        self.outside(rest..next.unwrap_or(self.lines.all.len()));
        self.at = next.map_or(self.lines.all.len(), |next| next + 1);
    }

    fn file(&mut self, line: &'p str) -> Result<FilePatch<'p>, PatchError> {
        let number = self.number();
        let header = line.trim();
        let path = |marker: &str| header.strip_prefix(marker).map(str::trim);
        let named = |path: &str| match path {
            "" => Err(PatchError::at(number, format!("`{header}` names no file")).hint(HEADER_HINT)),
            path => Ok(PatchPath::plain(below(self.lines.directory.as_deref(), path))),
        };
        self.at += 1;
        let action = if let Some(path) = path("*** Add File:") {
            let path = named(path)?;
            FileAction::Add { path, lines: self.added_lines()?, final_newline: true, executable: false }
        } else if let Some(path) = path("*** Delete File:") {
            FileAction::Delete { path: named(path)?, hunks: Vec::new() }
        } else if let Some(name) = path("*** Update File:") {
            let path = named(name)?;
            let to = self.peek_in_section().and_then(|line| line.trim().strip_prefix("*** Move to:"));
            let to = to.map(|to| named(to.trim())).transpose()?;
            self.at += usize::from(to.is_some());
            let hunks = self.hunks(name)?;
            if hunks.is_empty() && to.is_none() {
                return Err(PatchError::at(number, format!("the section of {name} has no hunk"))
                    .hint("write the lines that change, with `-` and `+` in front, after a line `@@`"));
            }
            FileAction::Update { path, to, hunks }
        } else {
            let shown: String = header.chars().take(80).collect();
            return Err(PatchError::at(number, format!("`{shown}` is not the header of a section")).hint(HEADER_HINT));
        };
        Ok(FilePatch { line: number, action })
    }

    fn added_lines(&mut self) -> Result<Vec<&'p str>, PatchError> {
        let mut lines = Vec::new();
        while let Some(line) = self.peek_in_section() {
            if let Some(added) = line.strip_prefix('+') {
                lines.push(added);
            } else if line.trim().is_empty() {
                // An empty line that lacks its `+`, if more of the content follows.
                let rest = &self.lines.all[self.at..self.lines.end];
                let blank = rest.iter().take_while(|line| line.trim().is_empty()).count();
                if rest.get(blank).is_none_or(|line| !line.starts_with('+')) {
                    self.at += blank;
                    break;
                }
                lines.extend(std::iter::repeat_n("", blank));
                self.at += blank;
                continue;
            } else if line.trim_start().starts_with("*** ") {
                break;
            } else {
                return Err(PatchError::at(self.number(), "a line of an added file does not begin with `+`")
                    .hint("put `+` in front of every line of the new file, empty ones included"));
            }
            self.at += 1;
        }
        Ok(lines)
    }

    fn hunks(&mut self, path: &str) -> Result<Vec<PatchHunk<'p>>, PatchError> {
        let mut hunks: Vec<PatchHunk<'_>> = Vec::new();
        while let Some(line) = self.peek_in_section() {
            if line.trim().is_empty() {
                self.at += 1;
            } else if line.starts_with('*') {
                if line.trim_end() != END_OF_FILE {
                    break;
                }
                return Err(PatchError::at(self.number(), format!("`{END_OF_FILE}` does not follow a hunk"))
                    .hint("write it after the lines of the hunk that the file ends with"));
            } else {
                PatchError::check_count(self.number(), self.hunks, MAX_HUNKS, "hunks")?;
                self.hunks += 1;
                let hunk = self.hunk().map_err(|error| error.in_hunk(hunks.len() + 1, path))?;
                hunks.push(hunk);
            }
        }
        Ok(hunks)
    }

    fn hunk(&mut self) -> Result<PatchHunk<'p>, PatchError> {
        let mut hunk = PatchHunk { line: self.number(), ..PatchHunk::default() };
        while let Some(header) = self.peek_in_section().and_then(HunkHeader::parse) {
            hunk.contexts.extend(header.context);
            hunk.at = header.at.or(hunk.at);
            hunk.heading = header.heading.or(hunk.heading);
            self.at += 1;
        }
        let mut marked = Vec::new();
        while let Some(line) = self.peek_in_section() {
            match line.as_bytes().first() {
                Some(b'\\') if line.starts_with("\\ ") => marked.extend(hunk.lines.last().copied()),
                Some(b'@') if HunkHeader::parse(line).is_some() => break,
                Some(b'*') if line.starts_with("*** ") => {
                    hunk.at_end = line.trim_end() == END_OF_FILE;
                    self.at += usize::from(hunk.at_end);
                    break;
                }
                _ => hunk.push(line),
            }
            self.at += 1;
        }
        hunk.finish(&marked)
    }
}

/// A path of a section below the directory of the patch, unless it is absolute.
fn below(directory: Option<&str>, path: &str) -> String {
    match directory.filter(|_| !path.starts_with(['/', '~']) && !path.contains(':')) {
        Some(directory) => format!("{}/{path}", directory.trim_end_matches('/')),
        None => path.to_owned(),
    }
}
