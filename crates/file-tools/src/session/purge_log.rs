//! The log of what was purged: a file of the state folder that grows with each purge, so that a server notices by its size.

use std::{
    io,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use change_set::StateDir;
use confined_fs::escape::name_of;

const LOG_FILE: &str = "purged";

/// The log, and how far this process has read it.
#[derive(Debug)]
pub struct PurgeLog {
    state: Option<StateDir>,
    read: AtomicU64,
}

impl PurgeLog {
    pub(super) fn new(state: Option<StateDir>) -> Self {
        let own = Self { state, read: AtomicU64::new(0) };
        own.read.store(own.end(), Ordering::Relaxed);
        own
    }

    pub(crate) fn state(&self) -> Option<&StateDir> {
        self.state.as_ref()
    }

    /// Where it ends now: one system call.
    pub fn end(&self) -> u64 {
        self.state.as_ref().and_then(|state| state.size(LOG_FILE).ok()).unwrap_or(0)
    }

    /// Where it ends now; `forget` is called first where that is news, which takes one system call to know.
    pub fn catch_up(&self, forget: impl FnOnce()) -> u64 {
        let end = self.end();
        if end != self.read.load(Ordering::Acquire) {
            forget();
            // Only now: a call that begins meanwhile must not go on with what is being forgotten.
            self.read.store(end, Ordering::Release);
        }
        end
    }

    /// The host paths that were purged since it ended at `start`; `None` is everything.
    pub(crate) fn since(&self, start: u64) -> Vec<Option<PathBuf>> {
        let bytes = self.state.as_ref().and_then(|state| state.read(LOG_FILE, u64::MAX).ok()).unwrap_or_default();
        let news = bytes.get(usize::try_from(start).unwrap_or(0)..).unwrap_or(&bytes);
        // A torn line is of a purge that has removed nothing.
        let read = |line: &[u8]| {
            let path: Option<Vec<u8>> = serde_json::from_slice(line).ok()?;
            Some(path.and_then(name_of).map(PathBuf::from))
        };
        news.split(|byte| *byte == b'\n').filter_map(read).collect()
    }

    /// Announces a purge, before anything is removed.
    pub(crate) fn write(&self, paths: &[Option<PathBuf>]) -> io::Result<()> {
        let mut lines = "\n".to_owned();
        for path in paths {
            // As bytes: a name need not be UTF-8.
            let bytes = path.as_ref().map(|path| path.as_os_str().as_encoded_bytes());
            lines += &(serde_json::to_string(&bytes)? + "\n");
        }
        self.state.as_ref().map_or(Ok(()), |state| state.append_synced(LOG_FILE, lines.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_by_who_has_read_up_to_there() {
        let temp = tempfile::tempdir().unwrap();
        let log = || PurgeLog::new(StateDir::open(temp.path()).ok());
        let (server, path) = (log(), PathBuf::from("/a \"b\"\nc"));
        log().write(&[Some(path.clone())]).unwrap();
        let mut is_news = false;
        let end = server.catch_up(|| is_news = true);
        assert_eq!((is_news, server.since(0)), (true, vec![Some(path)]));
        assert_eq!(server.catch_up(|| unreachable!()), end);
        server.state().unwrap().append(LOG_FILE, b"[1,2").unwrap();
        log().write(&[None]).unwrap();
        assert_eq!(server.since(end), [None]);
        assert_eq!(PurgeLog::new(None).catch_up(|| unreachable!()), 0);
    }
}
