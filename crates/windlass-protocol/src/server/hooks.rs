//! Hooks that the host runs.

mod listing;
mod matcher;
mod output;

use super::requests::{AskError, Asker, Requests};
use super::scene::Scene;
use super::told::Told;
use crate::same::same_json;
use async_trait::async_trait;
use futures_util::future::join_all;
use matcher::Matcher;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use windlass_hook::{Hook, HookContext, Interest};
use windlass_types::text::clause;
use windlass_types::{
    AgentIdentity, Behavior, HookCall, HookEventName, HookOutcome, HookVerdict, JsonText, PermissionAnswer,
};

/// How long a hook may take when it does not say.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The events that hooks of the host are asked about.
const EVENTS: [HookEventName; 9] = [
    HookEventName::PreToolUse,
    HookEventName::PermissionRequest,
    HookEventName::PostToolUse,
    HookEventName::PostToolUseFailure,
    HookEventName::UserPromptSubmit,
    HookEventName::Stop,
    HookEventName::SubagentStart,
    HookEventName::SubagentStop,
    HookEventName::PreCompact,
];

/// Whether hooks for an event can be about some tools only.
fn is_about_tools(event: HookEventName) -> bool {
    matches!(
        event,
        HookEventName::PreToolUse
            | HookEventName::PermissionRequest
            | HookEventName::PostToolUse
            | HookEventName::PostToolUseFailure
    )
}

/// What matchers look at: the tool's name, the type of the agent, or why the conversation is replaced.
fn subject(call: &HookCall) -> Option<&str> {
    match call {
        HookCall::SubagentStart(agent) | HookCall::SubagentStop { agent, .. } => Some(&agent.agent_type),
        HookCall::PreCompact { trigger, .. } => Some(trigger),
        _ => call.tool_name(),
    }
}

/// Hooks as `initialize` carries them: matchers by event.
pub(crate) type HookConfig = BTreeMap<String, Vec<MatcherConfig>>;

/// One matcher and the callbacks behind it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatcherConfig {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hook_callback_ids: Vec<String>,
    /// In seconds.
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    on_failure: Option<String>,
}

#[derive(Debug, Clone)]
struct Registered {
    event: HookEventName,
    /// The matcher as the host wrote it.
    text: String,
    matcher: Matcher,
    callbacks: Vec<String>,
    timeout: Duration,
    /// Whether a failure closes the gate.
    blocks: bool,
}

/// The hooks that the host registered, as one [`Hook`]: it asks the host over
/// the control channel and says what the host says. Cheap to clone.
///
/// A hook of the host that fails has no opinion, with two exceptions that deny
/// the call or block the prompt: `onFailure: "block"`, and a `PreToolUse` hook
/// that did not answer in time or whose host is gone.
#[derive(Clone)]
pub struct HostHooks(Arc<Shared>);

struct Shared {
    table: RwLock<Vec<Registered>>,
    requests: Arc<Requests>,
    scene: Arc<Scene>,
    told: Arc<Told>,
}

impl fmt::Debug for HostHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHooks").field("hooks", &self.table().len()).finish()
    }
}

impl HostHooks {
    pub(crate) fn new(requests: Arc<Requests>, scene: Arc<Scene>, told: Arc<Told>) -> Self {
        Self(Arc::new(Shared { table: RwLock::default(), requests, scene, told }))
    }

    fn table(&self) -> Vec<Registered> {
        self.0.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces what is registered. Nothing changes if it cannot be used.
    pub(crate) fn register(&self, config: HookConfig) -> Result<(), String> {
        let mut table = Vec::new();
        for (event, matchers) in config {
            let Some(event) = EVENTS.into_iter().find(|known| known.as_str() == event) else {
                tracing::warn!(event, "hooks for this event are never asked");
                continue;
            };
            for config in matchers {
                let timeout = config.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                table.push(Registered {
                    event,
                    text: config.matcher.clone().unwrap_or_default(),
                    matcher: Matcher::parse(config.matcher.as_deref(), is_about_tools(event))?,
                    callbacks: config.hook_callback_ids,
                    timeout: timeout.unwrap_or(TIMEOUT),
                    blocks: config.on_failure.is_some_and(|word| word != "continue"),
                });
            }
        }
        *self.0.table.write().unwrap_or_else(PoisonError::into_inner) = table;
        Ok(())
    }
}

#[async_trait]
impl Hook for HostHooks {
    fn name(&self) -> &str {
        "host"
    }

    fn interests(&self) -> Vec<Interest> {
        let interest = |registered: &Registered| match &registered.matcher {
            Matcher::Names(names) if is_about_tools(registered.event) => {
                Interest::tools(registered.event, names.iter().cloned())
            }
            _ => Interest::all(registered.event),
        };
        self.table().iter().filter(|registered| !registered.callbacks.is_empty()).map(interest).collect()
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Option<HookOutcome> {
        if let HookCall::PreToolUse { tool_use_id, .. } = call {
            self.0.told.of(cx.agent.as_ref(), tool_use_id).await;
        }
        let table = self.table();
        let asked = table
            .iter()
            .filter(|registered| registered.event == call.event() && registered.matcher.matches(subject(call)))
            .flat_map(|registered| registered.callbacks.iter().map(move |callback| (registered, callback)));
        let said = join_all(asked.map(|(registered, callback)| self.ask(cx, call, registered, callback))).await;
        let mut outcome = HookOutcome::default();
        for one in said {
            merge(&mut outcome, one);
        }
        Some(outcome)
    }
}

/// The request of one callback.
#[derive(Serialize)]
struct Callback<'a> {
    subtype: &'static str,
    callback_id: &'a str,
    input: Input<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a str>,
}

/// What a hook is told.
#[derive(Serialize)]
struct Input<'a> {
    session_id: &'a str,
    transcript_path: String,
    cwd: &'a str,
    permission_mode: &'a str,
    /// The agent that it is about, where the occasion itself does not say so.
    #[serde(flatten)]
    agent: Option<&'a AgentIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_transcript_path: Option<String>,
    #[serde(flatten)]
    call: &'a HookCall,
}

impl HostHooks {
    async fn ask(&self, cx: &HookContext, call: &HookCall, registered: &Registered, callback: &str) -> HookOutcome {
        // What the host was told of the session counts for its own calls.
        let own = cx.permission_mode.filter(|_| cx.agent.is_some());
        let mode = own.unwrap_or_else(|| self.0.scene.permission_mode());
        let ask = |call: HookCall| async move {
            let agent = occasion_agent(&call);
            let request = Callback {
                subtype: "hook_callback",
                callback_id: callback,
                input: Input {
                    session_id: cx.session_id.as_str(),
                    transcript_path: self.0.scene.transcript_path(),
                    cwd: &cx.cwd.to_string_lossy(),
                    permission_mode: mode.as_str(),
                    agent: cx.agent.as_ref().filter(|_| agent.is_none()),
                    agent_transcript_path: match &call {
                        HookCall::SubagentStop { agent, .. } => Some(self.0.scene.agent_transcript_path(&agent.id)),
                        _ => None,
                    },
                    call: &call,
                },
                tool_use_id: tool_use_id(&call),
            };
            let asker = agent.or(cx.agent.as_ref()).map_or(Asker::Run, |agent| Asker::Agent(agent.id.clone()));
            self.0.requests.ask_for(asker, &request, Some(registered.timeout)).await
        };
        let said = match ask(call.clone()).await {
            Err(AskError::TooLong) => match shortened(call) {
                Some(short) => ask(short).await,
                None => Err(AskError::TooLong),
            },
            said => said,
        };
        let read = match said {
            Ok(None) => Ok(HookOutcome::default()),
            Ok(Some(output)) => output::read(callback, call, &output).map_err(|error| AskError::Refused(error.into())),
            Err(error) => Err(error),
        };
        match read {
            Ok(mut outcome) => {
                if let HookCall::PreToolUse { tool_input, .. } = call {
                    // Hosts write JSON in their own way: what says the same is no change.
                    outcome.updated_input = outcome.updated_input.filter(|input| !same_json(input, tool_input));
                }
                outcome
            }
            Err(error) => failed(call.event(), registered, callback, &error),
        }
    }
}

/// What a hook that failed says.
fn failed(event: HookEventName, registered: &Registered, callback: &str, error: &AskError) -> HookOutcome {
    let mut outcome = HookOutcome::default();
    if *error == AskError::Withdrawn {
        // The run is being stopped, and the call with it. Should it not be, nobody has let it pass.
        if event == HookEventName::PreToolUse {
            outcome.verdict = Some(HookVerdict::new(
                Behavior::Deny,
                callback,
                format!("The hook {callback}: {}.", clause(&error.to_string())),
            ));
        }
        return outcome;
    }
    // A gate that nobody guards is closed: what cannot be asked about does not run.
    let unguarded = matches!(error, AskError::TimedOut(_) | AskError::Gone | AskError::TooLong);
    let reason = || format!("The hook {callback} failed: {}.", clause(&error.to_string()));
    match event {
        HookEventName::PreToolUse if registered.blocks || unguarded => {
            outcome.verdict = Some(HookVerdict::new(Behavior::Deny, callback, reason()));
        }
        HookEventName::PermissionRequest if registered.blocks || unguarded => {
            outcome.answer = Some(PermissionAnswer::deny(reason()));
        }
        HookEventName::UserPromptSubmit if registered.blocks => {
            outcome.block = Some(HookVerdict::new(Behavior::Deny, callback, reason()));
        }
        _ => {}
    }
    outcome.failures.push((callback.to_owned(), error.to_string()));
    outcome
}

/// The agent whose beginning or end an occasion is.
fn occasion_agent(call: &HookCall) -> Option<&AgentIdentity> {
    match call {
        HookCall::SubagentStart(agent) | HookCall::SubagentStop { agent, .. } => Some(agent),
        _ => None,
    }
}

fn tool_use_id(call: &HookCall) -> Option<&str> {
    match call {
        HookCall::PreToolUse { tool_use_id, .. }
        | HookCall::PermissionRequest { tool_use_id, .. }
        | HookCall::PostToolUse { tool_use_id, .. }
        | HookCall::PostToolUseFailure { tool_use_id, .. } => Some(tool_use_id.as_str()),
        _ => None,
    }
}

/// The same occasion with its output left out, where a hook does not decide by it.
fn shortened(call: &HookCall) -> Option<HookCall> {
    let note = || JsonText::of("[The output is too long to be shown to a hook.]").ok();
    match call.clone() {
        HookCall::PostToolUse { tool_name, tool_input, tool_use_id, duration_ms, .. } => {
            Some(HookCall::PostToolUse { tool_name, tool_input, tool_use_id, tool_response: note()?, duration_ms })
        }
        HookCall::Stop { stop_hook_active, .. } => {
            Some(HookCall::Stop { stop_hook_active, last_assistant_message: String::new() })
        }
        HookCall::SubagentStop { agent, stop_hook_active, .. } => {
            Some(HookCall::SubagentStop { agent, stop_hook_active, last_assistant_message: String::new() })
        }
        _ => None,
    }
}

/// What several callbacks say together: the lowest opinion, the first of the rest.
fn merge(all: &mut HookOutcome, one: HookOutcome) {
    if let Some(verdict) = one.verdict
        && all.verdict.as_ref().is_none_or(|before| verdict.behavior < before.behavior)
    {
        all.verdict = Some(verdict);
    }
    let is_deny = |answer: &PermissionAnswer| matches!(answer, PermissionAnswer::Deny { .. });
    all.answer = match (all.answer.take(), one.answer) {
        (Some(before), Some(answer)) if is_deny(&answer) && !is_deny(&before) => Some(answer),
        (before, answer) => before.or(answer),
    };
    all.block = all.block.take().or(one.block);
    all.updated_input = all.updated_input.take().or(one.updated_input);
    all.updated_output = all.updated_output.take().or(one.updated_output);
    all.stop = all.stop.take().or(one.stop);
    all.additional_context.extend(one.additional_context);
    all.system_messages.extend(one.system_messages);
    all.failures.extend(one.failures);
}
