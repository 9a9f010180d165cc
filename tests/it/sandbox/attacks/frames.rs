//! Frames: invalid lines, messages that are no calls, floods (servers#4207, codex#31805).

use serde_json::{Value, json};

use super::{Barrier, world::World};
use crate::harness::share;

/// Lines that a client might send; each gets at most an error, and the session continues.
fn lines() -> Vec<(&'static str, Vec<u8>)> {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{{"name":"read","arguments":{arguments}}}}}"#
        )
        .into_bytes()
    };
    vec![
        ("no JSON", b"hello".to_vec()),
        ("half a message", br#"{"jsonrpc":"2.0","id":1,"method""#.to_vec()),
        ("an array", b"[]".to_vec()),
        ("a batch", br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec()),
        ("a number", b"17".to_vec()),
        ("null", b"null".to_vec()),
        ("a string", br#""tools/call""#.to_vec()),
        ("invalid UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":\"f\",\"method\":\"\xff\xfe\"}".to_vec()),
        ("a NUL", b"{\"jsonrpc\":\"2.0\",\0}".to_vec()),
        ("deep arrays", [vec![b'['; 100_000], vec![b']'; 100_000]].concat()),
        ("deep objects", br#"{"a":"#.repeat(50_000)),
        ("deep arguments", call(&format!("{}1{}", r#"{"a":"#.repeat(5_000), "}".repeat(5_000)))),
        ("a lone surrogate", call(r#"{"path":"a\ud800b"}"#)),
        ("a reversed surrogate pair", call(r#"{"path":"\udc00\ud800"}"#)),
        ("an escaped NUL", call(r#"{"path":"a\u0000b"}"#)),
        ("a duplicate key", call(r#"{"path":"app/a.txt","path":"/etc/passwd"}"#)),
        ("arguments as a list", call(r#"["app/a.txt"]"#)),
        ("arguments as text", call(r#""app/a.txt""#)),
        ("arguments as null", call("null")),
        ("a number beyond all", call(r#"{"path":"app/a.txt","offset":1e999}"#)),
        ("a number of many digits", call(&format!(r#"{{"path":"app/a.txt","offset":{}}}"#, "9".repeat(5_000)))),
        (
            "many arguments",
            call(&format!("{{{}}}", (0..20_000).map(|n| format!(r#""k{n}":1"#)).collect::<Vec<_>>().join(","))),
        ),
        ("no id and no method", br#"{"jsonrpc":"2.0"}"#.to_vec()),
        ("an id that is an object", br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_vec()),
        ("a fractional id", br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.to_vec()),
        ("another version", br#"{"jsonrpc":"1.0","id":"f","method":"ping"}"#.to_vec()),
        (
            "an unknown method",
            br#"{"jsonrpc":"2.0","id":"f","method":"shell/run","params":{"x":"/etc/passwd"}}"#.to_vec(),
        ),
        (
            "a resource outside",
            br#"{"jsonrpc":"2.0","id":"f","method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#.to_vec(),
        ),
        ("an answer nobody waits for", br#"{"jsonrpc":"2.0","id":99,"result":{}}"#.to_vec()),
        (
            "a cancellation of nothing",
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}"#.to_vec(),
        ),
        ("a line of 17 MiB", vec![b'x'; 17 << 20]),
        ("a call of 17 MiB", call(&format!(r#"{{"path":"{}"}}"#, "p".repeat(17 << 20)))),
        ("blank lines", b"\n\n \t\n\r\n".to_vec()),
        ("terminal escapes", b"\x1b[2J\x1b]0;owned\x07".to_vec()),
    ]
}

/// What they are called.
pub(super) fn names() -> Vec<&'static str> {
    lines().into_iter().map(|(name, _)| name).collect()
}

fn survives(barrier: Barrier) {
    let mut world = World::new(barrier);
    let before = world.picture();
    for (number, (name, line)) in lines().into_iter().enumerate() {
        let sent = String::from_utf8_lossy(&line).into_owned();
        world.process().bytes(&line);
        world.process().line("");
        // The answer to this ping follows any answer to the line.
        let ping = format!("ping-{number}");
        world.process().line(&json!({ "jsonrpc": "2.0", "id": ping, "method": "ping" }).to_string());
        loop {
            let answer = world.process().next().unwrap_or_else(|| panic!("{barrier:?}: {name} ended the server"));
            world.silent(&sent, &answer).unwrap_or_else(|error| panic!("{barrier:?}: {name}: {error}\n{answer}"));
            assert!(answer.to_string().len() < 1 << 20, "{barrier:?}: {name} got an enormous answer");
            if answer["id"] == Value::String(ping.clone()) {
                break;
            }
        }
    }
    World::unchanged(&before, &world.picture(), false).expect("frames change nothing");
    world.alive();
}

#[test]
fn broken_frames_with_all_barriers() {
    survives(Barrier::All);
}

#[test]
fn broken_frames_with_the_walk_alone() {
    survives(Barrier::Walk);
}

#[test]
fn every_call_of_a_flood_is_answered() {
    let mut world = World::new(Barrier::All);
    let calls = [
        json!({ "name": "grep", "arguments": { "pattern": "(x*)*z", "no_ignore": true } }),
        json!({ "name": "read", "arguments": { "path": "app/out_file" } }),
        json!({ "name": "glob", "arguments": { "pattern": "**", "no_ignore": true } }),
        json!({ "name": "read", "arguments": { "path": "app/fifo" } }),
    ];
    let mut waiting: Vec<u64> = Vec::new();
    for number in 0..share(400) as usize {
        waiting.push(world.process().send("tools/call", &calls[number % calls.len()]));
    }
    while !waiting.is_empty() {
        let answer = world.process().next().expect("the server lives");
        world.silent("", &answer).expect("nothing leaks");
        waiting.retain(|id| answer["id"] != *id);
    }
    world.alive();
}
