//! `windlass config`: settings by name, their sources, and changes of them.

pub(crate) mod command;
mod layers;

use crate::args::SettingsArgs;
use crate::failure::{Usage, of_project};
use crate::launch;
use crate::settings::{current_directory, shown, shown_server};
use crate::terminal::clean_line;
use anyhow::Context;
use command::{ConfigCommand, GetArgs, Scope, SetArgs, ShowArgs, UnsetArgs};
use layers::{Said, names, said};
use serde_json::{Map, Value, json};
use std::io::{Write, stderr, stdout};
use windlass::project::LoadedProject;
use windlass::project::{SettingPath, settings_schema};
use windlass::text::visible_json;
use windlass::tool::environment::given_environment;

/// Carries out a command on settings, and returns the exit code.
pub(crate) fn config(command: &ConfigCommand) -> anyhow::Result<i32> {
    match command {
        ConfigCommand::Show(args) => show(args),
        ConfigCommand::Get(args) => get(args),
        ConfigCommand::Set(SetArgs { key, value, scope }) => change(key, Some(value), scope.scope),
        ConfigCommand::Unset(UnsetArgs { key, scope }) => change(key, None, scope.scope),
        ConfigCommand::Schema => {
            writeln!(stdout(), "{}", serde_json::to_string_pretty(&settings_schema())?)?;
            Ok(0)
        }
    }
}

fn show(args: &ShowArgs) -> anyhow::Result<i32> {
    let project = launch::project(&args.settings, &current_directory()?)?.review().map_err(of_project)?;
    let mut document = shown(&project);
    let said = said(&project, &args.settings)?;
    if args.json {
        let origins = origins(&document, &said);
        if let Some(members) = document.as_object_mut().filter(|_| args.origin) {
            members.insert("origins".to_owned(), origins);
        }
        writeln!(stdout(), "{}", visible_json(&serde_json::to_string_pretty(&document)?))?;
        return Ok(0);
    }
    let mut out = stdout().lock();
    for row in listed(&document, &said, args.origin) {
        writeln!(out, "{row}")?;
    }
    notes(&project)?;
    Ok(0)
}

/// Returns a row for each setting of a project, and with `has_origins` one for each file that sets it.
pub(crate) fn rows(project: &LoadedProject, args: &SettingsArgs, has_origins: bool) -> anyhow::Result<Vec<String>> {
    Ok(listed(&shown(project), &said(project, args)?, has_origins))
}

fn listed(document: &Value, said: &[Said], has_origins: bool) -> Vec<String> {
    let mut keys: Vec<&str> = said.iter().map(|said| said.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut rows = Vec::new();
    for key in keys {
        let of_key: Vec<&Said> = said.iter().filter(|said| said.key == key).collect();
        let Some(first) = of_key.first() else { continue };
        let said_first = OF_SESSIONS.contains(&key).then_some(&first.value);
        let value = in_force(document, &first.members)
            .or(said_first)
            .map_or_else(|| "does not count".to_owned(), Value::to_string);
        rows.push(format!("{key} = {}", clean_line(&visible_json(&value))));
        if has_origins {
            rows.extend(origin_rows(document, &of_key));
        }
    }
    rows
}

/// Returns the values of each file, by setting.
fn origins(document: &Value, said: &[Said]) -> Value {
    let mut origins: Map<String, Value> = Map::new();
    for said in said {
        if let Some(list) = origins.entry(&*said.key).or_insert_with(|| json!([])).as_array_mut() {
            list.push(said.json(counts(document, said)));
        }
    }
    Value::Object(origins)
}

fn get(args: &GetArgs) -> anyhow::Result<i32> {
    let setting = SettingPath::named(&args.key).map_err(|problem| Usage(problem.to_string()))?;
    let project = launch::project(&args.settings, &current_directory()?)?.review().map_err(of_project)?;
    let document = shown(&project);
    let mut said = said(&project, &args.settings)?;
    said.retain(|said| said.key == setting.key.name);
    let value = in_force(&document, &setting.members);
    let mut out = stdout().lock();
    if args.json {
        let origins: Vec<Value> = said.iter().map(|said| said.json(counts(&document, said))).collect();
        let object = json!({"key": args.key, "value": value, "origins": origins});
        writeln!(out, "{}", visible_json(&object.to_string()))?;
        return Ok(i32::from(value.is_none()));
    }
    if let Some(value) = value {
        let text = value.as_str().map_or_else(|| visible_json(&value.to_string()).into_owned(), str::to_owned);
        writeln!(out, "{}", clean_line(&text))?;
    }
    if args.origin {
        for row in origin_rows(&document, &said.iter().collect::<Vec<_>>()) {
            writeln!(out, "{row}")?;
        }
    }
    if value.is_none() {
        writeln!(stderr(), "windlass: no settings file that counts says anything of {}", clean_line(&args.key))?;
    }
    Ok(i32::from(value.is_none()))
}

/// Returns the active value, in a document of all of them.
fn in_force<'a>(document: &'a Value, members: &[String]) -> Option<&'a Value> {
    let effective = document.get("effective")?;
    let value = members.iter().try_fold(effective, |value, member| value.get(member))?;
    let is_empty = value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty);
    (!is_empty).then_some(value)
}

/// Settings whose active values only a starting session knows.
const OF_SESSIONS: [&str; 4] = ["hooks", "disableAllHooks", "allowManagedHooksOnly", "includeCoAuthoredBy"];

/// Returns `true` if a part of a file's value is active. For a few settings only the result is known.
fn counts(document: &Value, said: &Said) -> bool {
    if OF_SESSIONS.contains(&said.key.as_str()) {
        return true;
    }
    let (first, deeper) = said.members.split_first().map_or(("", &[][..]), |(first, deeper)| (first.as_str(), deeper));
    let of_first = document.get("provenance").and_then(|all| all.get(first));
    let of_setting =
        of_first.map(|value| deeper.iter().fold(value, |value, member| value.get(member).unwrap_or(value)));
    let is_in_force = || in_force(document, &said.members).is_some();
    of_setting.map_or_else(is_in_force, |origins| names(origins, &said.file))
}

fn origin_rows(document: &Value, said: &[&Said]) -> Vec<String> {
    let row = |one: &&Said| {
        let place = one.line.map_or_else(|| one.file.clone(), |line| format!("{}:{line}", one.file));
        let state = if counts(document, one) { "" } else { ", does not count" };
        clean_line(&format!("  {place} ({}{state}): {}", one.layer, visible_json(&one.value.to_string())))
    };
    said.iter().map(row).collect()
}

/// Returns a value without secrets: variables that no program gets may contain some, and so may the headers of servers.
fn masked(key: &str, value: &Value) -> Value {
    let Some(members) = value.as_object() else { return value.clone() };
    match key {
        "env" => {}
        "managedMcpServers" => {
            let shown = members.iter().map(|(name, config)| (name.clone(), shown_server(config)));
            return Value::Object(shown.collect());
        }
        _ => return value.clone(),
    }
    let shown = members.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let reaches_programs = !given_environment([(name.into(), text.into())]).passed.is_empty();
        (name.clone(), if reaches_programs { value.clone() } else { json!("***") })
    });
    Value::Object(shown.collect())
}

fn change(name: &str, value: Option<&str>, scope: Scope) -> anyhow::Result<i32> {
    let mut said = set(name, value, scope)?.into_iter();
    writeln!(stdout(), "{}", said.next().unwrap_or_default())?;
    for notice in said {
        writeln!(stderr(), "windlass: {notice}")?;
    }
    Ok(0)
}

/// Sets or removes a setting. Returns the outcome, followed by notices about its file.
///
/// # Errors
/// The setting or its value is not known, or the file cannot be written.
pub(crate) fn set(name: &str, value: Option<&str>, scope: Scope) -> anyhow::Result<Vec<String>> {
    let setting = SettingPath::named(name).map_err(|problem| Usage(problem.to_string()))?;
    let value = value.map(|written| setting.value(written)).transpose().map_err(Usage)?;
    let here = launch::project(&Default::default(), &current_directory()?)?;
    let updates = here.updates().map_err(of_project)?;
    let file = updates.set(scope.destination(), &setting, value.as_deref())?;
    let file = file.context("there is no place for your settings: set WINDLASS_HOME or HOME")?;
    let state = if value.is_some() { "is set" } else { "is not set" };
    let mut said = vec![clean_line(&format!("{name} {state} in {}", file.display()))];
    // Permissions of the project may not apply yet, because it is not trusted.
    if let Ok(project) = here.inspect() {
        let prefix = file.display().to_string();
        let about = project.settings_notices().into_iter().filter(|notice| notice.text.starts_with(&prefix));
        said.extend(about.map(|notice| clean_line(&notice.text)));
    }
    Ok(said)
}

fn notes(project: &LoadedProject) -> std::io::Result<()> {
    for notice in project.settings_notices() {
        writeln!(stderr(), "windlass: {}", clean_line(&notice.text))?;
    }
    Ok(())
}
