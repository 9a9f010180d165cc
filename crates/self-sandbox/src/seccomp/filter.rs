//! A filter: which calls are refused, and the program that the kernel runs for each call.

use std::collections::{BTreeMap, BTreeSet};

use libc::c_long;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule};

use super::bpf::{self, answer, jump, load, refuse};

/// Where the numbers of the x32 interface begin, by which each call of x86-64 has a second name.
const X32: u32 = 0x4000_0000;

/// What the kernel calls this architecture (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;
/// Where a filter sees it, and the number of the call (`struct seccomp_data`).
const ARCHITECTURE_AT: u32 = 4;
const NUMBER_AT: u32 = 0;

/// Calls that fail with `EPERM`; all others are allowed.
pub(super) struct CallFilter {
    /// Those that fail whatever their arguments.
    pub(super) refused: BTreeSet<u32>,
    /// Those that fail where one of these rules matches.
    conditions: BTreeMap<c_long, Vec<SeccompRule>>,
}

impl CallFilter {
    pub(super) fn new(refused: &[&[c_long]], conditions: BTreeMap<c_long, Vec<SeccompRule>>) -> Self {
        Self { refused: refused.iter().copied().flatten().map(|call| number(*call)).collect(), conditions }
    }

    /// What the kernel runs.
    pub(super) fn program(self) -> Result<BpfProgram, String> {
        let tree = bpf::search(&self.refused).ok_or("the list of calls is too long")?;
        let mut program = vec![
            load(ARCHITECTURE_AT),
            // The numbers of i386 (`int 0x80`) mean other calls.
            jump(libc::BPF_JEQ, ARCHITECTURE, 1, 0),
            answer(libc::SECCOMP_RET_KILL_PROCESS),
            load(NUMBER_AT),
            jump(libc::BPF_JGE, X32, 0, 1),
            refuse(libc::EPERM),
            // Its flags are in memory that a filter cannot read. If the call seems missing, libc makes its threads by
            // `clone` instead; EPERM would be fatal to it (https://github.com/moby/moby/issues/42680).
            jump(libc::BPF_JEQ, number(libc::SYS_clone3), 0, 1),
            refuse(libc::ENOSYS),
        ];
        for (at, call) in self.conditions.keys().enumerate() {
            let rest = 2 * (self.conditions.len() - at - 1) + tree.len();
            program.push(jump(libc::BPF_JEQ, number(*call), 0, 1));
            program.push(jump(libc::BPF_JA, u32::try_from(rest).map_err(|error| error.to_string())?, 0, 0));
        }
        program.extend(tree);
        let failed = |error: seccompiler::BackendError| error.to_string();
        let filter = SeccompFilter::new(
            self.conditions,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            std::env::consts::ARCH.try_into().map_err(failed)?,
        );
        let conditions: BpfProgram = filter.and_then(TryInto::try_into).map_err(failed)?;
        program.extend(conditions);
        Ok(program)
    }
}

fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or_default()
}
