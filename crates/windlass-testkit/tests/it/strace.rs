use windlass_testkit::strace::{self, Inside, Subject};

/// Work of the subject beside observing itself.
const WORK: &str = "WINDLASS_TEST_FAULTS_WORK";

#[test]
#[ignore = "another test starts it, with faults"]
fn subject() {
    let Some(inside) = Inside::find() else { return };
    strace::open_and_read(3);
    let before = strace::descriptors();
    inside.begin();
    let kept = match std::env::var(WORK).as_deref() {
        Ok("leak") => Some(strace::again(|| std::fs::File::open("/dev/null"))),
        Ok("panic") => panic!("as it was asked to"),
        _ => None,
    };
    inside.report(&format!("{} more", strace::descriptors() - before));
    drop(kept);
}

fn run(work: &str, options: &[impl AsRef<str>]) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    Subject::new("strace::subject", place.path()).env(WORK, work).run(options, work)
}

const NO_FAULT: [&str; 0] = [];

#[test]
fn a_subject_reports_what_it_found() {
    assert_eq!(run("", &NO_FAULT).as_deref(), Some("0 more"));
    assert_eq!(run("leak", &NO_FAULT).as_deref(), Some("1 more"));
}

#[test]
#[should_panic(expected = "as it was asked to")]
fn a_subject_that_panics_is_not_overlooked() {
    let _ = run("panic", &NO_FAULT);
}

/// The report is the same whichever of the subject's own observations the fault hits.
#[cfg(target_os = "linux")]
#[test]
fn no_fault_is_met_by_the_look_at_it() {
    if !strace::is_available() {
        return;
    }
    for (call, error) in [("openat", "EMFILE"), ("getdents64", "EIO"), ("read", "EIO"), ("write", "EIO")] {
        let mut reports = 0;
        for when in (1..24).step_by(if call == "read" { 3 } else { 1 }) {
            if let Some(report) = run("", &strace::inject(call, error, when)) {
                assert_eq!(report, "0 more", "{call} {when}");
                reports += 1;
            }
        }
        assert!(reports > 0, "{call}: it never began");
    }
}

/// The fault is real: it hits code that does not try twice.
#[cfg(target_os = "linux")]
#[test]
fn a_call_that_is_named_fails() {
    if !strace::is_available() {
        return;
    }
    let path = ["-P", "/dev/null"].map(str::to_owned);
    let options: Vec<String> = path.into_iter().chain(strace::inject("openat", "EIO", "1+")).collect();
    let met = std::panic::catch_unwind(|| run("leak", &options));
    assert!(met.is_err(), "{met:?}");
}

#[test]
fn a_call_that_is_cut_in_two_counts_whole() {
    let trace = "7 execve(\"/bin/sh\", [\"sh\"] <unfinished ...>\n8  openat(AT_FDCWD, \"x\", O_PATH) = 3</w/x>\n\
                 7 <... execve resumed>) = 0\n9 openat(3, \"y\", O_RDONLY <unfinished ...>\n\
                 9 <... openat resumed>) = 4</w/y>\n9 open(\"z\", O_RDONLY) = -1 EACCES\n9 openat(3, \"w\" <unfinished ...>\n";
    let calls = strace::calls(trace);
    assert_eq!(calls.len(), 5);
    assert!(calls.iter().any(|call| call == "execve(\"/bin/sh\", [\"sh\"] ) = 0"), "{calls:?}");
    let opened: Vec<_> = calls.iter().filter_map(|call| strace::opened(call)).collect();
    assert_eq!(opened, [std::path::PathBuf::from("/w/y"), "/unknown".into()]);
}
