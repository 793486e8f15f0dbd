//! The flags that say which session to go on with, from where, and where it is.

use super::flags::Flags;
use windlass::{Error, Home, SessionBuilder};

/// Where sessions are kept, if they are.
pub(super) fn home(flags: &Flags) -> Result<Option<Home>, Error> {
    if flags.has("no-session-persistence") {
        return Ok(None);
    }
    if !flags.has("session-mirror") {
        return Home::from_env().map(Some);
    }
    // The host reads paths relative to the place that it knows.
    let home = Home::from_lookup(|name| match name {
        "WINDLASS_HOME" => None,
        "CLAUDE_CODE_ENTRYPOINT" => Some("sdk-".to_owned()),
        name => std::env::var(name).ok(),
    });
    home.map(Some)
}

/// Chooses the session.
pub(super) fn choose(mut builder: SessionBuilder, flags: &Flags) -> SessionBuilder {
    if let Some(id) = flags.text("resume") {
        builder = builder.resume(id);
    } else if flags.has("continue") {
        builder = builder.continue_latest();
    }
    if let Some(id) = flags.text("session-id") {
        builder = builder.session_id(id);
    }
    if let Some(id) = flags.text("resume-session-at") {
        builder = builder.resume_at(id);
    }
    // An empty one is a guard that was meant and cannot be kept.
    if let Some(prompt) = flags.value("resume-drops-turn") {
        builder = builder.resume_drops_turn(prompt);
    }
    builder.fork_session(flags.has("fork-session"))
}

/// What keeps a session from being opened, as hosts know it.
pub(super) fn failure(error: Error, flags: &Flags) -> anyhow::Error {
    match (&error, flags.text("resume")) {
        (Error::BadSessionId { id }, Some(resume)) if id == resume => {
            anyhow::anyhow!("No conversation found with session ID: {id}")
        }
        (Error::IdOfResumed, _) => {
            anyhow::anyhow!("--session-id goes with --resume or --continue only if --fork-session is there as well")
        }
        _ => error.into(),
    }
}
