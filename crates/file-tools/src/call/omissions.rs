//! Notes on what an answer leaves out: files skipped by reason, ignored files, limits of the system and of time.

use std::time::Duration;

use confined_fs::stop::{StopReason, StopSignal};
use confined_fs::walk::{LimitsHit, WalkReport};
use confined_fs::{Limit, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use text_file::exact_size;
use tree_search::{LinksNotFollowed, NameGlob, Scope, Skipped, SkippedPaths, Tally};

use super::{
    answer::count,
    context::{CallContext, echo},
    fence::fence,
};

/// Where the names of a search came from.
#[derive(Serialize, JsonSchema)]
#[serde(remote = "tree_search::PathSource", rename_all = "snake_case")]
pub(crate) enum PathSource {
    /// From the path index.
    #[serde(rename = "list")]
    Index,
    /// From a walk over the disk.
    Walk,
}

/// Files left out, by reason.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SkippedFiles {
    /// They hold NUL bytes.
    binary: usize,
    /// Documents that are damaged, encrypted or too large to be read whole.
    #[serde(skip_serializing_if = "is_zero")]
    documents: usize,
    /// Over the size limit of directory searches.
    too_large: usize,
    /// Policy denies their content.
    protected: usize,
    /// Files and folders that the operating system refuses.
    unreadable: usize,
    /// Files and folders that could not be opened, because too many files were open.
    #[serde(skip_serializing_if = "is_zero")]
    out_of_files: usize,
}

/// A file or folder that was left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SkippedPath {
    /// Its path.
    path: String,
    /// Why: a key of `skipped`.
    reason: &'static str,
}

const NAMED_BYTES: usize = 300;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl SkippedFiles {
    /// `documents` are those of which text is missing.
    pub(crate) fn of(tally: &Tally, walk: &WalkReport, documents: usize) -> Self {
        Self {
            binary: tally.skipped_as(Skipped::Binary),
            documents,
            too_large: tally.skipped_as(Skipped::TooLarge),
            protected: tally.skipped_as(Skipped::Secret),
            unreadable: tally.skipped_as(Skipped::Unreadable) + walk.unreadable_count,
            out_of_files: tally.skipped_as(Skipped::OutOfFiles) + walk.limits_hit.directories,
        }
    }

    pub(crate) fn without_binary(self) -> Self {
        Self { binary: 0, ..self }
    }

    fn total(self) -> usize {
        self.binary + self.too_large + self.protected + self.unreadable
    }

    /// Each of them, where they are few: `files` and the directories of `walk`.
    pub(crate) fn named(self, files: &SkippedPaths, walk: &WalkReport) -> Vec<SkippedPath> {
        let file = |(path, why): &(WorkspacePath, Skipped)| {
            let reason = match why {
                Skipped::Binary => "binary",
                Skipped::TooLarge => "too_large",
                Skipped::Secret => "protected",
                Skipped::Unreadable => "unreadable",
                // A separate note says what to do about these.
                Skipped::Document | Skipped::OutOfFiles => return None,
            };
            Some(SkippedPath { path: path.to_string(), reason })
        };
        let directory = |path: &WorkspacePath| SkippedPath { path: format!("{path}/"), reason: "unreadable" };
        let named: Vec<_> = files.iter().filter_map(file).chain(walk.unreadable.iter().map(directory)).collect();
        let bytes: usize = named.iter().map(|skipped| skipped.path.len()).sum();
        let all = named.len() == self.total() && named.len() <= SkippedPaths::MAX_NAMED && bytes <= NAMED_BYTES;
        if all { named } else { Vec::new() }
    }

    /// `skipped: .env (protected)`, or where there are too many to name them
    /// `(skipped 3 binary, 1 over 16 MiB, 2 protected files)`; `limit` is in bytes.
    pub(crate) fn note(self, named: &[SkippedPath], limit: u64) -> Option<String> {
        if !named.is_empty() {
            let named = named.iter().map(|SkippedPath { path, reason }| match *reason {
                "too_large" => format!("{path} (over {})", exact_size(limit)),
                reason => format!("{path} ({reason})"),
            });
            return Some(format!("skipped: {}", named.collect::<Vec<_>>().join(", ")));
        }
        let parts: Vec<String> = [
            (self.binary, "binary".to_owned()),
            (self.too_large, format!("over {}", exact_size(limit))),
            (self.protected, "protected".to_owned()),
            (self.unreadable, "unreadable".to_owned()),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
        let total = self.total();
        (total > 0).then(|| format!("(skipped {} file{})", parts.join(", "), if total == 1 { "" } else { "s" }))
    }
}

/// A sentence for each limit of the system or of the ignore rules that a search met.
pub(crate) fn limit_notes(tally: &Tally, limits_hit: &LimitsHit) -> Vec<String> {
    let mut notes = Vec::new();
    let left_out = [(tally.skipped_as(Skipped::OutOfFiles), "file"), (limits_hit.directories, "directory")];
    let left_out: Vec<String> = left_out.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count(n, noun)).collect();
    if !left_out.is_empty() {
        let limit = limits_hit.limit.unwrap_or_else(Limit::open_files);
        notes.push(format!(
            "incomplete: {} could not be opened, because {limit}; call again after other calls are answered, or \
             search a part of it",
            left_out.join(" and ")
        ));
    }
    if limits_hit.lacks_rules() {
        notes.push(format!("{limits_hit}: they are too many, so ignored files may be among these"));
    }
    notes
}

/// `(2 worktrees below not searched; pass one as path)`; `done` is what was not done with them.
pub(crate) fn worktrees_note(n: usize, done: &str) -> Option<String> {
    let which = if n == 1 { "it" } else { "one" };
    (n > 0).then(|| format!("({} below not {done}; pass {which} as path)", count(n, "worktree")))
}

/// `1 link not followed: cat/foo -> items/foo; pass it as path`: the first ones by their names, the others as a number.
pub(crate) fn links_note(links: &LinksNotFollowed) -> Option<String> {
    let (mut named, mut bytes) = (Vec::new(), 0);
    for (link, target) in &links.named {
        let link = format!("{link} -> {target}");
        bytes += link.len();
        named.extend((bytes <= NAMED_BYTES).then_some(link));
    }
    let shown = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let more = match links.count - named.len() {
        more if more > 0 && !named.is_empty() => format!(" and {more} more"),
        _ => String::new(),
    };
    let (least, which) = (if links.more { "at least " } else { "" }, if links.count == 1 { "it" } else { "one" });
    (links.count > 0)
        .then(|| format!("{least}{} not followed{shown}{more}; pass {which} as path", count(links.count, "link")))
}

/// Results in what the ignore rules leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct InIgnored {
    /// How many were found there.
    pub(crate) count: usize,
    /// Whether all of it was looked into.
    pub(crate) exact: bool,
}

impl InIgnored {
    /// `None` where there is nothing to say: a pass that was cut and met nothing is worth a word only where nothing else
    /// was found.
    pub(crate) fn of(count: usize, stopped: Option<StopReason>, found_any: bool) -> Option<Self> {
        let exact = stopped.is_none();
        (count > 0 || !exact && !found_any).then_some(Self { count, exact })
    }

    /// `14 more in ignored files; pass no_ignore`.
    pub(crate) fn note(self) -> String {
        match (self.count, self.exact) {
            (0, _) => "there may be more in ignored files; pass no_ignore".to_owned(),
            (n, true) => format!("{n} more in ignored files; pass no_ignore"),
            (n, false) => format!("at least {n} more in ignored files; pass no_ignore"),
        }
    }
}

/// How long ignored files are looked through: longer if nothing was found elsewhere.
pub(crate) fn time_for_ignored(found_any: bool) -> Duration {
    Duration::from_millis(if found_any { 50 } else { 300 })
}

/// The note if the time limit ended the work after `n` of `noun`; `next` is what to do.
pub(crate) fn stopped_note(
    stop: &StopSignal,
    reason: Option<StopReason>,
    n: usize,
    noun: &str,
    next: &str,
) -> Option<String> {
    reason.map(|_| format!("time limit of {:.0?} reached after {}; {next}", stop.limit(), count(n, noun)))
}

/// Why no list of the names is kept where a search looked, if that cannot be.
pub(crate) fn walked_because(cx: &CallContext, scope: &Scope) -> Option<String> {
    scope.starts().iter().find_map(|start| cx.path_index.unwatchable(start)).map(|why| why.to_string())
}

pub(crate) fn absent_note(scope: &Scope) -> Option<String> {
    let is_late = |root: &&WorkspacePath| root.root().is_absent() && !root.root().is_unusable();
    let (late, unusable): (Vec<_>, Vec<_>) = scope.absent().iter().partition(is_late);
    let late: Vec<String> = late.iter().map(ToString::to_string).collect();
    let late = (!late.is_empty()).then(|| format!("(not searched, as it does not exist yet: {})", late.join(", ")));
    let unusable = unusable.iter().map(|root| format!("(not searched: {root}{})", root.root().absence_note()));
    let notes: Vec<String> = late.into_iter().chain(unusable).collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// The first line of an answer with paths that `glob`, which was `given`, does not match as it is written.
pub(crate) fn look_alike_line<'p>(
    glob: &NameGlob,
    given: &str,
    scope: &Scope,
    paths: impl Iterator<Item = &'p WorkspacePath>,
) -> Option<String> {
    let is_alike = |path: &&WorkspacePath| {
        let start = scope.starts().iter().find(|start| path.is_in(start));
        start.is_some_and(|start| glob.matches_alike(path.relative_to(start)))
    };
    let (alike, given) = (paths.filter(is_alike).count(), echo(given));
    match glob.other_text().filter(|_| alike > 0) {
        Some(other) => Some(format!("({given} is {})", echo(other))),
        None if alike == 1 => Some(format!("(1 name looks like {given})")),
        None => (alike > 0).then(|| format!("({alike} names look like {given})")),
    }
}

pub(crate) fn headed(header: String, notes: &[String]) -> String {
    notes.iter().fold(header, |header, note| header + "\n" + note)
}

pub(crate) fn with_notes(mut text: String, notes: &[String]) -> String {
    if !notes.is_empty() {
        // Notes follow "nothing found" directly, and a list after an empty line.
        text.push_str(if text.contains('\n') { "\n\n" } else { "\n" });
        text.push_str(&notes.join("\n"));
    }
    text
}

/// A list of names or lines below its header, with the notes on it, which may hold names as well.
pub(crate) fn listed(is_untrusted: bool, header: String, list: &str, notes: &[String]) -> String {
    if !is_untrusted || (list.is_empty() && notes.is_empty()) {
        return with_notes(header + list, notes);
    }
    format!("{header}\n{}", fence(&with_notes(list.to_owned(), notes)))
}

/// Whether a search looks into an untrusted root. A link may lead into one.
pub(crate) fn is_untrusted_scope(cx: &CallContext, scope: &Scope) -> bool {
    scope.starts().iter().any(|start| {
        cx.workspace.is_untrusted(start)
            || cx.workspace.canonical(start).is_ok_and(|real| cx.workspace.is_untrusted(&real))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_of_skipped_files_names_only_reasons_that_occur() {
        let skipped = SkippedFiles { binary: 3, too_large: 1, protected: 2, ..SkippedFiles::default() };
        assert_eq!(skipped.note(&[], 16 << 20).unwrap(), "(skipped 3 binary, 1 over 16 MiB, 2 protected files)");
        assert_eq!(SkippedFiles { binary: 1, ..Default::default() }.note(&[], 0).unwrap(), "(skipped 1 binary file)");
        assert_eq!(SkippedFiles::default().note(&[], 0), None);
    }

    #[test]
    fn note_of_worktrees_says_how_many_there_are() {
        assert_eq!(worktrees_note(0, "searched"), None);
        assert_eq!(worktrees_note(1, "listed").unwrap(), "(1 worktree below not listed; pass it as path)");
        assert_eq!(worktrees_note(2, "searched").unwrap(), "(2 worktrees below not searched; pass one as path)");
    }

    #[test]
    fn note_of_ignored_files_is_exact_or_a_lower_bound() {
        assert_eq!(InIgnored { count: 14, exact: true }.note(), "14 more in ignored files; pass no_ignore");
        assert_eq!(InIgnored { count: 14, exact: false }.note(), "at least 14 more in ignored files; pass no_ignore");
    }
}
