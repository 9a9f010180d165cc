//! Images, in a form and size that every model's API takes.

use image_view::{EncodedImage, ImageError, ImageFile, ImageInfo, ImageView};

use confined_fs::Revision;

use super::{
    super::{CallContext, ToolError, decode_memory::DecodeMemory},
    image_words::{AskedRegion, ImageWords, flawed},
    request::FileRequest,
    section::{Section, ShownImage},
    source::{Source, failed},
};

/// The image, or the requested region of it, with its notes.
pub(super) fn read_image(
    cx: &CallContext,
    request: &FileRequest,
    source: Source,
    info: ImageInfo,
) -> Result<Section, ToolError> {
    let (source, memory) = load(cx, source, &info)?;
    let Source { path, file, head: bytes, .. } = source;
    let error = |flaw| flawed(&path, &info, bytes.len() as u64, &flaw);
    let image = ImageFile::open(&bytes, &info).map_err(error)?;
    let mut memory = memory.map_or_else(|| DecodeMemory::reserve(cx, image.memory()), Ok)?;
    memory.shrink_to(image.memory());
    let asked = request.part.as_ref().map(|part| AskedRegion::of(part, &path, info, image.size())).transpose()?;
    let view = ImageView { region: asked.as_ref().map(|asked| asked.region), max_bytes: request.budget.image_bytes };
    let shown = if cx.settings.images {
        let shown = image.show(&view, &|| cx.stop.stopped().is_some());
        cx.check()?;
        shown.map_err(error)?
    } else {
        None
    };
    let revision = Revision::of(&bytes);
    cx.session.ledger.saw(file.real_path(), revision, None);
    let words = ImageWords { path: &path, info, image: &image, revision, asked, encoded: shown.as_ref() };
    let facts = words.facts(cx.settings.images);
    let closing = if cx.settings.images { words.text() } else { words.text_without_image() };
    let image = cx.settings.images.then(|| match shown {
        Some(EncodedImage { bytes, mime, .. }) => ShownImage { bytes, mime },
        None => ShownImage { bytes: bytes.clone(), mime: info.mime },
    });
    Ok(Section { closing, image, ..Section::of(path, String::new(), facts) })
}

/// The file with all of its bytes, and the memory that it and its decoding may take where that is not known yet.
fn load(cx: &CallContext, source: Source, info: &ImageInfo) -> Result<(Source, Option<DecodeMemory>), ToolError> {
    if source.whole {
        return Ok((source, None));
    }
    let Source { path, mut file, head: mut bytes, .. } = source;
    let size = file.stat().size;
    let memory = DecodeMemory::reserve(cx, image_view::DECODE_MEMORY)?;
    let left = image_view::DECODE_MEMORY - bytes.len() as u64;
    let is_read = size <= image_view::DECODE_MEMORY
        && file.read_to_limit(&mut bytes, left).map_err(|error| failed(&path, error))?;
    if !is_read {
        return Err(flawed(&path, info, size, &ImageError::TooMuchMemory(size)));
    }
    Ok((Source { path, file, head: bytes, whole: true }, Some(memory)))
}
