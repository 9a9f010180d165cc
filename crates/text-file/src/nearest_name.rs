//! Which known names a misspelled one most likely means: the names that every "did you mean" offers.
//!
//! Compares names alone. What an argument of another tool means, where the letters say nothing (`start` for
//! `offset`), is a table in `tools/args`.

use std::fmt::Display;

use rapidfuzz::distance::osa;
use unicode_normalization::UnicodeNormalization as _;

/// How alike a name must be where few are known, as the arguments of a tool: two slips in a word of five. A wrong
/// offer costs little there, as the list of all names follows.
pub const ONE_OF_FEW: f64 = 0.6;
/// The same for the names of a directory, of which there may be thousands: one slip in four letters.
pub const ONE_OF_MANY: f64 = 0.75;

/// Bytes of the longest name that is compared: the longest file name that there is. The comparison takes time with
/// the product of both lengths, and `given` may be megabytes.
const MAX_NAME: usize = 255;

/// How alike two names are that one slip parts, where the longer one has three letters: `scr` for `src`. A slip in two
/// letters says nothing.
const ONE_SLIP: f64 = 2.0 / 3.0;

/// Those of `known` that `given` may mean, the most similar first, equal ones in their order. `least` is the smallest
/// similarity, where 1 is the same name up to case, Unicode form (NFKC), `-` and `_`; one slip in three letters or more
/// is always near.
///
/// # Examples
/// ```
/// use text_file::nearest_name::{ONE_OF_FEW, nearest_names};
///
/// let options = ["log", "max_output", "read_only"];
/// assert_eq!(nearest_names("maxOutput", options, ONE_OF_FEW), ["max_output"]);
/// assert_eq!(nearest_names("read-onyl", options, ONE_OF_FEW), ["read_only"]);
/// assert!(nearest_names("colour", options, ONE_OF_FEW).is_empty());
/// ```
pub fn nearest_names<N: AsRef<str>>(given: &str, known: impl IntoIterator<Item = N>, least: f64) -> Vec<N> {
    let Some(given) = GivenName::new(given) else { return Vec::new() };
    let mut near: Vec<(f64, N)> =
        known.into_iter().filter_map(|name| Some((given.similarity(name.as_ref(), least)?, name))).collect();
    // Stable: of names that are equally near the first one given comes first.
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, name)| name).collect()
}

/// A name that may be misspelled, for a comparison with many others.
#[derive(Debug)]
pub struct GivenName {
    folded: String,
}

impl GivenName {
    /// `None` for one that is too long to be a name.
    pub fn new(given: &str) -> Option<Self> {
        (given.len() <= MAX_NAME).then(|| Self { folded: folded(given) })
    }

    /// How alike `name` is, from 0 to 1; `None` if that is less than `least` and more than one slip parts them.
    ///
    /// # Examples
    /// ```
    /// use text_file::nearest_name::{GivenName, ONE_OF_MANY};
    ///
    /// let given = GivenName::new("indxe.ts").unwrap();
    /// assert!(given.similarity("index.ts", ONE_OF_MANY).is_some());
    /// assert_eq!(given.similarity("main.ts", ONE_OF_MANY), None);
    /// assert!(given.is_within("my-indxe.ts"));
    /// ```
    pub fn similarity(&self, name: &str, least: f64) -> Option<f64> {
        // Most names differ in length alone, and folding costs more than that.
        let (own, other) = (self.folded.len(), name.len());
        if other > MAX_NAME || other * 4 < own {
            return None;
        }
        let name = folded(name);
        let cutoff = osa::Args::default().score_cutoff(least.min(ONE_SLIP));
        let similarity = osa::normalized_similarity_with_args(self.folded.chars(), name.chars(), &cutoff)?;
        let is_near = similarity >= least || osa::distance(self.folded.chars(), name.chars()) == 1;
        is_near.then_some(similarity)
    }

    /// Whether it is a part of `name`, by the same letters.
    pub fn is_within(&self, name: &str) -> bool {
        folded(name).contains(&self.folded)
    }
}

/// `did you mean a or b?`; `None` without names.
pub fn did_you_mean(names: impl IntoIterator<Item = impl Display>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

fn folded(name: &str) -> String {
    // What follows says the same of such a name, and takes ten times as long.
    if name.is_ascii() {
        let letters = name.bytes().filter(|letter| !matches!(letter, b'-' | b'_'));
        return letters.map(|letter| char::from(letter.to_ascii_lowercase())).collect();
    }
    folded_any(name)
}

fn folded_any(name: &str) -> String {
    name.nfkc().filter(|letter| !matches!(letter, '-' | '_')).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_similar_name_comes_first() {
        let known = ["old_strings", "new_string", "old_string"];
        assert_eq!(nearest_names("oldString", known, ONE_OF_FEW), ["old_string", "old_strings", "new_string"]);
    }

    #[test]
    fn case_unicode_form_and_separators_are_no_difference() {
        for (given, known) in [("README", "readme"), ("cafe\u{301}", "caf\u{e9}"), ("my-file", "my_file")] {
            assert_eq!(nearest_names(given, [known], 1.0), [known]);
        }
    }

    #[test]
    fn one_slip_in_four_letters_is_near_among_many() {
        assert_eq!(nearest_names("mian.rs", ["main.rs"], ONE_OF_MANY), ["main.rs"]);
        assert!(nearest_names("mnia.rs", ["main.rs"], ONE_OF_MANY).is_empty());
    }

    #[test]
    fn one_slip_is_near_in_three_letters_and_says_nothing_in_two() {
        for (given, known) in [("scr", "src"), ("lob", "lib"), ("sr", "src"), ("a.r", "a.rs"), ("srcs", "src")] {
            assert_eq!(nearest_names(given, [known], ONE_OF_MANY), [known]);
        }
        assert!(nearest_names("ab", ["ac"], ONE_OF_MANY).is_empty());
        assert!(nearest_names("abc", ["xyc"], ONE_OF_FEW).is_empty());
    }

    #[test]
    fn overlong_name_is_not_compared() {
        assert!(nearest_names(&"a".repeat(MAX_NAME + 1), ["a".repeat(MAX_NAME + 1)], ONE_OF_FEW).is_empty());
    }

    #[test]
    fn ascii_names_are_folded_as_all_others() {
        let all: String = (0..128_u8).map(char::from).collect();
        for name in [all.as_str(), "Read-Me_2.TXT", ""] {
            assert_eq!(folded(name), folded_any(name), "{name:?}");
        }
    }
}
