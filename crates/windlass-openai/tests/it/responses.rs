//! Tests of the Responses API.

mod conformance;
mod errors;
mod kit;
mod replay;
mod requests;
mod stream;
mod strict;
mod web_search;
mod wire;
