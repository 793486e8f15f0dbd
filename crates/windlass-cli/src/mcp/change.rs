//! `windlass mcp add`, `add-json` and `remove`.

use super::command::{AddArgs, AddJsonArgs, RemoveArgs, Scope, ScopeArgs};
use super::entry::{check, check_name, of_arguments, secrets};
use crate::failure::{Usage, of_project};
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use anyhow::Context;
use serde_json::json;
use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use windlass::JsonText;
use windlass::project::{ServerDefinition, SettingsUpdates};

/// Adds a server from the command line, and returns the exit code.
pub(super) fn add(args: &AddArgs) -> anyhow::Result<i32> {
    let entry = of_arguments(args)?.lazy(args.lazy).json()?;
    added(&args.name, &entry, args.scope)
}

/// Adds a server from its entry, and returns the exit code.
pub(super) fn add_json(args: &AddJsonArgs) -> anyhow::Result<i32> {
    let entry = JsonText::parse_strict(args.entry.trim())
        .map_err(|error| Usage(format!("the entry is not acceptable JSON: {error}")))?;
    if !entry.as_str().starts_with('{') {
        return Err(Usage("the entry is a JSON object, such as {\"command\":\"mcp-files\"}".to_owned()).into());
    }
    added(&args.name, &entry, args.scope)
}

fn added(name: &str, entry: &JsonText, args: ScopeArgs) -> anyhow::Result<i32> {
    let files = Files::here()?;
    let file = files.add(name, entry, args.scope, args.replace)?;
    let scope = args.scope.server_scope();
    if args.json {
        jsonl::write(&mut stdout(), &json!({"name": name, "scope": scope.as_str(), "file": file}))?;
    } else {
        writeln!(stdout(), "{}", clean_line(&format!("{name} is in {} (scope {scope})", file.display())))?;
    }
    notes(&files, name, entry, args.scope)?;
    Ok(0)
}

/// Writes notes about a new server that may not behave as its author expects.
fn notes(files: &Files, name: &str, entry: &JsonText, scope: Scope) -> anyhow::Result<()> {
    let mut notes = Vec::new();
    for secret in secrets(entry).into_iter().filter(|_| scope == Scope::Project) {
        notes.push(format!(
            "{secret} looks like a secret, and all who have the project can read it: write ${{NAME}} instead"
        ));
    }
    let project = launch::project(&Default::default(), &current_directory()?)?.inspect().map_err(of_project)?;
    let servers = project.servers();
    let active = servers.definitions().into_iter().find(|known| known.name == name);
    match active {
        Some(known) if known.scope != scope.server_scope() => {
            notes.push(format!("the server of {} (scope {}) counts instead", known.path.display(), known.scope));
        }
        Some(_) => {
            let refusal = check(name, entry).ok().and_then(|config| servers.refusal(name, &config));
            notes.extend(refusal.map(|reason| format!("it is not started: {reason}")));
        }
        None => notes.extend(servers.absent().into_iter().find(|absent| absent.name == name).map(|absent| absent.text)),
    }
    let is_hidden = |other: &&Scope| **other != scope && files.has(name, **other);
    for other in Scope::ALL.iter().filter(is_hidden) {
        notes.push(format!("there is a server of this name in the scope {}, too", other.server_scope()));
    }
    for note in notes {
        writeln!(stderr(), "windlass: {}", clean_line(&note))?;
    }
    Ok(())
}

/// Removes a server from its file, and returns the exit code.
pub(super) fn remove(args: &RemoveArgs) -> anyhow::Result<i32> {
    let files = Files::here()?;
    let scopes: Vec<Scope> = args.scope.map_or_else(|| Scope::ALL.to_vec(), |scope| vec![scope]);
    let mut found = Vec::new();
    for scope in &scopes {
        if files.servers(*scope)?.iter().any(|server| server.name == args.name) {
            found.push(*scope);
        }
    }
    let scope = match found.as_slice() {
        [scope] => scope.server_scope(),
        [] => return Err(unknown(&args.name, &files, &scopes)),
        several => {
            let names: Vec<&str> = several.iter().map(|scope| scope.server_scope().as_str()).collect();
            let text = format!("{} is defined in several scopes: add --scope {}", args.name, names.join(" or "));
            return Err(Usage(text).into());
        }
    };
    let file = files.updates.set_server(scope, &args.name, None)?.context(NO_PLACE)?;
    if args.json {
        jsonl::write(&mut stdout(), &json!({"name": args.name, "scope": scope.as_str(), "file": file}))?;
    } else {
        let text = format!("{} is no longer in {} (scope {scope})", args.name, file.display());
        writeln!(stdout(), "{}", clean_line(&text))?;
    }
    Ok(0)
}

const NO_PLACE: &str = "there is no place for your servers: set HOME or CLAUDE_CONFIG_DIR to an absolute path";

/// The error for a name that no file has.
fn unknown(name: &str, files: &Files, scopes: &[Scope]) -> anyhow::Error {
    let known: Vec<String> =
        scopes.iter().flat_map(|scope| files.servers(*scope).unwrap_or_default()).map(|server| server.name).collect();
    super::configured::unknown_server(name, &known)
}

/// The files that define servers here.
pub(super) struct Files {
    updates: SettingsUpdates,
}

impl Files {
    pub(super) fn here() -> anyhow::Result<Self> {
        let here = launch::project(&Default::default(), &current_directory()?)?;
        Ok(Self { updates: here.updates().map_err(of_project)? })
    }

    /// The servers that the file of a scope defines.
    pub(super) fn servers(&self, scope: Scope) -> anyhow::Result<Vec<ServerDefinition>> {
        Ok(self.updates.servers_of(scope.server_scope())?)
    }

    /// Returns `true` if the file of a scope has a server of this name.
    pub(super) fn has(&self, name: &str, scope: Scope) -> bool {
        self.servers(scope).is_ok_and(|servers| servers.iter().any(|server| server.name == name))
    }

    /// Checks a server and adds it. Returns the file.
    pub(super) fn add(&self, name: &str, entry: &JsonText, scope: Scope, replace: bool) -> anyhow::Result<PathBuf> {
        check_name(name)?;
        check(name, entry).map_err(Usage)?;
        if !replace && self.servers(scope)?.iter().any(|server| server.name == name) {
            let text = format!(
                "there is a server {name:?} in the scope {} already: add --replace, or take it out with `windlass mcp remove`",
                scope.server_scope()
            );
            return Err(Usage(text).into());
        }
        self.updates.set_server(scope.server_scope(), name, Some(entry))?.context(NO_PLACE)
    }
}
