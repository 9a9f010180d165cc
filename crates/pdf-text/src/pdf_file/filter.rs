//! The filters that a stream names and is encoded with (ISO 32000-1, 7.4), all but those of images.
//!
//! Each stops at a limit of bytes, and damaged data gives what there is before the damage.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use weezl::{BitOrder, LzwStatus, decode::Decoder};

use crate::budget::{PdfBudget, PdfError};
use crate::lexer::{hex_digit, is_space};
use crate::object::{Dict, Object};

/// Filters of one stream; more is an attack.
const MAX_FILTERS: usize = 8;

/// Bytes that may follow compressed data: a checksum and line endings.
const MAX_TRAILER_BYTES: u64 = 8;

pub(crate) struct Decoded {
    pub(crate) bytes: Vec<u8>,
    /// Whether there is more than the limit, which is left out.
    pub(crate) cut: bool,
    /// Whether the encoded bytes are invalid or end early, so that some may be missing.
    pub(crate) damaged: bool,
}

pub(super) struct Filter {
    pub(super) name: Vec<u8>,
    pub(super) parameters: Dict,
}

/// Applies the filters in their order; `None` if one of them is for images, or unknown.
pub(super) fn decode(
    bytes: Cow<'_, [u8]>,
    filters: &[Filter],
    limit: usize,
    budget: &PdfBudget<'_>,
) -> Result<Option<Decoded>, PdfError> {
    let mut bytes = bytes;
    let mut cut = false;
    let mut damaged = false;
    if filters.len() > MAX_FILTERS {
        return Ok(None);
    }
    for Filter { name, parameters } in filters {
        let limit = limit.min(budget.decodable()).min(budget.largest_stream);
        let number = |key: &[u8], default| parameters.get(key).and_then(Object::index).unwrap_or(default);
        let input = &*bytes;
        // One byte beyond the limit shows that there is more.
        let (mut output, ends_well) = match name.as_slice() {
            b"FlateDecode" | b"Fl" => flate(input, limit + 1),
            b"LZWDecode" | b"LZW" => lzw(input, number(b"EarlyChange", 1) != 0, limit + 1),
            b"ASCIIHexDecode" | b"AHx" => ascii_hex(input),
            b"ASCII85Decode" | b"A85" => ascii_85(input, limit + 1),
            b"RunLengthDecode" | b"RL" => run_length(input, limit + 1),
            // The identity, where it has no name: another one is applied with the key of the file.
            b"Crypt" => continue,
            _ => return Ok(None),
        };
        budget.decoded(output.len())?;
        if output.len() > budget.largest_stream {
            return Err(PdfError::NotSmall);
        }
        cut |= output.len() > limit;
        damaged |= !ends_well && output.len() <= limit;
        output.truncate(limit);
        if matches!(name.as_slice(), b"FlateDecode" | b"Fl" | b"LZWDecode" | b"LZW") {
            let depth = number(b"BitsPerComponent", 8);
            let bits = number(b"Colors", 1).checked_mul(depth).unwrap_or(0);
            // Bytes of one sample, and of one row.
            let sample = bits.div_ceil(8);
            match (number(b"Predictor", 1), bits.checked_mul(number(b"Columns", 1)).unwrap_or(0).div_ceil(8)) {
                (_, 0) => {}
                // For samples of a byte: others are in images alone.
                (2, row) if depth == 8 => undo_tiff(&mut output, sample, row),
                (10.., row) => undo_png(&mut output, sample, row),
                _ => {}
            }
        }
        bytes = Cow::Owned(output);
    }
    cut |= bytes.len() > limit;
    let mut bytes = bytes.into_owned();
    bytes.truncate(limit);
    Ok(Some(Decoded { bytes, cut, damaged }))
}

fn flate(input: &[u8], limit: usize) -> (Vec<u8>, bool) {
    let (output, ends_well) = inflate(input, true, limit);
    if ends_well || !output.is_empty() || input.is_empty() {
        return (output, ends_well || input.is_empty());
    }
    // Some writers leave the header out, or damage it.
    let (output, ends_well) = inflate(input, false, limit);
    if !output.is_empty() || input.len() <= 2 { (output, ends_well) } else { inflate(&input[2..], false, limit) }
}

/// Bytes from which an output counts as large.
const LARGE_OUTPUT: usize = 1 << 20;

/// Decodes up to the damage; also returns whether there is none.
fn inflate(input: &[u8], has_header: bool, limit: usize) -> (Vec<u8>, bool) {
    let mut decoder = Decompress::new(has_header);
    let mut output = Vec::new();
    while output.len() < limit {
        let (position, length) = (decoder.total_in(), output.len());
        // What is large is reserved at once: growing by doubling leaves as much again behind it, and of what is reserved only
        // the pages that are written take memory.
        output.reserve_exact(if length < LARGE_OUTPUT { (1 << 15).min(limit - length) } else { limit - length });
        let rest = usize::try_from(position).ok().and_then(|position| input.get(position..)).unwrap_or_default();
        match decoder.decompress_vec(rest, &mut output, FlushDecompress::None) {
            // Data without a checksum that ends by chance ends too early.
            Ok(Status::StreamEnd) => {
                return (output, has_header || input.len() as u64 <= decoder.total_in() + MAX_TRAILER_BYTES);
            }
            Ok(_) if decoder.total_in() > position || output.len() > length => {}
            // Nothing but the checksum is missing.
            Ok(_) => {
                let is_whole = has_header && input.len() > 2 && inflate(&input[2..], false, limit).1;
                return (output, is_whole);
            }
            Err(_) => return (output, false),
        }
    }
    output.truncate(limit);
    (output, true)
}

fn lzw(whole: &[u8], early: bool, limit: usize) -> (Vec<u8>, bool) {
    let mut decoder =
        if early { Decoder::with_tiff_size_switch(BitOrder::Msb, 8) } else { Decoder::new(BitOrder::Msb, 8) };
    let mut input = whole;
    let mut output = Vec::new();
    let mut piece = vec![0; 1 << 16];
    while output.len() < limit {
        let result = decoder.decode_bytes(input, &mut piece);
        output.extend_from_slice(&piece[..result.consumed_out.min(limit - output.len())]);
        input = &input[result.consumed_in..];
        match result.status {
            Ok(LzwStatus::Ok) if result.consumed_out > 0 || result.consumed_in > 0 => {}
            status => return (output, matches!(status, Ok(LzwStatus::Done)) || whole.is_empty()),
        }
    }
    (output, true)
}

fn ascii_hex(input: &[u8]) -> (Vec<u8>, bool) {
    let end = memchr::memchr(b'>', input).unwrap_or(input.len());
    let digits: Vec<u8> = input[..end].iter().filter_map(|byte| hex_digit(*byte)).collect();
    let is_valid = input[..end].iter().all(|byte| is_space(*byte) || hex_digit(*byte).is_some());
    (digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect(), is_valid)
}

fn ascii_85(input: &[u8], limit: usize) -> (Vec<u8>, bool) {
    let input = input.strip_prefix(b"<~").unwrap_or(input);
    let mut output = Vec::new();
    let mut group = [0_u8; 5];
    let mut filled = 0;
    let mut is_valid = true;
    for byte in input {
        match byte {
            b'z' if filled == 0 => output.extend([0; 4]),
            b'!'..=b'u' => {
                group[filled] = byte - b'!';
                filled += 1;
                if filled == 5 {
                    output.extend(group_85(group));
                    filled = 0;
                }
            }
            byte if is_space(*byte) => {}
            byte => {
                is_valid = *byte == b'~';
                break;
            }
        }
        if output.len() >= limit {
            return (output, true);
        }
    }
    if filled > 1 {
        group[filled..].fill(84);
        output.extend(&group_85(group)[..filled - 1]);
    }
    (output, is_valid)
}

fn group_85(digits: [u8; 5]) -> [u8; 4] {
    // Wrapping: five digits may say more than 32 bits hold, which no encoder writes.
    digits.iter().fold(0_u32, |value, digit| value.wrapping_mul(85).wrapping_add(u32::from(*digit))).to_be_bytes()
}

fn run_length(mut input: &[u8], limit: usize) -> (Vec<u8>, bool) {
    // A run of two bytes gives 128 at most.
    let mut output = Vec::with_capacity(limit.min(input.len().saturating_mul(64)));
    while let [length, rest @ ..] = input {
        if *length == 128 || output.len() >= limit {
            break;
        }
        let length = usize::from(*length);
        if length < 128 {
            if rest.len() <= length {
                output.extend_from_slice(rest);
                return (output, false);
            }
            let (run, after) = rest.split_at(length + 1);
            output.extend_from_slice(run);
            input = after;
        } else {
            let [byte, after @ ..] = rest else { return (output, false) };
            output.resize(output.len() + 257 - length, *byte);
            input = after;
        }
    }
    (output, true)
}

fn undo_png(bytes: &mut Vec<u8>, sample: usize, row: usize) {
    let (mut to, mut from) = (0, 0);
    while from + 1 < bytes.len() {
        let length = row.min(bytes.len() - from - 1);
        let kind = bytes[from];
        // In place: each row loses its first byte, so what is read is always after what is written.
        bytes.copy_within(from + 1..from + 1 + length, to);
        for at in to..to + length {
            let left = if at - to >= sample { bytes[at - sample] } else { 0 };
            let up = if to >= row { bytes[at - row] } else { 0 };
            let corner = if to >= row && at - to >= sample { bytes[at - row - sample] } else { 0 };
            let predicted = match kind {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => 0,
            };
            bytes[at] = bytes[at].wrapping_add(predicted);
        }
        to += length;
        from += length + 1;
    }
    bytes.truncate(to);
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i16::from);
    let estimate = a + b - c;
    let [to_left, to_up, to_corner] = [a, b, c].map(|value| (estimate - value).abs());
    if to_left <= to_up && to_left <= to_corner {
        left
    } else if to_up <= to_corner {
        up
    } else {
        corner
    }
}

/// The predictor of TIFF, by which each sample is the difference to the one on its left.
fn undo_tiff(bytes: &mut [u8], sample: usize, row: usize) {
    for row in bytes.chunks_mut(row) {
        for at in sample..row.len() {
            row[at] = row[at].wrapping_add(row[at - sample]);
        }
    }
}

/// The filters of a stream whose entries are direct objects; `None` if one is not.
pub(super) fn direct_filters(dict: &Dict) -> Option<Vec<Filter>> {
    let get = |long: &[u8], short: &[u8]| dict.get(long).or_else(|| dict.get(short)).unwrap_or(&Object::Null);
    filters(get(b"Filter", b"F"), get(b"DecodeParms", b"DP"))
}

pub(super) fn filters(names: &Object, parameters: &Object) -> Option<Vec<Filter>> {
    let names = match names {
        Object::Null => &[],
        Object::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let of = |index| match parameters {
        Object::Array(items) => items.get(index).and_then(Object::dict).cloned(),
        Object::Dict(dict) if index + 1 == names.len() => Some(dict.clone()),
        _ => None,
    };
    names
        .iter()
        .enumerate()
        .map(|(index, name)| Some(Filter { name: name.name()?.to_vec(), parameters: of(index).unwrap_or_default() }))
        .collect()
}
