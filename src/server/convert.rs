//! Answers and errors of tools → results on the wire, and the list of tools.
//!
//! Pure: values in, protocol types out.

use std::{fmt::Write as _, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::tools::{Answer, Content, Settings, ToolError, Toolbox};

/// The key of an answer's facts in a result's `_meta`.
const RESULT_KEY: &str = "rootbound/result";
/// The key of an error's kind in a result's `_meta`.
const ERROR_KEY: &str = "rootbound/error";
/// Tools page their own answers; this guard behind them leaves room for footers and notices.
const GUARD_SLACK: usize = 512;

/// The result of a successful call.
pub(super) fn answer(answer: Answer, settings: &Settings) -> CallToolResult {
    let mut left = settings.max_output.saturating_add(GUARD_SLACK);
    let content = answer.content.into_iter().map(|block| self::block(block, &mut left)).collect();
    let mut result = CallToolResult::success(content);
    if settings.structured_output {
        // A tool with an output schema must return structured content with every success
        // (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema).
        result.structured_content = Some(answer.data.unwrap_or_else(|| Value::Object(answer.facts.clone())));
    }
    if !answer.facts.is_empty() {
        result.meta = Some(meta(RESULT_KEY, Value::Object(answer.facts)));
    }
    result
}

/// The result of a call that failed in a way the model can read.
pub(super) fn error(error: &ToolError, settings: &Settings) -> CallToolResult {
    let mut left = settings.max_output.saturating_add(GUARD_SLACK);
    let mut result = CallToolResult::error(vec![block(Content::Text(error.text()), &mut left)]);
    result.meta = Some(meta(ERROR_KEY, Value::from(error.kind().as_str())));
    result
}

/// The tools as `tools/list` shows them, ordered by name.
pub(super) fn listing(toolbox: &Toolbox, settings: &Settings) -> Vec<Tool> {
    let mut tools: Vec<Tool> = toolbox
        .tools()
        .iter()
        .map(|entry| {
            let spec = entry.spec;
            let mut tool = Tool::new(spec.name, spec.description, Arc::new(entry.input_schema().clone()));
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

fn block(content: Content, left: &mut usize) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(capped(text, left)),
        Content::Image { bytes, mime } => ContentBlock::image(BASE64_STANDARD.encode(bytes), mime),
    }
}

/// Cuts `text` to what is `left`, at a character, and says so.
fn capped(mut text: String, left: &mut usize) -> String {
    if text.len() <= *left {
        *left -= text.len();
        return text;
    }
    let whole = text.len();
    let mut cut = *left;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    text.truncate(cut);
    *left = 0;
    let _ = write!(text, "\n(cut after {cut} of {whole} bytes; ask for a smaller part)");
    text
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject(Map::from_iter([(key.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::Kind;

    use super::*;

    fn settings(max_output: usize, structured_output: bool) -> Settings {
        Settings { max_output, structured_output, ..Settings::default() }
    }

    fn wire(result: &CallToolResult) -> Value {
        serde_json::to_value(result).expect("a result serialises")
    }

    #[test]
    fn answer_has_facts_in_meta_and_no_structured_content_by_default() {
        let wire = wire(&answer(Answer::text("hello", &json!({ "lines": 1 })), &settings(100, false)));
        assert_eq!(wire["content"], json!([{ "type": "text", "text": "hello" }]));
        assert_eq!(wire["_meta"], json!({ "rootbound/result": { "lines": 1 } }));
        assert_eq!(wire["isError"], false);
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn structured_output_fills_every_success() {
        let without = Answer::text("hello", &json!({ "lines": 1 }));
        let with = Answer { data: Some(json!({ "all": true })), ..without.clone() };
        assert_eq!(wire(&answer(with, &settings(100, true)))["structuredContent"], json!({ "all": true }));
        assert_eq!(wire(&answer(without, &settings(100, true)))["structuredContent"], json!({ "lines": 1 }));
    }

    #[test]
    fn error_has_its_kind_in_meta() {
        let failure = ToolError::new(Kind::NotFound, "no such file: a").hint("use ls");
        let wire = wire(&error(&failure, &settings(100, true)));
        assert_eq!(wire["isError"], true);
        assert_eq!(wire["_meta"], json!({ "rootbound/error": "not_found" }));
        assert_eq!(wire["content"][0]["text"], "no such file: a\n\nhint: use ls");
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn text_over_the_limit_is_cut_at_a_character_and_says_so() {
        let text = "é".repeat(GUARD_SLACK);
        let wire = wire(&answer(Answer::text(text, &json!({})), &settings(1, false)));
        let text = wire["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with('é') && text.len() < GUARD_SLACK + 100, "{}", text.len());
        assert!(text.ends_with("é\n(cut after 512 of 1024 bytes; ask for a smaller part)"), "{text}");
    }

    #[test]
    fn image_is_base64_with_its_media_type() {
        let image = Content::Image { bytes: vec![0, 1, 2, 255], mime: "image/png" };
        let wire = wire(&answer(Answer { content: vec![image], ..Answer::default() }, &settings(1, false)));
        assert_eq!(wire["content"], json!([{ "type": "image", "data": "AAEC/w==", "mimeType": "image/png" }]));
    }
}
