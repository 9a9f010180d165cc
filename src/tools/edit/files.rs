//! Edits of several files in one call: which entries are for which file, planned together.
//!
//! The names of a file are one file, whatever its spelling. Everything is checked before anything is changed, and what
//! is wrong with several files is one error.

use crate::{
    edit::{Strategies, Strategy},
    workspace::{WorkspacePath, WritablePath},
};

use super::{
    super::{CallContext, ExistingKind, Kind, ToolError, answer::count},
    entry::EditEntry,
    failures::Failures,
    glob_files::{FilesWithText, GlobFiles},
    job::{Job, Planned},
};

/// Files in one call. An answer, a question to a person and a line of the audit show that many.
pub(super) const MAX_FILES: usize = 100;

/// Which files an entry of `edits` is for.
#[derive(Clone, Debug)]
pub(super) enum EntryTarget {
    /// The file of this path.
    Path(String),
    /// Every file of a glob that holds the text, below this directory.
    Glob { glob: String, under: Option<String> },
}

/// An entry of `edits`, and the files it is for.
#[derive(Clone, Debug)]
pub(super) struct TargetedEntry {
    pub(super) target: EntryTarget,
    pub(super) entry: EditEntry,
}

/// The edits of each file, in the order in which the call first names it.
#[derive(Default)]
pub(super) struct FileJobs {
    pub(super) jobs: Vec<Job>,
    /// What there is to know of the searches for files.
    pub(super) notes: Vec<String>,
    /// Entries with a glob, each with the files of it that were searched.
    globs: Vec<(String, usize)>,
}

/// A file with its edits worked out.
pub(super) struct PlannedFile {
    pub(super) job: Job,
    pub(super) planned: Planned,
}

impl FileJobs {
    /// Groups `entries` by their files.
    ///
    /// # Errors
    /// Where a path is none of a file that may be written, or a glob is unusable or of too many files.
    pub(super) fn of(cx: &CallContext, entries: Vec<TargetedEntry>) -> Result<Self, ToolError> {
        let (mut this, mut failures) = (Self::default(), Failures::default());
        for TargetedEntry { target, entry } in entries {
            cx.check()?;
            let name = entry.name.clone();
            let added = match target {
                EntryTarget::Path(path) => this.add_path(cx, &path, entry),
                EntryTarget::Glob { glob, under } => this.add_glob(cx, &glob, under.as_deref(), entry),
            };
            if let Err(error) = added {
                failures.add(&name, error)?;
            }
        }
        failures.finish()?;
        Ok(this)
    }

    /// Whether a glob is among the entries.
    pub(super) fn has_glob(&self) -> bool {
        !self.globs.is_empty()
    }

    fn add_path(&mut self, cx: &CallContext, given: &str, entry: EditEntry) -> Result<(), ToolError> {
        let new = if entry.creates() { None } else { self.created_by(cx, given) };
        let path = match new {
            Some(path) => path,
            None if entry.creates() => cx.resolve_new_file(given)?,
            None => cx.existing(given, ExistingKind::File)?,
        };
        let target = cx.workspace.writable(&path)?;
        let name = format!("{} ({path})", entry.name);
        self.add(path, target, EditEntry { name, ..entry });
        Ok(())
    }

    /// The file of that path, if an entry before makes it: a search for the end of a path would find another one.
    fn created_by(&self, cx: &CallContext, given: &str) -> Option<WorkspacePath> {
        let path = cx.workspace.resolve(given).ok()?;
        let job = self.jobs.iter().find(|job| job.path == path || job.target.path() == &path)?;
        cx.workspace.is_missing(&path).then(|| job.path.clone())
    }

    fn add_glob(
        &mut self,
        cx: &CallContext,
        glob: &str,
        under: Option<&str>,
        entry: EditEntry,
    ) -> Result<(), ToolError> {
        let Some(text) = entry.text_everywhere() else {
            return Err(ToolError::invalid("a `glob` takes old_string with replace_all=true, and nothing else")
                .hint("set replace_all=true, or name one file as path"));
        };
        let files = GlobFiles::read(cx, glob, under)?;
        let FilesWithText { mut paths, searched, notes } = files.holding(cx, text)?;
        // An edit before this one may have put the text into a file.
        let before: Vec<WorkspacePath> = self.jobs.iter().map(|job| job.path.clone()).collect();
        let missing: Vec<WorkspacePath> = before.into_iter().filter(|path| !paths.contains(path)).collect();
        paths.extend(files.among(cx, &missing)?);
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.globs.push((entry.name.clone(), searched));
        for path in paths {
            let target = cx.workspace.writable(&path)?;
            // Nobody has passed the names of files in an untrusted root: they are not for a sentence of the server.
            let is_untrusted = cx.workspace.is_untrusted(target.path());
            let name = if is_untrusted { entry.name.clone() } else { format!("{} ({path})", entry.name) };
            self.add(path, target, EditEntry { name, in_glob: true, ..entry.clone() });
        }
        Ok(())
    }

    fn add(&mut self, path: WorkspacePath, target: WritablePath, entry: EditEntry) {
        match self.jobs.iter_mut().find(|job| job.target.path() == target.path()) {
            Some(job) => job.edits.push(entry),
            None => self.jobs.push(Job { path, target, edits: vec![entry], expected: None, expected_revision: None }),
        }
    }

    /// Works out the edits of every file; writes nothing. `dry_run`: files that only a glob names need not have been
    /// seen, as they are shown.
    ///
    /// # Errors
    /// What is wrong with the files, all of it in one error; where a glob changes none, or too many are changed.
    pub(super) fn work_out(
        self,
        cx: &CallContext,
        expected: Option<usize>,
        dry_run: bool,
    ) -> Result<(Vec<PlannedFile>, Vec<String>), ToolError> {
        let Self { jobs, notes, globs } = self;
        let (mut files, mut failures): (Vec<PlannedFile>, _) = (Vec::new(), Failures::default());
        let mut size = TotalSize::default();
        for job in jobs {
            cx.check()?;
            match work_out(cx, &job, dry_run) {
                Ok(None) => {}
                Ok(Some(planned)) => {
                    if files.len() == MAX_FILES {
                        return Err(too_many());
                    }
                    size.add(cx, &planned)?;
                    files.push(PlannedFile { job, planned });
                }
                Err(error) => failures.add_file(cx, &job, error)?,
            }
        }
        failures.finish()?;
        for (name, searched) in &globs {
            let is_used = |file: &PlannedFile| {
                let entries = file.job.edits.iter().zip(&file.planned.counts);
                entries.into_iter().any(|(entry, count)| entry.is_named(name) && *count > 0)
            };
            if !files.iter().any(is_used) {
                let message = format!("old_string is in none of the {} of the glob", count(*searched, "file"));
                let error = ToolError::new(Kind::NoMatch, message).within(name);
                return Err(error
                    .hint("grep for a part of old_string to see how the files have it; ignored files must be named by path")
                    .hint("none of the edits was applied")
                    .details(notes.join("\n")));
            }
        }
        check_count(&files, expected)?;
        Ok((files, notes))
    }
}

/// The edits of a file; none where it only is one of a glob and does not hold the text as it would be matched.
fn work_out(cx: &CallContext, job: &Job, dry_run: bool) -> Result<Option<Planned>, ToolError> {
    if !job.is_of_globs() {
        return job.work_out(cx).map(Some);
    }
    let planned = job.work_out_unseen(cx)?;
    if planned.replacements == 0 {
        return Ok(None);
    }
    if dry_run { Ok(Some(planned)) } else { job.work_out(cx).map(Some) }
}

/// As planned before, on the files as they are now.
///
/// # Errors
/// The first that cannot be worked out again.
pub(super) fn work_out_again(
    cx: &CallContext,
    files: Vec<PlannedFile>,
    expected: Option<usize>,
) -> Result<Vec<PlannedFile>, ToolError> {
    let mut size = TotalSize::default();
    let mut again = Vec::new();
    for PlannedFile { job, .. } in files {
        cx.check()?;
        let planned = job.work_out_again(cx)?;
        size.add(cx, &planned)?;
        again.push(PlannedFile { job, planned });
    }
    check_count(&again, expected)?;
    Ok(again)
}

/// Bytes of the files of a call: they are in memory together.
#[derive(Default)]
struct TotalSize {
    old: u64,
    new: u64,
}

impl TotalSize {
    fn add(&mut self, cx: &CallContext, planned: &Planned) -> Result<(), ToolError> {
        self.old += planned.old_bytes();
        self.new += planned.new_bytes();
        let (size, limit) = (self.old.max(self.new), cx.settings.max_file_size);
        if size <= limit {
            return Ok(());
        }
        let message = format!("the files of this call have over {limit} bytes together, the most that is changed at once");
        Err(ToolError::new(Kind::TooLarge, message).hint("nothing was changed; send the edits in several calls"))
    }
}

fn too_many() -> ToolError {
    ToolError::new(Kind::TooLarge, format!("this call would change more than {MAX_FILES} files"))
        .hint("nothing was changed; use a narrower glob, one call for each part of the tree")
}

fn check_count(files: &[PlannedFile], expected: Option<usize>) -> Result<(), ToolError> {
    let replacements: usize = files.iter().map(|file| file.planned.replacements).sum();
    match expected.filter(|expected| *expected != replacements) {
        None => Ok(()),
        Some(expected) => Err(ToolError::new(
            if replacements > expected { Kind::Ambiguous } else { Kind::NoMatch },
            format!(
                "the edits make {} in {}, not the expected {expected}",
                count(replacements, "replacement"),
                count(files.len(), "file")
            ),
        )
        .hint("nothing was changed; correct expected_replacements or the edits")),
    }
}

/// Whether the places of a glob entry may be taken: in files that nobody named, white space at the start and end of lines is
/// all that may differ.
pub(super) fn is_safe_in_glob(strategies: Strategies) -> bool {
    const SAFE: [Strategy; 3] = [Strategy::LineEndings, Strategy::TrailingWhitespace, Strategy::Indentation];
    strategies.is_exact() || strategies.iter().all(|strategy| SAFE.contains(&strategy))
}
