//! Images share one answer: together with its text they are what the client takes.

use std::sync::LazyLock;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use file_tools::{AnswerBudget, Settings};
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::{Value, json};

use super::clients::{CLIENTS, Client, text};
use crate::harness::{Harness, Setup};

/// The client that counts images as base64.
const DESKTOP: Client = CLIENTS[2];

/// A picture that takes three bytes a pixel as PNG, or nearly, another one for each seed.
fn noise(seed: u32, width: u32, height: u32) -> Vec<u8> {
    let pixel = |x: u32, y: u32| {
        image::Rgb((x * 7919 + y * 104_729 + x * y * (31 + seed)).to_le_bytes()[..3].try_into().unwrap())
    };
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = DynamicImage::from(RgbImage::from_fn(width, height, pixel));
    picture.write_to(&mut bytes, ImageFormat::Png).expect("it is encoded in memory");
    bytes.into_inner()
}

/// Small ones and a large one, encoded once: without optimization that takes longer than the calls.
static PICTURES: LazyLock<[Vec<u8>; 5]> = LazyLock::new(|| {
    [(0, 300, 300), (1, 300, 300), (2, 300, 300), (3, 300, 300), (9, 600, 500)]
        .map(|(seed, width, height)| noise(seed, width, height))
});

fn fill(h: &Harness) {
    for (name, picture) in ["0.png", "1.png", "2.png", "3.png", "large.png"].iter().zip(PICTURES.iter()) {
        h.write(name, picture);
    }
    h.write("a.txt", "line with \"quotes\"\t\n".repeat(20_000));
}

/// Bytes of each image of a result.
fn images(result: &Value) -> Vec<usize> {
    let blocks = result["content"].as_array().expect("blocks").iter();
    let data = blocks.filter_map(|block| block["data"].as_str());
    data.map(|data| BASE64_STANDARD.decode(data).expect("base64").len()).collect()
}

fn calls() -> [(Value, usize); 3] {
    let all: Vec<String> = (0..4).map(|seed| format!("{seed}.png")).chain(["a.txt".to_owned()]).collect();
    [(json!({ "path": "large.png" }), 1), (json!({ "paths": all }), 4), (json!({ "paths": vec!["1.png"; 20] }), 20)]
}

/// What `client` counts: those without a limit for images cut or move texts alone.
fn counted(client: Client, result: &Value) -> Value {
    let mut result = result.clone();
    if client.name != DESKTOP.name {
        result["content"].as_array_mut().expect("blocks").retain(|block| block["type"] == "text");
    }
    result
}

fn assert_fits(client: Client, structured_output: bool, arguments: Value, expected: usize) {
    let mut setup = client.setup();
    setup.settings.structured_output = structured_output;
    let h = setup.open();
    fill(&h);
    let arguments = prefixed(client, arguments);
    let result = client.call(&h, "read", &arguments);
    let sizes = images(&result);
    let what = format!("{} {arguments}: {sizes:?}: {}", client.name, text(&result));
    assert!(sizes.iter().sum::<usize>() <= AnswerBudget::IMAGE_BYTES, "{what}");
    assert!(!text(&result).contains("left out") && !text(&result).contains("(cut "), "{what}");
    let over = (client.too_large)(&counted(client, &result), &h.path(""));
    assert!(over.is_none(), "{over:?} {what}");
    let left = &result["_meta"]["rootbound/result"]["not_shown"];
    let left = left.as_array().map_or(0, Vec::len);
    assert!(sizes.len() == expected || sizes.len() + left >= expected, "{what}");
}

#[test]
fn images_and_text_of_an_answer_are_what_each_client_takes() {
    for client in CLIENTS {
        for (arguments, expected) in calls().into_iter().take(2) {
            assert_fits(*client, false, arguments, expected);
        }
    }
    for (arguments, expected) in calls() {
        assert_fits(DESKTOP, true, arguments, expected);
    }
}

fn prefixed(client: Client, mut arguments: Value) -> Value {
    let Some(mount) = client.mount else { return arguments };
    if let Some(path) = arguments["path"].as_str() {
        arguments["path"] = format!("{mount}/{path}").into();
    }
    if let Some(paths) = arguments["paths"].as_array() {
        arguments["paths"] = paths.iter().map(|path| format!("{mount}/{}", path.as_str().unwrap())).collect();
    }
    arguments
}

#[test]
fn size_of_images_that_a_person_sets_is_that_of_the_answer() {
    for size in [60_000, 4 << 20] {
        let h = Setup { settings: Settings { max_image_size: Some(size), ..Settings::default() }, ..Setup::default() }
            .open();
        fill(&h);
        for (arguments, expected) in calls().into_iter().take(2) {
            let sizes = images(&DESKTOP.call(&h, "read", &arguments));
            let all: usize = sizes.iter().sum();
            assert!(all <= size && sizes.len() == expected, "{size} {arguments}: {sizes:?}");
            assert!(size < 1 << 20 || all > AnswerBudget::IMAGE_BYTES, "{size} {arguments}: {sizes:?}");
        }
    }
}
