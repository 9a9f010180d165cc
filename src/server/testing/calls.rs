//! Calls: errors, panics, permits, clocks, cancellation, commits, progress.

use std::time::Duration;

use serde_json::{Value, json};

use file_tools::Settings;

use super::{
    FOREVER, ServerOptions, Wire, error_kind, text,
    tools::{begun, made, release, steps_of},
};

async fn with(options: ServerOptions) -> Wire {
    Wire::with(options, Settings::default()).greet().await
}

#[tokio::test]
async fn unknown_tool_is_a_protocol_error_that_names_the_offered_ones() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "ecko" })).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().expect("message");
    assert!(
        message.starts_with("unknown tool \"ecko\"; did you mean echo? this server offers commit, crash, echo"),
        "{message}"
    );
    assert!(answer["error"]["data"]["known"].as_array().is_some_and(|known| known.contains(&json!("echo"))));
    let answer = wire.ask(2, "tools/call", json!({ "name": "grep" })).await;
    let message = answer["error"]["message"].as_str().expect("message");
    assert!(message.starts_with("the tool \"grep\" is not offered; this server offers"), "{message}");
}

#[tokio::test]
async fn wrong_argument_is_a_tool_error() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "echo", "arguments": { "texd": "x" } })).await;
    assert_eq!(error_kind(&answer), "invalid_input");
    assert!(text(&answer).contains("texd"), "{answer}");
}

#[tokio::test]
async fn answer_has_its_facts_in_meta() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "echo", "arguments": { "text": "four" } })).await;
    assert_eq!(answer["result"]["_meta"]["rootbound/result"], json!({ "length": 4 }));
    assert_eq!(answer["result"]["isError"], false);
    assert!(answer["result"].get("structuredContent").is_none());
    let answer = wire.ask(2, "tools/call", json!({ "name": "picture" })).await;
    assert_eq!(answer["result"]["content"], json!([{ "type": "image", "data": "cGl4ZWxz", "mimeType": "image/png" }]));
}

#[tokio::test]
async fn panic_fails_one_call() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "crash", "arguments": { "text": "/host/path" } })).await;
    assert_eq!(error_kind(&answer), "internal");
    assert!(text(&answer).starts_with("the tool failed unexpectedly; this call was abandoned, the server goes on"));
    assert!(!answer.to_string().contains("/host/path"), "the reason is for the log");
    wire.alive().await;
}

#[tokio::test]
async fn inline_call_that_would_block_is_planned_on_a_thread() {
    let mut wire = Wire::open().await;
    for (id, given, expected) in [(1, "", "inline"), (2, "slow", "on a thread")] {
        let answer = wire.ask(id, "tools/call", json!({ "name": "inline", "arguments": { "text": given } })).await;
        assert_eq!(text(&answer), expected);
    }
    let answer = wire.ask(3, "tools/call", json!({ "name": "inline", "arguments": { "texd": "" } })).await;
    assert_eq!(error_kind(&answer), "invalid_input");
    wire.alive().await;
}

#[tokio::test]
async fn inline_panic_fails_one_call() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "inline", "arguments": { "text": "crash" } })).await;
    assert_eq!(error_kind(&answer), "internal");
    wire.alive().await;
}

#[tokio::test]
async fn light_call_does_not_wait_for_searches() {
    let mut wire = with(ServerOptions { max_concurrent: Some(1), ..ServerOptions::default() }).await;
    for id in 1..=3 {
        wire.call(id, "search", json!({ "millis": FOREVER })).await;
    }
    wire.alive().await;
    wire.stop.cancel();
    wire.ended().await;
}

#[tokio::test]
async fn queued_calls_are_served_in_order() {
    let mut wire = with(ServerOptions { max_concurrent: Some(1), ..ServerOptions::default() }).await;
    for id in 1..=3 {
        wire.call(id, "search", json!({ "millis": 20 })).await;
    }
    for id in 1..=3 {
        let answer = wire.answer().await;
        assert_eq!((answer["id"].as_i64(), text(&answer)), (Some(id), "searched"));
    }
}

#[tokio::test]
async fn cancelled_call_stops_and_gets_no_answer() {
    let grace = Duration::from_millis(FOREVER);
    let mut wire = with(ServerOptions { max_concurrent: Some(1), grace, ..ServerOptions::default() }).await;
    wire.call(1, "search", json!({ "text": "cancelled", "millis": FOREVER })).await;
    begun("cancelled").await;
    wire.call(2, "search", json!({ "text": "queued", "millis": FOREVER })).await;
    wire.call(3, "search", json!({ "millis": 1 })).await;
    wire.notify("notifications/cancelled", json!({ "requestId": 2, "reason": "changed my mind" })).await;
    wire.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    // There is one place: the third call has it only when the first has truly stopped.
    assert_eq!(wire.answer().await["id"], 3);
    assert_eq!(steps_of("queued"), Vec::<String>::new());
    wire.alive().await;
    // Neither is waited for at the end.
    wire.end_input().await;
    assert_eq!(wire.ended().await, Vec::<Value>::new());
}

#[tokio::test]
async fn call_beyond_its_deadline_is_timed_out() {
    let mut wire = with(ServerOptions { deadline: Duration::from_millis(50), ..ServerOptions::default() }).await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "nap", "arguments": { "millis": FOREVER } })).await;
    assert_eq!(error_kind(&answer), "timed_out");
    wire.alive().await;
}

#[tokio::test]
async fn call_that_ignores_its_deadline_is_abandoned_and_keeps_its_permit() {
    let mut wire = with(ServerOptions {
        deadline: Duration::from_millis(50),
        max_concurrent: Some(1),
        ..ServerOptions::default()
    })
    .await;
    wire.call("stubborn", "stubborn", json!({ "text": "ignores its deadline", "millis": FOREVER })).await;
    wire.call("queued", "search", json!({ "millis": 1 })).await;
    let mut answers = [wire.answer().await, wire.answer().await];
    answers.sort_by_key(|answer| answer["id"].to_string());
    let [queued, stubborn] = answers;
    assert_eq!((&queued["id"], error_kind(&queued)), (&json!("queued"), "timed_out"));
    assert!(text(&queued).contains("waited") && text(&queued).contains("was not started"), "{queued}");
    assert_eq!((&stubborn["id"], error_kind(&stubborn)), (&json!("stubborn"), "timed_out"));
    assert!(text(&stubborn).contains("was abandoned; nothing was changed"), "{stubborn}");
    wire.alive().await;
    release("ignores its deadline");
}

#[tokio::test]
async fn call_whose_pattern_is_compiled_beyond_its_deadline_does_not_blame_the_file_system() {
    let mut wire = with(ServerOptions { deadline: Duration::from_millis(50), ..ServerOptions::default() }).await;
    let call = json!({ "name": "stubborn", "arguments": { "text": "compiles too long", "millis": FOREVER } });
    let answer = wire.ask(1, "tools/call", call).await;
    assert_eq!(error_kind(&answer), "timed_out");
    assert!(text(&answer).contains("reached while the pattern was compiled; nothing was searched"), "{answer}");
    release("compiles too long");
}

#[tokio::test]
async fn commit_beyond_its_deadline_is_answered_with_its_result() {
    // On a machine that has other work the commit may not begin within the first of these.
    for deadline in [50, 1_000, 10_000] {
        let mut wire =
            with(ServerOptions { deadline: Duration::from_millis(deadline), ..ServerOptions::default() }).await;
        let name = format!("late {deadline}");
        let arguments = json!({ "text": name, "millis": deadline + 2_350 });
        let answer = wire.ask(1, "tools/call", json!({ "name": "commit", "arguments": arguments })).await;
        if !steps_of(&name).is_empty() {
            assert_eq!(text(&answer), "committed");
            assert_eq!(steps_of(&name), [format!("begun {name}"), format!("made {name}")]);
            return;
        }
        assert_eq!(error_kind(&answer), "timed_out");
    }
    panic!("no commit has begun within its time");
}

#[tokio::test]
async fn running_commit_is_not_stopped_by_a_cancellation() {
    let mut wire = Wire::open().await;
    wire.call(1, "commit", json!({ "text": "unwanted", "millis": FOREVER })).await;
    begun("unwanted").await;
    wire.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    wire.alive().await;
    wire.end_input().await;
    // The end of the session waits for it.
    let releasing = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(200));
        release("unwanted");
    });
    assert_eq!(wire.ended().await, Vec::<Value>::new());
    releasing.join().expect("no panic");
    made("unwanted").await;
    assert_eq!(steps_of("unwanted"), ["begun unwanted", "made unwanted"]);
}

#[tokio::test]
async fn progress_grows_and_comes_before_the_result() {
    let mut wire = Wire::open().await;
    let params = json!({ "name": "report", "arguments": { "millis": 400 }, "_meta": { "progressToken": "token" } });
    wire.request(1, "tools/call", params).await;
    let mut seen = Vec::new();
    let result = loop {
        let message = wire.answer().await;
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "token");
        assert_eq!(message["params"]["message"], "working");
        assert_eq!(message["params"]["total"], 80.0);
        seen.push(message["params"]["progress"].as_f64().expect("progress"));
    };
    assert_eq!(text(&result), "reported");
    assert!(seen.len() >= 2 && seen.is_sorted() && seen[0] < seen[seen.len() - 1], "{seen:?}");
    wire.alive().await;
}

#[tokio::test]
async fn no_progress_without_a_token() {
    let mut wire = Wire::open().await;
    let answer = wire.ask(1, "tools/call", json!({ "name": "report", "arguments": { "millis": 50 } })).await;
    assert_eq!(text(&answer), "reported");
}

#[tokio::test]
async fn waiting_changes_hold_no_permit_and_can_be_cancelled() {
    let options = ServerOptions { deadline: Duration::from_millis(FOREVER), ..ServerOptions::default() };
    let mut wire = with(options).await;
    let waiting = 3 * crate::server::concurrency::MAX_LIGHT_CALLS;
    for n in 0..waiting {
        wire.call(format!("w{n}"), "queue", json!({ "text": format!("waiting {n}") })).await;
    }
    begun(&format!("waiting {}", waiting - 1)).await;
    wire.alive().await;
    for n in 0..waiting {
        wire.notify("notifications/cancelled", json!({ "requestId": format!("w{n}") })).await;
    }
    wire.alive().await;
    wire.end_input().await;
    wire.ended().await;
}

#[tokio::test]
async fn waiting_change_ends_at_its_deadline() {
    let mut wire = with(ServerOptions { deadline: Duration::from_millis(300), ..ServerOptions::default() }).await;
    wire.call(1, "queue", json!({})).await;
    assert_eq!(error_kind(&wire.answer().await), "timed_out");
    wire.alive().await;
}
