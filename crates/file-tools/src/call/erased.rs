//! Tools of different types as values of one type, which decodes the arguments of each. Each that changes something has the
//! argument `checkpoint` as well: a name for the state just before the call.

use std::sync::LazyLock;

use change_set::Approval;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::session::{
    Cost,
    history::{CheckpointName, CheckpointNameError},
};

use super::{
    answer::{Answer, Content, ReferenceNote},
    args,
    context::CallContext,
    error::ToolError,
    tool::{Change, Fingerprint, Plan, Preview, Spec, Tool},
};

type Planner = fn(&CallContext, Map<String, Value>, &ErasedTool) -> Result<Plan, ToolError>;

/// A tool without its type: what the registry holds.
#[derive(Debug)]
pub struct ErasedTool {
    pub spec: &'static Spec,
    /// Arguments of usual calls, as JSON, for the texts that a person gives to a model.
    pub examples: &'static [&'static str],
    input_schema: LazyLock<Map<String, Value>>,
    output_schema: fn() -> Map<String, Value>,
    /// Whether a call may be answered [inline](Tool::INLINE).
    pub inline: bool,
    pub waits: bool,
    plan: Planner,
}

impl ErasedTool {
    pub const fn of<T: Tool>(examples: &'static [&'static str]) -> Self {
        Self {
            spec: &T::SPEC,
            examples,
            input_schema: LazyLock::new(input_schema::<T::Args>),
            output_schema: output_schema::<T::Output>,
            plan: |cx, arguments, tool| T::plan(cx, tool.decoded(arguments)?),
            inline: T::INLINE,
            waits: T::WAITS,
        }
    }

    fn decoded<A: DeserializeOwned>(&self, arguments: Map<String, Value>) -> Result<A, ToolError> {
        args::bounded(&arguments)?;
        args::decode(args::normalise(arguments, self.input_schema(), self.spec)?)
    }

    /// The arguments under the names of the schema and without those that are ignored, so that calls of one meaning are
    /// equal; as they are where that is not possible.
    pub fn canonical(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let mut known = arguments.clone();
        let checkpoint = (!self.spec.read_only).then(|| known.remove(CHECKPOINT_VALUE)).flatten();
        let Ok(mut normal) = args::normalise(known, self.input_schema(), self.spec) else { return arguments.clone() };
        normal.extend(checkpoint.map(|name| (CHECKPOINT_VALUE.to_owned(), name)));
        normal
    }

    /// JSON Schema of the arguments, in the plain form every provider takes. Built at the first use:
    /// a client that starts a process for each call needs one of them, not all.
    pub fn input_schema(&self) -> &Map<String, Value> {
        &self.input_schema
    }

    /// JSON Schema of the structured result; built on demand, as most clients never ask.
    pub fn output_schema(&self) -> Map<String, Value> {
        (self.output_schema)()
    }

    pub fn plan(&self, cx: &CallContext, mut arguments: Map<String, Value>) -> Result<Plan, ToolError> {
        let checkpoint = if self.spec.read_only { None } else { take_checkpoint(&mut arguments)? };
        let plan = (self.plan)(cx, arguments, self)?;
        let note = ReferenceNote::of(cx);
        Ok(match plan {
            Plan::Answer(mut answer) => {
                if let Some(note) = note {
                    answer = note.before(answer);
                }
                if let Some(name) = checkpoint {
                    add_note(&mut answer, &format!("no checkpoint {name} was made, as nothing was changed"));
                }
                Plan::Answer(answer)
            }
            Plan::Change(change) if note.is_some() || checkpoint.is_some() => {
                Plan::Change(Box::new(NotedChange { change, note, checkpoint }))
            }
            plan => plan,
        })
    }
}

fn input_schema<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = root::<T>(SchemaSettings::draft2020_12());
    // OpenAI's strict mode demands it; Gemini's converters ignore it.
    schema.insert("additionalProperties".into(), Value::Bool(false));
    schema
}

fn output_schema<T: JsonSchema>() -> Map<String, Value> {
    root::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn root<T: JsonSchema>(mut settings: SchemaSettings) -> Map<String, Value> {
    settings.inline_subschemas = true;
    // google-genai's strict model of a schema rejects `$schema`, and `const`, too.
    settings.meta_schema = None;
    let settings = settings.with_transform(RecursiveTransform(plain));
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let Value::Object(mut schema) = schema else { return Map::new() };
    // The tool's own description says it; a second one is tokens without news.
    schema.remove("title");
    schema.remove("description");
    // Without it on one tool Claude Code drops all tools of the server.
    schema.insert("type".into(), "object".into());
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

fn plain(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    unwrap_nullable(schema);
    fold_constants(schema);
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        // langchain-google-genai 4.4.2 makes a text of `["integer", "null"]`, and the model then sends "2".
        types.retain(|one| one != "null");
        if types.len() == 1 {
            let one = types.remove(0);
            schema.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|one| !one.is_null());
    }
    if matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number")) {
        // Gemini's API knows no `uint32`.
        schema.remove("format");
        // `minimum: 0` only repeats that the Rust type is unsigned; ranges are in the descriptions.
        schema.remove("minimum");
        schema.remove("maximum");
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    // A description keeps the line breaks of its doc comment.
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// `anyOf: [X, null]` → X, with the outer description kept.
fn unwrap_nullable(schema: &mut Map<String, Value>) {
    let Some(Value::Array(arms)) = schema.get_mut("anyOf") else { return };
    arms.retain(|arm| arm.get("type").is_none_or(|kind| kind != "null"));
    if arms.len() != 1 {
        return;
    }
    let only = arms.remove(0);
    schema.remove("anyOf");
    if let Value::Object(only) = only {
        for (key, value) in only {
            schema.entry(key).or_insert(value);
        }
    }
}

fn fold_constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(arms)) = schema.get("oneOf") else { return };
    let mut choices = Vec::new();
    for arm in arms {
        match (arm.get("const"), arm.get("enum").and_then(Value::as_array)) {
            (Some(constant), _) => choices.push(constant.clone()),
            (None, Some(several)) => choices.extend(several.iter().cloned()),
            (None, None) => return,
        }
    }
    // schemars makes one of an enumeration whose values have doc comments; Gemini's API takes none.
    schema.remove("oneOf");
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), Value::Array(choices));
}

/// Value of the argument `dry_run` that sets a checkpoint.
pub const CHECKPOINT_VALUE: &str = "checkpoint";

/// Takes the name out of the arguments of a call.
///
/// # Errors
/// `invalid_input` for what is no name.
pub(super) fn take_checkpoint(arguments: &mut Map<String, Value>) -> Result<Option<CheckpointName>, ToolError> {
    let hint = "pass a short name such as before-rename; undo with to=before-rename goes back to it";
    match arguments.remove(CHECKPOINT_VALUE) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => {
            name.parse().map(Some).map_err(|why: CheckpointNameError| ToolError::invalid(why.to_string()).hint(hint))
        }
        Some(other) => Err(ToolError::invalid(format!("checkpoint is a name, not {other}")).hint(hint)),
    }
}

/// `change`, whose answer says which names were resolved, and that the state before it is called `checkpoint`.
struct NotedChange {
    change: Box<dyn Change>,
    note: Option<ReferenceNote>,
    checkpoint: Option<CheckpointName>,
}

impl Change for NotedChange {
    fn preview(&self) -> Preview {
        self.change.preview()
    }

    fn cost(&self) -> Cost {
        self.change.cost()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.change.fingerprint()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        // Before the change, which gets this number or a later one.
        let first = cx.session.history.position();
        let rest = self.note.as_ref().map(|note| note.rest_of_call(cx));
        let answer = self.change.commit(rest.as_ref().unwrap_or(cx), approval)?;
        let mut answer = match self.note {
            Some(note) => note.before(answer),
            None => answer,
        };
        if let Some(name) = self.checkpoint {
            let roots: Vec<&str> = cx.workspace.roots().iter().map(|root| root.key()).collect();
            let note = match cx.session.history.set_checkpoint(&name, first, &roots, cx.by.as_ref()) {
                Ok(false) => format!("checkpoint {name}: the state before this call"),
                Ok(true) => format!("checkpoint {name} was moved: it is now the state before this call"),
                Err(error) => {
                    let why = "is lost when the server ends: the history could not be written:";
                    format!("checkpoint {name} {why} {}", error.kind())
                }
            };
            add_note(&mut answer, &note);
        }
        Ok(answer)
    }
}

fn add_note(answer: &mut Answer, note: &str) {
    let text =
        answer.content.iter_mut().find_map(|content| if let Content::Text(text) = content { Some(text) } else { None });
    if let Some(text) = text {
        // Before a diff, which may be cut where the answer is full.
        let at = text.find('\n').unwrap_or(text.len());
        text.insert_str(at, &format!("\n({note})"));
    }
    answer.facts.insert(CHECKPOINT_VALUE.to_owned(), note.into());
    // Not every tool's output has notes.
    let notes = answer.data.as_mut().and_then(|data| data.get_mut("notes")).and_then(Value::as_array_mut);
    if let Some(notes) = notes {
        notes.push(note.into());
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Sample {
        /// What to look
        /// for.
        pattern: String,
        max_results: Option<u32>,
        /// The order.
        sort: Option<Sort>,
        edits: Option<Vec<Inner>>,
        mode: Option<Mode>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        One,
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Sort {
        Modified,
        Path,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        old: Option<bool>,
    }

    #[test]
    fn a_schema_has_only_what_every_provider_takes() {
        let schema = Value::Object(input_schema::<Sample>());
        let text = schema.to_string();
        for word in ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "const", "null", "format"] {
            assert!(!text.contains(&format!("\"{word}\"")), "{word} in {text}");
        }
        assert_eq!(schema["properties"]["max_results"]["type"], "integer");
        assert_eq!(schema["properties"]["sort"]["enum"], serde_json::json!(["modified", "path"]));
        assert_eq!(schema["properties"]["mode"]["enum"], serde_json::json!(["one", "two"]));
        assert!(!text.contains("null"), "{text}");
        assert_eq!(schema["properties"]["sort"]["description"], "The order.");
        assert_eq!(schema["properties"]["pattern"]["description"], "What to look for.");
        assert_eq!(schema["properties"]["edits"]["items"]["properties"]["old"]["type"], "boolean");
        assert_eq!(schema["required"], serde_json::json!(["pattern"]));
        assert_eq!(schema["additionalProperties"], false);
    }
}
