//! Opening sessions.

use crate::error::Error;
use crate::offer::Offer;
use crate::options::Options;
use crate::profile::Profile;
use crate::programs::Programs;
#[cfg(feature = "project")]
use crate::project::GivenSkills;
use crate::recorded;
#[cfg(all(feature = "store", feature = "tools"))]
use crate::repository::Look;
use crate::resume::{Chosen, choose, refusal};
use crate::session_tools::SessionTools;
use crate::storage::{LargeResults, OutputSpace};
use crate::user_id::user_id;
use crate::{mentions, names, runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::Environment;
use windlass_hook::Hooks;
use windlass_model::{ModelProvider, SessionFact};
use windlass_permission::Policy;
use windlass_runtime::{
    Classifier, MachineConfig, OpenError, Persistence, Ports, SeededIds, Session, SessionConfig, SystemIds,
};
use windlass_session::{Owner, SessionKey, StoreErrorKind};
use windlass_tool::{Ids, ToolSet};

/// Opens a session with the handle for changing its tools. Applies the project's settings to the options first.
#[cfg(feature = "project")]
pub(crate) async fn open(mut options: Options) -> Result<(Session, SessionTools), Error> {
    runtime::check()?;
    options.apply_project()?;
    let Some(project) = options.applied_project().cloned() else { return open_settled(options).await };
    #[cfg(all(feature = "mcp", feature = "sandbox"))]
    project.hear_sandbox(&options);
    #[cfg(feature = "mcp")]
    project.offer_servers(&mut options.tools.mcp).await?;
    let base = options.tools.base_subagents.take();
    let (mut session, tools) = open_settled(options).await?;
    project.opened(base, &mut session, &tools);
    Ok((session, tools))
}

#[cfg(not(feature = "project"))]
pub(crate) use open_settled as open;

/// Opens a session from options with the project already applied.
pub(crate) async fn open_settled(options: Options) -> Result<(Session, SessionTools), Error> {
    runtime::check()?;
    #[cfg(feature = "project")]
    let options = with_skills(options);
    let (mut opening, mut notices) = Opening::new(options).await?;
    let can_ask = opening.options.permissions.can_ask();
    let offer = Offer::new(&opening.options.tools, can_ask, &opening.policy, opening.profile())?;
    let unsuited = offer.unsuited();
    notices.extend(
        unsuited.map(|name| format!("the vendor of the model does not search the web, so {name} is not offered")),
    );
    #[cfg(feature = "mcp")]
    let changes = offer.settle().await;
    let tools = offer.tools(opening.options.tools.subagents.as_ref())?;
    #[cfg(feature = "project")]
    let memory = opening.options.recall(|tool| tools.get(tool).is_some(), &mut notices).await;
    let mut ports = opening.ports(tools, &mut notices)?;
    let machine = opening.machine(&mut ports, &offer).await;
    let mut config = SessionConfig::new(machine, ports);
    if let Some(persistence) = opening.persistence() {
        config = config.with_persistence(persistence);
    }
    let mut session = match Session::open(config).await {
        Ok(session) => session,
        Err(error) => return Err(refusal(error, &opening.options.storage, &opening.cwd).await),
    };
    #[cfg(feature = "project")]
    memory.follow(&session.handle);
    #[cfg(feature = "project")]
    opening.hook_host.iter().for_each(|host| host.follow(&session.handle));
    opening.space.report_to(&session.handle);
    #[cfg(feature = "mcp")]
    opening.serve(&session.handle);
    session.notices.splice(..0, notices);
    let tools = SessionTools::new(offer, opening.options.tools.subagents, &session.handle);
    #[cfg(feature = "mcp")]
    if let Some(changes) = changes {
        tools.follow(changes);
    }
    Ok((session, tools))
}

/// Adds the tool for the program's skills, unless the project supplies one.
#[cfg(feature = "project")]
fn with_skills(mut options: Options) -> Options {
    if let Some(skills) = GivenSkills::of(&options).and_then(|given| given.tool()) {
        options.tools.toolkit.add_missing(skills);
    }
    options
}

/// A session about to be opened, with its resolved options.
struct Opening {
    options: Options,
    provider: Arc<dyn ModelProvider>,
    cwd: PathBuf,
    ids: SystemIds,
    chosen: Chosen,
    key: SessionKey,
    policy: Policy,
    results: LargeResults,
    space: OutputSpace,
    /// Host of the configured hooks. Follows the session once it is open.
    #[cfg(feature = "project")]
    hook_host: Option<Arc<crate::configured::SessionOfHooks>>,
    programs: Programs,
}

impl Opening {
    /// Resolves the options. Also returns notices for the host.
    async fn new(mut options: Options) -> Result<(Self, Vec<String>), Error> {
        let provider = provider(&options)?;
        #[cfg(feature = "project")]
        let provider = options.tools.index.iter().fold(provider, |provider, index| index.refreshed_after(provider));
        let cwd = options.settle_directories().await?;
        if let Err(unready) = options.model.check_ready(&*provider) {
            // A name of a missing session is wrong, whatever the provider reports first.
            return Err(missing_session(&options, &cwd).await.unwrap_or(unready));
        }
        options.model.requests.check()?;
        options.limits.check(&options.model, &options.compaction, &*provider)?;
        options.storage.check()?;
        let (ids, mut notices) = (SystemIds::default(), names::check(&options, &*provider)?);
        notices.extend(options.model.opening_notices(&*provider));
        let project = options.project_key(&cwd);
        let chosen = choose(&options.start, &options.storage, (&cwd, &project), &ids, &mut notices).await?;
        options.model.prepare(&*provider).await;
        options.protect_git_places(&cwd);
        let mut policy = options.policy_in(&cwd, &mut notices)?;
        policy.set_model_aliases(options.model.aliases(&*provider));
        let key = SessionKey::new(project, chosen.id.clone());
        let results = LargeResults::of(&options.storage, &key, &cwd, &ids);
        results.allow_reading(&mut policy, &cwd);
        #[cfg(feature = "project")]
        options.record_memory(&*provider);
        if let Some(folder) = results.folders().next() {
            provider.recorded_fact(SessionFact::Results, &folder.to_string_lossy());
        }
        #[cfg(feature = "project")]
        if let Some(project) = options.applied_project() {
            project.allow_reading_skills(&mut policy, &cwd);
        }
        #[cfg(feature = "project")]
        if let Some(given) = GivenSkills::of(&options) {
            given.allow_reading(&mut policy, &cwd);
            notices.extend(given.notices());
        }
        let space = OutputSpace::of(&options.storage);
        let process = options.surroundings.process(&chosen.id, &ids, &space);
        let programs = Programs::confined(process, &options, &mut policy, &ids, &mut notices).await?;
        let opening = Self {
            options,
            provider,
            cwd,
            ids,
            chosen,
            key,
            policy,
            results,
            space,
            #[cfg(feature = "project")]
            hook_host: None,
            programs,
        };
        Ok((opening, notices))
    }

    /// Lets the servers of the session reach its hooks and its models.
    #[cfg(feature = "mcp")]
    fn serve(&self, session: &windlass_runtime::SessionHandle) {
        if let Some(servers) = &self.options.tools.mcp {
            crate::elicitations::review(servers, session);
            crate::sampling::offer(servers, session, self.options.compaction.summarizer.clone());
        }
    }

    /// Profile of the session for its model.
    fn profile(&self) -> Profile {
        let model = &self.options.model;
        Profile::new(model.harness.as_ref(), &model.profile(&*self.provider))
    }

    fn ports(&mut self, tools: ToolSet, notices: &mut Vec<String>) -> Result<Ports, Error> {
        let surroundings = &self.options.surroundings;
        let process = Arc::clone(&self.programs.process);
        let files = surroundings.workspace(self.results.folders(), self.options.storage.home.as_ref());
        let mut ports = Ports::new(Arc::clone(&self.provider), tools, files, process);
        ports.system.recorded_ids = SeededIds::recorded(&*self.provider, &self.ids);
        ports.reports.edits = surroundings.previews_edits;
        ports.context.diagnostics.clone_from(&surroundings.diagnostics);
        ports.reports.hook_starts = self.options.limits.hook_starts;
        ports.host.callback.clone_from(&self.options.permissions.can_use_tool);
        ports.host.through_handles = self.options.permissions.ask_via_events;
        ports.host.wait = self.options.permissions.wait;
        ports.host.remember.clone_from(&self.options.permissions.remember);
        let auto = &self.options.permissions.auto;
        ports.classifier = Some(auto.classifier.clone().unwrap_or_else(|| {
            let model =
                auto.model.clone().unwrap_or_else(|| self.options.model.profile(&*self.provider).id.to_string());
            Classifier::new(Arc::clone(&self.provider), &model)
        }));
        let environment = surroundings.with_utf8(surroundings.program_environment(notices));
        ports.system.env = self.programs.environment(environment);
        ports.storage.checkpoints = self.options.storage.checkpoints(&self.key, surroundings)?;
        ports.storage.scratch = self.results.scratch.take();
        ports.storage.artifacts = self.results.kept.take();
        ports.context.mentions = self.options.prompts.mentions.then(|| mentions::of(&self.options.tools));
        ports.reports.file_changes = self.options.prompts.reminders.unwrap_or(true);
        ports.background = self.options.tools.allows_background();
        self.set_hooks(&mut ports)?;
        Ok(ports)
    }

    /// Sets the hooks: configured hooks first, then those in code.
    fn set_hooks(&mut self, ports: &mut Ports) -> Result<(), Error> {
        let limit = self.options.limits.hook_time.unwrap_or(Hooks::TIME_LIMIT);
        let hooks = self.options.hooks.code.iter().cloned();
        #[cfg(feature = "project")]
        let hooks = {
            let at = crate::configured::Place { options: &self.options, ports, key: &self.key, cwd: &self.cwd };
            let (configured, host) = at.hooks()?;
            self.hook_host = host;
            configured.into_iter().chain(hooks)
        };
        ports.hooks = Hooks::new(hooks).with_time_limit(limit);
        Ok(ports.hooks.check()?)
    }

    async fn machine(&mut self, ports: &mut Ports, offer: &Offer) -> MachineConfig {
        let model = self.options.model.profile(&*self.provider);
        let (id, policy) = (self.chosen.id.clone(), self.policy.clone());
        let environment = self.environment(ports).await;
        let mut machine = MachineConfig::new(id, self.ids.bits(), model, policy, self.cwd.clone());
        machine.fallback = self.options.model.fallback_profile(&*self.provider);
        machine.auto_compact.summarizer = self.options.compaction.summarizer(&*self.provider);
        machine.context.environment = Some(environment);
        machine.context.instructions = self.options.prompts.instructions.iter().cloned().collect();
        let sends = self.options.model.requests.send_user_id.unwrap_or(true);
        let home = self.options.storage.home.as_ref().filter(|_| sends);
        machine.request.user_id = home.and_then(|home| user_id(home.root(), &self.ids));
        machine.tools.specs = ports.tools.specs();
        #[cfg(feature = "project")]
        self.read_instructions(ports, &mut machine).await;
        #[cfg(feature = "project")]
        self.list_skills(&mut machine);
        machine.tools.instructions = offer.instructions().into();
        machine.tools.alternatives = offer.profile().alternatives(&ports.tools);
        self.options.configure(&mut machine);
        offer.profile().configure(&self.options.system_prompt(), &mut machine.request);
        machine
    }

    /// Adds the instruction files of the project, which the model reads before those of the program.
    #[cfg(feature = "project")]
    async fn read_instructions(&self, ports: &mut Ports, machine: &mut MachineConfig) {
        let Some(project) = self.options.applied_project() else { return };
        if let Some((mut found, nested)) = project.instructions(&ports.workspace, &self.policy, &self.chosen.id).await {
            found.extend(machine.context.instructions.iter().cloned());
            machine.context.instructions = found.into();
            ports.context.instructions = Some(nested);
        }
        if let Some(index) = &self.options.tools.index
            && let Some(text) = index.begin(&self.policy).await
        {
            let known = machine.context.instructions.iter().cloned();
            machine.context.instructions = known.chain([text]).collect();
        }
    }

    /// Adds the list of skills, which the model reads after all other instructions.
    #[cfg(feature = "project")]
    fn list_skills(&self, machine: &mut MachineConfig) {
        let is_offered = |tool: &str| machine.tools.specs.iter().any(|spec| spec.name == tool);
        let list = match self.options.applied_project() {
            Some(project) => project.skill_list(&self.chosen.id, is_offered),
            None => GivenSkills::of(&self.options).and_then(|given| given.list(is_offered)),
        };
        let known = machine.context.instructions.iter().cloned();
        machine.context.instructions = known.chain(list).collect();
    }

    /// Directories, platform and repository, for the model.
    async fn environment(&self, ports: &Ports) -> Environment {
        let mut environment = Environment::new(std::env::consts::OS);
        environment.additional_directories.clone_from(&self.options.surroundings.additional_directories);
        #[cfg(all(feature = "store", feature = "tools"))]
        if self.options.surroundings.git_status == Some(true) && !self.options.surroundings.is_elsewhere() {
            let (policy, cwd) = (&self.policy, self.cwd.as_path());
            let look =
                Look { policy, workspace: &ports.workspace, process: &ports.process, cwd, env: &ports.system.env };
            // A resumed session has a status already.
            environment.repository = look.repository(self.chosen.is_new()).await;
        }
        let now = ports.system.clock.now();
        recorded::environment(environment, &*self.provider, (&self.cwd, now))
    }

    /// Persistence of the session; `None` without a store.
    fn persistence(&mut self) -> Option<Persistence> {
        let storage = &self.options.storage;
        let owner = Owner::new(std::process::id(), storage.entrypoint());
        let header = storage.header(&self.cwd, &self.options.surroundings);
        let mut kept = Persistence::new(storage.store()?, self.key.clone(), owner, header);
        kept.must_exist = self.chosen.must_exist;
        (kept.fork_of, kept.point) = (self.chosen.fork_of.take(), self.chosen.point.take());
        Some(kept)
    }
}

/// Error for a session that is to be resumed and does not exist, or whose id is malformed.
async fn missing_session(options: &Options, cwd: &Path) -> Option<Error> {
    let project = options.project_key(cwd);
    let chosen =
        choose(&options.start, &options.storage, (cwd, &project), &SystemIds::default(), &mut Vec::new()).await;
    match chosen {
        Err(error) => Some(error),
        Ok(chosen) if chosen.must_exist => {
            let session_id = chosen.id.to_string();
            let loaded = options.storage.store()?.load(&SessionKey::new(project, chosen.id)).await;
            match loaded {
                Err(error) if error.kind == StoreErrorKind::NotFound => {
                    Some(refusal(OpenError::NotFound { session_id }, &options.storage, cwd).await)
                }
                // Opening the session reports other faults.
                _ => None,
            }
        }
        Ok(_) => None,
    }
}

/// The provider of the program, else the one that the variables of a project set up.
pub(crate) fn provider(options: &Options) -> Result<Arc<dyn ModelProvider>, Error> {
    if let Some(provider) = &options.model.provider {
        return Ok(options.compaction.with_own(options.model.described(Arc::clone(provider))));
    }
    #[cfg(all(feature = "project", any(feature = "anthropic", feature = "gemini", feature = "openai")))]
    if let Some(project) = options.applied_project() {
        return Ok(options.compaction.with_own(options.model.described(Arc::new(project.provider()))));
    }
    Err(Error::NoProvider)
}
