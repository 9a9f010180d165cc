//! What every program on Linux needs to run, besides what it was given: the table in `docs/exec.md`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    Execute,
    Read,
    Device,
}

/// How paths may be used, why, and which: with spaces between them. What does not exist is left out.
pub(crate) struct Need(
    pub(crate) Right,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the page, and for who reads this"))] &'static str,
    &'static str,
);

impl Need {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.2.split_ascii_whitespace()
    }
}

#[rustfmt::skip]
pub(crate) const COMMON_NEEDS: &[Need] = &[
    Need(Right::Execute, "programs, libraries and their data, as packages install them",
        "/usr /bin /sbin /lib /lib32 /lib64 /libx32"),
    Need(Right::Execute, "the same on NixOS and Guix", "/nix/store /run/current-system /gnu/store"),
    Need(Right::Read, "where the dynamic linker finds libraries (ld.so(8))",
        "/etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/ld-musl-x86_64.path \
         /etc/ld-musl-aarch64.path"),
    Need(Right::Read, "names of people and groups, for `ls -l`, `id` and `~`; no passwords are in them",
        "/etc/passwd /etc/group /etc/nsswitch.conf"),
    Need(Right::Read, "time zone, language, terminal, name of the system",
        "/etc/localtime /etc/timezone /etc/locale.alias /etc/locale.conf /etc/terminfo /etc/inputrc \
         /etc/os-release /etc/lsb-release /etc/debian_version"),
    Need(Right::Read, "settings of interpreters and tools that do not start without them",
        "/etc/alternatives /etc/gitconfig /etc/magic /etc/mime.types /etc/fonts /etc/python3 /etc/perl \
         /etc/java /etc/ssl/openssl.cnf /etc/pki/tls/openssl.cnf /etc/crypto-policies"),
    Need(Right::Read, "the certificates of authorities; private keys are in other folders",
        "/etc/ssl/certs /etc/ssl/cert.pem /etc/ca-certificates /etc/pki/tls/certs /etc/pki/tls/cert.pem \
         /etc/pki/ca-trust /etc/ssl/ca-bundle.pem /var/lib/ca-certificates"),
    Need(Right::Read, "what the command may know of itself; of other processes nothing, its own children included",
        "/proc/self"),
    Need(Right::Read, "processors, memory and limits, by which a program chooses its threads and buffers",
        "/proc/cpuinfo /proc/meminfo /proc/stat /proc/uptime /proc/loadavg /proc/version /proc/filesystems \
         /proc/sys/vm/overcommit_memory /proc/sys/vm/max_map_count /proc/sys/kernel/osrelease \
         /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max /proc/sys/kernel/cap_last_cap \
         /proc/sys/kernel/random/uuid /proc/sys/fs/file-max /proc/sys/fs/nr_open /proc/sys/fs/pipe-max-size \
         /proc/sys/fs/inotify /sys/devices/system/cpu /sys/devices/system/node /sys/fs/cgroup \
         /sys/kernel/mm/transparent_hugepage"),
    Need(Right::Device, "devices without content, and the terminal that the command was started from",
        "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty"),
];

#[rustfmt::skip]
pub(crate) const NETWORK_NEEDS: &[Need] = &[
    Need(Right::Read, "how names become addresses",
        "/etc/resolv.conf /run/systemd/resolve /etc/hosts /etc/host.conf /etc/gai.conf /etc/services \
         /etc/protocols"),
    Need(Right::Read, "how long a queue of connections may be", "/proc/sys/net/core/somaxconn"),
];

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test reads and rewrites the page")]

    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn table(needs: &[Need]) -> String {
        let mut text = String::from("| paths | may be | why |\n|---|---|---|\n");
        for need in needs {
            let paths: Vec<String> = need.paths().map(|path| format!("`{path}`")).collect();
            let right = match need.0 {
                Right::Execute => "read, executed",
                Right::Read => "read",
                Right::Device => "read, written",
            };
            let _ = writeln!(text, "| {} | {right} | {} |", paths.join(" "), need.1);
        }
        text
    }

    #[test]
    fn page_lists_what_every_command_may_reach() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/exec.md");
        let old = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
        let mut page = old.clone();
        for (name, needs) in [("always", COMMON_NEEDS), ("network", NETWORK_NEEDS)] {
            let begin = format!("<!-- {name}: written by the test -->\n");
            let (before, rest) = page.split_once(&begin).expect("the mark is there");
            let (_, after) = rest.split_once("<!-- end -->").expect("the end is there");
            page = format!("{before}{begin}{}<!-- end -->{after}", table(needs));
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &page).unwrap();
        } else {
            assert_eq!(
                old, page,
                "UPDATE_DOCS=1 cargo test -p rootbound-self-sandbox page_lists rewrites docs/exec.md"
            );
        }
    }
}
