//! Events, payloads and answers of hooks, as data.
//!
//! [`event`] has the payload of each event and one row per event in [`hook_events!`](crate::hook_events). From the
//! rows follow [`HookEventName`], [`HookCall`], and, in other crates, the methods of a hook.

pub mod action;
mod answer;
mod batch;
mod call;
mod elicitation;
pub mod event;
mod observed;
mod outcome;
mod payload;
mod wire;

pub use answer::{AnswerKind, HookAction};
pub use call::{HookCall, HookEvent, HookEventName};
pub use elicitation::{ElicitationChoice, ElicitationReply};
pub use outcome::{HookOutcome, HookOutput, HookVerdict};
pub use payload::{HookPayload, Subject};
