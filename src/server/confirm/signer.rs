//! The state that a client of 2026-07-28 carries from a question to its answer: opaque; it can neither be forged, nor
//! changed, nor used for another call, nor used twice.
//!
//! HMAC-SHA-256 by rmcp's codec, under a key that lives as long as the process. The state holds no
//! content: only a number used once and a digest of the change that was shown.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use confined_fs::{Base, random_bytes};
use rmcp::model::{RequestStateCodec, SealOptions};
use sha2::{Digest, Sha256};

use crate::tools::{Fingerprint, Kind, ToolError};

use super::proposal::Proposal;

/// Bytes of the random number that makes each state unique.
const NONCE: usize = 16;

/// Signs states, and verifies each once.
pub(super) struct Signer {
    codec: RequestStateCodec,
    /// The numbers of the states that were used, and when; forgotten after those have expired.
    used: Mutex<VecDeque<(Instant, [u8; NONCE])>>,
}

/// Why a state is no proof of a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidToken {
    /// Forged, of another call or another process, expired or used before; the client does not learn which.
    Unverified,
    /// Genuine, but what the call would do now is not what was shown.
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
        let nonce: [u8; NONCE] = random_bytes().ok_or_else(no_randomness)?;
        let state = [&nonce[..], &digest(&proposal.fingerprint)].concat();
        Ok(self.codec.seal_with(&state, &SealOptions::new().associated_data(&proposal.request).ttl(limit)))
    }

    /// Proves that the person was asked about exactly `proposal`, and uses the state up.
    pub(super) fn verify(&self, state: &str, proposal: &Proposal, limit: Duration) -> Result<(), InvalidToken> {
        let state = self.codec.open_with(state, &proposal.request).map_err(|error| {
            tracing::warn!(%error, "an answer was not accepted");
            InvalidToken::Unverified
        })?;
        let (nonce, shown) = state.split_first_chunk::<NONCE>().ok_or(InvalidToken::Unverified)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while used.front().is_some_and(|(at, _)| at.elapsed() > 2 * limit) {
            used.pop_front();
        }
        if used.iter().any(|(_, before)| before == nonce) {
            tracing::warn!("an answer was not accepted a second time");
            return Err(InvalidToken::Unverified);
        }
        used.push_back((Instant::now(), *nonce));
        if shown == digest(&proposal.fingerprint) { Ok(()) } else { Err(InvalidToken::OtherChange) }
    }
}

/// The system gave no random bytes to sign with.
pub(super) fn no_randomness() -> ToolError {
    ToolError::new(Kind::Internal, "the question to the user could not be signed; nothing was changed")
        .hint("inform the user that the system gave no random bytes")
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

#[cfg(test)]
mod tests {
    use confined_fs::Revision;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn proposal(request: u8, content: &[u8]) -> Proposal {
        let fingerprint =
            Fingerprint { path: "a.txt".to_owned(), base: Base::Absent, content: Some(Revision::of(content)) };
        Proposal { message: String::new(), fingerprint, request: [request; 32], unasked_by: "never" }
    }

    fn signer() -> Signer {
        Signer::new().expect("random bytes")
    }

    #[test]
    fn state_is_accepted_once_for_its_own_change() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, LIMIT).expect("signed");
        assert_ne!(state, signer.sign(&shown, LIMIT).expect("signed"), "no two states are alike");
        assert_eq!(signer.verify(&state, &shown, LIMIT), Ok(()));
        assert_eq!(signer.verify(&state, &shown, LIMIT), Err(InvalidToken::Unverified));
    }

    #[test]
    fn state_of_another_call_or_process_is_refused() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, LIMIT).expect("signed");
        assert_eq!(signer.verify(&state, &proposal(2, b"x"), LIMIT), Err(InvalidToken::Unverified));
        assert_eq!(self::signer().verify(&state, &shown, LIMIT), Err(InvalidToken::Unverified));
        assert_eq!(signer.verify(&state, &shown, LIMIT), Ok(()), "failed attempts use nothing up");
    }

    #[test]
    fn state_of_another_content_or_base_is_of_another_change() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = || signer.sign(&shown, LIMIT).expect("signed");
        assert_eq!(signer.verify(&state(), &proposal(1, b"y"), LIMIT), Err(InvalidToken::OtherChange));
        let mut elsewhere = proposal(1, b"x");
        elsewhere.fingerprint.base = Base::Revision(Revision::of(b"old"));
        assert_eq!(signer.verify(&state(), &elsewhere, LIMIT), Err(InvalidToken::OtherChange));
        elsewhere = proposal(1, b"x");
        elsewhere.fingerprint.path.push('x');
        assert_eq!(signer.verify(&state(), &elsewhere, LIMIT), Err(InvalidToken::OtherChange));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let (signer, shown) = (signer(), proposal(1, b"x"));
        let state = signer.sign(&shown, LIMIT).expect("signed");
        for at in 0..state.len() {
            let mut forged = state.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'Q' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert_eq!(signer.verify(&forged, &shown, LIMIT), Err(InvalidToken::Unverified), "at {at}");
        }
        for cut in ["", "rs1", "rs1..", &state[..state.len() - 1]] {
            assert_eq!(signer.verify(cut, &shown, LIMIT), Err(InvalidToken::Unverified), "{cut:?}");
        }
    }
}
