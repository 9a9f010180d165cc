//! Which changes a person is asked about, and what an answer is bound to.

use std::fmt::Write as _;

use rmcp::model::{ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use text_file::hidden;

use file_tools::{Change, Fingerprint, Kind, Preview, ToolError};

/// Which changes a person is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// None: the configuration is the approval.
    #[default]
    Never,
    Destructive,
    Writes,
}

/// Who asks the person where the client cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmThrough {
    /// Nobody: the change is refused.
    #[default]
    Client,
    /// The model, with a tool of its client. It repeats the call with the code of the refusal.
    Model,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Draft {
    mode: Confirm,
    /// SHA-256 of the tool's name, the arguments and the origin.
    request: [u8; 32],
}

/// A change that a person must see first.
#[derive(Debug)]
pub(in crate::server) struct Proposal {
    /// The question as the person reads it.
    pub(super) message: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) request: [u8; 32],
    /// Values of `--confirm` that would not ask about it, as words of a sentence.
    pub(super) not_asked_with: &'static str,
}

impl Draft {
    /// A draft for a call, where `mode` is not [`Confirm::Never`].
    ///
    /// `origin` is who calls, and where: an answer holds for that alone.
    pub(in crate::server) fn of(mode: Confirm, tool: &str, arguments: &Map<String, Value>, origin: &str) -> Self {
        let mut call = serde_json::json!([tool, arguments, origin]);
        // A client may send the members of an object in another order when it repeats the call.
        call.sort_all_objects();
        Self { mode, request: Sha256::digest(call.to_string()).into() }
    }

    /// The question about `change`; `None` if nobody must be asked. Computes a diff, so it runs on a pool.
    pub(in crate::server) fn proposal(self, change: &dyn Change) -> Option<Proposal> {
        let preview = change.preview();
        if self.mode == Confirm::Destructive && !preview.destructive {
            return None;
        }
        let not_asked_with = if preview.destructive { "never" } else { "destructive or never" };
        Some(Proposal {
            message: question_text(&preview),
            fingerprint: change.fingerprint(),
            request: self.request,
            not_asked_with,
        })
    }
}

// Whether a person's answer is a yes.

/// Consent is an accepted form with its field ticked, and nothing else.
pub(super) fn consent(answer: &ElicitResult) -> Result<(), ToolError> {
    const REFUSED_HINT: &str = "do not repeat the call unchanged; ask the user what to do instead";
    let ticked = answer.content.as_ref().is_some_and(|content| content.get(CONFIRM_FIELD) == Some(&Value::Bool(true)));
    let reason = match answer.action {
        ElicitationAction::Accept if ticked => return Ok(()),
        ElicitationAction::Accept => "the user sent the form without confirming the change",
        ElicitationAction::Decline => "the user declined this change",
        // Cancel: the person closed the form without a choice.
        _ => "the user dismissed the question about this change",
    };
    Err(declined(reason).hint(REFUSED_HINT))
}

pub(super) fn declined(reason: impl std::fmt::Display) -> ToolError {
    ToolError::new(Kind::Declined, format!("{reason}; nothing was changed"))
}

// What a person is shown: the change as text and as a diff, bounded and free of tricks.
//
// Pure. A hostile model may have written the text in the diff, so nothing in it may reach a terminal as a control
// sequence or look like something else (CVE-2021-42574, "Trojan Source"), and what is left out is named first.

/// The question's only field, and its name among the questions of one result.
pub(super) const CONFIRM_FIELD: &str = "confirm";
/// Lines of a diff that are shown: several screens.
const MAX_LINES: usize = 200;
/// Characters of one line that are shown.
const MAX_LINE: usize = 400;
const MAX_BYTES: usize = 24 << 10;

pub(super) fn elicitation(message: &str) -> ElicitRequest {
    let form = ElicitationSchema::builder().required_bool_property(CONFIRM_FIELD, |field| {
        field.title("Make this change").description("Tick to make the change. Otherwise nothing is changed.")
    });
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        // Cannot panic: the only field that it requires is the one that it has.
        requested_schema: form.build_unchecked(),
    })
}

fn question_text(preview: &Preview) -> String {
    let mut shown = String::new();
    let (mut lines, mut cut_lines) = (0_usize, 0_usize);
    let show_returns = has_mixed_endings(&preview.diff);
    for line in preview.diff.split_terminator('\n') {
        lines += 1;
        if cut_lines == 0 && lines <= MAX_LINES && shown.len() < MAX_BYTES {
            push_line(&mut shown, line, show_returns);
        } else {
            cut_lines += 1;
        }
    }
    let mut text = "An agent asks to make this change:\n".to_owned();
    push_line(&mut text, &preview.summary, true);
    if cut_lines > 0 {
        let _ = writeln!(text, "Only the first {} of {lines} lines of its diff are shown here.", lines - cut_lines);
    }
    if !shown.is_empty() {
        text.push('\n');
        text.push_str(&shown);
    }
    text
}

/// Whether some of the changed lines end in CR LF and others in LF: only then are the endings shown.
fn has_mixed_endings(diff: &str) -> bool {
    // The first two lines name the file: `---` and `+++` are no changes.
    let mut changed = diff.split_terminator('\n').skip(2).filter(|line| line.starts_with(['+', '-']));
    let first = changed.next().map(|line| line.ends_with('\r'));
    changed.any(|line| Some(line.ends_with('\r')) != first)
}

/// Adds a line, with everything escaped that a terminal would obey or a person would not see.
fn push_line(out: &mut String, line: &str, show_returns: bool) {
    let line = if show_returns { line } else { line.strip_suffix('\r').unwrap_or(line) };
    let mut hidden = hidden::in_line(line).map(|one| one.column).peekable();
    for (index, character) in line.chars().enumerate() {
        if index == MAX_LINE {
            let _ = write!(out, "… ({} more characters)", line.chars().count() - MAX_LINE);
            break;
        }
        let unseen = hidden.next_if_eq(&(index + 1)).is_some();
        if unseen || (character.is_control() && character != '\t') || matches!(character, '\u{2028}' | '\u{2029}') {
            let _ = write!(out, "{}", character.escape_default());
        } else {
            out.push(character);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn request_digest_ignores_the_order_of_members_and_nothing_else() {
        let request = |tool: &str, arguments: Value| {
            Draft::of(Confirm::Writes, tool, arguments.as_object().expect("an object"), "").request
        };
        let one = request("write", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] }));
        assert_eq!(one, request("write", json!({ "edits": [{ "y": 2, "x": 1 }], "path": "a" })));
        assert_ne!(one, request("write", json!({ "path": "b", "edits": [{ "x": 1, "y": 2 }] })));
        assert_ne!(one, request("edit", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] })));
    }
}

#[cfg(test)]
mod consent_tests {
    use serde_json::json;

    use super::*;

    fn answer(value: Value) -> ElicitResult {
        serde_json::from_value(value).expect("a result")
    }

    #[test]
    fn only_an_accepted_and_ticked_form_is_consent() {
        assert!(consent(&answer(json!({ "action": "accept", "content": { "confirm": true } }))).is_ok());
        for no in [
            json!({ "action": "accept", "content": { "confirm": false } }),
            json!({ "action": "accept", "content": { "confirm": "true" } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept" }),
            json!({ "action": "decline", "content": { "confirm": true } }),
            json!({ "action": "cancel", "content": { "confirm": true } }),
        ] {
            assert_eq!(consent(&answer(no.clone())).expect_err("no").kind(), Kind::Declined, "{no}");
        }
    }
}

#[cfg(test)]
mod question_tests {
    use super::*;

    fn shown(diff: &str) -> String {
        question_text(&Preview { summary: "Edit a.txt".to_owned(), diff: diff.to_owned(), destructive: true })
    }

    #[test]
    fn question_is_the_summary_and_the_diff() {
        assert_eq!(
            shown("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+\ty\n"),
            "An agent asks to make this change:\nEdit a.txt\n\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+\ty\n"
        );
        assert_eq!(shown(""), "An agent asks to make this change:\nEdit a.txt\n");
    }

    #[test]
    fn cut_is_announced_before_the_diff() {
        let diff = (0..1000).map(|line| format!("+{line}")).collect::<Vec<_>>().join("\n");
        let text = shown(&diff);
        assert!(
            text.contains("Edit a.txt\nOnly the first 200 of 1000 lines of its diff are shown here.\n\n+0\n"),
            "{text}"
        );
        assert!(text.ends_with("+199\n"), "{text}");
        let wide = format!("+{}\n", "é".repeat(5000)).repeat(150);
        let text = shown(&wide);
        assert!(text.contains("… (4601 more characters)\n") && text.len() < 2 * MAX_BYTES, "{}", text.len());
        assert!(text.contains("of 150 lines"), "{}", &text[..200]);
    }

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        let text = shown("+a\u{1b}[2Jb\u{7}c\rd\u{202e}e\u{200b}f\u{2028}g\u{85}\n");
        assert!(text.ends_with("+a\\u{1b}[2Jb\\u{7}c\\rd\\u{202e}e\\u{200b}f\\u{2028}g\\u{85}\n"), "{text}");
    }

    #[test]
    fn carriage_returns_are_shown_if_they_change() {
        assert!(shown("---\n+++\n@@\n x\r\n-a\r\n+b\r\n").ends_with(" x\n-a\n+b\n"));
        assert!(shown("---\n+++\n@@\n-a\r\n+a\n").ends_with("-a\\r\n+a\n"));
    }

    #[test]
    fn form_has_one_unticked_box() {
        let request = serde_json::to_value(elicitation("Sure?")).expect("it serialises");
        assert_eq!(request["method"], "elicitation/create");
        assert_eq!(request["params"]["message"], "Sure?");
        let schema = &request["params"]["requestedSchema"];
        assert_eq!(schema["required"], serde_json::json!(["confirm"]));
        assert_eq!(schema["properties"]["confirm"]["type"], "boolean");
        assert!(schema["properties"]["confirm"].get("default").is_none());
    }
}
