//! What `rootbound setup` did around an entry, so that `--remove` undoes exactly that. See `records` for where it is kept.

use std::fmt::Write as _;

use super::json_document::Added;

/// What was made for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// Whether there was no file.
    pub(super) file: bool,
    /// How many folders above it there were not.
    pub(super) folders: usize,
    /// What was added around the entry.
    pub(super) added: Added,
}

/// The file tools of the client that were turned off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolsOff {
    pub(super) names: Vec<String>,
    /// For the file that lists them.
    pub(super) made: Made,
}

/// All that is to be undone besides the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) made: Made,
    pub(super) tools: ToolsOff,
}

impl Marker {
    /// Reads [`Self::text`]; what it does not know is ignored.
    pub(super) fn of(text: &str) -> Self {
        let mut marker = Self::default();
        for word in text.split_ascii_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            // A person may have changed it.
            let number = value.parse().unwrap_or(0).min(64);
            let (name, made) = match name.strip_prefix("tools-") {
                Some(name) => (name, &mut marker.tools.made),
                None => (name, &mut marker.made),
            };
            match name {
                "file" => made.file = true,
                "folders" => made.folders = number,
                "containers" => made.added.containers = number,
                "padding" => made.added.padding = number,
                "document" => made.added.document = Some(number),
                "tools" => marker.tools.names = value.split(',').map(str::to_owned).collect(),
                _ => {}
            }
        }
        marker
    }

    /// Words such as `file folders=1 containers=1`.
    pub(super) fn text(&self) -> String {
        let mut words = self.made.words("");
        if !self.tools.names.is_empty() {
            let _ = write!(words, " tools={}", self.tools.names.join(","));
            words.push_str(&self.tools.made.words("tools-"));
        }
        words.trim_start().to_owned()
    }
}

impl Made {
    fn words(&self, prefix: &str) -> String {
        let mut words = String::new();
        if self.file {
            let _ = write!(words, " {prefix}file");
        }
        for (name, number) in
            [("folders", self.folders), ("containers", self.added.containers), ("padding", self.added.padding)]
        {
            if number > 0 {
                let _ = write!(words, " {prefix}{name}={number}");
            }
        }
        if let Some(number) = self.added.document {
            let _ = write!(words, " {prefix}document={number}");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_is_read_as_it_was_written() {
        let made = Made { file: true, folders: 2, added: Added { containers: 1, padding: 3, document: Some(0) } };
        let tools = ToolsOff { names: vec!["Read".into(), "Edit".into()], made: made.clone() };
        for marker in [Marker::default(), Marker { made: made.clone(), ..Marker::default() }, Marker { made, tools }] {
            assert_eq!(Marker::of(&marker.text()), marker);
        }
    }
}
