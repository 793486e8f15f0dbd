//! Rule of logs that a crash cut off in the middle of a line.

use super::{OrBroken, fill, key, open, prompt, same};
use crate::Violation;
use crate::violation::ensure;
use std::fmt;
use windlass_session::{Durability, SessionKey, SessionStore};

/// State that a crash in the middle of an append leaves in the store under test.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "each run of the kit chooses one of these two")]
pub enum Crash<'a> {
    /// All entries of the append, or none: it is one write that succeeds or fails as a whole, like that of an object or
    /// of a transaction.
    LeavesWholeEntries,
    /// Possibly the beginning of a line. The function has the effect of such a crash: it cuts at least two bytes, and
    /// less than a line, off the end of the log of this session, which has no lease at that moment.
    TearsLines(&'a (dyn Fn(&SessionKey) + Send + Sync)),
}

impl fmt::Debug for Crash<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeavesWholeEntries => "LeavesWholeEntries",
            Self::TearsLines(_) => "TearsLines",
        })
    }
}

/// Checks that the first append after a crash ends a line that the crash tore
/// ([`END_OF_TORN_LINE`](windlass_session::END_OF_TORN_LINE)): whole lines and new ones are read back, and the torn
/// line is not reported as damage. `tear` is that of [`Crash::TearsLines`].
///
/// # Errors
/// The store breaks the rule, or `tear` left no part of a line.
pub async fn a_torn_line_is_ended(
    store: &dyn SessionStore,
    tear: &(dyn Fn(&SessionKey) + Send + Sync),
) -> Result<(), Violation> {
    let key = key("torn", 1);
    let written = fill(store, &key, 0..3).await?;
    tear(&key);
    let after_crash = store.load(&key).await.or_broken("a torn session loads")?;
    let report = &after_crash.report;
    ensure(report.torn + report.skipped_total > 0, || "the log was not torn within a line".to_owned())?;
    let mut expected = after_crash.entries;
    ensure(written.starts_with(&expected), || format!("a torn session gives {expected:?}"))?;

    let lease = open(store, &key).await?;
    let next = prompt(3, expected.last().map(|entry| &entry.id));
    expected.push(next.clone());
    store.append(&lease, lease.seq(), vec![next], Durability::Durable).await.or_broken("append after a crash")?;
    store.close(lease).await.or_broken("close")?;
    let loaded = store.load(&key).await.or_broken("load")?;
    same("what was skipped", &loaded.report.skipped, &[])?;
    same("the entries", &loaded.entries, &expected)
}
