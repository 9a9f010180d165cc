//! The text given for an option → the field of [`Config`] that it sets.
//!
//! A wrong value is noted as a problem and leaves the default in place, so that one start reports all of them.

use std::time::Duration;

use text_file::byte_size::exact_size;

use super::{Config, OptionRow, RawArgs, UNBOUNDED, ValueKind};

/// Reads the value that was given for `option`, if any, into its field.
pub(super) fn apply(option: &OptionRow, raw: &RawArgs, config: &mut Config, problems: &mut Vec<String>) {
    let Some(given) = raw.one(option.flag) else { return };
    let text = given.text.trim();
    let wrong = match &option.kind {
        ValueKind::Switch(field) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => return *field(config) = true,
            "false" | "0" => return *field(config) = false,
            _ => format!("{:?} is neither true nor false: write true, false, 1 or 0", given.text),
        },
        ValueKind::Choice(_, choices) => {
            if let Some((_, choose)) = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
                return choose(config);
            }
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            format!("{:?} is unknown: choose one of {}", given.text, names.join(", "))
        }
        ValueKind::Count(range, field) => match text.parse::<u64>() {
            Ok(number) if range.contains(&number) => return field(config).set(number),
            _ => {
                let bounds = match (range.start(), *range.end()) {
                    (least, UNBOUNDED) => format!("of at least {least}"),
                    (least, most) => format!("from {least} to {most}"),
                };
                format!("{:?} is not a count: write a whole number {bounds}", given.text)
            }
        },
        ValueKind::Size(range, field) => match bytes(text) {
            Some(bytes) if range.contains(&bytes) => return field(config).set(bytes),
            Some(bytes) => {
                let bounds = match (*range.start(), *range.end()) {
                    (least, UNBOUNDED) => format!("at least {}", exact_size(least)),
                    (least, most) => format!("{} to {}", exact_size(least), exact_size(most)),
                };
                format!("of {bytes} bytes is out of range: choose {bounds}")
            }
            None => {
                format!("{:?} is not a size: write bytes, or a number with KiB, MiB or GiB, such as 50KiB", given.text)
            }
        },
        ValueKind::Seconds(longest, field) => match text.trim_end_matches('s').parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= *longest => {
                return *field(config) = Duration::from_secs_f64(seconds);
            }
            _ => format!(
                "{:?} is not a time: write seconds, above 0 and up to {longest}, such as {}",
                given.text,
                field(config).as_secs()
            ),
        },
        ValueKind::Text(_) | ValueKind::List(_) => return,
    };
    problems.push(format!("{} {wrong}", given.origin()));
}

/// Reads `4096`, `50KiB`, `1.5 MiB`. KB and K mean KiB, as in most tools that take either.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    let number = number.trim();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    let value = number.parse::<f64>().ok().filter(|value| shift > 0 && *value >= 0.0)? * f64::from(1_u32 << shift);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in the range of u64")]
    (value < 1e18).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        assert_eq!(bytes("11000"), Some(11_000));
        assert_eq!(bytes("50KiB"), Some(51_200));
        assert_eq!(bytes(" 1.5 MiB "), Some(1_572_864));
        assert_eq!(bytes("2g"), Some(2 << 30));
        for wrong in ["", "lots", "-1", "1.5", "5 KiBs", "99999999999G", "nanK"] {
            assert_eq!(bytes(wrong), None, "{wrong:?}");
        }
    }
}
