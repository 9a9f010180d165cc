//! Which files, and which of their lines, can hold a match.

use std::{ops::Range, sync::Arc};

use super::{FileSegments, GramQuery, SEGMENTS, SegmentBlock, SegmentSlice};

/// What a query leaves of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) enum MayMatch {
    /// Nothing: it holds no match.
    Nowhere,
    /// Perhaps a match anywhere.
    Anywhere,
    /// Perhaps a match in the whole lines at these bytes, and nowhere else.
    Within(Vec<Range<u32>>),
}

impl GramQuery {
    /// Which segments of a block satisfy it.
    fn segments(&self, block: &SegmentBlock) -> u64 {
        match self {
            Self::All => u64::MAX,
            Self::Nothing => 0,
            Self::Gram(gram) => block.columns[usize::from(gram.column())],
            Self::And(parts) => {
                parts.iter().fold(u64::MAX, |left, part| if left == 0 { 0 } else { left & part.segments(block) })
            }
            Self::Or(parts) => parts.iter().fold(0, |segments, part| segments | part.segments(block)),
        }
    }

    /// Whether segments satisfy it together.
    fn together(&self, segments: &[(&SegmentBlock, u64)]) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Gram(gram) => {
                let column = usize::from(gram.column());
                segments.iter().any(|(block, bit)| block.columns[column] & bit != 0)
            }
            Self::And(parts) => parts.iter().all(|part| part.together(segments)),
            Self::Or(parts) => parts.iter().any(|part| part.together(segments)),
        }
    }
}

/// The files that a query leaves, as of one moment.
#[derive(Debug)]
pub(in crate::search) struct Candidates {
    pub(super) blocks: Arc<Vec<Option<Arc<SegmentBlock>>>>,
    pub(super) grams: GramQuery,
    /// [`FilterQuery::whole_file`](super::FilterQuery::whole_file).
    pub(super) whole_file: bool,
    /// Of each block met so far, which segments satisfy the query.
    pub(super) hits: Vec<Option<u64>>,
}

impl Candidates {
    /// Whether nothing is left out.
    pub(in crate::search) fn all(&self) -> bool {
        self.grams == GramQuery::All
    }

    /// What may hold a match of the file there.
    pub(in crate::search) fn may_match(&mut self, segments: &FileSegments) -> MayMatch {
        if self.all() {
            return MayMatch::Anywhere;
        }
        let whole = |perhaps| if perhaps { MayMatch::Anywhere } else { MayMatch::Nowhere };
        match segments {
            FileSegments::One(segment) => whole(self.segment_may_match(*segment)),
            FileSegments::Many { segments, within_line } if self.whole_file || *within_line => {
                let segments: Vec<_> = segments
                    .iter()
                    .filter_map(|SegmentSlice { segment, .. }| {
                        let block = self.blocks.get(*segment as usize / SEGMENTS)?.as_deref()?;
                        Some((block, 1 << (*segment as usize % SEGMENTS)))
                    })
                    .collect();
                whole(self.grams.together(&segments))
            }
            FileSegments::Many { segments, .. } => {
                let mut within: Vec<Range<u32>> = Vec::new();
                let mut start = 0;
                for SegmentSlice { segment, end } in segments {
                    if self.segment_may_match(*segment) {
                        match within.last_mut() {
                            Some(last) if last.end == start => last.end = *end,
                            _ => within.push(start..*end),
                        }
                    }
                    start = *end;
                }
                let bytes: usize = within.iter().map(Range::len).sum();
                // Most of it read piece by piece, and then perhaps all of it, gains nothing.
                if bytes == 0 || bytes > start as usize / 2 { whole(bytes > 0) } else { MayMatch::Within(within) }
            }
        }
    }

    /// Whether none of these segments, which hold a file in whole lines, may hold a match.
    pub(in crate::search) fn none_may_match(&mut self, segments: Range<u32>, last: u32) -> bool {
        !self.whole_file
            && !self.segment_may_match(last)
            && !segments.into_iter().any(|segment| self.segment_may_match(segment))
    }

    /// Whether that segment may hold a match.
    pub(in crate::search) fn segment_may_match(&mut self, segment: u32) -> bool {
        let index = segment as usize / SEGMENTS;
        if self.hits.len() <= index {
            self.hits.resize(self.blocks.len().max(index + 1), None);
        }
        let segments = match self.hits[index] {
            Some(segments) => segments,
            // A segment that is not there says nothing, so it refuses nothing.
            None => match self.blocks.get(index).and_then(Option::as_deref) {
                Some(block) => self.grams.segments(block),
                None => u64::MAX,
            },
        };
        self.hits[index] = Some(segments);
        segments & (1 << (segment as usize % SEGMENTS)) != 0
    }
}
