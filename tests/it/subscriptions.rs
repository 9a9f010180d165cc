//! `resources/subscribe` and `subscriptions/listen`: who follows a file, a directory or a root hears of each change once.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Process, modern};

/// How often one change of another process may be reported: on a busy machine its steps, such as emptying a file and
/// then writing it, are seen in several looks.
const LOOKS: usize = 3;
/// How long nothing must come for it to count as silence: more than a poll of a directory takes.
const SILENCE: Duration = Duration::from_millis(if cfg!(windows) { 3000 } else { 1500 });
const PATIENCE: Duration = Duration::from_secs(30);

/// How a test subscribes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

/// A server with a subscriber.
struct Follower {
    process: Process,
    dir: TempDir,
    era: Era,
    /// The id of the `subscriptions/listen` request.
    listen: Option<u64>,
}

impl Follower {
    fn start(era: Era, arguments: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-host-").tempdir().expect("a temporary folder");
        for folder in ["app/src", "app/empty", "outside"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        for (file, text) in [("app/src/a.rs", "one\n"), ("app/b.txt", "b\n"), ("app/.env", "A=secret\n")] {
            fs::write(dir.path().join(file), text).expect("a file");
        }
        let mut all = vec!["--root", "app", "--allow", "manage"];
        all.extend(arguments);
        let mut process = Process::start(dir.path(), &all);
        match era {
            Era::Legacy => process.initialize(),
            Era::Modern => process.discover(),
        };
        Self { process, dir, era, listen: None }
    }

    fn path(&self, below: &str) -> std::path::PathBuf {
        self.dir.path().join("app").join(below)
    }

    fn write(&self, below: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(below), text).expect("a file");
    }

    /// Subscribes to all of these; returns the URIs that were accepted.
    fn subscribe(&mut self, uris: &[&str]) -> Vec<String> {
        if self.era == Era::Modern {
            let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
            let id = self.process.send("subscriptions/listen", &modern(filter));
            self.listen = Some(id);
            let message = self.process.next().expect("an acknowledgement");
            if message["error"].is_object() {
                return Vec::new();
            }
            assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
            let accepted = &message["params"]["notifications"]["resourceSubscriptions"];
            return serde_json::from_value(accepted.clone()).unwrap_or_default();
        }
        let accepted = uris.iter().filter(|uri| {
            let answer = self.process.ask("resources/subscribe", &json!({ "uri": uri }));
            answer["result"].is_object()
        });
        accepted.map(|uri| (*uri).to_owned()).collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "written in the call")]
    fn call(&mut self, tool: &str, arguments: Value) -> (Value, Vec<String>) {
        let params = json!({ "name": tool, "arguments": arguments });
        let params = if self.era == Era::Modern { modern(params) } else { params };
        let id = self.process.send("tools/call", &params);
        let mut updates = Vec::new();
        loop {
            let message = self.process.next().expect("an answer");
            if message["id"] == id {
                assert_eq!(message["result"]["isError"], false, "{message}");
                return (message["result"].clone(), updates);
            }
            updates.push(self.updated(&message));
        }
    }

    fn updated(&self, message: &Value) -> String {
        assert_eq!(message["method"], "notifications/resources/updated", "{message}");
        let shown = message.to_string();
        assert!(!shown.contains("rootbound-host-"), "{shown}");
        let tag = message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64();
        assert_eq!(tag, self.listen, "{message}");
        message["params"]["uri"].as_str().expect("a URI").to_owned()
    }

    /// What was updated until nothing has come for a while, after the first update; each at most [`LOOKS`] times.
    fn updates(&mut self) -> Vec<String> {
        let first = self.process.next_within(PATIENCE).expect("an update");
        let mut updates = vec![self.updated(&first)];
        updates.extend(self.silence());
        updates.sort();
        let all = updates.len();
        updates.dedup();
        assert!(all <= LOOKS * updates.len(), "{all} updates of {updates:?}");
        updates
    }

    /// What comes although nothing should.
    fn silence(&mut self) -> Vec<String> {
        let mut updates = Vec::new();
        while let Some(message) = self.process.next_within(SILENCE) {
            updates.push(self.updated(&message));
        }
        updates
    }
}

fn in_both_eras(arguments: &[&str], test: impl Fn(&mut Follower)) {
    for era in [Era::Legacy, Era::Modern] {
        test(&mut Follower::start(era, arguments));
    }
}

const FILE: &str = "file:///src/a.rs";

#[test]
fn each_change_of_a_file_is_one_update_and_nothing_else_is() {
    // Polled or not, a subscriber hears the same.
    for index in ["auto", "off"] {
        in_both_eras(&["--index", index], |follower| {
            assert_eq!(follower.subscribe(&[FILE]), [FILE]);
            assert_eq!(follower.silence(), [""; 0], "nothing has changed");
            follower.write("src/a.rs", "two\n");
            assert_eq!(follower.updates(), [FILE], "another process has written");
            let _ = fs::read(follower.path("src/a.rs"));
            let (_, updates) = follower.call("read", json!({ "path": "src/a.rs" }));
            assert!(updates.is_empty());
            follower.write("src/a.rs", "two\n");
            follower.write("b.txt", "other\n");
            assert_eq!(follower.silence(), [""; 0], "read, the same content again, another file");
            let edit = json!({ "path": "src/a.rs", "old_string": "two", "new_string": "three" });
            let (_, mut updates) = follower.call("edit", edit);
            updates.extend(follower.silence());
            assert_eq!(updates, [FILE], "the server's own change");
        });
    }
}

#[test]
fn going_coming_and_replacing_are_updates() {
    in_both_eras(&[], |follower| {
        let new = "file:///src/new/b.rs";
        assert_eq!(follower.subscribe(&[FILE, new]), [FILE, new]);
        follower.write("src/.a.swp", "atomic\n");
        fs::rename(follower.path("src/.a.swp"), follower.path("src/a.rs")).expect("renamed");
        assert_eq!(follower.updates(), [FILE], "an editor has saved");
        fs::create_dir(follower.path("src/new")).expect("a folder");
        follower.write("src/new/b.rs", "b\n");
        assert_eq!(follower.updates(), [new], "it did not exist when it was subscribed to");
        fs::rename(follower.path("src"), follower.path("elsewhere")).expect("renamed");
        let updates = follower.updates();
        assert_eq!(updates, [FILE, new], "the directory above was moved away");
        fs::rename(follower.path("elsewhere"), follower.path("src")).expect("renamed");
        let updates = follower.updates();
        assert_eq!(updates, [FILE, new], "and back");
        fs::remove_file(follower.path("src/a.rs")).expect("deleted");
        assert_eq!(follower.updates(), [FILE]);
        let (_, mut updates) = follower.call("move", json!({ "source": "src/new/b.rs", "destination": "src/a.rs" }));
        updates.extend(follower.silence());
        updates.sort();
        assert_eq!(updates, [FILE, new], "moved by the server");
    });
}

#[test]
fn directory_and_root_report_what_is_below_them() {
    for index in ["auto", "off"] {
        in_both_eras(&["--index", index], |follower| {
            let (root, src) = ("file:///", "file:///src");
            assert_eq!(follower.subscribe(&[root, src]), [root, src]);
            follower.write("b.txt", "changed\n");
            assert_eq!(follower.updates(), [root]);
            fs::create_dir_all(follower.path("src/x/y")).expect("folders");
            let updates = follower.updates();
            assert_eq!(updates, [root, src], "directories were made");
            follower.write("src/x/y/deep.rs", "deep\n");
            let updates = follower.updates();
            assert_eq!(updates, [root, src], "in a directory that is new");
            let (_, mut updates) = follower.call("write", json!({ "path": "src/p/q/r.txt", "content": "r\n" }));
            updates.extend(follower.silence());
            updates.sort();
            // On a busy machine what the server has reported at once is seen on the disk after that.
            updates.dedup();
            assert_eq!(updates, [root, src], "written with the directories above it");
            let (_, mut updates) = follower.call("delete", json!({ "path": "src/p", "recursive": true }));
            updates.extend(follower.silence());
            updates.sort();
            // Where directories are polled, a look may fall between the removal of two of the names.
            updates.dedup();
            assert_eq!(updates, [root, src]);
        });
    }
}

#[test]
fn ended_subscription_reports_no_more() {
    let mut legacy = Follower::start(Era::Legacy, &[]);
    legacy.subscribe(&[FILE]);
    let answer = legacy.process.ask("resources/unsubscribe", &json!({ "uri": FILE }));
    assert_eq!(answer["result"], json!({}));
    let mut modern = Follower::start(Era::Modern, &[]);
    modern.subscribe(&[FILE]);
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": modern.listen } });
    modern.process.line(&cancelled.to_string());
    for mut follower in [legacy, modern] {
        // Behind the cancellation.
        follower.call("ls", json!({}));
        follower.write("src/a.rs", "unheard\n");
        assert_eq!(follower.silence(), [""; 0]);
    }
}

#[test]
fn burst_of_changes_is_coalesced_and_ends_with_the_last() {
    in_both_eras(&[], |follower| {
        follower.subscribe(&["file:///"]);
        for number in 0..2000 {
            follower.write(&format!("src/{}.txt", number % 100), format!("{number}\n"));
        }
        let first = follower.process.next_within(PATIENCE).expect("an update");
        follower.updated(&first);
        let more = follower.silence().len();
        assert!(more < 500, "{more} updates more for 2000 changes");
        follower.write("b.txt", "last\n");
        assert_eq!(follower.updates().len(), 1);
    });
}

#[test]
fn end_of_the_input_ends_a_server_with_subscriptions() {
    for era in [Era::Legacy, Era::Modern] {
        let mut follower = Follower::start(era, &[]);
        follower.subscribe(&[FILE, "file:///"]);
        follower.process.end_input();
        // The end of the listening is an answer.
        while follower.process.next().is_some() {}
        let (status, log) = follower.process.exit();
        assert!(status.success() && !log.contains("did not end in time"), "{log}");
    }
}

#[test]
fn optional_root_is_followed_before_it_exists() {
    in_both_eras(&["--root", "late=late:optional"], |follower| {
        let uri = "file:///late/x.txt";
        assert_eq!(follower.subscribe(&[uri]), [uri]);
        fs::create_dir(follower.dir.path().join("late")).expect("a folder");
        fs::write(follower.dir.path().join("late/x.txt"), "x\n").expect("a file");
        assert_eq!(follower.updates(), [uri]);
        fs::write(follower.dir.path().join("late/x.txt"), "y\n").expect("a file");
        assert_eq!(follower.updates(), [uri]);
    });
}

#[test]
fn several_uris_of_one_file_are_reported_as_they_were_written() {
    in_both_eras(&[], |follower| {
        let host = format!("file://{}", Path::new("/").join(follower.path("src/a.rs")).display());
        let both = [FILE, host.as_str()];
        if cfg!(windows) {
            return;
        }
        // The client knows the host path; the server repeats it to nobody else.
        let accepted = follower.subscribe(&both);
        assert_eq!(accepted, both);
        follower.write("src/a.rs", "changed\n");
        let mut uris = Vec::new();
        while let Some(message) =
            follower.process.next_within(SILENCE.max(if uris.is_empty() { PATIENCE } else { SILENCE }))
        {
            uris.push(message["params"]["uri"].as_str().expect("a URI").to_owned());
        }
        uris.sort();
        let mut expected = both.map(str::to_owned);
        expected.sort();
        assert_eq!(uris, expected);
    });
}

#[test]
fn nothing_runs_for_subscriptions_until_somebody_subscribes() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let mut follower = Follower::start(Era::Legacy, &[]);
    let threads = |follower: &Follower| {
        let tasks = fs::read_dir(format!("/proc/{}/task", follower.process.id())).expect("a process");
        tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok()).collect::<Vec<_>>()
    };
    follower.call("ls", json!({}));
    assert!(!threads(&follower).contains(&"subscriptions\n".to_owned()));
    follower.subscribe(&[FILE]);
    assert!(threads(&follower).contains(&"subscriptions\n".to_owned()));
    follower.process.ask("resources/unsubscribe", &json!({ "uri": FILE }));
    let begun = Instant::now();
    while threads(&follower).contains(&"subscriptions\n".to_owned()) {
        assert!(begun.elapsed() < PATIENCE, "the thread does not end");
        thread::sleep(Duration::from_millis(5));
    }
}
