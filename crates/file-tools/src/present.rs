//! `present`: hands files to the person, as links that the client shows or opens.
//!
//! A link names a file by its URI and says what it is; the content goes to no one before the client asks for it
//! (`resources/read`). What `read` refuses is refused here as well.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text_file::{file_size, media_type};

use confined_fs::AccessErrorKind;
use confined_fs::escape::{escape_controls, escape_name};

use super::{
    Alias, Answer, CallContext, Content, ExistingKind, FileLink, Group, Kind, Plan, Spec, Tool, ToolError,
    answer::count, context::echo, tool::PATH_ALIASES,
};

const MAX_FILES: usize = 20;
/// Bytes of a file by which its kind is known.
const HEAD_BYTES: u64 = 8 << 10;
/// Characters of the longest title, and of the longest note.
const MAX_CHARS: [usize; 2] = [200, 2000];

pub(crate) struct Present;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The file to present.
    path: Option<String>,
    /// Up to 20 files instead.
    paths: Option<Vec<String>>,
    /// A short title for the person.
    title: Option<String>,
    /// A sentence for the person about what it is.
    note: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The files that were presented.
    presented: Vec<PresentedFile>,
    /// Those that were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedFile>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PresentedFile {
    /// The file, as paths are printed.
    path: String,
    /// Its URI.
    uri: String,
    /// Its media type.
    mime_type: &'static str,
    /// Bytes.
    size: u64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FailedFile {
    /// The path as it was given.
    path: String,
    /// The kind of error.
    error: &'static str,
}

impl Tool for Present {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "present",
        title: "Present files",
        purpose: "hands files to the person",
        description: "Hand finished files to the person, as links that the client shows or opens: a report, an image, a \
            table. They are not changed, and their content is not sent to you.",
        group: Group::Present,
        aliases: &[PATH_ALIASES, &[Alias::names("paths", &["files", "filepaths", "file_paths", "filePaths"])]],
        ..Spec::READS
    };

    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        let paths = requested(&args)?;
        let (mut links, mut errors, mut output) = (Vec::<FileLink>::new(), Vec::new(), Output::default());
        for given in &paths {
            cx.check()?;
            match link(cx, given) {
                Ok((_, link)) if links.iter().any(|other| other.uri == link.uri) => {}
                Ok((path, link)) => {
                    let (uri, mime_type, size) = (link.uri.clone(), link.mime, link.size);
                    output.presented.push(PresentedFile { path, uri, mime_type, size });
                    links.push(link);
                }
                Err(error) if error.kind() == Kind::Cancelled => return Err(error),
                Err(error) => {
                    output.failed.push(FailedFile { path: given.clone(), error: error.kind().as_str() });
                    errors.push((given, error));
                }
            }
        }
        if links.is_empty() {
            let text = |(given, error): (&String, ToolError)| {
                let text = format!("==> {} <==\n{}", echo(given), error.text_within(&cx.budget));
                (error, text)
            };
            return Err(ToolError::of_all(errors.into_iter().map(text).collect(), "presented"));
        }
        // On one line: a client shows it where it would show the file's name.
        let title = args.title.as_deref().filter(|title| !title.trim().is_empty());
        let title = title.map(|title| escape_name(title.as_ref()));
        for link in &mut links {
            link.title = title.as_ref().map(|title| match paths.len() {
                1 => title.to_string(),
                _ => format!("{title}: {}", link.name),
            });
            link.description = args.note.as_deref().map(|note| escape_controls(note).into_owned());
        }
        let mut text = summary(&output.presented);
        for (given, error) in &errors {
            let _ = write!(text, "\n\nnot presented: {}\n{}", echo(given), error.text_within(&cx.budget));
        }
        let mut answer = Answer::text(text, &output).data(cx, &output);
        answer.content.extend(links.into_iter().map(|link| Content::Link(Box::new(link))));
        Ok(Plan::Answer(answer))
    }
}

fn requested(args: &Args) -> Result<Vec<String>, ToolError> {
    for ((name, text), most) in [("title", &args.title), ("note", &args.note)].into_iter().zip(MAX_CHARS) {
        let length = text.as_ref().map_or(0, |text| text.chars().count());
        if length > most {
            return Err(ToolError::invalid(format!("`{name}` has {length} characters; at most {most} are shown"))
                .hint("shorten it; longer text belongs into a file"));
        }
    }
    let (why, hint) = match (&args.path, args.paths.as_deref().unwrap_or_default()) {
        (Some(path), []) => return Ok(vec![path.clone()]),
        (None, paths) if (1..=MAX_FILES).contains(&paths.len()) => return Ok(paths.to_vec()),
        (Some(_), _) => ("`paths` and `path` were both given".to_owned(), "send all files in paths"),
        (None, []) => ("no file was named".to_owned(), "call present again with path, or with paths"),
        (None, paths) => {
            let files = paths.len();
            let why = format!("`paths` names {files} files; at most {MAX_FILES} are presented at once");
            (why, "send the others in another call")
        }
    };
    Err(ToolError::invalid(why).hint(hint))
}

fn link(cx: &CallContext, given: &str) -> Result<(String, FileLink), ToolError> {
    let path = cx.existing(given, ExistingKind::File)?;
    let mut file = cx.workspace.open_file(&path).map_err(|error| match error.kind {
        AccessErrorKind::IsDirectory => {
            ToolError::invalid(format!("{path} is a directory, and only files are presented"))
                .hint(format!("ls {path} lists its files; up to {MAX_FILES} can be named in paths"))
        }
        _ => ToolError::access(&cx.workspace, error),
    })?;
    let mut head = Vec::new();
    file.read_to_limit(&mut head, HEAD_BYTES)
        .map_err(|error| ToolError::from(confined_fs::AccessError::from_io(error, &path)))?;
    let shown = path.to_string();
    let name = shown.rsplit('/').next().unwrap_or_default().to_owned();
    let mime = kind_of(&name, &head);
    let size = file.stat().size;
    Ok((shown, FileLink { uri: path.resource_uri(), name, title: None, description: None, mime, size }))
}

/// The media type: of an image or another binary format by its first bytes, of text by its name.
fn kind_of(name: &str, head: &[u8]) -> &'static str {
    if let Some(image) = image_view::image_info(head) {
        return image.mime;
    }
    let by_name = media_type(name);
    // The last character may be cut.
    let head = match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => head,
    };
    if text_file::is_plain(head) {
        // It is text: by the type of its name a client would decode it as an image.
        return by_name.filter(|kind| !kind.starts_with("image/") || *kind == "image/svg+xml").unwrap_or("text/plain");
    }
    match by_name {
        Some("application/pdf") if head.starts_with(b"%PDF") => "application/pdf",
        Some(kind) if kind.starts_with("text/") => kind,
        _ => infer::get(head).map_or("application/octet-stream", |kind| kind.mime_type()),
    }
}

fn summary(files: &[PresentedFile]) -> String {
    let named: Vec<String> = files.iter().map(|file| format!("{} ({})", file.path, file_size(file.size))).collect();
    match named.as_slice() {
        [one] => format!("Presented {one}"),
        several => format!("Presented {}: {}", count(several.len(), "file"), several.join(", ")),
    }
}
