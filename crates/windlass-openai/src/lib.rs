//! Models behind the OpenAI Responses API and behind Chat Completions.

mod builder;
mod chat;
mod error;
mod ids;
mod models;
mod responses;
mod schema;

pub use builder::OpenAiBuilder;
pub use chat::{
    AnswerCompat, AnswerFormat, Auth, BodyCompat, CacheCompat, ChatCompletions, ChatCompletionsBuilder, Compat,
    EmptyContent, Endpoint, Finish, IdRule, InstructionRole, MessageCompat, OutputLimit, Protocol, ReasoningBack,
    ReasoningCompat, ReasoningField, Strict, ThinkingSwitch, ToolCompat, ToolImages, ToolSupport, TransportCompat,
};
pub use responses::OpenAi;
