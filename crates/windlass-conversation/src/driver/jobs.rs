//! Jobs of the open session that take time.

use super::SessionDriver;
use crate::input::{Input, NotRewound, Outcome, RewindScope, Rewound};
use crate::output::{Job, Ticket};
use futures_util::FutureExt as _;
use futures_util::future::Either;
use std::io::SeekFrom;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use windlass_runtime::{RewindError, SessionHandle};
use windlass_types::EntryId;

impl SessionDriver {
    /// Begins a job.
    pub(super) fn begin(&mut self, ticket: Ticket, job: Job) {
        let handle = self.session().cloned();
        match (job, handle) {
            (Job::FileEnd(path, limit), _) => self.spawn(ticket, async move {
                let (tail, total) = file_end(&path, limit).await.unwrap_or_default();
                Outcome::FileEnd(tail, total)
            }),
            (Job::Rename(title), _) => self.rename(ticket, title),
            (Job::Rewind { to, scope, dry_run }, Some(handle)) => self.rewind(ticket, &handle, to, scope, dry_run),
            (Job::Rewind { .. }, None) => self.done(ticket, rewound(Err(RewindError::Closed))),
            (Job::Context, Some(handle)) => {
                self.spawn(ticket, async move { Outcome::Context(handle.context_usage().await.ok().map(Box::new)) })
            }
            (Job::Context, None) => self.done(ticket, Outcome::Context(None)),
            (Job::PermissionMode, Some(handle)) => {
                self.spawn(ticket, async move { Outcome::PermissionMode(handle.permission_mode().await.ok()) });
            }
            (Job::PermissionMode, None) => self.done(ticket, Outcome::PermissionMode(None)),
            (Job::Model(name), _) => self.set_model(ticket, name.as_deref()),
            (Job::MoveToBackground(call), Some(handle)) => {
                self.spawn(ticket, handle.move_to_background(call).map(Outcome::Moved));
            }
            (Job::MoveToBackground(_), None) => self.done(ticket, Outcome::Moved(false)),
        }
    }

    fn done(&mut self, ticket: Ticket, outcome: Outcome) {
        self.inputs.push_back(Input::Done(ticket, outcome));
    }

    fn spawn(&mut self, ticket: Ticket, outcome: impl Future<Output = Outcome> + Send + 'static) {
        let failed = |_| Outcome::Failed("carrying out the order failed: it panicked");
        let outcome = AssertUnwindSafe(outcome).catch_unwind().map(move |done| done.unwrap_or_else(failed));
        self.jobs.spawn(outcome.map(move |outcome| Input::Done(ticket, outcome)));
    }

    /// Sets the model before this returns: prompts that come later go to it.
    fn set_model(&mut self, ticket: Ticket, name: Option<&str>) {
        let current = self.current.as_ref();
        let result = current.map_or(Ok(()), |current| current.handle.set_model((current.extras.models)(name)));
        self.done(ticket, Outcome::Model(result.map_err(|error| error.to_string())));
    }

    fn rename(&mut self, ticket: Ticket, title: String) {
        match self.current.as_ref().and_then(|current| current.extras.rename.as_ref()) {
            Some(rename) => {
                let renamed = rename(title);
                self.spawn(ticket, async move { Outcome::Renamed(renamed.await.map_err(|error| error.to_string())) });
            }
            None => self.done(ticket, Outcome::Renamed(Err("the session is not open".to_owned()))),
        }
    }

    /// Rewinds the session. The command is sent before this returns: later prompts wait for it.
    fn rewind(&mut self, ticket: Ticket, handle: &SessionHandle, to: EntryId, scope: RewindScope, dry_run: bool) {
        if scope == RewindScope::Files {
            let files =
                if dry_run { Either::Left(handle.file_changes(&to)) } else { Either::Right(handle.rewind_files(&to)) };
            let of_files = |files| Rewound::new(Some(files), None, None);
            return self.spawn(ticket, files.map(move |files| rewound(files.map(of_files))));
        }
        let (handle, with_files) = (handle.clone(), scope == RewindScope::Both);
        self.spawn(ticket, async move {
            rewound(if dry_run {
                conversation_changes(&handle, &to, with_files).await
            } else {
                rewind_conversation(&handle, &to, with_files).await
            })
        });
    }
}

fn rewound(result: Result<Rewound, RewindError>) -> Outcome {
    let failure = |error: RewindError| NotRewound {
        is_running: matches!(error, RewindError::Running),
        reason: error.to_string(),
    };
    Outcome::Rewound(result.map_err(failure))
}

/// The end of a file, at most `limit` bytes, and the bytes of the whole file.
async fn file_end(path: &Path, limit: u64) -> std::io::Result<(String, u64)> {
    let mut file = tokio::fs::File::open(path).await?;
    let total = file.metadata().await?.len();
    let start = total.saturating_sub(limit);
    file.seek(SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).await?;
    // The first character may be cut.
    let partial_bytes =
        if start > 0 { bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count() } else { 0 };
    let complete_text = bytes.get(partial_bytes..).unwrap_or_default();
    Ok((String::from_utf8_lossy(complete_text).into_owned(), total))
}

/// Rewinds a conversation, with its files or without them.
async fn rewind_conversation(handle: &SessionHandle, to: &EntryId, with_files: bool) -> Result<Rewound, RewindError> {
    if with_files {
        let rewound = handle.rewind(to).await?;
        return Ok(Rewound::new(rewound.files, Some(rewound.conversation), Some(rewound.undo)));
    }
    let (point, undo) = handle.rewind_conversation(to).await?;
    Ok(Rewound::new(None, Some(point), Some(undo)))
}

/// Preview of [`rewind_conversation`].
async fn conversation_changes(handle: &SessionHandle, to: &EntryId, with_files: bool) -> Result<Rewound, RewindError> {
    let point = handle.conversation_changes(to).await?;
    let checkpoint = if point.is_undo { point.files.as_ref() } else { Some(to) };
    let files = match checkpoint.filter(|_| with_files) {
        Some(checkpoint) => Some(handle.file_changes(checkpoint).await?),
        None => None,
    };
    Ok(Rewound::new(files, Some(point), None))
}
