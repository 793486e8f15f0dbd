//! Programs at the other end: small scripts that do one thing wrong each.

use std::fs::{File, Permissions, write};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use windlass_protocol::client::{Client, ClientError, ClientOptions, Program};

/// Answers `initialize`.
const READY: &str = r#"
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
echo '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'"}}'
"#;
const RESULT: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'"#;
const FAILED: &str = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"no"}'"#;

struct Script {
    folder: TempDir,
}

impl Script {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Self { folder };
        // A file that this process has open for writing cannot be run by what other threads start meanwhile.
        let save = "printf '#!/bin/sh\\n%s\\n' \"$TEXT\" > program && chmod 755 program";
        let saved = Command::new("sh").args(["-c", save]).env("TEXT", text).current_dir(script.folder.path()).status();
        assert!(saved.unwrap().success());
        script
    }

    /// A script that is ready before it continues.
    fn ready(text: &str) -> Self {
        Self::new(&format!("{READY}{text}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> Program {
        Program::new(self.path("program")).cwd(self.folder.path())
    }

    async fn spawn(&self) -> Result<Client, ClientError> {
        Client::spawn(self.program(), ClientOptions::new()).await
    }
}

/// A pipe that a script, and all that it starts, hold open for writing as 9. It ends with the last of them.
struct Held(UnboundedReceiver<String>);

impl Held {
    /// A script that starts with its pipe open.
    fn by(text: &str) -> (Script, Self) {
        let script = Script::new(&format!("exec 9> held\n{text}"));
        let pipe = script.path("held");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (sender, lines_read) = unbounded_channel();
        // A thread of its own: a runtime would not end before a blocking task that still reads.
        std::thread::spawn(move || {
            let lines = BufReader::new(File::open(pipe).unwrap()).lines();
            lines.map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        });
        (script, Self(lines_read))
    }

    /// The next line that is written into it.
    async fn line(&mut self) -> String {
        timeout(Duration::from_secs(20), self.0.recv()).await.expect("no line comes").expect("the script is gone")
    }

    /// Waits until all that hold it are gone.
    async fn end(&mut self) {
        assert_eq!(timeout(Duration::from_secs(20), self.0.recv()).await.expect("the script is still there"), None);
    }
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let spawn = |program: Program| Client::spawn(program, ClientOptions::new());
    let error = spawn(Program::new("/nowhere/windlass")).await.unwrap_err();
    assert!(matches!(&error, ClientError::NotFound { program } if program == "/nowhere/windlass"), "{error}");
    let error = spawn(Program::new("no-such-program-in-the-path")).await.unwrap_err();
    assert!(matches!(error, ClientError::NotFound { .. }), "{error}");

    let script = Script::new("");
    let error = spawn(script.program().cwd(script.path("gone"))).await.unwrap_err();
    assert!(matches!(&error, ClientError::NoDirectory { directory } if *directory == script.path("gone")), "{error}");
    std::fs::set_permissions(script.path("program"), Permissions::from_mode(0o644)).unwrap();
    let error = script.spawn().await.unwrap_err();
    assert!(matches!(error, ClientError::NotExecutable { .. }), "{error}");
    let script = Script::new("");
    write(script.path("program"), "\u{1}\u{2}\u{3}").unwrap();
    let error = script.spawn().await.unwrap_err();
    assert!(matches!(error, ClientError::NotExecutable { .. }), "{error}");
}

#[tokio::test]
async fn a_program_that_ends_at_once_says_why() {
    let script = Script::new("echo 'there is no key' >&2; exit 3");
    let error = script.spawn().await.unwrap_err();
    assert!(error.to_string().contains("there is no key"), "{error}");
    let ClientError::Exited { status, stderr } = error else { panic!("{error}") };
    assert_eq!((status.code(), stderr.as_str()), (Some(3), "there is no key\n"));
}

#[tokio::test]
async fn a_program_that_talks_otherwise_is_found_out() {
    let error = Script::new("echo '{ hello'; sleep 100").spawn().await.unwrap_err();
    assert!(matches!(error, ClientError::Malformed { .. }), "{error}");
    let (script, mut held) = Held::by("echo begun >&9; sleep 100");
    let options = ClientOptions::new().initialize_timeout(Duration::from_secs(5));
    let error = Client::spawn(script.program(), options).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    assert_eq!(held.line().await, "begun");
    held.end().await;
}

#[tokio::test]
async fn death_in_a_turn_is_reported_with_the_last_words() {
    for (death, code, signal) in [("kill -9 $$", None, Some(9)), ("exit 2", Some(2), None), ("exit 0", Some(0), None)] {
        let script = Script::ready(&format!("read -r line; echo dying >&2; printf '{{\"type\":'; {death}"));
        let mut client = script.spawn().await.unwrap();
        client.prompt("go").await.unwrap();
        let error = client.next().await.unwrap_err();
        let ClientError::Exited { status, stderr } = error else { panic!("{error}") };
        assert_eq!((status.code(), status.signal(), stderr.as_str()), (code, signal, "dying\n"));
        assert!(client.next().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn the_exit_code_after_a_failed_turn_is_no_surprise() {
    for (script, peace) in [
        (format!("read -r line; {RESULT}; cat > /dev/null"), true),
        (format!("read -r line; {FAILED}; cat > /dev/null; exit 1"), true),
        (format!("read -r line; {RESULT}; cat > /dev/null; exit 1"), false),
        (format!("read -r line; {FAILED}; cat > /dev/null; exit 7"), false),
    ] {
        let script = Script::ready(&script);
        let mut client = script.spawn().await.unwrap();
        client.prompt("go").await.unwrap();
        client.result().await.unwrap();
        let closed = client.close().await;
        assert_eq!(closed.is_ok(), peace, "{closed:?}");
        assert!(peace || matches!(closed, Err(ClientError::Exited { .. })), "{closed:?}");
    }
}

#[tokio::test]
async fn output_that_is_not_read_does_not_delay_the_end() {
    let script = Script::ready(&format!(
        "read -r line; i=0; while [ $i -lt 3000 ]; do {RESULT}; i=$((i+1)); done; cat > /dev/null"
    ));
    let client = Client::spawn(script.program(), ClientOptions::new().max_waiting(1_000)).await.unwrap();
    client.prompt("go").await.unwrap();
    client.close().await.unwrap();
}

#[tokio::test]
async fn arguments_environment_and_standard_error_arrive() {
    let text =
        format!(r#"for arg in "$@"; do echo "arg $arg" >&2; done; echo "env $A $B $PWD" >&2{READY}cat > /dev/null"#);
    let script = Script::new(&text);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let program = script
        .program()
        .env("A", "a")
        .env("B", "b")
        .env_remove("B")
        .model("-m")
        .allowed_tools(["Bash(ls, *)", "Read"])
        .max_turns(3)
        .resume("s")
        .arg("--new")
        .on_stderr(move |line| sink.lock().unwrap().push(line.to_owned()));
    Client::spawn(program, ClientOptions::new()).await.unwrap().close().await.unwrap();
    let lines = lines.lock().unwrap();
    let mut expected: Vec<String> = [
        "--output-format",
        "stream-json",
        "--verbose",
        "--input-format",
        "stream-json",
        "--model=-m",
        "--allowedTools=Bash(ls, *)",
        "--allowedTools=Read",
        "--max-turns=3",
        "--resume=s",
        "--new",
    ]
    .map(|arg| format!("arg {arg}"))
    .to_vec();
    expected.push(format!("env a  {}", script.folder.path().display()));
    assert_eq!(*lines, expected);
}

#[tokio::test]
async fn dropping_a_client_ends_the_whole_group() {
    let (script, mut held) = Held::by(&format!("{READY}trap '' TERM; sleep 1000 & echo $$ >&9; wait; sleep 1000"));
    let client = script.spawn().await.unwrap();
    assert_eq!(client.process_id().unwrap().to_string(), held.line().await);
    drop(client);
    held.end().await;
}

#[tokio::test]
async fn what_is_left_of_a_group_does_not_hold_the_output_open() {
    let (script, mut held) = Held::by(&format!("{READY}sleep 1000 & echo begun >&9; read -r line; exit 4"));
    let mut client = script.spawn().await.unwrap();
    assert_eq!(held.line().await, "begun");
    client.prompt("go").await.unwrap();
    let error = client.next().await.unwrap_err();
    assert!(matches!(&error, ClientError::Exited { status, .. } if status.code() == Some(4)), "{error}");
    held.end().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn another_holder_of_the_output_does_not_delay_the_end() {
    let script = Script::ready("read -r line; exit 4");
    let mut client = script.spawn().await.unwrap();
    // A process outside of the group, here this one.
    let output = format!("/proc/{}/fd/1", client.process_id().unwrap());
    let _held = File::options().write(true).open(output).unwrap();
    client.prompt("go").await.unwrap();
    let error = timeout(Duration::from_secs(15), client.next()).await.expect("an end").unwrap_err();
    assert!(matches!(&error, ClientError::Exited { status, .. } if status.code() == Some(4)), "{error}");
}

#[tokio::test]
async fn a_program_that_does_not_end_is_ended() {
    for (trap, signal) in [("", 15), ("trap '' TERM", 9)] {
        let (script, mut held) = Held::by(&format!("{READY}{trap}\necho begun >&9; while :; do sleep 0.1; done"));
        let options = ClientOptions::new().patience(Duration::from_millis(300));
        let client = Client::spawn(script.program(), options).await.unwrap();
        assert_eq!(held.line().await, "begun");
        let error = client.close().await.unwrap_err();
        let ClientError::Exited { status, .. } = error else { panic!("{error}") };
        assert_eq!(status.signal(), Some(signal));
        held.end().await;
    }
}
