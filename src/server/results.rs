//! Answers and errors of tools and operations → results on the wire, and the list of tools.
//!
//! Pure: values in, protocol types out. The last guard of an answer's size is here: what is still over the budget is
//! shortened, and says so. The tools keep to the budget themselves, and say better how to go on; this is for what they do
//! not foresee: a path of thousands of characters in a header, a hint or a note.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use change_set::Workspace;
use confined_fs::Root;
use rmcp::{
    ErrorData,
    model::{
        Annotations, CallToolResult, ContentBlock, ErrorCode, MetaObject, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, Role, Tool, ToolAnnotations,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use text_file::shorten;

use file_tools::{
    Answer, AnswerBudget, CHECKPOINT_VALUE, Content, Group, Kind, Settings, ToolError, Toolbox, end_of_fence,
};

use super::confirm::CONFIRMATION_ARGUMENT;

/// The key of an answer's facts in a result's `_meta`.
const RESULT_KEY: &str = "rootbound/result";
/// The key of an error's kind in a result's `_meta`, and in an error's `data`.
const ERROR_KEY: &str = "rootbound/error";

pub(super) fn call_result(answer: Answer, settings: &Settings, budget: AnswerBudget) -> CallToolResult {
    let mut result = CallToolResult::success(blocks(answer.content, budget));
    if settings.structured_output {
        // A tool with an output schema must return structured content with every success
        // (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema).
        let data = answer.data.unwrap_or_else(|| Value::Object(answer.facts.clone()));
        result.structured_content = Some(data_within(data, budget));
    }
    if budget.has_facts && !answer.facts.is_empty() {
        result.meta = Some(meta(RESULT_KEY, Value::Object(answer.facts)));
    }
    result
}

/// The result of a call that failed in a way the model can read.
pub(super) fn call_error(error: &ToolError, budget: AnswerBudget) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text_within(error.text_within(&budget), budget))]);
    result.meta = Some(meta(ERROR_KEY, Value::from(error.kind().as_str())));
    result
}

/// The tools as `tools/list` shows them, ordered by name. `takes_codes`: changing tools have the argument
/// [`CONFIRMATION_ARGUMENT`]. Where `undo` is offered they have [`CHECKPOINT_VALUE`] as well.
pub(super) fn listing(toolbox: &Toolbox, settings: &Settings, takes_codes: bool) -> Vec<Tool> {
    let has_undo = toolbox.get("undo").is_some();
    let mut tools: Vec<Tool> = toolbox
        .tools()
        .iter()
        .map(|entry| {
            let spec = entry.spec;
            let mut schema = entry.input_schema().clone();
            let added = [
                (takes_codes, CONFIRMATION_ARGUMENT, "The code of a refusal, once the person has agreed."),
                (has_undo, CHECKPOINT_VALUE, "Names the state before this call, for undo."),
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
            // Claude Code hides a tool without the first until a search finds it, for which it reads the second.
            tool.meta = Some(match spec.group {
                Group::Core => meta("anthropic/alwaysLoad", true.into()),
                _ => meta("anthropic/searchHint", format!("{}: {}", spec.title, spec.purpose).into()),
            });
            if settings.structured_output {
                tool.output_schema = Some(Arc::new(entry.output_schema()));
            }
            tool
        })
        .collect();
    // In one order, as the protocol asks for: a client of 2026-07-28 may keep the list.
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

fn blocks(content: Vec<Content>, budget: AnswerBudget) -> Vec<ContentBlock> {
    let (mut left, mut images_left) = (budget, budget.image_bytes);
    let is_only_one = content.len() == 1;
    let block = |content| match content {
        Content::Text(text) => {
            let text = text_within(text, left);
            // A single text leaves nothing to divide, and measuring it is a pass over all of it.
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

// The last guard of an answer's size: what is still over the budget is shortened here, and says so.
//
// The tools keep to the budget themselves, and say better how to go on. This is for what they do not foresee: a path
// of thousands of characters in a header, a hint or a note.

/// Characters that are left of a long line, or of a text in the data: the largest number with which all fits.
const LINE_WIDTHS: [usize; 5] = [800, 400, 200, 100, 50];
/// Characters of a line where the last lines have to be left out.
const MAX_LINE: usize = 200;

/// `text` within `budget`: with its long lines cut in the middle, or else without its last lines.
pub(super) fn text_within(text: String, budget: AnswerBudget) -> String {
    if budget.fits(&text) {
        return text;
    }
    let shortened = |width| text.lines().map(|line| ends_of(line, width)).collect::<Vec<_>>();
    let with_note = |width| shortened(width).join("\n") + "\n(long lines are cut in the middle)";
    let fits = LINE_WIDTHS.into_iter().map(with_note).find(|text| budget.fits(text));
    fits.unwrap_or_else(|| first_lines(&shortened(MAX_LINE), end_of_fence(&text), budget))
}

fn first_lines(lines: &[String], end_of_fence: Option<&str>, budget: AnswerBudget) -> String {
    let end_of_fence = end_of_fence.map(|end| format!("{end}\n")).unwrap_or_default();
    let note =
        |shown: usize| format!("{end_of_fence}(cut after {shown} of {} lines; ask for a smaller part)", lines.len());
    let mut gauge = budget.less(&note(lines.len())).gauge();
    let mut text = String::new();
    let shown = lines.iter().take_while(|line| gauge.push(&mut text, &format!("{line}\n"), false)).count();
    text + &note(shown)
}

/// `data` within `budget`: with its long texts cut in the middle, or else its lists cut, too.
pub(super) fn data_within(data: Value, budget: AnswerBudget) -> Value {
    let budget = budget.of_json();
    let fits = |data: &Value| budget.fits(&data.to_string());
    if fits(&data) {
        return data;
    }
    let cut = |width, items| {
        let mut data = cut_data(&data, width, items);
        if let Value::Object(data) = &mut data {
            data.insert("cut_to_fit".to_owned(), Value::Bool(true));
        }
        data
    };
    let texts = LINE_WIDTHS.iter().map(|width| (*width, usize::MAX));
    // Half as many items each time, from 2048.
    let lists = (0..12).rev().map(|power| (LINE_WIDTHS[LINE_WIDTHS.len() - 1], 1 << power));
    let mut shorter = texts.chain(lists).map(|(width, items)| cut(width, items));
    shorter.find(fits).unwrap_or_else(|| cut(8, 0))
}

fn cut_data(data: &Value, width: usize, items: usize) -> Value {
    match data {
        Value::String(text) => Value::String(ends_of(text, width)),
        Value::Array(list) => list.iter().take(items).map(|item| cut_data(item, width, items)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), cut_data(value, width, items))).collect(),
        other => other.clone(),
    }
}

/// The two ends of a line that has more than `width` characters.
fn ends_of(line: &str, width: usize) -> String {
    // Bytes first: most lines need not be counted.
    if line.len() <= width || line.chars().nth(width).is_none() {
        return line.to_owned();
    }
    let half = width / 2;
    let head = line.char_indices().nth(half).map_or(line.len(), |(at, _)| at);
    let tail = line.char_indices().rev().nth(half - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", &line[..head], &line[tail..])
}

// Resources and completions on the wire: what the operations of the tools layer answer, as protocol types.
//
// Pure: values in, protocol types out.

/// Characters of a URI that an error repeats.
const MAX_URI: usize = 200;

pub(super) fn resource_templates(workspace: &Workspace) -> Vec<ResourceTemplate> {
    let template = |root: &Arc<Root>| {
        let name = root.name().unwrap_or("workspace");
        ResourceTemplate::new(root.resource_template(), name)
            .with_title(format!("Files in {name}"))
            .with_description("A file or directory by its path")
    };
    workspace.roots().iter().map(template).collect()
}

pub(super) fn resource_content(answer: Answer) -> ReadResourceResult {
    let fact = |key| answer.facts.get(key).and_then(Value::as_str).unwrap_or_default();
    let (uri, mime_type) = (fact("uri"), fact("mimeType"));
    let block = |content| match content {
        Content::Text(text) => Some(ResourceContents::text(text, uri).with_mime_type(mime_type)),
        Content::Image { bytes, mime } => {
            Some(ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_mime_type(mime))
        }
        // A resource is content; only `present` answers links.
        Content::Link(_) => None,
    };
    ReadResourceResult::new(answer.content.into_iter().filter_map(block).collect())
}

/// The error of a failed operation, about `uri` if it was about one.
pub(super) fn resource_error(error: &ToolError, uri: Option<&str>) -> ErrorData {
    let kind = error.kind();
    let mut data = Map::from_iter([(ERROR_KEY.to_owned(), json!(kind.as_str()))]);
    if let Some(uri) = uri {
        data.insert("uri".to_owned(), shorten(uri, MAX_URI).into());
    }
    let code = match kind {
        // The service makes it the code of the protocol version.
        Kind::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Kind::TimedOut | Kind::Cancelled | Kind::Quota | Kind::Declined | Kind::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_PARAMS,
    };
    ErrorData::new(code, error.text(), Some(Value::Object(data)))
}

pub(super) fn facts<T: DeserializeOwned>(facts: Map<String, Value>) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(facts))
        .map_err(|error| ErrorData::internal_error(format!("the answer cannot be sent: {error}"), None))
}

#[cfg(test)]
mod tests {
    use file_tools::Kind;

    use super::*;

    const TEST_BUDGET: AnswerBudget = AnswerBudget::UNKNOWN_CLIENT;

    fn settings(structured_output: bool) -> Settings {
        Settings { structured_output, ..Settings::default() }
    }

    fn wire(result: &CallToolResult) -> Value {
        serde_json::to_value(result).expect("a result serialises")
    }

    #[test]
    fn core_tools_ask_to_be_loaded_and_others_say_what_a_search_finds() {
        use file_tools::Selection;

        let groups = vec![Group::Manage, Group::Patch, Group::Watch, Group::Present];
        let toolbox = Toolbox::new(&Selection { groups, ..Selection::default() });
        let listed = listing(&toolbox, &settings(false), false);
        assert_eq!(listed.len(), toolbox.tools().len());
        let mut loaded = Vec::new();
        for tool in &listed {
            let meta = serde_json::to_value(tool).expect("a tool serialises")["_meta"].take();
            if meta == json!({ "anthropic/alwaysLoad": true }) {
                loaded.push(tool.name.to_string());
            } else {
                let hint = meta["anthropic/searchHint"].as_str().expect("a hint");
                assert!(hint.contains(": ") && meta.as_object().is_some_and(|meta| meta.len() == 1), "{meta}");
            }
        }
        let core = Toolbox::new(&Selection::default());
        assert_eq!(loaded, core.tools().iter().map(|tool| tool.spec.name).collect::<Vec<_>>());
    }

    #[test]
    fn answer_has_facts_in_meta_and_no_structured_content_by_default() {
        let wire = wire(&call_result(Answer::text("hello", &json!({ "lines": 1 })), &settings(false), TEST_BUDGET));
        assert_eq!(wire["content"], json!([{ "type": "text", "text": "hello" }]));
        assert_eq!(wire["_meta"], json!({ "rootbound/result": { "lines": 1 } }));
        assert_eq!(wire["isError"], false);
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn structured_output_fills_every_success() {
        let without = Answer::text("hello", &json!({ "lines": 1 }));
        let with = Answer { data: Some(json!({ "all": true })), ..without.clone() };
        assert_eq!(wire(&call_result(with, &settings(true), TEST_BUDGET))["structuredContent"], json!({ "all": true }));
        assert_eq!(
            wire(&call_result(without, &settings(true), TEST_BUDGET))["structuredContent"],
            json!({ "lines": 1 })
        );
    }

    #[test]
    fn error_has_its_kind_in_meta() {
        let failure = ToolError::new(Kind::NotFound, "no such file: a").hint("use ls");
        let wire = wire(&call_error(&failure, TEST_BUDGET));
        assert_eq!(wire["isError"], true);
        assert_eq!(wire["_meta"], json!({ "rootbound/error": "not_found" }));
        assert_eq!(wire["content"][0]["text"], "no such file: a\n\nhint: use ls");
        assert!(wire.get("structuredContent").is_none());
    }

    #[test]
    fn image_beyond_the_budget_is_left_out_and_said() {
        let image = |size| Content::Image { bytes: vec![0; size], mime: "image/png" };
        let content = vec![image(60), image(60), image(40)];
        let budget = AnswerBudget { image_bytes: 100, ..TEST_BUDGET };
        let wire = wire(&call_result(Answer { content, ..Answer::default() }, &settings(false), budget));
        let text = "(an image of 60 bytes is left out; read it alone)";
        assert_eq!(wire["content"][1], json!({ "type": "text", "text": text }));
        assert_eq!((&wire["content"][0]["type"], &wire["content"][2]["type"]), (&json!("image"), &json!("image")));
    }

    #[test]
    fn image_is_base64_with_its_media_type() {
        let image = Content::Image { bytes: vec![0, 1, 2, 255], mime: "image/png" };
        let wire =
            wire(&call_result(Answer { content: vec![image], ..Answer::default() }, &settings(false), TEST_BUDGET));
        assert_eq!(wire["content"], json!([{ "type": "image", "data": "AAEC/w==", "mimeType": "image/png" }]));
    }
}

#[cfg(test)]
mod answer_guard_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_over_the_budget_has_its_long_lines_cut_and_then_its_last_lines() {
        let of = |text: &str, limit| {
            let shown = text_within(text.to_owned(), AnswerBudget::bytes(limit));
            assert!(shown.len() <= limit, "{} bytes, not {limit}", shown.len());
            shown
        };
        let text = "a line of 20 bytes.\n".repeat(50);
        assert_eq!(of(&text, 1000), text);
        assert!(of(&text, 200).ends_with("bytes.\n(cut after 7 of 50 lines; ask for a smaller part)"));
        let path = format!("no such file: {}x.rs\n\nhint: use ls", "é".repeat(4000));
        let shown = of(&path, 2000);
        assert!(shown.starts_with("no such file: éé") && shown.contains("é…é"), "{shown}");
        assert!(shown.ends_with("x.rs\n\nhint: use ls\n(long lines are cut in the middle)"), "{shown}");
    }

    #[test]
    fn data_over_the_budget_has_its_texts_cut_and_then_its_lists() {
        let data = json!({ "paths": vec!["d/".repeat(500); 300], "found": 300 });
        for limit in [200_000, 5_000, 500] {
            let shown = data_within(data.clone(), AnswerBudget::bytes(limit));
            assert!(shown.to_string().len() <= limit, "{shown}");
            assert_eq!(shown["found"], 300);
            assert!(shown.get("cut_to_fit").is_some(), "{shown}");
        }
        assert_eq!(data_within(data.clone(), AnswerBudget::bytes(1 << 20)), data);
    }
}
