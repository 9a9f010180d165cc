//! A block of a real file and a change that a person might make to it, each new line with the line it comes from.

use super::{random::Random, source::Source};

/// A line of the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewLine {
    /// The old line, counted within the block, that this one is a version of.
    pub(crate) from: Option<usize>,
    pub(crate) text: String,
}

/// What is to be changed in which file, undamaged.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The file before.
    pub(crate) lines: Vec<String>,
    /// First line of the block, counted from 0.
    pub(crate) start: usize,
    /// The block as it is.
    pub(crate) old: Vec<String>,
    /// The block as it should be; empty to delete it.
    pub(crate) new: Vec<NewLine>,
    /// What starts a comment.
    pub(crate) comment: &'static str,
    /// The indentation of one level.
    pub(crate) unit: String,
}

impl Change {
    /// A change of between `least` and `most` lines of `source`; `None` where the lines hit upon are no block that
    /// anybody would describe, or occur in the file a second time.
    pub(crate) fn of(source: &Source, least: usize, most: usize, random: &mut Random) -> Option<Self> {
        let count = least + random.below(most + 1 - least);
        let start = random.below(source.lines.len().checked_sub(count)?);
        Self::at(source, start, count, random)
    }

    /// A change of the `count` lines from `start` on, counted from 0.
    pub(crate) fn at(source: &Source, start: usize, count: usize, random: &mut Random) -> Option<Self> {
        let old = source.lines[start..start + count].to_vec();
        let change = Self {
            lines: source.lines.clone(),
            start,
            new: Vec::new(),
            old,
            comment: source.comment,
            unit: source.unit(start..start + count),
        };
        let letters = change.old.iter().flat_map(|line| line.chars()).filter(|one| one.is_alphanumeric()).count();
        if letters < 8 || !change.is_single() {
            return None;
        }
        let new = change.changed(random);
        let kept = |(index, line): (usize, &String)| {
            new.get(index).is_some_and(|new| new.from == Some(index) && new.text == *line)
        };
        let is_same = new.len() == change.old.len() && change.old.iter().enumerate().all(kept);
        (!is_same).then_some(Self { new, ..change })
    }

    /// Whether no other place of the file has the same letters, whatever is between them.
    pub(crate) fn is_single(&self) -> bool {
        let letters = |lines: &[String]| -> String {
            lines.iter().flat_map(|line| line.chars()).filter(|one| one.is_alphanumeric()).collect()
        };
        let wanted = letters(&self.old);
        let whole = letters(&self.lines);
        whole.match_indices(&wanted).count() == 1
    }

    /// The lines of the block after the change.
    pub(crate) fn new_lines(&self) -> Vec<String> {
        self.new.iter().map(|line| line.text.clone()).collect()
    }

    /// The whole file after the change.
    pub(crate) fn result(&self) -> Vec<NewLine> {
        let outside = |index: usize| NewLine { from: Some(index), text: self.lines[index].clone() };
        let inside = self
            .new
            .iter()
            .map(|line| NewLine { from: line.from.map(|from| self.start + from), text: line.text.clone() });
        let end = self.start + self.old.len();
        (0..self.start).map(outside).chain(inside).chain((end..self.lines.len()).map(outside)).collect()
    }

    /// The same change in a file whose lines are `edit`ed everywhere.
    pub(crate) fn map(&self, edit: impl Fn(&str) -> String) -> Self {
        let each = |lines: &[String]| lines.iter().map(|line| edit(line)).collect();
        let new = self.new.iter().map(|line| NewLine { from: line.from, text: edit(&line.text) }).collect();
        Self { lines: each(&self.lines), old: each(&self.old), new, ..self.clone() }
    }

    /// The same change with `line` put in before every `every`th line of the file, also in the block.
    pub(crate) fn with_lines(&self, every: usize, line: impl Fn(usize) -> String) -> Self {
        let mut all = Vec::new();
        let mut places = Vec::new();
        for (index, old) in self.lines.iter().enumerate() {
            if index % every == 0 || index == self.start + 1 && self.old.len() > 1 {
                let indent = indent(old);
                all.push(format!("{indent}{}", line(index)));
            }
            places.push(all.len());
            all.push(old.clone());
        }
        let start = places[self.start];
        let end = places[self.start + self.old.len() - 1] + 1;
        let block_place = |from: usize| places[self.start + from] - start;
        let mut new = Vec::new();
        let mut next = 0;
        for line in &self.new {
            if let Some(from) = line.from.map(block_place) {
                while next < from {
                    // Lines put in stay, those of the block that went do not.
                    if !places.contains(&(start + next)) {
                        new.push(NewLine { from: Some(next), text: all[start + next].clone() });
                    }
                    next += 1;
                }
                next = from + 1;
                new.push(NewLine { from: Some(from), text: line.text.clone() });
            } else {
                new.push(line.clone());
            }
        }
        let deletes = self.new.is_empty();
        for at in next..end - start {
            if !deletes && !places.contains(&(start + at)) {
                new.push(NewLine { from: Some(at), text: all[start + at].clone() });
            }
        }
        Self { old: all[start..end].to_vec(), lines: all, start, new, ..self.clone() }
    }

    fn changed(&self, random: &mut Random) -> Vec<NewLine> {
        let mut new: Vec<NewLine> = self
            .old
            .iter()
            .enumerate()
            .map(|(index, text)| NewLine { from: Some(index), text: text.clone() })
            .collect();
        let filled: Vec<usize> = (0..new.len()).filter(|index| !self.old[*index].trim().is_empty()).collect();
        let at = *random.pick(&filled);
        let indent = indent(&self.old[at]).to_owned();
        let fresh = |text: String| NewLine { from: None, text };
        match random.below(12) {
            0 => new.insert(at, fresh(format!("{indent}fresh_counter += 1"))),
            1 => new.insert(at + 1, fresh(format!("{indent}{} checked by the audit", self.comment))),
            2 if new.len() > 1 => {
                new.remove(at);
            }
            3 => {
                new[at].text = format!("{} {} reviewed", new[at].text.trim_end(), self.comment);
            }
            4 | 5 => self.rename(&mut new, random),
            6 => {
                let line = &new[at].text;
                let changed = [("==", "!="), ("if ", "if ready and "), (" < ", " <= "), ("true", "false"), ("0", "17")]
                    .iter()
                    .find(|(from, _)| line.contains(from))
                    .map_or_else(
                        || format!("{} {} so", line.trim_end(), self.comment),
                        |(from, to)| line.replacen(from, to, 1),
                    );
                new[at].text = changed;
            }
            7 => {
                let deeper = format!("{indent}{}", self.unit);
                let lines = [format!("{indent}if fresh {{"), format!("{deeper}call(value);"), format!("{indent}}}")];
                for (offset, line) in lines.into_iter().enumerate() {
                    new.insert(at + 1 + offset, fresh(line));
                }
            }
            8 => {
                for line in &mut new {
                    if !line.text.trim().is_empty() {
                        line.text = format!("{}{}", self.unit, line.text);
                    }
                }
                new.insert(0, fresh(format!("{indent}when ready:")));
            }
            9 => {
                let lines = [String::new(), format!("{indent}def added_function(first, second):")];
                new.extend(lines.into_iter().map(fresh));
            }
            10 if self.old.len() > 2 && random.one_in(3) => new.clear(),
            _ => {
                let last = new.len().min(at + 2);
                new.splice(at..last, [NewLine { from: Some(at), text: format!("{indent}replacement = compute(1)") }]);
            }
        }
        new
    }

    /// One name becomes another wherever the block has it.
    fn rename(&self, new: &mut [NewLine], random: &mut Random) {
        let names: Vec<&str> = self
            .old
            .iter()
            .flat_map(|line| line.split(|one: char| !one.is_alphanumeric() && one != '_'))
            .filter(|word| word.len() > 2 && word.starts_with(|one: char| one.is_ascii_alphabetic()))
            .collect();
        if names.is_empty() {
            return;
        }
        let name = *random.pick(&names);
        for line in new {
            line.text = line.text.replace(name, "renamed_thing");
        }
    }
}

/// The white space at the start of a line.
pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
