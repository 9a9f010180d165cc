//! `resources/read`: a file as it is put into a conversation, or what a directory holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{text::shorten, workspace::PathError};

use super::{
    super::{
        Answer, CallContext, Group, Kind, Plan, Spec, Tool, ToolError, ls,
        read::{ResourceText, read_resource},
    },
    READ_RESOURCE,
};

/// Characters of a URI that an error repeats.
const URI_SHOWN: usize = 200;

/// Which resource. The name makes the audit say where it leads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Its URI.
    path: String,
}

/// What is said of the content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    uri: String,
    mime_type: String,
}

/// The operation.
pub(crate) struct ReadResource;

impl Tool for ReadResource {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: READ_RESOURCE,
        title: "Read a resource",
        purpose: "shows a resource",
        description: "The content of a file by its URI.",
        group: Group::Core,
        aliases: &[],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let path = match cx.workspace.resolve_uri(&args.path) {
            Err(PathError::Invalid { .. }) if !args.path.starts_with("file:") => {
                let uri = shorten(&args.path, URI_SHOWN);
                return Err(ToolError::new(Kind::NotFound, format!("no such resource: {uri}"))
                    .hint("list resources, or make a file:// URI of a resource template"));
            }
            path => path?,
        };
        let uri = path.resource_uri();
        let Some(read) = read_resource(cx, &path)? else {
            let content = ls::directory(cx, &path.to_string())?.content;
            let described = Answer::text("", &Output { uri, mime_type: "text/plain".to_owned() });
            return Ok(Plan::Answer(Answer { content, ..described }));
        };
        let ResourceText { content, mime_type, sighting } = read;
        let described = Answer::text("", &Output { uri, mime_type });
        let answer = Answer { content: vec![content], sighting: sighting.map(Box::new), ..described };
        Ok(Plan::Answer(answer))
    }
}
