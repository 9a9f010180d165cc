//! The names that this program gives to entries which are not in their place yet, or no longer: no tool shows or writes
//! them.

use std::ffi::{OsStr, OsString};

/// Before and after the 16 hexadecimal digits in the name of a temporary file.
const TEMPORARY_PREFIX: &[u8] = b".rootbound-";
const TEMPORARY_SUFFIX: &[u8] = b".tmp";
/// The end of the names of a transaction. They are never swept as stale: what has such a name may be the only copy of
/// a file that was being moved.
const OF_TRANSACTION: &[u8] = b".txn";
/// Digits of the number in such a name.
const NUMBER_DIGITS: usize = 6;

/// Whether a name is reserved: that of a temporary file, or of an entry of a transaction.
pub fn is_reserved(name: &OsStr) -> bool {
    is_temporary(name) || is_of_transaction(name)
}

/// Whether a name is one of those that temporary files have: `.rootbound-`, 16 hexadecimal digits, `.tmp`.
pub fn is_temporary(name: &OsStr) -> bool {
    between(name, TEMPORARY_SUFFIX).is_some_and(is_random)
}

/// Whether a name is one of those that entries have while a transaction goes on: `.rootbound-`, 16 hexadecimal digits,
/// `-`, a number, `.txn`.
fn is_of_transaction(name: &OsStr) -> bool {
    let parts = between(name, OF_TRANSACTION).and_then(|rest| rest.split_at_checked(16));
    parts.is_some_and(|(random, rest)| {
        let number = rest.strip_prefix(b"-").unwrap_or_default();
        is_random(random) && (1..=NUMBER_DIGITS).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
    })
}

fn between<'n>(name: &'n OsStr, suffix: &[u8]) -> Option<&'n [u8]> {
    name.as_encoded_bytes().strip_prefix(TEMPORARY_PREFIX)?.strip_suffix(suffix)
}

fn is_random(digits: &[u8]) -> bool {
    digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit)
}

pub fn transaction_name(id: u64, number: usize) -> OsString {
    OsString::from(format!(".rootbound-{id:016x}-{number}.txn"))
}

#[cfg(test)]
mod reserved_names_tests {
    use super::*;

    #[test]
    fn only_names_of_temporary_files_and_transactions_are_reserved() {
        let temporary = OsStr::new(".rootbound-0123456789abcdef.tmp");
        assert!(is_temporary(temporary) && is_reserved(temporary));
        let own = transaction_name(7, 999_999);
        assert!(is_reserved(&own) && !is_temporary(&own));
        for name in [
            "",
            ".rootbound-.tmp",
            ".rootbound-0123456789abcdef",
            ".rootbound-0123456789abcdeg.tmp",
            "x.tmp",
            ".rootbound-0123456789abcdef.txn",
            ".rootbound-0123456789abcdef-.txn",
            ".rootbound-0123456789abcdef-1234567.txn",
            ".rootbound-0123456789abcdef-1a.txn",
            ".rootbound-0123456789abcde-1.txn",
        ] {
            assert!(!is_reserved(OsStr::new(name)), "{name}");
        }
    }
}
