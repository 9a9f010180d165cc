//! All that is wrong with the edits of several files, as one error: the first failure whole, the others in a line.
//!
//! A model pays for each failed call, so it learns of all that it has to repair.

use text_file::shorten;

use confined_fs::WorkspacePath;

use super::{
    super::{CallContext, Kind, ToolError, answer::count, fence::fenced},
    file_edit::FileEdit,
};

/// Failures after which nothing more is looked at: explaining one can take as long as a search.
const MOST: usize = 8;
/// Characters of a failure that is not the first.
const SHOWN: usize = 160;
/// Files that a sentence names.
const NAMED: usize = 5;

#[derive(Default)]
pub(super) struct Failures {
    first: Option<ToolError>,
    /// Of those after the first, in a few words.
    others: Vec<String>,
    /// Files that have not been seen, with the error of the first, and whether a glob has found one of them.
    not_read: Vec<(WorkspacePath, WorkspacePath)>,
    first_not_read: Option<ToolError>,
    is_of_glob: bool,
}

impl Failures {
    /// Adds the failure of an entry.
    ///
    /// # Errors
    /// The call's, when there are enough of them, or when the call has to end.
    pub(super) fn add(&mut self, cx: &CallContext, error: ToolError) -> Result<(), ToolError> {
        // Every file after this one would fail in the same way.
        if matches!(error.kind(), Kind::Cancelled | Kind::TimedOut) {
            return Err(error);
        }
        if self.first.is_none() {
            self.first = Some(error);
            return Ok(());
        }
        self.others.push(shorten(error.message(), SHOWN).into_owned());
        if self.others.len() + 1 < MOST { Ok(()) } else { self.error(cx).map_or(Ok(()), Err) }
    }

    /// Adds the failure of a file.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(super) fn add_file(&mut self, cx: &CallContext, job: &FileEdit, error: ToolError) -> Result<(), ToolError> {
        if error.kind() != Kind::NotRead {
            return self.add(cx, error);
        }
        self.not_read.push((job.path.clone(), job.target.path().clone()));
        self.is_of_glob |= job.is_of_globs();
        self.first_not_read.get_or_insert(error);
        Ok(())
    }

    /// The error of all failures, if there are any.
    ///
    /// # Errors
    /// That one.
    pub(super) fn finish(mut self, cx: &CallContext) -> Result<(), ToolError> {
        self.error(cx).map_or(Ok(()), Err)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.not_read.is_empty()
    }

    fn error(&mut self, cx: &CallContext) -> Option<ToolError> {
        const NONE: &str = "none of the edits was applied";
        let not_read = self.not_read(cx);
        let Some(mut first) = self.first.take() else { return not_read.map(|error| error.hint(NONE)) };
        if !self.others.is_empty() {
            let more = count(self.others.len(), "more failure");
            first = first.hint(format!("{more} to repair: {}", self.others.join("; ")));
        }
        if let Some(not_read) = not_read {
            first = first.hint(format!("also, {}", not_read.message()));
        }
        Some(first.hint(NONE))
    }

    /// The error for the files that have not been seen.
    fn not_read(&mut self, cx: &CallContext) -> Option<ToolError> {
        let only = self.first_not_read.take()?;
        if self.not_read.len() == 1 && !self.is_of_glob {
            return Some(only);
        }
        let names: Vec<String> = self.not_read.iter().map(|(path, _)| path.to_string()).collect();
        let is_untrusted = self.not_read.iter().any(|(_, real)| cx.workspace.is_untrusted(real));
        let mut message = match names.len() {
            1 => "a file has not been read in this session".to_owned(),
            several => format!("{several} files have not been read in this session"),
        };
        if !is_untrusted {
            let more = names.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            message = format!("{message}: {}{more}", names[..names.len().min(NAMED)].join(", "));
        }
        let error = ToolError::new(Kind::NotRead, message).hint(if self.is_of_glob {
            "look at the places first: repeat this call with dry_run=true, or where its diff is cut, grep for old_string with \
             literal=true; then repeat this call"
        } else {
            "read them first (read takes several as paths), then repeat this call; a grep hit in a file counts, too"
        });
        if !is_untrusted && names.len() <= NAMED {
            return Some(error);
        }
        Some(error.details(fenced(&cx.workspace, self.not_read.iter().map(|(_, real)| real), names.join("\n"))))
    }
}
