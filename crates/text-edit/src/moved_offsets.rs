//! Where offsets into a text are after parts of it were replaced.

use std::ops::Range;

/// Replacements, in the order in which they were made: the spans of each text and the length of what took their place.
#[derive(Clone, Debug, Default)]
pub struct MovedOffsets {
    steps: Vec<Vec<(Range<usize>, usize)>>,
}

impl MovedOffsets {
    /// Adds the next replacements, in the text that came of those before; ascending and disjoint.
    pub fn push(&mut self, spans: impl IntoIterator<Item = (Range<usize>, usize)>) {
        self.steps.push(spans.into_iter().collect());
    }

    /// Where `span` of the first text is now. An empty span is behind what was inserted at its place; what was inserted
    /// at the ends of another one is not in it. `None` where a replacement has one of its ends in it and not the other.
    pub fn now(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let start = self.moved(span.start, true)?;
        let end = if span.is_empty() { start } else { self.moved(span.end, false)? };
        Some(start..end)
    }

    /// Where an offset is now. `behind` what was inserted there, or before it.
    fn moved(&self, mut offset: usize, behind: bool) -> Option<usize> {
        for step in &self.steps {
            let mut moved = offset;
            for (span, length) in step {
                let is_before = span.end < offset || span.end == offset && (!span.is_empty() || behind);
                if is_before {
                    moved = moved - span.len() + length;
                } else if span.start < offset {
                    return None;
                }
            }
            offset = moved;
        }
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(steps: &[&[(Range<usize>, usize)]], span: Range<usize>) -> Option<Range<usize>> {
        let mut offsets = MovedOffsets::default();
        for step in steps {
            offsets.push(step.iter().cloned());
        }
        offsets.now(&span)
    }

    #[test]
    fn spans_move_by_what_was_replaced_before_them() {
        assert_eq!(moved(&[&[(0..2, 5)]], 4..6), Some(7..9));
        assert_eq!(moved(&[&[(8..9, 0)]], 4..6), Some(4..6));
        assert_eq!(moved(&[&[(0..1, 3), (2..2, 1)], &[(0..3, 0)]], 4..6), Some(4..6));
    }

    #[test]
    fn a_replacement_within_a_span_changes_its_length() {
        assert_eq!(moved(&[&[(5..6, 4)]], 4..8), Some(4..11));
        assert_eq!(moved(&[&[(4..8, 1)]], 4..8), Some(4..5));
    }

    #[test]
    fn insertions_at_the_ends_of_a_span_are_not_in_it() {
        assert_eq!(moved(&[&[(4..4, 2)]], 4..8), Some(6..10));
        assert_eq!(moved(&[&[(8..8, 2)]], 4..8), Some(4..8));
        assert_eq!(moved(&[&[(4..4, 2)]], 4..4), Some(6..6));
    }

    #[test]
    fn a_replacement_across_an_end_loses_the_span() {
        assert_eq!(moved(&[&[(3..5, 2)]], 4..8), None);
        assert_eq!(moved(&[&[(3..9, 2)]], 4..8), None);
        assert_eq!(moved(&[&[(3..5, 2)]], 4..4), None);
    }
}
