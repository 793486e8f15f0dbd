//! Tools with their working directory.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "tools")]
use windlass_builtin_tools::search::{Glob, Grep};
#[cfg(feature = "tools")]
use windlass_builtin_tools::{
    ApplyPatch, Bash, Edit, EnterPlanMode, ExitPlanMode, MultiEdit, NotebookEdit, Read, TaskCreate, TaskGet, TaskList,
    TaskStop, TaskUpdate, TodoWrite, Write,
};
use windlass_tool::DynTool;

/// Tools with their working directory.
#[derive(Clone, Default)]
#[must_use]
pub struct Toolkit {
    pub(crate) tools: Vec<Arc<dyn DynTool>>,
    pub(crate) cwd: Option<PathBuf>,
    /// Bash tool of [`coding_tools`], which variables of a project configure.
    pub(crate) bash: Option<Arc<dyn DynTool>>,
    /// Names that were chosen, if any.
    pub(crate) named: Vec<String>,
    /// Tool that changes files for models that were trained on patches, in place of Edit and MultiEdit.
    pub(crate) patch: Option<Arc<dyn DynTool>>,
}

/// The tools of a coding agent, for a workspace: Read, Write, Edit, MultiEdit, NotebookEdit, Glob, Grep, Bash, TaskStop
/// and TodoWrite; on Windows PowerShell; if somebody can be asked, also EnterPlanMode and ExitPlanMode. Models that
/// were trained on patches are offered `apply_patch` in place of Edit and MultiEdit;
/// [`profile`](crate::options::ModelOptions::profile) changes this.
///
/// Hosts that can show questions add [`AskUserQuestion`](crate::tool::built_in::AskUserQuestion). Needs the feature
/// `tools`.
#[cfg(feature = "tools")]
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
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    pub fn with(mut self, tool: impl DynTool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds TaskCreate, TaskGet, TaskList and TaskUpdate: a list of tasks that may wait for each other, one call for
    /// each change. They share their list with TodoWrite, which replaces it as a whole and is usually [left
    /// out](Toolkit::without) beside them.
    ///
    /// ```
    /// # #[cfg(feature = "tools")] {
    /// use windlass::coding_tools;
    ///
    /// let tools = coding_tools(".").with_task_list().without(&["TodoWrite"]);
    /// assert!(tools.tools().iter().any(|tool| tool.spec().name == "TaskUpdate"));
    /// # }
    /// ```
    #[cfg(feature = "tools")]
    pub fn with_task_list(self) -> Self {
        self.with(TaskCreate::default()).with(TaskGet::default()).with(TaskList::default()).with(TaskUpdate::default())
    }

    /// Adds the tools of another kit, whose directory and Bash tool take precedence.
    pub(crate) fn join(&mut self, other: Self) {
        self.tools.extend(other.tools);
        self.cwd = other.cwd.or(self.cwd.take());
        self.bash = other.bash.or(self.bash.take());
        self.named.extend(other.named);
        self.patch = other.patch.or(self.patch.take());
    }

    /// Replaces the tool of the same name. Without one nothing changes.
    pub fn replacing(self, tool: impl DynTool) -> Self {
        let tool: Arc<dyn DynTool> = Arc::new(tool);
        self.replacing_shared(&tool)
    }

    /// Like [`replacing`](Self::replacing), with a shared tool.
    pub fn replacing_shared(mut self, tool: &Arc<dyn DynTool>) -> Self {
        let name = tool.name().into_owned();
        for known in self.tools.iter_mut().filter(|known| known.name() == name) {
            *known = Arc::clone(tool);
        }
        self
    }

    /// Replaces the Bash tool of [`coding_tools`], if that is still included.
    #[cfg(feature = "project")]
    pub(crate) fn replace_own_bash(&mut self, bash: Arc<dyn DynTool>) {
        let Some(own) = &self.bash else { return };
        for known in self.tools.iter_mut().filter(|known| Arc::ptr_eq(known, own)) {
            *known = Arc::clone(&bash);
        }
        self.bash = Some(bash);
    }

    /// Adds a tool of the project or of a language server, unless the program has one of its name.
    #[cfg(any(feature = "lsp", feature = "project"))]
    pub(crate) fn add_missing(&mut self, tool: Arc<dyn DynTool>) {
        let name = tool.name().into_owned();
        if !self.tools.iter().any(|known| known.name() == name) {
            self.tools.push(tool);
        }
    }

    /// Tools of the kit.
    pub fn tools(&self) -> &[Arc<dyn DynTool>] {
        &self.tools
    }

    /// Leaves out tools by name.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.tools.retain(|tool| !names.contains(&&*tool.name()));
        self.patch = self.patch.filter(|tool| !names.contains(&&*tool.name()));
        self
    }

    /// Keeps only tools of these names.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.named = names.iter().map(|name| (*name).to_owned()).collect();
        self.tools.retain(|tool| names.contains(&&*tool.name()));
        self.patch = self.patch.filter(|tool| names.contains(&&*tool.name()));
        self
    }
}

impl From<Vec<Arc<dyn DynTool>>> for Toolkit {
    fn from(tools: Vec<Arc<dyn DynTool>>) -> Self {
        Self { tools, ..Self::default() }
    }
}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.tools.iter().map(|tool| tool.name().into_owned()).collect();
        f.debug_struct("Toolkit").field("tools", &names).field("cwd", &self.cwd).finish()
    }
}
