//! How a file spells what a request says in other characters: quotes, dashes, spaces, normal forms.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use similar::DiffOp;
use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

use crate::interpretation::{Hunk, LineEdit};
use crate::line_parts::{self, contents, without_trailing_whitespace};
use crate::typography::{self, folded, joined, plain};
use crate::{diff, search::Site};

/// Whether lines that read alike in the request are spelled in several ways in the file and do not all stay: then
/// nobody can tell which of them is which.
pub(super) fn is_unclear(site: Site<'_, '_>) -> bool {
    let edit = site.edit;
    let mut spelled: HashMap<&str, &str> = HashMap::new();
    let mut unclear: HashSet<&str> = HashSet::new();
    for (old, file) in edit.old.iter().zip(site.file_lines()) {
        let (old, file) = (line_parts::content(old), line_parts::content(file));
        if *spelled.entry(old).or_insert(file) != file {
            unclear.insert(old);
        }
    }
    let has_unclear = |lines: &[&str]| lines.iter().any(|line| unclear.contains(line_parts::content(line)));
    edit.changes().any(|(is_kept, old, new)| !is_kept && (has_unclear(&edit.old[old]) || has_unclear(&edit.new[new])))
}

/// Whether lines of the request end with unusual spaces: how many of them are meant nobody can tell.
pub(super) fn has_unusual_ends(edit: &LineEdit<'_>) -> bool {
    let is_unusual = |line: &&str| {
        let last = without_trailing_whitespace(line).chars().next_back();
        last.is_some_and(|last| plain(last) == Some(" ")) && !typography::content(line).is_empty()
    };
    edit.old.iter().chain(&edit.new).any(is_unusual)
}

/// The new lines of a hunk without white space at their ends, and what they share with its old lines spelled as in the
/// file.
pub(super) fn respelled(hunk: &Hunk<'_>, spelling: &Spelling<'_>) -> Option<Vec<String>> {
    // A line that is only reindented is the file's.
    let known = |new: &&str| {
        let (indent, content, _) = line_parts::parts(new);
        let file = spelling.line(content)?;
        Some(format!("{indent}{file}"))
    };
    let mut bodies = Vec::with_capacity(hunk.new.len());
    for op in diff::ops(&contents(hunk.old), &contents(hunk.new), DIFF_TIME) {
        let (old, new) = (op.old_range(), &hunk.new[op.new_range()]);
        if let Some(lines) = new.iter().map(known).collect::<Option<Vec<String>>>() {
            bodies.extend(lines);
        } else {
            let lines = reworded(&hunk.old[old.clone()], &hunk.file[old], new, spelling)?;
            bodies.extend(lines.into_iter().zip(new).map(|(line, new)| known(new).unwrap_or(line)));
        }
    }
    Some(bodies)
}

fn reworded(old: &[&str], file: &[&str], new: &[&str], spelling: &Spelling<'_>) -> Option<Vec<String>> {
    if new.is_empty() {
        return Some(Vec::new());
    }
    let count = new.len();
    let new = joined(new);
    let respelled = transfer_spelling(&joined(old), &joined(file), &new, spelling)?;
    // Some scripts compose across what is taken for letters here; then nothing is certain.
    let is_sure = folded(&respelled) == folded(&new) && respelled.matches('\n').count() + 1 == count;
    is_sure.then(|| respelled.split('\n').map(str::to_owned).collect())
}

/// Time for the comparison of one hunk's old and new characters or lines; beyond it more of the new ones are kept.
const DIFF_TIME: Duration = Duration::from_millis(50);

/// `new`, with `file`'s characters wherever `new` repeats `old`, of which `file` is another spelling, and what is
/// new spelled alike. `None` where that is unclear.
fn transfer_spelling(old: &str, file: &str, new: &str, spelling: &Spelling<'_>) -> Option<String> {
    let (old_clusters, new_clusters) = (clusters(old), clusters(new));
    let (file_clusters, old_bounds) = (clusters(file), folded_bounds(&old_clusters));
    let file_bounds = folded_bounds(&file_clusters).into_iter();
    let ends = file_clusters.iter().scan(0, |end, cluster| {
        *end += cluster.len();
        Some(*end)
    });
    // Folded length up to a cluster of `file` → its offset in `file`.
    let in_file: HashMap<usize, usize> = file_bounds.zip(std::iter::once(0).chain(ends)).collect();
    let place = |index: usize| in_file.get(&old_bounds[index]).copied();
    let mut result = String::with_capacity(new.len());
    for op in diff::ops(&old_clusters, &new_clusters, DIFF_TIME) {
        let repeated = match op {
            DiffOp::Equal { .. } => place(op.old_range().start).zip(place(op.old_range().end)),
            _ => None,
        };
        // A space between two new words is repeated by chance; theirs is the one that was typed. So is a quote that now
        // is next to a word: it may open what the other one closed.
        let by_chance = |offset: usize| {
            let (old, new) = (op.old_range().start + offset, op.new_range().start + offset);
            match new_clusters[new] {
                "\"" | "'" => gains_word(context(&old_clusters, old), context(&new_clusters, new)),
                space => space.trim().is_empty() && !are_alike(&old_clusters, old, &new_clusters, new),
            }
        };
        if let Some((start, end)) = repeated.filter(|_| !(0..op.new_range().len()).any(by_chance)) {
            result.push_str(&file[start..end]);
            continue;
        }
        for (offset, index) in op.new_range().enumerate() {
            let bounds = op.old_range().start + offset;
            let own = repeated.filter(|_| !by_chance(offset)).and_then(|_| place(bounds).zip(place(bounds + 1)));
            match own {
                Some((start, end)) => result.push_str(&file[start..end]),
                None => result.push_str(spelling.of(&new_clusters, index)?),
            }
        }
    }
    Some(result)
}

/// Whether there is a word next to a quote where there was none.
fn gains_word((_, old_before, old_after): Context<'_>, (_, before, after): Context<'_>) -> bool {
    let is_gained = |old, new| new == Neighbour::Word && old != Neighbour::Word;
    is_gained(old_before, before) || is_gained(old_after, after)
}

/// Whether two spaces have the same words on both sides, or on one a word that is more than punctuation.
fn are_alike(old: &[&str], old_space: usize, new: &[&str], new_space: usize) -> bool {
    let (old, new) = (words_around(old, old_space), words_around(new, new_space));
    let is_word = |clusters: &[&str]| clusters.iter().any(|cluster| cluster.starts_with(char::is_alphanumeric));
    let (before, after) = (old.0 == new.0, old.1 == new.1);
    before && (after || is_word(&old.0)) || after && is_word(&old.1)
}

fn words_around<'l>(clusters: &[&'l str], space: usize) -> (Vec<&'l str>, Vec<&'l str>) {
    let is_word = |cluster: &&str| !cluster.trim().is_empty();
    let before = clusters[..space].iter().rev().copied().take_while(is_word).collect();
    (before, clusters[space + 1..].iter().copied().take_while(is_word).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Neighbour {
    Space,
    Word,
    Other,
}

impl Neighbour {
    fn of(cluster: Option<&&str>) -> Self {
        match cluster.and_then(|cluster| cluster.chars().next()) {
            None => Self::Space,
            Some(one) if one.is_whitespace() => Self::Space,
            Some(one) if one.is_alphanumeric() => Self::Word,
            Some(_) => Self::Other,
        }
    }
}

/// How the file spells the clusters of `old`: by cluster and what is around it, and by cluster alone. `None`
/// where it does so in several ways.
#[derive(Default)]
pub(super) struct Spelling<'t> {
    in_context: HashMap<Context<'t>, Option<&'t str>>,
    anywhere: HashMap<&'t str, Option<&'t str>>,
    lines: HashMap<&'t str, Option<&'t str>>,
    /// Classes of typographic characters of `old` for some of which the file has plain ones.
    plain: [bool; MAX_CLASSES],
    kept: [bool; MAX_CLASSES],
    /// Classes of typographic characters that the file has anywhere.
    in_file: [bool; MAX_CLASSES],
}

/// The classes of typographic characters for which the file (the second of each pair of lines, and its `text`) has
/// plain ones; `None` where that is unclear for one that `new` has.
pub(super) fn plain_classes(pairs: &[(&str, &str)], new: &[&str], text: &str) -> Option<[bool; MAX_CLASSES]> {
    let (mut typed, mut kept) = ([false; MAX_CLASSES], [false; MAX_CLASSES]);
    let mut seen: HashSet<char> = HashSet::new();
    for (old, file) in pairs {
        let (in_old, in_file) = (classes(old), classes(file));
        for class in 0..MAX_CLASSES {
            typed[class] |= in_old[class] && !in_file[class];
            kept[class] |= in_file[class];
        }
        seen.extend(old.chars().filter(|one| !one.is_ascii()));
    }
    if (0..MAX_CLASSES).any(|class| typed[class] && kept[class]) {
        return None;
    }
    let unseen = || new.iter().flat_map(|line| line.chars()).filter(|one| !one.is_ascii() && !seen.contains(one));
    if !typed.contains(&true) || unseen().all(|one| class(one).is_none()) {
        return Some(typed);
    }
    let in_file = classes(text);
    for (one, class) in unseen().filter_map(|one| Some((one, class(one)?))) {
        if class == MAX_DASHES || is_wide_space(one) || !typed[class] && in_file[class] {
            return None;
        }
        typed[class] = true;
    }
    Some(typed)
}

/// A line with plain characters for the typographic ones of these classes.
pub(super) fn plained(line: &str, plained: [bool; MAX_CLASSES]) -> String {
    let written = |one: char| class(one).filter(|class| plained[*class]).and_then(|_| plain(one));
    typography::replaced(line.len(), line.chars(), written)
}

/// Kinds of typographic characters that whatever produces them produces together.
const MAX_CLASSES: usize = 3;

/// Dashes and dots, of which there are several that people write.
const MAX_DASHES: usize = 1;

fn class(character: char) -> Option<usize> {
    Some(match plain(character)? {
        "'" | "\"" => 0,
        "-" | "..." => MAX_DASHES,
        _ => 2,
    })
}

/// A space that somebody chose, and no client writes for a plain one: the ideographic one, and those of a certain width.
fn is_wide_space(character: char) -> bool {
    matches!(character, '\u{2000}'..='\u{200A}' | '\u{205F}' | '\u{3000}')
}

/// The plain like and the class of a cluster that is a single typographic character.
fn typographic(cluster: &str) -> Option<(&'static str, usize)> {
    let mut characters = cluster.chars();
    let (Some(one), None) = (characters.next(), characters.next()) else { return None };
    Some((plain(one)?, class(one)?))
}

/// The classes of typographic characters in a text.
fn classes(text: &str) -> [bool; MAX_CLASSES] {
    let mut found = [false; MAX_CLASSES];
    if !text.is_ascii() {
        for class in text.chars().filter(|one| !one.is_ascii()).filter_map(class) {
            found[class] = true;
            if found == [true; MAX_CLASSES] {
                break;
            }
        }
    }
    found
}

impl<'t> Spelling<'t> {
    /// As the old lines and the file's show it, each given as one text and line by line; `text` is all of the file.
    pub(super) fn learned(
        (old, old_lines): (&'t str, &[&'t str]),
        (file, file_lines): (&'t str, &[&'t str]),
        text: &str,
    ) -> Self {
        let (old_clusters, file_clusters) = (clusters(old), clusters(file));
        let (old_bounds, file_bounds) = (folded_bounds(&old_clusters), folded_bounds(&file_clusters));
        let in_file: HashMap<(usize, usize), &str> =
            file_bounds.windows(2).zip(&file_clusters).map(|(pair, cluster)| ((pair[0], pair[1]), *cluster)).collect();
        let mut spelling = Self { in_file: classes(text), ..Self::default() };
        for (index, cluster) in old_clusters.iter().enumerate() {
            let Some(seen) = in_file.get(&(old_bounds[index], old_bounds[index + 1])) else { continue };
            if let Some((_, class)) = typographic(cluster) {
                spelling.plain[class] |= seen != cluster;
                spelling.kept[class] |= seen == cluster;
            }
            let agree = |known: &mut Option<&str>| *known = known.filter(|known| known == seen);
            spelling.in_context.entry(context(&old_clusters, index)).and_modify(agree).or_insert(Some(seen));
            spelling.anywhere.entry(cluster).and_modify(agree).or_insert(Some(seen));
        }
        for (old, file) in old_lines.iter().zip(file_lines) {
            let ((old_indent, old, _), (file_indent, file, _)) = (line_parts::parts(old), line_parts::parts(file));
            // Indentation by other spaces belongs to what is spelled differently.
            if old_indent == file_indent && !old.is_empty() {
                let agree = |known: &mut Option<&str>| *known = known.filter(|known| *known == file);
                spelling.lines.entry(old).and_modify(agree).or_insert(Some(file));
            }
        }
        spelling
    }

    fn of<'s>(&self, clusters: &[&'s str], index: usize) -> Option<&'s str>
    where
        't: 's,
    {
        let cluster = clusters[index];
        // The file has some of these as the request does, and some plain: which of them this one is nobody can tell.
        if typographic(cluster).is_some_and(|(_, class)| self.plain[class] && self.kept[class]) {
            return None;
        }
        // A single no-break space says nothing about all spaces.
        if cluster == " " {
            return Some(cluster);
        }
        let place = context(clusters, index);
        match (self.in_context.get(&place), self.anywhere.get(cluster)) {
            (_, None) => self.of_unseen(cluster),
            (Some(Some(known)), _) => Some(known),
            // Dashes depend on what is around them; within a word there is only the hyphen.
            (_, Some(Some(known))) if cluster != "-" || *known == cluster => Some(known),
            _ if cluster == "-" && place.1 == Neighbour::Word && place.2 == Neighbour::Word => Some(cluster),
            _ => None,
        }
    }

    /// The file's spelling of a cluster that `old` does not have: plain where the request has typographic characters
    /// for the file's plain ones, as it then has them everywhere.
    fn of_unseen<'s>(&self, cluster: &'s str) -> Option<&'s str> {
        let Some((plain, class)) = typographic(cluster) else { return Some(cluster) };
        if !self.plain.contains(&true) {
            return Some(cluster);
        }
        // Other dashes than those of `old` may be meant; those of another class say less.
        let is_doubtful = class == MAX_DASHES
            || cluster.contains(is_wide_space)
            || self.kept[class]
            || !self.plain[class] && self.in_file[class];
        (!is_doubtful).then_some(plain)
    }

    fn line(&self, content: &str) -> Option<&str> {
        self.lines.get(content).copied().flatten()
    }
}

type Context<'l> = (&'l str, Neighbour, Neighbour);

fn context<'l>(clusters: &[&'l str], index: usize) -> Context<'l> {
    let before = index.checked_sub(1).and_then(|before| clusters.get(before));
    (clusters[index], Neighbour::of(before), Neighbour::of(clusters.get(index + 1)))
}

/// Grapheme clusters, roughly (UAX #29, <https://www.unicode.org/reports/tr29/>): base characters with the marks that
/// combine with them. Three dots are one cluster, as the ellipsis is.
fn clusters(text: &str) -> Vec<&str> {
    let mut clusters = Vec::new();
    let mut start = 0;
    let mut dots_end = 0;
    for (at, character) in text.char_indices() {
        // Hangul vowels and finals compose with what is before them although they are no marks.
        let joins = canonical_combining_class(character) != 0 || matches!(character, '\u{1160}'..='\u{11FF}');
        if at > 0 && !joins && at >= dots_end {
            clusters.push(&text[start..at]);
            start = at;
        }
        if at >= dots_end && text[at..].starts_with("...") {
            dots_end = at + 3;
        }
    }
    if !text.is_empty() {
        clusters.push(&text[start..]);
    }
    clusters
}

/// How long the text up to each bound of clusters is when folded, the end included.
fn folded_bounds(clusters: &[&str]) -> Vec<usize> {
    let length = |cluster: &&str| cluster.nfc().map(|one| plain(one).map_or(one.len_utf8(), str::len)).sum::<usize>();
    let mut folded = 0;
    let ends = clusters.iter().map(|cluster| {
        folded += length(cluster);
        folded
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::{Spelling, transfer_spelling};

    #[test]
    fn transfer_changes_only_what_the_request_changes() {
        let transfer_spelling =
            |old, file, new| transfer_spelling(old, file, new, &Spelling::learned((old, &[]), (file, &[]), file));
        assert_eq!(transfer_spelling("\"a\" and \"b\"", "“a” and “b”", "\"a\" or \"c\"").unwrap(), "“a” or “c”");
        assert_eq!(transfer_spelling("x...", "x…", "y...").unwrap(), "y…");
        assert_eq!(transfer_spelling("f(a,\u{a0}b)", "f(a, b)", "f(a,\u{a0}\u{a0}c)").unwrap(), "f(a,  c)");
        assert_eq!(transfer_spelling("f(a,\u{a0}b)", "f(a, b)", "f(a,\u{a0}`\u{3000}`)"), None);
    }
}
