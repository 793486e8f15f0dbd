//! The tokio driver of the windlass agent loop.
//!
//! [`Session::open`] loads a session's log, builds the sans-IO machine of
//! `windlass-core` over it and starts one task that carries out its effects:
//! model calls, tools, hooks, questions, appends, waits. The host gets a
//! [`SessionHandle`] to send commands and an [`EventStream`] to watch.
//!
//! The driver has no policy: the machine decides which effects run, when, and how a failure is handled.
//!
//! # Back-pressure
//! The driver never waits for the host. It keeps at most one pending text and one pending progress note per block or
//! call (later ones are joined with them), and a bounded queue of everything else. While the queue is full no model
//! item is read and no effect begins, but effects in progress, waits, stops and the log continue. Nothing is dropped
//! except merged text. The same applies while as many events wait for the log.
//!
//! # Dropping
//! Dropping the [`EventStream`] closes the session: running effects are stopped,
//! open calls settled, everything appended. It cannot wait for that;
//! [`SessionHandle::close`] can. [`EventStream::detach`] lets the session continue, seen by [watchers](EventFeed)
//! alone.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod agents;
mod budget;
mod calls;
mod commands;
mod config;
mod context;
mod driver;
mod error;
mod events;
mod files;
mod handle;
mod hooks;
mod log;
mod model;
mod ports;
mod questions;
mod session;
mod tasks;

pub use calls::preparation::judge;
pub use commands::approval::{Approval, ApprovalError};
pub use commands::side_call::{SideAnswer, SideCall, SideCallError};
pub use config::{Persistence, SessionConfig};
pub use error::{OpenError, RewindError, SessionError};
pub use handle::conversation::Rewound;
pub use handle::event_feed::{EventFeed, UnknownPosition, Watched};
pub use handle::event_stream::EventStream;
pub use handle::session::Session;
pub use handle::{ModelSelection, SessionHandle};
pub use log::stored_feed::StoredFeed;
pub use ports::classifier::Classifier;
pub use ports::diagnostics::Diagnostics;
pub use ports::instructions::{NestedInstructions, UsedPath};
pub use ports::mentions::{MentionSource, Mentions};
pub use ports::seeded_ids::SeededIds;
pub use ports::{ContextPorts, HostAnswers, Ports, Reports, StoragePorts, SystemPorts};
pub use questions::open_questions::AnswerError;

pub use windlass_context::{Diagnostic, ReminderSettings, Severity};
pub use windlass_core::{
    Alternative, AutoCompact, Limits, Listeners, MachineConfig, ModelProfile, OfferedTools, Prompt, PromptKind,
    RequestSettings, SessionContext, SessionIds, UnpricedModels,
};
pub use windlass_tool::{SystemClock, SystemIds};
