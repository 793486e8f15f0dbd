//! EnterPlanMode and ExitPlanMode: the model asks the user to change to plan mode, and out of it.
//!
//! Both are permission requests: the host must answer each call. The runtime changes the mode when the answer is yes;
//! these tools only report that to the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use windlass_tool::{Annotations, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;

/// Input of [`EnterPlanMode`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct EnterPlanModeInput {}

/// Asks the user for plan mode: read and plan first, change nothing.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct EnterPlanMode;

impl Tool for EnterPlanMode {
    const NAME: &'static str = "EnterPlanMode";
    const DESCRIPTION: &'static str = "Asks the user to switch to plan mode, in which nothing can be changed. Use it \
        before work that can be done in several ways, touches many files, or that the user should agree to first. In \
        plan mode: read what you need, write a plan, and call ExitPlanMode with it.";
    type Input = EnterPlanModeInput;
    type Output = ToolOutput;

    fn access(&self, _: &EnterPlanModeInput) -> Access {
        Access::NOTHING
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().requiring_user_interaction()
    }

    fn title(&self, _: &EnterPlanModeInput) -> Cow<'static, str> {
        "Switch to plan mode".into()
    }

    async fn call(&self, _: EnterPlanModeInput, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let text = "The user agreed: plan mode is on. Only read from now on; when the plan is ready, call \
                    ExitPlanMode with it.";
        ToolOutput::text(text).with_structured(&json!({ "message": "Entered plan mode." }))
    }
}

/// Input of [`ExitPlanMode`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ExitPlanModeInput {
    /// The plan that the user is to approve, in Markdown: what will be changed, where, in which order, and how it
    /// will be checked.
    pub plan: String,
}

impl ExitPlanModeInput {
    /// A plan to approve.
    pub fn new(plan: impl Into<String>) -> Self {
        Self { plan: plan.into() }
    }
}

/// Shows the user a plan; if it is approved, plan mode ends.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ExitPlanMode;

impl Tool for ExitPlanMode {
    const NAME: &'static str = "ExitPlanMode";
    const DESCRIPTION: &'static str = "Shows the user your plan. If the user approves it, plan mode ends and you carry \
        it out; if not, go on planning with what the user says. Call it when the plan is complete and nothing is left \
        to ask. Do not use it for mere research that changes nothing.";
    type Input = ExitPlanModeInput;
    type Output = ToolOutput;

    fn access(&self, _: &ExitPlanModeInput) -> Access {
        Access::NOTHING
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().requiring_user_interaction()
    }

    fn title(&self, _: &ExitPlanModeInput) -> Cow<'static, str> {
        "Carry out the plan".into()
    }

    async fn call(&self, input: ExitPlanModeInput, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        // A host may have changed the plan before it agreed, so the input is the approved plan.
        let text = format!("The user approved this plan. Plan mode is off; carry it out.\n\n{}", input.plan);
        ToolOutput::text(text).with_structured(&json!({ "plan": input.plan, "isAgent": false }))
    }
}
