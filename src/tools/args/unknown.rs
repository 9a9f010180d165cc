//! The error for an argument that a tool does not have: what may have been meant, and all that it takes.

use serde_json::{Map, Value};

use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

use super::{
    super::{Alias, Kind, Spec, ToolError},
    other_tools,
    scalars::clip,
};

/// The error for the argument `given`, which is neither one of `properties` nor another spelling of one.
pub(super) fn unknown(given: &str, properties: Option<&Map<String, Value>>, spec: &Spec) -> ToolError {
    let error = ToolError::new(Kind::InvalidInput, format!("unknown argument `{}` for {}", clip(given), spec.name));
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let through_alias = spec.aliases().flat_map(|alias| match alias {
        Alias::Names { given, name } if names.contains(name) => given,
        _ => [].as_slice(),
    });
    let takes = format!("{} takes: {}", spec.name, names.join(", "));
    if let Some(words) = other_tools::suggestion(given, properties) {
        return error.hint(format!("{words} {takes}"));
    }
    let spellings = names.iter().chain(through_alias).copied();
    let near = nearest_names(given, spellings, ONE_OF_FEW);
    let meant = near.first().map(|near| spec.renamed(near).unwrap_or(near));
    match did_you_mean(meant.map(|name| format!("`{name}`"))) {
        Some(question) => error.hint(format!("{question} {takes}")),
        None if names.is_empty() => error.hint(format!("{} takes no arguments", spec.name)),
        None => error.hint(takes),
    }
}
