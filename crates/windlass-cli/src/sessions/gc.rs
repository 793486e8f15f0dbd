//! `windlass sessions gc`: deletes the stored files for rewinding, and sessions beyond the limits of settings.

use super::retention::{Deleted, Retention, SizedSession};
use crate::failure::of_start;
use crate::jsonl;
use crate::terminal::{Terminal, clean_line};
use clap::Args;
use serde::Serialize;
use std::io::{Write, stderr, stdout};
use windlass::Home;
use windlass::session::Timestamp;
use windlass::store::CheckpointRetention;

/// Selection of the files to drop.
#[derive(Debug, Args)]
pub(crate) struct GcArgs {
    /// Drop files that were not used since: a time such as 12h, 7d or 2w ago, or a date such as 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = super::listing::since, default_value = "30d")]
    unused_since: Timestamp,
    /// Also drop the files that were used longest ago, until the rest takes up at most so many bytes
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Print the files that would be dropped, without dropping them
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Dropped<'a> {
    session: &'a str,
    bytes: u64,
    used: String,
}

#[derive(Serialize)]
struct Sum {
    dropped: usize,
    freed_bytes: u64,
    left_bytes: u64,
    in_use: usize,
    /// Number of removed files of killed processes.
    left_behind: usize,
    /// Number of whole sessions that settings let go.
    deleted_sessions: usize,
}

/// A session that settings let go.
#[derive(Serialize)]
struct DeletedSession<'a> {
    session: &'a str,
    bytes: u64,
    used: String,
    deleted: bool,
}

fn show_deleted(session: &SizedSession, out: &mut impl Write, terminal: Terminal) -> anyhow::Result<()> {
    let (id, used) = (session.id.as_str(), Timestamp::from_millis(session.used).to_string());
    if terminal.stdout {
        writeln!(out, "{}  {:>12} bytes  used {used}  whole", clean_line(id), session.bytes)?;
        return Ok(());
    }
    jsonl::write(out, &DeletedSession { session: id, bytes: session.bytes, used, deleted: true })
}

/// Carries out the command and returns the exit code: 1 when a file could not be dropped.
pub(crate) async fn gc(args: GcArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let mut retention = CheckpointRetention::default().used_before(args.unused_since);
    retention.total_bytes = args.max_bytes;
    retention.dry_run = args.dry_run;
    let collected = home.collect_checkpoints(retention).await?;
    let left_behind = if args.dry_run { 0 } else { home.remove_left_behind().await? };
    let deleted = match Retention::here()? {
        Some(retention) => retention.apply(&home, args.dry_run).await?,
        None => Deleted::default(),
    };
    let mut out = stdout().lock();
    let mut freed_bytes = 0_u64;
    for one in &collected.dropped {
        freed_bytes = freed_bytes.saturating_add(one.bytes);
        let dropped = Dropped { session: one.session.as_str(), bytes: one.bytes, used: one.used.to_string() };
        match terminal.stdout {
            true => {
                writeln!(out, "{}  {:>12} bytes  used {}", clean_line(dropped.session), dropped.bytes, dropped.used)?
            }
            false => jsonl::write(&mut out, &dropped)?,
        }
    }
    for session in &deleted.sessions {
        show_deleted(session, &mut out, terminal)?;
    }
    let (dropped, in_use, left_bytes) = (collected.dropped.len(), collected.in_use.len(), collected.left_bytes);
    if terminal.stdout {
        let verb = if args.dry_run { "Would free" } else { "Freed" };
        writeln!(
            out,
            "{verb} {freed_bytes} bytes of {dropped} sessions; {left_bytes} bytes are left. In use: {in_use}. \
             Removed {left_behind} files of killed processes."
        )?;
        if !deleted.sessions.is_empty() {
            let verb = if args.dry_run { "Settings would delete" } else { "Settings deleted" };
            writeln!(out, "{verb} {} sessions.", deleted.sessions.len())?;
        }
    } else {
        let deleted_sessions = deleted.sessions.len();
        jsonl::write(&mut out, &Sum { dropped, freed_bytes, left_bytes, in_use, left_behind, deleted_sessions })?;
    }
    for (session, problem) in &collected.failed {
        writeln!(stderr(), "{}", clean_line(&format!("{session}: {problem}")))?;
    }
    for (session, problem) in &deleted.failed {
        writeln!(stderr(), "{}", clean_line(&format!("{session}: {problem}")))?;
    }
    Ok(i32::from(!collected.failed.is_empty() || !deleted.failed.is_empty()))
}
