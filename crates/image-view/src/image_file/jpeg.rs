//! JPEG: the markers around the pixels, and the pixels themselves.

use image::{DynamicImage, GrayImage, RgbImage, RgbaImage, metadata::Orientation};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

use super::ImageError;
use super::header::{INCOMPLETE_FLAW, ImageHeader, area};

/// Sides that the format can express.
const MAX_SIDE_PIXELS: usize = 65_535;

/// Reads the markers (ITU-T T.81, B.1.1); `None` without a frame.
pub(super) fn header(bytes: &[u8]) -> Option<ImageHeader> {
    Markers::of(bytes).header()
}

#[derive(Default)]
struct Markers<'b> {
    frame: Option<(u8, &'b [u8])>,
    scanned: Option<u8>,
    orientation: Option<Orientation>,
    is_adobe: bool,
    /// Whether other images follow the first (CIPA DC-007).
    has_more: bool,
    is_complete: bool,
    has_stray: bool,
}

impl<'b> Markers<'b> {
    /// Goes from marker to marker until the image ends: a thumbnail inside of a segment has its own end mark.
    fn of(bytes: &'b [u8]) -> Self {
        let (mut markers, mut at, mut in_scan) = (Self::default(), 2, false);
        loop {
            // In the data of a scan FF is followed by 00, a restart (D0 to D7) or filling.
            let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(0xFF, rest)) else { return markers };
            markers.has_stray |= found > 0 && !in_scan;
            at += found + 1;
            match bytes.get(at) {
                None => return markers,
                Some(0xD9) => {
                    markers.is_complete = true;
                    markers.has_stray |= at + 1 < bytes.len();
                    return markers;
                }
                Some(0x00 | 0x01 | 0xD0..=0xD8) => at += 1,
                // Filling is legal, but some decoders stumble over it.
                Some(0xFF) => markers.has_stray |= !in_scan,
                Some(kind) => {
                    let Some(length) = bytes.get(at + 1..at + 3) else { return markers };
                    let end = at + 1 + usize::from(u16::from_be_bytes([length[0], length[1]]));
                    markers.note(*kind, bytes.get(at + 3..end).unwrap_or_default());
                    (at, in_scan) = (end, *kind == 0xDA);
                }
            }
        }
    }

    fn note(&mut self, kind: u8, segment: &'b [u8]) {
        match kind {
            // All frames but the tables of Huffman codes (C4), extensions (C8) and arithmetic coding's conditions (CC).
            0xC0..=0xCF if !matches!(kind, 0xC4 | 0xC8 | 0xCC) && self.frame.is_none() => {
                self.frame = Some((kind, segment));
            }
            0xDA if self.scanned.is_none() => self.scanned = segment.first().copied(),
            0xE1 if self.orientation.is_none() => {
                let exif = segment.strip_prefix(b"Exif\0\0");
                self.orientation = exif.and_then(Orientation::from_exif_chunk);
            }
            0xE2 => self.has_more |= segment.starts_with(b"MPF\0"),
            0xEE => self.is_adobe |= segment.starts_with(b"Adobe"),
            _ => {}
        }
    }

    fn header(&self) -> Option<ImageHeader> {
        let (kind, frame) = self.frame?;
        let [height, width] =
            [frame.get(1..3)?, frame.get(3..5)?].map(|side| u16::from_be_bytes([side[0], side[1]]).into());
        let components = *frame.get(5)?;
        // A progressive image is decoded only after its last scan, and one whose components come one after the other.
        let in_one_pass = matches!(kind, 0xC0 | 0xC1) && self.scanned.is_none_or(|scanned| scanned >= components);
        let coefficients = if in_one_pass { 0 } else { coefficients(width, height, frame.get(6..)?) };
        // With two components `decode` asks for RGB.
        let pixels = area(width, height) * u64::from(if components == 2 { 3 } else { components });
        Some(ImageHeader {
            orientation: self.orientation.unwrap_or(Orientation::NoTransforms),
            flaw: INCOMPLETE_FLAW.filter(|_| !self.is_complete),
            is_unusual: self.has_more || self.has_stray || !matches!(components, 1 | 3) || frame.first() != Some(&8),
            ..ImageHeader::new((width, height), pixels, coefficients + u64::from(width) * 256)
        })
    }
}

/// Bytes of the coefficients of all components, two each, in whole blocks.
fn coefficients(width: u32, height: u32, components: &[u8]) -> u64 {
    let samplings =
        || components.as_chunks::<3>().0.iter().map(|[_, sampling, _]| [sampling >> 4, sampling & 15].map(u32::from));
    let (most_across, most_down) =
        samplings().fold((1, 1), |(across, down), [horizontal, vertical]| (across.max(horizontal), down.max(vertical)));
    let units = area(width.div_ceil(8 * most_across), height.div_ceil(8 * most_down));
    samplings().map(|[across, down]| units * area(across, down) * 64 * 2).sum()
}

/// Decodes it; `strict`ly: as decoders do that accept nothing but whole and clean data.
///
/// Not by `image`, which is never strict, and takes more ink for less.
pub(super) fn decode(bytes: &[u8], header: &ImageHeader, strict: bool) -> Result<DynamicImage, ImageError> {
    let options = DecoderOptions::default()
        .set_strict_mode(strict)
        .set_max_width(MAX_SIDE_PIXELS)
        .set_max_height(MAX_SIDE_PIXELS);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(ImageError::broken)?;
    let (space, channels) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
        Some(ColorSpace::CMYK) => (ColorSpace::CMYK, 4),
        _ => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let (width, height) = (header.width, header.height);
    let size = usize::try_from(area(width, height) * channels).unwrap_or(usize::MAX);
    if decoder.output_buffer_size() != Some(size) {
        return Err(ImageError::broken("it has two headers that contradict each other"));
    }
    let mut data = vec![0; size];
    decoder.decode_into(&mut data).map_err(ImageError::broken)?;
    let image = match channels {
        1 => GrayImage::from_raw(width, height, data).map(DynamicImage::from),
        3 => RgbImage::from_raw(width, height, data).map(DynamicImage::from),
        _ => {
            // Adobe's programs write 255 for no ink.
            let no_ink = if Markers::of(bytes).is_adobe { 255 } else { 0 };
            data.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| *pixel = light(*pixel, no_ink));
            RgbaImage::from_raw(width, height, data).map(DynamicImage::from)
        }
    };
    image.ok_or_else(|| ImageError::broken("it has too few pixels"))
}

fn light(inks: [u8; 4], no_ink: u8) -> [u8; 4] {
    let [cyan, magenta, yellow, black] = inks.map(|ink| ink ^ no_ink ^ 255);
    // Paper is white; each ink takes its share of the light away, and black that of all.
    let lit = |colour: u8| {
        let product = u16::from(colour) * u16::from(black);
        u8::try_from((product + 127) / 255).unwrap_or(u8::MAX)
    };
    [lit(cyan), lit(magenta), lit(yellow), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inks_become_light() {
        for (inks, no_ink, expected) in [
            ([0, 0, 0, 0], 0, [255, 255, 255, 255]),
            ([255, 0, 0, 0], 0, [0, 255, 255, 255]),
            ([255, 255, 255, 0], 255, [0, 0, 0, 255]),
            ([255, 128, 0, 128], 255, [128, 64, 0, 255]),
        ] {
            assert_eq!(light(inks, no_ink), expected, "{inks:?}");
        }
    }
}
