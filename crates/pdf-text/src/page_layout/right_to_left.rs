//! Hebrew and Arabic, whose letters most writers draw in the order of their places on the line.
//!
//! An approximation of <https://www.unicode.org/reports/tr9/> backwards: good for lines of one direction with numbers
//! and words of another one.

/// Whether a character is of a script that is written from right to left.
pub(super) fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// A line drawn from left to right, as it is read.
pub(super) fn in_reading_order(line: &str) -> String {
    let mut read = String::with_capacity(line.len());
    // Numbers and words of other scripts keep their order; so do the spaces within several such words.
    let mut kept = String::new();
    let mut between = String::new();
    for character in line.chars().rev() {
        let character = mirrored(character);
        if is_right_to_left(character) {
            flush(&mut read, &mut kept, &mut between);
            read.push(character);
        } else if character.is_alphanumeric() {
            kept.extend(between.drain(..));
            kept.push(character);
        } else if kept.is_empty() {
            read.push(character);
        } else {
            between.push(character);
        }
    }
    flush(&mut read, &mut kept, &mut between);
    read
}

fn flush(read: &mut String, kept: &mut String, between: &mut String) {
    read.extend(kept.chars().rev());
    kept.clear();
    read.extend(between.drain(..));
}

/// A bracket that is drawn opening to the left closes what is read before it.
fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_turned_and_numbers_are_not() {
        assert_eq!(in_reading_order("םולש"), "שלום");
        assert_eq!(in_reading_order("2024 תנש םולש"), "שלום שנת 2024");
        assert_eq!(in_reading_order("ב PDF file א"), "א PDF file ב");
        assert_eq!(in_reading_order("(ב)א"), "א(ב)");
        assert_eq!(in_reading_order("3.14 א"), "א 3.14");
    }
}
