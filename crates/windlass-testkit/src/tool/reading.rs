//! Declarations of a tool about itself and about a call, before a call runs.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_schema::InputSchema;
use windlass_tool::{PreparedCall, ToolCheck, ToolErrorKind, ToolSet};
use windlass_types::{Access, JsonText};

use super::fuzz;
use crate::violation::{calmly, ensure};
use crate::{ToolBench, Violation};

/// Checks that the name, the description and the schema are acceptable for models, and the same each time.
///
/// # Errors
/// One is not valid, or changes.
pub fn has_a_valid_spec(bench: &ToolBench) -> Result<(), Violation> {
    let tool = bench.tool();
    let spec = calmly("ask for the spec", || tool.spec())?;
    let name = &spec.name;
    let in_set = calmly("make a set", || ToolSet::new([Arc::clone(tool)]))?;
    in_set.map_err(|error| Violation::new(error.to_string()))?;
    ensure(!spec.description.trim().is_empty(), || format!("{name} has no description"))?;
    let schema: Value =
        spec.input_schema.to().map_err(|error| Violation::new(format!("{name}: its schema: {error}")))?;
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    ensure(is_object, || format!("{name}: its schema is not one of an object: {schema}"))?;
    spec.input_schema.check_strict().map_err(|error| Violation::new(format!("{name}: its schema: {error}")))?;
    jsonschema::options()
        .build(&schema)
        .map_err(|error| Violation::new(format!("{name}: its schema is no JSON Schema: {error}")))?;
    ensure(calmly("ask for the name", || tool.name() == *name)?, || {
        format!("{name} says another name beside its spec")
    })?;
    let annotations = tool.annotations();
    ensure(annotations.max_result_bytes > 0, || format!("{name}: its results may have no text"))?;
    for _ in 0..3 {
        let again = calmly("ask for the spec again", || (tool.spec(), tool.annotations(), tool.is_enabled()))?;
        ensure(again == (spec.clone(), annotations, tool.is_enabled()), || format!("{name} changes its spec"))?;
    }
    Ok(())
}

/// Declarations of a prepared call.
#[derive(Debug, PartialEq)]
pub(super) struct DeclaredAccess {
    pub(super) access: Access,
    command: Option<String>,
    check: ToolCheck,
    title: String,
}

impl DeclaredAccess {
    pub(super) fn of(call: &dyn PreparedCall) -> Self {
        Self {
            access: call.access(),
            command: call.command().map(str::to_owned),
            check: call.check(),
            title: call.title(),
        }
    }
}

/// Checks that a sample fits the schema and is read, and that the tool's declarations about the call (access, command,
/// check, title) are the same however often it is asked.
///
/// # Errors
/// A sample is refused, or a declaration changes.
pub fn reads_samples_steadily(bench: &ToolBench, samples: &[Value]) -> Result<(), Violation> {
    for sample in samples {
        let what = format!("prepare {sample}");
        let claims = prepared(bench, sample)?;
        for _ in 0..3 {
            let again = prepared(bench, sample)?;
            ensure(again == claims, || format!("{what}: first it declares {claims:?}, then {again:?}"))?;
        }
        ensure(!claims.title.trim().is_empty(), || format!("{what}: the call has no title"))?;
    }
    Ok(())
}

fn prepared(bench: &ToolBench, sample: &Value) -> Result<DeclaredAccess, Violation> {
    let what = format!("prepare {sample}");
    let call = calmly(&what, || bench.prepare(sample))?;
    let call = call.map_err(|error| Violation::new(format!("{what}: {}", error.model_text())))?;
    let claims = calmly(&what, || DeclaredAccess::of(&*call))?;
    let again = calmly(&what, || DeclaredAccess::of(&*call))?;
    ensure(again == claims, || format!("{what}: first it declares {claims:?}, then {again:?}"))?;
    Ok(claims)
}

/// Checks that these inputs are refused before the tool acts, as invalid inputs and with a message for the model; and
/// so is any value that is not an object.
///
/// # Errors
/// An input was accepted, or refused for another reason or without a message.
pub fn rejects_unfit_inputs(bench: &ToolBench, unfit: &[Value]) -> Result<(), Violation> {
    for unfit in [json!(null), json!(1), json!("{}"), json!([])].iter().chain(unfit) {
        let what = format!("prepare {unfit}");
        let Err(error) = calmly(&what, || bench.prepare(unfit))? else {
            return Err(Violation::new(format!("{what}: it is accepted, but does not fit")));
        };
        ensure(error.kind() == ToolErrorKind::InvalidInput, || format!("{what}: refused as {:?}", error.kind()))?;
        ensure(!error.model_text().trim().is_empty(), || format!("{what}: refused without a word"))?;
    }
    Ok(())
}

/// Checks that the tool does not panic whatever the JSON: neither when it reads it, with the schema and without, nor
/// when it declares the call. The inputs are the same in every run.
///
/// # Errors
/// The tool panicked.
pub fn survives_any_input(bench: &ToolBench, samples: &[Value]) -> Result<(), Violation> {
    let tool = bench.tool();
    let schema = InputSchema::new(tool.spec().input_schema);
    for input in fuzz::inputs(samples) {
        let shown: String = input.as_str().chars().take(300).collect();
        let what = format!("prepare {shown}");
        let fits = calmly(&what, || schema.check(&input).is_ok())?;
        let call = calmly(&what, || Arc::clone(tool).prepare(&input))?;
        if let Ok(call) = call {
            let claims = calmly(&what, || DeclaredAccess::of(&*call))?;
            ensure(!fits || claims == DeclaredAccess::of(&*call), || {
                format!("{what}: its declarations of one call differ")
            })?;
        }
    }
    Ok(())
}

/// Returns the text of a value, for inputs that are values.
pub(super) fn text(value: &Value) -> JsonText {
    JsonText::of(value).unwrap_or_else(|_| JsonText::empty_object())
}
