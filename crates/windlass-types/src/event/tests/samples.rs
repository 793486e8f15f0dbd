//! Values of everything that events, results, and questions and their answers hold, for tests.
//!
//! Each list below is complete, or this file does not compile: a struct is made of all its fields, and a match names
//! all variants of an enum.

use crate::hook::{ElicitationChoice, ElicitationReply, HookOutput};
use crate::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Source of the choices of a sample. When the choices are used up, all further values are as small as possible.
pub(crate) struct Source<'a> {
    choices: std::slice::Iter<'a, u64>,
    depth: usize,
    /// The texts that occur.
    texts: &'static [&'static str],
    /// The largest number.
    most: u64,
}

/// Texts that need escaping.
const HARD_TEXTS: [&str; 4] = ["", "plain", "\"é\"\\\u{1f600}\n\u{0}", "null"];

impl<'a> Source<'a> {
    /// Hard texts and any numbers.
    pub(crate) fn hard(choices: &'a [u64]) -> Self {
        Self { choices: choices.iter(), depth: 0, texts: &HARD_TEXTS, most: u64::MAX }
    }

    /// Example values for people to read.
    pub(crate) fn plain(choices: &'a [u64]) -> Self {
        Self { choices: choices.iter(), depth: 0, texts: &["text"], most: 999 }
    }

    fn next(&mut self) -> u64 {
        self.choices.next().copied().unwrap_or_default()
    }

    fn number(&mut self) -> u64 {
        let number = self.next();
        self.most.checked_add(1).map_or(number, |count| number % count)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next() as usize % all.len()]
    }

    pub(crate) fn make<T: Sample>(&mut self) -> T {
        // Blocks hold results, and results hold blocks.
        self.depth += 1;
        if self.depth > 12 {
            self.choices = [].iter();
        }
        let made = T::sample(self);
        self.depth -= 1;
        made
    }
}

pub(crate) trait Sample: Sized {
    fn sample(s: &mut Source<'_>) -> Self;
}

/// An enum, one variant after the other.
pub(crate) trait Variants: Sized + 'static {
    fn variants() -> Vec<fn(&mut Source<'_>) -> Self>;
}

macro_rules! structs {
    // Fields after a semicolon are not part of the JSON.
    ($($name:ident { $($field:ident),* $(,)? $(; $unwritten:ident)? })*) => {
        $(impl Sample for $name {
            fn sample(s: &mut Source<'_>) -> Self {
                $name { $($field: s.make(),)* $($unwritten: None)? }
            }
        })*
    };
}

macro_rules! enums {
    ($($name:ident {
        $($variant:ident $({ $($field:ident),* $(; $unwritten:ident)? })? $(($inner:ident))? $([$value:expr])?),* $(,)?
    })*) => {
        $(impl Variants for $name {
            fn variants() -> Vec<fn(&mut Source<'_>) -> Self> {
                // A variant that is not in the list above is an error here.
                let _ = |value: &$name| match value {
                    $($name::$variant { .. } => (),)*
                };
                vec![$(|_s| $name::$variant $({ $($field: _s.make(),)* $($unwritten: None)? })? $(({
                    let $inner = _s.make();
                    $inner
                }))? $(($value))?),*]
            }
        }

        impl Sample for $name {
            fn sample(s: &mut Source<'_>) -> Self {
                let make = s.one_of(&Self::variants());
                make(s)
            }
        })*
    };
}

macro_rules! made {
    ($($name:ty: |$s:ident| $value:expr;)*) => {
        $(impl Sample for $name {
            fn sample($s: &mut Source<'_>) -> Self {
                $value
            }
        })*
    };
}

made! {
    bool: |s| s.next() % 2 == 1;
    u16: |s| s.number() as u16;
    i32: |s| s.number() as i32;
    u32: |s| s.number() as u32;
    u64: |s| s.number();
    usize: |s| s.number() as usize;
    String: |s| s.one_of(s.texts).to_owned();
    PathBuf: |s| s.one_of(&["/w/file", "relative é"]).into();
    NanoUsd: |s| Self::new(s.number());
    Utilization: |s| Self::new(s.next() as f64 / u64::MAX as f64).unwrap();
    AgentId: |s| Self::from(s.one_of(&["agent-1", "agent-2"]));
    EntryId: |s| Self::from_bits(s.number().into());
    MessageId: |s| Self::from(s.one_of(&["msg_1", "msg_2"]));
    QuestionId: |s| Self::from_bits(s.number().into());
    AttemptId: |s| Self::from_bits(s.number().into());
    RunId: |s| Self::from_bits(s.number().into());
    Timestamp: |s| Self::from_millis(s.number() % 253_402_300_800_000);
    SessionId: |s| Self::from_bits(s.number().into());
    TaskId: |s| Self::from(s.one_of(&["task-1", "task-2"]));
    ToolUseId: |s| Self::from(s.one_of(&["toolu_1", "toolu_2"]));
    CallDigest: |s| Self::new(s.one_of(&["07", "ff"]));
    QuestionToken: |s| QuestionToken::new(s.make::<String>());
    AgentPath: |s| s.make::<Vec<ToolUseId>>().into_iter().fold(Self::default(), |path, id| path.child(id));
    HookEventName: |s| s.one_of(HookEventName::ALL);
    JsonText: |s| Self::parse(s.one_of(&[
        "{}",
        r#"{"b":1.0000000000000000001,"a":"\u00e9","type":"x","seq":[ ]}"#,
        "123456789012345678901234567890",
        r#"{ "spaced" : [1e2, -0.0, null] }"#,
        r#""a text""#,
    ]))
    .unwrap();
}

impl<T: Sample> Sample for Option<T> {
    fn sample(s: &mut Source<'_>) -> Self {
        s.make::<bool>().then(|| s.make())
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(s: &mut Source<'_>) -> Self {
        (0..s.next() % 3).map(|_| s.make()).collect()
    }
}

impl<A: Sample, B: Sample> Sample for (A, B) {
    fn sample(s: &mut Source<'_>) -> Self {
        (s.make(), s.make())
    }
}

impl<T: Sample> Sample for Box<T> {
    fn sample(s: &mut Source<'_>) -> Self {
        Self::new(s.make())
    }
}

impl<T: Sample + Ord> Sample for BTreeSet<T> {
    fn sample(s: &mut Source<'_>) -> Self {
        s.make::<Vec<T>>().into_iter().collect()
    }
}

impl<K: Sample + Ord, V: Sample> Sample for BTreeMap<K, V> {
    fn sample(s: &mut Source<'_>) -> Self {
        s.make::<Vec<(K, V)>>().into_iter().collect()
    }
}

impl Sample for Event {
    fn sample(s: &mut Source<'_>) -> Self {
        event(s, EventKind::sample)
    }
}

/// An event of a kind, with equal values for the fields that envelope and kind share.
pub(crate) fn event(s: &mut Source<'_>, kind: impl FnOnce(&mut Source<'_>) -> EventKind) -> Event {
    let mut event = Event {
        seq: s.make(),
        session_id: s.make(),
        agent: s.make(),
        run_id: s.make(),
        turn: s.make(),
        at: s.make(),
        kind: kind(s),
    };
    match &mut event.kind {
        EventKind::RunFinished(result) => result.session_id.clone_from(&event.session_id),
        EventKind::PermissionRequested(request) => request.agent.clone_from(&event.agent),
        _ => {}
    }
    event
}

fn newer<T: serde::de::DeserializeOwned>() -> T {
    serde_json::from_str(r#"{"type":"newer","value":{"n":1.50, "a":[]},"\u00e9":null}"#).unwrap()
}

structs! {
    RunStarted { cwd, model, tools, permission_mode, resumed, origin, identity }
    EditPreview { paths, diff, is_cut }
    CommandKinds { search, read, list, silent, write }
    ToolStarted { tool_use_id, tool, input, title, decision, edits, command }
    ToolProgress { tool_use_id, tool, message, elapsed_ms }
    ToolFinished { tool, result, structured, diff, written, duration_ms, denied, error, entry }
    ToolFailure { kind, source }
    ToolResult { tool_use_id, content, is_error }
    ToolUse { id, name, input; replay }
    Compacted { trigger, pre_tokens, post_tokens, duration_ms, summary, entry, boundary }
    RetryStatus { attempt, max_retries, delay_ms, error, http_status, message }
    PermissionRequest { id, tool_use_id, tool, input, title, decision, digest, agent, identity, token, group, edits, impact }
    CallImpact { summary, risk, effects, paths, hosts }
    PermissionDenial { tool_name, tool_use_id, tool_input }
    Decision { behavior, reason, message, rule, protected, suggestions, blocked_path, part }
    RuleOrigin { file, line }
    MatchedRule { rule, behavior, source, origin }
    RuleValue { tool_name, rule_content }
    AgentIdentity { id, agent_type }
    HookVerdict { behavior, hook, reason, defers }
    ElicitationReply { action, content }
    HookOutput { hook, stdout, stderr, exit_code }
    HookOutcome {
        ran, verdict, answer, elicitation, block, updated_input, updated_output, additional_context, system_messages, stop, failures, outputs,
        duration_ms,
    }
    RateLimit {
        status, resets_at, kind, utilization, overage_status, overage_resets_at, overage_disabled_reason, is_using_overage,
    }
    Steered { id, fate }
    TaskInfo { id, kind, description, tool_use_id, output_file, agent_type }
    TaskUsage { total_tokens, tool_uses, duration_ms }
    TaskProgress { info, usage, last_tool }
    TaskEnded { info, status, summary, duration_ms, usage, report }
    Usage {
        input_tokens, output_tokens, cache_creation_input_tokens, cache_creation_1h_input_tokens, cache_read_input_tokens,
        web_search_requests, reported_cost,
    }
    ModelUsage { usage, cost, reported_cost, priced, context_window, max_output_tokens }
    RunFailure { kind, message, status }
    RunResult {
        outcome, origin, text, session_id, turns, duration_ms, duration_api_ms, stop_reason, usage, model_usage, cost,
        permission_denials, pending_questions, structured_output,
    }
}

enums! {
    EventKind {
        RunStarted(x),
        ModelFrame { frame },
        BlockDelta { index, delta },
        BlockFinished { message_id, model, index, line, block, usage },
        MessageFinished { message_id, model, stop_reason, usage, attempt_id, latency_ms, first_token_ms },
        MessageWithdrawn { message_id, reason },
        ToolStarted(x),
        ToolProgress(x),
        ToolFinished(x),
        PermissionRequested(x),
        PermissionResolved { tool_use_id, tool, decision },
        HooksStarted { event, tool_use_id, hooks },
        HookRan { event, tool_use_id, outcome },
        Status(x),
        UsageUpdated { model, usage, cost },
        RateLimit(x),
        Compacted(x),
        Steered(x),
        TaskStarted(x),
        TaskProgress(x),
        TaskEnded(x),
        StateChanged(x),
        RunFinished(x),
        Unknown[newer()],
    }
    Delta { Text(x), Thinking(x), ToolInput(x) }
    WithdrawReason { StreamFailed, Interrupted }
    Status {
        Requesting { continuation, model, attempt_id },
        Retrying(x),
        FallingBack { from, to },
        Compacting { trigger },
        CompactionFailed { message },
        CacheBroken { cause },
        PriceUnknown { model },
        HooksRunning { message },
        Notice { message },
    }
    StateChange { PermissionMode { mode }, Model { model }, Cwd { cwd }, Todos { todos } }
    ContentBlock {
        Text { text; replay },
        Thinking { thinking, signature },
        RedactedThinking { data },
        Image { source },
        Document { source, title },
        ToolUse(x),
        ToolResult(x),
        Unknown[newer()],
    }
    ImageSource { Base64 { media_type, data }, Url { url }, File { file_id } }
    DocumentSource { Base64 { media_type, data }, Text { media_type, data }, Url { url }, File { file_id } }
    ToolResultContent { Text(x), Blocks(x) }
    ToolFailureKind { InvalidInput, Rejected, Cancelled, Internal, Panicked }
    CompactTrigger { Manual, Auto, Overflow }
    PermissionMode { Default, AcceptEdits, Plan, DontAsk, Auto, BypassPermissions }
    PermissionAnswer { Allow { updated_input, updates }, Deny { message, interrupt } }
    PermissionUpdate {
        AddRules { rules, behavior, destination },
        ReplaceRules { rules, behavior, destination },
        RemoveRules { rules, behavior, destination },
        SetMode { mode, destination },
        AddDirectories { directories, destination },
        RemoveDirectories { directories, destination },
    }
    Behavior { Deny, Ask, Allow }
    ElicitationChoice { Cancel, Decline, Accept }
    CallEffect { Reads, Writes, Removes, Runs, Network, Elevates }
    RiskGrade { Low, Medium, High }
    PermissionGroup { ReadOnly, Edit, Execution, Mcp, Other }
    RuleSource {
        PolicySettings, FlagSettings, LocalSettings, ProjectSettings, UserSettings, CliArg, Command, Session,
    }
    UpdateDestination { UserSettings, ProjectSettings, LocalSettings, Session, CliArg }
    DecisionReason {
    Catastrophic, Classifier, Hook, Host, Mode, NobodyToAsk, NotUnderstood, Protected, ReadOnly, Rule, Sandbox, ToolCheck, WorkingDirectory,
        Default, InvalidInput, UnknownTool,
    }
    ModelErrorKind {
        Authentication, PermissionDenied, Billing, NotFound, InvalidRequest, PromptTooLong, RequestTooLarge,
        ReplayRejected, RateLimited, QuotaExhausted, Overloaded, Server, Timeout, Connection, Cut, Protocol, Replay, Configuration,
    }
    StopReason {
        EndTurn, ToolUse, MaxTokens, StopSequence, PauseTurn, Refusal, ContextWindowExceeded,
        MalformedToolCall, ContentFilter, Other(x),
    }
    Continuation {
        Prompt, ToolResults, StopHook, Retry, Fallback, MaxOutput, PauseTurn, Steered, Compacted, StructuredOutput, Resumed,
    }
    RunOrigin { User, TaskNotification }
    Interrupted { Streaming, Tools, Starting }
    RunFailureKind {
        Model(x), PromptTooLong, PromptCall, RepeatedToolFailure, NoProgress, OutputLimit, Compaction, Store, Internal,
    }
    Outcome {
        Success,
        Refused,
        MaxTurns { limit },
        MaxBudget { limit },
        NoStructuredOutput { attempts },
        Interrupted { during },
        StoppedByHook { reason },
        PromptBlocked { reason },
        BackgroundStopped { tasks },
        Pending { questions },
        HandedOver,
        Failed(x),
    }
    RateLimitStatus { Allowed, AllowedWarning, Rejected, Other(x) }
    RateLimitKind {
        FiveHour, SevenDay, SevenDayOpus, SevenDaySonnet, SevenDayOverageIncluded, Overage, Other(x),
    }
    SteeredFate { Joined { entry }, Blocked { reason }, Deferred, Returned }
    TaskKind { LocalBash, LocalAgent }
    TaskStatus { Completed, Failed, Stopped }
}
