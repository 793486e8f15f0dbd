//! Sets of tools.

use crate::{DynTool, ToolError};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use windlass_types::near::nearest;
use windlass_types::{JsonText, ToolSpec};

/// The tools of a session, by name. Cheap to clone; immutable.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Arc<BTreeMap<String, Member>>,
    specs: Arc<[Arc<ToolSpec>]>,
}

struct Member {
    tool: Arc<dyn DynTool>,
    spec: Arc<ToolSpec>,
}

/// Reason why a set of tools cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// Two tools have one name.
    #[error("two tools are named {name:?}: rename or leave out one of them")]
    NameClash {
        /// Name of the tools.
        name: String,
    },
    /// A name that models do not accept.
    #[error("the tool name {name:?} is not valid: use 1 to 64 letters, digits, `_` and `-`")]
    InvalidName {
        /// Name of the tool.
        name: String,
    },
    /// A schema that is not an object schema.
    #[error(
        "the input schema of the tool {name:?} does not describe an object: make the input a struct with a field for each value"
    )]
    InvalidSchema {
        /// Name of the tool.
        name: String,
    },
}

/// `true` if inputs of this schema may be objects: models give no others.
fn describes_object(schema: &JsonText) -> bool {
    #[derive(serde::Deserialize)]
    struct Top {
        #[serde(rename = "type")]
        kind: Option<JsonText>,
    }
    let is_object = |kind: JsonText| kind.to::<String>().is_ok_and(|kind| kind == "object");
    schema.is_object() && schema.to::<Top>().is_ok_and(|top| top.kind.is_none_or(is_object))
}

impl ToolSet {
    /// Returns a set of tools. Those that are not enabled are left out.
    ///
    /// The tools are offered to the model sorted by name, whatever the order here, so that the cached prefix does not
    /// depend on it.
    ///
    /// # Errors
    /// Two tools with the same name, or a name or schema that models do not accept.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Result<Self, ToolSetError> {
        let mut members = BTreeMap::new();
        for tool in tools {
            if !tool.is_enabled() {
                continue;
            }
            let spec = tool.spec();
            let name = spec.name.clone();
            if !is_valid_name(&name) {
                return Err(ToolSetError::InvalidName { name });
            }
            if !describes_object(&spec.input_schema) {
                return Err(ToolSetError::InvalidSchema { name });
            }
            let member = Member { tool, spec: Arc::new(spec) };
            if members.insert(name.clone(), member).is_some() {
                return Err(ToolSetError::NameClash { name });
            }
        }
        let specs = members.values().map(|member| Arc::clone(&member.spec)).collect();
        Ok(Self { tools: Arc::new(members), specs })
    }

    /// Returns the specs that are offered to the model, in stable order.
    pub fn specs(&self) -> Arc<[Arc<ToolSpec>]> {
        Arc::clone(&self.specs)
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Returns a tool by its exact name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn DynTool>> {
        self.tools.get(name).map(|member| &member.tool)
    }

    /// Returns the error that a name is not that of a tool in this set, in words for the model: with similar names.
    pub fn unknown(&self, name: &str) -> ToolError {
        ToolError::rejected(self.unknown_tool(name))
    }

    fn unknown_tool(&self, name: &str) -> String {
        let similar = nearest(name, self.names());
        let shown: String = name.chars().take(80).collect();
        if similar.is_empty() {
            let names: Vec<&str> = self.names().take(40).collect();
            format!("There is no tool named {shown:?}. The tools are: {}.", names.join(", "))
        } else {
            format!("There is no tool named {shown:?}. Did you mean {}?", similar.join(" or "))
        }
    }
}

fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_fn;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only the schema is looked at")]
    struct Input {
        /// Number of things.
        count: u32,
        note: Option<String>,
    }

    fn tool(name: &str) -> Arc<dyn DynTool> {
        Arc::new(tool_fn(name, "A test.", |_: Input, _| async { Ok("ok") }))
    }

    #[test]
    fn names_must_be_valid_and_unique() {
        assert!(matches!(ToolSet::new([tool("a"), tool("a")]), Err(ToolSetError::NameClash { .. })));
        for bad in ["", "a b", "é", &"x".repeat(65)] {
            assert!(matches!(ToolSet::new([tool(bad)]), Err(ToolSetError::InvalidName { .. })), "{bad}");
        }
        let set = ToolSet::new([tool("b"), tool("a")]).unwrap();
        assert_eq!(set.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(set.specs()[0].name, "a");
    }

    #[test]
    fn near_names_are_suggested() {
        let set = ToolSet::new([tool("Read"), tool("Write")]).unwrap();
        assert!(set.unknown("read_file").model_text().contains("Did you mean Read"));
        assert!(set.unknown("Zzz").model_text().contains("Read, Write"));
    }
}
