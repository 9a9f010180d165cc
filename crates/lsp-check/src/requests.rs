//! What a server is sent at its start, and the answers to its requests.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// The request that opens the conversation. Only what is used is announced.
pub(super) fn initialize(root_uri: &str, options: &Value) -> Value {
    json!({
        "processId": null,
        "clientInfo": { "name": "rootbound", "version": env!("CARGO_PKG_VERSION") },
        "rootUri": root_uri,
        "workspaceFolders": [{ "uri": root_uri, "name": "root" }],
        "initializationOptions": options,
        "capabilities": {
            "general": { "positionEncodings": ["utf-16"] },
            "textDocument": {
                "synchronization": { "didSave": true },
                "publishDiagnostics": { "versionSupport": true },
                "diagnostic": { "dynamicRegistration": false },
            },
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "diagnostics": { "refreshSupport": true },
            },
            "window": { "workDoneProgress": true },
            // Of rust-analyzer: whether it has loaded the project.
            "experimental": { "serverStatusNotification": true },
        },
    })
}

#[derive(Deserialize)]
struct ConfigurationParams<'m> {
    #[serde(borrow)]
    items: Vec<ConfigurationItem<'m>>,
}

#[derive(Deserialize)]
struct ConfigurationItem<'m> {
    #[serde(borrow)]
    section: Option<Cow<'m, str>>,
}

/// Values that one request for the configuration gets.
const MAX_SECTIONS: usize = 100;

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
            let wanted = params.and_then(|params| serde_json::from_str::<ConfigurationParams<'_>>(params.get()).ok());
            let wanted = wanted.map_or_else(Vec::new, |params| params.items);
            wanted.iter().take(MAX_SECTIONS).map(|item| section(settings, item.section.as_deref())).collect()
        }
        "workspace/applyEdit" => json!({ "applied": false, "failureReason": "edits are not applied" }),
        "workspace/workspaceFolders" => json!([{ "uri": root_uri, "name": "root" }]),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest"
        | "workspace/diagnostic/refresh" => Value::Null,
        _ => {
            let error = json!({ "code": -32601, "message": "not offered" });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The settings of a section, which may have dots in it.
fn section(settings: &Value, section: Option<&str>) -> Value {
    let Some(section) = section.filter(|section| !section.is_empty()) else { return settings.clone() };
    if let Some(whole) = settings.get(section) {
        return whole.clone();
    }
    section.split('.').try_fold(settings, |value, name| value.get(name)).cloned().unwrap_or(Value::Null)
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
}
