//! `edit`: replace text in a file, exactly where it stands.
//!
//! Finds the places with the pure [`crate::edit`] ladder and splices them into the file's bytes.
//! A change that lost a race with another call of this session is worked out again on what is there.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    edit::{self, Diagnosis, Miss, Place, Request, Strategy},
    text::{Document, SpliceError},
    workspace::{AccessErrorKind, Approval, Base, Revision, Snapshot, WorkspacePath, WritablePath, WriteGuard},
};

use super::{
    Alias, Answer, CallContext, Change, Group, Kind, Plan, Preview, Spec, Tool, ToolError, args::PATH_ALIASES,
    freshness, output::count,
};

/// Edits in one call.
const MAX_EDITS: usize = 100;
/// Places listed where `old_string` is ambiguous.
const PLACES_SHOWN: usize = 10;
/// How often a change is worked out again after another call of this session came first.
const ATTEMPTS: usize = 200;
/// Bytes of the answer kept back for what stands around the diff.
const AROUND: usize = 400;

/// The tool.
#[derive(Debug)]
pub struct Edit;

/// Arguments of `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file to change; it must have been read.
    path: String,
    /// The text to replace, exactly as in the file and unique in it. Empty creates a file that is
    /// missing or empty.
    old_string: Option<String>,
    /// The text to put in its place.
    new_string: Option<String>,
    /// Replace every occurrence. Default false.
    replace_all: Option<bool>,
    /// Several edits instead of one, applied in order, all or none.
    edits: Option<Vec<One>>,
    /// How many replacements there must be in all, else nothing is changed.
    expected_replacements: Option<usize>,
    /// Show the diff and change nothing. Default false.
    dry_run: Option<bool>,
    /// Revision that the file must have; stands in for having read it.
    expected_revision: Option<String>,
}

/// One of several edits.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct One {
    /// The text to replace.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replace every occurrence. Default false.
    replace_all: Option<bool>,
}

/// The complete result as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file, as paths are printed.
    path: String,
    /// Unified diff of the file's change.
    diff: String,
    #[serde(flatten)]
    facts: Facts,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Facts {
    /// Replacements made.
    replacements: usize,
    /// How each edit was matched, in order; exact unless it had to be more tolerant.
    strategies: Vec<String>,
    /// Lines added.
    added: usize,
    /// Lines removed.
    removed: usize,
    /// Lines of the diff that are not shown.
    diff_cut_lines: usize,
    /// Revision of the file now (or as it would be, for a dry run).
    revision: String,
    /// Whether the file was created.
    created: bool,
    /// Whether nothing was written.
    dry_run: bool,
}

impl Tool for Edit {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "edit",
        title: "Edit a file",
        description: "Replace text in a file: old_string, which must stand in it exactly once, becomes new_string. \
            Everything else stays byte for byte. Several edits in one call are all applied or none. Returns the diff.",
        group: Group::Core,
        aliases: &{
            let [a, b, c, d, e, f] = PATH_ALIASES;
            [
                a,
                b,
                c,
                d,
                e,
                f,
                Alias::name("old_str", "old_string"),
                Alias::name("oldText", "old_string"),
                Alias::name("old_text", "old_string"),
                Alias::name("oldString", "old_string"),
                Alias::name("search", "old_string"),
                Alias::name("new_str", "new_string"),
                Alias::name("newText", "new_string"),
                Alias::name("new_text", "new_string"),
                Alias::name("newString", "new_string"),
                Alias::name("replace", "new_string"),
                Alias::name("replaceAll", "replace_all"),
                Alias::name("dryRun", "dry_run"),
            ]
        },
        read_only: false,
        destructive: true,
        idempotent: false,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let expected_revision = freshness::expected(args.expected_revision.as_deref())?;
        let expected = args.expected_replacements;
        let dry_run = args.dry_run.unwrap_or(false);
        let path = cx.workspace.resolve(&args.path)?;
        let edits = edits(args)?;
        let target = cx.workspace.writable(&path)?;
        let job = Job { path, target, edits, expected, expected_revision };
        let planned = job.work_out(cx)?;
        if dry_run {
            return Ok(Plan::Answer(planned.answer(cx, &job.path, true)));
        }
        Ok(Plan::Change(Box::new(Pending { job, planned })))
    }
}

/// One edit, checked.
#[derive(Clone, Debug)]
struct Wanted {
    /// Where it stood in the arguments, for errors; empty for a single edit.
    name: String,
    old: String,
    new: String,
    replace_all: bool,
}

/// What was asked for.
struct Job {
    path: WorkspacePath,
    target: WritablePath,
    edits: Vec<Wanted>,
    expected: Option<usize>,
    expected_revision: Option<Revision>,
}

/// What it comes to on the file as it is now.
struct Planned {
    base: Base,
    bytes: Vec<u8>,
    old_text: String,
    new_text: String,
    strategies: Vec<Strategy>,
    replacements: usize,
}

struct Pending {
    job: Job,
    planned: Planned,
}

/// Checks the two ways of saying what to replace.
fn edits(args: Args) -> Result<Vec<Wanted>, ToolError> {
    let edits = match (args.edits, args.old_string, args.new_string) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            return Err(ToolError::invalid("`edits` and old_string/new_string were both given")
                .hint("send one of them; edits holds objects of old_string, new_string and replace_all"));
        }
        (Some(edits), None, None) => {
            if edits.is_empty() || edits.len() > MAX_EDITS {
                return Err(ToolError::invalid(format!(
                    "`edits` holds {} edits; 1 to {MAX_EDITS} are taken",
                    edits.len()
                )));
            }
            let all = args.replace_all.unwrap_or(false);
            edits
                .into_iter()
                .enumerate()
                .map(|(index, one)| Wanted {
                    name: format!("edits[{index}]"),
                    old: one.old_string,
                    new: one.new_string,
                    replace_all: one.replace_all.unwrap_or(all),
                })
                .collect()
        }
        (None, Some(old), Some(new)) => {
            vec![Wanted { name: String::new(), old, new, replace_all: args.replace_all.unwrap_or(false) }]
        }
        (None, Some(_), None) => {
            return Err(ToolError::invalid("the argument `new_string` is missing")
                .hint("to delete old_string, pass new_string=\"\""));
        }
        (None, None, _) => {
            return Err(ToolError::invalid("the argument `old_string` is missing")
                .hint("pass old_string and new_string, or a list of them as edits"));
        }
    };
    for one in &edits {
        if one.old == one.new {
            let error = ToolError::invalid("old_string and new_string are equal, so there is nothing to change");
            return Err(one.place(error));
        }
    }
    Ok(edits)
}

impl Wanted {
    fn place(&self, error: ToolError) -> ToolError {
        if self.name.is_empty() { error } else { error.within(&self.name) }
    }
}

impl Job {
    /// Finds every place on the file as it is now; writes nothing.
    fn work_out(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        let limit = cx.settings.max_file_size;
        let now = match cx.workspace.read(&self.path, limit) {
            Ok(now) => now,
            Err(error) if error.kind == AccessErrorKind::NotFound => return self.create(cx),
            Err(error) if matches!(error.kind, AccessErrorKind::TooLarge { .. }) => {
                return Err(ToolError::from(error).hint("files this large cannot be edited here"));
            }
            Err(error) => return Err(error.into()),
        };
        // An empty file holds nothing that could be lost unseen.
        if !now.bytes.is_empty() {
            freshness::check(cx, &self.path, &now, self.expected_revision)?;
        }
        let planned = self.splice(cx, now)?;
        if planned.bytes.len() as u64 > limit {
            return Err(ToolError::new(
                Kind::TooLarge,
                format!("{} would grow to {} bytes; at most {limit} are allowed", self.path, planned.bytes.len()),
            ));
        }
        Ok(planned)
    }

    /// `old_string` = "" creates a missing file.
    fn create(&self, cx: &CallContext) -> Result<Planned, ToolError> {
        let [only] = self.edits.as_slice() else { return Err(ToolError::not_found(&cx.workspace, &self.path)) };
        if !only.old.is_empty() {
            return Err(ToolError::not_found(&cx.workspace, &self.path));
        }
        if let Some(expected) = self.expected_revision {
            return Err(ToolError::new(
                Kind::Stale,
                format!("{} does not exist, so it is not at expected_revision {expected}", self.path),
            ));
        }
        Ok(Planned {
            base: Base::Absent,
            bytes: only.new.clone().into_bytes(),
            old_text: String::new(),
            new_text: only.new.clone(),
            strategies: vec![Strategy::Exact],
            replacements: 1,
        })
    }

    fn splice(&self, cx: &CallContext, now: Snapshot) -> Result<Planned, ToolError> {
        let base = Base::Revision(now.revision);
        let size = now.bytes.len() as u64;
        let mut document =
            Document::decode(now.bytes, None).map_err(|error| super::read::binary(&self.path, size, &error))?;
        let old_text = document.text().to_owned();
        let (mut strategies, mut replacements) = (Vec::new(), 0);
        // With a single edit its own count is checked, so that the error can list the places.
        let each = self.expected.filter(|_| self.edits.len() == 1);
        for one in &self.edits {
            cx.check()?;
            if one.old.is_empty() {
                if !document.text().is_empty() {
                    return Err(one.place(
                        ToolError::invalid(format!("old_string is empty, but {} is not", self.path))
                            .hint("to change it, pass the text to replace; to replace it whole, use write"),
                    ));
                }
                document = one.put(&document, &[(0..0, one.new.as_str())], &self.path)?;
                strategies.push(Strategy::Exact);
                replacements += 1;
                continue;
            }
            let request =
                Request { old: &one.old, new: &one.new, replace_all: one.replace_all, expected_replacements: each };
            let located = edit::locate(document.text(), &request).map_err(|miss| one.place(self.missed(cx, &miss)))?;
            let spans: Vec<_> = located.replacements.iter().map(|one| (one.span.clone(), one.text.as_str())).collect();
            replacements += spans.len();
            strategies.push(located.strategy);
            document = one.put(&document, &spans, &self.path)?;
        }
        if let Some(expected) = self.expected.filter(|expected| *expected != replacements) {
            return Err(ToolError::new(
                Kind::Ambiguous,
                format!("the edits make {}, not the expected {expected}", count(replacements, "replacement")),
            )
            .hint("nothing was changed; correct expected_replacements or the edits"));
        }
        let new_text = document.text().to_owned();
        Ok(Planned { base, bytes: document.into_bytes(), old_text, new_text, strategies, replacements })
    }

    fn missed(&self, cx: &CallContext, miss: &Miss) -> ToolError {
        match miss {
            Miss::Ambiguous { strategy, places } => ToolError::new(
                Kind::Ambiguous,
                format!(
                    "old_string stands at {} places in {}{}: lines {}",
                    places.len(),
                    self.path,
                    tolerant(*strategy),
                    lines(places)
                ),
            )
            .hint("add neighbouring lines to old_string until it is unique, or set replace_all=true")
            .details(listed(places)),
            Miss::Count { strategy, expected, places } => ToolError::new(
                if places.len() > *expected { Kind::Ambiguous } else { Kind::NoMatch },
                format!(
                    "old_string stands at {} in {}{}, not at the expected {expected}: lines {}",
                    count(places.len(), "place"),
                    self.path,
                    tolerant(*strategy),
                    lines(places)
                ),
            )
            .hint("nothing was changed; correct expected_replacements, or make old_string match just those places")
            .details(listed(places)),
            Miss::NotFound(Diagnosis { summary, details, already_applied }) => {
                let error = ToolError::new(Kind::NoMatch, format!("{}: {summary}", self.path));
                let error = if *already_applied {
                    error.hint("the change may be made already; read the place before trying again")
                } else {
                    error.hint("read the place again and copy old_string from it, without the line numbers")
                };
                let error = match elsewhere(cx, &self.path, self.edits.first()) {
                    Some(other) => error.hint(format!("old_string stands in {other}; is that the file you mean?")),
                    None => error,
                };
                error.details(details.clone())
            }
        }
    }
}

/// A file of the same name that does hold the text: the wrong copy is a common slip.
fn elsewhere(cx: &CallContext, path: &WorkspacePath, wanted: Option<&Wanted>) -> Option<WorkspacePath> {
    const LOOK_AT: usize = 20_000;
    const LARGEST: u64 = 1 << 20;
    let wanted = wanted.filter(|wanted| wanted.old.trim().len() >= 8)?;
    let name = path.file_name()?;
    let options = crate::workspace::WalkOptions {
        ignored: crate::workspace::Ignored::Skip,
        max_depth: None,
        directories: false,
        symlinks: false,
    };
    let mut found = None;
    let mut looked = 0;
    let root = cx.workspace.root_path(path.root());
    cx.workspace
        .walk(&root, &options, &mut |entry| {
            looked += 1;
            if looked > LOOK_AT || cx.check().is_err() {
                return std::ops::ControlFlow::Break(());
            }
            if entry.path() == path || entry.path().file_name() != Some(name) {
                return std::ops::ControlFlow::Continue(());
            }
            let holds = cx
                .workspace
                .read(entry.path(), LARGEST)
                .ok()
                .and_then(|file| Document::decode(file.bytes, None).ok())
                .is_some_and(|document| document.text().contains(&wanted.old));
            if holds {
                found = Some(entry.into_path());
                return std::ops::ControlFlow::Break(());
            }
            std::ops::ControlFlow::Continue(())
        })
        .ok()?;
    found
}

impl Wanted {
    fn put(
        &self,
        document: &Document,
        spans: &[(std::ops::Range<usize>, &str)],
        path: &WorkspacePath,
    ) -> Result<Document, ToolError> {
        document.splice(spans).map_err(|error| {
            self.place(match error {
                SpliceError::Unrepresentable { character, encoding } => ToolError::invalid(format!(
                    "new_string has {character:?} (U+{:04X}), which {path}, a file in {encoding}, cannot hold",
                    u32::from(character)
                ))
                .hint("write it another way, or convert the whole file with write"),
                SpliceError::Unstable { encoding } => ToolError::new(
                    Kind::Binary,
                    format!("{path} is in {encoding}, where a part cannot be changed without touching the rest"),
                )
                .hint("replace the whole file with write"),
            })
        })
    }
}

impl Planned {
    fn answer(self, cx: &CallContext, path: &WorkspacePath, dry_run: bool) -> Answer {
        let name = freshness::diff_name(path);
        let room = cx.settings.max_output.saturating_sub(AROUND);
        let mut diff = edit::unified_diff(&name, &self.old_text, &self.new_text, None);
        if diff.text.len() > room {
            // Lines that fit on the average; the last resort keeps the head.
            let lines = diff.text.lines().count().max(1);
            let fit = (room / (diff.text.len() / lines).max(1)).max(4);
            diff = edit::unified_diff(&name, &self.old_text, &self.new_text, Some(fit));
            if diff.text.len() > room {
                let end = (0..=room).rev().find(|at| diff.text.is_char_boundary(*at)).unwrap_or(0);
                diff.text.truncate(end);
            }
        }
        let tolerant: Vec<String> = self
            .strategies
            .iter()
            .enumerate()
            .filter(|(_, strategy)| **strategy != Strategy::Exact)
            .map(|(index, strategy)| {
                if self.strategies.len() == 1 {
                    format!("matched by {strategy}, not exactly")
                } else {
                    format!("edits[{index}] matched by {strategy}, not exactly")
                }
            })
            .collect();
        let created = self.base == Base::Absent;
        let facts = Facts {
            replacements: self.replacements,
            strategies: self.strategies.iter().map(ToString::to_string).collect(),
            added: diff.added,
            removed: diff.removed,
            diff_cut_lines: diff.cut_lines,
            revision: Revision::of(&self.bytes).to_string(),
            created,
            dry_run,
        };
        let done = match (dry_run, created) {
            (true, _) => "Dry run, nothing was written:",
            (false, true) => "Created",
            (false, false) => "Edited",
        };
        let mut text = format!("{done} {path}: {}", count(self.replacements, "replacement"));
        for one in tolerant {
            text.push_str("; ");
            text.push_str(&one);
        }
        text.push_str("\n\n");
        text.push_str(diff.text.trim_end_matches('\n'));
        if diff.cut_lines > 0 {
            let _ = write!(text, "\n… {} more lines of diff", diff.cut_lines);
        }
        let data = Output { path: path.to_string(), diff: diff.text, facts: facts.clone() };
        Answer::text(text, &facts).data(cx, &data)
    }
}

impl Change for Pending {
    fn preview(&self) -> Preview {
        let diff = edit::unified_diff(
            &freshness::diff_name(&self.job.path),
            &self.planned.old_text,
            &self.planned.new_text,
            None,
        );
        Preview {
            summary: format!("Edit {}: {}", self.job.path, count(self.planned.replacements, "replacement")),
            diff: diff.text,
            destructive: self.planned.base != Base::Absent,
        }
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        let Self { job, mut planned } = *self;
        for _ in 0..ATTEMPTS {
            match WriteGuard::acquire(&cx.workspace, job.target.clone(), planned.base) {
                Ok(guard) => {
                    let committed = guard.commit(&planned.bytes, approval)?;
                    cx.session.ledger.saw(&committed.path, committed.revision, Some(&planned.bytes));
                    return Ok(planned.answer(cx, &job.path, false));
                }
                // Another call came first. If it was one of this session, the ledger knows its result
                // and the edit is worked out on that; anything else fails its check as stale.
                Err(error) if matches!(error.kind, AccessErrorKind::Stale | AccessErrorKind::Exists) => {
                    planned = job.work_out(cx)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ToolError::new(Kind::Stale, format!("{} is being changed by too many calls at once", job.path))
            .hint("nothing was changed by this call; repeat it"))
    }
}

fn tolerant(strategy: Strategy) -> String {
    if strategy == Strategy::Exact { String::new() } else { format!(" (matched by {strategy})") }
}

fn lines(places: &[Place]) -> String {
    let mut shown: Vec<String> = places.iter().take(PLACES_SHOWN).map(|place| place.line.to_string()).collect();
    if places.len() > PLACES_SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn listed(places: &[Place]) -> String {
    let mut out: Vec<String> =
        places.iter().take(PLACES_SHOWN).map(|place| format!("{:>6}\t{}", place.line, place.text)).collect();
    if places.len() > PLACES_SHOWN {
        out.push(format!("… {} more places", places.len() - PLACES_SHOWN));
    }
    out.join("\n")
}
