//! The tokio driver of the windlass agent loop.
//!
//! [`Session::open`] loads a session's log, builds the sans-IO machine of
//! `windlass-core` over it and starts one task that carries out its effects:
//! model calls, tools, hooks, questions, appends, waits. The host gets a
//! [`SessionHandle`] to give orders and an [`EventStream`] to watch.
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
//! [`SessionHandle::close`] can. [`EventStream::detach`] lets the session continue, seen by [watchers](EventFeed) alone.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod agents;
mod append;
mod approval;
mod artifact;
mod ask;
mod attach;
mod background;
mod budget;
mod changes;
mod checkpoints;
mod classify;
mod completions;
mod driver;
mod edits;
mod elsewhere;
mod error;
mod events;
mod git;
mod handle;
mod held;
mod hooks;
mod kept;
mod lease;
mod look;
mod made;
mod mentions;
mod model;
mod nested;
mod observer;
mod open_questions;
mod order;
mod orders;
mod ports;
mod prepare;
mod prices;
mod progress;
mod question;
mod repository;
mod resumed;
mod rewind;
mod room;
mod scope;
mod seeded;
mod session;
mod side;
mod tasks;
mod tool;
mod watch;
mod written;

pub use approval::{Approval, ApprovalError};
pub use classify::Classifier;
pub use edits::Diagnostics;
pub use error::{OpenError, RewindError, SessionError};
pub use events::EventStream;
pub use handle::{ModelSelection, SessionHandle};
pub use mentions::{MentionSource, Mentions};
pub use nested::{NestedInstructions, UsedPath};
pub use open_questions::AnswerError;
pub use ports::{ContextPorts, HostAnswers, Ports, Reports, StoragePorts, SystemPorts};
pub use prepare::judge;
pub use rewind::Rewound;
pub use seeded::SeededIds;
pub use session::{Persistence, Session, SessionConfig};
pub use side::{SideAnswer, SideCall, SideCallError};
pub use watch::{EventFeed, UnknownPosition, Watched};

pub use windlass_context::{Diagnostic, ReminderSettings, Severity};
pub use windlass_core::{
    Alternative, AutoCompact, Limits, Listeners, MachineConfig, ModelProfile, OfferedTools, Prompt, PromptKind,
    RequestSettings, SessionContext, SessionIds, UnpricedModels,
};
pub use windlass_tool::{SystemClock, SystemIds};
