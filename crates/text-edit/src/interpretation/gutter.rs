//! A line-number gutter pasted along with the text.
//!
//! `read` prints `1<tab>text`, `cat -n` pads the number to six columns, Claude Code prints `  12→text`
//! (<https://github.com/anthropics/claude-code/issues/37403>), `grep` `12:text` for a match and `13-text` for a line
//! around one, other tools `12: text`. A gutter is one only when every line has it and the numbers count up by one.

/// Delimiters between number and text; each line has one of the same group.
const DELIMITERS: [Delimiter; 8] = [&["\t"], &["→"], &[": "], &[":"], &[" | "], &["| "], &["|"], &[":", "-"]];

type Delimiter = &'static [&'static str];

/// Those that no text has after a number at its start; a single line with another one proves nothing, since
/// `3: x` is also a line of YAML.
const SURE_DELIMITERS: [Delimiter; 2] = [&["\t"], &["→"]];

/// The texts without their gutter, for each that they may have.
pub(super) fn taken_off(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let mut longer: Vec<&str> = Vec::new();
    let mut known: Option<String> = None;
    let stripped = DELIMITERS.iter().filter_map(|delimiter| {
        let old = strip(old, delimiter).filter(|old| known.as_ref() != Some(old))?;
        known = Some(old.clone());
        // Where `: ` fits all lines, `:` is likely in front of text that is indented, and then the indentation is unknown.
        let is_doubtful = longer.iter().any(|longer| delimiter.iter().any(|delimiter| longer.contains(delimiter)));
        longer.extend(*delimiter);
        let new = strip_new(new, delimiter)?;
        let is_single = !old.strip_suffix('\n').unwrap_or(&old).contains('\n');
        let is_sure = !is_single || SURE_DELIMITERS.contains(delimiter);
        is_sure.then_some((old, new, is_doubtful))
    });
    stripped.collect()
}

/// `text` without its gutter, which every line must have.
fn strip(text: &str, delimiter: Delimiter) -> Option<String> {
    let mut next = None;
    map_lines(text, |line| {
        let (number, rest) = numbered(line, delimiter)?;
        let counts = next.is_none_or(|next| next == number);
        next = number.checked_add(1);
        counts.then_some(rest)
    })
}

/// New text may have a gutter as well, whatever its numbers, or none at all. Of lines of both kinds nobody
/// knows which are meant.
fn strip_new(text: &str, delimiter: Delimiter) -> Option<String> {
    let has_gutter = |line: &str| numbered(line, delimiter).is_some();
    if !text.lines().any(|line| !line.trim().is_empty() && has_gutter(line)) {
        return Some(text.to_owned());
    }
    map_lines(text, |line| match numbered(line, delimiter) {
        Some((_, rest)) => Some(rest),
        None => line.trim().is_empty().then_some(""),
    })
}

/// The text after a delimiter, where the line's number is taken off already.
pub(crate) fn after_delimiter(rest: &str) -> Option<&str> {
    DELIMITERS.iter().copied().flatten().find_map(|delimiter| rest.strip_prefix(delimiter))
}

/// The text with each line but the empty one after a final newline replaced; `None` where one cannot be.
fn map_lines<'t>(text: &'t str, mut replaced: impl FnMut(&'t str) -> Option<&'t str>) -> Option<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines = body.split('\n').map(&mut replaced).collect::<Option<Vec<&str>>>()?;
    Some(lines.join("\n") + &text[body.len()..])
}

/// Number and text of a line with a gutter. After the number of an empty line everything may be lost.
fn numbered(line: &str, delimiter: Delimiter) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let number = line[..digits].parse().ok()?;
    let rest = &line[digits..];
    match delimiter.iter().find_map(|delimiter| rest.strip_prefix(delimiter)) {
        Some(text) => Some((number, text)),
        None => rest.trim_end().is_empty().then_some((number, "")),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::LineNumbers,
        testing::{assert_ambiguous, assert_edited, assert_missed},
    };

    const FILE: &str = "use std::fs;\n\nfn main() {\n    run();\n}\n";

    #[test]
    fn the_gutter_of_read_is_taken_off_old_and_new() {
        let old = "     3\tfn main() {\n     4\t    run();\n     5\t}\n";
        let expected = "use std::fs;\n\nfn main() {\n    stop();\n}\n";
        assert_edited(FILE, old, &old.replace("run", "stop"), LineNumbers, expected);
        assert_edited(FILE, old, "fn main() {\n    stop();\n}\n", LineNumbers, expected);
    }

    #[test]
    fn other_gutters_are_known_and_an_empty_line_may_lack_its_delimiter() {
        assert_edited(
            FILE,
            "1→use std::fs;\n2\n3→fn main() {",
            "1→use std::io;\n2\n3→fn main() {",
            LineNumbers,
            &FILE.replace("fs", "io"),
        );
        assert_edited(
            FILE,
            "3: fn main() {\n4:     run();",
            "3: fn main() {\n4:     go();",
            LineNumbers,
            &FILE.replace("run", "go"),
        );
    }

    #[test]
    fn flush_left_gutter_of_read_is_taken_off() {
        let old = "3\tfn main() {\n4\t    run();\n5\t}\n";
        let expected = "use std::fs;\n\nfn main() {\n    stop();\n}\n";
        assert_edited(FILE, old, &old.replace("run", "stop"), LineNumbers, expected);
        assert_edited(FILE, "1\tuse std::fs;\n2\t", "1\tuse std::io;\n2\t", LineNumbers, &FILE.replace("fs", "io"));
    }

    #[test]
    fn gutter_of_grep_has_two_delimiters_and_keeps_indentation() {
        let old = "2-\n3-fn main() {\n4:    run();\n5-}";
        assert_edited(FILE, old, "\nfn main() {\n    stop();\n}", LineNumbers, &FILE.replace("run", "stop"));
        assert_edited(FILE, old, &old.replace("run", "go"), LineNumbers, &FILE.replace("run", "go"));
        assert_edited(FILE, "4:    run();\n5:}", "4:    go();\n5:}", LineNumbers, &FILE.replace("run", "go"));
        assert_edited(FILE, "4-    run();\n5-}", "    go();\n}", LineNumbers, &FILE.replace("run", "go"));
        assert_missed(FILE, "4-    run();", "    go();");
        assert_missed(FILE, "3-fn main() {\n--\n5:}", "x");
    }

    #[test]
    fn numbers_that_do_not_count_up_are_no_gutter() {
        assert_missed(FILE, "3\tfn main() {\n9\t    run();\n", "x\n");
        assert_missed(FILE, "3\tfn main() {\n    run();\n", "x\n");
    }

    #[test]
    fn new_text_with_a_gutter_in_some_lines_is_refused() {
        assert_missed(FILE, "3\tfn main() {\n4\t    run();\n", "3\tfn main() {\n    go();\n");
    }

    #[test]
    fn a_single_line_with_a_number_and_a_colon_proves_nothing() {
        assert_missed("alpha beta\n", "1: alpha beta", "1: gamma");
        assert_edited("alpha beta\n", "     1\talpha beta", "     1\tgamma", LineNumbers, "gamma\n");
    }

    #[test]
    fn a_single_line_without_its_indentation_takes_no_lines_that_may_lack_theirs() {
        assert_missed("if x:\n    alpha()\n\n", "2\talpha()\n3\t", "2\talpha()\n3\tbeta()\n4\t");
        let text = "if x:\n    alpha()\n\nend\n";
        assert_edited(text, "2\talpha()\n3\t\n", "2\t\n", LineNumbers, "if x:\n\nend\n");
    }

    #[test]
    fn a_blank_line_that_is_only_a_number_is_blank() {
        let text = "x\n\n  fn one() {\n  }\n\ny\n";
        let new = "2: \n3:   fn one() {\n4:   }\n5: \n6: \n7:   fn two();";
        assert_missed(text, "2: \n3:   fn one() {\n4:   }\n5: ", new);
        assert_edited(
            text,
            "2: \n3:   fn one() {\n4:   }\n5: \n",
            &format!("{new}\n"),
            LineNumbers,
            "x\n\n  fn one() {\n  }\n\n\n  fn two();\ny\n",
        );
    }

    #[test]
    fn two_places_are_ambiguous() {
        assert_eq!(assert_ambiguous("foo1\nbar\nfoo1\nbar\n", "1\tfoo1\n2\tbar\n", "x\n"), [1, 3]);
    }
}
