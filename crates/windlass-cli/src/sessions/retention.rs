//! Retention of sessions: those beyond the limits of the user's settings are deleted, at most once a day.

use super::listing::all;
use crate::failure::{of_project, of_start};
use crate::folder_size::FolderSize;
use crate::launch;
use crate::notes::note_to_stderr;
use crate::settings::current_directory;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use windlass::project::LoadedProject;
use windlass::{Error, Home, SessionId};

/// File in the home whose time is that of the last deletion.
const STAMP: &str = "windlass-last-cleanup";
const DAY: Duration = Duration::from_secs(86_400);

/// Limits of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Retention {
    /// Days after which sessions that were not used are deleted.
    days: Option<u64>,
    /// Bytes of all sessions beyond which the oldest are deleted.
    max_bytes: Option<u64>,
}

/// A stored session, with what its log and its files take up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SizedSession {
    pub(super) id: SessionId,
    pub(super) bytes: u64,
    /// Milliseconds of the last change since 1970.
    pub(super) used: u64,
}

/// Deleted sessions, and those that could not be deleted.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    pub(super) sessions: Vec<SizedSession>,
    pub(super) failed: Vec<(SessionId, Error)>,
}

impl Retention {
    /// The limits that settings set; `None` if sessions are kept for good.
    pub(super) fn of(project: &LoadedProject) -> Option<Self> {
        let session = &project.resolved().session;
        let days = session.cleanup_period_days.as_ref().map(|days| days.value);
        let max_bytes = session.cleanup_max_bytes.as_ref().map(|bytes| bytes.value);
        (days.is_some() || max_bytes.is_some()).then_some(Self { days, max_bytes })
    }

    /// The limits of the current directory.
    pub(super) fn here() -> anyhow::Result<Option<Self>> {
        let project = launch::project(&Default::default(), &current_directory()?)?.inspect().map_err(of_project)?;
        Ok(Self::of(&project))
    }

    /// Selects the sessions beyond the limits. `sessions` begins with the most recently used one.
    fn beyond(self, sessions: Vec<SizedSession>, now: u64) -> Vec<SizedSession> {
        let day = u64::try_from(DAY.as_millis()).unwrap_or(u64::MAX);
        let oldest = self.days.map(|days| now.saturating_sub(days.saturating_mul(day)));
        let mut kept_bytes = 0_u64;
        let mut is_beyond = |session: &SizedSession| {
            let is_old = oldest.is_some_and(|oldest| session.used < oldest);
            if !is_old {
                kept_bytes = kept_bytes.saturating_add(session.bytes);
            }
            is_old || self.max_bytes.is_some_and(|limit| kept_bytes > limit)
        };
        sessions.into_iter().filter(|session| is_beyond(session)).collect()
    }

    /// Deletes the sessions beyond the limits, with `dry_run` none. One that is in use stays.
    pub(super) async fn apply(self, home: &Home, dry_run: bool) -> anyhow::Result<Deleted> {
        let mut sessions = Vec::new();
        all(
            home.list(),
            None,
            |_| true,
            |session| {
                if !session.only_read {
                    let bytes = size(&session.log);
                    sessions.push(SizedSession { id: session.id, bytes, used: session.summary.last_modified });
                }
                Ok(())
            },
        )
        .await?;
        let mut deleted = Deleted::default();
        for session in self.beyond(sessions, now()) {
            match if dry_run { Ok(()) } else { home.delete_session(&session.id).await } {
                Ok(()) => deleted.sessions.push(session),
                Err(error) => deleted.failed.push((session.id, error)),
            }
        }
        Ok(deleted)
    }
}

/// Applies the limits of a project's settings if that was not done for a day. A failure is a note.
pub(crate) async fn apply_when_due(project: &LoadedProject) {
    let Some(retention) = Retention::of(project) else { return };
    let applied = async {
        let home = Home::from_env().map_err(of_start)?;
        if !is_due(&home.root().join(STAMP)) {
            return Ok(Deleted::default());
        }
        retention.apply(&home, false).await
    };
    match applied.await {
        Ok(deleted) if deleted.sessions.is_empty() => {}
        Ok(deleted) => note_to_stderr(&format!(
            "{} sessions beyond cleanupPeriodDays or cleanupMaxBytes were deleted",
            deleted.sessions.len()
        )),
        Err(error) => note_to_stderr(&format!("old sessions cannot be deleted: {error:#}")),
    }
}

/// Returns `true` if a day has passed since the modification time of a file, and updates that time.
fn is_due(stamp: &Path) -> bool {
    let changed = stamp.metadata().and_then(|found| found.modified()).ok();
    let is_recent = changed.is_some_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age < DAY));
    // Nothing is deleted if the time cannot be kept.
    !is_recent && std::fs::write(stamp, "").is_ok()
}

/// Size of a log and of the files beside it.
fn size(log: &Path) -> u64 {
    FolderSize::of(log).bytes.saturating_add(FolderSize::of(&log.with_extension("")).bytes)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(retention: Retention, sessions: &[(&str, u64, u64)]) -> Vec<String> {
        let day = 86_400_000;
        let sessions = sessions.iter().map(|(id, bytes, age)| SizedSession {
            id: (*id).into(),
            bytes: *bytes,
            used: 1000 * day - age * day,
        });
        let chosen = retention.beyond(sessions.collect(), 1000 * day);
        chosen.into_iter().map(|session| session.id.to_string()).collect()
    }

    #[test]
    fn old_sessions_go_and_then_the_oldest_beyond_the_size() {
        let sessions = [("a", 10, 1), ("b", 50, 2), ("c", 5, 40)];
        let by = |days, max_bytes| chosen(Retention { days, max_bytes }, &sessions);
        assert_eq!(by(Some(30), None), ["c"]);
        assert_eq!(by(Some(1), None), ["b", "c"]);
        assert!(by(Some(41), None).is_empty() && by(None, Some(65)).is_empty());
        assert_eq!(by(None, Some(60)), ["c"]);
        assert_eq!(by(None, Some(20)), ["b", "c"]);
        assert_eq!(by(Some(30), Some(20)), ["b", "c"]);
    }

    #[test]
    fn it_is_due_once_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join(STAMP);
        assert!(is_due(&stamp) && !is_due(&stamp));
        let yesterday = SystemTime::now() - DAY - Duration::from_secs(1);
        std::fs::File::options().write(true).open(&stamp).unwrap().set_modified(yesterday).unwrap();
        assert!(is_due(&stamp) && !is_due(&stamp));
        assert!(!is_due(&folder.path().join("missing/stamp")));
    }
}
