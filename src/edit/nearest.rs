//! What to say when nothing matched: the nearest block, and what differs, made visible.

use super::{
    Diagnosis, Search, block,
    likeness::{self, Budget},
    line_endings, shown, typography,
};

/// Longest summary, in characters: with the tool's own words it must stay within what clients keep of an error.
const SUMMARY: usize = 300;

/// Lines of the nearest block that are shown.
const SHOWN_LINES: usize = 30;

/// Lines of `old` that the nearest block is chosen by.
const COMPARED_LINES: usize = 200;

/// Differences that are described.
const DESCRIBED: usize = 4;

/// Blocks less alike than this are not worth showing.
const LEAST: f64 = 0.4;

/// Windows that are compared in full.
const WINDOWS: usize = 12;

/// Explains why `old` was not found.
pub(super) fn diagnose(search: &Search<'_>) -> Diagnosis {
    if search.old.is_empty() {
        return Diagnosis {
            summary: "old_string is empty: it describes no place".to_owned(),
            details: String::new(),
            already_applied: false,
        };
    }
    let old = line_endings::canonical(search.old);
    let old: Vec<&str> = old.strip_suffix('\n').unwrap_or(&old).split('\n').collect();
    let nearest = nearest(search, &old);
    let applied_at = applied_at(search);
    let already_applied = applied_at.is_some();
    let mut summary = "old_string was not found".to_owned();
    let mut add = |clause: &str| {
        let fits = summary.chars().count() + clause.chars().count() <= SUMMARY;
        if fits {
            summary.push_str(clause);
        }
        fits
    };
    if let Some(line) = applied_at {
        _ = add(&format!("; new_string is already there, at line {line}"));
    }
    let other_case = if already_applied { None } else { in_other_case(search) };
    if let Some(line) = other_case {
        _ = add(&format!("; the same text in another casing is at line {line}"));
    }
    let mut details = String::new();
    match &nearest {
        Some(nearest) => {
            if other_case.is_none() {
                _ = add(&format!("; the nearest block is at {} ({}% alike)", nearest.range(), nearest.percent()));
            }
            let mut differences = nearest.differences(search, &old);
            if let Some(first) = differences.first()
                && !already_applied
                && add(&format!("; {first}"))
            {
                differences.remove(0);
            }
            details = nearest.show(search, &differences);
        }
        None if !already_applied && other_case.is_none() => _ = add(" and nothing in the file resembles it"),
        None => {}
    }
    if holds_path(search.old) && !already_applied {
        let hint = "a client may show paths rewritten; if so, use a shorter old_string without the path";
        if !add(&format!("; {hint}")) {
            if !details.is_empty() {
                details.push('\n');
            }
            details.push_str("old_string holds a path: ");
            details.push_str(hint);
            details.push('\n');
        }
    }
    Diagnosis { summary, details, already_applied }
}

/// A block of the file, `count` lines from `start` (counted from 0).
struct Nearest {
    start: usize,
    count: usize,
    alike: f64,
}

impl Nearest {
    fn range(&self) -> String {
        match self.count {
            1 => format!("line {}", self.start + 1),
            _ => format!("lines {}-{}", self.start + 1, self.start + self.count),
        }
    }

    /// Never 100: something differs, if only white space.
    fn percent(&self) -> String {
        format!("{:.0}", (self.alike * 100.0).floor().min(99.0))
    }

    /// The first differences, each a clause that begins with its line.
    fn differences(&self, search: &Search<'_>, old: &[&str]) -> Vec<String> {
        let lines = &search.lines()[self.start..self.start + self.count];
        let mut described: Vec<String> = old
            .iter()
            .zip(lines)
            .enumerate()
            .filter_map(|(index, (old, line))| {
                let what = difference(old, line.content(search.text))?;
                Some(format!("line {}: {what}", self.start + index + 1))
            })
            .take(DESCRIBED)
            .collect();
        if old.len() > self.count {
            described
                .push(format!("old_string goes on for {} lines after the end of the file", old.len() - self.count));
        }
        described
    }

    fn show(&self, search: &Search<'_>, differences: &[String]) -> String {
        let mut details: String = differences.iter().flat_map(|difference| [difference.as_str(), "\n"]).collect();
        let lines = search.lines()[self.start..self.start + self.count].iter().enumerate();
        for (index, line) in lines.take(SHOWN_LINES) {
            let number = self.start + index + 1;
            details.extend([&format!("{number:>6}\t"), shown(line.content(search.text)).as_str(), "\n"]);
        }
        if self.count > SHOWN_LINES {
            details.extend([format!("(and {} more lines)\n", self.count - SHOWN_LINES)]);
        }
        details
    }
}

/// The block most like `old`, if any is.
fn nearest(search: &Search<'_>, old: &[&str]) -> Option<Nearest> {
    let lines = search.lines();
    let compared = &old[..old.len().min(COMPARED_LINES)];
    let mut windows = likeness::windows(search, old, WINDOWS);
    if windows.is_empty() {
        windows.extend(likeness::window_by_longest_line(search, old));
    }
    let mut budget = Budget::default();
    let scored = windows.into_iter().filter(|start| *start < lines.len()).map(|start| {
        let count = old.len().min(lines.len() - start);
        let file = lines[start..start + count].iter().map(|line| line.content(search.text));
        // Lines beyond the end of the file count as wholly different.
        let share = likeness::share(compared, count);
        let alike = likeness::of_blocks(compared, file, 0.0, &mut budget).unwrap_or(0.0) * share;
        Nearest { start, count, alike }
    });
    // Of equals the first, which had the most votes.
    let best = scored.reduce(|best, other| if other.alike > best.alike { other } else { best })?;
    (best.alike >= LEAST).then_some(best)
}

/// What differs between a line of `old` and the file's; `None` when nothing does.
fn difference(old: &str, file: &str) -> Option<String> {
    if old == file {
        return None;
    }
    let (old_indent, old_content, old_trail) = block::parts(old);
    let (file_indent, file_content, file_trail) = block::parts(file);
    if old_content != file_content {
        return Some(content_difference(old, file));
    }
    if old_indent != file_indent {
        return Some(format!("the file is indented by {}, old_string by {}", spaces(file_indent), spaces(old_indent)));
    }
    Some(format!("the file has {} at the end, old_string has {}", spaces(file_trail), spaces(old_trail)))
}

/// The first place where two lines differ in more than the white space around them.
fn content_difference(old: &str, file: &str) -> String {
    let same = old.chars().zip(file.chars()).take_while(|(old, file)| old == file).count();
    let (in_old, in_file) = (old.chars().nth(same), file.chars().nth(same));
    let is_unusual = |character: Option<char>| character.is_some_and(|one| !one.is_ascii() && !one.is_alphanumeric());
    if is_unusual(in_old) || is_unusual(in_file) || typography::fold(old) == typography::fold(file) {
        let column = same + 1;
        return format!("the file has {} at column {column}, old_string has {}", named(in_file), named(in_old));
    }
    if old.to_lowercase() == file.to_lowercase() {
        return format!("only the casing differs, from column {}", same + 1);
    }
    format!("the file has `{}`, old_string has `{}`", around(file, same), around(old, same))
}

/// A line, or the part of it around its `column`th character.
fn around(line: &str, column: usize) -> String {
    const WIDTH: usize = 50;
    const BEFORE: usize = 20;
    let line = likeness::trimmed(line);
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    let skipped = column.saturating_sub(BEFORE);
    let middle: String = line.chars().skip(skipped).take(WIDTH).collect();
    let before = if skipped > 0 { "…" } else { "" };
    let after = if skipped + WIDTH < line.chars().count() { "…" } else { "" };
    format!("{before}{middle}{after}")
}

/// A character by sight where it can be seen for what it is, and by number.
fn named(character: Option<char>) -> String {
    match character {
        None => "nothing".to_owned(),
        Some(' ') => "a space".to_owned(),
        Some('\t') => "a tab".to_owned(),
        Some(one) if one.is_ascii_graphic() => format!("{one:?}"),
        Some(one) if one.is_alphanumeric() => format!("{one} (U+{:04X})", u32::from(one)),
        Some(one) => format!("U+{:04X}", u32::from(one)),
    }
}

/// White space in words.
fn spaces(space: &str) -> String {
    let tabs = space.matches('\t').count();
    let spaces = space.len() - tabs;
    let counted = |count: usize, noun: &str| match count {
        1 => format!("a {noun}"),
        _ => format!("{count} {noun}s"),
    };
    match (tabs, spaces) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => counted(spaces, "space"),
        (_, 0) => counted(tabs, "tab"),
        _ => format!("{} and {}", counted(tabs, "tab"), counted(spaces, "space")),
    }
}

/// Line of the new text, where that is long enough to be no accident and not a part of the old one.
fn applied_at(search: &Search<'_>) -> Option<usize> {
    let (new, old) = (line_endings::canonical(search.new), line_endings::canonical(search.old));
    let new = new.trim_matches('\n');
    if new.trim().len() < 8 || new.chars().filter(|one| one.is_alphanumeric()).count() < 4 || old.contains(new) {
        return None;
    }
    let text = line_endings::canonical(search.text);
    text.find(new).map(|at| line_of(&text, at))
}

/// Line of `old` when letters are compared without their case.
fn in_other_case(search: &Search<'_>) -> Option<usize> {
    let text = line_endings::canonical(search.text).to_lowercase();
    let old = line_endings::canonical(search.old).to_lowercase();
    text.find(&old).map(|at| line_of(&text, at))
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Whether some word is a path of at least two names.
fn holds_path(old: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    old.split(|character: char| !is_part(character)).any(|word| {
        let names = word.split('/').filter(|name| name.chars().any(char::is_alphanumeric)).count();
        names >= 2 && !word.contains("//") && (word.starts_with('/') || names >= 3)
    })
}

#[cfg(test)]
mod tests {
    use crate::edit::trial::assert_missed;

    const FILE: &str = "fn one() {\n\tlet total = sum(a, b);\n    print(\"x\");\n}\n\nfn two() {\n    done(7);\n}\n";

    fn summary(text: &str, old: &str, new: &str) -> String {
        assert_missed(text, old, new).summary
    }

    #[test]
    fn the_nearest_block_is_named_and_shown_with_its_numbers() {
        let diagnosis = assert_missed(FILE, "fn one() {\n\tlet total = sum(a, c);\n    print(\"y\");\n}\n", "x");
        assert!(
            diagnosis.summary.starts_with("old_string was not found; the nearest block is at lines 1-4 ("),
            "{diagnosis:?}"
        );
        assert!(
            diagnosis
                .summary
                .contains("line 2: the file has `let total = sum(a, b);`, old_string has `let total = sum(a, c);`")
        );
        assert!(diagnosis.details.contains("     2\t\tlet total = sum(a, b);\n"), "{}", diagnosis.details);
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        for (file, old, clause) in [
            ("\tfoo(1)\n  bar\n", "    foo(1)\nbar\n", "line 1: the file is indented by a tab, old_string by 4 spaces"),
            (
                "let x =\u{a0}one;\nlet z\n",
                "let x = one;\nlet y\n",
                "line 1: the file has U+00A0 at column 8, old_string has a space",
            ),
            (
                "let x\u{200b} = one;\n",
                "let x = one;\n",
                "line 1: the file has U+200B at column 6, old_string has a space",
            ),
            (
                "alpha beta \nfoo bar\n",
                "alpha beta\nfoo baz\n",
                "line 1: the file has a space at the end, old_string has nothing",
            ),
        ] {
            let diagnosis = assert_missed(file, old, "zzz\nz\n");
            assert!(diagnosis.summary.contains(clause), "{diagnosis:?}");
        }
    }

    #[test]
    fn a_change_already_made_is_told() {
        let diagnosis = assert_missed(FILE, "    done(6);", "    done(7);");
        assert!(diagnosis.already_applied);
        assert!(diagnosis.summary.contains("new_string is already there, at line 7"), "{diagnosis:?}");
        assert!(!assert_missed(FILE, "    done(6);", "7").already_applied);
    }

    #[test]
    fn a_text_before_white_space_that_would_stay_is_not_called_absent() {
        let said = summary("one\u{a0}\ntwo\n", "one", "1\n");
        assert!(said.starts_with("old_string ends before the white space that ends line 1"), "{said}");
    }

    #[test]
    fn another_casing_is_told() {
        assert!(summary(FILE, "FN TWO() {", "x").contains("the same text in another casing is at line 6"));
    }

    #[test]
    fn nothing_like_it_is_said_as_plainly() {
        assert_eq!(
            summary(FILE, "completely unrelated words", "x"),
            "old_string was not found and nothing in the file resembles it"
        );
        assert_eq!(summary("", "anything", "x"), "old_string was not found and nothing in the file resembles it");
    }

    #[test]
    fn a_path_in_old_may_have_been_rewritten_by_the_client() {
        let text = "root = \"/home/me/project/data\"\n";
        let diagnosis = assert_missed(text, "root = \"/mnt/user-data/workspace/data\"", "x");
        assert!(diagnosis.summary.contains("a client may show paths rewritten"), "{diagnosis:?}");
        assert!(!diagnosis.details.contains("rewritten"), "said once: {diagnosis:?}");
        assert!(!diagnosis.details.contains("line 1:"), "said once: {diagnosis:?}");
        assert!(!summary(FILE, "a / b / c + 1", "x").contains("path"));
    }

    #[test]
    fn long_blocks_and_lines_are_cut() {
        let text: String = (0..200).flat_map(|line| [line.to_string(), " word".repeat(100), "\n".to_owned()]).collect();
        let diagnosis = assert_missed(&text, &text.replace(" word word\n", " word\n"), "x");
        assert!(diagnosis.details.lines().count() <= 40);
        assert!(diagnosis.details.lines().all(|line| line.chars().count() < 250));
    }
}
