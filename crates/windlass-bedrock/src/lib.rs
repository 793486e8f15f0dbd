//! Models on Amazon Bedrock as a [`ModelProvider`](windlass_model::ModelProvider), over the Converse API.
//!
//! ```no_run
//! # fn main() -> Result<(), windlass_model::ModelError> {
//! use windlass_bedrock::Bedrock;
//!
//! let from_environment = Bedrock::from_env()?;
//! let by_hand = Bedrock::builder().region("eu-west-3").api_key("bedrock-api-key-…").build()?;
//! # Ok(()) }
//! ```
//!
//! # Guarantees
//! - The API's frames become events of one message. A message completes only when the API has ended it; a connection
//!   that ends before is [`Cut`](windlass_types::ModelErrorKind::Cut). Token counts follow the end of a message, and
//!   are waited for as long as the connection lasts.
//! - Both checksums of each frame are checked, its size is bounded, and bytes that cannot be a frame or a part of a
//!   message are a [`Protocol`](windlass_types::ModelErrorKind::Protocol) error.
//! - Exceptions in the middle of a stream have the same kinds as refusals.
//! - Calls of a message that the API calls malformed are reported with
//!   [`MalformedToolCall`](windlass_types::StopReason::MalformedToolCall), so that they are never run.
//! - Interleaved pieces of blocks are put in order. Calls that the service answers itself are left out.
//! - Some models call tools, but not in a stream. After a refusal to stream, such a model is asked for answers in one
//!   piece.
//! - No other retry, and one error kind for each possible reaction of a caller.
//! - Keys appear in no error and in no `Debug` text.
//!
//! # Names of models
//! A model is named by its id (`amazon.nova-pro-v1:0`), an inference profile (`eu.amazon.nova-pro-v1:0`) or an ARN,
//! which is called in the region that it names. If a name does not show the model, such as that of an application
//! inference profile, [`BedrockBuilder::stands_for`] sets it. Requests to an unknown model use only members that all
//! models understand.
//!
//! # Replay of messages
//! Reasoning with a signature, encrypted reasoning, texts that are not blank and calls are sent back. Reasoning without
//! a signature is left out, because the API refuses it for most models. A message of only reasoning is left out too,
//! because the API takes it for the beginning of an answer. Ids and names that the API does not take are replaced, the
//! same way each time.
//!
//! # Cache
//! Claude and Nova have up to four cache points: behind the tools (Claude alone), behind the system prompt, and behind
//! the last two messages of the user. Their lifetime is that of the request, an hour if the model supports it.
//!
//! # Missing features of the API
//! Tool calls cannot be forbidden, and most models cannot be made to call a tool. A history with calls needs tools:
//! without any, the names of the called ones are sent. Images and documents are sent as bytes or from S3; a note
//! replaces others. Documents are named by number. Few models can count tokens. User id and session key are not sent.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod assembly;
mod builder;
mod endpoint;
mod error;
mod event;
mod eventstream;
mod models;
mod provider;
mod request;
mod service;
mod stream;
mod usage;
mod whole;

pub use builder::BedrockBuilder;
pub use provider::Bedrock;
pub use windlass_http::Secret;
pub use windlass_http::provider::{AwsKeys, Credential, CredentialKey, Credentials};
