use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    sock_filter,
};

use super::*;

/// Returns the answer that the kernel would give.
fn run(program: &[sock_filter], architecture: u32, call: u32, arguments: [u64; 2]) -> u32 {
    let half = |offset: u32| match offset {
        0 => call,
        4 => architecture,
        16 | 24 => arguments[usize::from(offset == 24)] as u32,
        20 | 28 => (arguments[usize::from(offset == 28)] >> 32) as u32,
        other => panic!("{other} is not read"),
    };
    let (mut at, mut value) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        let goes = match code {
            0x06 => return k,
            0x05 => {
                at += k as usize;
                continue;
            }
            0x20 => {
                value = half(k);
                continue;
            }
            0x54 => {
                value &= k;
                continue;
            }
            0x15 => value == k,
            0x25 => value > k,
            0x35 => value >= k,
            0x45 => value & k != 0,
            other => panic!("{other:#x} is not known"),
        };
        at += usize::from(if goes { jt } else { jf });
    }
}

/// Returns the same limits as a library writes them, which tests one call after the other.
fn reference(confinement: &Confinement) -> BpfProgram {
    let rule = |argument: u8, length: SeccompCmpArgLen, tests: Vec<(SeccompCmpOp, u64)>| {
        let one = |(test, value)| SeccompCondition::new(argument, length.clone(), test, value).unwrap();
        SeccompRule::new(tests.into_iter().map(one).collect()).unwrap()
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = forbidden(confinement).map(|call| (call, Vec::new())).collect();
    let flags = (0..32).map(|bit| 1 << bit).filter(|flag| NAMESPACES & flag != 0).map(|flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        rule(0, SeccompCmpArgLen::Qword, vec![(SeccompCmpOp::MaskedEq(flag), flag)])
    });
    rules.insert(libc::SYS_clone, flags.collect());
    let typing = TYPING.map(|request| rule(1, SeccompCmpArgLen::Dword, vec![(SeccompCmpOp::Eq, request.into())]));
    rules.insert(libc::SYS_ioctl, typing.into());
    let others: Vec<_> = families(confinement).iter().map(|family| (SeccompCmpOp::Ne, u64::from(*family))).collect();
    let others = if others.is_empty() { Vec::new() } else { vec![rule(0, SeccompCmpArgLen::Dword, others)] };
    rules.insert(libc::SYS_socket, others);
    if !confinement.inside {
        let one = |argument, test, value: u32| rule(argument, SeccompCmpArgLen::Dword, vec![(test, value.into())]);
        rules.insert(libc::SYS_prlimit64, vec![one(0, SeccompCmpOp::Ne, 0)]);
        let others = |user| vec![one(1, SeccompCmpOp::Ne, 0), one(0, SeccompCmpOp::Eq, user)];
        rules.insert(libc::SYS_setpriority, others(PRIORITY_OF_USER));
        rules.insert(libc::SYS_ioprio_set, others(IO_PRIORITY_OF_USER));
    }
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap().try_into().unwrap()
}

fn confinements() -> [Confinement; 4] {
    let none = Confinement::default();
    let network = Confinement { network: true, ..none.clone() };
    let inside = Confinement { inside: true, ..none.clone() };
    let all = Confinement { namespaces: true, unix_sockets: true, ..none.clone() };
    [none, network, inside, all]
}

#[test]
fn every_call_is_answered_as_by_a_filter_that_tests_one_after_the_other() {
    let own = architecture().unwrap();
    let one_bit = (0..64).map(|bit| 1_u64 << bit);
    let arguments: Vec<u64> = one_bit.chain(0..64).chain([0x5411, 0x5412, 0x5413, 0x541B, 0x541C, 0x541D]).collect();
    let mut refused = 0;
    for confinement in confinements() {
        let (filter, reference) = (filter(&confinement).unwrap(), reference(&confinement));
        assert!(filter.len() < 120, "{}", filter.len());
        for call in (0..700).filter(|call| i64::from(*call) != libc::SYS_clone3) {
            for argument in &arguments {
                for arguments in
                    [[*argument, 0], [0, *argument], [*argument | 0x5412 << 32, 0x0002_0000 << 32 | argument]]
                {
                    let answer = run(&filter, own, call, arguments);
                    assert_eq!(answer, run(&reference, own, call, arguments), "{call} {arguments:x?}");
                    refused += usize::from(answer != libc::SECCOMP_RET_ALLOW);
                }
            }
        }
    }
    assert!(refused > 10_000, "{refused}");
}

/// Repeats the limits without the tables from which the filter is built.
#[test]
fn what_each_confinement_lets_through() {
    let [none, network, inside, all] = confinements().map(|confinement| filter(&confinement).unwrap());
    let own = architecture().unwrap();
    let allows = |filter: &[sock_filter], call: i64, arguments| match run(
        filter,
        own,
        u32::try_from(call).unwrap(),
        arguments,
    ) {
        libc::SECCOMP_RET_ALLOW => true,
        refused => {
            assert_eq!(refused, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs());
            false
        }
    };
    let internet = |filter| [2, 10, 16].map(|family| allows(filter, libc::SYS_socket, [family, 0]));
    assert_eq!(
        [&none, &network, &inside, &all].map(|filter| internet(filter)),
        [[false; 3], [true; 3], [true; 3], [true; 3]]
    );
    let others = |filter| [1, 17, 38].map(|family| allows(filter, libc::SYS_socket, [family, 0]));
    let unix = [true, false, false];
    assert_eq!(
        [&none, &network, &inside, &all].map(|filter| others(filter)),
        [[false; 3], [false; 3], [false; 3], unix]
    );
    let shared = |filter: &[sock_filter]| allows(filter, libc::SYS_msgget, [0, 0]);
    assert_eq!([&none, &network, &inside, &all].map(|filter| shared(filter)), [false, false, true, true]);
    for (arguments, calls, expected) in [
        // A process, a group or a user by number, and the caller itself.
        ([0, 7], [libc::SYS_setpriority, libc::SYS_ioprio_set], [false, true]),
        ([2, 0], [libc::SYS_setpriority, libc::SYS_setpriority], [false, true]),
        ([3, 0], [libc::SYS_ioprio_set, libc::SYS_ioprio_set], [false, true]),
        ([1, 0], [libc::SYS_setpriority, libc::SYS_ioprio_set], [true, true]),
        ([7, 0], [libc::SYS_prlimit64, libc::SYS_prlimit64], [false, true]),
        ([0, 7], [libc::SYS_prlimit64, libc::SYS_prlimit64], [true, true]),
        ([0x11, 0], [libc::SYS_clone, libc::SYS_clone], [true, true]),
        ([0, 0x5412], [libc::SYS_ioctl, libc::SYS_ioctl], [false, false]),
        ([0, 0x5401], [libc::SYS_ioctl, libc::SYS_ioctl], [true, true]),
        ([0, 0], [libc::SYS_ptrace, libc::SYS_mount], [false, false]),
        ([0, 0], [libc::SYS_read, libc::SYS_execve], [true, true]),
    ] {
        for call in calls {
            let found = [&none, &inside].map(|filter| allows(filter, call, arguments));
            assert_eq!(found, expected, "{call} {arguments:?}");
        }
    }
    // Namespaces for mounts, cgroups, names, queues, users, processes and the network, also together with the signal
    // for a child's end.
    for flag in [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        assert!(
            !allows(&none, libc::SYS_clone, [flag, 0]) && !allows(&inside, libc::SYS_clone, [flag | 17, 0]),
            "{flag:#x}"
        );
    }
}

#[test]
fn flags_that_cannot_be_seen_and_numbers_that_are_not_known_are_absent() {
    let own = architecture().unwrap();
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    for confinement in confinements() {
        let filter = filter(&confinement).unwrap();
        let answer = |call| run(&filter, own, call, [0, 0]);
        assert_eq!(answer(u32::try_from(libc::SYS_clone3).unwrap()), absent);
        let x32 = if cfg!(target_arch = "x86_64") { absent } else { libc::SECCOMP_RET_ALLOW };
        assert_eq!([X32, X32 | 59, X32 | 101, u32::MAX].map(answer), [x32; 4]);
        assert_eq!(answer(X32 - 1), libc::SECCOMP_RET_ALLOW);
    }
}

#[test]
fn a_call_of_another_architecture_ends_the_process() {
    let filter = filter(&Confinement::default()).unwrap();
    for other in [0, 0x4000_0003, 0x4000_0028, u32::MAX] {
        assert_eq!(run(&filter, other, 0, [0, 0]), libc::SECCOMP_RET_KILL_PROCESS, "{other:#x}");
    }
}

#[test]
fn a_jump_that_the_language_cannot_say_is_an_error() {
    let mut program = Program::default();
    let end = program.answer(0);
    let mut last = end;
    for _ in 0..256 {
        last = program.answer(1);
    }
    assert!(program.branch(Test::Equal, 0, end, last).is_err() && program.branch(Test::Equal, 0, last, end).is_err());
    assert!(program.branch(Test::Equal, 0, last, last).is_ok());
    // A jump without a test reaches further.
    program.load(4, end);
    assert_eq!(run(&program.finish(), 0, 0, [0, 0]), 0);
}
