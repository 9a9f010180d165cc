//! `resources/read`: a file as it is put into a conversation, or what a directory holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_file::shorten;

use confined_fs::PathError;

use super::{
    super::{
        Answer, CallContext, Kind, Plan, Spec, Tool, ToolError, ls,
        read::{ResourceText, read_resource},
    },
    READ_RESOURCE, request_spec,
};

/// Characters of a URI that an error repeats.
const URI_SHOWN: usize = 200;

/// Which resource. The argument is called `path` so that the audit records where it leads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Its URI.
    path: String,
}

/// The content's URI and media type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    uri: String,
    mime_type: String,
}

pub(crate) struct ReadResource;

impl Tool for ReadResource {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = request_spec(READ_RESOURCE, "Read a resource", "shows a resource");

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
