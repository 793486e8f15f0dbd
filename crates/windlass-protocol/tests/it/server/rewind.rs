//! Hosts that want files rewound.

use crate::server::host::{Host, options};
use crate::server::world::{says, script};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use windlass_model::ScriptedTurn;
use windlass_session::{
    Checkpoint, CheckpointError, Checkpoints, FileChange, NotRestored, NotRestoredKind, Rewind, RewindOptions,
    RewoundFile,
};
use windlass_testkit::Gate;
use windlass_types::{EntryId, ToolUseId};

/// Checkpoints that give the same answer for every prompt whose id is known.
#[derive(Debug, Default)]
struct Known {
    answers: BTreeMap<&'static str, Rewind>,
    /// The disk does not answer before this is open.
    gate: Option<Gate>,
}

#[async_trait]
impl Checkpoints for Known {
    async fn begin(&self, _: &EntryId) -> Result<(), CheckpointError> {
        Ok(())
    }

    async fn keep(&self, _: &EntryId, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        Ok(())
    }

    async fn changed(&self, _: &ToolUseId, _: &[PathBuf]) -> Result<(), CheckpointError> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError> {
        Ok(Vec::new())
    }

    async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        if let Some(gate) = &self.gate {
            gate.pass().await;
            return Ok(Rewind::default());
        }
        assert_eq!(options, &RewindOptions::within(["/w".into()]));
        self.answers.get(to.as_str()).cloned().ok_or_else(|| CheckpointError::unknown(to))
    }

    async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError> {
        self.changes(to, options).await
    }
}

fn modified(path: &str) -> RewoundFile {
    let mut file = RewoundFile::new(path, FileChange::Modified);
    (file.insertions, file.deletions, file.conflict) = (2, 3, path == "/w/theirs");
    file
}

fn left(path: &str, kind: NotRestoredKind) -> RewoundFile {
    RewoundFile::left(path, NotRestored::new(kind, "why"))
}

fn checkpoints_that_report() -> Arc<dyn Checkpoints> {
    use NotRestoredKind::{Link, NotKept};
    let some = vec![modified("/w/a"), modified("/w/theirs"), left("/w/l", Link), left("/w/n", NotKept)];
    let answers = BTreeMap::from([
        ("nothing", Rewind::default()),
        ("some", Rewind::new(some, Some(EntryId::from("undo")))),
        ("none", Rewind::new(vec![left("/w/l", Link), left("/w/n", NotKept)], None)),
    ]);
    Arc::new(Known { answers, gate: None })
}

fn host(turns: impl IntoIterator<Item = ScriptedTurn>) -> Host {
    let host = Host::start(script(turns), options());
    *host.seen.checkpoints.lock().unwrap() = Some(checkpoints_that_report());
    host
}

async fn ask(host: &mut Host, to: &str, dry_run: bool) -> Value {
    host.order("q", json!({ "user_message_id": to, "dry_run": dry_run }), "rewind_files").await;
    host.until("control_response", "").await.0["response"].clone()
}

#[tokio::test(start_paused = true)]
async fn what_is_done_and_what_is_not_is_reported() {
    let mut host = host([]);
    let nothing = json!({ "canRewind": true, "filesChanged": [], "insertions": 0, "deletions": 0 });
    assert_eq!(ask(&mut host, "nothing", false).await["response"], nothing);
    let mut some = json!({
        "canRewind": true, "filesChanged": ["/w/a", "/w/theirs"], "insertions": 4, "deletions": 6,
        "filesLeft": ["/w/l: why", "/w/n: why"], "conflicts": ["/w/theirs"], "undoMessageId": "undo",
    });
    assert_eq!(ask(&mut host, "some", true).await["response"], some);
    some["skippedLinks"] = json!(1);
    assert_eq!(ask(&mut host, "some", false).await["response"], some);
    // If nothing can be done, a rewind is an error and a preview reports that.
    for (to, part) in [("none", "/w/l: why; /w/n: why"), ("unknown", "unknown")] {
        let preview = ask(&mut host, to, true).await["response"].clone();
        let answer = ask(&mut host, to, false).await;
        assert_eq!((&preview["canRewind"], &answer["subtype"]), (&json!(false), &json!("error")));
        for error in [&preview["error"], &answer["error"]] {
            assert!(error.as_str().unwrap().contains(part), "{error}");
        }
    }
    host.order("q", json!({}), "rewind_files").await;
    let answer = host.until("control_response", "error").await.0;
    assert!(answer["response"]["error"].as_str().unwrap().contains("user_message_id"), "{answer}");
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_open_is_opened_for_it() {
    let mut host = host([says("one")]);
    host.seen.refuses.store(true, Ordering::SeqCst);
    let refused = ask(&mut host, "some", false).await;
    assert!(refused["error"].as_str().unwrap().contains("no session can be opened"), "{refused}");
    host.seen.refuses.store(false, Ordering::SeqCst);
    // A prompt that comes while it is being opened is not forgotten.
    let door = host.seen.shut_door();
    host.order("early", json!({ "user_message_id": "some" }), "rewind_files").await;
    host.say("go").await;
    door.open();
    let (result, before) = host.until("result", "").await;
    assert_eq!(result["result"], "one");
    assert!(before.iter().any(|line| line["response"]["request_id"] == "early"), "{before:#?}");
    assert_eq!(host.seen.opened.load(Ordering::SeqCst), 1);
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_is_waited_for_and_not_for_ever() {
    let wait = || ScriptedTurn::new().tool_use_with_id("t1", "wait", json!({}));
    let mut host = host([wait(), wait(), says("never")]);
    host.say("go").await;
    host.until("assistant", "").await;
    // A flood of them: each has one answer, and only some of them wait.
    for number in 0..100 {
        host.order(&format!("r{number}"), json!({ "user_message_id": "some" }), "rewind_files").await;
    }
    for _ in 16..100 {
        let refused = host.until("control_response", "error").await.0;
        assert!(refused["response"]["error"].as_str().unwrap().contains("too many"), "{refused}");
    }
    host.order("stop", json!({}), "interrupt").await;
    let mut answered = 0;
    while answered < 16 {
        let line = host.next().await.unwrap();
        answered += usize::from(line["response"]["response"]["canRewind"] == true);
    }
    // The next run does not end in time.
    host.say("go").await;
    host.until("assistant", "").await;
    let late = ask(&mut host, "some", false).await;
    assert!(late["error"].as_str().unwrap().contains("while a run is in progress"), "{late}");
    host.hang_up();
    host.tell_to_end();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_checkpoints_a_rewind_is_refused_with_that_reason() {
    let mut host = Host::start(script([]), options());
    let answer = ask(&mut host, "some", false).await;
    let error = "File checkpointing is not enabled, so no files can be rewound.";
    assert_eq!((&answer["subtype"], &answer["error"]), (&json!("error"), &json!(error)));
    let preview = ask(&mut host, "some", true).await["response"].clone();
    assert_eq!(preview, json!({ "canRewind": false, "error": error }));
    host.hang_up();
    host.end().await.0.unwrap();
}

/// A disk that hangs under a rewind keeps no other order waiting, nor the end.
#[tokio::test(start_paused = true)]
async fn a_rewind_that_hangs_holds_nothing_else_up() {
    for ends in [false, true] {
        let gate = Gate::new();
        let mut host = Host::start(script([says("one"), says("two")]), options());
        *host.seen.checkpoints.lock().unwrap() = Some(Arc::new(Known { gate: Some(gate.clone()), ..Known::default() }));
        host.say("go").await;
        host.result().await;
        host.order("stuck", json!({ "user_message_id": "some" }), "rewind_files").await;
        host.order("another", json!({ "user_message_id": "some", "dry_run": true }), "rewind_files").await;
        gate.wait_arrived(1).await;
        for (subtype, request) in [
            ("mcp_status", json!({})),
            ("get_context_usage", json!({})),
            ("set_model", json!({ "model": "other" })),
            ("set_permission_mode", json!({ "mode": "plan" })),
            ("rename_session", json!({ "title": "t" })),
            ("get_settings", json!({})),
            ("interrupt", json!({})),
        ] {
            host.order(subtype, request, subtype).await;
            let answer = host.until("control_response", "").await.0;
            assert_eq!(
                (&answer["response"]["request_id"], &answer["response"]["subtype"]),
                (&json!(subtype), &json!("success"))
            );
        }
        if ends {
            let began = tokio::time::Instant::now();
            host.tell_to_end();
            while host.next().await.is_some() {}
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
            // The session itself waits for the disk.
            gate.open();
            assert!(host.end().await.0.unwrap().shut_down);
            continue;
        }
        gate.open();
        let mut answered = Vec::new();
        while answered.len() < 2 {
            let answer = host.until("control_response", "success").await.0;
            answered.push(answer["response"]["request_id"].as_str().unwrap().to_owned());
        }
        assert_eq!(answered, ["stuck", "another"]);
        // Requests made meanwhile take effect.
        host.say("go").await;
        assert_eq!(host.result().await["result"], "two");
        host.hang_up();
        host.end().await.0.unwrap();
    }
}
