//! The words of grep's answer: header, lines, footer, facts.
//!
//! Pure: what was found in, text out, within the budget. A cut is always at a whole match.

use std::{fmt::Write as _, time::Duration};

use crate::{
    search::{ContentHits, FileHits, HitLine, Scope},
    tools::{
        Answer, AnswerBudget, CallContext,
        answer::count,
        omissions::{self, InIgnored, SkippedFiles, stopped_note, with_notes},
        paging::shown_range,
    },
};

use super::{
    args::OutputMode,
    output::{Facts, FileResult, MatchLine, Output},
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
    pub(super) hidden: Option<InIgnored>,
}

/// The lines of an answer, and how many results they are.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    body: String,
    /// Results shown.
    shown: usize,
    /// In content mode the files shown (as places in what was found) and their lines.
    files: Vec<(usize, Vec<MatchLine>)>,
}

impl Rendered {
    /// The files whose lines are shown.
    pub(super) fn shown_files<'a>(&self, found: &'a ContentHits) -> impl Iterator<Item = &'a FileHits> {
        self.files.iter().map(|(at, _)| &*found.files[*at].1)
    }
}

impl Report<'_> {
    /// Renders as many results as fit into `budget`.
    pub(super) fn render(&self, budget: AnswerBudget) -> Rendered {
        match self.request.mode {
            OutputMode::Content => self.render_lines(budget),
            OutputMode::FilesWithMatches | OutputMode::Count => self.render_files(budget),
        }
    }

    fn render_files(&self, budget: AnswerBudget) -> Rendered {
        let (mut out, mut gauge) = (Rendered::default(), budget.gauge());
        let (skip, take) = (self.request.skip, self.request.take);
        for (_, hits) in self.found.files.iter().filter(|(before, _)| (skip..skip + take).contains(before)) {
            let start = out.body.len();
            let _ = write!(out.body, "\n{}", hits.path);
            if self.request.mode == OutputMode::Count {
                let _ = write!(out.body, ":{}", hits.matches);
            }
            if !gauge.fits(&out.body) && out.shown > 0 {
                out.body.truncate(start);
                break;
            }
            out.shown += 1;
        }
        out
    }

    fn render_lines(&self, budget: AnswerBudget) -> Rendered {
        let (skip, take) = (self.request.skip, self.request.take);
        let (before, after) = (self.request.before as u64, self.request.after as u64);
        let (mut out, mut gauge) = (Rendered::default(), budget.gauge());
        // Ends of the last match that is complete, and of the one that is being written.
        let (mut complete, mut current) = (0, 0);
        for (at, (first, hits)) in self.found.files.iter().enumerate() {
            let shown = skip.saturating_sub(*first)..(skip + take).saturating_sub(*first).min(hits.matches);
            let is_shown = |line: &HitLine| line.hit.is_some_and(|hit| shown.contains(&hit));
            let numbers: Vec<u64> = hits.lines.iter().filter(|line| is_shown(line)).map(|line| line.number).collect();
            if numbers.is_empty() {
                continue;
            }
            let path = hits.path.to_string();
            let (mut last, mut hit): (Option<u64>, _) = (None, None);
            out.files.push((at, Vec::new()));
            for line in &hits.lines {
                let matching = is_shown(line);
                if !matching && !near(&numbers, line.number, before, after) {
                    continue;
                }
                if matching && line.hit != hit {
                    complete = current;
                    hit = line.hit;
                    out.shown += 1;
                }
                if before + after > 0 && !out.body.is_empty() && last.is_none_or(|last| last + 1 != line.number) {
                    out.body.push_str("\n--");
                }
                last = Some(line.number);
                let mark = if matching { ':' } else { '-' };
                let _ = write!(out.body, "\n{path}{mark}{}{mark} {}", line.number, line.text);
                if let Some((_, lines)) = out.files.last_mut() {
                    lines.push(MatchLine { number: line.number, text: line.text.clone(), context: !matching });
                }
                if !gauge.fits(&out.body) && out.shown > usize::from(matching) {
                    // What is over the budget belongs to this match, or is context of the last.
                    out.shown -= usize::from(matching);
                    return cut(out, if matching { complete } else { current });
                }
                if matching {
                    current = out.body.len();
                }
            }
        }
        out
    }

    /// Header, lines and footer; the facts next to them.
    pub(super) fn answer(&self, cx: &CallContext, rendered: Rendered, elapsed: Duration) -> Answer {
        let skipped = SkippedFiles::of(&self.found.tally, &self.found.walk);
        let mut notes = Vec::new();
        notes.extend(self.hidden.map(InIgnored::note));
        notes.extend(stopped_note(
            &cx.stop,
            self.found.stopped,
            self.found.tally.searched,
            "file",
            "narrow the path or add a glob filter",
        ));
        notes.extend(self.skipped_note(skipped, cx.settings.max_search_file_size));
        let not_utf8 = Some(self.found.tally.not_utf8).filter(|files| *files > 0);
        notes.extend(not_utf8.map(not_utf8_note));

        notes.extend(omissions::limit_notes(&self.found.tally, &self.found.walk.limits_hit));

        let results = self.results();
        let truncated = self.found.capped || results > self.request.skip + rendered.shown;
        let next_offset = (truncated && rendered.shown > 0).then_some(self.request.skip + rendered.shown);
        let facts = Facts {
            matches: self.found.matches,
            files: self.found.matching_files,
            shown: rendered.shown,
            truncated,
            next_offset,
            complete: self.found.complete(),
            searched_files: self.found.tally.searched,
            skipped,
            not_utf8,
            ignored: self.hidden,
            source: self.found.source,
            walked_because: omissions::walked_because(cx, self.scope),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        };
        let text = with_notes(self.header(rendered.shown, next_offset) + &rendered.body, &notes);
        let answer = Answer::text(text, &facts);
        answer.data_of(cx, || Output { mode: self.request.mode, facts, results: self.file_results(rendered), notes })
    }

    fn skipped_note(&self, skipped: SkippedFiles, limit: u64) -> Option<String> {
        match self.scope.file() {
            Some(file) if self.found.tally.binary > 0 => {
                Some(format!("({file} is binary: it contains NUL bytes, and only text is searched)"))
            }
            _ => skipped.note(limit),
        }
    }

    fn file_results(&self, rendered: Rendered) -> Vec<FileResult> {
        let of = |hits: &FileHits, lines| FileResult { path: hits.path.to_string(), matches: hits.matches, lines };
        if self.request.mode == OutputMode::Content {
            return rendered.files.into_iter().map(|(at, lines)| of(&self.found.files[at].1, lines)).collect();
        }
        let from = self.found.files.iter().skip_while(|(before, _)| *before < self.request.skip);
        from.take(rendered.shown).map(|(_, hits)| of(hits, Vec::new())).collect()
    }

    /// Results as far as the search went: matches in content mode, else files.
    fn results(&self) -> usize {
        match self.request.mode {
            OutputMode::Content => self.found.matches,
            OutputMode::FilesWithMatches | OutputMode::Count => self.found.matching_files,
        }
    }

    fn header(&self, shown: usize, next_offset: Option<usize>) -> String {
        let (skip, take) = (self.request.skip, self.request.take);
        let noun = if self.request.mode == OutputMode::Content { "match" } else { "file" };
        let results = self.results();
        if results == 0 {
            return "No matches found".to_owned();
        }
        let found = if self.found.capped {
            // The search ends one result after the page, or earlier where its text fills the answer.
            let at_least = if results > skip + take { skip + take } else { skip + shown };
            format!("Found more than {}", count(at_least, noun))
        } else {
            let files = count(self.found.matching_files, "file");
            let under = self.scope.under();
            match self.request.mode {
                OutputMode::FilesWithMatches => format!("Found {files}{under}"),
                OutputMode::Content | OutputMode::Count => {
                    format!("Found {} in {files}{under}", count(self.found.matches, "match"))
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

/// What is said of files whose letters beyond ASCII are other bytes than the pattern's.
fn not_utf8_note(files: usize) -> String {
    let (verb, them) = if files == 1 { ("is", "it") } else { ("are", "them") };
    format!(
        "({} without a match {verb} not UTF-8: characters beyond ASCII are not found in {them}; search for an ASCII part of the text)",
        count(files, "file")
    )
}

/// Cuts the text after the last whole match.
fn cut(mut out: Rendered, at: usize) -> Rendered {
    out.body.truncate(at);
    // Every line of the body but the separators is one of these.
    let mut left = out.body.lines().filter(|line| !line.is_empty() && *line != "--").count();
    for (_, lines) in &mut out.files {
        lines.truncate(left);
        left -= lines.len();
    }
    out.files.retain(|(_, lines)| !lines.is_empty());
    out
}

/// Whether line `number` is within `before` lines before, or `after` lines after, one of the
/// ascending `numbers`.
fn near(numbers: &[u64], number: u64, before: u64, after: u64) -> bool {
    let at = numbers.partition_point(|hit| *hit < number);
    numbers.get(at).is_some_and(|next| next - number <= before)
        || at.checked_sub(1).is_some_and(|at| number - numbers[at] <= after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_what_stands_near_a_shown_match() {
        let numbers = [10, 20];
        assert!(near(&numbers, 8, 2, 0) && !near(&numbers, 7, 2, 0) && !near(&numbers, 11, 2, 0));
        assert!(near(&numbers, 12, 0, 2) && !near(&numbers, 13, 0, 2) && near(&numbers, 22, 0, 2));
    }
}
