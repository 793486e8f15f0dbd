//! Every frame as it is written, and the order of frames in each case that `docs/architecture.md` names.

use windlass_protocol::{FrameMapper, FrameOptions, MAX_LINE, is_error};
use windlass_types::{
    Behavior, CompactTrigger, Compacted, ContentBlock, Continuation, Decision, DecisionReason, Delta, EntryId, Event,
    EventKind, HookEventName, HookOutcome, Interrupted, JsonText, MatchedRule, MessageId, ModelErrorKind, NanoUsd,
    Outcome, PermissionDenial, PermissionMode, RateLimit, RateLimitKind, RateLimitStatus, RetryStatus, RuleSource,
    RunFailure, RunFailureKind, RunId, RunResult, RunStarted, SessionId, StateChange, Status, StopReason, ToolFinished,
    ToolProgress, ToolResult, ToolStarted, ToolUse, ToolUseId, Usage, Utilization, WithdrawReason,
};

fn mapper(partial: bool) -> FrameMapper {
    let mut next = 0;
    let options = FrameOptions::default().with_partial_messages(partial).with_api_key_source("ANTHROPIC_API_KEY");
    FrameMapper::new(options, move || {
        next += 1;
        next
    })
}

fn event(kind: EventKind) -> Event {
    Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind)
}

fn lines_of(partial: bool, kinds: impl IntoIterator<Item = EventKind>) -> Vec<String> {
    let mut mapper = mapper(partial);
    let mut out = Vec::new();
    for kind in kinds {
        mapper.map(&event(kind), &mut out);
    }
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// The kinds of frames, in order.
fn outline(lines: &[String]) -> Vec<String> {
    let frames: Vec<_> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    windlass_testkit::frames::outline(&frames)
}

fn started() -> EventKind {
    let tools = vec!["Bash".to_owned(), "Read".to_owned()];
    EventKind::RunStarted(RunStarted::new("/w".into(), "opus".into(), tools, PermissionMode::AcceptEdits, false))
}

fn requesting(continuation: Continuation) -> EventKind {
    EventKind::Status(Status::Requesting { continuation, model: "opus".into(), attempt_id: "a".into() })
}

fn raw(frame: &str) -> EventKind {
    EventKind::ModelFrame { frame: JsonText::parse(frame).unwrap() }
}

fn delta(text: &str) -> EventKind {
    EventKind::BlockDelta { index: 0, delta: Delta::Text(text.into()) }
}

fn block(block: ContentBlock) -> EventKind {
    let message_id = MessageId::from("msg_1");
    let (line, usage) = (EntryId::from_bits(5), Usage::new(9, 1));
    EventKind::BlockFinished { message_id, model: "opus-1".into(), index: 0, line, block, usage }
}

fn call() -> ToolUse {
    ToolUse::new("toolu_1", "Read", JsonText::parse("{\"file_path\":\n\"/w/a\"}").unwrap())
}

fn message_finished() -> EventKind {
    let (message_id, stop_reason) = (MessageId::from("msg_1"), Some(StopReason::EndTurn));
    EventKind::MessageFinished {
        message_id,
        model: "opus-1".into(),
        stop_reason,
        usage: Usage::new(9, 5),
        attempt_id: "a".into(),
        latency_ms: 900,
        first_token_ms: Some(300),
    }
}

fn tool_finished(result: ToolResult) -> EventKind {
    let mut finished = ToolFinished::new("Read".into(), result);
    finished.structured = Some(JsonText::parse(r#"{"type":"text","file":{"filePath":"/w/a"}}"#).unwrap());
    EventKind::ToolFinished(finished)
}

fn result(outcome: Outcome) -> RunResult {
    let mut result = RunResult::new(outcome, SessionId::from("s"));
    result.text = "Done.".into();
    result.turns = 2;
    result.duration_ms = 1200;
    result.duration_api_ms = 900;
    result.stop_reason = Some(StopReason::EndTurn);
    result.usage = Usage::new(20, 14);
    result.cost = NanoUsd::new(2_100_000);
    result
}

fn finished(outcome: Outcome) -> EventKind {
    EventKind::RunFinished(result(outcome))
}

fn denied(reason: DecisionReason) -> EventKind {
    let rule = MatchedRule::new("Read(.env)", Behavior::Deny, RuleSource::CliArg);
    let decision = Decision::new(Behavior::Deny, reason, "The rule `Read(.env)` denies it.").with_rule(rule);
    EventKind::PermissionResolved { tool_use_id: ToolUseId::from("toolu_1"), tool: "Read".into(), decision }
}

#[track_caller]
fn check(kind: EventKind, expected: &[&str]) {
    let lines = lines_of(true, [kind]);
    assert_eq!(lines, expected);
}

const ID: &str = r#""uuid":"00000000-0000-4000-8000-000000000001""#;
/// The id of a line in the log: frames of what is stored have that.
const LINE_ID: &str = r#""uuid":"00000000-0000-4000-8000-000000000005""#;

#[test]
fn init() {
    let expected = format!(
        r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Bash","Read"],"mcp_servers":[],"model":"opus","permissionMode":"acceptEdits","slash_commands":[],"apiKeySource":"ANTHROPIC_API_KEY","claude_code_version":"2.1.328","output_style":"default","agents":[],"skills":[],"plugins":[],{ID}}}"#
    );
    check(started(), &[&expected]);
}

#[test]
fn blocks_and_results() {
    let usage = r#""usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":null,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}}"#;
    for (content, written) in [
        (ContentBlock::text("a\u{2028}b"), r#"{"type":"text","text":"a\u2028b"}"#),
        (
            ContentBlock::Thinking { thinking: "hm".into(), signature: "c2ln".into() },
            r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#,
        ),
        (
            ContentBlock::ToolUse(call()),
            r#"{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path": "/w/a"}}"#,
        ),
    ] {
        let expected = format!(
            r#"{{"type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"opus-1","content":[{written}],"stop_reason":null,"stop_sequence":null,{usage}}},"parent_tool_use_id":null,"session_id":"s",{LINE_ID}}}"#
        );
        check(block(content), &[&expected]);
    }
    let expected = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"1\tx"}}]}},"parent_tool_use_id":null,"session_id":"s",{ID},"tool_use_result":{{"type":"text","file":{{"filePath":"/w/a"}}}}}}"#
    );
    check(tool_finished(ToolResult::ok("toolu_1", "1\tx")), &[&expected]);
    let expected = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":"no such file","is_error":true}}]}},"parent_tool_use_id":null,"session_id":"s",{ID},"tool_use_result":"Error: no such file"}}"#
    );
    check(tool_finished(ToolResult::error("toolu_1", "no such file")), &[&expected]);
    let mut stored = ToolFinished::new("Read".into(), ToolResult::ok("toolu_1", "x"));
    stored.entry = Some(EntryId::from_bits(5));
    let mut out = Vec::new();
    mapper(false).map(&event(EventKind::ToolFinished(stored)), &mut out);
    assert!(String::from_utf8(out).unwrap().contains(LINE_ID), "results have the ids of their lines as well");
}

#[test]
fn a_call_of_a_subagent_names_its_parent() {
    let mut event = event(tool_finished(ToolResult::ok("toolu_2", "x")));
    event.agent = event.agent.child("toolu_1".into());
    let mut out = Vec::new();
    mapper(false).map(&event, &mut out);
    assert!(String::from_utf8(out).unwrap().contains(r#""parent_tool_use_id":"toolu_1""#));
}

#[test]
fn system_frames() {
    let system = |rest: &str| format!(r#"{{"type":"system",{rest},{ID},"session_id":"s"}}"#);
    let mut retry = RetryStatus::new(1, 10, 500, ModelErrorKind::Overloaded);
    retry.http_status = Some(529);
    retry.message = "the API is overloaded (529)".into();
    let mut hook = HookOutcome::default();
    hook.system_messages = vec!["Mind the gap.".into()];
    let mode = StateChange::PermissionMode { mode: PermissionMode::Plan };
    for (kind, rest) in [
        (requesting(Continuation::Prompt), r#""subtype":"status","status":"requesting""#),
        (EventKind::StateChanged(mode), r#""subtype":"status","status":null,"permissionMode":"plan""#),
        (
            EventKind::Status(Status::Retrying(retry)),
            r#""subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded","message":"the API is overloaded (529)""#,
        ),
        (
            EventKind::Status(Status::FallingBack { from: "opus".into(), to: "sonnet".into() }),
            r#""subtype":"model_fallback","original_model":"opus","fallback_model":"sonnet""#,
        ),
        (
            EventKind::Status(Status::Notice { message: "careful".into() }),
            r#""subtype":"informational","content":"careful","level":"warning""#,
        ),
        (
            EventKind::Status(Status::PriceUnknown { model: "m".into() }),
            r#""subtype":"informational","content":"The price of m is not known, so the budget does not hold for it.","level":"warning""#,
        ),
        (
            EventKind::HookRan {
                event: HookEventName::PreToolUse,
                tool_use_id: Some(ToolUseId::from("toolu_1")),
                outcome: hook,
            },
            r#""subtype":"informational","content":"Mind the gap.","level":"warning","tool_use_id":"toolu_1""#,
        ),
        (
            denied(DecisionReason::Rule),
            r#""subtype":"permission_denied","tool_name":"Read","tool_use_id":"toolu_1","decision_reason_type":"rule","decision_reason":"Read(.env)","message":"The rule `Read(.env)` denies it.""#,
        ),
        (
            EventKind::MessageWithdrawn { message_id: Some("msg_1".into()), reason: WithdrawReason::Interrupted },
            r#""subtype":"message_withdrawn","message_id":"msg_1","reason":"interrupted""#,
        ),
    ] {
        check(kind, &[&system(rest)]);
    }
    check(denied(DecisionReason::Host), &[]);
    let progress = ToolProgress::new("toolu_1".into(), "Bash".into(), "12 lines".into(), 2500);
    let expected = format!(
        r#"{{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":2.5,"message":"12 lines",{ID},"session_id":"s"}}"#
    );
    check(EventKind::ToolProgress(progress), &[&expected]);
}

#[test]
fn a_result_in_full() {
    let mut result = result(Outcome::Success);
    let mut used = windlass_types::ModelUsage::default();
    used.add(Usage::new(20, 14), Some(NanoUsd::new(2_100_000)));
    used.context_window = 200_000;
    used.max_output_tokens = 64_000;
    result.model_usage.insert("opus-1".into(), used);
    result.permission_denials.push(PermissionDenial::new(&call()));
    let expected = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":1200,"duration_api_ms":900,"num_turns":2,"result":"Done.","stop_reason":"end_turn","session_id":"s","total_cost_usd":0.0021,"usage":{{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":14,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":null,"cache_creation":{{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}}}},"modelUsage":{{"opus-1":{{"inputTokens":20,"outputTokens":14,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.0021,"contextWindow":200000,"maxOutputTokens":64000}}}},"permission_denials":[{{"tool_name":"Read","tool_use_id":"toolu_1","tool_input":{{"file_path": "/w/a"}}}}],"terminal_reason":"completed",{ID}}}"#
    );
    check(EventKind::RunFinished(result), &[&expected]);
}

#[test]
fn every_end_of_a_run() {
    let failed = |kind, message: &str| Outcome::Failed(RunFailure::new(kind, message).with_status(Some(401)));
    for (outcome, before, expected) in [
        (Outcome::Refused, vec![], r#"success|false|2|"Done."|null|completed|null"#),
        (
            Outcome::MaxTurns { limit: 2 },
            vec![],
            r#"error_max_turns|true|3|null|["Reached maximum number of turns (2)"]|max_turns|null"#,
        ),
        (
            Outcome::MaxBudget { limit: NanoUsd::from_usd(0.5) },
            vec![],
            r#"error_max_budget_usd|true|2|null|["Reached maximum budget ($0.5)"]|budget_exhausted|null"#,
        ),
        (
            Outcome::Interrupted { during: Interrupted::Streaming },
            vec!["user/text"],
            r#"error_during_execution|true|2|null|["The run was interrupted by the user"]|aborted_streaming|null"#,
        ),
        (
            Outcome::Interrupted { during: Interrupted::Tools },
            vec!["user/text"],
            r#"error_during_execution|true|2|null|["The run was interrupted by the user"]|aborted_tools|null"#,
        ),
        (
            Outcome::PromptBlocked { reason: "no secrets".into() },
            vec!["system/informational"],
            r#"success|false|2|"Done."|null|hook_stopped|null"#,
        ),
        (
            Outcome::BackgroundStopped { tasks: Vec::new() },
            vec!["system/informational"],
            r#"success|true|2|"Done."|null|completed|null"#,
        ),
        (Outcome::Pending { questions: Vec::new() }, vec![], r#"success|false|2|"Done."|null|tool_deferred|null"#),
        (
            failed(RunFailureKind::Model(ModelErrorKind::Authentication), "check the key (401)"),
            vec!["assistant/text"],
            r#"success|true|2|"API Error: check the key (401)"|null|api_error|401"#,
        ),
        (
            failed(RunFailureKind::PromptTooLong, "too long"),
            vec!["assistant/text"],
            r#"success|true|2|"API Error: too long"|null|prompt_too_long|401"#,
        ),
        (
            failed(RunFailureKind::Store, "the disk is full"),
            vec![],
            r#"error_during_execution|true|2|null|["the disk is full"]|null|null"#,
        ),
        (
            failed(RunFailureKind::RepeatedToolFailure, "10 turns failed"),
            vec![],
            r#"error_during_execution|true|2|null|["10 turns failed"]|malformed_tool_use_exhausted|null"#,
        ),
    ] {
        let lines = lines_of(false, [finished(outcome.clone())]);
        let (last, first) = lines.split_last().unwrap();
        assert_eq!(outline(first), before, "{outcome:?}");
        let frame: serde_json::Value = serde_json::from_str(last).unwrap();
        assert_eq!(frame["type"], "result");
        assert_eq!(frame["is_error"], is_error(&outcome));
        let text = |name: &str| frame[name].as_str().unwrap_or("null").to_owned();
        let found = format!(
            "{}|{}|{}|{}|{}|{}|{}",
            text("subtype"),
            frame["is_error"],
            frame["num_turns"],
            frame["result"],
            frame["errors"],
            text("terminal_reason"),
            frame["api_error_status"]
        );
        assert_eq!(found, expected);
    }
}

#[test]
fn an_api_failure_is_reported_by_a_synthetic_message() {
    let failure = RunFailure::new(RunFailureKind::Model(ModelErrorKind::NotFound), "no such model");
    let lines = lines_of(false, [finished(Outcome::Failed(failure))]);
    let frame: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(frame["message"]["model"], "<synthetic>");
    assert_eq!(frame["message"]["content"][0]["text"], "API Error: no such model");
    assert_eq!(frame["error"], "model_not_found");
}

#[test]
fn a_run_that_could_not_start_has_a_result() {
    let mut out = Vec::new();
    mapper(false).refused("s", "No conversation found with session ID: x", &mut out);
    let frame: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(frame["subtype"], "error_during_execution");
    assert_eq!(frame["is_error"], true);
    assert_eq!(frame["num_turns"], 0);
    assert_eq!(frame["errors"][0], "No conversation found with session ID: x");
}

#[test]
fn plain_answer() {
    let plain = || {
        [
            started(),
            requesting(Continuation::Prompt),
            raw(r#"{"type":"message_start","message":{}}"#),
            raw(r#"{"type":"ping"}"#),
            raw(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
            raw("{\"type\":\"content_block_delta\",\n\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}"),
            delta("hi"),
            raw(r#"{"index":0,"type":"content_block_stop"}"#),
            block(ContentBlock::text("hi")),
            raw(r#"{"type":"message_delta","delta":{}}"#),
            raw(r#"{"type":"message_stop"}"#),
            message_finished(),
            finished(Outcome::Success),
        ]
    };
    assert_eq!(outline(&lines_of(false, plain())), ["system/init", "assistant/text", "result/success"]);
    let lines = lines_of(true, plain());
    assert_eq!(
        outline(&lines),
        [
            "system/init",
            "system/status",
            "stream_event/message_start",
            "stream_event/content_block_start",
            "stream_event/content_block_delta",
            "assistant/text",
            "stream_event/content_block_stop",
            "stream_event/message_delta",
            "stream_event/message_stop",
            "result/success",
        ]
    );
    assert_eq!(
        lines[4],
        r#"{"type":"stream_event","event":{"type":"content_block_delta", "index":0,"delta":{"type":"text_delta","text":"hi"}},"parent_tool_use_id":null,"uuid":"00000000-0000-4000-8000-000000000005","session_id":"s"}"#
    );
}

#[test]
fn a_denied_tool() {
    let input = JsonText::parse(r#"{"file_path":"/w/a"}"#).unwrap();
    let tool_started = ToolStarted::new("toolu_2".into(), "Read".into(), input, "Read a".into());
    let lines = lines_of(
        false,
        [
            started(),
            requesting(Continuation::Prompt),
            block(ContentBlock::ToolUse(call())),
            message_finished(),
            denied(DecisionReason::Rule),
            tool_finished(ToolResult::error("toolu_1", "denied")),
            EventKind::ToolStarted(tool_started),
            tool_finished(ToolResult::ok("toolu_2", "x")),
            requesting(Continuation::ToolResults),
            block(ContentBlock::text("hi")),
            finished(Outcome::Success),
        ],
    );
    assert_eq!(
        outline(&lines),
        [
            "system/init",
            "assistant/tool_use",
            "system/permission_denied",
            "user/tool_result",
            "user/tool_result",
            "assistant/text",
            "result/success"
        ]
    );
}

#[test]
fn a_cut_stream_is_balanced_and_withdrawn() {
    let retry = RetryStatus::new(1, 10, 500, ModelErrorKind::Cut);
    let lines = lines_of(
        true,
        [
            raw(r#"{"type":"message_start","message":{}}"#),
            raw(r#"{"type":"content_block_start","index":0,"content_block":{}}"#),
            raw(r#"{"type":"content_block_stop","index":0}"#),
            block(ContentBlock::text("hi")),
            raw(r#"{"type":"content_block_start","index":1,"content_block":{}}"#),
            EventKind::MessageWithdrawn { message_id: None, reason: WithdrawReason::StreamFailed },
            EventKind::Status(Status::Retrying(retry)),
            raw(r#"{"type":"message_start","message":{}}"#),
        ],
    );
    assert_eq!(
        outline(&lines),
        [
            "stream_event/message_start",
            "stream_event/content_block_start",
            "assistant/text",
            "stream_event/content_block_stop",
            "stream_event/content_block_start",
            "stream_event/content_block_stop",
            "stream_event/message_stop",
            "system/message_withdrawn",
            "system/api_retry",
            "stream_event/message_start",
        ]
    );
    assert!(lines[5].contains(r#""event":{"type":"content_block_stop","index":1}"#));
}

#[test]
fn an_end_of_a_block_without_its_frame_is_not_lost() {
    let lines = lines_of(true, [raw(r#"{"type":"content_block_stop","index":0}"#), raw(r#"{"type":"message_stop"}"#)]);
    assert_eq!(outline(&lines), ["stream_event/content_block_stop", "stream_event/message_stop"]);
}

#[test]
fn no_line_is_too_long() {
    let big = "x".repeat(MAX_LINE);
    let mut with_details = ToolFinished::new("Read".into(), ToolResult::ok("toolu_1", "short"));
    with_details.structured = Some(JsonText::of(&big).unwrap());
    let large_input = JsonText::of(&serde_json::json!({ "content": big })).unwrap();
    let mut many_denials = result(Outcome::Success);
    many_denials.permission_denials = vec![PermissionDenial::new(&ToolUse::new("toolu_1", "Write", large_input))];
    let mut long_text = result(Outcome::Success);
    long_text.text.clone_from(&big);
    for (kind, holds) in [
        (EventKind::ToolFinished(with_details), r#""content":"short""#),
        (tool_finished(ToolResult::ok("toolu_1", big.as_str())), "too long for one frame"),
        (block(ContentBlock::text(big.as_str())), "too long for one frame"),
        (EventKind::RunFinished(many_denials), r#""tool_name":"Write","tool_use_id":"toolu_1","tool_input":{}"#),
        (EventKind::RunFinished(long_text), "too long for one frame"),
    ] {
        let lines = lines_of(true, [kind]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() < MAX_LINE, "{} bytes for {holds}", lines[0].len());
        assert!(lines[0].contains(holds), "{holds}");
    }
}

#[test]
fn an_allowance() {
    let frame = |info: &str| format!(r#"{{"type":"rate_limit_event","rate_limit_info":{info},{ID},"session_id":"s"}}"#);
    let warning = RateLimit::new(RateLimitStatus::AllowedWarning)
        .with_kind(Some(RateLimitKind::FiveHour))
        .with_utilization(Utilization::new(0.82))
        .with_resets_at(Some(1_795_170_000));
    let overage = RateLimit::new(RateLimitStatus::Rejected)
        .with_overage(Some(RateLimitStatus::Allowed), Some(1_795_180_000))
        .with_overage_disabled_reason(Some("out_of_credits".into()));
    let unknown = RateLimit::new(RateLimitStatus::Allowed)
        .with_kind(Some("one_moon".into()))
        .with_overage(Some("paused".into()), None)
        .with_overage_disabled_reason(Some("eclipse".into()));
    for (limit, info) in [
        (RateLimit::new(RateLimitStatus::Allowed), r#"{"status":"allowed"}"#),
        (
            warning,
            r#"{"status":"allowed_warning","resetsAt":1795170000,"rateLimitType":"five_hour","utilization":0.82}"#,
        ),
        (
            overage,
            r#"{"status":"rejected","overageStatus":"allowed","overageResetsAt":1795180000,"overageDisabledReason":"out_of_credits","isUsingOverage":true}"#,
        ),
        // Names that hosts do not know are left out.
        (unknown, r#"{"status":"allowed","overageDisabledReason":"unknown","isUsingOverage":false}"#),
    ] {
        check(EventKind::RateLimit(limit), &[&frame(info)]);
    }
    check(EventKind::RateLimit(RateLimit::new("paused".into())), &[]);
}

/// A frame that does not fit into a line is replaced by one that says so, or by one that says less: none is just lost.
#[test]
fn what_is_too_long_is_said_to_be_missing() {
    let big = "x".repeat(MAX_LINE);
    let tools: Vec<String> = (0..20_000).map(|n| format!("mcp__server__{n:050}")).chain(["Read".to_owned()]).collect();
    let started = RunStarted::new("/w".into(), "opus".into(), tools, PermissionMode::Default, false);
    let mut own: Vec<String> = (0..20_000).map(|n| format!("own_{n:050}")).collect();
    own.push("Read".to_owned());
    let owned = RunStarted::new("/w".into(), "opus".into(), own, PermissionMode::Default, false);
    let notice = EventKind::Status(Status::Notice { message: big.clone() });
    let progress = ToolProgress::new(ToolUseId::from("t"), "Bash".into(), big.clone(), 1);
    let id = EntryId::from_bits(1);
    let compacted = Compacted::new(CompactTrigger::Auto, big, id.clone(), id);
    for (kind, expected) in [
        (EventKind::RunStarted(started), &["system/init", "system/informational"][..]),
        (EventKind::RunStarted(owned), &["system/init", "system/informational"]),
        (notice, &["system/informational"]),
        (EventKind::ToolProgress(progress), &["system/informational"]),
        (EventKind::Compacted(compacted), &["system/status", "system/compact_boundary", "user"]),
    ] {
        let lines = lines_of(false, [kind]);
        assert_eq!(outline(&lines), expected);
        assert!(lines.iter().all(|line| line.len() < MAX_LINE));
        let last = lines.last().unwrap();
        assert!(last.contains("too long"), "{last}");
        if expected[0] == "system/init" {
            assert!(lines[0].contains(r#""tools":["Read"]"#) || lines[0].contains(r#""tools":[]"#), "{}", lines[0]);
        }
    }
}
