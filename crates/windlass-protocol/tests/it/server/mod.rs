//! The server over in-memory pipes: a host that behaves, and hosts that do not.

mod agents;
mod attacks;
mod background;
mod behaved;
mod broken;
mod commands;
mod control;
mod host;
mod joining;
mod mcp;
mod messages;
mod plugins;
mod rewind;
mod storms;
pub(crate) mod world;
