//! Requirements on every input, whatever its schema.

use windlass_types::JsonText;

/// Checks that an input is strict JSON and an object.
pub(crate) fn object(input: &JsonText) -> Result<(), String> {
    input.check_strict().map_err(|error| format!("the input is not acceptable JSON: {error}"))?;
    if input.is_object() { Ok(()) } else { Err("the input must be a JSON object".to_owned()) }
}
