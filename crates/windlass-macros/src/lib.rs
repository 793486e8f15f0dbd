//! The derive macro for inputs of tools, `#[derive(windlass::ToolInput)]`.
//!
//! Do not depend on this crate directly: `windlass` and `windlass-tool` re-export the macro with their feature
//! `macros`, each with its own paths.
//!
//! # Why a derive, and no attribute on functions
//! An attribute such as `#[windlass::tool] async fn weather(city: String)` would save the input type. But the access,
//! the check and the title of a call are computed from its input, so the input needs a named type. A function also has
//! no state, and nobody looks at a parameter for the words that a model reads.
//!
//! With the derive the input is an ordinary type that tests can build. `impl Tool`, `tool_fn` and `.output::<T>()` all
//! accept it, and editors complete its fields.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod tool_input;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a type the input of a tool: it can be read from JSON and has a JSON Schema.
///
/// Doc comments on fields become descriptions in the schema. Attributes of serde and schemars work as with the derives
/// of these crates, and neither has to be a dependency. Types of fields need the derive as well, or
/// `serde::Deserialize` and `schemars::JsonSchema`.
///
/// `#[tool_input(crate = "other::tool")]` gives the module path if `Cargo.toml` renames `windlass`.
#[proc_macro_derive(ToolInput, attributes(serde, schemars, tool_input))]
pub fn derive_for_facade(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), "::windlass::tool")
}

/// Derive of `ToolInput` for crates that depend on `windlass-tool` and not on `windlass`. Only the paths differ.
#[proc_macro_derive(ToolInputOfPort, attributes(serde, schemars, tool_input))]
pub fn derive_for_port(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), "::windlass_tool")
}

fn derive(input: DeriveInput, tool_path: &str) -> TokenStream {
    tool_input::expand(input, tool_path).unwrap_or_else(|error| error.into_compile_error()).into()
}
