//! The derive macro for inputs of tools, `#[derive(windlass::ToolInput)]`.
//!
//! Programs do not depend on this crate: `windlass` and `windlass-tool` re-export the macro with their feature
//! `macros`, each with its own paths.
//!
//! # Why a derive, and no attribute on functions
//! An attribute on an async function, `#[windlass::tool] async fn weather(city: String)`, saves the input's type. But a
//! tool is more than its function: what a call touches, its check and its title follow from the input, which then has
//! no name that they could take; a function has no state; and a doc comment on a parameter is not where people look for
//! the words that a model reads. With the derive the input is an ordinary type, which tests build, which `impl Tool`,
//! `tool_fn` and `.output::<T>()` take alike, and of which tools of an editor know all fields.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod tool_input;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a type the input of a tool: it can be read from JSON and has a JSON Schema.
///
/// Doc comments on fields become descriptions in the schema, and attributes of serde and schemars count as if both
/// crates' own derives stood there; neither has to be a dependency. Types of fields need the derive as well, or
/// `serde::Deserialize` and `schemars::JsonSchema`.
///
/// `#[tool_input(crate = "other::tool")]` names the module of a `windlass` that is renamed in `Cargo.toml`.
#[proc_macro_derive(ToolInput, attributes(serde, schemars, tool_input))]
pub fn derive_for_facade(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), "::windlass::tool")
}

/// Does the same for crates that depend on `windlass-tool` and not on `windlass`.
#[proc_macro_derive(ToolInputOfPort, attributes(serde, schemars, tool_input))]
pub fn derive_for_port(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), "::windlass_tool")
}

fn derive(input: DeriveInput, root: &str) -> TokenStream {
    tool_input::expand(input, root).unwrap_or_else(|error| error.into_compile_error()).into()
}
