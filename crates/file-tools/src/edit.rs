//! `edit`: replace text in one file or in several, exactly where it is.
//!
//! Finds the places with the pure ladder of [`text_edit`] and splices them into the file's bytes.
//! A change that lost a race with another call or process is worked out again on what is there.

mod cells;
mod entry;
mod file_edit;
mod files;
mod glob_files;
mod json_escapes;
mod lines;
mod no_match;
mod places;
mod report;
mod search;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use confined_fs::RevisionPrefix;

use super::{
    Alias, CallContext, ExistingKind, Group, Kind, Plan, Spec, Tool, ToolError, args,
    read::{TextSource, copied_text},
    read_before_write,
    tool::PATH_ALIASES,
};
use entry::{EditEntry, EntryChange, LinesEdit, TextEdit};
use file_edit::FileEdit;
use files::{EntryTarget, FilesEdit};
use report::Output;

const MAX_EDITS: usize = 100;

pub(crate) struct Edit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file to change. It must have been seen. Any of these counts: a read, a grep hit in it, a write by this server.
    path: Option<String>,
    /// The text to replace, exactly as read shows it (in a notebook: of a cell's source) and unique in the file. Empty
    /// creates a file that is missing or empty.
    old_string: Option<String>,
    /// The text that replaces it.
    new_string: Option<String>,
    /// Replace every occurrence. Default: false.
    replace_all: Option<bool>,
    /// Only where it is a whole word. Default: false.
    word: Option<bool>,
    /// Several edits instead of one, in order, all or none. `lines`, `rev`, `new_from` and `glob` go in here, the three
    /// arguments below do not.
    edits: Option<Vec<SingleEdit>>,
    /// How many occurrences must be replaced, else nothing changes.
    expected_replacements: Option<i64>,
    /// Show the diff and change nothing. Default: false.
    dry_run: Option<bool>,
    /// The rev that the file must have; then no read is needed.
    expected_revision: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SingleEdit {
    /// Its file. Default: path of the call.
    path: Option<String>,
    /// Instead of a path: every file of this glob that holds the text. Needs `replace_all`.
    glob: Option<String>,
    /// The text to replace.
    old_string: Option<String>,
    /// The text that replaces it.
    new_string: Option<String>,
    /// Default: that of the call.
    replace_all: Option<bool>,
    /// Default: that of the call.
    word: Option<bool>,
    /// Instead of `old_string`: whole lines as `120-134`, or `after 120` to insert (notebook: `cell 2 lines 3-4`), by their
    /// numbers before this call. The new text needs no final newline.
    lines: Option<String>,
    /// The rev that the numbers were shown with. Needed if they were shown with more than one.
    rev: Option<String>,
    /// Instead of `new_string`: the text of `src/b.rs:10-40` or another file.
    new_from: Option<String>,
}

impl Tool for Edit {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "edit",
        title: "Edit a file",
        purpose: "changes text in a file",
        description: "Use this instead of sed or a script. Replace text in a file: old_string, which must occur once, becomes new_string; all \
            else stays byte for byte. Several edits, of one file or more, are all applied or none. Returns the diff.",
        group: Group::Core,
        globs: &["glob"],
        aliases: &[
            PATH_ALIASES,
            &[
                Alias::names("old_string", &["old_str", "oldText", "old_text", "oldString", "search"]),
                Alias::names("new_string", &["new_str", "newText", "new_text", "newString", "replace"]),
                Alias::names("replace_all", &["replaceAll"]),
                Alias::names("glob", &["include"]),
                Alias::names("dry_run", &["dryRun"]),
                Alias::names("expected_revision", &["expectedRevision"]),
                Alias::names("expected_replacements", &["expectedReplacements"]),
            ],
        ],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let expected_revision = read_before_write::parse_rev("expected_revision", args.expected_revision.as_deref())?;
        let expected = args.expected_replacements.map(expected_count).transpose()?;
        let dry_run = args.dry_run.unwrap_or(false);
        if args.edits.iter().flatten().any(|one| one.path.is_some() || one.glob.is_some()) {
            return plan_files(cx, args, expected, expected_revision, dry_run);
        }
        let given = args.path.clone().ok_or_else(|| args::missing("path", &Self::SPEC))?;
        let first = args.edits.as_ref().and_then(|edits| edits.first()?.old_string.as_deref());
        let creates = args.old_string.as_deref().or(first) == Some("");
        let path =
            if creates { cx.resolve_new_file(&given, |_| false)? } else { cx.existing(&given, ExistingKind::File)? };
        let edits = edits(cx, args)?;
        let target = cx.workspace.writable(&path)?;
        plan_one(cx, FileEdit { expected, expected_revision, ..FileEdit::new(path, target, edits) }, dry_run)
    }
}

fn plan_one(cx: &CallContext, edit: FileEdit, dry_run: bool) -> Result<Plan, ToolError> {
    let planned = Arc::new(edit).work_out(cx)?;
    Ok(if dry_run { Plan::Answer(planned.answer(cx, None)) } else { Plan::Change(Box::new(planned)) })
}

fn plan_files(
    cx: &CallContext,
    args: Args,
    expected: Option<usize>,
    expected_revision: Option<RevisionPrefix>,
    dry_run: bool,
) -> Result<Plan, ToolError> {
    let targets = targets(&args)?;
    let entries = edits(cx, args)?;
    let edits = match FilesEdit::of(cx, targets.into_iter().zip(entries).collect())?.only() {
        Ok(edit) => return plan_one(cx, FileEdit { expected, expected_revision, ..edit }, dry_run),
        Err(edits) => edits,
    };
    if expected_revision.is_some() {
        return Err(ToolError::invalid("`expected_revision` is the rev of one file, and this call is for several")
            .hint("leave it out: each file must have been seen, and is refused if it has changed since"));
    }
    let planned = edits.work_out(cx, expected, dry_run)?;
    Ok(if dry_run { Plan::Answer(planned.dry_run(cx)) } else { Plan::Change(Box::new(planned)) })
}

/// The files of each entry. The path of the call is the file of those that name none, else the directory of globs.
fn targets(args: &Args) -> Result<Vec<EntryTarget>, ToolError> {
    let edits = || args.edits.iter().flatten();
    let is_file = edits().any(|one| one.path.is_none() && one.glob.is_none());
    let target = |(index, one): (usize, &SingleEdit)| match (one.path.as_ref(), &one.glob) {
        (path, Some(glob)) => {
            let under = path.or(args.path.as_ref().filter(|_| !is_file)).cloned();
            Ok(EntryTarget::Glob { glob: glob.clone(), under })
        }
        (path, None) => path.or(args.path.as_ref()).cloned().map(EntryTarget::Path).ok_or_else(|| {
            ToolError::invalid(format!("edits[{index}] has no `path`, and the call has none either"))
                .hint("name the file of each edit, or one for all of them as path")
        }),
    };
    edits().enumerate().map(target).collect()
}

/// How many replacements there must be: an edit makes one at least.
fn expected_count(given: i64) -> Result<usize, ToolError> {
    usize::try_from(given).ok().filter(|count| *count > 0).ok_or_else(|| {
        ToolError::invalid(format!("`expected_replacements` must be 1 or more, not {given}"))
            .hint("leave it out when any number will do")
    })
}

fn edits(cx: &CallContext, args: Args) -> Result<Vec<EditEntry>, ToolError> {
    let (replace_all, word) = (args.replace_all.unwrap_or(false), args.word.unwrap_or(false));
    // Some clients fill in every argument: an empty list, and two empty texts beside a list, are none.
    let has_text = args.old_string.is_some() || args.new_string.is_some();
    let list = args.edits.filter(|edits| !(edits.is_empty() && has_text));
    let is_text = |text: &String| list.is_none() || !text.is_empty();
    let is_filled = args.old_string.as_ref().is_some_and(is_text) || args.new_string.as_ref().is_some_and(is_text);
    let (old, new) = if is_filled { (args.old_string, args.new_string) } else { (None, None) };
    let edits = match (list, old, new) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            return Err(ToolError::invalid("`edits` and old_string/new_string were both given")
                .hint("send one of them; edits holds objects of old_string, new_string and replace_all"));
        }
        (Some(edits), None, None) => {
            if edits.is_empty() || edits.len() > MAX_EDITS {
                let sentence = format!("`edits` has {} edits; it takes 1 to {MAX_EDITS}", edits.len());
                return Err(ToolError::invalid(sentence)
                    .hint("send them in several calls, or old_string and new_string for a single one"));
            }
            entries(cx, edits, (replace_all, word))?
        }
        (None, Some(old), Some(new)) => {
            vec![EditEntry::new("", EntryChange::Text(TextEdit { old, new, replace_all, word }))]
        }
        (None, Some(_), None) => return Err(args::missing("new_string", &Edit::SPEC)),
        (None, None, _) => {
            return Err(ToolError::invalid("the argument `old_string` is missing")
                .hint("pass old_string and new_string, or a list of them as edits"));
        }
    };
    for one in &edits {
        if let EntryChange::Text(text) = &one.change
            && text.old == text.new
        {
            let error = ToolError::invalid("old_string and new_string are equal, so there is nothing to change")
                .hint("set new_string to the replacement text");
            return Err(one.label(error));
        }
    }
    Ok(edits)
}

fn entries(cx: &CallContext, edits: Vec<SingleEdit>, defaults: (bool, bool)) -> Result<Vec<EditEntry>, ToolError> {
    let limit = cx.settings.max_file_size;
    let (mut entries, mut copied) = (Vec::with_capacity(edits.len()), 0);
    for (index, mut one) in edits.into_iter().enumerate() {
        cx.check()?;
        let name = format!("edits[{index}]");
        let parsed = one.take_text(cx).and_then(|(new, copied)| Ok((one.change(new, defaults)?, copied)));
        let (change, copied_from) = parsed.map_err(|error| error.within(&name))?;
        let entry = EditEntry { copied: copied_from, ..EditEntry::new(name, change) };
        copied += if entry.copied.is_some() { entry.change.new_text().len() as u64 } else { 0 };
        // Each of a hundred entries may name a file of the largest size: together gigabytes in memory.
        if copied > limit {
            let sentence =
                format!("the entries copy {copied} bytes with new_from; at most {limit} are copied in one call");
            return Err(ToolError::new(Kind::TooLarge, sentence).hint("nothing was changed; copy it in several calls"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

impl SingleEdit {
    fn take_text(&mut self, cx: &CallContext) -> Result<(String, Option<TextSource>), ToolError> {
        match (self.new_string.take(), self.new_from.take()) {
            (Some(_), Some(_)) => Err(ToolError::invalid("new_string and new_from were both given")
                .hint("send one of them: the new text, or the file and lines to copy it from")),
            (Some(new), None) => Ok((new, None)),
            (None, Some(from)) => copied_text(cx, &from).map(|(text, source)| (text, Some(source))),
            (None, None) => Err(args::missing("new_string", &Edit::SPEC)),
        }
    }

    /// The change that puts `new`; `replace_all` and `word` are those of the call.
    fn change(self, new: String, (replace_all, word): (bool, bool)) -> Result<EntryChange, ToolError> {
        let rev = read_before_write::parse_rev("rev", self.rev.as_deref())?;
        match (self.old_string, self.lines) {
            (Some(_), Some(_)) => Err(ToolError::invalid("old_string and lines were both given")
                .hint("send one of them: the text to replace, or the numbers of its lines")),
            (None, None) => Err(ToolError::invalid("the argument `old_string` is missing")
                .hint("pass the text to replace as old_string, or its line numbers as lines")),
            (Some(old), None) => {
                let (replace_all, word) = (self.replace_all.unwrap_or(replace_all), self.word.unwrap_or(word));
                Ok(EntryChange::Text(TextEdit { old, new, replace_all, word }))
            }
            (None, Some(lines)) => {
                let (cell, place) = lines::parse(&lines)?;
                Ok(EntryChange::Lines(LinesEdit { place, cell, rev, new }))
            }
        }
    }
}
