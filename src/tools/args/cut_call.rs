//! The words for a call that arrived without its end: a client that reaches its limit of output sends what it has of the
//! arguments.

use serde_json::{Map, Value};

use super::super::{Spec, ToolError};

/// How a text that was too long for one call is sent.
const CONTENT: &str = "if the text is long, write its first part with mode=overwrite, then each other part with mode=append \
                       and at= the size that the answer before names";
const NEW_STRING: &str = "to delete text, pass new_string=\"\"; if the new text is long, put in its first part, and the other \
                          parts behind it with more calls";
const PATCH: &str = "if the patch is long, send it in several calls, a few files or hunks in each";

/// Arguments that can be so long that a call is cut within them, and what to do then.
const LONG: &[(&str, &str)] = &[("content", CONTENT), ("new_string", NEW_STRING), ("patch", PATCH)];

/// The error for an argument that a call needs and does not have.
pub(in crate::tools) fn missing(name: &str, spec: &Spec) -> ToolError {
    match LONG.iter().find(|(long, _)| *long == name) {
        Some((_, next)) => {
            ToolError::invalid(format!("the argument `{name}` is missing; the request may have been cut")).hint(*next)
        }
        None => ToolError::invalid(format!("the argument `{name}` is missing"))
            .hint(format!("call {} again with {name}", spec.name)),
    }
}

/// The error for a call without any argument, where its tool takes a long one: those that were sent are lost.
pub(super) fn no_arguments(spec: &Spec, properties: Option<&Map<String, Value>>) -> Option<ToolError> {
    let has = |name: &str| properties.is_some_and(|known| known.contains_key(name));
    let (_, next) = LONG.iter().find(|(name, _)| has(name))?;
    let sentence = format!("no arguments for {} arrived; the request may have been cut", spec.name);
    Some(ToolError::invalid(sentence).hint("call it again with all its arguments").hint(*next))
}

/// Whether `text` is JSON that ends too early.
pub(crate) fn is_cut_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
}

/// The error for the argument `name` that was sent as JSON text and ends too early.
pub(super) fn cut_text(name: &str) -> ToolError {
    ToolError::invalid(format!("`{name}` is JSON text that ends too early; the request may have been cut"))
        .hint("nothing was changed; send it again, with fewer or shorter entries in each call")
}
