//! Tools of different types as values of one type, which decodes the arguments of each.

use std::{fmt, sync::OnceLock};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    Blocking, CallContext, Plan, Spec, Tool, ToolError, args,
    checkpoint::{self, CHECKPOINT},
    plan,
    reference_note::ReferenceNote,
    schema,
};

/// Decodes a tool's arguments and plans the call, whatever its types are.
type Planner = fn(&CallContext, Map<String, Value>, &ErasedTool) -> Result<Plan, ToolError>;

/// A tool without its type: what the registry holds.
pub struct ErasedTool {
    /// Name, texts and hints.
    pub spec: &'static Spec,
    input_schema: OnceLock<Map<String, Value>>,
    make_input_schema: fn() -> Map<String, Value>,
    output_schema: fn() -> Map<String, Value>,
    /// Whether a call may be answered [inline](Tool::INLINE).
    pub inline: bool,
    /// Whether a call may [wait](Tool::WAITS).
    pub waits: bool,
    plan: Planner,
}

impl fmt::Debug for ErasedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

impl ErasedTool {
    pub(crate) fn of<T: Tool>() -> Self {
        Self {
            spec: &T::SPEC,
            input_schema: OnceLock::new(),
            make_input_schema: schema::input::<T::Args>,
            output_schema: schema::output::<T::Output>,
            plan: |cx, arguments, tool| T::plan(cx, tool.decoded(cx, arguments)?),
            inline: T::INLINE,
            waits: T::WAITS,
        }
    }

    fn decoded<A: DeserializeOwned>(&self, cx: &CallContext, arguments: Map<String, Value>) -> Result<A, ToolError> {
        args::bounded(&arguments, &cx.settings)?;
        args::decode(args::normalise(arguments, self.input_schema(), self.spec)?)
    }

    /// The arguments under the names of the schema and without those that are ignored, so that calls of one meaning are
    /// equal; as they are where that is not possible.
    pub fn canonical(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let mut known = arguments.clone();
        let checkpoint = (!self.spec.read_only).then(|| known.remove(CHECKPOINT)).flatten();
        let normal = args::normalise(known, self.input_schema(), self.spec);
        let normal = normal.map(|mut normal| {
            normal.extend(checkpoint.map(|name| (CHECKPOINT.to_owned(), name)));
            normal
        });
        normal.unwrap_or_else(|_| arguments.clone())
    }

    /// JSON Schema of the arguments, in the plain form every provider takes. Built at the first use:
    /// a client that starts a process for each call needs one of them, not all.
    pub fn input_schema(&self) -> &Map<String, Value> {
        self.input_schema.get_or_init(self.make_input_schema)
    }

    /// JSON Schema of the structured result; built on demand, as most clients never ask.
    pub fn output_schema(&self) -> Map<String, Value> {
        (self.output_schema)()
    }

    /// Decodes the arguments and plans the call.
    pub fn plan(&self, cx: &CallContext, mut arguments: Map<String, Value>) -> Result<Plan, ToolError> {
        if self.spec.read_only {
            return self.plan_noted(cx, arguments);
        }
        let checkpoint = checkpoint::take(&mut arguments)?;
        let plan = self.plan_noted(cx, arguments)?;
        Ok(match checkpoint {
            None => plan,
            Some(name) => checkpoint::before(plan, name),
        })
    }

    fn plan_noted(&self, cx: &CallContext, arguments: Map<String, Value>) -> Result<Plan, ToolError> {
        // An inline attempt looks for no path that is given by its end, and a change answers in a few lines.
        let again = (self.spec.read_only && cx.blocking == Blocking::Allowed).then(|| arguments.clone());
        let plan = (self.plan)(cx, arguments, self)?;
        let Some(note) = ReferenceNote::of(cx) else { return Ok(plan) };
        Ok(match (plan, again) {
            (Plan::Answer(answer), Some(arguments)) if !note.fits(cx, &answer) => {
                match (self.plan)(&note.room(cx), arguments, self)? {
                    Plan::Answer(answer) => Plan::Answer(note.before(answer)),
                    other => other,
                }
            }
            (Plan::Answer(answer), _) => Plan::Answer(note.before(answer)),
            (Plan::Change(change), _) => plan::around(change, move |change, cx, approval| {
                let answer = change.commit(&note.room(cx), approval)?;
                Ok(note.before(answer))
            }),
            (wait @ Plan::Wait(_), _) => wait,
        })
    }
}
