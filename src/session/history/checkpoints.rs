//! Named states: which change of this session was the first after each.

use std::{fmt, str::FromStr};

/// Checkpoints remembered; the oldest goes first.
const REMEMBERED: usize = 200;
/// Characters of the longest name.
const LONGEST: usize = 64;
/// What `undo` takes for something else.
const RESERVED: &[&str] = &["session", "redo"];

/// The name of a checkpoint: a short line of visible characters.
///
/// # Examples
/// ```
/// use rootbound::session::history::CheckpointName;
///
/// assert_eq!(" before the rename ".parse::<CheckpointName>().unwrap().as_str(), "before the rename");
/// assert!("session".parse::<CheckpointName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointName(String);

impl CheckpointName {
    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CheckpointName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if name.is_empty() {
            return Err("the name of a checkpoint is empty".to_owned());
        }
        if name.chars().count() > LONGEST {
            return Err(format!("the name of a checkpoint has more than {LONGEST} characters"));
        }
        if name.chars().any(char::is_control) || text_file::hidden::in_line(name).next().is_some() {
            return Err(format!("the name of a checkpoint holds characters that are not visible: {name:?}"));
        }
        if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            return Err(format!("{name:?} cannot be the name of a checkpoint: undo takes it for something else"));
        }
        Ok(Self(name.to_owned()))
    }
}

/// The checkpoints of this session, the newest last.
#[derive(Debug, Default)]
pub(super) struct Checkpoints(Vec<(CheckpointName, u64)>);

impl Checkpoints {
    /// The state just before the change with the number `first` has this name from now on. Whether it was that of
    /// another state.
    pub(super) fn set(&mut self, name: CheckpointName, first: u64) -> bool {
        let before = self.0.len();
        self.0.retain(|(other, _)| *other != name);
        let is_moved = self.0.len() < before;
        self.0.push((name, first));
        if self.0.len() > REMEMBERED {
            self.0.remove(0);
        }
        is_moved
    }

    /// The first change after it.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(other, _)| other.as_str() == name).map(|(_, first)| *first)
    }

    /// The names, the newest first.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().rev().map(|(name, _)| name.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_person_could_not_read_or_type_are_refused() {
        let long = "x".repeat(LONGEST + 1);
        for name in ["", "  ", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "session", "Session", "redo", &long] {
            assert!(name.parse::<CheckpointName>().is_err(), "{name:?}");
        }
        for name in ["a", "../../etc/passwd", "before änderung", &long[1..]] {
            assert_eq!(name.parse::<CheckpointName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn same_name_again_moves_the_checkpoint() {
        let mut checkpoints = Checkpoints::default();
        assert!(!checkpoints.set("a".parse().unwrap(), 3));
        assert!(!checkpoints.set("b".parse().unwrap(), 4));
        assert!(checkpoints.set("a".parse().unwrap(), 9));
        assert_eq!((checkpoints.get("a"), checkpoints.get("c")), (Some(9), None));
        assert_eq!(checkpoints.names(), ["a", "b"]);
    }
}
