//! The Gemini API, and Gemini on Vertex AI, as a [`ModelProvider`](windlass_model::ModelProvider).
//!
//! ```no_run
//! # fn main() -> Result<(), windlass_model::ModelError> {
//! use windlass_gemini::Gemini;
//!
//! let from_environment = Gemini::from_env()?;
//! let by_hand = Gemini::builder().api_key("AIza…").base_url("http://127.0.0.1:8080").build()?;
//! let on_vertex = Gemini::vertex("my-project", "global").token("ya29.…").build()?;
//! # Ok(()) }
//! ```
//!
//! # Guarantees
//! - The API's chunks become events of one message. A message completes only when the API gave a finish reason; a
//!   connection that ends before is [`Cut`](windlass_types::ModelErrorKind::Cut), and usage that arrived until then is
//!   reported before the error.
//! - Calls of a message that the API calls malformed are reported with
//!   [`MalformedToolCall`](windlass_types::StopReason::MalformedToolCall), so that they are never run. A successful
//!   message without any content is an error that the loop retries.
//! - Tokens are counted once: cached ones separately, reasoning as output, the highest figure of each kind.
//! - No retry, and one error kind for each possible reaction of a caller.
//! - The key is in a header, never in an address, in no error and in no `Debug` text.
//!
//! # Thought signatures
//! The API signs parts of its messages and wants each signature back on its own part: parts are neither merged nor
//! moved. Reasoning keeps its signature as that of the thinking block. The signature of a text and of a call is kept
//! beside the block, as JSON of these members, all optional:
//! - `thoughtSignature`: the signature of the call, or of the text.
//! - `unsigned`: number of bytes at the beginning of the text that came in a part without signature. Streams send most
//!   of a text without, and its end with one; the block holds both, and both parts are sent back.
//! - `before`, `after`: parts whose text is blank, which a transcript would drop, with their `text` and
//!   `thoughtSignature`. They are sent back before or after the block.
//! - `id`: the API's id of the call.
//!
//! Two signed texts are two blocks. A blank signed part with neither text nor call in its message is lost: such a
//! message has no content that could be sent back.
//!
//! A part of another kind, such as code that the service ran, is kept whole as a block of the type `gemini_part` and
//! sent back unchanged.
//!
//! Models from Gemini 3 on refuse calls without a signature. A step of the history whose calls have none, because
//! another model made them, gets the documented placeholder signature on its first call.
//!
//! # Call ids
//! Older models give their calls no ids, and some services refuse them. An id of the API is sent back with the call and
//! its result; calls without one get an id for windlass alone, made of that of the answer and their number. Calls of
//! other models are sent with an id to models from Gemini 3 on, which match results by it, but not to Vertex AI.
//!
//! # Missing features of the API
//! Cache hints, betas, the user id and the session key are not sent: the API caches on its own. Image and document
//! sources of the kind `file` are addresses of the Files API or of Cloud Storage.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod assembly;
mod builder;
mod endpoint;
mod error;
mod finish;
mod frame;
mod grounding;
mod models;
mod provider;
mod replay;
mod request;
mod stream;
mod usage;

pub use builder::GeminiBuilder;
pub use provider::Gemini;
pub use windlass_http::Secret;
#[cfg(feature = "google-adc")]
pub use windlass_http::provider::GoogleAdcCredentials;
pub use windlass_http::provider::{
    AwsKeys, AwsProfileCredentials, CommandCredentials, Credential, CredentialKey, Credentials, EnvironmentCredentials,
    FileCredentials, GoogleUserCredentials, RefreshingCredentials,
};
