//! A credential proxy: a program is given a loopback address and a nonce, and
//! reaches the API with them; the key stays here.
//!
//! The nonce is good on this machine, for this upstream, while the proxy runs.
//! What the proxy promises:
//!
//! - It listens on a loopback address only, on a port of the system's choice,
//!   and answers no request without the nonce, from a browser, or for
//!   another host.
//! - It sends to the configured upstream only, to paths in canonical form below `/v1/`, with the method
//!   that the request has: what would override path or method is refused. It follows no redirect, and hands
//!   none on.
//! - Both headers that can carry a key are replaced. No header or query with the nonce goes
//!   upstream; no answer with the key comes back, also where the upstream echoes
//!   it, but for compressed answers, which are not asked for. Bodies of requests
//!   pass as they are.
//! - Bodies are streamed in both directions as their parts come, with
//!   back-pressure. A client that goes ends its request upstream; an answer that
//!   is cut is cut for the client, too.
//! - There is a bound for heads, bodies, connections, silence and the shutdown.
//!
//! It does not separate programs of one user from each other: a program that may debug the
//! process of the proxy can read the key in its memory.

mod body;
mod credential;
mod environment;
mod error;
mod forward;
mod gate;
mod header;
mod listener;
mod nonce;
mod notice;
mod options;
mod redact;
mod stall;

pub use credential::ProxyCredential;
pub use error::ProxyError;
pub use listener::CredentialProxy;
pub use notice::{ProxyNotice, ProxyNoticeKind};
pub use options::ProxyOptions;
