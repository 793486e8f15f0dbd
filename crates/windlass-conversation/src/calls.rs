//! Calls and agents that the presenter has been given.

use std::collections::{HashMap, HashSet};
use windlass_types::{AgentId, AgentIdentity, AgentPath, EventKind, MadeCall, PromptCall, TaskKind, ToolUseId};

/// Reference to a call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallReference {
    /// Agent that made the call; `None` is the main one.
    pub agent: Option<AgentId>,
    /// Id of the call, unique within the run of its agent.
    pub call: ToolUseId,
}

impl CallReference {
    /// The call of this agent; without one, of the main agent.
    pub fn of(agent: Option<&AgentIdentity>, call: &ToolUseId) -> Self {
        Self { agent: agent.map(|agent| agent.id.clone()), call: call.clone() }
    }
}

/// The asker of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every kind of asker is withdrawn in its own way")]
pub enum Asker {
    /// The run of the main agent.
    Run,
    /// An agent below it.
    Agent(AgentId),
    /// The agent that made this call.
    Call(ToolUseId),
    /// No run: the question stays when one is stopped.
    None,
}

/// The calls of runs that were shown, so that no question about a call overtakes it. And the agents that continue, so
/// that a stop of one run does not take back the questions of others.
#[derive(Debug, Default)]
pub(crate) struct ShownCalls {
    /// The calls of each agent's run, for ids are unique there only. Those of the main agent have no name.
    calls: HashMap<Option<AgentId>, HashSet<ToolUseId>>,
    /// The agents below the main one whose runs continue.
    agents: HashMap<AgentPath, AgentId>,
    /// The agents that continue when the run that started them is over.
    background: HashSet<AgentPath>,
}

impl ShownCalls {
    fn is_background(&self, agent: &AgentId) -> bool {
        let path = self.agents.iter().find(|(_, known)| *known == agent).map(|(path, _)| path.tool_uses());
        let is_below = |start: &AgentPath| path.is_some_and(|path| path.starts_with(start.tool_uses()));
        self.background.iter().any(is_below)
    }

    /// All that this call started has ended.
    fn forget_below(&mut self, start: &AgentPath) {
        let removed = self.agents.extract_if(|path, _| path.tool_uses().starts_with(start.tool_uses()));
        for (_, name) in removed {
            self.calls.remove(&Some(name));
        }
    }

    /// `true` if a call may be one of such an agent. Another run may have a call of that id: if that one is stopped,
    /// its question is dropped, and so it is taken back all the same.
    fn is_background_call(&self, call: &ToolUseId) -> bool {
        let mut makers = self.calls.iter().filter(|(_, calls)| calls.contains(call));
        makers.any(|(maker, _)| maker.as_ref().is_some_and(|agent| self.is_background(agent)))
    }

    /// Records a call that is shown.
    pub(crate) fn show(&mut self, agent: &AgentPath, call: &ToolUseId) {
        // An agent without an identity asks as if it were the main one.
        let name = self.agents.get(agent).cloned();
        self.calls.entry(name).or_default().insert(call.clone());
    }

    /// Records a call that an earlier run has shown, perhaps of another process.
    pub(crate) fn take_up(&mut self, agent: Option<AgentId>, call: ToolUseId) {
        self.calls.entry(agent).or_default().insert(call);
    }

    /// A run of an agent below the main one has begun.
    pub(crate) fn began(&mut self, agent: &AgentPath, identity: Option<&AgentIdentity>) {
        if let Some(identity) = identity {
            self.agents.insert(agent.clone(), identity.id.clone());
        }
    }

    /// A run is over.
    pub(crate) fn forget(&mut self, agent: &AgentPath) {
        let name = self.agents.remove(agent);
        if name.is_some() || agent.is_main() {
            self.calls.remove(&name);
        }
    }

    /// Records, of calls that start agents, which of these continue in the background and which have ended,
    /// even if their own runs did not report that.
    pub(crate) fn note(&mut self, agent: &AgentPath, kind: &EventKind) {
        match kind {
            EventKind::TaskStarted(info) if info.kind == TaskKind::LocalAgent => {
                self.background.insert(agent.child(info.tool_use_id.clone()));
            }
            EventKind::TaskEnded(ended) if ended.info.kind == TaskKind::LocalAgent => {
                let start = agent.child(ended.info.tool_use_id.clone());
                self.background.remove(&start);
                self.forget_below(&start);
            }
            EventKind::ToolFinished(finished) if !self.agents.is_empty() => {
                let start = agent.child(finished.result.tool_use_id.clone());
                if !self.background.contains(&start) {
                    self.forget_below(&start);
                }
            }
            _ => {}
        }
    }

    /// Another session has taken the place of the one before.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// `true` if agents continue that no run waits for.
    pub(crate) fn has_background(&self) -> bool {
        !self.background.is_empty()
    }

    /// `true` if the asker is stopped with the run of the main agent.
    pub(crate) fn stops_with_the_run(&self, asker: &Asker) -> bool {
        match asker {
            Asker::Run => true,
            Asker::Agent(agent) => !self.is_background(agent),
            Asker::Call(call) => !self.is_background_call(call),
            Asker::None => false,
        }
    }

    /// `true` if the call was shown, or never will be because no message holds it.
    pub(crate) fn knows(&self, about: &CallReference) -> bool {
        [PromptCall::ID_PREFIX, MadeCall::ID_PREFIX].iter().any(|prefix| about.call.as_str().starts_with(prefix))
            || self.calls.get(&about.agent).is_some_and(|calls| calls.contains(&about.call))
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

    fn is_shown(shown: &ShownCalls, agent: Option<&str>, call: &str) -> bool {
        shown.knows(&CallReference { agent: agent.map(Into::into), call: call.into() })
    }

    #[test]
    fn calls_of_one_id_are_kept_apart_by_agent() {
        let mut shown = ShownCalls::default();
        shown.show(&path(&[]), &"t1".into());
        shown.began(&path(&["a"]), Some(&identity("one")));
        assert!(is_shown(&shown, None, "t1") && !is_shown(&shown, Some("one"), "t1"));
        assert!(is_shown(&shown, None, "prompt_1"), "no message holds it, so no frame is waited for");
        shown.show(&path(&["a"]), &"t1".into());
        assert!(is_shown(&shown, Some("one"), "t1"));
        // The end of one run does not affect another.
        shown.forget(&path(&["a"]));
        assert!(is_shown(&shown, None, "t1") && !is_shown(&shown, Some("one"), "t1"));
        shown.began(&path(&["a"]), Some(&identity("two")));
        shown.show(&path(&["a"]), &"t2".into());
        shown.forget(&path(&[]));
        assert!(!is_shown(&shown, None, "t1") && is_shown(&shown, Some("two"), "t2"));
    }

    #[test]
    fn what_is_below_work_in_the_background_is_there_too() {
        let mut shown = ShownCalls::default();
        let mut info = TaskInfo::new("b1".into(), TaskKind::LocalBash, "x", "bash".into());
        shown.note(&path(&[]), &EventKind::TaskStarted(info.clone()));
        assert!(!shown.has_background());
        (info.kind, info.tool_use_id) = (TaskKind::LocalAgent, "a".into());
        shown.note(&path(&[]), &EventKind::TaskStarted(info.clone()));
        for (uses, id) in [(&["a"][..], "one"), (&["a", "b"], "two"), (&["b"], "three"), (&["b", "a"], "four")] {
            shown.began(&path(uses), Some(&identity(id)));
            shown.show(&path(uses), &format!("call of {id}").as_str().into());
            shown.show(&path(uses), &"same".into());
            let call = Asker::Call(format!("call of {id}").as_str().into());
            assert_eq!(shown.stops_with_the_run(&Asker::Agent(id.into())), uses[0] == "b", "{id}");
            assert_eq!(shown.stops_with_the_run(&call), uses[0] == "b", "{id}");
        }
        // The agent of this call is not known, so it is no such call.
        for (call, stops) in [("same", false), ("none", true)] {
            assert_eq!(shown.stops_with_the_run(&Asker::Call(call.into())), stops, "{call}");
        }
        assert!(shown.stops_with_the_run(&Asker::Run) && !shown.stops_with_the_run(&Asker::None));
        // The end of a call that left its agent working is not the end of the agent; that of another call is.
        for (call, left) in [("a", 4), ("b", 2)] {
            let result = ToolResult::ok(call, "");
            shown.note(&path(&[]), &EventKind::ToolFinished(ToolFinished::new("Agent".into(), result)));
            assert_eq!(shown.agents.len(), left, "{call}");
        }
        let ended = TaskEnded::new(info, TaskStatus::Completed, "done");
        shown.note(&path(&[]), &EventKind::TaskEnded(ended));
        assert!(shown.agents.is_empty() && shown.calls.is_empty());
        assert!(!shown.has_background() && shown.stops_with_the_run(&Asker::Agent("two".into())));
    }
}
