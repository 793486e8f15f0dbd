//! `windlass acp`: an editor's sessions are those of the command.

use crate::place::{Place, call, text};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// An editor and its agent.
struct Editor {
    agent: Child,
    lines: BufReader<ChildStdout>,
    next: u64,
    /// Option that questions are answered with.
    option: &'static str,
}

impl Editor {
    fn start(place: &Place, flags: &[&str]) -> Self {
        let mut args = vec!["acp"];
        args.extend(flags);
        let mut agent = place.command(&args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(agent.stdout.take().unwrap());
        let mut editor = Self { agent, lines, next: 0, option: "allow" };
        let started = editor.ask("initialize", &json!({ "protocolVersion": 1 })).1;
        assert_eq!(started["result"]["agentInfo"]["name"], "windlass");
        editor
    }

    fn send(&mut self, message: &Value) {
        let input = self.agent.stdin.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// The updates before the answer to a request, and the answer.
    fn ask(&mut self, method: &str, params: &Value) -> (Vec<Value>, Value) {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut updates = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the agent is gone");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if message["method"] == "session/request_permission" {
                let outcome = json!({ "outcome": { "outcome": "selected", "optionId": self.option } });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": outcome }));
            } else if message.get("method").is_some() {
                updates.push(message["params"]["update"].clone());
            } else if message["id"] == id {
                return (updates, message);
            }
        }
    }

    fn session(&mut self, place: &Place, servers: &Value) -> String {
        let (_, answer) = self.ask("session/new", &json!({ "cwd": place.work(), "mcpServers": servers }));
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> (Vec<Value>, Value) {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.ask("session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
    }

    fn end(mut self) -> i32 {
        drop(self.agent.stdin.take());
        self.agent.wait().unwrap().code().unwrap()
    }
}

/// The texts of one kind of chunk.
fn texts(updates: &[Value], kind: &str) -> Vec<String> {
    let chunks = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    chunks.filter_map(|update| update["content"]["text"].as_str()).map(str::to_owned).collect()
}

#[test]
fn a_session_is_stored_listed_and_loaded_with_all_that_was_said() {
    let place = Place::with_turns(&[text("one"), text("A summary."), text("two")]);
    let mut editor = Editor::start(&place, &[]);
    let session = editor.session(&place, &json!([]));
    let (updates, answer) = editor.prompt(&session, "first question");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(texts(&updates, "agent_message_chunk").concat(), "one");
    editor.prompt(&session, "/compact");
    editor.prompt(&session, "second question");
    let (_, listed) = editor.ask("session/list", &json!({ "cwd": place.work() }));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(editor.end(), 0);
    // Another process, and so another day.
    let mut editor = Editor::start(&place, &[]);
    let load = json!({ "sessionId": session, "cwd": place.work(), "mcpServers": [] });
    let (updates, answer) = editor.ask("session/load", &load);
    assert!(answer["result"]["modes"].is_object(), "{answer}");
    let asked = texts(&updates, "user_message_chunk");
    assert_eq!(asked, ["first question", "second question"], "{updates:#?}");
    assert_eq!(texts(&updates, "agent_message_chunk"), ["one", "two"]);
    let (_, answer) = editor.ask("session/delete", &json!({ "sessionId": session }));
    assert_eq!(answer["result"], json!({}));
    let (_, answer) = editor.ask("session/load", &load);
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert!(place.logs().is_empty());
    assert_eq!(editor.end(), 0);
}

#[test]
fn an_edit_is_asked_about_with_its_diff_and_shown_with_it() {
    let place = Place::with_turns(&[
        call("Read", &json!({ "file_path": "a.txt" })),
        call("Edit", &json!({ "file_path": "a.txt", "old_string": "two", "new_string": "three" })),
        text("Done."),
    ]);
    std::fs::write(place.work().join("a.txt"), "one\ntwo\n").unwrap();
    for (option, content) in [("reject", "one\ntwo\n"), ("allow", "one\nthree\n")] {
        let mut editor = Editor::start(&place, &[]);
        editor.option = option;
        let session = editor.session(&place, &json!([]));
        let (updates, _) = editor.prompt(&session, "change it");
        assert_eq!(std::fs::read_to_string(place.work().join("a.txt")).unwrap(), content, "{option}");
        let shown = updates.iter().any(|update| update["content"][0]["type"] == "diff");
        assert_eq!(shown, option == "allow", "{updates:#?}");
        editor.end();
    }
}

#[test]
#[cfg(unix)]
fn a_program_of_the_editor_starts_only_with_a_yes() {
    let place = Place::with_turns(&[text("Done."), text("Done.")]);
    let started = place.path("started");
    let servers = json!([{
        "name": "tools", "command": "/bin/sh", "args": ["-c", format!("touch '{}'", started.display())], "env": [],
    }]);
    let yes = r#"{"enabledMcpjsonServers":["tools"]}"#;
    let no = r#"{"enabledMcpjsonServers":["tools"],"disabledMcpjsonServers":["tools"]}"#;
    let other = r#"{"enabledMcpjsonServers":["other"]}"#;
    for (flags, starts) in [
        (&[][..], false),
        (&["--settings", other], false),
        (&["--settings", no], false),
        (&["--settings", no, "--trust"], false),
        (&["--settings", yes], true),
        (&["--trust"], true),
    ] {
        let _ = std::fs::remove_file(&started);
        let mut editor = Editor::start(&place, flags);
        let session = editor.session(&place, &servers);
        let (updates, _) = editor.prompt(&session, "hello");
        let told = texts(&updates, "agent_message_chunk").iter().any(|text| text.contains("is not started"));
        assert_eq!(told, !starts, "{flags:?} {updates:#?}");
        let end = Instant::now() + Duration::from_secs(if starts { 10 } else { 0 });
        while starts && !started.exists() && Instant::now() < end {
            std::thread::yield_now();
        }
        editor.end();
        assert_eq!(started.exists(), starts, "{flags:?}");
    }
}

#[test]
fn mistakes_have_errors_that_say_what_to_do() {
    let place = Place::new();
    let mut editor = Editor::start(&place, &[]);
    let gone = json!({ "cwd": place.path("gone"), "mcpServers": [] });
    let (_, answer) = editor.ask("session/new", &gone);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let (_, answer) = editor.ask("authenticate", &json!({ "methodId": "api-key" }));
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    let session = editor.session(&place, &json!([]));
    let (_, answer) = editor.prompt(&session, "hello");
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{answer}");
    assert_eq!(editor.end(), 0);
}
