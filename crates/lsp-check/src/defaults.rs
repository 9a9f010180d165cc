//! What is known of some language servers: settings that keep them from running a repository's code, and language ids.

use serde_json::{Map, Value, json};

/// The initialization options for a program, with the person's over the built-in ones.
///
/// Build scripts, procedural macros and `cargo check` run code of the repository, and so code that a model may have
/// written: <https://rust-analyzer.github.io/book/configuration.html>.
pub(super) fn initialization_options(program: &str, own: &Value) -> Value {
    let mut options = match program {
        "rust-analyzer" => json!({
            "cargo": { "buildScripts": { "enable": false } },
            "procMacro": { "enable": false },
            "checkOnSave": false,
            "cachePriming": { "enable": false },
        }),
        // Downloads packages of types.
        "typescript-language-server" => json!({ "disableAutomaticTypingAcquisition": true }),
        _ => Value::Object(Map::new()),
    };
    merge(&mut options, own);
    options
}

fn merge(into: &mut Value, own: &Value) {
    match (into, own) {
        (Value::Object(into), Value::Object(own)) => {
            for (key, value) in own {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, own) => *into = own.clone(),
    }
}

/// What the protocol calls the language of files with an extension:
/// <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocumentItem>.
pub(super) fn language_id(extension: &str) -> &str {
    match extension {
        "rs" => "rust",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "typescriptreact",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "javascriptreact",
        "py" | "pyi" => "python",
        "h" => "c",
        "cc" | "cxx" | "hpp" | "hh" | "hxx" => "cpp",
        "cs" => "csharp",
        "rb" => "ruby",
        "kt" | "kts" => "kotlin",
        "sh" | "bash" => "shellscript",
        "yml" => "yaml",
        "md" => "markdown",
        "hs" => "haskell",
        "ex" | "exs" => "elixir",
        "ml" | "mli" => "ocaml",
        "pl" | "pm" => "perl",
        "tf" => "terraform",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_options_override_built_in_ones() {
        let own = json!({ "checkOnSave": true, "cargo": { "features": "all" } });
        let merged = initialization_options("rust-analyzer", &own);
        assert_eq!(merged["checkOnSave"], true);
        assert_eq!(merged["cargo"], json!({ "buildScripts": { "enable": false }, "features": "all" }));
        assert_eq!(initialization_options("gopls", &Value::Null), json!({}));
    }
}
