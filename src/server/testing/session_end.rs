//! How a session ends: the input ends, a signal arrives, the output is gone.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{BufReader, duplex},
    time::timeout,
};

use file_tools::Settings;

use super::{
    FOREVER, ServerOptions, TEST_LIMIT, Wire, error_kind, text,
    tools::{begun, release},
};

#[tokio::test]
async fn idle_server_ends_with_its_input() {
    let mut silent = Wire::raw();
    silent.end_input().await;
    assert_eq!(silent.ended().await, Vec::<Value>::new());
    let mut wire = Wire::open().await;
    wire.end_input().await;
    assert_eq!(wire.ended().await, Vec::<Value>::new());
}

#[tokio::test]
async fn last_line_without_line_break_is_served() {
    let mut wire = Wire::open().await;
    wire.bytes(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    wire.end_input().await;
    assert_eq!(wire.ended().await, [json!({ "jsonrpc": "2.0", "id": 1, "result": {} })]);
}

#[tokio::test]
async fn last_line_over_the_limit_is_refused() {
    let options = ServerOptions { max_line: 1_000, ..ServerOptions::default() };
    let mut wire = Wire::with(options, Settings::default());
    wire.bytes(format!(r#"{{"id":1,"x":"{}"#, "y".repeat(50_000)).as_bytes()).await;
    wire.end_input().await;
    let rest = wire.ended().await;
    assert_eq!(rest.len(), 1);
    assert_eq!((&rest[0]["id"], &rest[0]["error"]["code"]), (&json!(1), &json!(-32600)));
}

#[tokio::test]
async fn call_with_progress_is_answered_after_the_input_has_ended() {
    let options = ServerOptions { grace: Duration::from_millis(FOREVER), ..ServerOptions::default() };
    let mut wire = Wire::with(options, Settings::default()).greet().await;
    let params = json!({ "name": "report", "arguments": { "millis": 300 }, "_meta": { "progressToken": 1 } });
    wire.request("last", "tools/call", params).await;
    wire.end_input().await;
    let rest = wire.ended().await;
    let (result, progress) = rest.split_last().expect("an answer");
    assert_eq!((&result["id"], text(result)), (&json!("last"), "reported"));
    assert!(progress.iter().all(|message| message["method"] == "notifications/progress") && !progress.is_empty());
}

#[tokio::test]
async fn large_answer_is_complete_after_the_input_has_ended() {
    let settings = Settings { max_output: Some(8 << 20), ..Settings::default() };
    let options = ServerOptions { grace: Duration::from_millis(FOREVER), ..ServerOptions::default() };
    let mut wire = Wire::with(options, settings).greet().await;
    wire.call(1, "flood", json!({ "millis": 4_000 })).await;
    wire.end_input().await;
    let rest = wire.ended().await;
    assert_eq!(text(&rest[0]).len(), 4_000_000);
}

#[tokio::test]
async fn calls_beyond_the_grace_period_are_cancelled_and_answered() {
    let options = ServerOptions { grace: Duration::from_millis(50), ..ServerOptions::default() };
    let mut wire = Wire::with(options, Settings::default()).greet().await;
    wire.call(1, "nap", json!({ "text": "outlasting", "millis": FOREVER })).await;
    begun("outlasting").await;
    wire.end_input().await;
    let rest = wire.ended().await;
    assert_eq!((rest.len(), error_kind(&rest[0])), (1, "cancelled"));
}

#[tokio::test]
async fn signal_before_the_first_request_ends_the_server() {
    let wire = Wire::raw();
    wire.stop.cancel();
    assert_eq!(wire.ended().await, Vec::<Value>::new());
}

#[tokio::test]
async fn signal_cancels_running_calls_and_flushes_their_answers() {
    let mut wire = Wire::open().await;
    wire.call(1, "nap", json!({ "text": "signalled", "millis": FOREVER })).await;
    begun("signalled").await;
    wire.stop.cancel();
    let rest = wire.ended().await;
    assert_eq!((rest.len(), error_kind(&rest[0])), (1, "cancelled"));
}

#[tokio::test]
async fn signal_does_not_wait_for_a_call_that_ignores_it() {
    let mut wire = Wire::open().await;
    wire.call(1, "stubborn", json!({ "text": "deaf", "millis": FOREVER })).await;
    wire.alive().await;
    wire.stop.cancel();
    let rest = wire.ended().await;
    release("deaf");
    assert_eq!((rest.len(), error_kind(&rest[0])), (1, "cancelled"));
}

#[tokio::test]
async fn closed_output_ends_the_server() {
    let mut wire = Wire::open().await;
    wire.call(1, "nap", json!({ "millis": FOREVER })).await;
    wire.alive().await;
    wire.input = BufReader::new(duplex(1).0);
    wire.request(2, "ping", json!({})).await;
    timeout(TEST_LIMIT, wire.service).await.expect("the service ends").expect("no panic").expect("no failure");
}
