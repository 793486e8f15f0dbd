//! The schema of a tool's input, in a build without validation.

use crate::strict::object;
use windlass_types::JsonText;

/// The schema of a tool's input. Without the feature `validation` it is passed on and nothing is checked against it.
#[derive(Debug)]
pub struct InputSchema {
    schema: JsonText,
}

impl InputSchema {
    /// Wraps a JSON Schema.
    pub fn new(schema: JsonText) -> Self {
        Self { schema }
    }

    /// Checks that the schema is a JSON object. Without the feature `validation`, its content is not checked.
    ///
    /// # Errors
    /// The schema is not an object.
    pub fn check_schema(&self) -> Result<(), String> {
        if self.schema.is_object() { Ok(()) } else { Err("the schema is no JSON object".to_owned()) }
    }

    /// Checks an input: it must be strict JSON (no key twice, no NUL, no half surrogates) and an object. The schema is
    /// not used without the feature `validation`.
    ///
    /// # Errors
    /// Text that names the faults, in words for the model.
    pub fn check(&self, input: &JsonText) -> Result<(), String> {
        object(input)
    }

    /// Like [`check`](Self::check). The input is always left unchanged: without the feature `validation` it is unknown
    /// which properties are optional.
    ///
    /// # Errors
    /// Text that names the faults, in words for the model.
    pub fn read(&self, input: &JsonText) -> Result<Option<JsonText>, String> {
        self.check(input).map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckedTools, OutputSchemaError, StructuredOutput};
    use std::sync::Arc;
    use windlass_tool::{DynTool, ToolSet, tool_fn};

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only how it is read matters")]
    struct UncheckedInput {
        #[schemars(range(max = 3))]
        count: u32,
    }

    #[test]
    fn inputs_are_strict_objects_that_the_tool_reads_itself() {
        let tool: Arc<dyn DynTool> = Arc::new(tool_fn("T", "A test.", |_: UncheckedInput, _| async { Ok("ok") }));
        let set = CheckedTools::from(ToolSet::new([tool]).unwrap());
        let refusal = |input: &str| {
            let input = JsonText::parse(input).unwrap();
            set.prepare("T", &input).err().map(|error| error.model_text().to_owned())
        };
        assert_eq!(refusal(r#"{"count":1}"#), None);
        assert_eq!(refusal(r#"{"count":4}"#), None, "the schema alone forbids it");
        assert!(refusal(r#"{"count":1,"count":2}"#).unwrap().contains("twice"));
        assert!(refusal("[]").unwrap().contains("object"));
        assert!(refusal(r#"{"count":"x"}"#).is_some(), "the type forbids it");
    }

    #[test]
    fn no_output_is_promised_that_nothing_checks() {
        let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
        let error = StructuredOutput::new(schema).unwrap_err();
        assert_eq!(error, OutputSchemaError::NotBuiltIn);
        assert!(error.to_string().contains("feature `validation`"), "{error}");
    }
}
