//! A filter: which calls are refused, and the program that the kernel runs for each call (classic BPF, see seccomp(2)).

use std::collections::{BTreeMap, BTreeSet};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

/// Where the numbers of the x32 interface begin, by which each call of x86-64 has a second name.
const X32: u32 = 0x4000_0000;

/// The kernel's number of this architecture (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;

/// Where a filter sees it, and the number of the call (`struct seccomp_data`).
const ARCHITECTURE_AT: u32 = 4;
const NUMBER_AT: u32 = 0;

/// Calls that fail where one of their rules matches.
pub(super) type Conditions = BTreeMap<c_long, Vec<SeccompRule>>;

/// A rule that matches where all of these conditions hold.
pub(super) fn rule<const N: usize>(
    conditions: [Result<SeccompCondition, BackendError>; N],
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// A condition on an argument that fills its register: a pointer, or flags.
pub(super) fn when(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Qword, how, value)
}

/// A condition on an argument of 32 bits, such as an `int`: the kernel ignores what is above them.
pub(super) fn word(index: u8, how: SeccompCmpOp, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, how, value.into())
}

/// Calls that fail with `EPERM`; all others are allowed.
pub(super) struct CallFilter {
    /// Those that fail whatever their arguments.
    pub(super) refused: BTreeSet<u32>,
    conditions: Conditions,
}

impl CallFilter {
    pub(super) fn new(refused: &[&[c_long]], conditions: Conditions) -> Self {
        Self { refused: refused.iter().copied().flatten().map(|call| number(*call)).collect(), conditions }
    }

    /// Compiles the instructions.
    pub(super) fn program(self) -> Result<BpfProgram, String> {
        let tree = search(&segments(&self.refused)).ok_or("the list of calls is too long")?;
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
            // By a jump of its own: the distance of a conditional one has 8 bits.
            program.push(jump(libc::BPF_JA, u32::try_from(rest).map_err(|error| error.to_string())?, 0, 0));
        }
        program.extend(tree);
        let failed = |error: BackendError| error.to_string();
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

/// Splits the numbers where the answer changes: the first of each segment, and whether it is refused from there on.
fn segments(refused: &BTreeSet<u32>) -> Vec<(u32, bool)> {
    let mut segments = vec![(0, false)];
    for call in refused {
        // Number 0 (`read`, on arm64 `io_setup`) is in no list.
        if !refused.contains(&(call - 1)) {
            segments.push((*call, true));
        }
        if !refused.contains(&(call + 1)) {
            segments.push((call + 1, false));
        }
    }
    segments
}

/// Refuses the calls of refused segments and allows all others. `None` where a jump would be longer than a jump can be.
///
/// The numbers are halved again and again instead of compared one by one: the kernel runs a filter once for each call
/// that there is when it is installed, which takes 0.12 ms of each start instead of 0.30.
fn search(segments: &[(u32, bool)]) -> Option<BpfProgram> {
    if let [(_, refused)] = segments {
        return Some(vec![if *refused { refuse(libc::EPERM) } else { answer(libc::SECCOMP_RET_ALLOW) }]);
    }
    let (low, high) = segments.split_at(segments.len() / 2);
    let (first, _) = high.first()?;
    let (low, high) = (search(low)?, search(high)?);
    let mut program = vec![jump(libc::BPF_JGE, *first, u8::try_from(low.len()).ok()?, 0)];
    program.extend(low);
    program.extend(high);
    Some(program)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}

fn load(at: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at)
}

fn jump(how: u32, value: u32, yes: u8, no: u8) -> sock_filter {
    instruction(libc::BPF_JMP | how | libc::BPF_K, yes, no, value)
}

fn answer(code: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, code)
}

fn refuse(errno: i32) -> sock_filter {
    answer(libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}
