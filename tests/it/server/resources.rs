//! Resources and completions over stdio: what a client lists, completes and reads when a person mentions a file.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{Process, modern};

/// A folder with a project, and a server on it.
struct Desk {
    server: Process,
    dir: TempDir,
    is_modern: bool,
}

const UNNAMED: &str = "file:///{+path}";

impl Desk {
    /// Serves the project by `arguments`, where `ROOT` is its folder, without a handshake if `is_modern`.
    fn open(is_modern: bool, arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, content) in [
            ("src/index.ts", "export {}\r\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/windows/index.rs", "// a\n"),
            ("docs/My index ü.md", "# Hello\n"),
            ("docs/100%25.txt", "percent\n"),
            (".env", "TOKEN=1\n"),
            ("private/plan.txt", "hidden\n"),
            ("node_modules/index.ts", "ignored\n"),
        ] {
            write(dir.path(), path, content);
        }
        let folder = dir.path().join("project").display().to_string();
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("ROOT", &folder)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut server = Process::start(dir.path(), &arguments);
        if is_modern {
            server.discover();
        } else {
            server.initialize();
        }
        Self { server, dir, is_modern }
    }

    /// The result, or the error.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let params = if self.is_modern { modern(params) } else { params };
        let answer = self.server.ask(method, &params);
        let host = self.dir.path().to_str().expect("a plain name");
        assert!(!answer.to_string().contains(host), "{answer} shows the host path");
        if answer.get("error").is_some() { answer["error"].clone() } else { answer["result"].clone() }
    }

    fn complete(&mut self, template: &str, value: &str) -> Value {
        let params = json!({ "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": "path", "value": value } });
        self.ask("completion/complete", params)["completion"].clone()
    }

    fn values(&mut self, template: &str, value: &str) -> Vec<String> {
        serde_json::from_value(self.complete(template, value)["values"].clone()).expect("values")
    }

    fn read(&mut self, uri: &str) -> Value {
        self.ask("resources/read", json!({ "uri": uri }))
    }

    fn text(&mut self, uri: &str) -> String {
        let answer = self.read(uri);
        answer["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{uri}: {answer}")).to_owned()
    }
}

fn write(dir: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = dir.join("project").join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, content).expect("written");
}

/// Runs `test` in both eras.
fn both(arguments: &[&str], test: impl Fn(&mut Desk)) {
    for is_modern in [false, true] {
        test(&mut Desk::open(is_modern, arguments));
    }
}

#[test]
fn each_root_is_a_template_in_its_public_form() {
    for (arguments, templates) in [
        (&["--root", "ROOT"][..], vec!["file:///{+path}"]),
        (&["--root", "/mnt/x=ROOT"], vec!["file:///mnt/x/{+path}"]),
        (&["--root", "my.app=ROOT", "--root", "s=ROOT/src"], vec!["file:///my.app/{+path}", "file:///s/{+path}"]),
    ] {
        both(arguments, |desk| {
            let listed = desk.ask("resources/templates/list", json!({}));
            let listed = listed["resourceTemplates"].as_array().expect("templates").clone();
            let found: Vec<&str> = listed.iter().map(|one| one["uriTemplate"].as_str().expect("a template")).collect();
            assert_eq!(found, templates);
            let has_words = |one: &Value| ["name", "title", "description"].iter().all(|key| one[key].is_string());
            assert!(listed.iter().all(has_words), "{listed:?}");
        });
    }
}

#[test]
fn mention_is_completed_and_read() {
    both(&["--root", "/mnt/x=ROOT"], |desk| {
        let template = "file:///mnt/x/{+path}";
        let values = desk.values(template, "@ind");
        assert_eq!(values[0], "src/index.ts");
        for value in values.iter().filter(|value| !value.ends_with('/')) {
            // As RFC 6570 expands it, and as a client does that puts the text in as it is.
            let encoded = value.replace(' ', "%20").replace('ü', "%C3%BC");
            assert_eq!(
                desk.text(&template.replace("{+path}", value)),
                desk.text(&template.replace("{+path}", &encoded)),
                "{value}"
            );
        }
        assert_eq!(desk.text("file:///mnt/x/src/index.ts"), "export {}\r\n");
        let uri = desk.read("file:///mnt/x/docs/My index ü.md")["contents"][0]["uri"].clone();
        assert_eq!(uri, "file:///mnt/x/docs/My%20index%20%C3%BC.md");
        assert_eq!(desk.values(template, "100%"), ["docs/100%25.txt"]);
        assert_eq!(desk.text("file:///mnt/x/docs/100%2525.txt"), "percent\n");
        assert_eq!(desk.text("file:///mnt/x/docs/100%25.txt"), "percent\n", "put in as it is");
    });
}

#[test]
fn best_names_come_first_and_hidden_or_denied_ones_never() {
    both(&["--root", "ROOT", "--hide", "private"], |desk| {
        assert_eq!(desk.values(UNNAMED, "index"), ["src/index.ts", "src/windows/index.rs", "docs/My index ü.md"]);
        assert_eq!(desk.values(UNNAMED, "src/w"), ["src/windows/", "src/windows/index.rs"]);
        assert_eq!(desk.values(UNNAMED, "./src/../docs/my"), ["docs/My index ü.md"]);
        assert_eq!(desk.values(UNNAMED, "MAIN"), ["src/main.rs"]);
        assert_eq!(desk.values(UNNAMED, "u\u{308}"), ["docs/My index ü.md"], "decomposed");
        assert_eq!(
            desk.values(UNNAMED, "src"),
            ["src/", "src/main.rs", "src/index.ts", "src/windows/index.rs", "src/windows/"]
        );
        assert_eq!(desk.values(UNNAMED, "srcmn"), [""; 0], "letters in order");
        for nothing in
            [".env", "env", "plan", "private", "../", "..", "/etc/passwd", "src/../../x", "\0", "node_modules"]
        {
            assert_eq!(desk.values(UNNAMED, nothing), [""; 0], "{nothing}");
        }
        // What was used last is the best of its kind, and of all where nothing was typed.
        desk.text("file:///src/windows/index.rs");
        assert_eq!(desk.values(UNNAMED, "index")[..2], ["src/windows/index.rs", "src/index.ts"]);
        let all = desk.complete(UNNAMED, "");
        assert_eq!(all["values"][0], "src/windows/index.rs");
        assert_eq!((&all["total"], &all["hasMore"]), (&json!(5), &json!(false)), "{all}");
    });
}

#[test]
fn damaged_images_are_not_offered() {
    let mut desk = Desk::open(false, &["--root", "ROOT"]);
    let whole = crate::harness::png(64, 64);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0xff;
    write(desk.dir.path(), "shot/cut.png", &whole[..whole.len() / 2]);
    write(desk.dir.path(), "shot/flipped.png", flipped);
    write(desk.dir.path(), "shot/noise.jpg", b"\x89\0\0\x01\x02");
    write(desk.dir.path(), "shot/whole.png", whole);
    assert_eq!(desk.values(UNNAMED, "shot/"), ["shot/whole.png"]);
    assert_eq!(desk.complete(UNNAMED, "cut.png")["total"], 0);
}

#[test]
fn at_most_100_values_are_returned_and_the_rest_is_counted() {
    let mut desk = Desk::open(false, &["--root", "ROOT"]);
    for number in 0..150 {
        write(desk.dir.path(), &format!("many/part{number}.txt"), "x");
    }
    let found = desk.complete(UNNAMED, "part");
    assert_eq!(found["values"].as_array().expect("values").len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(150), &json!(true)));
    // Typed on without waiting, each request is answered.
    let params = |value: String| json!({ "ref": { "type": "ref/resource", "uri": UNNAMED }, "argument": { "name": "path", "value": value } });
    let ids: Vec<u64> = (0..50).map(|n| desk.server.send("completion/complete", &params(format!("part{n}")))).collect();
    let mut answers = Vec::new();
    for _ in &ids {
        let answer = desk.server.next().expect("an answer");
        assert!(answer["result"]["completion"]["values"].is_array(), "{answer}");
        answers.push(answer["id"].as_u64().expect("an id"));
    }
    answers.sort_unstable();
    assert_eq!(answers, ids);
}

#[test]
fn roots_and_recent_files_are_listed_in_pages() {
    both(&["--root", "ROOT"], |desk| {
        for number in 0..70 {
            write(desk.dir.path(), &format!("f{number}.md"), "x\n");
            desk.text(&format!("file:///f{number}.md"));
        }
        desk.ask("tools/call", json!({ "name": "read", "arguments": { "path": "src/main.rs" } }));
        fs::remove_file(desk.dir.path().join("project/f5.md")).expect("removed");
        let first = desk.ask("resources/list", json!({}));
        let page = |list: &Value| list["resources"].as_array().expect("resources").clone();
        assert_eq!(page(&first)[0]["uri"], "file:///");
        assert_eq!(page(&first)[0]["mimeType"], "inode/directory");
        let file = &page(&first)[1];
        assert_eq!((&file["uri"], &file["name"]), (&json!("file:///src/main.rs"), &json!("main.rs")));
        assert_eq!((&file["mimeType"], &file["size"]), (&json!("text/x-rust"), &json!(13)));
        assert!(file["annotations"]["lastModified"].as_str().is_some_and(|time| time.ends_with('Z')), "{file}");
        assert_eq!(first["cacheScope"].is_string(), desk.is_modern);
        let rest = desk.ask("resources/list", json!({ "cursor": first["nextCursor"] }));
        assert!(rest.get("nextCursor").is_none());
        let uris: Vec<Value> = page(&first).iter().chain(&page(&rest)).map(|one| one["uri"].clone()).collect();
        assert_eq!(uris.len(), 71, "the root, 69 files that are there, and the last one");
        assert!(!uris.contains(&json!("file:///f5.md")));
        assert_eq!(desk.ask("resources/list", json!({ "cursor": "x".repeat(5000) }))["code"], -32602);
    });
}

#[test]
fn resource_is_whole_or_an_error() {
    both(&["--root", "ROOT", "--max-output", "3000"], |desk| {
        let png = crate::harness::png(4, 4);
        write(desk.dir.path(), "pixel.png", &png);
        write(desk.dir.path(), "latin.txt", b"caf\xe9 au lait, d\xe9j\xe0 vu\n");
        write(desk.dir.path(), "big.txt", "line\n".repeat(1000));
        write(desk.dir.path(), "program", b"\x7fELF\0\0\0");
        let image = &desk.read("file:///pixel.png")["contents"][0];
        assert_eq!(image["mimeType"], "image/png");
        assert!(image["blob"].is_string() && image.get("text").is_none(), "{image}");
        assert_eq!(desk.text("file:///latin.txt"), "café au lait, déjà vu\n");
        assert!(desk.text("file:///src").contains("main.rs"));
        // All of its rows.
        let row = |at: usize| format!("<row r='{at}'><c r='A{at}'><v>{at}</v></c></row>");
        let rows: String = (1..=90).map(row).collect();
        write(desk.dir.path(), "plan.xlsx", office_text::testing::xlsx(&[("A", &rows), ("B", &rows)], "", ""));
        assert_eq!(desk.text("file:///plan.xlsx").matches("\n90\t90\n").count(), 2);
        for (uri, part) in [
            ("file:///big.txt", "big.txt has 5000 bytes; a resource is sent whole"),
            ("file:///program", "program is not text"),
            ("file:///.env", "access denied: .env is a secret file"),
            ("file:///etc/passwd", "access denied: file:///etc/passwd is outside the workspace roots"),
            ("file:///nothing.txt", "access denied: file:///nothing.txt is outside the workspace roots"),
            ("file:///no/such", "access denied: file:///no/such is outside the workspace roots"),
        ] {
            let error = desk.read(uri);
            assert_eq!(error["code"], -32602, "{error}");
            assert!(error["message"].as_str().is_some_and(|message| message.contains(part)), "{error}");
            assert_eq!(error["data"]["uri"], uri);
        }
        let missing = if desk.is_modern { -32602 } else { -32002 };
        for uri in ["file:///src/nothing.txt", "test://nothing"] {
            assert_eq!(desk.read(uri)["code"], missing, "{uri}");
        }
        let long = desk.read(&format!("file:///{}", "a/".repeat(100_000)));
        assert!(long.to_string().len() < 1000, "{long}");
    });
}

#[test]
fn file_that_was_attached_may_be_edited() {
    both(&["--root", "ROOT"], |desk| {
        let edit = json!({ "path": "src/main.rs", "old_string": "fn main() {}", "new_string": "fn main() { }" });
        let refused = desk.ask("tools/call", json!({ "name": "edit", "arguments": edit }));
        assert_eq!(refused["_meta"]["rootbound/error"], "not_read");
        desk.text("file:///src/main.rs");
        let edited = desk.ask("tools/call", json!({ "name": "edit", "arguments": edit }));
        assert_eq!(edited["isError"], false, "{edited}");
    });
}

#[test]
fn wrong_parameters_are_invalid_and_name_the_reason() {
    both(&["--root", "ROOT"], |desk| {
        let template = json!({ "type": "ref/resource", "uri": UNNAMED });
        let argument = json!({ "name": "path", "value": "" });
        for (method, params, part) in [
            ("resources/read", json!({}), "resources/read: `uri` is missing"),
            ("resources/read", json!({ "uri": 7 }), "`uri` must be a text"),
            ("resources/list", json!({ "cursor": [] }), "`cursor` must be a text"),
            ("resources/templates/list", json!({ "cursor": "x" }), "unknown cursor"),
            ("completion/complete", json!({ "ref": template }), "`argument` is missing"),
            (
                "completion/complete",
                json!({ "ref": { "type": "x" }, "argument": argument }),
                "`ref` must be a ref/resource",
            ),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": argument }),
                "no prompts",
            ),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/resource", "uri": "file:///other/{+path}" }, "argument": argument }),
                "unknown resource template",
            ),
            (
                "completion/complete",
                json!({ "ref": template, "argument": { "name": "file", "value": "" } }),
                "unknown argument \"file\"",
            ),
        ] {
            let error = desk.ask(method, params);
            assert_eq!(error["code"], -32602, "{method}: {error}");
            assert!(error["message"].as_str().is_some_and(|message| message.contains(part)), "{error}");
        }
        assert_eq!(desk.ask("prompts/list", json!({}))["code"], -32601);
    });
}

#[test]
fn subscriptions_are_unknown_methods() {
    both(&["--root", "ROOT"], |desk| {
        let uri = "file:///src/main.rs";
        for method in ["resources/subscribe", "resources/unsubscribe", "subscriptions/listen"] {
            for params in [
                json!({}),
                json!({ "uri": uri }),
                json!({ "uri": 7 }),
                json!({ "notifications": { "resourceSubscriptions": [uri], "toolsListChanged": true } }),
                json!({ "notifications": [] }),
            ] {
                let error = desk.ask(method, params);
                assert_eq!((&error["code"], &error["message"]), (&json!(-32601), &json!(method)), "{error}");
            }
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Process::start(folder.path(), &["--root", "."]);
    let capabilities = json!({ "tools": {}, "resources": {}, "completions": {} });
    assert_eq!(server.initialize()["capabilities"], capabilities);
    assert_eq!(server.discover()["capabilities"], capabilities);
}

#[test]
fn server_without_read_has_no_resources() {
    both(&["--root", "ROOT", "--tools", "glob"], |desk| {
        for method in ["resources/list", "resources/templates/list"] {
            assert_eq!(desk.ask(method, json!({}))["code"], -32601);
        }
        assert_eq!(desk.read("file:///src/main.rs")["code"], -32601);
        let params =
            json!({ "ref": { "type": "ref/resource", "uri": UNNAMED }, "argument": { "name": "path", "value": "" } });
        assert_eq!(desk.ask("completion/complete", params)["code"], -32601);
    });
    for (tools, declared) in [("glob", false), ("read", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Process::start(folder.path(), &["--root", ".", "--tools", tools]);
        let capabilities = server.initialize()["capabilities"].clone();
        assert_eq!(capabilities.get("resources").is_some(), declared, "{capabilities}");
        assert_eq!(capabilities.get("completions").is_some(), declared, "{capabilities}");
        assert_eq!(server.discover()["capabilities"], capabilities);
    }
}

#[test]
fn operations_are_no_tools() {
    let mut desk = Desk::open(false, &["--root", "ROOT"]);
    for name in ["resources_read", "resources_list", "completion_complete"] {
        let error = desk.ask("tools/call", json!({ "name": name, "arguments": { "path": "file:///.env" } }));
        assert_eq!(error["code"], -32602, "{error}");
    }
}
