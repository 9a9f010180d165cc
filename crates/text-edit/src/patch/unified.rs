//! Unified diffs, those of git included.

use super::envelope::{TextEnd, is_names, is_wrapping};
use super::hunk::{self, ReadHunk};
use super::{FilePatch, MAX_HUNKS, MOST_FILES, Patch, PatchError, section::Section};

/// Empty lines at the end of a patch that a client can have taken off: as many as git has after a change.
const MAX_TAKEN_OFF: usize = 3;
/// Lines by which a header may be wrong on one side only. One by git is not, but a model can have changed what is below.
const MAX_MISCOUNTED_LINES: usize = 5;

pub(super) fn parse<'p>(lines: &[&'p str], end: TextEnd) -> Result<Patch<'p>, PatchError> {
    let mut reader = UnifiedReader { lines, at: 0, hunks: 0, section: None, files: Vec::new() };
    let (mut unused, mut first_unused, mut miscounted, mut hunk_end) = (0_usize, 0, 0_usize, 0);
    while let Some(line) = lines.get(reader.at).copied() {
        let number = reader.at + 1;
        if line.starts_with("diff --git ") {
            reader.begin(Section::of_git(number, line))?;
        } else if is_names(&lines[reader.at..]) {
            reader.names()?;
        } else if line.starts_with("@@@") {
            return Err(PatchError::at(number, "this is a combined diff of a merge (`@@@`)")
                .hint("send the difference from one version, with `@@`"));
        } else if line.starts_with("@@") {
            PatchError::check_count(number, reader.hunks, MAX_HUNKS, "hunks")?;
            reader.hunks += 1;
            let Some(section) = reader.section.as_mut() else {
                return Err(PatchError::at(number, "the hunk belongs to no file")
                    .hint("put `--- a/PATH` and `+++ b/PATH` before it"));
            };
            let named = |error: PatchError| error.in_hunk(section.hunks.len() + 1, &section.shown_name());
            let mut read = hunk::read(lines, reader.at).map_err(named)?;
            if read.next == lines.len() && miscounted == 0 {
                check_end(&mut read, (lines, end), section.is_by_git).map_err(named)?;
            }
            section.hunks.push(read.hunk);
            miscounted += usize::from(read.is_miscounted);
            (reader.at, hunk_end) = (read.next, read.next);
            continue;
        } else if reader.section.as_mut().is_none_or(|section| !section.takes(line)) && !is_wrapping(line) {
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
    if end == TextEnd::WithinLine && reader.ends_in_header(hunk_end) {
        return Err(
            PatchError::at(lines.len(), "the patch ends within the header of a section or hunk").hint(UNENDED_HINT)
        );
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
    Ok(Patch { files: reader.files, notes })
}

/// Refuses a patch that ends within its last hunk, which is this one.
fn check_end(read: &mut ReadHunk<'_>, (lines, end): (&[&str], TextEnd), is_by_git: bool) -> Result<(), PatchError> {
    let (old, new) = read.missing;
    let last = lines.last().copied().filter(|_| end == TextEnd::WithinLine).unwrap_or_default();
    let is_cut = match end {
        TextEnd::Marked => false,
        // Without any line of the file it has no place, which is what it is refused for.
        TextEnd::AfterLine if old > 0 && read.hunk.old().is_empty() => false,
        _ if old.min(new) > 0 => true,
        TextEnd::WithinLine => is_by_git && old + new > 0 || old.max(new) > MAX_MISCOUNTED_LINES,
        TextEnd::AfterLine => is_by_git && old.max(new) > MAX_MISCOUNTED_LINES,
    };
    if !is_cut && is_by_git && last.starts_with('+') {
        // No line that stays comes after it, which would show that it is whole.
        let message = "the last line of the patch is not ended, so it may have been cut";
        return Err(PatchError::at(lines.len(), message).hint(UNENDED_HINT));
    }
    read.hunk.is_open = is_by_git && !last.is_empty();
    if !is_cut {
        return Ok(());
    }
    if end == TextEnd::WithinLine && old == new && old <= MAX_TAKEN_OFF {
        // The file shows whether these are the empty lines that it has there.
        (read.hunk.assumed, read.is_miscounted) = (old, false);
        std::iter::repeat_n("", old).for_each(|line| read.hunk.push(line));
        return Ok(());
    }
    let message = format!(
        "the patch ends within its last hunk: by the hunk's header {} more lines of it are missing ({old} of those before, \
         {new} of those after)",
        old.max(new)
    );
    Err(PatchError::at(read.hunk.line, message).hint(CUT_HINT))
}

/// The advice on a patch that ends too early.
const CUT_HINT: &str =
    "send the whole patch again, in several calls if it is long; if that is all of it, correct the numbers after `@@`";

const UNENDED_HINT: &str = "send the whole patch again, in several calls if it is long; if that is all of it, put a line end after its last line";

/// Beginnings of the lines around hunks. The other lines of git's headers are missed where they are cut.
const HEADER_MARKS: [&str; 6] = ["diff --git ", "index ", "--- ", "+++ ", "@@ ", "\\ No newline at end of file"];

struct UnifiedReader<'r, 'p> {
    lines: &'r [&'p str],
    at: usize,
    hunks: usize,
    section: Option<Section<'p>>,
    files: Vec<FilePatch<'p>>,
}

impl<'p> UnifiedReader<'_, 'p> {
    fn begin(&mut self, section: Section<'p>) -> Result<(), PatchError> {
        self.end()?;
        PatchError::check_count(section.line, self.files.len(), MOST_FILES, "files")?;
        self.section = Some(section);
        Ok(())
    }

    fn end(&mut self) -> Result<(), PatchError> {
        if let Some(section) = self.section.take() {
            self.files.push(section.finish()?);
        }
        Ok(())
    }

    /// Whether the last line of the patch, which is not ended, is only a part of a header. The last hunk ends at `hunk_end`.
    fn ends_in_header(&self, hunk_end: usize) -> bool {
        let last = self.lines.last().copied().unwrap_or_default();
        if hunk_end == self.lines.len() && !last.starts_with('\\') {
            return false;
        }
        let is_part = |header: &&str| header.starts_with(last) && (last.ends_with(' ') || last.len() < header.len());
        let names = self.section.as_ref().map_or("", |section| self.lines[section.line - 1]);
        let renamed = ["rename to ", "copy to "].iter().find_map(|header| last.strip_prefix(header));
        last.starts_with("--- ")
            || HEADER_MARKS.iter().any(is_part)
            || renamed.is_some_and(|name| !names.ends_with(name))
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

#[cfg(test)]
mod tests {
    use crate::patch::{FileAction, Patch};

    const WHOLE_PATCH: &str = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n\
                         @@ -9,3 +9,3 @@ f\n one\n-two\n+2\n three\n\
                         diff --git a/d/old b/d/new\nsimilarity index 100%\nrename from d/old\nrename to d/new\n\
                         diff --git a/e b/f\nsimilarity index 80%\nrename from e\nrename to f\nindex 1234567..89abcde 100644\n--- a/e\n+++ b/f\n\
                         @@ -1,2 +1,2 @@\n-1\n+2\n end\n\
                         diff --git a/none b/none\nnew file mode 100644\nindex 0000000..e69de29\n\
                         diff --git a/name b/name\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/name\n@@ -0,0 +1 @@\n+new\n";

    #[test]
    fn a_patch_that_was_cut_within_a_line_or_between_headers_is_refused() {
        for at in 1..WHOLE_PATCH.len() {
            let (text, rest) = WHOLE_PATCH.split_at(at);
            let is_after_hunk = |rest: &str| ["diff --git ", "@@ "].iter().any(|next| rest.starts_with(next));
            // Nothing shows that anything is missing.
            let is_unseen = text.trim_end().ends_with("new file mode 100644") || rest.starts_with("\\ No");
            if is_unseen || is_after_hunk(rest.trim_start_matches('\n')) {
                continue;
            }
            let Ok(patch) = Patch::parse(text) else { continue };
            let FileAction::Update { hunks, .. } = &patch.files.last().expect("a file").action else {
                panic!("{text}: {patch:?}")
            };
            // Whether its last line is whole, the file shows.
            assert!(hunks.last().is_some_and(|hunk| hunk.is_open || hunk.assumed > 0), "{text}: {patch:?}");
        }
        assert_eq!(Patch::parse(WHOLE_PATCH).expect("a patch").files.len(), 5);
        assert!(Patch::parse(WHOLE_PATCH.trim_end_matches("+new\n")).is_err());
    }
}
