//! Typos in lines that the change does not touch.
//!
//! The request is merged rather than pasted. A line with a typo that `new` has exactly as the file is the file's line;
//! one that both texts have alike keeps the file's content, in a block that is nearly identical otherwise and has no
//! rival. A difference that could be one of meaning (a number, another name, a word more or less) is no typo but another
//! place, and lines that the request changes must be in the file as it says.

use std::{borrow::Cow, collections::HashMap};

use super::{
    block, spelling,
    typo::{self, Words},
    whole_lines,
};
use crate::{
    Found, LineEdit, Outcome, Prepared, Refusal, Site, Strategy,
    line_parts::{self, hash},
    similarity::{self, Budget},
    typography,
};

/// The least similarity of a block whose typos `new` repeats.
const BLOCK: f64 = 0.9;

/// The least similarity of each of its lines.
const LINE: f64 = 0.7;

/// No other block may come so near to it.
const MARGIN: f64 = 0.15;

/// Blocks with fewer lines have too little besides a typo that `new` repeats.
const FEWEST_LINES: usize = 3;

/// Lines looked at before a search among ever-matching anchors is given up.
const LINE_BUDGET: usize = 2_000_000;

/// Windows that are looked at, by how many lines they share with the request.
const WINDOWS: usize = 24;

/// Letters and digits that a line must have to be the only one that is known of a place.
const TELLING: usize = 8;

/// Pairs of lines compared in all runs of changed ones.
const PAIRS: usize = 10_000;

/// The one block that `old` is but for typos.
pub(super) fn find(prepared: &Prepared<'_>) -> Outcome {
    prepared.first_likely(|edit| {
        if edit.old.len() > prepared.lines().len() {
            return Ok(None);
        }
        let request = PlainEdit::of(edit);
        let Some((line, typos)) = place(prepared, edit, &request) else { return Ok(None) };
        made(prepared, edit, line, &typos).map(Some)
    })
}

/// How the file and the request differ in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Typo {
    /// `new` has this line as the file has it.
    Corrected(usize),
    /// `new` repeats it, in this line.
    Repeated(usize),
}

/// A request with its lines in plain characters.
struct PlainEdit<'e> {
    old: Vec<Cow<'e, str>>,
    new: Vec<Cow<'e, str>>,
    /// For each line of `old` its place in `new` where it stays.
    kept: Vec<Option<usize>>,
    /// For each line of `old` those of `new` of which it may be a misspelt form.
    corrected: Vec<Vec<usize>>,
}

impl<'e> PlainEdit<'e> {
    fn of(edit: &LineEdit<'e>) -> Self {
        let plain =
            |lines: &[&'e str]| -> Vec<Cow<'e, str>> { lines.iter().map(|line| typography::content(line)).collect() };
        let (old, new) = (plain(&edit.old), plain(&edit.new));
        let mut kept = vec![None; old.len()];
        let mut corrected = vec![Vec::new(); old.len()];
        let mut pairs = PAIRS;
        for (is_kept, from, to) in edit.changes() {
            if is_kept {
                from.zip(to).for_each(|(from, to)| kept[from] = Some(to));
            } else if let Some(left) = pairs.checked_sub(from.len() * to.len()) {
                pairs = left;
                for index in from {
                    corrected[index] = to.clone().filter(|to| typo::is_typo(&old[index], &new[*to])).collect();
                }
            }
        }
        Self { old, new, kept, corrected }
    }
}

/// The only place where every line is the file's, or typos.
fn place(prepared: &Prepared<'_>, edit: &LineEdit<'_>, request: &PlainEdit<'_>) -> Option<(usize, Vec<(usize, Typo)>)> {
    let count = edit.old.len();
    let lines = prepared.lines();
    let anchored = anchored(prepared, request)?;
    let voted = voted(prepared, request);
    let voted = voted.into_iter().filter(|start| start + count <= lines.len() && !anchored.contains(start));
    let starts: Vec<usize> = anchored.iter().copied().chain(voted).collect();
    let mut fitting = Vec::new();
    let words = Words::of(prepared.text);
    for start in &starts {
        let typos = typos(prepared, request, *start, &words);
        fitting.extend(typos.filter(|typos| !typos.is_empty()).map(|typos| (*start, typos)));
        if fitting.len() > 1 {
            return None;
        }
    }
    let (start, typos) = fitting.pop()?;
    let mut repeated = typos.iter().filter(|(_, typo)| matches!(typo, Typo::Repeated(_))).peekable();
    let repeats = repeated.peek().is_some();
    // A line that the file has as it is given, and elsewhere, is that one and no typo for another.
    let hashes = prepared.content_hashes();
    if repeated.any(|(index, _)| hashes.contains(&hash(&request.old[*index]))) {
        return None;
    }
    if !repeats {
        // What is known of the place must be more than what every place has.
        let known = |index: usize| typos.iter().any(|(typo, _)| *typo == index);
        let letters = |lines: &mut dyn Iterator<Item = &str>| {
            lines.flat_map(str::chars).filter(|one| one.is_alphanumeric()).nth(TELLING - 1).is_some()
        };
        let mut sure =
            request.old.iter().enumerate().filter(|(index, _)| !known(*index)).map(|(_, line)| line.as_ref());
        let mut all = request.old.iter().map(AsRef::as_ref);
        let is_telling = letters(&mut sure) || count <= 2 && letters(&mut all);
        return is_telling.then_some((start, typos));
    }
    if count < FEWEST_LINES {
        return None;
    }
    let old: Vec<&str> = request.old.iter().map(AsRef::as_ref).collect();
    let mut budget = Budget::default();
    let mut alike = |start: usize| {
        let file: Vec<Cow<'_, str>> =
            (start..start + count).map(|line| typography::content(prepared.line(line))).collect();
        similarity::of_blocks(&old, file.iter().map(AsRef::as_ref), BLOCK - MARGIN, &mut budget)
    };
    let best = alike(start).filter(|alike| *alike >= BLOCK)?;
    let has_rival = starts
        .iter()
        .filter(|other| **other != start)
        .filter_map(|other| alike(*other))
        .any(|alike| alike >= best - MARGIN);
    let mut budget = Budget::default();
    let is_near = (0..count).all(|index| {
        similarity::of_lines(old[index], &typography::content(prepared.line(start + index)), &mut budget).0 >= LINE
    });
    (is_near && !has_rival).then_some((start, typos))
}

/// Windows that begin and end with the lines of the request; `None` where they are too many to look at.
fn anchored(prepared: &Prepared<'_>, request: &PlainEdit<'_>) -> Option<Vec<usize>> {
    let count = request.old.len();
    if count < FEWEST_LINES {
        return Some(Vec::new());
    }
    let hashes = prepared.content_hashes();
    let (first, last) = (hash(&request.old[0]), hash(&request.old[count - 1]));
    let starts =
        (0..=hashes.len() - count).filter(|start| hashes[*start] == first && hashes[start + count - 1] == last);
    let starts: Vec<usize> = starts.take(LINE_BUDGET / count + 1).collect();
    // Unfinished means undecided.
    (starts.len() * count <= LINE_BUDGET).then_some(starts)
}

/// First lines of the windows that share the most lines with the request.
fn voted(prepared: &Prepared<'_>, request: &PlainEdit<'_>) -> Vec<usize> {
    let hashes = prepared.content_hashes();
    let old = request.old.iter().enumerate();
    let new = request.corrected.iter().enumerate();
    let new = new.flat_map(|(index, corrected)| corrected.iter().map(move |to| (index, &request.new[*to])));
    let says = |line: &str| line.chars().any(char::is_alphanumeric).then(|| hash(line));
    let lines = old.chain(new).map(|(index, line)| (index, says(line)));
    similarity::windows(&similarity::shared_lines(lines, hashes.iter().copied().map(Some)), WINDOWS)
}

/// The typos of the request if it is the block at `start` but for them.
fn typos(
    prepared: &Prepared<'_>,
    request: &PlainEdit<'_>,
    start: usize,
    words: &Words<'_>,
) -> Option<Vec<(usize, Typo)>> {
    let mut found = Vec::new();
    for (index, old) in request.old.iter().enumerate() {
        let file = typography::content(prepared.line(start + index));
        if *old == file {
            continue;
        }
        let known = |word: &str| words.has(word);
        if let Some(to) = request.corrected[index].iter().find(|to| request.new[**to] == file) {
            if !typo::is_unknown(old, &file, &known) {
                return None;
            }
            found.push((index, Typo::Corrected(*to)));
            continue;
        }
        let to = request.kept[index].filter(|_| typo::is_slip(old, &file, &known))?;
        found.push((index, Typo::Repeated(to)));
    }
    Some(found)
}

/// The request as it would be without its typos, made at its place.
fn made(prepared: &Prepared<'_>, edit: &LineEdit<'_>, line: usize, typos: &[(usize, Typo)]) -> Result<Found, Refusal> {
    let file = |index: usize| prepared.line(line + index);
    // Lines that the file has, indented as the request has them.
    let corrected: HashMap<usize, String> = typos
        .iter()
        .filter(|(_, typo)| matches!(typo, Typo::Repeated(_)))
        .map(|(index, _)| {
            let (indent, _) = typography::indented(edit.old[*index]);
            let (_, content) = typography::indented(file(*index));
            (*index, format!("{indent}{content}{}", line_parts::parts(edit.old[*index]).2))
        })
        .collect();
    // A line that the request reindents as well says nothing of the other new lines' indentation.
    let is_reindented = |(index, typo): &(usize, Typo)| match typo {
        Typo::Corrected(to) => typography::indented(edit.old[*index]).0 != typography::indented(edit.new[*to]).0,
        Typo::Repeated(_) => false,
    };
    if typos.iter().any(is_reindented) {
        return Err(Refusal::Unclear);
    }
    // Typographic characters on a line with a typo say what those of new lines are.
    let pairs: Vec<(&str, &str)> = edit.old.iter().enumerate().map(|(index, old)| (*old, file(index))).collect();
    let plain = spelling::plain_classes(&pairs, &edit.new, prepared.text).ok_or(Refusal::Unclear)?;
    let spelled = |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| spelling::plained(line, plain)).collect() };
    let (plain_old, plain_new) = (spelled(&edit.old), spelled(&edit.new));
    let mut old: Vec<&str> = plain_old.iter().map(String::as_str).collect();
    let mut new: Vec<&str> = plain_new.iter().map(String::as_str).collect();
    for (index, typo) in typos {
        match typo {
            Typo::Corrected(to) => old[*index] = new[*to],
            Typo::Repeated(to) => {
                old[*index] = &corrected[index];
                new[*to] = &corrected[index];
            }
        }
    }
    let other = LineEdit::of_lines(old, new, edit.deletes);
    let stays = |index: usize| other.changes().any(|(is_kept, old, _)| is_kept && old.contains(&index));
    if !typos.iter().all(|(index, _)| stays(*index)) {
        return Err(Refusal::Unclear);
    }
    // Elsewhere it would have been looked for as an exact text is.
    let hashes = prepared.content_hashes();
    let sites = block::sites(prepared, &other, (typography::content, hashes), false);
    if sites.iter().any(|site| site.line != line) {
        return Err(Refusal::Unclear);
    }
    if let Some(refusal) = whole_lines::refusal_of(prepared, &other, (typography::content, hashes)) {
        return Err(refusal);
    }
    let (replacement, by) = whole_lines::at(Site { prepared, edit: &other, line, after_indent: false })?;
    let by = if plain.contains(&true) { by.with(Strategy::Typography) } else { by };
    Ok(Found { replacements: vec![replacement], by: by.with(Strategy::Typos), ..Found::default() })
}

#[cfg(test)]
mod tests {
    use crate::{
        Next,
        Strategy::Typos,
        testing::{assert_edited, assert_missed},
    };

    const FILE: &str = "fn total(items: &[Item]) -> u64 {\n    // Adds the prices of all the items.\n    let mut total = 0;\n    for item in items {\n        total += item.price();\n    }\n    total\n}\n";

    #[test]
    fn a_drifted_line_stays_as_the_file_has_it() {
        let old = FILE.replace("prices of all the items", "prices of all items");
        let new = old.replace("let mut total = 0;", "let mut total = 1;");
        assert_edited(FILE, &old, &new, Typos, &FILE.replace("total = 0;", "total = 1;"));
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
    fn a_number_a_name_or_an_operator_is_no_typo() {
        for (from, to) in [("total = 0", "total = 1"), ("+=", "-="), ("price()", "count()"), ("mut total", "total")] {
            let old = FILE.replacen(from, to, 1);
            assert_missed(FILE, &old, &old.replace("    total\n", "    total + tax\n"));
        }
    }

    #[test]
    fn a_word_that_the_file_has_elsewhere_is_no_typo() {
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
    fn a_line_that_the_file_has_elsewhere_as_given_is_no_typo() {
        let block = "// Kept by hand.\n// Copyright (C) 2013-2015, A. Author\n\n// See the licence.\n";
        let other = "// Kept by hand.\n// The tables.\n".to_owned() + &block["// Kept by hand.\n".len()..];
        let text = format!("{}{}{other}", block.replace("Author", "Author."), "fn filler() {}\n".repeat(9));
        assert_missed(&text, block, &block.replace("See the", "Read the"));
        let text = text.replace("Author\n", "Other\n");
        assert_edited(
            &text,
            block,
            &block.replace("See the", "Read the"),
            Typos,
            &text.replacen("See the", "Read the", 1),
        );
    }

    #[test]
    fn a_reindented_line_with_a_typo_is_refused() {
        let text = "def random(value):\n    return chosen.choice(value)\n\n\nother()\n";
        let new = "    try:\n        return chosen.choice(value)\n    except IndexError:\n        return None\n";
        let diagnosis = assert_missed(text, "    return chosen.choicce(value)\n", new);
        assert!(diagnosis.next != Next::Look, "{diagnosis:?}");
        let text = text.replace("    return", "        return");
        assert_missed(&text, "    return chosen.choicce(value)\n", new);
    }

    #[test]
    fn two_lines_are_too_few_for_a_repeated_typo() {
        assert_missed("alpha beta gamma\ndelta\n", "alpha beta gama\ndelta\n", "alpha beta gama\nomega\n");
    }

    #[test]
    fn a_typo_that_new_text_has_right_is_passed_over() {
        let text = "def f(self):\n    self.conn.close()\n    return total\n";
        assert_edited(
            text,
            "    self.con.close()\n    return total\n",
            "    self.conn.close()\n    return total + 1\n",
            Typos,
            &text.replace("total", "total + 1"),
        );
        assert_edited(
            text,
            "    retrun total\n",
            "    log(total)\n    return total\n",
            Typos,
            &text.replace("    return", "    log(total)\n    return"),
        );
        assert_edited(
            text,
            "\tself.con.close()\n\tretrun total\n",
            "\tself.conn.close()\n\tflush()\n\treturn total\n",
            Typos,
            &text.replace("    return", "    flush()\n    return"),
        );
    }

    #[test]
    fn two_lines_in_one_are_no_typo_of_either() {
        let text = "f(\n    a,\n)\nlimit_now = get(a)\nuse(limit_now)\n";
        assert_missed(text, ") limit_now = get(a)\n", ")\nlog(a)\nlimit_now = get(a)\n");
        assert_missed(
            "f {\n  g {\n    use(limit)\n  }\n}\n",
            "    use(limit)\n  } }\n",
            "    use(limit)\n    go()\n  }\n}\n",
        );
    }

    #[test]
    fn curly_quotes_and_white_space_on_a_line_with_a_typo_are_not_brought_in_elsewhere() {
        let text = "one();\nif ready(\"a\") {\n    return total(\"b\");\n}\n";
        assert_edited(
            text,
            "one();  \nif ready(\"a\") {  \n    retrun total(“b”);  \n}  \n".replace("\"a\"", "“a”").as_str(),
            "one();  \nlog(“x”);  \nif ready(“a”) {  \n    retrun total(“b”);  \n}  \n",
            Typos,
            "one();\nlog(\"x\");\nif ready(\"a\") {\n    return total(\"b\");\n}\n",
        );
        let text = "one();\ntwo(1);\nreturn total(\"b\");\n}\n";
        assert_edited(
            text,
            "one();\ntwo(1);\nretrun total(“b”);\n}\n",
            "one();\ntwo(“x”);\nretrun total(“b”);\n}\n",
            Typos,
            "one();\ntwo(\"x\");\nreturn total(\"b\");\n}\n",
        );
    }

    #[test]
    fn a_difference_that_new_text_has_right_but_is_no_typo_is_refused() {
        for (old, new) in
            [("limit = 30\nretry(1)\n", "limit = 60\nretry(2)\n"), ("log(a)\nretry(1)\n", "lag(a)\nretry(2)\n")]
        {
            assert_missed("limit = 60\nretry(1)\nlag(a)\nretry(1)\nlog(b)\n", old, new);
        }
    }

    #[test]
    fn a_typo_at_two_places_is_refused() {
        let text = "one();\nreturn total;\n\n  one();\n  return total;\n";
        assert_missed(text, "one();\nretrun total;\n", "one();\ntwo();\nreturn total;\n");
    }

    #[test]
    fn a_request_without_its_typo_that_changes_nothing_is_made_already() {
        assert!(
            assert_missed("one(1);\nreturn total;\n", "one(1);\nretrun total;\n", "one(1);\nreturn total;\n").next
                == Next::Look
        );
    }
}
