//! The credential proxy over real sockets: in front a client that writes raw
//! HTTP, behind a server that speaks the wire format of the API.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot be set up has failed"
)]

mod bounds;
mod refusals;
mod secrets;
mod speed;
mod streams;
mod world;
