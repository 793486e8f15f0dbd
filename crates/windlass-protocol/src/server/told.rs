//! What the host has been told of calls and agents.

use super::requests::Asker;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use windlass_types::{AgentId, AgentIdentity, AgentPath, EventKind, TaskKind, ToolUseId};

/// What the frame of a call may take to be on its way. A call that has none, or
/// whose frame waits for a host that does not read, is asked about all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// The calls of runs whose frames are on their way, so that no question about a
/// call overtakes it: questions do not pass through the events. And the agents
/// that go on, so that who stops one run does not take the questions of others back.
#[derive(Debug, Default)]
pub(crate) struct Told {
    known: Mutex<Known>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Known {
    /// The calls of each agent's run, for ids are unique there only. Those of the main agent have no name.
    calls: HashMap<Option<AgentId>, HashSet<ToolUseId>>,
    /// The agents below the main one whose runs go on.
    agents: HashMap<AgentPath, AgentId>,
    /// Those that go on when the run that started them is over.
    background: HashSet<AgentPath>,
}

impl Known {
    fn is_background(&self, agent: &AgentId) -> bool {
        let path = self.agents.iter().find(|(_, known)| *known == agent).map(|(path, _)| path.tool_uses());
        let below = |start: &AgentPath| path.is_some_and(|path| path.starts_with(start.tool_uses()));
        self.background.iter().any(below)
    }

    /// Nothing goes on any more that this call started.
    fn forget_below(&mut self, start: &AgentPath) {
        let gone = self.agents.extract_if(|path, _| path.tool_uses().starts_with(start.tool_uses()));
        for (_, name) in gone {
            self.calls.remove(&Some(name));
        }
    }

    /// Whether a call may be one of such an agent. Another run may have a call of that id: if that one is stopped,
    /// nobody waits for its answer any more, and so it is taken back all the same.
    fn is_background_call(&self, call: &ToolUseId) -> bool {
        let mut makers = self.calls.iter().filter(|(_, calls)| calls.contains(call));
        makers.any(|(maker, _)| maker.as_ref().is_some_and(|agent| self.is_background(agent)))
    }
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, agent: &AgentPath, call: &ToolUseId) {
        {
            let mut known = self.lock();
            let name = if agent.is_main() { None } else { known.agents.get(agent).cloned() };
            if name.is_some() || agent.is_main() {
                known.calls.entry(name).or_default().insert(call.clone());
            }
        }
        self.more.notify_waiters();
    }

    /// A run of an agent below the main one has begun.
    pub(crate) fn began(&self, agent: &AgentPath, identity: Option<&AgentIdentity>) {
        if let Some(identity) = identity {
            self.lock().agents.insert(agent.clone(), identity.id.clone());
        }
    }

    /// A run is over.
    pub(crate) fn forget(&self, agent: &AgentPath) {
        let mut known = self.lock();
        let name = known.agents.remove(agent);
        if name.is_some() || agent.is_main() {
            known.calls.remove(&name);
        }
    }

    /// Takes notice of calls that start agents: which of these go on in the background, and which have ended,
    /// whatever their own runs said of that.
    pub(crate) fn note(&self, agent: &AgentPath, kind: &EventKind) {
        match kind {
            EventKind::TaskStarted(info) if info.kind == TaskKind::LocalAgent => {
                self.lock().background.insert(agent.child(info.tool_use_id.clone()));
            }
            EventKind::TaskEnded(ended) if ended.info.kind == TaskKind::LocalAgent => {
                let start = agent.child(ended.info.tool_use_id.clone());
                let mut known = self.lock();
                known.background.remove(&start);
                known.forget_below(&start);
            }
            EventKind::ToolFinished(finished) => {
                let mut known = self.lock();
                if !known.agents.is_empty() {
                    let start = agent.child(finished.result.tool_use_id.clone());
                    if !known.background.contains(&start) {
                        known.forget_below(&start);
                    }
                }
            }
            _ => {}
        }
    }

    /// Another session has taken the place of the one before.
    pub(crate) fn clear(&self) {
        *self.lock() = Known::default();
    }

    /// Whether agents go on that no run waits for.
    pub(crate) fn has_background(&self) -> bool {
        !self.lock().background.is_empty()
    }

    /// Whether whoever asks is stopped with the run of the main agent.
    pub(crate) fn stops_with_the_run(&self, asker: &Asker) -> bool {
        let known = self.lock();
        match asker {
            Asker::Run => true,
            Asker::Agent(agent) => !known.is_background(agent),
            Asker::Call(call) => !known.is_background_call(call),
            Asker::Nobody => false,
        }
    }

    /// Waits until the host has been told of a call of an agent, or of the main one. Cancel safe.
    pub(crate) async fn of(&self, agent: Option<&AgentIdentity>, call: &ToolUseId) {
        let name = agent.map(|agent| agent.id.clone());
        let told = async {
            loop {
                let more = self.more.notified();
                if self.lock().calls.get(&name).is_some_and(|calls| calls.contains(call)) {
                    return;
                }
                more.await;
            }
        };
        if tokio::time::timeout(PATIENCE, told).await.is_err() {
            tracing::debug!(%call, "the host is asked about a call that it has not been told of");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{TaskEnded, TaskInfo, TaskStatus, ToolFinished, ToolResult};

    fn path(uses: &[&str]) -> AgentPath {
        uses.iter().fold(AgentPath::default(), |path, id| path.child((*id).into()))
    }

    fn identity(id: &str) -> AgentIdentity {
        AgentIdentity::new(id.into(), "general-purpose")
    }

    async fn is_told(told: &Told, agent: Option<&str>, call: &str) -> bool {
        let (agent, call) = (agent.map(identity), call.into());
        tokio::time::timeout(PATIENCE / 2, told.of(agent.as_ref(), &call)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn calls_of_one_id_are_told_for_each_agent() {
        let told = Told::default();
        told.tell(&path(&[]), &"t1".into());
        told.began(&path(&["a"]), Some(&identity("one")));
        assert!(is_told(&told, None, "t1").await && !is_told(&told, Some("one"), "t1").await);
        told.tell(&path(&["a"]), &"t1".into());
        assert!(is_told(&told, Some("one"), "t1").await);
        // The end of one run says nothing of another.
        told.forget(&path(&["a"]));
        assert!(is_told(&told, None, "t1").await && !is_told(&told, Some("one"), "t1").await);
        told.began(&path(&["a"]), Some(&identity("two")));
        told.tell(&path(&["a"]), &"t2".into());
        told.forget(&path(&[]));
        assert!(!is_told(&told, None, "t1").await && is_told(&told, Some("two"), "t2").await);
    }

    #[test]
    fn what_is_below_work_in_the_background_is_there_too() {
        let told = Told::default();
        let mut info = TaskInfo::new("b1".into(), TaskKind::LocalBash, "x", "bash".into());
        told.note(&path(&[]), &EventKind::TaskStarted(info.clone()));
        assert!(!told.has_background());
        (info.kind, info.tool_use_id) = (TaskKind::LocalAgent, "a".into());
        told.note(&path(&[]), &EventKind::TaskStarted(info.clone()));
        for (uses, id) in [(&["a"][..], "one"), (&["a", "b"], "two"), (&["b"], "three"), (&["b", "a"], "four")] {
            told.began(&path(uses), Some(&identity(id)));
            told.tell(&path(uses), &format!("call of {id}").as_str().into());
            told.tell(&path(uses), &"same".into());
            let call = Asker::Call(format!("call of {id}").as_str().into());
            assert_eq!(told.stops_with_the_run(&Asker::Agent(id.into())), uses[0] == "b", "{id}");
            assert_eq!(told.stops_with_the_run(&call), uses[0] == "b", "{id}");
        }
        // Nobody knows whose it is; and nobody's call is no such call.
        for (call, stops) in [("same", false), ("none", true)] {
            assert_eq!(told.stops_with_the_run(&Asker::Call(call.into())), stops, "{call}");
        }
        assert!(told.stops_with_the_run(&Asker::Run) && !told.stops_with_the_run(&Asker::Nobody));
        // That of a call which left its agent working says nothing of the agent; that of another one does.
        for (call, left) in [("a", 4), ("b", 2)] {
            let result = ToolResult::ok(call, "");
            told.note(&path(&[]), &EventKind::ToolFinished(ToolFinished::new("Agent".into(), result)));
            assert_eq!(told.lock().agents.len(), left, "{call}");
        }
        let ended = TaskEnded::new(info, TaskStatus::Completed, "done");
        told.note(&path(&[]), &EventKind::TaskEnded(ended));
        assert!(told.lock().agents.is_empty() && told.lock().calls.is_empty());
        assert!(!told.has_background() && told.stops_with_the_run(&Asker::Agent("two".into())));
    }
}
