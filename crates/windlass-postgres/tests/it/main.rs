//! The store on a real PostgreSQL, which the suite starts.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod conformance;
mod faults;
mod server;
mod tenants;
mod tls;
mod work;
