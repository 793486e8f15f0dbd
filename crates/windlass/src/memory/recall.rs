//! Recall of notes that fit a prompt, among those that do not fit into the index.

use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::{Hook, HookContext, HookError, Interest};
use windlass_project::{MemoryEntry, MemoryName, ShownMemory};
use windlass_types::HookEventName;
use windlass_types::hook::action::PromptAction;
use windlass_types::hook::event::UserPromptSubmit;

/// Maximum number of notes added to a prompt.
const MOST: usize = 8;
/// Time limit of the program's ranking.
const LONGEST: Duration = Duration::from_secs(10);

/// Finds the notes that fit a prompt.
///
/// ```
/// use windlass::memory::{MemoryEntry, MemoryName, RankMemories};
/// use windlass::{HookError, async_trait};
///
/// /// The notes whose name the prompt has.
/// #[derive(Debug)]
/// struct ByName;
///
/// #[async_trait]
/// impl RankMemories for ByName {
///     async fn rank(&self, prompt: &str, notes: &[MemoryEntry]) -> Result<Vec<MemoryName>, HookError> {
///         Ok(notes.iter().map(|note| note.name.clone()).filter(|name| prompt.contains(name.as_str())).collect())
///     }
/// }
/// ```
#[async_trait]
pub trait RankMemories: Debug + Send + Sync + 'static {
    /// Returns the names of the notes that fit a prompt of the user, the best first; only the first 8 are used. Dropped
    /// after 10 seconds. Then, and after an error, the words that notes and prompt have in common decide.
    ///
    /// The notes could not be ranked.
    async fn rank(&self, prompt: &str, notes: &[MemoryEntry]) -> Result<Vec<MemoryName>, HookError>;
}

/// Hook that adds the fitting notes to each prompt.
pub(crate) struct Recall {
    shown: ShownMemory,
    ranking: Option<Arc<dyn RankMemories>>,
}

impl Recall {
    pub(crate) fn new(shown: ShownMemory, ranking: Option<Arc<dyn RankMemories>>) -> Self {
        Self { shown, ranking }
    }

    /// Ranking of the program, if it is done in time.
    async fn ranked(&self, prompt: &str) -> Option<Vec<&MemoryEntry>> {
        let ranked = self.ranking.as_ref()?.rank(prompt, &self.shown.hidden);
        let names = match tokio::time::timeout(LONGEST, ranked).await {
            Ok(Ok(names)) => names,
            Ok(Err(error)) => {
                tracing::warn!(error = %error, "memories are not ranked");
                return None;
            }
            Err(_) => {
                tracing::warn!("memories are not ranked in time");
                return None;
            }
        };
        let of_name = |name: &MemoryName| self.shown.hidden.iter().find(|entry| entry.name == *name);
        Some(names.iter().filter_map(of_name).take(MOST).collect())
    }
}

#[async_trait]
impl Hook for Recall {
    fn name(&self) -> &str {
        "memory"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::UserPromptSubmit)]
    }

    async fn user_prompt_submit(&self, _: &HookContext, event: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        let found = self.ranked(&event.prompt).await.unwrap_or_else(|| self.shown.fitting(&event.prompt, MOST));
        Ok(match ShownMemory::recalled(&found) {
            Some(text) => PromptAction::AddContext(text),
            None => PromptAction::Continue,
        })
    }
}
