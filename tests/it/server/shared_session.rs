//! Several callers share one server, and with it one session: agents of one client. Or each has a server of its own on the
//! same folder.

mod lines;
mod names;
mod team;
mod undo;
mod unseen;

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    harness::seeded_random::Random,
    harness::{Harness, mcp_test, share},
};

/// Lines that nobody removes.
const FIXED: usize = 6;

fn fixed(n: usize) -> String {
    format!("line {n} of the file")
}

/// A caller, as a model would be: what it believes to be in the file, which marks it was ever shown or made, and of
/// which ones it knows that they are gone.
#[derive(Clone, Default)]
struct Caller {
    path: String,
    belief: Vec<String>,
    knows: BTreeSet<String>,
    gone: BTreeSet<String>,
}

impl Caller {
    fn read(&mut self, h: &Harness) {
        h.call("read", json!({ "path": self.path })).ok();
        self.belief = on_disk(h, &self.path);
        self.knows.extend(self.belief.iter().cloned());
        self.gone = self.knows.iter().filter(|mark| !self.belief.contains(mark)).cloned().collect();
    }

    /// Adds a mark to its belief, or removes one; the line before the new one is returned.
    fn change(&mut self, removes: bool, random: &mut Random, next: &mut usize) -> Result<(String, String), String> {
        let marks: Vec<usize> = (0..self.belief.len()).filter(|at| self.belief[*at].starts_with("mark_")).collect();
        if !marks.is_empty() && removes {
            let mark = self.belief.remove(*random.pick(&marks));
            self.gone.insert(mark.clone());
            return Err(mark);
        }
        *next += 1;
        let (mark, at) = (format!("mark_{next}_"), random.below(self.belief.len()));
        self.belief.insert(at + 1, mark.clone());
        self.knows.insert(mark.clone());
        Ok((self.belief[at].clone(), mark))
    }

    fn edit(&mut self, h: &Harness, random: &mut Random, next: &mut usize) {
        let before = self.clone();
        let (old, new) = match self.change(random.one_in(3), random, next) {
            Ok((line, mark)) => (format!("{line}\n"), format!("{line}\n{mark}\n")),
            Err(mark) => (format!("{mark}\n"), String::new()),
        };
        let answer = h.call("edit", json!({ "path": self.path, "old_string": old, "new_string": new }));
        if answer.error_kind().is_some() {
            *self = before;
            self.read(h);
        }
    }

    /// Returns how often the write was refused.
    fn write(&mut self, h: &Harness, random: &mut Random, next: &mut usize, known: &mut BTreeSet<String>) -> usize {
        let newest = *next;
        // A write that adds and removes may remove just what another change has replaced: that is taken as known.
        let removes = random.one_in(3);
        for _ in 0..=random.below(3) {
            let _ = self.change(removes, random, next);
        }
        let content = self.belief.join("\n") + "\n";
        let call = json!({ "path": self.path, "content": content });
        let before: BTreeSet<String> = on_disk(h, &self.path).into_iter().collect();
        let answer = h.call("write", call.clone());
        let refused = answer.error_kind().is_some();
        if !refused && known.contains(&content) {
            // The same call again, whoever sent it before: nothing in it says that it is another caller.
            return 0;
        }
        if refused {
            known.insert(content.clone());
        }
        if refused {
            let text = answer.fails("stale");
            assert!(text.contains("counts as read") && !text.contains("more line"), "{text}");
            for line in text.lines().filter(|line| line.get(1..).is_some_and(|line| line.starts_with("mark_"))) {
                self.knows.insert(line[1..].to_owned());
                if let Some(mark) = line.strip_prefix('-') {
                    self.gone.insert(mark.to_owned());
                }
            }
            if random.one_in(2) {
                self.read(h);
                return 1;
            }
            h.call("write", call).ok();
        }
        let after: BTreeSet<String> = self.belief.iter().cloned().collect();
        let lost = before.difference(&after).find(|mark| !self.knows.contains(*mark));
        assert!(lost.is_none(), "{lost:?} was lost by a caller that did not know it\n{content}");
        let is_new =
            |mark: &str| mark.split('_').nth(1).is_some_and(|number| number.parse::<usize>().unwrap() > newest);
        let back = after.difference(&before).find(|mark| !is_new(mark) && !self.gone.contains(*mark));
        assert!(back.is_none(), "{back:?} came back by a caller that did not know that it was gone\n{content}");
        usize::from(refused)
    }
}

fn on_disk(h: &Harness, path: &str) -> Vec<String> {
    String::from_utf8(h.bytes(path)).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn no_change_is_lost_that_the_losers_content_did_not_know() {
    let (mut refused, mut written) = (0, 0);
    let h = Harness::new();
    for seed in 0..u64::from(share(400)) {
        let path = format!("f{seed}");
        h.write(&path, (0..FIXED).map(fixed).collect::<Vec<_>>().join("\n") + "\n");
        let mut random = Random(seed);
        let caller = Caller { path, ..Caller::default() };
        let mut callers = [caller.clone(), caller];
        for caller in &mut callers {
            caller.read(&h);
        }
        let (mut next, mut known) = (0, BTreeSet::new());
        for _ in 0..12 {
            let caller = &mut callers[random.below(2)];
            match random.below(5) {
                0 => caller.read(&h),
                1 | 2 => caller.edit(&h, &mut random, &mut next),
                _ => {
                    written += 1;
                    refused += caller.write(&h, &mut random, &mut next, &mut known);
                }
            }
        }
    }
    assert!(refused * 5 > written && refused < written, "{refused} of {written} refused");
}

mcp_test!(a_write_over_the_change_of_another_caller_is_refused_once, |h| {
    let lines = |name: &str, most: usize| {
        let all: Vec<String> = (0..most).map(|n| format!("let {name}_{n} = {n};")).collect();
        all.join("\n") + "\n"
    };
    let long = lines("value", 100);
    h.write("f", &long);
    h.call("read", json!({ "path": "f" })).ok();
    h.call("read", json!({ "path": "f" })).ok();
    let more = lines("other", 90);
    h.call("edit", json!({ "path": "f", "old_string": "let value_7 = 7;\n", "new_string": more })).ok();
    h.call("read", json!({ "path": "f" })).ok();
    let call = json!({ "path": "f", "content": format!("{long}// the end\n") });
    let text = h.call("write", call.clone()).fails("stale");
    assert!(text.contains("+let other_0 = 0;") && text.contains("+let other_89 = 89;"), "{text}");
    assert!(text.contains("-let value_7 = 7;") && text.contains("counts as read"), "{text}");
    h.call("write", call).ok();
    assert_eq!(on_disk(&h, "f").len(), 101);
});

mcp_test!(content_that_knows_the_change_is_written, |h| {
    h.write("f", "one\ntwo\nthree\nfour\n");
    h.call("read", json!({ "path": "f" })).ok();
    h.call("read", json!({ "path": "f" })).ok();
    h.call("edit", json!({ "path": "f", "old_string": "two", "new_string": "  two" })).ok();
    let text = h.call("write", json!({ "path": "f", "content": "one\ntwo\nthree\nfour\nfive\n" })).fails("stale");
    assert!(text.contains("unchanged but for white space"), "{text}");
    h.call("write", json!({ "path": "f", "content": "one\n  two\nthree\nfour\nfive\n" })).ok();
    h.call("write", json!({ "path": "f", "content": "another text altogether\n" })).ok();
});

mcp_test!(a_caller_alone_writes_again_and_again, |h| {
    h.write("f", "head\nx = 1\nfoot\n");
    h.call("read", json!({ "path": "f" })).ok();
    for n in 2..9 {
        h.call("write", json!({ "path": "f", "content": format!("head\nx = {n}\nfoot\n") })).ok();
        if n % 2 == 0 {
            h.call("read", json!({ "path": "f" })).ok();
        }
    }
    h.call("edit", json!({ "path": "f", "old_string": "head", "new_string": "head\nnew = 1" })).ok();
    h.call("write", json!({ "path": "f", "content": "head\nnew = 1\nx = 9\nfoot\nmore\n" })).ok();
    h.call("write", json!({ "path": "f", "content": "a new start\n" })).ok();
    h.call("write", json!({ "path": "f", "content": "", "expected_revision": null })).ok();
});

#[test]
fn a_process_for_each_call_refuses_a_write_over_an_unknown_change_once() {
    let h = crate::harness::Setup { state: true, ..Default::default() }.open();
    h.write("f", "one\ntwo\nthree\n");
    h.call("read", json!({ "path": "f" })).ok();
    h.restart();
    h.call("edit", json!({ "path": "f", "old_string": "two", "new_string": "two\nby b" })).ok();
    let call = json!({ "path": "f", "content": "one\ntwo\nthree\nby a\n" });
    h.restart();
    assert!(h.call("write", call.clone()).fails("stale").contains("+by b"));
    h.restart();
    h.call("write", call).ok();
}
