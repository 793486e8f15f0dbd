//! A hook that records what it is asked.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use windlass_hook::{
    Hook, HookContext, HookError, Interest, PermissionRequestAction, PermissionRequestEvent, PostToolUse,
    PostToolUseAction, PostToolUseFailure, PreCompact, PreCompactAction, PreToolUse, PreToolUseAction, PromptAction,
    SessionEnd, SessionStart, SessionStartAction, Stop, StopAction, SubagentStart, SubagentStop, UserPromptSubmit,
};
use windlass_types::{HookCall, HookEventName, HookOutcome};

use super::lock;
use crate::Gate;

/// An occasion on which a hook was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Occasion {
    /// Before a tool ran.
    PreToolUse(PreToolUse),
    /// Before the host was asked about a call.
    PermissionRequest(PermissionRequestEvent),
    /// After a tool ran.
    PostToolUse(PostToolUse),
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailure),
    /// Before a prompt entered the conversation.
    UserPromptSubmit(UserPromptSubmit),
    /// When the model was done.
    Stop(Stop),
    /// When an agent below the main one began.
    SubagentStart(SubagentStart),
    /// When the model of an agent below the main one was done.
    SubagentStop(SubagentStop),
    /// Before a conversation was compacted.
    PreCompact(PreCompact),
    /// When a session was opened.
    SessionStart(SessionStart),
    /// When a session was closed.
    SessionEnd(SessionEnd),
}

impl Occasion {
    /// The event.
    pub fn event(&self) -> HookEventName {
        match self {
            Self::PreToolUse(_) => HookEventName::PreToolUse,
            Self::PermissionRequest(_) => HookEventName::PermissionRequest,
            Self::PostToolUse(_) => HookEventName::PostToolUse,
            Self::PostToolUseFailure(_) => HookEventName::PostToolUseFailure,
            Self::UserPromptSubmit(_) => HookEventName::UserPromptSubmit,
            Self::Stop(_) => HookEventName::Stop,
            Self::SubagentStart(_) => HookEventName::SubagentStart,
            Self::SubagentStop(_) => HookEventName::SubagentStop,
            Self::PreCompact(_) => HookEventName::PreCompact,
            Self::SessionStart(_) => HookEventName::SessionStart,
            Self::SessionEnd(_) => HookEventName::SessionEnd,
        }
    }
}

type Answer<E, A> = Arc<dyn Fn(&E) -> Result<A, HookError> + Send + Sync>;

/// A hook that records every occasion and answers by closures; without one it has no opinion.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use std::sync::Arc;
/// use windlass_hook::{Hook, HookContext, Hooks, Interest, PreToolUseAction};
/// use windlass_testkit::fake::RecordingHook;
/// use windlass_types::{Behavior, HookCall, HookEventName, JsonText, SessionId};
///
/// let hook = RecordingHook::new("guard", [Interest::tools(HookEventName::PreToolUse, ["Bash"])])
///     .on_pre_tool_use(|event| Ok(PreToolUseAction::deny(format!("no {}", event.tool_name))));
///
/// let hooks = Hooks::new([Arc::new(hook.clone()) as Arc<dyn Hook>]);
/// let call = HookCall::PreToolUse {
///     tool_name: "Bash".into(),
///     tool_input: JsonText::empty_object(),
///     tool_use_id: "toolu_1".into(),
/// };
/// let outcome = hooks.run(&HookContext::new(SessionId::new("s"), "/work".into()), &call).await;
/// assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Deny);
/// assert_eq!(hook.occasions().len(), 1);
/// # });
/// ```
#[derive(Clone)]
pub struct RecordingHook {
    name: String,
    interests: Vec<Interest>,
    gate: Option<Gate>,
    answers: Answers,
    occasions: Arc<Mutex<Vec<Occasion>>>,
}

#[derive(Clone, Default)]
struct Answers {
    pre_tool_use: Option<Answer<PreToolUse, PreToolUseAction>>,
    permission_request: Option<Answer<PermissionRequestEvent, PermissionRequestAction>>,
    post_tool_use: Option<Answer<PostToolUse, PostToolUseAction>>,
    post_tool_use_failure: Option<Answer<PostToolUseFailure, PostToolUseAction>>,
    user_prompt_submit: Option<Answer<UserPromptSubmit, PromptAction>>,
    stop: Option<Answer<Stop, StopAction>>,
    subagent_start: Option<Answer<SubagentStart, SessionStartAction>>,
    subagent_stop: Option<Answer<SubagentStop, StopAction>>,
    pre_compact: Option<Answer<PreCompact, PreCompactAction>>,
    session_start: Option<Answer<SessionStart, SessionStartAction>>,
    session_end: Option<Answer<SessionEnd, ()>>,
}

macro_rules! answering {
    ($($method:ident, $field:ident: $event:ty => $action:ty, $what:literal;)*) => {$(
        #[doc = concat!("Answers ", $what, ". An error is a hook that fails.")]
        #[must_use]
        pub fn $method(mut self, answer: impl Fn(&$event) -> Result<$action, HookError> + Send + Sync + 'static) -> Self {
            self.answers.$field = Some(Arc::new(answer));
            self
        }
    )*};
}

impl RecordingHook {
    /// A hook with a name that listens to these occasions.
    pub fn new(name: impl Into<String>, interests: impl IntoIterator<Item = Interest>) -> Self {
        Self {
            name: name.into(),
            interests: interests.into_iter().collect(),
            gate: None,
            answers: Answers::default(),
            occasions: Arc::default(),
        }
    }

    /// A hook that listens to everything.
    pub fn of_all(name: impl Into<String>) -> Self {
        use HookEventName as E;
        let all = [
            E::PreToolUse,
            E::PermissionRequest,
            E::PostToolUse,
            E::PostToolUseFailure,
            E::UserPromptSubmit,
            E::Stop,
            E::SubagentStart,
            E::SubagentStop,
            E::PreCompact,
            E::SessionStart,
            E::SessionEnd,
        ];
        Self::new(name, all.map(Interest::all))
    }

    /// Waits at the gate before every answer, after the occasion was recorded. A gate that is never opened
    /// makes a hook that hangs.
    #[must_use]
    pub fn wait_at(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    answering! {
        on_pre_tool_use, pre_tool_use: PreToolUse => PreToolUseAction, "before a tool runs";
        on_permission_request, permission_request: PermissionRequestEvent => PermissionRequestAction, "before the host is asked about a call";
        on_post_tool_use, post_tool_use: PostToolUse => PostToolUseAction, "after a tool ran";
        on_post_tool_use_failure, post_tool_use_failure: PostToolUseFailure => PostToolUseAction, "after a tool failed";
        on_user_prompt_submit, user_prompt_submit: UserPromptSubmit => PromptAction, "before a prompt enters the conversation";
        on_stop, stop: Stop => StopAction, "when the model is done";
        on_subagent_start, subagent_start: SubagentStart => SessionStartAction, "when an agent below the main one begins";
        on_subagent_stop, subagent_stop: SubagentStop => StopAction, "when the model of an agent below the main one is done";
        on_pre_compact, pre_compact: PreCompact => PreCompactAction, "before a conversation is compacted";
        on_session_start, session_start: SessionStart => SessionStartAction, "when a session was opened";
        on_session_end, session_end: SessionEnd => (), "when a session is closed";
    }

    /// Every occasion so far, in order.
    pub fn occasions(&self) -> Vec<Occasion> {
        lock(&self.occasions).clone()
    }

    /// The events so far, in order.
    pub fn events(&self) -> Vec<HookEventName> {
        lock(&self.occasions).iter().map(Occasion::event).collect()
    }

    async fn said<E: Sync, A: Default>(
        &self,
        occasion: Occasion,
        event: &E,
        answer: Option<&Answer<E, A>>,
    ) -> Result<A, HookError> {
        lock(&self.occasions).push(occasion);
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
        answer.map_or_else(|| Ok(A::default()), |answer| answer(event))
    }
}

impl fmt::Debug for RecordingHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingHook")
            .field("name", &self.name)
            .field("interests", &self.interests)
            .field("occasions", &self.events())
            .finish_non_exhaustive()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Hook for RecordingHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn interests(&self) -> Vec<Interest> {
        self.interests.clone()
    }

    /// Nothing: each event has its closure.
    async fn answer(&self, _: &HookContext, _: &HookCall) -> Option<HookOutcome> {
        None
    }

    async fn pre_tool_use(&self, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        self.said(Occasion::PreToolUse(event.clone()), event, self.answers.pre_tool_use.as_ref()).await
    }

    async fn permission_request(&self, event: &PermissionRequestEvent) -> Result<PermissionRequestAction, HookError> {
        let occasion = Occasion::PermissionRequest(event.clone());
        self.said(occasion, event, self.answers.permission_request.as_ref()).await
    }

    async fn post_tool_use(&self, event: &PostToolUse) -> Result<PostToolUseAction, HookError> {
        self.said(Occasion::PostToolUse(event.clone()), event, self.answers.post_tool_use.as_ref()).await
    }

    async fn post_tool_use_failure(&self, event: &PostToolUseFailure) -> Result<PostToolUseAction, HookError> {
        let occasion = Occasion::PostToolUseFailure(event.clone());
        self.said(occasion, event, self.answers.post_tool_use_failure.as_ref()).await
    }

    async fn user_prompt_submit(&self, event: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        self.said(Occasion::UserPromptSubmit(event.clone()), event, self.answers.user_prompt_submit.as_ref()).await
    }

    async fn stop(&self, event: &Stop) -> Result<StopAction, HookError> {
        self.said(Occasion::Stop(event.clone()), event, self.answers.stop.as_ref()).await
    }

    async fn subagent_start(&self, event: &SubagentStart) -> Result<SessionStartAction, HookError> {
        self.said(Occasion::SubagentStart(event.clone()), event, self.answers.subagent_start.as_ref()).await
    }

    async fn subagent_stop(&self, event: &SubagentStop) -> Result<StopAction, HookError> {
        self.said(Occasion::SubagentStop(event.clone()), event, self.answers.subagent_stop.as_ref()).await
    }

    async fn pre_compact(&self, event: &PreCompact) -> Result<PreCompactAction, HookError> {
        self.said(Occasion::PreCompact(event.clone()), event, self.answers.pre_compact.as_ref()).await
    }

    async fn session_start(&self, event: &SessionStart) -> Result<SessionStartAction, HookError> {
        self.said(Occasion::SessionStart(event.clone()), event, self.answers.session_start.as_ref()).await
    }

    async fn session_end(&self, event: &SessionEnd) -> Result<(), HookError> {
        self.said(Occasion::SessionEnd(event.clone()), event, self.answers.session_end.as_ref()).await
    }
}
