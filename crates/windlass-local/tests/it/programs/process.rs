//! The local process port.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass_local::LocalProcess;
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessExit, ProcessOutcome};

use crate::programs::support::{NONE, alive, eventually, shell, sleeper, unique};

/// Far less than anything here would take if it did not end early, far more than it takes on a busy machine.
const PROMPT: Duration = Duration::from_secs(10);

async fn run(text: &str) -> ProcessOutcome {
    LocalProcess::new(unique()).run(shell(text), &Cancel::new()).await.unwrap()
}

#[tokio::test]
async fn input_is_empty() {
    let outcome =
        run("cat; read line || echo none; test -t 0 || echo no terminal; (: </dev/tty) 2>/dev/null || echo no tty")
            .await;
    assert_eq!(outcome.stdout.head, "none\nno terminal\nno tty\n");
    assert_eq!(outcome.exit, ProcessExit::Code(0));
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_the_mark() {
    let tag = unique();
    let process = LocalProcess::new(tag.clone());
    let mut command = ProcessCommand::new("/usr/bin/env", "/");
    command.env = vec![("A".into(), "1".into())];
    let outcome = process.run(command, &Cancel::new()).await.unwrap();
    let mut lines: Vec<&str> = outcome.stdout.head.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=1", &format!("{}={tag}.0", LocalProcess::MARK)]);
}

#[tokio::test]
async fn the_child_leads_a_session() {
    let outcome = run("read -r _ _ _ _ group session _ </proc/$$/stat; echo $((group == $$)) $((session == $$))").await;
    assert_eq!(outcome.stdout.head, "1 1\n");
}

#[tokio::test]
async fn what_the_child_leaves_behind_neither_delays_nor_survives() {
    let tag = unique();
    let sleep = sleeper(&tag);
    let cases = [
        ("holds the output", format!("{sleep} & echo hi")),
        ("in its own session", format!("setsid {sleep} & echo hi")),
        ("silent", format!("{sleep} >/dev/null 2>&1 & echo hi")),
        ("silent, in its own session", format!("setsid {sleep} >/dev/null 2>&1 & echo hi")),
        ("no hang-up", format!("nohup {sleep} >/dev/null 2>&1 & echo hi")),
        ("forked twice", format!("(setsid {sleep} >/dev/null 2>&1 &) ; echo hi")),
        ("forked twice, without environment, holding the output", format!("(env -i setsid {sleep} &); echo hi")),
        ("with nothing of the call", format!("env -i setsid {sleep} >/dev/null 2>&1 </dev/null & sleep 0.1; echo hi")),
        (
            "forked twice, with nothing of the call",
            format!("(env -i setsid bash -c '{sleep} & {sleep}' >/dev/null 2>&1 </dev/null &); sleep 0.1; echo hi"),
        ),
        ("its child, ignoring requests", format!("(trap '' TERM; setsid {sleep} & {sleep}) >/dev/null & echo hi")),
        ("stopped", format!("{sleep} >/dev/null 2>&1 & kill -STOP $!; echo hi")),
    ];
    for (case, text) in cases {
        let start = Instant::now();
        let outcome = run(&text).await;
        assert!(start.elapsed() < PROMPT, "{case}");
        assert_eq!(outcome.stdout.head, "hi\n", "{case}");
        assert_eq!(outcome.exit, ProcessExit::Code(0), "{case}");
        assert!(outcome.stopped >= 1, "{case}");
        assert_eq!(alive(&tag), NONE, "{case}");
    }
}

/// The memory of a host holds keys. `CAP_SYS_PTRACE` lets a program of root read the memory of a process with more
/// rights.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_of_root_does_not_read_the_memory_of_the_host() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:\t")).unwrap();
    if u64::from_str_radix(rights, 16).unwrap() & (1 << 19) == 0 {
        // Nothing is to be taken away.
        return;
    }
    for host in [std::process::id().to_string(), "$PPID".to_owned()] {
        let outcome = run(&format!("(: <>/proc/{host}/mem) 2>&1")).await;
        assert!(outcome.stdout.head.contains("Permission denied"), "{host}: {outcome:?}");
    }
    // A command can look at the programs that it starts.
    let own = run("sleep 5 & (: <>/proc/$!/mem); code=$?; kill $!; exit $code").await;
    assert_eq!(own.exit, ProcessExit::Code(0), "{own:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_only_reads_has_bounded_memory_and_is_ended_before_others() {
    let bounds = "ulimit -d; cat /proc/self/oom_score_adj";
    let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
    let process = LocalProcess::new(unique());
    for (only_reads, expected) in [(true, "4194304\n1000\n".to_owned()), (false, format!("unlimited\n{own}"))] {
        let mut command = shell(bounds);
        command.only_reads = only_reads;
        assert_eq!(process.run(command, &Cancel::new()).await.unwrap().stdout.head, expected);
    }
}

#[tokio::test]
async fn a_filter_at_the_end_may_finish() {
    let outcome = run("echo hi > >(sleep 0.05; cat)").await;
    assert_eq!((outcome.stdout.head.as_str(), outcome.stopped), ("hi\n", 0));
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree_even_against_its_will() {
    let tag = unique();
    let sleep = sleeper(&tag);
    let stubborn = format!("trap '' TERM HUP INT; {sleep} & {sleep} & while :; do {sleep}; done");
    let text =
        format!("{stubborn} & (trap '' TERM; setsid bash -c \"{stubborn}\") & trap '' TERM; while :; do {sleep}; done");
    let mut command = shell(&text);
    command.timeout = Some(Duration::from_millis(600));
    let start = Instant::now();
    let outcome = LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!(outcome.exit, ProcessExit::TimedOut);
    assert!(start.elapsed() < PROMPT);
    assert_eq!(alive(&tag), NONE);
}

#[tokio::test]
async fn who_listens_to_the_request_may_say_good_bye() {
    let mut command = shell("trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.01; done");
    command.timeout = Some(Duration::from_millis(500));
    let outcome = LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!((outcome.exit, outcome.stdout.head.as_str()), (ProcessExit::TimedOut, "ready\nbye\n"));
}

#[tokio::test]
async fn a_cancel_ends_the_tree_and_keeps_the_output() {
    let tag = unique();
    let sleep = sleeper(&tag);
    let cancel = Cancel::new();
    let mut command = shell(&format!("echo begun; setsid {sleep} & {sleep}"));
    let giver = cancel.clone();
    command.progress = Some(Arc::new(move |_: &str| giver.cancel()));
    let outcome = LocalProcess::new(unique()).run(command, &cancel).await.unwrap();
    assert_eq!((outcome.exit, outcome.stdout.head.as_str()), (ProcessExit::Cancelled, "begun\n"));
    assert_eq!(alive(&tag), NONE);
}

#[tokio::test]
async fn a_call_cancelled_before_its_turn_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ran");
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = LocalProcess::new(unique()).run(shell(&format!("touch {}", file.display())), &cancel).await.unwrap();
    assert_eq!(outcome.exit, ProcessExit::Cancelled);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_dropped_call_kills_its_tree() {
    let tag = unique();
    let sleep = sleeper(&tag);
    let process = LocalProcess::new(unique());
    let cancel = Cancel::new();
    let started = Arc::new(tokio::sync::Notify::new());
    let mut command = shell(&format!("setsid {sleep} & {sleep} & echo begun; trap '' TERM; {sleep}"));
    let notify = Arc::clone(&started);
    command.progress = Some(Arc::new(move |_: &str| notify.notify_one()));
    tokio::select! {
        _ = process.run(command, &cancel) => panic!("it sleeps"),
        () = started.notified() => {}
    }
    eventually("all are gone", || alive(&tag).is_empty());
}

#[tokio::test]
async fn a_flood_is_bounded_and_stopped_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let spill = folder.path().join("out");
    let mut command = shell("yes");
    command.timeout = Some(Duration::from_millis(300));
    command.inline_bytes = 1000;
    command.spill = Some(spill.clone());
    let process = LocalProcess::new(unique()).with_spill_cap(1 << 20);
    let outcome = process.run(command, &Cancel::new()).await.unwrap();
    assert_eq!(outcome.exit, ProcessExit::TimedOut);
    assert_eq!(outcome.stdout.head, "y\n".repeat(250));
    assert!(outcome.stdout.omitted_bytes > 1 << 20);
    assert_eq!(outcome.stdout.tail.len(), 500);
    assert_eq!(outcome.spilled.map(|file| file.path), Some(spill.clone()));
    assert_eq!(std::fs::metadata(spill).unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn one_endless_line_is_kept_in_full_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let spill = folder.path().join("out");
    let mut command = shell("head -c 50000000 /dev/zero | tr '\\0' x; echo end");
    command.spill = Some(spill.clone());
    let outcome = LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!(outcome.exit, ProcessExit::Code(0));
    assert!(outcome.stdout.head.bytes().all(|byte| byte == b'x'));
    assert!(outcome.stdout.tail.ends_with("xend\n"));
    assert_eq!(outcome.stdout.head.len() + outcome.stdout.tail.len(), 64 * 1024);
    assert_eq!(std::fs::metadata(spill).unwrap().len(), 50_000_004);
}

#[tokio::test]
async fn much_on_one_stream_does_not_block_the_other() {
    let outcome = run("head -c 1000000 /dev/zero | tr '\\0' e >&2; echo out").await;
    assert_eq!(outcome.stdout.head, "out\n");
    assert_eq!(outcome.stderr.omitted_bytes, 1_000_000 - 64 * 1024);
}

#[tokio::test]
async fn both_streams_have_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = shell("echo output; echo errors >&2");
    command.inline_bytes = 4;
    command.spill = Some(folder.path().join("all"));
    LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!(std::fs::read(folder.path().join("all")).unwrap(), b"output\n");
    assert_eq!(std::fs::read(folder.path().join("all.stderr")).unwrap(), b"errors\n");
}

#[tokio::test]
async fn merged_streams_keep_their_order() {
    let mut command = shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done");
    command.merge_streams = true;
    let outcome = LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!(outcome.stdout.head, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    assert_eq!(outcome.stderr.head, "");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    let outcome = run(r"printf 'a\377b\0\303'; printf '\xff\xfeh\0i\0'").await;
    assert_eq!(outcome.stdout.head, "a\u{fffd}b\0\u{fffd}\u{fffd}\u{fffd}h\0i\0");
}

#[tokio::test]
async fn endings_are_distinguished() {
    assert_eq!(run("exit 7").await.exit, ProcessExit::Code(7));
    assert_eq!(run("kill -KILL $$").await.exit, ProcessExit::Signal(9));
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let process = LocalProcess::new(unique());
    let no_folder = { ProcessCommand::new("/bin/bash", "/no/such/folder") };
    let no_program = ProcessCommand::new("no-such-program", "/");
    let mut too_long = shell("true");
    too_long.args.push("x".repeat(1 << 20).into());
    for (command, expected) in [
        (no_folder, "the directory /no/such/folder does not exist"),
        (no_program, "no-such-program was not found"),
        (too_long, "too long"),
    ] {
        let error = process.run(command, &Cancel::new()).await.unwrap_err();
        assert!(error.message.contains(expected), "{}", error.message);
    }
}

#[tokio::test]
async fn many_calls_take_turns_and_leave_no_zombies() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let process = Arc::new(LocalProcess::new(unique()).with_concurrency(4));
    let text = format!("echo + >>{0}; sleep 0.01; echo - >>{0}", log.display());
    let calls: Vec<_> = (0..60)
        .map(|_| {
            let (process, command) = (Arc::clone(&process), shell(&text));
            tokio::spawn(async move { process.run(command, &Cancel::new()).await.unwrap().exit })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), ProcessExit::Code(0));
    }
    let mut running = 0;
    let mut most = 0;
    for line in std::fs::read_to_string(log).unwrap().lines() {
        running += if line == "+" { 1 } else { -1 };
        most = most.max(running);
    }
    assert!((1..=4).contains(&most), "{most}");
    assert_eq!(running, 0);
}

#[tokio::test]
async fn the_child_is_reaped() {
    let outcome = run("echo $$").await;
    let status = format!("/proc/{}/stat", outcome.stdout.head.trim());
    assert!(std::fs::read(status).is_err());
}

#[tokio::test]
async fn progress_is_reported_while_it_runs() {
    let reports: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut command = shell("echo one; echo two; sleep 0.6; echo three");
    let sink = Arc::clone(&reports);
    command.progress = Some(Arc::new(move |text: &str| sink.lock().unwrap().push(text.to_owned())));
    LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap();
    assert_eq!(reports.lock().unwrap().first().map(String::as_str), Some("one\ntwo"));
}

#[tokio::test]
async fn output_that_is_no_utf_8_is_read_in_its_code_page() {
    let process = LocalProcess::new(unique()).with_code_page(874);
    let outcome = process.run(shell("printf '\\241\\322'; printf 'ก' >&2"), &Cancel::new()).await.unwrap();
    assert_eq!((outcome.stdout.head.as_str(), outcome.stderr.head.as_str()), ("กา", "ก"));
}
