//! The packets between server and broker: at most one is under way, and each is read whole or refused.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BrokeredProgram;

/// Bytes of the longest directory in a request: Linux's `PATH_MAX`.
pub(super) const LONGEST_PATH: usize = 4096;
/// Bytes of the longest request.
pub(super) const LONGEST_REQUEST: usize = 4 + LONGEST_PATH;
/// Bytes of the longest reply.
pub(super) const LONGEST_REPLY: usize = 256;

const START_CODE: u8 = 1;
const STOP_CODE: u8 = 2;

/// The programs that the broker may start, and where: sent to it once, before the server is confined.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProgramTable {
    pub(super) programs: Vec<BrokeredProgram>,
    pub(super) roots: Vec<OsString>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrokerRequest {
    /// Start a program of the table in a directory below a root of the table.
    Start {
        program: u8,
        root: u8,
        directory: PathBuf,
    },
    Stop {
        number: u8,
    },
}

impl BrokerRequest {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Start { program, root, directory } => {
                let mut packet = vec![START_CODE, *program, *root, 0];
                packet.extend_from_slice(directory.as_os_str().as_bytes());
                packet
            }
            Self::Stop { number } => vec![STOP_CODE, *number, 0, 0],
        }
    }

    /// The request of a packet; `None` for anything else, such as a path that is absolute or has `..` in it.
    pub(super) fn decode(packet: &[u8]) -> Option<Self> {
        let (head, path) = packet.split_first_chunk::<4>()?;
        match *head {
            [START_CODE, program, root, 0] if path.len() <= LONGEST_PATH && !path.contains(&0) => {
                let directory = Path::new(OsStr::from_bytes(path));
                let is_plain = directory.components().all(|part| matches!(part, Component::Normal(_)));
                is_plain.then(|| Self::Start { program, root, directory: directory.to_owned() })
            }
            [STOP_CODE, number, 0, 0] if path.is_empty() => Some(Self::Stop { number }),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BrokerReply {
    Done { number: u8 },
    Refused(String),
}

impl BrokerReply {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Done { number } => vec![0, *number],
            Self::Refused(why) => {
                let mut packet = vec![1];
                // One byte is taken. `decode` reads a character that is cut here as U+FFFD.
                packet.extend(why.bytes().take(LONGEST_REPLY - 1));
                packet
            }
        }
    }

    pub(super) fn decode(packet: &[u8]) -> Option<Self> {
        match packet {
            [0, number] => Some(Self::Done { number: *number }),
            [1, why @ ..] => Some(Self::Refused(String::from_utf8_lossy(why).into_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_that_may_leave_a_root_are_no_request() {
        for path in ["/etc", "..", "a/../..", "a/..", "./..", "a\0b", "//", "/"] {
            let packet = BrokerRequest::Start { program: 0, root: 0, directory: path.into() }.encode();
            assert_eq!(BrokerRequest::decode(&packet), None, "{path:?}");
        }
        let long = BrokerRequest::Start { program: 0, root: 0, directory: "x".repeat(LONGEST_PATH + 1).into() };
        assert_eq!(BrokerRequest::decode(&long.encode()), None);
    }

    proptest! {
        #[test]
        fn any_packet_is_a_plain_request_or_none(packet in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(request) = BrokerRequest::decode(&packet) {
                prop_assert_eq!(BrokerRequest::decode(&request.encode()), Some(request));
            }
            let _ = BrokerReply::decode(&packet);
        }

        #[test]
        fn request_survives_its_encoding(program: u8, root: u8, name in "[a-z.]{1,9}x(/[a-z]{1,9}){0,3}") {
            let request = BrokerRequest::Start { program, root, directory: name.into() };
            prop_assert_eq!(BrokerRequest::decode(&request.encode()), Some(request));
        }
    }
}
