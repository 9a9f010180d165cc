//! A blank line missing or too many, between lines that stay: the file keeps its own.
//!
//! The lines that are not blank must be in the file one after the other, at a single place. What is replaced is only the
//! part from the first changed line to the last, so that blank lines that `old` does not have never go with it.

use std::ops::Range;

use super::whole_lines;
use crate::found::{Found, Refusal, StepResult};
use crate::line_parts::{hash, sequences};
use crate::search::{Fold, Search, Site};
use crate::{Replacement, Strategy, diff, interpretation::LineEdit, typography};

/// The only place of `old` but for blank lines that the request leaves alone.
pub(super) fn find(search: &Search<'_>) -> StepResult {
    // Of several places nobody has seen all.
    if search.wants_all { Ok(None) } else { search.first_likely(|edit| place(search, edit)) }
}

fn place(search: &Search<'_>, edit: &LineEdit<'_>) -> StepResult {
    let is_blank = |line: &str| typography::content(line).is_empty();
    let filled: Vec<usize> = (0..edit.old.len()).filter(|index| !is_blank(edit.old[*index])).collect();
    let lines = search.lines();
    let blank = content_hash("");
    let folded = search.folded(Fold::Content);
    let hashes = &folded.hashes;
    let in_file: Vec<usize> = (0..lines.len()).filter(|line| hashes[*line] != blank).collect();
    let pattern: Vec<u64> = filled.iter().map(|index| content_hash(edit.old[*index])).collect();
    let content = |line: usize| typography::content(search.line(line));
    let is_equal = |start: &usize| {
        let file = &in_file[*start..start + filled.len()];
        filled.iter().zip(file).all(|(old, file)| typography::content(edit.old[*old]) == content(*file))
    };
    let ends = sequences(in_file.iter().map(|line| hashes[*line]), &pattern);
    let mut starts = ends.filter_map(|end| end.checked_sub(filled.len())).filter(is_equal);
    let (Some(start), None) = (starts.next(), starts.next()) else { return Ok(None) };
    let end = start + filled.len();
    // Without the blank lines the request may be another place as well, of which it lacks a line there.
    let runs = runs_alike(&filled, &in_file[start..end]);
    let longest = runs.into_iter().max_by_key(Range::len).unwrap_or(0..pattern.len());
    if sequences(in_file.iter().map(|line| hashes[*line]), &pattern[longest]).nth(1).is_some() {
        return Ok(None);
    }
    let gap = |from: Option<&usize>, to: usize| to - from.map_or(0, |from| from + 1);
    let before = gap(start.checked_sub(1).map(|before| &in_file[before]), in_file[start]);
    let after = in_file.get(end).copied().unwrap_or(lines.len()) - in_file[end - 1] - 1;
    let fitted = fit(edit, &filled, &in_file[start..end], [before, after]);
    let Some((other, line)) = fitted else { return Ok(None) };
    let (replacement, by) = whole_lines::at(Site { search, edit: &other, line, after_indent: false })?;
    if let Some(refusal) = whole_lines::refusal_of(search, edit, &folded) {
        return Err(refusal);
    }
    let replacement = trimmed(search, replacement);
    if search.text[replacement.span.clone()].matches('\n').count() >= edit.old.len() {
        return Err(Refusal::Unclear);
    }
    Ok(Some(Found::one(replacement, by.with(Strategy::BlankLines))))
}

/// The runs of filled lines between which request and file have as many blank lines.
fn runs_alike(filled: &[usize], file: &[usize]) -> Vec<Range<usize>> {
    let differs = |at: &usize| filled[*at] - filled[at - 1] != file[*at] - file[at - 1];
    let cuts: Vec<usize> = std::iter::once(0).chain((1..filled.len()).filter(differs)).chain([filled.len()]).collect();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn content_hash(line: &str) -> u64 {
    hash(&typography::content(line))
}

/// The request with as many blank lines as the file has between the lines at `file` (and `gaps` around them), where it
/// leaves them alone, and the first line of its place; `None` where it does not.
fn fit<'r>(edit: &LineEdit<'r>, filled: &[usize], file: &[usize], gaps: [usize; 2]) -> Option<(LineEdit<'r>, usize)> {
    // For each line of `old` that stays its place in `new`, and the run of lines that stay with it.
    let mut kept: Vec<Option<(usize, usize)>> = vec![None; edit.old.len()];
    for (run, (is_kept, old, new)) in edit.changes().enumerate() {
        if is_kept {
            old.zip(new).for_each(|(old, new)| kept[old] = Some((new, run)));
        }
    }
    let run = |range: Range<usize>| -> Option<usize> {
        let mut runs = kept[range].iter().map(|kept| kept.map(|(_, run)| run));
        let first = runs.next()??;
        runs.all(|run| run == Some(first)).then_some(first)
    };
    // Blank lines to be taken out of (or put into) `old` from an index on, and how many of them there are in `new`.
    let mut changes: Vec<(usize, usize, usize)> = Vec::new();
    for (pair, in_file) in filled.windows(2).zip(file.windows(2)) {
        let (given, has) = (pair[1] - pair[0] - 1, in_file[1] - in_file[0] - 1);
        if given != has {
            run(pair[0]..pair[1] + 1)?;
            // Where the new text has the two lines more than once, nobody knows between which of them it belongs.
            if has > given && places_of_pair(&edit.new, [edit.old[pair[0]], edit.old[pair[1]]]) > 1 {
                return None;
            }
            changes.push((pair[0] + 1, given, has));
        }
    }
    // Blank lines at the ends that stay are left out of the place; others must be there.
    let (first, last) = (*filled.first()?, *filled.last()?);
    let first_line = *file.first()?;
    let mut line = first_line - first.min(first_line);
    if first > 0 && run(0..first + 1).is_some() && kept[0].is_some_and(|(to, _)| to == 0) {
        changes.insert(0, (0, first, 0));
        line = first_line;
    } else if first > gaps[0] {
        return None;
    }
    let after = edit.old.len() - last - 1;
    let ends_alike = |kept: &Option<(usize, usize)>| kept.is_some_and(|(to, _)| to + 1 == edit.new.len());
    if after > 0 && run(last..edit.old.len()).is_some() && kept.last().is_some_and(ends_alike) {
        changes.push((last + 1, after, 0));
    } else if after > gaps[1] {
        return None;
    }
    // Whoever leaves out all blank lines leaves out those around new ones, too.
    let lacks_all = filled.len() == edit.old.len() && changes.iter().any(|(_, given, has)| has > given);
    let grows = |change: Option<(bool, Range<usize>, Range<usize>)>| {
        change.is_some_and(|(is_kept, old, new)| !is_kept && new.len() > old.len())
    };
    let grows_at_end = grows(edit.changes().next()) || grows(edit.changes().last());
    if changes.is_empty() || lacks_all && grows_at_end {
        return None;
    }
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    for (at, given, has) in changes.into_iter().rev() {
        let place = if given > 0 { kept[at]?.0 } else { kept[at - 1]?.0 + 1 };
        old.splice(at..at + given, std::iter::repeat_n("", has));
        new.splice(place..place + given, std::iter::repeat_n("", has));
    }
    Some((LineEdit::of_lines(old, new, edit.deletes), line))
}

/// How often `pair` follow one another in `lines`, but for blank ones between them.
fn places_of_pair(lines: &[&str], pair: [&str; 2]) -> usize {
    let filled: Vec<_> = lines.iter().map(|line| typography::content(line)).filter(|line| !line.is_empty()).collect();
    let pair = pair.map(typography::content);
    filled.windows(2).filter(|lines| **lines == pair).count()
}

/// The replacement without the lines at its ends that it leaves as they are.
fn trimmed(search: &Search<'_>, replacement: Replacement) -> Replacement {
    let Replacement { span, text } = replacement;
    let (was, is): (Vec<&str>, Vec<&str>) =
        (search.text[span.clone()].split_inclusive('\n').collect(), text.split_inclusive('\n').collect());
    let (head, tail) = diff::shared_ends(&was, &is);
    let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (head, tail) = (length(&was[..head]), length(&was[was.len() - tail..]));
    Replacement { span: span.start + head..span.end - tail, text: text[head..text.len() - tail].to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::{BlankLines, Indentation, Typography},
        testing::{assert_edited, assert_missed},
    };

    const SAMPLE_FILE: &str = "use a1;\n\nfn one() {\n    go();\n}\n\n\nfn two() {\n    stop(\"x\");\n}\n";

    #[test]
    fn a_blank_line_missing_or_extra_in_lines_that_stay_is_the_files() {
        let expected = SAMPLE_FILE.replace("go()", "run()");
        let old = "use a1;\nfn one() {\n    go();\n}\n";
        assert_edited(SAMPLE_FILE, old, &old.replace("go()", "run()"), BlankLines, &expected);
        let old = "fn one() {\n\n    go();\n}\n\nfn two() {\n";
        assert_missed(SAMPLE_FILE, old, &old.replace("go()", "run()"));
        let old = "fn one() {\n    go();\n}\n\nfn two() {\n    stop(\"x\");\n";
        let new = old.replace("    stop", "    log();\n    stop");
        assert_edited(SAMPLE_FILE, old, &new, BlankLines, &SAMPLE_FILE.replace("    stop", "    log();\n    stop"));
    }

    #[test]
    fn blank_lines_around_the_block_are_left_alone() {
        let old = "\n\n\nfn one() {\n    go();\n}\n\n\n\n\n";
        assert_edited(
            SAMPLE_FILE,
            old,
            &old.replace("go()", "run()"),
            BlankLines,
            &SAMPLE_FILE.replace("go()", "run()"),
        );
    }

    #[test]
    fn blank_lines_that_the_request_changes_or_writes_next_to_are_no_match() {
        assert_missed(
            SAMPLE_FILE,
            "use a1;\nfn one() {\n",
            "use a1;\n\nfn one() {\n    x();\n".trim_start_matches("use"),
        );
        assert_missed(SAMPLE_FILE, "use a1;\nfn one() {\n", "use a1;\nuse b2;\nfn one() {\n");
        assert_missed(SAMPLE_FILE, "use a1;\nfn one() {\n    go();\n}\n", "");
    }

    #[test]
    fn indentation_and_typography_come_with_it() {
        let expected = SAMPLE_FILE.replace("\"x\"", "\"y\"");
        let old = "\tgo();\n\t}\n\tfn two() {\n\t\tstop(“x”);\n";
        assert_missed(SAMPLE_FILE, old, &old.replace('x', "y"));
        let old = "}\n\nfn two() {\n    stop(“x”);\n}\n";
        assert_edited(SAMPLE_FILE, old, &old.replace('x', "y"), Typography, &expected);
        let old = "  }\n\n  fn two() {\n      stop(\"x\");\n  }\n";
        assert_edited(SAMPLE_FILE, old, &old.replace('x', "y"), Indentation, &expected);
    }

    #[test]
    fn a_block_repeated_beyond_the_blank_line_is_no_match() {
        let body = "  void send(\n      int line,\n      const char *text);\n";
        let text = format!("class A {{\n public:\n{body}}};\nclass B {{\n public:\n  B(int b) {{}}\n\n{body}}};\n");
        let old = format!(" public:\n\n{body}");
        assert_missed(&text, &old, &old.replace("char *", "char* "));
    }

    #[test]
    fn a_left_out_blank_line_between_lines_that_new_text_repeats_is_no_match() {
        let file = "start();\n\nstep(1);\nend();\n";
        let old = "start();\nstep(1);\nend();\n";
        assert_edited(file, old, &old.replace("end", "stop"), BlankLines, &file.replace("end", "stop"));
        assert_missed(file, old, &format!("{old}start();\nstep(1);\n"));
        assert_missed(file, old, &format!("start();\n\nstep(1);\n{old}"));
    }

    #[test]
    fn two_places_are_no_match_and_line_endings_are_kept() {
        assert_missed("foo\n\nbar\nfoo\n\n\nbar\n", "foo\nbar\n", "foo\nbar\nx\n");
        let file = SAMPLE_FILE.replace('\n', "\r\n");
        let old = "use a1;\nfn one() {\n    go();\n";
        assert_edited(&file, old, &old.replace("go", "run"), BlankLines, &file.replace("go", "run"));
    }
}
