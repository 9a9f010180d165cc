//! Small files and their diffs at random: what `git apply` makes of the old file, `apply_patch` makes.
//!
//! The files have up to eight lines out of a few, among them empty ones, LF, CR LF and both, a lone CR at the end, and in
//! every other one the last line is not ended. Skipped with a message if `git` is not installed. `PATCH_CASES` sets how
//! many of each kind there are, `PATCH_SEED` the seed.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use super::{apply, setup};
use crate::{harness::program::is_wine, harness::seeded_random::Random};

/// Cases of each kind.
const CASES: usize = 150;

struct Case {
    old: String,
    /// `None` where the file is deleted.
    new: Option<String>,
}

/// A line with its ending.
type Lines = Vec<(&'static str, &'static str)>;

fn lines(random: &mut Random) -> Lines {
    let endings: &[&str] = match random.below(8) {
        0 | 1 => &["\r\n"],
        2 => &["\n", "\r\n"],
        _ => &["\n"],
    };
    let count = random.below(9);
    (0..count).map(|_| (*random.pick(&["a", "b", "ab c", "", "", "x y"]), *random.pick(endings))).collect()
}

fn changed(random: &mut Random, lines: &Lines) -> Lines {
    let mut lines = lines.clone();
    for _ in 0..=random.below(3) {
        let at = *random.pick(&[0, lines.len(), lines.len() / 2]);
        let last = lines.len().saturating_sub(1);
        match (random.below(5), lines.get_mut(at.min(last))) {
            (0 | 1, Some(_)) => {
                lines.remove(at.min(last));
            }
            (2, Some(line)) => line.0 = *random.pick(&["q", "", "b"]),
            (3, Some(line)) => line.1 = if line.1 == "\n" { "\r\n" } else { "\n" },
            (_, near) => {
                let ending = near.map_or("\n", |line| line.1);
                lines.insert(at, (*random.pick(&["a", "", "new", "b"]), ending));
            }
        }
    }
    lines
}

fn text(random: &mut Random, lines: &Lines, is_open: bool) -> String {
    let mut text: String = lines.iter().flat_map(|(line, ending)| [*line, *ending]).collect();
    if is_open && text.pop().is_some() && text.ends_with('\r') && !random.one_in(4) {
        text.pop();
    }
    if !text.is_empty() && random.one_in(20) {
        text.push('\r');
    }
    text
}

fn cases(random: &mut Random, count: usize, is_open: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    while cases.len() < count {
        let before = lines(random);
        let after = changed(random, &before);
        let is_open_after = if random.one_in(4) { !is_open } else { is_open };
        let (old, new) = (text(random, &before, is_open), text(random, &after, is_open_after));
        let new = if random.one_in(16) { None } else { Some(new) };
        if new.as_ref() != Some(&old) && (new.is_some() || !old.is_empty()) {
            cases.push(Case { old, new });
        }
    }
    cases
}

fn git(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"])
        .args(arguments)
        .current_dir(directory)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn write(directory: &Path, name: &str, content: Option<&str>) {
    let path = directory.join(name);
    match content {
        Some(content) => fs::write(path, content).unwrap(),
        None => fs::remove_file(path).unwrap(),
    }
}

/// The section of each case in one diff by git, after it was seen that `git apply` makes the new files of the old ones.
fn sections(repository: &Path, cases: &[Case], context: &str) -> Vec<String> {
    git(repository, &["init", "-q"]);
    let name = |index: usize| format!("f{index}");
    for (index, case) in cases.iter().enumerate() {
        write(repository, &name(index), Some(&case.old));
    }
    git(repository, &["add", "-A"]);
    for (index, case) in cases.iter().enumerate() {
        write(repository, &name(index), case.new.as_deref());
    }
    let diff = git(repository, &["diff", "--text", "--no-renames", context]);
    for (index, case) in cases.iter().enumerate() {
        write(repository, &name(index), Some(&case.old));
    }
    write(repository, "all.diff", Some(std::str::from_utf8(&diff).unwrap()));
    git(repository, &["apply", "--whitespace=nowarn", "all.diff"]);
    for (index, case) in cases.iter().enumerate() {
        let by_git = fs::read_to_string(repository.join(name(index))).ok();
        assert_eq!(by_git, case.new, "git apply, {index}: {:?}", case.old);
    }
    let text = String::from_utf8(diff).unwrap();
    let of = |index: usize| {
        let start = text.find(&format!("diff --git a/f{index} b/f{index}\n")).expect("each case is in the diff");
        let section = &text[start..];
        section[1..].find("\ndiff --git ").map_or(section, |end| &section[..end + 2]).to_owned()
    };
    (0..cases.len()).map(of).collect()
}

#[test]
fn small_diffs_make_what_git_makes_of_them() {
    let is_there = Command::new("git").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there || is_wine() {
        assert!(env::var_os("CI").is_none() || is_wine(), "install git");
        return skipped();
    }
    let number = |name: &str| env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let count = number("PATCH_CASES").map_or(CASES, |count| usize::try_from(count).expect("a count"));
    let mut random = Random(number("PATCH_SEED").unwrap_or(7));
    let (mut wrong, mut refused, mut right) = (Vec::new(), Vec::new(), 0);
    for (context, is_open) in [("-U3", true), ("-U3", false), ("-U1", true)] {
        let h = setup().open();
        let cases = cases(&mut random, count, is_open);
        h.mkdir("git");
        for (index, (case, section)) in cases.iter().zip(sections(&h.path("git"), &cases, context)).enumerate() {
            let name = format!("f{index}");
            h.write(&name, &case.old);
            h.call("read", serde_json::json!({ "path": name })).ok();
            let answer = apply(&h, &section);
            let is_refused = answer.error_kind().is_some();
            let made = h.exists(&name).then(|| String::from_utf8(h.bytes(&name)).unwrap());
            let is_right = made == case.new && !answer.text().contains("not exactly");
            let described = format!("{:?} -> {made:?}\n{section}{}", case.old, answer.text());
            match (is_refused, is_right) {
                (true, _) => refused.push(described),
                (false, true) => right += 1,
                (false, false) => wrong.push(described),
            }
        }
    }
    let all = 3 * count;
    assert!(wrong.is_empty(), "{} wrong of {all}, such as {}", wrong.len(), wrong[0]);
    assert!(right * 100 >= all * 99, "{} refused of {all}, such as {}", refused.len(), refused[0]);
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped() {
    eprintln!("skipped: git is not installed, or does not see the paths of this program");
}
