//! Edits of several files in one call: which entries are for which file, worked out together.
//!
//! All names of a file are one file. Everything is checked before anything is changed, and all that is wrong with the
//! files is one error.

use confined_fs::{Workspace, WorkspacePath, WritablePath};

use super::{
    super::{CallContext, ExistingKind, Kind, ToolError, answer::count},
    entry::EditEntry,
    failures::Failures,
    glob_files::{FilesWithText, GlobFiles},
    job::Job,
    planned::Planned,
    planned_file::PlannedFile,
    planned_files::PlannedFiles,
    total_size::{TotalSize, too_large},
};

/// Files in one call: as many as a line of the audit lists.
const MAX_FILES: usize = 100;

/// Which files an entry of `edits` is for.
#[derive(Clone, Debug)]
pub(super) enum EntryTarget {
    /// The file of this path.
    Path(String),
    /// Every file of a glob that holds the text, below this directory.
    Glob { glob: String, under: Option<String> },
}

/// The edits of each file, in the order in which the call first names it.
#[derive(Default)]
pub(super) struct FileJobs {
    jobs: Vec<Job>,
    /// What there is to know of the searches for files.
    notes: Vec<String>,
    /// Entries with a glob, each with the number of its files that were searched.
    globs: Vec<(String, usize)>,
}

impl FileJobs {
    /// Groups `entries` by their files.
    ///
    /// # Errors
    /// Where a path is none of a file that may be written, or a glob is unusable.
    pub(super) fn of(cx: &CallContext, entries: Vec<(EntryTarget, EditEntry)>) -> Result<Self, ToolError> {
        let (mut this, mut failures) = (Self::default(), Failures::default());
        for (target, entry) in entries {
            cx.check()?;
            let name = entry.name.clone();
            let added = match target {
                EntryTarget::Path(path) => this.add_path(cx, &path, entry),
                EntryTarget::Glob { glob, under } => this.add_glob(cx, &glob, under.as_deref(), &entry),
            };
            if let Err(error) = added {
                failures.add(cx, error.within(&name))?;
            }
        }
        failures.finish(cx)?;
        Ok(this)
    }

    /// The only file, if the call names no other and has no glob.
    pub(super) fn only(self) -> Result<Job, Self> {
        match <[Job; 1]>::try_from(self.jobs) {
            Ok([job]) if self.globs.is_empty() => Ok(job),
            Ok(jobs) => Err(Self { jobs: jobs.into(), ..self }),
            Err(jobs) => Err(Self { jobs, ..self }),
        }
    }

    fn add_path(&mut self, cx: &CallContext, given: &str, entry: EditEntry) -> Result<(), ToolError> {
        let path = match self.created_before(cx, given) {
            Some(path) => path,
            None if entry.creates() => cx.resolve_new_file(given)?,
            None => cx.existing(given, ExistingKind::File)?,
        };
        let target = cx.workspace.writable(&path)?;
        self.add(path, target, entry);
        Ok(())
    }

    /// The file of that path, if an entry before makes it: what is not there yet would be searched for by its end.
    fn created_before(&self, cx: &CallContext, given: &str) -> Option<WorkspacePath> {
        let path = cx.workspace.resolve(given).ok()?;
        let job = self.jobs.iter().find(|job| job.path == path || job.target.path() == &path)?;
        cx.workspace.is_missing(&path).then(|| job.path.clone())
    }

    fn add_glob(
        &mut self,
        cx: &CallContext,
        glob: &str,
        under: Option<&str>,
        entry: &EditEntry,
    ) -> Result<(), ToolError> {
        let text = entry.everywhere()?;
        let files = GlobFiles::read(cx, glob, under)?;
        let FilesWithText { mut paths, searched, notes } = files.holding(cx, &text.old)?;
        // An edit before this one may have put the text into a file.
        let others = self.jobs.iter().map(|job| &job.path).filter(|path| !paths.contains(path));
        let others = files.among(cx, others.collect())?;
        paths.extend(others);
        // Each file has the new text at least once, and a copy of the entry.
        if (text.new.len() as u64).saturating_mul(paths.len() as u64) > cx.settings.max_file_size {
            return Err(too_large(cx));
        }
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.globs.push((entry.name.clone(), searched));
        for path in paths {
            let target = cx.workspace.writable(&path)?;
            self.add(path, target, EditEntry { in_glob: true, ..entry.clone() });
        }
        Ok(())
    }

    fn add(&mut self, path: WorkspacePath, target: WritablePath, entry: EditEntry) {
        match self.jobs.iter_mut().find(|job| job.target.path() == target.path()) {
            Some(job) => job.edits.push(entry),
            None => self.jobs.push(Job {
                path,
                target,
                edits: vec![entry],
                expected: None,
                expected_revision: None,
                is_one_of_several: false,
            }),
        }
    }

    /// Works out the edits of every file; writes nothing. In a dry run files that only globs name need not have been
    /// seen: it shows them.
    ///
    /// # Errors
    /// All that is wrong with the files; where a glob changes none, or too many are changed.
    pub(super) fn work_out(
        self,
        cx: &CallContext,
        expected: Option<usize>,
        dry_run: bool,
    ) -> Result<PlannedFiles, ToolError> {
        let Self { jobs, mut notes, globs } = self;
        let (mut files, mut failures, mut size) = (Vec::new(), Failures::default(), TotalSize::default());
        let mut used = vec![0; globs.len()];
        for mut job in jobs {
            cx.check()?;
            let glob_of = |one: &EditEntry| globs.iter().position(|(name, _)| *name == one.name);
            let of_globs: Vec<Option<usize>> = job.edits.iter().map(glob_of).collect();
            name_file(&cx.workspace, &mut job);
            match work_out(cx, &job, dry_run) {
                Ok(None) => {}
                Ok(Some(planned)) => {
                    if files.len() == MAX_FILES {
                        return Err(too_many());
                    }
                    size.add(cx, &planned)?;
                    for (glob, _) in of_globs.into_iter().zip(&planned.counts).filter(|(_, count)| **count > 0) {
                        if let Some(glob) = glob {
                            used[glob] += 1;
                        }
                    }
                    files.push(PlannedFile { job, planned });
                }
                Err(error) => failures.add_file(cx, &job, error)?,
            }
        }
        for ((name, searched), used) in globs.iter().zip(used) {
            notes.push(format!("({name}: in {used} of {})", count(*searched, "searched file")));
            // Where files cannot be planned, a glob may have changed one of them.
            if used == 0 && failures.is_empty() {
                failures.add(cx, in_no_file(*searched).within(name))?;
            }
        }
        failures.finish(cx)?;
        PlannedFiles { files, notes, expected }.counted()
    }
}

/// Names the file in the errors of its entries. Nobody has passed the names of files in an untrusted root that a glob
/// has found: they are not for a sentence of the server.
fn name_file(workspace: &Workspace, job: &mut Job) {
    job.is_one_of_several = true;
    let is_untrusted = workspace.is_untrusted(job.target.path());
    for one in &mut job.edits {
        if !(one.in_glob && is_untrusted) {
            one.name_file(&job.path);
        }
    }
}

/// The edits of a file. `None` if only a glob names the file, and it does not hold the text as it would be matched.
fn work_out(cx: &CallContext, job: &Job, dry_run: bool) -> Result<Option<Planned>, ToolError> {
    if !job.is_of_globs() {
        return job.work_out(cx).map(Some);
    }
    let planned = job.work_out_unseen(cx)?;
    match planned.replacements {
        0 => Ok(None),
        _ if dry_run => Ok(Some(planned)),
        _ => job.work_out(cx).map(Some),
    }
}

fn in_no_file(searched: usize) -> ToolError {
    ToolError::new(Kind::NoMatch, format!("old_string is in none of the {} of the glob", count(searched, "file")))
        .hint("grep for a part of old_string to see how the files spell it; an ignored file needs a path of its own")
}

fn too_many() -> ToolError {
    ToolError::new(Kind::TooLarge, format!("this call would change more than {MAX_FILES} files"))
        .hint("nothing was changed; use a narrower glob, one call for each part of the tree")
}
