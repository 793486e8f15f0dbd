//! Application of a project's files to the options of a session: the one place that turns settings into options.

use super::agent::MainAgent;
use super::variables::Variables;
use super::{Applied, LoadedProject, ProjectError, ProjectInput, ProjectNoticeKind};
use crate::error::Error;
use crate::memory::as_port;
use crate::names::Tools;
use crate::options::Options;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use windlass_model::{ModelOverride, ModelOverrides};
use windlass_project::Setting;
use windlass_tool::DynTool;
use windlass_types::PermissionMode;

impl Options {
    /// The project, once it is applied to the options.
    pub(crate) fn applied_project(&self) -> Option<&LoadedProject> {
        match &self.project {
            Applied::Yes(project) => Some(project),
            _ => None,
        }
    }

    /// Applies the project to the options, if it is not applied yet.
    pub(crate) fn apply_project(&mut self) -> Result<(), Error> {
        let mut project = match std::mem::take(&mut self.project) {
            Applied::Given(ProjectInput::Unread(project)) => project.load()?,
            Applied::Given(ProjectInput::Loaded(project)) => *project,
            before => {
                self.project = before;
                return Ok(());
            }
        };
        project.check_hooks()?;
        project.check_elsewhere()?;
        project.is_of(self)?;
        project.choice.skills.extend(self.prompts.skills.iter().cloned());
        project.choice.directories = Arc::new(self.surroundings.additional_directories.clone());
        let said = (self.model.name.is_none(), self.model.effort.is_none());
        project.apply(self)?;
        let resolved = project.resolved();
        let model = resolved.models.model.as_ref().map(|model| &model.value);
        let effort = resolved.session.effort.as_ref().map(|effort| effort.value);
        let follows = (said.0 && self.model.name.as_ref() == model, said.1 && self.model.effort == effort);
        (project.choice.follows.model, project.choice.follows.effort) = follows;
        self.project = Applied::Yes(project);
        Ok(())
    }
}

impl LoadedProject {
    /// Checks that the session works in the start directory of the project, which is also the default.
    fn is_of(&self, options: &mut Options) -> Result<(), ProjectError> {
        if let Some(there) = self.place_elsewhere() {
            return self.apply_start(there, options);
        }
        let start = self.places().start();
        match options.given_directory() {
            None => options.surroundings.cwd = Some(start.to_path_buf()),
            Some(given) if given.canonicalize().is_ok_and(|given| given != start) => {
                return Err(ProjectError::OtherDirectory { cwd: given.to_path_buf(), project: start.to_path_buf() });
            }
            // A missing directory is reported when the session opens.
            Some(_) => {}
        }
        Ok(())
    }

    #[cfg(all(feature = "store", feature = "tools"))]
    fn apply_checkpoints(&self, options: &mut Options) {
        let (limits, said) = (&mut options.storage.checkpoint_limits, &self.resolved().session.file_checkpoints);
        // Values set by the program take precedence.
        if let Some(said) = said.as_ref().filter(|_| *limits == windlass_store::CheckpointLimits::default()) {
            limits.file_bytes = said.value.max_file_bytes.unwrap_or(limits.file_bytes);
            limits.total_bytes = said.value.max_total_bytes.unwrap_or(limits.total_bytes);
            limits.baseline_bytes = said.value.max_baseline_bytes.unwrap_or(limits.baseline_bytes);
        }
    }

    #[cfg(feature = "tools")]
    fn apply_output_limits(&self, options: &mut Options) {
        let (limits, settings) = (&mut options.storage.output_limits, &self.resolved().session.output_limits);
        // The program's own limits have priority.
        if let Some(settings) = settings.as_ref().filter(|_| *limits == windlass_local::KeptLimits::default()) {
            limits.session = settings.value.max_session_bytes.unwrap_or(limits.session);
            limits.home = settings.value.max_home_bytes.unwrap_or(limits.home);
        }
    }

    /// Bash tool as settings and variables of the project configure it, for [`Toolkit::replacing_shared`]. `None` if
    /// they do not change it. A session with the project applies them automatically.
    ///
    /// [`Toolkit::replacing_shared`]: crate::tool::Toolkit::replacing_shared
    pub fn bash(&self) -> Option<Arc<dyn DynTool>> {
        self.bash_with(&self.session_variables())
    }

    fn bash_with(&self, variables: &Variables) -> Option<Arc<dyn DynTool>> {
        let said = &self.resolved().session;
        let is_on = |setting: &Option<Setting<bool>>| setting.as_ref().is_some_and(|setting| setting.value);
        let snapshot = said.shell_snapshot.as_ref().map(|content| content.value);
        let bash = variables.bash(is_on(&said.background_long_commands), snapshot);
        match is_on(&said.command_terminals) {
            true => Some(Arc::new(bash.unwrap_or_default().with_terminals())),
            false => bash.map(|bash| Arc::new(bash) as Arc<dyn DynTool>),
        }
    }

    fn apply(&self, options: &mut Options) -> Result<(), Error> {
        let variables = self.session_variables();
        for note in &variables.notes {
            self.note(ProjectNoticeKind::Variable, note.as_str());
        }
        if let Some(bash) = self.bash_with(&variables) {
            options.tools.toolkit.replace_own_bash(bash);
        }
        let agents = Tools::of_offer(&options.tools).checked(self.known_agents());
        let tools = options.tools.toolkit.tools().iter().map(|tool| tool.name().into_owned());
        let tools: Vec<String> = tools.chain(self.memory_tool()).collect();
        let agent = self.main_agent(&agents, &tools, options.permissions.bypass_allowed)?;
        #[cfg(all(feature = "store", feature = "tools"))]
        self.apply_checkpoints(options);
        #[cfg(feature = "tools")]
        self.apply_output_limits(options);
        self.apply_models(options, &agent, &variables);
        if let Some(skills) = self.skill_tool() {
            options.tools.toolkit.add_missing(skills);
        }
        let memories = self.apply_memory(options, agent.definition());
        self.apply_index(options);
        self.apply_permissions(options, &agent);
        self.apply_surroundings(options, &variables);
        #[cfg(feature = "lsp")]
        self.apply_language_servers(options);
        #[cfg(feature = "sandbox")]
        self.apply_sandbox(options);
        let own = agent.system_prompt(options.prompts.system.clone());
        let is_agent = agent.definition().is_some() && own != options.prompts.system;
        options.prompts.system = own;
        self.apply_style(options, is_agent);
        if let Some(names) = agent.tools() {
            options.tools.only.and(names.to_vec());
        }
        if !self.choice.without.subagents && agent.may_delegate() {
            let base = options.tools.subagents.take().unwrap_or_default();
            let base = if variables.background { base } else { base.background_by_default(false) };
            let base = memories.iter().fold(base, |base, memories| base.with_memories(as_port(memories)));
            options.tools.subagents = Some(self.below(&base, &agents));
            options.tools.base_subagents = Some(base);
        }
        if options.start.begins_new() {
            options.prompts.initial = agent.initial_prompt().map(str::to_owned);
        }
        Ok(())
    }

    /// Applies the model and its request options. The program precedes the agent, then come variables and settings.
    fn apply_models(&self, options: &mut Options, agent: &MainAgent, variables: &Variables) {
        let resolved = self.resolved();
        let model = || {
            let settings = || resolved.models.model.as_ref().map(|model| model.value.as_str());
            agent
                .definition()
                .and_then(|agent| agent.model.as_deref())
                .or(variables.model.as_deref())
                .or_else(settings)
                .map(str::to_owned)
        };
        options.model.name = options.model.name.take().or_else(model);
        let mut overrides = self.model_overrides();
        overrides.extend(std::mem::take(&mut options.model.overrides));
        options.model.overrides = overrides;
        let fallback = || resolved.models.fallback.as_ref()?.value.first().map(|model| model.trim().to_owned());
        options.model.fallback = options.model.fallback.take().or_else(fallback);
        options.limits.base.max_turns = agent.max_turns(options.limits.base.max_turns);
        options.limits.max_retries = options.limits.max_retries.or(variables.max_retries);
        options.limits.structured_output_retries =
            options.limits.structured_output_retries.or(variables.structured_output_retries);
        options.model.requests.max_output_tokens =
            options.model.requests.max_output_tokens.or(variables.max_output_tokens);
        options.model.thinking = options.model.thinking.or(variables.thinking);
        options.model.effort = options.model.effort.or(agent.definition().and_then(|agent| agent.effort));
        let effort = self.resolved().session.effort.as_ref().map(|effort| effort.value);
        options.model.effort = options.model.effort.or(effort);
        options.model.requests.send_user_id = options.model.requests.send_user_id.or(Some(variables.send_user_id));
    }

    /// Model overrides from the active settings: limits, prices, aliases. A session with the project applies them
    /// automatically.
    pub fn model_overrides(&self) -> ModelOverrides {
        let mut overrides = ModelOverrides::new();
        for (name, setting) in &self.resolved().models.by_name {
            let (said, mut values) = (&setting.value, ModelOverride::new());
            (values.context_window, values.max_output_tokens) = (said.context_window, said.max_output_tokens);
            (values.default_output_tokens, values.max_images) = (said.default_output_tokens, said.max_images);
            (values.rates.input, values.rates.output) = (said.input_price, said.output_price);
            values.rates.cache_read = said.cache_read_price;
            (values.rates.cache_write, values.rates.cache_write_1h) =
                (said.cache_write_price, said.cache_write_1h_price);
            if !values.names().is_empty() {
                overrides.add(name, values);
            }
            for alias in &said.aliases {
                overrides.add_alias(alias, name);
            }
        }
        overrides
    }

    /// Applies the mode, the rules, and the storage of answers.
    fn apply_permissions(&self, options: &mut Options, agent: &MainAgent) {
        let mut permissions = std::mem::take(&mut options.permissions).deny(agent.forbidden().cloned());
        permissions.limits.extend(agent.tool_rules().cloned());
        permissions.bypass_allowed &= self.resolved().permissions.bypass_disabled.is_none();
        permissions.auto.forbidden |= self.resolved().permissions.auto_disabled.is_some();
        let mode = self.start_mode(permissions.mode, permissions.bypass_allowed, agent);
        permissions.mode = Some(mode);
        // Answers are stored for directories of this machine.
        permissions.remember = self.place_elsewhere().is_none().then(|| self.remembering());
        #[cfg(feature = "sandbox")]
        let permissions = {
            let (denied, allowed) = self.page_rules();
            permissions.deny(denied).allow(allowed)
        };
        let programs = self.program_files();
        self.begin_program_review(&programs);
        let programs = self.protected(programs);
        options.permissions = self.permissions_beside(permissions, programs);
    }

    fn start_mode(&self, said: Option<PermissionMode>, bypass: bool, agent: &MainAgent) -> PermissionMode {
        let settings = || agent.mode(self.mode(bypass).unwrap_or_default());
        self.permitted_mode(said.unwrap_or_else(settings))
    }

    /// Applies directories, the environment of programs, and the permission to run git.
    fn apply_surroundings(&self, options: &mut Options, variables: &Variables) {
        options.tools.budget = options.tools.budget.or(variables.tool_budget);
        options.tools.background = Some(options.tools.background.unwrap_or(true) && variables.background);
        if self.place_elsewhere().is_some() {
            return;
        }
        options.surroundings.additional_directories.extend(self.directories().map(Path::to_path_buf));
        options.surroundings.environments.programs = match options.surroundings.environments.programs.take() {
            Some(own) => {
                let mut all = self.added_variables();
                all.retain(|(name, _): &(OsString, OsString)| !own.iter().any(|(known, _)| known == name));
                Some(all.into_iter().chain(own).collect())
            }
            None => self.program_environment(),
        };
        options.surroundings.environments.host = self.process_environment();
        let home = self.places().user_home.clone();
        options.surroundings.user_home = options.surroundings.user_home.take().or(home);
        options.surroundings.git_status = Some(options.surroundings.git_status.unwrap_or_else(|| self.may_ask_git()));
    }
}
