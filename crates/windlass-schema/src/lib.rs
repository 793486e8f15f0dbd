//! Checks of tool inputs against their JSON Schema, for the code that prepares calls: a runtime, or a host that serves
//! tools.
//!
//! Authors of tools do not need this crate. [`CheckedTools`] is a set of tools whose calls are read with their schema;
//! [`ToolServer`] serves such a set as an MCP server, [`InputSchema`] is a single schema, and [`StructuredOutput`] is
//! the tool that takes the answer of a run as data.
//!
//! # Supported schemas
//! JSON Schema 2020-12, and drafts 4, 6, 7 and 2019-09 where `$schema` names them: all keywords that assert or apply,
//! with these exceptions.
//! - `format` and the keywords on content are annotations in every draft.
//! - References stay inside the schema: pointers, anchors, and the `$id` of an embedded schema as it is written.
//!   `$dynamicRef` and `$recursiveRef` are followed like `$ref`.
//! - Patterns have no look-around and no back references, so that matching takes linear time. A pattern that needs them
//!   is refused by [`InputSchema::check_schema`] and ignored by [`InputSchema::check`]: the tool still reads its input
//!   itself.
//! - A number without a fraction is an `integer` in every draft, however it is written.
//!
//! A `null` for a property that is optional and does not allow it counts as absent ([`InputSchema::read`]): models
//! write it where strict decoding makes them name every property.
//!
//! Work is bounded: an input that takes more than a million steps, or nests more than 512 schemas, is refused.
//!
//! # Features
//! `validation` (default): all of these checks. Without it an input only has to be strict JSON and an object, and the
//! schema is not used: a typed tool still refuses inputs that its type cannot read, but a tool made from a schema
//! accepts any object. [`StructuredOutput`] does not exist then, since nothing could hold a model to its schema.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "validation")]
mod check;
#[cfg(feature = "validation")]
mod compile;
#[cfg(feature = "validation")]
mod evaluated;
#[cfg(feature = "validation")]
mod fault;
#[cfg(feature = "validation")]
mod input;
#[cfg(feature = "validation")]
mod keyword;
#[cfg(feature = "validation")]
mod node;
#[cfg(feature = "validation")]
mod nulls;
#[cfg(feature = "validation")]
mod pattern;
#[cfg(feature = "validation")]
mod place;
#[cfg(feature = "validation")]
mod reference;
mod served;
mod strict;
mod structured_output;
mod tool_search;
mod tools;
#[cfg(not(feature = "validation"))]
mod unchecked;
#[cfg(feature = "validation")]
mod value;

#[cfg(feature = "validation")]
pub use input::{InputSchema, check_schema_2020_12};
pub use served::{ToolServer, call_result};
pub use structured_output::{OutputSchemaError, StructuredOutput};
pub use tool_search::ToolSearch;
pub use tools::{CheckedCall, CheckedTools};
#[cfg(not(feature = "validation"))]
pub use unchecked::InputSchema;
