//! Endings of programs, and the processes that they leave.

use std::time::Duration;

use windlass_tool::{Cancel, Process, ProcessExit};

use super::Shell;
use super::shell::run;
use crate::Violation;
use crate::violation::ensure;

/// Script of a child that ignores signals: two more processes below it, all of which ignore requests to stop, with
/// their ids printed.
const STUBBORN: &str = "trap '' TERM HUP INT; echo $$; sleep 600 & echo $!; \
    sh -c 'trap \"\" TERM HUP INT; echo $$; sleep 600; :' & sleep 600 & echo $!; wait; sleep 600; :";

/// Checks that the code or the signal is reported exactly.
///
/// # Errors
/// Another code or signal is reported.
pub async fn reports_how_a_program_ended(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    for (script, exit) in [
        ("true", ProcessExit::Code(0)),
        ("exit 1", ProcessExit::Code(1)),
        ("exit 255", ProcessExit::Code(255)),
        ("kill -KILL $$", ProcessExit::Signal(9)),
        ("kill -TERM $$", ProcessExit::Signal(15)),
    ] {
        let outcome = shell.run(process, script).await?;
        ensure(outcome.exit == exit, || {
            format!("{script:?} ends with {exit:?}, but is reported as {:?}", outcome.exit)
        })?;
        ensure(outcome.stopped == 0, || format!("{script:?} leaves no process, but: {} stopped", outcome.stopped))?;
    }
    Ok(())
}

/// Checks that processes left running by a program that has ended neither delay the outcome nor live on, whether they
/// hold the output or not, and are counted.
///
/// # Errors
/// The rule is broken.
pub async fn ends_what_is_left_behind(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    for script in ["sleep 600 & echo $!; exit 3", "sleep 600 >/dev/null 2>&1 & echo $!; exit 3"] {
        let outcome = shell.run(process, script).await?;
        ensure(outcome.exit == ProcessExit::Code(3), || format!("{script}: {:?}", outcome.exit))?;
        ensure(outcome.stopped >= 1, || format!("{script}: no process was stopped"))?;
        shell.until_gone(process, &outcome.stdout.head, script).await?;
    }
    Ok(())
}

/// Checks that a program whose time is up ends with all processes it started, also if they resist, and that its output
/// is kept.
///
/// # Errors
/// The program continues, a process lives on, or the output is lost.
pub async fn stops_when_time_is_up(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let mut command = shell.command(STUBBORN);
    command.timeout = Some(Duration::from_millis(1_500));
    let outcome = run(process, command, &Cancel::new(), "a program that does not want to end in time").await?;
    ensure(outcome.exit == ProcessExit::TimedOut, || {
        format!("its time is up, but it is reported as {:?}", outcome.exit)
    })?;
    let pids = &outcome.stdout.head;
    ensure(pids.lines().count() == 4, || format!("what it printed before its time was up is {pids:?}"))?;
    shell.until_gone(process, pids, "time is up").await?;

    let mut command = shell.command("exit 4");
    command.timeout = Some(Duration::from_secs(100));
    let outcome = run(process, command, &Cancel::new(), "a program that ends in time").await?;
    ensure(outcome.exit == ProcessExit::Code(4), || format!("it ends in time, but is reported as {:?}", outcome.exit))
}

/// Checks that a cancelled program ends with all processes it started and keeps its output, and that one that is
/// cancelled before it starts never does.
///
/// # Errors
/// The program continues, a process lives on, or one was started.
pub async fn stops_when_cancelled(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let cancel = Cancel::new();
    let script = format!("{{ {STUBBORN}; }} & echo ready >cancel.ready; wait; wait");
    let work = run(process, shell.command(&script), &cancel, "a program that is cancelled");
    let stop = async {
        let begun = shell.until(process, "test -e cancel.ready && sleep 0.3", "a program does not begin").await;
        cancel.cancel();
        begun
    };
    let (outcome, begun) = tokio::join!(work, stop);
    begun?;
    let outcome = outcome?;
    ensure(outcome.exit == ProcessExit::Cancelled, || format!("cancelled, but reported as {:?}", outcome.exit))?;
    let pids = &outcome.stdout.head;
    ensure(!pids.trim().is_empty(), || "what it printed before it was cancelled is lost".to_owned())?;
    shell.until_gone(process, pids, "cancelled").await?;

    let outcome = run(process, shell.command("echo >cancel.late"), &cancel, "a program cancelled early").await?;
    ensure(outcome.exit == ProcessExit::Cancelled, || format!("cancelled early, but reported as {:?}", outcome.exit))?;
    shell.until(process, "test ! -e cancel.late", "a program that was cancelled before it started ran").await
}

/// Checks that a dropped run soon ends its whole process tree.
///
/// # Errors
/// A process lives on.
pub async fn kills_what_is_dropped(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    let script = format!("{{ {STUBBORN}; }} >drop.pids & wait; wait");
    let never = Cancel::new();
    tokio::select! {
        outcome = process.run(shell.command(&script), &never) => {
            return Err(Violation::new(format!("a program that sleeps has ended: {outcome:?}")));
        }
        begun = shell.until(process, "test \"$(wc -l <drop.pids 2>/dev/null)\" -ge 4", "a program does not begin") => begun?,
    }
    let pids = shell.read(process, "cat drop.pids").await?;
    shell.until_gone(process, &pids, "dropped").await
}
