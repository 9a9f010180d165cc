//! How a file spells what a request says in other characters: quotes, dashes, spaces, normal forms.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use similar::{Algorithm, DiffOp};
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

use super::{block, diff, typography::plain};

/// Time for the comparison of one hunk's old and new characters; beyond it more of the new ones are kept.
const DIFF_TIME: Duration = Duration::from_millis(50);

/// `new`, with `file`'s characters wherever `new` repeats `old`, of which `file` is another spelling, and what is
/// new spelled alike. `None` where that cannot be told.
pub(super) fn graft(old: &str, file: &str, new: &str, spelling: &Spelling<'_>) -> Option<String> {
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
pub(super) struct Spelling<'t> {
    in_context: HashMap<(&'t str, Beside, Beside), Option<&'t str>>,
    anywhere: HashMap<&'t str, Option<&'t str>>,
    /// Whole lines without their indentation, in which both agree.
    lines: HashMap<&'t str, Option<&'t str>>,
    /// What became of the typographic characters of `old`, by their [`class`].
    typed: [Typed; CLASSES],
    /// Classes of typographic characters that the file has anywhere.
    in_file: [bool; CLASSES],
}

/// The classes of typographic characters for which the file (the second of each pair of lines, and its `text`) has
/// plain ones; `None` where that cannot be told for all that `new` has.
pub(super) fn plain_classes(pairs: &[(&str, &str)], new: &[&str], text: &str) -> Option<[bool; CLASSES]> {
    let (mut typed, mut kept) = ([false; CLASSES], [false; CLASSES]);
    let mut seen: HashSet<char> = HashSet::new();
    for (old, file) in pairs {
        let (in_old, in_file) = (classes(old), classes(file));
        for class in 0..CLASSES {
            typed[class] |= in_old[class] && !in_file[class];
            kept[class] |= in_file[class];
        }
        seen.extend(old.chars().filter(|one| !one.is_ascii()));
    }
    if (0..CLASSES).any(|class| typed[class] && kept[class]) {
        return None;
    }
    let unseen = || new.iter().flat_map(|line| line.chars()).filter(|one| !one.is_ascii() && !seen.contains(one));
    if !typed.contains(&true) || unseen().all(|one| class(one).is_none()) {
        return Some(typed);
    }
    let in_file = classes(text);
    for (one, class) in unseen().filter_map(|one| Some((one, class(one)?))) {
        if class == DASHES || is_wide_space(one) || !typed[class] && in_file[class] {
            return None;
        }
        typed[class] = true;
    }
    Some(typed)
}

/// A line with plain characters for the typographic ones of these classes.
pub(super) fn plained(line: &str, plained: [bool; CLASSES]) -> String {
    let written = |one: char| class(one).filter(|class| plained[*class]).and_then(|_| plain(one));
    line.chars().fold(String::with_capacity(line.len()), |mut text, one| {
        match written(one) {
            Some(plain) => text.push_str(plain),
            None => text.push(one),
        }
        text
    })
}

/// What the file has for the typographic characters of one class in `old`.
#[derive(Clone, Copy, Debug, Default)]
struct Typed {
    /// Plain ones for some of them.
    plain: bool,
    /// The same for some of them.
    kept: bool,
}

/// Kinds of typographic characters that whatever produces them produces together.
const CLASSES: usize = 3;

/// Dashes and dots, of which there are several that people write.
const DASHES: usize = 1;

/// Quotes, dashes and dots, or spaces.
fn class(character: char) -> Option<usize> {
    Some(match plain(character)? {
        "'" | "\"" => 0,
        "-" | "..." => DASHES,
        _ => 2,
    })
}

/// A space that somebody chose, and no client writes for a plain one: the ideographic one, and those of a certain width.
fn is_wide_space(character: char) -> bool {
    matches!(character, '\u{2000}'..='\u{200A}' | '\u{205F}' | '\u{3000}')
}

/// The plain like and the class of a letter that is a single typographic character.
fn typographic(letter: &str) -> Option<(&'static str, usize)> {
    let mut characters = letter.chars();
    let (Some(one), None) = (characters.next(), characters.next()) else { return None };
    Some((plain(one)?, class(one)?))
}

/// The classes of typographic characters in a text.
fn classes(text: &str) -> [bool; CLASSES] {
    let mut found = [false; CLASSES];
    if !text.is_ascii() {
        for class in text.chars().filter(|one| !one.is_ascii()).filter_map(class) {
            found[class] = true;
            if found == [true; CLASSES] {
                break;
            }
        }
    }
    found
}

impl<'t> Spelling<'t> {
    pub(super) fn learned(old: &'t str, file: &'t str, text: &str) -> Self {
        let (old_letters, file_letters) = (letters(old), letters(file));
        let (old_bounds, file_bounds) = (folded_bounds(&old_letters), folded_bounds(&file_letters));
        let in_file: HashMap<(usize, usize), &str> = file_bounds
            .windows(2)
            .zip(&file_letters)
            .map(|(pair, letter)| ((pair[0].folded, pair[1].folded), *letter))
            .collect();
        let mut spelling = Self {
            in_context: HashMap::new(),
            anywhere: HashMap::new(),
            lines: HashMap::new(),
            typed: [Typed::default(); CLASSES],
            in_file: classes(text),
        };
        for (index, letter) in old_letters.iter().enumerate() {
            let Some(seen) = in_file.get(&(old_bounds[index].folded, old_bounds[index + 1].folded)) else { continue };
            if let Some((_, class)) = typographic(letter) {
                let typed = &mut spelling.typed[class];
                (typed.plain, typed.kept) = (typed.plain || seen != letter, typed.kept || seen == letter);
            }
            let agree = |known: &mut Option<&str>| *known = known.filter(|known| known == seen);
            spelling.in_context.entry(context(&old_letters, index)).and_modify(agree).or_insert(Some(seen));
            spelling.anywhere.entry(letter).and_modify(agree).or_insert(Some(seen));
        }
        spelling
    }

    pub(super) fn learn_lines(&mut self, old: &[&'t str], file: &[&'t str]) {
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
            (_, None) => self.of_unseen(letter),
            (Some(Some(known)), _) => Some(known),
            // Dashes depend on what is around them; within a word there is only the hyphen.
            (_, Some(Some(known))) if letter != "-" || *known == letter => Some(known),
            _ if letter == "-" && place.1 == Beside::Word && place.2 == Beside::Word => Some(letter),
            _ => None,
        }
    }
}

impl Spelling<'_> {
    /// The file's spelling of a letter that `old` does not have: plain where the request has typographic characters
    /// for the file's plain ones, as it then has them wherever it writes.
    fn of_unseen<'s>(&self, letter: &'s str) -> Option<&'s str> {
        let Some((plain, class)) = typographic(letter) else { return Some(letter) };
        let Typed { plain: is_plain, kept } = self.typed[class];
        if !self.typed.iter().any(|typed| typed.plain) {
            return Some(letter);
        }
        // Other dashes than those of `old` may be meant; those of another class say less.
        let is_doubtful = class == DASHES || letter.contains(is_wide_space) || kept || !is_plain && self.in_file[class];
        (!is_doubtful).then_some(plain)
    }

    /// The file's form of a whole line, given without its indentation.
    pub(super) fn line(&self, content: &str) -> Option<&str> {
        self.lines.get(content).copied().flatten()
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

    #[test]
    fn grafting_changes_only_what_the_request_changes() {
        let graft = |old, file, new| graft(old, file, new, &Spelling::learned(old, file, file));
        assert_eq!(graft("\"a\" and \"b\"", "“a” and “b”", "\"a\" or \"c\"").unwrap(), "“a” or “c”");
        assert_eq!(graft("x...", "x…", "y...").unwrap(), "y…");
        assert_eq!(graft("f(a,\u{a0}b)", "f(a, b)", "f(a,\u{a0}\u{a0}c)").unwrap(), "f(a,  c)");
        assert_eq!(graft("f(a,\u{a0}b)", "f(a, b)", "f(a,\u{a0}`\u{3000}`)"), None);
    }
}
