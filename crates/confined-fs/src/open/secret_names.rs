//! The names in a secret file, all that `--secrets names` shows of one: no size, no revision, and nothing where it is more
//! than a list of names.

use structured_text::key_names::{MAX_BYTES, names};

use crate::{path::WorkspacePath, shared::Workspace};

#[derive(Clone, Debug)]
pub struct SecretNames {
    pub asked: WorkspacePath,
    pub real: WorkspacePath,
    pub names: Vec<String>,
}

impl Workspace {
    /// The names in the secret file at a path. `None` where policy shows none of them by one of the names of the file,
    /// where it is not a list of names from its first byte to its last, and where it cannot be read.
    pub fn secret_names(&self, asked: &WorkspacePath) -> Option<SecretNames> {
        let (file, before, way) = self.open_regular(asked).ok()?;
        let secret = way.names().filter(|name| name.secret());
        let mut formats = secret.map(|name| name.root().policy().names_format(name.relative()));
        let format = formats.next()?.filter(|format| formats.all(|other| other == Some(*format)))?;
        let bytes = beneath::read_regular(&file, MAX_BYTES as u64 + 1).ok()??;
        // What was read while it was written may be of no single state.
        beneath::file_stat(&file).ok().filter(|now| now.same_file_state(&before))?;
        let names = names(format, &bytes)?;
        Some(SecretNames { asked: asked.clone(), real: way.real.clone(), names })
    }
}
