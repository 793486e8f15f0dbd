//! windlass beside the least program that does the same, against a local server that speaks the Messages format. Each
//! round runs both, one after the other; the figures are medians.
//!
//! `whole [ROW_PREFIX…]` runs all rows or some: `start`, `reads`, `turns`, `overlap`, `growth`, `deltas`, `memory`,
//! `watchers`, `search`, `project-index`, `project-start`.
#![allow(clippy::disallowed_methods, reason = "it measures real time")]

mod command;
mod deltas;
mod growth;
mod overlap;
mod peer;
mod project;
mod report;
mod search;
mod sessions;
mod turns;
mod watchers;

use anyhow::Result;
use report::Report;

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, count, state] = wanted.as_slice()
        && mode == "sessions"
    {
        return sessions::hold(count.parse()?, state);
    }
    if let [mode, count, deltas, state] = wanted.as_slice()
        && mode == "watchers"
    {
        return watchers::hold(count.parse()?, deltas.parse()?, state);
    }
    let wants = |row: &str| wanted.is_empty() || wanted.iter().any(|wanted| row.starts_with(wanted.as_str()));
    let mut report = Report::default();
    if wants("start") {
        command::start(&mut report)?;
    }
    if wants("reads") {
        command::reads(&mut report)?;
    }
    if wants("turns") {
        turns::measure(&mut report)?;
    }
    if wants("overlap") {
        overlap::measure(&mut report)?;
    }
    if wants("growth") {
        growth::measure(&mut report)?;
    }
    if wants("deltas") {
        deltas::measure(&mut report)?;
        command::deltas(&mut report)?;
    }
    if wants("memory") {
        command::memory(&mut report)?;
        sessions::measure(&mut report)?;
    }
    if wants("watchers") {
        watchers::measure(&mut report)?;
    }
    if wants("search") {
        search::measure(&mut report)?;
    }
    if wants("project-index") {
        project::index(&mut report)?;
    }
    if wants("project-start") {
        project::start(&mut report)?;
    }
    report.print();
    Ok(())
}
