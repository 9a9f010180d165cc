//! The part of a line that is shown: at most [`WIDTH`] characters, around the match.
//!
//! Pure. Of a long line only the characters before the match are counted, for its column.

use std::{borrow::Cow, ops::Range};

/// Characters of a printed line, the marks of cut ends included.
pub(super) const WIDTH: usize = 200;
/// Characters shown before a match that does not fit from the line's beginning.
const LEAD: usize = 60;
/// Bytes of the longest UTF-8 character.
const CHAR: usize = 4;

/// What is shown of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Invalid UTF-8 is U+FFFD.
    pub(super) text: String,
    /// Where the line is cut: the column at which the match begins, in characters from 1.
    pub(super) cut_at: Option<u64>,
}

/// `line` without its line break, cut around `hit` (a range of bytes) where it is too long; from
/// its beginning where there is no hit.
pub(super) fn excerpt(line: &[u8], hit: impl FnOnce(&[u8]) -> Option<Range<usize>>) -> Excerpt {
    let line = without_break(line);
    let whole = |text: Cow<'_, str>| Excerpt { text: text.into_owned(), cut_at: None };
    if line.len() <= WIDTH {
        return whole(String::from_utf8_lossy(line));
    }
    let head = String::from_utf8_lossy(&line[..line.len().min((WIDTH + 1) * CHAR)]);
    if line.len() <= (WIDTH + 1) * CHAR && head.chars().count() <= WIDTH {
        return whole(head);
    }
    let hit = hit(line).unwrap_or(0..0);
    let hit = hit.start.min(line.len())..hit.end.min(line.len());
    // Does the match fit when the line is shown from its beginning?
    let from_start = hit.end <= WIDTH * CHAR && characters(&line[..hit.end]) < WIDTH;
    let start = if from_start || hit.start == 0 { 0 } else { back(line, hit.start, lead(line, &hit)) };
    let mut text = String::new();
    let mut left = WIDTH;
    if start > 0 {
        text.push('…');
        left -= 1;
    }
    let tail = &line[start..line.len().min(start + (WIDTH + 1) * CHAR)];
    let tail = String::from_utf8_lossy(tail);
    let fits = start + (WIDTH + 1) * CHAR >= line.len() && tail.chars().count() <= left;
    if fits {
        text.push_str(&tail);
    } else {
        text.extend(tail.chars().take(left - 1));
        text.push('…');
    }
    Excerpt { text, cut_at: Some(characters(&line[..hit.start]) as u64 + 1) }
}

/// Characters that `bytes` are shown as.
fn characters(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty())).sum()
}

/// `line` without `\n` or `\r\n` at its end.
fn without_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Characters to show before the match: fewer when the match itself is long, more when the line
/// ends soon after it.
fn lead(line: &[u8], hit: &Range<usize>) -> usize {
    let end = hit.end.min(hit.start + WIDTH * CHAR);
    let width = characters(&line[hit.start..end]).min(WIDTH);
    let after = characters(&line[end..line.len().min(end + WIDTH * CHAR)]);
    // Two characters go to the marks.
    let spare = (WIDTH - 2).saturating_sub(width);
    LEAD.min(spare / 2).max(spare.saturating_sub(after))
}

/// The start of the character `count` characters before `at`.
fn back(line: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at -= 1;
        // At most three continuation bytes belong to one character; more are invalid anyway.
        for _ in 1..CHAR {
            if at > 0 && line[at] & 0xC0 == 0x80 {
                at -= 1;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(line: &str, needle: &str) -> String {
        let shown = excerpt(line.as_bytes(), |line| {
            let at = line.windows(needle.len()).position(|part| part == needle.as_bytes()).unwrap();
            Some(at..at + needle.len())
        });
        let column = line[..line.find(needle).unwrap()].chars().count() as u64 + 1;
        assert_eq!(shown.cut_at, Some(column));
        shown.text
    }

    #[test]
    fn short_line_is_shown_whole_without_its_break() {
        assert_eq!(excerpt(b"abc\r\n", |_| None), Excerpt { text: "abc".to_owned(), cut_at: None });
        let exact = "é".repeat(WIDTH);
        assert_eq!(excerpt(exact.as_bytes(), |_| None), Excerpt { text: exact, cut_at: None });
    }

    #[test]
    fn long_line_is_cut_around_its_match() {
        let line = format!("{}needle{}", "a".repeat(1000), "b".repeat(1000));
        let shown = around(&line, "needle");
        assert_eq!(shown.chars().count(), WIDTH);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
    }

    #[test]
    fn early_match_keeps_the_beginning_and_late_match_the_end() {
        let early = around(&format!("needle{}", "b".repeat(1000)), "needle");
        assert!(early.starts_with("needle") && early.ends_with('…'), "{early}");
        let late = around(&format!("{}needle", "a".repeat(1000)), "needle");
        assert!(late.starts_with('…') && late.ends_with("needle"), "{late}");
        assert_eq!(early.chars().count(), WIDTH);
        assert!((WIDTH - 1..=WIDTH).contains(&late.chars().count()), "{late}");
    }

    #[test]
    fn excerpt_width_counts_characters() {
        let line = format!("{}needle{}", "日".repeat(500), "本".repeat(500));
        let shown = around(&line, "needle");
        assert_eq!(shown.chars().count(), WIDTH);
        assert!(shown.contains("日needle本") && !shown.contains('\u{FFFD}'), "{shown}");
    }

    #[test]
    fn match_longer_than_the_width_shows_its_beginning() {
        let line = format!("{}{}", "a".repeat(300), "x".repeat(5000));
        let shown = excerpt(line.as_bytes(), |_| Some(300..5300)).text;
        assert_eq!(shown.chars().count(), WIDTH);
        assert!(shown.contains("xxx") && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn invalid_utf8_is_replaced_and_keeps_the_match() {
        let mut line = vec![0xFF; 1000];
        line.extend(b"needle");
        line.extend(vec![0x80; 1000]);
        let shown = excerpt(&line, |_| Some(1000..1006)).text;
        assert!(shown.contains("\u{FFFD}needle\u{FFFD}"), "{shown}");
        assert!(shown.chars().count() <= WIDTH);
    }
}
