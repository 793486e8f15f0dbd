//! Events of every kind.

use crate::corpus::variants::ident;
use std::collections::BTreeSet;
use std::fmt::Debug;
use windlass_protocol::MAX_LINE;
use windlass_types::{
    AgentIdentity, Behavior, CallDigest, CompactTrigger, Compacted, ContentBlock, Continuation, Decision,
    DecisionReason, Delta, DocumentSource, EntryId, EventKind, HookEventName, HookOutcome, ImageSource, Interrupted,
    JsonText, MatchedRule, MessageId, ModelErrorKind, ModelUsage, NanoUsd, Outcome, PermissionDenial, PermissionMode,
    PermissionRequest, RateLimit, RateLimitKind, RateLimitStatus, RetryStatus, RuleSource, RunFailure, RunFailureKind,
    RunOrigin, RunResult, RunStarted, SessionId, StateChange, Status, Steered, SteeredFate, StopReason, TaskEnded,
    TaskInfo, TaskKind, TaskProgress, TaskStatus, TaskUsage, ToolFinished, ToolProgress, ToolResult, ToolResultContent,
    ToolStarted, ToolUse, ToolUseId, Usage, Utilization, WithdrawReason,
};

/// The variants of one type that the corpus holds.
pub(crate) struct Covered {
    pub(crate) file: &'static str,
    pub(crate) name: &'static str,
    pub(crate) found: BTreeSet<String>,
}

fn covered_by<T: Debug>(file: &'static str, name: &'static str, values: impl IntoIterator<Item = T>) -> Covered {
    Covered { file, name, found: values.into_iter().map(|value| ident(&format!("{value:?}"))).collect() }
}

pub(crate) fn covered() -> Vec<Covered> {
    vec![
        covered_by("event.rs", "EventKind", events()),
        covered_by("event.rs", "Status", statuses()),
        covered_by("event.rs", "StateChange", changes()),
        covered_by("event.rs", "Delta", deltas()),
        covered_by("event.rs", "WithdrawReason", WITHDRAWN),
        covered_by("entry.rs", "CompactTrigger", TRIGGERS),
        covered_by("steering.rs", "SteeredFate", fates()),
        covered_by("task.rs", "TaskStatus", TASK_ENDS),
        covered_by("task.rs", "TaskKind", TASK_KINDS),
        covered_by("run.rs", "RunOrigin", ORIGINS),
        covered_by("run.rs", "Continuation", CONTINUATIONS),
        covered_by("run.rs", "Outcome", outcomes()),
        covered_by("run.rs", "Interrupted", INTERRUPTED),
        covered_by("run.rs", "RunFailureKind", failures()),
        covered_by("model_failure.rs", "ModelErrorKind", ERRORS),
        covered_by("model.rs", "StopReason", stops()),
        covered_by("permission.rs", "DecisionReason", REASONS),
        covered_by("permission.rs", "PermissionMode", MODES),
        covered_by("rate_limit.rs", "RateLimitStatus", limit_statuses()),
        covered_by("rate_limit.rs", "RateLimitKind", limit_kinds()),
        covered_by("content.rs", "ContentBlock", blocks()),
        covered_by("content.rs", "ToolResultContent", contents()),
        covered_by("media.rs", "ImageSource", images()),
        covered_by("media.rs", "DocumentSource", documents()),
    ]
}

const WITHDRAWN: [WithdrawReason; 2] = [WithdrawReason::StreamFailed, WithdrawReason::Interrupted];

const TRIGGERS: [CompactTrigger; 3] = [CompactTrigger::Manual, CompactTrigger::Auto, CompactTrigger::Overflow];

const TASK_ENDS: [TaskStatus; 3] = [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Stopped];

const TASK_KINDS: [TaskKind; 2] = [TaskKind::LocalBash, TaskKind::LocalAgent];

const ORIGINS: [RunOrigin; 2] = [RunOrigin::User, RunOrigin::TaskNotification];

const INTERRUPTED: [Interrupted; 3] = [Interrupted::Streaming, Interrupted::Tools, Interrupted::Starting];

const MODES: [PermissionMode; 6] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::DontAsk,
    PermissionMode::Auto,
    PermissionMode::BypassPermissions,
];

const CONTINUATIONS: [Continuation; 11] = [
    Continuation::Compacted,
    Continuation::Prompt,
    Continuation::ToolResults,
    Continuation::StopHook,
    Continuation::Retry,
    Continuation::Fallback,
    Continuation::MaxOutput,
    Continuation::PauseTurn,
    Continuation::Steered,
    Continuation::StructuredOutput,
    Continuation::Resumed,
];

const REASONS: [DecisionReason; 16] = [
    DecisionReason::Hook,
    DecisionReason::Rule,
    DecisionReason::Catastrophic,
    DecisionReason::Protected,
    DecisionReason::ToolCheck,
    DecisionReason::WorkingDirectory,
    DecisionReason::NotUnderstood,
    DecisionReason::Mode,
    DecisionReason::Sandbox,
    DecisionReason::ReadOnly,
    DecisionReason::Classifier,
    DecisionReason::Host,
    DecisionReason::NobodyToAsk,
    DecisionReason::Default,
    DecisionReason::InvalidInput,
    DecisionReason::UnknownTool,
];

const ERRORS: [ModelErrorKind; 18] = [
    ModelErrorKind::Authentication,
    ModelErrorKind::PermissionDenied,
    ModelErrorKind::Billing,
    ModelErrorKind::NotFound,
    ModelErrorKind::InvalidRequest,
    ModelErrorKind::PromptTooLong,
    ModelErrorKind::RequestTooLarge,
    ModelErrorKind::ReplayRejected,
    ModelErrorKind::RateLimited,
    ModelErrorKind::QuotaExhausted,
    ModelErrorKind::Overloaded,
    ModelErrorKind::Server,
    ModelErrorKind::Timeout,
    ModelErrorKind::Connection,
    ModelErrorKind::Cut,
    ModelErrorKind::Protocol,
    ModelErrorKind::Replay,
    ModelErrorKind::Configuration,
];

/// A text with what breaks lines, quotes or encodings, and one that fits into no frame.
fn texts() -> [String; 4] {
    [String::new(), "plain".to_owned(), "\u{0}\"\\\n\r\u{2028}\u{2029}\u{85}🌍".to_owned(), "x".repeat(MAX_LINE + 1)]
}

fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn id() -> ToolUseId {
    ToolUseId::from("toolu_1")
}

fn call(input: &str) -> ToolUse {
    ToolUse::new("toolu_1", "Read", json(input))
}

fn stops() -> Vec<StopReason> {
    vec![
        StopReason::EndTurn,
        StopReason::ToolUse,
        StopReason::MaxTokens,
        StopReason::StopSequence,
        StopReason::PauseTurn,
        StopReason::Refusal,
        StopReason::ContextWindowExceeded,
        StopReason::MalformedToolCall,
        StopReason::ContentFilter,
        StopReason::Other("from_the_future".into()),
    ]
}

fn deltas() -> [Delta; 3] {
    [Delta::Text("a".into()), Delta::Thinking("b".into()), Delta::ToolInput("{".into())]
}

fn images() -> [ImageSource; 3] {
    [
        ImageSource::Base64 { media_type: "image/png".into(), data: "AA==".into() },
        ImageSource::Url { url: "https://example.com/a.png".into() },
        ImageSource::File { file_id: "file_1".into() },
    ]
}

fn documents() -> [DocumentSource; 4] {
    [
        DocumentSource::Base64 { media_type: "application/pdf".into(), data: "AA==".into() },
        DocumentSource::Text { media_type: "text/plain".into(), data: "x".into() },
        DocumentSource::Url { url: "https://example.com/a.pdf".into() },
        DocumentSource::File { file_id: "file_1".into() },
    ]
}

fn blocks() -> Vec<ContentBlock> {
    let mut blocks: Vec<ContentBlock> = texts().into_iter().map(ContentBlock::text).collect();
    blocks.extend([
        ContentBlock::Thinking { thinking: "hm".into(), signature: "c2ln".into() },
        ContentBlock::Thinking { thinking: String::new(), signature: String::new() },
        ContentBlock::RedactedThinking { data: "AA==".into() },
        ContentBlock::ToolUse(call("{}")),
        ContentBlock::ToolUse(call("{\"n\":123456789012345678901234567890,\n\"e\":1e300,\"a\":[null,true]}")),
        ContentBlock::ToolUse(call(&format!("{{\"long\":\"{}\"}}", "x".repeat(MAX_LINE)))),
        ContentBlock::ToolResult(ToolResult::ok("toolu_1", "x")),
        ContentBlock::Unknown(json(r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#)),
        ContentBlock::Unknown(json(r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#)),
        ContentBlock::Unknown(json(r#"{"type":"from_the_future","x":1}"#)),
    ]);
    blocks.extend(images().map(|source| ContentBlock::Image { source }));
    blocks.extend(documents().map(|source| ContentBlock::Document { source, title: Some("t".into()) }));
    blocks
}

fn contents() -> Vec<ToolResultContent> {
    let mut contents: Vec<ToolResultContent> = texts().into_iter().map(ToolResultContent::from).collect();
    contents.push(ToolResultContent::Blocks(Vec::new()));
    contents
        .push(ToolResultContent::Blocks(blocks().into_iter().filter(|block| block.as_tool_use().is_none()).collect()));
    contents
}

fn statuses() -> Vec<Status> {
    let mut all: Vec<Status> = CONTINUATIONS
        .iter()
        .map(|why| Status::Requesting { continuation: *why, model: "opus".into(), attempt_id: "a".into() })
        .collect();
    for kind in ERRORS {
        for (status, message) in [(None, ""), (Some(529), "the API is overloaded (529)")] {
            let mut retry = RetryStatus::new(1, 10, 500, kind);
            retry.http_status = status;
            retry.message = message.into();
            all.push(Status::Retrying(retry));
        }
    }
    all.push(Status::FallingBack { from: "opus".into(), to: "sonnet".into() });
    all.push(Status::CacheBroken { cause: "system".into() });
    all.extend(TRIGGERS.map(|trigger| Status::Compacting { trigger }));
    all.push(Status::CompactionFailed { message: "too little to say".into() });
    all.push(Status::PriceUnknown { model: "m".into() });
    all.extend(texts().map(|message| Status::Notice { message }));
    all.push(Status::HooksRunning { message: "Checking the style".into() });
    all
}

fn limit_statuses() -> [RateLimitStatus; 4] {
    [
        RateLimitStatus::Allowed,
        RateLimitStatus::AllowedWarning,
        RateLimitStatus::Rejected,
        RateLimitStatus::Other("from_the_future".into()),
    ]
}

fn limit_kinds() -> [RateLimitKind; 7] {
    [
        RateLimitKind::FiveHour,
        RateLimitKind::SevenDay,
        RateLimitKind::SevenDayOpus,
        RateLimitKind::SevenDaySonnet,
        RateLimitKind::SevenDayOverageIncluded,
        RateLimitKind::Overage,
        RateLimitKind::Other("from_the_future".into()),
    ]
}

fn limits() -> Vec<RateLimit> {
    let mut all: Vec<RateLimit> = limit_statuses().map(RateLimit::new).to_vec();
    for status in limit_statuses() {
        for kind in limit_kinds() {
            for overage in limit_statuses() {
                let limit = RateLimit::new(status.clone())
                    .with_kind(Some(kind.clone()))
                    .with_utilization(Utilization::new(0.82))
                    .with_resets_at(Some(1_795_170_000))
                    .with_overage(Some(overage), Some(1_795_180_000));
                all.extend(
                    ["out_of_credits", "from_the_future"]
                        .map(|reason| limit.clone().with_overage_disabled_reason(Some(reason.into()))),
                );
            }
        }
    }
    all
}

fn changes() -> Vec<StateChange> {
    let mut all = MODES.map(|mode| StateChange::PermissionMode { mode }).to_vec();
    all.push(StateChange::Model { model: "sonnet".into() });
    all.push(StateChange::Cwd { cwd: "/w".into() });
    all.push(StateChange::Todos { todos: json("[]") });
    all
}

fn failures() -> Vec<RunFailureKind> {
    let mut all = vec![
        RunFailureKind::PromptTooLong,
        RunFailureKind::RepeatedToolFailure,
        RunFailureKind::NoProgress,
        RunFailureKind::OutputLimit,
        RunFailureKind::Compaction,
        RunFailureKind::PromptCall,
        RunFailureKind::Store,
        RunFailureKind::Internal,
    ];
    all.extend(ERRORS.map(RunFailureKind::Model));
    all
}

fn stopped() -> Outcome {
    let task = TaskInfo::new("b1".into(), TaskKind::LocalBash, "Build it", "toolu_1".into());
    Outcome::BackgroundStopped { tasks: vec![task] }
}

fn outcomes() -> Vec<Outcome> {
    let mut all = vec![
        Outcome::Success,
        Outcome::Refused,
        Outcome::HandedOver,
        Outcome::MaxTurns { limit: 2 },
        Outcome::MaxBudget { limit: NanoUsd::from_usd(0.5) },
        Outcome::NoStructuredOutput { attempts: 5 },
        Outcome::StoppedByHook { reason: "enough".into() },
        Outcome::PromptBlocked { reason: "no".into() },
        Outcome::Pending { questions: vec!["q1".into()] },
        stopped(),
    ];
    all.extend(INTERRUPTED.map(|during| Outcome::Interrupted { during }));
    for kind in failures() {
        for status in [None, Some(401)] {
            all.push(Outcome::Failed(RunFailure::new(kind, "it failed").with_status(status)));
        }
    }
    all.extend(texts().map(|text| Outcome::Failed(RunFailure::new(RunFailureKind::Internal, text))));
    all
}

fn results() -> Vec<RunResult> {
    let session = || SessionId::from("12345678-1234-4234-8234-123456789abc");
    let mut all: Vec<RunResult> = outcomes().into_iter().map(|outcome| RunResult::new(outcome, session())).collect();
    for stop in stops() {
        let mut result = RunResult::new(Outcome::Success, session());
        result.stop_reason = Some(stop);
        all.push(result);
    }
    for text in texts() {
        let mut result = RunResult::new(Outcome::Success, session());
        result.structured_output = Some(json(&serde_json::to_string(&text).unwrap()));
        result.text = text;
        all.push(result);
    }
    for input in ["{}".to_owned(), format!("{{\"long\":\"{}\"}}", "x".repeat(MAX_LINE))] {
        let mut result = RunResult::new(Outcome::Success, session());
        result.text = "Done.".into();
        result.usage = Usage::new(20, 14);
        result.cost = NanoUsd::new(2_100_000);
        let mut used = ModelUsage::default();
        used.add(Usage::new(20, 14), Some(NanoUsd::new(2_100_000)));
        result.model_usage.insert("opus".into(), used);
        result.permission_denials.push(PermissionDenial::new(&call(&input)));
        all.push(result);
    }
    all
}

fn decisions() -> Vec<Decision> {
    let mut all = Vec::new();
    for reason in REASONS {
        for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
            all.push(Decision::new(behavior, reason, "because"));
        }
        let rule = MatchedRule::new("Read(.env)", Behavior::Deny, RuleSource::CliArg);
        all.push(Decision::new(Behavior::Deny, reason, "because").with_rule(rule));
    }
    all
}

fn finished() -> Vec<ToolFinished> {
    let mut all = Vec::new();
    for content in contents() {
        for structured in [None, Some(json(r#"{"type":"text"}"#)), Some(json(&format!("\"{}\"", "x".repeat(MAX_LINE))))]
        {
            let mut finished = ToolFinished::new("Read".into(), ToolResult::ok("toolu_1", content.clone()));
            finished.structured = structured;
            all.push(finished);
        }
    }
    for text in texts() {
        let mut failed = ToolFinished::new("Read".into(), ToolResult::error("toolu_1", text));
        failed.denied = Some(Decision::new(Behavior::Deny, DecisionReason::Host, "no"));
        failed.diff = Some("@@".into());
        all.push(failed);
    }
    all
}

fn hooks() -> Vec<HookOutcome> {
    let mut outcome = HookOutcome::default();
    outcome.ran = ["host", "audit", "hook_0"].map(str::to_owned).to_vec();
    outcome.system_messages = texts().to_vec();
    outcome.failures = vec![("hook_0".into(), "broken".into())];
    outcome.stop = Some("enough".into());
    vec![HookOutcome::default(), outcome]
}

/// A model message as it streams: blocks of every kind, and what comes between.
fn stream() -> Vec<EventKind> {
    let frames = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"opus","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":7}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"type":"from_the_future"}"#,
    ];
    let mut all = Vec::new();
    for frame in frames {
        all.push(EventKind::ModelFrame { frame: json(frame) });
        if frame.contains("content_block_stop") {
            all.push(block(ContentBlock::text("a")));
        }
    }
    // A message that is cut in a block, and one that had not begun.
    for frame in frames.iter().take(3) {
        all.push(EventKind::ModelFrame { frame: json(frame) });
    }
    all
}

/// Possible fates of a message that is sent to a run.
fn fates() -> [SteeredFate; 4] {
    let entry = EntryId::from_bits(4);
    let reason = "no".to_owned();
    [SteeredFate::Joined { entry }, SteeredFate::Blocked { reason }, SteeredFate::Deferred, SteeredFate::Returned]
}

/// Work in the background, from its start to its end.
fn tasks() -> Vec<EventKind> {
    let mut all = Vec::new();
    for kind in TASK_KINDS {
        let is_agent = kind == TaskKind::LocalAgent;
        let usage = is_agent.then(|| TaskUsage::new(900, 3, 4_100));
        for (status, text) in TASK_ENDS.into_iter().zip(texts()) {
            let mut task = TaskInfo::new("b1".into(), kind, text.clone(), id());
            task.agent_type = is_agent.then(|| "general-purpose".to_owned());
            all.push(EventKind::TaskStarted(task.clone()));
            for last_tool in [None, Some("Read".to_owned())] {
                let mut progress = TaskProgress::new(task.clone(), usage.unwrap_or_default());
                progress.last_tool = last_tool;
                all.push(EventKind::TaskProgress(progress));
            }
            task.output_file = (status == TaskStatus::Completed).then(|| "/w/out".into());
            let mut ended = TaskEnded::new(task, status, text.clone());
            (ended.usage, ended.report) = (usage, is_agent.then_some(text));
            all.push(EventKind::TaskEnded(ended));
        }
    }
    all
}

fn block(block: ContentBlock) -> EventKind {
    let message_id = MessageId::from("msg_1");
    let (line, usage) = (EntryId::from_bits(1), Usage::new(9, 1));
    EventKind::BlockFinished { message_id, line, model: "opus".into(), index: 0, block, usage }
}

/// Events of every kind with every value that a frame depends on.
pub(crate) fn events() -> Vec<EventKind> {
    let tools = || vec!["Bash".to_owned(), "Read".to_owned()];
    let started = |mode| EventKind::RunStarted(RunStarted::new("/w".into(), "opus".into(), tools(), mode, false));
    let mut all = MODES.map(started).to_vec();
    let mut of_agent = RunStarted::new("/w".into(), "opus".into(), tools(), PermissionMode::Default, false);
    of_agent.identity = Some(AgentIdentity::new("a1".into(), "general-purpose"));
    all.push(EventKind::RunStarted(of_agent));
    all.extend(stream());
    for reason in WITHDRAWN {
        for message_id in [Some("msg_1".into()), None] {
            all.push(EventKind::MessageWithdrawn { message_id, reason });
        }
    }
    all.extend(deltas().map(|delta| EventKind::BlockDelta { index: 0, delta }));
    all.extend(blocks().into_iter().map(block));
    let message_id = || MessageId::from("msg_1");
    all.extend(stops().into_iter().map(|stop| EventKind::MessageFinished {
        message_id: message_id(),
        model: "opus".into(),
        stop_reason: Some(stop),
        usage: Usage::new(9, 5),
        attempt_id: "a".into(),
        latency_ms: 900,
        first_token_ms: Some(300),
    }));
    all.push(EventKind::ToolStarted(ToolStarted::new(id(), "Read".into(), json("{}"), "Read /w/a".into())));
    all.extend(texts().map(|text| EventKind::ToolProgress(ToolProgress::new(id(), "Bash".into(), text, 2500))));
    all.extend(finished().into_iter().map(EventKind::ToolFinished));
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "it must be asked");
    let digest = CallDigest::new("07");
    let request = PermissionRequest::new(call("{}"), "Read /w/a".into(), decision, digest);
    all.push(EventKind::PermissionRequested(request));
    let resolved = |decision| EventKind::PermissionResolved { tool_use_id: id(), tool: "Read".into(), decision };
    all.extend(decisions().into_iter().map(resolved));
    for tool_use_id in [None, Some(id())] {
        let ran = |outcome| EventKind::HookRan {
            event: HookEventName::PreToolUse,
            tool_use_id: tool_use_id.clone(),
            outcome,
        };
        all.extend(hooks().into_iter().map(ran));
        all.push(EventKind::HooksStarted {
            event: HookEventName::PreToolUse,
            tool_use_id: tool_use_id.clone(),
            hooks: vec!["guard".to_owned()],
        });
    }
    all.extend(statuses().into_iter().map(EventKind::Status));
    for trigger in TRIGGERS {
        for text in texts() {
            let mut compacted = Compacted::new(trigger, text, EntryId::from_bits(2), EntryId::from_bits(3));
            compacted.pre_tokens = 151_000;
            compacted.post_tokens = 9_000;
            all.push(EventKind::Compacted(compacted));
        }
    }
    all.extend(tasks());
    for id in [None, Some(EntryId::from_bits(4))] {
        all.extend(fates().map(|fate| EventKind::Steered(Steered::new(id.clone(), fate))));
    }
    all.push(EventKind::UsageUpdated { model: "opus".into(), usage: Usage::new(9, 5), cost: NanoUsd::new(5) });
    all.extend(limits().into_iter().map(EventKind::RateLimit));
    all.extend(changes().into_iter().map(EventKind::StateChanged));
    for origin in ORIGINS {
        all.extend(results().into_iter().map(|mut result| {
            result.origin = origin;
            EventKind::RunFinished(result)
        }));
    }
    // No session makes one, and no frame comes of it.
    all.push(EventKind::Unknown(serde_json::from_str(r#"{"type":"newer"}"#).unwrap()));
    all
}
