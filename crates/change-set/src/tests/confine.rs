//! What the sandbox of the kernel leaves of the files.

#![expect(clippy::disallowed_methods, reason = "the test tries what the sandbox must stop")]

use std::fs;

use self_sandbox::Confine;

use super::*;

#[test]
fn sandbox_leaves_only_roots_and_state_folder_accessible() {
    let temp = tempfile::tempdir().unwrap();
    let host = |name: &str| temp.path().join(name);
    for name in ["rw", "ro", "out", "state"] {
        fs::create_dir(host(name)).unwrap();
        fs::write(host(name).join("file"), name).unwrap();
    }
    let spec = |name: &str, access| RootSpec {
        name: Some(name.into()),
        path: host(name),
        access,
        policy: PolicyRules::default(),
        optional: false,
    };
    let specs = [spec("rw", Access::ReadWrite), spec("ro", Access::ReadOnly)];
    let workspace = Workspace::open(&specs, WorkspaceOptions::default()).unwrap().workspace;
    let state = host("state");
    // The sandbox is that of a thread and its children; this one ends with the test.
    let confined = || {
        let report = workspace.confine(Confine::Auto, &[&state]).unwrap();
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert!(report.calls_refused, "{}", report.calls);
            assert!(std::os::unix::net::UnixDatagram::unbound().is_err());
        }
        if !report.enforced {
            // A kernel without Landlock: there is nothing to see but the honest report.
            assert!(report.level.contains("not"), "{}", report.level);
            return;
        }
        assert!(fs::read(host("out/file")).is_err());
        assert!(fs::write(host("ro/file"), "x").is_err());
        assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err() || report.level.contains("partially"));
        assert_eq!(fs::read(host("ro/file")).unwrap(), b"ro");

        let path = workspace.resolve("rw/new/file").unwrap();
        let writable = workspace.writable(&path).unwrap();
        let guard = WriteGuard::acquire(&workspace, writable, Base::Absent).unwrap();
        let committed = guard.commit(b"one", Approval::by_policy()).unwrap();
        let writable = workspace.writable(&path).unwrap();
        let base = Base::Revision(committed.revision);
        let guard = WriteGuard::acquire(&workspace, writable, base).unwrap();
        guard.commit(b"two", Approval::by_policy()).unwrap();
        assert_eq!(workspace.read(&path, 10).unwrap().bytes, b"two");

        let state = StateDir::open(&state).unwrap();
        state.append("log", b"x").unwrap();
        state.replace("seen", b"y").unwrap();
        assert_eq!(state.read("seen", 9).unwrap(), b"y");
    };
    std::thread::scope(|scope| scope.spawn(confined).join().unwrap());
    assert_eq!(fs::read(host("ro/file")).unwrap(), b"ro");
}

#[test]
fn off_installs_no_sandbox() {
    let temp = tempfile::tempdir().unwrap();
    let workspace = Workspace::of_directory(temp.path(), Access::ReadOnly);
    let report = workspace.confine(Confine::Off, &[]).unwrap();
    assert!(!report.enforced && !report.calls_refused);
    assert!(std::os::unix::net::UnixDatagram::unbound().is_ok());
    assert!(fs::read_dir("/").is_ok());
}
