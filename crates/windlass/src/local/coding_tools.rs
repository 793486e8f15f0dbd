//! The tools of a coding agent.

use crate::toolkit::Toolkit;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_builtin_tools::search::{Glob, Grep};
use windlass_builtin_tools::{
    ApplyPatch, Bash, Edit, EnterPlanMode, ExitPlanMode, MultiEdit, NotebookEdit, Read, TaskCreate, TaskGet, TaskList,
    TaskStop, TaskUpdate, TodoWrite, Write,
};
use windlass_tool::DynTool;

/// The tools of a coding agent, for a workspace: Read, Write, Edit, MultiEdit, NotebookEdit, Glob, Grep, Bash, TaskStop
/// and TodoWrite; on Windows PowerShell; if somebody can be asked, also EnterPlanMode and ExitPlanMode. Models that
/// were trained on patches are offered `apply_patch` in place of Edit and MultiEdit;
/// [`profile`](crate::options::ModelOptions::profile) changes this.
///
/// Hosts that can show questions add [`AskUserQuestion`](crate::tool::built_in::AskUserQuestion). Needs the feature
/// `tools`.
pub fn coding_tools(workspace: impl Into<PathBuf>) -> Toolkit {
    let bash: Arc<dyn DynTool> = Arc::new(Bash::new());
    Toolkit {
        tools: vec![
            Arc::clone(&bash),
            Arc::new(Edit::default()),
            Arc::new(EnterPlanMode::default()),
            Arc::new(ExitPlanMode::default()),
            Arc::new(Glob::default()),
            Arc::new(Grep::default()),
            Arc::new(MultiEdit::default()),
            Arc::new(NotebookEdit::default()),
            #[cfg(windows)]
            Arc::new(windlass_builtin_tools::PowerShell::default()),
            Arc::new(Read::default()),
            Arc::new(TaskStop::default()),
            Arc::new(TodoWrite::default()),
            Arc::new(Write::default()),
        ],
        cwd: Some(workspace.into()),
        bash: Some(bash),
        named: Vec::new(),
        patch: Some(Arc::new(ApplyPatch::default())),
    }
}

impl Toolkit {
    /// Adds TaskCreate, TaskGet, TaskList and TaskUpdate: a list of tasks that may wait for each other, one call for
    /// each change. They share their list with TodoWrite, which replaces it as a whole and is usually [left
    /// out](Toolkit::without) beside them.
    ///
    /// ```
    /// use windlass::coding_tools;
    ///
    /// let tools = coding_tools(".").with_task_list().without(&["TodoWrite"]);
    /// assert!(tools.tools().iter().any(|tool| tool.spec().name == "TaskUpdate"));
    /// ```
    pub fn with_task_list(self) -> Self {
        self.with(TaskCreate::default()).with(TaskGet::default()).with(TaskList::default()).with(TaskUpdate::default())
    }
}
