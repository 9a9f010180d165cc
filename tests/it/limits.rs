//! What is too large, or too much at once: said with its number, and nothing is changed.

use serde_json::json;

use crate::harness::{Setup, mcp_test};

mcp_test!(more_places_than_can_be_shown_are_not_replaced, |h| {
    let text = "abc\n".repeat(1_000_000);
    h.write("many.txt", &text);
    h.call("grep", json!({ "pattern": "abc", "path": "many.txt", "max_results": 1 })).ok();
    let edit = json!({ "path": "many.txt", "old_string": "abc", "new_string": "xyz", "replace_all": true });
    let error = h.call("edit", edit).fails("too_large");
    assert!(error.contains("at 100001 places or more in many.txt") && error.contains("hint: "), "{error}");
    assert_eq!(h.bytes("many.txt"), text.as_bytes());
});

#[test]
fn a_file_too_large_to_be_written_exists_all_the_same() {
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

mcp_test!(the_end_of_a_large_file_is_found_whatever_its_encoding_and_its_last_line, |h| {
    let lines: Vec<String> = (1..=200_000).map(|n| format!("zeile {n} größer")).collect();
    let text = lines.join("\n");
    let latin: Vec<u8> = text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    let wide: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [("utf8.txt", text.as_bytes()), ("latin.txt", &latin), ("wide.txt", &wide)] {
        h.write(name, bytes);
        let page = h.call("read", json!({ "path": name, "offset": -2 })).ok();
        let expected = "199999\tzeile 199999 größer\n200000\tzeile 200000 größer\n(lines 199999-200000 of 200000)";
        assert_eq!(page, expected, "{name}");
        h.write(name, if name == "wide.txt" { [bytes, b"\n\0"].concat() } else { [bytes, b"\n"].concat() });
        let page = h.call("read", json!({ "path": name, "offset": -1 })).ok();
        assert_eq!(page, "200000\tzeile 200000 größer\n(lines 200000-200000 of 200000)", "{name}");
    }
});
