//! Session store port, JSONL log format and transcript repair of windlass.

mod key;
mod repair;
mod store;
mod transcript;
mod valid;

pub use key::{ProjectKey, SessionKey, slug};
pub use repair::{RepairReport, repair};
pub use store::{
    Durability, Lease, LoadReport, Loaded, LogHeader, Owner, SessionStore, SessionSummary, SkippedLine, StoreError,
    StoreErrorKind,
};
pub use transcript::{BEGINNING_LOST, DID_NOT_RUN, OUTCOME_UNKNOWN, Transcript};
pub use valid::check_messages;
