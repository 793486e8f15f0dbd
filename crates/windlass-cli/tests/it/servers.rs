//! MCP servers that are programs end with the command, whatever they do and however it ends.

use crate::living::{alive, ended, eventually, number, signal, unique};
use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::process::{Child, Stdio};

/// A server that ignores every request to end and the end of its input, and starts others: one that holds its streams,
/// one in a session of its own that ignores requests too, and one whose parent is gone.
const HOSTILE: &str = r#"
trap '' TERM HUP INT PIPE
sleep 1000.$TAG &
setsid bash -c "trap '' TERM HUP INT; sleep 1000.$TAG; :" </dev/null >/dev/null 2>&1 &
(setsid sleep 1000.$TAG </dev/null >/dev/null 2>&1 &)
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}' ;;
    *'"tools/list"'*)
      answer '{"tools":[{"name":"go","description":"A tool.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) echo $$ > "$CALLED" ;;
  esac
done
while :; do sleep 1000.$TAG; done
"#;

/// Processes of the server: itself, what it has started, and what those have started.
const ALL: usize = 5;

/// Phase in which the run is ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    /// The run ends by itself.
    End,
    /// A command runs.
    Command,
    /// A tool of the server runs, and does not answer.
    Call,
}

struct Running {
    child: Child,
    tag: String,
    _place: Place,
}

impl Running {
    #[track_caller]
    fn leaves_nothing(&self, when: &str) {
        eventually(&format!("nothing is left of the server: {when}"), || alive(&self.tag).is_empty().then_some(()));
    }
}

/// A run with a hostile server, as far as it is to come.
fn running(at: At, host: bool) -> Running {
    let tag = unique();
    let turn = match at {
        At::End => call("Bash", &json!({ "command": "true" })),
        At::Command => call("Bash", &json!({ "command": "echo $$ > called; sleep 1000" })),
        At::Call => call("mcp__h__go", &json!({})),
    };
    let place = Place::with_turns(&[turn, text("done")]);
    let called = place.work().join("called");
    let server = json!({ "command": "/bin/bash", "args": ["-c", HOSTILE], "env": { "TAG": tag, "CALLED": called } });
    let config = json!({ "mcpServers": { "h": server } }).to_string();
    let shared = ["--mcp-config", &config, "--allowedTools", "Bash", "--allowedTools", "mcp__h__go"];
    let own: &[&str] =
        if host { &["--input-format", "stream-json", "--output-format", "stream-json"] } else { &["-p", "x"] };
    let mut command = place.command(&[own, &shared].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    if host {
        let prompt: Value = json!({ "type": "user", "message": { "role": "user", "content": "x" } });
        let input = child.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, format!("{prompt}\n").as_bytes()).unwrap();
    } else {
        drop(child.stdin.take());
    }
    if at != At::End {
        number(&called);
        assert!(alive(&tag).len() >= ALL, "{:?}", alive(&tag));
    }
    Running { child, tag, _place: place }
}

#[test]
fn a_run_that_ends_or_is_stopped_takes_its_servers_along() {
    let mut run = running(At::End, false);
    assert_eq!(ended(&mut run.child), Some(0));
    run.leaves_nothing("at the end");
    for (kill, code) in [("-TERM", 143), ("-HUP", 129)] {
        for at in [At::Command, At::Call] {
            let mut run = running(at, false);
            signal(kill, &run.child);
            assert_eq!(ended(&mut run.child), Some(code), "{kill} {at:?}");
            run.leaves_nothing(&format!("{kill} {at:?}"));
        }
    }
}

#[test]
fn a_run_that_is_killed_takes_its_servers_along() {
    for at in [At::Command, At::Call] {
        let mut run = running(at, false);
        signal("-KILL", &run.child);
        assert_eq!(ended(&mut run.child), None);
        run.leaves_nothing(&format!("{at:?}"));
    }
}

#[test]
fn a_second_interrupt_leaves_no_server() {
    let mut run = running(At::Command, false);
    signal("-INT", &run.child);
    signal("-INT", &run.child);
    assert_eq!(ended(&mut run.child), Some(130));
    run.leaves_nothing("interrupted twice");
}

#[test]
fn a_host_that_ends_a_session_in_any_way_leaves_no_server() {
    for kill in ["-TERM", "-HUP", "-KILL"] {
        let mut run = running(At::Call, true);
        signal(kill, &run.child);
        ended(&mut run.child);
        run.leaves_nothing(kill);
    }
    let mut run = running(At::Command, true);
    drop(run.child.stdin.take());
    signal("-TERM", &run.child);
    ended(&mut run.child);
    run.leaves_nothing("the end of the input, and the signal to end");
}
