//! What a person purges: every kept content of a path under all names that it had.
//!
//! A name belongs to an entry for a while: something else may have had it before, and may have it since. So moves are
//! followed change by change from the path, forward and back, with those of the directories above; of a directory everything
//! that was ever in it is meant. The path itself is meant at all times.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use change_set::{StateDir, Workspace};
use confined_fs::{AccessErrorKind, Revision, Root};
use tree_search::StoredIndexes;

use super::{
    restore::real,
    since::{moved_to, path_of},
};
use crate::{
    Kind, ToolError, count,
    session::{
        JournalLine, KeptContents, Session,
        history::{JournalRecord, RecordKind},
        living, purge_seen,
    },
};

/// Paths that a text names.
const MAX_NAMED: usize = 20;
/// A content that no line names may be one whose change is still to be written down by a process that runs.
const UNNAMED_AFTER: Duration = Duration::from_secs(60);

/// What goes, before it does.
#[derive(Debug)]
pub struct Purge {
    state: StateDir,
    /// On the host; everything without one.
    path: Option<PathBuf>,
    kept: KeptContents,
    /// By line of the journal.
    meant: Vec<bool>,
    contents: HashSet<Revision>,
    /// By the key of a root and the hash of the path below it.
    files: HashSet<(String, String)>,
    names: BTreeSet<String>,
    /// Other paths that have one of the contents.
    shared: BTreeSet<String>,
    living: usize,
}

impl Purge {
    /// What goes of `path`, or of everything; `None` without a state folder.
    pub fn of(workspace: &Workspace, session: &Session, path: Option<&str>) -> Result<Option<Self>, ToolError> {
        let host = |text| Ok::<_, ToolError>(workspace.host_path(&real(workspace, &workspace.resolve(text)?)));
        let path = path.map(host).transpose()?;
        let select = |state| Self::select(workspace, state, path).map_err(failed);
        session.purges.state().map(select).transpose()
    }

    fn select(workspace: &Workspace, state: &StateDir, path: Option<PathBuf>) -> io::Result<Self> {
        let kept = KeptContents::of(state)?;
        let (mut meant, mut files) = (vec![path.is_none(); kept.lines.len()], HashSet::new());
        if let Some(path) = &path {
            let served = workspace.roots().iter().flat_map(|root| root.host().ancestors());
            let roots: HashMap<String, &Path> =
                served.chain(path.ancestors()).map(|dir| (Root::key_of(dir), dir)).collect();
            let changes = changes(workspace, &roots, &kept.lines);
            let mut hosts = HashSet::from([path.clone()]);
            follow(changes.iter(), path, true, &mut meant, &mut hosts);
            follow(changes.iter().rev(), path, false, &mut meant, &mut hosts);
            for (key, dir) in roots {
                let below = hosts.iter().filter_map(|host| host.strip_prefix(dir).ok());
                files.extend(below.map(|path| (key.clone(), hash_of(path.as_os_str().as_encoded_bytes()))));
            }
            for (meant, line) in meant.iter_mut().zip(&kept.lines).filter(|(_, line)| line.record.is_none()) {
                // A line that is torn: what comes before the name of the file is no content.
                *meant = files.iter().any(|(_, hash)| memchr::memmem::find(&line.text, hash.as_bytes()).is_some());
            }
        }
        let records = |is_meant: bool| {
            let lines = kept.lines.iter().zip(&meant).filter(move |(_, meant)| **meant == is_meant);
            lines.filter_map(|(line, _)| line.record.as_ref())
        };
        let living = folders(state)?.iter().map(living).sum::<io::Result<usize>>()?;
        let mut contents: HashSet<Revision> = records(true).flat_map(JournalRecord::revisions).collect();
        let others: HashSet<Revision> = records(false).flat_map(JournalRecord::revisions).collect();
        let goes = |revision: &Revision, age: &Duration| {
            path.is_none() || !others.contains(revision) && (living == 0 || *age > UNNAMED_AFTER)
        };
        contents
            .extend(kept.objects.iter().filter(|(revision, age)| goes(revision, age)).map(|(revision, _)| *revision));
        contents.retain(|revision| kept.objects.contains_key(revision));
        let has_one = |record: &&JournalRecord| record.revisions().any(|revision| contents.contains(&revision));
        let shared = records(false).filter(has_one).map(|record| record.shown.clone()).collect();
        let names = records(true).flat_map(|record| record.to.iter().chain([&record.shown]).cloned()).collect();
        Ok(Self { state: state.try_clone()?, path, kept, meant, contents, files, names, shared, living })
    }

    /// Removes what goes of `path`, or of everything, and says what that was. Killed, it can be done again.
    ///
    /// # Errors
    /// That of the first part that could not be removed.
    pub fn run(workspace: &Workspace, session: &Session, path: Option<&str>) -> Result<String, ToolError> {
        let Some(purge) = Self::of(workspace, session, path)? else { return Ok(String::new()) };
        // First: a call that is under way looks for it at its end.
        session.purges.write(purge.path.as_ref()).map_err(failed)?;
        let purge = Self::select(workspace, &purge.state, purge.path).map_err(failed)?;
        let documents = purge.remove().map_err(failed)?;
        Ok(format!(
            "Purged {purge}; {} and the index are made again when needed. The audit is not touched.{}",
            count(documents, "document text"),
            match purge.living {
                0 => String::new(),
                1 => "\n1 process runs with this state folder: it forgets before its next call; end it if its version is older".into(),
                more => format!("\n{more} processes run with this state folder: they forget before their next calls; end those of an older version"),
            }
        ))
    }

    /// Purges what a call may have kept again of what was purged since the log ended at `start`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn again(workspace: &Workspace, session: &Session, start: u64) -> io::Result<()> {
        session.forget();
        let Some(state) = session.purges.state() else { return Ok(()) };
        session
            .purges
            .since(start)
            .into_iter()
            .try_for_each(|path| Self::select(workspace, state, path)?.remove().map(drop))
    }

    fn remove(&self) -> io::Result<usize> {
        let lines = self.kept.lines.iter().zip(&self.meant).filter(|(_, meant)| **meant).map(|(line, _)| line);
        self.kept.purge(self.contents.iter().copied(), lines)?;
        for folder in folders(&self.state)? {
            let is_meant = |file: (String, String)| self.path.is_none() || self.files.contains(&file);
            purge_seen(&folder, |root, path| is_meant((root.to_owned(), path.to_owned())))?;
            folder.sweep_locked(&folder.lock())?;
        }
        self.state.remove_unrecoverable()?;
        let keys: Option<HashSet<&str>> =
            self.path.as_ref().map(|_| self.files.iter().map(|(key, _)| &**key).collect());
        StoredIndexes::new(self.state.try_clone()?, u64::MAX).purge(keys.as_ref())
    }
}

impl fmt::Display for Purge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.kept.lines.iter().zip(&self.meant).filter(|(line, meant)| **meant && line.purged().is_some());
        write!(f, "{}, {} of the journal", count(self.contents.len(), "content"), count(lines.count(), "line"))?;
        for (head, names) in [(" of ", &self.names), ("; these lose what they share: ", &self.shared)] {
            let more = names.len().saturating_sub(MAX_NAMED);
            let names: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
            match (names.is_empty(), more) {
                (true, _) => {}
                (false, 0) => write!(f, "{head}{}", names.join(", "))?,
                (false, more) => write!(f, "{head}{} and {more} more", names.join(", "))?,
            }
        }
        if self.names.is_empty() { write!(f, " (no change is recorded)") } else { Ok(()) }
    }
}

fn failed(error: io::Error) -> ToolError {
    ToolError::new(Kind::Internal, format!("the purge is not complete: {error}")).hint("purge again").source(error)
}

fn hash_of(path: &[u8]) -> String {
    Revision::of(path).to_string()
}

/// The state folder, and those of roles below it.
fn folders(state: &StateDir) -> io::Result<Vec<StateDir>> {
    let roles = state.folders()?.into_iter().filter(|name| name.starts_with("role-"));
    [state.try_clone()].into_iter().chain(roles.map(|name| state.existing_private_folder(&name))).collect()
}

/// What a line says of an entry, by paths of the host.
struct Step {
    line: usize,
    path: PathBuf,
    to: Option<PathBuf>,
    /// Whether the path was free before, or is since.
    begins: bool,
    ends: bool,
}

/// The steps of each change, in their order.
fn changes(workspace: &Workspace, roots: &HashMap<String, &Path>, lines: &[JournalLine]) -> Vec<Vec<Step>> {
    let records = || lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.record.as_ref()?)));
    let void: HashSet<_> =
        records().filter(|(_, record)| record.kind == RecordKind::Void).map(|(_, record)| record.key()).collect();
    let (mut places, mut changes) = (HashMap::new(), Vec::<Vec<Step>>::new());
    for (line, record) in records().filter(|(_, record)| record.is_of_entry()) {
        let Some((path, to)) = on_host(workspace, roots, record) else { continue };
        let place = *places.entry(record.key()).or_insert(changes.len());
        changes.extend((place == changes.len()).then(Vec::new));
        let is_made = !void.contains(&record.key());
        let begins = match record.kind {
            RecordKind::File => record.old.is_none(),
            RecordKind::Link => record.new.is_some(),
            kind => kind == RecordKind::Made,
        };
        let ends = record.new.is_none() && record.kind != RecordKind::Made;
        let to = to.filter(|_| is_made);
        let is_alone = is_made && to.is_none();
        changes[place].push(Step { line, path, to, begins: begins && is_alone, ends: ends && is_alone });
    }
    changes
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
    let start = starts.find(|start| hash_of(&shown.as_bytes()[*start..]) == record.path)?;
    let to = record.to.as_ref().and_then(|to| to.strip_prefix(&shown[..start]));
    Some((dir.join(&shown[start..]), to.map(|to| dir.join(to))))
}

/// Follows what is at `path`, or in it, through the changes; marks the lines about it, and collects their paths.
fn follow<'c>(
    changes: impl Iterator<Item = &'c Vec<Step>>,
    path: &Path,
    is_forward: bool,
    meant: &mut [bool],
    hosts: &mut HashSet<PathBuf>,
) {
    let mut names = HashSet::from([path.to_owned()]);
    let is_in = |names: &HashSet<PathBuf>, path: &Path| path.ancestors().any(|above| names.contains(above));
    for steps in changes {
        let mut next = names.clone();
        let mut came = Vec::new();
        for step in steps {
            let from_to = step.to.as_deref().map(|to| if is_forward { (&*step.path, to) } else { (to, &*step.path) });
            let goes = if is_forward { step.ends } else { step.begins };
            if let Some(gone) = from_to.map(|(from, _)| from).or_else(|| goes.then_some(&*step.path)) {
                next.retain(|name| name == path || !name.starts_with(gone));
            }
            for (name, (from, to)) in
                names.iter().zip(std::iter::repeat(from_to)).filter_map(|(name, is)| Some((name, is?)))
            {
                match name.strip_prefix(from) {
                    Ok(rest) => came.push(to.components().chain(rest.components()).collect()),
                    Err(_) if from.starts_with(name) => came.push(to.to_owned()),
                    Err(_) => {}
                }
            }
        }
        next.extend(came);
        let (before, after) = if is_forward { (&names, &next) } else { (&next, &names) };
        for step in steps {
            let is_after = |path| is_in(after, path);
            let is_of = match &step.to {
                Some(to) => is_in(before, &step.path) && is_after(to),
                None => !step.begins && is_in(before, &step.path) || !step.ends && is_after(&step.path),
            };
            meant[step.line] |= is_of;
            hosts.extend([Some(&step.path), step.to.as_ref()].into_iter().flatten().filter(|_| is_of).cloned());
        }
        names = next;
    }
}

/// The paths whose content policy denies now and of which contents are kept, with how many lines name some; at most `most`.
pub fn kept_secrets(workspace: &Workspace, session: &Session, most: usize) -> Vec<(String, usize)> {
    let kept = session.purges.state().and_then(|state| KeptContents::of(state).ok());
    let mut found: HashMap<_, usize> = HashMap::new();
    for line in kept.iter().flat_map(|kept| &kept.lines).filter(|line| line.purged().is_some()) {
        let paths = line
            .record
            .iter()
            .flat_map(|record| path_of(workspace, record).into_iter().chain(moved_to(workspace, record)));
        paths.for_each(|path| *found.entry(path).or_default() += 1);
    }
    found.retain(|path, _| workspace.check_readable(path).is_err_and(|error| error.kind == AccessErrorKind::Secret));
    let found: BTreeSet<_> = found.into_iter().map(|(path, lines)| (path.to_string(), lines)).collect();
    found.into_iter().take(most).collect()
}
