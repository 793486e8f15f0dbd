//! The helper: a program that confines itself and then becomes another one.
//!
//! A process with threads cannot give a child namespaces of its own without `unsafe`, so the program that uses windlass
//! is started a second time, with [`HELPER_WORD`](crate::HELPER_WORD) as its first argument, and has to call
//! [`become_helper`] before all else.

mod devices;
pub(crate) mod failed;
pub(crate) mod filter;
mod listener;
mod loopback;
mod mounts;
mod probe;
pub(crate) mod rules;
pub(crate) mod stamps;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use landlock::RulesetCreated;
use seccompiler::BpfProgram;

use crate::HELPER_WORD;
use crate::confinement::Confinement;
use failed::{Failed, context};

/// Exit code of a helper that could not confine itself and so has run no program.
pub(crate) const NOT_CONFINED: i32 = 125;
/// Prefix of the helper's error message.
pub(crate) const MESSAGE: &str = "windlass sandbox: ";
/// First argument of the probe, which tries forbidden actions; the helper's program is also the probe.
pub(crate) const PROBE_WORD: &str = "__windlass_probe";

/// Becomes the helper if these arguments, without the name of the program, ask for it. Call it first in `main`, while
/// there is one thread. Returns the exit code if the helper was asked for and failed, and `None` if it was not asked
/// for; on success it does not return.
pub(crate) fn become_helper(arguments: impl IntoIterator<Item = OsString>) -> Option<i32> {
    let mut arguments = arguments.into_iter();
    let word = arguments.next()?;
    if word == PROBE_WORD {
        return Some(probe::run(arguments));
    }
    if word != HELPER_WORD {
        return None;
    }
    let (failed, code) = match Confinement::from_arguments(arguments) {
        Ok((confinement, program)) => match confine(&confinement) {
            Ok(()) => run(program),
            Err(failed) => (failed.to_string(), NOT_CONFINED),
        },
        Err(problem) => (problem, NOT_CONFINED),
    };
    // Standard error may be closed; the exit code suffices then.
    let _ = std::io::stderr().write_all(format!("{MESSAGE}{failed}\n").as_bytes());
    Some(code)
}

fn confine(confinement: &Confinement) -> Result<(), Failed> {
    if confinement.namespaces {
        mounts::enter(confinement)?;
    }
    if let Some(socket) = &confinement.proxy {
        listener::hand_over(socket)?;
    }
    let ruleset = rules::ruleset(confinement, None)?;
    give_up_rights(ruleset, &filter::filter(confinement)?, confinement.has_own_view())
}

/// Permanently drops all rights of this thread that the program and its children must not have.
pub(crate) fn give_up_rights(ruleset: RulesetCreated, filter: &BpfProgram, has_own_view: bool) -> Result<(), Failed> {
    rules::restrict(ruleset, has_own_view)?;
    mounts::drop_capabilities()?;
    filter::apply(filter)
}

/// Becomes the program. Returns only on failure.
fn run(program: Vec<OsString>) -> (String, i32) {
    let mut words = program.into_iter();
    let name = words.next().unwrap_or_default();
    let error = Command::new(&name).args(words).exec();
    let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    (format!("{} was not started: {error}", name.display()), code)
}
