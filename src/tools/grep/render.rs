//! The words of grep's answer: header, lines, footer, facts.
//!
//! Pure: what was found in, text out, within the budget. A cut is always at a whole match.

use std::{fmt::Write as _, time::Duration};

use confined_fs::Revision;
use tree_search::{ContentHits, Scope};

use crate::tools::{
    Answer, AnswerBudget, CallContext,
    answer::count,
    fenced_list::{is_untrusted_scope, listed},
    omissions::{self, InIgnored, SkippedFiles, SkippedPath, headed, stopped_note},
    paging::shown_range,
};

use super::{
    args::OutputMode,
    lines::LineForm,
    notes::{UnusualFiles, cut_note, hidden_note, not_utf8_note},
    output::{Facts, FileResult, MatchLine, Output},
    page::Page,
    request::GrepRequest,
};

/// What a capped answer advises.
const NARROW: &str = "Narrow the path or add a glob filter, or continue with";

/// All that an answer is made of.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) request: &'a GrepRequest,
    pub(super) scope: &'a Scope,
    pub(super) found: &'a ContentHits,
    /// How many of the matches are prototypes.
    pub(super) prototypes: usize,
    /// Files whose definitions could not be looked up.
    pub(super) unscoped: usize,
    pub(super) hidden: Option<InIgnored>,
    /// Of the only file.
    pub(super) rev: Option<Revision>,
}

impl Report<'_> {
    /// Renders as many results as fit into `budget`.
    pub(super) fn render(&self, budget: AnswerBudget) -> Page {
        match self.request.mode {
            OutputMode::Content | OutputMode::Definitions => self.form().page(&self.found.files, budget),
            _ => self.render_files(budget),
        }
    }

    fn render_files(&self, budget: AnswerBudget) -> Page {
        let (mut page, mut gauge) = (Page::default(), budget.gauge());
        let (skip, take) = (self.request.skip, self.request.take);
        let on_page = |(_, (before, _)): &(usize, &(usize, _))| (skip..skip + take).contains(before);
        for (at, (_, hits)) in self.found.files.iter().enumerate().filter(on_page) {
            let start = page.text.len();
            let _ = write!(page.text, "\n{}", hits.path);
            if self.request.mode == OutputMode::Count {
                let _ = write!(page.text, ":{}", hits.matches);
            }
            if !gauge.fits(&page.text) && page.shown > 0 {
                page.text.truncate(start);
                break;
            }
            page.files.push((at, Vec::new()));
            page.shown += 1;
        }
        page
    }

    fn form(&self) -> LineForm {
        let GrepRequest { skip, take, before, after, .. } = *self.request;
        let (before, after) = if self.request.mode == OutputMode::Content { (before, after) } else { (0, 0) };
        LineForm { skip, take, before: before as u64, after: after as u64, headed: self.is_headed() }
    }

    /// Whether the path is a heading above its lines.
    fn is_headed(&self) -> bool {
        self.scope.file().is_some()
            || self.request.scope
            || self.request.mode == OutputMode::Content && self.request.before + self.request.after > 0
    }

    /// Header, lines and footer; the facts next to them.
    pub(super) fn answer(&self, cx: &CallContext, page: Page, elapsed: Duration) -> Answer {
        let skipped = SkippedFiles::of(&self.found.tally, &self.found.walk);
        let results = self.results();
        let truncated = self.found.capped || results > self.request.skip + page.shown;
        let next_offset = (truncated && page.shown > 0).then_some(self.request.skip + page.shown);
        let limits = self.limit_notes(&page, truncated);
        let mut notes = limits.clone();
        notes.extend(page.less_context.map(|lines| self.less_context_note(lines)));
        notes.extend(self.unscoped_note());
        let unusual = UnusualFiles::of(&cx.workspace, self.found, &page);
        notes.extend(unusual.note(self.found, &page));
        notes.extend(hidden_note(self.found, &page));
        notes.extend(cut_note(self.found, &page, self.scope.file().is_some()));
        notes.extend(self.request.backslash_note.clone().filter(|_| self.results() == 0));
        notes.extend(self.hidden.map(InIgnored::note));
        notes.extend(stopped_note(
            &cx.stop,
            self.found.stopped,
            self.found.tally.searched,
            "file",
            "narrow the path or add a glob filter",
        ));
        let skipped_paths = skipped.named(&self.found.skipped, &self.found.walk);
        notes.extend(self.skipped_note(skipped, &skipped_paths, cx.settings.max_search_file_size));
        let not_utf8 = Some(self.found.tally.not_utf8).filter(|files| *files > 0);
        notes.extend(not_utf8.map(not_utf8_note));

        notes.extend(omissions::absent_note(self.scope));
        notes.extend(omissions::limit_notes(&self.found.tally, &self.found.walk.limits_hit));
        notes.extend(self.rev.filter(|_| page.shown > 0).map(|rev| format!("(rev {})", rev.short())));

        let facts = Facts {
            matches: self.found.matches,
            files: self.found.matching_files,
            shown: page.shown,
            truncated,
            next_offset,
            complete: self.found.complete(),
            searched_files: self.found.tally.searched,
            skipped,
            skipped_paths,
            not_utf8,
            ignored: self.hidden,
            source: self.found.source,
            walked_because: omissions::walked_because(cx, self.scope),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        };
        let header = headed(self.header(page.shown, next_offset), &limits);
        let shown = || page.files.iter().map(|(at, _)| &self.found.files[*at].1);
        let is_untrusted =
            is_untrusted_scope(cx, self.scope) || shown().any(|hits| cx.workspace.is_untrusted(&hits.real));
        let text = listed(is_untrusted, header, &page.text, &notes[limits.len()..]);
        let answer = Answer::text(text, &facts);
        answer.data_of(cx, || Output {
            mode: self.request.mode,
            facts,
            results: self.file_results(page, unusual),
            notes,
        })
    }

    /// The note on numbers over their maximum, if they make a difference.
    fn limit_notes(&self, page: &Page, truncated: bool) -> Vec<String> {
        let request = self.request;
        let results = request.results_note.iter().filter(|_| truncated && page.shown == request.take);
        let context = request.context_notes.iter().filter(|_| request.mode == OutputMode::Content && page.shown > 0);
        results.chain(context).cloned().collect()
    }

    fn less_context_note(&self, (before, after): (u64, u64)) -> String {
        let GrepRequest { before: asked_before, after: asked_after, .. } = self.request;
        format!(
            "(context cut to before={before}, after={after} of {asked_before}, {asked_after}: no match fits with more)"
        )
    }

    fn skipped_note(&self, skipped: SkippedFiles, named: &[SkippedPath], limit: u64) -> Option<String> {
        match self.scope.file() {
            Some(file) if self.found.tally.binary > 0 => {
                Some(format!("({file} is binary: it contains NUL bytes, and only text is searched)"))
            }
            _ if self.concerns_binary() => skipped.note(named, limit),
            _ => skipped.without_binary().note(named, limit),
        }
    }

    /// Whether files that are no text may be what was searched: nothing else was found, or the request names files.
    fn concerns_binary(&self) -> bool {
        self.results() == 0 || self.request.names_files || self.request.no_ignore
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

    fn counted_definitions(&self) -> String {
        let definitions = count(self.found.matches - self.prototypes, "definition");
        match self.prototypes {
            0 => definitions,
            prototypes => format!("{definitions} and {}", count(prototypes, "prototype")),
        }
    }

    fn header(&self, shown: usize, next_offset: Option<usize>) -> String {
        let (skip, take) = (self.request.skip, self.request.take);
        let noun = match self.request.mode {
            OutputMode::Content => "match",
            OutputMode::Definitions => "definition",
            _ => "file",
        };
        let results = self.results();
        if results == 0 {
            return match self.request.mode {
                OutputMode::FilesWithoutMatch => "No files without a match",
                OutputMode::Definitions => "No definitions found",
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
                OutputMode::Content | OutputMode::Count => {
                    let occurrences = match self.found.occurrences {
                        several if several > self.found.matches => format!(" ({several} occurrences)"),
                        _ => String::new(),
                    };
                    format!("Found {} in {files}{under}{occurrences}", count(self.found.matches, "match"))
                }
            }
        };
        match next_offset {
            Some(next) => format!("{found}, showing {}. {NARROW} offset={next}.", shown_range(skip, shown)),
            None if shown == 0 && self.found.stopped.is_none() => {
                format!("{found}, but offset={skip} is past the last")
            }
            None if skip > 0 && shown > 0 => format!("{found}, showing {}", shown_range(skip, shown)),
            None => found,
        }
    }
}
