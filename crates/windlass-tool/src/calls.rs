//! Port to calls of other tools, made by a running call.

use crate::BoxFuture;
use std::fmt::Debug;
use windlass_types::{JsonText, ToolOutcome};

/// Makes calls of other tools for a running call.
///
/// Each call passes the same gate as every call: its schema, hooks, rules and mode, a permission request if one is
/// needed, its intent in the log. Its result goes to the caller and not into the conversation. Only tools whose access
/// is [`Access::Calls`](windlass_types::Access::Calls) may use this port: calls of other tools would wait for each
/// other forever.
///
/// ```
/// # mod windlass { pub mod tool { pub use windlass_tool::*; } pub use windlass_types::*; pub use windlass_tool::*; }
/// use windlass::{JsonText, ToolCx, ToolError};
///
/// /// What a tool does that looks into several files, and hands on which of them mention a word.
/// async fn mention(word: &str, paths: &[&str], cx: &ToolCx) -> Result<Vec<String>, ToolError> {
///     let mut found = Vec::new();
///     for path in paths {
///         let input = JsonText::of(&std::collections::BTreeMap::from([("file_path", path)]))?;
///         let outcome = cx.calls()?.call("Read".to_owned(), input).await;
///         if !outcome.is_error && outcome.content.text().contains(word) {
///             found.push((*path).to_owned());
///         }
///     }
///     Ok(found)
/// }
/// ```
pub trait Calls: Debug + Send + Sync + 'static {
    /// Makes a call and waits for its end. A call that is denied, cannot be read, fails or is stopped has an outcome
    /// that says so.
    ///
    /// Calls that are awaited together run in parallel if they do not conflict. They begin when the future is created,
    /// and end with the call that made them: dropping the future does not stop one.
    fn call(&self, tool: String, input: JsonText) -> BoxFuture<'static, ToolOutcome>;
}

const _: fn(&dyn Calls) = |_| {};
