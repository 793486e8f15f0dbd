//! ToolSearch: the tool with which a model loads tools whose definitions are withheld.

use std::sync::Arc;
use windlass_tool::{Annotations, BoxFuture, DynTool, PreparedCall, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, JsonText, ToolLoading, ToolSpec};

/// Schema of the input: a query, and the maximum number of tools to load.
const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"\"select:\" and names with commas between them, or words for what the tool should do"},"max_results":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools words may load. Default: 5"}},"required":["query"],"additionalProperties":false}"#;

/// The tool with which a model loads tools whose definitions are withheld from it because they are large.
///
/// The tool touches nothing. The session answers its calls by itself, since only the session knows which tools its
/// model can load; requests list this tool when another one is withheld. Outside of a session a call of it is refused.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ToolSearch;

impl ToolSearch {
    /// Name of the tool.
    pub const NAME: &'static str = "ToolSearch";
}

impl DynTool for ToolSearch {
    fn spec(&self) -> ToolSpec {
        let description = "Loads tools whose definitions were left out of your list of tools. With the query \
                           \"select:name,other_name\" the tools of these names, with other words the tools that fit \
                           them best. A tool that was loaded is in your list from the next message on; call it then.";
        let schema = JsonText::parse(SCHEMA).unwrap_or_else(|_| JsonText::empty_object());
        let mut spec = ToolSpec::new(Self::NAME, description, schema);
        spec.loading = ToolLoading::Always;
        spec
    }

    fn annotations(&self) -> Annotations {
        Annotations::default()
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, _: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(ToolSearchCall))
    }
}

/// A call whose input was read.
struct ToolSearchCall;

impl PreparedCall for ToolSearchCall {
    fn access(&self) -> Access {
        Access::NOTHING
    }

    fn title(&self) -> String {
        "Search for tools".to_owned()
    }

    fn call(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async { Err(ToolError::rejected("There are no tools to search for here.")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_schema_is_that_of_an_object_and_requires_a_query() {
        let spec = ToolSearch.spec();
        let schema: std::collections::BTreeMap<String, JsonText> = spec.input_schema.to().unwrap();
        assert_eq!(schema["required"].as_str(), r#"["query"]"#);
        assert!(!spec.may_be_withheld());
    }
}
