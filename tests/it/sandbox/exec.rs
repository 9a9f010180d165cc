//! `rootbound exec`: a command of the host behind walls, tried with real programs.

use std::{fs, path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::harness::program::{Outcome, program};

/// A folder with a root, what is outside of it, a home directory, and one for temporary files.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("rootbound-exec-test-").tempdir().expect("a folder");
        let world = Self { dir };
        for folder in ["root/sub", "docs", "outside", "home/.ssh", "tmp"] {
            fs::create_dir_all(world.at(folder)).expect("a folder");
        }
        for file in ["root/file", "docs/page", "outside/secret", "home/.ssh/id_ed25519", "tmp/shared"] {
            fs::write(world.at(file), format!("content of {file}\n")).expect("written");
        }
        world
    }

    fn at(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// `rootbound exec` with `options` and `command`, started in the folder.
    fn exec(&self, options: &[&str], command: &[&str]) -> Command {
        let mut exec = program(self.dir.path());
        exec.env("HOME", self.at("home")).env("TMPDIR", self.at("tmp"));
        exec.env_remove("XDG_STATE_HOME").env("PATH", "/usr/bin:/bin");
        exec.arg("exec").args(options).arg("--").args(command);
        exec
    }

    fn run(&self, options: &[&str], command: &[&str]) -> Outcome {
        Outcome::of(&mut self.exec(options, command))
    }
}

#[cfg(windows)]
#[test]
fn windows_says_that_it_has_no_walls_and_runs_a_command_only_with_off() {
    let world = World::new();
    let said = world.run(&["--root", "root"], &["cmd", "/c", "exit 3"]).failed(2);
    assert!(said.contains("no walls") && said.contains("--confine off"), "{said}");
    let run = world.run(&["--root", "root", "--confine", "off"], &["cmd", "/c", "exit 3"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

#[test]
fn every_wrong_option_is_reported_at_once_and_nothing_runs() {
    let world = World::new();
    let options = [
        "--root",
        "missing",
        "--root",
        "root/file",
        "--root",
        "/",
        "--read",
        "gone",
        "--read",
        "/",
        "--env",
        "=x",
        "--confine",
        "maybe",
    ];
    let said = world.run(&options, &[]).failed(2);
    for part in [
        "missing does not exist",
        "root/file is not a directory",
        "/ is the whole file system",
        "gone does not exist",
        "--read / is the whole file system",
        "--env =x has no name",
        "--confine \"maybe\": write required, auto or off",
        "no command was given",
    ] {
        // Windows calls `/` by the letter of its drive.
        let part = if cfg!(windows) { part.replace("/ is the whole", "C:/ is the whole") } else { part.to_owned() };
        assert!(said.replace('\\', "/").contains(&part), "{part}: {said}");
    }
    let said = world.run(&["--root", "root", "--cwd", "../outside"], &["true"]).failed(2);
    assert!(said.contains("outside of the first --root"), "{said}");
    let before = Outcome::of(program(world.dir.path()).args(["--root", "root", "exec", "--", "true"])).failed(2);
    assert!(before.contains("--root is before `exec`"), "{before}");
    for unknown in [["exec", "true"], ["exec", "--shell"]] {
        let said = Outcome::of(program(world.dir.path()).args(unknown)).failed(2);
        assert!(said.contains(&format!("unexpected argument '{}'", unknown[1])), "{said}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        io::{BufRead as _, BufReader, Read as _},
        net::TcpListener,
        os::unix::{
            fs::{PermissionsExt as _, symlink},
            net::UnixListener,
            process::ExitStatusExt as _,
        },
        process::Stdio,
        time::{Duration, Instant},
    };

    use super::*;

    /// Runs a script of `sh` in `root` with these options.
    fn shell(world: &World, options: &[&str], script: &str) -> Outcome {
        world.run(&[&["--root", "root"], options].concat(), &["/bin/sh", "-c", script])
    }

    /// Each script must fail, and change nothing outside.
    fn refused(world: &World, options: &[&str], scripts: &[&str]) {
        for script in scripts {
            let run = shell(world, options, script);
            assert_ne!(run.code, Some(0), "{script}\n{}{}", run.stdout, run.stderr);
            assert!(!run.stdout.contains("content of"), "{script}\n{}", run.stdout);
        }
        let secret = fs::read_to_string(world.at("outside/secret")).expect("it is there");
        assert_eq!(secret, "content of outside/secret\n");
        assert_eq!(fs::read_dir(world.at("outside")).expect("a folder").count(), 1);
    }

    /// A script of Python, where it is installed.
    fn python(world: &World, options: &[&str], script: &str) -> Option<String> {
        if !fs::exists("/usr/bin/python3").unwrap_or(false) {
            return None;
        }
        let run = world.run(&[&["--root", "root"], options].concat(), &["/usr/bin/python3", "-c", script]);
        Some(run.succeeded())
    }

    #[test]
    fn command_reads_and_writes_its_roots() {
        let world = World::new();
        let script = "set -e; cat file; echo new > made; mkdir d; mv made d/x; ln -s x d/l; cat d/l; mkfifo p; rm -r d p; \
                      cp /bin/true run; chmod +x run; ./run; pwd; touch -d 2001-01-01 file";
        let run = shell(&world, &[], script);
        assert_eq!(run.stderr, "");
        let printed = run.succeeded();
        assert!(printed.starts_with("content of root/file\nnew\n") && printed.ends_with("/root\n"), "{printed}");
        assert!(!world.at("root/d").exists());
    }

    #[test]
    fn read_only_roots_and_paths_are_read_and_executed_but_not_written() {
        let world = World::new();
        let script = world.at("outside/script");
        fs::write(&script, "#!/bin/sh\necho it ran\n").expect("written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
        let options = ["--root", "docs:ro", "--read", "outside/script"];
        let run = |script: &str| shell(&world, &options, script);
        assert_eq!(run("cat ../docs/page; ../outside/script").succeeded(), "content of docs/page\nit ran\n");
        for script in ["echo x > ../docs/page", "rm ../docs/page", "mkdir ../docs/d", "echo x >> ../outside/script"] {
            assert_ne!(run(script).code, Some(0), "{script}");
        }
        assert_eq!(world.run(&["--root", "docs:ro"], &["cat", "page"]).succeeded(), "content of docs/page\n");
        assert_ne!(world.run(&["--root", "docs:ro"], &["touch", "new"]).code, Some(0));
    }

    #[test]
    fn nothing_outside_of_the_roots_is_read_written_or_listed() {
        let world = World::new();
        symlink(world.at("outside/secret"), world.at("root/link")).expect("a link");
        symlink(world.at("outside"), world.at("root/folder")).expect("a link");
        let outside = world.at("outside/secret");
        let outside = outside.display();
        refused(
            &world,
            &[],
            &[
                "cat ../outside/secret",
                &format!("cat {outside}"),
                &format!("cat /proc/self/root{outside}"),
                &format!("cat /proc/1/root{outside}"),
                &format!("cat /proc/$$/root{outside}"),
                "cat link",
                "cat folder/secret",
                "cat < link",
                "ls ../outside",
                "ls ..",
                "ls /",
                "ls ~",
                "ls ~/.ssh",
                "cat ~/.ssh/id_ed25519",
                "cat ../tmp/shared",
                "ls /tmp",
                "ls /dev/shm",
                "ls /home",
                "ls /root",
                "ls /etc",
                "ls /run",
                "ls /proc",
                "cat /etc/shadow",
                "cat /etc/hosts",
                "echo x > ../outside/secret",
                "echo x >> ../outside/secret",
                "echo x > ../outside/new",
                "echo x > link",
                "true > link",
                "rm ../outside/secret",
                "mv ../outside/secret .",
                "mv file ../outside/moved",
                "ln ../outside/secret hard",
                "ln file ../outside/hard",
                "mkdir ../outside/d",
                "mkfifo ../outside/p",
                "ln -s x ../outside/l",
                "truncate -s 0 ../outside/secret",
                "cp file ../outside/copy",
                "echo x > /usr/bin/rootbound-exec-test",
                "echo x > /etc/rootbound-exec-test",
                "cp /bin/true ../outside/t",
                "mknod dev c 1 5",
                // Children and their children are behind the same walls.
                "sh -c 'sh -c \"cat ../outside/secret\"'",
                "env -i sh -c 'exec cat ../outside/secret'",
                "setsid sh -c 'cat ../outside/secret'",
                "(cat ../outside/secret)",
            ],
        );
    }

    #[test]
    fn other_processes_are_neither_seen_nor_signalled() {
        let world = World::new();
        let own = std::process::id();
        refused(
            &world,
            &[],
            &[
                &format!("cat /proc/{own}/environ"),
                &format!("cat /proc/{own}/cmdline"),
                &format!("cat /proc/{own}/maps"),
                &format!("ls /proc/{own}/fd"),
                &format!("ls /proc/{own}/root/"),
                &format!("ls /proc/{own}/cwd/"),
                &format!("kill -0 {own}"),
                &format!("kill -CONT {own}"),
                "unshare -r true",
                "unshare -Ur sh -c 'cat ../outside/secret'",
                "mount -t tmpfs none sub",
                "chroot . /bin/true",
            ],
        );
        let calls = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
             def call(name, *arguments):\n  libc.syscall(*arguments); print(name, ctypes.get_errno() or 'allowed')\n\
             number = {{'x86_64': dict(ptrace=101, keyctl=250, bpf=321, userfaultfd=323, io_uring_setup=425, shmget=29, \
             setns=308, process_vm_readv=310, open_by_handle_at=304, mq_open=240), 'aarch64': dict(ptrace=117, \
             keyctl=219, bpf=280, userfaultfd=282, io_uring_setup=425, shmget=194, setns=268, process_vm_readv=270, \
             open_by_handle_at=265, mq_open=180)}}[os.uname().machine]\n\
             for name, call_number in number.items(): call(name, call_number, {own}, {own}, 0, 0, 0)\n\
             import fcntl\n\
             try: fcntl.ioctl(0, 0x5412, b'x')\nexcept OSError as error: print('typing', error.errno)\n\
             import resource\n\
             try: resource.prlimit({own}, resource.RLIMIT_CORE, (0, 0))\nexcept OSError as error: print('prlimit', error.errno)\n"
        );
        if let Some(printed) = python(&world, &[], &calls) {
            assert_eq!(printed.lines().count(), 12, "{printed}");
            for line in printed.lines() {
                assert!(line.ends_with(" 1"), "not EPERM: {line}");
            }
        }
    }

    const SOCKETS: &str = "import socket, sys\n\
        def attempt(name, f):\n  try: f(); print(name, 'works')\n  except OSError as error: print(name, error.errno)\n\
        attempt('tcp', lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20))\n\
        attempt('listen', lambda: socket.create_server(('127.0.0.1', 0)))\n\
        attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9)))\n\
        attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect('../outside/socket'))\n\
        attempt('unix server', lambda: socket.socket(socket.AF_UNIX).bind('here'))\n\
        attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0rootbound'))\n\
        attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))\n\
        attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))\n\
        attempt('alg', lambda: socket.socket(38, socket.SOCK_SEQPACKET))\n\
        attempt('audit', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9))\n\
        attempt('pair', lambda: (lambda pair: pair[0].send(b'x'))(socket.socketpair()))\n\
        attempt('datagram pair', lambda: socket.socketpair(type=socket.SOCK_DGRAM))\n";

    #[test]
    fn sockets_are_refused_and_with_network_those_of_the_internet_work() {
        let world = World::new();
        if !fs::exists("/usr/bin/python3").unwrap_or(false) {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port().to_string();
        let _unix = UnixListener::bind(world.at("outside/socket")).expect("a socket");
        let run = |options: &[&str]| {
            let options = [&["--root", "root"], options].concat();
            world.run(&options, &["/usr/bin/python3", "-c", SOCKETS, &port]).succeeded()
        };
        let refused = run(&[]);
        for line in refused.lines() {
            assert!(line.ends_with(" 1") || line == "pair works", "{refused}");
        }
        let allowed = run(&["--network"]);
        for line in allowed.lines() {
            let is_internet = ["tcp", "listen", "udp", "pair"].contains(&line.rsplit_once(' ').expect("two words").0);
            assert!(if is_internet { line.ends_with(" works") } else { line.ends_with(" 1") }, "{allowed}");
        }
        assert!(refused.lines().count() == 12 && allowed.lines().count() == 12, "{refused}{allowed}");
    }

    #[test]
    fn priority_and_processors_of_other_processes_are_not_changed() {
        let world = World::new();
        let own = std::process::id();
        let script = format!(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
             def attempt(name, f):\n  try: print(name, 'works' if f() != -1 else ctypes.get_errno())\n  \
             except OSError as error: print(name, error.errno)\n\
             ioprio, sched_setattr = {{'x86_64': (251, 314), 'aarch64': (30, 274)}}[os.uname().machine]\n\
             attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, {own}, 0))\n\
             attempt('priority of a group', lambda: os.setpriority(os.PRIO_PGRP, 0, 0))\n\
             attempt('priority of a person', lambda: os.setpriority(os.PRIO_USER, 0, 0))\n\
             attempt('affinity', lambda: os.sched_setaffinity({own}, os.sched_getaffinity(0)))\n\
             attempt('scheduler', lambda: os.sched_setscheduler({own}, os.SCHED_OTHER, os.sched_param(0)))\n\
             attempt('parameter', lambda: os.sched_setparam({own}, os.sched_param(0)))\n\
             attempt('attributes', lambda: libc.syscall(sched_setattr, {own}, None, 0))\n\
             attempt('disk', lambda: libc.syscall(ioprio, 1, {own}, 0))\n\
             attempt('disk of a person', lambda: libc.syscall(ioprio, 3, 0, 0))\n\
             attempt('own nice', lambda: os.nice(1))\n\
             attempt('own affinity', lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))\n\
             attempt('own disk', lambda: libc.syscall(ioprio, 1, 0, 0))\n"
        );
        if let Some(printed) = python(&world, &[], &script) {
            assert_eq!(printed.lines().count(), 12, "{printed}");
            for line in printed.lines() {
                assert!(line.ends_with(if line.starts_with("own") { " works" } else { " 1" }), "{line}");
            }
        }
    }

    fn script(path: &std::path::Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
    }

    #[test]
    fn git_runs_although_its_settings_in_the_home_directory_are_closed() {
        let world = World::new();
        fs::write(world.at("home/.gitconfig"), "[user]\nname = secret-name\n").expect("written");
        if !fs::exists("/usr/bin/git").unwrap_or(false) {
            return;
        }
        let run = shell(&world, &[], "git init -q . && git status --short && git config --get user.name");
        assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""), "it has no name: {}", run.stdout);
        let offered = ["--read", "home/.gitconfig"];
        assert_eq!(shell(&world, &offered, "git config --get user.name").succeeded(), "secret-name\n");
        // A link, as tools for dotfiles make it, beside a file that stays closed.
        fs::create_dir_all(world.at("home/.config/git")).expect("made");
        fs::write(world.at("home/.config/git/config"), "[user]\nname = other-name\n").expect("written");
        fs::rename(world.at("home/.gitconfig"), world.at("outside/gitconfig")).expect("moved");
        symlink(world.at("outside/gitconfig"), world.at("home/.gitconfig")).expect("linked");
        assert_eq!(shell(&world, &offered, "git config --get user.name").succeeded(), "secret-name\n");
        let own = ["--env", "GIT_CONFIG_GLOBAL=own"];
        assert_eq!(shell(&world, &own, "echo $GIT_CONFIG_GLOBAL").succeeded(), "own\n");
    }

    #[test]
    fn certificates_are_readable_without_the_network() {
        let world = World::new();
        if fs::exists("/etc/ssl/certs").unwrap_or(false) {
            shell(&world, &[], "ls /etc/ssl/certs").succeeded();
            assert_ne!(shell(&world, &[], "ls /etc/ssl/private").code, Some(0));
        }
    }

    #[test]
    fn command_in_the_home_directory_is_answered_with_the_read_that_it_needs() {
        let world = World::new();
        script(&world.at("home/.tool/bin/run"), "#!/bin/sh\n. \"$HOME/.tool/lib/part\"\n");
        fs::create_dir_all(world.at("home/.tool/lib")).expect("made");
        fs::write(world.at("home/.tool/lib/part"), "echo complete\n").expect("written");
        script(&world.at("home/.engine/bin/engine"), "#!/bin/sh\necho engine\n");
        script(&world.at("home/my tools/bin/spaced"), "#!/bin/sh\n");
        script(&world.at("home/.local/bin/named"), "#!/usr/bin/env engine\n");
        fs::copy("/bin/true", world.at("home/lone")).expect("copied");
        let run = |name: &str, reads: &[&str]| {
            let mut options = vec!["--root", "root"];
            for read in reads {
                options.extend(["--read", read]);
            }
            let mut exec = world.exec(&options, &[name]);
            let folders = ["home/.tool/bin", "home/.engine/bin", "home/.local/bin"].map(|folder| world.at(folder));
            let path = std::env::join_paths(folders.iter().chain([&PathBuf::from("/usr/bin"), &PathBuf::from("/bin")]));
            Outcome::of(exec.env("PATH", path.expect("a path")))
        };
        for (name, reads, needed, printed) in [
            ("run", &["home/.tool"][..], "to let it read the rest: --read ~/.tool\n", "complete\n"),
            ("named", &["home/.engine", "home/.local/bin"], "--read ~/.engine --read ~/.local/bin\n", "engine\n"),
        ] {
            let without = run(name, &[]);
            assert!(without.code != Some(0) && without.stderr.contains(needed), "{name}: {}", without.stderr);
            let with = run(name, reads);
            assert_eq!((with.stdout.as_str(), with.stderr.as_str()), (printed, ""), "{name}");
        }
        let spaced = run(&world.at("home/my tools/bin/spaced").display().to_string(), &[]);
        assert!(spaced.stderr.ends_with("--read '~/my tools'\n"), "{}", spaced.stderr);
        assert_eq!(run(&world.at("home/my tools/bin/spaced").display().to_string(), &["~/my tools"]).stderr, "");
        let lone = run(&world.at("home/lone").display().to_string(), &[]);
        assert_eq!((lone.code, lone.stderr.as_str()), (Some(0), ""), "a lone program needs no more than its file");
    }

    #[test]
    fn commands_of_the_page_run_as_they_are_written() {
        let world = World::new();
        let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exec.md")).expect("the page");
        let app = world.at("home/code/app");
        fs::create_dir_all(app.join("src")).expect("made");
        fs::create_dir_all(world.at("home/.cargo/registry")).expect("made");
        fs::write(world.at("home/.gitconfig"), "[user]\nname = me\n").expect("written");
        fs::write(app.join("src/lib.rs"), "").expect("written");
        let package = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
        fs::write(app.join("Cargo.toml"), package).expect("written");
        let lock = "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\n";
        fs::write(app.join("Cargo.lock"), lock).expect("written");
        fs::write(app.join("package.json"), "{ \"scripts\": { \"test\": \"true\" } }\n").expect("written");
        // Programs of this machine where there are some, else replacements.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let (cargo, toolchains) = (home.join(".cargo/bin"), home.join(".rustup"));
        if cargo.join("rustup").exists() && toolchains.is_dir() {
            symlink(cargo, world.at("home/.cargo/bin")).expect("linked");
            symlink(toolchains, world.at("home/.rustup")).expect("linked");
        } else {
            script(&world.at("home/.cargo/bin/cargo"), "#!/bin/sh\necho checked\n");
            fs::create_dir(world.at("home/.rustup")).expect("made");
        }
        if !fs::exists("/usr/bin/npm").unwrap_or(false) {
            script(&world.at("home/.local/bin/npm"), "#!/bin/sh\n");
        }
        script(&world.at("home/.local/bin/gh"), "#!/bin/sh\n[ \"$GITHUB_TOKEN\" = token ]\n");
        let own = PathBuf::from(env!("CARGO_BIN_EXE_rootbound")).parent().expect("a folder").display().to_string();
        let folders = ["home/.cargo/bin", "home/.local/bin"].map(|folder| world.at(folder).display().to_string());
        let path = format!("{own}:{}:/usr/bin:/bin", folders.join(":"));
        let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
        assert!(commands.len() >= 3, "{commands:?}");
        for line in commands {
            let mut sh = Command::new("/bin/sh");
            sh.args(["-c", line]).current_dir(&app).env_clear().env("PATH", &path).env("GITHUB_TOKEN", "token");
            let run = Outcome::of(sh.env("HOME", world.at("home")).env("TMPDIR", world.at("tmp")));
            assert_eq!(run.code, Some(0), "{line}\n{}{}", run.stdout, run.stderr);
            // The folder of cargo is a link here, and is offered.
            assert!(!line.contains("cargo") || !run.stderr.contains("installed in a place"), "{line}\n{}", run.stderr);
        }
    }

    #[test]
    fn environment_holds_the_short_list_and_what_was_named() {
        let world = World::new();
        let mut exec = world.exec(
            &["--root", "root", "--env", "TOKEN", "--env", "MODE=a=b", "--env", "NOT_SET", "--env", "LANG=C"],
            &["env"],
        );
        exec.env_clear();
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("TERM", "dumb"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_ALL", "C"),
            ("LC_SECRET", "leak"),
            ("TOKEN", "wanted"),
            ("AWS_SECRET_ACCESS_KEY", "leak"),
            ("SSH_AUTH_SOCK", "leak"),
            ("LD_PRELOAD", ""),
            ("DBUS_SESSION_BUS_ADDRESS", "leak"),
            ("ROOTBOUND_ROOT", "leak"),
            ("BASH_ENV", "leak"),
        ] {
            exec.env(name, value);
        }
        exec.env("TMPDIR", world.at("tmp"));
        let printed = Outcome::of(&mut exec).succeeded();
        let mut names: Vec<&str> = printed.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        assert_eq!(names, ["HOME", "LANG", "LC_ALL", "MODE", "PATH", "TERM", "TMPDIR", "TOKEN"]);
        assert!(
            printed.contains("MODE=a=b\n") && printed.contains("LANG=C\n") && !printed.contains("leak"),
            "{printed}"
        );
    }

    #[test]
    fn inherited_descriptors_are_closed_and_the_first_three_passed_on() {
        let world = World::new();
        let exec = "exec 7< outside/secret 8< outside 9>> outside/secret; exec \"$0\" exec --root root -- \"$@\"";
        let start = |script: &str| {
            let mut shell = Command::new("/bin/bash");
            shell.args(["-c", exec, env!("CARGO_BIN_EXE_rootbound"), "/bin/bash", "-c", script]);
            shell.current_dir(world.dir.path()).env("TMPDIR", world.at("tmp"));
            shell
        };
        for script in ["cat <&7", "ls /proc/self/fd/8/", "cat /proc/$$/fd/7", "echo x >&9"] {
            let run = Outcome::of(&mut start(script));
            assert_ne!(run.code, Some(0), "{script}: {}", run.stdout);
        }
        let listed = Outcome::of(&mut start("echo /proc/$$/fd/*")).succeeded();
        for number in ["7", "8", "9"] {
            assert!(!listed.contains(&format!("fd/{number}")), "{listed}");
        }
        let script = "exec \"$0\" exec --root root -- cat < outside/secret";
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_rootbound")]);
        shell.current_dir(world.dir.path()).env("TMPDIR", world.at("tmp"));
        assert_eq!(Outcome::of(&mut shell).succeeded(), "content of outside/secret\n");
    }

    #[test]
    fn exit_codes_signals_and_arguments_are_the_commands() {
        let world = World::new();
        assert_eq!(shell(&world, &[], "exit 77").code, Some(77));
        let killed = world.exec(&["--root", "root"], &["/bin/sh", "-c", "kill -TERM $$"]).status().expect("it starts");
        assert_eq!(killed.signal(), Some(15));
        let arguments = ["printf", "<%s>", "a b", "$(id)", "", "*", "--", "-x", "\u{e9}"];
        assert_eq!(world.run(&["--root", "root"], &arguments).succeeded(), "<a b><$(id)><><*><--><-x><\u{e9}>");
        // The process is the command: the same id, and one process.
        let mut child = world.exec(&["--root", "root"], &["/bin/sh", "-c", "echo $$"]);
        let child = child.stdout(Stdio::piped()).spawn().expect("it starts");
        let id = child.id();
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), id.to_string());
    }

    #[test]
    fn missing_and_unexecutable_commands_have_the_exit_codes_of_shells() {
        let world = World::new();
        fs::write(world.at("root/script"), "#!/missing/interpreter\n").expect("written");
        fs::set_permissions(world.at("root/script"), fs::Permissions::from_mode(0o755)).expect("executable");
        for (command, code, part) in [
            ("rootbound-no-such-program", 127, "no folder of PATH"),
            ("./missing", 127, "there is no program ./missing"),
            ("/missing", 127, "there is no program /missing"),
            ("./file", 126, "no execute permission"),
            ("./sub", 126, "it is a directory"),
            ("./script", 127, "its interpreter"),
            ("/dev/null", 126, "not a regular file"),
        ] {
            let said = world.run(&["--root", "root"], &[command]).failed(code);
            assert!(said.starts_with("rootbound: ") && said.contains(part) && said.lines().count() == 1, "{said}");
        }
    }

    #[test]
    fn command_runs_in_the_first_root_or_a_directory_in_it() {
        let world = World::new();
        let pwd = |options: &[&str]| world.run(options, &["pwd"]).succeeded().trim().to_owned();
        assert!(pwd(&["--root", "docs:ro", "--root", "root"]).ends_with("/docs"));
        assert!(pwd(&["--root", "root", "--cwd", "sub"]).ends_with("/root/sub"));
        let mut exec = world.exec(&[], &["pwd"]);
        let printed = Outcome::of(exec.current_dir(world.at("root"))).succeeded();
        assert!(printed.ends_with("/root\n"), "{printed}");
        let mut exec = world.exec(&[], &["pwd"]);
        let said = Outcome::of(exec.current_dir(world.at("home"))).failed(2);
        assert!(said.contains("is the home directory") && said.contains("--root DIR"), "{said}");
    }

    #[test]
    fn temporary_files_are_in_a_private_directory() {
        let world = World::new();
        let script = "f=$(mktemp) && echo x > $f && ls -ld $TMPDIR | cut -c1-10 && echo $TMPDIR && exec rm $f";
        let first = shell(&world, &[], script).succeeded();
        assert!(first.starts_with("drwx------\n") && first.contains("/tmp/rootbound-exec-"), "{first}");
        // It goes with the command, however that ends, and with what is in it; what has no watcher any more with the next one.
        let names = || fs::read_dir(world.at("tmp")).expect("the folder").map(|one| one.expect("an entry").file_name());
        let left = || names().filter(|name| name.to_string_lossy().starts_with("rootbound-exec-")).count();
        let is_empty = || {
            let deadline = Instant::now() + Duration::from_secs(30);
            while left() > 0 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            left() == 0
        };
        assert!(is_empty(), "{} left", left());
        shell(&world, &[], "mkdir -p $TMPDIR/a/b && ln -s / $TMPDIR/a/link && echo x > $TMPDIR/a/b/c").succeeded();
        shell(&world, &[], "touch $TMPDIR/x; kill -9 $$");
        assert!(is_empty(), "{} left", left());
        let prefix = first.lines().nth(1).and_then(|path| path.rsplit_once("-exec-")).expect("the path").1;
        let user = prefix.split('-').next().expect("the user");
        let (lost, foreign) =
            (world.at(&format!("tmp/rootbound-exec-{user}-1-0")), world.at("tmp/rootbound-exec-x-1-0"));
        for folder in [&lost, &foreign] {
            fs::create_dir_all(folder.join("sub")).expect("made");
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("set");
        }
        // A link of such a name is neither used nor followed.
        let link = world.at(&format!("tmp/rootbound-exec-{user}-2-0"));
        symlink(world.at("outside"), &link).expect("a link");
        shell(&world, &[], script).succeeded();
        assert!(!lost.exists() && foreign.exists() && link.is_symlink() && world.at("outside").exists());
        let own = shell(&world, &["--env", "TMPDIR=sub"], "mktemp").succeeded();
        assert!(own.starts_with("sub/"), "{own}");
    }

    #[test]
    fn limits_are_those_of_the_caller_without_core_dumps() {
        let world = World::new();
        let mut caller = Command::new("/bin/sh");
        let script = "ulimit -c unlimited 2>/dev/null; ulimit -Sn 777; exec \"$0\" exec --root root -- sh -c 'ulimit -c; ulimit -n'";
        caller.args(["-c", script, env!("CARGO_BIN_EXE_rootbound")]);
        caller.current_dir(world.dir.path()).env("TMPDIR", world.at("tmp"));
        assert_eq!(Outcome::of(&mut caller).succeeded(), "0\n777\n");
    }

    #[test]
    fn roots_that_walls_cannot_keep_apart_are_refused() {
        let world = World::new();
        let said = world.run(&["--root", "root", "--root", "root/sub:ro"], &["true"]).failed(2);
        assert!(said.contains("read-only inside of"), "{said}");
        world.run(&["--root", "root:ro", "--root", "root/sub"], &["touch", "sub/new"]).succeeded();
        assert!(world.at("root/sub/new").exists());
        let state = world.at("home/.local/state/rootbound");
        fs::create_dir_all(&state).expect("made");
        for options in [["--root", "home"], ["--read", "home/.local/state/rootbound"], ["--read", "home/.local"]] {
            let options = [&["--root", "root"][..], &options].concat();
            let said = world.run(&options, &["true"]).failed(2);
            assert!(said.contains("state folder of rootbound"), "{said}");
        }
    }

    #[test]
    fn confine_off_runs_without_walls_but_with_the_short_environment() {
        let world = World::new();
        let mut exec =
            world.exec(&["--root", "root", "--confine", "off"], &["sh", "-c", "cat ../outside/secret; echo $KEY."]);
        assert_eq!(Outcome::of(exec.env("KEY", "leak")).succeeded(), "content of outside/secret\n.\n");
        for how in ["required", "auto"] {
            assert_eq!(world.run(&["--root", "root", "--confine", how], &["true"]).succeeded(), "");
        }
    }

    #[test]
    fn command_dies_with_the_process_that_started_it() {
        let world = World::new();
        let mut shell = Command::new("/bin/sh");
        // The shell waits for its stdin, then it is killed.
        let script = "\"$0\" exec --die-with-parent --root root -- sh -c 'echo $$; exec sleep 600' & read line";
        shell.args(["-c", script, env!("CARGO_BIN_EXE_rootbound")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.current_dir(world.dir.path()).env("TMPDIR", world.at("tmp")).spawn().expect("it starts");
        let mut stdout = BufReader::new(shell.stdout.take().expect("piped"));
        let mut id = String::new();
        stdout.read_line(&mut id).expect("the process id");
        assert!(fs::exists(format!("/proc/{}", id.trim())).expect("known"), "{id}");
        shell.kill().expect("killed");
        shell.wait().expect("it ends");
        // The command holds the other end.
        let start = Instant::now();
        stdout.read_to_string(&mut id).expect("the pipe ends");
        assert!(start.elapsed() < Duration::from_secs(300), "it slept to its end");
    }

    #[test]
    fn nothing_is_printed_besides_what_the_command_prints() {
        let world = World::new();
        let run = world.run(&["--root", "root"], &["sh", "-c", "echo out; echo err >&2"]);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "out\n", "err\n"));
    }
}
