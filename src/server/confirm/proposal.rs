//! Which changes a person is asked about, and what an answer is bound to.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::tools::{Change, Fingerprint};

use super::question;

/// Which changes a person is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// None: the configuration is the approval.
    #[default]
    Never,
    /// Those that replace or remove something that was there.
    Destructive,
    /// All.
    Writes,
}

/// Who asks the person where the client cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmThrough {
    /// Nobody: the change is refused.
    #[default]
    Client,
    /// The model, with a tool of its client. It repeats the call with the code of the refusal.
    Model,
}

/// The proposal of a call whose change is not planned yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Draft {
    mode: Confirm,
    /// SHA-256 of the tool's name, the arguments and the origin.
    request: [u8; 32],
}

/// A change that a person must see first.
#[derive(Debug)]
pub(in crate::server) struct Proposal {
    /// What the person reads.
    pub(super) message: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) request: [u8; 32],
    /// Values of `--confirm` that would not ask about it.
    pub(super) unasked_by: &'static str,
}

impl Draft {
    /// A draft for a call, where `mode` is not [`Confirm::Never`].
    ///
    /// `origin` is who calls, and where: an answer holds for that alone.
    pub(in crate::server) fn of(mode: Confirm, tool: &str, arguments: &Map<String, Value>, origin: &str) -> Self {
        let mut call = serde_json::json!([tool, arguments, origin]);
        // A client may send the members of an object in another order when it repeats the call.
        call.sort_all_objects();
        Self { mode, request: Sha256::digest(call.to_string()).into() }
    }

    /// What a person must be asked about `change`; `None` if nobody must be. Computes a diff, so it runs on a pool.
    pub(in crate::server) fn proposal(self, change: &dyn Change) -> Option<Proposal> {
        let preview = change.preview();
        if self.mode == Confirm::Destructive && !preview.destructive {
            return None;
        }
        let unasked_by = if preview.destructive { "never" } else { "destructive or never" };
        Some(Proposal {
            message: question::text(&preview),
            fingerprint: change.fingerprint(),
            request: self.request,
            unasked_by,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn request_digest_ignores_the_order_of_members_and_nothing_else() {
        let request = |tool: &str, arguments: Value| {
            Draft::of(Confirm::Writes, tool, arguments.as_object().expect("an object"), "").request
        };
        let one = request("write", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] }));
        assert_eq!(one, request("write", json!({ "edits": [{ "y": 2, "x": 1 }], "path": "a" })));
        assert_ne!(one, request("write", json!({ "path": "b", "edits": [{ "x": 1, "y": 2 }] })));
        assert_ne!(one, request("edit", json!({ "path": "a", "edits": [{ "x": 1, "y": 2 }] })));
    }
}
