//! Frames: whatever bytes arrive in whatever pieces, lines are cut alike, memory stays bounded, each
//! request is answered with its id, and the session goes on.

use std::{collections::HashMap, sync::Arc};

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::server::{
    Server, ServerOptions, Services,
    for_fuzzing::{self, Cut, ParsedLine},
};
use file_tools::{Selection, Settings, Toolbox, session::Session};

use super::World;

/// The request that follows every input.
const LAST: &str = "the last request";
/// Characters of an error's message, whatever it repeats.
const LONGEST_MESSAGE: usize = 500;

/// Reads `input`: a limit for lines, three sizes of pieces, and what arrives.
///
/// # Panics
/// Where a property does not hold.
pub fn check(world: &World, input: &[u8]) {
    let Some((&[limit, one, two, three], bytes)) = input.split_first_chunk() else { return };
    let limit = if limit == u8::MAX { 1 << 16 } else { 8 + usize::from(limit) };
    let sizes = [one, two, three].map(usize::from);

    let (whole, memory) = for_fuzzing::lines(bytes, &[], limit);
    memory.unwrap_or_else(|held| panic!("{held} bytes held for lines of {limit}"));
    for sizes in [&sizes[..], &[1], &[0, 7]] {
        let (pieces, memory) = for_fuzzing::lines(bytes, sizes, limit);
        memory.unwrap_or_else(|held| panic!("{held} bytes held for lines of {limit} in pieces of {sizes:?}"));
        assert_eq!(pieces, whole, "in pieces of {sizes:?}");
    }

    let mut expected: HashMap<String, usize> = HashMap::new();
    for cut in &whole {
        if let Cut::Line(line) = cut {
            assert!(line.len() <= limit, "a line of {} bytes", line.len());
            one_line(line, &mut expected);
        }
    }
    answered(world, bytes, limit, &whole, &expected);
}

/// What a line means, compared with an independent reading of it as JSON.
fn one_line(line: &[u8], expected: &mut HashMap<String, usize>) {
    let scanned = for_fuzzing::scanned_id(line, usize::MAX);
    for size in [1, 3] {
        assert_eq!(for_fuzzing::scanned_id(line, size), scanned, "pieces must not matter");
    }
    let meaning = for_fuzzing::parse(line);
    if let ParsedLine::Refused(_, _, message) = &meaning {
        assert!(message.chars().count() < LONGEST_MESSAGE, "{message}");
        assert!(!message.contains("expected struct Head"), "{message}");
    }
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value @ Value::Object(_)) => value,
        // What nobody looks at may hold bytes that are no text, or numbers beyond all.
        Err(_) if serde_json::from_slice::<IgnoredAny>(line).is_ok() => return,
        _ => {
            assert!(matches!(meaning, ParsedLine::Refused(..)), "{meaning:?} for what is no object");
            return;
        }
    };
    let once = line.windows(4).filter(|window| window == b"\"id\"").count() == 1 && !line.contains(&b'\\');
    if let Some(found) = scanned.filter(|_| once) {
        assert_eq!(found, value["id"], "found in {}", line.escape_ascii());
    }
    let is_id = value["id"].is_string() || value["id"].is_i64();
    if is_id && value["jsonrpc"] == "2.0" && value["method"].is_string() {
        let id = value["id"].clone();
        match meaning {
            ParsedLine::Request(found) | ParsedLine::Refused(found, ..) => assert_eq!(found, id),
            // Refused as a whole where a member of the head occurs twice.
            other => panic!("{other:?} for the request {}", line.escape_ascii()),
        }
        *expected.entry(id.to_string()).or_default() += 1;
    }
}

/// A whole server, given the bytes and one more request.
fn answered(world: &World, bytes: &[u8], limit: usize, cuts: &[Cut], expected: &HashMap<String, usize>) {
    let mut conversation = bytes.to_vec();
    let last = json!({ "jsonrpc": "2.0", "id": LAST, "method": "ping" });
    conversation.extend(format!("\n{last}\n").bytes());
    let answers = for_fuzzing::conversation(server(world, limit.max(last.to_string().len())), &conversation)
        .unwrap_or_else(|error| panic!("the session ended: {error}"));

    // What the client itself sent may be repeated to it.
    let is_sent = String::from_utf8_lossy(bytes).contains(world.host());
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for answer in &answers {
        let printed = answer.to_string();
        assert!(is_sent || !printed.contains(world.host()), "{printed} shows a host path");
        assert_eq!(answer["jsonrpc"], "2.0", "{printed}");
        assert!(answer["result"].is_object() != answer["error"].is_object(), "{printed}");
        *by_id.entry(answer["id"].to_string()).or_default() += 1;
    }
    assert!(by_id.contains_key(&Value::from(LAST).to_string()), "the last request of {answers:?}");
    assert!(answers.len() <= cuts.len() + 1, "{} answers to {} lines", answers.len(), cuts.len());
    // What is cancelled in time is not answered.
    if !bytes.windows(9).any(|window| window == b"cancelled") && limit >= last.to_string().len() {
        for (id, count) in expected {
            assert!(by_id.get(id) >= Some(count), "{count} requests with the id {id}: {by_id:?}");
        }
    }
}

fn server(world: &World, limit: usize) -> Server {
    let selection = Selection { only: Some(vec!["read".to_owned()]), read_only: true, ..Selection::default() };
    Server::new(Services {
        workspace: Arc::clone(world.tree()),
        session: Arc::new(Session::new(None)),
        path_index: Arc::default(),
        toolbox: Toolbox::new(&selection),
        settings: Arc::new(Settings::default()),
        language_servers: None,
        options: ServerOptions { max_line: limit, ..ServerOptions::default() },
    })
}
