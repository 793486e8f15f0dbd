//! Put a complete coding agent into any Rust program: query() yields a stream of agent events
