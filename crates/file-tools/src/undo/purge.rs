//! What a person purges: every kept content of a path under all names that it had.
//!
//! A name belongs to an entry for a while: something else may have had it before, and may have it since. So moves are
//! followed from the path, forward and back, with those of the directories above; of a directory everything that was ever
//! in it is meant. The path itself is meant at all times.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{io, time::Duration};

use change_set::{StateDir, Workspace};
use confined_fs::{AccessErrorKind, Revision, Root};
use tree_search::StoredIndexes;

use super::restore::real;
use super::since::{moved_to, path_of};
use crate::session::history::{JournalLine, JournalRecord, KeptContents, RecordKind};
use crate::session::{Session, living, purge_seen};
use crate::{Kind, ToolError, count};

/// Paths that a text names.
const MAX_NAMED: usize = 20;
/// A content that no line names may be one whose change is still to be written down by a process that runs.
const UNNAMED_AFTER: Duration = Duration::from_secs(60);

/// Removes all kept contents of `path`, or of everything, and says what that was. Killed, it can be done again. `ask` gets
/// a text of what goes; its answer is `None` where nobody can be asked.
///
/// # Errors
/// Where nobody agrees; that of the first part that could not be removed.
pub fn purge(
    workspace: &Workspace,
    session: &Session,
    path: Option<&str>,
    ask: impl FnOnce(&str) -> Option<bool>,
) -> Result<String, ToolError> {
    let mut paths = vec![None];
    if let Some(text) = path {
        // Where a link is now, a file may have been, and the one that it leads to is meant as well.
        let asked = workspace.resolve(text)?;
        let own =
            asked.parent().map(|above| real(workspace, &above).child(asked.file_name().unwrap_or_default().as_ref()));
        let both = [own, Some(real(workspace, &asked))].into_iter().flatten();
        paths = both.map(|path| Some(workspace.host_path(&path))).collect();
    }
    let Some(state) = session.purges.state() else {
        return Ok("nothing is kept: there is no state folder (--state-dir)".to_owned());
    };
    let failed = |error: io::Error| {
        ToolError::new(Kind::Internal, format!("the purge is not complete: {error}")).hint("purge again").source(error)
    };
    let what = Selection::of(workspace, state, &paths).map_err(failed)?.text();
    let declined = |why: &str| ToolError::new(Kind::Declined, format!("nothing was removed{why}"));
    match ask(&format!("This goes for good: {what}\nRemove it?")) {
        Some(true) => {}
        Some(false) => return Err(declined("")),
        None => {
            let hint = "nobody can be asked, as stdin is not a terminal: add --yes";
            return Err(declined(&format!("; this would go for good: {what}")).hint(hint));
        }
    }
    // First: a call that is under way looks for it at its end.
    session.purges.write(&paths).map_err(failed)?;
    let selection = Selection::of(workspace, state, &paths).map_err(failed)?;
    selection.remove(state).map_err(failed)?;
    let living = match selection.living {
        0 => String::new(),
        more => format!(
            "\n{} with this state folder will forget before the next call: end any of an older version.",
            count(more, "running server")
        ),
    };
    Ok(format!(
        "Purged {}\nTexts of documents and indexes are made again. The audit is not touched.{living}",
        selection.text()
    ))
}

/// Purges what a call may have kept again of what was purged since the log ended at `start`.
///
/// # Errors
/// Those of the system.
pub fn purge_again(workspace: &Workspace, session: &Session, start: u64) -> io::Result<()> {
    session.forget();
    let Some(state) = session.purges.state() else { return Ok(()) };
    Selection::of(workspace, state, &session.purges.since(start))?.remove(state)
}

/// What goes.
struct Selection {
    kept: KeptContents,
    /// By line of the journal.
    meant: Vec<bool>,
    contents: HashSet<Revision>,
    /// By the key of a root and the hash of the path below it; `None` is all.
    files: Option<HashSet<(String, String)>>,
    living: usize,
}

impl Selection {
    /// Of these host paths; one that is `None` is everything.
    fn of(workspace: &Workspace, state: &StateDir, paths: &[Option<PathBuf>]) -> io::Result<Self> {
        let kept = KeptContents::of(state)?;
        let living = folders(state)?.iter().map(living).sum::<io::Result<usize>>()?;
        let is_all = paths.contains(&None);
        let mut meant = vec![is_all; kept.lines.len()];
        let mut hosts: HashSet<PathBuf> = paths.iter().flatten().cloned().collect();
        let served = workspace.roots().iter().map(|root| root.host());
        let dirs = served.chain(paths.iter().flatten().map(PathBuf::as_path)).flat_map(Path::ancestors);
        let roots: HashMap<String, &Path> = dirs.map(|dir| (Root::key_of(dir), dir)).collect();
        let steps = if is_all { Vec::new() } else { steps(workspace, &roots, &kept.lines) };
        for path in paths.iter().flatten() {
            follow(steps.iter(), path, true, &mut meant, &mut hosts);
            follow(steps.iter().rev(), path, false, &mut meant, &mut hosts);
        }
        let pairs = hosts.iter().flat_map(|host| roots.iter().map(move |(key, dir)| (key, host.strip_prefix(dir))));
        let file = |(key, below): (&String, Result<&Path, _>)| Some((key.clone(), hash_of(below.ok()?)));
        let files = (!is_all).then(|| pairs.filter_map(file).collect::<HashSet<_>>());
        for (line, meant) in kept.lines.iter().zip(&mut meant).filter(|(line, _)| line.record.is_none()) {
            // A torn line: what comes before the name of the file is no content.
            let names = |(_, hash): &(String, String)| memchr::memmem::find(&line.text, hash.as_bytes()).is_some();
            *meant = files.as_ref().is_none_or(|files| files.iter().any(names));
        }
        let mut own = Self { kept, meant, contents: HashSet::new(), files, living };
        let all =
            own.records(true).chain(own.records(false)).flat_map(JournalRecord::revisions).collect::<HashSet<_>>();
        let of_lines: HashSet<Revision> = own.records(true).flat_map(JournalRecord::revisions).collect();
        let goes = |(revision, age): (&Revision, &Duration)| {
            let is_unnamed = || !all.contains(revision) && (living == 0 || *age > UNNAMED_AFTER);
            (is_all || of_lines.contains(revision) || is_unnamed()).then_some(*revision)
        };
        own.contents = own.kept.objects.iter().filter_map(goes).collect();
        Ok(own)
    }

    fn lines(&self, is_meant: bool) -> impl Iterator<Item = &JournalLine> {
        self.kept.lines.iter().zip(&self.meant).filter(move |(_, meant)| **meant == is_meant).map(|(line, _)| line)
    }

    fn records(&self, is_meant: bool) -> impl Iterator<Item = &JournalRecord> {
        self.lines(is_meant).filter_map(|line| line.record.as_ref())
    }

    fn remove(&self, state: &StateDir) -> io::Result<()> {
        self.kept.purge(self.contents.iter(), self.lines(true))?;
        for folder in folders(state)? {
            let is_meant = |file: (String, String)| self.files.as_ref().is_none_or(|files| files.contains(&file));
            purge_seen(&folder, |root, path| is_meant((root.to_owned(), path.to_owned())))?;
            folder.sweep_locked(&folder.lock())?;
        }
        state.remove_unrecoverable()?;
        // Of all roots: a document may have moved from one to another since its text was kept.
        StoredIndexes::new(state.try_clone()?, u64::MAX).clear_all().map(drop)
    }

    fn text(&self) -> String {
        let lines = self.lines(true).filter(|line| line.purged().is_some()).count();
        let names = self.records(true).flat_map(|record| record.to.iter().chain([&record.shown]));
        let has_one = |record: &&JournalRecord| record.revisions().any(|one| self.contents.contains(&one));
        let shared = self.records(false).filter(has_one).map(|record| &record.shown);
        let list = |head: &str, names: BTreeSet<&String>| {
            let shown = names.iter().take(MAX_NAMED).map(|name| if name.is_empty() { "." } else { name });
            let shown: Vec<&str> = shown.collect();
            let more =
                if names.len() > MAX_NAMED { format!(" and {} more", names.len() - MAX_NAMED) } else { String::new() };
            if shown.is_empty() { String::new() } else { format!("{head}{}{more}", shown.join(", ")) }
        };
        let names = list(" of ", names.collect());
        let none = if names.is_empty() { " (no change is recorded)" } else { "" };
        let shared = list("; these lose what they share with it: ", shared.collect());
        format!(
            "{}, {} of the journal{names}{none}{shared}",
            count(self.contents.len(), "content"),
            count(lines, "line")
        )
    }
}

fn hash_of(path: &Path) -> String {
    Revision::of(path.as_os_str().as_encoded_bytes()).to_string()
}

/// The state folder, and those of roles below it.
fn folders(state: &StateDir) -> io::Result<Vec<StateDir>> {
    let roles = state.folders()?.into_iter().filter(|name| name.starts_with("role-"));
    [state.try_clone()].into_iter().chain(roles.map(|name| state.existing_private_folder(&name))).collect()
}

/// What a line says of an entry, by paths of the host.
struct Step<'l> {
    line: usize,
    record: &'l JournalRecord,
    path: PathBuf,
    to: Option<PathBuf>,
    /// Whether something new is at the path since.
    begins: bool,
}

fn steps<'l>(workspace: &Workspace, roots: &HashMap<String, &Path>, lines: &'l [JournalLine]) -> Vec<Step<'l>> {
    let records = || lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.record.as_ref()?)));
    let void = records().filter(|(_, record)| record.kind == RecordKind::Void).map(|(_, record)| record.key());
    let void: HashSet<_> = void.collect();
    let step = |(line, record): (usize, &'l JournalRecord)| {
        let (path, to) = on_host(workspace, roots, record)?;
        let is_made = !void.contains(&record.key());
        let is_new = record.old.is_none() && record.new.is_some() || record.kind == RecordKind::Made;
        Some(Step { line, record, begins: is_made && is_new && to.is_none(), to: to.filter(|_| is_made), path })
    };
    records().filter(|(_, record)| record.is_of_entry()).filter_map(step).collect()
}

/// Where the entry of a line was on the host, and where it moved to; also of a root that was served once, above the path or
/// above a root that is now.
fn on_host(
    workspace: &Workspace,
    roots: &HashMap<String, &Path>,
    record: &JournalRecord,
) -> Option<(PathBuf, Option<PathBuf>)> {
    if let Some(path) = path_of(workspace, record) {
        return Some((workspace.host_path(&path), moved_to(workspace, record).map(|to| workspace.host_path(&to))));
    }
    let (dir, shown) = (roots.get(&record.root)?, &record.shown);
    // It was printed below a name of that root.
    let mut starts = [0].into_iter().chain(shown.match_indices('/').map(|(at, _)| at + 1));
    let start = starts.find(|start| hash_of(Path::new(&shown[*start..])) == record.path)?;
    let to = record.to.as_ref().and_then(|to| to.strip_prefix(&shown[..start]));
    Some((dir.join(&shown[start..]), to.map(|to| dir.join(to))))
}

/// Follows what is at `path`, or in it, through the steps; marks the lines about it, and collects their paths.
fn follow<'s, 'l: 's>(
    steps: impl Iterator<Item = &'s Step<'l>>,
    path: &Path,
    is_forward: bool,
    meant: &mut [bool],
    hosts: &mut HashSet<PathBuf>,
) {
    // Each with the change that gave it: another step of that one does not take it, as when two files change places.
    let mut names = vec![(path.to_owned(), ("", 0))];
    for Step { line, record, path: from, to, begins } in steps {
        let is_other = |name: &Path, at: &Path| name == path || !name.starts_with(at);
        if is_forward && *begins {
            names.retain(|(name, _)| is_other(name, from));
        }
        let to = to.as_ref().unwrap_or(from);
        let (here, there) = if is_forward { (from, to) } else { (to, from) };
        if names.iter().any(|(name, _)| here.starts_with(name)) || there.starts_with(path) {
            meant[*line] = true;
            hosts.extend([from.clone(), to.clone()]);
        }
        if to != from {
            let moved = |(name, _): &(PathBuf, _)| match name.strip_prefix(here) {
                Ok(rest) => Some(there.components().chain(rest.components()).collect()),
                Err(_) => here.starts_with(name).then(|| there.clone()),
            };
            let came: Vec<PathBuf> = names.iter().filter_map(moved).collect();
            names.retain(|(name, change)| *change == record.key() || is_other(name, to));
            names.extend(came.into_iter().map(|name| (name, record.key())));
        } else if *begins {
            names.retain(|(name, _)| is_other(name, from));
        }
    }
}

/// The paths whose content policy denies now and of which contents are kept, with how many lines tell of some; at most `most`.
pub fn kept_secrets(workspace: &Workspace, session: &Session, most: usize) -> Vec<(String, usize)> {
    let kept = session.purges.state().and_then(|state| KeptContents::of(state).ok());
    let lines = kept.iter().flat_map(|kept| &kept.lines).filter(|line| line.purged().is_some());
    let mut found: HashMap<_, usize> = HashMap::new();
    for record in lines.filter_map(|line| line.record.as_ref()) {
        let paths = path_of(workspace, record).into_iter().chain(moved_to(workspace, record));
        paths.for_each(|path| *found.entry(path).or_default() += 1);
    }
    found.retain(|path, _| workspace.check_readable(path).is_err_and(|error| error.kind == AccessErrorKind::Secret));
    let found: BTreeSet<_> = found.into_iter().map(|(path, lines)| (path.to_string(), lines)).collect();
    found.into_iter().take(most).collect()
}
