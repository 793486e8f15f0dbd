//! `windlass sessions agents`.

use super::found::{age, find};
use crate::failure::of_start;
use crate::jsonl;
use crate::terminal::{Terminal, clean_line};
use clap::{Args, ValueEnum};
use std::io::{Write, stderr, stdout};
use windlass::Home;

#[derive(Debug, Args)]
pub(crate) struct AgentsOfArgs {
    /// The session id
    #[arg(value_name = "SESSION")]
    session: String,
    /// text: a line for people; json: one JSON object a line. Default: text on a terminal, else json
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ListFormat>,
}

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// A line for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Prints the agents of a session and returns the exit code.
pub(super) async fn list(args: AgentsOfArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let stored = find(&home, &args.session).await?;
    let agents = home.session_agents(&stored.id).await?;
    let by_default = if terminal.stdout { ListFormat::Text } else { ListFormat::Json };
    let format = args.format.unwrap_or(by_default);
    let mut out = stdout().lock();
    if format == ListFormat::Text && agents.is_empty() {
        let _ = writeln!(stderr(), "no agents worked for this session");
    }
    for agent in agents {
        if format == ListFormat::Json {
            jsonl::write(&mut out, &agent)?;
            continue;
        }
        let began = agent.started_at.map(|at| age(at.millis())).unwrap_or_default();
        let below = agent.parent.as_ref().map(|parent| format!("  (of {parent})")).unwrap_or_default();
        let line = format!("{}  {began:>9}  {}  {}{below}", agent.id, agent.agent_type, agent.description);
        writeln!(out, "{}", clean_line(&line))?;
    }
    Ok(0)
}
