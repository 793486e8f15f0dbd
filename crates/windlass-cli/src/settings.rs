//! Settings: what is in force, where each value comes from, and trust in a project.

use crate::args::{SettingsArgs, TrustArgs};
use crate::failure::of_project;
use crate::launch;
use crate::terminal::{Terminal, clean_line, forget_input, visible_line};
use anyhow::Context;
use serde_json::{Map, Value, json};
use std::io::{BufRead, Write, stderr, stdin, stdout};
use std::path::PathBuf;
use windlass::crates::project::{
    ModelSettings, ReviewedItem, Setting, SettingSources, TrustKind, TrustStatus, review_trust,
};
use windlass::crates::types::text::visible_json;
use windlass::{permission::Behavior, project::LoadedProject, tool::built_in::given_environment};

/// All settings that count, as `get_settings` and `windlass settings` print them: `effective` in the shape of a settings
/// file, `provenance` with the file of each value, `sources` with the files that were read, and notes. Keys
/// are masked.
pub(crate) fn shown(project: &LoadedProject) -> Value {
    let resolved = project.resolved();
    let mut effective = Map::new();
    let mut provenance = Map::new();
    let mut add = |key: &str, value: Value, origin: String| {
        effective.insert(key.to_owned(), value);
        provenance.insert(key.to_owned(), Value::String(origin));
    };
    if let Some(Setting { value, origin, .. }) = &resolved.model {
        add("model", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &resolved.fallback_model {
        add("fallbackModel", json!(value), origin.to_string());
    }
    if let Some(Setting { value, origin, .. }) = &resolved.agent {
        add("agent", json!(value), origin.to_string());
    }
    let memory = &resolved.memory;
    for (key, said) in [("autoMemoryEnabled", &memory.enabled), ("autoMemoryExtraction", &memory.extraction)] {
        if let Some(Setting { value, origin, .. }) = said {
            add(key, json!(value), origin.to_string());
        }
    }
    if let Some(Setting { value, origin, .. }) = &memory.directory {
        add("autoMemoryDirectory", json!(value), origin.to_string());
    }
    let mcpjson = &resolved.servers.mcpjson;
    if let Some(Setting { value, origin, .. }) = &mcpjson.all {
        add("enableAllProjectMcpServers", json!(value), origin.to_string());
    }
    if !resolved.models.is_empty() {
        let models = resolved.models.iter().map(|(name, model)| (name.clone(), prices_of_a_million(&model.value)));
        let origins = resolved.models.iter().map(|(name, model)| (name.clone(), json!(model.origin.to_string())));
        effective.insert("models".to_owned(), Value::Object(models.collect()));
        provenance.insert("models".to_owned(), Value::Object(origins.collect()));
    }
    let lists = [("enabledMcpjsonServers", &mcpjson.enabled), ("disabledMcpjsonServers", &mcpjson.disabled)];
    for (key, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        effective.insert(key.to_owned(), names.keys().cloned().collect());
        let origins = names.iter().map(|(name, origin)| (name.clone(), json!(origin.to_string())));
        provenance.insert(key.to_owned(), Value::Object(origins.collect()));
    }
    shown_lists(project, &mut effective, &mut provenance);
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

/// The variables that files set, and which file sets each. Values that no program gets may be secrets.
fn shown_environment(project: &LoadedProject) -> (Value, Value) {
    let (mut env, mut env_from) = (Map::new(), Map::new());
    for (name, found) in &project.resolved().env {
        let reaches_programs = !given_environment([(name.into(), (&found.value).into())]).passed.is_empty();
        env.insert(name.clone(), if reaches_programs { json!(found.value) } else { json!("***") });
        env_from.insert(name.clone(), json!(found.origin.to_string()));
    }
    (env.into(), env_from.into())
}

/// What is said of a model as a settings file has it: prices in dollars for a million tokens.
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

/// Which MCP servers may be connected. A server must be in each list of those that are allowed; the first one is shown.
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
    if let Some(origin) = &lists.managed_only {
        effective.insert("allowManagedMcpServersOnly".to_owned(), json!(true));
        provenance.insert("allowManagedMcpServersOnly".to_owned(), json!(origin.to_string()));
    }
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
    let directories: Vec<_> = project.directories().collect();
    values.insert("additionalDirectories".to_owned(), json!(directories));
    (values.into(), origins.into())
}

/// Prints what is in force in the current directory, and returns the exit code.
pub(crate) fn print(args: &SettingsArgs) -> anyhow::Result<i32> {
    let project = launch::project(args, &current_directory()?)?.review().map_err(of_project)?;
    writeln!(stdout(), "{}", visible_json(&serde_json::to_string_pretty(&shown(&project))?))?;
    Ok(0)
}

/// Records trust in the project around the current directory, and returns the exit code.
pub(crate) fn trust(args: &TrustArgs) -> anyhow::Result<i32> {
    // The content of the files makes no difference to whether they are trusted.
    let project = launch::project(&SettingsArgs::default(), &current_directory()?)?.sources(SettingSources::none());
    let project = project.inspect().map_err(of_project)?;
    if !args.remove {
        show_items(&review_trust(project.places())?)?;
    }
    if args.show {
        return Ok(0);
    }
    if !args.remove && !args.yes && Terminal::of_process().can_ask() {
        forget_input();
        if !confirmed(stdin().lock(), stderr())? {
            writeln!(stdout(), "nothing is recorded")?;
            return Ok(1);
        }
    }
    let record = project.updates().record_trust(!args.remove)?;
    let record = record.context("there is no place for a record: set WINDLASS_HOME or HOME")?;
    let root = project.places().project.first().map_or(project.places().start(), PathBuf::as_path);
    let state = if args.remove { "no longer trusted" } else { "trusted" };
    writeln!(stdout(), "{}", clean_line(&format!("{} is {state} (recorded in {})", root.display(), record.display())))?;
    Ok(0)
}

/// Asks whether what was shown is to be trusted. The end of input is a no.
fn confirmed(mut input: impl BufRead, mut output: impl Write) -> std::io::Result<bool> {
    loop {
        write!(output, "Trust all of this? [y]es [n]o: ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            return Ok(false);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

/// Shows what trust puts into effect: each item on one line, new and changed ones marked, in full except agents, which are
/// files to read.
fn show_items(items: &[ReviewedItem]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    for ReviewedItem { item, status, .. } in items {
        let status = match status {
            TrustStatus::Trusted => "trusted",
            TrustStatus::Changed => "changed",
            _ => "new",
        };
        let content = match item.kind {
            TrustKind::Agent => format!(": {} characters", item.content.chars().count()),
            _ if item.content.is_empty() => String::new(),
            _ => format!(": {}", item.content),
        };
        let line = format!("{} ({}){content}", item.name, item.file.display());
        writeln!(out, "{status:<8} {:<9} {}", item.kind, visible_line(&line))?;
    }
    Ok(())
}

/// The current directory with links followed.
pub(crate) fn current_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir()
        .and_then(|cwd| cwd.canonicalize())
        .map_err(|error| anyhow::anyhow!("the current directory cannot be used ({error}): change to another one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for (typed, expected) in
            [("y\n", true), ("YES\n", true), ("n\n", false), ("", false), ("\n", false), ("what\ny\n", true)]
        {
            let mut asked = Vec::new();
            assert_eq!(confirmed(typed.as_bytes(), &mut asked).unwrap(), expected, "{typed:?}");
            assert!(asked.starts_with(b"Trust all of this?"));
        }
    }
}
