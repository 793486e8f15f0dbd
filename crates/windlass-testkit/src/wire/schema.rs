//! Published shape of a request, as a JSON Schema made from the types of the vendor's own SDK.
//!
//! `tests/wire/schemas.py` writes the schemas, and names package and version in each.

use std::sync::LazyLock;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// A schema, compiled when it is first needed.
pub(super) type LazySchema = LazyLock<Result<Validator, String>>;

pub(super) fn compile(text: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    jsonschema::validator_for(&schema).map_err(|error| error.to_string())
}

/// Returns the first misfit of a body with its place, in words.
pub(super) fn misfit(shape: &LazySchema, body: &Value) -> Option<String> {
    let validator = match &**shape {
        Ok(validator) => validator,
        Err(error) => return Some(format!("the schema of the dialect cannot be used: {error}")),
    };
    validator.iter_errors(body).next().map(|error| {
        let error = closest(&error);
        let mut text = format!("{}: {error}", error.instance_path());
        if text.len() > 600 {
            let end = (0..=600).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            text.truncate(end);
        }
        text
    })
}

/// Returns, of several shapes of which none fits, the error of the closest one: it is about a member and not about the
/// kind, or is deepest.
fn closest<'a>(error: &'a ValidationError<'a>) -> &'a ValidationError<'a> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = error.kind() else {
        return error;
    };
    let rank = |found: &ValidationError<'_>| {
        let depth = found.instance_path().to_string().matches('/').count();
        let is_kind = matches!(
            found.kind(),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. }
        );
        (!is_kind, depth)
    };
    // If a shape has several errors, a wrong `type` shows that another was meant.
    let of_branch = |errors: &'a Vec<ValidationError<'static>>| {
        errors.iter().map(|inner| closest(inner)).min_by_key(|inner| rank(inner).0)
    };
    context.iter().filter_map(of_branch).max_by_key(|inner| rank(inner)).unwrap_or(error)
}
