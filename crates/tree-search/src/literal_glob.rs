//! Globs that are names: `app/[slug]/page.tsx` is both the name of a file and a pattern for `app/s/page.tsx`.
//!
//! Frameworks name files so, and models pass such names as they saw them. Read both ways a glob finds what it
//! would find as a pattern, and the file of that very name.

/// What means something in a glob besides itself.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// The glob, and what else it may mean: brackets as brackets in a pattern (`app/[slug]/*.tsx`), and all of it as
/// a name.
pub(super) fn interpretations(glob: &str) -> Vec<String> {
    let mut interpretations = vec![glob.to_owned()];
    if glob.contains(['[', ']', '{', '}', '\\']) {
        for other in [with_brackets(glob), escaped(glob)] {
            if !interpretations.contains(&other) {
                interpretations.push(other);
            }
        }
    }
    interpretations
}

/// The glob that matches just this text.
pub(super) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len() + 8), |mut out, letter| {
        if SPECIAL.contains(&letter) {
            out.push('\\');
        }
        out.push(letter);
        out
    })
}

/// The glob with its brackets as text.
fn with_brackets(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len() + 8);
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        if letter == '[' || letter == ']' {
            out.push('\\');
        }
        out.push(letter);
        if letter == '\\' {
            out.extend(letters.next());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_globs_with_brackets_have_literal_interpretations() {
        assert_eq!(interpretations("src/*.rs"), ["src/*.rs"]);
        assert_eq!(interpretations("*.{a,b}"), ["*.{a,b}", r"\*.\{a,b\}"]);
        assert_eq!(interpretations("[s]/*"), ["[s]/*", r"\[s\]/*", r"\[s\]/\*"]);
        assert_eq!(interpretations("[s]/x"), ["[s]/x", r"\[s\]/x"]);
        assert_eq!(interpretations(r"\[s]/x"), [r"\[s]/x", r"\[s\]/x", r"\\\[s\]/x"]);
    }
}
