use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::options::NoticeSink;

/// Minimum time between two notices of one kind.
const QUIET: Duration = Duration::from_secs(1);

/// Message for the owner of a proxy. Holds no credential and no text of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProxyNotice {
    /// Subject of the notice.
    pub kind: ProxyNoticeKind,
    /// Description of the problem in a sentence.
    pub message: String,
    /// Number of further problems of this kind since the last notice that were not reported.
    pub suppressed: u64,
}

/// Subject of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyNoticeKind {
    /// A request was not admitted.
    Refused,
    /// The upstream did not accept the credential.
    Credential,
    /// The upstream could not be reached, broke off or redirected.
    Upstream,
    /// A connection could not be accepted.
    Accept,
}

impl fmt::Display for ProxyNotice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match self.suppressed {
            0 => Ok(()),
            more => write!(formatter, " (and {more} more of this kind)"),
        }
    }
}

/// Reporter of problems with a limited rate, so that a client cannot fill a log.
pub(super) struct ProxyNotices {
    sink: Option<NoticeSink>,
    reported: Mutex<Vec<Reported>>,
}

struct Reported {
    kind: ProxyNoticeKind,
    at: Instant,
    suppressed: u64,
}

impl ProxyNotices {
    pub(super) fn new(sink: Option<NoticeSink>) -> Self {
        Self { sink, reported: Mutex::new(Vec::new()) }
    }

    pub(super) fn report(&self, kind: ProxyNoticeKind, message: impl Into<String>) {
        let Some(suppressed) = self.due(kind) else { return };
        let notice = ProxyNotice { kind, message: message.into(), suppressed };
        tracing::warn!(target: "windlass_http::proxy", "{notice}");
        if let Some(sink) = &self.sink {
            sink(&notice);
        }
    }

    /// Returns the number of unreported problems since the last notice, or `None` if a notice is not due yet.
    #[expect(clippy::disallowed_methods, reason = "measures the pause between two notices")]
    fn due(&self, kind: ProxyNoticeKind) -> Option<u64> {
        let now = Instant::now();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = reported.iter_mut().find(|reported| reported.kind == kind) else {
            reported.push(Reported { kind, at: now, suppressed: 0 });
            return Some(0);
        };
        if now.duration_since(last.at) < QUIET {
            last.suppressed += 1;
            return None;
        }
        last.at = now;
        Some(std::mem::take(&mut last.suppressed))
    }
}
