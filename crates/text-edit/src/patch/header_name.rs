//! The names in the headers of a unified diff.

use std::fmt::Write as _;

use super::PatchPath;

/// The name behind `---` or `+++`.
#[derive(Clone, Debug)]
pub(super) struct HeaderName {
    pub(super) text: String,
    /// `/dev/null`: there is no such file.
    pub(super) is_none: bool,
}

/// Pairs of prefixes that git puts in front of the names before and after: by default, and with
/// `diff.mnemonicPrefix` (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-diffmnemonicPrefix>).
const PREFIXES: &[(&str, &str)] = &[("a/", "b/"), ("i/", "w/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/")];

impl HeaderName {
    /// Reads the rest of a line `---` or `+++`: the name, quoted or not, and perhaps a time.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim_end_matches('\r');
        let name = match unquoted(text) {
            Some((name, _)) => name,
            None => without_time(text).trim().to_owned(),
        };
        let is_none = matches!(name.as_str(), "/dev/null" | "dev/null" | "a/dev/null" | "b/dev/null" | "NUL");
        Self { text: name, is_none }
    }

    /// The path where the other name is `/dev/null`.
    pub(super) fn alone(&self) -> PatchPath {
        let prefix = PREFIXES.iter().flat_map(|(old, new)| [*old, *new]).find(|prefix| self.text.starts_with(*prefix));
        with_prefix(&self.text, prefix.unwrap_or_default())
    }
}

/// The path of a file with two names, which are the same but for git's prefixes; else the second one counts, as a
/// file can be compared with a copy of it.
pub(super) fn both(old: &HeaderName, new: &HeaderName) -> PatchPath {
    let is_pair = |(first, second): &&(&str, &str)| {
        let (old, new) = (&old.text, &new.text);
        old.starts_with(first) && new.starts_with(second) || old.starts_with(second) && new.starts_with(first)
    };
    match PREFIXES.iter().find(is_pair) {
        Some((first, _)) => with_prefix(&new.text, &new.text[..first.len()]),
        // Of a diff without prefixes, in a directory `a`; or somebody wrote `a/` twice.
        None if new.text.starts_with("a/") || new.text.starts_with("b/") => {
            PatchPath { choices: vec![new.text.clone(), new.text[2..].to_owned()] }
        }
        None => PatchPath::plain(&new.text),
    }
}

/// Whether both names are those of one file: the same but for prefixes, or the first one is that of a copy (`x.orig`).
pub(super) fn are_of_one_file(old: &HeaderName, new: &HeaderName) -> bool {
    let plain = |name: &HeaderName| {
        let prefix = PREFIXES.iter().flat_map(|(old, new)| [*old, *new]).find(|prefix| name.text.starts_with(*prefix));
        name.text[prefix.map_or(0, str::len)..].to_owned()
    };
    let (old_plain, new_plain) = (plain(old), plain(new));
    let is_copy = |longer: &str, shorter: &str| {
        let rest = longer.strip_prefix(shorter);
        rest.is_some_and(|rest| rest.is_empty() || rest == "~" || rest.starts_with('.'))
    };
    old.text == new.text || is_copy(&old_plain, &new_plain) || is_copy(&old.text, &new.text)
}

/// The path behind `rename from` and its likes, which git writes without a prefix.
pub(super) fn renamed(text: &str) -> PatchPath {
    let name = unquoted(text).map_or_else(|| text.trim().to_owned(), |(name, _)| name);
    let stripped = ["a/", "b/"].iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_owned);
    PatchPath { choices: std::iter::once(name).chain(stripped).collect() }
}

/// The path of `diff --git a/x b/x`, where both names are the same.
pub(super) fn of_git_header(text: &str) -> Option<PatchPath> {
    if let Some((old, rest)) = unquoted(text) {
        let new = unquoted(rest.trim_start()).map_or_else(|| rest.trim().to_owned(), |(name, _)| name);
        return same(&old, &new);
    }
    let text = text.trim_end();
    // Names may hold spaces: the two are the halves of the line.
    let middle = text.len() / 2;
    let halves = text.split_at_checked(middle).filter(|(_, new)| new.starts_with(' '));
    let (old, new) = halves.map(|(old, new)| (old, &new[1..])).or_else(|| text.split_once(' '))?;
    same(old, new)
}

fn same(old: &str, new: &str) -> Option<PatchPath> {
    let (old_name, new_name) = (HeaderName::parse(old), HeaderName::parse(new));
    let path = both(&old_name, &new_name);
    let is_same = both(&new_name, &old_name).choices[0] == path.choices[0];
    is_same.then_some(path)
}

fn with_prefix(name: &str, prefix: &str) -> PatchPath {
    let stripped = &name[prefix.len()..];
    if prefix.is_empty() || stripped.is_empty() {
        return PatchPath::plain(name);
    }
    let mut choices = vec![stripped.to_owned(), name.to_owned()];
    if !stripped.starts_with('/') {
        // A model that puts the prefix in front of an absolute path drops its slash.
        choices.push(format!("/{stripped}"));
    }
    PatchPath { choices }
}

/// The name without the time that diff writes behind it, after a tab or (as some programs do) a space.
fn without_time(text: &str) -> &str {
    if let Some((name, _)) = text.split_once('\t') {
        return name;
    }
    let is_date = |at: usize| {
        let shape = text.as_bytes().get(at..at + 17)?;
        let fits = shape.iter().zip(b" 0000-00-00 00:00").all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
        fits.then_some(at)
    };
    let end = text.match_indices(' ').find_map(|(at, _)| is_date(at));
    end.map_or(text, |end| &text[..end])
}

/// A name in quotation marks with the escapes of C, as git writes unusual names, and what follows it. Bytes that are
/// no UTF-8 are spelled `\xNN`, as paths are printed here.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = body.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some((printed(&bytes), &body[at + 1..])),
            b'\\' => {
                let (_, escape) = rest.next()?;
                bytes.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let digits = [escape, rest.next()?.1, rest.next()?.1];
                        let value =
                            |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0')).filter(|one| *one < 8);
                        let octal = digits.iter().try_fold(0, |sum, byte| Some(sum * 8 + value(*byte)?))?;
                        u8::try_from(octal).ok()?
                    }
                    other => other,
                });
            }
            other => bytes.push(other),
        }
    }
    None
}

fn printed(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
        text
    })
}
