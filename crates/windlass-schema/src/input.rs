//! The schema of a tool's input.

use crate::check::Check;
use crate::compile::{check_form, compile};
use crate::fault::clipped;
use crate::keyword::SchemaDraft;
use crate::node::CompiledSchema;
use crate::nulls::without_nulls;
use crate::strict::object;
use serde_json::Value;
use std::fmt;
use std::sync::OnceLock;
use windlass_types::JsonText;

/// The schema of a tool's input. Compiled at the first check.
pub struct InputSchema {
    schema: JsonText,
    compiled: OnceLock<Result<CompiledSchema, String>>,
}

impl InputSchema {
    /// Wraps a JSON Schema.
    pub fn new(schema: JsonText) -> Self {
        Self { schema, compiled: OnceLock::new() }
    }

    /// Checks the schema itself, which otherwise happens at the first input, and that all of its patterns can be
    /// matched.
    ///
    /// # Errors
    /// Text that names the fault of the schema.
    pub fn check_schema(&self) -> Result<(), String> {
        match self.compiled().as_ref().map(|compiled| compiled.unusable_pattern.as_deref()) {
            Ok(None) => Ok(()),
            Ok(Some(pattern)) => Err(format!(
                "the pattern {:?} cannot be matched: it is no regular expression, is too large, or has look-around or back references",
                clipped(pattern, 100)
            )),
            Err(error) => Err(error.clone()),
        }
    }

    /// Checks an input: it must be strict JSON (no key twice, no NUL, no half surrogates), an object, and fit the
    /// schema.
    ///
    /// # Errors
    /// Text that names the faults, in words for the model.
    pub fn check(&self, input: &JsonText) -> Result<(), String> {
        object(input)?;
        let value: Value = input.to().map_err(|error| error.to_string())?;
        match self.compiled() {
            Ok(compiled) => Check::run(compiled, &value),
            Err(error) => {
                Err(format!("the tool's input schema is not valid, so nothing can be checked: {}", clipped(error, 300)))
            }
        }
    }

    /// Reads an input like [`check`](Self::check), but a `null` for a property that is optional and does not allow
    /// `null` counts as absent, also in nested objects. Returns the input without such nulls; `None` if it fits
    /// unchanged. Everything else keeps its exact text.
    ///
    /// # Errors
    /// Text that names the faults apart from such nulls, in words for the model.
    pub fn read(&self, input: &JsonText) -> Result<Option<JsonText>, String> {
        let Err(fault) = self.check(input) else { return Ok(None) };
        // An input that is not strict JSON or not an object was refused for that reason.
        if object(input).is_err() {
            return Err(fault);
        }
        let without = match (self.compiled(), input.to::<Value>()) {
            (Ok(compiled), Ok(value)) => without_nulls(compiled, input, &value),
            _ => None,
        };
        let Some(without) = without else { return Err(fault) };
        self.check(&without)?;
        Ok(Some(without))
    }

    fn compiled(&self) -> &Result<CompiledSchema, String> {
        self.compiled.get_or_init(|| {
            let schema: Value = self.schema.to().map_err(|error| error.to_string())?;
            compile(&schema, SchemaDraft::of(&schema))
        })
    }
}

/// Checks that a schema has the form of JSON Schema draft 2020-12, whatever draft it names: providers read it so.
/// References are not followed.
///
/// # Errors
/// Text that names the fault, in at most about 300 characters.
pub fn check_schema_2020_12(schema: &JsonText) -> Result<(), String> {
    let schema: Value = schema.to().map_err(|error| error.to_string())?;
    check_form(&schema, SchemaDraft::Draft2020)
        .map_err(|error| format!("it must match JSON Schema draft 2020-12: {}", clipped(&error, 250)))
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.schema).finish()
    }
}
