//! `windlass trust`: shows the effects of trust in the project here, and records it.

use crate::args::{SettingsArgs, TrustArgs};
use crate::confirmation::confirmed;
use crate::failure::of_project;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::{Terminal, clean_line, visible_line};
use anyhow::Context;
use std::io::{Write, stdout};
use std::path::PathBuf;
use windlass::project::ReviewedProgram;
use windlass::project::{ReviewedItem, SettingSources, TrustStatus, review_trust};

/// Number of shown digits of a digest.
const SHOWN_DIGITS: usize = 12;

/// Records trust in the project around the current directory, and returns the exit code.
pub(crate) fn trust(args: &TrustArgs) -> anyhow::Result<i32> {
    // The content of the files does not decide whether they are trusted.
    let project = launch::project(&SettingsArgs::default(), &current_directory()?)?.sources(SettingSources::none());
    let project = project.inspect().map_err(of_project)?;
    let mut programs = Vec::new();
    if !args.remove {
        show_items(&review_trust(project.places())?)?;
        // As if the project were trusted: trust makes these programs run.
        let trusted = launch::project(&SettingsArgs::default(), &current_directory()?)?.trust(true);
        programs = trusted.inspect().map_err(of_project)?.reviewed_programs();
        show_programs(&programs)?;
    }
    if args.show {
        return Ok(0);
    }
    if !args.remove && !args.yes && Terminal::of_process().can_ask() && !confirmed("Trust all of this?")? {
        writeln!(stdout(), "nothing is recorded")?;
        return Ok(1);
    }
    let record = project.updates().record_trust(!args.remove)?;
    // The shown contents, not later ones.
    let contents = programs.into_iter().map(|program| (program.path, program.now)).collect();
    project.updates().record_programs(&contents)?;
    let record = record.context("there is no place for a record: set WINDLASS_HOME or HOME")?;
    let root = project.places().project.first().map_or(project.places().start(), PathBuf::as_path);
    let state = if args.remove { "no longer trusted" } else { "trusted" };
    writeln!(stdout(), "{}", clean_line(&format!("{} is {state} (recorded in {})", root.display(), record.display())))?;
    Ok(0)
}

/// Shows the effects of trust: each item on one line with the beginning of its digest, new and changed ones marked, in
/// full except the texts of agents and styles, which are files to read.
fn show_items(items: &[ReviewedItem]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    for ReviewedItem { item, status, .. } in items {
        let status = match status {
            TrustStatus::Trusted => "trusted",
            TrustStatus::Changed => "changed",
            _ => "new",
        };
        let effect = if item.shown.is_empty() { String::new() } else { format!(": {}", item.shown) };
        let digest: String = item.digest().chars().take(SHOWN_DIGITS).collect();
        let line = format!("{} ({}, {digest}){effect}", item.name, item.file.display());
        writeln!(out, "{status:<8} {:<9} {}", item.kind, visible_line(&line))?;
    }
    Ok(())
}

/// Shows the files that configuration runs, each on one line with the beginning of its digest, and changes since they were trusted.
fn show_programs(programs: &[ReviewedProgram]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    for program in programs.iter().filter(|program| program.trusted.is_some() || !program.now.is_missing()) {
        let status = match &program.trusted {
            _ if program.has_changed() => "changed",
            Some(_) => "trusted",
            None => "new",
        };
        let digest: String = program.now.digest.chars().take(SHOWN_DIGITS).collect();
        let line = format!("{} (run by {}, {digest})", program.path.display(), program.source);
        writeln!(out, "{status:<8} {:<9} {}", "program", visible_line(&line))?;
        if program.has_changed() {
            for line in program.diff().lines() {
                writeln!(out, "    {}", visible_line(line))?;
            }
        }
    }
    Ok(())
}
