//! Where agents of a session are: `<session>/subagents/agent-<id>.jsonl` beside its log, each with an
//! `agent-<id>.meta.json`. Other programs put them in folders below `subagents` too.

use crate::open;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use windlass_session::{AgentSummary, SUMMARY_BYTES, SessionKey};
use windlass_types::AgentId;

/// How deep below `subagents` agents are looked for.
const DEEPEST: usize = 4;

/// How many names are looked at for agents of one session.
const MOST_NAMES: usize = 65_536;

/// Where a new agent of the session with this log is written.
pub(crate) fn log_path(session: &Path, agent: &AgentId) -> PathBuf {
    folder(session).join(file_name(agent))
}

/// The log of an agent, if it is there.
pub(crate) fn find(session: &Path, agent: &AgentId) -> Option<PathBuf> {
    let direct = log_path(session, agent);
    if direct.is_file() {
        return Some(direct);
    }
    all(session).into_iter().find(|(id, _)| id == agent).map(|(_, path)| path)
}

/// What is kept beside a log of an agent.
pub(crate) fn meta_path(log: &Path) -> PathBuf {
    log.with_extension("meta.json")
}

/// The logs of all agents of the session with this log. What cannot be read hides nothing else.
pub(crate) fn all(session: &Path) -> Vec<(AgentId, PathBuf)> {
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut folders = vec![(folder(session), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            seen += 1;
            if seen > MOST_NAMES || found.len() >= AgentSummary::MOST {
                return found;
            }
            // Links to folders could go round.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = entry.path();
            if is_folder && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if let Some(agent) = agent_id(&path).filter(|_| path.is_file()) {
                found.push((agent, path));
            }
        }
    }
    found
}

/// What lists show of an agent. Nothing when its log is empty or gone.
pub(crate) fn summary(agent: AgentId, log: &Path) -> Option<AgentSummary> {
    let beginning = |path: &Path| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open::read(path)?.take(SUMMARY_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let head = beginning(log).ok().filter(|head| !head.is_empty())?;
    Some(AgentSummary::read(agent, &beginning(&meta_path(log)).unwrap_or_default(), &head))
}

/// Where the agents of the session with this log are.
pub(crate) fn folder(session: &Path) -> PathBuf {
    session.with_extension("").join("subagents")
}

fn file_name(agent: &AgentId) -> String {
    format!("agent-{agent}.jsonl")
}

fn agent_id(path: &Path) -> Option<AgentId> {
    let id = AgentId::from(path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?);
    SessionKey::is_agent(&id).then_some(id)
}
