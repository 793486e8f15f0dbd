//! Session store port, JSONL log format and transcript repair of windlass.

mod check;
mod codec;
mod key;
mod load;
mod memory;
mod repair;
mod store;
mod summary;
mod transcript;
mod valid;

pub use check::{CheckReport, check_log, export_messages};
pub use codec::LogEncoder;
pub use key::{ProjectKey, SessionKey, slug};
pub use load::{Log, read_log};
pub use memory::MemoryStore;
pub use repair::{RepairReport, repair};
pub use store::{
    Durability, Lease, LoadReport, Loaded, LogHeader, Owner, SessionStore, SessionSummary, SkippedLine, StoreError,
    StoreErrorKind,
};
pub use summary::{SUMMARY_BYTES, summarize};
pub use transcript::{BEGINNING_LOST, DID_NOT_RUN, OUTCOME_UNKNOWN, Transcript};
pub use valid::check_messages;
