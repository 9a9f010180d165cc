//! Finds a text that no line of the file resembles: by pieces of it, as a part of a line, or where its lines are broken
//! differently (joined, wrapped, or with other spaces between words).

use std::{collections::HashMap, ops::Range};

use memchr::memmem;

/// Bytes of the file that are searched in all: the longer it is, the fewer pieces are looked for.
const SEARCHED: usize = 1 << 30;

/// Pieces of the text, at most and at least.
const PIECES: (usize, usize) = (32, 6);

/// Bytes of a piece, at least and at most.
const PIECE: (usize, usize) = (5, 32);

/// Places of one piece that are looked at.
const PLACES: usize = 16;

/// Shorter texts are found everywhere and nowhere.
const SHORTEST: usize = 10;

/// Shorter texts are found by chance.
const SHORTEST_UNSPACED: usize = 12;

/// The bytes of `text` that hold the most pieces of `old`, where those are a good part of it.
pub(super) fn substring(text: &str, old: &str) -> Option<Range<usize>> {
    let old = old.trim();
    if old.len() < SHORTEST {
        return None;
    }
    let count = (SEARCHED / text.len().max(1)).clamp(PIECES.1, PIECES.0);
    let size = (old.len() / 3).clamp(PIECE.0, PIECE.1);
    let step = (old.len() - size).div_ceil(count).max(1);
    // Pieces count for the place of the whole text that they speak for, give or take a few letters.
    let slack = (old.len() / 4).clamp(8, 400);
    let mut votes: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    let mut asked = 0;
    for offset in (0..=old.len() - size).step_by(step) {
        let piece = &old.as_bytes()[offset..offset + size];
        if piece.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count() * 3 < size {
            continue;
        }
        asked += 1;
        for place in memmem::find_iter(text.as_bytes(), piece).take(PLACES) {
            // A place before the text's own beginning is one of the first.
            let bucket = (place + slack).saturating_sub(offset) / slack;
            for bucket in [bucket, bucket + 1] {
                votes.entry(bucket).or_default().push((offset, place));
            }
        }
    }
    let distinct = |found: &Vec<(usize, usize)>| {
        let mut offsets: Vec<usize> = found.iter().map(|(offset, _)| *offset).collect();
        offsets.dedup();
        offsets.len()
    };
    let best = votes.into_iter().max_by_key(|(bucket, found)| (distinct(found), usize::MAX - bucket))?.1;
    if distinct(&best) * 3 < asked.max(2) {
        return None;
    }
    let start = best.iter().map(|(offset, place)| place.saturating_sub(*offset)).min()?;
    let end = best.iter().map(|(offset, place)| place + old.len() - offset).max()?.min(text.len());
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at))?;
    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at))?;
    Some(start..end)
}

/// The bytes of the only place where `text` is `old` when white space does not count.
pub(super) fn ignoring_whitespace(text: &str, old: &str) -> Option<Range<usize>> {
    let is_black = |byte: &u8| !byte.is_ascii_whitespace();
    let wanted: Vec<u8> = old.bytes().filter(is_black).collect();
    if wanted.len() < SHORTEST_UNSPACED || wanted.len() > text.len() {
        return None;
    }
    let squeezed: Vec<u8> = text.bytes().filter(is_black).collect();
    let mut places = memmem::find_iter(&squeezed, &wanted);
    let (start, None) = (places.next()?, places.next()) else { return None };
    let mut black = text.bytes().enumerate().filter(|(_, byte)| is_black(byte)).map(|(at, _)| at);
    let first = black.nth(start)?;
    Some(first..black.nth(wanted.len() - 2)? + 1)
}

/// The bytes `part` of the line at `line` in `text`, widened until they occur once in the text and, where there is
/// room, show what is around them; `None` where at most `most` bytes do not suffice.
pub(super) fn unique(text: &str, line: &Range<usize>, part: Range<usize>, most: usize) -> Option<Range<usize>> {
    const AROUND: usize = 40;
    let mut around = AROUND;
    loop {
        let start = part.start.saturating_sub(around).max(line.start);
        let end = (part.end + around).min(line.end);
        let start = (line.start..=start).rev().find(|at| text.is_char_boundary(*at))?;
        let end = (end..=line.end).find(|at| text.is_char_boundary(*at))?;
        if end - start > most {
            return None;
        }
        let mut found = memmem::find_iter(text.as_bytes(), &text.as_bytes()[start..end]);
        if start < end && found.next() == Some(start) && found.next().is_none() {
            return Some(start..end);
        }
        if start == line.start && end == line.end {
            return None;
        }
        around *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_long_line_is_found_by_its_pieces() {
        let head = "first(a,b);second(c);third(d,e,f);".repeat(700);
        let text = format!("{head}function total(first,second){{return first+second}}{head}");
        let found = substring(&text, "function total(first,second){return first-second}").unwrap_or_default();
        assert!(text[found.clone()].contains("return first+second"), "{found:?}");
    }

    #[test]
    fn unrelated_text_has_no_place() {
        assert_eq!(substring(&"let value = compute(1);\n".repeat(50), "completely unrelated words"), None);
        assert_eq!(substring("", "completely unrelated words"), None);
    }

    #[test]
    fn a_text_is_found_whatever_white_space_is_in_it() {
        let text = "one(a);\n- name: check out\n  uses: it@v1\nnext: é\n";
        for old in ["- name: check out uses: it@v1", "name:  check\n\n out\nuses: it@v1\n", "uses: it@v1 next: é"] {
            let black = |text: &str| text.split_ascii_whitespace().collect::<String>();
            assert_eq!(black(&text[ignoring_whitespace(text, old).unwrap()]), black(old));
        }
        assert_eq!(ignoring_whitespace(text, "- name: check in uses: it@v1"), None);
        assert_eq!(ignoring_whitespace(&text.repeat(2), "- name: check out uses: it@v1"), None);
        assert_eq!(ignoring_whitespace(text, "one(a);"), None);
    }

    #[test]
    fn a_part_is_widened_until_it_occurs_once() {
        let text = "aaaaaaaaaabaaaaaaaaaa aaaaaaaaaacaaaaaaaaaa";
        let found = unique(text, &(0..text.len()), 12..14, 1000);
        assert!(found.is_some_and(|found| text.matches(&text[found]).count() == 1));
        assert_eq!(unique("aaaa", &(0..4), 1..2, 2), None);
    }
}
