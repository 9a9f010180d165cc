//! Accents that are drawn as separate glyphs above a letter.

use unicode_normalization::char::compose;

/// Accents as characters with a width, and in the same order as marks on the letter before them.
const ACCENTS: &str = "`´ˆ˜¯˘˙¨˚˝ˇ¸";
const MARKS: &str = "\u{300}\u{301}\u{302}\u{303}\u{304}\u{306}\u{307}\u{308}\u{30a}\u{30b}\u{30c}\u{327}";

pub(super) fn is_accent(character: char) -> bool {
    ACCENTS.contains(character)
}

/// A letter with its accent: one character where there is one, else the letter and the mark.
pub(super) fn composed(letter: char, accent: char) -> impl Iterator<Item = char> {
    // A dotless letter is what accents are put on.
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    let mark = ACCENTS.chars().zip(MARKS.chars()).find_map(|(listed, mark)| (listed == accent).then_some(mark));
    let whole = mark.and_then(|mark| compose(letter, mark));
    [Some(whole.unwrap_or(letter)), mark.filter(|_| whole.is_none())].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_composed_with_their_accents() {
        for (letter, accent, text) in [('e', '´', "é"), ('ı', '¨', "ï"), ('y', 'ˆ', "ŷ"), ('q', '˜', "q\u{303}")]
        {
            assert_eq!(composed(letter, accent).collect::<String>(), text);
        }
        assert!(is_accent('ˇ') && !is_accent('e'));
        assert_eq!((ACCENTS.chars().count(), MARKS.chars().count()), (12, 12));
        assert_eq!(composed('c', '¸').collect::<String>(), "ç");
    }
}
