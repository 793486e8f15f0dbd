//! Session store port, JSONL log format and transcript repair of windlass.

mod key;
mod store;

pub use key::{ProjectKey, SessionKey, slug};
pub use store::{
    Durability, Lease, LoadReport, Loaded, LogHeader, Owner, SessionStore, SessionSummary, SkippedLine, StoreError,
    StoreErrorKind,
};
