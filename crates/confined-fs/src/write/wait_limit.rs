//! How long a change waits for other changes, and goes on while nothing of it can be seen.

use std::sync::Arc;

type Question = Arc<dyn Fn() -> bool + Send + Sync>;
type Notice = Arc<dyn Fn() + Send + Sync>;

/// What ends a wait or a preparation early. The default waits for ever.
#[derive(Clone, Default)]
pub struct WaitLimit {
    stopped: Option<Question>,
    waiting: Option<Notice>,
}

impl WaitLimit {
    /// Ends as soon as `stopped` says so; it is asked often. `waiting` is called each time before the
    /// change waits for another one, so that it gives back what others could use meanwhile.
    pub fn until(
        stopped: impl Fn() -> bool + Send + Sync + 'static,
        waiting: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self { stopped: Some(Arc::new(stopped)), waiting: Some(Arc::new(waiting)) }
    }

    /// Whether it has ended.
    pub(crate) fn ended(&self) -> bool {
        self.stopped.as_ref().is_some_and(|stopped| stopped())
    }

    pub(super) fn before_waiting(&self) {
        if let Some(waiting) = &self.waiting {
            waiting();
        }
    }
}
