//! What a server says of files, now and before the changes that were not checked.

use std::collections::HashMap;

use crate::diagnostics::Diagnostic;

use super::State;

impl State {
    /// What it says of a file now.
    pub(crate) fn diagnostics(&self, uri: &str) -> Vec<Diagnostic> {
        let Some(file) = self.files.get(uri) else { return Vec::new() };
        let pulled = file.pulled.iter().filter(|one| !file.pushed.iter().any(|other| one.is_said_by(other)));
        pulled.chain(&file.pushed).cloned().collect()
    }

    /// A change is not checked: the next one is compared with what was known before it. What a check of saves says is
    /// about the disk, and so about this change already; where nothing was known before it, all of that is new.
    pub(crate) fn leave_unchecked(&mut self) {
        if self.unchecked.is_none() && (self.has_settled || self.checks_saves) {
            self.unchecked = Some(if self.has_settled { self.all() } else { HashMap::new() });
        }
    }

    /// What it says of a file, where a check of saves has not seen changes that were not checked.
    pub(crate) fn known(&self, uri: &str) -> Vec<Diagnostic> {
        let (Some(unchecked), true) = (&self.unchecked, self.checks_saves) else { return self.diagnostics(uri) };
        let pulled = self.files.get(uri).map_or(&[][..], |file| &file.pulled);
        pulled.iter().chain(unchecked.get(uri).into_iter().flatten()).cloned().collect()
    }

    /// What it says of all files.
    pub(crate) fn all(&self) -> HashMap<String, Vec<Diagnostic>> {
        self.files.keys().map(|uri| (uri.clone(), self.diagnostics(uri))).collect()
    }

    /// What it says of all other files.
    pub(crate) fn others(&self, uri: &str) -> HashMap<String, Vec<Diagnostic>> {
        let others = self.files.keys().filter(|other| *other != uri);
        others.map(|other| (other.clone(), self.diagnostics(other))).collect()
    }
}
