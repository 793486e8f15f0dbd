//! Changes of stored sessions: titles, tags, copies and deletion.

use super::id::session_id;
use crate::failure::{Usage, of_start};
use windlass::{Error, Home, SessionId, session::ForkOptions};

/// The options of a copy.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ForkArgs {
    /// The session id
    #[arg(value_name = "SESSION")]
    session: String,
    /// Copy no further than this message: the id of its line
    #[arg(long, value_name = "UUID")]
    at: Option<String>,
    /// The title of the copy [default: that of the session, or its first prompt, with "(fork)"]
    #[arg(long)]
    title: Option<String>,
    /// The id of the copy, a UUID
    #[arg(long, value_name = "UUID")]
    session_id: Option<String>,
}

/// Returns the home, if the text is an id of a session.
fn home_for(given: &str) -> anyhow::Result<Home> {
    session_id(given)?;
    Home::from_env().map_err(of_start)
}

/// Returns the error that keeps a session from being changed, in the terms of the command line.
fn failed(error: Error) -> anyhow::Error {
    match error {
        Error::Annotation(problem) => Usage(problem.to_string()).into(),
        error => error.into(),
    }
}

pub(super) async fn rename(session: &str, title: &str) -> anyhow::Result<i32> {
    home_for(session)?.rename_session(session, title).await.map_err(failed)?;
    Ok(0)
}

/// Sets or removes the tag.
pub(super) async fn tag(session: &str, tag: Option<&str>) -> anyhow::Result<i32> {
    home_for(session)?.tag_session(session, tag).await.map_err(failed)?;
    Ok(0)
}

/// Deletes sessions; a failure with one does not keep the others.
pub(super) async fn delete(sessions: &[String]) -> anyhow::Result<i32> {
    let mut problems = Vec::new();
    for session in sessions {
        if let Err(error) = delete_one(session).await {
            problems.push(format!("{error:#}"));
        }
    }
    if problems.is_empty() { Ok(0) } else { Err(anyhow::anyhow!("{}", problems.join("; "))) }
}

async fn delete_one(session: &str) -> anyhow::Result<()> {
    let home = home_for(session)?;
    home.delete_session(session).await.map_err(|error| match error {
        Error::OnlyRead { home: root, .. } => {
            let places: Vec<String> = home.also_read().iter().map(|place| place.display().to_string()).collect();
            anyhow::anyhow!(
                "the session {session} is not in {} but in {}, which is only read: set WINDLASS_HOME to delete it there",
                root.display(),
                places.join(" or ")
            )
        }
        error => error.into(),
    })
}

/// Copies a session and returns the id of the copy.
pub(super) async fn fork(args: ForkArgs) -> anyhow::Result<SessionId> {
    let home = home_for(&args.session)?;
    let mut options = ForkOptions::new().entrypoint("cli");
    options.at = args.at.map(Into::into);
    options.title = args.title;
    options.session_id = args.session_id.map(|given| session_id(&given)).transpose()?.map(|id| id.to_string());
    home.fork_session(&args.session, options).await.map_err(failed)
}
