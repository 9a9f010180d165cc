//! Which difference between two lines is a typo, and which one a difference in meaning.

use std::{cell::RefCell, collections::HashMap};

use rapidfuzz::distance::{levenshtein, osa};

use crate::interpretation::LineEdit;

/// Pairs of lines compared in all runs of changed ones.
const MAX_PAIRS: usize = 10_000;

/// For each line of `old` that changes those of `new` in its place of which it may be a misspelt form; none beyond a
/// bound on what is compared.
pub(super) fn corrected<S: AsRef<str>>(edit: &LineEdit<'_>, old: &[S], new: &[S]) -> Vec<Vec<usize>> {
    let mut corrected = vec![Vec::new(); old.len()];
    let mut pairs = MAX_PAIRS;
    for (_, from, to) in edit.changes().filter(|(is_kept, ..)| !is_kept) {
        let Some(left) = pairs.checked_sub(from.len() * to.len()) else { continue };
        pairs = left;
        for index in from {
            let is_correction = |to: &usize| is_typo(old[index].as_ref(), new[*to].as_ref());
            corrected[index] = to.clone().filter(is_correction).collect();
        }
    }
    corrected
}

/// Words looked for in the whole file.
const MAX_WORDS: usize = 64;

/// Marks that start a line of comment, where fillers may drift, whatever follows.
const COMMENT_MARKS: [&str; 3] = ["//", "/*", "<!--"];

/// Marks that do so only in front of a space or nothing: `#[cfg]`, `*pointer` and `--count` are code.
const COMMENTS_BEFORE_SPACE: [&str; 4] = ["#", "*", "--", ";"];

/// Words that a comment may have or lack and still say the same.
const FILLER_WORDS: [&str; 16] =
    ["a", "all", "an", "and", "are", "be", "for", "in", "is", "it", "of", "on", "that", "the", "this", "to"];

const C_DIRECTIVES: [&str; 13] = [
    "define", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "undef", "pragma", "error", "warning",
    "line",
];

/// Whether one line is a misremembered form of the other rather than one that says something else. A word that
/// `is_known` in the file is that word and no slip for another.
pub(super) fn is_slip(old: &str, file: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let (mut old_words, mut file_words) = (words(old), words(file));
    if is_comment(old) && is_comment(file) {
        for words in [&mut old_words, &mut file_words] {
            words.retain(|word| !FILLER_WORDS.contains(word));
        }
    }
    operators(old).eq(operators(file))
        && brackets(old).eq(brackets(file))
        && old_words.len() == file_words.len()
        && old_words.iter().zip(&file_words).all(|(old, file)| old == file || is_misspelt(old, file) && !is_known(old))
}

fn is_comment(line: &str) -> bool {
    if COMMENT_MARKS.iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let rest = COMMENTS_BEFORE_SPACE.iter().find_map(|mark| line.strip_prefix(mark));
    rest.is_some_and(|rest| {
        let is_directive =
            line.starts_with('#') && rest.split_whitespace().next().is_some_and(|word| C_DIRECTIVES.contains(&word));
        (rest.is_empty() || rest.starts_with(char::is_whitespace)) && !is_directive
    })
}

/// Whether two names are likely the same one: each of their parts is, so that `cb_get_t` is not `cb_set_t`, nor
/// `unlock_all` `lock_all`.
fn is_misspelt(old: &str, file: &str) -> bool {
    let (old, file) = (parts_of(old), parts_of(file));
    old.len() == file.len() && old.iter().zip(&file).all(|(old, file)| old == file || is_misspelt_part(old, file))
}

/// Whether one line is likely a misspelt form of another that the request has as well, so that the difference is known
/// to be one: a letter or two in a word, or what is between words. Numbers and operators are never such, and what is in
/// front of the first word or after the last may belong to the next line.
fn is_typo(old: &str, new: &str) -> bool {
    let (old_words, new_words) = (words(old), words(new));
    let is_typing = |(old, new): (&&str, &&str)| old == new || is_mistyped(old, new);
    old != new
        && old.len().max(new.len()) <= MAX_LINE_BYTES
        && ends(old) == ends(new)
        && operators(old).eq(operators(new))
        && old_words.len() == new_words.len()
        && old_words.iter().zip(&new_words).all(is_typing)
        && osa::distance(old.chars(), new.chars()) <= MAX_TYPOS
}

fn ends(line: &str) -> (&str, &str) {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    let rest = line.trim_start_matches(|character| !is_letter(character));
    let end = rest.trim_end_matches(|character| !is_letter(character)).len();
    (&line[..line.len() - rest.len()], &rest[end..])
}

/// Longest line in which typing errors are looked for, in bytes.
const MAX_LINE_BYTES: usize = 1000;

/// Letters that a line may have been mistyped in.
const MAX_TYPOS: usize = 3;

fn is_mistyped(old: &str, new: &str) -> bool {
    let has_digit = |word: &str| word.chars().any(|one| one.is_ascii_digit());
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let (a, b) = (old.chars().count(), new.chars().count());
    let distance = osa::distance(old.chars(), new.chars());
    let allowed = if a.min(b) < 8 { 1 } else { 2 };
    // In a short word another letter makes another word.
    let is_other = a == b && a < 4 && levenshtein::distance(old.chars(), new.chars()) == 1;
    distance <= allowed
        && a.max(b) > 1
        && !is_other
        && (!has_digit(old) && !has_digit(new) || digits(old) == digits(new))
}

/// Whether no word of `old` that the other line lacks `is_known` in the file.
pub(super) fn is_unknown(old: &str, file: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    words(old).iter().zip(words(file)).all(|(old, file)| *old == file || !is_known(old))
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

pub(super) struct Words<'t> {
    text: &'t str,
    known: RefCell<HashMap<String, bool>>,
}

impl<'t> Words<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, known: RefCell::default() }
    }

    /// Whether the file has `word`. Beyond the bound on looking it counts as there, which makes it no slip.
    pub(super) fn has(&self, word: &str) -> bool {
        let mut known = self.known.borrow_mut();
        if let Some(has) = known.get(word) {
            return *has;
        }
        known.len() >= MAX_WORDS || *known.entry(word.to_owned()).or_insert_with(|| has_word(self.text, word))
    }
}

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

/// Brackets: a line with more of one than another line ends elsewhere, as `return }` or `f(a))` does.
fn brackets(line: &str) -> impl Iterator<Item = char> + '_ {
    line.chars().filter(|character| "()[]{}".contains(*character))
}

/// The characters that carry meaning, also for what is after them; commas, quotes and spaces do not part two versions
/// of a line.
fn operators(line: &str) -> impl Iterator<Item = char> + '_ {
    line.chars().filter(|character| "+-*/%<>=!&|^~?@$\\".contains(*character))
}

#[cfg(test)]
mod tests;
