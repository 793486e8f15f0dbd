//! `windlass mcp import`: servers from the configuration of other clients.

pub(super) mod client;
mod comments;
mod document;
mod translate;

use super::change::Files;
use super::command::{ImportArgs, Scope};
use super::entry::{check, check_name, target, without_secrets};
use crate::failure::Usage;
use crate::files;
use crate::jsonl;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use client::Client;
use serde_json::json;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use translate::{Translated, translate};
use windlass::JsonText;

/// Result of importing one server of another client.
struct Outcome {
    client: Client,
    file: PathBuf,
    name: String,
    target: Option<String>,
    /// Reason why it was not copied, if it was not.
    skipped: Option<String>,
    /// Notes about parts that were not copied.
    notes: Vec<String>,
}

/// Copies servers, and returns the exit code: 1 if none was copied.
pub(super) fn import(args: &ImportArgs) -> anyhow::Result<i32> {
    let files = Files::here()?;
    let mut outcomes = Vec::new();
    for (client, file) in sources(args)? {
        outcomes.extend(imported(client, &file, args, &files)?);
    }
    if let Some(missing) = args.only.iter().find(|name| !outcomes.iter().any(|outcome| outcome.name == **name)) {
        return Err(Usage(format!("there is no server {missing:?} in what was found")).into());
    }
    let mut out = stdout().lock();
    for outcome in &outcomes {
        show(outcome, args, &mut out)?;
    }
    let copied = outcomes.iter().any(|outcome| outcome.skipped.is_none());
    if outcomes.is_empty() && !args.scope.json {
        writeln!(out, "no servers of other clients were found")?;
    }
    Ok(i32::from(!copied))
}

fn show(outcome: &Outcome, args: &ImportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let scope = args.scope.scope.server_scope();
    if args.scope.json {
        return jsonl::write(
            out,
            &json!({"name": outcome.name, "client": outcome.client.name(), "from": outcome.file,
                "copied": outcome.skipped.is_none() && !args.dry_run, "scope": scope.as_str(), "target": outcome.target,
                "reason": outcome.skipped, "notes": outcome.notes}),
        );
    }
    let client = outcome.client.name();
    let line = match (&outcome.skipped, args.dry_run) {
        (Some(why), _) => format!("skipped  {} ({client}): {why}", outcome.name),
        (None, true) => format!("would be copied  {} ({client}) to the scope {scope}", outcome.name),
        (None, false) => format!("copied  {} ({client}) to the scope {scope}", outcome.name),
    };
    let target = outcome.target.as_ref().map(|target| format!(": {target}")).unwrap_or_default();
    writeln!(out, "{}", clean_line(&format!("{line}{target}")))?;
    for note in &outcome.notes {
        writeln!(out, "  {}", clean_line(note))?;
    }
    Ok(())
}

/// Returns the files to read. A client that is named must have one.
fn sources(args: &ImportArgs) -> anyhow::Result<Vec<(Client, PathBuf)>> {
    if let (Some(client), Some(file)) = (args.client, &args.file) {
        return Ok(vec![(client, file.clone())]);
    }
    let cwd = current_directory()?;
    let lookup = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let places = |client: Client| client.files(&lookup, &cwd);
    let there = |file: &PathBuf| file.symlink_metadata().is_ok();
    match args.client {
        None => Ok(Client::ALL
            .into_iter()
            .flat_map(|client| places(client).into_iter().filter(there).map(move |file| (client, file)))
            .collect()),
        Some(client) => {
            let found: Vec<(Client, PathBuf)> =
                places(client).into_iter().filter(there).map(|file| (client, file)).collect();
            if found.is_empty() {
                let looked: Vec<String> = places(client).iter().map(|file| file.display().to_string()).collect();
                let text = format!("no configuration of {} is at {}: give --file", client.name(), looked.join(" or "));
                return Err(Usage(text).into());
            }
            Ok(found)
        }
    }
}

/// Imports each server of a file, and returns the results.
fn imported(client: Client, file: &Path, args: &ImportArgs, files: &Files) -> anyhow::Result<Vec<Outcome>> {
    let text = files::text(file).map_err(|error| Usage(format!("{}: {error}", file.display())))?;
    let found = translate(client, &text).map_err(|problem| Usage(format!("{}: {problem}", file.display())))?;
    let wanted = found.into_iter().filter(|found| args.only.is_empty() || args.only.contains(&found.name));
    let outcomes = wanted.map(|Translated { name, entry, notes }| {
        let copied = entry.and_then(|entry| copy(&name, &entry, args, files).map(|()| target(&entry)));
        let (target, skipped) = match copied {
            Ok(target) => (Some(target), None),
            Err(why) => (None, Some(why)),
        };
        Outcome { client, file: file.to_path_buf(), name, target, skipped, notes }
    });
    Ok(outcomes.collect())
}

/// Checks a server, and adds it unless this is a dry run.
fn copy(name: &str, entry: &JsonText, args: &ImportArgs, files: &Files) -> Result<(), String> {
    check_name(name).map_err(|error| error.to_string())?;
    check(name, entry)?;
    let scope = args.scope.scope;
    if args.dry_run {
        return match files.has(name, scope) && !args.scope.replace {
            true => Err(format!("there is one of this name in the scope {} already", scope.server_scope())),
            false => Ok(()),
        };
    }
    files.add(name, entry, scope, args.scope.replace).map(drop).map_err(|error| error.to_string())
}

/// A server of another client, without its secrets.
pub(crate) struct FoundServer {
    pub(crate) name: String,
    pub(crate) from: PathBuf,
    /// Program or address, for people.
    pub(crate) target: String,
    pub(crate) notes: Vec<String>,
    /// Reason why it cannot be added, if it cannot.
    pub(crate) refusal: Option<String>,
    entry: JsonText,
}

/// Returns the servers of a client, at its usual places. Values that look like secrets become variables of their names.
pub(crate) fn servers_of_client(client: Client) -> anyhow::Result<Vec<FoundServer>> {
    let (files, cwd) = (Files::here()?, current_directory()?);
    let lookup = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut servers = Vec::new();
    for from in client.files(&lookup, &cwd).into_iter().filter(|file| file.symlink_metadata().is_ok()) {
        let text = files::text(&from).map_err(|error| Usage(format!("{}: {error}", from.display())))?;
        let found = translate(client, &text).map_err(|problem| Usage(format!("{}: {problem}", from.display())))?;
        servers.extend(found.into_iter().map(|found| found_server(found, &from, &files)));
    }
    Ok(servers)
}

fn found_server(found: Translated, from: &Path, files: &Files) -> FoundServer {
    let Translated { name, entry, mut notes } = found;
    let (entry, mut refusal) = match entry {
        Ok(entry) => (entry, None),
        Err(reason) => (JsonText::empty_object(), Some(reason)),
    };
    let (entry, hidden) = without_secrets(&entry);
    notes.extend(
        hidden.into_iter().map(|name| format!("its value of {name} is not copied: set {name} where windlass starts")),
    );
    let problem = check_name(&name).map_err(|error| error.to_string()).and_then(|()| check(&name, &entry).map(drop));
    refusal = refusal.or(problem.err());
    if refusal.is_none() && Scope::ALL.iter().any(|scope| files.has(&name, *scope)) {
        refusal = Some("there is a server of this name already".to_owned());
    }
    let target = if refusal.is_none() { target(&entry) } else { String::new() };
    FoundServer { name, from: from.to_path_buf(), target, notes, refusal, entry }
}

/// Adds a server for the user in the current project.
pub(crate) fn add_server(server: &FoundServer) -> anyhow::Result<()> {
    Files::here()?.add(&server.name, &server.entry, Scope::Local, false).map(drop)
}
