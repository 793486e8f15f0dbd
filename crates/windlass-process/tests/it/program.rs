//! Programs that outlive calls.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;
use windlass_process::Program;
use windlass_tool::ProcessCommand;

use crate::LONG;

fn shell(script: &str) -> ProcessCommand {
    let mut command = ProcessCommand::new("/bin/sh", "/");
    command.args = ["-c", script].map(Into::into).into();
    command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    command
}

fn start(script: &str) -> (Program, ChildStdin, Lines<BufReader<ChildStdout>>) {
    let (program, stdin, stdout) = Program::start(shell(script), None, None).unwrap();
    (program, stdin, BufReader::new(stdout).lines())
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    timeout(LONG, lines.next_line()).await.expect("a line").unwrap().expect("not the end")
}

async fn ended(program: &Program) {
    timeout(LONG, program.ended()).await.expect("its end");
}

#[tokio::test]
async fn it_ends_with_its_input_and_says_how() {
    let (program, stdin, _lines) = start("echo first >&2; echo last >&2; cat; exit 3");
    let said = async {
        while program.words().stderr() != "first\nlast" {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, said).await.expect("its words");
    drop(stdin);
    ended(&program).await;
    assert_eq!(program.words().exit().unwrap(), "it ended with exit status: 3");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_deaf_one_is_killed_with_what_it_has_started() {
    let (program, stdin, mut lines) = start("trap '' TERM; sleep 1000 & echo $$ $!; while :; do sleep 1; done");
    let processes: Vec<u32> = line(&mut lines).await.split(' ').map(|process| process.parse().unwrap()).collect();
    drop(stdin);
    program.stop();
    ended(&program).await;
    crate::gone(&processes).await;
    assert_eq!(program.words().exit(), None);
}

#[tokio::test]
async fn one_that_can_be_asked_is_asked() {
    let (program, _stdin, mut lines) = start("trap 'echo asked; exit' TERM; echo ready; while :; do sleep 0.01; done");
    assert_eq!(line(&mut lines).await, "ready");
    program.stop();
    assert_eq!(line(&mut lines).await, "asked");
    ended(&program).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_it_leaves_behind_ends_with_it() {
    let (program, stdin, mut lines) = start("sleep 1000 & echo $!; read line");
    let left = line(&mut lines).await.parse().unwrap();
    drop(stdin);
    ended(&program).await;
    crate::gone(&[left]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_drop_ends_it() {
    let (program, stdin, mut lines) = start("echo $$; while :; do sleep 1; done");
    let process = line(&mut lines).await.parse().unwrap();
    drop((program, stdin));
    crate::gone(&[process]).await;
}

#[cfg(target_os = "linux")]
#[test]
fn the_end_of_the_runtime_ends_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (program, _stdin, process) = runtime.block_on(async {
        let (program, stdin, mut lines) = start("trap '' TERM; echo $$; while :; do sleep 1; done");
        let process: u32 = line(&mut lines).await.parse().unwrap();
        (program, stdin, process)
    });
    drop(runtime);
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(crate::gone(&[process]));
    drop(program);
}

#[tokio::test]
async fn what_it_needs_is_kept_until_it_has_ended() {
    let kept = Arc::new(());
    let (program, stdin, _stdout) =
        Program::start(shell("read line"), None, Some(Box::new(Arc::clone(&kept)))).unwrap();
    assert_eq!(Arc::strong_count(&kept), 2);
    drop(stdin);
    ended(&program).await;
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[tokio::test]
async fn it_gets_its_own_variables_alone() {
    let (program, stdin, mut lines) = start("env");
    drop(stdin);
    let mut names = Vec::new();
    while let Some(line) = timeout(LONG, lines.next_line()).await.expect("a line").unwrap() {
        names.push(line.split('=').next().unwrap().to_owned());
    }
    // Shells set these by themselves.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()));
    assert_eq!(names, ["PATH"]);
    ended(&program).await;
}

/// Neither its group, its session, its variables, a parent nor a stream identifies the orphan.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_orphan_that_has_dropped_everything_ends_with_it() {
    for text in ["env -i setsid sleep 1000", "trap '' TERM; env -i setsid sleep 1000"] {
        let (program, stdin, mut lines) = start(&format!("{text} >/dev/null 2>&1 </dev/null & echo $!; read line"));
        let left = line(&mut lines).await;
        drop(stdin);
        ended(&program).await;
        assert!(!std::path::Path::new("/proc").join(&left).exists(), "{left} is left: {text}");
    }
}

/// The first process of a container has to wait for orphans, because no other process does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn orphans_of_its_group_are_waited_for() {
    // The flag applies to the whole process of the tests, and changes nothing for the others.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let (program, stdin, mut lines) = start("sleep 1000 & echo $!; read line");
    let left = line(&mut lines).await;
    drop(stdin);
    ended(&program).await;
    assert!(!std::path::Path::new("/proc").join(&left).exists(), "{left} is a zombie");
}
