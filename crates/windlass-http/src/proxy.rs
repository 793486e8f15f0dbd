//! Credential proxy: a program gets a loopback address and a nonce, and reaches the API with them; the key stays here.
//!
//! The nonce is valid on this machine, for this upstream, while the proxy runs. Guarantees of the proxy:
//!
//! - The proxy listens on a loopback address only, on a port of the system's choice, and answers no request without the
//!   nonce, from a browser, or for another host.
//! - The proxy sends to the configured upstream only, to paths in canonical form below `/v1/`, with the method of the
//!   request: overrides of path or method are refused. It follows no redirect, and passes none on.
//! - Both headers that can carry a key are replaced. No header or query with the nonce is sent upstream; no answer with
//!   the key comes back, even if the upstream echoes it, except in compressed answers, which are not requested. Bodies
//!   of requests pass unchanged.
//! - Bodies are streamed in both directions as their parts arrive, with back-pressure. A disconnected client ends its
//!   request upstream; an answer that is cut is cut for the client, too.
//! - Heads, bodies, connections, silence and the shutdown are bounded.
//!
//! The proxy does not separate programs of one user from each other: a program that may debug the process of the proxy
//! can read the key in its memory.

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
