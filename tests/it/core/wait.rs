//! `wait` over stdio: what ends it, which lines it shows, and that it takes nothing from other calls.
//!
//! Each case runs with inotify and by polling. No test asserts how long something took.

#![expect(clippy::disallowed_types, reason = "a program of others appends to the files")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use file_tools::{Group, Selection};
use rootbound::server::ServerOptions;

use crate::{harness::Setup, harness::process::Process, harness::program::NO_EVENTS};

/// With events of the kernel, and without them, when a wait polls.
const MODES: [bool; 2] = [true, false];

struct Waiting {
    // Dropped first: Windows does not delete the current folder of a process.
    process: Process,
    dir: TempDir,
}

/// An answer: its text and its facts, or the kind of its error.
struct Answered {
    text: String,
    facts: Value,
    error: Option<String>,
}

impl Answered {
    fn of(message: &Value) -> Self {
        let result = &message["result"];
        Self {
            text: result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {message}")).to_owned(),
            facts: result["_meta"]["rootbound/result"].clone(),
            error: result["_meta"]["rootbound/error"].as_str().map(str::to_owned),
        }
    }

    #[track_caller]
    fn is(&self, outcome: &str, text: &str) {
        assert_eq!(self.facts["outcome"], outcome, "{}", self.text);
        assert!(self.text.starts_with(text), "{:?} does not begin with {text:?}", self.text);
    }

    /// The rev that the text names for the next call.
    #[track_caller]
    fn since(&self) -> String {
        let (_, since) = self.text.split_once("call wait again with since=").unwrap_or_else(|| panic!("{}", self.text));
        since.chars().take_while(|character| character.is_ascii_hexdigit() || *character == ':').collect()
    }

    #[track_caller]
    fn next(&self) -> u64 {
        self.facts["next_offset"].as_u64().unwrap_or_else(|| panic!("no offset: {}", self.text))
    }
}

impl Waiting {
    fn new(events: bool) -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-wait-").tempdir().expect("a temporary folder");
        let root = dir.path().join("root");
        fs::create_dir(&root).expect("a folder");
        let mut process = Process::start_with(
            if events { &[] } else { &[NO_EVENTS] },
            dir.path(),
            Path::new("off"),
            &["--allow", "watch", "--root", "root"],
        );
        process.initialize();
        Self { process, dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("root").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    fn append(&self, name: &str, content: impl AsRef<[u8]>) {
        append(&self.path(name), content);
    }

    fn send(&mut self, arguments: &Value) -> u64 {
        self.process.send("tools/call", &json!({ "name": "wait", "arguments": arguments }))
    }

    /// Starts a wait and returns once it has looked for the first time: it reports progress then.
    fn begin(&mut self, arguments: Value) -> u64 {
        let mut params = json!({ "name": "wait", "_meta": { "progressToken": "begun" } });
        params["arguments"] = arguments;
        let id = self.process.send("tools/call", &params);
        let message = self.process.next().expect("progress");
        assert_eq!(message["method"], "notifications/progress", "{message}");
        id
    }

    fn answer(&mut self, id: u64) -> Answered {
        loop {
            let message = self.process.next().expect("an answer");
            if message["id"] == id {
                return Answered::of(&message);
            }
        }
    }

    fn call(&mut self, arguments: Value) -> Answered {
        let mut params = json!({ "name": "wait" });
        params["arguments"] = arguments;
        let id = self.process.send("tools/call", &params);
        self.answer(id)
    }
}

fn append(path: &Path, content: impl AsRef<[u8]>) {
    let mut file = fs::File::options().append(true).create(true).open(path).expect("a file");
    file.write_all(content.as_ref()).expect("room");
}

fn in_both_modes(test: impl Fn(&mut Waiting)) {
    for mode in MODES {
        test(&mut Waiting::new(mode));
    }
}

#[test]
fn matching_line_ends_the_wait_and_the_next_one_goes_on_behind_it() {
    in_both_modes(|w| {
        w.write("log", "older error\nold error\nlast\n");
        let answer = w.call(json!({ "path": "log", "pattern": "error" }));
        answer.is("line", "2\told error\n(line 2 is there already; 3 lines, rev ");
        assert!(answer.text.ends_with("call wait again with offset=3)"), "{}", answer.text);
        w.write("log", "a prompt: error");
        w.call(json!({ "path": "log", "pattern": "error" }))
            .is("line", "1\ta prompt: error\n(line 1 is there already; ");
        w.write("log", "old error\n");
        let id = w.begin(json!({ "path": "log", "pattern": "error", "offset": 1 }));
        w.append("log", "compiling\nan Error: x\nlater\nerror 2\n");
        let answer = w.answer(id);
        answer.is("line", "2\tcompiling\n3\tan Error: x\n(line 3 matched after ");
        assert!(answer.text.contains("5 lines, rev ") && answer.text.ends_with("call wait again with offset=3)"));
        let next = answer.next();
        let answer = w.call(json!({ "path": "log", "pattern": "error", "offset": next }));
        answer.is("line", "4\tlater\n5\terror 2\n(line 5 matched");
        let answer = w.call(json!({ "path": "log", "pattern": "error", "offset": answer.next(), "timeout": 0.2 }));
        answer.is("nothing_new", "nothing new after ");
        assert!(answer.text.contains("; call wait again with offset=5\n"), "{}", answer.text);
    });
}

#[test]
fn lines_that_do_not_match_are_shown_at_the_end_and_not_again() {
    in_both_modes(|w| {
        w.write("log", "one\ntwo\n");
        let answer = w.call(json!({ "path": "log", "pattern": "done", "offset": 0, "timeout": 0.2 }));
        answer.is("nothing_new", "1\tone\n2\ttwo\nno line matched after ");
        assert!(answer.text.contains(": 2 new lines; call wait again with offset=2"), "{}", answer.text);
        let id = w.begin(json!({ "path": "log", "pattern": "done", "offset": 2 }));
        w.append("log", "done\n");
        w.answer(id).is("line", "3\tdone\n(line 3 matched");
    });
}

#[test]
fn path_that_appears_changes_and_goes_away_is_reported() {
    in_both_modes(|w| {
        // Between two calls.
        let answer = w.call(json!({ "path": "meanwhile", "timeout": 0 }));
        answer.is("nothing_new", "nothing new after ");
        assert!(answer.text.contains("call wait again with until=appears\n"), "{}", answer.text);
        w.write("meanwhile", "x\n");
        w.call(json!({ "path": "meanwhile", "until": "appears" })).is("appeared", "1\tx\n(meanwhile is there already");
        w.call(json!({ "path": "meanwhile", "timeout": 0 })).is("nothing_new", "");
        let answer = w.call(json!({ "path": "lines", "until": "line", "timeout": 0 }));
        answer.is("nothing_new", "nothing new after ");
        assert!(answer.text.contains("call wait again with offset=0\n(lines does not exist yet)"), "{}", answer.text);
        w.write("lines", "x\ny\n");
        let next = answer.next();
        let answer = w.call(json!({ "path": "lines", "until": "line", "offset": next, "timeout": 0 }));
        answer.is("line", "1\tx\n2\ty\n");
        w.call(json!({ "path": "lines", "until": "line", "offset": answer.next(), "timeout": 0 }))
            .is("nothing_new", "nothing new after ");
        let id = w.begin(json!({ "path": "new/out.txt" }));
        fs::create_dir(w.path("new")).unwrap();
        w.write("new/out.txt", "hello\n");
        let answer = w.answer(id);
        answer.is("appeared", "");
        assert!(answer.text.contains("new/out.txt appeared after"), "{}", answer.text);
        let id = w.begin(json!({ "path": "new/out.txt" }));
        w.append("new/out.txt", "more\n");
        w.answer(id).is("changed", "2\tmore\n(new/out.txt changed after ");
        let id = w.begin(json!({ "path": "new/out.txt", "until": "gone" }));
        w.append("new/out.txt", "not yet\n");
        fs::remove_file(w.path("new/out.txt")).unwrap();
        w.answer(id).is("gone", "(new/out.txt is gone after ");
        w.call(json!({ "path": "new/out.txt", "until": "gone" })).is("gone", "(nothing is at new/out.txt)");
        w.call(json!({ "path": "new", "until": "appears" }))
            .is("appeared", "(new is there already; a directory with 0 entries)");
    });
}

#[test]
fn directory_reports_names_that_come_change_and_go() {
    in_both_modes(|w| {
        fs::create_dir(w.path("out")).unwrap();
        w.write("out/old", "x");
        let id = w.begin(json!({ "path": "out" }));
        w.write("out/new", "four");
        let answer = w.answer(id);
        assert!(answer.text.contains("new: out/new (") && !answer.text.contains("old"), "{}", answer.text);
        let id = w.begin(json!({ "path": "out" }));
        fs::remove_file(w.path("out/old")).unwrap();
        w.answer(id).is("changed", "gone: out/old\n");
        let id = w.begin(json!({ "path": "out", "pattern": r"\.done$" }));
        w.write("out/other", "x");
        w.write("out/a.done", "");
        let answer = w.answer(id);
        assert!(answer.text.contains("new: out/a.done (0 B)\n"), "{}", answer.text);
    });
}

#[test]
fn rotated_log_is_read_to_its_old_end_and_from_its_new_start() {
    in_both_modes(|w| {
        w.write("log", "one\n");
        let id = w.begin(json!({ "path": "log", "pattern": "second" }));
        w.append("log", "last of the first\n");
        fs::rename(w.path("log"), w.path("log.1")).unwrap();
        w.write("log", "first of the second\n");
        let answer = w.answer(id);
        answer.is("line", "2\tlast of the first\n1\tfirst of the second\n(line 1 matched");
        assert_eq!(answer.facts["restarted"], true);
    });
}

#[test]
fn file_that_is_cut_or_rewritten_counts_from_its_first_line() {
    in_both_modes(|w| {
        w.write("log", "one\ntwo\n");
        let id = w.begin(json!({ "path": "log", "pattern": "three" }));
        w.write("log", "three\n");
        let answer = w.answer(id);
        answer.is("line", "1\tthree\n(line 1 matched");
        // Between two calls: the lines that the caller has are no longer there.
        let rev = answer.facts["revision"].as_str().expect("a revision").to_owned();
        w.write("log", "another one that is longer\n");
        for known in [json!({ "since": rev }), json!({ "offset": 2 }), json!({ "offset": 900 })] {
            let mut call = json!({ "path": "log", "pattern": "longer" });
            call.as_object_mut().expect("arguments").extend(known.as_object().expect("one").clone());
            let answer = w.call(call);
            answer.is("line", "1\tanother one that is longer\n");
            assert_eq!(answer.facts["restarted"], true);
        }
    });
}

#[cfg(unix)] // Windows does not replace a file that is open
#[test]
fn file_that_is_replaced_by_a_longer_copy_shows_only_what_follows() {
    in_both_modes(|w| {
        w.write("log", "one\ntwo\n");
        let id = w.begin(json!({ "path": "log" }));
        w.write("log.tmp", "one\ntwo\nthree\n");
        fs::rename(w.path("log.tmp"), w.path("log")).unwrap();
        w.answer(id).is("changed", "3\tthree\n(log changed after ");
    });
}

#[test]
fn last_line_without_a_line_break_counts_when_it_stays_and_again_when_it_is_whole() {
    in_both_modes(|w| {
        w.write("log", "one\n");
        let id = w.begin(json!({ "path": "log", "pattern": "password" }));
        w.append("log", "Password: ");
        let answer = w.answer(id);
        answer.is("line", "2\tPassword: \n(line 2 has no line break yet)\n(line 2 matched");
        assert_eq!(answer.next(), 1);
        w.call(json!({ "path": "log", "pattern": "password", "offset": 1 }))
            .is("line", "2\tPassword: \n(line 2 has no line break yet)\n");
        let since = answer.since();
        let again = w.call(json!({ "path": "log", "pattern": "password", "since": since, "timeout": 0.6 }));
        again.is("nothing_new", "nothing new");
        assert_eq!(again.since(), since);
        let id = w.begin(json!({ "path": "log", "pattern": "password", "since": since }));
        w.append("log", "accepted\n");
        w.answer(id).is("line", "2\tPassword: accepted\n(line 2 matched");
        w.call(json!({ "path": "log", "pattern": "password", "since": since }))
            .is("line", "2\tPassword: accepted\n(line 2 matched");
    });
}

/// A status file is written as a whole, often without a line break at its end.
#[test]
fn file_without_a_last_line_break_is_waited_for_and_no_state_between_two_waits_is_lost() {
    in_both_modes(|w| {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for (name, states) in [
            ("status", [1, 2, 3].map(|n| format!("{{\n  {n}\n}}").into_bytes())),
            ("wide", [1, 2, 3].map(|n| [b"\xff\xfe".to_vec(), utf16(&format!("gr\u{fc}n\r\n{n}"))].concat())),
        ] {
            w.write(name, &states[0]);
            let answer = w.call(json!({ "path": name, "timeout": 0 }));
            answer.is("nothing_new", "");
            w.call(json!({ "path": name, "since": answer.since(), "timeout": 0 })).is("nothing_new", "");
            w.write(name, &states[1]);
            let answer = w.call(json!({ "path": name, "since": answer.since() }));
            answer.is("changed", "1\t");
            assert!(answer.text.contains('2'), "{}", answer.text);
            let id = w.begin(json!({ "path": name, "since": answer.since() }));
            w.write(name, &states[2]);
            let answer = w.answer(id);
            answer.is("changed", "");
            assert!(answer.text.contains('3'), "{}", answer.text);
        }
    });
}

/// The lines before it were of the former file, whose number of lines says nothing of the new one.
#[test]
fn wait_that_ends_in_a_file_that_is_gone_continues_at_the_first_line_of_the_next() {
    in_both_modes(|w| {
        w.write("log", "one\n");
        let id = w.begin(json!({ "path": "log", "pattern": "end" }));
        w.append("log", "two\nthe end\n");
        fs::rename(w.path("log"), w.path("log.1")).unwrap();
        let answer = w.answer(id);
        answer.is("line", "2\ttwo\n3\tthe end\n");
        w.write("log", "a\nb\nc\nd\n");
        if answer.next() == 0 {
            w.call(json!({ "path": "log", "until": "line", "offset": 0 })).is("line", "1\ta\n2\tb\n");
        }
        // Windows: a file that is open keeps its name until it is closed.
        if cfg!(unix) {
            let id = w.begin(json!({ "path": "log", "pattern": "x", "offset": 4, "timeout": 1 }));
            fs::remove_file(w.path("log")).unwrap();
            assert_eq!(w.answer(id).next(), 0);
        }
    });
}

#[test]
fn last_line_is_new_after_a_longer_one_was_completed() {
    in_both_modes(|w| {
        w.write("log", "a line without its end");
        let id = w.begin(json!({ "path": "log", "pattern": "^ok$" }));
        w.append("log", "\nok");
        w.answer(id).is("line", "1\ta line without its end\n2\tok\n(line 2 has no line break yet)");
    });
}

#[test]
fn since_takes_a_rev_of_what_the_caller_has() {
    in_both_modes(|w| {
        w.write("log", "one\n");
        let answer = w.call(json!({ "path": "log", "timeout": 0 }));
        let rev = answer.facts["revision"].as_str().expect("a revision").to_owned();
        w.append("log", "two\n");
        w.call(json!({ "path": "log", "since": rev[..6] })).is("changed", "2\ttwo\n(log changed");
        let answer = w.call(json!({ "path": "log", "since": "00000", "pattern": "two" }));
        answer.is("line", "1\tone\n2\ttwo\n");
        assert!(answer.text.contains("rev 00000 is not the beginning of the file"), "{}", answer.text);
    });
}

#[test]
fn encodings_and_line_endings_are_read_as_read_does() {
    in_both_modes(|w| {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        w.write("wide", [b"\xff\xfe".to_vec(), utf16("one\r\n")].concat());
        let id = w.begin(json!({ "path": "wide", "pattern": "^grün$" }));
        w.append("wide", utf16("rot\r\ngr\u{fc}n\r\n"));
        w.answer(id).is("line", "2\trot\n3\tgr\u{fc}n\n(line 3 matched");
        w.write("latin", b"caf\xe9 cr\xe8me, d\xe9j\xe0 vu\r\n");
        let id = w.begin(json!({ "path": "latin", "pattern": "fa\u{e7}ade" }));
        w.append("latin", b"fa\xe7ade\r\n");
        w.answer(id).is("line", "2\tfa\u{e7}ade\n");
        w.write("binary", b"\x7fELF\0\0\0\0\n");
        let refused = w.call(json!({ "path": "binary", "pattern": "x" }));
        assert_eq!(refused.error.as_deref(), Some("binary"), "{}", refused.text);
        let id = w.begin(json!({ "path": "binary" }));
        w.append("binary", b"\0");
        w.answer(id).is("changed", "(binary changed after ");
    });
}

#[test]
fn many_and_long_lines_are_bounded() {
    in_both_modes(|w| {
        w.write("log", "");
        let id = w.begin(json!({ "path": "log", "pattern": "the end" }));
        let many: String = (0..200_000).fold(String::new(), |text, n| text + &format!("line number {n}\n"));
        let long = "x".repeat(3 << 20);
        w.append("log", format!("{many}{long}\nthe end\n"));
        let answer = w.answer(id);
        assert_eq!(answer.facts["matched_line"], 200_002, "{}", answer.text);
        assert!(answer.text.len() <= 40_000, "{} bytes", answer.text.len());
        assert!(
            answer
                .text
                .contains("x… [line of more than 1048576 characters, cut; read shows the rest]\n200002\tthe end\n")
        );
        assert!(answer.text.contains("new lines before line "), "{}", answer.text);
        // Without a pattern: from the first one on, each exactly once.
        let mut offset = 0;
        for _ in 0..3 {
            let answer = w.call(json!({ "path": "log", "until": "line", "offset": offset }));
            assert!(answer.text.starts_with(&format!("{}\tline number {offset}\n", offset + 1)), "{}", answer.text);
            assert!(answer.text.len() <= 40_000);
            offset = answer.next();
        }
    });
}

#[test]
fn arguments_are_read_leniently_and_contradictions_are_refused() {
    let mut w = Waiting::new(true);
    w.write("f", "one\n");
    for timeout in [json!(0), json!("0"), json!("0s"), json!("1ms"), json!(0.0)] {
        w.call(json!({ "path": "f", "timeout": timeout })).is("nothing_new", "nothing new");
    }
    w.call(json!({ "file_path": "f", "timeout_seconds": 0, "event": "changes" })).is("nothing_new", "nothing new");
    for (arguments, word) in [
        (json!({ "path": "f", "timeout": -1 }), "not -1"),
        (json!({ "path": "f", "timeout": "NaN" }), "NaN"),
        (json!({ "path": "f", "timeout": [1] }), "number of seconds"),
        (json!({ "path": "f", "timeout_ms": 5 }), "timeout"),
        (json!({ "path": "f", "offset": -1 }), "not -1"),
        (json!({ "path": "f", "offset": 1, "since": "abcde" }), "both"),
        (json!({ "path": "f", "since": "x" }), "rev"),
        (json!({ "path": "f", "until": "gone", "pattern": "x" }), "until=gone"),
        (json!({ "path": "f", "until": "appears", "offset": 0 }), "until=appears"),
        (json!({ "path": "f", "until": "soon" }), "appears"),
        (json!({ "path": "f", "pattern": "(" }), "unclosed"),
        (json!({ "path": "f", "pattern": "a\nb" }), "line break"),
        (json!({ "path": ".", "offset": 3 }), "directory"),
        (json!({}), "path"),
    ] {
        let answer = w.call(arguments.clone());
        assert_eq!(answer.error.as_deref(), Some("invalid_input"), "{arguments}: {}", answer.text);
        assert!(answer.text.contains(word) && answer.text.contains("\n\nhint: "), "{arguments}: {}", answer.text);
    }
}

#[test]
fn limits_of_the_server_and_the_client_are_named() {
    let options = ServerOptions { longest_wait: Duration::from_millis(200), ..ServerOptions::default() };
    let selection = Selection { groups: vec![Group::Watch], ..Selection::default() };
    let h = Setup { selection, options, ..Setup::default() }.open();
    h.write("f", "one\n");
    let outcome = h.call("wait", json!({ "path": "f", "timeout": 1e18 }));
    assert!(outcome.facts()["asked_seconds"].as_u64() > Some(1_000_000));
    let text = outcome.ok();
    assert!(text.starts_with("nothing new after ") && text.contains("the server's limit"), "{text}");
}

#[test]
fn wait_is_cancelled_and_ends_with_the_input() {
    in_both_modes(|w| {
        w.write("f", "one\n");
        let cancelled = w.begin(json!({ "path": "f" }));
        let ends = w.begin(json!({ "path": "f" }));
        w.process.line(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": cancelled } })
                .to_string(),
        );
        // The server has read the cancellation when it answers what came after it.
        w.call(json!({ "path": "f", "timeout": 0 }));
        w.process.end_input();
        let mut answered = Vec::new();
        while let Some(message) = w.process.next() {
            let answer = Answered::of(&message);
            answer.is("nothing_new", "nothing new after ");
            assert!(answer.text.contains(", as the client closed its input; call wait again with offset=1"));
            answered.push(message["id"].as_u64());
        }
        assert_eq!(answered, [Some(ends)]);
    });
}

#[test]
fn progress_is_reported_to_a_client_that_asks_for_it() {
    let mut w = Waiting::new(true);
    w.write("f", "one\n");
    let arguments = json!({ "path": "f", "pattern": "two" });
    let id = w
        .process
        .send("tools/call", &json!({ "name": "wait", "arguments": arguments, "_meta": { "progressToken": "p" } }));
    let progress = w.process.next().expect("progress");
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p");
    assert_eq!(progress["params"]["message"], "waiting for f");
    w.append("f", "two\n");
    w.answer(id).is("line", "2\ttwo\n");
}

#[test]
fn progress_is_reported_once_in_five_seconds_however_often_the_file_is_looked_at() {
    let mut w = Waiting::new(true);
    w.write("f", "one\n");
    let arguments = json!({ "path": "f", "pattern": "two", "timeout": 3 });
    let call = json!({ "name": "wait", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let id = w.process.send("tools/call", &call);
    let mut reports = 0;
    while w.process.next().expect("a message")["id"] != id {
        reports += 1;
    }
    assert_eq!(reports, 1);
}

#[test]
fn many_waits_leave_other_calls_alone_and_more_are_refused() {
    in_both_modes(|w| {
        w.write("f", "one\n");
        let waits: Vec<u64> = (0..64).map(|_| w.send(&json!({ "path": "f", "pattern": "end", "offset": 1 }))).collect();
        let refused = w.call(json!({ "path": "f" }));
        assert_eq!(refused.error.as_deref(), Some("quota"), "{}", refused.text);
        // More than all permits of light calls.
        for _ in 0..40 {
            let read = w.process.ask("tools/call", &json!({ "name": "read", "arguments": { "path": "f" } }));
            assert_eq!(read["result"]["isError"], false, "{read}");
        }
        w.append("f", "the end\n");
        let mut left = waits.len();
        while left > 0 {
            let answer = Answered::of(&w.process.next().expect("an answer"));
            answer.is("line", "2\tthe end\n");
            left -= 1;
        }
        w.call(json!({ "path": "f", "timeout": 0 })).is("nothing_new", "nothing new");
    });
}

#[test]
fn file_that_changes_without_a_pause_shows_each_line_once() {
    in_both_modes(|w| {
        w.write("f", "");
        let path = w.path("f");
        let writer = thread::spawn(move || {
            for n in 0..10_000 {
                append(&path, format!("{n}\n"));
            }
        });
        let mut seen = 0;
        while seen < 10_000 {
            let answer = w.call(json!({ "path": "f", "until": "line", "offset": seen, "timeout": 45 }));
            for line in answer.text.lines().take_while(|line| line.contains('\t')) {
                assert_eq!(line, format!("{}\t{seen}", seen + 1));
                seen += 1;
            }
        }
        writer.join().unwrap();
    });
}

#[test]
fn optional_root_that_appears_ends_a_wait() {
    in_both_modes(|w| {
        drop(fs::remove_dir(w.path("")));
        let mut process =
            Process::start(w.dir.path(), &["--allow", "watch", "--root", "late=late:optional", "--root", "root=."]);
        process.initialize();
        let id = process
            .send("tools/call", &json!({ "name": "wait", "arguments": { "path": "late/f", "until": "appears" } }));
        fs::create_dir(w.dir.path().join("late")).unwrap();
        fs::write(w.dir.path().join("late/f"), "here\n").unwrap();
        let message = process.next().expect("an answer");
        assert_eq!(message["id"], id);
        Answered::of(&message).is("appeared", "");
        drop(process);
    });
}
