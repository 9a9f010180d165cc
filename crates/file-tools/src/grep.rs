//! `grep`: lines by content.
//!
//! Reads the arguments, runs the search and notes the shown files as seen. The search itself is in the crate `tree_search`.

mod documents;
mod render;
mod request;

use std::{mem, ops::Range, time::Instant};

use confined_fs::stop::StopReason;
use render::{GrepReport, MatchLine, Output};
use request::{Args, GrepRequest};
use source_outline::{Definition, definitions, enclosing};
use structured_text::Notebook;
use text_file::shorten;
use tree_search::{ContentHits, FileHits, HitLine, Pattern, outline_of_file};

use crate::session::Shown;

use super::{
    Alias, CallContext, ExistingKind, FlagValue, Group, Plan, Spec, Tool, ToolError,
    answer::fitted,
    tool::{LISTING_ALIASES, PATH_ALIASES},
};
pub(crate) use request::{filter_error, pattern_error};

pub(crate) struct Grep;

impl Tool for Grep {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "grep",
        title: "Search file contents",
        purpose: "finds places by content, in PDF and Office files too",
        description: "Use this instead of shell grep or rg. Search file contents, PDF and Office files by their text. Shows matching \
                      lines (path:12: text; with context or in one file 12:text below its path), files, or counts. Respects .gitignore. A \
                      shown line counts as read for edit.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        globs: &["glob"],
        heavy: true,
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let mut request = GrepRequest::read(cx, args)?;
        let scope = cx.scope(request.args.path.as_deref(), ExistingKind::FileOrDirectory)?;
        let (mut found, documents) = request.run(cx, &scope, &cx.stop, None)?;
        let prototypes = request.add_prototypes(cx, &scope, &mut found)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        let hidden = request.look_into_ignored(cx, &scope, &mut found);
        let not_followed = request.links(cx, &scope, &found);
        let pattern_notes = request.pattern_notes(cx, &scope, &found);
        let mut unscoped = 0;
        if request.args.scope == Some(true) {
            unscoped = note_scopes(cx, &mut found);
        }
        show_sources(cx, &request.pattern, &mut found);
        // A name alone shows nothing of the file.
        let is_of_lines = request.mode.is_of_lines();
        let revision = |hits: &FileHits| hits.revision(&cx.workspace, cx.settings.max_file_size, &cx.stop);
        let only = scope.file().and(found.files.first()).filter(|_| is_of_lines);
        let rev = only.and_then(|(_, hits)| revision(hits));
        let report = GrepReport {
            request: &request,
            scope: &scope,
            found: &found,
            documents,
            prototypes,
            unscoped,
            hidden,
            not_followed,
            pattern_notes,
            rev,
        };
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
            // No edit changes them, and a line of their text is none of their bytes.
            if hits.is_document {
                continue;
            }
            if let Some(revision) = rev.or_else(|| revision(hits)) {
                // Large contents are not kept: of these the ledger has the rev alone.
                let content = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref());
                let lines = numbers.into_iter().filter_map(|number| usize::try_from(number).ok());
                let lines: Vec<_> = lines.map(|line| line.saturating_sub(1)..line).collect();
                cx.session.ledger.record_read(&hits.real, revision, content, cx.by.as_ref(), Shown::Lines(&lines));
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

/// Notes for each match which definition it is in; returns how many files that was not possible for, because they
/// changed, cannot be read again or the time is up.
///
/// The place of each match in its file is the definition around it, or the cell of a notebook, whose lines are shown as
/// `edit` takes them, and not as the JSON around.
fn note_scopes(cx: &CallContext, found: &mut ContentHits) -> usize {
    let mut unknown = 0;
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty() && !hits.is_document) {
        let Some(definitions) = outline(cx, hits) else {
            unknown += 1;
            continue;
        };
        for line in hits.lines.iter_mut().filter(|line| line.hit.is_some()) {
            let number = usize::try_from(line.number).unwrap_or(usize::MAX);
            line.scope = enclosing(&definitions, number).map(Definition::label);
        }
    }
    unknown
}

fn outline(cx: &CallContext, hits: &FileHits) -> Option<Vec<Definition>> {
    let name = hits.path.to_string();
    if let Some(bytes) = hits.seen.as_ref().and_then(|seen| seen.bytes.as_deref()) {
        return text_file::view(bytes, None).ok().map(|text| definitions(&name, &text));
    }
    let mut file = cx.workspace.open_file(&hits.real).ok()?;
    let found = outline_of_file(&mut file, &name, None, &cx.stop).ok()?;
    // The file was searched before it is outlined: line numbers of two states would name wrong definitions.
    file.restat().ok()?.same_file_state(&hits.stat).then_some(found)
}

/// The note on a hit that is in no source.
const OUTSIDE_NOTE: &str = "not in a cell's source";
const LINE_CHARS: usize = 200;

/// Shows each line of a notebook that is in the source of a cell as it is there, and says in which one. A line of JSON
/// that has several is shown as those that match.
fn show_sources(cx: &CallContext, pattern: &Pattern, found: &mut ContentHits) {
    for (_, hits) in found.files.iter_mut().filter(|(_, hits)| !hits.lines.is_empty() && is_notebook(hits)) {
        let Some(bytes) = content(cx, hits) else { continue };
        let Ok(text) = text_file::view(&bytes, None) else { continue };
        let Some(notebook) = Notebook::parse(&text) else { continue };
        let mut places: Vec<Range<usize>> = Vec::new();
        for line in text.split_inclusive('\n') {
            let start = places.last().map_or(0, |last| last.end);
            places.push(start..start + line.len());
        }
        let in_cells = |line: HitLine| {
            let place = usize::try_from(line.number).ok().and_then(|number| places.get(number.checked_sub(1)?));
            let sources = place.into_iter().flat_map(|place| notebook.source_lines(place)).collect();
            in_cells(line, sources, pattern)
        };
        hits.lines = mem::take(&mut hits.lines).into_iter().flat_map(in_cells).collect();
    }
}

/// A line of a notebook's JSON as the lines of `sources`, which are in it: the only one, or those of several that match.
fn in_cells(line: HitLine, mut sources: Vec<(usize, usize, &str)>, pattern: &Pattern) -> Vec<HitLine> {
    let is_single = sources.len() == 1;
    if !is_single {
        sources.retain(|(_, _, source)| line.hit.is_some() && pattern.is_in_line(source.as_bytes()));
    }
    if sources.is_empty() {
        // Context is that of a cell: its lines have other numbers than those of the JSON.
        let scope = line.hit.map(|_| OUTSIDE_NOTE.to_owned());
        return scope.map(|scope| HitLine { scope: Some(scope), ..line }).into_iter().collect();
    }
    let shown = |(cell, number, source): (usize, usize, &str)| {
        let line = HitLine { part: Some(format!("cell {cell} line {number}")), scope: None, ..line.clone() };
        // What is cut is shown as it was found, around its match.
        if is_single && line.cut_at.is_some() {
            return line;
        }
        HitLine { text: shorten(source, LINE_CHARS).into_owned(), cut_at: None, ..line }
    };
    sources.into_iter().map(shown).collect()
}

fn is_notebook(hits: &FileHits) -> bool {
    hits.real.relative().extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"))
}

fn content(cx: &CallContext, hits: &FileHits) -> Option<Vec<u8>> {
    if let Some(bytes) = hits.seen.as_ref().and_then(|seen| seen.bytes.clone()) {
        return Some(bytes);
    }
    let mut file = cx.workspace.open_file(&hits.real).ok()?;
    let mut bytes = Vec::new();
    let is_all = file.read_to_limit(&mut bytes, cx.settings.max_file_size).ok()?;
    (is_all && file.restat().ok()?.same_file_state(&hits.stat)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{Content, Kind};
    use change_set::Workspace;
    use confined_fs::{Access, stop::StopSignal};
    use tree_search::{Pattern, PatternOptions};

    fn plan(stop: StopSignal) -> Result<String, ToolError> {
        let workspace = Workspace::of_directory(env!("CARGO_MANIFEST_DIR"), Access::ReadOnly);
        let cx = CallContext { stop, ..CallContext::on(workspace) };
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
    fn a_time_limit_that_is_reached_while_the_pattern_is_compiled_is_said() {
        let stop = StopSignal::after(Duration::from_secs(3600)).with_earlier_deadline(Duration::ZERO);
        // Its last free check is the one before the pattern.
        assert!((0..255).all(|_| stop.stopped().is_none()));
        let error = plan(stop).unwrap_err();
        assert_eq!(error.kind(), Kind::TimedOut);
        assert!(error.text().contains("reached while the pattern was compiled; nothing was searched"), "{error:?}");
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
