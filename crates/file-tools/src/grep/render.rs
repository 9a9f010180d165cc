//! The answer of `grep`: header, lines, notes, facts, within the budget. Pure; a cut is always at a whole match.
//!
//! Lines have two forms. Matches in several files without context are `path:12: text`. With context, or in one file, the
//! path is a heading, and nothing comes between a line's mark and its text (`12:text`, `13-text`): a model copies the text
//! with its indentation.

use std::{fmt::Write as _, time::Duration};

use change_set::Workspace;
use confined_fs::Revision;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use text_file::backslash_note;
use tree_search::{ContentHits, FileHits, HitLine, LeftOut, LinksNotFollowed, NameGlob, Scope, Skipped};

use crate::{
    Answer, AnswerBudget, CallContext, MAX_SEARCH_FILE_SIZE,
    answer::count,
    context::echo,
    grep::documents::SearchedDocuments,
    grep::request::{GrepRequest, OutputMode},
    hidden_note::HiddenNote,
    omissions::{
        self, InIgnored, PathSource, SkippedFiles, SkippedPath, headed, is_untrusted_scope, is_zero, listed,
        stopped_note,
    },
    paging::with_page,
};

#[derive(Debug)]
pub(super) struct GrepReport<'a> {
    pub(super) request: &'a GrepRequest,
    pub(super) scope: &'a Scope,
    pub(super) found: &'a ContentHits,
    pub(super) documents: SearchedDocuments,
    pub(super) prototypes: usize,
    pub(super) unscoped: usize,
    pub(super) hidden: Option<InIgnored>,
    pub(super) not_followed: LinksNotFollowed,
    pub(super) pattern_notes: Vec<String>,
    pub(super) rev: Option<Revision>,
}

impl GrepReport<'_> {
    pub(super) fn render(&self, budget: AnswerBudget) -> Page {
        if self.request.mode.is_of_lines() { self.render_lines(budget) } else { self.render_files(budget) }
    }

    fn render_files(&self, budget: AnswerBudget) -> Page {
        let (mut page, mut gauge) = (Page::default(), budget.gauge());
        let (skip, take) = (self.request.skip, self.request.take);
        let on_page = |(_, (before, _)): &(usize, &(usize, _))| (skip..skip + take).contains(before);
        for (at, (_, hits)) in self.found.files.iter().enumerate().filter(on_page) {
            let is_count = self.request.mode == OutputMode::Count;
            let matches = if is_count { format!(":{}", hits.matches) } else { String::new() };
            // The first one is shown in any case, or the next page would begin where this one did.
            if !gauge.push(&mut page.text, &format!("\n{}{matches}", hits.path), page.shown == 0) {
                break;
            }
            page.files.push((at, Vec::new()));
            page.shown += 1;
        }
        page
    }

    fn is_headed(&self) -> bool {
        self.scope.file().is_some()
            || self.request.args.scope == Some(true)
            || self.request.mode.has_context() && self.request.before + self.request.after > 0
    }

    /// Header, lines and footer; the facts next to them.
    pub(super) fn answer(&self, cx: &CallContext, page: Page, elapsed: Duration) -> Answer {
        let skipped = SkippedFiles::of(&self.found.tally, &self.found.walk, self.documents.flawed());
        let results = self.results();
        let truncated = self.found.capped || results > self.request.skip + page.shown;
        let next_offset = (truncated && page.shown > 0).then_some(self.request.skip + page.shown);
        let mut limits = self.limit_notes(&page, truncated);
        limits.extend(self.documents.left_note());
        let mut notes = limits.clone();
        notes.extend(self.left_out_note());
        notes.extend(self.pattern_notes.iter().cloned());
        notes.extend(page.less_context.map(|lines| self.less_context_note(lines)));
        notes.extend(self.unscoped_note());
        let unusual = UnusualFiles::of(&cx.workspace, self.found, &page);
        notes.extend(unusual.note(self.found, &page));
        notes.extend(hidden_note(self.found, &page));
        notes.extend(cut_note(self.found, &page, self.scope.file().is_some()));
        notes.extend(self.request.args.glob.as_deref().and_then(backslash_note).filter(|_| self.results() == 0));
        notes.extend(self.hidden.map(InIgnored::note));
        notes.extend(omissions::worktrees_note(self.found.walk.worktrees, "searched"));
        notes.extend(omissions::links_note(&self.not_followed));
        let (searched, next) =
            (self.found.tally.searched + self.documents.searched, "narrow the path or add a glob filter");
        notes.extend(stopped_note(&cx.stop, self.found.stopped, searched, "file", next));
        let skipped_paths = skipped.named(&self.found.skipped, &self.found.walk);
        notes.extend(self.skipped_note(skipped, &skipped_paths, MAX_SEARCH_FILE_SIZE));
        // Once for all pages.
        if self.request.skip == 0 {
            notes.extend(self.documents.notes());
        }
        let not_utf8 = Some(self.found.tally.not_utf8).filter(|files| *files > 0);
        notes.extend(not_utf8.map(not_utf8_note));

        notes.extend(omissions::absent_note(self.scope));
        notes.extend(omissions::limit_notes(&self.found.tally, &self.found.walk.limits_hit));
        let nothing_else = notes.is_empty() && self.results() == 0 && self.found.complete() && self.documents.left == 0;
        notes.extend(self.no_file_note().filter(|_| nothing_else && searched == 0));
        notes.extend(self.rev.filter(|_| page.shown > 0).map(|rev| format!("(rev {})", rev.short())));

        let facts = GrepFacts {
            matches: self.found.matches,
            files: self.found.matching_files,
            shown: page.shown,
            truncated,
            next_offset,
            complete: self.found.complete() && self.documents.left == 0,
            searched_files: searched,
            documents_left: self.documents.left,
            skipped,
            skipped_paths,
            worktrees: self.found.walk.worktrees,
            links_not_followed: self.not_followed.count,
            not_utf8,
            left_out: LeftOutLines::of(self.found.tally.left_out),
            ignored: self.hidden,
            source: self.found.source,
            walked_because: omissions::walked_because(cx, self.scope),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        };
        let mut header = headed(self.header(&page, next_offset), &limits);
        let shown = || page.files.iter().map(|(at, _)| &self.found.files[*at].1);
        if let Some(given) = &self.request.args.glob
            && let Ok(glob) = NameGlob::compile(given, true)
            && let Some(line) = omissions::look_alike_line(&glob, given, self.scope, shown().map(|hits| &hits.path))
        {
            header = format!("{line}\n{header}");
        }
        let mut named = shown().map(|hits| &hits.real).chain(self.not_followed.named.iter().map(|(_, target)| target));
        let is_untrusted = is_untrusted_scope(cx, self.scope) || named.any(|path| cx.workspace.is_untrusted(path));
        let text = listed(is_untrusted, header, &page.text, &notes[limits.len()..]);
        let mode = self.request.mode;
        let results = || self.file_results(page, unusual);
        Answer::text(text, &facts).data_of(cx, || Output { mode, facts, results: results(), notes })
    }

    fn limit_notes(&self, page: &Page, truncated: bool) -> Vec<String> {
        let request = self.request;
        let results = request.results_note.iter().filter(|_| truncated && page.shown == request.take);
        let context = request.context_notes.iter().filter(|_| request.mode.has_context() && page.shown > 0);
        results.chain(context).cloned().collect()
    }

    fn less_context_note(&self, (before, after): (u64, u64)) -> String {
        let asked = format!("{}, {}", self.request.before, self.request.after);
        format!("(context cut to before={before}, after={after} of {asked}: no match fits with more)")
    }

    fn skipped_note(&self, skipped: SkippedFiles, named: &[SkippedPath], limit: u64) -> Option<String> {
        match self.scope.file() {
            Some(file) if self.found.tally.skipped_as(Skipped::Binary) > 0 => {
                Some(format!("({file} is binary: it contains NUL bytes, and only text is searched)"))
            }
            _ if self.concerns_binary() => skipped.note(named, limit),
            _ => skipped.without_binary().note(named, limit),
        }
    }

    fn no_file_note(&self) -> Option<String> {
        let args = &self.request.args;
        match (&args.glob, &args.kind) {
            (Some(glob), None) => Some(format!("no file matches glob={}", echo(glob))),
            (None, Some(kind)) => Some(format!("no file is of type={kind}")),
            (Some(glob), Some(kind)) => Some(format!("no file of type={kind} matches glob={}", echo(glob))),
            (None, None) => None,
        }
    }

    /// Whether files that are no text may be what was searched: nothing else was found, or the request names files.
    fn concerns_binary(&self) -> bool {
        let args = &self.request.args;
        self.results() == 0 || args.glob.is_some() || args.kind.is_some() || args.no_ignore == Some(true)
    }

    fn file_results(&self, page: Page, unusual: UnusualFiles) -> Vec<FileResult> {
        let result = |(at, lines): (usize, Vec<MatchLine>)| {
            let hits = &self.found.files[at].1;
            FileResult { path: hits.path.to_string(), matches: hits.matches, unusual: Vec::new(), lines }
        };
        let mut results: Vec<_> = page.files.into_iter().map(result).collect();
        for (place, words) in unusual.named {
            results[place].unusual = words;
        }
        results
    }

    /// Results as far as the search went: matches in content mode, else files.
    fn results(&self) -> usize {
        if self.request.mode.is_of_lines() { self.found.matches } else { self.found.matching_files }
    }

    fn unscoped_note(&self) -> Option<String> {
        (self.unscoped > 0).then(|| {
            let files = count(self.unscoped, "file");
            format!("(no definitions for the matches in {files}: the files changed meanwhile, or the time limit was reached)")
        })
    }

    /// `left out: 1 definition, 2 prototypes, 3 in comments`
    fn left_out_note(&self) -> Option<String> {
        let LeftOut { definitions, prototypes, comments } = self.found.tally.left_out;
        let counts = [
            (definitions, count(definitions, "definition")),
            (prototypes, count(prototypes, "prototype")),
            (comments, format!("{comments} in comments")),
        ];
        let counts: Vec<_> = counts.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
        let so_far = if self.found.complete() { "" } else { " so far" };
        (!counts.is_empty()).then(|| format!("left out{so_far}: {}", counts.join(", ")))
    }

    fn counted_definitions(&self) -> String {
        let definitions = count(self.found.matches - self.prototypes, "definition");
        match self.prototypes {
            0 => definitions,
            prototypes => format!("{definitions} and {}", count(prototypes, "prototype")),
        }
    }

    fn header(&self, page: &Page, next_offset: Option<usize>) -> String {
        let (skip, take, shown) = (self.request.skip, self.request.take, page.shown);
        let noun = match self.request.mode {
            OutputMode::Content => "match",
            OutputMode::Definitions => "definition",
            OutputMode::Uses => "use",
            _ => "file",
        };
        let results = self.results();
        if results == 0 {
            return match self.request.mode {
                OutputMode::FilesWithoutMatch => "No files without a match",
                OutputMode::Definitions => "No definitions found",
                OutputMode::Uses => "No uses found",
                _ => "No matches found",
            }
            .to_owned();
        }
        let found = if self.found.capped {
            // The search ends one result after the page, or earlier where its text fills the answer.
            let at_least = if results > skip + take { skip + take } else { skip + shown };
            let without = if self.request.mode == OutputMode::FilesWithoutMatch { " without a match" } else { "" };
            format!("Found more than {}{without}", count(at_least, noun))
        } else {
            let files = count(self.found.matching_files, "file");
            // A heading names the file.
            let under = if self.scope.file().is_some() { String::new() } else { self.scope.under() };
            match self.request.mode {
                OutputMode::FilesWithMatches => format!("Found {files}{under}"),
                OutputMode::FilesWithoutMatch => format!("Found {files} without a match{under}"),
                OutputMode::Definitions => format!("Found {} in {files}{under}", self.counted_definitions()),
                OutputMode::Uses => format!("Found {} in {files}{under}", count(self.found.matches, "use")),
                OutputMode::Content | OutputMode::Count => {
                    let matches = self.found.matches;
                    // Who sees all lines whole sees how often it is in each.
                    let mut lines = page.files.iter().flat_map(|(_, lines)| lines);
                    let sees_all = self.request.mode == OutputMode::Content
                        && shown == matches
                        && lines.all(|line| line.context || line.cut_at.is_none());
                    let occurrences = match self.found.occurrences {
                        several if several > matches && !sees_all => format!(" ({several} occurrences)"),
                        _ => String::new(),
                    };
                    format!("Found {} in {files}{under}{occurrences}", count(matches, "match"))
                }
            }
        };
        // A search that was stopped may not have come to what the offset skips.
        if shown == 0 && self.found.stopped.is_some() {
            return found;
        }
        with_page(found, skip, shown, next_offset, "Narrow the path or add a glob filter")
    }
}

type Group<'h> = Vec<(&'h HitLine, Option<usize>)>;

impl GrepReport<'_> {
    /// As many whole matches as fit into `budget`. Where not even one does, its context is less; where it has none, its
    /// own lines are.
    fn render_lines(&self, budget: AnswerBudget) -> Page {
        let GrepRequest { take: asked, before, after, .. } = *self.request;
        let has_context = self.request.mode.has_context();
        let around = if has_context { (before as u64, after as u64) } else { (0, 0) };
        let (mut take, mut context) = (asked, around);
        loop {
            match self.fill(take, context, budget) {
                Ok(page) => return Page { less_context: Some(context).filter(|less| *less != around), ..page },
                // One match is shown in any case.
                Err(0) => (take, context) = (asked, (context.0 / 2, context.1 / 2)),
                // Fewer than before, so that the loop ends.
                Err(fitting) => take = fitting,
            }
        }
    }

    /// The lines of `take` matches at most, with context lines before and after each; an error says how many matches may
    /// fit where they do not.
    fn fill(&self, take: usize, context: (u64, u64), budget: AnswerBudget) -> Result<Page, usize> {
        let (mut page, mut gauge) = (Page::default(), budget.gauge());
        let (is_headed, has_context) = (self.is_headed(), context != (0, 0));
        let mut in_prototypes = false;
        for (at, (matches_before, hits)) in self.found.files.iter().enumerate() {
            let groups = groups(hits, self.request.skip, take, *matches_before, context);
            if groups.is_empty() {
                continue;
            }
            if hits.prototypes && !in_prototypes {
                in_prototypes = true;
                page.text.push_str("\nprototypes:");
            }
            let path = hits.path.to_string();
            if is_headed {
                let _ = write!(page.text, "\n==> {path} <==");
            }
            let (mut lines, mut last_match, mut last_label) = (Vec::new(), None, None);
            let has_labels = hits.lines.iter().any(|line| line.scope.is_some());
            for (place, group) in groups.iter().enumerate() {
                if has_context && place > 0 {
                    page.text.push_str("\n--");
                    last_label = None;
                }
                for (index, (HitLine { number, text, cut_at, scope, part, .. }, hit)) in group.iter().enumerate() {
                    // Before the first line of a group: where its first match is; before another, where that is.
                    let from = if index == 0 { &group[..] } else { &group[index..=index] };
                    let labelled = from.iter().find(|(_, hit)| hit.is_some()).filter(|_| has_labels);
                    let labelled = labelled.filter(|(line, _)| line.part.is_none());
                    let label = labelled.map(|(line, _)| line.scope.as_deref().unwrap_or(TOP_LEVEL));
                    if let Some(label) = label.filter(|label| last_label.replace(*label) != Some(*label)) {
                        let _ = write!(page.text, "\n[{label}]");
                    }
                    page.shown += usize::from(hit.is_some() && *hit != last_match.map(|(hit, _)| hit));
                    last_match = hit.map(|hit| (hit, *number)).or(last_match);
                    let mark = if hit.is_some() { ':' } else { '-' };
                    let _ = match part {
                        Some(part) if is_headed && hits.is_document => write!(page.text, "\n{part}{mark} {text}"),
                        Some(part) if is_headed => write!(page.text, "\n{part}{mark}{text}"),
                        Some(part) => write!(page.text, "\n{path}{mark}{part}{mark} {text}"),
                        None if is_headed => write!(page.text, "\n{number}{mark}{text}"),
                        None => write!(page.text, "\n{path}{mark}{number}{mark} {text}"),
                    };
                    lines.push(MatchLine {
                        number: *number,
                        part: part.clone(),
                        text: text.clone(),
                        context: hit.is_none(),
                        cut_at: *cut_at,
                        scope: scope.clone().filter(|_| hit.is_some()),
                        prototype: hits.prototypes,
                    });
                    if gauge.fits(&page.text) {
                        continue;
                    }
                    // After the reach of the last match it is context of the next one.
                    let in_reach = last_match.is_some_and(|(_, last)| number - last <= context.1);
                    let fitting = page.shown - usize::from(in_reach);
                    if fitting > 0 || has_context {
                        return Err(fitting);
                    }
                    let left = group[index + 1..].iter().filter(|(_, other)| other == hit).count();
                    if left > 0 {
                        let _ = write!(page.text, "\n(… {left} more lines of this match)");
                    }
                    page.files.push((at, lines));
                    return Ok(page);
                }
            }
            page.files.push((at, lines));
        }
        Ok(page)
    }
}

/// The lines of `hits` that are on a page of `take` matches after the first `skip` ones; `matches_before` are in the files
/// before it.
fn groups(hits: &FileHits, skip: usize, take: usize, matches_before: usize, context: (u64, u64)) -> Vec<Group<'_>> {
    let first = skip.saturating_sub(matches_before);
    let end = (skip + take).saturating_sub(matches_before).min(hits.matches);
    let shown = |line: &HitLine| line.hit.filter(|hit| (first..end).contains(hit));
    let numbers: Vec<u64> = hits.lines.iter().filter(|line| shown(line).is_some()).map(|line| line.number).collect();
    let shown = hits.lines.iter().map(|line| (line, shown(line)));
    let shown: Group<'_> =
        shown.filter(|(line, hit)| hit.is_some() || near(&numbers, line.number, context.0, context.1)).collect();
    shown.chunk_by(|(last, _), (line, _)| last.number + 1 == line.number).map(<[_]>::to_vec).collect()
}

/// Whether line `number` is within `before` lines before, or `after` lines after, one of the
/// ascending `numbers`.
fn near(numbers: &[u64], number: u64, before: u64, after: u64) -> bool {
    let at = numbers.partition_point(|hit| *hit < number);
    numbers.get(at).is_some_and(|next| next - number <= before)
        || at.checked_sub(1).is_some_and(|at| number - numbers[at] <= after)
}

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
    /// Results in them: matches in content mode, else files.
    pub(super) shown: usize,
    /// The files shown, as places in what was found, and in content mode their lines.
    pub(super) files: Vec<(usize, Vec<MatchLine>)>,
    /// Lines shown around each match, where more were asked for and do not fit.
    pub(super) less_context: Option<(u64, u64)>,
}

/// Where no definition is around a match.
const TOP_LEVEL: &str = "top level";

/// Files whose unusual encoding or line ending a note names.
const MAX_UNUSUAL_NAMED: usize = 3;
/// Columns that a note advises to read of a line that is cut, and how many of them are before its match.
const ADVISED_COLUMNS: u64 = 2000;
const COLUMNS_BEFORE: u64 = 200;

/// Shown files that are not UTF-8 with LF: an edit keeps that, and it is not seen in the lines.
#[derive(Debug, Default)]
pub(super) struct UnusualFiles {
    /// The first ones by their places on the page, each with its unusual encoding or line ending.
    pub(super) named: Vec<(usize, Vec<String>)>,
    more: usize,
}

impl UnusualFiles {
    pub(super) fn of(workspace: &Workspace, found: &ContentHits, page: &Page) -> Self {
        let mut unusual = Self::default();
        for (place, (at, lines)) in page.files.iter().enumerate() {
            let hits = &found.files[*at].1;
            if lines.is_empty() || hits.is_plain() == Some(true) {
                continue;
            }
            if unusual.named.len() < MAX_UNUSUAL_NAMED {
                unusual.named.extend(
                    Some(hits.unusual(workspace)).filter(|words| !words.is_empty()).map(|words| (place, words)),
                );
            } else if hits.is_plain().is_some() || !hits.unusual(workspace).is_empty() {
                unusual.more += 1;
            }
        }
        unusual
    }

    /// `(a.txt: windows-1252, CRLF; b.txt: CRLF)`.
    pub(super) fn note(&self, found: &ContentHits, page: &Page) -> Option<String> {
        let file = |(place, words): &(usize, Vec<String>)| {
            format!("{}: {}", found.files[page.files[*place].0].1.path, words.join(", "))
        };
        let mut parts: Vec<String> = self.named.iter().map(file).collect();
        let verb = if self.more == 1 { "is" } else { "are" };
        parts.extend((self.more > 0).then(|| format!("{} {verb} not UTF-8 with LF", count(self.more, "more file"))));
        (!parts.is_empty()).then(|| format!("({})", parts.join("; ")))
    }
}

/// Where the lines hold characters that one does not see. The column of a line that is cut is not known.
pub(super) fn hidden_note(found: &ContentHits, page: &Page) -> Option<String> {
    let mut note = HiddenNote::default();
    for (at, lines) in &page.files {
        let path = &found.files[*at].1.path;
        for MatchLine { number, part, text, cut_at, .. } in lines {
            let place = part.clone().unwrap_or_else(|| number.to_string());
            match (page.files.len(), cut_at) {
                (1, None) if part.is_none() => note.look(number, text),
                (_, None) if part.is_none() => note.look(format_args!("{path}:{number}"), text),
                _ => note.look_at_part(format_args!("{path}:{place}"), text),
            }
        }
    }
    note.text()
}

/// How to get the rest of the first line that is cut. `is_one_file`: a heading names it.
pub(super) fn cut_note(found: &ContentHits, page: &Page, is_one_file: bool) -> Option<String> {
    let (at, line, column) = page.files.iter().find_map(|(at, lines)| {
        // A line that matches, before its context.
        let line = lines.iter().filter(|line| line.cut_at.is_some()).min_by_key(|line| line.context)?;
        Some((*at, line, line.cut_at?))
    })?;
    let number = line.number;
    let first = column.saturating_sub(COLUMNS_BEFORE).max(1);
    let last = first + ADVISED_COLUMNS - 1;
    let path = &found.files[at].1.path;
    let file = if is_one_file { String::new() } else { format!(" of {path}") };
    if let Some(part) = &line.part {
        return Some(format!("(more of {part}{file}: read part=\"{part}\")"));
    }
    Some(format!("(more of line {number}{file}: read part=\"columns {first}-{last}\")"))
}

/// The note on files whose letters beyond ASCII are other bytes than the pattern's.
pub(super) fn not_utf8_note(files: usize) -> String {
    let (verb, them) = if files == 1 { ("is", "it") } else { ("are", "them") };
    format!(
        "({} without a match {verb} not UTF-8: characters beyond ASCII are not found in {them}; search for an ASCII part of the text)",
        count(files, "file")
    )
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was asked for.
    #[serde(rename = "output_mode")]
    pub(super) mode: OutputMode,
    #[serde(flatten)]
    pub(super) facts: GrepFacts,
    /// The files shown, in the order shown.
    pub(super) results: Vec<FileResult>,
    /// What the answer leaves out, as text.
    pub(super) notes: Vec<String>,
}

/// One file of the result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileResult {
    /// Its path, as it can be passed back.
    pub(super) path: String,
    /// Matches in it, as far as it was searched.
    pub(super) matches: usize,
    /// Unusual encoding and line ending, given for the first such files: "windows-1252", "CRLF".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unusual: Vec<String>,
    /// The lines shown, in content mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<MatchLine>,
}

/// One line shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct MatchLine {
    /// Its number, from 1; of a document, among the lines of its text.
    #[serde(rename = "line")]
    pub(super) number: u64,
    /// The part of a document that it is in, as `read` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<String>,
    /// Its text, cut around the match where it is long.
    pub(super) text: String,
    /// Whether it is context of a match and none itself.
    pub(super) context: bool,
    /// Where the line is cut: the column of its match, or its first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cut_at: Option<u64>,
    /// The definition around a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    /// Whether it declares a name without defining it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) prototype: bool,
}

/// Lines that match and are no uses.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct LeftOutLines {
    /// Those that define what matches.
    definitions: usize,
    /// Those that declare it.
    prototypes: usize,
    /// Those that have it in comments alone.
    comments: usize,
}

impl LeftOutLines {
    fn of(LeftOut { definitions, prototypes, comments }: LeftOut) -> Option<Self> {
        (definitions + prototypes + comments > 0).then_some(Self { definitions, prototypes, comments })
    }
}

/// Counts for programs: `_meta` has them, and the data of `--structured-output`. A `None` is left out.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GrepFacts {
    /// Matches found, as far as the search went (with `files_with_matches`: files).
    pub(super) matches: usize,
    /// Files with matches (with `files_without_match`: without), as far as the search went.
    pub(super) files: usize,
    /// Results shown: matches in content mode, else files.
    pub(super) shown: usize,
    /// Whether there is more than is shown.
    pub(super) truncated: bool,
    /// The offset of the next page.
    pub(super) next_offset: Option<usize>,
    /// Whether every file was looked into.
    pub(super) complete: bool,
    /// Files looked into.
    pub(super) searched_files: usize,
    /// Documents not searched yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) documents_left: usize,
    /// Files left out.
    pub(super) skipped: SkippedFiles,
    /// Each of them, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped_paths: Vec<SkippedPath>,
    /// Linked worktrees of git that were not searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) worktrees: usize,
    /// Links that lead to what was not searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) links_not_followed: usize,
    /// Files without a match that are not UTF-8, where the pattern has characters beyond ASCII.
    pub(super) not_utf8: Option<usize>,
    /// Lines that a search for uses leaves out, as far as the search went.
    pub(super) left_out: Option<LeftOutLines>,
    /// What ignored files hold.
    pub(super) ignored: Option<InIgnored>,
    /// Whether the names came from the path index or from a walk.
    #[serde(with = "PathSource")]
    pub(super) source: tree_search::PathSource,
    /// Why no path index can be kept, where it cannot.
    pub(super) walked_because: Option<String>,
    /// How long it took.
    pub(super) elapsed_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_near_a_shown_match() {
        let numbers = [10, 20];
        assert!(near(&numbers, 8, 2, 0) && !near(&numbers, 7, 2, 0) && !near(&numbers, 11, 2, 0));
        assert!(near(&numbers, 12, 0, 2) && !near(&numbers, 13, 0, 2) && near(&numbers, 22, 0, 2));
    }
}
