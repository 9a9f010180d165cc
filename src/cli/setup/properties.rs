//! Properties of the edits, on random documents with comments and odd formatting.

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, common::Ranged as _, parse_to_ast, tokens::Token,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    clients::Format,
    entry::{ServerEntry, is_ours},
    json_document, own_tools,
    server_list::ServerList,
};

/// White space and comments that JSON with comments has between two parts.
fn gap() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => Just("\n    ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // note, \"x\": {\n".to_owned()),
        1 => Just("/* , } \" */".to_owned()),
        1 => Just("/* two\n lines */ ".to_owned()),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("\"a \\\"b\\\" // é\"".to_owned()),
        Just("\"\\u00fc,]\"".to_owned()),
        Just("true".to_owned()),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("mcpServers"), Just("files2"), Just("Ü \\\" k"), Just("{"), Just("x")]
        .prop_map(str::to_owned)
}

/// Members between brackets, perhaps with a comma after the last.
fn bracketed(open: char, members: Vec<(String, String, String)>, trailing: bool, end: &str, close: char) -> String {
    let count = members.len();
    let mut out = String::from(open);
    for (index, (before, member, behind)) in members.into_iter().enumerate() {
        out += &before;
        out += &member;
        out += &behind;
        if index + 1 < count || trailing {
            out.push(',');
        }
    }
    out + end + &close.to_string()
}

fn value() -> BoxedStrategy<String> {
    scalar()
        .prop_recursive(3, 24, 4, |inner| {
            let array = prop::collection::vec((gap(), inner.clone(), gap()), 0..3);
            prop_oneof![
                object_of(inner),
                (array, any::<bool>(), gap()).prop_map(|(members, comma, end)| bracketed(
                    '[',
                    members,
                    comma && !end.is_empty(),
                    &end,
                    ']'
                )),
            ]
        })
        .boxed()
}

fn object_of(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let member = (key(), gap(), gap(), inner).prop_map(|(key, a, b, value)| format!("\"{key}\"{a}:{b}{value}"));
    (prop::collection::vec((gap(), member, gap()), 0..4), any::<bool>(), gap())
        .prop_map(|(members, comma, end)| bracketed('{', members, comma && !end.is_empty(), &end, '}'))
        .boxed()
}

fn document() -> impl Strategy<Value = String> {
    (gap(), object_of(value()), gap()).prop_map(|(before, object, behind)| format!("{before}{object}{behind}"))
}

fn entry(name: &str) -> ServerEntry {
    let value = json!({"command": "/opt/rootbound", "args": ["--read-only", "C:\\a b", "/ü"], "timeout": 5});
    ServerEntry { name: name.to_owned(), value: value.as_object().cloned().unwrap_or_default() }
}

/// The text without the entry, undone as `--remove` does.
fn removed(list: &ServerList, text: &str, name: &str, made: usize) -> String {
    let found = list.existing(text, name).expect("parses").expect("it is there");
    assert!(is_ours(&found), "{text}");
    list.remove(text, name, made).expect("removed")
}

/// All that a JSON document has besides white space and commas: comments, brackets, names and values as they are written,
/// in their order.
fn parts(text: &str) -> Vec<String> {
    let all = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let tokens = parse_to_ast(text, &all, &ParseOptions::default()).expect("parses").tokens.expect("collected");
    let parts = tokens.into_iter().filter(|part| part.token != Token::Comma);
    parts.map(|part| text[part.range().start..part.range().end].to_owned()).collect()
}

fn comments(text: &str) -> Vec<String> {
    parts(text).into_iter().filter(|part| part.starts_with('/')).collect()
}

fn value_of(text: &str) -> Value {
    json_document::value_at(text, &[]).expect("parses").unwrap_or_default()
}

/// TOML of the kind that people write.
fn toml_document() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("# a comment [x]"),
        Just(""),
        Just("[mcp_servers.x]  # first\ncommand = 'y'\nargs = [\n  \"[mcp_servers.files]\",\n]"),
        Just("[mcp_servers.files2]\ncommand = \"z\""),
        Just("[[list]]\na = \"\"\"\n[mcp_servers.files]\n\"\"\""),
        Just("[b]\nc = { d = [1, 2] }"),
    ];
    (prop::collection::vec(part, 0..5), prop_oneof![Just("\n"), Just("\r\n")], any::<bool>()).prop_map(
        |(parts, end, closed)| {
            let text = parts.join("\n").replace('\n', end);
            if closed && !text.is_empty() { text + end } else { text }
        },
    )
}

/// Lists of tools of the kind that people write.
fn yaml_document() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        Just("  - name: ls\n    group: a"),
        Just("  - use: x\n    # c\n    name: \"glob\" # d"),
        Just("  - name: web"),
        Just("  # - name: ls"),
        Just(""),
    ];
    (prop::collection::vec(item, 0..6), any::<bool>()).prop_map(|(items, more)| {
        let more = if more { "\nother:\n  - name: ls\n" } else { "" };
        format!("a: 1\ntools: # all\n{}{more}", items.join("\n"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn json_write_then_remove_changes_white_space_only(text in document()) {
        let list = ServerList::of(Format::Json(&["mcpServers"]), Vec::new());
        let before = value_of(&text);
        let Ok((written, made)) = list.add(&text, &entry("files")) else {
            prop_assert!(before.get("mcpServers").is_some_and(|list| !list.is_object()));
            return Ok(());
        };
        let mut after = value_of(&written);
        prop_assert_eq!(&after["mcpServers"]["files"]["command"], "/opt/rootbound");
        prop_assert_eq!(comments(&written), comments(&text), "{}", written);
        let (twice, more) = list.add(&written, &entry("more")).expect("added");
        prop_assert_eq!(parts(&removed(&list, &twice, "more", more)), parts(&written));
        let first = removed(&list, &twice, "files", made);
        let last = removed(&list, &first, "more", made);
        prop_assert_eq!(parts(&last), parts(&text), "{}", twice);
        let back = removed(&list, &written, "files", made);
        prop_assert_eq!(parts(&back), parts(&text), "{}", written);
        // However often it is written and removed, the white space does not grow.
        let (again, _) = list.add(&back, &entry("files")).expect("added");
        let last = removed(&list, &again, "files", made);
        prop_assert_eq!(parts(&last), parts(&back), "{}", again);
        prop_assert!(last.len() <= back.len(), "{:?} {:?}", back, last);
        // Nothing else has changed.
        if let Some(servers) = after["mcpServers"].as_object_mut() {
            servers.remove("files");
        }
        if before.get("mcpServers").is_none() {
            after.as_object_mut().expect("an object").remove("mcpServers");
        }
        prop_assert_eq!(before, after);
    }

    #[test]
    fn json_update_changes_only_what_differs(text in document()) {
        let list = ServerList::of(Format::Json(&["mcpServers"]), Vec::new());
        let Ok((written, made)) = list.add(&text, &entry("files")) else { return Ok(()) };
        let same = list.update(&written, &entry("files")).expect("updated");
        prop_assert_eq!(&same, &written);
        let mut other = entry("files");
        other.value.insert("args".to_owned(), json!(["/other"]));
        let changed = list.update(&written, &other).expect("updated");
        prop_assert_eq!(parts(&removed(&list, &changed, "files", made)), parts(&text));
    }

    #[test]
    fn nothing_panics_on_damaged_json(text in document(), at in any::<prop::sample::Index>(), with in any::<char>()) {
        let mut damaged: Vec<char> = text.chars().collect();
        let at = at.index(damaged.len().max(1));
        if at < damaged.len() { damaged[at] = with; }
        let damaged: String = damaged.into_iter().collect();
        let list = ServerList::of(Format::Json(&["mcpServers"]), Vec::new());
        if let Ok((written, made)) = list.add(&damaged, &entry("files")) {
            prop_assert!(value_of(&written)["mcpServers"]["files"].is_object());
            prop_assert_eq!(parts(&removed(&list, &written, "files", made)), parts(&damaged), "{}", written);
        }
    }

    #[test]
    fn toml_write_then_remove_changes_only_the_end_of_the_last_line(text in toml_document()) {
        let list = ServerList::of(Format::Toml("mcp_servers"), Vec::new());
        prop_assume!(text.parse::<toml::Table>().is_ok());
        let closed = if text.is_empty() || text.ends_with('\n') {
            text.clone()
        } else if text.contains("\r\n") {
            format!("{text}\r\n")
        } else {
            format!("{text}\n")
        };
        let (written, made) = list.add(&text, &entry("files")).expect("added");
        let document: toml::Table = written.parse().expect("TOML");
        prop_assert_eq!(document["mcp_servers"]["files"]["args"][1].as_str(), Some("C:\\a b"));
        prop_assert_eq!(list.update(&written, &entry("files")).expect("updated"), written.clone());
        let (twice, _) = list.add(&written, &entry("more")).expect("added");
        prop_assert_eq!(removed(&list, &twice, "more", made), written.clone());
        prop_assert_eq!(removed(&list, &removed(&list, &twice, "files", made), "more", made), closed.clone(), "{}", twice);
        prop_assert_eq!(removed(&list, &written, "files", made), closed, "{}", written);
    }

    #[test]
    fn yaml_off_then_on_is_the_identity(text in yaml_document()) {
        let (edited, names) = own_tools::items_off(&text, "tools", &["ls", "glob"]).expect("a list");
        prop_assert_eq!(names.is_empty(), edited == text);
        prop_assert_eq!(own_tools::items_on(&edited), text);
    }
}
