//! Chat Completions, the dialect of OpenAI and many others.

mod alias;
mod assembly;
mod builder;
mod calls;
mod chunk;
mod compat;
mod details;
mod endpoint;
mod error;
mod letters;
mod models;
mod ollama;
mod provider;
mod reader;
mod request;
mod stream;
mod template;
mod usage;

pub use builder::ChatCompletionsBuilder;
pub use compat::{
    AnswerCompat, AnswerFormat, Auth, BodyCompat, CacheCompat, Compat, EmptyContent, Finish, IdRule, InstructionRole,
    MessageCompat, OutputLimit, Protocol, ReasoningBack, ReasoningCompat, ReasoningField, ReportedCost, Strict,
    ThinkingSwitch, ToolCompat, ToolImages, ToolSupport, TransportCompat,
};
pub use endpoint::Endpoint;
pub use provider::ChatCompletions;
