//! A set of tools whose calls are read with their schema.

use crate::InputSchema;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use windlass_tool::{PreparedCall, ToolError, ToolSet};
use windlass_types::JsonText;

/// A set of tools, and the schemas of their inputs. Cheap to clone; immutable. Dereferences to the [`ToolSet`] in it.
#[derive(Debug, Clone, Default)]
pub struct CheckedTools {
    tools: ToolSet,
    schemas: Arc<BTreeMap<String, InputSchema>>,
}

impl CheckedTools {
    /// Reads a call: strict JSON, schema, typed input. Has no effect, and runs no user code except the tool's own
    /// reading of its input.
    ///
    /// # Errors
    /// Unknown tool or unfit input, in words for the model.
    pub fn prepare(&self, name: &str, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        self.read(name, input).map(|read| read.call)
    }

    /// Like [`prepare`](Self::prepare), and also returns the input that was used.
    ///
    /// # Errors
    /// The errors of [`prepare`](Self::prepare).
    pub fn read(&self, name: &str, input: &JsonText) -> Result<CheckedCall, ToolError> {
        let (Some(tool), Some(schema)) = (self.tools.get(name), self.schemas.get(name)) else {
            return Err(self.tools.unknown(name));
        };
        let changed = schema
            .read(input)
            .map_err(|fault| ToolError::invalid_input(format!("InputValidationError: {name}: {fault}")))?;
        let call = Arc::clone(tool).prepare(changed.as_ref().unwrap_or(input))?;
        Ok(CheckedCall { call, changed })
    }
}

/// A call that was read with its schema.
#[non_exhaustive]
pub struct CheckedCall {
    /// Call that was prepared.
    pub call: Box<dyn PreparedCall>,
    /// Input that was read, if it differs from the one that was given: see [`InputSchema::read`].
    pub changed: Option<JsonText>,
}

impl fmt::Debug for CheckedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCall").field("changed", &self.changed).finish_non_exhaustive()
    }
}

impl From<ToolSet> for CheckedTools {
    fn from(tools: ToolSet) -> Self {
        let schema = |spec: &Arc<windlass_types::ToolSpec>| InputSchema::new(spec.input_schema.clone());
        let schemas = tools.specs().iter().map(|spec| (spec.name.clone(), schema(spec))).collect();
        Self { tools, schemas: Arc::new(schemas) }
    }
}

impl Deref for CheckedTools {
    type Target = ToolSet;

    fn deref(&self) -> &ToolSet {
        &self.tools
    }
}

#[cfg(test)]
#[cfg(feature = "validation")]
mod tests {
    use super::*;
    use windlass_tool::{DynTool, tool_fn};

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only the schema is looked at")]
    struct SchemaInput {
        /// Number of things.
        count: u32,
        note: Option<String>,
    }

    fn tool(name: &str) -> Arc<dyn DynTool> {
        Arc::new(tool_fn(name, "A test.", |_: SchemaInput, _| async { Ok("ok") }))
    }

    #[test]
    fn unfit_inputs_are_reported_to_the_model() {
        let set = CheckedTools::from(ToolSet::new([tool("Read"), tool("Write")]).unwrap());
        let error = |name: &str, input: &str| {
            let input = JsonText::parse(input).unwrap();
            set.prepare(name, &input).err().map(|error| error.model_text().to_owned())
        };
        assert_eq!(error("Read", r#"{"count":1}"#), None);
        assert_eq!(error("Read", r#"{"count":1,"note":null}"#), None);
        assert!(error("read_file", r#"{"count":1}"#).unwrap().contains("Did you mean Read"));
        assert!(error("Zzz", "{}").unwrap().contains("Read, Write"));
        assert!(error("Read", "{}").unwrap().contains("count"));
        assert!(error("Read", r#"{"count":"x"}"#).unwrap().contains("/count"));
        assert!(error("Read", r#"{"count":1,"count":2}"#).unwrap().contains("twice"));
        assert!(error("Read", "[]").unwrap().contains("object"));
        assert!(error("Read", r#"{"count":-1}"#).is_some());
    }
}
