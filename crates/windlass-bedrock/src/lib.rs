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
//! # What it promises
//! - The API's frames become events of one message. A message completes only when the API has ended it; a connection that
//!   ends before is [`Cut`](windlass_types::ModelErrorKind::Cut). Token counts follow the end of a message, and are waited
//!   for as long as the connection lasts.
//! - Both checksums of each frame are checked, its size is bounded, and what cannot be a frame or a part of a message is a
//!   [`Protocol`](windlass_types::ModelErrorKind::Protocol) error.
//! - Exceptions in the middle of a stream have the kinds that they have as refusals.
//! - Calls of a message that the API calls malformed are reported with
//!   [`MalformedToolCall`](windlass_types::StopReason::MalformedToolCall), so that they are never run.
//! - Blocks whose pieces come in turn are put in order. Calls that the service answers itself are left out.
//! - Some models call tools, but not in a stream. Once one has refused to stream, it is asked for answers in one piece.
//! - No other retry, and one error kind for each thing that a caller can do about it.
//! - No key in any error or `Debug` text.
//!
//! # Names of models
//! A model is named by its id (`amazon.nova-pro-v1:0`), an inference profile (`eu.amazon.nova-pro-v1:0`) or an ARN, which is
//! called in the region that it names. Where a name does not show the model, as that of an application inference profile,
//! [`BedrockBuilder::stands_for`] says which it is. A model that is not known is asked for nothing that not all
//! understand.
//!
//! # What is sent back of messages
//! Reasoning with a signature, encrypted reasoning, texts that are not blank and calls. Reasoning without a signature is
//! left out: the API refuses it for most models. So is a message of nothing but reasoning, which the API takes for the
//! beginning of an answer. Ids and names that the API does not take are replaced, the same way each time.
//!
//! # The cache
//! Claude and Nova have up to four cache points: behind the tools (Claude alone), behind the system prompt, and behind the
//! last two messages of the user. Their lifetime is that of the request, an hour where the model has it.
//!
//! # What the API does not have
//! That no tool may be called cannot be said, nor can most models be made to call one. A history with calls needs tools:
//! without any, the names of the called ones are sent. Images and documents come as bytes or from S3; the model reads in
//! words that others were left out. Documents are named by number. Few models can count tokens. User id and session key
//! are not sent.
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
