//! A tool that does nothing.

use windlass::{Access, Tool, ToolCx, ToolError, schemars};

/// Tool with nothing to do, so that only the cost of the harness is left.
pub struct Nothing;

/// Empty input.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct NoInput {}

impl Tool for Nothing {
    const NAME: &'static str = "nothing";
    const DESCRIPTION: &'static str = "Does nothing.";
    type Input = NoInput;
    type Output = String;

    fn access(&self, _: &NoInput) -> Access {
        Access::NOTHING
    }

    async fn call(&self, _: NoInput, _: &ToolCx) -> Result<String, ToolError> {
        Ok("ok".to_owned())
    }
}
