//! The port to the host, which answers questions about calls.

use async_trait::async_trait;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use windlass_types::{PermissionAnswer, PermissionRequest};

/// Answers whether a call may run: for a person at a terminal, an editor, another program.
///
/// Receives only calls whose decision is *ask*. The answer applies to the exact call of the request.
///
/// Cancel safety: the future is dropped when the question is withdrawn (the run is stopped, a hook answered
/// first). An implementation takes its prompt down then.
///
/// ```
/// # mod windlass { pub use async_trait::async_trait; pub use windlass_types::*; pub mod permission { pub use windlass_permission::*; } }
/// use windlass::{PermissionAnswer, PermissionRequest, async_trait, permission::CanUseTool};
///
/// /// Says yes to files, and no to everything else.
/// struct OnlyFiles;
///
/// #[async_trait]
/// impl CanUseTool for OnlyFiles {
///     async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
///         match request.tool.as_str() {
///             "Write" | "Edit" => PermissionAnswer::allow(),
///             other => PermissionAnswer::deny(format!("{other} is not for today.")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait CanUseTool: Send + Sync + 'static {
    /// Answers one permission request. A panic is treated as a denial.
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer;
}

/// Keeps answers of the host for longer than the session, such as rules in the files of a project.
///
/// ```
/// # mod windlass {
/// #     pub use {async_trait::async_trait, windlass_types::*};
/// #     pub mod permission { pub use {windlass_permission::RememberAnswer, windlass_types::PermissionUpdate}; }
/// # }
/// use std::sync::Mutex;
/// use windlass::permission::{PermissionUpdate, RememberAnswer};
/// use windlass::{PermissionAnswer, PermissionRequest, async_trait};
///
/// /// Keeps the changes for the next session.
/// #[derive(Default)]
/// struct Kept(Mutex<Vec<PermissionUpdate>>);
///
/// #[async_trait]
/// impl RememberAnswer for Kept {
///     async fn remember(&self, _: &PermissionRequest, answer: &PermissionAnswer) {
///         if let (PermissionAnswer::Allow { updates, .. }, Ok(mut kept)) = (answer, self.0.lock()) {
///             kept.extend(updates.iter().cloned());
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait RememberAnswer: Send + Sync + 'static {
    /// Stores the lasting parts of an answer, before it takes effect. A panic is ignored; the result of storing never
    /// changes the answer.
    async fn remember(&self, request: &PermissionRequest, answer: &PermissionAnswer);
}

#[async_trait]
impl<T: CanUseTool + ?Sized> CanUseTool for Arc<T> {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        (**self).can_use_tool(request).await
    }
}

/// A closure as a [`CanUseTool`]. Made by [`can_use_tool_fn`].
#[derive(Clone)]
pub struct CanUseToolFn<F>(F);

impl<F> fmt::Debug for CanUseToolFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CanUseToolFn")
    }
}

/// Turns an async closure into a [`CanUseTool`].
///
/// ```
/// # mod windlass { pub use windlass_types::PermissionAnswer; pub mod permission { pub use windlass_permission::can_use_tool_fn; } }
/// use windlass::{PermissionAnswer, permission::can_use_tool_fn};
///
/// let careful = can_use_tool_fn(|request| async move {
///     match request.tool.as_str() {
///         "Bash" => PermissionAnswer::deny("no commands today"),
///         _ => PermissionAnswer::allow(),
///     }
/// });
/// # let _ = careful;
/// ```
pub fn can_use_tool_fn<F, A>(answer: F) -> CanUseToolFn<F>
where
    F: Fn(PermissionRequest) -> A + Send + Sync + 'static,
    A: Future<Output = PermissionAnswer> + Send + 'static,
{
    CanUseToolFn(answer)
}

#[async_trait]
impl<F, A> CanUseTool for CanUseToolFn<F>
where
    F: Fn(PermissionRequest) -> A + Send + Sync + 'static,
    A: Future<Output = PermissionAnswer> + Send + 'static,
{
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        (self.0)(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use windlass_types::{Behavior, CallDigest, Decision, DecisionReason, JsonText, ToolUse, ToolUseId};

    #[test]
    fn a_closure_answers_behind_a_shared_object() {
        let asked: Arc<dyn CanUseTool> = Arc::new(can_use_tool_fn(|request| async move {
            if request.tool == "Bash" { PermissionAnswer::deny("no") } else { PermissionAnswer::allow() }
        }));
        for (tool, expected) in [("Bash", PermissionAnswer::deny("no")), ("Read", PermissionAnswer::allow())] {
            let call = ToolUse::new(ToolUseId::new("t"), tool, JsonText::empty_object());
            let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "");
            let request = PermissionRequest::new(call, String::new(), decision, CallDigest::new("0"));
            let mut answer = pin!(asked.can_use_tool(request));
            assert_eq!(answer.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(expected));
        }
    }
}
