//! Tests of lines and offsets that move.

use proptest::prelude::*;

use super::*;

fn moved(old: &str, new: &str, range: Range<usize>) -> Result<Range<usize>, AnchorError> {
    anchored(old, new, &LinePlace::Range(range)).map(|place| match place {
        LinePlace::Range(range) => range,
        LinePlace::After(_) => unreachable!("a range stays one"),
    })
}

#[test]
fn lines_that_moved_are_found() {
    let old = "one\ntwo\nthree\nfour\n";
    assert_eq!(moved(old, "zero\none\ntwo\nthree\nfour\n", 1..3), Ok(2..4));
    assert_eq!(moved(old, "two\r\nthree\r\n", 1..3), Ok(0..2));
    assert_eq!(moved(old, "four\nthree\none\ntwo", 2..3), Ok(1..2));
}

#[test]
fn changed_lines_are_not_found() {
    let old = "one\ntwo\nthree\nfour\n";
    assert_eq!(moved(old, "one\ntwo\nTHREE\nfour\n", 1..3), Err(AnchorError::Changed));
    assert_eq!(moved(old, "one\ntwo\nand\nthree\nfour\n", 1..3), Err(AnchorError::Changed));
    assert_eq!(moved(old, "", 1..3), Err(AnchorError::Changed));
    assert_eq!(moved(old, "two\n", 3..5), Err(AnchorError::Beyond(4)));
}

#[test]
fn frequent_lines_are_found_with_their_neighbours() {
    let old = "a {\n}\nb {\n}\nc {\n}\n";
    assert_eq!(moved(old, "new {\n}\na {\n}\nb {\n}\nc {\n}\n", 3..4), Ok(5..6));
    assert_eq!(moved(old, "c {\n}\n", 3..4), Err(AnchorError::Uncertain));
}

#[test]
fn a_line_that_was_repeated_is_uncertain() {
    assert_eq!(moved("x\nfoo()\ny\n", "x\nfoo()\nfoo()\ny\n", 1..2), Err(AnchorError::Uncertain));
}

#[test]
fn a_place_behind_a_line_moves_with_it() {
    let after = |old, new, count| anchored(old, new, &LinePlace::After(count));
    assert_eq!(after("one();\ntwo();\n", "zero\none();\ntwo();\n", 1), Ok(LinePlace::After(2)));
    assert_eq!(after("one();\ntwo();\n", "one();\n2\n", 1), Ok(LinePlace::After(1)));
    assert_eq!(after("one();\ntwo();\n", "1\ntwo();\n", 1), Err(AnchorError::Changed));
    assert_eq!(after("one();\n", "zero\n", 0), Ok(LinePlace::After(0)));
}

proptest! {
    /// Wherever lines are found again, they are the same.
    #[test]
    fn found_lines_are_the_lines(old in "([abc]|four){0,9}(\n([abc]|four)?){0,9}", new in "([abc]|four)(\n([abc]|four)?){0,9}", at in 0_usize..9, count in 1_usize..4) {
        if let Ok(now) = moved(&old, &new, at..at + count) {
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            prop_assert_eq!(&old[at..at + count], &new[now]);
        }
    }

    /// Lines inserted above and below never lose a block, unless they could be taken for it.
    #[test]
    fn lines_inserted_elsewhere_only_move_it(above in "(x\n){0,5}", below in "(y\n){0,5}", at in 0_usize..4) {
        let old = "first();\n}\nsecond();\n}\nthird();\n";
        let new = format!("{above}{old}{below}");
        let shift = above.len() / 2;
        prop_assert_eq!(moved(old, &new, at..at + 1), Ok(at + shift..at + shift + 1));
    }
}

fn moved_by(steps: &[&[(Range<usize>, usize)]], span: Range<usize>) -> Option<Range<usize>> {
    let mut offsets = MovedOffsets::default();
    for step in steps {
        offsets.push(step.iter().cloned());
    }
    offsets.now(&span)
}

#[test]
fn spans_move_by_what_was_replaced_before_them() {
    assert_eq!(moved_by(&[&[(0..2, 5)]], 4..6), Some(7..9));
    assert_eq!(moved_by(&[&[(8..9, 0)]], 4..6), Some(4..6));
    assert_eq!(moved_by(&[&[(0..1, 3), (2..2, 1)], &[(0..3, 0)]], 4..6), Some(4..6));
}

#[test]
fn a_replacement_within_a_span_changes_its_length() {
    assert_eq!(moved_by(&[&[(5..6, 4)]], 4..8), Some(4..11));
    assert_eq!(moved_by(&[&[(4..8, 1)]], 4..8), Some(4..5));
}

#[test]
fn insertions_at_the_ends_of_a_span_are_not_in_it() {
    assert_eq!(moved_by(&[&[(4..4, 2)]], 4..8), Some(6..10));
    assert_eq!(moved_by(&[&[(8..8, 2)]], 4..8), Some(4..8));
    assert_eq!(moved_by(&[&[(4..4, 2)]], 4..4), Some(6..6));
}

#[test]
fn a_replacement_across_an_end_loses_the_span() {
    assert_eq!(moved_by(&[&[(3..5, 2)]], 4..8), None);
    assert_eq!(moved_by(&[&[(3..9, 2)]], 4..8), None);
    assert_eq!(moved_by(&[&[(3..5, 2)]], 4..4), None);
}

#[test]
fn replacement_in_the_way_is_known_by_its_number() {
    // "abcdef" → "aXYdef" → "aXYdeZZ"
    let mut moved = MovedOffsets::default();
    moved.push([(1..3, 2)]);
    moved.push([(5..6, 2)]);
    assert_eq!(moved.changed_by(&(0..1)), None);
    assert_eq!(moved.changed_by(&(2..4)), Some(0));
    assert_eq!(moved.changed_by(&(4..6)), Some(1));
}
