//! Which system calls are refused to a command of a host, whatever their arguments or because of them.
//!
//! A command starts programs, makes files of every kind and sends signals to its children: these stay. What goes is a
//! way out that Landlock does not know.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpOp, SeccompRule};

use super::condition::{when, word};
use super::filter::CallFilter;
use super::shared_calls;

/// Calls that are refused whatever their arguments, besides those of [`shared_calls`].
const REFUSED: &[c_long] = &[
    // Memory, queues and locks that all processes of one person share by a number or a name that is no path
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Without the network no socket is made. `socketpair` stays (see [`conditions`]); these go for a socket that is the
/// command's stdin.
const SOCKETS: &[c_long] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// The whole filter.
pub(super) fn filter(network: bool) -> Result<CallFilter, BackendError> {
    let sockets = if network { &[] } else { SOCKETS };
    let refused = [shared_calls::REFUSED, shared_calls::REFUSED_HERE, REFUSED, sockets];
    Ok(CallFilter::new(&refused, conditions(network)?))
}

/// The calls whose arguments count.
fn conditions(network: bool) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let rule = SeccompRule::new;
    let mut rules = BTreeMap::new();
    // Namespaces: a new user namespace gives all capabilities in it.
    let namespaces = NAMESPACES.iter().map(|flag| u64::from(flag.unsigned_abs()));
    let namespaces: Result<_, BackendError> =
        namespaces.map(|flag| rule(vec![when(0, MaskedEq(flag), flag)?])).collect();
    rules.insert(libc::SYS_clone, namespaces?);
    rules.insert(libc::SYS_ioctl, shared_calls::typing()?);
    rules.extend(shared_calls::scheduling()?);
    // Limits of other processes, which decide whether they live; their numbers may be asked for.
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![word(0, Ne, 0)?, when(2, Ne, 0)?])?]);
    // Memory without random addresses, or all of it executable; 0xffffffff asks what it is.
    rules.insert(libc::SYS_personality, vec![rule(vec![word(0, Ne, u32::MAX)?])?]);
    let is = |index, value: i32| word(index, Eq, value.unsigned_abs());
    let is_not = |index, value: i32| word(index, Ne, value.unsigned_abs());
    if network {
        // Not AF_UNIX, by which every other program of the person is reached: D-Bus, which starts programs outside of
        // the walls, Docker, agents of SSH and GPG. The one protocol of netlink lists the network interfaces.
        let other = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| is_not(0, family));
        let other: Result<_, _> = other.into_iter().collect();
        let netlink = vec![is(0, libc::AF_NETLINK)?, is_not(2, libc::NETLINK_ROUTE)?];
        rules.insert(libc::SYS_socket, vec![rule(other?)?, rule(netlink)?]);
    }
    // A pair of stream sockets is connected for ever; one of datagram sockets can send to any path (`sendmsg`). Raw ones
    // are such sockets as well: https://github.com/torvalds/linux/blob/v6.12/net/unix/af_unix.c#L1057
    let kind = |kind: i32| word(1, MaskedEq(0xf), kind.unsigned_abs());
    rules.insert(
        libc::SYS_socketpair,
        vec![
            rule(vec![is_not(0, libc::AF_UNIX)?])?,
            rule(vec![kind(libc::SOCK_DGRAM)?])?,
            rule(vec![kind(libc::SOCK_RAW)?])?,
        ],
    );
    Ok(rules)
}

/// Flags of `clone(2)` for a process in new namespaces.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
