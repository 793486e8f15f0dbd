//! Tool of a server as a tool of windlass.

use crate::connection::CallCx;
use crate::schema::{Renamed, restore};
use crate::server::PooledServer;
use crate::tools::RemoteTool;
use crate::{McpError, McpToolPolicy};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use windlass_schema::InputSchema;
use windlass_tool::{Annotations, BoxFuture, DynTool, PreparedCall, ToolCheck, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, ContentBlock, JsonText, ToolLoading, ToolResultContent, ToolSpec};

/// Maximum length of the description of a fault in a structured result, in characters.
const MAX_PROBLEM_CHARS: usize = 500;

/// Tool of a server.
pub(crate) struct McpTool {
    name: String,
    tool: RemoteTool,
    server: Arc<PooledServer>,
    /// `true` if the server had not been started when the tool was offered.
    of_idle: bool,
}

impl McpTool {
    pub(crate) fn new(name: String, tool: RemoteTool, server: Arc<PooledServer>) -> Self {
        let of_idle = server.is_idle();
        Self { name, tool, server, of_idle }
    }
}

impl DynTool for McpTool {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec::new(self.name.clone(), self.tool.info.description.clone(), self.tool.schema.clone());
        let config = &self.server.config;
        if config.always_load {
            spec.loading = ToolLoading::Always;
        } else if config.lazy {
            spec.loading = ToolLoading::OnDemand;
        }
        spec
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn annotations(&self) -> Annotations {
        // Hints of a server on its tools are not trusted, but the host may decide the order of its own calls.
        let hints = self.tool.info.annotations;
        let config = &self.server.config;
        let hinted = config.is_in_process() && hints.read_only && !hints.destructive;
        let hinted = hinted || config.is_parallel(&self.tool.info.name);
        // The host answers for servers inside it.
        let bounded = !config.is_in_process();
        Annotations::default().with_foreign_output().with_bounded_output(bounded).with_hinted_read_only(hinted)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(McpCall { input: input.clone(), tool: self }))
    }
}

/// Restores the property names that the server knows.
fn with_own_names(input: &JsonText, renamed: &Renamed) -> JsonText {
    if renamed.is_empty() {
        return input.clone();
    }
    let given: Map<String, Value> = input.to().unwrap_or_default();
    JsonText::of(&restore(given, renamed)).unwrap_or_else(|_| input.clone())
}

/// Removes a structured result that does not fit the output schema of the tool, and adds a note with the reason for the
/// model.
fn checked(mut output: ToolOutput, schema: Option<&JsonText>) -> ToolOutput {
    let structured = output.structured.as_ref().filter(|structured| structured.as_str().starts_with('{'));
    let (Some(schema), Some(structured), false) = (schema, structured, output.is_error) else { return output };
    let Err(problem) = InputSchema::new(schema.clone()).check(structured) else { return output };
    let problem: String = problem.chars().take(MAX_PROBLEM_CHARS).collect();
    let note = ContentBlock::text(format!("[The structured result does not fit the schema of the tool: {problem}]"));
    output.structured = None;
    output.content = match output.content {
        ToolResultContent::Text(text) => ToolResultContent::Blocks(vec![ContentBlock::text(text), note]),
        ToolResultContent::Blocks(blocks) => ToolResultContent::Blocks(blocks.into_iter().chain([note]).collect()),
    };
    output
}

/// Converts the error of a failed call for the model. An error in the words of the server becomes a tool result,
/// bounded like any other.
fn of_call(error: McpError) -> Result<ToolOutput, ToolError> {
    let is_of_server = matches!(error, McpError::Refused { .. } | McpError::VisitNeeded { .. });
    match error {
        McpError::Stopped => Err(ToolError::cancelled()),
        error if is_of_server => Ok(ToolOutput::text(error.without_output().to_string()).failed()),
        error => Err(ToolError::rejected(error.without_output().to_string())),
    }
}

struct McpCall {
    tool: Arc<McpTool>,
    input: JsonText,
}

impl PreparedCall for McpCall {
    fn access(&self) -> Access {
        Access::Unknown
    }

    fn check(&self) -> ToolCheck {
        match self.tool.server.config.policies.get(&self.tool.tool.info.name) {
            None => ToolCheck::Undecided,
            Some(McpToolPolicy::Ask) => ToolCheck::Ask("the server is configured to ask for this tool".to_owned()),
            Some(McpToolPolicy::Deny) => ToolCheck::Deny("the server is configured to refuse this tool".to_owned()),
        }
    }

    fn title(&self) -> String {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        format!("{} ({})", shown(&self.tool.tool.info.name), shown(&self.tool.server.name))
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let report = |text: String| cx.progress(text);
            let call = CallCx {
                tool_use_id: Some(cx.tool_use_id().as_str()),
                cancel: cx.cancel().clone(),
                progress: &report,
                timeout: None,
            };
            if self.tool.of_idle
                && let Err(error) = self.tool.server.wake(&self.tool.tool, cx.cancel()).await
            {
                return of_call(error);
            }
            let RemoteTool { info, renamed, output, .. } = &self.tool.tool;
            let input = with_own_names(&self.input, renamed);
            match self.tool.server.call(&info.name, &input, call).await {
                Ok(result) => Ok(checked(result, output.as_ref())),
                Err(error) => of_call(error),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_results_fit_the_schema_or_are_left_out() {
        let schema =
            JsonText::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#).unwrap();
        let result = |structured: &str| {
            let value: Value = serde_json::from_str(structured).unwrap();
            ToolOutput::text("words").with_structured(&value).unwrap()
        };
        for (structured, is_kept) in [(r#"{"n":1}"#, true), (r#"{"n":"1"}"#, false), ("{}", false), ("[1]", true)] {
            let output = checked(result(structured), Some(&schema));
            assert_eq!(output.structured.is_some(), is_kept, "{structured}");
            let noted = matches!(&output.content, ToolResultContent::Blocks(blocks) if blocks.len() == 2);
            assert_eq!(noted, !is_kept, "{structured}");
        }
        assert!(checked(result("{}"), None).structured.is_some());
        assert!(checked(result("{}").failed(), Some(&schema)).structured.is_some());
    }
}
