//! What every answer owes its reader, whatever the tool: honest cuts, and data that says what the text says.

use rootbound::tools::Settings;
use serde_json::json;

use crate::harness::{Setup, mcp_test};

mcp_test!(an_edit_beside_a_very_long_line_shows_what_it_changed, |h| {
    h.write("a.txt", format!("{}\nb\n", "a".repeat(300_000)));
    h.call("read", json!({ "path": "a.txt" })).ok();
    let answer = h.call("edit", json!({ "path": "a.txt", "old_string": "\nb", "new_string": "\nc" }));
    let text = answer.ok();
    assert!(text.ends_with("… [line of 300000 characters]\n-b\n+c"), "{}", &text[text.len() - 300..]);
    assert_eq!(answer.facts()["diff_cut_lines"], 0);
    assert!(h.bytes("a.txt").ends_with(b"a\nc\n"));
});

#[test]
fn a_diff_fits_into_the_answer_in_its_text_and_in_its_data() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    let long = |end: &str| format!("{}{end}\n", "a".repeat(300_000));
    h.write("a.txt", [long("old"), "line\n".repeat(50_000)].concat());
    h.call("read", json!({ "path": "a.txt", "limit": 1 })).ok();
    for (tool, arguments) in [
        ("edit", json!({ "path": "a.txt", "old_string": "aold", "new_string": "anew" })),
        ("edit", json!({ "path": "a.txt", "old_string": "line\n", "new_string": "word\n", "replace_all": true })),
        ("write", json!({ "path": "a.txt", "content": long("whole") })),
    ] {
        let answer = h.call(tool, arguments);
        let (text, data) = (answer.ok(), answer.structured().clone());
        assert!(text.len() <= 50 * 1024 && data.to_string().len() < 64 * 1024, "{tool}: {} bytes", text.len());
        assert!(!text.contains("ask for a smaller part"), "{tool}: {}", &text[text.len() - 200..]);
        let cut = data["diff_cut_lines"].as_u64().expect("a number");
        assert_eq!(text.contains(&format!("… {cut} more lines of diff")), cut > 0, "{tool}");
        let diff = data["diff"].as_str().expect("text");
        assert!(text.contains(diff.trim_end()), "{tool}");
        assert!(tool != "write" || diff.contains("… [line of 300003 characters]"), "{diff}");
    }
}
