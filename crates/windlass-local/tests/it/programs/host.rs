//! A host that is killed takes its children along.

use std::io::Read as _;
use std::process::{Command, Stdio};

use windlass_local::LocalProcess;
use windlass_tool::{Cancel, Process};

use crate::programs::support::{alive, eventually, shell, sleeper, unique};

const TAG: &str = "WINDLASS_TEST_HOST";

/// Not a test of its own: the program that the next test starts and kills.
#[tokio::test]
#[ignore = "the host process of another test"]
async fn host() {
    let Ok(tag) = std::env::var(TAG) else {
        return;
    };
    // The input ends with the test, however that ends.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let sleep = sleeper(&tag);
    // Four children: one that obeys, one that ignores SIGTERM, one in another session, and one with nothing of the
    // call.
    let text = format!(
        "(env -i setsid {sleep} >/dev/null 2>&1 </dev/null &); {sleep} & (trap '' TERM; {sleep}; :) & setsid {sleep} & setsid bash -c 'trap \"\" TERM; {sleep}; :' & {sleep}"
    );
    let _ = LocalProcess::new(format!("host{tag}")).run(shell(&text), &Cancel::new()).await;
}

#[test]
fn children_of_a_killed_host_are_killed() {
    children_are_killed(false);
}

#[test]
fn children_of_a_host_that_is_killed_with_its_watchdog_are_killed() {
    children_are_killed(true);
}

fn children_are_killed(with_watchdog: bool) {
    let tag = unique();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "programs::host::host", "--ignored"])
        .env(TAG, &tag)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let own = format!("300.{tag}");
    eventually("all sleepers run", || alive(&own).len() >= 8);
    if with_watchdog {
        let watchdog = alive("windlass-watchdog").into_iter().find(|pid| alive(&format!("host{tag}")).contains(pid));
        Command::new("kill").args(["-KILL", &watchdog.unwrap().to_string()]).status().unwrap();
    }
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("no sleeper is left", || alive(&own).is_empty());
    eventually("no watchdog is left", || alive(&format!("host{tag}")).is_empty());
}

#[tokio::test]
async fn a_watchdog_that_was_killed_comes_back_and_one_that_is_not_needed_goes() {
    let tag = unique();
    let process = LocalProcess::new(tag.clone());
    let session = format!("{}={tag}.", LocalProcess::MARK);
    assert!(alive(&session).is_empty(), "nothing runs before the first program");

    process.run(shell("true"), &Cancel::new()).await.unwrap();
    let first = alive(&session);
    assert_eq!(first.len(), 1);
    Command::new("kill").args(["-KILL", &first[0].to_string()]).status().unwrap();
    eventually("the first is gone", || !alive(&session).contains(&first[0]));

    process.run(shell("true"), &Cancel::new()).await.unwrap();
    let second = alive(&session);
    assert_eq!(second.len(), 1);
    assert_ne!(first, second);

    drop(process);
    eventually("the second went", || alive(&session).is_empty());
}
