//! A request without what a client or a model put around the file's text.
//!
//! Laxer than the readings that a match is made by: here a guess only decides what a diagnosis shows.

use std::{borrow::Cow, ops::Range};

use crate::{
    Prepared,
    readings::{entities, gutter},
};

/// The request as lines, without what a client or a model put around the file's text.
pub(super) struct PlainRequest<'s> {
    pub(super) old: Cow<'s, str>,
    pub(super) new: Cow<'s, str>,
    /// What was taken off.
    pub(super) note: Option<&'static str>,
}

impl<'s> PlainRequest<'s> {
    pub(super) fn of(prepared: &Prepared<'s>) -> Self {
        let (old, new) = (prepared.canonical_old.clone(), prepared.canonical_new.clone());
        for (note, plain) in [
            ("old_string has line endings spelled as \\n", without_escapes as fn(&str) -> Option<String>),
            ("old_string has line numbers in front of its lines", without_numbers),
            ("old_string has HTML entities such as &lt;", without_entities),
        ] {
            if let Some(plainer) = plain(&old) {
                let new = plain(&new).map_or(new, Cow::Owned);
                return Self { old: Cow::Owned(plainer), new, note: Some(note) };
            }
        }
        Self { old, new, note: None }
    }

    pub(super) fn lines(&self) -> Vec<&str> {
        self.old.strip_suffix('\n').unwrap_or(&self.old).split('\n').collect()
    }

    /// The lines of the old text that change, and the new lines in their place.
    pub(super) fn changed(&self) -> (Range<usize>, Vec<&str>) {
        let (old, new) = (self.lines(), self.new.strip_suffix('\n').unwrap_or(&self.new));
        let new: Vec<&str> = new.split('\n').collect();
        let most = old.len().min(new.len());
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let pairs = old.iter().rev().zip(new.iter().rev());
        let after = pairs.take_while(|(old, new)| old == new).count().min(most - before);
        (before..old.len() - after, new[before..new.len() - after].to_vec())
    }
}

/// The text with `\n`, `\t` and quotes resolved, where it is a single line that has a `\n` spelled out.
fn without_escapes(text: &str) -> Option<String> {
    let is_one_line = !text.trim_end_matches('\n').contains('\n');
    (is_one_line && text.contains("\\n"))
        .then(|| text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// The text without the numbers in front of its lines, where each has one.
fn without_numbers(text: &str) -> Option<String> {
    let plain = |line: &str| {
        let rest = line.trim_start().trim_start_matches(|one: char| one.is_ascii_digit());
        let is_numbered = line.trim_start().len() > rest.len();
        let after = gutter::after_delimiter(rest);
        if line.is_empty() { Some(String::new()) } else { after.filter(|_| is_numbered).map(str::to_owned) }
    };
    // A single line may well begin with a number and a colon.
    let body = text.trim_end_matches('\n');
    let has_text = !body.is_empty() && (body.contains('\n') || body.contains(['\t', '→']));
    text.split('\n').map(plain).collect::<Option<Vec<String>>>().filter(|_| has_text).map(|lines| lines.join("\n"))
}

/// The text with the entities of HTML resolved, where it has some.
fn without_entities(text: &str) -> Option<String> {
    Some(entities::resolve(text)).filter(|plain| plain != text)
}
