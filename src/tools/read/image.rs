//! Images, which are returned as they are on the disk if a model can be shown them.

use crate::{
    text::{self, ImageFlaw},
    workspace::{Revision, WorkspacePath},
};

use super::{
    super::{CallContext, Kind, ToolError},
    output::Facts,
    section::{Section, ShownImage},
    source::{Source, failed},
};

pub(super) fn read_image(cx: &CallContext, source: Source, image: text::ImageInfo) -> Result<Section, ToolError> {
    let Source { path, mut file, head: mut bytes, whole } = source;
    let (size, limit) = (file.stat().size, cx.settings.max_image_size);
    if size > limit {
        return Err(ToolError::new(
            Kind::TooLarge,
            format!("{path} is an image of {size} bytes; at most {limit} bytes are returned"),
        )
        .hint("ask the user for a smaller version"));
    }
    if !whole {
        file.read_to_limit(&mut bytes, limit).map_err(|error| failed(&path, error))?;
    }
    cx.check()?;
    text::check_image(&bytes, &image).map_err(|flaw| flawed(&path, &image, bytes.len(), flaw))?;
    let revision = Revision::of(&bytes);
    cx.session.ledger.saw(file.real_path(), revision, None);
    let facts = Facts {
        revision: Some(revision.to_string()),
        size: bytes.len() as u64,
        width: Some(image.width),
        height: Some(image.height),
        ..Facts::default()
    };
    let closing =
        format!("{path}: {} image, {}×{} pixels, {} bytes", image.mime, image.width, image.height, bytes.len());
    let image = Some(ShownImage { bytes, mime: image.mime });
    Ok(Section { closing, image, ..Section::of(path, String::new(), facts) })
}

/// The error for an image that no model could be shown.
fn flawed(path: &WorkspacePath, image: &text::ImageInfo, size: usize, flaw: ImageFlaw) -> ToolError {
    let what = format!("{path} is an image ({}, {}×{} pixels, {size} bytes)", image.mime, image.width, image.height);
    match flaw {
        ImageFlaw::TooLarge => ToolError::new(
            Kind::TooLarge,
            format!("{what}; at most 64 megapixels and {} on a side are shown", text::LONGEST_SIDE),
        )
        .hint("ask the user for a smaller version"),
        ImageFlaw::Broken(why) => ToolError::new(Kind::Binary, format!("{what} that cannot be decoded: {why}"))
            .hint("it is damaged or not finished; create the image again, or ask the user for another copy"),
    }
}
