//! Gates that a call passes before it runs: `cargo build --profile dist -p windlass-benches-gates &&
//! target/dist/gates`.
//!
//! `gates verdicts` measures the verdicts alone and prints each line of 10,000 characters; `gates verdicts copies`
//! measures one kind.
//!
//! Figures are medians. Compared sides take turns, so that other load meets both.
#![allow(clippy::disallowed_methods, reason = "it measures real time in its own environment")]

mod hooks;
mod sandbox;
mod verdicts;

use std::time::Duration;

fn main() -> anyhow::Result<()> {
    // The helper of the sandbox becomes another program, so this runs before all else and with one thread.
    if let Some(code) = windlass_sandbox::become_helper(std::env::args_os().skip(1)) {
        std::process::exit(code);
    }
    let mut arguments = std::env::args().skip(1);
    let verdicts_alone = arguments.next().is_some_and(|name| name == "verdicts");
    if arguments.next().is_some_and(|kind| verdicts::report_one(&kind)) {
        return Ok(());
    }
    verdicts::report(verdicts_alone);
    if verdicts_alone {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        hooks::report().await?;
        sandbox::report().await
    })
}

/// Returns the median and the minimum.
fn spread(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    (at(times.len() / 2), at(0))
}

fn row(name: &str, target: &str, (median, least): (Duration, Duration)) {
    println!("{name:48} {target:>12}  median {median:>10.1?}  least {least:>10.1?}");
}
