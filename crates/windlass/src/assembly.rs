//! Assembly of a session from its parts.

use crate::error::Error;
use crate::names;
use crate::offer::{Offer, is_offered};
use crate::options::Options;
use crate::profile::Profile;
use crate::resume::{Chosen, choose, refusal};
use crate::server_guard::ServerGuard;
use crate::session_lookup::missing_session;
use crate::session_tools::SessionTools;
use crate::storage::LargeResults;
use crate::user_id::user_id;
use crate::{local, project, runtime};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_context::FileInstructions;
use windlass_hook::{Hook, Hooks};
use windlass_model::SessionFact;
use windlass_runtime::{
    Classifier, MachineConfig, Persistence, Ports, Prompt, SeededIds, Session, SessionConfig, SystemIds,
};
use windlass_session::{Owner, SessionKey};
use windlass_subagent::Subagents;
use windlass_tool::{Ids, Nowhere, ToolSet};

/// A part of a session.
///
/// A part has its own type in its own file of `contributions`, which also lists all parts in their order.
#[async_trait]
pub(crate) trait Contribution: Send + Sync {
    /// Joins a session that is being opened: changes its configuration and its ports. Work for the open session is
    /// registered with [`Assembly::on_open`].
    ///
    /// # Errors
    /// The session must not open without this part.
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error>;
}

/// Callback of a part, run once when the session is open.
type OpenCallback = Box<dyn FnOnce(&mut Session, &SessionTools) + Send>;

/// Placeholder ports for files and programs, until their part has joined.
const NOT_OPEN_YET: Nowhere = Nowhere::new("the session is not open yet");

/// A session that is being opened.
pub(crate) struct Assembly {
    /// Options of the program and of its project.
    pub(crate) options: Options,
    /// First prompt of the session, if the caller supplied it before opening.
    pub(crate) prompt: Option<Prompt>,
    /// Session to begin or to resume.
    pub(crate) chosen: Chosen,
    pub(crate) key: SessionKey,
    pub(crate) ids: SystemIds,
    /// Configuration of the loop, with the policy and the working directory.
    pub(crate) machine: MachineConfig,
    pub(crate) ports: Ports,
    /// Profile of the session for its model.
    pub(crate) profile: Profile,
    /// Agents of the program, before those of the project were added.
    pub(crate) base_subagents: Option<Subagents>,
    /// Folders for large results.
    pub(crate) results: LargeResults,
    /// Disk space for the outputs of programs.
    pub(crate) space: local::OutputSpace,
    /// Guard that confines the programs of servers, if there is one.
    pub(crate) guard: Option<Arc<dyn ServerGuard>>,
    /// Directory of temporary files, if programs are confined.
    pub(crate) temporary: Option<PathBuf>,
    /// Texts that the model reads after the first prompt, in order. Those of the program are there from the start.
    pub(crate) texts: Vec<FileInstructions>,
    /// Hooks in order. Those of the program are there from the start.
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    /// Notices for the host.
    pub(crate) notices: Vec<String>,
    callbacks: Vec<OpenCallback>,
}

impl Assembly {
    /// Resolves the options that all parts need: the project and its servers, the provider, the directories, the
    /// session to begin or to resume, its prompt, and its rights.
    pub(crate) async fn new(mut options: Options, prompt: Option<Prompt>) -> Result<Self, Error> {
        runtime::check()?;
        options.apply_project()?;
        options.add_skill_tool();
        // Without the base, the name checks below cover the agents of files too.
        let base_subagents = options.tools.base_subagents.take();
        let provider = options.provider()?;
        let cwd = options.settle_directories().await?;
        if let Err(unready) = options.model.check_ready(&*provider) {
            // A missing session is reported instead of the provider's error: resuming it would fail anyway.
            return Err(missing_session(&options, &cwd).await.unwrap_or(unready));
        }
        options.model.requests.check()?;
        options.limits.check(&options.model, &options.compaction, &*provider)?;
        options.storage.check()?;
        let (ids, mut notices) = (SystemIds::default(), Vec::new());
        let project_key = options.project_key(&cwd);
        let chosen = choose(&options.start, &options.storage, (&cwd, &project_key), &ids, &mut notices).await?;
        // Problems of the prompt are reported before anything starts.
        let prompt = prompt.map(|prompt| options.project.expand(prompt, &cwd, &chosen.id)).transpose()?;
        project::offer_servers(&mut options).await?;
        notices.splice(..0, names::check(&options, &*provider)?);
        notices.extend(options.model.opening_notices(&*provider));
        options.model.prepare(&*provider).await;
        options.protect_git_places(&cwd);
        let mut policy = options.policy_in(&cwd, &mut notices)?;
        policy.set_model_aliases(options.model.aliases(&*provider));
        let key = SessionKey::new(project_key, chosen.id.clone());
        let results = LargeResults::of(&options.storage, &key, &cwd, &ids);
        results.allow_reading(&mut policy, &cwd);
        if let Some(folder) = results.folders().next() {
            provider.recorded_fact(SessionFact::Results, &folder.to_string_lossy());
        }
        let model = options.model.profile(&*provider);
        let profile = Profile::new(options.model.harness.as_ref(), &model);
        let machine = MachineConfig::new(chosen.id.clone(), ids.bits(), model, policy, cwd);
        let mut ports = Ports::new(provider, ToolSet::default(), Arc::new(NOT_OPEN_YET), Arc::new(NOT_OPEN_YET));
        ports.system.recorded_ids = SeededIds::recorded(&*ports.provider, &ids);
        let permissions = &options.permissions;
        ports.host.callback.clone_from(&permissions.can_use_tool);
        ports.host.through_handles = permissions.ask_via_events;
        ports.host.wait = permissions.wait;
        ports.host.remember.clone_from(&permissions.remember);
        Ok(Self {
            space: local::OutputSpace::new(&options.storage.output_limits, options.storage.home.as_ref()),
            texts: options.prompts.instructions.clone(),
            hooks: options.hooks.clone(),
            options,
            prompt,
            chosen,
            key,
            ids,
            machine,
            ports,
            profile,
            base_subagents,
            results,
            guard: None,
            temporary: None,
            notices,
            callbacks: Vec::new(),
        })
    }

    /// `true` if the model is offered the program's or the project's tool of this name.
    pub(crate) fn is_offered(&self, name: &str) -> bool {
        let tools = &self.options.tools;
        let can_ask = self.options.permissions.can_ask();
        tools
            .toolkit
            .tools
            .iter()
            .any(|tool| tool.name() == name && is_offered(tool, tools, &self.machine.policy, &self.profile, can_ask))
    }

    /// Adds a callback for the open session. Callbacks run in the order in which they were added.
    pub(crate) fn on_open(&mut self, callback: impl FnOnce(&mut Session, &SessionTools) + Send + 'static) {
        self.callbacks.push(Box::new(callback));
    }

    /// Opens the session, once all parts have joined.
    pub(crate) async fn open(mut self) -> Result<(Session, SessionTools), Error> {
        let offer = self.offer_tools()?;
        self.configure_ports()?;
        self.configure_machine(&offer);
        let persistence = self.persistence();
        let Self { machine, ports, options, notices, callbacks, .. } = self;
        let cwd = machine.cwd.clone();
        let mut config = SessionConfig::new(machine, ports);
        config.persistence = persistence;
        let mut session = match Session::open(config).await {
            Ok(session) => session,
            Err(error) => return Err(refusal(error, &options.storage, &cwd).await),
        };
        session.notices.splice(..0, notices);
        let tools = SessionTools::new(offer, options.tools.subagents, &session.handle);
        for callback in callbacks {
            callback(&mut session, &tools);
        }
        Ok((session, tools))
    }

    /// Offers the tools to the model.
    fn offer_tools(&mut self) -> Result<Offer, Error> {
        let tools = &self.options.tools;
        let can_ask = self.options.permissions.can_ask();
        let offer = Offer::new(tools, can_ask, &self.machine.policy, self.profile.clone())?;
        let unsuited = offer.unsuited();
        self.notices.extend(
            unsuited.map(|name| format!("the vendor of the model does not search the web, so {name} is not offered")),
        );
        let set = offer.tools(tools.subagents.as_ref())?;
        self.machine.tools.specs = set.specs();
        self.machine.tools.instructions = offer.instructions().into();
        self.machine.tools.alternatives = self.profile.alternatives(&set);
        self.ports.tools = set.into();
        Ok(offer)
    }

    fn configure_ports(&mut self) -> Result<(), Error> {
        let (options, ports) = (&self.options, &mut self.ports);
        ports.reports.edits = options.surroundings.previews_edits;
        ports.reports.hook_starts = options.limits.hook_starts;
        ports.reports.file_changes = options.prompts.reminders.unwrap_or(true);
        ports.context.diagnostics.clone_from(&options.surroundings.diagnostics);
        ports.background = options.tools.allows_background();
        let auto = &options.permissions.auto;
        ports.classifier = Some(auto.classifier.clone().unwrap_or_else(|| {
            let model = auto.model.clone().unwrap_or_else(|| self.machine.model.id.to_string());
            Classifier::new(Arc::clone(&ports.provider), &model)
        }));
        let limit = options.limits.hook_time.unwrap_or(Hooks::TIME_LIMIT);
        ports.hooks = Hooks::new(std::mem::take(&mut self.hooks)).with_time_limit(limit);
        Ok(ports.hooks.check()?)
    }

    fn configure_machine(&mut self, offer: &Offer) {
        let (options, machine, provider) = (&self.options, &mut self.machine, &*self.ports.provider);
        machine.fallback = options.model.fallback_profile(provider);
        machine.auto_compact.summarizer = options.compaction.summarizer(provider);
        machine.context.instructions = std::mem::take(&mut self.texts).into();
        let sends_user_id = options.model.requests.send_user_id.unwrap_or(true);
        let home = options.storage.home.as_ref().filter(|_| sends_user_id);
        machine.request.user_id = home.and_then(|home| user_id(home.root(), &self.ids));
        options.configure(machine);
        offer.profile().configure(&options.system_prompt(), &mut machine.request);
    }

    /// Persistence of the session; `None` without a store.
    fn persistence(&mut self) -> Option<Persistence> {
        let storage = &self.options.storage;
        let owner = Owner::new(std::process::id(), storage.entrypoint());
        let header = storage.header(&self.machine.cwd, &self.options.surroundings);
        let mut persistence = Persistence::new(storage.store()?, self.key.clone(), owner, header);
        persistence.must_exist = self.chosen.must_exist;
        (persistence.fork_of, persistence.point) = (self.chosen.fork_of.take(), self.chosen.point.take());
        Some(persistence)
    }
}
