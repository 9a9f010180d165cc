//! `read`: lines of a text file, numbered, or an image.
//!
//! Small files are decoded whole, larger ones are streamed.

mod copied_text;
mod definition;
mod image;
mod notebook;
mod one_file;
mod open;
#[cfg(feature = "pdf")]
mod pdf;
mod request;
mod resource;
mod section;
mod selection;
mod several;
mod since;
mod text;
mod window;

use super::{
    Alias, Answer, CallContext, Group, Plan, Spec, Tool, ToolError,
    answer::try_fitted,
    tool::{LINE_ALIASES, PATH_ALIASES},
};
pub(in crate::tools) use copied_text::{CopiedText, TextSource};
use one_file::{Shown, read_one};
use request::{Args, FileRequest};
pub(in crate::tools) use resource::{ResourceText, read_resource};
use section::Output;
pub(in crate::tools) use section::Properties;
pub(in crate::tools) use selection::path_before_selection;
use several::read_several;
pub(in crate::tools) use since::Held;
pub(in crate::tools) use text::{Content, describe};

/// Stands in for the reader of PDF files in a build without it.
#[cfg(not(feature = "pdf"))]
mod pdf {
    use super::{CallContext, FileRequest, ToolError, open::Source, section::Section};
    use crate::tools::Kind;

    pub(super) fn read_pdf(
        _: &CallContext,
        _: &FileRequest,
        source: Source,
        _: Option<(usize, usize)>,
    ) -> Result<Section, ToolError> {
        let (path, size) = (source.path(), source.size());
        let sentence = format!("{path} is a PDF of {size} bytes, and this program was built without PDF");
        Err(ToolError::new(Kind::Binary, sentence).hint("ask the user for its text"))
    }
}

/// The tool that shows files.
pub(crate) struct Read;

impl Tool for Read {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "read",
        title: "Read a file",
        purpose: "shows a file",
        description: "Use this instead of shell cat, head, tail or sed. Read a text file as numbered lines, whole or a range, the text of a PDF, or view an image (PNG, JPEG, WebP, GIF). \
            Number and tab are not part of the file.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LINE_ALIASES, &[Alias::names("paths", &["files", "file_paths", "filePaths"])]],
        ..Spec::READS
    };

    const INLINE: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let ledger = &cx.session.ledger;
        if let Some(paths) = args.paths.as_ref().filter(|paths| !paths.is_empty() || args.path.is_none()) {
            let mut records = Vec::new();
            let answer = try_fitted(cx, cx.budget, |room| read_several(cx, &args, paths, room, &mut records))?;
            records.into_iter().filter_map(|record| record(ledger)).for_each(|pending| ledger.save(&pending));
            return Ok(Plan::Answer(answer));
        }
        let Some(path) = args.path.clone() else {
            return Err(
                ToolError::invalid("the argument `path` is missing").hint("call read again with path, or with paths")
            );
        };
        let request = FileRequest::of(&args, path, cx.budget)?;
        let mut record = None;
        let read = |budget| -> Result<Answer, ToolError> {
            Ok(match read_one(cx, &FileRequest { budget, ..request.clone() })? {
                Shown::File(mut section) => {
                    record = section.record.take();
                    section.answer(cx)
                }
                Shown::Directory(answer) => answer,
            })
        };
        let answer = try_fitted(cx, cx.budget, read)?;
        let sighting = record.and_then(|record| record(ledger)).map(Box::new);
        Ok(Plan::Answer(Answer { sighting, ..answer }))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use serde_json::json;

    use super::*;
    use crate::tools::Blocking;
    use confined_fs::{Access, Workspace};

    #[test]
    fn only_utf8_text_is_read_inline() {
        let root = tempfile::tempdir().unwrap();
        let cx = CallContext::for_tests(Workspace::of_directory(root.path(), Access::ReadOnly));
        let cx = CallContext { blocking: Blocking::Never, ..cx };
        for (name, content) in [
            ("latin", &b"caf\xe9 cr\xe8me\n"[..]),
            ("sjis", b"\x93\xfa\x96\x7b\x8c\xea\n"),
            ("utf16", b"\xff\xfea\0\n\0"),
            ("nul", b"a\0b"),
            ("gif", b"GIF89a@@@@@@@@@@@@"),
        ] {
            std::fs::write(root.path().join(name), content).unwrap();
            let args = serde_json::from_value(json!({ "path": name })).unwrap();
            assert!(Read::plan(&cx, args).is_err(), "{name}");
        }
    }
}
