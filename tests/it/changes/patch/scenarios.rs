//! The public scenarios of codex's `apply_patch` (`codex-rs/apply-patch/tests/fixtures/scenarios`), each with files and
//! words of our own: the same structure, and the same outcome except where the tool is stricter, which `docs/apply-patch.md`
//! lists with the reason.

use super::{Tree, apply, of, tree, with};

struct Scenario {
    /// As codex numbers and names it.
    name: &'static str,
    before: &'static [(&'static str, &'static str)],
    patch: &'static str,
    outcome: Outcome,
}

enum Outcome {
    /// These files are there then.
    Files(&'static [(&'static str, &'static str)]),
    /// The patch is refused with this, and the files are as before.
    Refused(&'static str, &'static str),
}

use Outcome::{Files, Refused};

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "001 add a file",
        before: &[],
        patch: "*** Begin Patch\n*** Add File: notes.md\n+The first note\n*** End Patch",
        outcome: Files(&[("notes.md", "The first note\n")]),
    },
    Scenario {
        name: "002 several operations",
        before: &[("edit.txt", "alpha\nbeta\n"), ("drop.txt", "old\n")],
        patch: "*** Begin Patch\n*** Add File: below/fresh.txt\n+made\n*** Delete File: drop.txt\n*** Update File: edit.txt\n@@\n-beta\n+gamma\n*** End Patch",
        outcome: Files(&[("below/fresh.txt", "made\n"), ("edit.txt", "alpha\ngamma\n")]),
    },
    Scenario {
        name: "003 several chunks",
        before: &[("list.txt", "a1\na2\na3\na4\n")],
        patch: "*** Begin Patch\n*** Update File: list.txt\n@@\n-a2\n+b2\n@@\n-a4\n+b4\n*** End Patch",
        outcome: Files(&[("list.txt", "a1\nb2\na3\nb4\n")]),
    },
    Scenario {
        name: "004 move to a new directory",
        before: &[("from/it.txt", "was here\n"), ("from/stays.txt", "stays\n")],
        patch: "*** Begin Patch\n*** Update File: from/it.txt\n*** Move to: to/deeper/it.txt\n@@\n-was here\n+is there\n*** End Patch",
        outcome: Files(&[("from/stays.txt", "stays\n"), ("to/deeper/it.txt", "is there\n")]),
    },
    Scenario {
        name: "005 an empty patch is rejected",
        before: &[("f.txt", "same\n")],
        patch: "*** Begin Patch\n*** End Patch",
        outcome: Refused("invalid_input", "the patch holds no file"),
    },
    Scenario {
        name: "006 missing context is rejected",
        before: &[("m.txt", "red\ngreen\n")],
        patch: "*** Begin Patch\n*** Update File: m.txt\n@@\n-violet\n+blue\n*** End Patch",
        outcome: Refused("no_match", "hunk 1"),
    },
    Scenario {
        name: "007 deletion of a missing file is rejected",
        before: &[("f.txt", "same\n")],
        patch: "*** Begin Patch\n*** Delete File: absent.txt\n*** End Patch",
        outcome: Refused("not_found", "absent.txt"),
    },
    Scenario {
        name: "008 an update without hunks is rejected",
        before: &[("f.txt", "same\n")],
        patch: "*** Begin Patch\n*** Update File: f.txt\n*** End Patch",
        outcome: Refused("invalid_input", "the section of f.txt has no hunk"),
    },
    Scenario {
        name: "009 an update needs an existing file",
        before: &[("f.txt", "same\n")],
        patch: "*** Begin Patch\n*** Update File: absent.txt\n@@\n-x\n+y\n*** End Patch",
        outcome: Refused("not_found", "absent.txt"),
    },
    // Stricter: nothing is replaced that the patch does not name.
    Scenario {
        name: "010 move to an existing file",
        before: &[("from/it.txt", "new\n"), ("to/it.txt", "precious\n")],
        patch: "*** Begin Patch\n*** Update File: from/it.txt\n*** Move to: to/it.txt\n@@\n-new\n+newer\n*** End Patch",
        outcome: Refused("invalid_input", "to/it.txt already exists"),
    },
    // Stricter, for the same reason.
    Scenario {
        name: "011 add an existing file",
        before: &[("twice.txt", "precious\n")],
        patch: "*** Begin Patch\n*** Add File: twice.txt\n+other\n*** End Patch",
        outcome: Refused("invalid_input", "twice.txt already exists"),
    },
    Scenario {
        name: "012 deletion of a directory is rejected",
        before: &[("folder/f.txt", "same\n")],
        patch: "*** Begin Patch\n*** Delete File: folder\n*** End Patch",
        outcome: Refused("invalid_input", "folder is a directory"),
    },
    Scenario {
        name: "013 an unknown header is rejected",
        before: &[("f.txt", "same\n")],
        patch: "*** Begin Patch\n*** Rewrite File: f.txt\n*** End Patch",
        outcome: Refused("invalid_input", "`*** Rewrite File: f.txt` is not the header of a section"),
    },
    // Stricter: codex ends the last line, which nobody asked for.
    Scenario {
        name: "014 a missing newline at the end",
        before: &[("open.txt", "not ended")],
        patch: "*** Begin Patch\n*** Update File: open.txt\n@@\n-not ended\n+two lines\n+not ended\n*** End Patch",
        outcome: Files(&[("open.txt", "two lines\nnot ended")]),
    },
    // Stricter: all or nothing.
    Scenario {
        name: "015 a failure after a success",
        before: &[],
        patch: "*** Begin Patch\n*** Add File: made.txt\n+half\n*** Update File: absent.txt\n@@\n-x\n+y\n*** End Patch",
        outcome: Refused("not_found", "absent.txt"),
    },
    Scenario {
        name: "016 a chunk that only adds",
        before: &[("in.txt", "top\nbottom\n")],
        patch: "*** Begin Patch\n*** Update File: in.txt\n@@\n+more\n+most\n*** End Patch",
        outcome: Files(&[("in.txt", "top\nbottom\nmore\nmost\n")]),
    },
    Scenario {
        name: "017 white space before a header",
        before: &[("f.txt", "was\n")],
        patch: "*** Begin Patch\n  *** Update File: f.txt\n@@\n-was\n+is\n*** End Patch",
        outcome: Files(&[("f.txt", "is\n")]),
    },
    Scenario {
        name: "018 white space around the markers",
        before: &[("f.txt", "was\n")],
        patch: " *** Begin Patch\n*** Update File: f.txt\n@@\n-was\n+is\n*** End Patch ",
        outcome: Files(&[("f.txt", "is\n")]),
    },
    Scenario {
        name: "019 text beyond ASCII",
        before: &[("f.txt", "eins\nÄpfel über Öl\n")],
        patch: "*** Begin Patch\n*** Update File: f.txt\n@@\n eins\n-Äpfel über Öl\n+Äpfel über Öl 🍏\n*** End Patch \n",
        outcome: Files(&[("f.txt", "eins\nÄpfel über Öl 🍏\n")]),
    },
    Scenario {
        name: "020 delete a file",
        before: &[("stays.txt", "stays\n"), ("obsolete.txt", "old\n")],
        patch: "*** Begin Patch\n*** Delete File: obsolete.txt\n*** End Patch",
        outcome: Files(&[("stays.txt", "stays\n")]),
    },
    Scenario {
        name: "020 white space around the lines of the markers",
        before: &[("f.txt", "was\n")],
        patch: "*** Begin Patch \n*** Update File: f.txt\n@@\n-was\n+is\n *** End Patch\n",
        outcome: Files(&[("f.txt", "is\n")]),
    },
    Scenario {
        name: "021 a chunk that only removes",
        before: &[("l.txt", "p\nq\nr\n")],
        patch: "*** Begin Patch\n*** Update File: l.txt\n@@\n p\n-q\n r\n*** End Patch",
        outcome: Files(&[("l.txt", "p\nr\n")]),
    },
    Scenario {
        name: "022 the mark of the end of the file",
        before: &[("t.txt", "head\ntail\n")],
        patch: "*** Begin Patch\n*** Update File: t.txt\n@@\n head\n-tail\n+longer tail\n*** End of File\n*** End Patch\n",
        outcome: Files(&[("t.txt", "head\nlonger tail\n")]),
    },
];

#[test]
fn scenarios_end_as_codex_ends_them_or_stricter() {
    for Scenario { name, before, patch, outcome } in SCENARIOS {
        let h = with(before);
        let answer = apply(&h, patch);
        let expected: Tree = match outcome {
            Files(after) => {
                answer.ok();
                of(after)
            }
            Refused(kind, words) => {
                let text = answer.fails(kind);
                assert!(text.contains(words), "{name}: {text}");
                of(before)
            }
        };
        assert_eq!(tree(&h), expected, "{name}");
    }
}

/// Where a chunk is found: codex takes the first place that matches, the tool one that cannot be another.
#[test]
fn chunks_of_equal_lines_need_a_place() {
    let before: &[(&str, &str)] = &[("f.txt", "x\ny\nx\n")];
    let h = with(before);
    apply(&h, "*** Begin Patch\n*** Update File: f.txt\n@@\n-x\n+z\n*** End Patch").fails("ambiguous");
    assert_eq!(tree(&h), of(before));
    apply(&h, "*** Begin Patch\n*** Update File: f.txt\n@@ y\n-x\n+z\n*** End Patch").ok();
    assert_eq!(tree(&h), of(&[("f.txt", "x\ny\nz\n")]));
}

/// Codex puts lines that are added below a header at the end of the file.
#[test]
fn lines_added_below_a_header_go_there() {
    let h = with(&[("f.txt", "head\nbody\n")]);
    apply(&h, "*** Begin Patch\n*** Update File: f.txt\n@@ head\n+below\n*** End Patch").ok();
    assert_eq!(tree(&h), of(&[("f.txt", "head\nbelow\nbody\n")]));
}
