//! Attacks on the broker: whatever bytes arrive, it starts nothing but what its table names, where its table says.

use std::{
    ffi::OsString,
    fs,
    io::Read as _,
    os::{fd::OwnedFd, unix::fs::symlink},
    path::Path,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
    sockopt::{Timeout, set_socket_timeout},
};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::program::program;

/// A broker with one program, which makes a file in the directory `made`, and one root.
struct Attack {
    dir: TempDir,
    socket: Option<OwnedFd>,
    broker: Child,
}

impl Attack {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for folder in ["root/sub", "made", "outside", "temp"] {
            fs::create_dir_all(dir.path().join(folder)).expect("made");
        }
        symlink(dir.path().join("outside"), dir.path().join("root/link")).expect("linked");
        let script = format!("pwd -P > {}/$$; cat", dir.path().join("made").display());
        let program_row = json!({
            "program": OsString::from("/bin/sh"),
            "arguments": ["-c", script],
            "variables": [],
            "readable": [],
            "may_write": false,
            "network": false,
            "confine": "Off",
        });
        let table = json!({ "programs": [program_row], "roots": [dir.path().join("root").as_os_str()] });
        let (socket, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        set_socket_timeout(&socket, Timeout::Recv, Some(Duration::from_secs(60))).expect("set");
        let mut command = program(Path::new("/"));
        command.arg("lsp-broker").env("TMPDIR", dir.path().join("temp")).stdin(Stdio::from(other));
        let broker = command.spawn().expect("started");
        drop(command);
        send(&socket, table.to_string().as_bytes(), SendFlags::NOSIGNAL).expect("sent");
        Self { dir, socket: Some(socket), broker }
    }

    /// What it answers; nothing once it has ended.
    fn ask(&self, packet: &[u8]) -> Vec<u8> {
        let socket = self.socket.as_ref().expect("open");
        if send(socket, packet, SendFlags::NOSIGNAL).is_err() {
            return Vec::new();
        }
        let mut reply = [0; 512];
        let length = recv(socket, &mut reply, RecvFlags::empty()).map_or(0, |(_, length)| length);
        reply[..length].to_vec()
    }

    fn start(&self, directory: &str) -> Vec<u8> {
        self.ask(&[&[1, 0, 0, 0], directory.as_bytes()].concat())
    }

    /// Where programs were started. A program that was killed may have created its file without writing to it.
    fn started(&self) -> Vec<String> {
        let made = fs::read_dir(self.dir.path().join("made")).expect("listed").flatten();
        let places = made.map(|entry| fs::read_to_string(entry.path()).expect("read").trim().to_owned());
        places.filter(|place| !place.is_empty()).collect()
    }

    fn ended(mut self) -> Vec<String> {
        self.socket = None;
        let started = self.started();
        self.broker.wait().expect("it ends when the socket closes");
        started
    }
}

#[test]
fn start_of_the_table_is_answered_with_pipes_and_ends_with_the_socket() {
    let attack = Attack::new();
    assert_eq!(attack.start("sub"), [0, 0]);
    assert_eq!(attack.start(""), [0, 1]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while attack.started().len() < 2 {
        assert!(Instant::now() < deadline, "both programs write where they are");
        sleep(Duration::from_millis(10));
    }
    assert_eq!(attack.ask(&[2, 0, 0, 0]), [0, 0]);
    assert_eq!(attack.ask(&[2, 0, 0, 0])[0], 1, "it is stopped already");
    assert_eq!(attack.ask(&[2, 200, 0, 0])[0], 1);
    let root = attack.dir.path().canonicalize().expect("a folder").join("root").display().to_string();
    let mut places = attack.ended();
    places.sort();
    assert_eq!(places, [root.clone(), format!("{root}/sub")]);
}

#[test]
fn request_out_of_range_or_through_a_link_is_refused() {
    let attack = Attack::new();
    for (packet, why) in [
        (&b"\x01\x01\x00\x00"[..], "no such program"),
        (b"\x01\xff\x00\x00sub", "no such program"),
        (b"\x01\x00\x01\x00", "no such root"),
        (b"\x01\x00\x00\x00missing", "cannot be opened"),
        (b"\x01\x00\x00\x00link", "cannot be opened"),
        (b"\x01\x00\x00\x00link/../sub", ""),
    ] {
        let reply = attack.ask(packet);
        assert!(reply.first() != Some(&0) && String::from_utf8_lossy(&reply).contains(why), "{packet:?} {reply:?}");
    }
    assert!(attack.ended().is_empty());
}

#[test]
fn anything_but_a_request_ends_the_broker_and_starts_nothing() {
    let second = json!({ "programs": [], "roots": [] }).to_string();
    let huge = [&[1, 0, 0, 0][..], &vec![b'x'; 60_000]].concat();
    for packet in [
        &b"\x01"[..],
        b"\x03\x00\x00\x00",
        b"\x01\x00\x00\x01sub",
        b"\x01\x00\x00\x00../outside",
        b"\x01\x00\x00\x00/etc",
        b"\x01\x00\x00\x00sub/../../outside",
        b"\x01\x00\x00\x00sub\x00x",
        b"\x02\x00\x00\x00/bin/sh",
        b"/bin/sh -c id",
        second.as_bytes(),
        &huge,
    ] {
        let attack = Attack::new();
        assert_eq!(attack.ask(packet), b"", "{:?}", &packet[..packet.len().min(20)]);
        assert_eq!(attack.start(""), b"", "it has ended");
        assert!(attack.ended().is_empty());
    }
}

#[test]
fn flood_of_starts_is_bounded() {
    let attack = Attack::new();
    let running = (0..50).filter(|_| attack.start("")[0] == 0).count();
    assert_eq!(running, 8);
    let mut started = running;
    for _ in 0..50 {
        attack.ask(&[2, 0, 0, 0]);
        started += usize::from(attack.start("")[0] == 0);
    }
    assert!(started <= 30, "{started}");
    assert!(attack.ended().len() <= 30);
}

#[test]
fn broker_without_a_server_ends() {
    for stdin in [Stdio::null(), Stdio::piped()] {
        let mut child =
            program(Path::new("/")).arg("lsp-broker").stdin(stdin).stdout(Stdio::piped()).spawn().expect("started");
        drop(child.stdin.take());
        assert_eq!(child.wait().expect("ended").code(), Some(1));
        let mut printed = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut printed).expect("read");
        assert_eq!(printed, "");
    }
}
