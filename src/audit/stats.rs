//! What an audit adds up to: calls, errors, bytes and times for each tool and each client.
//!
//! Reads the lines one after another. Memory is bounded whatever the files hold, by the number of rows and by the length
//! of a line. A line that is not one of this program, or that was damaged, is counted and left out.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, BufRead, Read as _},
    time::SystemTime,
};

use serde::Deserialize;
use text_file::shorten;

/// Bytes of the longest line that is read: no line of an audit is nearly as long.
const MAX_LINE: u64 = 4 << 20;
/// Rows of each table; what comes later is added to the row with this name.
const MAX_ROWS: usize = 100;
const OTHERS: &str = "(others)";
/// Bytes of a name of a row: of a tool, a client, a label or a kind of error.
const MAX_KEY: usize = 200;
/// Kinds of errors in a row.
const MAX_KINDS: usize = 50;

/// The sums of some calls.
#[derive(Debug, Default)]
pub struct CallTotals {
    /// How many there were.
    pub calls: u64,
    /// How many ended with an error, by its kind.
    pub errors: BTreeMap<String, u64>,
    /// Bytes of their answers.
    pub bytes: u64,
    /// Bytes that they wrote to files.
    pub written: u64,
    /// How long they took.
    pub durations: Durations,
}

impl CallTotals {
    /// How many ended with an error.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    fn add(&mut self, line: &AuditLine<'_>) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(line.bytes);
        self.written = self.written.saturating_add(line.written);
        if !matches!(&*line.outcome, "ok" | "asked") {
            *row(&mut self.errors, MAX_KINDS, shorten(&line.outcome, MAX_KEY).into_owned(), || OTHERS.to_owned()) += 1;
        }
        if let Some(milliseconds) = line.duration_ms {
            self.durations.add(micros(milliseconds));
        }
    }
}

/// The name and the label of a client.
pub type ClientKey = (String, String);

/// The sums of one or several files.
#[derive(Debug, Default)]
pub struct AuditStats {
    /// The sums of each tool, by its name.
    pub tools: BTreeMap<String, CallTotals>,
    /// By client and label.
    pub clients: BTreeMap<ClientKey, CallTotals>,
    /// The sums of all calls together.
    pub all: CallTotals,
    /// The times of the first and the last call, as the lines have them.
    pub span: Option<(String, String)>,
    /// Lines that are no JSON object, or too long.
    pub damaged: u64,
    /// JSON objects that are not of an audit.
    pub foreign: u64,
    /// Calls before the time that was asked for.
    pub earlier: u64,
}

/// A line, as far as it is added up.
#[derive(Deserialize)]
struct AuditLine<'l> {
    #[serde(borrow)]
    event: Cow<'l, str>,
    #[serde(borrow)]
    time: Cow<'l, str>,
    #[serde(borrow)]
    tool: Cow<'l, str>,
    #[serde(borrow, default)]
    outcome: Cow<'l, str>,
    #[serde(default)]
    bytes: u64,
    #[serde(default)]
    written: u64,
    #[serde(default)]
    duration_ms: Option<f64>,
    #[serde(default)]
    client: Option<ClientName>,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Deserialize)]
struct ClientName {
    name: String,
}

impl AuditStats {
    /// Adds the lines of a file, those of calls at `since` or later.
    pub fn read(&mut self, mut file: impl BufRead, since: Option<SystemTime>) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            // One byte more shows that the line is too long.
            let read = file.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            if read as u64 > MAX_LINE {
                if !bytes.ends_with(b"\n") {
                    // Not read into memory: the rest of it may be as long as the file.
                    file.skip_until(b'\n')?;
                }
                self.damaged += 1;
            } else if !bytes.iter().all(u8::is_ascii_whitespace) {
                self.add(&bytes, since);
            }
        }
    }

    fn add(&mut self, bytes: &[u8], since: Option<SystemTime>) {
        let Ok(line) = serde_json::from_slice::<AuditLine<'_>>(bytes) else {
            // Logs of other programs are JSON lines as well, and not damaged.
            let is_object = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
            *(if is_object { &mut self.foreign } else { &mut self.damaged }) += 1;
            return;
        };
        let time = humantime::parse_rfc3339(&line.time);
        let (Ok(time), true) = (time, matches!(&*line.event, "call" | "intent")) else {
            self.foreign += 1;
            return;
        };
        // An intent is followed by the line of the same call.
        if line.event == "intent" {
            return;
        }
        if since.is_some_and(|since| time < since) {
            self.earlier += 1;
            return;
        }
        // The text of a time sorts as the time does.
        match &mut self.span {
            None => self.span = Some((line.time.to_string(), line.time.to_string())),
            Some((first, _)) if *line.time < **first => *first = line.time.to_string(),
            Some((_, last)) if *line.time > **last => *last = line.time.to_string(),
            Some(_) => {}
        }
        self.all.add(&line);
        row(&mut self.tools, MAX_ROWS, shorten(&line.tool, MAX_KEY).into_owned(), || OTHERS.to_owned()).add(&line);
        let client = line.client.as_ref().map_or("", |client| &client.name);
        let label = line.label.as_deref().unwrap_or_default();
        let key = (shorten(client, MAX_KEY).into_owned(), shorten(label, MAX_KEY).into_owned());
        row(&mut self.clients, MAX_ROWS, key, || (OTHERS.to_owned(), String::new())).add(&line);
    }
}

/// The row of `key`, or the one of the others where there are `most` rows.
fn row<K: Ord, V: Default>(rows: &mut BTreeMap<K, V>, most: usize, key: K, others: impl FnOnce() -> K) -> &mut V {
    let key = if rows.len() < most || rows.contains_key(&key) { key } else { others() };
    rows.entry(key).or_default()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn micros(milliseconds: f64) -> u64 {
    (milliseconds * 1000.0).round() as u64
}

// Median, 95th percentile and longest of many durations, in bounded memory.

/// Different durations that are held; beyond, they are rounded to fewer digits.
const MAX_DURATIONS: usize = 10_000;
/// Digits that durations are rounded to at first. With three, there are at most 900 for each power of ten.
const FIRST_DIGITS: u32 = 4;

/// How often each duration occurred, in microseconds. Exact until there are ten thousand different ones.
#[derive(Debug, Default)]
pub struct Durations {
    counts: BTreeMap<u64, u64>,
    total: u64,
    /// Digits that are kept; `None` for all.
    digits: Option<u32>,
    longest: u64,
}

impl Durations {
    pub(super) fn add(&mut self, micros: u64) {
        *self.counts.entry(rounded(micros, self.digits)).or_default() += 1;
        self.total += 1;
        self.longest = self.longest.max(micros);
        // With two digits there are at most 90 for each of the 20 powers of ten of a `u64`: fewer than are held.
        while self.counts.len() > MAX_DURATIONS && self.digits != Some(FIRST_DIGITS - 2) {
            let digits = self.digits.map_or(FIRST_DIGITS, |digits| digits - 1);
            self.digits = Some(digits);
            for (micros, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(rounded(micros, self.digits)).or_default() += count;
            }
        }
    }

    /// The one in the middle, or the mean of both that are; none if there are none.
    pub fn median(&self) -> Option<f64> {
        let (low, high) = (self.at(self.total.checked_sub(1)? / 2)?, self.at(self.total / 2)?);
        Some(f64::midpoint(milliseconds(low), milliseconds(high)))
    }

    /// The shortest that 95 of 100 do not exceed.
    pub fn p95(&self) -> Option<f64> {
        // At least 95 %: the 19th of 20.
        let rank = (u128::from(self.total) * 95).div_ceil(100);
        self.at(u64::try_from(rank).ok()?.checked_sub(1)?).map(milliseconds)
    }

    /// The longest, in milliseconds; none if there are none.
    pub fn longest(&self) -> Option<f64> {
        (self.total > 0).then(|| milliseconds(self.longest))
    }

    /// The one at this place in their order.
    fn at(&self, place: u64) -> Option<u64> {
        let mut before = 0;
        self.counts.iter().find_map(|(micros, count)| {
            before += count;
            (place < before).then_some(*micros)
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "more digits than a time has that matter")]
fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn rounded(micros: u64, digits: Option<u32>) -> u64 {
    let Some(digits) = digits else { return micros };
    let unit = 10_u64.pow(micros.checked_ilog10().unwrap_or(0).saturating_sub(digits - 1).min(19));
    (micros / unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_percentile_of_few_are_exact() {
        let of = |list: &[u64]| {
            let mut durations = Durations::default();
            for micros in list {
                durations.add(*micros);
            }
            [durations.median(), durations.p95(), durations.longest()]
        };
        assert_eq!(of(&[]), [None; 3]);
        assert_eq!(of(&[1500]), [Some(1.5); 3]);
        assert_eq!(of(&[3000, 1000]), [Some(2.0), Some(3.0), Some(3.0)]);
        assert_eq!(of(&(1..=100).map(|n| n * 1000).collect::<Vec<_>>()), [Some(50.5), Some(95.0), Some(100.0)]);
    }

    #[test]
    fn memory_is_bounded_and_the_error_small() {
        let mut durations = Durations::default();
        for number in 0..300_000_u64 {
            durations.add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 64));
        }
        assert!(durations.counts.len() <= 20_000, "{}", durations.counts.len());
        let mut even = Durations::default();
        for number in 0..200_000 {
            even.add(number);
        }
        let (median, p95) = (even.median().expect("some"), even.p95().expect("some"));
        assert!((median - 100.0).abs() < 1.0 && (p95 - 190.0).abs() < 2.0, "{median} {p95}");
        assert_eq!(even.longest(), Some(199.999));
    }
}
