//! Copies the durable lines of logs as frames for the host.

use super::batch::{MirrorBatch, read_batch};
use super::{Mirror, Noted, agent};
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

/// Time for which lines are collected while a run continues.
const CADENCE: Duration = Duration::from_millis(100);

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
    noted: watch::Receiver<Vec<Noted>>,
    longest: usize,
    ids: Arc<dyn Ids>,
    reported_lost: bool,
    /// Read in progress, on a blocking thread.
    reading: Option<JoinHandle<LogRead>>,
    /// Logs of this round, and their end positions in it.
    round: VecDeque<(usize, u64)>,
    /// Number of requests that this round carries out.
    answers: usize,
    /// Number of requests that wait for the next round.
    ordered: usize,
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
        let longest = mirror.longest;
        Self {
            logs: Vec::new(),
            noted,
            longest,
            ids,
            reported_lost: false,
            reading: None,
            round: VecDeque::new(),
            answers: 0,
            ordered: 0,
            due: None,
        }
    }

    /// Requests a copy of all durable lines, without waiting for more.
    pub(crate) fn order(&mut self) {
        self.ordered += 1;
    }

    /// Next frame, or the completion of a request. Cancel safe.
    pub(crate) async fn next(&mut self) -> CopyOutcome {
        loop {
            if let Some(reading) = &mut self.reading {
                let read = reading.await;
                self.reading = None;
                let Ok(read) = read else {
                    // Reading it again would fail again.
                    self.round.pop_front();
                    continue;
                };
                let frame = self.take(read);
                if !frame.is_empty() {
                    return CopyOutcome::Frame(frame);
                }
            } else if let Some(&(at, to)) = self.round.front() {
                match self.read(at, to) {
                    Some(Ok(reading)) => self.reading = Some(reading),
                    Some(Err(error)) => {
                        let frame = self.take(LogRead::Lines(at, to, Err(io::Error::other(error))));
                        if !frame.is_empty() {
                            return CopyOutcome::Frame(frame);
                        }
                    }
                    None => drop(self.round.pop_front()),
                }
            } else if self.answers > 0 {
                self.answers -= 1;
                return CopyOutcome::UpToDate;
            } else if self.ordered > 0 {
                self.answers = std::mem::take(&mut self.ordered);
                self.begin_round();
            } else if let Some(due) = &mut self.due {
                due.await;
                self.begin_round();
            } else if self.noted.changed().await.is_ok() {
                self.due = Some(Box::pin(sleep(CADENCE)));
            } else {
                std::future::pending().await
            }
        }
    }

    fn begin_round(&mut self) {
        self.due = None;
        let noted = self.noted.borrow_and_update();
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
        let both = self.logs.iter().zip(noted.iter()).enumerate();
        let due = both.filter(|(_, (log, noted))| log.sent < noted.durable);
        self.round = due.map(|(at, (_, noted))| (at, noted.durable)).collect();
    }

    /// Begins to read the next part of a log; `None` if it was read up to here.
    fn read(&self, at: usize, to: u64) -> Option<Result<JoinHandle<LogRead>, BlockingError>> {
        let log = self.logs.get(at).filter(|log| log.sent < to)?;
        let (path, file, from, longest) = (Arc::clone(&log.path), log.file.clone(), log.sent, self.longest);
        if log.is_unnamed {
            return Some(start_blocking(&Handle::current(), move || LogRead::Name(at, agent::frame(&path))));
        }
        Some(start_blocking(&Handle::current(), move || {
            let opened = || File::open(&*path).map(Arc::new);
            let read = file.map_or_else(opened, Ok);
            let read = read.and_then(|file| read_batch(&file, &path, from..to, longest).map(|batch| (batch, file)));
            LogRead::Lines(at, to, read)
        }))
    }

    /// Records a read, and returns its frames.
    fn take(&mut self, read: LogRead) -> Vec<u8> {
        match read {
            LogRead::Name(at, frame) => {
                if let Some(log) = self.logs.get_mut(at) {
                    log.is_unnamed = false;
                }
                // Unreadable metadata are left out: the lines are sent all the same.
                frame.unwrap_or_default()
            }
            LogRead::Lines(at, to, read) => {
                let (batch, file) = match read {
                    Ok((batch, file)) => (batch, Some(file)),
                    Err(error) => (MirrorBatch::unread(to, &error), None),
                };
                let MirrorBatch { mut frame, end, lost } = batch;
                let Some(log) = self.logs.get_mut(at) else { return frame };
                log.sent = end.max(log.sent);
                // The file is kept open, so that the lines stay readable when its name is gone. There may be many files
                // of agents, and most are not written again.
                log.file = file.or(log.file.take()).filter(|_| !log.is_agent || log.sent < to);
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
        let own = || path.file_stem().unwrap_or_default();
        let session = agent::session(path).unwrap_or_else(own).to_string_lossy();
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
