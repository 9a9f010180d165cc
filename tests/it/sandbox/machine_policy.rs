//! The policy of the machine, in a mount namespace with an `/etc` of its own: what no option of a person takes back.
//!
//! A separate user namespace makes the person root there, where this process may not mount; without either the tests are
//! skipped with a message, and fail where they should have run.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

use crate::harness::{
    process::may_mount,
    program::{Outcome, program},
};

const BAD_CONFIGURATION: i32 = 2;

fn namespace() -> Command {
    let mut command = Command::new("unshare");
    command.args(if may_mount() { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
    command
}

/// The folder with the directories of a test; `None` where no namespace can be made.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn folder() -> Option<TempDir> {
    if !namespace().arg("true").status().is_ok_and(|end| end.success()) {
        assert!(!may_mount() || std::env::var_os("CI").is_none(), "this process may mount, but `unshare` fails");
        eprintln!("SKIPPED: no mount namespaces for this user");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("app/hr/pay.txt", "SALARY\n"),
        ("app/main.rs", "fn main() {}\n"),
        ("app/plan.sql", "SELECT 1;\n"),
        ("app/.env", "KEY=VALUE1\n"),
        ("other/hr/deep/pay.txt", "SALARY\n"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Some(dir)
}

/// The program with `arguments` where `/etc` has nothing but the policy `text`, after the shell `script` has run there.
fn run(dir: &TempDir, text: &str, script: &str, arguments: &[&str]) -> Outcome {
    let script = format!(
        "set -e\nmount -t tmpfs -o mode=755 none /etc\nmkdir /etc/rootbound\n\
         printf %s \"$POLICY\" >/etc/rootbound/policy.toml\n{script}\nexec \"$@\""
    );
    let mut command = namespace();
    let own = program(dir.path());
    command.args(["sh", "-c", &script, "sh"]).arg(own.get_program()).args(arguments);
    Outcome::of(
        command.current_dir(dir.path()).env("POLICY", text).env("HOME", dir.path()).env_remove("ROOTBOUND_CONFIG"),
    )
}

fn call(dir: &TempDir, text: &str, options: &[&str], call: &[&str]) -> Outcome {
    run(dir, text, "", &[&["--state-dir", "off"], options, &["call"], call].concat())
}

#[test]
fn no_option_takes_back_what_the_policy_denies() {
    let Some(dir) = folder() else { return };
    let absolute = format!("deny = ['{}/*/hr']", dir.path().display());
    let everything =
        ["--allow-secret", "**", "--allow-protected", "**", "--agent-rules", "off", "--read-before-write", "off"];
    for policy in
        ["deny = ['hr']", "deny = ['HR/']", "deny = ['hr/**/pay.*']", "deny = ['hr/pay.txt', 'hr/deep']", &absolute]
    {
        for (root, path) in [
            ("app", "hr/pay.txt"),
            ("a=app", "a/hr/pay.txt"),
            ("app/hr", "pay.txt"),
            ("other/hr/deep", "pay.txt"),
            (".", "app/hr/pay.txt"),
            (".", "other/hr/deep/pay.txt"),
        ] {
            let options = [&["--root", root], &everything[..]].concat();
            for asked in [&["read"][..], &["edit", "old_string=SALARY", "new_string=x"]] {
                let given = format!("path={path}");
                let outcome = call(&dir, policy, &options, &[&asked[..1], &[given.as_str()], &asked[1..]].concat());
                assert_ne!(outcome.code, Some(0), "{policy} {root}: {}", outcome.stdout);
                let text = outcome.stdout + &outcome.stderr;
                assert!(text.contains("denied") && !text.contains("SALARY"), "{policy} {root}: {text}");
            }
            let found = call(&dir, policy, &options, &["grep", "pattern=SALARY", "no_ignore=true"]);
            assert!(!found.stdout.contains("pay.txt:"), "{policy} {root}: {}", found.stdout);
        }
        // A way in through a link, and through the rules of one root.
        assert!(call(&dir, policy, &["app"], &["read", "path=main.rs"]).succeeded().contains("fn main"));
    }
    fs::write(dir.path().join("r.toml"), "[[root]]\npath = 'app'\nallow_secret = ['**']\nsecrets = 'names'\n").unwrap();
    let outcome = call(&dir, "deny = ['hr']", &["--config", "r.toml"], &["read", "path=hr/pay.txt"]);
    assert!(outcome.code != Some(0) && !outcome.stdout.contains("SALARY"), "{}", outcome.stdout);
}

#[test]
fn no_option_takes_back_what_the_policy_protects_or_leaves_of_secrets() {
    let Some(dir) = folder() else { return };
    let write = ["write", "path=plan.sql", "content=x", "mode=overwrite"];
    let options = ["app", "--allow-protected", "**", "--read-before-write", "off"];
    let outcome = call(&dir, "protect = ['*.sql']", &options, &write);
    assert!(outcome.stderr.contains("matches the rule `*.sql` of protect"), "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(fs::read_to_string(dir.path().join("app/plan.sql")).unwrap(), "SELECT 1;\n");

    let read = ["read", "path=.env"];
    for (policy, options, shown) in [
        ("", &["app", "--allow-secret", "**"][..], "VALUE1"),
        ("secrets = 'deny'", &["app", "--allow-secret", "**"], ""),
        ("secrets = 'names'", &["app", "--allow-secret", ".env"], ""),
        ("secrets = 'deny'", &["app", "--secrets", "names"], ""),
        ("secrets = 'names'", &["app", "--secrets", "names"], "KEY"),
    ] {
        let outcome = call(&dir, policy, options, &read);
        assert_eq!(outcome.stdout.contains("VALUE1"), shown == "VALUE1", "{policy}: {}", outcome.stdout);
        assert_eq!(outcome.stdout.contains("KEY"), !shown.is_empty(), "{policy}: {}", outcome.stdout);
    }
    fs::write(
        dir.path().join("r.toml"),
        "[[root]]\npath = 'app'\nallow_secret = ['**']\n[[root]]\npath = 'other'\nsecrets = 'names'\n",
    )
    .unwrap();
    let outcome = call(&dir, "secrets = 'deny'", &["--config", "r.toml"], &["read", "path=app/.env"]);
    assert!(outcome.code != Some(0) && !outcome.stdout.contains("KEY"), "{}", outcome.stdout);
}

#[test]
fn groups_of_tools_audit_and_programs_are_limited() {
    let Some(dir) = folder() else { return };
    let tools = |policy: &str, options: &[&str]| run(&dir, policy, "", &[options, &["tools"]].concat()).succeeded();
    assert!(tools("", &["app", "--allow", "manage,patch"]).contains("delete"));
    for policy in ["allow = []", "allow = ['patch']"] {
        let list = tools(policy, &["app", "--allow", "manage,patch"]);
        assert!(
            !list.contains("delete") && list.contains("apply_patch") == policy.contains("patch"),
            "{policy}: {list}"
        );
        let outcome = call(&dir, policy, &["app", "--allow", "manage"], &["delete", "path=main.rs"]);
        assert!(outcome.code != Some(0) && dir.path().join("app/main.rs").exists(), "{policy}: {}", outcome.stdout);
    }
    fs::write(
        dir.path().join("r.toml"),
        "root = 'app'\nallow = 'manage'\n[[role]]\nname = 'all'\ntools = ['read', 'delete']\n",
    )
    .unwrap();
    let list = tools("allow = []", &["--config", "r.toml"]);
    assert!(list.contains("read") && !list.contains("delete"), "{list}");

    let audited = "audit_required = true";
    let errors = call(&dir, audited, &["app"], &["read", "path=main.rs"]).failed(BAD_CONFIGURATION);
    assert!(errors.contains("the policy of this machine needs --audit FILE"), "{errors}");
    fs::create_dir(dir.path().join("log")).unwrap();
    let options = ["app", "--audit", "log/calls", "--audit-required=false"];
    call(&dir, audited, &options, &["read", "path=main.rs"]).succeeded();
    assert!(fs::read_to_string(dir.path().join("log/calls")).unwrap().contains("main.rs"));

    let exec = ["exec", "--root", "app", "--confine", "auto", "--", "/bin/true"];
    let errors = run(&dir, "exec = false", "", &exec).failed(BAD_CONFIGURATION);
    assert!(errors.contains("refuses to start programs"), "{errors}");
    fs::write(dir.path().join("r.toml"), "root = 'app'\n[lsp.any]\ncommand = '/bin/true'\nextensions = ['rs']\n")
        .unwrap();
    let shown = run(&dir, "exec = false", "", &["--state-dir", "off", "--config", "r.toml", "doctor"]);
    assert!(
        shown.stdout.contains("[lsp] is not in force") && !shown.stdout.contains("\nlsp "),
        "{}{}",
        shown.stdout,
        shown.stderr
    );
}

#[test]
fn doctor_shows_the_policy_and_what_it_takes() {
    let Some(dir) = folder() else { return };
    let policy = "deny = ['hr']\nprotect = ['*.sql']\nsecrets = 'deny'\nallow = ['patch']\nexec = false\n";
    let text = run(&dir, policy, "", &["app", "--allow", "manage", "--state-dir", "off", "doctor"]).stdout;
    for part in [
        "this machine /etc/rootbound/policy.toml\n",
        "content refused: hr\n",
        "not written: *.sql\n",
        "secrets: deny at most, no exceptions\n",
        "groups of tools that may be allowed: patch\n",
        "no programs: ",
        "--allow manage is not in force: the policy of this machine takes it away\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    let text = run(&dir, "allow = []", "", &["app", "--state-dir", "off", "doctor"]).stdout;
    assert!(text.contains("groups of tools that may be allowed: none\n"), "{text}");
    let text = run(&dir, "", "rm -r /etc/rootbound", &["app", "--state-dir", "off", "doctor"]).stdout;
    assert!(text.contains("this machine no policy of an administrator\n"), "{text}");
}

#[test]
fn a_policy_that_cannot_be_trusted_or_read_stops_the_start() {
    let Some(dir) = folder() else { return };
    let file = "/etc/rootbound/policy.toml";
    let mut cases = vec![
        ("chmod 666 /etc/rootbound/policy.toml", "others than root may write /etc/rootbound/policy.toml"),
        ("chmod 775 /etc/rootbound", "others than root may write /etc/rootbound"),
        ("chmod 1777 /etc", "others than root may write /etc"),
        ("rm /etc/rootbound/policy.toml; mkfifo /etc/rootbound/policy.toml", "is not a regular file"),
        ("rm /etc/rootbound/policy.toml; mkdir /etc/rootbound/policy.toml", "is not a regular file"),
        ("rm /etc/rootbound/policy.toml; ln -s /nothing /etc/rootbound/policy.toml", "leads to nothing"),
        ("rm /etc/rootbound/policy.toml; ln -s policy.toml /etc/rootbound/policy.toml", "too many links"),
        (
            "mkdir -m 1777 /etc/open; mv /etc/rootbound/policy.toml /etc/open; rmdir /etc/rootbound; ln -s open /etc/rootbound",
            "others than root may write /etc/open",
        ),
        ("rm -r /etc/rootbound; touch /etc/rootbound", "cannot be read"),
        ("printf 'deny = [1]' >/etc/rootbound/policy.toml", "is not valid"),
        ("printf 'denied = []' >/etc/rootbound/policy.toml", "unknown field `denied`"),
        ("printf 'a = \\377' >/etc/rootbound/policy.toml", "not UTF-8"),
        ("printf 'deny = [\"~/x\"]' >/etc/rootbound/policy.toml", "the pattern \"~/x\""),
    ];
    if may_mount() {
        cases.push(("chown 1000 /etc/rootbound/policy.toml", "belongs to the user 1000, not to root"));
        cases.push(("chown 1000 /etc/rootbound", "belongs to the user 1000, not to root"));
    }
    for (script, why) in cases {
        for arguments in [&["--root", "/usr", "tools"][..], &["exec", "--root", "/usr", "--", "/bin/true"]] {
            let outcome = run(&dir, "deny = ['x']", script, arguments);
            assert_eq!(outcome.code, Some(BAD_CONFIGURATION), "{script}: {}{}", outcome.stdout, outcome.stderr);
            assert!(outcome.stderr.contains(file) && outcome.stderr.contains(why), "{script}: {}", outcome.stderr);
        }
    }
    // A link that root made, as systems do that build /etc.
    let linked = "mkdir /etc/static; mv /etc/rootbound/policy.toml /etc/static; ln -s ../static/policy.toml /etc/rootbound/policy.toml";
    let text = run(&dir, "deny = ['hr']", linked, &["app", "--state-dir", "off", "doctor"]).stdout;
    assert!(text.contains("content refused: hr\n"), "{text}");
    // Help and version need no policy.
    assert_eq!(run(&dir, "x", "", &["--version"]).code, Some(0));
}

#[test]
fn no_call_changes_the_policy() {
    let Some(dir) = folder() else { return };
    let options = [
        "--root",
        "/etc",
        "--read-before-write",
        "off",
        "--allow",
        "manage",
        "--allow-protected",
        "**",
        "--state-dir",
        "off",
    ];
    for (script, call) in [
        ("", &["write", "path=rootbound/policy.toml", "content=x", "mode=overwrite"][..]),
        ("", &["delete", "path=rootbound/policy.toml"]),
        ("", &["delete", "path=rootbound", "recursive=true"]),
        ("", &["move", "source=rootbound", "destination=away"]),
        ("rm -r /etc/rootbound", &["write", "path=rootbound/policy.toml", "content=x"]),
    ] {
        let script =
            format!("{script}\n\"$@\" && exit 9\ncat /etc/rootbound/policy.toml || [ ! -e /etc/rootbound ]\nexit");
        let outcome = run(&dir, "deny = ['x']", &script, &[&options[..], &["call"], call].concat());
        let left = if script.starts_with("rm") { "" } else { "deny = ['x']" };
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), left), "{call:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("access denied"), "{call:?}: {}", outcome.stderr);
    }
    assert!(!Path::new("/etc/rootbound/policy.toml").exists() || !may_mount(), "the test is outside of its namespace");
}

#[test]
fn without_a_policy_the_program_starts_where_root_is_unknown() {
    let Some(dir) = folder() else { return };
    let mut command = Command::new("unshare");
    let own = program(dir.path());
    command.arg("--user").arg(own.get_program()).args(["--state-dir", "off", "app", "call", "read", "path=main.rs"]);
    let outcome = Outcome::of(command.current_dir(dir.path()).env("HOME", dir.path()).env_remove("ROOTBOUND_CONFIG"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}
