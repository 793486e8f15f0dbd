//! HTTP and server-sent events for the providers of windlass.
//!
//! This crate is plumbing and exempt from semantic versioning: depend on a
//! provider crate instead.
//!
//! - [`HttpClient`] posts to one base URL. Its transport is built at the first request, so that a program which never
//!   calls a model loads no TLS roots; a plain-http base URL never loads them. No redirects, no total time limit, one
//!   idle limit.
//! - [`HttpTransport`] is the port through which the client sends, for clients of a program's own.
//! - [`Events`] decodes a response as server-sent events, with bounded memory and bounded patience.
//! - [`Chunks`] yields the bytes of a response as they arrive, for framings of vendors.
//! - [`HttpError`] and [`Secret`] do not show credentials.
//!
//! # Features
//! - `rustls-ring` (default): TLS by rustls with the cryptography of ring. Needs a C compiler.
//! - `rustls-aws-lc`: TLS by rustls with the cryptography of AWS-LC, which is larger, takes several times as long to
//!   compile, and has the key exchange that quantum computers cannot break. It takes precedence when both are enabled.
//! - `rustls-no-provider`: TLS by rustls with the cryptography that the program installs as the default of its process,
//!   which takes precedence over the other two as well.
//! - `native-tls`: TLS of the operating system, which is OpenSSL on Linux. Used if no feature of rustls is enabled.
//! - Without any of them only plain HTTP is available, and an https address is a
//!   [`Configuration`](HttpErrorKind::Configuration) error that names the features.
//! - `gzip`: answers may be compressed. It saves little for streams of events.
//! - `provider`: the module `provider`, with the parts that all providers share: credentials, and the conversion of
//!   failures.
//! - `sigv4`: the module `sigv4`, with the signatures of AWS.
//! - `aws-chain`, `google-adc`: credentials by the libraries of the vendors. Large: 57 and 46 packages, the second with a
//!   C compiler.
//! - `proxy`: the module `proxy`, which lets programs reach the API without the key.
//!
//! # Decoder
//!
//! The framing is decoded here, in one pass over the chunks of the body, with one allocation for an event of one line,
//! because it runs for each few letters of an answer. The decoder is linear in the size of an event, knows every line
//! ending and the byte-order mark, and validates UTF-8; tests compare it with `sse-stream` on random streams. The bound
//! on the size of an event is checked before decoding. Measured in a release build over loopback: 0.9 µs a delta in the
//! HTTP client. Reading the roots of the system's trust store takes 7 ms and more, a client without them 20 µs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod base_url;
mod cause;
mod chunks;
mod client;
mod drain;
mod error;
mod events;
mod options;
#[cfg(feature = "provider")]
pub mod provider;
#[cfg(feature = "proxy")]
pub mod proxy;
mod response;
mod roots;
mod route;
mod secret;
#[cfg(feature = "sigv4")]
pub mod sigv4;
mod silence;
#[doc(hidden)]
pub mod tls;
mod transport;

pub use bytes::Bytes;
pub use chunks::Chunks;
pub use client::HttpClient;
pub use error::{HttpError, HttpErrorKind};
pub use events::{Events, SseEvent};
pub use options::HttpOptions;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use response::Response;
pub use roots::Roots;
pub use route::ForwardProxy;
pub use secret::Secret;
pub use transport::{HttpBody, HttpRequest, HttpResponse, HttpTransport, NetworkTransport};
