//! `ls` of one file: its facts without its content.

use confined_fs::{FileKind, Revision, Visibility, WorkspacePath};
use text_file::{Layout, LineEnding};

use super::{
    super::{
        Answer, CallContext, Kind, ToolError,
        answer::count,
        read::{Content, Properties, describe},
    },
    entry::{Facts, FileFacts, ListedEntry, Output, mark, mode, modified},
};

/// The answer about `path`, which is not a directory.
pub(super) fn answer(cx: &CallContext, path: &WorkspacePath) -> Result<Answer, ToolError> {
    let access = |error| ToolError::access(&cx.workspace, error);
    let stat = cx.workspace.stat(path).map_err(access)?;
    let visibility = cx.workspace.visibility(path).map_err(access)?;
    let protected = visibility == Visibility::Denied;
    let is_file = stat.kind == FileKind::File;
    let mut entry = ListedEntry {
        path: path.to_string(),
        kind: if is_file { "file" } else { "other" },
        size: is_file.then_some(stat.size),
        protected,
        modified: modified(&stat),
        mode: mode(&stat),
        ..ListedEntry::default()
    };
    let mut words = vec![match (is_file, stat.special()) {
        (true, _) => count(usize::try_from(stat.size).unwrap_or(usize::MAX), "byte"),
        (false, "special file") => "a special file".to_owned(),
        (false, kind) => format!("a special file ({kind})"),
    }];
    let mut timed_out = false;
    // A rev is a hash: of a protected file it would confirm a guess of the content.
    if is_file && !protected {
        match describe(cx, path) {
            Ok((content, revision)) => entry.file = Some(facts(&content, revision, &mut words)),
            Err(error) if error.kind() == Kind::TimedOut => {
                timed_out = true;
                words.push("lines not counted within the time limit".to_owned());
            }
            // The names and sizes of files that cannot be opened are listed all the same.
            Err(error) if error.kind() == Kind::Denied => words.push("unreadable".to_owned()),
            Err(error) => return Err(error),
        }
    }
    words.extend(entry.modified.iter().map(|time| format!("modified {time}")));
    words.extend(entry.mode.iter().map(|mode| format!("mode {mode}")));
    let text = format!("{path}: {}{}", words.join(", "), mark(visibility));
    let facts = Facts { shown: 1, timed_out, file: entry.file.clone(), ..Facts::default() };
    Ok(Answer::text(text, &facts).data(cx, &Output { path: None, entries: vec![entry], facts, notes: Vec::new() }))
}

/// The facts of the content; adds them to the `words` as well.
fn facts(content: &Content, revision: Option<Revision>, words: &mut Vec<String>) -> FileFacts {
    let mut facts = FileFacts { revision: revision.map(|revision| revision.to_string()), ..FileFacts::default() };
    match content {
        Content::Text(properties) => {
            let Properties { total: lines, layout, nuls, final_newline, .. } = properties;
            let Layout { encoding, bom, lossy, line_ending } = *layout;
            words.push(count(*lines, "line"));
            words.push(format!("{encoding}{}", if bom { " with BOM" } else { "" }));
            if lossy {
                words.push("some bytes invalid".to_owned());
            }
            if *nuls > 0 {
                words.push(count(*nuls, "NUL"));
            }
            words.push(match line_ending {
                LineEnding::Mixed => "mixed line endings".to_owned(),
                LineEnding::None => "no line endings".to_owned(),
                ending => ending.as_str().to_uppercase(),
            });
            if *lines > 0 {
                words.push(if *final_newline { "final newline" } else { "no final newline" }.to_owned());
            }
            facts.lines = Some(*lines);
            facts.encoding = Some(encoding);
            facts.line_ending = Some(line_ending.as_str());
            facts.final_newline = Some(*final_newline);
        }
        Content::Image(image) => {
            words.push(format!("{} image, {}×{} pixels", image.format_name(), image.width, image.height));
            (facts.width, facts.height) = (Some(image.width), Some(image.height));
            facts.content = Some(image.mime.to_owned());
        }
        Content::Binary(kind) => {
            words.push(kind.clone());
            facts.content = Some(kind.clone());
        }
    }
    words.extend(revision.map(|revision| format!("rev {}", revision.short())));
    facts
}
