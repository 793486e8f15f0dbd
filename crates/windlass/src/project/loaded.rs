//! A project whose files were read.

use super::read::{LoadedFile, Read};
use super::request::Choice;
use super::shared::{LoadedPlugins, Shared};
use super::variables::Variables;
use super::{Project, ProjectError, ProjectNotice, ProjectNoticeKind};
use crate::permissions::Permissions;
use crate::sandbox::ProgramSandbox;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_project::{Agents, Layer, Places, Plugins, Resolved, SettingsUpdates, is_trusted, load_agents};
use windlass_tool::environment::{given_environment, host_environment};
use windlass_types::{Behavior, PermissionMode, RuleSource, UpdateDestination};

/// A project whose files were read. Cheap to clone; clones share plugins, MCP servers and notices, so that all sessions
/// of a project have the same.
#[derive(Clone)]
pub struct LoadedProject {
    pub(crate) read: Arc<Read>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) choice: Choice,
}

impl Project {
    /// Reads the files, and refuses those that a session must not start with. The scope of existing trust is recorded
    /// before, if a record lacks it. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// An existing file is unusable, requires an unavailable sandbox, or has a gating hook that cannot run.
    pub fn load(self) -> Result<LoadedProject, ProjectError> {
        let project = self.review()?;
        project.check_hooks()?;
        project.check_elsewhere(&project.known_agents())?;
        Ok(project)
    }

    /// Like [`load`](Self::load), without opening a session: a hook that would keep a session from opening is a notice.
    /// A session with such a project is refused.
    ///
    /// An existing file is unusable, or requires an unavailable sandbox.
    pub fn review(self) -> Result<LoadedProject, ProjectError> {
        let pinned = self.pin_trust();
        LoadedProject::read(self, pinned)
    }

    /// Like [`review`](Self::review), without writing anything: trust without a recorded scope covers nothing.
    ///
    /// # Errors
    /// The same as [`review`](Self::review).
    pub fn inspect(self) -> Result<LoadedProject, ProjectError> {
        LoadedProject::read(self, Ok(()))
    }
}

impl LoadedProject {
    pub(super) fn read(request: Project, pinned: Result<(), ProjectError>) -> Result<Self, ProjectError> {
        let read = Read::of(request)?.pinned(pinned);
        let project = Self { choice: read.request.choice.clone(), read: Arc::new(read), shared: Arc::default() };
        let directories = project.read.request.plugins.clone();
        if !directories.is_empty() {
            let plugins = Arc::new(project.find_plugins(&directories));
            *project.shared.plugins.lock() = LoadedPlugins { directories, plugins };
        }
        project.note_settings();
        Ok(project)
    }

    /// Reads the settings files again, for a session that is opened later. Plugins, MCP servers and notices stay shared
    /// with this project. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The same as [`Project::load`].
    pub fn reread(&self) -> Result<Self, ProjectError> {
        let request = self.read.request.clone();
        let pinned = request.pin_trust();
        let read = Arc::new(Read::of(request)?.pinned(pinned));
        let project = Self { read, shared: Arc::clone(&self.shared), choice: self.choice.clone() };
        project.note_settings();
        project.check_hooks()?;
        Ok(project)
    }

    /// Selects another main agent for a session.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.choice.agent = Some(name.into());
        self
    }

    /// Adds agents of the program for a session. They precede those of files.
    #[must_use]
    pub fn agents(mut self, agents: Agents) -> Self {
        self.choice.agents = agents;
        self
    }

    /// Restricts the skills of a session's main agent to these: each by its full name, or by the part after a plugin's
    /// name. Other skills are neither listed for its model nor readable with the tool for skills. Users may still call
    /// them, and subagents use their own.
    #[must_use]
    pub fn only_skills<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.choice.only_skills = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Adds variables for a session, for the model provider and for programs of tools. They override those of settings.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.choice.variables.extend(variables);
        self
    }

    /// Locations of the project's files.
    pub fn places(&self) -> &Places {
        &self.read.places
    }

    /// Resolved settings of all files, with the origin of each value.
    pub fn resolved(&self) -> &Resolved {
        &self.read.resolved
    }

    /// Settings files that were read, the strongest layer first.
    pub fn files(&self) -> &[LoadedFile] {
        &self.read.files
    }

    /// Writer of permission and trust updates to files.
    pub fn updates(&self) -> &SettingsUpdates {
        &self.read.updates
    }

    /// Pending notices about parts of the project without effect, or with less effect than their author may expect.
    /// Opening a session moves these to the notices of the session.
    pub fn notices(&self) -> Vec<ProjectNotice> {
        self.shared.notices.waiting()
    }

    /// Takes the pending notices. None is given twice.
    pub fn take_notices(&self) -> Vec<ProjectNotice> {
        self.shared.notices.take()
    }

    /// Sets a listener for all further notices, the pending ones first. Without one, notices during a session are its
    /// events ([`Status::Notice`](crate::event::Status::Notice)).
    pub fn on_notice(&self, listener: impl Fn(&ProjectNotice) + Send + Sync + 'static) {
        self.shared.notices.listen(listener);
    }

    /// Stores the program's sandbox options of its session, for servers that start later.
    pub(crate) fn share_sandbox(&self, sandbox: &ProgramSandbox) {
        // Sessions of a project share its servers, so the first session decides.
        let _ = self.shared.sandbox.set(sandbox.clone());
    }

    pub(crate) fn note(&self, kind: ProjectNoticeKind, text: impl Into<String>) {
        self.shared.notices.add(kind, text);
    }

    /// All notices about settings, trust and plugins, including those that were taken before.
    pub fn settings_notices(&self) -> Vec<ProjectNotice> {
        use ProjectNoticeKind::{Directory, Plugin, Setting, Trust};
        let resolved = self.resolved();
        let mut notices: Vec<ProjectNotice> = Vec::new();
        let mut add = |kind, text: String| notices.push(ProjectNotice { kind, text });
        self.read.not_pinned.iter().for_each(|problem| add(Trust, problem.clone()));
        resolved.notes.iter().for_each(|note| add(Setting, note.to_string()));
        if let Err(error) = self.check_hooks() {
            add(Setting, format!("no session starts here: {error}"));
        }
        self.left_out_elsewhere().into_iter().for_each(|text| add(Setting, text));
        if !cfg!(feature = "sandbox")
            && let Some(origin) = &resolved.sandbox.enabled
        {
            let reason = "this program is built without the feature `sandbox`, so commands run without one";
            add(Setting, format!("{origin}: {reason}"));
        }
        let is_local = self.place_elsewhere().is_none();
        for missing in resolved
            .permissions
            .additional_directories
            .iter()
            .filter(|found| is_local && !counts(found.layer, &found.value))
        {
            let path = missing.value.display();
            add(Directory, format!("{}: the directory {path} is not there and is left out", missing.origin));
        }
        self.plugins().errors.iter().for_each(|error| add(Plugin, error.to_string()));
        notices
    }

    fn note_settings(&self) {
        self.settings_notices().into_iter().for_each(|notice| self.note(notice.kind, notice.text));
    }

    /// `true` if a session may inspect the surrounding git repository, which can make git run programs. Without a
    /// repository this does not matter, and no file is read.
    pub(crate) fn may_ask_git(&self) -> bool {
        self.places().project.iter().any(|directory| directory.join(".git").exists())
            && is_trusted(self.places(), &self.read.settings)
    }

    /// Adds the rules of settings files to permissions, and protects their sources. The rules keep their rule sources.
    /// If only managed settings may allow, the allow rules that were added before are dropped.
    pub fn permissions(&self, permissions: Permissions) -> Permissions {
        self.permissions_beside(permissions, self.protected_programs())
    }

    /// Like [`permissions`](Self::permissions), with these files that the configuration runs.
    pub(crate) fn permissions_beside(&self, permissions: Permissions, programs: Vec<PathBuf>) -> Permissions {
        let (places, resolved) = (self.places(), self.resolved());
        let mut permissions = permissions.protecting(places.protected()).protecting(self.programs_of_plugins());
        permissions = permissions.protecting(programs);
        if resolved.permissions.managed_rules_only {
            permissions = permissions.without_allow_rules();
        }
        for set in &resolved.permissions.rules {
            permissions = permissions.with_rules_at(&set.anchor, set.source, set.behavior, set.rules.clone());
            permissions = permissions.standing_in(set.origins.clone());
        }
        // Rules added by answers have the same anchor now and when they are read again from their file.
        for (source, destination) in [
            (RuleSource::LocalSettings, UpdateDestination::LocalSettings),
            (RuleSource::ProjectSettings, UpdateDestination::ProjectSettings),
            (RuleSource::UserSettings, UpdateDestination::UserSettings),
        ] {
            if let Some((_, anchor)) = self.read.updates.target(destination) {
                permissions = permissions.with_rules_at(anchor, source, Behavior::Allow, Vec::<String>::new());
            }
        }
        permissions
    }

    /// Initial mode from settings, if set. `bypassPermissions` is used only if the program permits it, or sets it in
    /// its own [settings](Project::settings).
    pub fn mode(&self, bypass_allowed: bool) -> Option<PermissionMode> {
        let permissions = &self.resolved().permissions;
        let default_mode = permissions.default_mode.as_ref()?;
        let bypasses = default_mode.value == PermissionMode::BypassPermissions;
        let off = permissions.forbids(default_mode.value).is_some()
            || (bypasses && !bypass_allowed && default_mode.layer != Layer::Flags);
        Some(if off { PermissionMode::Default } else { default_mode.value })
    }

    /// Requested mode, as far as settings permit it. `bypassPermissions` and `auto` become `default` if a file forbids
    /// them, and a notice names the file.
    pub fn permitted_mode(&self, mode: PermissionMode) -> PermissionMode {
        match self.resolved().permissions.forbids(mode) {
            Some(origin) => {
                let text = format!("{origin} forbids the mode {mode}, so the session begins in the mode default");
                self.note(ProjectNoticeKind::Mode, text);
                PermissionMode::Default
            }
            None => mode,
        }
    }

    /// Existing additional directories of the workspace. Empty if the files are not on this machine.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let is_local = self.place_elsewhere().is_none();
        let all_directories = self.resolved().permissions.additional_directories.iter();
        all_directories
            .filter(move |_| is_local)
            .filter(|found| counts(found.layer, &found.value))
            .map(|found| found.value.as_path())
    }

    /// Variable for the model provider and for sessions: the program's value, else that of settings that may set up a
    /// provider, else that of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.choice.variables.get(name).cloned().or_else(|| self.said_variable(name))
    }

    /// Variable without the program's values.
    fn said_variable(&self, name: &str) -> Option<String> {
        let setting = self.resolved().env.provider.get(name).map(|found| found.value.clone());
        setting.or_else(|| self.read.request.variable(name))
    }

    /// Environment given by the program, if any.
    pub(crate) fn process_environment(&self) -> Option<Vec<(OsString, OsString)>> {
        let environment = self.read.request.environment.as_deref()?;
        Some(environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Environment given by the program, else that of this process.
    pub(super) fn usual_environment(&self) -> Vec<(OsString, OsString)> {
        self.read.usual_environment()
    }

    /// Session options from variables.
    pub(crate) fn session_variables(&self) -> Variables {
        let mut variables = Variables::read(|name| self.said_variable(name));
        // Settings cannot allow what the environment forbids.
        variables.background &= Variables::read(|name| self.read.request.variable(name)).background;
        variables
    }

    /// Environment of the programs that tools run, if settings or the program add to the usual one. `None` if the files
    /// are not on this machine.
    pub fn program_environment(&self) -> Option<Vec<(OsString, OsString)>> {
        if self.place_elsewhere().is_some() {
            return None;
        }
        let settings_variables = self.added_variables();
        // The environment of a program started by an SDK was chosen by its host.
        let started_by_sdk =
            self.read.request.variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk-"));
        if !started_by_sdk && settings_variables.is_empty() {
            return None;
        }
        let usual = self.usual_environment();
        let mut environment = if started_by_sdk { given_environment(usual).passed } else { host_environment(usual) };
        environment.extend(settings_variables);
        Some(environment)
    }

    /// Variables that settings and the program add to the environment of programs.
    pub(crate) fn added_variables(&self) -> Vec<(OsString, OsString)> {
        let settings = self.resolved().env.programs.iter().map(|(name, found)| (name, &found.value));
        let variables: BTreeMap<&String, &String> = settings.chain(&self.choice.variables).collect();
        variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// Agents of files and of these plugins.
    pub(super) fn agents_with(&self, plugins: &Plugins) -> Agents {
        load_agents(self.places(), &self.read.settings).or(plugins.agents())
    }

    /// Agents defined by the program, files and plugins. Reads the files anew.
    pub fn known_agents(&self) -> Agents {
        self.all_agents(&self.plugins())
    }

    /// Files that determine which programs the plugins run.
    fn programs_of_plugins(&self) -> Vec<PathBuf> {
        let plugins = self.plugins();
        let manifests = plugins.plugins.iter().map(|plugin| plugin.root.join(".claude-plugin"));
        manifests.chain(plugins.servers().map(|server| server.path.clone())).collect()
    }
}

/// `true` if a directory is used. A directory named by the program must exist; opening the session checks that.
fn counts(layer: Layer, directory: &Path) -> bool {
    layer == Layer::Flags || directory.is_dir()
}

impl fmt::Debug for LoadedProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("LoadedProject")
            .field("start", &self.places().start())
            .field("files", &self.read.files)
            .field("agent", &self.choice.agent)
            .finish_non_exhaustive()
    }
}
