//! Fake ports that follow a script.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::Notify;
use windlass_subagent::{AgentTool, Subagents};
use windlass_testkit::ToolBench;
use windlass_tool::{
    AgentReport, AgentSpec, Agents, Background, BoxFuture, Cancel, TaskCx, TaskOutcome, TaskSpec, TaskWork, ToolError,
    ToolOutput,
};
use windlass_types::{AgentId, Interrupted, Outcome, TaskId, TaskInfo, TaskUsage, Usage};

/// Behavior of a fake agent.
#[derive(Debug)]
pub(crate) enum Act {
    Report(AgentReport),
    Fail(ToolError),
    /// Works until it is stopped, then reports this.
    UntilStopped(&'static str),
}

/// Fake agents that do one act after the other, and record their specs.
#[derive(Debug, Default)]
pub(crate) struct FakeAgents {
    pub(crate) depth: u32,
    /// Agent that the call has run before, which waited.
    continues: Option<AgentId>,
    acts: Mutex<VecDeque<Act>>,
    pub(crate) seen: Mutex<Vec<AgentSpec>>,
    /// Notified when an agent begins.
    pub(crate) begun: Notify,
}

impl FakeAgents {
    pub(crate) fn new(depth: u32, acts: impl IntoIterator<Item = Act>) -> Arc<Self> {
        Arc::new(Self { depth, acts: Mutex::new(acts.into_iter().collect()), ..Self::default() })
    }

    /// Returns the agents of a call that has run this agent before.
    pub(crate) fn continuing(agent: &str) -> Arc<Self> {
        Arc::new(Self { continues: Some(agent.into()), ..Self::default() })
    }

    pub(crate) fn last(&self) -> AgentSpec {
        self.seen.lock().unwrap().last().unwrap().clone()
    }
}

impl Agents for FakeAgents {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn continues(&self) -> Option<AgentId> {
        self.continues.clone()
    }

    fn run(&self, spec: AgentSpec, cancel: Cancel) -> BoxFuture<'static, Result<AgentReport, ToolError>> {
        self.seen.lock().unwrap().push(spec);
        self.begun.notify_one();
        let act = self.acts.lock().unwrap().pop_front().unwrap_or_else(|| Act::Report(report("Done.")));
        Box::pin(async move {
            match act {
                Act::Report(report) => Ok(report),
                Act::Fail(error) => Err(error),
                Act::UntilStopped(text) => {
                    cancel.cancelled().await;
                    let outcome = Outcome::Interrupted { during: Interrupted::Streaming };
                    Ok(AgentReport::new(outcome, text, TaskUsage::new(10, 1, 20)))
                }
            }
        })
    }
}

/// A fake background that keeps work until the test lets it continue.
#[derive(Debug, Default)]
pub(crate) struct FakeBackground {
    folder: Option<PathBuf>,
    is_full: bool,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    spec: TaskSpec,
    work: TaskWork,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.spec.fmt(f)
    }
}

impl FakeBackground {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Arc<Self> {
        Arc::new(Self { folder: Some(folder.into()), ..Self::default() })
    }

    pub(crate) fn full() -> Arc<Self> {
        Arc::new(Self { is_full: true, ..Self::default() })
    }

    /// Runs the started work to its end, stopped from the beginning or not.
    pub(crate) async fn finish(&self, stopped: bool) -> (TaskSpec, TaskOutcome) {
        let Kept { spec, work } = self.kept.lock().unwrap().take().expect("nothing was started");
        let cancel = Cancel::new();
        if stopped {
            cancel.cancel();
        }
        let outcome = work(TaskCx::new(spec.id.clone().unwrap(), cancel)).await;
        (spec, outcome)
    }

    pub(crate) fn has_work(&self) -> bool {
        self.kept.lock().unwrap().is_some()
    }
}

impl Background for FakeBackground {
    fn start(&self, spec: TaskSpec, work: TaskWork) -> Result<TaskId, ToolError> {
        if self.is_full {
            return Err(ToolError::rejected("Too much runs already."));
        }
        let id = spec.id.clone().unwrap();
        *self.kept.lock().unwrap() = Some(Kept { spec, work });
        Ok(id)
    }

    fn find(&self, _: &TaskId) -> Option<TaskInfo> {
        None
    }

    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }
}

pub(crate) fn report(text: &str) -> AgentReport {
    let mut report = AgentReport::new(Outcome::Success, text, TaskUsage::new(900, 3, 4_100));
    report.model = "claude-x".to_owned();
    report.tokens = Usage::new(700, 200);
    report
}

pub(crate) fn ended(outcome: Outcome, text: &str) -> AgentReport {
    AgentReport::new(outcome, text, TaskUsage::new(900, 3, 4_100))
}

/// Returns the tool of a set on a bench with these ports.
pub(crate) fn bench(agents: &Subagents, port: &Arc<FakeAgents>, background: &Arc<FakeBackground>) -> ToolBench {
    let tool: Arc<AgentTool> = agents.tool();
    let (port, background) = (Arc::clone(port), Arc::clone(background));
    ToolBench::shared(tool).with(|parts| {
        parts.abilities.agents = Some(port);
        parts.abilities.background = Some(background);
    })
}

/// Returns a minimal call with more fields.
pub(crate) fn input(more: Value) -> Value {
    let mut input = json!({ "description": "Find it", "prompt": "Find the parser." });
    let Value::Object(more) = more else { panic!("not an object") };
    input.as_object_mut().unwrap().extend(more);
    input
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.text()
}

pub(crate) fn structured(output: &ToolOutput) -> Value {
    output.structured.as_ref().unwrap().to().unwrap()
}
