//! Reads a file, or its beginning, into a buffer that is used again.

use std::{
    cell::Cell,
    io::{self, Read},
};

use confined_fs::read_some;

/// Bytes up to which a file is read whole before it is searched.
pub(super) const SMALL: usize = 1 << 20;
/// Bytes of the buffer for the first of them.
const LEAST: usize = 64 << 10;
/// Bytes of a larger file by which it is decided whether it is one long line.
const SAMPLE: usize = 256 << 10;

/// Reads a file into `buffer`, up to a little more than [`SMALL`]: how many bytes there are, and
/// whether they are all.
pub(super) fn read_small(file: &mut impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<(usize, bool)> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // One byte more than the file has, so that a full read of it is a short one. No more: dozens of
    // searches at once hold two of these each.
    buffer.resize(buffer.len().clamp(size.clamp(LEAST, SMALL) + 1, SMALL + 1), 0);
    let mut length = 0;
    while length <= SMALL {
        if length == buffer.len() {
            // It has grown, or reports no size.
            buffer.resize(SMALL + 1, 0);
        }
        match read_some(file, &mut buffer[length..])? {
            0 => return Ok((length, true)),
            read => length += read,
        }
        // A read that stops short where the file ended when it was opened has met the end; asking
        // once more would be a fifth of what a small file costs. Files without a size are read on.
        if length == size && size > 0 && length < buffer.len() {
            return Ok((length, true));
        }
    }
    Ok((length, false))
}

/// Reads the beginning of a larger file into `buffer`, and all of it where no line ends there: how many
/// bytes there are, and whether they are all. One long line takes its size here; the searcher's own
/// buffer grows by doubling, and holds the old one meanwhile.
pub(super) fn read_long_line(file: &mut impl Read, size: u64, buffer: &mut Vec<u8>) -> io::Result<(usize, bool)> {
    buffer.resize(buffer.len().max(SAMPLE), 0);
    let (mut length, mut end) = (0, SAMPLE);
    loop {
        match read_some(file, &mut buffer[length..end])? {
            0 => return Ok((length, true)),
            read => length += read,
        }
        if length < end {
            continue;
        }
        // Full for the second time, it has grown.
        if end > SAMPLE || memchr::memchr(b'\n', &buffer[..length]).is_some() {
            return Ok((length, false));
        }
        end = usize::try_from(size).unwrap_or(usize::MAX).max(SAMPLE) + 1;
        buffer.reserve_exact(end.saturating_sub(buffer.len()));
        buffer.resize(end.max(buffer.len()), 0);
    }
}

/// Notes whether what is read is ASCII.
pub(super) struct AsciiProbe<'f, R> {
    pub(super) inner: R,
    pub(super) foreign: &'f Cell<bool>,
}

impl<R: Read> Read for AsciiProbe<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.foreign.set(self.foreign.get() || !buffer[..read].is_ascii());
        Ok(read)
    }
}

/// Leaves out NULs, and counts them: at the beginning or the end of a text they are no part of its lines.
pub(super) struct WithoutNuls<'n, R> {
    pub(super) inner: R,
    pub(super) nuls: &'n Cell<u64>,
}

impl<R: Read> Read for WithoutNuls<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.inner.read(buffer)?;
            let (mut kept, mut at) = (0, 0);
            while at < read {
                let run = buffer[at..read].iter().position(|byte| *byte != 0).unwrap_or(read - at);
                self.nuls.set(self.nuls.get() + run as u64);
                let start = at + run;
                at = memchr::memchr(0, &buffer[start..read]).map_or(read, |length| start + length);
                buffer.copy_within(start..at, kept);
                kept += at - start;
            }
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_file_gets_small_buffer_and_grown_file_is_read_to_its_end() {
        let small = vec![b'x'; 1000];
        let mut buffer = Vec::new();
        assert_eq!(read_small(&mut &small[..], 1000, &mut buffer).unwrap(), (1000, true));
        assert_eq!(buffer.len(), LEAST + 1);
        let grown: Vec<u8> = (0..=250).cycle().take(3 * LEAST).collect();
        for size in [0, 1000, LEAST as u64 + 1, grown.len() as u64] {
            assert_eq!(read_small(&mut &grown[..], size, &mut buffer).unwrap(), (grown.len(), true), "{size}");
            assert_eq!(buffer[..grown.len()], grown, "{size}");
        }
        let large = vec![b'x'; 2 * SMALL];
        assert_eq!(read_small(&mut &large[..], 1000, &mut buffer).unwrap(), (SMALL + 1, false));
    }

    #[test]
    fn single_long_line_is_read_whole_and_other_large_files_in_part() {
        let line = vec![b'x'; 5 * SAMPLE + 7];
        let size = line.len() as u64;
        let mut buffer = Vec::new();
        assert_eq!(read_long_line(&mut &line[..], size, &mut buffer).unwrap(), (line.len(), true));
        assert_eq!((buffer.len(), buffer.capacity()), (line.len() + 1, line.len() + 1));
        assert_eq!(&buffer[..line.len()], line);
        assert_eq!(read_long_line(&mut &line[..10], size, &mut buffer).unwrap(), (10, true), "cut meanwhile");
        assert_eq!(read_long_line(&mut &line[..], size - 9, &mut buffer).unwrap(), (line.len() - 8, false), "grown");
        let mut lines = line.clone();
        lines[SAMPLE - 1] = b'\n';
        assert_eq!(read_long_line(&mut &lines[..], size, &mut buffer).unwrap(), (SAMPLE, false));
    }
}
