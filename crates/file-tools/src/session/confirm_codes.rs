//! The part of confirmation codes that outlives a process: the key that signs them, and which ones were
//! used.
//!
//! `DeerFlow`'s embedded client starts a process for each call, so the refusal that carries a code and the call that
//! uses it are answered by two processes.

use std::{
    io,
    time::{Duration, SystemTime},
};

use change_set::StateDir;

pub const KEY_BYTES: usize = 32;
const CODE_FOLDER: &str = "confirm";
const KEY_FILE: &str = "key";
/// Bytes of one file of used codes that are read: some 20,000 codes.
const MAX_USED_BYTES: u64 = 1 << 20;
/// Used codes are kept in one file for each stretch of this many seconds in which they expire.
const STRETCH_SECONDS: u64 = 3600;

#[derive(Debug)]
pub struct ConfirmCodes {
    folder: StateDir,
}

impl ConfirmCodes {
    pub(super) fn of(state: &StateDir) -> io::Result<Self> {
        Ok(Self { folder: state.folder(CODE_FOLDER)? })
    }

    /// The key of all processes with this state folder; `fresh` becomes it where there is none.
    pub fn key(&self, fresh: [u8; KEY_BYTES]) -> io::Result<[u8; KEY_BYTES]> {
        let read = || {
            self.folder.read(KEY_FILE, KEY_BYTES as u64).ok().and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok())
        };
        if let Some(key) = read() {
            return Ok(key);
        }
        // Of two processes that find none, the second takes the key of the first.
        let _lock = self.folder.lock();
        if let Some(key) = read() {
            return Ok(key);
        }
        self.folder.replace(KEY_FILE, &fresh)?;
        // Read again and not taken as written: without a lock another process may have put its own key there.
        read().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Uses a code up: whether this call, which `nonce` identifies, is the first to do so.
    ///
    /// Each process appends a line in one write, and the first line of a code decides. No lock is needed that a stopped
    /// process might hold.
    pub fn use_up(&self, code: &str, expires: u64, nonce: u64) -> io::Result<bool> {
        let (stretch, mine) = (expires / STRETCH_SECONDS, format!("{nonce:016x}"));
        let file = format!("used-{stretch:08x}");
        self.folder.append_synced(&file, format!("{code} {mine}\n").as_bytes())?;
        let used = self.folder.read(&file, MAX_USED_BYTES)?;
        // The code may be in what was not read.
        if used.len() as u64 == MAX_USED_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.sweep();
        let used = String::from_utf8_lossy(&used);
        Ok(used.lines().find_map(|line| line.strip_prefix(code)?.strip_prefix(' ')) == Some(&mine))
    }

    fn sweep(&self) {
        let Some(old) = SystemTime::now().checked_sub(Duration::from_secs(3 * STRETCH_SECONDS)) else { return };
        for file in self.folder.files().unwrap_or_default() {
            if file.name.starts_with("used-") && file.modified < old {
                let _ = self.folder.discard(&file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn codes(folder: &tempfile::TempDir) -> ConfirmCodes {
        ConfirmCodes::of(&StateDir::open(folder.path()).expect("opens")).expect("a folder in it")
    }

    #[test]
    fn processes_share_the_first_key() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(codes(&folder).key([1; KEY_BYTES]).expect("a key"), [1; KEY_BYTES]);
        assert_eq!(codes(&folder).key([2; KEY_BYTES]).expect("a key"), [1; KEY_BYTES]);
        codes(&folder).folder.replace(KEY_FILE, b"short").expect("replaced");
        assert_eq!(codes(&folder).key([3; KEY_BYTES]).expect("a damaged key is replaced"), [3; KEY_BYTES]);
    }

    #[test]
    fn of_many_uses_of_a_code_one_is_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = |nonce| codes(&folder).use_up("abc", 7200, nonce).expect("recorded");
        let firsts = thread::scope(|scope| {
            let uses: Vec<_> = (0..16).map(|nonce| scope.spawn(move || first(nonce))).collect();
            uses.into_iter().map(|used| used.join().expect("no panic")).filter(|first| *first).count()
        });
        assert_eq!(firsts, 1);
        assert!(codes(&folder).use_up("abcd", 7200, 1).expect("recorded"), "another code");
    }
}
