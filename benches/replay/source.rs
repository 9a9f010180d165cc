//! Real files to make edits in: what the machine has, in a stable order.

use std::{
    env, fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// Smaller files are too poor in text; larger ones only take longer.
const LINES: Range<usize> = 20..1500;

/// Of one folder's files no more than these are taken, so that no crate outweighs all others.
const PER_FOLDER: usize = 12;

/// A text file with LF endings.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) lines: Vec<String>,
    /// What starts a comment that ends with its line.
    pub(crate) comment: &'static str,
}

impl Source {
    fn read(path: &Path) -> Option<Self> {
        let comment = match path.extension()?.to_str()? {
            "rs" | "c" | "h" | "js" | "ts" | "go" => "//",
            "py" | "toml" | "sh" | "yml" | "yaml" | "pyi" => "#",
            "lua" | "sql" => "--",
            _ => return None,
        };
        let text = fs::read_to_string(path).ok()?.replace("\r\n", "\n");
        let is_plain = !text.contains(['\r', '\0', '\u{feff}', '\u{c}']);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (is_plain && LINES.contains(&lines.len()) && lines.iter().all(|line| line.len() < 400))
            .then_some(Self { lines, comment })
    }

    /// The indentation of one level around `block`: a tab where that has some, else the commonest small step between
    /// neighbouring lines indented by spaces.
    pub(crate) fn unit(&self, block: Range<usize>) -> String {
        let starts = |lines: &[String], with: char| lines.iter().filter(|line| line.starts_with(with)).count();
        let block = &self.lines[block];
        let has_spaces = block.iter().any(|line| line.starts_with("  "));
        if starts(block, '\t') > 0 || !has_spaces && starts(&self.lines, '\t') > starts(&self.lines, ' ') {
            return "\t".to_owned();
        }
        let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
        let filled: Vec<usize> = self.lines.iter().filter(|line| !line.trim().is_empty()).map(indent).collect();
        let steps = |wanted: usize| filled.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == wanted).count();
        " ".repeat([2, 3, 4, 8].into_iter().max_by_key(|step| steps(*step)).unwrap_or(4))
    }
}

/// Where cargo keeps the sources of dependencies.
pub(crate) fn registry() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))?;
    Some(home.join("registry/src"))
}

/// At most `most` files below `dir`.
pub(crate) fn collect(dir: &Path, most: usize) -> Vec<Source> {
    let mut found = Vec::new();
    collect_into(dir, most, &mut found);
    found
}

fn collect_into(dir: &Path, most: usize, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::path);
    let mut here = 0;
    for entry in entries {
        if found.len() >= most {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            collect_into(&entry.path(), most, found);
        } else if kind.is_file()
            && here < PER_FOLDER
            && let Some(source) = Source::read(&entry.path())
        {
            found.push(source);
            here += 1;
        }
    }
}
