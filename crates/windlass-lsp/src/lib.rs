//! Code intelligence for agents of windlass.
//!
//! [`CodeIntelligence`] is the port: definitions and uses of a name, contents of a file, diagnostics of compilers. An
//! editor implements it over its own knowledge; [`LanguageServers`] implements it over the language servers of a
//! configuration. The tool [`Lsp`] gives it to a model.
//!
//! A language server is a program of the user that reads a project and may run parts of it, such as build scripts.
//! Servers therefore come from the user's own or trusted configuration, never from an untrusted project, and none
//! starts before it is asked.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod answer;
mod config;
mod confine;
mod connection;
mod documents;
mod error;
mod files;
mod port;
mod program;
mod published;
mod server;
mod servers;
mod tool;
mod uri;
mod wire;

pub use config::{ConfigError, ServerConfig};
pub use confine::{ConfinedUntilEnd, ServerConfinement};
pub use error::CodeError;
pub use port::{CodeAnswer, CodeIntelligence, CodeOperation, CodePlace, CodeQuery};
pub use servers::{LanguageServers, ServerSurroundings};
pub use tool::{Lsp, LspInput};
