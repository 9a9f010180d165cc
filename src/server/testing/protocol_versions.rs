//! Every protocol version in one process, and what `initialize`, `server/discover` and `tools/list` answer.

use serde_json::{Value, json};

use file_tools::Settings;

use super::{ServerOptions, Wire, initialize, modern, text};

#[tokio::test]
async fn every_version_with_a_handshake_is_negotiated() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = Wire::raw().ask(1, "initialize", initialize(version)).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
    }
    for unknown in ["2023-01-01", "2031-01-01", "2026-07-28", "nonsense"] {
        let answer = Wire::raw().ask(1, "initialize", initialize(unknown)).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{unknown}");
    }
}

#[tokio::test]
async fn initialize_declares_only_tools() {
    let answer = Wire::raw().ask(1, "initialize", initialize("2025-11-25")).await;
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "rootbound");
    assert_eq!(result["serverInfo"]["title"], "Rootbound");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["instructions"], "for tests");
    assert!(result.get("resultType").is_none(), "{answer}");
}

#[tokio::test]
async fn second_initialize_with_an_unknown_version_keeps_the_session() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "initialize", initialize("2099-01-01")).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(wire.ask(2, "ping", json!({})).await["result"], json!({}));
    wire.alive().await;
}

#[tokio::test]
async fn discover_is_answered_before_a_handshake() {
    let mut wire = Wire::raw();
    let answer = wire.ask(1, "server/discover", modern(json!({}))).await;
    let result = &answer["result"];
    assert!(result["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))), "{answer}");
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{answer}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "rootbound");
    wire.greet().await.alive().await;
}

#[tokio::test]
async fn discover_without_metadata_is_an_error_and_a_handshake_still_works() {
    let mut wire = Wire::raw();
    assert_eq!(wire.ask(1, "server/discover", json!({})).await["error"]["code"], -32602);
    wire.greet().await.alive().await;
}

#[tokio::test]
async fn modern_requests_need_no_handshake() {
    let mut wire = Wire::raw();
    let list = wire.ask(1, "tools/list", modern(json!({}))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["cacheScope"].is_string(), "{list}");
    let call = json!({ "name": "echo", "arguments": { "text": "hi" } });
    let answer = wire.ask(2, "tools/call", modern(call)).await;
    assert_eq!(text(&answer), "hi");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(wire.ask(3, "ping", modern(json!({}))).await["error"]["code"], -32601);
    assert_eq!(wire.ask(4, "resources/list", modern(json!({}))).await["error"]["code"], -32601);
    let listen = modern(json!({ "notifications": { "toolsListChanged": true } }));
    assert_eq!(wire.ask(5, "subscriptions/listen", listen).await["error"]["code"], -32601);
}

#[tokio::test]
async fn methods_that_are_gone_are_unknown_whatever_their_arguments() {
    let mut wire = Wire::raw();
    let whole = modern(json!({}))["_meta"].clone();
    let half = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "prompts/list",
    ] {
        for params in [json!({}), json!({ "level": 7, "uri": [], "capabilities": 1 }), initialize("2025-11-25")] {
            for meta in [&whole, &half] {
                let mut params = params.clone();
                params["_meta"] = meta.clone();
                let answer = wire.ask(1, method, params).await;
                assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
            }
            let mut future = params.clone();
            future["_meta"] = whole.clone();
            future["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
            assert_eq!(wire.ask(2, method, future).await["error"]["code"], -32022, "{method}");
        }
    }
    wire.greet().await.alive().await;
}

#[tokio::test]
async fn wrong_parameters_are_named_in_own_words() {
    let mut wire = Wire::open().await;
    let client = json!({ "name": "x", "version": "1" });
    for (method, params, said) in [
        ("tools/call", json!({}), "`name` is missing"),
        ("tools/call", json!([]), "`params` must be an object"),
        ("tools/call", json!({ "name": 7 }), "`name` must be a text"),
        ("tools/call", json!({ "name": "echo", "arguments": [1] }), "`arguments` must be an object"),
        ("tools/call", json!({ "name": "echo", "_meta": 7 }), "`_meta` must be an object"),
        ("tools/call", json!({ "name": "echo", "requestState": 7 }), "`requestState` is not as the protocol has it"),
        ("initialize", json!({}), "`protocolVersion` is missing"),
        ("initialize", json!({ "protocolVersion": "2025-11-25" }), "`capabilities` is missing"),
        (
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": 1, "version": "1" } }),
            "`clientInfo.name` must be a text",
        ),
        (
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": 7 }, "clientInfo": client }),
            "its members are not those of the protocol",
        ),
        ("tools/list", json!({ "cursor": 7 }), "`cursor` must be a text"),
    ] {
        let error = wire.ask(1, method, params.clone()).await["error"].clone();
        assert_eq!(error["code"], -32602, "{params}: {error}");
        assert_eq!(error["message"], format!("{method}: {said}"), "{params}");
    }
    // Not one parse of all of them for each.
    let mut many: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("member{n}"), json!(n))).collect();
    many.extend([("name".to_owned(), json!("echo")), ("requestState".to_owned(), json!(7))]);
    let error = wire.ask(1, "tools/call", many.into()).await["error"].clone();
    assert_eq!(error["message"], "tools/call: its members are not those of the protocol");
    wire.alive().await;
}

#[tokio::test]
async fn modern_request_needs_all_metadata_and_a_known_version() {
    let mut wire = Wire::raw();
    let mut half = modern(json!({}));
    half["_meta"].as_object_mut().expect("object").remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(wire.ask(1, "tools/list", half).await["error"]["code"], -32602);
    let mut future = modern(json!({}));
    future["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let answer = wire.ask(2, "tools/list", future).await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
}

#[tokio::test]
async fn request_without_handshake_or_metadata_is_refused() {
    let mut wire = Wire::raw();
    for (method, params) in [("tools/list", json!({})), ("tools/call", json!({ "name": "echo" }))] {
        let answer = wire.ask(1, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!(wire.ask(2, "no/such/method", json!({})).await["error"]["code"], -32601);
    wire.greet().await.alive().await;
}

#[tokio::test]
async fn both_protocol_versions_are_served_side_by_side() {
    let mut wire = Wire::raw();
    assert!(wire.ask(1, "tools/list", modern(json!({}))).await["result"]["tools"].is_array());
    let mut wire = wire.greet().await;
    wire.alive().await;
    assert!(wire.ask(2, "tools/list", json!({})).await["result"].get("resultType").is_none());
    assert_eq!(wire.ask(3, "tools/list", modern(json!({}))).await["result"]["resultType"], "complete");
    assert_eq!(wire.ask(4, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn tools_list_is_ordered_complete_and_stable() {
    let mut wire = Wire::open().await;
    let first = wire.ask(1, "tools/list", json!({})).await["result"].clone();
    let tools = first["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("name")).collect();
    assert!(names.is_sorted() && names.contains(&"echo"), "{names:?}");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["title"], "Test tool");
        assert_eq!(
            tool["annotations"],
            json!({ "title": "Test tool", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false })
        );
        assert!(tool.get("outputSchema").is_none());
    }
    assert_eq!(wire.ask(2, "tools/list", Value::Null).await["result"], first);
    let answer = wire.ask(3, "tools/list", json!({ "cursor": "x" })).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn structured_output_declares_a_schema_and_fills_it() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let mut wire = Wire::with(ServerOptions::default(), settings).greet().await;
    let list = wire.ask(1, "tools/list", json!({})).await;
    for tool in list["result"]["tools"].as_array().expect("tools") {
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
    let answer = wire.ask(2, "tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } })).await;
    assert_eq!(answer["result"]["structuredContent"], json!({ "text": "hi" }));
    assert_eq!(text(&answer), "hi");
    let answer = wire.ask(3, "tools/call", json!({ "name": "nap" })).await;
    assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
}
