//! Agent loop as a sans-IO state machine.
//!
//! [`Machine`] consumes [`Input`]s and produces [`Output`]s: events for the host and effects for a driver, which
//! performs them and returns their results as inputs. Every decision of a run is made here: order and permission of
//! calls, retries, the end of the run. There is no async, no clock, no randomness and no user code in this crate, so
//! every interleaving of a run is a sequence of inputs that a plain test can play.
//!
//! The state of a session is a fold of its log: a machine appends everything it must keep first, and [`Machine::new`]
//! over the same entries is the same machine.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod assemble;
mod batch;
mod billing;
mod budget;
mod call;
mod coalesce;
mod compaction;
mod config;
mod effect;
mod error;
mod feedback;
mod learned;
mod listed;
mod machine;
mod models;
mod naming;
mod news;
mod outbox;
mod pace;
mod pending;
mod plan;
mod prompts;
mod rate_limit;
mod repetition;
mod request;
mod retry;
mod rights;
mod run;
mod session;
mod spending;
mod state;
mod steering;
mod tasks;
mod turn;
mod unsaved;

pub use agent::{AgentConfig, AgentError, AgentOpening, OfferedTool};
pub use budget::{CallCost, Ledger, LedgerAnswers, LedgerKey, Reservation};
pub use coalesce::coalesce;
pub use config::{
    Alternative, AutoCompact, Limits, Listeners, MachineConfig, ModelProfile, OfferedTools, RequestSettings,
    SessionContext, SessionIds, UnpricedModels,
};
pub use effect::{
    Attach, Effect, EffectId, Input, ModelFailure, Output, Prepared, RunCall, StoreFailure, StoreFailureKind,
    Unanswered, Unprepared,
};
pub use error::UnfitInput;
pub use machine::Machine;
pub use spending::Spent;
pub use state::SessionState;
pub use windlass_types::{Prompt, PromptKind};
