//! Models behind the OpenAI Responses API and behind Chat Completions.
//!
//! [`OpenAi`] is the Responses API, of OpenAI and of Azure:
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
//! # What the Responses API is sent
//! - Nothing is stored at the API: each request holds the whole conversation. Reasoning comes encrypted and goes back
//!   word by word, just before the item that followed it; ids of items and the phases of messages go back with them.
//!   What came from another model goes without them.
//! - The system prompt as `instructions`; sections are parted by an empty line.
//! - Tools at the top level of each request. Those that come later in a session stand where they came, as
//!   `additional_tools` items, if the model takes them there
//!   ([`ModelInfo::appends_tools`](windlass_types::ModelInfo::appends_tools)); otherwise they join the others in front,
//!   which costs the cached prompt.
//! - Strict schemas where a tool or a form of the answer wants one and the API can hold the model to it. Optional
//!   properties become required ones that may be null. If the server refuses them, the request is sent once more
//!   without them, and the provider remembers that for the model.
//! - The session's key as `prompt_cache_key` and in the header `session-id`, so that requests of one session go to
//!   where its prompt is cached. A session that caches for an hour asks for the longest retention that its model has
//!   (`prompt_cache_retention: "24h"`, half an hour from GPT-5.6 on).
//! - No sampling settings: models that reason refuse them. Members that windlass does not have can be added with
//!   [`ModelRequest::extra`](windlass_types::ModelRequest::extra).
//!
//! # What it promises of answers
//! - Items become blocks one after the other, in the order of their places. The first that is not complete is shown as
//!   it grows; those that come interleaved wait. Memory is bounded.
//! - A call is complete only with the event that ends its item, and its arguments must be those that were streamed.
//!   A response that does not come to its end is [`Cut`](windlass_types::ModelErrorKind::Cut).
//! - Items of tools that the API runs itself become blocks that go back as they came; items that could not go back
//!   are left out.
//! - No retry but the one of strict schemas, and one error kind for each thing that a caller can do about it.
//! - Keys are in no error and in no `Debug` text.
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
