//! Which files, and which of their lines, can hold a match.

use std::ops::Range;

use super::{Columns, FileSegments, FilterQuery, GramQuery, SEGMENTS, SegmentSlice};

/// What a query leaves of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MayMatch {
    /// Nothing: it holds no match.
    Nowhere,
    /// Perhaps a match anywhere.
    Anywhere,
    /// Perhaps a match in the whole lines at these bytes, and nowhere else.
    Within(Vec<Range<u32>>),
}

/// The files that a query leaves, as of one moment.
#[derive(Debug)]
pub(crate) struct Candidates {
    columns: Columns,
    grams: GramQuery,
    /// [`FilterQuery::whole_file`].
    whole_file: bool,
    /// Of each block met so far, which segments satisfy the query.
    hits: Vec<Option<u64>>,
    /// [`GramQuery::satisfied`].
    reached: Vec<u64>,
}

impl Candidates {
    pub(super) fn new(columns: Columns, query: FilterQuery) -> Self {
        let FilterQuery { grams, whole_file } = query;
        Self { columns, grams, whole_file, hits: Vec::new(), reached: Vec::new() }
    }

    /// Whether nothing is left out.
    pub(crate) fn all(&self) -> bool {
        self.grams.is_all()
    }

    /// What may hold a match of the file there.
    pub(crate) fn may_match(&mut self, segments: &FileSegments) -> MayMatch {
        if self.all() {
            return MayMatch::Anywhere;
        }
        let whole = |perhaps| if perhaps { MayMatch::Anywhere } else { MayMatch::Nowhere };
        match segments {
            FileSegments::One(segment) => whole(self.segment_may_match(*segment)),
            FileSegments::Many { segments, within_line } if self.whole_file || *within_line => {
                let segments: Vec<_> = segments
                    .iter()
                    .map(|SegmentSlice { segment, .. }| {
                        (*segment as usize / SEGMENTS, 1_u64 << (*segment as usize % SEGMENTS))
                    })
                    .collect();
                let columns = &self.columns;
                let together = |column| {
                    let has =
                        |(block, bit): &(usize, u64)| columns.word(*block, column).is_none_or(|word| word & bit != 0);
                    u64::from(segments.iter().any(has))
                };
                whole(self.grams.satisfied(together, &mut self.reached) & 1 != 0)
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
    pub(crate) fn none_may_match(&mut self, segments: Range<u32>, last: u32) -> bool {
        !self.whole_file
            && !self.segment_may_match(last)
            && !segments.into_iter().any(|segment| self.segment_may_match(segment))
    }

    /// Whether that segment may hold a match.
    pub(crate) fn segment_may_match(&mut self, segment: u32) -> bool {
        let index = segment as usize / SEGMENTS;
        if self.hits.len() <= index {
            self.hits.resize(index + 1, None);
        }
        let segments = self.hits[index].unwrap_or_else(|| {
            // What is not there says nothing, so it refuses nothing.
            let word = |column| self.columns.word(index, column).unwrap_or(u64::MAX);
            self.grams.satisfied(word, &mut self.reached)
        });
        self.hits[index] = Some(segments);
        segments & (1 << (segment as usize % SEGMENTS)) != 0
    }
}
