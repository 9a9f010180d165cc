//! Resources and completions on the wire: what the operations of the tools layer answer, as protocol types.
//!
//! Pure: values in, protocol types out.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use confined_fs::{Root, Workspace};
use rmcp::{
    ErrorData,
    model::{CompletionInfo, ErrorCode, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use text_file::shorten;

use crate::tools::{Answer, Content, Kind, ToolError};

/// Characters of a URI that an error repeats.
const URI_SHOWN: usize = 200;
/// The key of an error's kind in its data.
const ERROR_KEY: &str = "rootbound/error";

/// A page of `resources/list`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourcePage {
    pub(super) resources: Vec<Resource>,
    #[serde(default)]
    pub(super) next_cursor: Option<String>,
}

/// What an operation says of a resource.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    uri: String,
    mime_type: String,
}

/// One template for each root.
pub(super) fn templates(workspace: &Workspace) -> Vec<ResourceTemplate> {
    let template = |root: &Arc<Root>| {
        let name = root.name().unwrap_or("workspace");
        ResourceTemplate::new(root.resource_template(), name)
            .with_title(format!("Files in {name}"))
            .with_description("A file or directory by its path")
    };
    workspace.roots().iter().map(template).collect()
}

/// The page that an operation answered.
pub(super) fn page(answer: Answer) -> Result<ResourcePage, ErrorData> {
    serde_json::from_value(Value::Object(answer.facts)).map_err(|error| unreadable(&error))
}

/// The content that an operation answered.
pub(super) fn content(answer: Answer) -> Result<ReadResourceResult, ErrorData> {
    let Described { uri, mime_type } =
        serde_json::from_value(Value::Object(answer.facts)).map_err(|error| unreadable(&error))?;
    let block = |content| match content {
        Content::Text(text) => Some(ResourceContents::text(text, &*uri).with_mime_type(&*mime_type)),
        Content::Image { bytes, mime } => {
            Some(ResourceContents::blob(BASE64_STANDARD.encode(bytes), &*uri).with_mime_type(mime))
        }
        // A resource is content; only `present` answers links.
        Content::Link(_) => None,
    };
    Ok(ReadResourceResult::new(answer.content.into_iter().filter_map(block).collect()))
}

/// The values that an operation answered.
pub(super) fn completion(answer: Answer) -> Result<CompletionInfo, ErrorData> {
    serde_json::from_value(Value::Object(answer.facts)).map_err(|error| unreadable(&error))
}

/// The error of a failed operation, about `uri` if it was about one.
pub(super) fn error(error: &ToolError, uri: Option<&str>) -> ErrorData {
    let kind = error.kind();
    let mut data = Map::from_iter([(ERROR_KEY.to_owned(), json!(kind.as_str()))]);
    if let Some(uri) = uri {
        data.insert("uri".to_owned(), shorten(uri, URI_SHOWN).into());
    }
    let code = match kind {
        // The service makes it the code of the protocol version.
        Kind::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Kind::TimedOut | Kind::Cancelled | Kind::Quota | Kind::Declined | Kind::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_PARAMS,
    };
    ErrorData::new(code, error.text(), Some(Value::Object(data)))
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the answer cannot be sent: {error}"), None)
}
