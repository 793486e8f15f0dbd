//! Hooks: user code that is asked at fixed points of a run.
//!
//! Make one from async closures with [`hook_fn`], or implement [`Hook`] with one method for each event that it listens
//! to. Each event has its own action type, so a hook cannot answer what the event does not allow. [`Hooks`] runs the
//! hooks of a session in parallel and merges their answers in declared order ([`HookOutcome::merge`]): deny before ask
//! before allow; of several rewrites the first counts.
//!
//! PreToolUse, PermissionRequest and UserPromptSubmit are gates: a hook that fails or panics there denies the call or
//! blocks the prompt, and the reason names the hook. Elsewhere a failure is reported and changes nothing.
//!
//! [`HookOutcome::merge`]: windlass_types::HookOutcome::merge
#![cfg_attr(docsrs, feature(doc_cfg))]

mod context;
mod function;
mod hook;
mod hooks;
mod interest;
mod occasions;

/// The attribute that an impl of [`Hook`] needs.
pub use async_trait::async_trait;
pub use context::HookContext;
pub use function::{HookFn, hook_fn};
pub use hook::{Hook, HookError};
pub use hooks::{Hooks, HooksError};
pub use interest::{Interest, InterestError};
pub use occasions::Occasions;
pub use windlass_types::hook::action::*;
pub use windlass_types::hook::event::*;
pub use windlass_types::hook::{HookEvent, action, event};
