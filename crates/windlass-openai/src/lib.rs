//! Models behind the OpenAI Responses API and behind Chat Completions.

mod chat;
mod error;
mod ids;
mod responses;
mod schema;
