//! `glob`: files by name.
//!
//! Walks, matches names, orders and numbers them. Never opens a file.

mod nearest;
mod render;
mod request;

use std::time::Instant;

use confined_fs::stop::StopReason;

use super::{
    Alias, CallContext, Group, Plan, Spec, Tool, ToolError,
    answer::fitted,
    tool::{LISTING_ALIASES, PATH_ALIASES},
};
use render::Output;
pub(in crate::tools) use request::below_prefix;
use request::{Args, GlobRequest};

pub(crate) struct Glob;

impl Tool for Glob {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "glob",
        title: "Find files",
        purpose: "finds files by name",
        description: "Use this instead of shell find or ls -R. Find files by name pattern (\"**/*.rs\", \
                      \"src/*.{ts,tsx}\", \"Makefile\"). Returns paths, newest first. Finds hidden files; respects .gitignore.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LISTING_ALIASES, OWN_ALIASES],
        heavy: true,
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let started = Instant::now();
        let request = GlobRequest::read(cx, args)?;
        let mut found = request.walk(cx, request.ignored(), &cx.stop, None)?;
        if found.stopped == Some(StopReason::Cancelled) {
            cx.check()?;
        }
        request.look_into_ignored(cx, &mut found);
        let is_elsewhere = found.directories > 0 || found.hidden.is_some_and(|hidden| hidden.count > 0);
        if found.total == 0 && found.stopped.is_none() && !is_elsewhere {
            found.nearest = request.nearest(cx, &found);
        }
        Ok(Plan::Answer(fitted(cx, |room| request.answer(cx, &found, started, room))))
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::names("pattern", &["query", "glob"]),
    Alias::names("include_dirs", &["includeDirs"]),
    Alias::names("case_sensitive", &["caseSensitive"]),
];
