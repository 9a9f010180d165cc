//! Calls that take too long: when work counts as stuck, and what the model reads then.

use std::time::Duration;

use confined_fs::stop::StopSignal;
use tokio::time;

use crate::tools::{Kind, ToolError};

/// How long work at its deadline may take to return what it has found.
pub(super) const WIND_UP: Duration = Duration::from_secs(2);

/// Returns when the work behind `stop` has not checked it for `limit`.
pub(super) async fn idle_for(limit: Duration, stop: &StopSignal) {
    let mut checks = stop.checks();
    loop {
        time::sleep(limit).await;
        let now = stop.checks();
        if now == checks {
            return;
        }
        checks = now;
    }
}

/// Waits until work should have returned after its deadline; whether it did not check `stop` meanwhile.
pub(super) async fn is_silent_after(deadline: time::Instant, stop: &StopSignal) -> bool {
    time::sleep_until(deadline + WIND_UP / 4).await;
    let checks = stop.checks();
    time::sleep_until(deadline + WIND_UP).await;
    stop.checks() == checks
}

/// No permit was free in time; `area_is_full` if calls in the same directory held them.
pub(super) fn no_permit(area_is_full: bool, limit: Duration) -> ToolError {
    if area_is_full {
        return stuck(format!(
            "the call waited {limit:.0?} for other calls in the same directory, which do not end, and was not started; \
             nothing was changed"
        ));
    }
    too_much(format!("the call waited {limit:.0?} for other calls to end and was not started; nothing was changed"))
}

/// Planning was given up; `is_silent` if its file system does not answer.
pub(super) fn abandoned(is_silent: bool, limit: Duration) -> ToolError {
    if is_silent {
        return stuck(format!(
            "the file system did not answer within {limit:.0?}, and the call was abandoned; nothing was changed"
        ));
    }
    too_much(format!("the call did not end within {limit:.0?} and was abandoned; nothing was changed"))
}

/// A change whose file system does not answer.
pub(super) fn stuck_commit(limit: Duration) -> ToolError {
    let message = format!(
        "the file system did not answer the change within {limit:.0?}; it may have been made, or may still be made"
    );
    ToolError::new(Kind::TimedOut, message)
        .hint("look at what is there before you send it again; inform the user that the file system hangs there")
}

/// The audit could not look at the paths of the call.
pub(super) fn undescribed(limit: Duration) -> ToolError {
    stuck(format!("the file system did not answer within {limit:.0?}, and the call was not started"))
}

fn stuck(message: String) -> ToolError {
    ToolError::new(Kind::TimedOut, message).hint(
        "work elsewhere, or ask for less; inform the user that the file system (a network or FUSE mount?) may hang \
         there",
    )
}

fn too_much(message: String) -> ToolError {
    ToolError::new(Kind::TimedOut, message)
        .hint("ask for less: a narrower path, a smaller range or a more exact pattern")
}
