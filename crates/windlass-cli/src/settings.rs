//! Active settings and their sources.

use crate::args::SettingsArgs;
use crate::failure::of_project;
use crate::launch;
use serde_json::{Map, Value, json};
use std::io::{Write, stdout};
use std::path::PathBuf;
use windlass::project::{ModelSettings, Resolved, ResolvedSession, ResolvedTerminal, Setting, SnapshotContent};
use windlass::text::visible_json;
use windlass::{permission::Behavior, project::LoadedProject, tool::environment::given_environment};

/// Returns all active settings, as `get_settings` and `windlass settings` print them: `effective` in the shape of a
/// settings file, `provenance` with the file of each value, `sources` with the files that were read, and notes. Keys
/// are masked.
pub(crate) fn shown(project: &LoadedProject) -> Value {
    let resolved = project.resolved();
    let mut effective = Map::new();
    let mut provenance = Map::new();
    let mut add = |key: &str, value: Value, origin: String| {
        effective.insert(key.to_owned(), value);
        provenance.insert(key.to_owned(), Value::String(origin));
    };
    if let Some(Setting { value, origin, .. }) = &resolved.models.model {
        add("model", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &resolved.models.fallback {
        add("fallbackModel", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &resolved.agent {
        add("agent", json!(value), origin.to_string());
    }
    shown_session(&resolved.session, &mut add);
    shown_terminal(&resolved.terminal, &mut add);
    let memory = &resolved.memory;
    for (key, said) in [("autoMemoryEnabled", &memory.enabled), ("autoMemoryExtraction", &memory.extraction)] {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
    if let Some(Setting { value, origin, .. }) = &memory.ranking_model {
        add("autoMemoryRankingModel", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &memory.directory {
        add("autoMemoryDirectory", json!(value), origin.to_string());
    }
    shown_mcpjson(resolved, &mut effective, &mut provenance);
    shown_models(resolved, &mut effective, &mut provenance);
    shown_lists(project, &mut effective, &mut provenance);
    shown_switches(project, &mut effective, &mut provenance);
    let (env, env_from) = shown_environment(project);
    let (permissions, permissions_from) = shown_permissions(project);
    effective.insert("permissions".to_owned(), permissions);
    provenance.insert("permissions".to_owned(), permissions_from);
    effective.insert("env".to_owned(), env);
    provenance.insert("env".to_owned(), env_from);
    let sources = project.files().iter().map(
        |file| json!({"source": file.layer.rule_source(), "path": file.origin.to_string(), "trusted": file.trusted}),
    );
    json!({
        "effective": effective,
        "provenance": provenance,
        "sources": sources.collect::<Vec<_>>(),
        "notes": project.settings_notices().into_iter().map(|notice| notice.text).collect::<Vec<_>>(),
    })
}

/// Adds the enabled and disabled servers of the project's `.mcp.json`.
fn shown_mcpjson(resolved: &Resolved, effective: &mut Map<String, Value>, provenance: &mut Map<String, Value>) {
    let mcpjson = &resolved.servers.mcpjson;
    if let Some(Setting { value, origin, .. }) = &mcpjson.all {
        effective.insert("enableAllProjectMcpServers".to_owned(), json!(value));
        provenance.insert("enableAllProjectMcpServers".to_owned(), json!(origin.to_string()));
    }
    let lists = [("enabledMcpjsonServers", &mcpjson.enabled), ("disabledMcpjsonServers", &mcpjson.disabled)];
    for (key, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        effective.insert(key.to_owned(), names.keys().cloned().collect());
        let origins = names.iter().map(|(name, origin)| (name.clone(), json!(origin.to_string())));
        provenance.insert(key.to_owned(), Value::Object(origins.collect()));
    }
}

/// Adds the settings of models.
fn shown_models(resolved: &Resolved, effective: &mut Map<String, Value>, provenance: &mut Map<String, Value>) {
    let said = &resolved.models.by_name;
    if said.is_empty() {
        return;
    }
    let models = said.iter().map(|(name, model)| (name.clone(), prices_of_a_million(&model.value)));
    let origins = said.iter().map(|(name, model)| (name.clone(), json!(model.origin.to_string())));
    effective.insert("models".to_owned(), Value::Object(models.collect()));
    provenance.insert("models".to_owned(), Value::Object(origins.collect()));
}

/// Adds the settings of a session's language, style, thinking and key.
fn shown_session(session: &ResolvedSession, add: &mut impl FnMut(&str, Value, String)) {
    let texts = [
        ("outputStyle", &session.output_style),
        ("language", &session.language),
        ("apiKeyHelper", &session.api_key_helper),
    ];
    for (key, said) in texts {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
    if let Some(Setting { value, origin, .. }) = &session.attribution {
        add("attribution", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.effort {
        add("effortLevel", json!(value.as_str()), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.background_long_commands {
        add("backgroundLongCommands", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.command_terminals {
        add("commandTerminals", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.shell_snapshot {
        let value = if *value == SnapshotContent::All { "all" } else { "variables" };
        add("shellSnapshot", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.file_checkpoints {
        add("fileCheckpoints", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &session.output_limits {
        add("outputLimits", json!(value), origin.to_string());
    }
    let cleanup =
        [("cleanupPeriodDays", &session.cleanup_period_days), ("cleanupMaxBytes", &session.cleanup_max_bytes)];
    for (key, said) in cleanup {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
}

/// Adds the settings of the terminal.
fn shown_terminal(terminal: &ResolvedTerminal, add: &mut impl FnMut(&str, Value, String)) {
    let flags = [
        ("enterQueues", &terminal.enter_queues),
        ("terminalProgressBarEnabled", &terminal.progress),
        ("prefersReducedMotion", &terminal.reduced_motion),
        ("axScreenReader", &terminal.screen_reader),
    ];
    for (key, said) in flags {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
    for (key, said) in [("keyBindings", &terminal.key_bindings), ("statusLine", &terminal.status_line)] {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
    if let Some(Setting { value, origin, .. }) = &terminal.theme {
        add("theme", json!(value), origin.to_string());
    }
}

/// Adds switches of whole features, and exclusions.
fn shown_switches(project: &LoadedProject, effective: &mut Map<String, Value>, provenance: &mut Map<String, Value>) {
    let resolved = project.resolved();
    let excludes = &resolved.memory.instruction_excludes;
    if !excludes.is_empty() {
        let (patterns, origins): (Vec<_>, Vec<_>) =
            excludes.iter().map(|pattern| (pattern.value.as_str(), pattern.origin.to_string())).unzip();
        effective.insert("claudeMdExcludes".to_owned(), json!(patterns));
        provenance.insert("claudeMdExcludes".to_owned(), json!(origins));
    }
    if let Some(origin) = &resolved.index_off {
        effective.insert("projectIndex".to_owned(), json!(false));
        provenance.insert("projectIndex".to_owned(), json!(origin.to_string()));
    }
    let sandbox = [("enabled", &resolved.sandbox.enabled), ("failIfUnavailable", &resolved.sandbox.required)];
    let wanted = |(key, origin): &(&str, &Option<_>)| origin.is_some().then(|| ((*key).to_owned(), json!(true)));
    let wanted: Map<String, Value> = sandbox.iter().filter_map(wanted).collect();
    if !wanted.is_empty() {
        effective.insert("sandbox".to_owned(), wanted.into());
    }
    if resolved.permissions.managed_rules_only {
        effective.insert("allowManagedPermissionRulesOnly".to_owned(), json!(true));
    }
    let skills = &resolved.skills;
    let switches =
        [("disableBundledSkills", skills.without_bundled), ("disableSkillShellExecution", skills.without_programs)];
    for (key, _) in switches.into_iter().filter(|(_, on)| *on) {
        effective.insert(key.to_owned(), json!(true));
    }
    if !skills.overrides.is_empty() {
        effective.insert("skillOverrides".to_owned(), json!(skills.overrides));
    }
}

/// Returns the variables that files set, and the file of each. Values that no program gets may be secrets.
fn shown_environment(project: &LoadedProject) -> (Value, Value) {
    let (mut env, mut env_from) = (Map::new(), Map::new());
    for (name, found) in &project.resolved().env.programs {
        let reaches_programs = !given_environment([(name.into(), (&found.value).into())]).passed.is_empty();
        env.insert(name.clone(), if reaches_programs { json!(found.value) } else { json!("***") });
        env_from.insert(name.clone(), json!(found.origin.to_string()));
    }
    (env.into(), env_from.into())
}

/// Returns the settings of a model as a settings file has them: prices in dollars for a million tokens.
fn prices_of_a_million(model: &ModelSettings) -> Value {
    let mut value = json!(model);
    for (_, price) in value.as_object_mut().into_iter().flatten().filter(|(key, _)| key.ends_with("Price")) {
        if let Some(nano) = price.as_u64() {
            // Billionths for one token are thousandths for a million.
            *price = json!(nano as f64 / 1e3);
        }
    }
    value
}

/// Adds the lists of MCP servers that may be connected. A server must be in each list of allowed ones; the first one is
/// shown.
fn shown_lists(project: &LoadedProject, effective: &mut Map<String, Value>, provenance: &mut Map<String, Value>) {
    let lists = &project.resolved().servers.lists;
    if !lists.denied.is_empty() {
        let (patterns, origins): (Vec<_>, Vec<_>) =
            lists.denied.iter().map(|(pattern, origin)| (pattern, origin.to_string())).unzip();
        effective.insert("deniedMcpServers".to_owned(), json!(patterns));
        provenance.insert("deniedMcpServers".to_owned(), json!(origins));
    }
    for (list, key) in lists.allowed.iter().zip(["allowedMcpServers"]) {
        effective.insert(key.to_owned(), json!(list.patterns));
        let origins: Vec<String> = list.origins.iter().map(ToString::to_string).collect();
        provenance.insert(key.to_owned(), json!(origins));
    }
    let provided = &project.resolved().servers.provided;
    if !provided.is_empty() {
        let shown =
            provided.iter().map(|server| (server.name.clone(), shown_server(&server.config.to().unwrap_or_default())));
        effective.insert("managedMcpServers".to_owned(), Value::Object(shown.collect()));
        let origins = provided.iter().map(|server| (server.name.clone(), json!(server.path.display().to_string())));
        provenance.insert("managedMcpServers".to_owned(), Value::Object(origins.collect()));
    }
    if let Some(origin) = &lists.managed_only {
        effective.insert("allowManagedMcpServersOnly".to_owned(), json!(true));
        provenance.insert("allowManagedMcpServersOnly".to_owned(), json!(origin.to_string()));
    }
}

/// Returns a remote server without possible secrets, such as headers.
pub(crate) fn shown_server(config: &Value) -> Value {
    let members = config.as_object().into_iter().flatten();
    let shown = members.filter(|(key, _)| matches!(key.as_str(), "type" | "url"));
    Value::Object(shown.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn shown_permissions(project: &LoadedProject) -> (Value, Value) {
    let resolved = project.resolved();
    let (mut values, mut origins) = (Map::new(), Map::new());
    for (behavior, key) in [(Behavior::Allow, "allow"), (Behavior::Ask, "ask"), (Behavior::Deny, "deny")] {
        let sets = || resolved.permissions.rules.iter().filter(move |set| set.behavior == behavior);
        let rules: Vec<&String> = sets().flat_map(|set| &set.rules).collect();
        let from = sets().flat_map(|set| set.rules.iter().map(|rule| (rule.clone(), json!(set.origin.to_string()))));
        values.insert(key.to_owned(), json!(rules));
        origins.insert(key.to_owned(), from.collect::<Map<_, _>>().into());
    }
    if let Some(mode) = &resolved.permissions.default_mode {
        values.insert("defaultMode".to_owned(), json!(mode.value));
        origins.insert("defaultMode".to_owned(), json!(mode.origin.to_string()));
    }
    if let Some(origin) = &resolved.permissions.bypass_disabled {
        values.insert("disableBypassPermissionsMode".to_owned(), json!("disable"));
        origins.insert("disableBypassPermissionsMode".to_owned(), json!(origin.to_string()));
    }
    if let Some(origin) = &resolved.permissions.auto_disabled {
        values.insert("disableAutoMode".to_owned(), json!("disable"));
        origins.insert("disableAutoMode".to_owned(), json!(origin.to_string()));
    }
    let directories: Vec<_> = project.directories().collect();
    values.insert("additionalDirectories".to_owned(), json!(directories));
    (values.into(), origins.into())
}

/// Prints the active settings in the current directory, and returns the exit code.
pub(crate) fn print(args: &SettingsArgs) -> anyhow::Result<i32> {
    let project = launch::project(args, &current_directory()?)?.review().map_err(of_project)?;
    writeln!(stdout(), "{}", visible_json(&serde_json::to_string_pretty(&shown(&project))?))?;
    Ok(0)
}

/// Returns the current directory with links followed.
pub(crate) fn current_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir()
        .and_then(|cwd| cwd.canonicalize())
        .map_err(|error| anyhow::anyhow!("the current directory cannot be used ({error}): change to another one"))
}
