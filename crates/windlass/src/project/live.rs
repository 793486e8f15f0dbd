//! Settings that change while a session is open.

use super::open_settings::{Follows, OpenSettings};
use super::{LoadedProject, ProjectNotice, ProjectNoticeKind};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use windlass_permission::{SettingsRules, SourceRules};
use windlass_project::{Layer, Origin, Resolved, SettingsNews};
use windlass_runtime::{SessionError, SessionHandle};
use windlass_tool::environment::{given_environment, host_environment};
use windlass_types::SessionId;
use windlass_types::hook::event::ConfigChange;

/// Maximum number of sessions whose settings are refreshed.
const MAX_SESSIONS: usize = 1_024;

impl LoadedProject {
    /// Stores the settings of a session at its opening, to compare with later ones.
    pub(super) fn follow_settings(&self, session: &SessionHandle) {
        let start = self.places().start();
        let of_program = self.choice.directories.iter().map(|directory| start.join(directory));
        let directories = of_program.map(|directory| directory.canonicalize().unwrap_or(directory)).collect();
        let mut open = self.shared.settings.lock();
        if open.len() < MAX_SESSIONS {
            let follows = self.choice.follows;
            let settings = OpenSettings { session: session.weak(), live: self.read.live.clone(), directories, follows };
            open.insert(session.session_id().clone(), settings);
        }
    }

    /// Checks settings files, records of trust, commands and skills for changes. Rules, directories and
    /// `disableBypassPermissionsMode` then apply in their present form, also to calls that wait. The model reads which
    /// skills are new with its next prompt. Sessions refresh by themselves when calls have used files. Call this before
    /// prompts of a long-lived session. Blocks for as long as the disk takes.
    ///
    /// Model and effort apply from the next request on, if the session has them from settings; variables from the next
    /// program on.
    ///
    /// **A failure never widens rights**: a file that becomes unusable keeps its previous content in effect, and a
    /// notice reports that. Other settings, such as `defaultMode`, apply to sessions that are opened later; a notice
    /// names them.
    ///
    /// MCP servers start, restart or end according to `.mcp.json`, the user's files and settings, with the same trust
    /// and lists as at opening. The sessions of a project share them, so the session that refreshed last decides. This
    /// waits until removed servers have ended, at most a few seconds, and not for starting ones.
    ///
    /// Hooks of the event ConfigChange are asked first. A blocked change is not applied, except for managed settings,
    /// and a notice names the hook. Cancel safe: changes that were not applied are checked again the next time.
    ///
    /// # Errors
    /// The session is closed, or settings name a model without a known price under a budget that refuses such models
    /// ([`SessionError::UnpricedModel`]). The model stays as it is then; all other changes apply.
    pub async fn refresh(&self, session: &SessionHandle) -> Result<(), SessionError> {
        let settings = self.refresh_settings(session).await;
        self.refresh_skills(session)?;
        settings
    }

    /// Open session of the project with this id.
    pub(super) fn open_session(&self, id: &SessionId) -> Option<SessionHandle> {
        self.shared.settings.lock().get(id).map(|open| open.session.clone())
    }

    /// Like [`refresh`](Self::refresh), for settings alone, when no program has asked for it: a refused model is a
    /// notice.
    pub(crate) async fn refresh_unasked(&self, session: &SessionHandle) -> Result<(), SessionError> {
        match self.refresh_settings(session).await {
            Err(refused @ SessionError::UnpricedModel { .. }) => session.notice(refused.to_string()),
            refreshed => refreshed,
        }
    }

    /// Refreshes settings alone.
    async fn refresh_settings(&self, session: &SessionHandle) -> Result<(), SessionError> {
        // One at a time, so that hooks are asked once about a change.
        let _turn = self.shared.refreshing.lock().await;
        let news = self.settings_news(session.session_id());
        let have_changed = news.is_some();
        let result = match news {
            Some(news) => self.take_settings(session, news).await,
            None => Ok(()),
        };
        self.refresh_servers(session, have_changed).await?;
        result
    }

    async fn take_settings(&self, session: &SessionHandle, news: SettingsNews) -> Result<(), SessionError> {
        let refused = self.refused(session, &news.changed).await?;
        let mut all_settings = self.shared.settings.lock();
        let Some(open) = all_settings.get_mut(session.session_id()) else { return Ok(()) };
        let news = open.live.take(news, &refused);
        let settings_rules = |resolved: &Resolved| settings_rules(resolved, &open.directories);
        let rules = (settings_rules(&news.before), settings_rules(&news.now));
        let follows = open.follows;
        drop(all_settings);
        // Deny rules come first.
        if rules.0 != rules.1 {
            session.renew_settings(rules.0, rules.1)?;
        }
        let (taken, refused) = self.take_over(session, &news, follows)?;
        self.tell_of(&news, &taken);
        refused
    }

    /// Applies the changes that an open session can take over. Returns their keys, and the refusal of a model.
    fn take_over(
        &self,
        session: &SessionHandle,
        news: &SettingsNews,
        follows: Follows,
    ) -> Result<(Vec<&'static str>, Result<(), SessionError>), SessionError> {
        let (before, now) = (&news.before, &news.now);
        let (mut taken, mut refused) = (Vec::new(), Ok(()));
        if let Some(model) =
            now.models.model.as_ref().filter(|_| follows.model && before.models.model != now.models.model)
        {
            match session.set_model(model.value.as_str()) {
                Err(error @ SessionError::UnpricedModel { .. }) => refused = Err(error),
                given => {
                    given?;
                    taken.push("model");
                }
            }
        }
        if follows.effort && before.session.effort != now.session.effort {
            session.set_effort(now.session.effort.as_ref().map(|effort| effort.value))?;
            taken.push("effortLevel");
        }
        if before.env.programs != now.env.programs {
            session.change_environment(self.changed_variables(before, now))?;
            taken.push("env");
        }
        if cfg!(feature = "mcp") && before.servers != now.servers {
            taken.push("MCP servers");
        }
        Ok((taken, refused))
    }

    /// Changed variables of programs. A variable that settings no longer name gets its value from the program's
    /// environment again. Names that look like secrets or that change which code programs load are withheld.
    fn changed_variables(&self, before: &Resolved, now: &Resolved) -> Vec<(OsString, Option<OsString>)> {
        let names: BTreeSet<&String> = before.env.programs.keys().chain(now.env.programs.keys()).collect();
        let value =
            |resolved: &Resolved, name: &str| resolved.env.programs.get(name).map(|found| OsString::from(&found.value));
        let differ = names.into_iter().filter(|name| value(before, name) != value(now, name));
        // Variables set by the program take precedence.
        let differ = differ.filter(|name| !self.choice.variables.contains_key(*name));
        let usual = host_environment(self.usual_environment());
        let changed = differ.map(|name| {
            let setting = value(now, name).map(|value| (OsString::from(name), value));
            let passed = setting.and_then(|setting| given_environment([setting]).passed.pop());
            let usual_value = || usual.iter().find(|(known, _)| known == name.as_str()).cloned();
            (OsString::from(name), passed.or_else(usual_value).map(|(_, value)| value))
        });
        changed.collect()
    }

    /// Changes of a session's settings, if there are any.
    fn settings_news(&self, session: &SessionId) -> Option<SettingsNews> {
        self.shared.settings.lock().get(session)?.live.look(self.places(), &self.read.settings)
    }

    /// Settings of an open session.
    pub(super) fn resolved_of(&self, session: &SessionId) -> Option<Resolved> {
        self.shared.settings.lock().get(session).map(|open| open.live.resolved().clone())
    }

    /// Layers whose changes are blocked by hooks.
    pub(super) async fn refused(
        &self,
        session: &SessionHandle,
        changed: &[(Layer, Origin)],
    ) -> Result<Vec<Layer>, SessionError> {
        let mut refused = Vec::new();
        for (layer, origin) in changed {
            let source = source(*layer).to_owned();
            let file_path = match origin {
                Origin::File(path) => Some(path.display().to_string()),
                _ => None,
            };
            let outcome = session.ask_hooks(ConfigChange { source, file_path }).await?;
            let Some(block) = outcome.block.filter(|_| *layer != Layer::Managed) else { continue };
            let text = format!("{origin} counts as it did before: the hook {:?} says: {}", block.hook, block.reason);
            self.note(ProjectNoticeKind::Setting, text);
            refused.push(*layer);
        }
        Ok(refused)
    }

    fn tell_of(&self, news: &SettingsNews, taken: &[&str]) {
        let tell = |text: String| {
            self.shared.notices.give(ProjectNotice { kind: ProjectNoticeKind::Setting, text });
        };
        for problem in &news.kept {
            tell(format!("{problem}; until it is mended, the file counts as it did before"));
        }
        for note in news.now.notes.iter().filter(|note| !news.before.notes.contains(note)) {
            tell(note.to_string());
        }
        let (now, later): (Vec<&str>, Vec<&str>) =
            differing(&news.before, &news.now).into_iter().partition(|key| taken.contains(key));
        if !now.is_empty() {
            // The model provider is set up once.
            let shown: Vec<&str> =
                now.iter().map(|key| if *key == "env" { "env (for programs)" } else { key }).collect();
            tell(format!("settings have changed, and count from now on: {}", shown.join(", ")));
        }
        if !later.is_empty() {
            tell(format!(
                "settings have changed, and count in sessions that are opened from now on: {}",
                later.join(", ")
            ));
        }
    }
}

/// Name of a layer's files for hooks.
fn source(layer: Layer) -> &'static str {
    match layer {
        Layer::Managed => "policy_settings",
        Layer::Flags => "flag_settings",
        Layer::Local => "local_settings",
        Layer::Project => "project_settings",
        _ => "user_settings",
    }
}

/// Permission settings, without the directories of the program.
fn settings_rules(resolved: &Resolved, of_program: &[PathBuf]) -> SettingsRules {
    let permissions = &resolved.permissions;
    let mut merged = SettingsRules::default();
    for set in &permissions.rules {
        let mut rules = SourceRules::new(set.source, set.behavior, set.rules.clone(), &set.anchor);
        rules.origins.clone_from(&set.origins);
        merged.rules.push(rules);
    }
    let directories = permissions.additional_directories.iter().map(|directory| &directory.value);
    let added = directories.filter(|directory| directory.is_dir() && !of_program.contains(directory));
    merged.directories = added.cloned().collect();
    merged.managed_allow_only = permissions.managed_rules_only;
    merged.bypass_forbidden = permissions.bypass_disabled.is_some();
    merged.auto_forbidden = permissions.auto_disabled.is_some();
    merged
}

/// Names of the changed settings other than permissions.
fn differing(before: &Resolved, now: &Resolved) -> Vec<&'static str> {
    let differs = [
        ("permissions.defaultMode", before.permissions.default_mode != now.permissions.default_mode),
        ("model", before.models.model != now.models.model),
        ("fallbackModel", before.models.fallback != now.models.fallback),
        ("models", before.models.by_name != now.models.by_name),
        ("outputStyle", before.session.output_style != now.session.output_style),
        ("language", before.session.language != now.session.language),
        ("attribution", before.session.attribution != now.session.attribution),
        ("effortLevel", before.session.effort != now.session.effort),
        ("apiKeyHelper", before.session.api_key_helper != now.session.api_key_helper),
        ("backgroundLongCommands", before.session.background_long_commands != now.session.background_long_commands),
        ("commandTerminals", before.session.command_terminals != now.session.command_terminals),
        ("shellSnapshot", before.session.shell_snapshot != now.session.shell_snapshot),
        ("fileCheckpoints", before.session.file_checkpoints != now.session.file_checkpoints),
        ("cleanupPeriodDays", before.session.cleanup_period_days != now.session.cleanup_period_days),
        ("cleanupMaxBytes", before.session.cleanup_max_bytes != now.session.cleanup_max_bytes),
        ("outputLimits", before.session.output_limits != now.session.output_limits),
        ("lspServers", before.session.lsp_servers != now.session.lsp_servers),
        ("agent", before.agent != now.agent),
        ("env", before.env != now.env),
        ("hooks", before.hooks != now.hooks),
        ("the terminal's settings", before.terminal != now.terminal),
        ("sandbox", before.sandbox != now.sandbox),
        ("MCP servers", before.servers != now.servers),
        ("memory", before.memory != now.memory),
        ("skills", before.skills != now.skills),
        ("projectIndex", before.index_off != now.index_off),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
}
