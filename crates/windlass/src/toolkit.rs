//! Tools with their working directory.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
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
    pub(crate) fn replace_own_bash(&mut self, bash: Arc<dyn DynTool>) {
        let Some(own) = &self.bash else { return };
        for known in self.tools.iter_mut().filter(|known| Arc::ptr_eq(known, own)) {
            *known = Arc::clone(&bash);
        }
        self.bash = Some(bash);
    }

    /// Adds a tool of the project or of a language server, unless the program has one of its name.
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
