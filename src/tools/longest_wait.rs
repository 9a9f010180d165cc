//! How long a call may wait at most.

use std::time::Duration;

/// The longest wait that the server's option and the client allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// The time.
    pub limit: Duration,
    /// Who sets it.
    pub by: WaitBound,
}

/// Who sets the longest wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitBound {
    /// The server.
    Server,
    /// The client, which ends each call after some time. With its name, if that is known.
    Client(Option<&'static str>, Duration),
}

impl Default for LongestWait {
    /// For a client that is not known: most are built on an SDK that ends a call after 60 s.
    fn default() -> Self {
        Self { limit: Duration::from_secs(50), by: WaitBound::Client(None, Duration::from_secs(60)) }
    }
}

impl LongestWait {
    /// The same, within a limit of the server's.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        if limit < self.limit { Self { limit, by: WaitBound::Server } } else { self }
    }

    /// Why it is no longer, as a clause.
    pub fn reason(&self) -> String {
        match self.by {
            WaitBound::Server => "the server's limit".to_owned(),
            WaitBound::Client(Some(name), after) => format!("{name} ends a call after {} s", after.as_secs()),
            WaitBound::Client(None, after) => format!("many clients end a call after {} s", after.as_secs()),
        }
    }
}
