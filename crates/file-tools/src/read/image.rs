//! Images, in a form and size that every model's API takes.

use confined_fs::{Revision, WorkspacePath};
use image_view::{EncodedImage, ImageError, ImageFile, ImageInfo, ImageView, Region};

use super::{
    super::{CallContext, Kind, ToolError, answer::noted, decode_memory::DecodeMemory},
    open::{Format, Source},
    request::FileRequest,
    section::{ReadFacts, RegionFacts, Section, ShownImage, record_of},
    selection::Part,
};

pub(super) fn read_image(
    cx: &CallContext,
    request: &FileRequest,
    mut source: Source,
    info: ImageInfo,
) -> Result<Section, ToolError> {
    // How much a larger file takes is known once it is read.
    let memory = if source.whole { None } else { Some(DecodeMemory::reserve(cx, image_view::DECODE_MEMORY)?) };
    let (path, size) = (source.path().clone(), source.size());
    if size <= image_view::DECODE_MEMORY {
        source.read_on(image_view::DECODE_MEMORY - source.head.len() as u64)?;
    }
    if !source.whole {
        return Err(flawed(&path.to_string(), &info, size, &ImageError::TooMuchMemory(size)));
    }
    let Source { file, head: bytes, .. } = source;
    // Without the bytes: they are kept for a diff of lines, and an image has none.
    let revision = Revision::of(&bytes);
    let record = Some(record_of(cx, file.real_path(), revision, None));
    let image =
        ImageSource { name: path.to_string(), path, bytes: &bytes, info, inside: None, revision: Some(revision) };
    Ok(Section { record, ..show_image(cx, request, image, request.part.as_ref(), memory)? })
}

/// The bytes of an image, and where they are from.
pub(super) struct ImageSource<'b> {
    pub(super) path: WorkspacePath,
    /// How the image is named: the path, or `image 2 of report.docx`.
    pub(super) name: String,
    pub(super) bytes: &'b [u8],
    pub(super) info: ImageInfo,
    pub(super) inside: Option<usize>,
    pub(super) revision: Option<Revision>,
}

/// The image, or the region `part` of it, with its notes. `memory` is what the call has for it already.
pub(super) fn show_image(
    cx: &CallContext,
    request: &FileRequest,
    source: ImageSource<'_>,
    part: Option<&Part>,
    memory: Option<DecodeMemory>,
) -> Result<Section, ToolError> {
    let ImageSource { path, name, bytes, info, inside, revision } = source;
    let error = |flaw| flawed(&name, &info, bytes.len() as u64, &flaw);
    let image = ImageFile::open(bytes, &info).map_err(error)?;
    let mut memory = memory.map_or_else(|| DecodeMemory::reserve(cx, image.memory()), Ok)?;
    memory.shrink_to(image.memory());
    let asked = part.map(|part| RequestedRegion::of(part, &name, info, image.size())).transpose()?;
    let view = ImageView { region: asked.as_ref().map(|asked| asked.region), max_bytes: request.budget.image_bytes };
    let shown = if cx.settings.images {
        let shown = image.show(&view, &|| cx.stop.stopped().is_some());
        // A call that was stopped is an error of the call, not of the image.
        cx.check()?;
        shown.map_err(error)?
    } else {
        None
    };
    let words = ImageText { name: &name, info, image: &image, inside, revision, asked, encoded: shown.as_ref() };
    let facts = words.facts(cx.settings.images);
    // Without the image the words are the whole answer, so they name the file and its kind.
    let closing = if cx.settings.images { words.text() } else { words.text_without_image() };
    let image = cx.settings.images.then(|| match shown {
        Some(EncodedImage { bytes, mime, .. }) => ShownImage { bytes, mime },
        None => ShownImage { bytes: bytes.to_vec(), mime: info.mime },
    });
    Ok(Section { closing, image, ..Section::of(path, String::new(), facts) })
}

struct RequestedRegion {
    region: Region,
    is_clipped: bool,
}

impl RequestedRegion {
    /// Of an image of this size.
    ///
    /// # Errors
    /// `invalid_input` for another kind of part, and for a region that is outside of the image.
    fn of(part: &Part, name: &str, info: ImageInfo, (width, height): (u32, u32)) -> Result<Self, ToolError> {
        let Part::Region([x, y, across, down]) = *part else {
            return Err(part.unfit(&name, Format::Image(info)));
        };
        // What is beyond the image is clipped below, so that the largest number is as good as any above it.
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let asked = Region { x: side(x), y: side(y), width: side(across), height: side(down) };
        let region = asked.clipped(width, height).ok_or_else(|| {
            ToolError::invalid(format!("{part} is outside of {name}, an image of {width}×{height} pixels"))
                .hint(format!("x is below {width} and y below {height}; both count from 0 at the top left"))
        })?;
        Ok(Self { region, is_clipped: region != asked })
    }

    fn note(&self, whole: (u32, u32), shown: (u32, u32)) -> String {
        let Region { x, y, width, height } = self.region;
        let scaled = || format!("shown at {}×{}", shown.0, shown.1);
        let how = if shown == (width, height) { "at full resolution".to_owned() } else { scaled() };
        let clipped = if self.is_clipped { " (clipped to the image)" } else { "" };
        format!("region {x},{y},{width},{height}{clipped} of {}×{} {how}", whole.0, whole.1)
    }
}

struct ImageText<'a> {
    name: &'a str,
    info: ImageInfo,
    image: &'a ImageFile<'a>,
    inside: Option<usize>,
    revision: Option<Revision>,
    asked: Option<RequestedRegion>,
    /// The image that is shown instead of the file itself.
    encoded: Option<&'a EncodedImage>,
}

impl ImageText<'_> {
    fn facts(&self, is_shown: bool) -> ReadFacts {
        let ((width, height), shown) = (self.image.size(), self.shown_size());
        ReadFacts {
            revision: self.revision.map(|revision| revision.to_string()),
            size: self.image.file_size(),
            width: Some(width as usize),
            height: Some(height as usize),
            shown_width: is_shown.then_some(shown.0),
            shown_height: is_shown.then_some(shown.1),
            region: self.asked.as_ref().map(|asked| RegionFacts::from(asked.region)),
            turned: self.image.is_turned(),
            flattened: self.encoded.is_some_and(|encoded| encoded.is_flattened),
            frames: Some(self.image.frames()).filter(|frames| *frames > 1),
            ..ReadFacts::default()
        }
    }

    /// Notes on what cannot be seen in the image; empty for one that is shown whole and as it is.
    fn text(&self) -> String {
        let ((width, height), shown) = (self.image.size(), self.shown_size());
        let mut notes = Vec::new();
        let what = match &self.asked {
            Some(asked) => asked.note((width, height), shown),
            None if shown != (width, height) => {
                if shown.0 < width || shown.1 < height {
                    let image = self.inside.map(|number| format!("image {number} ")).unwrap_or_default();
                    notes.push(format!("part=\"{image}region x,y,w,h\" shows a part at full resolution"));
                }
                format!("shown at {}×{} of {width}×{height}", shown.0, shown.1)
            }
            None => format!("{width}×{height}"),
        };
        let (frames, is_flattened) = (self.image.frames(), self.encoded.is_some_and(|encoded| encoded.is_flattened));
        notes.extend((frames != 1).then(|| format!("first of {frames} frames")));
        notes.extend(self.image.is_turned().then(|| "turned upright as its EXIF orientation says".to_owned()));
        notes.extend(is_flattened.then(|| "white where it is transparent".to_owned()));
        if notes.is_empty() && self.asked.is_none() && shown == (width, height) {
            return String::new();
        }
        format!("({})", noted(what + &self.rev(), &notes))
    }

    fn text_without_image(&self) -> String {
        let (width, height) = self.image.size();
        let (format, size, rev) = (self.info.format_name(), self.image.file_size(), self.rev());
        let image = format!("{format} image, {width}×{height} pixels, {size} bytes{rev}");
        format!("{}: {image}; not shown: this server has images off (--images off)", self.name)
    }

    fn rev(&self) -> String {
        self.revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default()
    }

    fn shown_size(&self) -> (u32, u32) {
        self.encoded.map_or(self.image.size(), |encoded| (encoded.width, encoded.height))
    }
}

/// The error for an image that no model could be shown.
fn flawed(name: &str, info: &ImageInfo, size: u64, flaw: &ImageError) -> ToolError {
    let pixels = if info.width > 0 { format!("{}×{} pixels, ", info.width, info.height) } else { String::new() };
    let what = format!("{name} is an image ({}, {pixels}{size} bytes)", info.mime);
    let too_large = |why: String| {
        ToolError::new(Kind::TooLarge, format!("{what}; {why}")).hint("ask the user for a smaller version")
    };
    match flaw {
        ImageError::TooManyPixels | ImageError::TooMuchMemory(_) => too_large(flaw.to_string()),
        ImageError::TooFewBytes(_) => too_large(format!("{flaw} (--max-image-size)")),
        ImageError::Broken(why) => ToolError::new(Kind::Binary, format!("{what} that cannot be decoded: {why}"))
            .hint("it is damaged or not finished; create the image again, or ask the user for another copy"),
        // Not reached: `read_image` asks `cx.check` first, which has the error for a stopped call.
        ImageError::Stopped => ToolError::cancelled(),
        ImageError::NotBuilt => ToolError::new(Kind::Binary, format!("{what}, and {flaw}"))
            .hint("ask the user for a program that was built with them, or for a description"),
    }
}
