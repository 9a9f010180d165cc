//! `ls`: a directory as a short tree, or the facts of one file. Opens only a file that it is asked about.

mod entry;
mod one_file;
mod render;
mod total;
mod tree;

use std::fmt::Write as _;

use confined_fs::{Access, Ignored};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answer, CallContext, ExistingKind, Group, Plan, Spec, Tool, ToolError,
    answer::count,
    paging,
    tool::{LISTING_ALIASES, PATH_ALIASES},
};
use entry::{Facts, ListedEntry, Output};
use tree::{ListRequest, MAX_RESULTS, Sort};

/// Entries when the call does not say.
const DEFAULT_RESULTS: usize = 500;
/// Levels when the call does not say, and at most.
const DEFAULT_DEPTH: usize = 2;
const MAX_DEPTH: usize = 5;

/// What to list.
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
    /// Show exact bytes, UTC times, modes and totals. Default: false.
    long: Option<bool>,
    /// Order of the files of each directory: name, newest or largest first. Default: name.
    sort: Option<Sort>,
}

/// The tool that lists directories.
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
            [start] if scope.file().is_some() => one_file::answer(cx, start)?,
            // Where roots are not there yet, the list of roots is the answer that can say so.
            [start] if scope.absent().is_empty() => request.tree(cx, start)?.answer(cx, &request),
            _ => roots(cx),
        };
        Ok(Plan::Answer(answer))
    }
}

/// The listing of a directory as a call without other arguments shows it.
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
        let absent = if root.is_absent() { ", not there yet" } else { "" };
        let checkout = render::checkout(cx, root).map(|checkout| format!("; {checkout}")).unwrap_or_default();
        let _ = write!(text, "\n  {path}/ ({}{absent}{checkout})", root.rights());
        entries.push(ListedEntry { path, kind: "root", writable: Some(writable), ..ListedEntry::default() });
    }
    let facts = Facts { shown: entries.len(), ..Facts::default() };
    Answer::text(text, &facts).data(cx, &Output { path: None, entries, facts, notes: Vec::new() })
}
