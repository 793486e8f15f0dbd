//! Model provider port: connection of the agent loop to a model.
//!
//! A [`ModelProvider`] turns one [`ModelRequest`](windlass_types::ModelRequest) into one stream of
//! [`ModelItem`](windlass_types::ModelItem)s and no more: retries, fallback and tool execution belong to the loop. The
//! `Catalogue` describes the abilities and the price of a model.
//!
//! A [`Router`] combines several providers, and finds the one of a model by its name.
//!
//! For tests without a network: a `ScriptedModel` answers from a script, a `Recorder` writes a live run to a cassette,
//! and a `Replayer` plays it again.
//!
//! # Features
//! All are on by default. `default-features = false` leaves the port; the author of a provider may want `frames`.
//! - `catalogue`: `Catalogue` and the names of betas.
//! - `frames`: `framed`, the frames of the Messages API for providers whose service has others.
//! - `script`: `ScriptedModel` and what it is made of.
//! - `cassette`: `Recorder` and `Replayer`; with it `catalogue` and `script`.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cassette")]
mod cassette;
#[cfg(feature = "catalogue")]
mod catalogue;
mod error;
mod fact;
mod known;
mod overridden;
mod overrides;
mod provider;
mod router;
#[cfg(feature = "script")]
mod script;
mod summarizing;
#[cfg(feature = "frames")]
mod wire;

#[cfg(feature = "cassette")]
pub use cassette::{CassetteError, Recorder, Replayer, Scrub};
#[cfg(feature = "catalogue")]
pub use catalogue::{Catalogue, DEFAULT_MODEL, beta};
pub use error::ModelError;
pub use fact::SessionFact;
pub use known::{Abilities, KnownModel, ModelRow, ModelSource};
pub use overridden::Overridden;
pub use overrides::{ModelOverride, ModelOverrides, Rates};
pub use provider::{ModelProvider, ModelStream, is_priced_otherwise};
pub use router::{BareName, Router};
#[cfg(feature = "script")]
pub use script::{Gate, Script, ScriptError, ScriptedModel, ScriptedTurn};
pub use summarizing::{Summarizer, Summarizing, SummaryError, SummaryRequest};
pub use windlass_types::{LongPrompt, ModelInfo, Price};
#[cfg(feature = "frames")]
pub use wire::framed;
