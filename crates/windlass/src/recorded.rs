//! Environment of a recorded or replayed session.

use serde::{Deserialize, Serialize};
use std::path::Path;
use windlass_context::{Environment, RepositoryStatus};
use windlass_model::{ModelProvider, SessionFact};
use windlass_types::{JsonText, Timestamp};

/// A repository in the format of recordings.
#[derive(Serialize, Deserialize)]
struct Repository {
    branch: Option<String>,
    changes: Option<Vec<String>>,
}

/// Environment for the model: the recorded one, if the provider replays a recording. A recorded session keeps its date.
pub(crate) fn environment(
    mut environment: Environment,
    provider: &dyn ModelProvider,
    (directory, now): (&Path, Timestamp),
) -> Environment {
    let today = environment.now(directory, now, false).date;
    environment.date = provider.recorded_fact(SessionFact::Date, &today);
    if let Some(platform) = provider.recorded_fact(SessionFact::Platform, &environment.platform) {
        environment.platform = platform;
    }
    let current = environment.repository.as_ref();
    let current = current.map(|status| Repository { branch: status.branch.clone(), changes: status.changes.clone() });
    let Ok(current) = JsonText::of(&current) else { return environment };
    let recorded = provider.recorded_fact(SessionFact::Repository, current.as_str());
    let recorded = recorded.and_then(|recorded| JsonText::parse(recorded).ok()?.to::<Option<Repository>>().ok());
    if let Some(recorded) = recorded {
        environment.repository = recorded.map(|recorded| {
            let mut status = RepositoryStatus::new(recorded.branch);
            status.changes = recorded.changes;
            status
        });
    }
    environment
}
