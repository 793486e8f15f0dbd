//! Questions that wait for an answer: listing and answering them.

use super::found::{age, find};
use crate::args::RunArgs;
use crate::elsewhere::Elsewhere;
use crate::failure::{Usage, of_start};
use crate::jsonl;
use crate::settings::current_directory;
use crate::terminal::{Terminal, clean_line};
use clap::{Args, ValueEnum};
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use windlass::session::{OpenQuestion, SessionList};
use windlass::{AnswerProblem, Error, Home, PermissionAnswer};

/// Filters and format of a list of questions.
#[derive(Debug, Clone, Args)]
pub(crate) struct PendingArgs {
    /// Questions of this session [default: of all sessions of this directory]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Questions of the sessions of another directory
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    cwd: Option<PathBuf>,
    /// One JSON object a line, also at a terminal
    #[arg(long)]
    json: bool,
}

/// An answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnswerArgs {
    /// The session id
    #[arg(value_name = "SESSION")]
    session: String,
    /// The id of the question
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Answer: allow or deny the call
    #[arg(value_enum, value_name = "ANSWER")]
    answer: AnswerChoice,
    /// Token that was given with the question
    #[arg(long, value_name = "TOKEN")]
    token: String,
    /// With deny: a reason for the model
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

/// Answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerChoice {
    /// The call may run once, exactly as asked.
    Allow,
    /// The call does not run.
    Deny,
}

/// Lists the questions that wait.
pub(super) async fn list(args: PendingArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let mut out = stdout().lock();
    let mut any = false;
    for session in sessions(&home, &args).await? {
        let questions = match home.pending_questions(&session).await {
            // Another program may have deleted it meanwhile.
            Err(_) if args.session.is_none() => continue,
            questions => questions?,
        };
        for question in questions {
            any = true;
            if args.json || !terminal.stdout {
                jsonl::write(&mut out, &question)?;
            } else {
                show(&mut out, &question)?;
            }
        }
    }
    if !any && terminal.stdout && !args.json {
        let _ = writeln!(stderr(), "no question waits for an answer");
    }
    Ok(0)
}

/// Returns the ids of the selected sessions.
async fn sessions(home: &Home, args: &PendingArgs) -> anyhow::Result<Vec<String>> {
    if let Some(session) = &args.session {
        return Ok(vec![find(home, session).await?.id.to_string()]);
    }
    let SessionList { sessions, .. } = home.sessions(args.cwd.as_deref().unwrap_or(Path::new("."))).await?;
    Ok(sessions.into_iter().map(|session| session.session_id.to_string()).collect())
}

fn show(out: &mut impl Write, question: &OpenQuestion) -> std::io::Result<()> {
    let state = if question.answered { ", answered" } else { "" };
    writeln!(
        out,
        "{} {}  {:>9}{state}  {}{}: {}",
        question.session,
        question.id,
        age(question.asked.millis()),
        asker(question),
        clean_line(&question.tool),
        clean_line(&question.title)
    )
}

/// Returns the asking agent, for the beginning of the line; empty for the main agent.
fn asker(question: &OpenQuestion) -> String {
    let Some(agent) = &question.identity else { return String::new() };
    format!("[{} {}] ", clean_line(&agent.agent_type), clean_line(&question.agent.to_string()))
}

/// Answers a question.
pub(super) async fn answer(args: AnswerArgs) -> anyhow::Result<i32> {
    let home = Home::from_env().map_err(of_start)?;
    let session = find(&home, &args.session).await?.id;
    let answer = match args.answer {
        AnswerChoice::Allow if args.message.is_some() => {
            return Err(Usage("--message goes with deny: the model does not read it".to_owned()).into());
        }
        AnswerChoice::Allow => PermissionAnswer::allow(),
        AnswerChoice::Deny => PermissionAnswer::deny(args.message.unwrap_or_default()),
    };
    let question = args.question.to_ascii_lowercase().as_str().into();
    let code = match home.answer_question(&session, &question, args.token.trim(), answer).await {
        Ok(()) => return Ok(0),
        Err(Error::Answer { question, problem }) => {
            let code = match problem {
                AnswerProblem::NotOpen => 11,
                AnswerProblem::WrongToken => 12,
                AnswerProblem::Answered => 13,
                _ => 1,
            };
            let _ = writeln!(stderr(), "windlass: question {}: {problem}", clean_line(question.as_str()));
            code
        }
        Err(error) => return Err(error.into()),
    };
    Ok(code)
}

/// Reason why a session can be continued without a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// A run that waits for answers.
    Answers,
    /// A run that was cut, or handed over.
    OpenRun,
}

/// Returns the reason why the session that a command line resumes can be continued without a prompt; `None` if it
/// cannot.
pub(crate) async fn continuation(
    args: &RunArgs,
    elsewhere: Option<&Elsewhere>,
) -> anyhow::Result<Option<Continuation>> {
    let home = Home::from_env().map_err(of_start)?;
    let latest = match (&args.session.resume, elsewhere) {
        (Some(id), _) => Some(id.clone()),
        (None, Some(there)) => latest(home.sessions_elsewhere(&there.remote.name(), &there.directory).await?),
        (None, None) => latest(home.sessions(current_directory()?).await?),
    };
    let Some(id) = latest else { return Ok(None) };
    // An error is reported when the session is resumed.
    if home.pending_questions(&id).await.is_ok_and(|questions| !questions.is_empty()) {
        return Ok(Some(Continuation::Answers));
    }
    let is_open = home.open_run(&id).await.is_ok_and(|open| open.is_some());
    Ok(is_open.then_some(Continuation::OpenRun))
}

/// Returns the id of the session that was changed last.
fn latest(list: SessionList) -> Option<String> {
    list.sessions.into_iter().next().map(|session| session.session_id.to_string())
}
