//! What `move` and `copy` are to take: a path, or paths and globs.

use confined_fs::WorkspacePath;

use super::super::{CallContext, ExistingKind, Kind, ToolError, answer::count, context::echo, glob};

/// Entries that are moved or copied in one call.
const MAX_SOURCES: usize = 1_000;

pub(super) struct Sources {
    pub(super) paths: Vec<WorkspacePath>,
    /// On what the globs have left out.
    pub(super) notes: Vec<String>,
}

/// The entries that a call names, one or several. `into`: where they go under their own names.
pub(super) fn of(
    cx: &CallContext,
    (one, several): (Option<&str>, Option<&[String]>),
    (destination, into): (&str, Option<&WorkspacePath>),
) -> Result<Sources, ToolError> {
    let one = one.filter(|text| !text.trim().is_empty());
    let several = several.filter(|texts| !texts.is_empty());
    match (one, several, into) {
        (Some(_), Some(_), _) => {
            Err(ToolError::invalid("`source` and `sources` were both given").hint("send all of them in sources"))
        }
        (None, None, _) => Err(ToolError::invalid("the argument `source` is missing")
            .hint("pass source, or sources with a destination that ends in /")),
        (Some(text), None, _) => {
            let path = cx.existing(text, ExistingKind::File)?;
            if is_glob(text) && cx.workspace.is_missing(&path) {
                let sentence = format!("no such file or directory: {}", echo(text));
                return Err(ToolError::new(Kind::NotFound, sentence)
                    .hint("pass a glob in sources, with a destination that ends in /"));
            }
            Ok(Sources { paths: vec![path], notes: Vec::new() })
        }
        (None, Some(_), None) => {
            let given = echo(destination);
            Err(ToolError::invalid(format!(
                "`sources` need a directory, and the destination {given} does not end in /"
            ))
            .hint(format!("pass destination={given}/")))
        }
        (None, Some(texts), Some(into)) => named(cx, texts, into),
    }
}

fn named(cx: &CallContext, texts: &[String], into: &WorkspacePath) -> Result<Sources, ToolError> {
    let mut sources = Sources { paths: Vec::new(), notes: Vec::new() };
    let is_named =
        |text: &&String| !is_glob(text) || cx.resolve(text).is_ok_and(|path| !cx.workspace.is_missing(&path));
    // By itself such a glob would be everything else that there is.
    let is_exclusion = |text: &&String| text.starts_with('!') && !is_named(text);
    let (excluded, texts): (Vec<_>, Vec<_>) = texts.iter().partition(is_exclusion);
    if let Some(one) = excluded.first().filter(|_| texts.iter().all(is_named)) {
        let sentence = format!("{} takes away from globs, and `sources` have none", echo(one));
        return Err(ToolError::invalid(sentence).hint("pass a glob as well, such as dir/*, or name what is meant"));
    }
    for text in &texts {
        if is_named(text) {
            sources.paths.push(cx.existing(text, ExistingKind::File)?);
        } else {
            let globs = [*text].into_iter().chain(excluded.iter().copied()).map(String::as_str);
            let (paths, left) = glob::entries(cx, &globs.collect::<Vec<_>>().join(","))?;
            let stays = |path: &WorkspacePath| path == into || path.parent().as_ref() == Some(into);
            let (there, paths): (Vec<_>, Vec<_>) = paths.into_iter().partition(stays);
            if paths.is_empty() {
                let sentence = format!("all that {} matches is in {into}/ already", echo(text));
                return Err(ToolError::invalid(sentence).hint("use another glob or another destination"));
            }
            let there = Some(there.len()).filter(|there| *there > 0);
            let there = there.map(|there| format!("{} left out: in {into}/ already", count(there, "match")));
            sources.notes.extend(left.into_iter().chain(there));
            sources.paths.extend(paths);
        }
        if sources.paths.len() > MAX_SOURCES {
            return Err(ToolError::new(Kind::TooLarge, format!("`sources` name more than {MAX_SOURCES} entries"))
                .hint("nothing was changed; name fewer at a time, or the directory that holds them"));
        }
    }
    Ok(sources)
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{']) || text.starts_with('!')
}
