//! Files as resources of the protocol: what a person attaches to a conversation.

use confined_fs::{FileKind, PathError, Root, WorkspacePath};
use serde_json::{Map, Value, json};
use text_file::{media_type, shorten};
use tree_search::{CompletionRequest, Completions};

use super::{Answer, CallContext, Kind, ToolError, answer::utc, ls, read::read_resource, read_before_write};

const MAX_PAGE: usize = 50;
/// Values of one completion: as many as the protocol allows.
const MAX_VALUES: usize = 100;
/// Bytes of images that one completion looks at: a person is typing. Larger ones are offered as they are.
const MAX_IMAGE_BYTES: u64 = 4 << 20;
/// Characters of an unknown template or argument that an error repeats.
const ARGUMENT_SHOWN: usize = 100;
/// Characters of an unknown cursor that an error repeats.
const CURSOR_SHOWN: usize = 64;
/// Characters of a URI that an error repeats.
const URI_SHOWN: usize = 200;

/// A request of the protocol that runs as a call does, with its limits, policy and audit. A model cannot make it.
#[derive(Clone, Debug)]
pub enum Operation {
    /// `completion/complete`: the paths that a person may mean by `value`, as the variable `argument` of a root's URI
    /// template.
    Complete { template: String, argument: String, value: String },
    /// `resources/list`: the roots, and the files that this session saw or wrote last, after `cursor`.
    List {
        /// The last resource that was sent: the list may change between two pages.
        cursor: Option<String>,
    },
    /// `resources/read`: a file as it is put into a conversation, or what a directory holds.
    Read { uri: String },
}

impl Operation {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "completion_complete",
            Self::List { .. } => "resources_list",
            Self::Read { .. } => "resources_read",
        }
    }

    pub fn arguments(&self) -> Map<String, Value> {
        let arguments = match self {
            Self::Complete { template, argument, value } => {
                json!({ "template": template, "argument": argument, "value": value })
            }
            Self::List { cursor: None } => json!({}),
            Self::List { cursor } => json!({ "cursor": cursor }),
            Self::Read { uri } => json!({ "path": uri }),
        };
        arguments.as_object().cloned().unwrap_or_default()
    }

    /// The result as the protocol has it: contents as the answer's, the rest as its facts.
    ///
    /// # Errors
    /// Those of reading and listing, and `invalid_input` for a template, variable or cursor that there is not.
    pub fn run(&self, cx: &CallContext) -> Result<Answer, ToolError> {
        match self {
            Self::Complete { template, argument, value } => complete(cx, template, argument, value),
            Self::List { cursor } => list(cx, cursor.as_deref()),
            Self::Read { uri } => read(cx, uri),
        }
    }
}

fn complete(cx: &CallContext, template: &str, argument: &str, value: &str) -> Result<Answer, ToolError> {
    let roots = cx.workspace.roots();
    let root = roots.iter().find(|root| root.resource_template() == template).ok_or_else(|| {
        let known: Vec<String> = roots.iter().map(|root| root.resource_template()).collect();
        let template = shorten(template, ARGUMENT_SHOWN);
        ToolError::invalid(format!("unknown resource template {template:?}; known: {}", known.join(", ")))
            .hint("complete the `path` of one of these templates")
    })?;
    if argument != "path" {
        let argument = shorten(argument, ARGUMENT_SHOWN);
        return Err(ToolError::invalid(format!("unknown argument {argument:?}; the template has `path`"))
            .hint("complete the argument `path`"));
    }
    let found = cx.path_index.complete(&CompletionRequest {
        workspace: &cx.workspace,
        root: &cx.workspace.root_path(root),
        text: value,
        recent: &cx.session.ledger.recent(),
        limit: MAX_VALUES,
        stop: &cx.stop,
    });
    cx.check()?;
    let Completions { mut paths, total, has_more } = found;
    let (found, mut left) = (paths.len(), MAX_IMAGE_BYTES);
    paths.retain(|(path, is_directory)| *is_directory || !is_damaged_image(cx, path, &mut left));
    let total = total.saturating_sub(found - paths.len());
    let value =
        |(path, is_directory): &(WorkspacePath, bool)| path.template_value() + if *is_directory { "/" } else { "" };
    let values: Vec<String> = paths.iter().map(value).collect();
    Ok(Answer::text("", &json!({ "values": values, "total": total, "hasMore": has_more })))
}

/// Whether a file that is an image by its name cannot be read as one; `left` is how many bytes may be looked at.
fn is_damaged_image(cx: &CallContext, path: &WorkspacePath, left: &mut u64) -> bool {
    let is_image = |kind: &str| kind.starts_with("image/") && kind != "image/svg+xml";
    if !media_type(&path.display_name()).is_some_and(is_image) {
        return false;
    }
    let Ok(mut file) = cx.workspace.open_file(path) else { return false };
    let Some(rest) = left.checked_sub(file.stat().size) else { return false };
    let mut bytes = Vec::new();
    let is_whole = file.read_to_limit(&mut bytes, *left).is_ok_and(|is_whole| is_whole);
    *left = rest;
    is_whole && read_before_write::unreadable(cx, &bytes).is_some()
}

fn list(cx: &CallContext, cursor: Option<&str>) -> Result<Answer, ToolError> {
    let recent = cx.session.ledger.recent();
    let roots = cx.workspace.roots().iter().filter(|root| !root.is_absent());
    let roots = roots.map(|root| (root.resource_uri(), Err(root.as_ref())));
    let all: Vec<_> = roots.chain(recent.iter().map(|path| (path.resource_uri(), Ok(path)))).collect();
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let at = all.iter().position(|(uri, _)| uri == cursor).ok_or_else(|| {
                ToolError::invalid(format!("unknown cursor {:?}", shorten(cursor, CURSOR_SHOWN)))
                    .hint("list again without a cursor: the file was not used lately")
            })?;
            at + 1
        }
    };
    let page = &all[start..all.len().min(start + MAX_PAGE)];
    cx.check()?;
    let resource = |(uri, listed): &(String, Result<&WorkspacePath, &Root>)| match listed {
        Ok(path) => file_resource(cx, uri, path),
        Err(root) => {
            let description = format!("Workspace root, {}", root.rights());
            let name = root.name().unwrap_or("workspace");
            Some(json!({ "uri": uri, "name": name, "description": description, "mimeType": "inode/directory" }))
        }
    };
    let resources: Vec<Value> = page.iter().filter_map(resource).collect();
    let mut output = json!({ "resources": resources });
    if let Some((last, _)) = page.last().filter(|_| start + MAX_PAGE < all.len()) {
        output["nextCursor"] = last.as_str().into();
    }
    Ok(Answer::text("", &output))
}

/// A file as the protocol describes it; `None` where it is gone, hidden or denied by now.
fn file_resource(cx: &CallContext, uri: &str, path: &WorkspacePath) -> Option<Value> {
    let stat = cx.workspace.stat(path).ok().filter(|stat| stat.kind == FileKind::File)?;
    let name = path.display_name();
    let (kind, title) = (media_type(&name).unwrap_or("text/plain"), path.to_string());
    let mut resource = json!({ "uri": uri, "name": name, "title": title, "mimeType": kind, "size": stat.size });
    if let Some(modified) = stat.modified.and_then(utc) {
        resource["annotations"] = json!({ "lastModified": modified });
    }
    cx.workspace.is_secret(path).is_ok_and(|is_secret| !is_secret).then_some(resource)
}

fn read(cx: &CallContext, uri: &str) -> Result<Answer, ToolError> {
    let path = match cx.workspace.resolve_uri(uri) {
        Err(PathError::Invalid { .. }) if !uri.starts_with("file:") => {
            let uri = shorten(uri, URI_SHOWN);
            return Err(ToolError::new(Kind::NotFound, format!("no such resource: {uri}"))
                .hint("list resources, or make a file:// URI of a resource template"));
        }
        path => path?,
    };
    let (content, mime_type) = match read_resource(cx, &path)? {
        Some((content, mime_type)) => (vec![content], mime_type),
        None => (ls::directory(cx, &path.to_string())?.content, "text/plain"),
    };
    let described = json!({ "uri": path.resource_uri(), "mimeType": mime_type });
    Ok(Answer { content, ..Answer::text("", &described) })
}
