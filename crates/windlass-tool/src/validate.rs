//! Inputs against their schema.

use std::fmt;
use std::fmt::Write;
use std::sync::OnceLock;
use windlass_types::JsonText;

/// How many faults of an input are told at once.
const MAX_FAULTS: usize = 5;

/// The schema of a tool's input. Compiled at the first check, not before.
pub struct InputSchema {
    schema: JsonText,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

impl InputSchema {
    /// Wraps a JSON Schema.
    pub fn new(schema: JsonText) -> Self {
        Self { schema, compiled: OnceLock::new() }
    }

    /// Checks the schema itself, which otherwise happens at the first input.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_schema(&self) -> Result<(), String> {
        match self.compiled.get_or_init(|| compile(&self.schema)) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.clone()),
        }
    }

    /// Checks an input: strict JSON (no key twice, no NUL, no half surrogates),
    /// an object, and the schema.
    ///
    /// # Errors
    /// What is wrong, in words for the model.
    pub fn check(&self, input: &JsonText) -> Result<(), String> {
        input.check_strict().map_err(|error| format!("the input is not acceptable JSON: {error}"))?;
        if !input.is_object() {
            return Err("the input must be a JSON object".to_owned());
        }
        let value: serde_json::Value = input.to().map_err(|error| error.to_string())?;
        let validator = match self.compiled.get_or_init(|| compile(&self.schema)) {
            Ok(validator) => validator,
            Err(error) => {
                return Err(format!("the tool's input schema is not valid, so nothing can be checked: {error}"));
            }
        };
        if validator.is_valid(&value) {
            return Ok(());
        }
        let mut text = String::new();
        let mut faults = validator.iter_errors(&value);
        for fault in faults.by_ref().take(MAX_FAULTS) {
            let path = fault.instance_path().to_string();
            let place = if path.is_empty() { "the input" } else { &path };
            let separator = if text.is_empty() { "" } else { "; " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{place}: {}", clipped(&fault.to_string()));
        }
        let more = faults.count();
        if more > 0 {
            let _ = write!(text, "; and {more} more");
        }
        Err(text)
    }
}

/// Whether a schema is one of JSON Schema draft 2020-12, whatever draft it names: providers read it so.
///
/// # Errors
/// What is wrong with it, in at most about 300 characters.
pub fn check_schema_2020_12(schema: &JsonText) -> Result<(), String> {
    let schema: serde_json::Value = schema.to().map_err(|error| error.to_string())?;
    jsonschema::draft202012::meta::validate(&schema).map_err(|error| {
        let path = error.instance_path().to_string();
        let place = if path.is_empty() { String::new() } else { format!(" (at {})", clipped(&path)) };
        format!("it must match JSON Schema draft 2020-12{place}")
    })
}

fn compile(schema: &JsonText) -> Result<jsonschema::Validator, String> {
    let schema: serde_json::Value = schema.to().map_err(|error| error.to_string())?;
    jsonschema::options().build(&schema).map_err(|error| error.to_string())
}

/// Faults quote the offending value, which can be a whole file.
fn clipped(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.schema).finish()
    }
}
