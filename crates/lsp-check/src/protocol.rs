//! The messages of the protocol: the first request, the answers to a server's requests, and in them the settings that
//! keep it from running a repository's code.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde_json::{Map, Value, json, value::RawValue};

/// Values that one request for the configuration gets.
const MAX_SECTIONS: usize = 100;
/// Characters of a path that a URI has unescaped, besides letters and digits.
const ENCODED_CHARS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn initialize(root_uri: &str, options: &Value) -> Value {
    json!({
        "processId": null,
        "clientInfo": { "name": "rootbound", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": root_uri,
        "workspaceFolders": [{ "uri": root_uri, "name": "root" }],
        "initializationOptions": options,
        "capabilities": {
            // The only encoding of positions that every server has to offer.
            "general": { "positionEncodings": ["utf-16"] },
            "textDocument": {
                "synchronization": { "didSave": true },
                "publishDiagnostics": { "versionSupport": true },
                // Not later: whether it is asked for diagnostics is read off its answer to this request.
                "diagnostic": { "dynamicRegistration": false },
            },
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                // The protocol has no other registration for it.
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "diagnostics": { "refreshSupport": true },
            },
            "window": { "workDoneProgress": true },
            // Of rust-analyzer: whether it has loaded the project.
            "experimental": { "serverStatusNotification": true },
        },
    })
}

/// The answer to a request of a server. It may ask for its configuration; nothing that it asks for is done.
pub(super) fn answer(
    id: &RawValue,
    method: &str,
    params: Option<&RawValue>,
    root_uri: &str,
    settings: &Value,
) -> Value {
    let result = match method {
        "workspace/configuration" => {
            let params = params.map(parsed).unwrap_or_default();
            let wanted = params["items"].as_array().into_iter().flatten().take(MAX_SECTIONS);
            wanted.map(|item| section(settings, item["section"].as_str())).collect()
        }
        "workspace/applyEdit" => json!({ "applied": false, "failureReason": "edits are not applied" }),
        "workspace/workspaceFolders" => json!([{ "uri": root_uri, "name": "root" }]),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest"
        | "workspace/diagnostic/refresh" => Value::Null,
        _ => {
            // `MethodNotFound`: <https://www.jsonrpc.org/specification#error_object>.
            let error = json!({ "code": -32601, "message": "not offered" });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn section(settings: &Value, section: Option<&str>) -> Value {
    let Some(section) = section.filter(|section| !section.is_empty()) else { return settings.clone() };
    if let Some(whole) = settings.get(section) {
        return whole.clone();
    }
    section.split('.').try_fold(settings, |value, name| value.get(name)).cloned().unwrap_or(Value::Null)
}

/// A part of a message; null where it is nested too deeply to be read.
pub(super) fn parsed(part: &RawValue) -> Value {
    serde_json::from_str(part.get()).unwrap_or_default()
}

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

/// The languages of extensions, where the extension is not the name itself:
/// <https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#textDocumentItem>.
const LANGUAGE_IDS: &str = "rs=rust ts=typescript mts=typescript cts=typescript tsx=typescriptreact js=javascript mjs=javascript \
     cjs=javascript jsx=javascriptreact py=python pyi=python h=c cc=cpp cxx=cpp hpp=cpp hh=cpp hxx=cpp cs=csharp rb=ruby \
     kt=kotlin kts=kotlin sh=shellscript bash=shellscript yml=yaml md=markdown hs=haskell ex=elixir exs=elixir ml=ocaml \
     mli=ocaml pl=perl pm=perl tf=terraform";

pub(super) fn language_id(extension: &str) -> &str {
    let id = |pair: &'static str| pair.strip_prefix(extension)?.strip_prefix('=');
    LANGUAGE_IDS.split(' ').find_map(id).unwrap_or(extension)
}

pub(super) fn file_uri(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_encoded_bytes(), ENCODED_CHARS))
}

/// The same `file:` URI as [`file_uri`] spells it: servers encode more or fewer characters than they were sent.
pub(super) fn respelled(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    format!("file://{}", percent_encode(&bytes, ENCODED_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(method: &str, params: &str) -> Value {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let settings = json!({ "python": { "analysis": { "mode": "strict" } }, "a.b": 1 });
        answer(&raw("\"7\""), method, Some(&raw(params)), "file:///r", &settings)
    }

    #[test]
    fn configuration_is_given_by_section() {
        let items = r#"{"items":[{"section":"python.analysis"},{"section":"a.b"},{"section":"x"},{}]}"#;
        let result = &answered("workspace/configuration", items)["result"];
        assert_eq!(result[0], json!({ "mode": "strict" }));
        assert_eq!((&result[1], &result[2]), (&json!(1), &Value::Null));
        assert!(result[3].is_object());
        assert_eq!(answered("workspace/configuration", "[]")["result"], json!([]));
    }

    #[test]
    fn edits_and_unknown_requests_are_refused() {
        assert_eq!(answered("workspace/applyEdit", "{}")["result"]["applied"], false);
        assert_eq!(answered("workspace/executeCommand", "{}")["error"]["code"], -32601);
        assert_eq!(answered("window/showDocument", "{}")["id"], "7");
    }

    #[test]
    fn own_options_override_built_in_ones() {
        let own = json!({ "checkOnSave": true, "cargo": { "features": "all" } });
        let merged = initialization_options("rust-analyzer", &own);
        assert_eq!(merged["checkOnSave"], true);
        assert_eq!(merged["cargo"], json!({ "buildScripts": { "enable": false }, "features": "all" }));
        assert_eq!(initialization_options("gopls", &Value::Null), json!({}));
    }

    #[test]
    fn uris_of_one_file_are_one_text() {
        let own = file_uri(Path::new("/a b/c+d@e/ü.rs"));
        assert_eq!(own, "file:///a%20b/c%2Bd%40e/%C3%BC.rs");
        assert_eq!(respelled("file:///a%20b/c+d%40e/%c3%bc.rs"), own);
        assert_eq!(respelled("untitled:x"), "untitled:x");
    }
}
