//! A digest of the rules about content: what was kept of files under other rules is not used.

use std::path::Path;

use crate::{Revision, RevisionHasher};

use super::secrets::{PUBLIC, secrets};
use super::{Policy, Rule};

impl Policy {
    /// Another one for other rules about which content may be shown, those of another version of the program included.
    pub(crate) fn content_digest(&self) -> Revision {
        let mut digest = Texts(Revision::hasher());
        digest.list([env!("CARGO_PKG_VERSION"), if self.masks { "masks" } else { "denies" }]);
        let rule = |rule: Rule| format!("{rule:?}");
        digest.list(secrets().map(rule));
        digest.list(PUBLIC.iter().copied().map(rule));
        digest.list(self.deny.sources());
        digest.list(self.allow_secret.sources());
        digest.list(self.hide.sources());
        digest.list(self.startup.secrets.exact_paths().map(|path| Path::to_string_lossy(path)));
        for agent in &self.startup.agents {
            digest.list(agent.denied_patterns());
        }
        digest.0.finish()
    }
}

/// Hashes lists of texts so that no other lists have the same bytes.
struct Texts(RevisionHasher);

impl Texts {
    fn list<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) {
        for text in texts {
            self.0.update(&(text.as_ref().len() as u64).to_le_bytes());
            self.0.update(text.as_ref().as_bytes());
        }
        self.0.update(&u64::MAX.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::{PolicyRules, Secrets};

    use super::*;

    #[test]
    fn rules_about_content_change_the_digest_and_others_do_not() {
        let digest = |rules: &PolicyRules| Policy::new(rules).content_digest();
        let none = PolicyRules::default();
        let one = || vec!["a".to_owned()];
        for rules in [
            PolicyRules { deny: one(), ..none.clone() },
            PolicyRules { allow_secret: one(), ..none.clone() },
            PolicyRules { hide: one(), ..none.clone() },
            PolicyRules { secrets: Some(Secrets::Mask), ..none.clone() },
        ] {
            assert_ne!(digest(&rules), digest(&none), "{rules:?}");
            assert_eq!(digest(&rules), digest(&rules));
        }
        assert_eq!(digest(&PolicyRules { protect: one(), untrusted: true, ..none.clone() }), digest(&none));
    }
}
