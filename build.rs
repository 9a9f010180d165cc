//! Links the release program for Linux statically, at a fixed address, where this machine has a static glibc, so that a
//! start costs little (docs/internals/start.md).
//!
//! A start otherwise looks up and maps three libraries, and puts 23,000 addresses into 105 pages, each of which the kernel
//! then copies. `-C target-feature=+crt-static` cannot be set for a build without `--target`, as it would count for
//! procedural macros, too. So the linker gets, in place of each shared library that rustc names, a script that names the
//! static one. Programs for musl are static anyway.

#![expect(clippy::disallowed_methods, reason = "the rules are for the program")]

use std::{env, fs, io, path::Path, process::Command};

/// The libraries that rustc links for `*-linux-gnu`, and what each is replaced by.
const LIBRARIES: [(&str, &str); 7] = [
    ("c", "GROUP(-l:libc.a -l:libgcc_eh.a -l:libgcc.a)"),
    ("gcc_s", "GROUP(-l:libgcc_eh.a -l:libgcc.a -l:libc.a)"),
    ("m", "INPUT(-l:libm.a)"),
    // Empty since glibc 2.34: all of them are in libc.
    ("dl", "INPUT(-l:libc.a)"),
    ("pthread", "INPUT(-l:libc.a)"),
    ("rt", "INPUT(-l:libc.a)"),
    ("util", "INPUT(-l:libc.a)"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ROOTBOUND_LINK");
    let is_release = variable("PROFILE") == "release" && variable("CARGO_CFG_TARGET_OS") == "linux";
    if !is_release || variable("ROOTBOUND_LINK") == "plain" {
        return Ok(());
    }
    // mold reads no such scripts; a linker that is called directly takes its arguments in another form.
    let is_other = ["RUSTC_LINKER", "CARGO_ENCODED_RUSTFLAGS"]
        .into_iter()
        .map(variable)
        .any(|text| ["mold", "lld", "wild"].into_iter().any(|linker| text.contains(linker)));
    let is_native = variable("TARGET") == variable("HOST");
    let is_crt_static = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    let has_libraries = || ["libc.a", "libm.a", "libgcc_eh.a", "libgcc.a"].into_iter().all(is_installed);
    if variable("CARGO_CFG_TARGET_ENV") == "gnu" && is_native && !is_crt_static && !is_other && has_libraries() {
        link_statically(Path::new(&variable("OUT_DIR")))?;
    }
    Ok(())
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn argument(text: &str) {
    println!("cargo::rustc-link-arg-bins={text}");
}

/// Puts static libraries in the place of shared ones.
fn link_statically(folder: &Path) -> io::Result<()> {
    let folder = folder.join("static");
    fs::create_dir_all(&folder)?;
    for (library, script) in LIBRARIES {
        fs::write(folder.join(format!("lib{library}.so")), script)?;
    }
    argument(&format!("-L{}", folder.display()));
    argument("-static");
    argument("-no-pie");
    Ok(())
}

/// Whether the C compiler that links finds this file: it prints its path, or the bare name.
fn is_installed(file: &str) -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let found = Command::new(linker).arg(format!("-print-file-name={file}")).output();
    found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).contains('/'))
}
