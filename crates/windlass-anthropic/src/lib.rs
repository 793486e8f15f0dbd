//! Anthropic Messages API as a [`ModelProvider`](windlass_model::ModelProvider).
//!
//! ```no_run
//! # fn main() -> Result<(), windlass_model::ModelError> {
//! use windlass_anthropic::Anthropic;
//!
//! let from_environment = Anthropic::from_env()?;
//! let by_hand = Anthropic::builder()
//!     .api_key("sk-ant-…")
//!     .base_url("http://127.0.0.1:8080")
//!     .beta("interleaved-thinking-2025-05-14")
//!     .build()?;
//! # Ok(()) }
//! ```
//!
//! # Guarantees
//! - A stream item for each event of the API's stream, in order. One for the allowance of a subscription precedes them,
//!   if the answer's headers hold it; so does an error that refuses the request. An event at a forbidden position ends
//!   the stream with a protocol error; an unknown event is passed on as unknown.
//! - `MessageStop` only after every block was closed and a stop reason given. A connection that ends before is
//!   [`Cut`](windlass_types::ModelErrorKind::Cut).
//! - No retry, and one error kind for each possible reaction of a caller.
//! - Each message is serialized once, whatever the number of requests that carry it: a request costs the bytes that it
//!   sends.
//! - Keys appear in no error and in no `Debug` text.
//!
//! # Prompt cache
//! Breakpoints follow the last system section of each scope, the last message and the user message before it. The API
//! looks back only 20 blocks for an earlier entry, which a turn with ten parallel calls exceeds; the second one marks
//! the end of the previous request and so always finds its entry.
//!
//! # Clouds
//! [`Anthropic::bedrock`] and [`Anthropic::vertex`] return builders of the same provider for the services of clouds.
//! Betas that a cloud refuses are left out, of this request and of later ones. A request that is refused because of its
//! credential is sent once more if the source of credentials then has another one.
//!
//! # Strict tools
//! The API refuses strict tools that are too many or too complex together. Such a request is sent once more with these
//! tools not strict, and they stay so, so that the prompt cache is lost once and not at each turn.
//!
//! # Features
//! `bedrock`: Claude on Amazon Bedrock, with the signatures of AWS. `rustls-ring` (default), `rustls-aws-lc` and
//! `rustls-no-provider` enable TLS with the cryptography of ring, of AWS-LC, or of the provider that the program has
//! installed for its process, which takes precedence over the other two; `native-tls` enables TLS of the operating
//! system if none of them is enabled. Without any of the four an https address is refused with an error that names
//! them. `gzip`: answers may be compressed.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod assembly;
mod builder;
mod cloud;
mod error;
mod form;
mod frame;
mod platform;
mod provider;
mod rate_limit;
mod request;
mod send;
mod stream;
mod web_search;

pub use builder::AnthropicBuilder;
pub use provider::Anthropic;
pub use windlass_http::Secret;
#[cfg(feature = "aws-chain")]
pub use windlass_http::provider::AwsChainCredentials;
#[cfg(feature = "google-adc")]
pub use windlass_http::provider::GoogleAdcCredentials;
pub use windlass_http::provider::{
    AwsKeys, AwsProfileCredentials, CommandCredentials, Credential, CredentialKey, Credentials, EnvironmentCredentials,
    FileCredentials, GoogleUserCredentials, RefreshingCredentials,
};
