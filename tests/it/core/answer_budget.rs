//! Answers that fit: whatever is asked, no client gets more than it takes, and paging to the end gives everything once.

mod calls;
mod clients;
mod images;
mod paging;
mod tree;

use file_tools::Settings;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::json;

use crate::harness::{Harness, Setup, share};
use calls::{Called, call};
use clients::{CLIENTS, Client, text};

/// Sizes that a person may set.
const SIZES: [usize; 4] = [1000, 2000, 4096, 20_000];

/// Makes the calls of `strategy` on the tree, and has `check` look at each with its result.
fn each_call(h: &Harness, cases: u32, check: impl Fn(&Called) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { cases: share(cases), failure_persistence: None, ..Config::default() });
    if let Err(error) = runner.run(&call(), |called| {
        calls::prepare(h, &called);
        check(&called)
    }) {
        panic!("{error}");
    }
}

fn filled(setup: Setup) -> Harness {
    let h = setup.open();
    tree::fill(&h);
    h
}

fn fits_each_client(structured_output: bool) {
    for client in CLIENTS {
        let mut setup = client.setup();
        setup.settings.structured_output = structured_output;
        let h = filled(setup);
        each_call(&h, 16, |called| {
            let result = client.call(&h, called.tool, &called.arguments);
            let over = (client.too_large)(&result, &h.path(""));
            prop_assert!(over.is_none(), "{} for {called:?}: {}", client.name, over.unwrap_or_default());
            prop_assert!(!text(&result).contains("(cut "), "{} for {called:?}: cut by the guard", client.name);
            let data = &result["structuredContent"];
            prop_assert!(data["cut_to_fit"].is_null(), "{} for {called:?}: cut by the guard: {data}", client.name);
            Ok(())
        });
    }
}

#[test]
fn no_answer_exceeds_what_its_client_takes() {
    fits_each_client(false);
}

#[test]
fn no_data_exceeds_what_its_client_takes() {
    fits_each_client(true);
}

#[test]
fn no_answer_exceeds_the_size_that_was_set() {
    for size in SIZES {
        let settings = Settings { max_output: Some(size), ..Settings::default() };
        let client = Client { name: "claude-code", ..CLIENTS[0] };
        let h = filled(Setup { settings, ..client.setup() });
        each_call(&h, 16, |called| {
            let text = text(&client.call(&h, called.tool, &called.arguments));
            prop_assert!(text.len() <= size, "{} bytes, not {size}, for {called:?}:\n{text}", text.len());
            prop_assert!(!text.contains("(cut "), "{size} for {called:?}: cut by the guard:\n{text}");
            Ok(())
        });
    }
}

#[test]
fn a_client_is_known_by_its_handshake_and_by_each_request() {
    let h = filled(Setup::default());
    let lines = |client: Client| {
        let result = client.call(&h, "read", &json!({ "path": "text/plain.rs", "limit": 700 }));
        result["_meta"]["rootbound/result"]["returned_lines"].as_u64().expect("lines")
    };
    let codex = Client { name: "codex-mcp-client", ..CLIENTS[0] };
    let claude = Client { name: "Claude Code/2.1.0", ..CLIENTS[0] };
    let counted = [lines(codex), lines(claude), lines(codex)];
    assert!(counted[0] == counted[2] && 3 * counted[0] < counted[1], "{counted:?}");
}
