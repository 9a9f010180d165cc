//! What is too large, or too much at once: printed with its number, and nothing is changed.

use serde_json::json;

use crate::harness::{Setup, mcp_test};

mcp_test!(replace_all_is_refused_above_the_limit_of_places, |h| {
    let text = "abc\n".repeat(1_000_000);
    h.write("many.txt", &text);
    h.call("grep", json!({ "pattern": "abc", "path": "many.txt", "max_results": 1 })).ok();
    let edit = json!({ "path": "many.txt", "old_string": "abc", "new_string": "xyz", "replace_all": true });
    let error = h.call("edit", edit).fails("too_large");
    assert!(error.contains("at 100001 places or more in many.txt") && error.contains("hint: "), "{error}");
    assert_eq!(h.bytes("many.txt"), text.as_bytes());
});

#[test]
fn create_of_an_existing_large_file_reports_that_it_exists() {
    let mut setup = Setup::default();
    setup.settings.max_file_size = 1000;
    let h = setup.open();
    h.write("large.txt", "x".repeat(2000));
    let create = json!({ "path": "large.txt", "content": "y", "mode": "create" });
    let error = h.call("write", create).fails("invalid_input");
    assert!(error.contains("large.txt already exists"), "{error}");
    h.call("write", json!({ "path": "large.txt", "content": "y" })).fails("too_large");
    assert_eq!(h.bytes("large.txt"), [b'x'; 2000]);
}

/// Twenty thousand lines, each made of its number.
fn lines(line: impl Fn(usize) -> String) -> String {
    (0..20_000).map(line).collect::<Vec<_>>().join("\n")
}

mcp_test!(twenty_thousand_ignore_rules_all_count, |h| {
    h.write(".gitignore", lines(|n| if n % 2 == 0 { format!("name{n}.txt") } else { format!("folder{n}/") }));
    for name in ["name0.txt", "sub/name19998.txt", "folder19999/a.txt", "name19999.txt"] {
        h.write(name, "a line\n");
    }
    for (tool, arguments) in [("glob", json!({ "pattern": "*.txt" })), ("grep", json!({ "pattern": "line" }))] {
        let answer = h.call(tool, arguments);
        let text = answer.ok();
        assert!(text.contains("name19999.txt") && text.contains("3 more in ignored files"), "{text}");
        assert!(answer.facts()["complete"] == true && !text.contains("count only"), "{text}");
    }
});

mcp_test!(ignore_rules_above_the_limit_are_reported, |h| {
    h.write("sub/.gitignore", lines(|n| format!("x[0-9]{n}?y")));
    h.write("sub/x10zy", "a line\n");
    h.write("sub/x119999zy", "a line\n");
    let calls = [("glob", json!({ "pattern": "x*" })), ("grep", json!({ "pattern": "line" })), ("ls", json!({}))];
    for (tool, arguments) in calls {
        let answer = h.call(tool, arguments);
        let text = answer.ok();
        let listed = text.replace("(1 ignored entry hidden: sub/x10zy; pass no_ignore)", "");
        assert!(listed.contains("x119999zy") && !listed.contains("x10zy"), "{text}");
        assert!(text.contains("the ignore rules of sub/.gitignore count only up to line "), "{text}");
        assert!(text.contains("so ignored files may be among these"), "{text}");
        assert!(tool == "ls" || answer.facts()["complete"] == false, "{text}");
    }
    h.write("sub/.gitignore", format!("{}\nx10zy\n", "# a comment\n".repeat(100_000)));
    let text = h.call("glob", json!({ "pattern": "x*" })).ok();
    assert!(text.contains("sub/x10zy") && text.contains("sub/.gitignore count only up to line 87381"), "{text}");
});

mcp_test!(the_last_lines_of_a_large_file_are_read_in_every_encoding, |h| {
    let lines: Vec<String> = (1..=200_000).map(|n| format!("zeile {n} größer")).collect();
    let text = lines.join("\n");
    let latin: Vec<u8> = text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    let wide: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, bytes, unusual) in [
        ("utf8.txt", text.as_bytes(), ""),
        ("latin.txt", &latin, ", windows-1252"),
        ("wide.txt", &wide, ", UTF-16LE, BOM"),
    ] {
        let rev =
            |revision: &serde_json::Value| revision.as_str().map(|digits| digits[..6].to_owned()).expect("a revision");
        h.write(name, bytes);
        let answer = h.call("read", json!({ "path": name, "offset": -2 }));
        let expected = format!(
            "199999\tzeile 199999 größer\n200000\tzeile 200000 größer\n\
             (lines 199999-200000 of 200000{unusual}, no final newline, rev {})",
            rev(&answer.facts()["revision"])
        );
        assert_eq!(answer.ok(), expected, "{name}");
        h.write(name, if name == "wide.txt" { [bytes, b"\n\0"].concat() } else { [bytes, b"\n"].concat() });
        let answer = h.call("read", json!({ "path": name, "offset": -1 }));
        let rev = rev(&answer.facts()["revision"]);
        let expected = format!("200000\tzeile 200000 größer\n(lines 200000-200000 of 200000{unusual}, rev {rev})");
        assert_eq!(answer.ok(), expected, "{name}");
    }
});

/// A client that asks for images and does not read.
#[cfg(target_os = "linux")]
mod unread {
    use std::{
        fs,
        io::{BufRead as _, BufReader, Cursor, Write as _},
        process::Stdio,
        thread,
        time::Duration,
    };

    use serde_json::{Value, json};

    use crate::harness::program::program;

    const IMAGES: usize = 48;
    const IMAGE: usize = 4 << 20;

    fn status(pid: u32, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line with it");
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
    }

    fn processor_time(pid: u32) -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        text.rsplit(") ").next().expect("fields").split(' ').skip(11).take(2).map(str::to_owned).collect()
    }

    #[test]
    fn unread_answers_are_limited_in_bytes_and_delivered_later() {
        let dir = tempfile::tempdir().unwrap();
        // A small picture with a long tail, which no decoder looks at; a PNG or JPEG file would be sent without it.
        let mut image = Cursor::new(Vec::new());
        image::RgbImage::new(256, 256).write_to(&mut image, image::ImageFormat::Gif).unwrap();
        let mut image = image.into_inner();
        image.resize(IMAGE, 0);
        fs::write(dir.path().join("a.gif"), &image).unwrap();
        let mut server = program(dir.path())
            .args(["--state-dir", "off", "--time-limit", "600", "--max-image-size", "5MiB", "."])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut send = |message: Value| writeln!(input, "{message}").unwrap();
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        send(json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
        send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        for id in 0..IMAGES {
            let call = json!({ "name": "read", "arguments": { "path": "a.gif" } });
            send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
        }
        // Until it does no more; on a slow machine perhaps less than all that it would do.
        let mut still = 0;
        let mut before = processor_time(server.id());
        while still < 5 {
            thread::sleep(Duration::from_millis(200));
            let now = processor_time(server.id());
            still = if now == before { still + 1 } else { 0 };
            before = now;
        }
        // Sixteen places with an image each and the room for lines; all of them would be 256 MiB of lines.
        let peak = status(server.id(), "VmHWM") >> 10;
        assert!(peak < 200, "{peak} MiB");

        let mut answered = Vec::new();
        let mut lines = BufReader::new(output).lines();
        while answered.len() < IMAGES {
            let line = lines.next().expect("more answers").unwrap();
            // Not parsed as a whole, which takes its time.
            let (head, rest) = line.split_at(line.find(",\"result\"").expect("an answer"));
            let head: Value = serde_json::from_str(&format!("{head}}}")).unwrap();
            let Some(id) = head["id"].as_u64() else { continue };
            let data = rest.split("\"data\":\"").nth(1).and_then(|rest| rest.split('"').next());
            assert_eq!(data.map(str::len), Some(IMAGE.div_ceil(3) * 4), "{line:.300}");
            answered.push(id);
        }
        answered.sort_unstable();
        assert_eq!(answered, (0..IMAGES as u64).collect::<Vec<_>>());
        drop(input);
        assert_eq!(server.wait().unwrap().code(), Some(0));
    }
}
