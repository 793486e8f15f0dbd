//! Conformance of hosts that answer permission requests: checks of the promises of [`CanUseTool`].
//!
//! ```
//! use windlass_permission::can_use_tool_fn;
//! use windlass_testkit::can_use_tool::{self, question};
//! use windlass_types::PermissionAnswer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), windlass_testkit::Violation> {
//! let host = can_use_tool_fn(|request| async move {
//!     match request.tool.as_str() {
//!         "Bash" => PermissionAnswer::deny("no commands today"),
//!         _ => PermissionAnswer::allow(),
//!     }
//! });
//! can_use_tool::all(&host, &[question("Bash"), question("Write")]).await
//! # }
//! ```

use futures_util::FutureExt;
use windlass_permission::CanUseTool;
use windlass_types::{
    Behavior, CallDigest, Decision, DecisionReason, JsonText, PermissionAnswer, PermissionRequest, ToolUse, ToolUseId,
};

use crate::Violation;
use crate::violation::{ensure, within};

/// Returns a permission request for a call of a tool with an empty input.
pub fn question(tool: &str) -> PermissionRequest {
    question_about(tool, JsonText::empty_object())
}

/// Returns a permission request for a call of a tool with this input.
pub fn question_about(tool: &str, input: JsonText) -> PermissionRequest {
    let call = ToolUse::new(ToolUseId::new(format!("toolu_{tool}")), tool, input);
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, format!("{tool} asks for permission"));
    PermissionRequest::new(call, tool.to_owned(), decision, CallDigest::new("00"))
}

/// Checks every promise of this module in turn, with these permission requests.
///
/// # Errors
/// The first broken promise.
pub async fn all(host: &dyn CanUseTool, questions: &[PermissionRequest]) -> Result<(), Violation> {
    for question in questions {
        answers(host, question).await?;
        survives_withdrawal(host, question).await?;
    }
    answers_side_by_side(host, questions).await
}

/// Checks that a permission request gets a usable answer: a denial has a message for the model, and an updated input is
/// an object in strict JSON.
///
/// # Errors
/// No answer in time, a panic, or an answer that cannot be used.
pub async fn answers(host: &dyn CanUseTool, question: &PermissionRequest) -> Result<PermissionAnswer, Violation> {
    let what = format!("ask about {}", question.tool);
    let answer = within(&what, host.can_use_tool(question.clone())).await?;
    match &answer {
        PermissionAnswer::Deny { message, .. } => {
            ensure(!message.trim().is_empty(), || format!("{what}: a denial without a word for the model"))?;
        }
        PermissionAnswer::Allow { updated_input: Some(input), .. } => {
            let usable = input.is_object() && input.check_strict().is_ok();
            ensure(usable, || format!("{what}: the input to run instead is no usable object: {input:?}"))?;
        }
        _ => {}
    }
    Ok(answer)
}

/// Checks that a host answers the next permission request after one was withdrawn.
///
/// # Errors
/// The next permission request is not answered.
pub async fn survives_withdrawal(host: &dyn CanUseTool, question: &PermissionRequest) -> Result<(), Violation> {
    for _ in 0..3 {
        // Polled once, then dropped.
        drop(host.can_use_tool(question.clone()).now_or_never());
    }
    answers(host, question).await.map_err(|found| Violation::new(format!("after questions taken back: {found}")))?;
    Ok(())
}

/// Checks that permission requests that are open at the same time are all answered.
///
/// # Errors
/// A permission request is not answered.
pub async fn answers_side_by_side(host: &dyn CanUseTool, questions: &[PermissionRequest]) -> Result<(), Violation> {
    let asked = questions.iter().chain(questions).map(|question| answers(host, question));
    futures_util::future::try_join_all(asked).await.map(drop)
}
