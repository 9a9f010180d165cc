//! Path texts: prefix siblings, paths that leave, and magic paths of the system.

use serde_json::json;

use super::{Case, DENIED, Expect, case, every_tool};

/// A directory whose name begins like a root's (CVE-2025-53110).
pub(super) fn siblings() -> Vec<Case> {
    [
        ("sibling by host path", "{host}/root-evil/zebra-secret.txt"),
        ("sibling's directory", "{host}/root-evil"),
        ("sibling with a digit", "{host}/root2/zebra-secret.txt"),
        ("sibling of the read-only root", "{host}/lib-evil/zebra-secret.txt"),
        ("shorter sibling", "{host}/roo/zebra-secret.txt"),
        ("sibling by dots", "app/../root-evil/zebra-secret.txt"),
        ("sibling by dots from a relative path", "../root-evil/zebra-secret.txt"),
        ("sibling by dots from the host path", "{host}/root/../root-evil/zebra-secret.txt"),
        ("sibling as a URI", "file://{host}/root-evil/zebra-secret.txt"),
        ("sibling by an encoded slash", "file://{host}/root%2F..%2Froot-evil/zebra-secret.txt"),
    ]
    .iter()
    .flat_map(|(name, path)| every_tool(name, path, &DENIED))
    .collect()
}

/// Every other way of writing a path that is not inside.
pub(super) fn leaving() -> Vec<Case> {
    let everywhere = [
        ("parent", ".."),
        ("parent's file", "../zebra-beside.txt"),
        ("out of the mount name", "app/../../outside/zebra-secret.txt"),
        ("many dots", "../../../../../../../../../../etc/passwd"),
        ("dots within", "sub/../../outside/zebra-secret.txt"),
        ("dots through what is missing", "no/../../outside/zebra-secret.txt"),
        ("dots through a file", "a.txt/../../outside/zebra-secret.txt"),
        ("slashes doubled", "..//outside///zebra-secret.txt"),
        ("absolute", "/etc/passwd"),
        ("absolute twice", "//etc/passwd"),
        ("host folder", "{host}"),
        ("host folder with a slash", "{host}/"),
        ("outside by host path", "{host}/outside/zebra-secret.txt"),
        ("outside by dots from a root", "{host}/root/../outside/zebra-secret.txt"),
        ("home", "~/zebra"),
        ("home and up", "~/../../etc/passwd"),
        ("URI", "file:///etc/passwd"),
        ("URI with a host", "file://evil.example/etc/passwd"),
        ("URI with dots", "file://{host}/root/../outside/zebra-secret.txt"),
        ("URI with encoded dots", "file://{host}/root/%2e%2e/outside/zebra-secret.txt"),
        ("mention", "@../outside/zebra-secret.txt"),
        ("mention of an absolute path", "@/etc/passwd"),
        ("slash", "/"),
    ];
    // An attack on other systems is only an unusual name here.
    let strange = [
        ("encoded dots", "%2e%2e/outside/zebra-secret.txt"),
        ("encoded slash", "..%2foutside%2fzebra-secret.txt"),
        ("encoded twice", "%252e%252e%252foutside"),
        ("overlong UTF-8", "..%c0%afoutside"),
        ("full-width dots", "．．/outside/zebra-secret.txt"),
        ("one-dot leader", "\u{2024}\u{2024}/outside/zebra-secret.txt"),
        ("division slash", "..\u{2215}outside\u{2215}zebra-secret.txt"),
        ("backslashes", "..\\outside\\zebra-secret.txt"),
        ("drive letter", "C:\\Windows\\win.ini"),
        ("UNC", "\\\\server\\share\\zebra"),
        ("verbatim prefix", "\\\\?\\C:\\zebra"),
        ("stream", "a.txt::$DATA"),
        ("device name", "CON"),
        ("three dots", ".../outside/zebra-secret.txt"),
        ("dots and a space", ".. /outside/zebra-secret.txt"),
        ("home of root", "~root/.ssh/id_rsa"),
        ("variable", "$HOME/.ssh/id_rsa"),
        ("substitution", "$(cat /etc/passwd)"),
        ("dash", "-"),
    ];
    let reading = |name: &str, path: &str| {
        ["read", "ls"].map(|tool| case(format!("{name}: {tool}"), tool, json!({ "path": path }), NOTHING))
    };
    let unusable = [
        ("NUL", "a.txt\0"),
        ("NUL before a way out", "../outside/zebra-secret.txt\0.png"),
        ("NUL in a URI", "file:///etc/passwd%00"),
    ];
    everywhere
        .iter()
        .flat_map(|(name, path)| every_tool(name, path, &DENIED))
        .chain(strange.iter().flat_map(|(name, path)| reading(name, path)))
        .chain(unusable.iter().flat_map(|(name, path)| every_tool(name, path, &UNUSABLE)))
        .chain(
            [("long", "a/".repeat(4000)), ("long name", "n".repeat(300)), ("deep", "d/".repeat(2000))]
                .iter()
                .flat_map(|(name, path)| reading(name, path)),
        )
        .collect()
}

const NOTHING: Expect = Expect::Fails(&["not_found", "invalid_input", "denied"]);
const UNUSABLE: Expect = Expect::Fails(&["invalid_input", "denied"]);

/// `/proc`, `/dev` and descriptors, written out.
pub(super) fn magic() -> Vec<Case> {
    [
        "/proc/self/root/etc/passwd",
        "/proc/self/root",
        "/proc/self/cwd/../outside/zebra-secret.txt",
        "/proc/self/environ",
        "/proc/self/cmdline",
        "/proc/self/maps",
        "/proc/self/mem",
        "/proc/self/fd",
        "/proc/self/fd/0",
        "/proc/self/fd/3",
        "/proc/1/environ",
        "/proc/thread-self/root",
        "/proc/kcore",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/fd/0",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/mem",
        "/dev/shm",
        "/sys/kernel",
        "/run/secrets",
        "/var/run/docker.sock",
    ]
    .iter()
    .flat_map(|path| every_tool(path, path, &DENIED))
    .collect()
}
