//! Failures, each in one line with a remedy.

use std::fmt::{self, Write as _};
use std::path::Path;
use windlass::session::ProjectKey;
use windlass::text::clause;
use windlass::{Error, Outcome, RunResult, event::RunFailureKind, project::ProjectError};

/// The command line is wrong: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of clap, on one line.
pub(crate) fn usage(error: &clap::Error) -> Usage {
    let rendered = error.render().to_string();
    let mut lines = rendered.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the command line cannot be understood");
    let mut text = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let mut command = "windlass".to_owned();
    for line in lines {
        if let Some(usage) = line.strip_prefix("Usage:") {
            // The words before the first placeholder or flag are the command.
            let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
            command = usage.split_whitespace().take_while(is_name).collect::<Vec<_>>().join(" ");
            break;
        }
        if line.starts_with("For more information") {
            break;
        }
        let line = line.strip_prefix("tip: ").unwrap_or(line);
        text.push_str(if text.ends_with(':') { " " } else { "; " });
        text.push_str(line);
    }
    Usage(format!("{text}; see `{command} --help`"))
}

/// Returns the error that keeps a run from starting, in the terms of the command line.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(crate) fn of_start(error: Error) -> anyhow::Error {
    use windlass::session::OpenError;
    let text = match &error {
        Error::Model(model) if model.kind == windlass::provider::ModelErrorKind::Authentication => {
            return anyhow::anyhow!(
                "{error}, or run `windlass login`; `windlass demo` shows an agent at work without a key"
            );
        }
        Error::Open(OpenError::NotFound { .. }) | Error::NothingToContinue { .. } | Error::NoTitle { .. } => {
            return anyhow::anyhow!("{error}; `windlass sessions list` shows the sessions of this directory");
        }
        Error::KeptElsewhere { id, kept_in, .. } if worked_elsewhere(kept_in) => {
            return anyhow::anyhow!(
                "the session {id} worked in a container or on another machine: give the --workspace that it had"
            );
        }
        // A wrong command line, or a file that the user must correct.
        Error::Project(problem) => return Usage(problem.to_string()).into(),
        Error::Rule(rule) => return Usage(rule.to_string()).into(),
        Error::BadSessionId { .. } => return Usage(error.to_string()).into(),
        Error::OutputSchema(_) => return Usage(format!("--json-schema: {error}")).into(),
        Error::NothingToBranchFrom => "--fork-session goes with --resume or --continue",
        Error::IdOfResumed => "--session-id goes with --resume or --continue only if --fork-session is there as well",
        Error::Mode(_) => "the mode bypassPermissions needs --permission-mode bypassPermissions",
        Error::NoHome => {
            "there is no place for sessions: set WINDLASS_HOME or HOME to an absolute path, or use --no-session-persistence"
        }
        Error::EmptyPrompt => "the prompt is empty: give it as `windlass -p PROMPT`, or on standard input",
        _ => return anyhow::anyhow!("{error}"),
    };
    match error {
        Error::Mode(_) | Error::EmptyPrompt | Error::NothingToBranchFrom | Error::IdOfResumed => {
            Usage(text.to_owned()).into()
        }
        _ => anyhow::anyhow!("{text}"),
    }
}

/// Returns `true` if a session with this log worked on files of another machine.
fn worked_elsewhere(log: &Path) -> bool {
    let folder = log.parent().and_then(Path::file_name).unwrap_or_default();
    ProjectKey::from_slug(&*folder.to_string_lossy()).is_elsewhere()
}

/// Returns the error of a project that keeps a session from starting: a wrong command line, or a file that the user
/// must correct.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(crate) fn of_project(error: ProjectError) -> anyhow::Error {
    Usage(error.to_string()).into()
}

/// Returns the reason why a run did not succeed, if it did not.
pub(crate) fn of_result(result: &RunResult) -> Option<String> {
    let text = match &result.outcome {
        Outcome::Success => return None,
        Outcome::Refused => "the model refused to answer".to_owned(),
        Outcome::MaxTurns { limit } => {
            format!("stopped after {limit} turns; raise --max-turns, or continue with --continue")
        }
        Outcome::MaxBudget { limit } => format!(
            "stopped: the next call could exceed the budget of {limit} ({} are spent); raise --max-budget-usd",
            result.cost
        ),
        Outcome::NoStructuredOutput { attempts } => format!(
            "the model gave no output that fits --json-schema in {attempts} attempts: simplify the schema, or say in the prompt what belongs in it"
        ),
        Outcome::Interrupted { .. } => "interrupted".to_owned(),
        Outcome::StoppedByHook { reason } => format!("a hook stopped the run: {reason}"),
        Outcome::PromptBlocked { reason } => format!("a hook did not let the prompt in: {reason}"),
        outcome @ (Outcome::BackgroundStopped { .. } | Outcome::HandedOver) => outcome.to_string(),
        Outcome::Pending { .. } => waiting(result),
        Outcome::Failed(failure) => match failure.kind {
            RunFailureKind::Model(windlass::event::ModelErrorKind::NotFound) => {
                format!("{}; --model takes opus, sonnet, haiku or a full name", clause(&failure.message))
            }
            RunFailureKind::PromptTooLong => format!("{}; begin a new session", clause(&failure.message)),
            _ => failure.message.clone(),
        },
        _ => "the run ended in an unknown way".to_owned(),
    };
    Some(text)
}

/// Returns the open questions, each with the command that answers it.
fn waiting(result: &RunResult) -> String {
    let session = &result.session_id;
    let mut text = "the run waits for answers, and nothing of these calls has run:".to_owned();
    for question in &result.pending_questions {
        let asker = match &question.identity {
            Some(agent) => format!("agent {}: ", agent.agent_type),
            None => String::new(),
        };
        let token = question.token.as_ref().map_or("(shown when it was first asked)", |token| token.reveal());
        let _ = write!(
            text,
            "\n  {asker}{}: {}\n    windlass sessions answer {session} {} allow --token {token}",
            question.tool, question.title, question.id
        );
    }
    let _ = write!(text, "\nthen continue with: windlass --resume {session}");
    text
}
