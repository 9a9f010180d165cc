//! `read`: lines of a text file, numbered, or an image.
//!
//! Small files are decoded whole, larger ones are streamed.

mod args;
mod image;
mod line_range;
mod output;
mod page;
mod source;
mod stream;
mod whole;
mod window;

use crate::text;

use super::{
    Answer, Blocking, CallContext, Group, Plan, Spec, Tool, ToolError,
    alias::{LINE_ALIASES, PATH_ALIASES},
};
use args::Args;
use image::image_answer;
use line_range::LineRange;
use output::Output;
use source::{Source, open, open_cached};
use stream::read_streamed;
use whole::read_whole;

/// The `read` tool.
pub(crate) struct Read;

impl Tool for Read {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "read",
        title: "Read a file",
        purpose: "shows a file",
        description: "Read a text file with line numbers (like cat -n), whole or a range of lines, or view an image \
            (PNG, JPEG, WebP, GIF). The numbers and the tab after them are not part of the file.",
        group: Group::Core,
        aliases: &[PATH_ALIASES, LINE_ALIASES],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };

    const INLINE: bool = true;

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let wanted = LineRange::of(&args)?;
        let encoding = args.encoding()?;
        let Source { path, file, head, whole } = match cx.blocking {
            Blocking::Allowed => open(cx, &args.path)?,
            Blocking::Never => open_cached(cx, &args.path)?,
        };
        if let Some(image) = text::image_info(&head) {
            return image_answer(cx, &path, file, head, whole, image).map(Plan::Answer);
        }
        let (page, sighting) = if whole {
            read_whole(cx, &path, &file, head, encoding, wanted)?
        } else {
            (read_streamed(cx, &path, file, &head, encoding, wanted)?, None)
        };
        Ok(Plan::Answer(Answer { sighting: sighting.map(Box::new), ..page.answer(cx, &path, args.by_number()) }))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests prepare real files")]

    use serde_json::json;

    use super::*;
    use crate::workspace::{Access, Workspace};

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
