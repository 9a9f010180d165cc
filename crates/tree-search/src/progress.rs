//! How far a search is, reported a few times a second; a reader that reports it and ends with the call.

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use confined_fs::stop::StopSignal;

/// Between two reports.
pub(super) const EVERY: Duration = Duration::from_millis(250);

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProgress {
    /// Of a tree: files searched.
    Files(usize),
    /// Of a file that was named.
    Bytes {
        /// Bytes read.
        done: u64,
        /// Bytes in the file; it may be growing.
        total: u64,
    },
}

/// What ends a search that should stop; the searcher passes it on.
pub(super) fn stopped_error() -> io::Error {
    io::Error::other("the search was stopped")
}

/// A reader that reports how much has passed, and ends with an error once the call should stop, so that a large
/// file without a match does not outlive its call.
pub(super) struct ProgressReader<'a, R> {
    inner: R,
    stop: &'a StopSignal,
    report: Option<&'a (dyn Fn(SearchProgress) + Sync)>,
    done: u64,
    total: u64,
    reported: Instant,
}

impl<'a, R> ProgressReader<'a, R> {
    /// Reports how far the reading of `inner`, which holds `total` bytes, is.
    pub(super) fn new(
        inner: R,
        total: u64,
        stop: &'a StopSignal,
        report: Option<&'a (dyn Fn(SearchProgress) + Sync)>,
    ) -> Self {
        Self { inner, stop, report, done: 0, total, reported: Instant::now() }
    }
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.stopped().is_some() {
            return Err(stopped_error());
        }
        let read = self.inner.read(buffer)?;
        if let Some(report) = self.report {
            self.done += read as u64;
            if self.reported.elapsed() >= EVERY {
                self.reported = Instant::now();
                report(SearchProgress::Bytes { done: self.done, total: self.total.max(self.done) });
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, thread::sleep};

    use super::*;

    #[test]
    fn progress_reader_reports_at_intervals_and_never_beyond_the_total() {
        let reports = Mutex::new(Vec::new());
        let report = |progress| reports.lock().unwrap().push(progress);
        let stop = StopSignal::after(Duration::from_secs(3600));
        let mut reader = ProgressReader::new(&[0; 30][..], 20, &stop, Some(&report));
        let mut buffer = [0; 10];
        assert_eq!(reader.read(&mut buffer).unwrap(), 10);
        for _ in 0..2 {
            sleep(EVERY);
            assert_eq!(reader.read(&mut buffer).unwrap(), 10);
        }
        let expected = [SearchProgress::Bytes { done: 20, total: 20 }, SearchProgress::Bytes { done: 30, total: 30 }];
        assert_eq!(*reports.lock().unwrap(), expected);
    }
}
