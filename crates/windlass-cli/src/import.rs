//! `windlass import`: settings, MCP servers, instructions and commands of other agents. Everything is shown before it is
//! written; secrets are not copied, and nothing is overwritten.

mod conversion;
mod source;

use crate::confirmation::confirmed;
use crate::failure::{Usage, of_project, of_start};
use crate::init::write_new;
use crate::jsonl;
use crate::launch;
use crate::mcp::{FoundServer, add_server, servers_of_client};
use crate::settings::current_directory;
use crate::terminal::{Terminal, clean_line};
use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};
use source::{Agent, Place};
use std::collections::BTreeSet;
use std::io::{Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use windlass::Home;
use windlass::permission::UpdateDestination;
use windlass::project::SettingPath;
use windlass::text::secret_in;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The agent [default: all whose files are found]
    #[arg(value_name = "AGENT")]
    agent: Option<Agent>,
    /// Write without a question
    #[arg(short, long)]
    yes: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A part that can be imported.
struct Item {
    agent: Agent,
    kind: &'static str,
    name: String,
    from: PathBuf,
    action: Action,
}

/// Change of an import.
enum Action {
    /// Adds a server, yours for this project.
    Server(FoundServer),
    /// Writes a new file.
    File { path: PathBuf, text: String },
    /// Sets the model in the user's settings.
    Model(String),
    /// Nothing, for this reason.
    Skip(String),
}

/// Shows what can be imported, writes it if that is wanted, and returns the exit code: 1 if nothing was written.
pub(crate) fn import(args: &ImportArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let place = Place::here(current_directory()?, Home::from_env().map_err(of_start)?.root().to_path_buf());
    let agents = args.agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
    let mut items = Vec::new();
    for agent in agents {
        items.extend(found(agent, &place)?);
    }
    keep_first_targets(&mut items);
    show(&items, args.json)?;
    if items.iter().all(|item| matches!(item.action, Action::Skip(_))) {
        writeln!(stderr(), "windlass: there is nothing to import")?;
        return Ok(1);
    }
    let is_confirmed = args.yes || (terminal.can_ask() && confirmed("Write all of this?")?);
    if !is_confirmed {
        writeln!(stderr(), "windlass: nothing was written; --yes writes it")?;
        return Ok(1);
    }
    let mut written = 0_usize;
    for item in items {
        let name = clean_line(&format!("{} {}", item.kind, item.name));
        match write(item) {
            Ok(true) => written = written.saturating_add(1),
            Ok(false) => {}
            Err(error) => writeln!(stderr(), "windlass: {name}: {}", clean_line(&format!("{error:#}")))?,
        }
    }
    writeln!(stderr(), "windlass: {written} parts are written")?;
    Ok(i32::from(written == 0))
}

/// Everything of an agent that is found.
fn found(agent: Agent, place: &Place) -> anyhow::Result<Vec<Item>> {
    let mut items = Vec::new();
    if let Some(client) = agent.client() {
        for server in servers_of_client(client)? {
            let (name, from) = (server.name.clone(), server.from.clone());
            let action = match &server.refusal {
                Some(reason) => Action::Skip(reason.clone()),
                None => Action::Server(server),
            };
            items.push(Item { agent, kind: "server", name, from, action });
        }
    }
    for text in agent.texts(place) {
        let action = match &text.content {
            Err(reason) => Action::Skip(reason.clone()),
            Ok(content) if secret_in(content).is_some() => Action::Skip("it holds what looks like a secret".to_owned()),
            Ok(_) if text.to.symlink_metadata().is_ok() => {
                Action::Skip(format!("there is {} already", text.to.display()))
            }
            Ok(content) => Action::File { path: text.to.clone(), text: content.clone() },
        };
        items.push(Item { agent, kind: text.kind, name: text.name, from: text.from, action });
    }
    if let Some((model, from)) = agent.model(place) {
        let known = launch::project(&Default::default(), &place.project)?.inspect().map_err(of_project)?;
        let action = match (&known.resolved().models.model, model) {
            (_, Err(reason)) => Action::Skip(reason),
            (Some(set), _) => Action::Skip(format!("{} sets the model already", set.origin)),
            (None, Ok(model)) => Action::Model(model),
        };
        items.push(Item { agent, kind: "setting", name: "model".to_owned(), from, action });
    }
    Ok(items)
}

/// Keeps one item for each target: the first.
fn keep_first_targets(items: &mut [Item]) {
    let mut taken = BTreeSet::new();
    for item in items {
        let target = match &item.action {
            Action::File { path, .. } => path.display().to_string(),
            Action::Server(server) => format!("server {}", server.name),
            Action::Model(_) => "model".to_owned(),
            Action::Skip(_) => continue,
        };
        if !taken.insert(target) {
            item.action = Action::Skip("another one of this import comes first".to_owned());
        }
    }
}

fn show(items: &[Item], as_json: bool) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    for item in items {
        let (target, notes) = match &item.action {
            Action::Server(server) => {
                (Ok(format!("your servers of this project: {}", server.target)), &server.notes[..])
            }
            Action::File { path, text } => {
                (Ok(format!("{} ({} lines)", path.display(), text.lines().count())), &[][..])
            }
            Action::Model(model) => (Ok(format!("your settings: {model}")), &[][..]),
            Action::Skip(reason) => (Err(reason), &[][..]),
        };
        if as_json {
            let (target, reason) = (target.as_ref().ok(), target.as_ref().err());
            let line: Value = json!({"agent": item.agent.name(), "kind": item.kind, "name": item.name, "from": item.from,
                "target": target, "skipped": reason, "notes": notes});
            jsonl::write(&mut out, &line)?;
            continue;
        }
        let text = match target {
            Ok(target) => format!("{:<13} {} ({}) → {target}", item.kind, item.name, item.agent.name()),
            Err(reason) => format!("{:<13} {} {} ({}): {reason}", "skipped", item.kind, item.name, item.agent.name()),
        };
        writeln!(out, "{}", clean_line(&text))?;
        for note in notes {
            writeln!(out, "{:<13} {}", "", clean_line(note))?;
        }
    }
    Ok(())
}

/// Writes an item. Returns `false` if there is nothing to write.
fn write(item: Item) -> anyhow::Result<bool> {
    match item.action {
        Action::Skip(_) => return Ok(false),
        Action::Server(server) => add_server(&server)?,
        Action::File { path, text } => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            }
            write_new(&path, &text)?;
        }
        Action::Model(model) => set_model(&model)?,
    }
    Ok(true)
}

fn set_model(model: &str) -> anyhow::Result<()> {
    let setting = SettingPath::named("model").map_err(|problem| Usage(problem.to_string()))?;
    let here = launch::project(&Default::default(), Path::new(&current_directory()?))?;
    let value = setting.value(model).map_err(Usage)?;
    let updates = here.updates().map_err(of_project)?;
    updates.set(UpdateDestination::UserSettings, &setting, Some(&value))?;
    Ok(())
}
