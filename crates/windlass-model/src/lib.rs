//! The model provider port: how the agent loop reaches a model.
//!
//! A [`ModelProvider`] turns one [`ModelRequest`](windlass_types::ModelRequest) into one stream of
//! [`ModelItem`](windlass_types::ModelItem)s and nothing more: retries, fallback and tool execution belong to the
//! loop. The [`Catalogue`] says what a model can do and what it costs.
//!
//! For tests without a network: a [`ScriptedModel`] answers what a script says, a
//! [`Recorder`] writes a live run to a cassette, and a [`Replayer`] plays it again.

mod cassette;
mod catalogue;
mod error;
mod provider;
mod script;
mod wire;

pub use cassette::{CassetteError, Recorder, Replayer, Scrub};
pub use catalogue::{Catalogue, DEFAULT_MODEL, ModelOverride, beta};
pub use error::ModelError;
pub use provider::{ModelProvider, ModelStream};
pub use script::{Gate, Script, ScriptError, ScriptedModel, ScriptedTurn};
pub use windlass_types::{LongPrompt, ModelInfo, Price};
