//! The names of temporary entries, which no call may use.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};

const PREFIX: &[u8] = b".rootbound-";
const SUFFIX: &[u8] = b".tmp";

/// Whether a name is one of those that temporary files have: `.rootbound-`, 16 hexadecimal digits, `.tmp`.
pub(in crate::workspace) fn is_reserved(name: &OsStr) -> bool {
    let random = name.as_encoded_bytes().strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit))
}

/// Such a name, which nobody can guess.
pub(super) fn random_name() -> OsString {
    // RandomState is keyed by the system's random source.
    let random = RandomState::new().hash_one(0);
    OsString::from(format!(".rootbound-{random:016x}.tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_temporary_files_are_reserved() {
        assert!(is_reserved(&random_name()));
        assert_ne!(random_name(), random_name());
        for name in ["", ".rootbound-.tmp", ".rootbound-0123456789abcdef", ".rootbound-0123456789abcdeg.tmp", "x.tmp"] {
            assert!(!is_reserved(OsStr::new(name)), "{name}");
        }
    }
}
