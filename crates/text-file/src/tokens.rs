//! How many tokens a model may count for a text: an upper bound in practice, from the classes of its bytes.
//!
//! Vocabularies differ and the newest are not public, so this imitates none. It was fitted to three public ones
//! (`o200k_base`, `cl100k_base` and that of Claude 2): for source code, prose, logs, CJK, base64, hexadecimal and minified
//! JSON it is at least what each of them counts, for code at most twice that, and for random letters of any script at
//! least 0.8 of it. Newer tokenizers of Claude count up to 1.45 times as many tokens for English, which is still below it
//! (<https://sol.ava.dev/writings/2026-04-17-opus-4-7-tokenizer.html>).

/// A byte, as far as tokenizers treat it alike.
#[derive(Clone, Copy)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Tab,
    LineBreak,
    /// Any other printable ASCII character, and one that repeats the byte before it.
    Sign,
    Repeated,
    Control,
    /// The first bytes of other characters, by how rare these are in vocabularies, and the bytes after the first.
    Accented,
    Cyrillic,
    Ideograph,
    Script,
    Private,
    Astral,
    Tail,
}

/// Classes, and so the length of a row of [`STEPS`].
const CLASS_COUNT: u32 = 16;

static CLASS_OF: [Class; 256] = {
    let mut table = [Class::Tail; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte {
            0x09 => Class::Tab,
            0x0a | 0x0d => Class::LineBreak,
            0x20 => Class::Space,
            0x30..=0x39 => Class::Digit,
            0x41..=0x5a => Class::Upper,
            0x61..=0x7a => Class::Lower,
            0x21..=0x7e => Class::Sign,
            0x00..=0x7f => Class::Control,
            0x80..=0xbf => Class::Tail,
            0xc0..=0xc3 | 0xc6..=0xcf => Class::Accented,
            0xd0..=0xdf => Class::Cyrillic,
            0xc4 | 0xc5 | 0xe3..=0xe9 => Class::Ideograph,
            0xe0..=0xed => Class::Script,
            0xee | 0xef => Class::Private,
            _ => Class::Astral,
        };
        byte += 1;
    }
    table
};

// What the bytes before are. Up to `OUTSIDE_STATE` within a word of ASCII letters and digits.

/// Lower-case letters, by how many: longer runs are data, not words.
const MAX_LOWER_RUN: u32 = 24;
const LOWER_STATE: u32 = 0;
/// Upper-case letters, an odd number and an even one; then digits.
const UPPER_STATE: u32 = LOWER_STATE + MAX_LOWER_RUN + 1;
const DIGIT_STATE: u32 = UPPER_STATE + 2;
/// The same, in a word that has changed between letters and digits once.
const CHANGED_STATE: u32 = DIGIT_STATE + 2;
/// In a word that has done so twice: an identifier, a hash, base64.
const RANDOM_STATE: u32 = 2 * CHANGED_STATE;
const OUTSIDE_STATE: u32 = RANDOM_STATE + 1;
const ONE_SPACE: u32 = RANDOM_STATE + 2;
const SPACE_STATE: u32 = RANDOM_STATE + 3;
const TAB_STATE: u32 = RANDOM_STATE + 4;
const LINE_BREAKS: u32 = RANDOM_STATE + 5;
const SIGN_STATE: u32 = RANDOM_STATE + 6;
const REPEATED_STATE: u32 = RANDOM_STATE + 7;
const STATE_COUNT: u32 = RANDOM_STATE + 8;

/// Services of a token that are counted.
const TOKEN_UNITS: u32 = 64;

/// The state after a byte of `class`, and what the byte adds.
const fn step(state: u32, class: Class) -> (u32, u32) {
    if state == RANDOM_STATE && matches!(class, Class::Lower | Class::Upper | Class::Digit) {
        return (RANDOM_STATE, TOKEN_UNITS * 3 / 4);
    }
    let (changed, within) =
        if state < RANDOM_STATE { (state / CHANGED_STATE * CHANGED_STATE, state % CHANGED_STATE) } else { (0, state) };
    let is_odd = within == UPPER_STATE || within == DIGIT_STATE;
    // From letters to digits, or back.
    let switched = if changed == 0 { CHANGED_STATE } else { RANDOM_STATE };
    match class {
        Class::Lower if within < UPPER_STATE => {
            let count = if within == MAX_LOWER_RUN { MAX_LOWER_RUN } else { within + 1 };
            let adds = match count {
                MAX_LOWER_RUN => TOKEN_UNITS * 3 / 4,
                _ if count % 4 == 0 => TOKEN_UNITS,
                _ => 0,
            };
            (changed + count, adds)
        }
        Class::Lower if within < DIGIT_STATE => {
            (changed + LOWER_STATE + 1, if is_odd { TOKEN_UNITS / 4 } else { TOKEN_UNITS })
        }
        Class::Upper if UPPER_STATE <= within && within < DIGIT_STATE => {
            if is_odd {
                (changed + UPPER_STATE + 1, TOKEN_UNITS / 4)
            } else {
                (changed + UPPER_STATE, TOKEN_UNITS)
            }
        }
        Class::Upper if within < UPPER_STATE => (changed + UPPER_STATE, TOKEN_UNITS),
        Class::Digit if DIGIT_STATE <= within && within < CHANGED_STATE => {
            if is_odd {
                (changed + DIGIT_STATE + 1, 0)
            } else {
                (changed + DIGIT_STATE, TOKEN_UNITS)
            }
        }
        Class::Lower | Class::Upper | Class::Digit if within < CHANGED_STATE && switched == RANDOM_STATE => {
            (RANDOM_STATE, TOKEN_UNITS)
        }
        Class::Lower if within < CHANGED_STATE => (switched + LOWER_STATE, TOKEN_UNITS),
        Class::Upper if within < CHANGED_STATE => (switched + UPPER_STATE, TOKEN_UNITS),
        Class::Digit if within < CHANGED_STATE => (switched + DIGIT_STATE, TOKEN_UNITS),
        Class::Lower => (LOWER_STATE, TOKEN_UNITS),
        Class::Upper => (UPPER_STATE, TOKEN_UNITS),
        // A space is part of the word after it, but not of a number.
        Class::Digit => (DIGIT_STATE, if state == ONE_SPACE { 2 * TOKEN_UNITS } else { TOKEN_UNITS }),
        Class::Space => match state {
            ONE_SPACE => (SPACE_STATE, TOKEN_UNITS + 1),
            SPACE_STATE => (SPACE_STATE, 1),
            _ => (ONE_SPACE, 0),
        },
        Class::Tab => (TAB_STATE, if state == TAB_STATE { TOKEN_UNITS / 8 } else { TOKEN_UNITS }),
        Class::LineBreak => (LINE_BREAKS, if state == LINE_BREAKS { TOKEN_UNITS / 2 } else { TOKEN_UNITS }),
        Class::Sign => {
            (SIGN_STATE, if state == SIGN_STATE || state == REPEATED_STATE { TOKEN_UNITS * 3 / 4 } else { TOKEN_UNITS })
        }
        Class::Repeated => (REPEATED_STATE, if state == REPEATED_STATE { TOKEN_UNITS / 16 } else { TOKEN_UNITS / 2 }),
        Class::Control => (OUTSIDE_STATE, TOKEN_UNITS),
        Class::Accented => (OUTSIDE_STATE, TOKEN_UNITS * 3 / 2),
        Class::Cyrillic => (OUTSIDE_STATE, TOKEN_UNITS * 5 / 4),
        Class::Ideograph => (OUTSIDE_STATE, TOKEN_UNITS * 2),
        Class::Script => (OUTSIDE_STATE, TOKEN_UNITS * 9 / 4),
        Class::Private => (OUTSIDE_STATE, TOKEN_UNITS * 3),
        Class::Astral => (OUTSIDE_STATE, TOKEN_UNITS * 4),
        Class::Tail => (OUTSIDE_STATE, 0),
    }
}

/// [`step`] for each state and class: the number of the next state's row, and above it what the byte adds.
static STEPS: [u32; (STATE_COUNT * CLASS_COUNT) as usize] = {
    use Class::{Accented, Astral, Control, Cyrillic, Digit, Ideograph, LineBreak, Tail};
    use Class::{Lower, Private, Repeated, Script, Sign, Space, Tab, Upper};
    const ALL_CLASSES: [Class; CLASS_COUNT as usize] = [
        Lower, Upper, Digit, Space, Tab, LineBreak, Sign, Repeated, Control, Accented, Cyrillic, Ideograph, Script,
        Private, Astral, Tail,
    ];
    let mut table = [0; (STATE_COUNT * CLASS_COUNT) as usize];
    let mut at = 0;
    while at < STATE_COUNT * CLASS_COUNT {
        let (next, adds) = step(at / CLASS_COUNT, ALL_CLASSES[(at % CLASS_COUNT) as usize]);
        // There are some thousand rows, so the lower half of the number has room for one.
        table[at as usize] = (next * CLASS_COUNT) | adds << 16;
        at += 1;
    }
    table
};

/// About how many tokens `text` has at most; never more than bytes.
///
/// The estimate of a text is never more than that of its lines added up.
///
/// # Examples
/// ```
/// use text_file::estimated_tokens;
///
/// assert_eq!(estimated_tokens(""), 0);
/// assert!((5..12).contains(&estimated_tokens("fn main() {}\n")));
/// ```
pub fn estimated_tokens(text: &str) -> usize {
    let (mut row, mut parts, mut before) = (OUTSIDE_STATE * CLASS_COUNT, 0, 0);
    for byte in text.bytes() {
        let class = match CLASS_OF[usize::from(byte)] {
            Class::Sign if byte == before => Class::Repeated,
            class => class,
        };
        before = byte;
        let step = STEPS[(row + class as u32) as usize];
        parts += (step >> 16) as usize;
        row = step & 0xffff;
    }
    parts.div_ceil(TOKEN_UNITS as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noise(alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            alphabet[usize::try_from(state >> 33).unwrap_or_default() % alphabet.len()]
        };
        (0..length).map(|_| next()).collect()
    }

    const RUST_SAMPLE: &str = r"    /// Reads the next frame, if one is complete.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, DecodeError> {
        while let Some(end) = memchr::memchr(b'\n', &self.buffer[self.start..]) {
            let line = &self.buffer[self.start..self.start + end];
            self.start += end + 1;
            if !line.is_empty() {
                return Frame::parse(line).map(Some).map_err(|error| DecodeError::new(self.number, error));
            }
        }
        Ok(None)
    }
";
    const PYTHON_SAMPLE: &str = r#"def load_config(path: Path, *, defaults: dict[str, Any] | None = None) -> Config:
    """Load the configuration, or the defaults where the file is missing."""
    if not path.exists():
        logger.warning("no configuration at %s, using defaults", path)
        return Config(**(defaults or {}))
    with path.open("rb") as file:
        data = tomllib.load(file)
    return Config(**{**(defaults or {}), **data.get("tool", {}).get("app", {})})
"#;
    const PROSE_SAMPLE: &str = "The keeper of the lighthouse had counted ships for thirty years, and in all that time he had \
        never asked where they came from. Some carried grain, others timber; a few, he suspected, carried nothing \
        except people who wanted to be elsewhere. In the evening he wrote their names into a book.\n";

    /// Texts, each with what the public tokenizer that counts most tokens in it counts (gpt-tokenizer 4.0.0 and
    /// @anthropic-ai/tokenizer 0.0.4).
    fn samples() -> Vec<(usize, &'static str, String)> {
        const BASE64_SAMPLE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        vec![
            (706, "rust", RUST_SAMPLE.repeat(5)),
            (580, "python", PYTHON_SAMPLE.repeat(5)),
            (315, "prose", PROSE_SAMPLE.repeat(5)),
            (
                601,
                "json",
                r#"{"id":17,"name":"alice","tags":["a","b"],"ratio":0.8125,"ok":true,"parent":null},"#.repeat(20),
            ),
            (600, "chinese", "人工智能是计算机科学的一个分支，它企图了解智能的实质。".repeat(20)),
            (500, "japanese", "ファイルを読み込み、編集し、保存することができます。".repeat(20)),
            (540, "russian", "Искусственный интеллект выполняет творческие функции.\n".repeat(20)),
            (600, "log", "2026-11-22T10:07:41.318Z INFO server::dispatch id=48213 took=3.91ms\n".repeat(20)),
            (1468, "base64", noise(BASE64_SAMPLE, 2000)),
            (1174, "hex", noise("0123456789abcdef", 2000)),
            (1083, "letters", noise("abcdefghijklmnopqrstuvwxyz", 2000)),
            (1338, "signs", noise("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~", 2000)),
            (17, "blanks", " ".repeat(2000)),
            (250, "tabs", "\t".repeat(2000)),
            (50, "rulers", format!("{}\n{}\n", "-".repeat(80), "=".repeat(80)).repeat(10)),
        ]
    }
    #[test]
    fn estimate_is_at_least_what_public_tokenizers_count_and_at_most_twice_that_for_code() {
        for (counted, name, text) in samples() {
            let estimate = estimated_tokens(&text);
            assert!(estimate >= counted, "{name}: {estimate}, not {counted}");
            if ["rust", "python", "prose", "json", "log", "base64", "hex"].contains(&name) {
                assert!(estimate <= 2 * counted, "{name}: {estimate}, not {counted}");
            }
        }
    }

    proptest! {
        #[test]
        fn estimate_is_at_most_the_bytes_and_at_most_that_of_the_lines(text in "([a-zA-Z0-9 \t\n\\PC]|\\PC|[a-f0-9]{8}|  |--|\n){0,60}") {
            let whole = estimated_tokens(&text);
            prop_assert!(whole <= text.len());
            let ended: usize = text.split_inclusive('\n').map(estimated_tokens).sum();
            let begun: usize = text.split('\n').map(|line| estimated_tokens(&format!("\n{line}"))).sum();
            prop_assert!(whole <= ended && whole <= begun, "{whole}, {ended}, {begun}");
        }
    }
}
