//! `windlass sessions stats`.

use super::listing::all;
use crate::failure::of_start;
use crate::jsonl;
use crate::terminal::{Terminal, clean_line};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::path::PathBuf;
use windlass::Home;
use windlass::event::{NanoUsd, Usage};
use windlass::session::{ListedSession, Timestamp};

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Only sessions of this directory [default: all directories]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Only sessions that changed since: a time such as 30m, 12h, 7d or 2w ago, or a date such as 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = super::listing::since)]
    since: Option<Timestamp>,
    /// JSON, also on a terminal
    #[arg(long)]
    json: bool,
}

/// Totals of sessions.
#[derive(Debug, Default, Serialize)]
struct Stats {
    sessions: u64,
    bytes: u64,
    prompts: u64,
    answers: u64,
    tool_uses: u64,
    usage: Usage,
    /// Cost of the sessions whose runs reported one.
    cost_usd: f64,
    #[serde(skip)]
    cost: NanoUsd,
    /// Number of sessions by the model of the last message.
    models: BTreeMap<String, u64>,
}

impl Stats {
    fn add(&mut self, session: &ListedSession) {
        self.sessions += 1;
        self.bytes += session.summary.file_size;
        let Some(digest) = &session.digest else { return };
        self.prompts += digest.prompts;
        self.answers += digest.answers;
        self.tool_uses += digest.tool_uses;
        self.usage += digest.usage();
        self.cost = NanoUsd::new(self.cost.nano().saturating_add(digest.cost.unwrap_or_default().nano()));
        self.cost_usd = self.cost.usd();
        if let Some(model) = &digest.model {
            *self.models.entry(model.clone()).or_default() += 1;
        }
    }
}

/// Prints the totals of sessions, and returns the exit code.
pub(super) async fn stats(args: StatsArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let mut search = home.list().with_digests();
    if let Some(project) = args.project {
        search = search.in_directory(project);
    }
    if let Some(since) = args.since {
        search = search.since(since);
    }
    let mut stats = Stats::default();
    all(
        search,
        None,
        |_| true,
        |session| {
            stats.add(&session);
            Ok(())
        },
    )
    .await?;
    let mut out = stdout().lock();
    if args.json || !terminal.stdout {
        jsonl::write(&mut out, &stats)?;
        return Ok(0);
    }
    writeln!(out, "{} sessions, {} MB of logs", stats.sessions, stats.bytes / 1_000_000)?;
    writeln!(out, "{} prompts, {} answers, {} tool uses", stats.prompts, stats.answers, stats.tool_uses)?;
    writeln!(out, "{} tokens in, {} tokens out", stats.usage.total_input(), stats.usage.output_tokens)?;
    writeln!(out, "${:.2} reported", stats.cost_usd)?;
    for (model, sessions) in &stats.models {
        writeln!(out, "{sessions:>8}  {}", clean_line(model))?;
    }
    Ok(0)
}
