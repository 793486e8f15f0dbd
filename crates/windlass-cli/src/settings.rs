//! Settings files and flags, as far as they concern a run.

mod shown;

use crate::failure::Usage;
use crate::variables::Variables;
use shown::FileRead;
pub(crate) use shown::{current_directory, print, trust};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass::crates::project::{
    Agents, Commands, Layer, Places, PluginDir, Plugins, Resolved, ServerPolicy, Servers, SettingSources,
    SettingsError, SettingsFile, SettingsRequest, SettingsUpdates, is_trusted, load, load_agents, load_commands,
    load_plugins, load_servers,
};
use windlass::crates::tools::{given_environment, host_environment};
use windlass::crates::types::{RuleSource, UpdateDestination};
use windlass::{Behavior, Home, PermissionMode, Permissions, server_policy};

/// What settings say about a run.
#[derive(Debug)]
pub(crate) struct ProjectSettings {
    pub(crate) places: Places,
    pub(crate) resolved: Resolved,
    /// Where changes of permissions are kept.
    pub(crate) updates: SettingsUpdates,
    request: SettingsRequest,
    files: Vec<FileRead>,
    /// Why it could not be recorded what trust covers, if that failed.
    not_pinned: Option<String>,
    plugins: Mutex<LoadedPlugins>,
}

/// The plugins that were named, and what they are.
#[derive(Debug, Default)]
struct LoadedPlugins {
    directories: Vec<PluginDir>,
    plugins: Arc<Plugins>,
}

/// What the command line says about settings.
#[derive(Debug, Default, Clone)]
pub(crate) struct SettingsFlags<'a> {
    pub(crate) settings: Option<&'a str>,
    /// The value of `--setting-sources`, which may be empty.
    pub(crate) sources: Option<&'a str>,
    pub(crate) trust: bool,
}

impl ProjectSettings {
    /// Reads the settings of a session that starts in `cwd`, a path with links followed, and refuses what a session
    /// must not start without. What trust covers that does not say so is recorded before.
    pub(crate) fn of_session(cwd: &Path, flags: &SettingsFlags<'_>) -> anyhow::Result<Self> {
        let settings = Self::pinned(cwd, flags)?;
        settings.resolved.check_hooks().map_err(|error| refused(&error))?;
        Ok(settings)
    }

    /// Reads the same. What trust covers that does not say so is recorded before.
    pub(crate) fn pinned(cwd: &Path, flags: &SettingsFlags<'_>) -> anyhow::Result<Self> {
        let sources = sources(flags)?;
        let reads_project = sources.contains(Layer::Project) || sources.contains(Layer::Local);
        let failed = match reads_project && !flags.trust {
            true => SettingsUpdates::new(places(cwd), sources).pin_trust().err(),
            false => None,
        };
        let mut settings = Self::read(cwd, flags)?;
        settings.not_pinned =
            failed.map(|error| format!("what trust in this project covers cannot be recorded: {error}"));
        Ok(settings)
    }

    /// Reads the settings of a session that would start in `cwd`, and writes nothing.
    pub(crate) fn read(cwd: &Path, flags: &SettingsFlags<'_>) -> anyhow::Result<Self> {
        let sources = sources(flags)?;
        let places = places(cwd);
        let request =
            SettingsRequest::new().sources(sources).flags(flags.settings.map(str::to_owned)).trust(flags.trust);
        let loaded = load(&places, &request).map_err(|error| refused(&error))?;
        let resolved = loaded.resolve().map_err(|error| refused(&error))?;
        if let Some(origin) = &resolved.sandbox_required {
            // Running without the protection that was asked for would be a lie.
            return Err(Usage(format!("{origin} asks for a sandbox, which this version does not have")).into());
        }
        let updates = SettingsUpdates::new(places.clone(), sources);
        let file = |file: SettingsFile| FileRead {
            layer: file.layer,
            origin: file.origin,
            trusted: file.standing.is_trusted(),
        };
        let files = loaded.files.into_iter().map(file).collect();
        let plugins = Mutex::default();
        Ok(Self { places, resolved, updates, request, files, not_pinned: None, plugins })
    }

    /// Loads plugins.
    pub(crate) fn with_plugins(self, directories: Vec<PluginDir>) -> Self {
        if !directories.is_empty() {
            self.set_plugins(self.find_plugins(&directories), directories);
        }
        self
    }

    /// The plugins of some directories, as they are now.
    pub(crate) fn find_plugins(&self, directories: &[PluginDir]) -> Plugins {
        load_plugins(self.places.start(), directories)
    }

    /// Puts plugins in the place of those before.
    pub(crate) fn set_plugins(&self, plugins: Plugins, directories: Vec<PluginDir>) {
        *self.loaded_plugins() = LoadedPlugins { directories, plugins: Arc::new(plugins) };
    }

    /// The plugins.
    pub(crate) fn plugins(&self) -> Arc<Plugins> {
        Arc::clone(&self.loaded_plugins().plugins)
    }

    /// The directories that were named as plugins.
    pub(crate) fn plugin_directories(&self) -> Vec<PluginDir> {
        self.loaded_plugins().directories.clone()
    }

    fn loaded_plugins(&self) -> MutexGuard<'_, LoadedPlugins> {
        self.plugins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The MCP servers that files of the project and the user define.
    pub(crate) fn servers(&self) -> Servers {
        load_servers(&self.places, &self.request, &self.resolved)
    }

    /// Which MCP servers may be connected, whoever defines them.
    pub(crate) fn server_policy(&self) -> ServerPolicy {
        server_policy(&self.resolved, |name| std::env::var(name).ok())
    }

    /// New settings files of the project go where hosts look for them.
    pub(crate) fn for_host(mut self) -> Self {
        self.updates = self.updates.in_claude_folder();
        self
    }

    /// Whether the session may look at the git repository around it, which can make git run programs. Without a
    /// repository it does not matter, and nothing is read.
    pub(crate) fn may_ask_git(&self) -> bool {
        self.places.project.iter().any(|directory| directory.join(".git").exists())
            && is_trusted(&self.places, &self.request)
    }

    /// The custom slash commands.
    pub(crate) fn commands(&self) -> Commands {
        load_commands(&self.places, &self.request).with_plugins(&self.plugins())
    }

    /// The agents of files and plugins.
    pub(crate) fn agents(&self) -> Agents {
        self.agents_with(&self.plugins())
    }

    /// The agents of files and of these plugins.
    pub(crate) fn agents_with(&self, plugins: &Plugins) -> Agents {
        load_agents(&self.places, &self.request).or(plugins.agents())
    }

    /// The agent of the main thread.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.resolved.agent.as_ref().map(|agent| agent.value.as_str())
    }

    /// The prompt that a text stands for: that of the custom command that it names, or the text itself.
    pub(crate) fn prompt(&self, text: String) -> anyhow::Result<String> {
        let Some(called) = text.strip_prefix('/') else { return Ok(text) };
        let (name, arguments) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
        match self.commands().get(name) {
            Some(command) => Ok(command.expand(arguments).map_err(|error| Usage(error.to_string()))?),
            None => Ok(text),
        }
    }

    /// What has no effect, in words.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.not_pinned.iter().cloned().collect();
        notes.extend(self.resolved.notes.iter().map(ToString::to_string));
        notes.extend(self.resolved.check_hooks().err().map(|error| format!("no session starts here: {error}")));
        if let Some(origin) = &self.resolved.sandbox_enabled {
            notes.push(format!("{origin}: there is no sandbox in this version, so commands run without one"));
        }
        for missing in self.resolved.additional_directories.iter().filter(|found| !counts(found.layer, &found.value)) {
            let shown = missing.value.display();
            notes.push(format!("{}: the directory {shown} is not there and is left out", missing.origin));
        }
        notes.extend(self.plugins().errors.iter().map(ToString::to_string));
        notes
    }

    /// What says which programs the plugins run.
    fn programs_of_plugins(&self) -> Vec<PathBuf> {
        let plugins = self.plugins();
        let manifests = plugins.plugins.iter().map(|plugin| plugin.root.join(".claude-plugin"));
        manifests.chain(plugins.servers().map(|server| server.path.clone())).collect()
    }

    /// Adds the rules to permissions, and protects what they come from.
    pub(crate) fn add_rules(&self, permissions: Permissions) -> Permissions {
        let mut permissions = permissions.protecting(self.places.protected()).protecting(self.programs_of_plugins());
        if self.resolved.managed_rules_only {
            permissions = permissions.without_allow_rules();
        }
        for set in &self.resolved.rules {
            permissions = permissions.with_rules_at(&set.anchor, set.source, set.behavior, set.rules.clone());
        }
        // Rules that answers add mean the same now and when they are read again from the file they went to.
        for (source, destination) in [
            (RuleSource::LocalSettings, UpdateDestination::LocalSettings),
            (RuleSource::ProjectSettings, UpdateDestination::ProjectSettings),
            (RuleSource::UserSettings, UpdateDestination::UserSettings),
        ] {
            if let Some((_, anchor)) = self.updates.target(destination) {
                permissions = permissions.with_rules_at(anchor, source, Behavior::Allow, Vec::<String>::new());
            }
        }
        permissions
    }

    /// The mode that the settings begin in. bypassPermissions counts only when the command line lets it.
    pub(crate) fn mode(&self, bypass_allowed: bool) -> Option<PermissionMode> {
        let said = self.resolved.default_mode.as_ref()?;
        let forbidden = self.resolved.bypass_disabled.is_some();
        let off = forbidden || (!bypass_allowed && said.layer != Layer::Flags);
        Some(if off && said.value == PermissionMode::BypassPermissions { PermissionMode::Default } else { said.value })
    }

    /// The mode that somebody chose, as far as settings let it: bypassPermissions becomes default where a file forbids
    /// it, and why is said.
    pub(crate) fn within(&self, mode: PermissionMode) -> (PermissionMode, Option<String>) {
        match &self.resolved.bypass_disabled {
            Some(origin) if mode == PermissionMode::BypassPermissions => {
                let note =
                    format!("{origin} forbids the mode bypassPermissions, so the session begins in the mode default");
                (PermissionMode::Default, Some(note))
            }
            _ => (mode, None),
        }
    }

    /// More directories of the workspace: those that are there.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        let all = self.resolved.additional_directories.iter();
        all.filter(|found| counts(found.layer, &found.value)).map(|found| found.value.as_path())
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.resolved.model.as_ref().map(|model| model.value.as_str())
    }

    pub(crate) fn fallback_model(&self) -> Option<&str> {
        self.resolved.fallback_model.as_ref()?.value.first().map(String::as_str)
    }

    /// A variable for the model provider.
    pub(crate) fn provider_variable(&self, name: &str) -> Option<String> {
        let said = self.resolved.provider_env.get(name).map(|found| found.value.clone());
        said.or_else(|| std::env::var(name).ok())
    }

    /// What variables say about sessions: those of settings, else the process's own.
    pub(crate) fn variables(&self) -> Variables {
        Variables::read(|name| self.provider_variable(name))
    }

    /// The environment of the programs that tools run, if it is another one than usual. `more` counts for more.
    pub(crate) fn environment<'a>(
        &'a self,
        more: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Option<Vec<(OsString, OsString)>> {
        let said = self.resolved.env.iter().map(|(name, found)| (name, &found.value)).chain(more);
        let said: Vec<(OsString, OsString)> = said.map(|(name, value)| (name.into(), value.into())).collect();
        // The environment of a program that an SDK started is what its host chose for it.
        let started_by_sdk = std::env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|entry| entry.starts_with("sdk-"));
        if !started_by_sdk && said.is_empty() {
            return None;
        }
        let own = std::env::vars_os();
        let mut environment = if started_by_sdk { given_environment(own).passed } else { host_environment(own) };
        environment.extend(said);
        Some(environment)
    }
}

/// Where settings and trust are for a session that starts in `cwd`.
fn places(cwd: &Path) -> Places {
    let home = Home::from_env().ok();
    Places::of_system(cwd, home.as_ref().map(Home::root), |name| std::env::var(name).ok())
}

/// The layers that are read.
fn sources(flags: &SettingsFlags<'_>) -> Result<SettingSources, Usage> {
    let sources = flags.sources.map(str::parse::<SettingSources>).transpose();
    Ok(sources.map_err(|problem| Usage(format!("--setting-sources: {problem}")))?.unwrap_or_default())
}

/// Whether a directory is used. What the command line names must be there; that shows when the session opens.
fn counts(layer: Layer, directory: &Path) -> bool {
    layer == Layer::Flags || directory.is_dir()
}

/// Settings that cannot be used: a wrong command line, or a file that somebody must mend.
fn refused(error: &SettingsError) -> anyhow::Error {
    anyhow::Error::from(Usage(error.to_string()))
}
