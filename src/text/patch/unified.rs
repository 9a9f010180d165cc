//! Unified diffs, those of git included.

use super::{
    FilePatch, HunkLine, PatchError,
    envelope::{TextEnd, is_wrapping},
    file_patch::{PatchSize, Sections},
    hunk_lines::{self, ReadHunk},
    section::Section,
};

/// Empty lines at the end of a patch that a client can have taken off: as many as git has behind a change.
const MOST_TAKEN_OFF: usize = 3;
/// Lines by which a header may be wrong on one side only. One by git is not, but a model can have changed what is below.
const MISCOUNTED: usize = 5;

pub(super) fn parse<'p>(lines: &[&'p str], end: TextEnd) -> Result<Sections<'p>, PatchError> {
    let mut reader = UnifiedReader { lines, at: 0, size: PatchSize::default(), section: None, files: Vec::new() };
    let (mut unused, mut first_unused, mut miscounted) = (0_usize, 0, 0_usize);
    while let Some(line) = lines.get(reader.at).copied() {
        let number = reader.at + 1;
        if line.starts_with("diff --git ") {
            reader.begin(Section::of_git(number, line))?;
        } else if reader.is_names() {
            reader.names()?;
        } else if line.starts_with("@@@") {
            return Err(PatchError::at(number, "this is a combined diff of a merge (`@@@`)")
                .hint("send the difference from one version, with `@@`"));
        } else if line.starts_with("@@") {
            reader.size.hunk(number)?;
            let Some(section) = reader.section.as_mut() else {
                return Err(PatchError::at(number, "the hunk belongs to no file")
                    .hint("put `--- a/PATH` and `+++ b/PATH` before it"));
            };
            let named = |error: PatchError| error.in_hunk(section.hunks.len() + 1, &section.shown_name());
            let mut read = hunk_lines::read(lines, reader.at).map_err(named)?;
            if read.next == lines.len() && miscounted == 0 {
                check_end(&mut read, end, section.is_by_git()).map_err(named)?;
            }
            section.hunks.push(read.hunk);
            miscounted += usize::from(read.is_miscounted);
            reader.at = read.next;
            continue;
        } else if reader.section.as_mut().is_none_or(|section| !section.takes(number, line)) && !is_wrapping(line) {
            if reader.section.as_ref().is_some_and(Section::is_empty) {
                let shown: String = line.chars().take(80).collect();
                return Err(PatchError::at(number, format!("`{shown}` is no line of a diff's header"))
                    .hint("write `@@ -1,3 +1,4 @@` before the lines of a hunk"));
            }
            let is_after = reader.section.is_some() && !is_usual_text(line);
            if is_after {
                first_unused = if unused == 0 { number } else { first_unused };
                unused += 1;
            }
        }
        reader.at += 1;
    }
    reader.end()?;
    let mut notes = Vec::new();
    if unused > 0 {
        let lines = if unused == 1 { "1 line" } else { &format!("{unused} lines") };
        notes.push(format!("{lines} of the patch, from line {first_unused} on, in no hunk and not used"));
    }
    match miscounted {
        0 => {}
        1 => notes.push("1 hunk taken by its lines, as its header counts others".to_owned()),
        more => notes.push(format!("{more} hunks taken by their lines, as their headers count others")),
    }
    Ok(Sections { files: reader.files, notes })
}

/// Refuses a patch that ends within its last hunk, which is this one.
fn check_end(read: &mut ReadHunk<'_>, end: TextEnd, is_by_git: bool) -> Result<(), PatchError> {
    let (old, new) = read.missing;
    let is_cut = match end {
        TextEnd::Marked => false,
        // Without any line of the file it has no place, which is what it is refused for.
        TextEnd::AfterLine if old > 0 && read.hunk.old().is_empty() => false,
        _ if old.min(new) > 0 => true,
        TextEnd::WithinLine => is_by_git && old + new > 0 || old.max(new) > MISCOUNTED,
        TextEnd::AfterLine => is_by_git && old.max(new) > MISCOUNTED,
    };
    if !is_cut {
        return Ok(());
    }
    if end == TextEnd::WithinLine && old == new && old <= MOST_TAKEN_OFF {
        // The file shows whether these are the empty lines that it has there.
        (read.hunk.assumed, read.is_miscounted) = (old, false);
        read.hunk.lines.extend(std::iter::repeat_n(HunkLine::Kept(""), old));
        return Ok(());
    }
    let message = format!(
        "the patch ends within its last hunk: by the hunk's header {} more lines of it are missing ({old} of those before, \
         {new} of those after)",
        old.max(new)
    );
    Err(PatchError::at(read.hunk.line, message).hint(CUT))
}

/// What to do about a patch that ends too early.
const CUT: &str =
    "send the whole patch again, in several calls if it is long; if that is all of it, correct the numbers behind `@@`";

struct UnifiedReader<'r, 'p> {
    lines: &'r [&'p str],
    at: usize,
    size: PatchSize,
    section: Option<Section<'p>>,
    files: Vec<FilePatch<'p>>,
}

impl<'p> UnifiedReader<'_, 'p> {
    fn begin(&mut self, section: Section<'p>) -> Result<(), PatchError> {
        self.end()?;
        self.size.file(section.line)?;
        self.section = Some(section);
        Ok(())
    }

    fn end(&mut self) -> Result<(), PatchError> {
        if let Some(section) = self.section.take() {
            self.files.push(section.finish()?);
        }
        Ok(())
    }

    fn is_names(&self) -> bool {
        let next = self.lines.get(self.at + 1);
        self.lines[self.at].starts_with("--- ") && next.is_some_and(|next| next.starts_with("+++ "))
    }

    /// Takes the two lines that name a file; the second is left to be passed.
    fn names(&mut self) -> Result<(), PatchError> {
        let number = self.at + 1;
        if self.section.as_ref().is_none_or(|section| !section.wants_names()) {
            self.begin(Section::at(number))?;
        }
        let (old, new) = (&self.lines[self.at][4..], &self.lines[self.at + 1][4..]);
        if let Some(section) = &mut self.section {
            section.name(old, new);
        }
        self.at += 1;
        Ok(())
    }
}

/// Lines of other programs between the files of a diff, and those of an e-mailed patch.
fn is_usual_text(line: &str) -> bool {
    let is_version = line.starts_with(|one: char| one.is_ascii_digit()) && line.contains('.') && !line.contains(' ');
    is_version
        || ["Index: ", "=====", "-- ", "diff ", "Only in ", "From ", "#"].iter().any(|usual| line.starts_with(usual))
}
