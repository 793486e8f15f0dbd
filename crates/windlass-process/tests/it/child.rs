//! Children, and the groups that they lead.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{ChildStdout, Command};
use tokio::time::timeout;
use windlass_process::{Child, ChildCommand, ChildStream};
use windlass_tool::{ConfinedStart, EndSignal};

use crate::LONG;

/// A shell with pipes, and its output lines: started in both ways.
fn shells(script: &str) -> [(Child, Lines<BufReader<ChildStdout>>); 2] {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    [Child::spawn(command).unwrap(), Child::start(shell(script)).unwrap()].map(|mut child| {
        let lines = BufReader::new(child.take_stdout().unwrap()).lines();
        (child, lines)
    })
}

/// A shell as a command.
fn shell(script: &str) -> ChildCommand {
    let command = ChildCommand::new("/bin/sh", "/").args(["-c", script]).envs([("PATH", "/usr/bin:/bin")]);
    command.stdin(ChildStream::Pipe).stdout(ChildStream::Pipe)
}

/// All output of a command, and its exit code.
async fn output(command: ChildCommand) -> (String, Option<i32>) {
    let mut child = Child::start(command.stdout(ChildStream::Pipe)).unwrap();
    let (mut stdout, mut text) = (child.take_stdout().unwrap(), String::new());
    timeout(LONG, stdout.read_to_string(&mut text)).await.expect("the end").unwrap();
    (text, timeout(LONG, child.wait()).await.expect("its end").unwrap().code())
}

async fn line(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    timeout(LONG, lines.next_line()).await.expect("a line").unwrap().expect("not the end")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_leads_a_session_and_a_group_of_its_own_without_a_terminal() {
    for (child, _lines) in shells("read line") {
        let fields = crate::stat(child.id()).unwrap();
        let id = child.id().to_string();
        // Group, session and terminal.
        assert_eq!(fields[2..5], [id.as_str(), id.as_str(), "0"]);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_drop_kills_the_child_with_what_it_has_started() {
    for (child, mut lines) in shells("sleep 1000 & echo $!; wait") {
        let processes = [child.id(), line(&mut lines).await.parse().unwrap()];
        assert!(processes.iter().all(|process| crate::stat(*process).is_some()));
        drop(child);
        crate::gone(&processes).await;
    }
}

#[tokio::test]
async fn a_child_may_outlive_the_drop() {
    for (child, mut lines) in shells("read line; echo \"got $line\"") {
        let mut child = child.outliving();
        let mut stdin = child.take_stdin().unwrap();
        drop(child);
        stdin.write_all(b"it\n").await.unwrap();
        assert_eq!(line(&mut lines).await, "got it");
    }
}

#[tokio::test]
async fn waiting_is_for_the_child_alone_and_its_group_ends_what_it_left() {
    for (mut child, mut lines) in shells("sleep 1000 & echo $!; exit 7") {
        let _left = line(&mut lines).await;
        let status = timeout(LONG, child.wait()).await.expect("the child has ended").unwrap();
        assert_eq!(status.code(), Some(7));
        let again = timeout(LONG, child.wait()).await.expect("it stays so").unwrap();
        assert_eq!(again, status);
        child.group().signal(EndSignal::Kill);
        // The holder of the pipe is gone.
        assert_eq!(timeout(LONG, lines.next_line()).await.expect("the end").unwrap(), None);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stopped_child_is_asked_too() {
    let script = "trap 'exit 7' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done";
    for (mut child, mut lines) in shells(script) {
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
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error() {
    assert_eq!(Child::spawn(Command::new("/no/such/program")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    let mut command = Command::new("/bin/sh");
    command.current_dir("/no/such/folder");
    assert_eq!(Child::spawn(command).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    for command in [ChildCommand::new("/no/such/program", "/"), ChildCommand::new("/bin/sh", "/no/such/folder")] {
        assert_eq!(Child::start(command).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
    let command = ChildCommand::new("/bin/sh", "/").args(["-c\0"]);
    assert_eq!(Child::start(command).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_child_has_the_directory_the_variables_and_the_words_of_its_command_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let command = ChildCommand::new("/usr/bin/env", &folder).envs([("A", "1"), ("B", "2"), ("A", "3 4")]);
    assert_eq!(output(command).await, ("A=3 4\nB=2\n".to_owned(), Some(0)));
    let command = ChildCommand::new("/bin/sh", &folder).args(["-c", "pwd; echo \"$0,$1\"; exit 3", "a b", ""]);
    assert_eq!(output(command).await, (format!("{}\na b,\n", folder.display()), Some(3)));
}

#[tokio::test]
async fn streams_are_empty_pipes_or_files() {
    let (text, code) = output(shell("cat; echo no >&2").stdin(ChildStream::Null)).await;
    assert_eq!((text.as_str(), code), ("", Some(0)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let file = fs::File::create(&path).unwrap();
    let both = shell("echo out; echo err >&2").stderr(ChildStream::File(file.try_clone().unwrap().into()));
    let mut child = Child::start(both.stdout(ChildStream::File(file.into()))).unwrap();
    assert!(timeout(LONG, child.wait()).await.expect("its end").unwrap().success());
    assert_eq!(fs::read_to_string(path).unwrap(), "out\nerr\n");
}

#[tokio::test]
async fn a_name_is_looked_up_in_the_variables_of_the_child_and_a_script_may_name_no_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain-script");
    fs::write(&path, "echo it runs\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let variables = [("PATH", folder.path())];
    for program in [path.as_path(), "plain-script".as_ref()] {
        let command = ChildCommand::new(program, "/").envs(variables);
        assert_eq!(output(command).await, ("it runs\n".to_owned(), Some(0)));
    }
}

/// This process ignores SIGPIPE, like all that are built with the standard library.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_signal_is_blocked_in_a_child_a_broken_pipe_ends_it_and_no_file_is_left_open() {
    let (text, _) = output(ChildCommand::new("/bin/cat", "/").args(["/proc/self/status"])).await;
    let set = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    assert_eq!(set("SigBlk:"), 0);
    // The starter of the tests may ignore others.
    assert_eq!(set("SigIgn:") & 1 << (rustix::process::Signal::PIPE.as_raw() - 1), 0);
    // The child's streams, the folder that it lists, and files that the starter of the tests leaves open in all
    // programs.
    let mut command = Command::new("/bin/ls");
    command.arg("/proc/self/fd").stdin(Stdio::null()).stderr(Stdio::null());
    let inherited = String::from_utf8(command.output().await.unwrap().stdout).unwrap();
    assert_eq!(output(ChildCommand::new("/bin/ls", "/").args(["/proc/self/fd"])).await.0, inherited);
}

/// Children of a thread lack the privileges that it gives up; those of other threads keep them.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_thread_that_confines_itself_starts_the_program() {
    let privileges = |status: &str| status.lines().find(|line| line.starts_with("NoNewPrivs:")).unwrap().to_owned();
    let own = privileges(&fs::read_to_string("/proc/thread-self/status").unwrap());
    let confine = Arc::new(|| Ok(rustix::thread::set_no_new_privs(true)?));
    let start = ConfinedStart::new("/bin/cat", vec!["/proc/self/status".into()], confine);
    let other = || ChildCommand::new("/bin/echo", "/").args(["NoNewPrivs:\tother"]);
    let (text, code) = output(other().confined_start(Some(start))).await;
    assert_eq!((privileges(&text).as_str(), code), ("NoNewPrivs:\t1", Some(0)));
    assert_eq!(own, privileges(&fs::read_to_string("/proc/thread-self/status").unwrap()));
    // In a session of its own like any child.
    let start = ConfinedStart::new("/bin/sh", vec!["-c".into(), "read line".into()], Arc::new(|| Ok(())));
    let child = Child::start(other().stdin(ChildStream::Pipe).confined_start(Some(start))).unwrap();
    assert_eq!(crate::stat(child.id()).unwrap()[2], child.id().to_string());
}

/// The program of the command confines itself, so it may replace the thread.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn where_a_thread_starts_no_program_that_of_the_command_is_started() {
    type Confine = fn() -> std::io::Result<()>;
    let fails: Confine = || Err(std::io::Error::other("not this thread"));
    let panics: Confine = || panic!("in the middle of it");
    let confines: Confine = || Ok(());
    for (program, confine) in [
        ("/bin/cat", fails),
        ("/bin/cat", panics),
        ("/no/such/program", confines),
        ("echo", confines),
        ("/bin/e\0cho", confines),
        ("/etc/passwd", confines),
    ] {
        let start = ConfinedStart::new(program, vec!["/proc/self/status".into()], Arc::new(confine));
        let other = ChildCommand::new("/bin/echo", "/").args(["other"]).confined_start(Some(start));
        assert_eq!(output(other).await, ("other\n".to_owned(), Some(0)), "{program}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_that_is_dropped_leaves_no_entry_among_the_processes() {
    for is_kept in [true, false] {
        let child = Child::start(shell("read line; exec sleep 0.05")).unwrap();
        let entry = format!("/proc/{}", child.id());
        assert!(fs::exists(&entry).unwrap());
        drop(if is_kept { child.outliving() } else { child });
        let gone = async {
            while fs::exists(&entry).unwrap() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        timeout(LONG, gone).await.expect("it was waited for");
    }
}

#[tokio::test]
async fn a_signal_that_ends_a_child_is_told_apart_from_a_code() {
    use std::os::unix::process::ExitStatusExt as _;
    for (mut child, _lines) in shells("kill -KILL $$") {
        let status = timeout(LONG, child.wait()).await.expect("its end").unwrap();
        assert_eq!((status.code(), status.signal()), (None, Some(9)));
    }
}
