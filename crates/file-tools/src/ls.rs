//! `ls`: a directory as a short tree, or the facts of one file. Opens only a file that it is asked about.

mod render;
mod tree;

use std::fmt::Write as _;

use confined_fs::{Access, FileKind, Revision, WorkspacePath, walk::Ignored};
use render::{FileFacts, ListedEntry, ListingFacts, Output, mark, mode, modified};
use schemars::JsonSchema;
use serde::Deserialize;
use text_file::{Layout, LineEnding};
use tree::{ListRequest, MAX_RESULTS, Sort};

use super::{
    Answer, CallContext, ExistingKind, Group, Kind, Plan, Spec, Tool, ToolError,
    answer::count,
    paging,
    read::{
        section::Properties,
        text::{Content, describe},
    },
    tool::{LISTING_ALIASES, PATH_ALIASES},
};

/// Entries when the call does not say.
const DEFAULT_RESULTS: usize = 500;
/// Levels when the call does not say, and at most.
const DEFAULT_DEPTH: usize = 2;
const MAX_DEPTH: usize = 5;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Directory to list. Default: the root, or the list of roots.
    path: Option<String>,
    /// How many levels to show, at most 5. Default: 2.
    depth: Option<i64>,
    /// Show ignored entries too. Default: false.
    no_ignore: Option<bool>,
    /// Most entries to show, at most 2000. Default: 500.
    max_results: Option<i64>,
    /// Entries to skip, for the next page. Default: 0.
    offset: Option<i64>,
    /// Add exact bytes, UTC times, modes and recursive totals. Default: false.
    long: Option<bool>,
    /// Order of the files of each directory: name, newest or largest first. Default: name.
    sort: Option<Sort>,
}

pub(crate) struct Ls;

impl Tool for Ls {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "ls",
        title: "List a directory",
        purpose: "shows a directory",
        description: "Use this instead of shell ls or tree. List a directory as a tree with file sizes, or say what one file is (lines, encoding, line endings, \
                      rev). Respects .gitignore. Without a path it lists the root, or the roots with their rights.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES],
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let scope = cx.scope(args.path.as_deref(), ExistingKind::DirectoryOrFile)?;
        let depth = paging::max_results(args.depth, DEFAULT_DEPTH, MAX_DEPTH);
        let limit = paging::max_results(args.max_results, DEFAULT_RESULTS, MAX_RESULTS);
        let request = ListRequest {
            depth: depth.value,
            ignored: if args.no_ignore.unwrap_or(false) { Ignored::Include } else { Ignored::Skip },
            offset: paging::offset(args.offset)?,
            limit: limit.value,
            sort: args.sort.unwrap_or_default(),
            long: args.long.unwrap_or(false),
            over_maximum: [depth.note("depth"), limit.note("max_results")].into_iter().flatten().collect(),
        };
        let answer = match scope.starts() {
            [start] if scope.file().is_some() => file_answer(cx, start)?,
            // Where roots are not there yet, the list of roots is the answer that can say so.
            [start] if scope.absent().is_empty() => request.tree(cx, start)?.answer(cx, &request),
            _ => roots(cx),
        };
        Ok(Plan::Answer(answer))
    }
}

pub(super) fn directory(cx: &CallContext, path: &str) -> Result<Answer, ToolError> {
    match Ls::plan(cx, Args { path: Some(path.to_owned()), ..Args::default() })? {
        Plan::Answer(answer) => Ok(answer),
        // Not reached: a listing is neither.
        Plan::Change(_) | Plan::Wait(_) => Err(ToolError::would_block()),
    }
}

fn roots(cx: &CallContext) -> Answer {
    let mut text = format!("{}:", count(cx.workspace.roots().len(), "root"));
    let mut entries = Vec::new();
    for root in cx.workspace.roots() {
        let writable = root.access() == Access::ReadWrite;
        let path = root.public();
        let absent = root.absence_note();
        let checkout = render::checkout(cx, root).map(|checkout| format!("; {checkout}")).unwrap_or_default();
        let _ = write!(text, "\n  {path}/ ({}{absent}{checkout})", root.rights());
        entries.push(ListedEntry { path, kind: "root", writable: Some(writable), ..ListedEntry::default() });
    }
    let facts = ListingFacts { shown: entries.len(), ..ListingFacts::default() };
    Answer::text(text, &facts).data(cx, &Output { path: None, entries, facts, notes: Vec::new() })
}

fn file_answer(cx: &CallContext, path: &WorkspacePath) -> Result<Answer, ToolError> {
    let access = |error| ToolError::access(&cx.workspace, error);
    let stat = cx.workspace.stat(path).map_err(access)?;
    let protected = cx.workspace.is_secret(path).map_err(access)?;
    let is_file = stat.kind == FileKind::File;
    let mut entry = ListedEntry {
        path: path.to_string(),
        kind: if is_file { "file" } else { "other" },
        size: is_file.then_some(stat.size),
        protected,
        modified: modified(&stat),
        mode: mode(&stat),
        ..ListedEntry::default()
    };
    let mut words = vec![match (is_file, stat.special()) {
        (true, _) => count(usize::try_from(stat.size).unwrap_or(usize::MAX), "byte"),
        (false, "special file") => "a special file".to_owned(),
        (false, kind) => format!("a special file ({kind})"),
    }];
    let mut timed_out = false;
    // A rev is a hash: of a protected file it would confirm a guess of the content.
    if is_file && !protected {
        match describe(cx, path) {
            Ok((content, revision)) => entry.file = Some(facts(&content, revision, &mut words)),
            Err(error) if error.kind() == Kind::TimedOut => {
                timed_out = true;
                words.push("lines not counted within the time limit".to_owned());
            }
            // The names and sizes of files that cannot be opened are listed all the same.
            Err(error) if error.kind() == Kind::Denied => words.push("unreadable".to_owned()),
            Err(error) => return Err(error),
        }
    }
    words.extend(entry.modified.iter().map(|time| format!("modified {time}")));
    words.extend(entry.mode.iter().map(|mode| format!("mode {mode}")));
    let text = format!("{path}: {}{}", words.join(", "), mark(protected));
    let facts = ListingFacts { shown: 1, timed_out, file: entry.file.clone(), ..ListingFacts::default() };
    Ok(Answer::text(text, &facts).data(cx, &Output { path: None, entries: vec![entry], facts, notes: Vec::new() }))
}

/// The facts of the content; adds them to the `words` as well.
fn facts(content: &Content, revision: Option<Revision>, words: &mut Vec<String>) -> FileFacts {
    let mut facts = FileFacts { revision: revision.map(|revision| revision.to_string()), ..FileFacts::default() };
    match content {
        Content::Text(properties) => {
            let Properties { total: lines, layout, nuls, final_newline, .. } = properties;
            let Layout { encoding, bom, lossy, line_ending } = *layout;
            words.push(count(*lines, "line"));
            words.push(format!("{encoding}{}", if bom { " with BOM" } else { "" }));
            if lossy {
                words.push("some bytes invalid".to_owned());
            }
            if *nuls > 0 {
                words.push(count(*nuls, "NUL"));
            }
            words.push(match line_ending {
                LineEnding::Mixed => "mixed line endings".to_owned(),
                LineEnding::None => "no line endings".to_owned(),
                ending => ending.as_str().to_uppercase(),
            });
            if *lines > 0 {
                words.push(if *final_newline { "final newline" } else { "no final newline" }.to_owned());
            }
            facts.lines = Some(*lines);
            facts.encoding = Some(encoding);
            facts.line_ending = Some(line_ending.as_str());
            facts.final_newline = Some(*final_newline);
        }
        Content::Image(image) => {
            words.push(format!("{} image, {}×{} pixels", image.format_name(), image.width, image.height));
            (facts.width, facts.height) = (Some(image.width), Some(image.height));
            facts.content = Some(image.mime.to_owned());
        }
        Content::Binary(kind) => {
            words.push(kind.clone());
            facts.content = Some(kind.clone());
        }
    }
    words.extend(revision.map(|revision| format!("rev {}", revision.short())));
    facts
}
