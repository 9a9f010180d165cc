//! `wait`: one blocking call until a path appears, changes, goes away or has a new line, so that a model never polls.
//!
//! A look compares what is there with what was there at the start of the call; watches only say when to look. What a
//! wait shows does not count as read for an edit: it is a part of a file that others are writing.

mod file_tail;
mod pending;
mod report;
mod request;
mod state;

use report::Output;
use request::{Args, WaitRequest};

use super::{Alias, CallContext, FlagValue, Group, Plan, Spec, Tool, ToolError, tool::PATH_ALIASES};

pub(crate) struct WaitFor;

impl Tool for WaitFor {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "wait",
        title: "Wait for a file",
        purpose: "waits until a file changes",
        description: "Wait until a path appears, changes, is deleted, or has a new line matching pattern, and get only \
                      the new lines. Use this after you start a build, a test run or a server that writes a log, \
                      instead of sleep or reading again and again.",
        group: Group::Watch,
        aliases: &[PATH_ALIASES, OWN_ALIASES],
        ..Spec::READS
    };

    const WAITS: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        pending::begin(cx, WaitRequest::read(cx, args)?)
    }
}

const OWN_ALIASES: &[Alias] = &[
    Alias::names("timeout", &["timeout_seconds", "timeout_secs", "timeout_sec", "timeoutSeconds", "max_wait"]),
    Alias::names("pattern", &["query", "regex"]),
    Alias::names("until", &["event", "condition"]),
    Alias::names("case_sensitive", &["caseSensitive"]),
    Alias::names("literal", &["fixed_strings"]),
    Alias::flags("case_sensitive", FlagValue::Bool(false), &["-i", "ignore_case"]),
];
