//! How a file is indented as a whole.

use super::line_parts::parts;

/// How a file is indented as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileIndentation {
    /// Lines that start with a tab.
    pub(super) tabs: usize,
    /// Lines that start with a space. A single one, as in front of the stars of a comment, aligns and does not count.
    pub(super) spaces: usize,
    /// The commonest step between neighbouring lines indented by spaces, in columns.
    pub(super) step: Option<usize>,
}

impl FileIndentation {
    pub(super) fn of<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let (mut tabs, mut spaces) = (0, 0);
        let mut steps = [0_usize; 9];
        let mut before = None;
        for (indent, content, _) in lines.map(parts) {
            tabs += usize::from(indent.starts_with('\t'));
            spaces += usize::from(indent.starts_with(' ') && indent != " ");
            if content.is_empty() || indent.contains('\t') {
                continue;
            }
            let step = indent.len().abs_diff(before.unwrap_or(indent.len()));
            before = Some(indent.len());
            if let Some(count) = steps.get_mut(step) {
                *count += 1;
            }
        }
        let step = (1..steps.len()).max_by_key(|step| steps[*step]).filter(|step| steps[*step] > 0);
        Self { tabs, spaces, step }
    }
}
