//! The Responses API.
