//! Settings, trust and hooks of projects, from files.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod deny;
mod front_matter;
mod hooks;
mod load;
#[cfg(unix)]
mod shipped;
mod trust;
