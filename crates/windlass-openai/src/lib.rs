//! Models behind the OpenAI Responses API and behind Chat Completions.
//!
//! [`OpenAi`] is the provider of the Responses API, of OpenAI and of Azure:
//!
//! ```no_run
//! # fn main() -> Result<(), windlass_model::ModelError> {
//! use windlass_openai::OpenAi;
//!
//! let from_environment = OpenAi::from_env()?;
//! let azure = OpenAi::builder()
//!     .base_url("https://RESOURCE.openai.azure.com/openai/v1")
//!     .api_key("…")
//!     .build()?;
//! # Ok(()) }
//! ```
//!
//! # Requests to the Responses API
//! - Nothing is stored at the API: each request holds the whole conversation. Reasoning comes encrypted and is sent
//!   back unchanged, just before the item that followed it; ids of items and the phases of messages are sent back with
//!   them. Messages of another model are sent without them.
//! - The system prompt is sent as `instructions`; sections are separated by an empty line.
//! - Tools are at the top level of each request. Tools that are added later in a session stay at their position, as
//!   `additional_tools` items, if the model takes them there
//!   ([`ModelInfo::appends_tools`](windlass_types::ModelInfo::appends_tools)); otherwise they join the others in front,
//!   which costs the cached prompt.
//! - Schemas are strict if a tool or an answer format asks for that and the API supports the schema. Optional
//!   properties become required ones that may be null. If the server refuses them, the request is sent once more
//!   without them, and the provider remembers that for the model.
//! - The session's key is sent as `prompt_cache_key` and in the header `session-id`, so that requests of one session
//!   reach the server that caches their prompt. A session that caches for an hour requests the longest retention of its
//!   model (`prompt_cache_retention: "24h"`, half an hour from GPT-5.6 on).
//! - No sampling settings are sent: models that reason refuse them. Members that windlass does not know can be added
//!   with [`ModelRequest::extra`](windlass_types::ModelRequest::extra).
//!
//! # Guarantees of answers
//! - Items become blocks one after the other, in the order of their places. The first incomplete one is shown as it
//!   grows; interleaved ones wait. Memory is bounded.
//! - A call is complete only with the event that ends its item, and its arguments must be those that were streamed. A
//!   response that is not finished is [`Cut`](windlass_types::ModelErrorKind::Cut).
//! - Items of tools that the API runs itself become blocks that are sent back unchanged; items that could not be sent
//!   back are left out.
//! - No retry except the one of strict schemas, and one error kind for each possible reaction of a caller.
//! - Keys appear in no error and in no `Debug` text.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod chat;
mod error;
mod models;
mod money;
mod responses;
mod retention;
mod schema;

pub use builder::OpenAiBuilder;
pub use chat::{
    AnswerCompat, AnswerFormat, Auth, BodyCompat, CacheCompat, ChatCompletions, ChatCompletionsBuilder, Compat,
    EmptyContent, Endpoint, Finish, IdRule, InstructionRole, MessageCompat, OutputLimit, Protocol, ReasoningBack,
    ReasoningCompat, ReasoningField, ReportedCost, Strict, ThinkingSwitch, ToolCompat, ToolImages, ToolSupport,
    TransportCompat,
};
pub use responses::OpenAi;
