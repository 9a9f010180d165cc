//! Subscriptions under attack: what may not be read is not followed, links are not followed outside, and neither floods
//! nor a client that does not read make the server grow or end.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Barrier;
use crate::process::Process;

const PATIENCE: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_millis(1500);

struct Ground {
    process: Process,
    dir: TempDir,
}

impl Ground {
    fn new(barrier: Barrier, more: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
        for folder in ["app/hidden", "app/src", "outside"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        for file in ["app/a.txt", "app/.env", "app/hidden/h.txt", "app/src/b.txt", "outside/o.txt"] {
            fs::write(dir.path().join(file), "CANARY\n").expect("a file");
        }
        let mut arguments = vec!["--root", "app", "--hide", "hidden/", "--allow", "manage"];
        arguments.extend(barrier.arguments());
        arguments.extend(more);
        let mut process = Process::start_checked(dir.path(), &arguments);
        process.initialize();
        Self { process, dir }
    }

    fn subscribe(&mut self, uri: &str) -> Value {
        self.process.ask("resources/subscribe", &json!({ "uri": uri }))
    }

    fn refused(&mut self, uri: &str) {
        let answer = self.subscribe(uri);
        assert!(answer["error"]["message"].is_string(), "{uri}: {answer}");
        let shown = answer.to_string();
        assert!(
            !shown.contains("CANARY") && !shown.contains("rootbound-host-") || uri.contains("rootbound-host-"),
            "{shown}"
        );
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join(path), text).expect("a file");
    }

    fn updates(&mut self, first: Duration) -> Vec<String> {
        let mut updates = Vec::new();
        let mut limit = first;
        while let Some(message) = self.process.next_within(limit) {
            assert_eq!(message["method"], "notifications/resources/updated", "{message}");
            updates.push(message["params"]["uri"].as_str().expect("a URI").to_owned());
            limit = SILENCE;
        }
        updates
    }

    /// What was updated: on a busy machine a change is seen in two looks, and so reported twice.
    fn updated(&mut self, first: Duration) -> Vec<String> {
        let mut updates = self.updates(first);
        updates.sort();
        updates.dedup();
        updates
    }
}

#[test]
fn what_may_not_be_read_is_not_followed() {
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        let mut ground = Ground::new(barrier, &[]);
        let host = format!("file://{}", ground.dir.path().join("outside/o.txt").display());
        for uri in [
            "file:///../outside/o.txt",
            "file:///src/../../outside/o.txt",
            "file:///%2e%2e/outside/o.txt",
            "file:///etc/passwd",
            "file://server/share",
            "file:///.env",
            "file:///hidden",
            "file:///hidden/h.txt",
            "file:///a%00b",
            "http://example.org/a.txt",
            "a.txt",
            "",
            &host,
            &format!("file:///{}", "x/".repeat(20_000)),
            &format!("file:///{}", "é".repeat(100_000)),
        ] {
            ground.refused(uri);
        }
        ground.write("outside/o.txt", "changed\n");
        ground.write("app/.env", "changed\n");
        ground.write("app/hidden/h.txt", "changed\n");
        assert_eq!(ground.updated(SILENCE), [""; 0]);
    }
}

#[test]
fn hidden_names_cause_no_update_of_the_directory_above() {
    for index in ["auto", "off"] {
        let mut ground = Ground::new(Barrier::All, &["--index", index]);
        assert!(ground.subscribe("file:///")["result"].is_object());
        ground.write("app/hidden/h.txt", "changed\n");
        ground.write("app/hidden/new.txt", "new\n");
        assert_eq!(ground.updated(SILENCE), [""; 0]);
        ground.write("app/a.txt", "changed\n");
        assert_eq!(ground.updated(PATIENCE), ["file:///"]);
    }
}

#[cfg(unix)]
#[test]
fn path_that_becomes_a_link_to_outside_is_one_update_and_then_silence() {
    use std::os::unix::fs::symlink;
    for barrier in [Barrier::All, Barrier::Openat2, Barrier::Walk] {
        let mut ground = Ground::new(barrier, &[]);
        symlink(ground.dir.path().join("outside"), ground.dir.path().join("app/out")).expect("a link");
        ground.refused("file:///out/o.txt");
        for uri in ["file:///a.txt", "file:///src/b.txt"] {
            assert!(ground.subscribe(uri)["result"].is_object());
        }
        let app = ground.dir.path().join("app");
        fs::remove_file(app.join("a.txt")).expect("removed");
        symlink("../outside/o.txt", app.join("a.txt")).expect("a link");
        fs::remove_dir_all(app.join("src")).expect("removed");
        symlink("../outside", app.join("src")).expect("a link");
        let updates = ground.updated(PATIENCE);
        assert_eq!(updates, ["file:///a.txt", "file:///src/b.txt"]);
        ground.write("outside/o.txt", "changed outside\n");
        ground.write("outside/b.txt", "made outside\n");
        assert_eq!(ground.updated(SILENCE), [""; 0], "what is outside is not followed");
    }
}

#[cfg(unix)] // Wine needs minutes for so many looks at files
#[test]
fn floods_of_subscriptions_are_bounded() {
    let mut ground = Ground::new(Barrier::All, &[]);
    let mut refused = 0;
    for number in 0..1100 {
        let answer = ground.subscribe(&format!("file:///src/n{number}.txt"));
        refused += usize::from(answer["error"]["message"].as_str().is_some_and(|text| text.contains("too many")));
    }
    assert_eq!(refused, 100);
    for number in 0..1000 {
        ground.process.ask("resources/unsubscribe", &json!({ "uri": format!("file:///src/n{number}.txt") }));
    }
    for _ in 0..200 {
        assert!(ground.subscribe("file:///a.txt")["result"].is_object());
        ground.process.ask("resources/unsubscribe", &json!({ "uri": "file:///a.txt" }));
    }
    for _ in 0..3 {
        assert!(ground.subscribe("file:///a.txt")["result"].is_object());
    }
    ground.write("app/a.txt", "changed\n");
    let updates = ground.updates(PATIENCE);
    assert!(updates.len() < 3 && updates[0] == "file:///a.txt", "subscribed to three times: {updates:?}");
}

#[cfg(unix)] // Wine needs minutes for so many looks at files
#[test]
fn client_that_does_not_read_gets_the_last_state_later() {
    let mut ground = Ground::new(Barrier::All, &[]);
    let long = "n".repeat(200);
    for number in 0..300 {
        assert!(ground.subscribe(&format!("file:///src/{long}{number}.txt"))["result"].is_object());
    }
    for round in 0..20 {
        for number in 0..300 {
            ground.write(&format!("app/src/{long}{number}.txt"), &format!("{round}\n"));
        }
    }
    assert_eq!(ground.updated(PATIENCE).len(), 300, "the last change of none is lost");
}
