//! Which calls of the system the program may not make.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::{Failed, context};
use crate::confinement::Confinement;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that look into other processes, change mounts or namespaces, load code into the kernel, or go around the other limits.
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

/// Flags of `clone` that ask for namespaces.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Requests by which a program types into a terminal.
const TYPING: &[u64] = &[0x5412, 0x541C];

/// Applies a filter to this thread, for good. New privileges are given up with it.
pub(super) fn apply(filter: &BpfProgram) -> Result<(), Failed> {
    apply_filter(filter).map_err(context("calls"))
}

/// The filter as the kernel takes it. One, because the kernel takes longer for each than for all that is in it.
pub(crate) fn filter(confinement: &Confinement) -> Result<BpfProgram, Failed> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(context("calls"))?;
    let rules = forbidden(confinement).map_err(context("calls"))?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(context("calls"))?;
    let rest: BpfProgram = filter.try_into().map_err(context("calls"))?;
    Ok([without_hidden_flags(arch), rest].concat())
}

fn forbidden(confinement: &Confinement) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    let flags = NAMESPACES.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        rule(0, &SeccompCmpArgLen::Qword, &[(SeccompCmpOp::MaskedEq(flag), flag)])
    });
    rules.insert(libc::SYS_clone, flags.collect::<Result<_, _>>()?);
    let typing = TYPING.iter().map(|request| rule(1, &SeccompCmpArgLen::Dword, &[(SeccompCmpOp::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    let families = families(confinement);
    let others: Vec<_> = families.iter().map(|family| (SeccompCmpOp::Ne, *family)).collect();
    rules.insert(
        libc::SYS_socket,
        if others.is_empty() { Vec::new() } else { vec![rule(0, &SeccompCmpArgLen::Dword, &others)?] },
    );
    Ok(rules)
}

/// The kinds of sockets that may be opened. All others are for hardware, for the host of a virtual machine, or rare.
fn families(confinement: &Confinement) -> Vec<u64> {
    let mut families = Vec::new();
    if confinement.network || confinement.has_own_view() {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if confinement.unix_sockets {
        families.push(libc::AF_UNIX);
    }
    families.into_iter().map(|family| u64::from(family.unsigned_abs())).collect()
}

/// One rule about one argument; all of these must be true of it.
fn rule(
    argument: u8,
    length: &SeccompCmpArgLen,
    tests: &[(SeccompCmpOp, u64)],
) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = tests
        .iter()
        .map(|(test, value)| SeccompCondition::new(argument, length.clone(), test.clone(), *value))
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

/// Says that some calls are not there. Jumps of the kernel's language are relative, so it can stand before another filter.
fn without_hidden_flags(arch: TargetArch) -> BpfProgram {
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let not_there = || step(0x06, 0, 0, 0x0005_0000 | libc::ENOSYS.unsigned_abs());
    // A program that reads that there is no `clone3` takes the older call, whose flags can be seen.
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    // Load the number of the call, compare, answer.
    let mut filter = vec![step(0x20, 0, 0, 0), step(0x15, 0, 1, clone3), not_there()];
    if arch == TargetArch::x86_64 {
        // The calls of the x32 interface have numbers of their own, which the rest does not know.
        filter.extend([step(0x35, 0, 1, 0x4000_0000), not_there()]);
    }
    filter
}
