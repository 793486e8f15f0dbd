//! System calls that the program may not make.

mod program;

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, apply_filter};

use self::program::{Label, Program, Test};
use super::{Failed, context};
use crate::confinement::Confinement;

/// Calls that look into other processes, change mounts or namespaces, load code into the kernel, or bypass the other
/// limits.
const FORBIDDEN: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that reach queues and shared memory of other programs by number or name, if those are not separate.
const SHARED: &[i64] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Flags of `clone` that ask for namespaces. All of them lie in the lower half of its argument.
const NAMESPACES: i32 = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS;

/// Requests by which a program types into a terminal.
const TYPING: [u32; 2] = [0x5412, 0x541C];

/// Value of `setpriority` and of `ioprio_set` that stands for all processes of a user.
const PRIORITY_OF_USER: u32 = 2;
const IO_PRIORITY_OF_USER: u32 = 3;

/// First number of the x32 interface. Its calls have numbers of their own, which no table here lists.
const X32: u32 = 0x4000_0000;

/// Offsets in bytes in the kernel's description of a call (`struct seccomp_data`): its number, its architecture, and
/// the lower halves of its first two arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// Permanently applies a filter to this thread, which also rules out new privileges.
pub(super) fn apply(filter: &BpfProgram) -> Result<(), Failed> {
    apply_filter(filter).map_err(context("calls"))
}

/// Returns the filter in the form of the kernel. It is a single one, because the kernel takes longer for each filter
/// than for all that is in it. It finds a call by binary search: the kernel tries the filter for the number of every
/// call when it is applied, which takes 0.1 ms less than with a test for each call.
pub(crate) fn filter(confinement: &Confinement) -> Result<BpfProgram, Failed> {
    let architecture = architecture().map_err(context("calls"))?;
    written(confinement, architecture).map_err(context("calls"))
}

/// Returns the kernel's name of this architecture (`AUDIT_ARCH_…` in `linux/audit.h`).
fn architecture() -> Result<u32, &'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(0xC000_003E),
        "aarch64" => Ok(0xC000_00B7),
        "riscv64" => Ok(0xC000_00F3),
        _ => Err("the numbers of this architecture's calls are not known"),
    }
}

fn written(confinement: &Confinement, architecture: u32) -> Result<BpfProgram, program::TooFar> {
    let mut program = Program::default();
    let allowed = program.answer(libc::SECCOMP_RET_ALLOW);
    let refused = program.answer(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
    let absent = program.answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs());
    let foreign = program.answer(libc::SECCOMP_RET_KILL_PROCESS);
    let mut calls: Vec<(i64, Label)> = forbidden(confinement).map(|call| (call, refused)).collect();
    // A program that finds `clone3` missing uses the older call, whose flags the filter can see.
    calls.push((libc::SYS_clone3, absent));
    let asks = program.branch(Test::AnyBit, NAMESPACES.unsigned_abs(), refused, allowed)?;
    calls.push((libc::SYS_clone, program.load(FIRST_ARGUMENT, asks)));
    let types = one_of(&mut program, &TYPING, refused, allowed)?;
    calls.push((libc::SYS_ioctl, program.load(SECOND_ARGUMENT, types)));
    let family = one_of(&mut program, &families(confinement), allowed, refused)?;
    calls.push((libc::SYS_socket, program.load(FIRST_ARGUMENT, family)));
    if !confinement.inside {
        // Other processes are visible, and a limit of processor time would end them. A program that means itself passes
        // zero.
        let itself = program.branch(Test::Equal, 0, allowed, refused)?;
        calls.push((libc::SYS_prlimit64, program.load(FIRST_ARGUMENT, itself)));
        for (call, user) in [(libc::SYS_setpriority, PRIORITY_OF_USER), (libc::SYS_ioprio_set, IO_PRIORITY_OF_USER)] {
            let kind = program.branch(Test::Equal, user, refused, allowed)?;
            let kind = program.load(FIRST_ARGUMENT, kind);
            let itself = program.branch(Test::Equal, 0, kind, refused)?;
            calls.push((call, program.load(SECOND_ARGUMENT, itself)));
        }
    }
    let known = search(&mut program, &ranges(&calls, allowed, absent))?;
    let known = program.load(NUMBER, known);
    let own = program.branch(Test::Equal, architecture, known, foreign)?;
    program.load(ARCHITECTURE, own);
    Ok(program.finish())
}

/// Returns the calls that are refused whatever their arguments are.
fn forbidden(confinement: &Confinement) -> impl Iterator<Item = i64> {
    let shared = if confinement.has_own_view() { &[] } else { SHARED };
    FORBIDDEN.iter().chain(shared).copied()
}

/// Continues at `yes` if the loaded value is one of these, else at `no`.
fn one_of(program: &mut Program, values: &[u32], yes: Label, no: Label) -> Result<Label, program::TooFar> {
    values.iter().try_fold(no, |rest, value| program.branch(Test::Equal, *value, yes, rest))
}

/// Returns the start of each range of call numbers, with the label of its answer.
fn ranges(calls: &[(i64, Label)], allowed: Label, absent: Label) -> Vec<(u32, Label)> {
    let calls = calls.iter().filter_map(|(call, label)| Some((u32::try_from(*call).ok()?, *label)));
    let mut starts = BTreeMap::from([(0, allowed)]);
    starts.extend(calls.clone().map(|(call, _)| (call.saturating_add(1), allowed)));
    starts.extend(calls);
    if cfg!(target_arch = "x86_64") {
        starts.insert(X32, absent);
    }
    let mut ranges: Vec<(u32, Label)> = starts.into_iter().collect();
    ranges.dedup_by_key(|(_, label)| *label);
    ranges
}

/// Finds the range of a number by binary search.
fn search(program: &mut Program, ranges: &[(u32, Label)]) -> Result<Label, program::TooFar> {
    let (low, high) = ranges.split_at(ranges.len().div_euclid(2));
    match (low, high) {
        ([], [(_, only)]) => Ok(*only),
        (_, [(start, _), ..]) => {
            let (yes, no) = (search(program, high)?, search(program, low)?);
            program.branch(Test::AtLeast, *start, yes, no)
        }
        (_, []) => Err(program::TooFar),
    }
}

/// Returns the families of sockets that may be opened. All others are for hardware, for the host of a virtual machine,
/// or rare.
fn families(confinement: &Confinement) -> Vec<u32> {
    let mut families = Vec::new();
    if confinement.network || confinement.has_own_view() {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if confinement.unix_sockets {
        families.push(libc::AF_UNIX);
    }
    families.into_iter().map(i32::unsigned_abs).collect()
}

#[cfg(test)]
mod tests;
