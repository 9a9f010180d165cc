//! Numbers that are dates, times or durations by their format: ECMA-376 part 1, 18.8.30 and 18.17.4.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    #[default]
    Number,
    Date,
    Time,
    DateTime,
    Duration,
}

impl NumberFormat {
    /// A format that every workbook has. 27 to 36 and 50 to 58 are dates in the languages of East Asia, and unused elsewhere.
    pub(crate) fn built_in(id: u32) -> Self {
        match id {
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Self::Date,
            18..=21 | 32..=35 | 45 | 47 | 55 | 56 => Self::Time,
            22 => Self::DateTime,
            46 => Self::Duration,
            _ => Self::Number,
        }
    }

    /// By the code of a format, as `yyyy\-mm\-dd;@`.
    pub(crate) fn of_code(code: &str) -> Self {
        let (mut letters, mut characters) = (String::new(), code.chars());
        while let Some(character) = characters.next() {
            match character.to_ascii_lowercase() {
                ';' => break,
                '"' => drop(characters.by_ref().find(|other| *other == '"')),
                '\\' | '_' | '*' => drop(characters.next()),
                '[' => {
                    let inner: String = characters.by_ref().take_while(|other| *other != ']').collect();
                    // `[h]` and its like; others are colours, conditions and languages.
                    if ["h", "hh", "m", "mm", "s", "ss"].iter().any(|unit| inner.eq_ignore_ascii_case(unit)) {
                        return Self::Duration;
                    }
                }
                letter => letters.push(letter),
            }
        }
        // What LibreOffice writes for `General` in German has a `d`.
        let letters = if letters == "standard" { String::new() } else { letters };
        match (letters.contains(['y', 'd']), letters.contains(['h', 's']), letters.contains('m')) {
            (true, true, _) => Self::DateTime,
            (true, false, _) | (false, false, true) => Self::Date,
            (false, true, _) => Self::Time,
            (false, false, false) => Self::Number,
        }
    }

    /// A number as text, with dates counted from 1904 or from 1900; what is no date in the shortest way that is exact.
    pub(crate) fn render(self, number: f64, is_1904: bool) -> String {
        // Excel shows no date before its first and after the year 9999.
        if self == Self::Number || !(0.0..2_958_466.0).contains(&number) {
            let is_long = number != 0.0 && !(1e-9..1e16).contains(&number.abs());
            return if is_long { format!("{number:e}") } else { number.to_string() };
        }
        // Excel keeps milliseconds; the rest is what adding fractions of a day leaves.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2.6e14")]
        let milliseconds = (number * 86_400_000.0).round() as u64;
        let (day, in_day) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
        match self {
            Self::Duration => clock(milliseconds),
            // A time of no day: 0 is none but in the system of 1904.
            _ if day == 0 && (self == Self::Time || in_day > 0 && !is_1904) => clock(in_day),
            Self::Date if in_day == 0 => date(day, is_1904),
            _ => format!("{}T{}", date(day, is_1904), clock(in_day)),
        }
    }
}

/// `09:30:00`, with milliseconds where there are any.
fn clock(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1000, format!(".{:03}", milliseconds % 1000));
    let rest = rest.trim_end_matches(".000");
    format!("{:02}:{:02}:{:02}{rest}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn date(day: u64, is_1904: bool) -> String {
    // Lotus 1-2-3 took 1900 for a leap year, and Excel keeps that day: 18.17.4.1.
    let days_to_1970 = match day {
        _ if is_1904 => 24_107,
        60 => return "1900-02-29".to_owned(),
        0..60 => 25_568,
        _ => 25_569,
    };
    // From 1 March of the year 0, so that the leap day is the last of a year: "days from civil" of Howard Hinnant.
    let days = day + 719_468 - days_to_1970;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_told_from_those_of_numbers() {
        for (code, format) in [
            ("General", NumberFormat::Number),
            ("Standard", NumberFormat::Number),
            ("0.00E+00", NumberFormat::Number),
            ("#,##0.00\\ \"days\"", NumberFormat::Number),
            ("[$USD-409]#,##0", NumberFormat::Number),
            ("_-* #,##0.00_-;[Red]d", NumberFormat::Number),
            ("yyyy\\-mm\\-dd;@", NumberFormat::Date),
            ("[$-407]d. mmmm yyyy", NumberFormat::Date),
            ("mmm", NumberFormat::Date),
            ("hh:mm AM/PM", NumberFormat::Time),
            ("mm:ss.0", NumberFormat::Time),
            ("m/d/yy h:mm", NumberFormat::DateTime),
            ("[h]:mm:ss", NumberFormat::Duration),
            ("[mm]:ss", NumberFormat::Duration),
            ("\"", NumberFormat::Number),
            ("[", NumberFormat::Number),
        ] {
            assert_eq!(NumberFormat::of_code(code), format, "{code}");
        }
    }

    #[test]
    fn numbers_are_dates_in_both_systems() {
        use NumberFormat::{Date, DateTime, Duration, Number, Time};
        for (format, number, is_1904, text) in [
            (Date, 1.0, false, "1900-01-01"),
            (Date, 59.0, false, "1900-02-28"),
            (Date, 60.0, false, "1900-02-29"),
            (Date, 61.0, false, "1900-03-01"),
            (Date, 45_351.0, false, "2024-02-29"),
            (Date, 2_958_465.0, false, "9999-12-31"),
            (Date, 0.0, true, "1904-01-01"),
            (Date, 43_889.0, true, "2024-02-29"),
            (DateTime, 45_351.75, false, "2024-02-29T18:00:00"),
            (Date, 45_351.5, false, "2024-02-29T12:00:00"),
            (DateTime, 45_351.0, false, "2024-02-29T00:00:00"),
            (DateTime, 45_350.999_999_999, false, "2024-02-29T00:00:00"),
            (Time, 0.395_833_333_333_333_3, false, "09:30:00"),
            (Time, 0.5, true, "12:00:00"),
            (Time, 0.000_001_446_759_259, false, "00:00:00.125"),
            (Duration, 1.5, false, "36:00:00"),
            (Date, -1.0, false, "-1"),
            (Date, 1e9, false, "1000000000"),
            (Number, 0.1, false, "0.1"),
            (Number, 4.0, false, "4"),
            (Number, 1e300, false, "1e300"),
            (Number, -1.5e-12, false, "-1.5e-12"),
            (Date, f64::NAN, false, "NaN"),
        ] {
            assert_eq!(format.render(number, is_1904), text, "{format:?} {number}");
        }
    }
}
