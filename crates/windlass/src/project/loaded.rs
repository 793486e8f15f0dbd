//! A project whose files were read.

use super::read::{LoadedFile, Read};
use super::request::Choice;
use super::shared::{LoadedPlugins, Shared};
use super::variables::Variables;
use super::{Project, ProjectError, ProjectNotice, ProjectNoticeKind};
use crate::Permissions;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_project::{Agents, Layer, Places, Plugins, Resolved, SettingsUpdates, is_trusted, load_agents};
use windlass_tools::{given_environment, host_environment};
use windlass_types::{Behavior, PermissionMode, RuleSource, UpdateDestination};

/// A project whose files were read. Cheap to clone; clones share plugins, MCP servers and notices, so that several
/// sessions of a project have the same.
#[derive(Clone)]
pub struct LoadedProject {
    pub(crate) read: Arc<Read>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) choice: Choice,
}

impl Project {
    /// Reads the files, and refuses what a session must not start without. What trust covers that does not say so is
    /// recorded before. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// A file that is there cannot be used, asks for a sandbox that there is not, or has a hook that decides whether
    /// something may happen and cannot run.
    pub fn load(self) -> Result<LoadedProject, ProjectError> {
        let project = self.review()?;
        project.check_hooks()?;
        project.check_elsewhere()?;
        Ok(project)
    }

    /// The same where no session is to be opened: a hook that would keep one from being opened is a notice. A session that
    /// is given such a project is refused.
    ///
    /// # Errors
    /// A file that is there cannot be used, or asks for a sandbox that there is not.
    pub fn review(self) -> Result<LoadedProject, ProjectError> {
        let pinned = self.pin_trust();
        LoadedProject::read(self, pinned)
    }

    /// The same without writing anything: trust that does not say what it covers covers nothing.
    ///
    /// # Errors
    /// Those of [`review`](Self::review).
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
    /// with this one. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// Those of [`Project::load`].
    pub fn reread(&self) -> Result<Self, ProjectError> {
        let request = self.read.request.clone();
        let pinned = request.pin_trust();
        let read = Arc::new(Read::of(request)?.pinned(pinned));
        let project = Self { read, shared: Arc::clone(&self.shared), choice: self.choice.clone() };
        project.note_settings();
        project.check_hooks()?;
        Ok(project)
    }

    /// The same project for a session whose agent is another one.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.choice.agent = Some(name.into());
        self
    }

    /// The same project for a session with these agents of the program, which count for more than those of files.
    #[must_use]
    pub fn agents(mut self, agents: Agents) -> Self {
        self.choice.agents = agents;
        self
    }

    /// The same project for a session whose main agent is to know of these skills alone: each by its whole name, or by the part
    /// behind a plugin's. The others are neither listed for its model nor read by the tool for skills; users may call them, and
    /// agents below it use theirs.
    #[must_use]
    pub fn only_skills<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.choice.only_skills = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The same project for a session with more variables, for the model provider and for programs of tools. They count
    /// for more than those of settings.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.choice.variables.extend(variables);
        self
    }

    /// Where its files are.
    pub fn places(&self) -> &Places {
        &self.read.places
    }

    /// What the settings files say together, with the origin of each value.
    pub fn resolved(&self) -> &Resolved {
        &self.read.resolved
    }

    /// The settings files that were read, those of the strongest layer first.
    pub fn files(&self) -> &[LoadedFile] {
        &self.read.files
    }

    /// What keeps changes of permissions and trust in files.
    pub fn updates(&self) -> &SettingsUpdates {
        &self.read.updates
    }

    /// What has no effect, or less than its writer may think, as far as nobody has taken it. Opening a session moves these
    /// to the notices of the session.
    pub fn notices(&self) -> Vec<ProjectNotice> {
        self.shared.notices.waiting()
    }

    /// Takes the notices that wait. None is given twice.
    pub fn take_notices(&self) -> Vec<ProjectNotice> {
        self.shared.notices.take()
    }

    /// Gives all notices to a function from now on, those that wait first. Without one, those that come while a session
    /// is open are events of it ([`Status::Notice`](crate::event::Status::Notice)).
    pub fn on_notice(&self, listener: impl Fn(&ProjectNotice) + Send + Sync + 'static) {
        self.shared.notices.listen(listener);
    }

    pub(crate) fn note(&self, kind: ProjectNoticeKind, text: impl Into<String>) {
        self.shared.notices.add(kind, text);
    }

    /// What of settings, trust and plugins has no effect, or less than its writer may think, whoever has taken the notices.
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
        #[cfg(not(feature = "sandbox"))]
        if let Some(origin) = &resolved.sandbox.enabled {
            let why = "this program is built without the feature `sandbox`, so commands run without one";
            add(Setting, format!("{origin}: {why}"));
        }
        let here = self.place_elsewhere().is_none();
        for missing in resolved
            .permissions
            .additional_directories
            .iter()
            .filter(|found| here && !counts(found.layer, &found.value))
        {
            let shown = missing.value.display();
            add(Directory, format!("{}: the directory {shown} is not there and is left out", missing.origin));
        }
        self.plugins().errors.iter().for_each(|error| add(Plugin, error.to_string()));
        notices
    }

    fn note_settings(&self) {
        self.settings_notices().into_iter().for_each(|notice| self.note(notice.kind, notice.text));
    }

    /// Whether a session may look at the git repository around it, which can make git run programs. Without a repository
    /// it does not matter, and no file is read.
    pub(crate) fn may_ask_git(&self) -> bool {
        self.places().project.iter().any(|directory| directory.join(".git").exists())
            && is_trusted(self.places(), &self.read.settings)
    }

    /// Adds the rules of settings files to permissions, and protects what they come from. The rules hold with their
    /// sources; where managed settings alone may allow, the allow rules that were added before are dropped.
    pub fn permissions(&self, permissions: Permissions) -> Permissions {
        self.permissions_beside(permissions, self.protected_programs())
    }

    /// The same with these files that configuration runs.
    pub(super) fn permissions_beside(&self, permissions: Permissions, programs: Vec<PathBuf>) -> Permissions {
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
        // Rules that answers add mean the same now and when they are read again from the file they went to.
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

    /// The mode that the settings begin in, if they say. bypassPermissions counts only where the program allows it, or
    /// says so in its own [settings](Project::settings).
    pub fn mode(&self, bypass_allowed: bool) -> Option<PermissionMode> {
        let permissions = &self.resolved().permissions;
        let said = permissions.default_mode.as_ref()?;
        let bypasses = said.value == PermissionMode::BypassPermissions;
        let off =
            permissions.forbids(said.value).is_some() || (bypasses && !bypass_allowed && said.layer != Layer::Flags);
        Some(if off { PermissionMode::Default } else { said.value })
    }

    /// The mode that someone chose, as far as settings permit it: bypassPermissions and auto become default where a
    /// file forbids them, and a notice names the file.
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

    /// More directories of the workspace: those that are there. None where the files are not on this machine.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let here = self.place_elsewhere().is_none();
        let all = self.resolved().permissions.additional_directories.iter();
        all.filter(move |_| here).filter(|found| counts(found.layer, &found.value)).map(|found| found.value.as_path())
    }

    /// A variable for the model provider and for sessions: what the program adds, else what settings say that may set up
    /// a provider, else that of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.choice.variables.get(name).cloned().or_else(|| self.said_variable(name))
    }

    /// The same without what the program adds.
    fn said_variable(&self, name: &str) -> Option<String> {
        let said = self.resolved().env.provider.get(name).map(|found| found.value.clone());
        said.or_else(|| self.read.request.variable(name))
    }

    /// The environment that the program gave, if it gave one.
    pub(super) fn process_environment(&self) -> Option<Vec<(OsString, OsString)>> {
        let own = self.read.request.environment.as_deref()?;
        Some(own.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// The environment that the program gave, else that of this process.
    pub(super) fn usual_environment(&self) -> Vec<(OsString, OsString)> {
        self.read.usual_environment()
    }

    /// What variables say of sessions.
    pub(super) fn session_variables(&self) -> Variables {
        let mut variables = Variables::read(|name| self.said_variable(name));
        // What the environment forbids, settings cannot allow.
        variables.background &= Variables::read(|name| self.read.request.variable(name)).background;
        variables
    }

    /// The environment of the programs that tools run, if settings or the program add to the usual one. None where the files
    /// are not on this machine.
    pub fn program_environment(&self) -> Option<Vec<(OsString, OsString)>> {
        if self.place_elsewhere().is_some() {
            return None;
        }
        let said = self.added_variables();
        // The environment of a program that an SDK started is what its host chose for it.
        let started_by_sdk =
            self.read.request.variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk-"));
        if !started_by_sdk && said.is_empty() {
            return None;
        }
        let own = self.usual_environment();
        let mut environment = if started_by_sdk { given_environment(own).passed } else { host_environment(own) };
        environment.extend(said);
        Some(environment)
    }

    /// The variables that settings and the program add to the environment of programs.
    pub(super) fn added_variables(&self) -> Vec<(OsString, OsString)> {
        let settings = self.resolved().env.programs.iter().map(|(name, found)| (name, &found.value));
        let said: BTreeMap<&String, &String> = settings.chain(&self.choice.variables).collect();
        said.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// The agents of files and of these plugins.
    pub(super) fn agents_with(&self, plugins: &Plugins) -> Agents {
        load_agents(self.places(), &self.read.settings).or(plugins.agents())
    }

    /// The agents that the program, files and plugins define. Files are read anew.
    pub fn known_agents(&self) -> Agents {
        self.all_agents(&self.plugins())
    }

    /// What says which programs the plugins run.
    fn programs_of_plugins(&self) -> Vec<PathBuf> {
        let plugins = self.plugins();
        let manifests = plugins.plugins.iter().map(|plugin| plugin.root.join(".claude-plugin"));
        manifests.chain(plugins.servers().map(|server| server.path.clone())).collect()
    }
}

/// Whether a directory is used. What the program names must be there; that shows when the session opens.
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
