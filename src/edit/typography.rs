//! The fifth step: typographic characters taken for their plain likes, in whole lines.
//!
//! Curly quotes, dashes, unusual spaces and the ellipsis count as what a keyboard has, and letters count as
//! equal whatever their Unicode normal form. What a request leaves alone within a changed line keeps the
//! file's characters.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    time::Duration,
};

use similar::{Algorithm, DiffOp};
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

use super::{
    Found, Search,
    block::{self, Hunk, LineEdit, Site},
    diff, line_endings, whitespace,
};

/// Time for the comparison of one hunk's old and new characters; beyond it more of the new ones are kept.
const DIFF_TIME: Duration = Duration::from_millis(50);

/// Every block of whole lines equal to `old` but for typographic characters (and white space at line ends).
pub(super) fn find(search: &Search<'_>) -> Found {
    // Nothing to fold on either side.
    if search.text.is_ascii() && search.old.is_ascii() {
        return Found::default();
    }
    let (old, new) = (line_endings::canonical(search.old), line_endings::canonical(search.new));
    let Some(edit) = LineEdit::new(&old, &new).filter(LineEdit::has_substance) else { return Found::default() };
    block::find(search, &edit, fold, &mut |site| {
        if has_unclear_spelling(search, &edit, site) {
            return None;
        }
        let noise = whitespace::noise(search, &edit, site);
        let file_lines = block::file_lines(search, &edit, site);
        let (old, file) = (joined(&edit.old), joined(&file_lines));
        let mut spelling = Spelling::learned(&old, &file);
        spelling.learn_lines(&edit.old, &file_lines);
        block::rewrite(search, &edit, site, &mut |hunk| lines(hunk, &spelling, noise))
    })
}

/// Whether lines that read alike in the request are spelled in several ways in the file and do not all stay: then
/// nobody can tell which of them is which.
fn has_unclear_spelling(search: &Search<'_>, edit: &LineEdit<'_>, site: Site) -> bool {
    let mut spelled: HashMap<&str, &str> = HashMap::new();
    let mut unclear: HashSet<&str> = HashSet::new();
    for (old, file) in edit.old.iter().zip(block::file_lines(search, edit, site)) {
        let (old, file) = (block::parts(old).1, block::parts(file).1);
        if *spelled.entry(old).or_insert(file) != file {
            unclear.insert(old);
        }
    }
    let has_unclear = |lines: &[&str]| lines.iter().any(|line| unclear.contains(block::parts(line).1));
    edit.changes().any(|(is_kept, old, new)| !is_kept && (has_unclear(&edit.old[old]) || has_unclear(&edit.new[new])))
}

/// A line with plain characters in the composed normal form, without white space at its end.
pub(super) fn fold(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(block::without_trail(line));
    }
    let mut folded = folded(line);
    folded.truncate(block::without_trail(&folded).len());
    Cow::Owned(folded)
}

fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.nfc() {
        match plain(character) {
            Some(plain) => folded.push_str(plain),
            None => folded.push(character),
        }
    }
    folded
}

/// What a keyboard has for a typographic character.
pub(super) fn plain(character: char) -> Option<&'static str> {
    match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' => Some("'"),
        '\u{201C}'..='\u{201F}' | '\u{2033}' => Some("\""),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => Some(" "),
        _ => None,
    }
}

/// The new lines of a hunk, what they share with its old lines spelled as in the file.
fn lines(hunk: &Hunk<'_>, spelling: &Spelling<'_>, noise: Option<&str>) -> Option<Vec<String>> {
    // A line that is only indented anew is the file's.
    let known = |new: &&str| {
        let (indent, content, _) = block::parts(new);
        let file = spelling.lines.get(content).copied().flatten()?;
        Some(format!("{indent}{file}"))
    };
    let content =
        |lines: &[&str]| -> Vec<String> { lines.iter().map(|line| block::parts(line).1.to_owned()).collect() };
    let deadline = diff::deadline(hunk.old.len() + hunk.new.len(), DIFF_TIME);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &content(hunk.old), &content(hunk.new), deadline);
    let mut bodies = Vec::with_capacity(hunk.new.len());
    for op in ops {
        let (old, new) = (op.old_range(), &hunk.new[op.new_range()]);
        if let Some(lines) = new.iter().map(known).collect::<Option<Vec<String>>>() {
            bodies.extend(lines);
        } else {
            let lines = reworded(&hunk.old[old.clone()], &hunk.file[old], new, spelling)?;
            bodies.extend(lines.into_iter().zip(new).map(|(line, new)| known(new).unwrap_or(line)));
        }
    }
    let line = |(index, body)| format!("{body}{}", whitespace::trail(hunk, index, noise));
    Some(bodies.into_iter().enumerate().map(line).collect())
}

fn reworded(old: &[&str], file: &[&str], new: &[&str], spelling: &Spelling<'_>) -> Option<Vec<String>> {
    if new.is_empty() {
        return Some(Vec::new());
    }
    let count = new.len();
    let new = joined(new);
    let grafted = graft(&joined(old), &joined(file), &new, spelling)?;
    // Some scripts compose across what is taken for letters here; then nothing is certain.
    let is_sure = folded(&grafted) == folded(&new) && grafted.matches('\n').count() + 1 == count;
    is_sure.then(|| grafted.split('\n').map(str::to_owned).collect())
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| block::without_trail(line)).collect::<Vec<_>>().join("\n")
}

/// `new`, with `file`'s characters wherever `new` repeats `old`, of which `file` is another spelling, and what is
/// new spelled alike. `None` where that cannot be told.
fn graft(old: &str, file: &str, new: &str, spelling: &Spelling<'_>) -> Option<String> {
    let (old_letters, new_letters) = (letters(old), letters(new));
    let (old_bounds, file_bounds) = (folded_bounds(&old_letters), folded_bounds(&letters(file)));
    // Folded length up to a letter of `file` → its offset in `file`.
    let in_file: HashMap<usize, usize> = file_bounds.iter().map(|bound| (bound.folded, bound.real)).collect();
    let deadline = diff::deadline(old_letters.len() + new_letters.len(), DIFF_TIME);
    let mut result = String::with_capacity(new.len());
    for op in similar::capture_diff_slices_deadline(Algorithm::Myers, &old_letters, &new_letters, deadline) {
        let repeated = match op {
            DiffOp::Equal { .. } => {
                let place = |index: usize| in_file.get(&old_bounds[index].folded).copied();
                place(op.old_range().start).zip(place(op.old_range().end))
            }
            _ => None,
        };
        // A space between two new words is repeated by chance; theirs is the one that was typed.
        let by_chance = |offset: usize| {
            let (old, new) = (op.old_range().start + offset, op.new_range().start + offset);
            new_letters[new].trim().is_empty() && words_beside(&old_letters, old) != words_beside(&new_letters, new)
        };
        if let Some((start, end)) = repeated.filter(|_| !(0..op.new_range().len()).any(by_chance)) {
            result.push_str(&file[start..end]);
            continue;
        }
        for (offset, index) in op.new_range().enumerate() {
            let bounds = op.old_range().start + offset;
            let place = |index: usize| in_file.get(&old_bounds[index].folded).copied();
            let own = repeated.filter(|_| !by_chance(offset)).and_then(|_| place(bounds).zip(place(bounds + 1)));
            match own {
                Some((start, end)) => result.push_str(&file[start..end]),
                None => result.push_str(spelling.of(&new_letters, index)?),
            }
        }
    }
    Some(result)
}

/// The words on both sides of a space; two spaces stand alike where they share both, or one
/// that is more than punctuation.
struct Words<'l>(Vec<&'l str>, Vec<&'l str>);

impl PartialEq for Words<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_word = |letters: &[&str]| letters.iter().any(|letter| letter.starts_with(char::is_alphanumeric));
        let (before, after) = (self.0 == other.0, self.1 == other.1);
        before && (after || is_word(&self.0)) || after && is_word(&self.1)
    }
}

fn words_beside<'l>(letters: &[&'l str], space: usize) -> Words<'l> {
    let is_word = |letter: &&str| !letter.trim().is_empty();
    let before = letters[..space].iter().rev().copied().take_while(is_word).collect();
    Words(before, letters[space + 1..].iter().copied().take_while(is_word).collect())
}

/// What stands beside a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Beside {
    Space,
    Word,
    Other,
}

impl Beside {
    fn of(letter: Option<&&str>) -> Self {
        match letter.and_then(|letter| letter.chars().next()) {
            None => Self::Space,
            Some(one) if one.is_whitespace() => Self::Space,
            Some(one) if one.is_alphanumeric() => Self::Word,
            Some(_) => Self::Other,
        }
    }
}

/// How the file spells the letters of `old`: by letter and what stands around it, and by letter alone. `None`
/// where it does so in several ways.
struct Spelling<'t> {
    in_context: HashMap<(&'t str, Beside, Beside), Option<&'t str>>,
    anywhere: HashMap<&'t str, Option<&'t str>>,
    /// Whole lines without their indentation, in which both agree.
    lines: HashMap<&'t str, Option<&'t str>>,
}

impl<'t> Spelling<'t> {
    fn learned(old: &'t str, file: &'t str) -> Self {
        let (old_letters, file_letters) = (letters(old), letters(file));
        let (old_bounds, file_bounds) = (folded_bounds(&old_letters), folded_bounds(&file_letters));
        let in_file: HashMap<(usize, usize), &str> = file_bounds
            .windows(2)
            .zip(&file_letters)
            .map(|(pair, letter)| ((pair[0].folded, pair[1].folded), *letter))
            .collect();
        let mut spelling = Self { in_context: HashMap::new(), anywhere: HashMap::new(), lines: HashMap::new() };
        for (index, letter) in old_letters.iter().enumerate() {
            let Some(seen) = in_file.get(&(old_bounds[index].folded, old_bounds[index + 1].folded)) else { continue };
            let agree = |known: &mut Option<&str>| *known = known.filter(|known| known == seen);
            spelling.in_context.entry(context(&old_letters, index)).and_modify(agree).or_insert(Some(seen));
            spelling.anywhere.entry(letter).and_modify(agree).or_insert(Some(seen));
        }
        spelling
    }

    fn learn_lines(&mut self, old: &[&'t str], file: &[&'t str]) {
        for (old, file) in old.iter().zip(file) {
            let ((old_indent, old, _), (file_indent, file, _)) = (block::parts(old), block::parts(file));
            // Indentation by other spaces belongs to what is spelled anew.
            if old_indent == file_indent && !old.is_empty() {
                let agree = |known: &mut Option<&str>| *known = known.filter(|known| *known == file);
                self.lines.entry(old).and_modify(agree).or_insert(Some(file));
            }
        }
    }

    /// The file's spelling of a letter that the request brings in.
    fn of<'s>(&self, letters: &[&'s str], index: usize) -> Option<&'s str>
    where
        't: 's,
    {
        let letter = letters[index];
        // A single no-break space says nothing about all spaces.
        if letter == " " {
            return Some(letter);
        }
        let place = context(letters, index);
        match (self.in_context.get(&place), self.anywhere.get(letter)) {
            (_, None) => Some(letter),
            (Some(Some(known)), _) => Some(known),
            // Dashes depend on what is around them; within a word there is only the hyphen.
            (_, Some(Some(known))) if letter != "-" || *known == letter => Some(known),
            _ if letter == "-" && place.1 == Beside::Word && place.2 == Beside::Word => Some(letter),
            _ => None,
        }
    }
}

fn context<'l>(letters: &[&'l str], index: usize) -> (&'l str, Beside, Beside) {
    let before = index.checked_sub(1).and_then(|before| letters.get(before));
    (letters[index], Beside::of(before), Beside::of(letters.get(index + 1)))
}

/// Base characters with the marks that combine with them; three dots are one letter, as the ellipsis is.
fn letters(text: &str) -> Vec<&str> {
    let mut letters = Vec::new();
    let mut start = 0;
    let mut dots_end = 0;
    for (at, character) in text.char_indices() {
        // Hangul vowels and finals compose with what stands before them although they are no marks.
        let joins = canonical_combining_class(character) != 0 || matches!(character, '\u{1160}'..='\u{11FF}');
        if at > 0 && !joins && at >= dots_end {
            letters.push(&text[start..at]);
            start = at;
        }
        if at >= dots_end && text[at..].starts_with("...") {
            dots_end = at + 3;
        }
    }
    if !text.is_empty() {
        letters.push(&text[start..]);
    }
    letters
}

/// An offset in a text, and how long the text before it is when folded.
struct Bound {
    real: usize,
    folded: usize,
}

/// The bounds of letters, the end included.
fn folded_bounds(letters: &[&str]) -> Vec<Bound> {
    let mut bounds = vec![Bound { real: 0, folded: 0 }];
    let (mut real, mut folded) = (0, 0);
    for letter in letters {
        real += letter.len();
        folded += letter.nfc().map(|one| plain(one).map_or(one.len_utf8(), str::len)).sum::<usize>();
        bounds.push(Bound { real, folded });
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::{Spelling, graft};
    use crate::edit::{
        Strategy::Typography,
        trial::{assert_ambiguous, assert_edited, assert_missed},
    };

    #[test]
    fn plain_text_matches_typographic_lines_which_keep_what_does_not_change() {
        assert_edited(
            "He said “hello” – it’s fine…\nend\n",
            "He said \"hello\" - it's fine...\nend\n",
            "He said \"hello\" - it's good...\nend\n",
            Typography,
            "He said “hello” – it’s good…\nend\n",
        );
        assert_edited("key:\u{a0}value one\n", "key: value one", "key: value two", Typography, "key:\u{a0}value two\n");
    }

    #[test]
    fn typographic_text_matches_plain_lines_which_stay_plain() {
        assert_edited("say(\"hi\", 'x')\n", "say(“hi”, ‘x’)\n", "say(“ho”, ‘x’)\n", Typography, "say(\"ho\", 'x')\n");
    }

    #[test]
    fn the_normal_form_of_letters_does_not_matter_and_stays_the_files() {
        assert_edited("cafe\u{301} noir\n", "caf\u{e9} noir\n", "caf\u{e9} blanc\n", Typography, "cafe\u{301} blanc\n");
        assert_edited("caf\u{e9} noir\n", "cafe\u{301} noir\n", "cafe\u{301} vert\n", Typography, "caf\u{e9} vert\n");
    }

    #[test]
    fn lines_that_do_not_change_keep_every_byte() {
        assert_edited(
            "a “b” c\nplain 1\n",
            "a \"b\" c\nplain 1\n",
            "a \"b\" c\nplain 2\nx\n",
            Typography,
            "a “b” c\nplain 2\nx\n",
        );
    }

    #[test]
    fn the_request_may_change_the_typography_itself() {
        assert_edited("it’s “so”\n", "it's \"so\"\n", "it's “so”, really\n", Typography, "it’s “so”, really\n");
    }

    #[test]
    fn a_fragment_is_not_widened_and_two_places_are_ambiguous() {
        assert_missed("say “hello there” now\n", "\"hello there\"", "x");
        assert_eq!(assert_ambiguous("a “bcd”\na “bcd”\n", "a \"bcd\"\n", "x\n"), [1, 2]);
    }

    #[test]
    fn of_lines_that_read_alike_but_are_spelled_apart_nobody_can_tell_which_one_moved() {
        let (text, old) = ("  f(a,\u{a0}b)\nif c:\n    f(a, b)\n", "  f(a, b)\nif c:\n    f(a, b)\n");
        assert_missed(text, old, "x:\n    f(a, b)\n  if c:\n      f(a, b)\n");
        assert_edited(text, old, &old.replace("if c", "if d"), Typography, &text.replace("if c", "if d"));
    }

    #[test]
    fn new_characters_are_spelled_as_the_file_spells_such_ones() {
        assert_edited("a b c\n", "a\u{a0}b\u{a0}c\n", "a\u{a0}b\u{a0}c\n\u{a0}d\u{a0}e\n", Typography, "a b c\n d e\n");
        assert_edited(
            "say “yes” now\n",
            "say \"yes\" now\n",
            "say \"yes\" or \"no\" now\n",
            Typography,
            "say “yes” or “no” now\n",
        );
        assert_edited("one – two\n", "one - two\n", "one - two x-ray\n", Typography, "one – two x-ray\n");
    }

    #[test]
    fn lines_that_are_only_indented_anew_keep_every_character() {
        assert_edited(
            "a\u{a0}b c\nx\u{a0}y\n",
            "a b c\nx y\n",
            "if q:\n  a b c\n  x y\n",
            Typography,
            "if q:\n  a\u{a0}b c\n  x\u{a0}y\n",
        );
    }

    #[test]
    fn three_dots_are_never_cut_apart() {
        assert_edited(
            "1, 2, 3, …, 0*x, 1*x\n2*x, 3*x, …\n",
            "1, 2, 3, ..., 0*x, 1*x\n2*x, 3*x, ...\n",
            "1, 2, 3, ..., 0*some.thing, 1*some.thing\n2*some.thing, 3*some.thing, ...\n",
            Typography,
            "1, 2, 3, …, 0*some.thing, 1*some.thing\n2*some.thing, 3*some.thing, …\n",
        );
    }

    #[test]
    fn a_space_before_what_is_put_in_stays() {
        assert_edited("foo1\n)\u{a0}{\n", "foo1\n) {\n", "foo1\n) { // so\n", Typography, "foo1\n)\u{a0}{ // so\n");
    }

    #[test]
    fn lines_that_read_alike_do_not_mislead_to_another_line() {
        assert_edited(
            "a1\n#\nb\u{a0}c\n  d\n  #\n",
            "a1\n#\nb c\n  d\n  #\n",
            "if:\n  a1\n  #\n  b c\n    d\n    #\n",
            Typography,
            "if:\n  a1\n  #\n  b\u{a0}c\n    d\n    #\n",
        );
    }

    #[test]
    fn indentation_by_no_break_spaces_is_indentation() {
        assert_edited(
            "    foo1 {\n",
            "\u{a0}\u{a0}\u{a0}\u{a0}foo1\u{a0}{\n",
            "when:\n\t\u{a0}\u{a0}\u{a0}\u{a0}foo1\u{a0}{\n",
            Typography,
            "when:\n\t    foo1 {\n",
        );
    }

    #[test]
    fn a_line_written_anew_takes_no_space_from_the_one_it_replaces() {
        assert_edited("return\u{a0}Err(x)\n", "return Err(x)\n", "done = go(1)\n", Typography, "done = go(1)\n");
        assert_edited("a\u{a0}= [first]\n", "a = [first]\n", "b = go(1)\n", Typography, "b = go(1)\n");
        assert_edited(
            "const\u{a0}N: u8 = 3;\n",
            "const N: u8 = 3;\n",
            "replacement = go(1)\n",
            Typography,
            "replacement = go(1)\n",
        );
    }

    #[test]
    fn a_quote_of_which_nobody_can_tell_the_form_refuses_the_match() {
        assert_missed("say “yes” now\n", "say \"yes\" now\n", "say \"yes\" now \" \n");
    }

    #[test]
    fn grafting_changes_only_what_the_request_changes() {
        let graft = |old, file, new| graft(old, file, new, &Spelling::learned(old, file));
        assert_eq!(graft("\"a\" and \"b\"", "“a” and “b”", "\"a\" or \"c\"").unwrap(), "“a” or “c”");
        assert_eq!(graft("x...", "x…", "y...").unwrap(), "y…");
    }
}
