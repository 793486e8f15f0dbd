//! Answers that hold longer than a session.

use super::note_to_stderr;
use async_trait::async_trait;
use std::sync::Arc;
use windlass::crates::project::{KeepUpdates, destination};
use windlass::crates::types::UpdateDestination;
use windlass::{CanUseTool, PermissionAnswer, PermissionRequest, PermissionUpdate};

/// Asks somebody, and keeps the changes that come with an answer in the files that they name. What cannot be kept
/// is said and holds for the session.
pub(super) struct Remembering<C> {
    asked: C,
    files: Arc<dyn KeepUpdates>,
}

impl<C> Remembering<C> {
    pub(super) fn new(asked: C, files: Arc<dyn KeepUpdates>) -> Self {
        Self { asked, files }
    }

    async fn keep(&self, updates: Vec<PermissionUpdate>) {
        let files = Arc::clone(&self.files);
        let kept = tokio::task::spawn_blocking(move || {
            updates.iter().filter_map(|update| files.keep(update).err()).map(|error| error.to_string()).collect()
        });
        let problems: Vec<String> = kept.await.unwrap_or_else(|error| vec![error.to_string()]);
        for problem in problems {
            note_to_stderr(&format!("a permission update holds for this session only: {problem}"));
        }
    }
}

#[async_trait]
impl<C: CanUseTool> CanUseTool for Remembering<C> {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let is_protected = request.decision.protected;
        let answer = self.asked.can_use_tool(request).await;
        if let PermissionAnswer::Allow { updates, .. } = &answer {
            let lasting: Vec<_> = updates.iter().filter(|update| lasts(update)).cloned().collect();
            if is_protected && !lasting.is_empty() {
                // An answer to such a question is for that call alone.
                note_to_stderr("a permission update is not written to a file: the call needs an answer every time");
            } else if !lasting.is_empty() {
                self.keep(lasting).await;
            }
        }
        answer
    }
}

/// Whether a change is meant for a file.
fn lasts(update: &PermissionUpdate) -> bool {
    !matches!(destination(update), None | Some(UpdateDestination::Session | UpdateDestination::CliArg))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};
    use windlass::crates::project::KeepError;
    use windlass::crates::types::{CallDigest, RuleValue, ToolUse};
    use windlass::{Behavior, Decision, DecisionReason, JsonText, can_use_tool_fn};

    #[derive(Default)]
    struct Files(Mutex<Vec<PermissionUpdate>>);

    impl KeepUpdates for Files {
        fn keep(&self, update: &PermissionUpdate) -> Result<Option<PathBuf>, KeepError> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(update.clone());
            Err(KeepError::Bypass)
        }
    }

    fn update(destination: UpdateDestination) -> PermissionUpdate {
        PermissionUpdate::AddRules { rules: vec![RuleValue::tool("Write")], behavior: Behavior::Allow, destination }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn only_changes_for_files_of_questions_that_can_be_settled_are_kept() {
        use UpdateDestination::{CliArg, LocalSettings, ProjectSettings, Session, UserSettings};
        let all = [LocalSettings, Session, ProjectSettings, CliArg, UserSettings].map(update);
        for (reason, kept) in [(DecisionReason::Default, 3), (DecisionReason::Protected, 0)] {
            let answer = PermissionAnswer::Allow { updated_input: None, updates: all.to_vec() };
            let said = answer.clone();
            let files = Arc::new(Files::default());
            let asked = can_use_tool_fn(move |_| std::future::ready(said.clone()));
            let remembering = Remembering::new(asked, Arc::clone(&files) as Arc<dyn KeepUpdates>);
            let decision = Decision::new(Behavior::Ask, reason, "why");
            let call = ToolUse::new("toolu_1", "Write", JsonText::empty_object());
            let request = PermissionRequest::new(call, String::new(), decision, CallDigest::new("0"));
            // Whatever becomes of the files, the answer is the host's.
            assert_eq!(remembering.can_use_tool(request).await, answer);
            assert_eq!(files.0.lock().unwrap().len(), kept, "{reason:?}");
        }
    }
}
