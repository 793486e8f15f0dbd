//! Children, and the groups that they lead.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{ChildStdout, Command};
use tokio::time::timeout;
use windlass_process::Child;
use windlass_tool::EndSignal;

use crate::LONG;

/// A shell with pipes, and the lines that it writes.
fn shell(script: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Child::spawn(command).unwrap();
    let lines = BufReader::new(child.take_stdout().unwrap()).lines();
    (child, lines)
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    timeout(LONG, lines.next_line()).await.expect("a line").unwrap().expect("not the end")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_leads_a_session_and_a_group_of_its_own_without_a_terminal() {
    let (child, _lines) = shell("read line");
    let fields = crate::stat(child.id()).unwrap();
    let id = child.id().to_string();
    // Group, session and terminal.
    assert_eq!(fields[2..5], [id.as_str(), id.as_str(), "0"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_drop_kills_the_child_with_what_it_has_started() {
    let (child, mut lines) = shell("sleep 1000 & echo $!; wait");
    let processes = [child.id(), line(&mut lines).await.parse().unwrap()];
    assert!(processes.iter().all(|process| crate::stat(*process).is_some()));
    drop(child);
    crate::gone(&processes).await;
}

#[tokio::test]
async fn a_child_may_outlive_the_drop() {
    let (child, mut lines) = shell("read line; echo \"got $line\"");
    let mut child = child.outliving();
    let mut stdin = child.take_stdin().unwrap();
    drop(child);
    stdin.write_all(b"it\n").await.unwrap();
    assert_eq!(line(&mut lines).await, "got it");
}

#[tokio::test]
async fn waiting_is_for_the_child_alone_and_its_group_ends_what_it_left() {
    let (mut child, mut lines) = shell("sleep 1000 & echo $!; exit 7");
    let _left = line(&mut lines).await;
    let status = timeout(LONG, child.wait()).await.expect("the child has ended").unwrap();
    assert_eq!(status.code(), Some(7));
    let again = timeout(LONG, child.wait()).await.expect("it stays so").unwrap();
    assert_eq!(again, status);
    child.group().signal(EndSignal::Kill);
    // What held the pipe is gone.
    assert_eq!(timeout(LONG, lines.next_line()).await.expect("the end").unwrap(), None);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stopped_child_is_asked_too() {
    let (mut child, mut lines) = shell("trap 'exit 7' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done");
    assert_eq!(line(&mut lines).await, "ready");
    let stopped = async {
        while crate::stat(child.id()).unwrap()[0] != "T" {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, stopped).await.expect("it stops itself");
    child.group().signal(EndSignal::Ask);
    assert_eq!(timeout(LONG, child.wait()).await.expect("its end").unwrap().code(), Some(7));
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error() {
    assert_eq!(Child::spawn(Command::new("/no/such/program")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    let mut command = Command::new("/bin/sh");
    command.current_dir("/no/such/folder");
    assert_eq!(Child::spawn(command).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}
