//! Web access for agents of windlass.
//!
//! The decision on reachable targets is made by [`windlass_permission::network`], which is pure. This crate connects,
//! and only to judged addresses: a name is looked up once, each of its addresses is checked, and one of them is
//! dialled.
//!
//! # Features
//! - `fetch`: the module `fetch`, with the tool `WebFetch`.
//! - `proxy`: the module `proxy`, through which sandboxed programs reach permitted hosts.
//! - `search`: the module `search`, with the tool `WebSearch`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and clocks"))]

#[cfg(feature = "fetch")]
pub mod fetch;
mod network;
#[cfg(feature = "proxy")]
pub mod proxy;
#[cfg(feature = "search")]
pub mod search;

pub use network::{Network, SystemNetwork};
#[cfg(any(feature = "fetch", feature = "search"))]
pub use windlass_http::HttpOptions;
