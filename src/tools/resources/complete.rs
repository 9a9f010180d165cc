//! `completion/complete`: the paths that a person may mean, as the value of a template's `path`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_file::{media_type, shorten};

use confined_fs::WorkspacePath;
use tree_search::{CompletionRequest, Completions};

use super::{
    super::{Answer, CallContext, Plan, Spec, Tool, ToolError, read_before_write},
    COMPLETE, request_spec,
};

/// Values of one answer: as many as the protocol allows.
const MAX_VALUES: usize = 100;
/// Bytes of images that one answer looks at: a person is typing. Larger ones are offered as they are.
const LOOKED_AT: u64 = 4 << 20;
/// Characters of an unknown template or argument that an error repeats.
const SHOWN: usize = 100;

/// What to complete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The URI template of a root.
    template: String,
    /// The template's variable.
    argument: String,
    /// What was typed.
    value: String,
}

/// The values, as the protocol has them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    values: Vec<String>,
    total: usize,
    has_more: bool,
}

/// Whether a file that is an image by its name is none that can be read; `left` is how many bytes may be looked at.
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

pub(crate) struct CompletePath;

impl Tool for CompletePath {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = request_spec(COMPLETE, "Complete a path", "completes a path");

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let Args { template, argument, value } = args;
        let roots = cx.workspace.roots();
        let root = roots.iter().find(|root| root.resource_template() == template).ok_or_else(|| {
            let known: Vec<String> = roots.iter().map(|root| root.resource_template()).collect();
            let template = shorten(&template, SHOWN);
            ToolError::invalid(format!("unknown resource template {template:?}; known: {}", known.join(", ")))
                .hint("complete the `path` of one of these templates")
        })?;
        if argument != "path" {
            let argument = shorten(&argument, SHOWN);
            return Err(ToolError::invalid(format!("unknown argument {argument:?}; the template has `path`"))
                .hint("complete the argument `path`"));
        }
        let found = cx.path_index.complete(&CompletionRequest {
            workspace: &cx.workspace,
            root: &cx.workspace.root_path(root),
            text: &value,
            recent: &cx.session.ledger.recent(),
            limit: MAX_VALUES,
            stop: &cx.stop,
        });
        cx.check()?;
        let Completions { mut paths, mut total, has_more } = found;
        let (found, mut left) = (paths.len(), LOOKED_AT);
        paths.retain(|(path, is_directory)| *is_directory || !is_damaged_image(cx, path, &mut left));
        total = total.saturating_sub(found - paths.len());
        let value =
            |(path, is_directory): &(WorkspacePath, bool)| path.template_value() + if *is_directory { "/" } else { "" };
        let output = Output { values: paths.iter().map(value).collect(), total, has_more };
        Ok(Plan::Answer(Answer::text("", &output)))
    }
}
