//! Answers and errors of tools → results on the wire, and the list of tools.
//!
//! Pure: values in, protocol types out.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::model::{Annotations, CallToolResult, ContentBlock, MetaObject, Resource, Role, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::tools::checkpoint::CHECKPOINT;
use crate::tools::{Answer, AnswerBudget, Content, Settings, ToolError, Toolbox};

use super::answer_guard::{data_within, text_within};
use super::confirm::CONFIRMATION;

/// The key of an answer's facts in a result's `_meta`.
const RESULT_KEY: &str = "rootbound/result";
/// The key of an error's kind in a result's `_meta`.
const ERROR_KEY: &str = "rootbound/error";

/// The result of a successful call.
pub(super) fn answer(answer: Answer, settings: &Settings, budget: AnswerBudget) -> CallToolResult {
    let mut result = CallToolResult::success(blocks(answer.content, budget));
    if settings.structured_output {
        // A tool with an output schema must return structured content with every success
        // (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema).
        let data = answer.data.unwrap_or_else(|| Value::Object(answer.facts.clone()));
        result.structured_content = Some(data_within(data, budget));
    }
    if !answer.facts.is_empty() {
        result.meta = Some(meta(RESULT_KEY, Value::Object(answer.facts)));
    }
    result
}

/// The result of a call that failed in a way the model can read.
pub(super) fn error(error: &ToolError, budget: AnswerBudget) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text_within(error.text_within(&budget), budget))]);
    result.meta = Some(meta(ERROR_KEY, Value::from(error.kind().as_str())));
    result
}

/// The tools as `tools/list` shows them, ordered by name. `takes_codes`: changing tools have the argument
/// [`CONFIRMATION`]. Where `undo` is offered they have [`CHECKPOINT`] as well.
pub(super) fn listing(toolbox: &Toolbox, settings: &Settings, takes_codes: bool) -> Vec<Tool> {
    let has_undo = toolbox.get("undo").is_some();
    let mut tools: Vec<Tool> = toolbox
        .tools()
        .iter()
        .map(|entry| {
            let spec = entry.spec;
            let mut schema = entry.input_schema().clone();
            let added = [
                (takes_codes, CONFIRMATION, "The code of a refusal, once the person has agreed."),
                (has_undo, CHECKPOINT, "A name for the state just before this call, for undo's `to`."),
            ];
            if let Some(Value::Object(properties)) = schema.get_mut("properties").filter(|_| !spec.read_only) {
                for (_, name, description) in added.into_iter().filter(|(is_offered, ..)| *is_offered) {
                    properties.insert(name.to_owned(), json!({ "type": "string", "description": description }));
                }
            }
            let mut tool = Tool::new(spec.name, spec.description, Arc::new(schema));
            tool.title = Some(spec.title.to_owned());
            tool.annotations = Some(
                ToolAnnotations::with_title(spec.title)
                    .read_only(spec.read_only)
                    .destructive(spec.destructive)
                    .idempotent(spec.idempotent)
                    .open_world(false),
            );
            if settings.structured_output {
                tool.output_schema = Some(Arc::new(entry.output_schema()));
            }
            tool
        })
        .collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// The blocks, within `budget` all together.
fn blocks(content: Vec<Content>, budget: AnswerBudget) -> Vec<ContentBlock> {
    let (mut left, mut images_left) = (budget, budget.image_bytes);
    let is_only_one = content.len() == 1;
    let block = |content| match content {
        Content::Text(text) => {
            let text = text_within(text, left);
            if !is_only_one {
                left = left.less(&text);
            }
            ContentBlock::text(text)
        }
        Content::Image { bytes, .. } if bytes.len() > images_left => {
            ContentBlock::text(format!("(an image of {} bytes is left out; read it alone)", bytes.len()))
        }
        Content::Image { bytes, mime } => {
            images_left -= bytes.len();
            ContentBlock::image(BASE64_STANDARD.encode(bytes), mime)
        }
        Content::Link(link) => {
            let mut resource = Resource::new(link.uri, link.name).with_mime_type(link.mime).with_size(link.size);
            (resource.title, resource.description) = (link.title, link.description);
            // The link is for the person: a client need not show it to the model.
            resource.annotations = Some(Annotations::default().with_audience(vec![Role::User]));
            ContentBlock::resource_link(resource)
        }
    };
    content.into_iter().map(block).collect()
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject(Map::from_iter([(key.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use crate::tools::Kind;

    use super::*;

    const BUDGET: AnswerBudget = AnswerBudget::UNKNOWN_CLIENT;

    fn settings(structured_output: bool) -> Settings {
        Settings { structured_output, ..Settings::default() }
    }

    fn wire(result: &CallToolResult) -> Value {
        serde_json::to_value(result).expect("a result serialises")
    }

    #[test]
    fn answer_has_facts_in_meta_and_no_structured_content_by_default() {
        let wire = wire(&answer(Answer::text("hello", &json!({ "lines": 1 })), &settings(false), BUDGET));
        assert_eq!(wire["content"], json!([{ "type": "text", "text": "hello" }]));
        assert_eq!(wire["_meta"], json!({ "rootbound/result": { "lines": 1 } }));
        assert_eq!(wire["isError"], false);
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn structured_output_fills_every_success() {
        let without = Answer::text("hello", &json!({ "lines": 1 }));
        let with = Answer { data: Some(json!({ "all": true })), ..without.clone() };
        assert_eq!(wire(&answer(with, &settings(true), BUDGET))["structuredContent"], json!({ "all": true }));
        assert_eq!(wire(&answer(without, &settings(true), BUDGET))["structuredContent"], json!({ "lines": 1 }));
    }

    #[test]
    fn error_has_its_kind_in_meta() {
        let failure = ToolError::new(Kind::NotFound, "no such file: a").hint("use ls");
        let wire = wire(&error(&failure, BUDGET));
        assert_eq!(wire["isError"], true);
        assert_eq!(wire["_meta"], json!({ "rootbound/error": "not_found" }));
        assert_eq!(wire["content"][0]["text"], "no such file: a\n\nhint: use ls");
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn image_beyond_the_budget_is_left_out_and_said() {
        let image = |size| Content::Image { bytes: vec![0; size], mime: "image/png" };
        let content = vec![image(60), image(60), image(40)];
        let budget = AnswerBudget { image_bytes: 100, ..BUDGET };
        let wire = wire(&answer(Answer { content, ..Answer::default() }, &settings(false), budget));
        let text = "(an image of 60 bytes is left out; read it alone)";
        assert_eq!(wire["content"][1], json!({ "type": "text", "text": text }));
        assert_eq!((&wire["content"][0]["type"], &wire["content"][2]["type"]), (&json!("image"), &json!("image")));
    }

    #[test]
    fn image_is_base64_with_its_media_type() {
        let image = Content::Image { bytes: vec![0, 1, 2, 255], mime: "image/png" };
        let wire = wire(&answer(Answer { content: vec![image], ..Answer::default() }, &settings(false), BUDGET));
        assert_eq!(wire["content"], json!([{ "type": "image", "data": "AAEC/w==", "mimeType": "image/png" }]));
    }
}
