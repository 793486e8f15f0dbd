//! The index of a session.

use super::state::Configuration;
use crate::project::{ProjectError, SessionIndex};
use std::sync::Arc;
use windlass_index::ProjectSearch;

/// Search tools. A session without them does not get the index tool, so it is not offered more than the program gave
/// it.
const SEARCHES: [&str; 2] = ["Glob", "Grep"];

/// Adds the index and its tool to a session with local files.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, .. } = configuration;
    if !project.has_index() || options.surroundings.files.workspace.is_some() {
        return Ok(());
    }
    let index = SessionIndex::new(project, options.storage.home.as_ref());
    let searches = options.tools.toolkit.tools().iter().any(|tool| SEARCHES.contains(&&*tool.name()));
    if searches && !project.choice.without.index_tool {
        options.tools.toolkit.add_missing(Arc::new(ProjectSearch::new(Arc::clone(&index.index))));
    }
    options.project.index = Some(index);
    Ok(())
}
