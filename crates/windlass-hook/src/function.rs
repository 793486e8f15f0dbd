//! Hooks made from async closures.

use crate::hooks::settled;
use crate::{Hook, HookContext, HookError, Interest};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use windlass_types::hook::action::*;
use windlass_types::hook::event::*;
use windlass_types::hook::{HookAction, HookEvent, HookPayload, Subject};
use windlass_types::{HookCall, HookEventName, HookOutcome};

/// Makes a hook from async closures, one for each event that it listens to. The name is for events, errors and the log.
///
/// A closure takes the event and returns its answer. `?` works on every error; a closure that fails or panics counts
/// like a [`Hook`] that does: on a gate the call is denied, or the prompt blocked. Tools are named in the grammar of
/// [`ToolMatcher`](windlass_types::ToolMatcher): `Bash`, `Write|Edit`, `mcp__server__*`, `*`; a session with a name
/// that can never match does not open, nor does one with a hook that has no closure.
///
/// A closure that takes longer than the time limit of the session (ten minutes, unless
/// [`with_time_limit`](HookFn::with_time_limit) sets another) has failed. When a gate fails, the model reads only that
/// it failed; the host reads the error.
///
/// ```
/// # mod windlass { pub use windlass_hook::*; pub mod hook { pub use windlass_hook::*; } }
/// use windlass::{PreToolUseAction, hook::PostToolUseAction, hook_fn};
///
/// #[derive(serde::Deserialize)]
/// struct Bash {
///     command: String,
/// }
///
/// let hook = hook_fn("no-force")
///     .before_tool(["Bash"], |event| async move {
///         let input: Bash = event.tool_input.to()?;
///         Ok(match input.command.contains("--force") {
///             true => PreToolUseAction::deny("Force is not for agents."),
///             false => PreToolUseAction::Continue,
///         })
///     })
///     .after_tool(["Write|Edit", "mcp__files__*"], |_| async {
///         Ok(PostToolUseAction::AddContext("The formatter runs when you are done.".to_owned()))
///     });
/// ```
pub fn hook_fn(name: impl Into<String>) -> HookFn {
    HookFn { name: name.into().into(), listeners: Vec::new(), limit: None }
}

/// A hook made from async closures, see [`hook_fn`]. Several closures for one event are asked side by side, and their
/// answers merge in the order in which they were added, like those of several hooks.
#[derive(Clone)]
#[must_use = "a hook does nothing until a session has it"]
pub struct HookFn {
    name: Arc<str>,
    listeners: Vec<Listener>,
    limit: Option<Duration>,
}

/// A closure and its interest.
#[derive(Clone)]
struct Listener {
    interest: Interest,
    answer: Arc<Ask>,
}

type Ask = dyn Fn(&HookContext, &HookCall) -> Answer + Send + Sync;
type Answer = Pin<Box<dyn Future<Output = Result<HookOutcome, HookError>> + Send>>;

impl HookFn {
    /// Sets the maximum time for an answer, see [`Hook::time_limit`]. Default: the limit of the session.
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Answers all occasions of the event that the closure takes; the closure also gets the context:
    pub fn on<E, F, Fut>(self, answer: F) -> Self
    where
        E: HookEvent + Send + 'static,
        F: Fn(E, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<E::Action, HookError>> + Send + 'static,
    {
        self.listening(Interest::all(E::NAME), answer)
    }

    /// Answers calls of these tools; the closure also gets the context:
    pub fn on_tools<E, F, Fut>(self, tools: impl IntoIterator<Item = impl AsRef<str>>, answer: F) -> Self
    where
        E: HookEvent + Send + 'static,
        F: Fn(E, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<E::Action, HookError>> + Send + 'static,
    {
        self.listening(Interest::tools(E::NAME, tools), answer)
    }

    fn listening<E, F, Fut>(mut self, interest: Interest, answer: F) -> Self
    where
        E: HookEvent + Send + 'static,
        F: Fn(E, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<E::Action, HookError>> + Send + 'static,
    {
        let name = Arc::clone(&self.name);
        let answer = move |cx: &HookContext, call: &HookCall| -> Answer {
            let Some(event) = E::of(call) else { return Box::pin(async { Ok(HookOutcome::default()) }) };
            let (name, answer) = (Arc::clone(&name), answer(event.clone(), cx.clone()));
            Box::pin(async move { Ok(answer.await?.into_outcome(&name)) })
        };
        self.listeners.push(Listener { interest, answer: Arc::new(answer) });
        self
    }
}

macro_rules! interest {
    ($event:expr) => {
        Interest::all($event)
    };
    ($event:expr, $tools:expr) => {
        Interest::tools($event, $tools)
    };
}

/// Expands to `true` if a row takes tools.
macro_rules! takes_tools {
    () => {
        false
    };
    ($tools:ident) => {
        true
    };
}

/// The method of each event follows from its row in `windlass_types::hook_events!`.
macro_rules! define {
    ($($(#[doc = $doc:literal])+ $name:ident: $method:ident($event:ident) -> $action:ident, $closure:ident($($tools:ident)?);)*) => {
        $(
            const _: () = assert!(
                matches!(<$event as HookPayload>::SUBJECT, Subject::Tool) == takes_tools!($($tools)?),
                "the row of an event about a tool ends in `(tools)`, that of any other event in `()`"
            );
        )*

        /// Methods for closures that take only the event. [`HookFn::on`] and [`HookFn::on_tools`] also pass the
        /// context.
        impl HookFn {
            $(
                $(#[doc = $doc])+
                pub fn $closure<F, Fut>(
                    self,
                    $($tools: impl IntoIterator<Item = impl AsRef<str>>,)?
                    answer: F,
                ) -> Self
                where
                    F: Fn($event) -> Fut + Send + Sync + 'static,
                    Fut: Future<Output = Result<$action, HookError>> + Send + 'static,
                {
                    let interest = interest!(HookEventName::$name $(, $tools)?);
                    self.listening(interest, move |event: $event, _| answer(event))
                }
            )*
        }
    };
}

windlass_types::hook_events!(define);

#[async_trait]
impl Hook for HookFn {
    fn name(&self) -> &str {
        &self.name
    }

    fn interests(&self) -> Vec<Interest> {
        if self.listeners.is_empty() {
            return vec![Interest::none()];
        }
        self.listeners.iter().map(|listener| listener.interest.clone()).collect()
    }

    fn time_limit(&self) -> Option<Duration> {
        self.limit
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let (event, tool) = (call.event(), call.tool_name());
        let listening = self.listeners.iter().filter(|listener| listener.interest.covers(event, tool));
        let asked =
            listening.map(|listener| settled(&self.name, event, true, async { (listener.answer)(cx, call).await }));
        let mut outcome = HookOutcome::default();
        for answer in join_all(asked).await {
            outcome.merge(answer);
        }
        Ok(Some(outcome))
    }
}

impl fmt::Debug for HookFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookFn").field("name", &self.name).field("interests", &self.interests()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
