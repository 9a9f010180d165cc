//! `resources/list`: the roots, and the files that this session saw or wrote last.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text_file::{media_type, shorten};

use confined_fs::{FileKind, Root, Visibility, WorkspacePath};

use super::{
    super::{Answer, CallContext, Plan, Spec, Tool, ToolError},
    LIST_RESOURCES, request_spec,
};

/// Resources of one page.
const PAGE: usize = 50;
/// Characters of an unknown cursor that an error repeats.
const CURSOR_SHOWN: usize = 64;

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    cursor: Option<String>,
}

/// A page, as the protocol has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    resources: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(crate) struct ListResources;

impl Tool for ListResources {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = request_spec(LIST_RESOURCES, "List resources", "lists resources");

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let roots = cx.workspace.roots().iter().filter(|root| !root.is_absent());
        let roots = roots.map(|root| ListedResource { uri: root.resource_uri(), entry: ResourceEntry::Root(root) });
        let recent = cx.session.ledger.recent();
        let files =
            recent.iter().map(|path| ListedResource { uri: path.resource_uri(), entry: ResourceEntry::File(path) });
        let all: Vec<ListedResource<'_>> = roots.chain(files).collect();
        // The cursor is the last resource that was sent: the list may change between two pages.
        let start = match &args.cursor {
            None => 0,
            Some(cursor) => {
                let at = all.iter().position(|one| one.uri == *cursor);
                let unknown = || {
                    ToolError::invalid(format!("unknown cursor {:?}", shorten(cursor, CURSOR_SHOWN)))
                        .hint("list again without a cursor: the file was not used lately")
                };
                at.ok_or_else(unknown)? + 1
            }
        };
        let page = &all[start..all.len().min(start + PAGE)];
        cx.check()?;
        let output = Output {
            resources: page.iter().filter_map(|one| one.resource(cx)).collect(),
            next_cursor: page.last().filter(|_| start + PAGE < all.len()).map(|last| last.uri.clone()),
        };
        Ok(Plan::Answer(Answer::text("", &output)))
    }
}

/// One resource.
struct ListedResource<'a> {
    uri: String,
    entry: ResourceEntry<'a>,
}

enum ResourceEntry<'a> {
    Root(&'a Root),
    File(&'a WorkspacePath),
}

impl ListedResource<'_> {
    /// The resource as the protocol describes it; `None` for a file that is gone, hidden or denied by now.
    fn resource(&self, cx: &CallContext) -> Option<Value> {
        let Self { uri, entry } = self;
        match entry {
            ResourceEntry::Root(root) => {
                let name = root.name().unwrap_or("workspace");
                let description = format!("Workspace root, {}", root.rights());
                Some(json!({ "uri": uri, "name": name, "description": description, "mimeType": "inode/directory" }))
            }
            ResourceEntry::File(path) => {
                let stat = cx.workspace.stat(path).ok().filter(|stat| stat.kind == FileKind::File)?;
                let name = path.display_name();
                let media_type = media_type(&name).unwrap_or("text/plain");
                let mut resource = json!({ "uri": uri, "name": name, "title": path.to_string() });
                resource["mimeType"] = media_type.into();
                resource["size"] = stat.size.into();
                if let Some(modified) = stat.modified.filter(|modified| *modified >= SystemTime::UNIX_EPOCH) {
                    let modified = humantime::format_rfc3339_seconds(modified).to_string();
                    resource["annotations"] = json!({ "lastModified": modified });
                }
                cx.workspace.visibility(path).is_ok_and(|seen| seen != Visibility::Denied).then_some(resource)
            }
        }
    }
}
