//! Runs a command and writes its use to standard error: microseconds of CPU and maximum resident size in kilobytes.
//! This program is small, because a child counts the size of its parent as its own.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().context("no command")?;
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stdin(Stdio::null()).status()?;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = used.user_time() + used.system_time();
    eprintln!("{} {} {}", status.success(), cpu.num_microseconds(), used.max_rss());
    Ok(())
}
