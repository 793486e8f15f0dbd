//! Choice of a session's project and of the files that apply.

use super::ProjectError;
use super::open_settings::Follows;
use super::remote_start::Elsewhere;
use crate::home::Home;
use crate::stored_keys::StoredKeys;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use windlass_project::{Agents, Places, PluginDir, SettingSources, SettingsFile, SettingsRequest, SettingsUpdates};

/// A project directory, and the choice of its files for a session.
///
/// Passed to [`project`](crate::SessionBuilder::project) of a session or a query, it applies the same files as the
/// `windlass` command in that directory: the permission rules, the mode, the models, the variables and the directories
/// of settings files, agents and custom commands, MCP servers of files and plugins, and remembered answers. Options of
/// the builder take precedence, except where a file forbids something.
///
/// In an untrusted project only prohibitions of its files apply; each omission is a
/// [`ProjectNotice`](crate::project::ProjectNotice). A file that cannot be read or understood keeps the session from
/// opening, because it might have forbidden something.
///
/// ```
/// use windlass::{Project, Script, ScriptedModel, coding_tools, project::SettingSource, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let model = ScriptedModel::new(Script::new().turn(|turn| turn.tool_use("Read", serde_json::json!({"file_path": ".env"}))).turn(|turn| turn.text("No.")));
/// let settings = directory.path().join(".claude/settings.json");
/// std::fs::create_dir_all(directory.path().join(".claude"))?;
/// std::fs::write(settings, r#"{"permissions":{"deny":["Read(.env)"],"allow":["Bash"]}}"#)?;
///
/// let project = Project::at(directory.path())
///     .environment(std::env::vars_os())
///     .sources([SettingSource::Project, SettingSource::Local])
///     .load()?;
/// // Nobody trusts the directory yet, so what its file allows does not count.
/// assert!(project.notices()[0].text.contains("Bash"));
///
/// let result =
///     query("Show me .env").provider(model).tools(coding_tools(directory.path())).project(project).await?;
/// assert_eq!(result.permission_denials.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use = "a project does nothing until it is loaded or given to a session"]
pub struct Project {
    directory: PathBuf,
    home: Option<Home>,
    pub(super) environment: Option<Arc<BTreeMap<OsString, OsString>>>,
    pub(super) sources: SettingSources,
    pub(super) settings: GivenSettings,
    pub(super) trust: bool,
    pub(super) plugins: Vec<PluginDir>,
    pub(super) file_servers: bool,
    pub(super) in_claude_folder: bool,
    pub(super) sandbox_helper: Option<PathBuf>,
    pub(super) choice: Choice,
}

/// Settings of a project beside files on this machine.
#[derive(Clone, Default)]
pub(super) struct GivenSettings {
    /// Settings of the program, which override files.
    flags: Option<String>,
    managed: Option<String>,
    /// Settings files that were read in a remote workspace.
    pub(super) elsewhere: Vec<SettingsFile>,
}

/// Options of a program for the use of a project. They may differ between sessions of one loaded project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    pub(crate) agent: Option<String>,
    /// Agents defined by the program. They precede those of files.
    pub(crate) agents: Agents,
    pub(crate) with_memory: bool,
    pub(crate) without: LeftOut,
    /// Location of a remote project.
    pub(crate) elsewhere: Option<Arc<Elsewhere>>,
    /// Directories that the program adds to the workspace.
    pub(crate) directories: Arc<Vec<PathBuf>>,
    /// Skills from the program.
    pub(crate) skills: Vec<windlass_project::Skill>,
    /// Skills that the model of the main agent may use. `None`: all.
    pub(crate) only_skills: Option<Arc<[String]>>,
    /// Variables that override those of settings.
    pub(crate) variables: BTreeMap<String, String>,
    /// Options that follow settings.
    pub(crate) follows: Follows,
}

/// Parts of a project that a session leaves out.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOut {
    pub(crate) subagents: bool,
    pub(crate) instructions: bool,
    pub(crate) index: bool,
    pub(crate) index_tool: bool,
    pub(crate) lsp_tool: bool,
}

impl Project {
    /// Project of a session that starts in this directory, with the directories above it up to the root of its git
    /// repository. All settings files are read, and apply as far as the project is trusted.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), file_servers: true, ..Self::default() }
    }

    /// Windlass's home, with the user's settings and records of trust. Default: the one that the
    /// [environment](Self::environment) names; without an environment none, and then no user settings are read.
    /// Sessions are stored there only with [`persist`](crate::SessionBuilder::persist).
    pub fn home(mut self, home: Home) -> Self {
        self.home = Some(home);
        self
    }

    /// Environment variables: `std::env::vars_os()` for those of this process. They name the user's home and have the
    /// same meaning as for the command, such as `ANTHROPIC_MODEL` or `CLAUDE_CODE_MAX_RETRIES`. They replace `${NAME}`
    /// in configurations of MCP servers, and programs of tools get those that are no secrets. Default: no variable is
    /// read, and programs get the usual ones of this process.
    pub fn environment<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment = Some(Arc::new(variables.collect()));
        self
    }

    /// Setting sources to read, of user, project and local: `[SettingSource::User]`, or a parsed list such as
    /// `"user,project".parse()?`. A parsed list also trusts the layers that it names, like `--setting-sources`; an
    /// array trusts none. Managed settings are always read. Default: all three.
    pub fn sources(mut self, sources: impl Into<SettingSources>) -> Self {
        self.sources = sources.into();
        self
    }

    /// Settings of the program, which override files: JSON text that begins with `{`, or the path of a file.
    pub fn settings(mut self, settings: impl Into<String>) -> Self {
        self.settings.flags = Some(settings.into());
        self
    }

    /// Managed settings of the program: JSON text that begins with `{`, or the path of a file. They override all
    /// others. If the administrator of the machine has managed settings, only restrictions of these apply.
    pub fn managed_settings(mut self, settings: impl Into<String>) -> Self {
        self.settings.managed = Some(settings.into());
        self
    }

    /// Trusts all of the project's files, whatever the records of trust contain. Nothing is recorded. **High risk** for
    /// files that others may have written: they can start programs. Default: `false`.
    pub fn trust(mut self, trusts: bool) -> Self {
        self.trust = trusts;
        self
    }

    /// Loads plugins: directories with commands, agents and MCP servers. This trusts them.
    pub fn plugins(mut self, directories: impl IntoIterator<Item = PluginDir>) -> Self {
        self.plugins.extend(directories);
        self
    }

    /// Connects MCP servers of files (`.mcp.json`, the user's `.claude.json`). Servers of plugins are always included.
    /// Default: `true`.
    pub fn file_servers(mut self, on: bool) -> Self {
        self.file_servers = on;
        self
    }

    /// Stores remembered answers of a project in a new file in `.claude` instead of `.windlass`, for programs that look
    /// there. An existing file is used in any case.
    pub fn in_claude_folder(mut self) -> Self {
        self.in_claude_folder = true;
        self
    }

    /// Main agent of the session, instead of the one that settings name. A missing agent keeps the session from
    /// opening.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.choice.agent = Some(name.into());
        self
    }

    /// Agents of the program, which precede those of files.
    pub fn agents(mut self, agents: Agents) -> Self {
        self.choice.agents = agents;
        self
    }

    /// Lets the model give tasks to the project's agents and to the built-in ones. Default: `true`.
    pub fn subagents(mut self, on: bool) -> Self {
        self.choice.without.subagents = !on;
        self
    }

    /// Lets the model read the instruction files (`CLAUDE.md`, `AGENTS.md`, rules) of the layers that are
    /// [read](Self::sources), and those of folders when it uses files there. They are text for the model and need no
    /// trust; a file of the project includes nothing from outside of it. Default: `true`.
    pub fn instructions(mut self, on: bool) -> Self {
        self.choice.without.instructions = !on;
        self
    }

    /// Gives sessions the memory of the project: notes of the user's agents in the [home](Self::home), one directory
    /// for each project, with an index that the model reads and the tool `Memory`. Settings can disable it
    /// (`autoMemoryEnabled`) and move it (`autoMemoryDirectory`); the variable `CLAUDE_CODE_DISABLE_AUTO_MEMORY`
    /// disables it as well. A [`memory`](crate::options::ContextOptions::memory) of the program replaces it. Default:
    /// `false`.
    pub fn memory(mut self, on: bool) -> Self {
        self.choice.with_memory = on;
        self
    }

    /// Gives sessions the index of the project. The model reads an overview after the first prompt, in at most 300
    /// tokens, and can search paths and symbols (`ProjectSearch`, if the session has search tools). The index is stored
    /// in windlass's home, if there is one, and updated in the background. Settings can disable it. Default: `true`.
    pub fn index(mut self, on: bool) -> Self {
        self.choice.without.index = !on;
        self
    }

    /// Gives the session the tool `ProjectSearch`, if it has the index and search tools. Default: `true`.
    pub fn index_tool(mut self, on: bool) -> Self {
        self.choice.without.index_tool = !on;
        self
    }

    /// Records the scope of trust in the project, if its record lacks one (an older record, or that of another
    /// program): all active parts of the project in their present form.
    pub(crate) fn pin_trust(&self) -> Result<(), ProjectError> {
        use windlass_project::Layer;
        let reads_project = self.sources.contains(Layer::Project) || self.sources.contains(Layer::Local);
        if !reads_project || self.trust {
            return Ok(());
        }
        self.updates()?.pin_trust().map_err(ProjectError::NotPinned)
    }

    /// Writer of settings updates to the files of this project, which are not read for it.
    ///
    /// # Errors
    /// The directory does not exist.
    pub fn updates(&self) -> Result<SettingsUpdates, ProjectError> {
        let updates = SettingsUpdates::new(self.places()?, self.sources);
        Ok(if self.in_claude_folder { updates.in_claude_folder() } else { updates })
    }

    pub(crate) fn places(&self) -> Result<Places, ProjectError> {
        let directory = self
            .directory
            .canonicalize()
            .map_err(|problem| ProjectError::Directory { path: self.directory.clone(), problem })?;
        let home = self.home_of();
        Ok(Places::of_system(directory, home.as_ref().map(Home::root), |name| self.variable(name)))
    }

    /// Home given by the program, else the one that the environment names.
    pub(crate) fn home_of(&self) -> Option<Home> {
        self.home.clone().or_else(|| Home::from_lookup(|name| self.variable(name)).ok())
    }

    /// Keys in the home given by the program, else in that of the user whom the environment names.
    pub(crate) fn stored_keys(&self) -> Option<StoredKeys> {
        let from_home = self.home.as_ref().map(StoredKeys::of);
        from_home.or_else(|| StoredKeys::from_lookup(|name| self.variable(name)))
    }

    pub(crate) fn request(&self) -> SettingsRequest {
        SettingsRequest::new()
            .sources(self.sources)
            .flags(self.settings.flags.clone())
            .managed(self.settings.managed.clone())
            .trust(self.trust)
            .elsewhere(self.settings.elsewhere.clone())
    }

    /// Environment variable, if it is text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = self.environment.as_ref()?.get(OsStr::new(name))?;
        value.to_str().map(str::to_owned)
    }
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Project")
            .field("directory", &self.directory)
            .field("home", &self.home)
            .field("sources", &self.sources)
            .field("trust", &self.trust)
            .field("plugins", &self.plugins)
            .finish_non_exhaustive()
    }
}
