//! Whether the change is made already: then a place that only resembles the old text is another one than was meant.

use std::collections::HashSet;

use super::misspelling;
use crate::found::{Refusal, StepResult};
use crate::interpretation::{Interpretation, LineEdit};
use crate::line_parts::{contents, has_letters};
use crate::near_match;
use crate::search::{Fold, FoldedLines, Search, Site};

/// Letters and digits of a line that says something.
const MIN_LETTERS: usize = 3;

/// Similarity from which a new line counts as a version of the old one.
const VERSION_SIMILARITY: f64 = 0.6;

/// Letters and digits of a line that identifies a place alone.
const MIN_LETTERS_ALONE: usize = 10;

/// Refuses where the new lines are in the file as they are; asked when the old ones are not.
pub(super) fn find(search: &Search<'_>) -> StepResult {
    let mut likely = search.edits(Interpretation::is_likely).peekable();
    let Some((_, edit)) = likely.peek().copied().filter(|(one, _)| one.by.is_exact()) else { return Ok(None) };
    // Without what was pasted with it, the old text may hold the new one: that is there before the change, too.
    // And without lines that tell something, the file is not hashed in vain.
    if likely.any(|(_, edit)| is_held(edit, &contents(&edit.old))) || !is_telling(edit) {
        return Ok(None);
    }
    elsewhere(search, edit, &search.folded(Fold::AsGiven)).map_or(Ok(None), |start| Err(Refusal::AlreadyApplied(start)))
}

/// Where the new lines of a request are in the file under a folding, as its old lines were looked for, if they tell
/// that this is the change and no accident.
pub(super) fn elsewhere(search: &Search<'_>, edit: &LineEdit<'_>, folded: &FoldedLines<'_>) -> Option<usize> {
    if edit.new.len() > search.lines().len() || !is_telling(edit) {
        return None;
    }
    let is_bare = |line: &str| !line.starts_with([' ', '\t']) && !line.is_empty();
    let wanted = LineEdit::of_lines(edit.new.clone(), Vec::new(), false);
    let mut sites = search.sites(&wanted, folded, false);
    if is_bare(edit.new[0]) {
        sites.extend(search.sites(&wanted, folded, true));
    }
    sites.into_iter().find(|site| site.is_equal(folded.fold)).map(Site::start)
}

/// Whether the new lines show the change: lines that the old ones lack with something of what is around them, or what is
/// around those that go.
fn is_telling(edit: &LineEdit<'_>) -> bool {
    let (old, new) = (contents(&edit.old), contents(&edit.new));
    if new.is_empty() || is_held(edit, &old) {
        return false;
    }
    let known: HashSet<&str> = old.iter().map(String::as_str).collect();
    let mut context = Vec::new();
    let mut brought_in = Vec::new();
    let mut last_goes = false;
    let mut has_seam = false;
    for (is_kept, from, to) in edit.changes() {
        let lines = new[to].iter().map(String::as_str).filter(|line| has_letters([*line], MIN_LETTERS));
        if is_kept {
            let before = context.len();
            context.extend(lines);
            has_seam |= last_goes && before > 0 && context.len() > before;
            last_goes = false;
        } else {
            brought_in.extend(lines);
            last_goes = old[from].iter().any(|line| has_letters([line.as_str()], MIN_LETTERS));
        }
    }
    let fresh: Vec<&str> = brought_in.into_iter().filter(|line| !known.contains(line)).collect();
    match fresh.as_slice() {
        [] => has_seam,
        // A single line with nothing around it may be there by chance, unless it is a version of the old one.
        [only] if context.is_empty() => {
            has_letters([*only], MIN_LETTERS_ALONE)
                && old.iter().any(|old| near_match::of_starts(old, only) >= VERSION_SIMILARITY)
        }
        _ => true,
    }
}

/// Whether the new lines are some of the old ones, whose contents are `old`, as they are or but for slips that the new
/// ones lack.
pub(crate) fn is_held(edit: &LineEdit<'_>, old: &[String]) -> bool {
    let new = contents(&edit.new);
    let holds = |old: &[String]| !new.is_empty() && old.windows(new.len()).any(|part| part == new);
    if holds(old) {
        return true;
    }
    let mut mended = old.to_vec();
    for (index, corrected) in misspelling::corrected(edit, old, &new).iter().enumerate() {
        if let Some(to) = corrected.first() {
            mended[index].clone_from(&new[*to]);
        }
    }
    // Where nothing but slips differs, the new text says all that there is to say.
    mended != new && holds(&mended)
}

#[cfg(test)]
mod tests {
    use crate::{
        Next,
        Strategy::{Exact, Indentation, LineNumbers, TrailingWhitespace, Typos},
        testing::{assert_edited, assert_missed},
    };

    const SAMPLE_LISTS: &str =
        "a = [\n    one,\n    two,\n    three,\n]\nif x:\n    b = [\n        one,\n        two,\n    ]\n";

    #[test]
    fn a_change_made_in_one_block_is_not_made_in_a_similar_one_at_another_indentation() {
        let diagnosis = assert_missed(SAMPLE_LISTS, "    one,\n    two,\n]\n", "    one,\n    two,\n    three,\n]\n");
        assert!(
            diagnosis.next == Next::Look && diagnosis.summary.contains("already there, at line 2"),
            "{diagnosis:?}"
        );
    }

    #[test]
    fn a_change_made_in_one_block_at_any_indentation_is_not_made_in_a_similar_one() {
        let diagnosis = assert_missed(SAMPLE_LISTS, "one,\ntwo,\n  ]\n", "one,\ntwo,\nthree,\n  ]\n");
        assert!(diagnosis.next != Next::Look, "{diagnosis:?}");
        let text = SAMPLE_LISTS.replace("]\nif", "  ]\nif").replace("    ]\n", "          ]\n");
        let diagnosis = assert_missed(&text, "one,\ntwo,\n", "one,\ntwo,\nthree,\n");
        assert!(diagnosis.next == Next::Look, "{diagnosis:?}");
    }

    #[test]
    fn a_replaced_and_a_removed_line_are_recognised_as_made() {
        let text = "go(1);\nstop(2);\nend();\n\tgo(0);\n\tstop(2);\n\tlog();\n\tend();\n";
        assert!(assert_missed(text, "go(0);\nstop(2);\n", "go(1);\nstop(2);\n").next == Next::Look);
        assert!(assert_missed(text, "stop(2);\nlog();\nend();\n", "stop(2);\nend();\n").next == Next::Look);
        let text = "timeout_seconds = 60\n\ttimeout_seconds = 30\n";
        assert!(assert_missed(text, "    timeout_seconds = 30\n", "timeout_seconds = 60\n").next == Next::Look);
    }

    #[test]
    fn lines_that_stay_where_others_go_are_not_taken_for_the_change() {
        let text = "import binascii\nimport collections\nimport html\nfrom urllib.parse import unquote\n";
        let new = "import binascii\nimport collections\nimport html\n";
        assert_edited(text, &text.replace("import coll", "imporrt coll"), new, Typos, new);
        let numbered: Vec<String> = text.lines().zip(1..).map(|(line, number)| format!("{number}\t{line}\n")).collect();
        let numbered = numbered.concat();
        assert_edited(text, &numbered, new, LineNumbers, new);
        let old = numbered.replace("unquote", "quote_plus");
        assert!(assert_missed(text, &old, new).next != Next::Look);
    }

    #[test]
    fn an_exact_text_is_replaced_whatever_else_is_there() {
        assert_edited("one\ntwo\none\nthree\n", "one\nthree\n", "one\ntwo\n", Exact, "one\ntwo\none\ntwo\n");
    }

    #[test]
    fn new_text_in_the_file_by_chance_does_not_count_as_applied() {
        let text = "    return x;\n}\nfn f() {\n        log(a, b);\n}\n";
        assert_edited(
            text,
            "\tlog(a, b);\n",
            "    return x;\n",
            Indentation,
            &text.replace("    log(a, b)", "return x"),
        );
        assert_edited("a1 \nb2\n}\n}\n", "a1\nb2\n}\n", "a1\n}\n", TrailingWhitespace, "a1 \n}\n}\n");
        assert_edited("{\n}\nfoo \n}\n", "foo\n}\n", "}\n", TrailingWhitespace, "{\n}\n}\n");
    }
}
