//! What the system keeps of a file or directory besides its content: owner, group, mode, ACLs and attributes of users.

use std::{collections::BTreeMap, fmt, str::FromStr};

/// Owner, group, mode, ACLs and `user.*` attributes; nothing on Windows, where a directory gives them to what is in it.
///
/// Its text is `uid:gid:mode`, the mode in octal digits, and `:name=value` for each ACL and attribute, both in
/// hexadecimal digits.
///
/// # Examples
/// ```
/// let attributes: beneath::Attributes = "0:100:2750:757365722e61=01ff".parse().unwrap();
/// assert_eq!((attributes.gid, attributes.mode), (100, 0o2750));
/// assert_eq!(attributes.extended[&b"user.a"[..]], [1, 255]);
/// assert_eq!(attributes.to_string(), "0:100:2750:757365722e61=01ff");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The number of the user who owns it.
    pub uid: u32,
    /// The number of the group that owns it.
    pub gid: u32,
    /// Its lower twelve bits, of which a file gets nine and a directory all but set-user-ID.
    pub mode: u32,
    /// ACLs and `user.*` attributes, by name.
    pub extended: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Prefix of the names of attributes that are no rights.
pub(crate) const OF_USERS: &[u8] = b"user.";

impl Attributes {
    /// What an entry that is `now` gets when it becomes again one that had these: its own, where somebody has taken
    /// rights away since; else these, with the attributes that users have given it since.
    #[must_use]
    pub fn in_place_of(&self, now: &Self) -> Self {
        let rights = |of: &Self| -> Vec<(Vec<u8>, Vec<u8>)> {
            let acl = of.extended.iter().filter(|(name, _)| !name.starts_with(OF_USERS));
            acl.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let own = now.extended.iter().filter(|(name, _)| name.starts_with(OF_USERS));
        let mut extended = self.extended.clone();
        extended.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        let is_narrower = (self.uid, self.gid, self.mode & 0o7000, rights(self))
            == (now.uid, now.gid, now.mode & 0o7000, rights(now))
            && now.mode & !self.mode == 0;
        let mode = if is_narrower { now.mode } else { self.mode };
        Self { uid: self.uid, gid: self.gid, mode, extended }
    }
}

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{:o}", self.uid, self.gid, self.mode)?;
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        for (name, value) in &self.extended {
            f.write_str(":")?;
            hex(f, name)?;
            f.write_str("=")?;
            hex(f, value)?;
        }
        Ok(())
    }
}

/// A text that is not one of [`Attributes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are no attributes of a file")]
pub struct AttributesError;

impl FromStr for Attributes {
    type Err = AttributesError;

    fn from_str(text: &str) -> Result<Self, AttributesError> {
        let mut parts = text.split(':');
        let mut number = |radix| u32::from_str_radix(parts.next()?, radix).ok();
        let (Some(uid), Some(gid), Some(mode)) = (number(10), number(10), number(8)) else {
            return Err(AttributesError);
        };
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = |hex: &str| hex.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>();
        let extended = parts.map(|part| {
            let (name, value) = part.split_once('=')?;
            Some((bytes(name)?, bytes(value)?))
        });
        let extended = extended.collect::<Option<_>>().ok_or(AttributesError)?;
        Ok(Self { uid, gid, mode: mode & 0o7777, extended })
    }
}
