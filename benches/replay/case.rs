//! An edit as it would be sent, what may come of it, and the judgement of what did.

use std::collections::BTreeSet;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use serde_json::{Value, json};
use text_edit::{EditError, Request, Strategies};
use text_file::{Document, SpliceError};

use super::change::{Change, NewLine};

/// What is expected for a damaged request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It is made, as a careful person would; refusals count against the share of right answers.
    Apply,
    /// It is made right or refused.
    ApplyOrRefuse,
    /// It is refused: nobody could tell what is meant.
    Refuse,
}

/// One call: an edit, or several.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) file: Vec<u8>,
    pub(crate) old: String,
    pub(crate) new: String,
    /// Edits after the first one, as they are in the call.
    pub(crate) more: Vec<(String, String)>,
    /// Whether every place is to be replaced.
    pub(crate) replace_all: bool,
    /// How many replacements the request expects.
    pub(crate) expected: Option<usize>,
    /// Every result that a careful person could have made; none if there is nothing to be made.
    pub(crate) accepted: BTreeSet<Vec<u8>>,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Right(Option<Strategies>),
    Ambiguous,
    NoMatch,
    /// Refused without a reason that fits, or because of the encoding.
    Unfit(String),
    Wrong(Vec<u8>),
}

impl Outcome {
    /// What came of a call of the tool that left the file as `bytes`.
    pub(crate) fn of_call(case: &Case, error: Option<&str>, bytes: Vec<u8>) -> Self {
        match error {
            None => case.judged(bytes, None),
            Some(_) if bytes != case.file => Self::Wrong(bytes),
            Some("no_match" | "invalid_input") => Self::NoMatch,
            Some("ambiguous") => Self::Ambiguous,
            Some(other) => Self::Unfit(other.to_owned()),
        }
    }
}

impl Case {
    /// The case of a file with LF endings whose request reads `old` and `new`.
    pub(crate) fn new(change: &Change, old: String, new: String) -> Option<Self> {
        let endings = vec!["\n"; change.lines.len()];
        Self::with_endings(change, &endings, old, new)
    }

    /// The case of a file whose lines end with `endings`. `None` where the request would change nothing.
    pub(crate) fn with_endings(change: &Change, endings: &[&str], old: String, new: String) -> Option<Self> {
        let ended = |(line, ending): (&String, &&str)| format!("{line}{ending}");
        let file: String = change.lines.iter().zip(endings).map(ended).collect();
        let accepted = [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .map(|(keeps_trail, as_after)| result(change, endings, keeps_trail, as_after).into_bytes())
            .collect();
        (old != new && !old.is_empty()).then(|| Self {
            file: file.into_bytes(),
            old,
            new,
            more: Vec::new(),
            replace_all: false,
            expected: None,
            accepted,
        })
    }

    /// The arguments of the tool's call for the file at `path`.
    pub(crate) fn arguments(&self, path: &str) -> Value {
        let edit = |old: &str, new: &str| json!({ "old_string": old, "new_string": new });
        let mut arguments = edit(&self.old, &self.new);
        if !self.more.is_empty() {
            let first = (self.old.clone(), self.new.clone());
            let edits: Vec<Value> =
                std::iter::once(&first).chain(&self.more).map(|(old, new)| edit(old, new)).collect();
            arguments = json!({ "edits": edits });
        }
        arguments["path"] = path.into();
        if self.replace_all {
            arguments["replace_all"] = true.into();
        }
        if let Some(expected) = self.expected {
            arguments["expected_replacements"] = expected.into();
        }
        arguments
    }

    /// The same request where the results of `other` are as good.
    pub(crate) fn or(mut self, other: Option<Self>) -> Self {
        self.accepted.extend(other.map(|other| other.accepted).unwrap_or_default());
        self
    }

    /// The same request where nothing may be done.
    pub(crate) fn refused(self) -> Self {
        Self { accepted: BTreeSet::new(), ..self }
    }

    /// The same request for a file with CR LF endings.
    pub(crate) fn in_crlf(&self) -> Self {
        self.map(|bytes| String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes())
    }

    /// The same request for a file in another encoding; `None` where that lacks a character.
    pub(crate) fn in_encoding(&self, encoding: &'static Encoding) -> Option<Self> {
        let encoded = |bytes: &Vec<u8>| encode(encoding, &String::from_utf8_lossy(bytes));
        Some(Self {
            file: encoded(&self.file)?,
            accepted: self.accepted.iter().map(encoded).collect::<Option<_>>()?,
            ..self.clone()
        })
    }

    /// The same request with file and results changed alike.
    pub(crate) fn map(&self, edit: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        Self {
            file: edit(&self.file),
            accepted: self.accepted.iter().map(|bytes| edit(bytes)).collect(),
            ..self.clone()
        }
    }

    /// Makes a single edit with the engine, from bytes to bytes.
    pub(crate) fn run(&self) -> Outcome {
        let document = match Document::decode(self.file.clone(), None) {
            Ok(document) => document,
            Err(error) => return Outcome::Unfit(format!("{error:?}")),
        };
        let request = Request {
            old: &self.old,
            new: &self.new,
            replace_all: self.replace_all,
            expected_replacements: self.expected,
        };
        let located = match text_edit::locate(document.text(), &request) {
            Ok(located) => located,
            Err(EditError::Ambiguous { places, .. }) if places.len() > 1 => return Outcome::Ambiguous,
            Err(EditError::Count { places, .. }) if !places.is_empty() => return Outcome::Ambiguous,
            Err(EditError::NotFound(diagnosis)) if !diagnosis.summary.is_empty() => return Outcome::NoMatch,
            Err(miss) => return Outcome::Unfit(format!("{miss:?}")),
        };
        let spans: Vec<_> = located.replacements.iter().map(|one| (one.span.clone(), one.text.as_str())).collect();
        match document.splice(&spans) {
            Ok(changed) => self.judged(changed.into_bytes(), Some(located.strategy)),
            Err(SpliceError::Unrepresentable { .. }) => Outcome::NoMatch,
            Err(error) => Outcome::Unfit(format!("{error:?}")),
        }
    }

    /// What a file that was changed to `bytes` is.
    pub(crate) fn judged(&self, bytes: Vec<u8>, strategy: Option<Strategies>) -> Outcome {
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        let made = lines(&bytes);
        let accepted: Vec<_> =
            self.accepted.iter().map(|bytes| lines(bytes)).filter(|one| one.len() == made.len()).collect();
        // What nobody can say of one line nobody can say of the next either: each may be as in any of the results.
        let is_right = !accepted.is_empty()
            && made.iter().enumerate().all(|(index, line)| accepted.iter().any(|one| one[index] == *line));
        if is_right { Outcome::Right(strategy) } else { Outcome::Wrong(bytes) }
    }
}

/// `text` in `encoding`, with a byte-order mark in UTF-16.
fn encode(encoding: &'static Encoding, text: &str) -> Option<Vec<u8>> {
    let units = || std::iter::once(0xFEFF).chain(text.encode_utf16());
    if encoding == UTF_16LE {
        return Some(units().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == UTF_16BE {
        return Some(units().flat_map(u16::to_be_bytes).collect());
    }
    let (bytes, _, lacks) = encoding.encode(text);
    (!lacks && encoding.decode_without_bom_handling(&bytes).0 == text).then(|| bytes.into_owned())
}

/// The file after the change. Nobody can say whether the white space at the end of a reworded line stays, nor
/// whether a line put in between two kinds of endings takes the one before or after it.
fn result(change: &Change, endings: &[&str], keeps_trail: bool, as_after: bool) -> String {
    let lines = change.result();
    let own = |line: &NewLine| line.from.map(|from| endings[from]).filter(|ending| !ending.is_empty());
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        text.push_str(&line.text);
        if let Some(before) = line.from.map(|from| change.lines[from].as_str())
            && before != line.text
            && !line.text.trim().is_empty()
        {
            text.truncate(text.trim_end_matches([' ', '\t']).len());
            text.push_str(if keeps_trail { &before[before.trim_end_matches([' ', '\t']).len()..] } else { "" });
        }
        if index + 1 == lines.len() && endings.last() == Some(&"") {
            break;
        }
        // One line for several has the ending of the first or of the last of them.
        let replaced = || {
            let from = line.from.filter(|_| as_after)?;
            let next = lines.get(index + 1).map_or(Some(change.lines.len()), |next| next.from)?;
            endings.get(next.checked_sub(1).filter(|last| *last > from)?).copied()
        };
        let before = || lines[..index].iter().rev().find_map(own);
        let after = || lines[index + 1..].iter().find_map(own);
        let beside = if as_after { after().or_else(before) } else { before().or_else(after) };
        text.push_str(replaced().or(own(line)).or(beside).unwrap_or("\n"));
    }
    text
}
