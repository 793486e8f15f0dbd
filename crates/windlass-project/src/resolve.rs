//! Resolution of several settings files to the settings in effect.

mod hooks;
mod memory;
mod session;
mod skills;
mod terminal;

use crate::canonical::content_of;
use crate::error::SettingsError;
use crate::mode::width;
use crate::note::{Note, Origin};
use crate::resolved::{Resolved, RuleSet, Setting};
use crate::sandbox;
use crate::servers::definition::{ServerDefinition, ServerScope};
use crate::servers::lists::ServerLists;
use crate::settings::{KeyEffect, UnknownKey};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use std::path::PathBuf;
use windlass_permission::{Policy, PolicyConfig};
use windlass_types::path::normalized;
use windlass_types::text::visible_line;
use windlass_types::{Behavior, PermissionMode, RuleOrigin};

/// Maximum number of names that a note lists.
const MAX_NAMES: usize = 8;

/// Decides the settings in effect. Pure: the same files give the same result, in any order, as long as earlier files of
/// a layer are stronger.
///
/// Rules and directories join; for all other settings the strongest layer wins. Restrictions of a file always apply,
/// also when it is not trusted: deny and ask rules, a mode narrower than the one otherwise in force, a disabled
/// bypassPermissions, a sandbox. Widening settings of a project's file apply when its [`Standing`](crate::Standing)
/// allows it. The model provider, a wider mode and directories outside are never taken from a shared file of a project.
///
/// # Errors
/// A deny or ask rule cannot be used, or a mode given on the command line is not known. An allow rule that cannot be
/// used allows nothing, and is named in a note.
pub fn resolve(files: &[SettingsFile]) -> Result<Resolved, SettingsError> {
    let mut resolved = Resolved::default();
    let mut narrower = Vec::new();
    resolved.permissions.managed_rules_only =
        files.iter().any(|file| file.layer == Layer::Managed && file.settings.permissions.managed_rules_only);
    let mut project_skills = crate::settings::SkillSettings::default();
    for layer in Layer::STRONGEST_FIRST {
        for file in files.iter().filter(|file| file.layer == layer) {
            let mut resolution = SettingsResolution { file, resolved: &mut resolved, narrower: &mut narrower };
            resolution.rules()?;
            resolution.mode()?;
            resolution.directories();
            resolution.models();
            resolution.environment();
            resolution.mcpjson();
            resolution.provided_servers();
            resolution.index();
            resolution.hooks();
            resolution.keys()?;
            sandbox::read(file, &mut resolved.sandbox, &mut resolved.notes);
            session::read(file, &mut resolved.session, &mut resolved.notes);
            memory::read(file, &mut resolved.memory, &mut resolved.notes);
            terminal::read(file, &mut resolved.terminal, &mut resolved.notes);
            skills::read(file, &mut resolved.skills, &mut project_skills);
        }
    }
    skills::narrow(&mut resolved.skills, project_skills);
    resolved.narrow_mode(narrower);
    resolved.pass_over_hooks(files);
    resolved.servers.lists = ServerLists::join(files, &mut resolved.notes);
    resolved.sandbox.settle();
    Ok(resolved)
}

impl Resolved {
    /// Applies the narrowest of these modes, if it allows less than the one that would be in force.
    fn narrow_mode(&mut self, modes: Vec<Setting<PermissionMode>>) {
        let otherwise = self.permissions.default_mode.as_ref().map(|mode| mode.value).unwrap_or_default();
        for mode in modes.iter().filter(|mode| width(mode.value) >= width(otherwise) && mode.value != otherwise) {
            let who = match mode.layer {
                Layer::Project => "a project's shared file",
                _ => "a file that the repository holds, or of a project that is not trusted,",
            };
            self.notes.push(Note::new(&mode.origin, format!("{who} cannot widen the mode to {}", mode.value)));
        }
        let narrowest = modes.into_iter().min_by_key(|mode| (width(mode.value), mode.value != PermissionMode::Plan));
        if let Some(mode) = narrowest.filter(|mode| width(mode.value) < width(otherwise)) {
            self.permissions.default_mode = Some(mode);
        }
    }
}

/// Resolution of one file into the result.
struct SettingsResolution<'a> {
    file: &'a SettingsFile,
    resolved: &'a mut Resolved,
    /// Modes of files that may only narrow, the strongest first.
    narrower: &'a mut Vec<Setting<PermissionMode>>,
}

impl SettingsResolution<'_> {
    fn note(&mut self, text: impl Into<String>) {
        self.resolved.notes.push(Note::new(&self.file.origin, text));
    }

    fn setting<T>(&self, value: T) -> Setting<T> {
        Setting { value, layer: self.file.layer, origin: self.file.origin.clone() }
    }

    fn rules(&mut self) -> Result<(), SettingsError> {
        let file = self.file;
        let permissions = &file.settings.permissions;
        self.rule_set(Behavior::Deny, &permissions.deny)?;
        self.rule_set(Behavior::Ask, &permissions.ask)?;
        if self.resolved.permissions.managed_rules_only && file.layer != Layer::Managed {
            if !permissions.allow.is_empty() {
                self.note(format!("allow rules count in managed settings only: {}", names(&permissions.allow)));
            }
            return Ok(());
        }
        let approved = &file.standing.approved.allow;
        let (allow, ignored): (Vec<String>, Vec<String>) = permissions
            .allow
            .iter()
            .cloned()
            .partition(|rule| file.covers(TrustKind::Rule, rule, "") || approved.contains(rule));
        if !ignored.is_empty() {
            self.note(format!("allow rules do not count {}: {}", file.standing.condition(), names(&ignored)));
        }
        self.rule_set(Behavior::Allow, &allow)
    }

    /// Adds the rules that can be used.
    fn rule_set(&mut self, behavior: Behavior, rules: &[String]) -> Result<(), SettingsError> {
        let file = self.file;
        let source = file.layer.rule_source();
        let mut usable = Vec::with_capacity(rules.len());
        let mut policy = Policy::new(PolicyConfig::new(&file.anchor));
        for rule in rules {
            let checked = policy.add_rules(source, behavior, std::slice::from_ref(rule), &file.anchor);
            let warnings = checked.map_err(|problem| SettingsError::Rule { origin: file.origin.clone(), problem })?;
            for warning in &warnings {
                self.note(warning.to_string());
            }
            if !warnings.iter().any(|warning| warning.ignored) {
                usable.push(rule.clone());
            }
        }
        if !usable.is_empty() {
            let (anchor, origin) = (file.anchor.clone(), file.origin.clone());
            let origin_of = |rule: &String| {
                let Origin::File(path) = &file.origin else { return None };
                let line = file.settings.permissions.line(behavior, rule);
                Some((rule.trim().to_owned(), RuleOrigin::new(path.display().to_string(), line)))
            };
            let origins = usable.iter().filter_map(origin_of).collect();
            self.resolved.permissions.rules.push(RuleSet { source, behavior, rules: usable, anchor, origin, origins });
        }
        Ok(())
    }

    fn mode(&mut self) -> Result<(), SettingsError> {
        let file = self.file;
        if file.settings.permissions.bypass_disabled && self.resolved.permissions.bypass_disabled.is_none() {
            self.resolved.permissions.bypass_disabled = Some(file.origin.clone());
        }
        if file.settings.permissions.auto_disabled && self.resolved.permissions.auto_disabled.is_none() {
            self.resolved.permissions.auto_disabled = Some(file.origin.clone());
        }
        let Some(text) = &file.settings.permissions.default_mode else { return Ok(()) };
        let mode = match text.parse::<PermissionMode>() {
            Ok(mode) => mode,
            Err(problem) if file.layer == Layer::Flags => {
                return Err(SettingsError::Malformed { origin: file.origin.clone(), problem });
            }
            Err(problem) => {
                self.note(format!("{problem}; the mode is `default`"));
                PermissionMode::Default
            }
        };
        let approved = file.standing.approved.mode == Some(mode);
        let trusted = || file.covers(TrustKind::Setting, "permissions.defaultMode", &content_of(text));
        if approved || (!file.is_shared() && trusted()) {
            if self.resolved.permissions.default_mode.is_none() {
                self.resolved.permissions.default_mode = Some(self.setting(mode));
            }
        } else if self.resolved.permissions.default_mode.is_none() {
            // No stronger file sets a mode. The weaker files decide if this one narrows.
            let narrower = self.setting(mode);
            self.narrower.push(narrower);
        }
        Ok(())
    }

    fn directories(&mut self) {
        let file = self.file;
        let (mut ignored, mut outside) = (Vec::new(), Vec::new());
        for written in &file.settings.permissions.additional_directories {
            let directory = normalized(&file.anchor.join(written));
            let approved = file.standing.approved.directories.contains(&directory);
            if !approved && file.is_shared() && !directory.starts_with(&file.root) {
                outside.push(written.display().to_string());
            } else if !approved && !file.covers(TrustKind::Directory, &written.display().to_string(), "") {
                ignored.push(written.display().to_string());
            } else if !self.resolved.permissions.additional_directories.iter().any(|known| known.value == directory) {
                let setting = self.setting(directory);
                self.resolved.permissions.additional_directories.push(setting);
            }
        }
        if !outside.is_empty() {
            self.note(format!("a project's shared file cannot add directories outside of it: {}", names(&outside)));
        }
        if !ignored.is_empty() {
            self.note(format!("directories do not count {}: {}", file.standing.condition(), names(&ignored)));
        }
    }

    fn models(&mut self) {
        let file = self.file;
        let settings = &file.settings;
        let chosen = &settings.models;
        for (key, content) in settings.widening() {
            if !matches!(key, "model" | "fallbackModel" | "models" | "agent") {
                continue;
            }
            if !file.covers(TrustKind::Setting, key, &content) {
                self.note(format!("`{key}` does not count {}", file.standing.condition()));
                continue;
            }
            match key {
                "model" if self.resolved.models.model.is_none() => {
                    self.resolved.models.model = chosen.model.clone().map(|model| self.setting(model));
                }
                "agent" if self.resolved.agent.is_none() => {
                    self.resolved.agent = settings.agent.clone().map(|agent| self.setting(agent));
                }
                "fallbackModel" if self.resolved.models.fallback.is_none() => {
                    self.resolved.models.fallback = Some(self.setting(chosen.fallback.clone()));
                }
                "models" => {
                    for (name, model) in &chosen.by_name {
                        let setting = self.setting(model.clone());
                        self.resolved.models.by_name.entry(name.clone()).or_insert(setting);
                    }
                }
                _ => {}
            }
        }
    }

    fn environment(&mut self) {
        let file = self.file;
        let env = &file.settings.env;
        if env.is_empty() {
            return;
        }
        let (applied, ignored): (Vec<_>, Vec<_>) =
            env.iter().partition(|(name, value)| file.covers(TrustKind::Variable, name, value));
        if !ignored.is_empty() {
            let ignored: Vec<String> = ignored.into_iter().map(|(name, _)| name.clone()).collect();
            self.note(format!("`env` does not count {}: {}", file.standing.condition(), names(&ignored)));
        }
        let applied_names: Vec<String> = applied.iter().map(|(name, _)| (*name).clone()).collect();
        let (usable, unusable): (Vec<_>, Vec<_>) =
            applied.into_iter().partition(|(name, _)| !name.is_empty() && !name.contains('='));
        if !unusable.is_empty() {
            let unusable: Vec<String> = unusable.into_iter().map(|(name, _)| format!("{name:?}")).collect();
            self.note(format!("no variable can have such a name: {}", names(&unusable)));
        }
        for (name, value) in usable {
            let setting = self.setting(value.clone());
            self.resolved.env.programs.entry(name.clone()).or_insert_with(|| setting.clone());
            if !file.is_shared() {
                self.resolved.env.provider.entry(name.clone()).or_insert(setting);
            }
        }
        let provider_names: Vec<String> = applied_names.into_iter().filter(|name| concerns_provider(name)).collect();
        if file.is_shared() && !provider_names.is_empty() {
            self.note(format!("a project's shared file cannot set up the model provider: {}", names(&provider_names)));
        }
    }

    /// Resolves the choice of servers: a server starts a program, so only files that no repository brings can switch
    /// one on.
    fn mcpjson(&mut self) {
        let file = self.file;
        let choice = &file.settings.servers.mcpjson;
        for name in &choice.disabled {
            self.resolved.servers.mcpjson.disabled.entry(name.clone()).or_insert_with(|| file.origin.clone());
        }
        let trusted = |key: &str, content: &str| !file.is_shared() && file.covers(TrustKind::Setting, key, content);
        let enables_all = trusted("enableAllProjectMcpServers", "true");
        let enabled = trusted("enabledMcpjsonServers", &content_of(&choice.enabled));
        let ignored = [
            ("enableAllProjectMcpServers", choice.all == Some(true) && !enables_all),
            ("enabledMcpjsonServers", !choice.enabled.is_empty() && !enabled),
        ];
        if let Some((key, _)) = ignored.iter().find(|(_, ignored)| *ignored) {
            let reason = match file.is_shared() || !file.standing.is_trusted() {
                true => "in a file of a project that others may have written",
                false => file.standing.condition(),
            };
            self.note(format!("`{key}` does not count {reason}"));
        }
        // `false` is no wider than an absent key.
        let applies = enables_all || (!file.is_shared() && file.standing.is_trusted() && choice.all == Some(false));
        if let Some(enables_all) = choice.all.filter(|_| applies && self.resolved.servers.mcpjson.all.is_none()) {
            self.resolved.servers.mcpjson.all = Some(self.setting(enables_all));
        }
        for name in choice.enabled.iter().filter(|_| enabled) {
            self.resolved.servers.mcpjson.enabled.entry(name.clone()).or_insert_with(|| file.origin.clone());
        }
    }

    /// Adds the servers of the administrator. A program of one machine is not on all of them, so only remote servers
    /// are provided.
    fn provided_servers(&mut self) {
        let file = self.file;
        let provided = &file.settings.servers.lists.provided;
        if file.layer != Layer::Managed {
            if !provided.is_empty() {
                self.note("`managedMcpServers` counts in managed settings only");
            }
            return;
        }
        let path = match &file.origin {
            Origin::File(path) => path.clone(),
            inline => PathBuf::from(inline.to_string()),
        };
        for (name, config) in provided {
            let is_remote = config.to::<serde_json::Value>().is_ok_and(|config| config.get("url").is_some());
            let is_known = self.resolved.servers.provided.iter().any(|server| server.name == *name);
            if !is_remote {
                self.note(format!("`managedMcpServers`: {} has no `url`, so it is left out", visible_line(name)));
            } else if !is_known {
                let server = ServerDefinition::new(name, ServerScope::Managed, &path, config.clone());
                self.resolved.servers.provided.push(server);
            }
        }
    }

    /// Resolves the index switch. Any file can switch the index off, because it grants no rights.
    fn index(&mut self) {
        if self.file.settings.index_off {
            self.resolved.index_off.get_or_insert_with(|| self.file.origin.clone());
        }
    }

    /// Notes the keys without effect, and refuses a key whose restriction cannot be enforced.
    fn keys(&mut self) -> Result<(), SettingsError> {
        let file = self.file;
        let (keys, is_managed) = (&file.settings.keys, file.layer == Layer::Managed);
        let mut idle = keys.without_effect.clone();
        for key in &keys.refused {
            if key.effect == KeyEffect::Refused || is_managed {
                return Err(SettingsError::Restricts { origin: file.origin.clone(), key: key.name, is_managed });
            }
            idle.push(key.name.to_owned());
        }
        if !idle.is_empty() {
            self.note(format!("without effect in this version: {}", names(&idle)));
        }
        if !keys.unknown.is_empty() {
            let unknown: Vec<String> = keys.unknown.iter().map(shown).collect();
            self.note(format!("not known: {}", names(&unknown)));
        }
        Ok(())
    }
}

/// Returns a key that is not known, with its line and the one that may be meant.
fn shown(key: &UnknownKey) -> String {
    let line = key.line.map(|line| format!("line {line}"));
    let meant = key.meant.map(|meant| format!("did you mean `{meant}`?"));
    let more: Vec<String> = line.into_iter().chain(meant).collect();
    // A name is as long as its writer likes.
    let name: String = key.name.chars().take(100).collect();
    if more.is_empty() { name } else { format!("{name} ({})", more.join(", ")) }
}

/// Returns `true` if a variable decides the model's endpoint or the paying account.
fn concerns_provider(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let prefixes = ["ANTHROPIC_", "AWS_", "CLAUDE_CODE_USE_", "CLOUDSDK_", "CLOUD_ML_", "GCLOUD_", "GOOGLE_"];
    prefixes.iter().any(|beginning| name.starts_with(beginning)) || name.ends_with("_PROXY")
}

/// Returns names as a list of limited length.
fn names(all: &[String]) -> String {
    let mut text = String::new();
    for (index, name) in all.iter().take(MAX_NAMES).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&visible_line(&name.chars().take(200).collect::<String>()));
    }
    match all.len().saturating_sub(MAX_NAMES) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
