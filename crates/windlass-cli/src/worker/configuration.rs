//! Configuration of a worker: its tenant, profiles and workspaces.

use crate::args::RunArgs;
use crate::failure::{Usage, of_start};
use crate::files;
use crate::launch::{self, Driver};
use crate::provider::Provider;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass::project::Agents;
use windlass::{Home, ModelProvider, PermissionMode, SessionBuilder};
use windlass_postgres::PgConfig;

/// Variable with the address of the database.
const DATABASE_URL: &str = "WINDLASS_DATABASE_URL";

/// Name of the configuration in the home.
const FILE_NAME: &str = "worker.toml";

/// Shortest term of a lease, in seconds.
const SHORTEST_LEASE: u64 = 1;

/// The configuration of a worker, as its file has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Configuration {
    /// Owner of the sessions.
    pub(super) tenant: String,
    /// Name of the worker, for people.
    #[serde(default = "default_name")]
    pub(super) name: String,
    /// Maximum number of sessions that are open at once.
    pub(super) max_sessions: Option<usize>,
    /// Time for which a lease holds without a renewal.
    lease_seconds: Option<u64>,
    /// Time limit for the hand-over of sessions.
    grace_seconds: Option<u64>,
    /// File with the address of the database.
    database_url_file: Option<PathBuf>,
    /// File with the certificate authorities of the database, in PEM.
    root_certificates: Option<PathBuf>,
    #[serde(default)]
    pub(super) profiles: BTreeMap<String, ProfileSection>,
    #[serde(default)]
    pub(super) workspaces: BTreeMap<String, WorkspaceSection>,
    /// File of the configuration: paths are relative to its folder.
    #[serde(skip)]
    file: PathBuf,
}

/// Model, tools, permissions and limits of the sessions of a name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileSection {
    model: Option<String>,
    fallback_model: Option<String>,
    effort: Option<String>,
    agent: Option<String>,
    system_prompt: Option<String>,
    append_system_prompt: Option<String>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    permission_mode: Option<String>,
    max_turns: Option<u32>,
    max_budget_usd: Option<f64>,
    /// Settings file of the profile.
    settings: Option<PathBuf>,
}

/// Directory of a workspace on this machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkspaceSection {
    path: PathBuf,
    /// `true` if settings files of the directory may allow calls.
    #[serde(default)]
    trust: bool,
}

fn default_name() -> String {
    "windlass worker".to_owned()
}

impl Configuration {
    /// Reads the configuration, and checks what needs no workspace and no database.
    pub(super) fn read(given: Option<&Path>) -> anyhow::Result<Self> {
        let file = match given {
            Some(file) => file.to_path_buf(),
            None => Home::from_env().map_err(of_start)?.root().join(FILE_NAME),
        };
        let wrong = |problem: String| Usage(format!("{}: {problem}", file.display()));
        let text = files::text(&file).map_err(|error| {
            Usage(format!(
                "the worker's configuration {} cannot be read: {error}; name one with --config, see `windlass worker --help`",
                file.display()
            ))
        })?;
        let mut read: Self = basic_toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if read.tenant.trim().is_empty() {
            return Err(wrong("`tenant` is empty: name the owner of the sessions".to_owned()).into());
        }
        if read.lease_seconds.is_some_and(|seconds| seconds < SHORTEST_LEASE) {
            return Err(wrong(format!("`lease_seconds` is too short: at least {SHORTEST_LEASE}")).into());
        }
        if read.max_sessions == Some(0) {
            return Err(wrong("`max_sessions` is 0: the worker would run no session".to_owned()).into());
        }
        read.file.clone_from(&file);
        Ok(read)
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> Usage {
        Usage(format!("{}: {problem}", self.file.display()))
    }

    fn beside(&self, path: &Path) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// Returns the address of the database, from the environment or a file.
    pub(super) fn database(&self) -> anyhow::Result<PgConfig> {
        let of_environment = std::env::var(DATABASE_URL).ok().filter(|address| !address.is_empty());
        let address = match (of_environment, &self.database_url_file) {
            (Some(address), _) => address,
            (None, Some(file)) => {
                let file = self.beside(file);
                let text = files::text(&file);
                text.map_err(|error| self.wrong(format!("`database_url_file` {}: {error}", file.display())))?
            }
            (None, None) => {
                return Err(self
                    .wrong(format!("no database: set {DATABASE_URL}, or `database_url_file` in this file"))
                    .into());
            }
        };
        let mut config = PgConfig::new(address.trim(), self.tenant.trim()).map_err(|error| self.wrong(error))?;
        if let Some(seconds) = self.lease_seconds {
            config = config.with_lease_term(Duration::from_secs(seconds));
        }
        if let Some(file) = &self.root_certificates {
            let file = self.beside(file);
            let pem = files::text(&file);
            let pem = pem.map_err(|error| self.wrong(format!("`root_certificates` {}: {error}", file.display())))?;
            config = config.with_root_certificates(pem);
        }
        Ok(config)
    }

    /// Returns the time limit for the hand-over of sessions.
    pub(super) fn grace(&self) -> Option<Duration> {
        self.grace_seconds.map(Duration::from_secs)
    }

    /// Returns the arguments of each profile in each workspace, by their names.
    pub(super) fn setups(&self) -> anyhow::Result<Vec<SessionSetup>> {
        for (what, is_empty) in [("profiles", self.profiles.is_empty()), ("workspaces", self.workspaces.is_empty())] {
            if is_empty {
                return Err(self.wrong(format!("it has no `[{what}.NAME]`: the worker would run no session")).into());
            }
        }
        let mut setups = Vec::new();
        for (workspace, section) in &self.workspaces {
            let path = self.directory(workspace, section)?;
            for (profile, options) in &self.profiles {
                let args = self.arguments(profile, options, section.trust)?;
                let (profile, workspace) = (profile.clone(), workspace.clone());
                setups.push(SessionSetup { profile, workspace, path: path.clone(), args });
            }
        }
        Ok(setups)
    }

    /// Returns the directory of a workspace, links followed.
    fn directory(&self, name: &str, section: &WorkspaceSection) -> Result<PathBuf, Usage> {
        let path = self.beside(&section.path);
        match path.canonicalize() {
            Ok(path) if path.is_dir() => Ok(path),
            Ok(_) => Err(self.wrong(format!("workspace {name}: {} is no directory", path.display()))),
            Err(error) => Err(self.wrong(format!("workspace {name}: {}: {error}", path.display()))),
        }
    }

    /// Returns the arguments of the sessions of a profile, as of a command line.
    fn arguments(&self, name: &str, section: &ProfileSection, trust: bool) -> anyhow::Result<RunArgs> {
        let wrong = |problem: String| self.wrong(format!("profile {name}: {problem}"));
        let mut args = RunArgs::none()?;
        let model = &mut args.model;
        (model.model, model.fallback_model) = (section.model.clone(), section.fallback_model.clone());
        (model.agent, model.max_turns) = (section.agent.clone(), section.max_turns);
        model.system_prompt.clone_from(&section.system_prompt);
        model.append_system_prompt.clone_from(&section.append_system_prompt);
        if let Some(effort) = &section.effort {
            model.effort = Some(effort.parse().map_err(|error| wrong(format!("`effort`: {error}")))?);
        }
        if section.max_turns == Some(0) {
            return Err(wrong("`max_turns` is 0: at least 1".to_owned()).into());
        }
        if let Some(usd) = section.max_budget_usd {
            if !usd.is_finite() || usd <= 0.0 {
                return Err(wrong(format!("`max_budget_usd` is {usd}: it must be more than 0")).into());
            }
            model.max_budget_usd = Some(usd);
        }
        args.offered.tools = section.tools.as_ref().map(|names| names.join(","));
        args.permissions.allowed_tools.clone_from(&section.allow);
        args.permissions.disallowed_tools.clone_from(&section.deny);
        if let Some(mode) = &section.permission_mode {
            let mode: PermissionMode = mode.parse().map_err(|error| wrong(format!("`permission_mode`: {error}")))?;
            if mode == PermissionMode::BypassPermissions {
                let text = "`permission_mode` cannot be bypassPermissions: nobody watches a worker; use `allow`";
                return Err(wrong(text.to_owned()).into());
            }
            args.permissions.permission_mode = Some(mode);
        }
        args.settings.settings = section.settings.as_ref().map(|file| self.beside(file).display().to_string());
        args.settings.trust = trust;
        // Nobody is there to answer, and what a machine keeps does not follow a session.
        args.asks.wait_for_answers = true;
        args.session.no_session_persistence = true;
        args.mcp.strict_mcp_config = true;
        launch::permissions_of(&args, Driver::Person).map(drop).map_err(|error| wrong(error.to_string()))?;
        Ok(args)
    }
}

/// A profile in a workspace.
#[derive(Debug, Clone)]
pub(super) struct SessionSetup {
    pub(super) profile: String,
    pub(super) workspace: String,
    pub(super) path: PathBuf,
    pub(super) args: RunArgs,
}

impl SessionSetup {
    /// Returns the options of a session.
    pub(super) fn options(&self) -> anyhow::Result<SessionBuilder> {
        let (options, model) = self.parts()?;
        Ok(options.provider(model))
    }

    /// Checks the options and the key of the model, and returns the name of the model.
    pub(super) fn check(&self) -> anyhow::Result<String> {
        let (options, provider) = self.parts()?;
        let options = options.provider(Arc::clone(&provider)).resolve().map_err(of_start)?;
        let model = provider.resolve_model(options.options().model().unwrap_or("default"));
        provider.ready(&model).map_err(|error| of_start(error.into()))?;
        Ok(model)
    }

    /// Reads the project of the workspace, and returns the options and the model.
    fn parts(&self) -> anyhow::Result<(SessionBuilder, Arc<dyn ModelProvider>)> {
        let project = launch::load(&self.args, &self.path, Driver::Person)?;
        let provider = Provider::choose(&self.args, &project)?;
        let (permissions, _) = launch::permissions_of(&self.args, Driver::Person)?;
        let options = launch::options(&self.args, &project, (Driver::Person, Agents::default()))?;
        Ok((options.permissions(permissions), provider.model))
    }
}
