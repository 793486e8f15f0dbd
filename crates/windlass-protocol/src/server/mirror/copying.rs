//! Copies the durable lines of logs as frames for the host.

use super::batch::{MirrorBatch, read_batch};
use super::{DurableLog, Mirror, agent};
use crate::line;
use serde::Serialize;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Sleep, sleep};
use windlass_blocking::{BlockingError, start_blocking};
use windlass_tool::Ids;
use windlass_types::EntryId;

/// Interval in which lines are collected while a run continues.
const COLLECT_INTERVAL: Duration = Duration::from_millis(100);

/// Outcome of copying.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CopyOutcome {
    /// A frame.
    Frame(Vec<u8>),
    /// The host has all lines that were durable at the request.
    UpToDate,
}

/// Read position of each log, and the present read.
pub(crate) struct Copying {
    logs: Vec<CopiedLog>,
    durable_logs: watch::Receiver<Vec<DurableLog>>,
    max_line_bytes: usize,
    ids: Arc<dyn Ids>,
    reported_lost: bool,
    /// Read in progress, on a blocking thread.
    reading: Option<JoinHandle<LogRead>>,
    /// Logs of this round, and their end positions in it.
    round: VecDeque<(usize, u64)>,
    /// Number of requests that this round carries out.
    round_requests: usize,
    /// Number of requests that wait for the next round.
    waiting_requests: usize,
    /// Time at which the next round begins by itself.
    due: Option<Pin<Box<Sleep>>>,
}

/// Sent part of a log.
#[derive(Debug)]
struct CopiedLog {
    path: Arc<PathBuf>,
    file: Option<Arc<File>>,
    sent: u64,
    /// `true` for the log of a subagent.
    is_agent: bool,
    /// `true` if its agent is still to be described to the host.
    is_unnamed: bool,
}

/// Result of a read.
enum LogRead {
    /// Frame that names the agent, if it has a description.
    Name(usize, Option<Vec<u8>>),
    /// Lines up to a position.
    Lines(usize, u64, io::Result<(MirrorBatch, Arc<File>)>),
}

impl Copying {
    pub(crate) fn new(mirror: &Mirror, ids: Arc<dyn Ids>) -> Self {
        let mut noted = mirror.logs.subscribe();
        // Earlier lines are copied, too.
        noted.mark_changed();
        let max_line_bytes = mirror.max_line_bytes;
        Self {
            logs: Vec::new(),
            durable_logs: noted,
            max_line_bytes,
            ids,
            reported_lost: false,
            reading: None,
            round: VecDeque::new(),
            round_requests: 0,
            waiting_requests: 0,
            due: None,
        }
    }

    /// Requests a copy of all durable lines, without waiting for more.
    pub(crate) fn order(&mut self) {
        self.waiting_requests += 1;
    }

    /// Next frame, or the completion of a request. Cancel safe.
    pub(crate) async fn next(&mut self) -> CopyOutcome {
        loop {
            if let Some(reading) = &mut self.reading {
                let result = reading.await;
                self.reading = None;
                let Ok(result) = result else {
                    // A second read would fail, too.
                    self.round.pop_front();
                    continue;
                };
                let frame = self.take(result);
                if !frame.is_empty() {
                    return CopyOutcome::Frame(frame);
                }
            } else if let Some(&(index, round_end)) = self.round.front() {
                match self.read(index, round_end) {
                    Some(Ok(reading)) => self.reading = Some(reading),
                    Some(Err(error)) => {
                        let frame = self.take(LogRead::Lines(index, round_end, Err(io::Error::other(error))));
                        if !frame.is_empty() {
                            return CopyOutcome::Frame(frame);
                        }
                    }
                    None => drop(self.round.pop_front()),
                }
            } else if self.round_requests > 0 {
                self.round_requests -= 1;
                return CopyOutcome::UpToDate;
            } else if self.waiting_requests > 0 {
                self.round_requests = std::mem::take(&mut self.waiting_requests);
                self.begin_round();
            } else if let Some(due) = &mut self.due {
                due.await;
                self.begin_round();
            } else if self.durable_logs.changed().await.is_ok() {
                self.due = Some(Box::pin(sleep(COLLECT_INTERVAL)));
            } else {
                std::future::pending().await
            }
        }
    }

    fn begin_round(&mut self) {
        self.due = None;
        let noted = self.durable_logs.borrow_and_update();
        for log in noted.iter().skip(self.logs.len()) {
            let is_agent = agent::session(&log.path).is_some();
            let is_unnamed = is_agent && log.start == 0;
            self.logs.push(CopiedLog {
                path: Arc::clone(&log.path),
                file: None,
                sent: log.start,
                is_agent,
                is_unnamed,
            });
        }
        let pairs = self.logs.iter().zip(noted.iter()).enumerate();
        let due_logs = pairs.filter(|(_, (log, noted))| log.sent < noted.durable);
        self.round = due_logs.map(|(index, (_, noted))| (index, noted.durable)).collect();
    }

    /// Begins to read the next part of a log; `None` if it was read up to here.
    fn read(&self, index: usize, round_end: u64) -> Option<Result<JoinHandle<LogRead>, BlockingError>> {
        let log = self.logs.get(index).filter(|log| log.sent < round_end)?;
        let (path, file, start, max_line_bytes) =
            (Arc::clone(&log.path), log.file.clone(), log.sent, self.max_line_bytes);
        if log.is_unnamed {
            return Some(start_blocking(&Handle::current(), move || LogRead::Name(index, agent::frame(&path))));
        }
        Some(start_blocking(&Handle::current(), move || {
            let open = || File::open(&*path).map(Arc::new);
            let result = file.map_or_else(open, Ok);
            let result = result
                .and_then(|file| read_batch(&file, &path, start..round_end, max_line_bytes).map(|batch| (batch, file)));
            LogRead::Lines(index, round_end, result)
        }))
    }

    /// Records a read, and returns its frames.
    fn take(&mut self, result: LogRead) -> Vec<u8> {
        match result {
            LogRead::Name(index, frame) => {
                if let Some(log) = self.logs.get_mut(index) {
                    log.is_unnamed = false;
                }
                // Unreadable metadata are left out, and the lines are sent without them.
                frame.unwrap_or_default()
            }
            LogRead::Lines(index, round_end, result) => {
                let (batch, file) = match result {
                    Ok((batch, file)) => (batch, Some(file)),
                    Err(error) => (MirrorBatch::unread(round_end, &error), None),
                };
                let MirrorBatch { mut frame, end, lost } = batch;
                let Some(log) = self.logs.get_mut(index) else { return frame };
                log.sent = end.max(log.sent);
                // The file stays open, so that its lines can be read after it is removed. Files of agents are closed,
                // because there may be many, and most get no more lines.
                log.file = file.or(log.file.take()).filter(|_| !log.is_agent || log.sent < round_end);
                let path = Arc::clone(&log.path);
                if lost > 0 {
                    tracing::warn!(path = %path.display(), lost, "lines of the log do not reach the host");
                    frame.extend(self.lost_frame(&path));
                }
                frame
            }
        }
    }

    /// Reports once that lines are lost to the host.
    fn lost_frame(&mut self, path: &Path) -> Vec<u8> {
        #[derive(Serialize)]
        struct Lost<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            subtype: &'static str,
            error_code: &'static str,
            lost: [&'static str; 1],
            transcript_session_ids: [&'a str; 1],
            uuid: String,
            session_id: &'a str,
        }
        let mut frame = Vec::new();
        if std::mem::replace(&mut self.reported_lost, true) {
            return frame;
        }
        let own_session = || path.file_stem().unwrap_or_default();
        let session = agent::session(path).unwrap_or_else(own_session).to_string_lossy();
        let lost = Lost {
            kind: "system",
            subtype: "session_writes_lost",
            error_code: "EMSGSIZE",
            lost: ["transcript"],
            transcript_session_ids: [&session],
            uuid: EntryId::from_bits(self.ids.bits()).to_string(),
            session_id: &session,
        };
        line::push(&mut frame, &lost);
        frame
    }

    #[cfg(test)]
    pub(super) fn sent(&self, at: usize) -> u64 {
        self.logs[at].sent
    }

    #[cfg(test)]
    pub(super) fn is_file_open(&self, at: usize) -> bool {
        self.logs[at].file.is_some()
    }
}
