//! [`LocalProcess`] keeps what a process promises, and a wrong one is found.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use windlass_local::LocalProcess;
use windlass_testkit::Violation;
use windlass_testkit::process::{self, Shell};
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome};

fn local(tag: &str) -> LocalProcess {
    LocalProcess::new(format!("kit{tag}{}", std::process::id()))
}

fn shell(folder: &tempfile::TempDir) -> Shell {
    Shell::new(folder.path().canonicalize().unwrap()).with_mark(LocalProcess::MARK)
}

#[tokio::test]
async fn local_programs_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    process::all(&local("all"), &shell(&folder)).await.unwrap();
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    HidesTheCode,
    ForgetsSignals,
    CountsPhantoms,
    GivesSomeInput,
    SplitsArguments,
    Inherits,
    DropsVariables,
    IgnoresTheDirectory,
    NamesNoCause,
    MixesStreams,
    NeverMerges,
    KeepsTooMuch,
    MiscountsTheGap,
    CutsCharacters,
    KeepsOnlyTheHead,
    NeverSpills,
    AlwaysSpills,
    LeavesOrphans,
    IgnoresTime,
    CallsATimeoutACode,
    ForgetsOutputInTime,
    IgnoresACancel,
    StartsWhatIsCancelled,
    OutlivesItsFuture,
}

/// Local programs with one flaw.
#[derive(Debug)]
struct Flawed {
    local: std::sync::Arc<LocalProcess>,
    flaw: Flaw,
}

impl Flawed {
    fn spoil_command(&self, command: &mut ProcessCommand) {
        match self.flaw {
            Flaw::GivesSomeInput => wrap(command, |script| format!("printf 'something\\n' | {{ {script}\n}}")),
            Flaw::SplitsArguments => {
                let split = command.args.iter().skip(2).flat_map(|arg| {
                    let words: Vec<_> = arg.to_string_lossy().split(' ').map(Into::into).collect();
                    words
                });
                command.args = command.args.iter().take(2).cloned().chain(split).collect();
            }
            Flaw::Inherits => command.env.push(("SECRET_OF_THE_HOST".into(), "1".into())),
            Flaw::DropsVariables => command.env.retain(|(_, value)| !value.is_empty()),
            Flaw::IgnoresTheDirectory if command.cwd.is_dir() && command.args.is_empty() => command.cwd = "/".into(),
            Flaw::MixesStreams => command.merge_streams = true,
            Flaw::NeverMerges => command.merge_streams = false,
            Flaw::KeepsTooMuch => command.inline_bytes += 8,
            Flaw::NeverSpills => command.spill = None,
            Flaw::AlwaysSpills => command.spill_above = command.spill_above.map(|_| 0),
            Flaw::IgnoresTime => command.timeout = None,
            _ => {}
        }
    }

    fn spoil_outcome(&self, outcome: &mut ProcessOutcome) {
        match self.flaw {
            Flaw::HidesTheCode if outcome.exit == ProcessExit::Code(255) => outcome.exit = ProcessExit::Code(-1),
            Flaw::ForgetsSignals => {
                if let ProcessExit::Signal(signal) = outcome.exit {
                    outcome.exit = ProcessExit::Code(128 + signal);
                }
            }
            Flaw::CountsPhantoms => outcome.stopped += 1,
            Flaw::MiscountsTheGap if outcome.stdout.omitted_bytes > 0 => outcome.stdout.omitted_bytes -= 1,
            Flaw::CutsCharacters if outcome.stdout.omitted_bytes > 0 => {
                outcome.stdout.head.push('\u{fffd}');
            }
            Flaw::KeepsOnlyTheHead if outcome.stdout.omitted_bytes > 0 => {
                outcome.stdout.omitted_bytes += outcome.stdout.tail.len() as u64;
                outcome.stdout.tail.clear();
            }
            Flaw::CallsATimeoutACode if outcome.exit == ProcessExit::TimedOut => {
                outcome.exit = ProcessExit::Code(124);
            }
            Flaw::ForgetsOutputInTime if outcome.exit == ProcessExit::TimedOut => outcome.stdout.head.clear(),
            _ => {}
        }
    }
}

/// Changes the script of a shell.
fn wrap(command: &mut ProcessCommand, change: impl FnOnce(&str) -> String) {
    if let Some(script) = command.args.get_mut(1) {
        *script = change(&script.to_string_lossy()).into();
    }
}

#[async_trait]
impl Process for Flawed {
    async fn run(&self, mut command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        self.spoil_command(&mut command);
        let own = match self.flaw {
            Flaw::IgnoresACancel if !cancel.is_cancelled() => Cancel::new(),
            Flaw::StartsWhatIsCancelled if cancel.is_cancelled() => {
                self.local.run(command.clone(), &Cancel::new()).await?;
                cancel.clone()
            }
            _ => cancel.clone(),
        };
        if self.flaw == Flaw::OutlivesItsFuture {
            let local = std::sync::Arc::clone(&self.local);
            return tokio::spawn(async move { local.run(command, &own).await }).await.unwrap();
        }
        if self.flaw == Flaw::LeavesOrphans && command.args.iter().any(|arg| arg.to_string_lossy().contains("exit 3")) {
            return orphans(&command).await;
        }
        match self.local.run(command, &own).await {
            Ok(mut outcome) => {
                self.spoil_outcome(&mut outcome);
                Ok(outcome)
            }
            Err(_) if self.flaw == Flaw::NamesNoCause => Err(ProcessError::new("it failed")),
            Err(error) => Err(error),
        }
    }
}

/// A naive way to run a program: its children live on.
async fn orphans(command: &ProcessCommand) -> Result<ProcessOutcome, ProcessError> {
    let script = command.args[1].to_string_lossy().replace("sleep 600 ", "sleep 20 ");
    let mut child = tokio::process::Command::new(&command.program);
    child.arg("-c").arg(script.replace("20 &", "20 >/dev/null 2>&1 &"));
    let output = child.stdin(std::process::Stdio::null()).output().await.map_err(|_| ProcessError::new("no"))?;
    let mut outcome = ProcessOutcome::new(ProcessExit::Code(output.status.code().unwrap_or(-1)), Duration::ZERO);
    outcome.stdout.head = String::from_utf8_lossy(&output.stdout).into_owned();
    outcome.stopped = 1;
    Ok(outcome)
}

type Rule = for<'a> fn(&'a Flawed, &'a Shell) -> futures::future::BoxFuture<'a, Result<(), Violation>>;

macro_rules! rule {
    ($name:ident) => {
        |process, shell| Box::pin(process::$name(process, shell))
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_broken_promise_is_found() {
    let cases: [(Flaw, Rule, &str); 24] = [
        (Flaw::HidesTheCode, rule!(reports_how_a_program_ended), "reported as Code(-1)"),
        (Flaw::ForgetsSignals, rule!(reports_how_a_program_ended), "reported as Code(137)"),
        (Flaw::CountsPhantoms, rule!(reports_how_a_program_ended), "leaves no process, but: 1 stopped"),
        (Flaw::GivesSomeInput, rule!(gives_an_empty_input), "reads its input prints"),
        (Flaw::SplitsArguments, rule!(passes_arguments_and_environment_exactly), "come as"),
        (Flaw::Inherits, rule!(passes_arguments_and_environment_exactly), "[\"SECRET_OF_THE_HOST\"]"),
        (Flaw::DropsVariables, rule!(passes_arguments_and_environment_exactly), "a variable is missing"),
        (Flaw::IgnoresTheDirectory, rule!(starts_in_its_directory), "prints where it starts"),
        (Flaw::NamesNoCause, rule!(starts_in_its_directory), "the error does not say so: it failed"),
        (Flaw::MixesStreams, rule!(keeps_the_streams), "apart they are"),
        (Flaw::NeverMerges, rule!(keeps_the_streams), "merged they are"),
        (Flaw::KeepsTooMuch, rule!(bounds_its_output), "more than the limit"),
        (Flaw::MiscountsTheGap, rule!(bounds_its_output), "the sum is wrong"),
        (Flaw::CutsCharacters, rule!(bounds_its_output), "more than the limit"),
        (Flaw::KeepsOnlyTheHead, rule!(survives_a_flood), "lost its end"),
        (Flaw::NeverSpills, rule!(spills_what_is_too_large), "a file above"),
        (Flaw::AlwaysSpills, rule!(spills_what_is_too_large), "a file above"),
        (Flaw::LeavesOrphans, rule!(ends_what_is_left_behind), "some live on"),
        (Flaw::IgnoresTime, rule!(stops_when_time_is_up), "no answer in 30 s"),
        (Flaw::CallsATimeoutACode, rule!(stops_when_time_is_up), "reported as Code(124)"),
        (Flaw::ForgetsOutputInTime, rule!(stops_when_time_is_up), "what it printed before its time was up is \"\""),
        (Flaw::IgnoresACancel, rule!(stops_when_cancelled), "no answer in 30 s"),
        (Flaw::StartsWhatIsCancelled, rule!(stops_when_cancelled), "cancelled before it started ran"),
        (Flaw::OutlivesItsFuture, rule!(kills_what_is_dropped), "some live on"),
    ];
    let found = futures::future::join_all(cases.map(|(flaw, rule, expected)| async move {
        let folder = tempfile::tempdir().unwrap();
        let flawed = Flawed { local: std::sync::Arc::new(local(&format!("{flaw:?}"))), flaw };
        let found = rule(&flawed, &shell(&folder)).await.err().map(|found| found.to_string()).unwrap_or_default();
        assert!(found.contains(expected), "{flaw:?} gives {found:?}");
        folder.path().to_owned()
    }));
    let folders: Vec<PathBuf> = found.await;
    assert_eq!(folders.len(), 24);
}
