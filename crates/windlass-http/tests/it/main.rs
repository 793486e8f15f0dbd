//! Tests of the client, the event decoder, TLS and the credential proxy.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod client;
mod events;
#[cfg(all(feature = "rustls-no-provider", not(any(feature = "rustls-ring", feature = "rustls-aws-lc"))))]
mod installed_provider;
mod pinned;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(any(
    feature = "rustls-ring",
    feature = "rustls-aws-lc",
    all(feature = "native-tls", not(feature = "rustls-no-provider"))
))]
mod tls;
mod transport;
#[cfg(not(any(feature = "rustls-no-provider", feature = "native-tls")))]
mod without_tls;
