//! Models behind the OpenAI Responses API and behind Chat Completions.

mod builder;
mod chat;
mod error;
mod ids;
mod models;
mod responses;
mod schema;

pub use builder::OpenAiBuilder;
pub use responses::OpenAi;
