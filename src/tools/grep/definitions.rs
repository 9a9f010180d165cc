//! Definitions, then prototypes: one list, in pages that go from the one to the other.

use tree_search::{ContentHits, Keep, Scope, SearchMode};

use super::{
    super::{CallContext, ToolError},
    args::OutputMode,
    request::GrepRequest,
};

impl GrepRequest {
    /// Adds the prototypes that are on the page to the definitions on it; returns how many were found.
    pub(super) fn add_prototypes(
        &self,
        cx: &CallContext,
        scope: &Scope,
        found: &mut ContentHits,
    ) -> Result<usize, ToolError> {
        if self.mode != OutputMode::Definitions || found.capped || found.stopped.is_some() {
            return Ok(0);
        }
        let before = found.matches;
        let skip = self.skip.saturating_sub(before);
        let keep = Keep::Page { skip, take: (self.skip + self.take).saturating_sub(before).saturating_sub(skip) };
        let mode = SearchMode::Definitions { prototypes: true };
        let prototypes = self.search(cx, scope, &cx.stop, (mode, keep), None)?;
        found.files.extend(prototypes.files.into_iter().map(|(at, hits)| (at + before, hits)));
        found.matches += prototypes.matches;
        found.matching_files += prototypes.matching_files;
        found.capped = prototypes.capped;
        found.stopped = prototypes.stopped;
        Ok(prototypes.matches)
    }
}
