//! HTTP and server-sent events for the providers of windlass.
//!
//! This crate is plumbing and exempt from semantic versioning: depend on a
//! provider crate instead.
//!
//! - [`HttpClient`] posts to one base URL. Its transport is built at the first request, so that a program which never
//!   calls a model loads no TLS roots; a plain-http base URL never loads them. The client follows no redirects. It
//!   limits the idle time, not the total time.
//! - [`HttpTransport`] is the port through which the client sends. A program may implement it with its own HTTP client.
//! - [`Events`] decodes a response as server-sent events. It limits the size of an event and the idle time.
//! - [`Chunks`] yields the bytes of a response as they arrive, for vendors with a framing of their own.
//! - [`HttpError`] and [`Secret`] do not show credentials.
//!
//! # Features
//! - `rustls-ring` (default): TLS by rustls with the cryptography of ring. Needs a C compiler.
//! - `rustls-aws-lc`: TLS by rustls with the cryptography of AWS-LC, which is larger, takes several times as long to
//!   compile, and supports post-quantum key exchange. It takes precedence over `rustls-ring`.
//! - `rustls-no-provider`: TLS by rustls with the cryptography that the program installs as the default of its process.
//!   An installed default takes precedence over the other two features as well.
//! - `native-tls`: TLS of the operating system, which is OpenSSL on Linux. Used if no feature of rustls is enabled.
//! - Without any of them only plain HTTP is available, and an https address is a
//!   [`Configuration`](HttpErrorKind::Configuration) error that names the features.
//! - `gzip`: accepts compressed responses. Event streams gain little from it.
//! - `provider`: the module `provider`, with the parts that all providers share: credentials, and the conversion of
//!   failures.
//! - `sigv4`: the module `sigv4`, with the signatures of AWS.
//! - `aws-chain`, `google-adc`: credentials by the vendors' libraries. They add 57 and 46 packages. `google-adc` needs
//!   a C compiler.
//! - `proxy`: the module `proxy`, which forwards requests and adds the API key, so that its clients need no key.
//!
//! # Decoder
//!
//! This crate decodes events itself, because the decoder runs once for every few letters of an answer. It makes one
//! pass over the chunks of the body, with one allocation for an event of one line. The decoder is linear in the size of
//! an event, knows every line ending and the byte-order mark, and validates UTF-8; tests compare it with `sse-stream`
//! on random streams. The size limit of an event is checked before it is decoded. Measured in a release build over
//! loopback: 0.9 µs a delta in the HTTP client. Loading the system's TLS roots takes at least 7 ms, a client without
//! them 20 µs.
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
