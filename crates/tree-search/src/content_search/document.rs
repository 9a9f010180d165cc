//! The search of the text of a document: section by section, so that no match and no context goes from one page, slide or
//! sheet into the next.

use confined_fs::{Workspace, stop::StopReason};

use super::worker::{FileLimits, Worker};
use crate::documents::{DocumentText, MetDocument};
use crate::{FileHits, Query, SearchMode};

/// How much of the hits of one document can still be shown.
#[derive(Clone, Copy, Debug)]
pub struct HitLimits {
    /// Matches that another page has shown: counted, their text is not kept.
    pub skip: usize,
    /// Matches after which the search of the document ends.
    pub matches: usize,
    /// Bytes of text.
    pub text: usize,
}

/// Searches documents, one after the other, by their text.
pub struct DocumentSearch<'a> {
    worker: Worker<'a>,
    query: &'a Query<'a>,
}

impl<'a> DocumentSearch<'a> {
    pub fn new(workspace: &'a Workspace, query: &'a Query<'a>) -> Self {
        Self { worker: Worker::new(workspace, query), query }
    }

    /// The hits in `text`, which is that of `met`; `None` where the document is no result. With the reason for which the
    /// search ended early, if it did.
    pub fn search(
        &mut self,
        met: &MetDocument,
        text: &DocumentText,
        limits: HitLimits,
    ) -> (Option<Box<FileHits>>, Option<StopReason>) {
        let MetDocument { path, real, stat } = met.clone();
        let mut hits = FileHits::of_document(path, real, stat);
        let mut stopped = None;
        let is_of_lines = matches!(self.query.mode, SearchMode::Lines { .. } | SearchMode::Counts);
        // Most have no match at all.
        let first = self.worker.search_text_of_document(&text.lines, SearchMode::Files, FileLimits::first_match());
        stopped = stopped.or(first.stopped);
        hits.matches = first.matches;
        if is_of_lines && first.matches > 0 {
            hits.matches = 0;
            let mut line = 0;
            for (start, section) in text.sections() {
                let left = FileLimits {
                    skip: limits.skip.saturating_sub(hits.matches),
                    matches: limits.matches.saturating_sub(hits.matches),
                    text: limits.text.saturating_sub(hits.bytes),
                    content: 0,
                };
                let found = self.worker.search_text_of_document(section, self.query.mode, left);
                let mut ends = section.match_indices('\n').map(|(at, _)| start + at);
                let mut end = (0, start);
                for mut shown in found.lines {
                    // The lines ascend, so that each end is looked up once.
                    while end.0 < shown.number {
                        end = (end.0 + 1, ends.next().unwrap_or(start));
                    }
                    shown.part = Some(text.part_at(end.1));
                    shown.number += line;
                    shown.hit = shown.hit.map(|hit| hit + hits.matches);
                    hits.lines.push(shown);
                }
                // One more than there are, so that the last line of a section and the first of the next are apart.
                line += 1 + memchr::memchr_iter(b'\n', section.as_bytes()).count() as u64;
                hits.bytes += found.bytes;
                hits.matches += found.matches;
                hits.occurrences += found.occurrences;
                hits.cut = found.cut;
                stopped = stopped.or(found.stopped);
                if found.cut || stopped.is_some() {
                    break;
                }
            }
        }
        let is_result = self.query.is_result(hits.matches) && (hits.matches > 0 || stopped.is_none());
        (is_result.then(|| Box::new(hits)), stopped)
    }
}
