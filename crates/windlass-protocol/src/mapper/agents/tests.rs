use crate::{FrameMapper, FrameOptions};
use serde_json::{Value, json};
use windlass_types::{
    AgentIdentity, AgentPath, Behavior, CompactTrigger, Compacted, ContentBlock, Continuation, Decision,
    DecisionReason, Delta, EntryId, Event, EventKind, HookEventName, HookOutcome, JsonText, ModelErrorKind, NanoUsd,
    Outcome, PermissionMode, RateLimit, RateLimitStatus, RetryStatus, RunId, RunResult, RunStarted, SessionId,
    StateChange, Status, TaskEnded, TaskInfo, TaskKind, TaskProgress, TaskStatus, TaskUsage, ToolFinished,
    ToolProgress, ToolResult, ToolStarted, ToolUse, Usage, WithdrawReason,
};

/// A stream of events with the resulting frames.
struct MappedStream {
    mapper: FrameMapper,
    seq: u64,
}

impl MappedStream {
    fn new(options: FrameOptions) -> Self {
        let mut next = 0;
        let ids = move || {
            next += 1;
            next
        };
        let mut mapper = FrameMapper::new(options, ids);
        mapper.lists_agents(vec!["general-purpose".to_owned(), "Explore".to_owned()]);
        Self { mapper, seq: 0 }
    }

    fn of(&mut self, agent: &[&str], kind: EventKind) -> Vec<Value> {
        let mut event = Event::new(self.seq, SessionId::from("s"), RunId::from("r"), 1, kind);
        event.agent = agent.iter().fold(AgentPath::default(), |path, id| path.child((*id).into()));
        self.seq += 1;
        let mut out = Vec::new();
        self.mapper.map(&event, &mut out);
        out.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| {
                let mut frame: Value = serde_json::from_slice(line).unwrap();
                let fields = frame.as_object_mut().unwrap();
                assert_eq!(fields.remove("session_id"), Some(json!("s")));
                assert!(fields.remove("uuid").is_some());
                frame
            })
            .collect()
    }

    fn main(&mut self, kind: EventKind) -> Vec<Value> {
        self.of(&[], kind)
    }
}

fn started(identity: Option<AgentIdentity>, tools: &[&str]) -> EventKind {
    let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    let mut started = RunStarted::new("/w".into(), "opus".into(), tools, PermissionMode::Default, false);
    started.identity = identity;
    EventKind::RunStarted(started)
}

fn explorer() -> AgentIdentity {
    AgentIdentity::new("a1".into(), "Explore")
}

fn block(message: &str, block: ContentBlock) -> EventKind {
    let (line, usage) = (EntryId::from_bits(5), Usage::new(9, 1));
    EventKind::BlockFinished { message_id: message.into(), model: "opus".into(), index: 0, line, block, usage }
}

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolUse(ToolUse::new(id, "Read", JsonText::empty_object()))
}

fn thought() -> ContentBlock {
    ContentBlock::Thinking { thinking: "hm".into(), signature: "c2ln".into() }
}

fn raw(frame: &str) -> EventKind {
    EventKind::ModelFrame { frame: JsonText::parse(frame).unwrap() }
}

/// Events about an agent's own run only.
fn silent() -> Vec<EventKind> {
    let retry = RetryStatus::new(1, 10, 500, ModelErrorKind::Overloaded);
    let compacted =
        Compacted::new(CompactTrigger::Auto, "Summary".into(), EntryId::from_bits(2), EntryId::from_bits(3));
    let result = |outcome| EventKind::RunFinished(RunResult::new(outcome, SessionId::from("s")));
    let mut all = vec![
        raw(r#"{"type":"message_start","message":{}}"#),
        raw(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
        EventKind::BlockDelta { index: 0, delta: Delta::Text("x".into()) },
        raw(r#"{"type":"content_block_stop","index":0}"#),
        block("msg", ContentBlock::text("x")),
        block("msg", thought()),
        EventKind::MessageFinished {
            message_id: "msg".into(),
            model: "opus".into(),
            stop_reason: None,
            usage: Usage::new(1, 1),
            attempt_id: "a".into(),
            latency_ms: 900,
            first_token_ms: Some(300),
        },
        EventKind::MessageWithdrawn { message_id: Some("msg".into()), reason: WithdrawReason::StreamFailed },
        EventKind::ToolStarted(ToolStarted::new("t1".into(), "Read".into(), JsonText::empty_object(), "x".into())),
        EventKind::UsageUpdated { model: "opus".into(), usage: Usage::new(1, 1), cost: NanoUsd::new(5) },
        EventKind::RateLimit(RateLimit::new(RateLimitStatus::AllowedWarning)),
        EventKind::Compacted(compacted),
        EventKind::StateChanged(StateChange::PermissionMode { mode: PermissionMode::Plan }),
        EventKind::StateChanged(StateChange::Model { model: "sonnet".into() }),
    ];
    all.extend(
        [
            Status::Requesting { continuation: Continuation::Prompt, model: "opus".into(), attempt_id: "a".into() },
            Status::Retrying(retry),
            Status::FallingBack { from: "opus".into(), to: "sonnet".into() },
            Status::Compacting { trigger: CompactTrigger::Auto },
            Status::CompactionFailed { message: "no".into() },
            Status::CacheBroken { cause: "model".into() },
        ]
        .map(EventKind::Status),
    );
    all.push(result(Outcome::Success));
    all.push(result(Outcome::StoppedByHook { reason: "enough".into() }));
    all.push(result(Outcome::Interrupted { during: windlass_types::Interrupted::Tools }));
    all
}

#[test]
fn what_an_agent_does_has_frames_with_its_parent() {
    let mut stream = MappedStream::new(FrameOptions::default().with_partial_messages(true).with_hook_events(true));
    assert!(stream.of(&["t0"], started(Some(explorer()), &["Read"])).is_empty());
    let frames = stream.of(&["t0"], block("msg", call("t1")));
    assert_eq!(frames[0]["type"], "assistant");
    let of = |frame: &Value| {
        ["parent_tool_use_id", "agent_id", "subagent_type"].map(|name| frame[name].as_str().unwrap().to_owned())
    };
    assert_eq!((frames.len(), of(&frames[0])), (1, ["t0", "a1", "Explore"].map(str::to_owned)));
    let frames =
        stream.of(&["t0"], EventKind::ToolFinished(ToolFinished::new("Read".into(), ToolResult::ok("t1", "x"))));
    assert_eq!(
        (frames[0]["type"].as_str(), of(&frames[0])),
        (Some("user"), ["t0", "a1", "Explore"].map(str::to_owned))
    );
    let progress = ToolProgress::new("t1".into(), "Bash".into(), "half".into(), 500);
    assert_eq!(stream.of(&["t0"], EventKind::ToolProgress(progress))[0]["parent_tool_use_id"], "t0");
    let decision = Decision::new(Behavior::Deny, DecisionReason::Rule, "no");
    let denied = EventKind::PermissionResolved { tool_use_id: "t1".into(), tool: "Bash".into(), decision };
    let frames = stream.of(&["t0"], denied);
    assert_eq!((&frames[0]["subtype"], &frames[0]["agent_id"]), (&json!("permission_denied"), &json!("a1")));
    let mut outcome = HookOutcome::default();
    outcome.ran = vec!["audit".to_owned()];
    let ran = EventKind::HookRan { event: HookEventName::PreToolUse, tool_use_id: None, outcome };
    assert_eq!(stream.of(&["t0"], ran).len(), 2);
    for status in [Status::PriceUnknown { model: "m".into() }, Status::Notice { message: "x".into() }] {
        assert_eq!(stream.of(&["t0"], EventKind::Status(status))[0]["subtype"], "informational");
    }
    // An agent of an agent is below the call of that agent.
    stream.of(&["t0", "t9"], started(Some(AgentIdentity::new("a2".into(), "Plan")), &[]));
    assert_eq!(of(&stream.of(&["t0", "t9"], block("msg", call("t1")))[0]), ["t9", "a2", "Plan"].map(str::to_owned));
}

#[test]
fn the_rest_of_its_run_has_none_and_leaves_the_session_alone() {
    for partial in [true, false] {
        let main = [
            started(None, &["Read"]),
            raw(r#"{"type":"message_start","message":{}}"#),
            raw(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
            raw(r#"{"type":"content_block_stop","index":0}"#),
            block("msg", ContentBlock::text("x")),
            raw(r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#),
            EventKind::MessageWithdrawn { message_id: Some("msg".into()), reason: WithdrawReason::StreamFailed },
            EventKind::RunFinished(RunResult::new(Outcome::Success, SessionId::from("s"))),
        ];
        let options = || FrameOptions::default().with_partial_messages(partial);
        let mut alone = MappedStream::new(options());
        alone.mapper.answers(Some("asked".to_owned()));
        let expected: Vec<Value> = main.iter().flat_map(|kind| alone.main(kind.clone())).collect();
        let mut beside = MappedStream::new(options());
        beside.mapper.answers(Some("asked".to_owned()));
        let mut found = Vec::new();
        for kind in main {
            found.extend(beside.main(kind));
            assert!(beside.of(&["t0"], started(Some(explorer()), &["Agent"])).is_empty());
            for kind in silent() {
                let frames = beside.of(&["t0"], kind.clone());
                assert!(frames.is_empty(), "{kind:?}: {frames:?}");
            }
        }
        assert_eq!(found, expected, "partial messages: {partial}");
        assert!(beside.mapper.agents.is_empty());
    }
}

#[test]
fn texts_are_shown_if_the_host_wants_them() {
    for (wanted, late) in [(true, false), (false, true), (false, false)] {
        let mut stream = MappedStream::new(FrameOptions::default().with_subagent_text(wanted));
        if late {
            stream.mapper.forwards_text();
        }
        stream.of(&["t0"], started(Some(explorer()), &[]));
        for shown in [ContentBlock::text("x"), thought()] {
            let frames = stream.of(&["t0"], block("msg", shown));
            assert_eq!(frames.len(), usize::from(wanted || late));
            assert!(frames.iter().all(|frame| frame["parent_tool_use_id"] == "t0"));
        }
    }
}

#[test]
fn only_what_was_shown_is_taken_back() {
    let mut stream = MappedStream::new(FrameOptions::default());
    let withdrawn =
        || EventKind::MessageWithdrawn { message_id: Some("msg".into()), reason: WithdrawReason::StreamFailed };
    let finished = || EventKind::MessageFinished {
        message_id: "msg".into(),
        model: "opus".into(),
        stop_reason: None,
        usage: Usage::default(),
        attempt_id: "a".into(),
        latency_ms: 900,
        first_token_ms: None,
    };
    stream.of(&["t0"], started(Some(explorer()), &[]));
    assert!(stream.of(&["t0"], withdrawn()).is_empty());
    stream.of(&["t0"], block("msg", call("t1")));
    assert!(stream.of(&["t1"], withdrawn()).is_empty());
    let body = json!({
        "type": "system", "subtype": "message_withdrawn", "message_id": "msg", "reason": "stream_failed",
        "parent_tool_use_id": "t0",
    });
    assert_eq!(stream.of(&["t0"], withdrawn()), [body]);
    assert!(stream.of(&["t0"], withdrawn()).is_empty());
    stream.of(&["t0"], block("msg", call("t1")));
    stream.of(&["t0"], finished());
    assert!(stream.of(&["t0"], withdrawn()).is_empty());
}

#[test]
fn lists_name_the_tool_as_hosts_know_it_and_the_agents_if_there_is_one() {
    let mut stream = MappedStream::new(FrameOptions::default());
    let init = stream.main(started(None, &["Agent", "Bash"]));
    assert_eq!(init[0]["tools"], json!(["Task", "Bash"]));
    assert_eq!(init[0]["agents"], json!(["general-purpose", "Explore"]));
    let init = stream.main(started(None, &["Bash", "AgentX"]));
    assert_eq!((&init[0]["tools"], &init[0]["agents"]), (&json!(["Bash", "AgentX"]), &json!([])));
    // The model's own words stay unchanged.
    let tool = ContentBlock::ToolUse(ToolUse::new("t0", "Agent", JsonText::empty_object()));
    let frame = &stream.main(block("msg", tool))[0];
    assert_eq!(frame["message"]["content"][0]["name"], "Agent");
    assert!(frame.get("agent_id").is_none() && frame["parent_tool_use_id"].is_null());
}

#[test]
fn an_agent_in_the_background_is_reported_from_its_start_to_its_end() {
    let mut stream = MappedStream::new(FrameOptions::default());
    let mut info = TaskInfo::new("a1".into(), TaskKind::LocalAgent, "Look around", "t0".into());
    info.agent_type = Some("Explore".to_owned());
    let alive = json!({
        "task_id": "a1", "task_type": "local_agent", "subagent_type": "Explore", "description": "Look around",
    });
    let now = |tasks: Value| json!({ "type": "system", "subtype": "background_tasks_changed", "tasks": tasks });
    let begun = json!({
        "type": "system", "subtype": "task_started", "task_id": "a1", "tool_use_id": "t0",
        "description": "Look around", "task_type": "local_agent", "subagent_type": "Explore",
        "is_backgrounded": true, "spawn_depth": 1,
    });
    assert_eq!(stream.main(EventKind::TaskStarted(info.clone())), [now(json!([alive.clone()])), begun]);
    // Work that the agent leaves behind belongs to it.
    stream.of(&["t0"], started(Some(explorer()), &[]));
    let shell = TaskInfo::new("b1".into(), TaskKind::LocalBash, "Build", "t1".into());
    let frames = stream.of(&["t0"], EventKind::TaskStarted(shell.clone()));
    assert_eq!((&frames[1]["parent_task_id"], frames[1].get("spawn_depth")), (&json!("a1"), None));
    assert_eq!(frames[0]["tasks"][1]["parent_task_id"], "a1");
    stream.of(&["t0"], EventKind::TaskEnded(TaskEnded::new(shell, TaskStatus::Stopped, "It was stopped.")));

    let mut progress = TaskProgress::new(info.clone(), TaskUsage::new(900, 3, 4_100));
    let usage = json!({ "total_tokens": 900, "tool_uses": 3, "duration_ms": 4_100 });
    for last in [None, Some("Read")] {
        progress.last_tool = last.map(str::to_owned);
        let mut expected = json!({
            "type": "system", "subtype": "task_progress", "task_id": "a1", "tool_use_id": "t0",
            "description": "Look around", "subagent_type": "Explore", "usage": usage,
        });
        if let Some(last) = last {
            expected["last_tool_name"] = json!(last);
        }
        assert_eq!(stream.main(EventKind::TaskProgress(progress.clone())), [expected]);
    }
    info.output_file = Some("/o".into());
    let mut ended = TaskEnded::new(info, TaskStatus::Completed, "Agent \"Look around\" completed");
    ended.usage = Some(TaskUsage::new(900, 3, 4_100));
    ended.report = Some("for the model".to_owned());
    let expected = json!({
        "type": "system", "subtype": "task_notification", "task_id": "a1", "tool_use_id": "t0",
        "status": "completed", "output_file": "/o", "summary": "Agent \"Look around\" completed", "usage": usage,
    });
    assert_eq!(stream.main(EventKind::TaskEnded(ended)), [expected, now(json!([]))]);
}

#[test]
fn agents_whose_end_was_not_reported_are_forgotten_with_their_call() {
    let mut stream = MappedStream::new(FrameOptions::default());
    let mut info = TaskInfo::new("a1".into(), TaskKind::LocalAgent, "Look", "t0".into());
    stream.main(EventKind::TaskStarted(info.clone()));
    for path in [&["t0"][..], &["t0", "t1"], &["t2"], &["t2", "t0"], &["t3"]] {
        stream.of(path, started(Some(explorer()), &[]));
    }
    for (call, left) in [("t0", 5), ("t2", 3), ("t9", 3)] {
        let result = ToolResult::ok(call, "");
        stream.main(EventKind::ToolFinished(ToolFinished::new("Agent".into(), result)));
        assert_eq!(stream.mapper.agents.len(), left, "{call}");
    }
    stream.main(EventKind::TaskEnded(TaskEnded::new(info.clone(), TaskStatus::Stopped, "It was stopped.")));
    assert_eq!(stream.mapper.agents.len(), 1);
    info.kind = TaskKind::LocalBash;
    info.tool_use_id = "t3".into();
    stream.main(EventKind::TaskEnded(TaskEnded::new(info, TaskStatus::Stopped, "It was stopped.")));
    assert_eq!(stream.mapper.agents.len(), 1);
}

/// A host that counts background work does not wait for work whose end is never reported.
#[test]
fn work_of_agents_whose_end_was_not_reported_is_reported_as_ended() {
    let mut stream = MappedStream::new(FrameOptions::default());
    let work = |id: &str, kind, call: &str| EventKind::TaskStarted(TaskInfo::new(id.into(), kind, "x", call.into()));
    stream.main(work("a1", TaskKind::LocalAgent, "t0"));
    stream.main(work("b0", TaskKind::LocalBash, "t5"));
    stream.of(&["t0"], work("b1", TaskKind::LocalBash, "t1"));
    stream.of(&["t0", "t2"], work("b2", TaskKind::LocalBash, "t1"));
    stream.of(&["t3"], work("b3", TaskKind::LocalBash, "t1"));
    let finished = |call: &str| EventKind::ToolFinished(ToolFinished::new("Agent".into(), ToolResult::ok(call, "")));
    let ended = |frames: Vec<Value>| -> Vec<String> {
        let ended = frames.iter().filter(|frame| frame["subtype"] == "task_notification");
        ended.map(|frame| format!("{} {}", frame["task_id"], frame["status"])).collect()
    };
    // The call that left it behind has ended, and the agent has not.
    assert!(ended(stream.main(finished("t0"))).is_empty());
    assert_eq!(ended(stream.main(finished("t3"))), [r#""b3" "stopped""#]);
    let agent = TaskInfo::new("a1".into(), TaskKind::LocalAgent, "x", "t0".into());
    let frames = stream.main(EventKind::TaskEnded(TaskEnded::new(agent, TaskStatus::Stopped, "It was stopped.")));
    let left: Vec<Value> = frames.last().unwrap()["tasks"].as_array().unwrap().clone();
    assert_eq!((left.len(), &left[0]["task_id"]), (1, &json!("b0")));
    assert_eq!(ended(frames), [r#""a1" "stopped""#, r#""b1" "stopped""#, r#""b2" "stopped""#]);
}
