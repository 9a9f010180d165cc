//! The code by which a model says that it has asked the person, where its client cannot ask.
//!
//! A courtesy between cooperating sides: a model could repeat the call without asking anybody. The code proves only that
//! the call is the one that was refused, and that its change is the one that was described.

use std::{
    io,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use confined_fs::{Approval, Revision, random_bytes};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    session::{ConfirmCodes, KEY, Session},
    tools::{Kind, ToolError},
};

use super::{
    consent::declined,
    proposal::Proposal,
    signer::{digest, no_randomness},
};

/// The argument that carries a code.
pub(in crate::server) const CONFIRMATION: &str = "confirmation";
/// How long a code is valid.
const VALID: Duration = Duration::from_secs(600);
/// Hexadecimal digits of the parts of a code: when it expires, a random number, and what it is bound to.
const EXPIRES: usize = 8;
const NONCE: usize = 4;
const CALL: usize = 16;
const CHANGE: usize = 12;
const LENGTH: usize = EXPIRES + NONCE + CALL + CHANGE;
/// Characters of the summary that are in the refusal's sentence.
const SUMMARY: usize = 110;

/// Why a code does not confirm a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InvalidCode {
    /// Forged, mistyped, or of another call.
    Unverified,
    Expired,
    Used,
    /// Genuine, but what the call would do now is not what was described.
    OtherChange,
}

/// Takes the code out of the arguments of a call.
pub(in crate::server) fn take(arguments: &mut Map<String, Value>) -> Option<String> {
    match arguments.remove(CONFIRMATION)? {
        Value::Null => None,
        Value::String(code) => Some(code),
        other => Some(other.to_string()),
    }
}

/// The approval if the call has a valid code, else the refusal with a new code. Reads and writes the state folder, so
/// it runs on a pool.
///
/// # Errors
/// `declined` with a new code where the call has none, and where its code is not valid; `stale` where the change is
/// another one now.
pub(in crate::server) fn approve(
    session: &Session,
    proposal: &Proposal,
    code: Option<&str>,
) -> Result<Approval, ToolError> {
    let records = session.confirm_codes().ok_or_else(no_state)?.map_err(unusable_state)?;
    let key: [u8; KEY] = random_bytes().ok_or_else(no_randomness)?;
    let key = records.key(key).map_err(unusable_state)?;
    let codec = RequestStateCodec::try_new(key).map_err(|error| unusable_state(io::Error::other(error)))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match code {
        None => Err(refusal(proposal, &issue(&codec, proposal, now)?)),
        Some(code) => match verify(&codec, &records, proposal, code.trim(), now)? {
            Ok(()) => Ok(Approval::by_person()),
            Err(InvalidCode::OtherChange) => Err(ToolError::changed_while_asked(&proposal.fingerprint.path)
                .hint("the code is not valid any more: repeat the call without confirmation")),
            Err(why) => Err(invalid(why)),
        },
    }
}

/// A new code for `proposal`.
fn issue(codec: &RequestStateCodec, proposal: &Proposal, now: Duration) -> Result<String, ToolError> {
    let nonce: [u8; NONCE / 2] = random_bytes().ok_or_else(no_randomness)?;
    let head = format!("{:0EXPIRES$x}{:0NONCE$x}", (now + VALID).as_secs(), u16::from_be_bytes(nonce));
    let call = mac(codec, head.as_bytes(), &proposal.request, CALL);
    let change = mac(codec, &digest(&proposal.fingerprint), call.as_bytes(), CHANGE);
    Ok(format!("{head}{call}{change}"))
}

/// Proves that `code` was issued for exactly `proposal`, and uses it up.
fn verify(
    codec: &RequestStateCodec,
    records: &ConfirmCodes,
    proposal: &Proposal,
    code: &str,
    now: Duration,
) -> Result<Result<(), InvalidCode>, ToolError> {
    let is_code = code.len() == LENGTH && code.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !is_code {
        return Ok(Err(InvalidCode::Unverified));
    }
    let (head, rest) = code.split_at(EXPIRES + NONCE);
    let (call, change) = rest.split_at(CALL);
    if call != mac(codec, head.as_bytes(), &proposal.request, CALL) {
        return Ok(Err(InvalidCode::Unverified));
    }
    let expires = u64::from_str_radix(&head[..EXPIRES], 16).unwrap_or(0);
    if now.as_secs() >= expires {
        return Ok(Err(InvalidCode::Expired));
    }
    if change != mac(codec, &digest(&proposal.fingerprint), call.as_bytes(), CHANGE) {
        return Ok(Err(InvalidCode::OtherChange));
    }
    let nonce = u64::from_be_bytes(random_bytes().ok_or_else(no_randomness)?);
    match records.use_up(code, expires, nonce) {
        Ok(true) => Ok(Ok(())),
        Ok(false) => Ok(Err(InvalidCode::Used)),
        Err(error) => Err(unusable_state(error)),
    }
}

/// The first `digits` of a keyed hash: the tag that the codec gives the value, which is base64, as hexadecimal digits.
fn mac(codec: &RequestStateCodec, value: &[u8], bound_to: &[u8], digits: usize) -> String {
    let sealed = codec.seal_with(value, &SealOptions::new().associated_data(bound_to));
    let tag = sealed.rsplit('.').next().unwrap_or_default();
    Revision::of(&Sha256::digest(tag)).to_string()[..digits].to_owned()
}

/// What the model reads: the change, and what to do. The instruction is in the first 480 characters, after which
/// `DeerFlow` cuts an error.
fn refusal(proposal: &Proposal, code: &str) -> ToolError {
    let mut lines = proposal.message.lines().skip(1);
    let summary = text_file::shorten(lines.next().unwrap_or_default(), SUMMARY).into_owned();
    let rest: Vec<&str> = lines.collect();
    declined(format!("a person must agree to this change first ({summary})"))
        .hint(format!(
            "show the change to the person with your tool for asking them (such as ask_clarification); if they agree, \
             repeat this call with confirmation=\"{code}\" (valid once, for {} minutes); if not, do not repeat it",
            VALID.as_secs() / 60
        ))
        .details(rest.join("\n").trim_start_matches('\n'))
}

fn invalid(why: InvalidCode) -> ToolError {
    let minutes = VALID.as_secs() / 60;
    let reason = match why {
        InvalidCode::Expired => format!("the confirmation code is older than {minutes} minutes"),
        InvalidCode::Used => "the confirmation code was used before".to_owned(),
        _ => "the confirmation code is not that of this call with these arguments".to_owned(),
    };
    declined(reason).hint("repeat the call without confirmation, and ask the person about the change that it describes")
}

fn no_state() -> ToolError {
    declined("a person must agree to this change, and without a state folder no confirmation can be kept")
        .hint("ask the user to start rootbound with --state-dir DIR, or with a client that supports elicitation")
}

fn unusable_state(error: io::Error) -> ToolError {
    ToolError::new(Kind::Internal, "the state folder cannot keep the confirmation; nothing was changed")
        .hint("inform the user that the state folder cannot be used")
        .source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Fingerprint;
    use confined_fs::{Base, StateDir};

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn proposal(request: u8, content: &[u8]) -> Proposal {
        let fingerprint =
            Fingerprint { path: "a.txt".to_owned(), base: Base::Absent, content: Some(Revision::of(content)) };
        Proposal { message: String::new(), fingerprint, request: [request; 32], unasked_by: "never" }
    }

    struct Fixture {
        codec: RequestStateCodec,
        session: Session,
        _folder: tempfile::TempDir,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let session = Session::new(Some(StateDir::open(folder.path()).expect("opens")));
            Self { codec: RequestStateCodec::try_new([7; KEY]).expect("long enough"), session, _folder: folder }
        }

        fn code(&self, proposal: &Proposal) -> String {
            issue(&self.codec, proposal, NOW).expect("issued")
        }

        fn verify(&self, proposal: &Proposal, code: &str, now: Duration) -> Result<(), InvalidCode> {
            let records = self.session.confirm_codes().expect("a state folder").expect("usable");
            verify(&self.codec, &records, proposal, code, now).expect("the state folder works")
        }
    }

    #[test]
    fn code_is_accepted_once_for_its_own_change() {
        let (fixture, shown) = (Fixture::new(), proposal(1, b"x"));
        let code = fixture.code(&shown);
        assert_eq!(code.len(), LENGTH);
        assert_eq!(fixture.verify(&proposal(2, b"x"), &code, NOW), Err(InvalidCode::Unverified));
        assert_eq!(fixture.verify(&proposal(1, b"y"), &code, NOW), Err(InvalidCode::OtherChange));
        assert_eq!(fixture.verify(&shown, &code, NOW + VALID), Err(InvalidCode::Expired));
        assert_eq!(fixture.verify(&shown, &code, NOW + VALID / 2), Ok(()), "failed attempts use nothing up");
        assert_eq!(fixture.verify(&shown, &code, NOW), Err(InvalidCode::Used));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let (fixture, shown) = (Fixture::new(), proposal(1, b"x"));
        let code = fixture.code(&shown);
        for at in 0..code.len() {
            let mut forged = code.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert!(fixture.verify(&shown, &forged, NOW).is_err(), "at {at}");
        }
        for other in ["", &code[1..], &code[..LENGTH - 1], &code.to_uppercase(), &format!("{code}0"), &"é".repeat(20)]
        {
            assert_eq!(fixture.verify(&shown, other, NOW), Err(InvalidCode::Unverified), "{other:?}");
        }
        assert_eq!(fixture.verify(&shown, &code, NOW), Ok(()));
    }

    #[test]
    fn refusal_says_what_to_do_within_its_first_480_characters() {
        let message = format!("An agent asks:\nReplace {}: 5 bytes when done\n\n--- a\n+++ b\n+x\n", "p/".repeat(2000));
        let text = refusal(&Proposal { message, ..proposal(1, b"x") }, &"a".repeat(LENGTH)).text();
        let end = text.find("\n\n---").expect("a diff after the hint");
        assert!(text[..end].chars().count() <= 480, "{}", text[..end].chars().count());
        assert!(text[..end].ends_with("if not, do not repeat it"), "{text}");
    }
}
