//! Tool that queries the index.

use crate::index::ProjectIndex;
use crate::search::Found;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use windlass_blocking::run_blocking;
use windlass_tool::{Annotations, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::clean_line;

/// Maximum and default number of files in a result.
const MAX_RESULTS: u32 = 50;
const DEFAULT_RESULTS: u32 = 15;
/// Maximum length of a search, in characters.
const MAX_QUERY_CHARS: usize = 500;
/// Time limit of a call.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Input of [`ProjectSearch`].
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProjectSearchInput {
    /// Words to search for, in names of files and folders and in names that sources define, such as `session log repair`. Without
    /// them: the languages, packages, commands and important files of the project.
    pub query: Option<String>,
    /// How many files the result names, at most 50. Default: 15.
    pub limit: Option<u32>,
}

/// Describes the project, and finds files by subject.
#[derive(Debug, Clone)]
pub struct ProjectSearch {
    index: Arc<ProjectIndex>,
}

impl ProjectSearch {
    /// The tool for an index.
    #[must_use]
    pub fn new(index: Arc<ProjectIndex>) -> Self {
        Self { index }
    }
}

impl Tool for ProjectSearch {
    const NAME: &'static str = "ProjectSearch";
    const DESCRIPTION: &'static str = "Finds files of the project by what they are about: ranks names of files, folders, \
        functions and types by the words of a query, and returns paths with lines. Without a query it returns an overview: \
        languages, packages and which of them use each other, commands for tests and builds, entry points. Use it to find \
        where to begin; to find an exact text or name, use Grep or Glob.";
    type Input = ProjectSearchInput;
    type Output = ToolOutput;

    fn access(&self, _: &ProjectSearchInput) -> Access {
        Access::reads(self.index.root())
    }

    fn title(&self, input: &ProjectSearchInput) -> Cow<'static, str> {
        match search_query(input) {
            Some(query) => format!("Search the project for {query}").into(),
            None => "Look at the project".into(),
        }
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output()
    }

    async fn call(&self, input: ProjectSearchInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        if !cx.workspace().is_local() {
            return Err(ToolError::rejected("The index needs the files to be on this machine. Use Bash instead."));
        }
        let query = search_query(&input);
        if query.as_ref().is_some_and(|query| query.chars().count() > MAX_QUERY_CHARS) {
            return Err(ToolError::invalid_input(format!("a query has at most {MAX_QUERY_CHARS} characters")));
        }
        let root = self.index.root();
        let forbidden = || ToolError::rejected(format!("{} may not be read.", root.display()));
        let permitted = cx.permit().readable(root).ok_or_else(forbidden)?;
        if permitted.resolved != root || !cx.permit().allows(root) {
            return Err(forbidden());
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let _on_drop = SetOnDrop(Arc::clone(&dropped));
        let (index, context, limit) =
            (Arc::clone(&self.index), cx.clone(), input.limit.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS));
        let deadline = cx.clock().now().after(TIME_LIMIT);
        let work = move || {
            let stop = || {
                dropped.load(Ordering::Relaxed) || context.cancel().is_cancelled() || context.clock().now() > deadline
            };
            let allows = |path: &str| context.permit().allows(&index.root().join(path));
            match query {
                Some(query) => index.search(&query, limit as usize, &stop).map(|mut found| {
                    found.hits.retain(|hit| allows(&hit.path));
                    files(&query, &found)
                }),
                None => index.overview(&stop).map(|overview| overview.readable(allows).to_string()),
            }
        };
        let result = run_blocking(work);
        let result =
            result.await.map_err(|reason| ToolError::rejected(format!("The index was not read: {reason}.")))?;
        match result {
            Ok(text) => Ok(ToolOutput::text(text)),
            Err(_) if cx.cancel().is_cancelled() => Err(ToolError::cancelled()),
            Err(_) => Err(ToolError::rejected("The index took too long. Use Grep or Glob in a smaller folder.")),
        }
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Words of a search, if there are any.
fn search_query(input: &ProjectSearchInput) -> Option<String> {
    input.query.as_deref().map(clean_line).map(|query| query.trim().to_owned()).filter(|query| !query.is_empty())
}

/// Found files, as text for the model.
fn files(query: &str, found: &Found) -> String {
    let mut text = found.to_string();
    if found.hits.is_empty() {
        text.push_str(&format!("No file fits `{query}`. Grep searches what files contain."));
    }
    if !found.is_complete {
        text.push_str(&format!("\n(The project is too large: {} files were searched.)", found.searched));
    }
    text
}
