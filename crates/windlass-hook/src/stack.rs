//! All hooks of a session.

use crate::hook::{
    PermissionRequestEvent, PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop,
    SubagentStart, SubagentStop, UserPromptSubmit,
};
use crate::{
    Hook, HookError, Interest, PermissionRequestAction, PostToolUseAction, PreCompactAction, PreToolUseAction,
    PromptAction, SessionStartAction, StopAction,
};
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_types::{
    AgentIdentity, Behavior, HookCall, HookEventName, HookOutcome, HookVerdict, PermissionAnswer, PermissionMode,
    SessionId,
};

/// The hooks of a session, in declared order. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks(Arc<[Registered]>);

struct Registered {
    hook: Arc<dyn Hook>,
    interests: Vec<Interest>,
}

/// Where an occasion takes place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookContext {
    /// The session.
    pub session_id: SessionId,
    /// The current directory.
    pub cwd: PathBuf,
    /// The agent that it is about; nothing for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The permission mode that is in force there, if it is known. That of an agent can be narrower than the session's.
    pub permission_mode: Option<PermissionMode>,
}

impl HookContext {
    /// Where an occasion takes place.
    pub fn new(session_id: SessionId, cwd: PathBuf) -> Self {
        Self { session_id, cwd, agent: None, permission_mode: None }
    }

    /// Says which permission mode is in force.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Says which agent below the main one it is about.
    #[must_use]
    pub fn with_agent(mut self, agent: Option<AgentIdentity>) -> Self {
        self.agent = agent;
        self
    }
}

/// What one hook said, before merging.
enum Said {
    Pre(PreToolUseAction),
    Asked(PermissionRequestAction),
    Post(PostToolUseAction),
    Prompt(PromptAction),
    Stop(StopAction),
    Compact(PreCompactAction),
    Start(SessionStartAction),
    End,
    Whole(Box<HookOutcome>),
}

impl Hooks {
    /// Hooks in the order in which they count.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        Self(hooks.into_iter().map(|hook| Registered { interests: hook.interests(), hook }).collect())
    }

    /// Whether no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the hooks listen to, all together.
    pub fn interests(&self) -> Vec<Interest> {
        self.0.iter().flat_map(|registered| registered.interests.iter().cloned()).collect()
    }

    /// The same hooks, each asked anew what it listens to.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self::new(self.0.iter().map(|registered| Arc::clone(&registered.hook)))
    }

    /// Asks all hooks that listen to an occasion, in parallel, and merges what
    /// they say in declared order. Panics are failures.
    ///
    /// Cancel safe: dropping the future drops the hooks' futures.
    pub async fn run(&self, cx: &HookContext, call: &HookCall) -> HookOutcome {
        let (event, tool) = (call.event(), call.tool_name());
        let listening: Vec<&Registered> = self
            .0
            .iter()
            .filter(|registered| registered.interests.iter().any(|interest| interest.covers(event, tool)))
            .collect();
        let answers = join_all(listening.iter().map(|registered| async {
            let answer = AssertUnwindSafe(ask(&*registered.hook, cx, call)).catch_unwind().await;
            answer.unwrap_or_else(|_| Err("it panicked".into()))
        }))
        .await;
        let mut outcome = HookOutcome::default();
        for (registered, answer) in listening.iter().zip(answers) {
            let name = registered.hook.name();
            outcome.ran.push(name.to_owned());
            match answer {
                Ok(said) => merge(&mut outcome, name, said),
                Err(error) => fail(&mut outcome, event, name, &error),
            }
        }
        outcome
    }
}

async fn ask(hook: &dyn Hook, cx: &HookContext, call: &HookCall) -> Result<Said, HookError> {
    if let Some(outcome) = hook.answer(cx, call).await {
        return Ok(Said::Whole(Box::new(outcome)));
    }
    let (session_id, agent) = (cx.session_id.clone(), cx.agent.clone());
    match call.clone() {
        HookCall::PreToolUse { tool_name, tool_input, tool_use_id } => {
            let event = PreToolUse { session_id, agent, cwd: cx.cwd.clone(), tool_name, tool_input, tool_use_id };
            hook.pre_tool_use(&event).await.map(Said::Pre)
        }
        HookCall::PermissionRequest { tool_name, tool_input, tool_use_id, permission_suggestions: suggestions } => {
            let cwd = cx.cwd.clone();
            let event =
                PermissionRequestEvent { session_id, agent, cwd, tool_name, tool_input, tool_use_id, suggestions };
            hook.permission_request(&event).await.map(Said::Asked)
        }
        HookCall::PostToolUse { tool_name, tool_input, tool_use_id, tool_response, duration_ms } => {
            let event =
                PostToolUse { session_id, agent, tool_name, tool_input, tool_use_id, tool_response, duration_ms };
            hook.post_tool_use(&event).await.map(Said::Post)
        }
        HookCall::PostToolUseFailure { tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms } => {
            let event = PostToolUseFailure {
                session_id,
                agent,
                tool_name,
                tool_input,
                tool_use_id,
                error,
                is_interrupt,
                duration_ms,
            };
            hook.post_tool_use_failure(&event).await.map(Said::Post)
        }
        HookCall::UserPromptSubmit { prompt } => {
            hook.user_prompt_submit(&UserPromptSubmit { session_id, prompt }).await.map(Said::Prompt)
        }
        HookCall::Stop { stop_hook_active, last_assistant_message } => {
            hook.stop(&Stop { session_id, stop_hook_active, last_assistant_message }).await.map(Said::Stop)
        }
        HookCall::SubagentStart(agent) => {
            hook.subagent_start(&SubagentStart { session_id, agent }).await.map(Said::Start)
        }
        HookCall::SubagentStop { agent, stop_hook_active, last_assistant_message } => {
            let event = SubagentStop { session_id, agent, stop_hook_active, last_assistant_message };
            hook.subagent_stop(&event).await.map(Said::Stop)
        }
        HookCall::PreCompact { trigger, custom_instructions } => {
            hook.pre_compact(&PreCompact { session_id, trigger, custom_instructions }).await.map(Said::Compact)
        }
        HookCall::SessionStart { source } => {
            hook.session_start(&SessionStart { session_id, source }).await.map(Said::Start)
        }
        HookCall::SessionEnd { reason } => {
            hook.session_end(&SessionEnd { session_id, reason }).await.map(|()| Said::End)
        }
        // A later kind of occasion that this version cannot ask about.
        _ => Err("this event is not supported by in-process hooks".into()),
    }
}

/// Lets an opinion count if it is lower than what was said before.
fn lower(verdict: &mut Option<HookVerdict>, behavior: Behavior, hook: &str, reason: String) {
    if verdict.as_ref().is_none_or(|before| behavior < before.behavior) {
        *verdict = Some(HookVerdict::new(behavior, hook, reason));
    }
}

/// A deny counts before an allow, the first of equals before the others.
fn answered(answer: &mut Option<PermissionAnswer>, said: PermissionAnswer) {
    let is_deny = |answer: &PermissionAnswer| matches!(answer, PermissionAnswer::Deny { .. });
    if answer.as_ref().is_none_or(|before| is_deny(&said) && !is_deny(before)) {
        *answer = Some(said);
    }
}

fn block(outcome: &mut HookOutcome, hook: &str, reason: String) {
    if outcome.block.is_none() {
        outcome.block = Some(HookVerdict::new(Behavior::Deny, hook, reason));
    }
}

fn merge(outcome: &mut HookOutcome, hook: &str, said: Said) {
    match said {
        Said::Pre(PreToolUseAction::Allow) => lower(&mut outcome.verdict, Behavior::Allow, hook, String::new()),
        Said::Pre(PreToolUseAction::Ask { reason }) => lower(&mut outcome.verdict, Behavior::Ask, hook, reason),
        Said::Pre(PreToolUseAction::Deny { reason }) => lower(&mut outcome.verdict, Behavior::Deny, hook, reason),
        Said::Pre(PreToolUseAction::Rewrite { input }) => {
            outcome.updated_input.get_or_insert(input);
        }
        Said::Asked(PermissionRequestAction::Answer(answer)) => answered(&mut outcome.answer, answer),
        Said::Post(PostToolUseAction::AddContext(text))
        | Said::Prompt(PromptAction::AddContext(text))
        | Said::Start(SessionStartAction::AddContext(text)) => outcome.additional_context.push(text),
        Said::Post(PostToolUseAction::Replace(content)) => {
            outcome.updated_output.get_or_insert(content);
        }
        Said::Post(PostToolUseAction::Feedback(reason))
        | Said::Prompt(PromptAction::Block { reason })
        | Said::Compact(PreCompactAction::Block { reason })
        | Said::Stop(StopAction::KeepGoing { feedback: reason }) => block(outcome, hook, reason),
        Said::Post(PostToolUseAction::StopRun(reason)) => {
            outcome.stop.get_or_insert(reason);
        }
        Said::Pre(PreToolUseAction::Continue)
        | Said::Asked(PermissionRequestAction::Continue)
        | Said::Post(PostToolUseAction::Continue)
        | Said::Prompt(PromptAction::Continue)
        | Said::Stop(StopAction::Continue)
        | Said::Compact(PreCompactAction::Continue)
        | Said::Start(SessionStartAction::Continue)
        | Said::End => {}
        Said::Whole(said) => merge_whole(outcome, *said),
    }
}

fn merge_whole(outcome: &mut HookOutcome, said: HookOutcome) {
    if let Some(HookVerdict { behavior, hook, reason, .. }) = said.verdict {
        lower(&mut outcome.verdict, behavior, &hook, reason);
    }
    if let Some(answer) = said.answer {
        answered(&mut outcome.answer, answer);
    }
    outcome.block = outcome.block.take().or(said.block);
    outcome.updated_input = outcome.updated_input.take().or(said.updated_input);
    outcome.updated_output = outcome.updated_output.take().or(said.updated_output);
    outcome.stop = outcome.stop.take().or(said.stop);
    outcome.additional_context.extend(said.additional_context);
    outcome.system_messages.extend(said.system_messages);
    outcome.failures.extend(said.failures);
}

/// A hook that fails on a gate closes it.
fn fail(outcome: &mut HookOutcome, event: HookEventName, hook: &str, error: &HookError) {
    let reason = format!("the hook {hook:?} failed: {error}");
    match event {
        HookEventName::PreToolUse => lower(&mut outcome.verdict, Behavior::Deny, hook, reason.clone()),
        HookEventName::PermissionRequest => {
            answered(&mut outcome.answer, PermissionAnswer::Deny { message: reason.clone(), interrupt: false });
        }
        HookEventName::UserPromptSubmit => block(outcome, hook, reason.clone()),
        _ => {}
    }
    outcome.failures.push((hook.to_owned(), reason));
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|registered| registered.hook.name())).finish()
    }
}

#[cfg(test)]
mod tests;
