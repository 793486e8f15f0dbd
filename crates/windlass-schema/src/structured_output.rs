//! StructuredOutput: the answer of a run as data that fits a schema.

use crate::InputSchema;
use std::sync::Arc;
use windlass_tool::{Annotations, BoxFuture, DynTool, PreparedCall, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, JsonText, ToolSpec};

/// The tool that ends a run with an output schema: its input is the output.
///
/// The tool touches nothing. The runtime gives its input to the host, word for word.
#[derive(Debug, Clone)]
pub struct StructuredOutput {
    schema: JsonText,
}

/// Error of a schema that no output can be checked against.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputSchemaError {
    /// The schema is not a JSON Schema.
    #[error("the output schema is not a valid JSON Schema: {reason}")]
    Invalid {
        /// Fault of the schema.
        reason: String,
    },
    /// The schema does not describe an object; models can only be held to objects.
    #[error(
        "the output schema must describe an object: give it \"type\": \"object\", and put other values into a property"
    )]
    NotAnObject,
    /// The program is built without the feature `validation`, so that no output could be held to its schema.
    #[error("outputs cannot be checked in this program: enable the feature `validation` of windlass")]
    NotBuiltIn,
}

impl StructuredOutput {
    /// Name of the tool.
    pub const NAME: &'static str = "StructuredOutput";

    /// Returns a tool that accepts inputs that fit a JSON Schema.
    ///
    /// # Errors
    /// The schema is not valid, or not one of an object; or the feature `validation` is not enabled.
    pub fn new(schema: JsonText) -> Result<Self, OutputSchemaError> {
        if !cfg!(feature = "validation") {
            return Err(OutputSchemaError::NotBuiltIn);
        }
        let fields: std::collections::BTreeMap<String, JsonText> =
            schema.to().map_err(|_| OutputSchemaError::NotAnObject)?;
        let is_object = fields.get("type").is_some_and(|kind| kind.to::<String>().is_ok_and(|kind| kind == "object"));
        if !is_object {
            return Err(OutputSchemaError::NotAnObject);
        }
        InputSchema::new(schema.clone()).check_schema().map_err(|reason| OutputSchemaError::Invalid { reason })?;
        Ok(Self { schema })
    }
}

impl DynTool for StructuredOutput {
    fn spec(&self) -> ToolSpec {
        let description = "Gives the final answer as data. The input is the answer: it must fit the schema and hold \
                           everything that was asked for. Call it once, when the work is done; it ends the run.";
        ToolSpec::new(Self::NAME, description, self.schema.clone())
    }

    fn annotations(&self) -> Annotations {
        Annotations::default()
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(StructuredValue(input.clone())))
    }
}

/// An output that fits the schema.
struct StructuredValue(JsonText);

impl PreparedCall for StructuredValue {
    fn access(&self) -> Access {
        Access::NOTHING
    }

    fn title(&self) -> String {
        "Give the structured output".to_owned()
    }

    fn call(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let mut output = ToolOutput::text("The output fits and was taken.");
            output.structured = Some(self.0);
            Ok(output)
        })
    }
}

#[cfg(test)]
#[cfg(feature = "validation")]
mod tests {
    use super::*;

    fn of(schema: &str) -> Result<StructuredOutput, OutputSchemaError> {
        StructuredOutput::new(JsonText::parse(schema).unwrap())
    }

    #[test]
    fn schemas_describe_objects() {
        assert!(of(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#).is_ok());
        assert!(of(r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}"#).is_ok());
        for other in [r#"{"type":"array"}"#, "{}", "[]", "true", r#"{"type":["object","null"]}"#] {
            assert_eq!(of(other).unwrap_err(), OutputSchemaError::NotAnObject, "{other}");
        }
        for bad in [r#"{"type":"object","properties":3}"#, r#"{"type":"object","properties":{"a":{"type":"x"}}}"#] {
            assert!(matches!(of(bad), Err(OutputSchemaError::Invalid { .. })), "{bad}");
        }
    }
}
