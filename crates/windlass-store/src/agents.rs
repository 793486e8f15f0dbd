//! Logs of a session's agents: `<session>/subagents/agent-<id>.jsonl` beside its log, each with an
//! `agent-<id>.meta.json`. Other programs put them in folders below `subagents` too.

use crate::{locate, open};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use windlass_session::{AgentSummary, SUMMARY_BYTES, SessionKey};
use windlass_types::AgentId;

/// Maximum depth below `subagents` at which agents are searched.
const MAX_DEPTH: usize = 4;

/// Maximum number of names examined for agents of one session.
const MAX_NAMES: usize = 65_536;

/// Returns the path of a new agent's log, beside the session with this log.
pub(crate) fn log_path(session: &Path, agent: &AgentId) -> PathBuf {
    folder(session).join(file_name(agent))
}

/// Finds the log of an agent, if it exists.
pub(crate) fn find(session: &Path, agent: &AgentId) -> io::Result<Option<PathBuf>> {
    let direct = log_path(session, agent);
    if locate::found(&direct)?.is_some_and(|kind| kind.is_file()) {
        return Ok(Some(direct));
    }
    Ok(all(session).into_iter().find(|(id, _)| id == agent).map(|(_, path)| path))
}

/// Returns the path of the metadata beside an agent's log.
pub(crate) fn meta_path(log: &Path) -> PathBuf {
    log.with_extension("meta.json")
}

/// Returns the logs of all agents of the session with this log. An unreadable entry does not hide the others.
pub(crate) fn all(session: &Path) -> Vec<(AgentId, PathBuf)> {
    let (found, failed) = walk(session);
    if let Some(error) = failed {
        tracing::warn!(%error, path = %session.display(), "not all agents of a session can be found");
    }
    found
}

/// Returns the logs of all agents like [`all`], or an error if some may be missing.
pub(crate) fn every(session: &Path) -> io::Result<Vec<(AgentId, PathBuf)>> {
    let (found, failed) = walk(session);
    failed.map_or(Ok(found), Err)
}

fn walk(session: &Path) -> (Vec<(AgentId, PathBuf)>, Option<io::Error>) {
    let (mut found, mut examined, mut failed) = (Vec::new(), 0, None);
    let mut folders = vec![(folder(session), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                let is_gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                failed = failed.or(Some(error).filter(|_| !is_gone));
                continue;
            }
        };
        for entry in entries {
            examined += 1;
            if examined > MAX_NAMES || found.len() >= AgentSummary::MOST {
                return (found, Some(io::Error::other("there are too many files")));
            }
            // Links to folders could form a cycle.
            let kind = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?.is_dir())));
            match kind {
                Ok((path, true)) if depth < MAX_DEPTH => folders.push((path, depth + 1)),
                Ok((path, _)) => {
                    if let Some(agent) = agent_id(&path).filter(|_| path.is_file()) {
                        found.push((agent, path));
                    }
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    (found, failed)
}

/// Returns the summary of an agent for lists. `None` when its log is empty or missing.
pub(crate) fn summary(agent: AgentId, log: &Path) -> Option<AgentSummary> {
    let beginning = |path: &Path| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open::read(path)?.take(SUMMARY_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let head = beginning(log).ok().filter(|head| !head.is_empty())?;
    Some(AgentSummary::read(agent, &beginning(&meta_path(log)).unwrap_or_default(), &head))
}

/// Returns the folder of the agents of the session with this log.
pub(crate) fn folder(session: &Path) -> PathBuf {
    session.with_extension("").join("subagents")
}

fn file_name(agent: &AgentId) -> String {
    format!("agent-{agent}.jsonl")
}

pub(crate) fn agent_id(path: &Path) -> Option<AgentId> {
    let id = AgentId::from(path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?);
    SessionKey::is_agent(&id).then_some(id)
}
