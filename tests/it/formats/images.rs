//! Images through `read`: what a model is shown of each kind of them, and what it is told where it is shown none.
//!
//! The files in `images/` are those that no encoder of the tests writes.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use file_tools::{AnswerBudget, Settings};
use image::{DynamicImage, GenericImageView as _, ImageFormat, RgbImage, RgbaImage};
use rootbound::server::Block;
use serde_json::{Value, json};

use crate::harness::{Answer, Harness, Setup, mcp_test, png};

/// The picture of an answer, decoded as a client would.
fn picture(answer: &Answer) -> RgbaImage {
    answer.ok();
    let data = answer.content().iter().find_map(|block| match block {
        Block::Image { data, mime } => Some((data, mime)),
        Block::Text { .. } | Block::Link { .. } => None,
    });
    let (data, mime) = data.expect("an image");
    let bytes = BASE64_STANDARD.decode(data).expect("base64");
    assert!(bytes.len() <= AnswerBudget::IMAGE_BYTES, "{} bytes", bytes.len());
    let format = image::guess_format(&bytes).expect("a known format");
    assert_eq!(format.to_mime_type(), mime);
    let picture = image::load_from_memory_with_format(&bytes, format).expect("it decodes");
    let (width, height) = picture.dimensions();
    assert!(width.max(height) <= 1568 && width.min(height) >= 11, "{width}×{height}");
    assert_eq!(answer.facts()["shown_width"], width);
    assert_eq!(answer.facts()["shown_height"], height);
    picture.into_rgba8()
}

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).expect("it is encoded in memory");
    bytes.into_inner()
}

/// A picture whose pixels say where they are.
fn gradient(width: u32, height: u32) -> RgbImage {
    let share = |at: u32, of: u32| u8::try_from(at * 255 / of).unwrap();
    RgbImage::from_fn(width, height, |x, y| image::Rgb([share(x, width), share(y, height), 60]))
}

fn close(pixel: image::Rgba<u8>, expected: [u8; 3]) -> bool {
    pixel.0.iter().zip(expected).all(|(is, expected)| is.abs_diff(expected) <= 6)
}

fn read(h: &Harness, path: &str) -> Answer {
    h.call("read", json!({ "path": path }))
}

fn region(h: &Harness, path: &str, region: &str) -> Answer {
    h.call("read", json!({ "path": path, "part": format!("region {region}") }))
}

mcp_test!(large_image_is_scaled_and_its_parts_are_shown_in_full, |h| {
    let large = gradient(1800, 600);
    h.write("large.png", encoded(large.clone(), ImageFormat::Png));
    let answer = read(&h, "large.png");
    let shown = picture(&answer);
    assert_eq!(shown.dimensions(), (1568, 523));
    assert!(close(*shown.get_pixel(784, 261), [127, 127, 60]), "{:?}", shown.get_pixel(784, 261));
    let text = answer.ok();
    assert!(text.starts_with("(shown at 1568×523 of 1800×600, rev "), "{text}");
    assert!(text.contains("; part=\"region x,y,w,h\" shows a part at full resolution)"), "{text}");
    assert_eq!((&answer.facts()["width"], &answer.facts()["height"]), (&json!(1800), &json!(600)));

    let answer = region(&h, "large.png", "900,300,200,100");
    assert!(answer.ok().contains("region 900,300,200,100 of 1800×600 at full resolution"), "{}", answer.ok());
    assert_eq!(picture(&answer), DynamicImage::from(large).crop_imm(900, 300, 200, 100).into_rgba8());
    assert_eq!(answer.facts()["region"], json!({ "x": 900, "y": 300, "width": 200, "height": 100 }));
});

mcp_test!(region_is_clipped_to_the_image_or_refused_outside_of_it, |h| {
    h.write("a.png", png(100, 50));
    let answer = region(&h, "a.png", "80,40,500,500");
    assert_eq!(picture(&answer).dimensions(), (40, 20), "10 rows are too few for some APIs");
    assert!(answer.ok().contains("region 80,40,20,10 (clipped to the image)"), "{}", answer.ok());
    for outside in ["100,0,5,5", "0,50,5,5", "99999999999999999999,0,5,5"] {
        let text = region(&h, "a.png", outside).fails("invalid_input");
        assert!(text.contains("is outside of a.png, an image of 100×50 pixels"), "{text}");
    }
    let text = h.call("read", json!({ "path": "a.png", "part": "pages 1-2" })).fails("invalid_input");
    assert!(text.contains("a.png is an image"), "{text}");
    h.write("a.txt", "text\n");
    let text = region(&h, "a.txt", "0,0,5,5").fails("invalid_input");
    assert!(text.contains("is for images"), "{text}");
});

mcp_test!(ink_is_shown_as_the_colour_it_has_on_paper, |h| {
    h.write("cmyk.jpg", include_bytes!("images/cmyk.jpg"));
    h.write("ycck.jpg", include_bytes!("images/ycck.jpg"));
    // Without Adobe's mark, more means more ink.
    let adobe = include_bytes!("images/cmyk.jpg");
    let mark = adobe.windows(7).position(|bytes| bytes == b"\0\x0eAdobe").unwrap() - 2;
    h.write("plain.jpg", [&adobe[..mark], &adobe[mark + 16..]].concat());
    for (name, left, right) in [
        ("cmyk.jpg", [0, 255, 255], [127, 127, 0]),
        ("ycck.jpg", [0, 255, 255], [127, 127, 0]),
        ("plain.jpg", [0, 0, 0], [0, 0, 127]),
    ] {
        let shown = picture(&read(&h, name));
        let pixels = (*shown.get_pixel(4, 4), *shown.get_pixel(28, 4));
        assert!(close(pixels.0, left) && close(pixels.1, right), "{name}: {pixels:?}");
    }
});

mcp_test!(unusual_image_is_sent_in_a_usual_form, |h| {
    h.write("turned.webp", include_bytes!("images/turned.webp"));
    let answer = read(&h, "turned.webp");
    let shown = picture(&answer);
    // Red above blue, turned by a quarter to the right: red on the right.
    assert_eq!(shown.dimensions(), (16, 32));
    assert_eq!((shown.get_pixel(15, 5).0, shown.get_pixel(0, 5).0), ([255, 0, 0, 255], [0, 0, 255, 255]));
    assert!(answer.ok().contains("(16×32, rev ") && answer.ok().contains("turned upright"), "{}", answer.ok());

    for name in ["animated.webp", "animated.png"] {
        let bytes: &[u8] = if name == "animated.png" {
            include_bytes!("images/animated.png")
        } else {
            include_bytes!("images/animated.webp")
        };
        h.write(name, bytes);
        let answer = read(&h, name);
        assert_eq!(picture(&answer).get_pixel(3, 3).0, [200, 0, 0, 255], "{name}");
        assert!(answer.ok().contains("; first of 5 frames"), "{}", answer.ok());
        assert_eq!(answer.facts()["frames"], 5);
    }

    h.write("interlaced.png", include_bytes!("images/interlaced.png"));
    let shown = picture(&read(&h, "interlaced.png"));
    assert_eq!((shown.dimensions(), shown.get_pixel(7, 13).0), ((20, 20), [7 * 12, 13 * 12, 90, 255]));

    h.write("progressive.jpg", include_bytes!("images/progressive.jpg"));
    assert!(close(*picture(&read(&h, "progressive.jpg")).get_pixel(20, 20), [10, 200, 30]));
});

mcp_test!(image_of_an_extreme_shape_is_shown, |h| {
    for (width, height) in [(12_000, 4), (1, 20_000), (1, 1), (10, 10)] {
        h.write("a.png", encoded(gradient(width, height), ImageFormat::Png));
        picture(&read(&h, "a.png"));
    }
});

mcp_test!(image_that_cannot_be_shown_is_an_error, |h| {
    let whole = png(64, 64);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    for (content, kind, said) in [
        (whole[..whole.len() / 2].to_vec(), "binary", "its data ends too early"),
        (with(whole.len() - 16, &[0xff; 4]), "binary", "a checksum is wrong"),
        (with(16, &[0; 4]), "binary", "it has no pixels"),
        // 50,000 pixels on each side.
        (with(16, &[0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50]), "too_large", "50000×50000 pixels"),
        (with(16, &[0xff; 8]), "too_large", "at most 200 megapixels"),
    ] {
        h.write("a.png", &content);
        let answer = read(&h, "a.png");
        let text = answer.fails(kind);
        assert!(text.contains(said) && answer.content().len() == 1, "{text}");
        // It cannot have been read, and is replaced with the revision that the error names.
        let error = h.call("write", json!({ "path": "a.png", "content": "x" })).fails("not_read");
        assert!(error.contains("expected_revision="), "{error}");
    }
});

#[test]
fn images_off_gives_the_facts_alone() {
    let h = Setup { settings: Settings { images: false, ..Settings::default() }, ..Setup::default() }.open();
    h.write("a.png", png(30, 20));
    for answer in [read(&h, "a.png"), region(&h, "a.png", "0,0,5,5")] {
        let text = answer.ok();
        assert!(text.starts_with("a.png: PNG image, 30×20 pixels, "), "{text}");
        assert!(text.contains("images off (--images off)") && answer.content().len() == 1, "{text}");
        assert_eq!((&answer.facts()["width"], answer.facts().get("shown_width")), (&json!(30), None));
    }
}

#[test]
fn image_size_can_be_chosen() {
    let settings = |size| Settings { max_image_size: Some(size), ..Settings::default() };
    let noise = RgbImage::from_fn(300, 300, |x, y| {
        image::Rgb((x * 7919 + y * 104_729 + x * y * 31).to_le_bytes()[..3].try_into().unwrap())
    });
    for (size, is_whole) in [(1 << 20, true), (30_000, false)] {
        let h = Setup { settings: settings(size), ..Setup::default() }.open();
        h.write("a.png", encoded(noise.clone(), ImageFormat::Png));
        let answer = read(&h, "a.png");
        let Some(Block::Image { data, mime }) = answer.content().last() else { panic!("{}", answer.ok()) };
        let sent = BASE64_STANDARD.decode(data).unwrap();
        assert!(sent.len() <= size && (sent == h.bytes("a.png")) == is_whole, "{size}: {mime}");
    }
    let h = Setup { settings: settings(10), ..Setup::default() }.open();
    h.write("a.png", png(30, 30));
    let text = read(&h, "a.png").fails("too_large");
    assert!(text.contains("the limit of 10 bytes (--max-image-size)"), "{text}");
}

#[test]
fn data_of_an_image_says_what_the_text_says() {
    let h = Setup { settings: Settings { structured_output: true, ..Settings::default() }, ..Setup::default() }.open();
    h.write("a.png", encoded(gradient(1800, 20), ImageFormat::Png));
    let data = region(&h, "a.png", "0,0,50,20").structured().clone();
    assert_eq!(data["mime_type"], "image/png");
    assert_eq!(
        (&data["width"], &data["shown_width"], &data["region"]["width"]),
        (&json!(1800), &json!(50), &json!(50))
    );
    assert_eq!(data["text"], Value::Null);
    h.write("turned.webp", include_bytes!("images/turned.webp"));
    assert_eq!(read(&h, "turned.webp").structured()["turned"], true);
}
