//! The last step: a block with the same first and last line and a nearly identical middle.
//!
//! The request is merged rather than pasted: lines that it changes must be in the file as it says, lines that
//! drifted keep the file's content. A drift that could be a difference in meaning (a number, another name, a
//! word more or less) is no slip of memory but another place.

use rapidfuzz::distance::{levenshtein, osa};

use super::{
    Found, Search,
    block::{self, LineEdit, Site},
    indent::Shift,
    likeness::{self, Budget},
    line_endings, whitespace,
};

/// The least likeness of the whole block.
const BLOCK: f64 = 0.9;

/// The least likeness of each line.
const LINE: f64 = 0.7;

/// No other block may come so near to the best one.
const MARGIN: f64 = 0.15;

/// Blocks with fewer lines have no middle.
const FEWEST_LINES: usize = 3;

/// Lines looked at before a search among ever-matching anchors is given up.
const LINE_BUDGET: usize = 2_000_000;

/// Unanchored windows that are looked at as rivals.
const RIVALS: usize = 16;

/// What starts a line of comment, where fillers may drift, whatever follows.
const COMMENTS: [&str; 3] = ["//", "/*", "<!--"];

/// What does so only in front of a space or nothing: `#[cfg]`, `*pointer` and `--count` are code.
const COMMENTS_BEFORE_SPACE: [&str; 4] = ["#", "*", "--", ";"];

/// Words that a comment may have or lack and still say the same.
const FILLERS: [&str; 16] =
    ["a", "all", "an", "and", "are", "be", "for", "in", "is", "it", "of", "on", "that", "the", "this", "to"];

/// C's directives, which may have spaces behind their `#`.
const DIRECTIVES: [&str; 13] = [
    "define", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "undef", "pragma", "error", "warning",
    "line",
];

/// The one block that `old` nearly is.
pub(super) fn find(search: &Search<'_>) -> Found {
    let (old, new) = (line_endings::canonical(search.old), line_endings::canonical(search.new));
    let Some(edit) = LineEdit::new(&old, &new).filter(LineEdit::has_substance) else { return Found::default() };
    let Some(line) = nearly_identical(search, &edit) else { return Found::default() };
    let site = Site { line, after_indent: false };
    if !merges(search, &edit, site) {
        return Found::default();
    }
    let Some(shift) = Shift::new(search, &edit, site) else { return Found::default() };
    let replacement = block::rewrite(search, &edit, site, &mut |hunk| {
        let line = |(index, new): (usize, &&str)| {
            let (indent, content, _) = block::parts(new);
            let trail = whitespace::trail(hunk, index, None);
            let indent = if content.is_empty() { String::new() } else { shift.apply(indent)? };
            Some(format!("{indent}{content}{trail}"))
        };
        hunk.new.iter().enumerate().map(line).collect()
    });
    Found { replacements: replacement.into_iter().collect(), overlapping: None }
}

/// First line of the only block like enough.
fn nearly_identical(search: &Search<'_>, edit: &LineEdit<'_>) -> Option<usize> {
    let count = edit.old.len();
    let lines = search.lines();
    if count < FEWEST_LINES || count > lines.len() {
        return None;
    }
    let content = |line: usize| lines[line].content(search.text);
    let (first, last) = (likeness::trimmed(edit.old[0]), likeness::trimmed(edit.old[count - 1]));
    let is_anchored = |start: usize| {
        likeness::trimmed(content(start)) == first && likeness::trimmed(content(start + count - 1)) == last
    };
    let mut budget = Budget::default();
    let mut lines_left = LINE_BUDGET;
    let mut alike = |start: usize| {
        let file = (start..start + count).map(content);
        likeness::of_blocks(&edit.old, file, BLOCK - MARGIN, &mut budget)
    };
    let anchored: Vec<usize> = (0..=lines.len() - count).filter(|start| is_anchored(*start)).collect();
    let mut scored = Vec::new();
    for start in &anchored {
        // Unfinished means undecided.
        lines_left = lines_left.checked_sub(count)?;
        scored.extend(alike(*start).map(|alike| (alike, *start)));
    }
    let (best, start) = scored.iter().copied().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let others = likeness::windows(search, &edit.old, RIVALS);
    let others = others.into_iter().filter(|other| other + count <= lines.len() && !anchored.contains(other));
    scored.extend(others.filter_map(|other| alike(other).map(|alike| (alike, other))));
    let has_rival = scored.iter().any(|(alike, other)| *other != start && *alike >= best - MARGIN);
    let mut budget = Budget::default();
    let is_near =
        (0..count).all(|index| likeness::of_lines(edit.old[index], content(start + index), &mut budget).0 >= LINE);
    (best >= BLOCK && is_near && !has_rival).then_some(start)
}

/// Whether the request can be merged into what the file has: nothing that it changes has drifted, and what
/// drifted is a slip. A block in which nothing has drifted was refused by the steps before, for their reasons.
fn merges(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> bool {
    let file = block::file_lines(search, edit, site);
    if edit.old.iter().zip(&file).all(|(old, file)| likeness::trimmed(old) == likeness::trimmed(file)) {
        return false;
    }
    edit.changes().all(|(is_kept, old, _)| {
        old.into_iter().all(|index| {
            let (old, file) = (likeness::trimmed(edit.old[index]), likeness::trimmed(file[index]));
            old == file || is_kept && is_slip(old, file, &|word| has_word(search.text, word))
        })
    })
}

/// Whether one line is a misremembered form of the other rather than one that says something else. A word that
/// `is_known` in the file is that word and no slip for another.
fn is_slip(old: &str, file: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let (mut old_words, mut file_words) = (words(old), words(file));
    if is_comment(old) && is_comment(file) {
        for words in [&mut old_words, &mut file_words] {
            words.retain(|word| !FILLERS.contains(word));
        }
    }
    operators(old).eq(operators(file))
        && old_words.len() == file_words.len()
        && old_words.iter().zip(&file_words).all(|(old, file)| old == file || is_misspelt(old, file) && !is_known(old))
}

fn is_comment(line: &str) -> bool {
    if COMMENTS.iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let rest = COMMENTS_BEFORE_SPACE.iter().find_map(|mark| line.strip_prefix(mark));
    rest.is_some_and(|rest| {
        let is_directive =
            line.starts_with('#') && rest.split_whitespace().next().is_some_and(|word| DIRECTIVES.contains(&word));
        (rest.is_empty() || rest.starts_with(char::is_whitespace)) && !is_directive
    })
}

/// Whether two names are likely the same one: each of their parts is, so that `cb_get_t` is not `cb_set_t`, nor
/// `unlock_all` `lock_all`.
fn is_misspelt(old: &str, file: &str) -> bool {
    let (old, file) = (parts_of(old), parts_of(file));
    old.len() == file.len() && old.iter().zip(&file).all(|(old, file)| old == file || is_misspelt_part(old, file))
}

/// Whether two words are likely the same one: the longer they are, the more may differ. `get` and `set`, `upper`
/// and `lower`, `increase` and `decrease` are not.
fn is_misspelt_part(old: &str, file: &str) -> bool {
    let has_digit = old.chars().chain(file.chars()).any(|character| character.is_ascii_digit());
    let same_start = old.chars().next() == file.chars().next();
    let allowed = match old.chars().count().min(file.chars().count()) {
        0..=4 => 0,
        5..=7 => 1,
        _ => 2,
    };
    // `maximum` for `minimum`: letters changed rather than left out, doubled or swapped.
    let changed: Vec<(char, char)> = old.chars().zip(file.chars()).filter(|(old, file)| old != file).collect();
    let is_reworded = old.chars().count() == file.chars().count()
        && match changed[..] {
            [_] => false,
            [first, second] => first != (second.1, second.0),
            _ => true,
        };
    // Two letters that changed places are one slip, though not in a word as short as `from`.
    let is_swapped = || allowed > 0 && osa::distance(old.chars(), file.chars()) <= 1;
    !has_digit
        && same_start
        && !is_reworded
        && (levenshtein::distance(old.chars(), file.chars()) <= allowed || is_swapped())
}

/// The words that a name is made of: `read_all` and `readAll` have two.
fn parts_of(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in name.split('_') {
        let mut start = 0;
        let mut was_lower = false;
        for (at, character) in part.char_indices() {
            if character.is_uppercase() && was_lower {
                parts.push(&part[start..at]);
                start = at;
            }
            was_lower = character.is_lowercase();
        }
        parts.push(&part[start..]);
    }
    parts
}

/// Whether `text` has `word` with no letter beside it.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter))
}

fn words(line: &str) -> Vec<&str> {
    line.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .collect()
}

/// The characters that carry meaning; brackets, commas, quotes and spaces do not part two versions of a line.
fn operators(line: &str) -> impl Iterator<Item = char> + '_ {
    line.chars().filter(|character| "+-*/%<>=!&|^~?@$".contains(*character))
}

#[cfg(test)]
mod tests {
    use super::is_slip;
    use crate::edit::{
        Strategy::Anchored,
        trial::{assert_edited, assert_missed},
    };

    const FILE: &str = "fn total(items: &[Item]) -> u64 {\n    // Adds the prices of all the items.\n    let mut total = 0;\n    for item in items {\n        total += item.price();\n    }\n    total\n}\n";

    #[test]
    fn a_drifted_line_stays_as_the_file_has_it() {
        let old = FILE.replace("prices of all the items", "prices of all items");
        let new = old.replace("let mut total = 0;", "let mut total = 1;");
        assert_edited(FILE, &old, &new, Anchored, &FILE.replace("total = 0;", "total = 1;"));
    }

    #[test]
    fn a_drifted_line_that_the_request_changes_refuses_it() {
        let old = FILE.replace("prices of all the items", "prices of all items");
        assert_missed(FILE, &old, &old.replace("// Adds the prices of all items.", "// Sums up."));
    }

    #[test]
    fn another_middle_between_the_same_lines_is_another_block() {
        let old = FILE.replace("total += item.price();", "log(item);").replace("let mut total = 0;", "open();");
        assert_missed(FILE, &old, &old.replace("open", "close"));
    }

    #[test]
    fn a_number_a_name_or_an_operator_is_no_slip() {
        for (from, to) in [("total = 0", "total = 1"), ("+=", "-="), ("price()", "count()"), ("mut total", "total")] {
            let old = FILE.replacen(from, to, 1);
            assert_missed(FILE, &old, &old.replace("    total\n", "    total + tax\n"));
        }
    }

    #[test]
    fn a_word_that_the_file_has_elsewhere_is_no_slip() {
        let old = FILE.replacen("item.price()", "item.prices()", 1);
        let new = old.replace("    total\n", "    total + 1\n");
        assert_missed(FILE, &old, &new);
    }

    #[test]
    fn a_near_duplicate_refuses_the_match() {
        let filler = "// filler line\n".repeat(20);
        let text = format!("{FILE}{filler}{}", FILE.replace("item.price()", "item.cost()"));
        let old = FILE.replace("prices of all the items", "prices of all items");
        assert_missed(&text, &old, &old.replace("    total\n", "    total + 1\n"));
    }

    #[test]
    fn two_lines_have_no_middle() {
        assert_missed("alpha beta gamma\ndelta\n", "alpha beta gama\ndelta\n", "alpha beta gama\nomega\n");
    }

    #[test]
    fn slips_of_memory_are_told_from_other_meanings() {
        for (old, file) in [
            ("serialize(x)", "serialise(x)"),
            ("reutrn x", "return x"),
            ("f(a,b)", "f(a, b);"),
            ("// is fine", "// this is fine"),
        ] {
            assert!(is_slip(old, file, &|_| false), "{old} {file}");
        }
        for (old, file) in [
            ("get(x)", "set(x)"),
            ("form(x)", "from(x)"),
            ("upper(x)", "lower(x)"),
            ("maximum_len", "minimum_len"),
            ("perf_mmap_cb_set_t", "perf_mmap_cb_get_t"),
            ("isNewValue", "isOldValue"),
            ("dal_gpio_service_unlock(", "dal_gpio_service_lock("),
            ("a[1]", "a[2]"),
            ("a == b", "a != b"),
            ("if x", "if not x"),
            ("// 5 s", "// 6 s"),
            ("// in v2.0 only", "// in v7.0 only"),
            ("// the earliest result", "// the latest result"),
            ("// may be kept", "// may not be kept"),
            ("// a < b is kept", "// a > b is kept"),
            ("#[arg(last = true)]", "#[arg(last = false)]"),
            ("#define LIMIT_L1 0x20", "#define LIMIT_L7 0x20"),
            ("# if MINOR_VERSION", "# if not MINOR_VERSION"),
            ("*first = value", "*last = value"),
        ] {
            assert!(!is_slip(old, file, &|_| false), "{old} {file}");
        }
    }
}
