//! `grep`: lines by content.
//!
//! Reads the arguments, runs the search and notes the shown files as seen. The search itself is in the crate `tree_search`.

mod match_scopes;
mod render;
mod request;

use std::time::Instant;

use confined_fs::stop::StopReason;
use tree_search::FileHits;

use super::{
    Alias, CallContext, ExistingKind, FlagValue, Group, Plan, Spec, Tool, ToolError,
    alias::{LISTING_ALIASES, PATH_ALIASES},
    answer::fitted,
};
use match_scopes::{note_scopes, show_sources};
use render::{MatchLine, Output, Report};
use request::{Args, GrepRequest, OutputMode};
pub(in crate::tools) use request::{filter_error, pattern_error};

pub(crate) struct Grep;

impl Tool for Grep {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "grep",
        title: "Search file contents",
        purpose: "finds places by content",
        description: "Use this instead of shell grep or rg. Search file contents, as ripgrep does. Shows matching lines (path:12: text; with context or in \
                      one file 12:text below its path), files, or counts. Respects .gitignore, skips binary files. A \
                      shown line counts as read for edit.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        heavy: true,
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let request = GrepRequest::read(cx, args)?;
        let scope = cx.scope(request.args.path.as_deref(), ExistingKind::FileOrDirectory)?;
        let mut found = request.run(cx, &scope, &cx.stop, None)?;
        let prototypes = request.add_prototypes(cx, &scope, &mut found)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        let hidden = request.look_into_ignored(cx, &scope, &mut found);
        let mut unscoped = 0;
        if request.args.scope == Some(true) {
            unscoped = note_scopes(cx, &mut found, request.mode == OutputMode::Definitions);
        }
        show_sources(cx, &request.pattern, &mut found);
        // A name alone shows nothing of the file.
        let is_of_lines = request.mode.is_of_lines();
        let revision = |hits: &FileHits| hits.revision(&cx.workspace, cx.settings.max_file_size, &cx.stop);
        let only = scope.file().and(found.files.first()).filter(|_| is_of_lines);
        let rev = only.and_then(|(_, hits)| revision(hits));
        let report = Report { request: &request, scope: &scope, found: &found, prototypes, unscoped, hidden, rev };
        let mut shown = Vec::new();
        let answer = fitted(cx, |room| {
            let page = report.render(room);
            let numbers = |lines: &[MatchLine]| lines.iter().map(|line| line.number).collect::<Vec<u64>>();
            // The last page that is rendered is the one that is sent: lines of longer ones before it were not seen.
            shown = page.files.iter().map(|(at, lines)| (*at, numbers(lines))).collect();
            report.answer(cx, page, started.elapsed())
        });
        for (at, numbers) in shown.into_iter().filter(|_| is_of_lines) {
            let hits = &found.files[at].1;
            if let Some(revision) = rev.or_else(|| revision(hits)) {
                // Large contents are not kept: of these the ledger has the rev alone.
                let content = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref());
                cx.session.ledger.saw(&hits.real, revision, content);
                let lines = numbers.into_iter().filter_map(|number| usize::try_from(number).ok());
                cx.session.ledger.showed(&hits.real, Some(revision), lines.map(|line| line.saturating_sub(1)..line));
            }
        }
        Ok(Plan::Answer(answer))
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::names("case_sensitive", &["caseSensitive"]),
    Alias::names("output_mode", &["outputMode"]),
    Alias::names("glob", &["include"]),
    Alias::names("pattern", &["query", "regex"]),
    Alias::names("after", &["-A"]),
    Alias::names("before", &["-B"]),
    Alias::names("context", &["-C"]),
    Alias::flags("case_sensitive", FlagValue::Bool(false), &["-i", "ignore_case"]),
    Alias::names("literal", &["fixed_strings"]),
    Alias::ignored(&["-n"]),
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::tools::{Content, Kind};
    use confined_fs::{Access, Workspace, stop::StopSignal};
    use tree_search::{Pattern, PatternOptions};

    fn plan(stop: StopSignal) -> Result<String, ToolError> {
        let workspace = Workspace::of_directory(env!("CARGO_MANIFEST_DIR"), Access::ReadOnly);
        let cx = CallContext { stop, ..CallContext::for_tests(workspace) };
        match Grep::plan(&cx, serde_json::from_value(json!({"pattern": "e"})).unwrap())? {
            Plan::Answer(answer) => match answer.content.into_iter().next() {
                Some(Content::Text(text)) => Ok(text),
                _ => panic!("grep answers with text"),
            },
            Plan::Change(_) | Plan::Wait(_) => panic!("grep changes nothing"),
        }
    }

    #[test]
    fn a_cancelled_search_is_an_error() {
        let stop = StopSignal::after(Duration::from_secs(3600));
        stop.cancel();
        assert!(plan(stop).unwrap_err().text().contains("cancelled"));
    }

    #[test]
    fn a_search_without_time_says_so_and_is_no_error() {
        let text = plan(StopSignal::after(Duration::ZERO)).unwrap();
        assert!(text.contains("time limit of 0ns reached after 0 files; narrow the path"), "{text}");
    }

    #[test]
    fn every_pattern_error_names_the_next_step() {
        for (pattern, multiline) in [("a(", false), ("a\\nb", false), ("(.{1,100}){1,100}", false), ("[z-a]", true)] {
            let options = PatternOptions { multiline, ..Default::default() };
            let error = pattern_error(Pattern::compile(pattern, options).unwrap_err(), options);
            assert_eq!(error.kind(), Kind::InvalidInput);
            assert!(error.text().contains("hint: "), "{}", error.text());
        }
    }
}
