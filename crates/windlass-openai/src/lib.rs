//! Models behind the OpenAI Responses API and behind Chat Completions.

mod chat;
mod responses;
