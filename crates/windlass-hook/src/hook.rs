//! The port.

use crate::{HookContext, Interest};
use async_trait::async_trait;
use std::time::Duration;
use windlass_types::hook::HookAction;
use windlass_types::hook::action::*;
use windlass_types::hook::event::*;
use windlass_types::{HookCall, HookOutcome};

/// A failure of a hook. On a gate, the failure denies the call or blocks the prompt.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// The method of each event follows from its row in `windlass_types::hook_events!`.
macro_rules! define {
    ($($(#[doc = $doc:literal])+ $name:ident: $method:ident($event:ident) -> $action:ident, $closure:ident($($tools:ident)?);)*) => {
        /// A hook. Implement the methods of the events it listens to, with `#[async_trait]` above the impl; or
        /// make one from closures with [`hook_fn`](crate::hook_fn).
        ///
        /// Methods run on their own task, never on the loop: a hook may call back into
        /// the session's handle. They are dropped when the run is stopped, or when they take too long.
        ///
        /// ```
        /// # mod windlass { pub use windlass_hook::{action::*, event::*, *}; pub use windlass_types::HookEventName; pub mod hook { pub use super::*; } }
        /// use windlass::{
        ///     Hook, HookContext, HookError, PreToolUseAction, async_trait,
        ///     hook::{HookEventName, Interest, PreToolUse},
        /// };
        ///
        /// struct NoSecrets;
        ///
        /// // Without this line the compiler reports E0195, "lifetime parameters do not match the trait definition".
        /// #[async_trait]
        /// impl Hook for NoSecrets {
        ///     fn name(&self) -> &str {
        ///         "no-secrets"
        ///     }
        ///
        ///     fn interests(&self) -> Vec<Interest> {
        ///         vec![Interest::tools(HookEventName::PreToolUse, ["Read"])]
        ///     }
        ///
        ///     async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        ///         if event.tool_input.as_str().contains(".env") {
        ///             return Ok(PreToolUseAction::deny("Environment files hold secrets."));
        ///         }
        ///         Ok(PreToolUseAction::Continue)
        ///     }
        /// }
        ///
        /// assert!(NoSecrets.interests()[0].covers(HookEventName::PreToolUse, Some("Read")));
        /// assert!(!NoSecrets.interests()[0].covers(HookEventName::PreToolUse, Some("Write")));
        /// ```
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not a hook",
            label = "not a hook",
            note = "make one from async closures with `windlass::hook_fn`, or implement `windlass::Hook` with \
                    `#[windlass::async_trait]` above the impl"
        )]
        #[async_trait]
        pub trait Hook: Send + Sync + 'static {
            /// Name for events, errors and the log.
            fn name(&self) -> &str;

            /// Interests of the hook. Asked when a session opens, and again only when the session is informed that they
            /// changed.
            fn interests(&self) -> Vec<Interest>;

            /// Maximum time for an answer. A hook that takes longer is dropped and has failed: on a gate, that denies
            /// the call or blocks the prompt. Default: `None`, the limit of the session, which is
            /// [`Hooks::TIME_LIMIT`](crate::Hooks::TIME_LIMIT) unless the session sets another.
            fn time_limit(&self) -> Option<Duration> {
                None
            }

            /// `true` if the hook is asked about an occasion that its interests cover. Interests can only name tools; a
            /// hook with further conditions checks them here. Default: `true`.
            fn listens(&self, cx: &HookContext, call: &HookCall) -> bool {
                let _ = (cx, call);
                true
            }

            /// `true` if a failure on a gate denies the call or blocks the prompt. Otherwise the failure is reported,
            /// and the run continues. Default: `true`.
            fn closes_gates(&self) -> bool {
                true
            }

            /// Line that people read while the hook is asked. Default: `None`.
            fn status_message(&self) -> Option<&str> {
                None
            }

            /// Answers an occasion as a whole, for hooks that pass it on to another program: such an answer may hold a
            /// verdict, a new input and context at once. If this returns an answer, the method of the event is not
            /// called. `ran` is filled in by the caller. Default: `None`.
            async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
                let _ = (cx, call);
                Ok(None)
            }

            $(
                $(#[doc = $doc])+
                async fn $method(&self, cx: &HookContext, event: &$event) -> Result<$action, HookError> {
                    let _ = (cx, event);
                    Ok($action::default())
                }
            )*
        }

        /// Asks one hook about an occasion, through the method of its event.
        pub(crate) async fn ask(hook: &dyn Hook, cx: &HookContext, call: &HookCall) -> Result<HookOutcome, HookError> {
            if let Some(outcome) = hook.answer(cx, call).await? {
                return Ok(outcome);
            }
            match call {
                $(HookCall::$name(event) => Ok(hook.$method(cx, event).await?.into_outcome(hook.name())),)*
                // Only a later version of the types has other events.
                _ => Err("this event is not supported by in-process hooks".into()),
            }
        }
    };
}

windlass_types::hook_events!(define);

const _: fn(&dyn Hook) = |_| {};
