//! Chat Completions, for OpenAI and compatible endpoints.
