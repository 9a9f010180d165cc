//! What binds a person's yes to the change that was shown: the signed state of a question, and the code by which a model
//! says that it has asked.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use change_set::{Approval, Base};
use confined_fs::{Revision, random_bytes};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use file_tools::{
    Fingerprint, Kind, ToolError,
    session::{ConfirmCodes, KEY_BYTES, Session},
};

use super::proposal::{Proposal, declined};

/// Bytes of the random number that makes each state unique.
const STATE_NONCE: usize = 16;

/// Signs the states that a client of 2026-07-28 carries from a question to its answer, and verifies each once: opaque; one
/// can neither be forged, nor changed, nor used for another call, nor used twice.
///
/// HMAC-SHA-256 by rmcp's codec, under a key that lives as long as the process. The state holds no content: only a number
/// used once and a digest of the change that was shown.
pub(super) struct Signer {
    codec: RequestStateCodec,
    /// The numbers of the states that were used, and when; forgotten after those have expired.
    used: Mutex<VecDeque<(Instant, [u8; STATE_NONCE])>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidProof {
    /// Forged, mistyped, or of another call; a state also of another process, expired or used before: the client does not
    /// learn which.
    Unverified,
    Expired,
    Used,
    OtherChange,
}

impl Signer {
    /// A signer with a new random key; `None` where the system gives no random bytes.
    pub(super) fn new() -> Option<Self> {
        let codec = RequestStateCodec::try_new(random_bytes::<{ RequestStateCodec::MIN_KEY_LENGTH }>()?).ok()?;
        Some(Self { codec, used: Mutex::default() })
    }

    /// The state of a question about `proposal` that may be answered for `limit`.
    pub(super) fn sign(&self, proposal: &Proposal, limit: Duration) -> Result<String, ToolError> {
        let nonce: [u8; STATE_NONCE] = random_bytes().ok_or_else(no_randomness)?;
        let state = [&nonce[..], &digest(&proposal.fingerprint)].concat();
        Ok(self.codec.seal_with(&state, &SealOptions::new().associated_data(&proposal.request).ttl(limit)))
    }

    /// Proves that the person was asked about exactly `proposal`, and uses the state up.
    pub(super) fn verify(&self, state: &str, proposal: &Proposal, limit: Duration) -> Result<(), InvalidProof> {
        let state = self.codec.open_with(state, &proposal.request).map_err(|error| {
            // The reason is for the log alone: it would tell a forger what to try next.
            tracing::warn!(%error, "an answer was not accepted");
            InvalidProof::Unverified
        })?;
        let (nonce, shown) = state.split_first_chunk::<STATE_NONCE>().ok_or(InvalidProof::Unverified)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        // A state that was used expires within `limit`; the rest is a margin for the clock that the codec reads.
        while used.front().is_some_and(|(at, _)| at.elapsed() > 2 * limit) {
            used.pop_front();
        }
        if used.iter().any(|(_, before)| before == nonce) {
            tracing::warn!("an answer was not accepted a second time");
            return Err(InvalidProof::Unverified);
        }
        // Also where the change is now another one: that yes was to what was shown, and holds for nothing else.
        used.push_back((Instant::now(), *nonce));
        if shown == digest(&proposal.fingerprint) { Ok(()) } else { Err(InvalidProof::OtherChange) }
    }
}

/// The system gave no random bytes to sign with.
pub(super) fn no_randomness() -> ToolError {
    ToolError::new(Kind::Internal, "the question to the user could not be signed; nothing was changed")
        .hint("tell the user that the system could not provide random bytes")
}

/// Printed paths hold no line breaks, so the lines are unambiguous.
pub(super) fn digest(fingerprint: &Fingerprint) -> [u8; 32] {
    let base = match fingerprint.base {
        Base::Absent => "absent".to_owned(),
        Base::Revision(revision) => revision.to_string(),
    };
    let content = fingerprint.content.map_or_else(|| "absent".to_owned(), |revision| revision.to_string());
    Sha256::digest(format!("{base}\n{content}\n{}", fingerprint.path)).into()
}

// The code by which a model says that it has asked the person, where its client cannot ask.
//
// A courtesy between cooperating sides: a model could repeat the call without asking anybody. The code proves only that
// the call is the one that was refused, and that its change is the one that was described.

pub(in crate::server) const CONFIRMATION_ARGUMENT: &str = "confirmation";
const CODE_LIFETIME: Duration = Duration::from_secs(600);
/// Hexadecimal digits of the parts of a code: when it expires, a random number, and what it is bound to.
const EXPIRY_DIGITS: usize = 8;
const NONCE_DIGITS: usize = 4;
const CALL_DIGITS: usize = 16;
const CHANGE_DIGITS: usize = 12;
const CODE_LENGTH: usize = EXPIRY_DIGITS + NONCE_DIGITS + CALL_DIGITS + CHANGE_DIGITS;
/// Characters of the summary that are in the refusal's sentence.
const MAX_SUMMARY: usize = 110;

pub(in crate::server) fn take(arguments: &mut Map<String, Value>) -> Option<String> {
    match arguments.remove(CONFIRMATION_ARGUMENT)? {
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
    let key: [u8; KEY_BYTES] = random_bytes().ok_or_else(no_randomness)?;
    let key = records.key(key).map_err(unusable_state)?;
    let codec = RequestStateCodec::try_new(key).map_err(|error| unusable_state(io::Error::other(error)))?;
    // The time of the clock: another process may get the code, and an `Instant` means nothing there.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match code {
        None => Err(refusal(proposal, &issue(&codec, proposal, now)?)),
        Some(code) => match verify(&codec, &records, proposal, code.trim(), now)? {
            Ok(()) => Ok(Approval::by_person()),
            Err(InvalidProof::OtherChange) => Err(ToolError::changed_while_asked(&proposal.fingerprint.path)
                .hint("the code is not valid any more: repeat the call without confirmation")),
            Err(why) => Err(invalid(why)),
        },
    }
}

fn issue(codec: &RequestStateCodec, proposal: &Proposal, now: Duration) -> Result<String, ToolError> {
    // Else two codes for one call in the same second were equal, and the second would count as used.
    let nonce: [u8; NONCE_DIGITS / 2] = random_bytes().ok_or_else(no_randomness)?;
    let head =
        format!("{:0EXPIRY_DIGITS$x}{:0NONCE_DIGITS$x}", (now + CODE_LIFETIME).as_secs(), u16::from_be_bytes(nonce));
    let call = mac(codec, head.as_bytes(), &proposal.request, CALL_DIGITS);
    // Under the tag of the call, so that no part of a code fits another code.
    let change = mac(codec, &digest(&proposal.fingerprint), call.as_bytes(), CHANGE_DIGITS);
    Ok(format!("{head}{call}{change}"))
}

/// Proves that `code` was issued for exactly `proposal`, and uses it up.
fn verify(
    codec: &RequestStateCodec,
    records: &ConfirmCodes,
    proposal: &Proposal,
    code: &str,
    now: Duration,
) -> Result<Result<(), InvalidProof>, ToolError> {
    // Before it is split by bytes: a model may send any text, and `split_at` panics within a character.
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !is_code {
        return Ok(Err(InvalidProof::Unverified));
    }
    let (head, rest) = code.split_at(EXPIRY_DIGITS + NONCE_DIGITS);
    let (call, change) = rest.split_at(CALL_DIGITS);
    // First whether it is a code of this call at all: only then it may be told why it is not valid.
    if call != mac(codec, head.as_bytes(), &proposal.request, CALL_DIGITS) {
        return Ok(Err(InvalidProof::Unverified));
    }
    let expires = u64::from_str_radix(&head[..EXPIRY_DIGITS], 16).unwrap_or(0);
    if now.as_secs() >= expires {
        return Ok(Err(InvalidProof::Expired));
    }
    if change != mac(codec, &digest(&proposal.fingerprint), call.as_bytes(), CHANGE_DIGITS) {
        return Ok(Err(InvalidProof::OtherChange));
    }
    // Last, so that failed attempts use nothing up.
    let nonce = u64::from_be_bytes(random_bytes().ok_or_else(no_randomness)?);
    match records.use_up(code, expires, nonce) {
        Ok(true) => Ok(Ok(())),
        Ok(false) => Ok(Err(InvalidProof::Used)),
        Err(error) => Err(unusable_state(error)),
    }
}

/// The first `digits` of a keyed hash: the tag that the codec gives the value, which is base64, as hexadecimal digits.
fn mac(codec: &RequestStateCodec, value: &[u8], bound_to: &[u8], digits: usize) -> String {
    let sealed = codec.seal_with(value, &SealOptions::new().associated_data(bound_to));
    let tag = sealed.rsplit('.').next().unwrap_or_default();
    Revision::of(&Sha256::digest(tag)).to_string()[..digits].to_owned()
}

/// The error that the model reads: the change, and what to do. The instruction is in the first 480 characters, after which
/// `DeerFlow` cuts an error.
fn refusal(proposal: &Proposal, code: &str) -> ToolError {
    let mut lines = proposal.message.lines().skip(1);
    let summary = text_file::shorten(lines.next().unwrap_or_default(), MAX_SUMMARY).into_owned();
    let rest: Vec<&str> = lines.collect();
    declined(format!("a person must agree to this change first ({summary})"))
        .hint(format!(
            "show the change to the person with your tool for asking them (such as ask_clarification); if they agree, \
             repeat this call with confirmation=\"{code}\" (valid once, for {} minutes); if not, do not repeat it",
            CODE_LIFETIME.as_secs() / 60
        ))
        .details(rest.join("\n").trim_start_matches('\n'))
}

fn invalid(why: InvalidProof) -> ToolError {
    let minutes = CODE_LIFETIME.as_secs() / 60;
    let reason = match why {
        InvalidProof::Expired => format!("the confirmation code is older than {minutes} minutes"),
        InvalidProof::Used => "the confirmation code was used before".to_owned(),
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
    use confined_fs::Revision;

    use super::*;

    const TEST_LIMIT: Duration = Duration::from_secs(60);

    fn proposal(request: u8, content: &[u8]) -> Proposal {
        let fingerprint =
            Fingerprint { path: "a.txt".to_owned(), base: Base::Absent, content: Some(Revision::of(content)) };
        Proposal { message: String::new(), fingerprint, request: [request; 32], not_asked_with: "never" }
    }

    fn signer() -> Signer {
        Signer::new().expect("random bytes")
    }

    #[test]
    fn state_is_accepted_once_for_its_own_change() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, TEST_LIMIT).expect("signed");
        assert_ne!(state, signer.sign(&shown, TEST_LIMIT).expect("signed"), "no two states are alike");
        assert_eq!(signer.verify(&state, &shown, TEST_LIMIT), Ok(()));
        assert_eq!(signer.verify(&state, &shown, TEST_LIMIT), Err(InvalidProof::Unverified));
    }

    #[test]
    fn state_of_another_call_or_process_is_refused() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, TEST_LIMIT).expect("signed");
        assert_eq!(signer.verify(&state, &proposal(2, b"x"), TEST_LIMIT), Err(InvalidProof::Unverified));
        assert_eq!(self::signer().verify(&state, &shown, TEST_LIMIT), Err(InvalidProof::Unverified));
        assert_eq!(signer.verify(&state, &shown, TEST_LIMIT), Ok(()), "failed attempts use nothing up");
    }

    #[test]
    fn state_of_another_content_or_base_is_of_another_change() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = || signer.sign(&shown, TEST_LIMIT).expect("signed");
        assert_eq!(signer.verify(&state(), &proposal(1, b"y"), TEST_LIMIT), Err(InvalidProof::OtherChange));
        let mut elsewhere = proposal(1, b"x");
        elsewhere.fingerprint.base = Base::Revision(Revision::of(b"old"));
        assert_eq!(signer.verify(&state(), &elsewhere, TEST_LIMIT), Err(InvalidProof::OtherChange));
        elsewhere = proposal(1, b"x");
        elsewhere.fingerprint.path.push('x');
        assert_eq!(signer.verify(&state(), &elsewhere, TEST_LIMIT), Err(InvalidProof::OtherChange));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, TEST_LIMIT).expect("signed");
        for at in 0..state.len() {
            let mut forged = state.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'Q' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert_eq!(signer.verify(&forged, &shown, TEST_LIMIT), Err(InvalidProof::Unverified), "at {at}");
        }
        for cut in ["", "rs1", "rs1..", &state[..state.len() - 1]] {
            assert_eq!(signer.verify(cut, &shown, TEST_LIMIT), Err(InvalidProof::Unverified), "{cut:?}");
        }
    }
}

#[cfg(test)]
mod code_tests {
    use change_set::{Base, StateDir};

    use file_tools::Fingerprint;

    use super::*;

    const TEST_NOW: Duration = Duration::from_secs(1_800_000_000);

    fn proposal(request: u8, content: &[u8]) -> Proposal {
        let fingerprint =
            Fingerprint { path: "a.txt".to_owned(), base: Base::Absent, content: Some(Revision::of(content)) };
        Proposal { message: String::new(), fingerprint, request: [request; 32], not_asked_with: "never" }
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
            Self { codec: RequestStateCodec::try_new([7; KEY_BYTES]).expect("long enough"), session, _folder: folder }
        }

        fn code(&self, proposal: &Proposal) -> String {
            issue(&self.codec, proposal, TEST_NOW).expect("issued")
        }

        fn verify(&self, proposal: &Proposal, code: &str, now: Duration) -> Result<(), InvalidProof> {
            let records = self.session.confirm_codes().expect("a state folder").expect("usable");
            verify(&self.codec, &records, proposal, code, now).expect("the state folder works")
        }
    }

    #[test]
    fn code_is_accepted_once_for_its_own_change() {
        let (fixture, shown) = (Fixture::new(), proposal(1, b"x"));
        let code = fixture.code(&shown);
        assert_eq!(code.len(), CODE_LENGTH);
        assert_eq!(fixture.verify(&proposal(2, b"x"), &code, TEST_NOW), Err(InvalidProof::Unverified));
        assert_eq!(fixture.verify(&proposal(1, b"y"), &code, TEST_NOW), Err(InvalidProof::OtherChange));
        assert_eq!(fixture.verify(&shown, &code, TEST_NOW + CODE_LIFETIME), Err(InvalidProof::Expired));
        assert_eq!(
            fixture.verify(&shown, &code, TEST_NOW + CODE_LIFETIME / 2),
            Ok(()),
            "failed attempts use nothing up"
        );
        assert_eq!(fixture.verify(&shown, &code, TEST_NOW), Err(InvalidProof::Used));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let (fixture, shown) = (Fixture::new(), proposal(1, b"x"));
        let code = fixture.code(&shown);
        for at in 0..code.len() {
            let mut forged = code.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert!(fixture.verify(&shown, &forged, TEST_NOW).is_err(), "at {at}");
        }
        for other in
            ["", &code[1..], &code[..CODE_LENGTH - 1], &code.to_uppercase(), &format!("{code}0"), &"é".repeat(20)]
        {
            assert_eq!(fixture.verify(&shown, other, TEST_NOW), Err(InvalidProof::Unverified), "{other:?}");
        }
        assert_eq!(fixture.verify(&shown, &code, TEST_NOW), Ok(()));
    }

    #[test]
    fn refusal_says_what_to_do_within_its_first_480_characters() {
        let message = format!("An agent asks:\nReplace {}: 5 bytes when done\n\n--- a\n+++ b\n+x\n", "p/".repeat(2000));
        let text = refusal(&Proposal { message, ..proposal(1, b"x") }, &"a".repeat(CODE_LENGTH)).text();
        let end = text.find("\n\n---").expect("a diff after the hint");
        assert!(text[..end].chars().count() <= 480, "{}", text[..end].chars().count());
        assert!(text[..end].ends_with("if not, do not repeat it"), "{text}");
    }
}
