//! Opening sessions.

use crate::machine::{checkpoints, git_branch, process, program_environment, store, workspace};
use crate::offer::{Offer, SessionTools};
#[cfg(all(feature = "store", feature = "tools"))]
use crate::repository::Look;
use crate::resume::{Chosen, choose};
use crate::user_id::user_id;
use crate::{Error, Options, Query};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::Environment;
use windlass_hook::Hooks;
use windlass_model::ModelProvider;
use windlass_permission::{Policy, PolicyConfig};
use windlass_runtime::{MachineConfig, ModelProfile, Persistence, Ports, Prompt, Session, SessionConfig, SystemIds};
use windlass_schema::StructuredOutput;
use windlass_session::{LogHeader, Owner, ProjectKey, SessionKey};
use windlass_tool::{Ids, absolute};
use windlass_types::{Behavior, ContentBlock, SessionId};

/// What a prompt is made from: a text, or content blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptInput(pub(crate) Vec<ContentBlock>);

impl From<&str> for PromptInput {
    fn from(text: &str) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<String> for PromptInput {
    fn from(text: String) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<Vec<ContentBlock>> for PromptInput {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

impl PromptInput {
    /// The prompt, if it has content that a model accepts.
    pub(crate) fn into_prompt(self) -> Result<Prompt, Error> {
        let empty = self.0.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty()));
        if empty { Err(Error::EmptyPrompt) } else { Ok(Prompt::new(self.0)) }
    }
}

/// A session that is about to be opened. See [`session`].
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is opened"]
pub struct SessionBuilder {
    pub(crate) options: Options,
}

/// Opens a session for many runs by hand: prompts go in through its handle,
/// events come out of its stream.
pub fn session() -> SessionBuilder {
    SessionBuilder::default()
}

impl SessionBuilder {
    /// Opens the session on the current tokio runtime.
    ///
    /// # Errors
    /// Something is missing or cannot be used; the text says what to set.
    pub async fn open(self) -> Result<Session, Error> {
        Ok(open(self.options).await?.0)
    }

    /// The same options for one prompt.
    pub fn query(self, prompt: impl Into<PromptInput>) -> Query {
        Query::with_options(prompt, self.options)
    }

    /// Has the options say what their [project](Self::project) says, for programs that look at
    /// [them](Self::options) before the session opens. Opening does it otherwise. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// Something of the project keeps the session from being opened.
    #[cfg(feature = "project")]
    pub fn resolve(mut self) -> Result<Self, Error> {
        self.options.apply_project()?;
        Ok(self)
    }

    /// What the session would be opened with, as far as it was said. What a project says is there once it is
    /// [resolved](Self::resolve).
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Opens the session, with what can change its tools while it is open.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub async fn open_with_tools(self) -> Result<(Session, SessionTools), Error> {
        open(self.options).await
    }

    /// What the agent may do, as the session would decide it: for tools that
    /// explain or check a policy without running anything.
    ///
    /// # Errors
    /// A directory or a rule cannot be used.
    pub fn policy(&self) -> Result<Policy, Error> {
        let cwd = working_directory(&self.options)?;
        policy(&self.options, &cwd, &mut Vec::new())
    }
}

#[cfg_attr(not(feature = "project"), expect(unused_mut, reason = "a project changes them"))]
pub(crate) async fn open(mut options: Options) -> Result<(Session, SessionTools), Error> {
    #[cfg(feature = "project")]
    options.apply_project()?;
    #[cfg(all(feature = "project", feature = "mcp"))]
    if let Some(project) = options.applied_project().cloned() {
        project.offer_servers(&mut options)?;
    }
    #[cfg(feature = "project")]
    let base = crate::project::Base::of(&options);
    let opened = open_settled(options).await;
    #[cfg(feature = "project")]
    let opened = opened.map(|(mut session, tools)| {
        if let Some(base) = base {
            base.opened(&mut session, &tools);
        }
        (session, tools)
    });
    opened
}

/// Opens a session whose options say what its project says.
#[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
async fn open_settled(options: Options) -> Result<(Session, SessionTools), Error> {
    let provider = provider(&options)?;
    let cwd = working_directory(&options)?;
    let (ids, mut notices) = (SystemIds::default(), Vec::new());
    let store = store(&options);
    let Chosen { id, must_exist, fork_of, point } =
        choose(&options, &cwd, store.as_deref(), &ids, &mut notices).await?;
    let mut policy = policy(&options, &cwd, &mut notices)?;
    let project = ProjectKey::of(&cwd);
    let artifacts = artifacts(&options, &project, &id);
    let scratch = absolute(&cwd, &std::env::temp_dir()).join(format!("windlass-{:032x}", ids.bits()));
    // The model may read back what was kept for it.
    let rule = format!("Read(/{}/**)", artifacts.as_ref().unwrap_or(&scratch).display());
    let _ = policy.add_rules(windlass_types::RuleSource::Session, Behavior::Allow, &[rule], &cwd);
    let offer = Offer::new(&options, &policy)?;
    #[cfg(feature = "mcp")]
    let changes = match &offer.servers {
        Some(servers) => Some(crate::mcp::settle(servers).await),
        None => None,
    };
    let tools = offer.tools(options.subagents.as_ref())?;
    let workspace = workspace(&options);
    let process = process(&options, &id, &ids);
    let env = program_environment(&options, &mut notices);
    let mut environment = Environment::new(std::env::consts::OS);
    environment.additional_directories.clone_from(&options.additional_directories);
    #[cfg(all(feature = "store", feature = "tools"))]
    if options.git_status == Some(true) {
        let look = Look { policy: &policy, workspace: &workspace, process: &process, cwd: &cwd, env: &env };
        // A resumed session has a status already.
        environment.repository = look.repository(!must_exist && fork_of.is_none()).await;
    }
    let model = profile(&*provider, options.model.as_deref().unwrap_or("default"));
    let mut machine = MachineConfig::new(id.clone(), ids.bits(), model, policy, cwd.clone());
    machine.fallback = options.fallback_model.as_deref().map(|name| profile(&*provider, name));
    machine.environment = Some(environment);
    let home = options.home.as_ref().filter(|_| options.send_user_id.unwrap_or(true));
    machine.user_id = home.and_then(|home| user_id(home.root(), &ids));
    machine.tools = tools.specs();
    #[cfg(feature = "mcp")]
    if let Some(servers) = &offer.servers {
        machine.instructions = crate::mcp::instructions(servers).into();
    }
    configure(&mut machine, &options);
    let mut ports = Ports::new(provider, tools, workspace, process);
    ports.hooks = Hooks::new(options.hooks.iter().cloned());
    ports.can_use_tool.clone_from(&options.permissions.can_use_tool);
    ports.env = env.into();
    ports.checkpoints = checkpoints(&options, &project, &id)?;
    ports.scratch = artifacts.is_none().then_some(scratch);
    ports.artifacts = artifacts;
    ports.background = options.background_tasks.unwrap_or(true);
    let mut config = SessionConfig::new(machine, ports);
    if let Some(store) = store {
        let key = SessionKey::new(project, id);
        let owner = Owner::new(std::process::id(), options.entrypoint.clone());
        let branch = git_branch(&cwd);
        let header = LogHeader::new(cwd.to_string_lossy(), env!("CARGO_PKG_VERSION"), options.entrypoint.clone())
            .with_git_branch(branch);
        let mut persistence = Persistence::new(store, key, owner, header);
        (persistence.must_exist, persistence.fork_of, persistence.point) = (must_exist, fork_of, point);
        config = config.with_persistence(persistence);
    }
    let mut session = Session::open(config).await?;
    session.notices.splice(..0, notices);
    let tools = SessionTools::new(offer, options.subagents, session.handle.clone());
    #[cfg(feature = "mcp")]
    if let Some(changes) = changes {
        tools.tell_left_out();
        crate::mcp::follow(changes, tools.clone());
    }
    Ok((session, tools))
}

/// The provider of the program, else the one that the variables of a project set up.
fn provider(options: &Options) -> Result<Arc<dyn ModelProvider>, Error> {
    if let Some(provider) = &options.provider {
        return Ok(Arc::clone(provider));
    }
    #[cfg(all(feature = "anthropic", feature = "project"))]
    if let Some(project) = options.applied_project() {
        return Ok(Arc::new(crate::Anthropic::from_lookup(|name| project.variable(name))?));
    }
    Err(Error::NoProvider)
}

/// The working directory, absolute, with links resolved.
fn working_directory(options: &Options) -> Result<PathBuf, Error> {
    let given = options.cwd.as_ref().or(options.toolkit.cwd.as_ref());
    directory("the working directory", given.map_or_else(|| Path::new("."), PathBuf::as_path))
}

fn directory(role: &'static str, path: &Path) -> Result<PathBuf, Error> {
    let unusable = |problem: String| Error::Directory { role, path: path.to_path_buf(), problem };
    let resolved = std::fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    // Reading it tells apart a directory that exists from one that can be used.
    std::fs::read_dir(&resolved).map_err(|error| unusable(error.to_string()))?;
    Ok(resolved)
}

/// What the agent may do; what is odd about the program's own rules is appended to `notices`.
#[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
fn policy(options: &Options, cwd: &Path, notices: &mut Vec<String>) -> Result<Policy, Error> {
    let permissions = &options.permissions;
    let mut config = PolicyConfig::new(cwd);
    for extra in &options.additional_directories {
        config.additional_directories.push(directory("the additional directory", &absolute(cwd, extra))?);
    }
    config.home = options.user_home.clone().or_else(|| std::env::var_os("HOME").map(PathBuf::from));
    config.bypass_allowed = permissions.bypass_allowed;
    if let Some(home) = &options.home {
        config.protected_paths.push(home.root().to_path_buf());
    }
    config.protected_paths.extend(permissions.protected.iter().cloned());
    let mut policy = Policy::new(config);
    policy.set_mode(options.permission_mode())?;
    for set in &permissions.rules {
        let anchor = set.anchor.as_deref().unwrap_or(cwd);
        for warning in policy.add_rules(set.source, set.behavior, &set.rules, anchor)? {
            if set.noted && warning.ignored {
                notices.push(warning.to_string());
            }
            tracing::warn!(%warning, "a permission rule has no effect");
        }
    }
    Ok(policy)
}

/// What the options say of requests and runs.
fn configure(machine: &mut MachineConfig, options: &Options) {
    machine.system = options.system_prompt().sections();
    machine.thinking = options.thinking();
    machine.effort = options.effort;
    machine.auto_compact = options.auto_compact;
    machine.auto_compact_window = options.auto_compact_window;
    machine.max_output_tokens = options.max_output_tokens;
    machine.betas.clone_from(&options.betas);
    machine.cache = options.cache;
    machine.raw_frames = options.raw_frames;
    machine.structured_output = options.output_schema.as_ref().map(|_| StructuredOutput::NAME.to_owned());
    machine.limits = options.limits();
}

fn profile(provider: &dyn ModelProvider, name: &str) -> ModelProfile {
    let id = provider.resolve_model(name);
    let info = provider.model_info(&id);
    ModelProfile::new(id, info)
}

/// Where large outputs are kept: beside the session's log.
fn artifacts(options: &Options, project: &ProjectKey, id: &SessionId) -> Option<PathBuf> {
    let home = options.home.as_ref()?;
    Some(home.session_directory(project, id).join("tool-results"))
}
