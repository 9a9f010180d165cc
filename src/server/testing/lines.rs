//! Lines that are not valid messages: each gets an error with its id, and the session continues.

use std::{collections::HashSet, mem};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream, duplex},
    task::JoinHandle,
};

use file_tools::Settings;

use super::{FOREVER, ServerOptions, Wire, error_kind, text};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

#[tokio::test]
async fn malformed_json_is_answered_with_its_id() {
    let mut wire = Wire::open().await;
    let line = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":}}"#;
    assert_eq!(wire.refused(line).await, (PARSE_ERROR, json!(7)));
    assert_eq!(wire.refused(br#"{"jsonrpc":"2.0","id":"a","method":"#).await, (PARSE_ERROR, json!("a")));
    wire.alive().await;
}

#[tokio::test]
async fn plain_text_is_answered_with_a_null_id() {
    let mut wire = Wire::open().await;
    assert_eq!(wire.refused(b"Listening on port 3000").await, (PARSE_ERROR, Value::Null));
    wire.alive().await;
}

#[tokio::test]
async fn deep_nesting_is_refused_with_its_id() {
    let mut wire = Wire::open().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{deep}}}}}}}"#
    );
    assert_eq!(wire.refused(line.as_bytes()).await, (INVALID_PARAMS, json!(8)));
    wire.alive().await;
}

#[tokio::test]
async fn line_over_the_limit_is_refused_with_its_id() {
    let options = ServerOptions { max_line: 100_000, ..ServerOptions::default() };
    let mut wire = Wire::with(options, Settings::default()).greet().await;
    let long = "x".repeat(300_000);
    let params = format!(r#""params":{{"name":"echo","arguments":{{"text":"{long}","id":1}}}}"#);
    let first = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call",{params}}}"#);
    let last = format!(r#"{{"jsonrpc":"2.0","method":"tools/call",{params},"id":"end"}}"#);
    assert_eq!(wire.refused(first.as_bytes()).await, (INVALID_REQUEST, json!(9)));
    assert_eq!(wire.refused(last.as_bytes()).await, (INVALID_REQUEST, json!("end")));
    assert_eq!(wire.refused(long.as_bytes()).await, (INVALID_REQUEST, Value::Null));
    wire.alive().await;
}

#[tokio::test]
async fn long_line_within_the_limit_is_served() {
    let mut wire = Wire::with(ServerOptions::default(), Settings { max_output: Some(2 << 20), ..Settings::default() })
        .greet()
        .await;
    let long = "é".repeat(500_000);
    wire.call(1, "echo", json!({ "text": long })).await;
    assert_eq!(text(&wire.answer().await), long);
}

#[tokio::test]
async fn wrong_types_in_a_known_method_are_invalid_params() {
    let mut wire = Wire::open().await;
    for (id, params) in [
        (1, json!({})),
        (2, json!({ "name": 5 })),
        (3, json!({ "name": "echo", "arguments": "text" })),
        (4, json!({ "name": "echo", "arguments": [1] })),
        (5, json!([1, 2])),
    ] {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
        assert_eq!(wire.refused(line.as_bytes()).await, (INVALID_PARAMS, json!(id)), "{line}");
    }
    let line = br#"{"jsonrpc":"2.0","id":6,"method":"tools/call"}"#;
    assert_eq!(wire.refused(line).await, (INVALID_PARAMS, json!(6)));
    wire.alive().await;
}

#[tokio::test]
async fn absent_and_null_arguments_are_accepted() {
    let mut wire = Wire::open().await;
    for params in [json!({ "name": "echo" }), json!({ "name": "echo", "arguments": null })] {
        let answer = wire.ask(1, "tools/call", params).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[tokio::test]
async fn methods_of_undeclared_capabilities_are_not_found() {
    let mut wire = Wire::open().await;
    for (method, params) in [
        ("logging/setLevel", json!({ "level": "debug" })),
        ("logging/setLevel", json!({ "level": "nonsense" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "x" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "file:///etc/passwd" })),
        ("resources/subscribe", json!({ "uri": "file:///x" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } }),
        ),
        ("subscriptions/listen", json!({ "notifications": {} })),
        ("tasks/get", json!({ "taskId": "x" })),
        ("no/such/method", json!({})),
        ("no/params", Value::Null),
    ] {
        let answer = wire.ask(method, method, params).await;
        assert_eq!(answer["error"]["code"], METHOD_NOT_FOUND, "{answer}");
        assert_eq!(answer["error"]["message"], method);
    }
}

#[tokio::test]
async fn invalid_utf8_and_lone_surrogates_are_invalid_params() {
    let mut wire = Wire::open().await;
    let with = |text: &[u8]| {
        let head = br#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo","arguments":{"text":""#;
        [&head[..], text, br#""}}}"#].concat()
    };
    for text in [&b"\xff\xfe"[..], b"\xc3\x28", br"\ud800", br"\udc00 \ud800x"] {
        assert_eq!(wire.refused(&with(text)).await, (INVALID_PARAMS, json!(11)), "{text:?}");
    }
    wire.alive().await;
}

#[tokio::test]
async fn invalid_requests_are_refused_with_their_id() {
    let mut wire = Wire::open().await;
    for (line, id) in [
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        ("  []", Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"1.0","id":2,"method":"ping"}"#, json!(2)),
        (r#"{"id":3,"method":"ping"}"#, json!(3)),
        (r#"{"jsonrpc":2.0,"id":4,"method":"ping"}"#, json!(4)),
        (r#"{"jsonrpc":"2.0","id":5}"#, json!(5)),
        (r#"{"jsonrpc":"2.0","id":6,"method":7}"#, json!(6)),
        (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#, json!(8)),
        ("42", Value::Null),
        (r#""text""#, Value::Null),
    ] {
        assert_eq!(wire.refused(line.as_bytes()).await, (INVALID_REQUEST, id), "{line}");
    }
    wire.alive().await;
}

#[tokio::test]
async fn parse_error_is_a_sentence_of_its_own() {
    let mut wire = Wire::open().await;
    wire.line("17").await;
    let answer = wire.answer().await;
    let said = "not a JSON-RPC message: it must be an object";
    assert_eq!(answer["error"]["message"], said);
    for (line, said) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "its `jsonrpc` and `method` must be texts"),
        (r#"{"jsonrpc":"2.0","id":1,"method":}"#, "it is not valid JSON at byte 34"),
    ] {
        wire.line(line).await;
        assert_eq!(wire.answer().await["error"]["message"], format!("not a JSON-RPC message: {said}"));
    }
}

#[tokio::test]
async fn crlf_blank_lines_and_byte_order_mark_are_accepted() {
    let mut wire = Wire::raw();
    wire.bytes(b"\xEF\xBB\xBF\r\n\n   \n").await;
    wire.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n").await;
    assert_eq!(wire.answer().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
}

#[tokio::test]
async fn messages_may_arrive_in_pieces_or_several_at_once() {
    let mut wire = Wire::open().await;
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for byte in line {
        wire.bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    wire.bytes(b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":3,").await;
    assert_eq!(wire.answer().await["id"], 1);
    assert_eq!(wire.answer().await["id"], 2);
    wire.bytes(b"\"method\":\"ping\"}\n").await;
    assert_eq!(wire.answer().await["id"], 3);
}

#[tokio::test]
async fn notifications_and_responses_before_the_first_request_are_ignored() {
    let mut wire = Wire::raw();
    wire.notify("notifications/initialized", json!({})).await;
    wire.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    wire.notify("notifications/cancelled", json!({ "requestId": {} })).await;
    wire.notify("notifications/roots/list_changed", json!({})).await;
    wire.notify("tools/call", json!({ "name": "echo" })).await;
    wire.line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#).await;
    wire.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#).await;
    assert_eq!(wire.ask(1, "ping", json!({})).await["result"], json!({}));
    wire.greet().await.alive().await;
}

#[tokio::test]
async fn id_in_flight_cannot_be_used_again() {
    let mut wire = Wire::open().await;
    wire.call(1, "nap", json!({ "millis": 200 })).await;
    let again = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(wire.refused(again).await, (INVALID_REQUEST, json!(1)));
    assert_eq!(text(&wire.answer().await), "rested");
    assert_eq!(wire.ask(1, "ping", json!({})).await["result"], json!({}), "free again");
}

/// Sends lines while the answers are read.
fn send_all(wire: &mut Wire, lines: Vec<String>) -> JoinHandle<DuplexStream> {
    let mut sender = mem::replace(&mut wire.output, duplex(1).0);
    tokio::spawn(async move {
        for line in lines {
            sender.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
        }
        sender
    })
}

fn call(id: usize, tool: &str, arguments: Value) -> String {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

#[tokio::test]
async fn thousand_pipelined_calls_are_all_served() {
    const CALLS: usize = 1_000;
    let mut wire = Wire::open().await;
    let sending =
        send_all(&mut wire, (0..CALLS).map(|id| call(id, "echo", json!({ "text": id.to_string() }))).collect());
    let mut missing: HashSet<_> = (0..CALLS).map(|id| id.to_string()).collect();
    while !missing.is_empty() {
        let answer = wire.answer().await;
        assert!(missing.remove(text(&answer)), "{answer}");
        assert_eq!(answer["id"].to_string(), text(&answer));
    }
    drop(sending.await.expect("all were sent"));
}

#[tokio::test]
async fn flood_of_calls_does_not_delay_a_ping_or_a_cancellation() {
    const CALLS: usize = 3_000;
    let mut wire = Wire::open().await;
    let mut lines: Vec<_> = (0..CALLS).map(|id| call(id, "nap", json!({ "millis": FOREVER }))).collect();
    // One that was taken makes room for another when it is cancelled.
    lines.push(
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }).to_string(),
    );
    lines.push(json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" }).to_string());
    lines.push(call(CALLS, "nap", json!({ "millis": FOREVER })));
    lines.push(json!({ "jsonrpc": "2.0", "id": "again", "method": "ping" }).to_string());
    let sending = send_all(&mut wire, lines);

    let mut refused = HashSet::new();
    loop {
        let answer = wire.answer().await;
        if answer["id"] == "ping" || answer["id"] == "again" {
            assert_eq!(answer["result"], json!({}));
            if answer["id"] == "again" {
                break;
            }
            continue;
        }
        assert_eq!(answer["error"]["code"], -32000, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.starts_with("too many calls in flight: at most 1024"), "{message}");
        assert!(refused.insert(answer["id"].as_u64().expect("the id of a call")), "twice: {answer}");
    }
    // Those that came first are the ones that run.
    assert_eq!(refused, (1_024..CALLS as u64).collect());
    wire.output = sending.await.expect("all were sent");
    wire.stop.cancel();
    let rest = wire.ended().await;
    let answered: HashSet<_> = rest.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(answered.len(), rest.len(), "an answer came twice");
    assert!(answered.is_disjoint(&refused), "a call was refused and answered");
}

#[tokio::test]
async fn calls_beyond_the_limit_of_bytes_are_refused() {
    let mut wire = Wire::open().await;
    let padding = " ".repeat(15 << 20);
    let padded = |id| call(id, "nap", json!({ "millis": FOREVER })) + &padding;
    let mut lines: Vec<_> = (0..5).map(padded).collect();
    lines.push(json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" }).to_string());
    let sending = send_all(&mut wire, lines);
    let mut answers = Vec::new();
    while answers.last() != Some(&json!("ping")) {
        let answer = wire.answer().await;
        assert!(answer["id"] == "ping" || answer["error"]["code"] == -32000, "{answer}");
        answers.push(answer["id"].clone());
    }
    assert_eq!(answers, [json!(4), json!("ping")]);
    wire.output = sending.await.expect("all were sent");
    wire.stop.cancel();
    wire.ended().await;
}

#[tokio::test]
async fn duplicate_key_in_the_arguments_is_refused_by_name() {
    let mut wire = Wire::open().await;
    for (arguments, name) in [
        (r#"{"text":"a","text":"b"}"#, "text"),
        (r#"{"text":"same","text":"same"}"#, "text"),
        (r#"{"text":"a","list":[{"deep":1,"de\u0065p":2}]}"#, "deep"),
    ] {
        let params = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
        wire.line(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).await;
        let answer = wire.answer().await;
        assert_eq!(error_kind(&answer), "invalid_input", "{arguments}");
        let said = format!("duplicate key `{name}` in one object of the call\n\nhint: send {name} once");
        assert_eq!(text(&answer), said);
    }
    wire.alive().await;
}

#[tokio::test]
async fn line_of_exactly_the_limit_is_served() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let options = ServerOptions { max_line: 250, ..ServerOptions::default() };
    let mut wire = Wire::with(options, Settings::default()).greet().await;
    let line = format!("{ping}{}\r\n", " ".repeat(250 - ping.len()));
    for cut in [line.len(), line.len() - 1, line.len() - 2, 1] {
        let (first, second) = line.as_bytes().split_at(cut);
        wire.bytes(first).await;
        // The server has read the first part and waits.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        wire.bytes(second).await;
        assert_eq!(wire.answer().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "cut at {cut}");
    }
}
