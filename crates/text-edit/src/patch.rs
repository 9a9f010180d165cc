//! Patches as models write them: the `*** Begin Patch` form of GPT models, and unified diffs of diff and git.
//!
//! [`Patch::parse`] reads a patch into one [`FilePatch`] for each file, in their order. It knows no file: whether a
//! path is there and where a hunk belongs is found out by what applies it. What models get wrong without a doubt about
//! the meaning is accepted (line counts of a hunk, its line numbers, fences and sentences around the patch, a shell's
//! heredoc) and noted where something of it was not used; everything else is a [`PatchError`] with the line.
//!
//! The forms: <https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html>,
//! <https://git-scm.com/docs/diff-generate-patch>, and the grammar in the repository of codex
//! (`codex-rs/apply-patch`).
//!
//! Limits: [`MOST_FILES`] files and [`MAX_HUNKS`] hunks. Memory is that of the text and one word or two for each line.

mod envelope;
mod file_patch;
mod hunk;
mod marked;
mod section;
mod unified;

use envelope::Form;

pub use file_patch::{
    FileAction, FilePatch, FinalNewline, HunkLine, MAX_HUNKS, MOST_FILES, Patch, PatchError, PatchHunk, PatchPath,
};

impl<'p> Patch<'p> {
    /// Reads a patch in either form.
    ///
    /// # Errors
    /// Where the text is no patch, or a part of it cannot be meant for sure.
    ///
    /// # Examples
    /// ```
    /// use text_edit::patch::{FileAction, HunkLine, Patch};
    ///
    /// let text = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    /// let patch = Patch::parse(text).unwrap();
    /// let FileAction::Update { path, hunks, .. } = &patch.files[0].action else { panic!("no update") };
    /// assert_eq!(path.choices[0], "src/x.rs");
    /// assert_eq!(hunks[0].lines[1], HunkLine::Removed("two"));
    /// ```
    pub fn parse(text: &'p str) -> Result<Self, PatchError> {
        let mut patch = match Form::of(text)? {
            Form::Marked(lines) => marked::parse(&lines)?,
            Form::Unified(lines, end) => unified::parse(&lines, end)?,
        };
        if patch.files.is_empty() {
            return Err(PatchError::whole("the patch holds no file").hint("add a section for each file to be changed"));
        }
        patch.notes.dedup();
        Ok(patch)
    }
}

#[cfg(test)]
mod tests;
