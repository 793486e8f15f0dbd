//! The flags that choose the session to resume, the point, and the place of sessions.

use super::flags::Flags;
use crate::sessions::resumed;
use std::path::Path;
use std::sync::Arc;
use windlass::session::Resume;
use windlass::store::{JsonlStore, LogObserver};
use windlass::{Error, Home, SessionBuilder};
use windlass_protocol::Mirror;

/// Longest line that the TypeScript SDK is sent, which reads lines of any length.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Returns the home of sessions, if they are kept.
pub(super) fn home(flags: &Flags) -> Result<Option<Home>, Error> {
    if flags.has("no-session-persistence") {
        return Ok(None);
    }
    if !flags.has("session-mirror") {
        return Home::from_env().map(Some);
    }
    // The host reads paths relative to the home that it knows.
    let home = Home::from_lookup(|name| match name {
        "WINDLASS_HOME" => None,
        "CLAUDE_CODE_ENTRYPOINT" => Some("sdk-".to_owned()),
        name => std::env::var(name).ok(),
    });
    home.map(Some)
}

/// Returns a note about flags that cannot be honoured.
pub(super) fn notes(flags: &Flags) -> Option<String> {
    let neither = flags.has("session-mirror") && flags.has("no-session-persistence");
    neither.then(|| "--session-mirror has no effect: with --no-session-persistence there is no log".to_owned())
}

/// Returns the mirror of the log for the host, if it wants one.
pub(super) fn mirror(flags: &Flags) -> Option<Mirror> {
    let reads_long_lines = std::env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|entry| entry == "sdk-ts");
    flags
        .has("session-mirror")
        .then(|| if reads_long_lines { Mirror::with_longest_line(MAX_LINE_BYTES) } else { Mirror::new() })
}

/// Keeps the session in the home that the flags name.
pub(super) fn keep(builder: SessionBuilder, home: Option<&Home>, mirror: Option<&Mirror>) -> SessionBuilder {
    let Some(home) = home else { return builder };
    let builder = builder.persist(home.clone());
    match mirror {
        Some(_) => builder.storage(Arc::new(store(home, mirror))),
        None => builder,
    }
}

fn store(home: &Home, mirror: Option<&Mirror>) -> JsonlStore {
    let store = JsonlStore::with_imports(home.root(), home.also_read().to_vec());
    match mirror {
        Some(mirror) => store.observed(Arc::new(Feed(mirror.clone()))),
        None => store,
    }
}

/// Reports new log lines to a mirror.
#[derive(Debug)]
struct Feed(Mirror);

impl LogObserver for Feed {
    fn opened(&self, path: &Path, len: u64) {
        self.0.opened(path, len);
    }

    fn written(&self, path: &Path, len: u64) {
        self.0.written(path, len);
    }
}

/// Chooses the session.
pub(super) fn choose(mut builder: SessionBuilder, flags: &Flags) -> SessionBuilder {
    let mut resume = match flags.text("resume") {
        Some(given) => resumed(given),
        // Hosts give this flag also for the first session of a directory.
        None if flags.has("continue") => Resume::latest_or_new(),
        None => Resume::new(),
    };
    if let Some(id) = flags.text("session-id") {
        builder = builder.session_id(id);
    }
    if let Some(id) = flags.text("resume-session-at") {
        resume = resume.at(id);
    }
    // An empty value is passed on: a guard was meant, and cannot be kept.
    if let Some(prompt) = flags.value("resume-drops-turn") {
        resume = resume.drops_turn(prompt);
    }
    builder.resume(if flags.has("fork-session") { resume.fork() } else { resume })
}

/// `true` if the flags begin a new session.
pub(super) fn begins(flags: &Flags) -> bool {
    flags.text("resume").is_none() && !flags.has("continue")
}

/// Returns the error that keeps a session from being opened, in the terms of hosts.
pub(super) fn failure(error: Error, flags: &Flags) -> anyhow::Error {
    match (&error, flags.text("resume")) {
        (Error::NoTitle { title, .. }, Some(resume)) if title == resume => {
            anyhow::anyhow!("No conversation found with session ID: {title}")
        }
        (Error::IdOfResumed, _) => {
            anyhow::anyhow!("--session-id goes with --resume or --continue only if --fork-session is there as well")
        }
        _ => error.into(),
    }
}
