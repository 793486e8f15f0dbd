//! `windlass memory`: lists, shows, adds and deletes the notes that agents keep for later sessions of the project.

pub(crate) mod asked;
pub(crate) mod command;

use crate::args::SettingsArgs;
use crate::failure::{Usage, of_project};
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::{clean, clean_line};
use anyhow::Context;
use command::{AddArgs, ForgetArgs, ListArgs, MemoryCommand, ShowArgs};
use serde_json::{Value, json};
use std::io::{Read, Write, stdin, stdout};
use windlass::memory::{MemoryDirectory, MemoryKind, MemoryName, MemoryNote};
use windlass::session::Timestamp;
use windlass::tool::{Clock, SystemClock};

/// Maximum number of bytes read from standard input. [`MemoryNote::new`] enforces the lower limit of stored notes.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// Error text for a project without a memory directory.
pub(crate) const NONE: &str = "there is no memory here: settings (autoMemoryEnabled) or CLAUDE_CODE_DISABLE_AUTO_MEMORY switch it off, or \
                    neither WINDLASS_HOME nor HOME is set";

/// Runs a memory command for the project of the current directory. Returns the exit code.
pub(crate) fn memory(command: &MemoryCommand) -> anyhow::Result<i32> {
    match command {
        MemoryCommand::List(args) => list(args),
        MemoryCommand::Show(args) => show(args),
        MemoryCommand::Add(args) => add(args),
        MemoryCommand::Forget(args) => forget(args),
    }
}

/// Returns the memory directory of the project of the current directory.
fn directory(settings: &SettingsArgs) -> anyhow::Result<MemoryDirectory> {
    let project = launch::project(settings, &current_directory()?)?.inspect().map_err(of_project)?;
    project.memory().context(NONE)
}

fn parse_name(name: &str) -> Result<MemoryName, Usage> {
    name.parse().map_err(|error: windlass::memory::MemoryError| Usage(error.to_string()))
}

fn date_text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string().chars().take(10).collect())
}

fn list(args: &ListArgs) -> anyhow::Result<i32> {
    let directory = directory(&args.settings)?;
    let mut out = stdout().lock();
    if args.json {
        for note in directory.list()? {
            jsonl::write(&mut out, &metadata_json(&directory, &note))?;
        }
        return Ok(0);
    }
    for row in rows(&directory)? {
        writeln!(out, "{row}")?;
    }
    Ok(0)
}

/// Returns a row for each note: name, kind, day of the last change and description, with tabs between them.
pub(crate) fn rows(directory: &MemoryDirectory) -> anyhow::Result<Vec<String>> {
    let row = |note: &MemoryNote| {
        let kind = note.kind.map(MemoryKind::as_str).unwrap_or_default();
        let updated = date_text(note.updated).unwrap_or_default();
        format!("{}\t{kind}\t{updated}\t{}", note.name, clean_line(&note.description))
    };
    Ok(directory.list()?.iter().map(row).collect())
}

fn show(args: &ShowArgs) -> anyhow::Result<i32> {
    let directory = directory(&args.settings)?;
    let note = directory.read(&parse_name(&args.name)?)?;
    let mut out = stdout().lock();
    if args.json {
        let mut object = metadata_json(&directory, &note);
        if let Some(members) = object.as_object_mut() {
            members.insert("content".to_owned(), note.content.into());
        }
        jsonl::write(&mut out, &object)?;
    } else {
        writeln!(out, "{}", clean(&note.content))?;
    }
    Ok(0)
}

/// Returns the metadata of a note, without its content.
fn metadata_json(directory: &MemoryDirectory, note: &MemoryNote) -> Value {
    json!({
        "name": note.name.as_str(), "type": note.kind.map(MemoryKind::as_str), "description": note.description,
        "created": date_text(note.created), "updated": date_text(note.updated),
        "path": directory.path().join(note.name.file()),
    })
}

fn add(args: &AddArgs) -> anyhow::Result<i32> {
    let directory = directory(&args.settings)?;
    let content = match &args.content {
        Some(content) => content.clone(),
        None => {
            let mut text = String::new();
            stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut text).context("standard input cannot be read")?;
            text
        }
    };
    let now = SystemClock::default().now();
    let note = MemoryNote::new(parse_name(&args.name)?, args.r#type, &args.description, &content, now)?;
    directory.add(&note)?;
    writeln!(stdout(), "{}", clean_line(&directory.path().join(note.name.file()).display().to_string()))?;
    Ok(0)
}

fn forget(args: &ForgetArgs) -> anyhow::Result<i32> {
    let directory = directory(&args.settings)?;
    let names = args.names.iter().map(|name| parse_name(name)).collect::<Result<Vec<_>, _>>()?;
    for name in names {
        directory.forget(&name)?;
        writeln!(stdout(), "{name}")?;
    }
    Ok(0)
}
