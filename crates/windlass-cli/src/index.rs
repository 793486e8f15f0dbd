//! `windlass context index` and `windlass context search`: the index of the project in the current directory.

use crate::args::SettingsArgs;
use crate::failure::{of_project, of_start};
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::clean;
use clap::Args;
use std::io::{Write, stderr, stdout};
use windlass::project::ProjectIndex;
use windlass::{coding_tools, session};

/// Maximum number of files that a search prints.
const MAX_FILES: u32 = 1_000;

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// One JSON object, with all rows
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// Maximum number of files to print
    #[arg(long, value_name = "N", default_value_t = 15)]
    limit: u32,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Brings the index up to date, prints its tables, and returns the exit code.
pub(crate) fn overview(args: &IndexArgs) -> anyhow::Result<i32> {
    let Some(index) = index(&args.settings)? else { return Ok(1) };
    let overview = index.overview(&|| false)?;
    let mut out = stdout().lock();
    if args.json {
        jsonl::write(&mut out, &overview)?
    } else {
        writeln!(out, "{}", clean(&overview.to_string()))?
    }
    Ok(0)
}

/// Prints the best matching files, and returns the exit code: 1 if there are none.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<i32> {
    let Some(index) = index(&args.settings)? else { return Ok(1) };
    let found = index.search(&args.words.join(" "), args.limit.min(MAX_FILES) as usize, &|| false)?;
    let mut out = stdout().lock();
    if args.json {
        jsonl::write(&mut out, &found)?
    } else if !found.hits.is_empty() {
        writeln!(out, "{}", clean(&found.to_string()))?
    }
    Ok(if found.hits.is_empty() { 1 } else { 0 })
}

/// Returns the index of the current directory, without files that rules forbid to read. `None`, with a note to the
/// user, if it is switched off.
pub(crate) fn index(settings: &SettingsArgs) -> anyhow::Result<Option<ProjectIndex>> {
    let cwd = current_directory()?;
    let project = launch::project(settings, &cwd)?.file_servers(false).load().map_err(of_project)?;
    let policy =
        session().tools(coding_tools(&cwd)).project(project.clone()).resolve().map_err(of_start)?.options().policy()?;
    let index = project.index(policy);
    if index.is_none() {
        writeln!(stderr(), "windlass: settings switch the index of this project off")?;
    }
    Ok(index)
}
