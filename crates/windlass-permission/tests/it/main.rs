//! Decisions of the policy: for every day, for attacks, and as the reference makes them.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod attacks;
mod common;
mod everyday;
mod floor;
mod groups;
mod here_documents;
mod hostile;
mod labelled;
mod languages;
mod limits;
mod links;
mod long;
mod names;
mod offers;
mod options;
mod oracle;
mod order;
mod powershell;
mod properties;
mod scripts;
mod secrets;
mod seen;
mod sessions;
mod specifiers;
#[cfg(target_os = "linux")]
mod traced;
mod values;
mod ways_out;
