//! Every system call of the store fails once, in every way it can: no acknowledged entry is lost, failures are reported
//! and permanent, and afterwards every session can be read and continued.
//!
//! The calls are made to fail with strace; if that is missing or may not trace, the tests report so and test nothing.
//! Short writes come from a limit on the size of files, which needs a shell only.
//!
//! `cargo test -p windlass-store --test it -- --ignored --nocapture faults::every_error` makes each call fail with each
//! error; the test that always runs takes the errors in turn.

mod inject;
mod work;

use inject::{Ended, Injection};
use std::process::{Command, Stdio};
use windlass_testkit::strace::can_attach;
use work::World;

/// Calls of the store that can fail, with their errors.
const FAULTS: &[(&str, &[&str])] = &[
    ("openat", &["EMFILE", "ENOSPC", "EIO", "EINTR"]),
    ("write", &["ENOSPC", "EIO", "EDQUOT", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("fdatasync", &["EIO", "ENOSPC", "EINTR"]),
    ("fsync", &["EIO", "ENOSPC", "EINTR"]),
    ("flock", &["ENOLCK", "EIO", "EINTR", "EAGAIN"]),
    ("rename", &["EIO", "ENOSPC"]),
    ("renameat", &["EIO", "ENOSPC"]),
    ("renameat2", &["EIO", "EINVAL"]),
    ("linkat", &["EPERM", "EIO", "ENOSPC"]),
    ("unlink", &["EIO", "EBUSY"]),
    ("unlinkat", &["EIO", "EBUSY"]),
    ("mkdir", &["ENOSPC", "EIO", "EMLINK"]),
    ("mkdirat", &["ENOSPC", "EIO", "EMLINK"]),
    ("statx", &["EIO", "EINTR"]),
    ("lseek", &["EIO"]),
    ("ftruncate", &["EIO", "EINTR"]),
    ("getdents64", &["EIO"]),
    ("copy_file_range", &["ENOSPC", "EIO", "EXDEV"]),
];

/// Upper bound for the number of calls of one kind.
const MOST_CALLS: u32 = 400;

/// Results of a number of runs.
#[derive(Debug, Default)]
struct Figures {
    runs: u32,
    injected: u32,
    failed: u32,
    acknowledged: usize,
}

impl Figures {
    fn add(&mut self, ended: &Ended) {
        self.runs += 1;
        self.injected += u32::from(ended.injected);
        self.failed += u32::from(ended.report.iter().any(|line| line.starts_with("error ")));
        self.acknowledged += ended.report.iter().filter(|line| line.starts_with("did ")).count();
    }
}

/// Makes each call fail, with the errors that `choose` picks. Ends with the first call that does not occur.
fn every_call(call: &str, choose: impl Fn(u32) -> Vec<&'static str>, figures: &mut Figures) {
    for number in 1..MOST_CALLS {
        let mut is_there = false;
        for error in choose(number) {
            let world = World::new();
            let ended = inject::run(&world, Some(&Injection { call, number, error }));
            let what = format!("{error} at {call} {number}");
            assert!(ended.success, "{what}: it panicked or hung: {:?}", ended.report);
            world.check(&ended.report, &what);
            figures.add(&ended);
            is_there |= ended.injected;
        }
        if !is_there {
            return;
        }
    }
    panic!("there is no end of {call}");
}

#[test]
fn without_a_fault_everything_is_done() {
    let world = World::new();
    let ended = inject::run(&world, None);
    assert!(ended.success && !ended.report.iter().any(|line| line.starts_with("error ")), "{:?}", ended.report);
    assert_eq!(ended.report.iter().filter(|line| line.starts_with("did ")).count(), work::STEPS, "{:?}", ended.report);
    world.check(&ended.report, "no fault");
}

#[test]
fn a_fault_at_any_call_loses_nothing_that_was_acknowledged() {
    if !can_attach() {
        return;
    }
    let mut figures = Figures::default();
    for (call, errors) in FAULTS {
        let in_turn = |number: u32| errors.get(number as usize % errors.len()).copied().into_iter().collect();
        every_call(call, in_turn, &mut figures);
    }
    println!("{figures:?}");
    assert!(figures.injected > 100, "{figures:?}");
}

#[test]
#[ignore = "takes minutes"]
fn every_error_at_every_call_loses_nothing_that_was_acknowledged() {
    assert!(can_attach());
    let mut figures = Figures::default();
    for (call, errors) in FAULTS {
        every_call(call, |_| errors.to_vec(), &mut figures);
        println!("after {call}: {figures:?}");
    }
}

/// Acknowledged data would survive the loss of the machine only if each new name on the path to it does.
#[test]
fn a_name_is_durable_before_what_it_leads_to_is_acknowledged() {
    if !can_attach() {
        return;
    }
    let world = World::new().without_home();
    let trace = inject::trace(&world, "?mkdir,?mkdirat,fsync,fdatasync,write");
    for (did, names) in [("did session 0", 4), ("did agent 0", 2), ("did imported 1", 0), ("did keep one", 2)] {
        let acknowledged = trace.find(&format!("\\n{did}\\n")).unwrap_or_else(|| panic!("{did}: {trace}"));
        let before = trace.get(..acknowledged).unwrap();
        let made: Vec<&str> = before
            .lines()
            .filter(|line| line.contains("mkdir") && line.ends_with("= 0"))
            .filter_map(|line| line.split('"').nth(1))
            .collect();
        assert!(made.len() >= names, "{did}: {made:?}");
        for path in made {
            let (parent, _) = path.rsplit_once('/').unwrap();
            let at = before.find(&format!("\"{path}\"")).unwrap();
            let after = before.get(at..).unwrap();
            let is_synced = |line: &str| line.contains("sync(") && line.contains(&format!("<{parent}>)"));
            assert!(after.lines().any(is_synced), "{did}: the name {path} is not durable\n{before}");
        }
    }
    // The file itself, and its name.
    let first = trace.get(..trace.find("\\ndid session 0\\n").unwrap()).unwrap();
    assert!(first.lines().any(|line| line.contains("sync(") && line.contains(".jsonl>)")), "{first}");
    assert!(first.lines().any(|line| line.contains("sync(") && line.contains("-kit-faults>)")), "{first}");
}

/// A write that reaches the limit writes the part that still fits, and the next one fails.
#[test]
fn a_write_that_is_cut_short_loses_nothing_that_was_acknowledged() {
    let mut figures = Figures::default();
    for blocks in 0..=work::MOST_BLOCKS {
        let world = World::new();
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""));
        command.arg(std::env::current_exe().unwrap());
        let ended = inject::wait(world.worker(command).stdin(Stdio::null()).spawn().unwrap());
        let what = format!("a limit of {blocks} blocks");
        assert!(ended.success, "{what}: it panicked or hung: {:?}", ended.report);
        world.check(&ended.report, &what);
        figures.add(&ended);
        let cut = ended.report.iter().any(|line| line.starts_with("error "));
        assert_eq!(cut, blocks < work::MOST_BLOCKS, "{what}: {:?}", ended.report);
    }
    println!("{figures:?}");
}
