//! The URI of a path: the only form in which URIs are printed.
//!
//! `file:///` and the printed path, percent-encoded: `file:///src/a.rs` below a single root without a name,
//! `file:///app/src/a.rs` below the root `app`, `file:///mnt/data/a.py` below `/mnt/data`. No host path: a URI goes to
//! the model and to people who share the conversation.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::{path::WorkspacePath, root::Root};
use text_file::escape::escape_name;

/// All but the characters of a path segment (RFC 3986, section 3.3). A URI parser keeps those as they are, so the URI
/// that a client sends back is, byte for byte, the one that it got.
const ENCODED_CHARS: &AsciiSet = &{
    let (mut set, plain, mut at) = (NON_ALPHANUMERIC.remove(b'-'), b"._~!$&'()*+,;=:@", 0);
    while at < plain.len() {
        set = set.remove(plain[at]);
        at += 1;
    }
    set
};

impl WorkspacePath {
    /// Its URI, which [`crate::Workspace::resolve_uri`] reads back.
    ///
    /// # Examples
    /// ```
    /// use confined_fs::{Access, WorkspaceOptions, PolicyRules, RootSpec, Workspace};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().to_owned();
    /// let root = RootSpec { name: Some("/mnt/app".into()), path, access: Access::ReadOnly, policy:
    /// PolicyRules::default(), optional: false }; let workspace = Workspace::open(&[root],
    /// WorkspaceOptions::default()).unwrap().workspace;
    ///
    /// let path = workspace.resolve("docs/Über uns.md").unwrap();
    /// assert_eq!(path.resource_uri(), "file:///mnt/app/docs/%C3%9Cber%20uns.md");
    /// assert_eq!(workspace.resolve_uri(&path.resource_uri()).unwrap(), path);
    /// ```
    pub fn resource_uri(&self) -> String {
        let mut uri = self.root().resource_uri();
        for name in self.relative() {
            if !uri.ends_with('/') {
                uri.push('/');
            }
            uri.extend(percent_encode(name.as_encoded_bytes(), ENCODED_CHARS));
        }
        uri
    }

    /// The value of `path` in the template of its root ([`Root::resource_template`]) that makes its URI: the path as it
    /// is, which people read and clients encode; encoded where it holds what cannot be shown.
    pub fn template_value(&self) -> String {
        let is_plain = |name| matches!(escape_name(name), Cow::Borrowed(_));
        match self.relative().to_str() {
            Some(text) if self.relative().iter().all(is_plain) => text.replace(std::path::MAIN_SEPARATOR, "/"),
            _ => {
                let names = self.relative().iter().map(|name| percent_encode(name.as_encoded_bytes(), ENCODED_CHARS));
                names.map(|name| name.to_string()).collect::<Vec<_>>().join("/")
            }
        }
    }
}

impl Root {
    pub fn resource_uri(&self) -> String {
        let mut uri = "file://".to_owned();
        let mount = self.name().unwrap_or_default();
        for name in mount.split('/').filter(|name| !name.is_empty()) {
            uri.push('/');
            uri.extend(percent_encode(name.as_bytes(), ENCODED_CHARS));
        }
        if mount.is_empty() {
            uri.push('/');
        }
        uri
    }

    /// The URI template (RFC 6570) of the paths below it.
    pub fn resource_template(&self) -> String {
        let uri = self.resource_uri();
        format!("{}/{{+path}}", uri.strip_suffix('/').unwrap_or(&uri))
    }
}
