#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use super::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use windlass_project::KeepError;
use windlass_types::{Behavior, CallDigest, Decision, DecisionReason, JsonText, PermissionRequest, RuleValue, ToolUse};

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
        let files = Arc::new(Files::default());
        let reported = Arc::new(Mutex::new(Vec::new()));
        let report = {
            let reported = Arc::clone(&reported);
            move |text| reported.lock().unwrap_or_else(PoisonError::into_inner).push(text)
        };
        let kept_in = InFiles { files: Arc::clone(&files) as Arc<dyn KeepUpdates>, report };
        let decision = Decision::new(Behavior::Ask, reason, "why");
        let call = ToolUse::new("toolu_1", "Write", JsonText::empty_object());
        let request = PermissionRequest::new(call, String::new(), decision, CallDigest::new("0"));
        kept_in.remember(&request, &answer).await;
        assert_eq!(files.0.lock().unwrap().len(), kept, "{reason:?}");
        // Each update that was not stored is reported, or that none is.
        let reported = reported.lock().unwrap();
        assert_eq!(reported.len(), kept.max(1), "{reported:?}");
        assert!(reported.iter().all(|text: &String| text.contains("a permission update")), "{reported:?}");
    }
}
