//! Edits of several files in one call: which entries are for which file, worked out together, shown to a person together,
//! and made together or not at all.
//!
//! All names of a file are one file. Everything is checked before anything is changed, and all that is wrong with the
//! files is one error.

use std::{fmt::Write as _, sync::Arc};

use change_set::{Approval, Workspace, WritablePath};
use confined_fs::WorkspacePath;
use text_file::shorten;

use crate::session::Cost;

use super::{
    super::{
        Answer, CallContext, Change, ExistingKind, Fingerprint, Kind, Preview, ToolError,
        answer::count,
        commit::{self, ChangeStep, CommittedFiles, Undoable},
        fence::fenced,
    },
    entry::{EditEntry, EntryChange},
    file_edit::{FileEdit, PlannedEdit},
    glob_files::{FilesWithText, GlobFiles},
    report::{FilesReport, replacements},
};

/// Files in one call: as many as a line of the audit lists.
const MAX_FILES: usize = 100;

#[derive(Clone, Debug)]
pub(super) enum EntryTarget {
    Path(String),
    Glob { glob: String, under: Option<String> },
}

/// The edits of each file, in the order in which the call first names it.
#[derive(Default)]
pub(super) struct FilesEdit {
    jobs: Vec<FileEdit>,
    notes: Vec<String>,
    globs: Vec<UsedGlob>,
}

impl FilesEdit {
    /// Groups `entries` by their files.
    ///
    /// # Errors
    /// Where a path is not that of a file that may be written, or a glob is unusable.
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

    pub(super) fn only(self) -> Result<FileEdit, Self> {
        match <[FileEdit; 1]>::try_from(self.jobs) {
            Ok([job]) if self.globs.is_empty() => Ok(job),
            Ok(jobs) => Err(Self { jobs: jobs.into(), ..self }),
            Err(jobs) => Err(Self { jobs, ..self }),
        }
    }

    fn add_path(&mut self, cx: &CallContext, given: &str, entry: EditEntry) -> Result<(), ToolError> {
        let path = match self.created_before(cx, given) {
            Some(path) => path,
            None if entry.creates() => cx.resolve_new_file(given, |_| false)?,
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
        let meets = |one: &&EditEntry| {
            let old = if let EntryChange::Text(one) = &one.change { one.old.as_str() } else { "" };
            !old.is_empty() && (old.contains(&text.old) || text.old.contains(old))
        };
        let before = self.jobs.iter().filter(|job| paths.contains(&job.path)).flat_map(|job| &job.edits);
        let met = before.filter(|one| one.name != entry.name).find(meets).map(|one| one.place().to_owned());
        self.globs.push(UsedGlob { name: entry.name.clone(), searched, holding: paths.len(), met });
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
        for path in paths {
            let target = cx.workspace.writable(&path)?;
            self.add(path, target, EditEntry { in_glob: true, ..entry.clone() });
        }
        Ok(())
    }

    fn add(&mut self, path: WorkspacePath, target: WritablePath, entry: EditEntry) {
        match self.jobs.iter_mut().find(|job| job.target.path() == target.path()) {
            Some(job) => job.edits.push(entry),
            None => self.jobs.push(FileEdit::new(path, target, vec![entry])),
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
        let (mut files, mut failures, mut size) = (Vec::new(), Failures::default(), (0, 0));
        let mut used = vec![0; globs.len()];
        for mut job in jobs {
            cx.check()?;
            let glob_of = |one: &EditEntry| globs.iter().position(|glob| glob.name == one.name);
            let of_globs: Vec<Option<usize>> = job.edits.iter().map(glob_of).collect();
            name_file(&cx.workspace, &mut job);
            let job = Arc::new(job);
            match work_out(cx, &job, dry_run) {
                Ok(None) => {}
                Ok(Some(planned)) => {
                    if files.len() == MAX_FILES {
                        return Err(too_many());
                    }
                    check_size(cx, &mut size, &planned)?;
                    for (glob, _) in of_globs.into_iter().zip(&planned.made.counts).filter(|(_, count)| **count > 0) {
                        if let Some(glob) = glob {
                            used[glob] += 1;
                        }
                    }
                    files.push(planned);
                }
                Err(error) => failures.add_file(cx, &job, error)?,
            }
        }
        for (UsedGlob { name, searched, holding, met }, used) in globs.iter().zip(used) {
            let met = met.as_ref().filter(|_| used < *holding);
            let others = met.map_or_else(String::new, |other| format!("; {other} of this call changes it in others"));
            notes.push(format!("({name}: in {used} of {}{others})", count(*searched, "searched file")));
            // Where files cannot be planned, a glob may have changed one of them.
            if used == 0 && failures.is_empty() {
                failures.add(cx, in_no_file(*searched, met).within(name))?;
            }
        }
        failures.finish(cx)?;
        PlannedFiles { files, notes, expected }.counted()
    }
}

/// Names the file in the errors of its entries. Nobody has passed the names of files in an untrusted root that a glob
/// has found: they are not for a sentence of the server.
fn name_file(workspace: &Workspace, job: &mut FileEdit) {
    job.is_one_of_several = true;
    let is_untrusted = workspace.is_untrusted(job.target.path());
    for one in &mut job.edits {
        if !(one.in_glob && is_untrusted) {
            one.name_file(&job.path);
        }
    }
}

/// The edits of a file. `None` if only a glob names the file, and it does not hold the text as it would be matched.
fn work_out(cx: &CallContext, job: &Arc<FileEdit>, dry_run: bool) -> Result<Option<PlannedEdit>, ToolError> {
    if !job.is_of_globs() {
        return job.work_out(cx).map(Some);
    }
    let planned = job.work_out_unseen(cx)?;
    match planned.replacements() {
        0 => Ok(None),
        _ if dry_run => Ok(Some(planned)),
        // Again, with the check: a file of a glob that does not hold the text need not have been seen.
        _ => job.work_out(cx).map(Some),
    }
}

/// A glob of the call, whose entry was added to each file that may hold its text.
struct UsedGlob {
    name: String,
    searched: usize,
    holding: usize,
    met: Option<String>,
}

/// `met`: an entry before that takes the text away.
fn in_no_file(searched: usize, met: Option<&String>) -> ToolError {
    if let Some(other) = met {
        let sentence = format!("{other} of this call replaces old_string in each file of the glob: join both");
        return ToolError::new(Kind::NoMatch, sentence)
            .hint("make one entry of both: each entry is looked for in what those before it leave");
    }
    ToolError::new(Kind::NoMatch, format!("old_string is in none of the {} of the glob", count(searched, "file")))
        .hint("grep for a part of old_string to see how the files spell it; an ignored file needs a path of its own")
}

fn too_many() -> ToolError {
    ToolError::new(Kind::TooLarge, format!("this call would change more than {MAX_FILES} files"))
        .hint("nothing was changed; use a narrower glob, one call for each part of the tree")
}

/// How often the files are planned again because another call or program has changed one of them.
const MAX_ATTEMPTS: usize = 8;

pub(super) struct PlannedFiles {
    files: Vec<PlannedEdit>,
    notes: Vec<String>,
    expected: Option<usize>,
}

impl PlannedFiles {
    fn work_out_again(self, cx: &CallContext) -> Result<Self, ToolError> {
        let mut size = (0, 0);
        let mut files = Vec::with_capacity(self.files.len());
        for PlannedEdit { edit, .. } in self.files {
            cx.check()?;
            let planned = edit.work_out_again(cx)?;
            check_size(cx, &mut size, &planned)?;
            files.push(planned);
        }
        Self { files, ..self }.counted()
    }

    /// These, if they make as many replacements as were expected.
    ///
    /// # Errors
    /// Otherwise.
    fn counted(self) -> Result<Self, ToolError> {
        let made: usize = self.files.iter().map(PlannedEdit::replacements).sum();
        let Some(expected) = self.expected.filter(|expected| *expected != made) else { return Ok(self) };
        let (made_words, files) = (count(made, "replacement"), count(self.files.len(), "file"));
        let sentence = format!("the edits make {made_words} in {files}, not the expected {expected}");
        Err(ToolError::new(if made > expected { Kind::Ambiguous } else { Kind::NoMatch }, sentence)
            .hint("nothing was changed; correct expected_replacements or the edits"))
    }

    pub(super) fn dry_run(&self, cx: &CallContext) -> Answer {
        FilesReport { files: &self.files, notes: self.notes.clone(), written: None }.answer(cx)
    }

    /// Makes all edits, or none. If another call or program changed a file first, all are planned again.
    fn write(mut self, cx: &CallContext, mut approval: Approval) -> Result<(Self, CommittedFiles), ToolError> {
        let mut attempt = 1;
        loop {
            // A commit that finds another file has changed nothing, and the approval is still valid.
            let [own, rest] = approval.for_two_steps();
            approval = rest;
            let changes: Vec<ChangeStep> = self.files.iter().map(PlannedEdit::change).collect();
            match commit::commit_files(cx, "edit", &changes, Undoable::Yes, own) {
                Ok(committed) => return Ok((self, committed)),
                Err(error) if error.kind() == Kind::Stale && approval.is_for_this_plan_only() => {
                    return Err(ToolError::changed_while_asked(self.fingerprint().path).source(error));
                }
                Err(error) if error.kind() == Kind::Stale && attempt < MAX_ATTEMPTS => {}
                Err(error) => return Err(error),
            }
            attempt += 1;
            cx.check()?;
            self = self.work_out_again(cx)?;
        }
    }
}

impl Change for PlannedFiles {
    fn preview(&self) -> Preview {
        let mut diff = String::new();
        // All names come first: a diff of many files is cut.
        for file in &self.files {
            let replaced = if file.is_new() { "new".to_owned() } else { count(file.replacements(), "replacement") };
            let _ = writeln!(diff, " {} | {replaced}", file.edit.path);
        }
        for file in &self.files {
            diff.push('\n');
            diff.push_str(&file.full_diff());
        }
        let (files, replaced) = (count(self.files.len(), "file"), count(replacements(&self.files), "replacement"));
        let destructive = self.files.iter().any(|file| !file.is_new());
        Preview { summary: format!("Edit {files}: {replaced}"), diff, destructive }
    }

    fn fingerprint(&self) -> Fingerprint {
        let all: Vec<Fingerprint> = self.files.iter().map(PlannedEdit::fingerprint).collect();
        Fingerprint::of_several(&all)
    }

    fn cost(&self) -> Cost {
        self.files.iter().map(PlannedEdit::cost).sum()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let (planned, committed) = self.write(cx, approval)?;
        let revisions = committed.files.into_iter().map(|(_, revision)| revision).collect();
        let notes = [planned.notes, committed.notes].concat();
        Ok(FilesReport { files: &planned.files, notes, written: Some(revisions) }.answer(cx))
    }
}

/// Adds a file to the `size` of those before it, in bytes as they are and as they will be.
///
/// # Errors
/// Where all of them are larger than one file may be.
fn check_size(cx: &CallContext, size: &mut (u64, u64), planned: &PlannedEdit) -> Result<(), ToolError> {
    let (old, new) = planned.sizes();
    *size = (size.0 + old, size.1 + new);
    if size.0.max(size.1) <= cx.settings.max_file_size { Ok(()) } else { Err(too_large(cx)) }
}

fn too_large(cx: &CallContext) -> ToolError {
    let limit = cx.settings.max_file_size;
    ToolError::new(Kind::TooLarge, format!("the files of this call are over {limit} bytes together"))
        .hint("nothing was changed; send the edits in several calls")
}

/// Failures after which nothing more is looked at: explaining one can take as long as a search.
const MAX_FAILURES: usize = 8;
/// Characters of a failure that is not the first.
const MAX_FAILURE_CHARS: usize = 160;
const MAX_NAMED_FILES: usize = 5;

/// All that is wrong with the edits of several files, as one error: the first failure whole, the others in a line.
///
/// A model pays for each failed call, so it learns of all that it has to repair.
#[derive(Default)]
struct Failures {
    first: Option<ToolError>,
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
    fn add(&mut self, cx: &CallContext, error: ToolError) -> Result<(), ToolError> {
        // Every file after this one would fail in the same way.
        if matches!(error.kind(), Kind::Cancelled | Kind::TimedOut) {
            return Err(error);
        }
        if self.first.is_none() {
            self.first = Some(error);
            return Ok(());
        }
        self.others.push(shorten(error.message(), MAX_FAILURE_CHARS).into_owned());
        if self.others.len() + 1 < MAX_FAILURES { Ok(()) } else { self.error(cx).map_or(Ok(()), Err) }
    }

    /// Adds the failure of a file.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn add_file(&mut self, cx: &CallContext, job: &FileEdit, error: ToolError) -> Result<(), ToolError> {
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
    fn finish(mut self, cx: &CallContext) -> Result<(), ToolError> {
        self.error(cx).map_or(Ok(()), Err)
    }

    fn is_empty(&self) -> bool {
        self.first.is_none() && self.not_read.is_empty()
    }

    fn error(&mut self, cx: &CallContext) -> Option<ToolError> {
        const NONE_APPLIED: &str = "none of the edits was applied";
        let not_read = self.not_read(cx);
        let Some(mut first) = self.first.take() else { return not_read.map(|error| error.hint(NONE_APPLIED)) };
        if !self.others.is_empty() {
            let more = count(self.others.len(), "more failure");
            first = first.hint(format!("{more} to repair: {}", self.others.join("; ")));
        }
        if let Some(not_read) = not_read {
            first = first.hint(format!("also, {}", not_read.message()));
        }
        Some(first.hint(NONE_APPLIED))
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
            let more = names.len().saturating_sub(MAX_NAMED_FILES);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            message = format!("{message}: {}{more}", names[..names.len().min(MAX_NAMED_FILES)].join(", "));
        }
        let error = ToolError::new(Kind::NotRead, message).hint(if self.is_of_glob {
            "look at the places first: repeat this call with dry_run=true, or where its diff is cut, grep for old_string with \
             literal=true; then repeat this call"
        } else {
            "read them first (read takes several as paths), then repeat this call; a grep hit in a file counts, too"
        });
        if !is_untrusted && names.len() <= MAX_NAMED_FILES {
            return Some(error);
        }
        Some(error.details(fenced(&cx.workspace, self.not_read.iter().map(|(_, real)| real), names.join("\n"))))
    }
}
