//! `windlass doctor`: what works here and what does not, each with a remedy. Writes nothing that stays, and starts nothing
//! that a project brings.

mod check;
mod home;
mod machine;
mod project;
mod provider;

use crate::jsonl;
use crate::terminal::{Terminal, clean_line};
use check::{Check, CheckState};
use clap::Args;
use serde_json::json;
use std::io::{Write as _, stdout};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Do not connect to the model provider
    #[arg(long)]
    offline: bool,
}

/// Checks everything, prints it, and returns the exit code: 1 if something is broken.
pub(crate) async fn doctor(args: DoctorArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let checks = run_checks(args.offline, terminal).await;
    let broken = is_broken(&checks);
    let mut out = stdout().lock();
    if args.json {
        jsonl::write(&mut out, &json!({"version": env!("CARGO_PKG_VERSION"), "broken": broken, "checks": checks}))?;
    } else {
        out.write_all(lines(&checks).as_bytes())?;
    }
    Ok(i32::from(broken))
}

/// Checks everything, and returns the lines that `windlass doctor` prints.
#[cfg(unix)]
pub(crate) async fn report(terminal: Terminal) -> String {
    lines(&run_checks(false, terminal).await)
}

async fn run_checks(offline: bool, terminal: Terminal) -> Vec<Check> {
    let mut checks = vec![machine::program(), machine::terminal(terminal)];
    let found = project::inspect();
    checks.extend(project::settings(&found));
    match &found {
        Ok(project) => {
            checks.extend(project::servers(project));
            checks.extend(provider::checks(project, offline).await);
        }
        Err(_) => checks.push(Check::notice("provider", "not checked, since the settings cannot be used")),
    }
    checks.push(machine::sandbox().await);
    checks.push(machine::git());
    checks.extend(home::checks());
    checks
}

fn is_broken(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.state == CheckState::Broken)
}

fn lines(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let state = match check.state {
            CheckState::Ok => "ok",
            CheckState::Notice => "notice",
            CheckState::Broken => "BROKEN",
        };
        text.push_str(&format!("{state:<7} {:<9} {}\n", check.name, clean_line(&check.text)));
        if let Some(advice) = &check.advice {
            text.push_str(&format!("{:<17} → {}\n", "", clean_line(advice)));
        }
    }
    let verdict = if is_broken(checks) { "Something is broken: see the lines above." } else { "Nothing is broken." };
    text + "\n" + verdict + "\n"
}
