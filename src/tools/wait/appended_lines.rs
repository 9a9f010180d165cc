//! Cuts what is appended to a file into lines, piece by piece. Memory stays bounded however long a line is.

use std::ops::ControlFlow;

use super::decoded_line::{LineUnit, MAX_LINE, RawLine};

/// The state behind the bytes that were taken so far.
#[derive(Clone, Debug, Default)]
pub(super) struct AppendedLines {
    pub(super) lines: usize,
    /// The kept bytes of the line that is not complete.
    unfinished: Vec<u8>,
    pub(super) unfinished_bytes: u64,
}

impl AppendedLines {
    /// Takes the next bytes, whole units, and hands over each line that they complete. Returns how many bytes were taken:
    /// all, or those up to the line with which `each` broke off.
    pub(super) fn take(
        &mut self,
        unit: LineUnit,
        bytes: &[u8],
        each: &mut dyn FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        let mut from = 0;
        while let Some(end) = unit.find(&bytes[from..]).map(|end| from + end) {
            self.lines += 1;
            let number = self.lines;
            let flow = if self.unfinished_bytes == 0 {
                let line = &bytes[from..end];
                let kept = &line[..line.len().min(MAX_LINE)];
                each(RawLine { bytes: kept, is_cut: kept.len() < line.len(), number })
            } else {
                self.keep(&bytes[from..end]);
                let is_cut = self.unfinished_bytes > self.unfinished.len() as u64;
                let flow = each(RawLine { bytes: &self.unfinished, is_cut, number });
                self.unfinished.clear();
                self.unfinished_bytes = 0;
                flow
            };
            from = end + unit.width();
            if flow.is_break() {
                return (from, flow);
            }
        }
        self.keep(&bytes[from..]);
        (bytes.len(), ControlFlow::Continue(()))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.unfinished.len();
        self.unfinished.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.unfinished_bytes += bytes.len() as u64;
    }

    /// The line at the end that has no line break yet.
    pub(super) fn unfinished(&self) -> Option<RawLine<'_>> {
        let is_cut = self.unfinished_bytes > self.unfinished.len() as u64;
        (self.unfinished_bytes > 0).then(|| RawLine { bytes: &self.unfinished, is_cut, number: self.lines + 1 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, AppendedLines) {
        let (mut state, mut found) = (AppendedLines::default(), Vec::new());
        for piece in pieces {
            let taken = state.take(LineUnit::Byte, piece, &mut |line| {
                found.push(line.bytes.to_vec());
                ControlFlow::Continue(())
            });
            assert_eq!(taken.0, piece.len());
        }
        (found, state)
    }

    proptest! {
        #[test]
        fn pieces_have_the_lines_of_the_whole(text in "[ab\n]{0,40}", cut in 0_usize..40) {
            let cut = cut.min(text.len());
            let (whole, after) = lines(&[text.as_bytes()]);
            let (pieces, after_pieces) = lines(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
            prop_assert_eq!(&whole, &pieces);
            prop_assert_eq!(after.unfinished_bytes, after_pieces.unfinished_bytes);
            let expected: Vec<Vec<u8>> = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(|line| line.as_bytes().to_vec()).collect();
            prop_assert_eq!(whole, expected);
        }
    }

    #[test]
    fn line_of_megabytes_is_cut_and_counted() {
        let piece = vec![b'x'; MAX_LINE / 2 + 1];
        let (mut state, mut lengths) = (AppendedLines::default(), Vec::new());
        for piece in [&piece[..], &piece, &piece, b"y\nz"] {
            let _ = state.take(LineUnit::Byte, piece, &mut |line| {
                lengths.push((line.bytes.len(), line.is_cut));
                ControlFlow::Continue(())
            });
        }
        assert_eq!(lengths, [(MAX_LINE, true)]);
        assert_eq!((state.lines, state.unfinished_bytes), (1, 1));
    }
}
