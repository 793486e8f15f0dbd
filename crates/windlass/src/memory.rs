//! Memory of agents across sessions.

mod agents;
mod extract;
mod ranking;
mod recall;

pub(crate) use agents::{OfAgents, as_port, with_tool};
pub(crate) use extract::Extraction;
pub(crate) use ranking::ModelRanking;
pub use recall::RankMemories;
pub(crate) use recall::Recall;
pub use windlass_project::{
    MemoryBudget, MemoryDirectory, MemoryEntry, MemoryError, MemoryKind, MemoryName, MemoryNote,
};

use std::path::PathBuf;
use std::sync::Arc;
use windlass_model::{ModelProvider, SessionFact};
use windlass_permission::Policy;
use windlass_project::{MEMORY_DESCRIPTION, MEMORY_TOOL, MemoryAction, MemoryInput, ShownMemory};
use windlass_tool::{Clock, DynTool, SystemClock, ToolCx, ToolError, tool_fn_with};
use windlass_types::{Behavior, RuleSource, Timestamp};

/// A memory for sessions: a directory of small notes. The model reads the index after the first prompt, and has the
/// tool `Memory` to write, change, forget, read and search notes.
///
/// The model changes its memory without a permission request; plan mode and deny rules on `Memory` still apply. Several
/// sessions may share one memory at a time.
///
/// ```
/// use windlass::{Script, ScriptedModel, memory::Memory, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let notes = folder.path().join("notes");
/// let note = serde_json::json!({
///     "action": "write", "name": "answers", "type": "feedback", "description": "How to answer", "content": "In Norwegian.",
/// });
/// let model = ScriptedModel::new(Script::new().turn(|turn| turn.tool_use("Memory", note)).turn(|turn| turn.text("Ja.")));
/// query("Answer in Norwegian from now on.").provider(model).context(Memory::at(&notes)).await?;
/// assert!(std::fs::read_to_string(notes.join("answers.md"))?.ends_with("In Norwegian.\n"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a memory does nothing until a session has it"]
pub struct Memory {
    directory: MemoryDirectory,
    budget: MemoryBudget,
    pub(crate) ranking: Option<Ranking>,
    clock: Arc<dyn Clock>,
    /// Time at which the ages of notes are judged, if a recording has one; `None` uses the clock.
    judged_at: Option<Timestamp>,
    /// Agents with notes of their own.
    agents: Option<Arc<OfAgents>>,
    /// Extraction of notes by an agent after a run, if enabled.
    extraction: Option<ExtractionWait>,
}

/// Finder of the notes that fit a prompt.
#[derive(Debug, Clone)]
pub(crate) enum Ranking {
    Program(Arc<dyn RankMemories>),
    Model(String),
}

/// Wait of a run for the agent that extracts notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractionWait {
    No,
    Yes,
}

impl Memory {
    /// Creates a memory in a directory, which is created when the first note is written.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::of(MemoryDirectory::at(path))
    }

    /// Creates a memory in a configured directory, for example with a required parent.
    pub fn of(directory: MemoryDirectory) -> Self {
        Self {
            directory,
            budget: MemoryBudget::default(),
            ranking: None,
            clock: Arc::new(SystemClock::default()),
            judged_at: None,
            agents: None,
            extraction: None,
        }
    }

    /// Sets the size of the index that the model reads, and the age from which a note is old. Default: 200 lines,
    /// 25,000 characters, 90 days.
    pub fn budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the ranking, by relevance to a prompt, of the notes that do not fit into the index.
    /// Default: the words that notes and prompt have in common.
    pub fn ranked_by(mut self, ranking: impl RankMemories) -> Self {
        self.ranking = Some(Ranking::Program(Arc::new(ranking)));
        self
    }

    /// Sets the model, by id or alias, that ranks the notes that do not fit into the index: a small one, such as
    /// `haiku`. The model is asked once for each prompt, within 10 seconds, at the expense of the session's budget.
    /// Without an answer, the words that notes and prompt have in common decide. Replaces
    /// [`ranked_by`](Self::ranked_by). Default: none, because it costs requests.
    pub fn ranked_by_model(mut self, name: impl Into<String>) -> Self {
        self.ranking = Some(Ranking::Model(name.into()));
        self
    }

    /// Lets an agent write notes after each run that ended by itself. The agent has only the tool `Memory`, and reads
    /// the prompts and answers of the run. It makes at most 6 requests to the session's model within two minutes, at
    /// the expense of the session's budget. A [query](crate::query()) waits for it; a session continues meanwhile, and
    /// closing it ends the agent. Plan mode disables it. Default: `false`, because it costs requests.
    pub fn extracting(mut self, on: bool) -> Self {
        self.extraction = on.then_some(ExtractionWait::No);
        self
    }

    /// Sets the clock that dates the notes and decides which are old when a session opens. Default: the clock of this
    /// machine.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns this memory with note ages as in a recording; `None` if the provider neither records nor replays.
    pub(crate) fn recorded_by(&self, provider: &dyn ModelProvider) -> Option<Self> {
        let recorded = provider.recorded_fact(SessionFact::MemoryTime, &self.clock.now().to_string())?;
        let judged_at = Timestamp::parse(&recorded)?;
        self.agents.iter().for_each(|agents| agents.judge_at(judged_at));
        Some(Self { judged_at: Some(judged_at), ..self.clone() })
    }

    /// Returns the directory of the notes.
    pub fn directory(&self) -> &MemoryDirectory {
        &self.directory
    }

    /// Lets agents have notes of their own.
    pub(crate) fn with_agents(mut self, agents: Arc<OfAgents>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// Returns the directory of the calling agent's own notes, if it has any.
    fn directory_of_caller(&self, cx: &ToolCx) -> Option<MemoryDirectory> {
        self.agents.as_ref()?.of_type(cx.agents().ok()?.agent_type()?)
    }

    /// Carries out a call. An agent with notes of its own can also read the session's notes, whose index it has read.
    fn carry_out(
        &self,
        agent_notes: Option<&MemoryDirectory>,
        input: &MemoryInput,
        now: Timestamp,
    ) -> Result<String, MemoryError> {
        let done = agent_notes.unwrap_or(&self.directory).carry_out(input, &self.budget, now);
        match (done, agent_notes) {
            (Err(MemoryError::Unknown { .. }), Some(_)) if input.action == MemoryAction::Read => {
                self.directory.carry_out(input, &self.budget, now)
            }
            (done, _) => done,
        }
    }

    /// Tool through which the model accesses the memory.
    pub(crate) fn tool(&self) -> Arc<dyn DynTool> {
        let call = |memory: Arc<Self>, input: MemoryInput, cx: ToolCx| async move {
            // The session's clock dates changes. Reads judge ages at the time of the recording, if there is one.
            let reads = matches!(input.action, MemoryAction::Read | MemoryAction::Search);
            let now = memory.judged_at.filter(|_| reads).unwrap_or_else(|| cx.clock().now());
            let agent_notes = memory.directory_of_caller(&cx);
            let work = move || memory.carry_out(agent_notes.as_ref(), &input, now);
            let ended = |error| ToolError::rejected("The session is about to end.").with_source(error);
            let done = tokio::task::spawn_blocking(work).await.map_err(ended)?;
            done.map_err(|error| ToolError::rejected(error.to_string()).with_source(error))
        };
        let tool = tool_fn_with(MEMORY_TOOL, MEMORY_DESCRIPTION, self.clone(), call);
        Arc::new(tool.with_access_of(MemoryInput::access).with_title(MemoryInput::title))
    }

    /// Content of the memory for the model of a session that opens now.
    pub(crate) async fn shown(&self) -> Result<ShownMemory, MemoryError> {
        let (directory, budget) = (self.directory.clone(), self.budget);
        let now = self.judged_at.unwrap_or_else(|| self.clock.now());
        let work = move || directory.entries().map(|(entries, words)| ShownMemory::new(&entries, &words, &budget, now));
        // The task fails only on a panic or at the end of the runtime; neither is expected while a session opens.
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Ok(ShownMemory::default()))
    }

    /// `true` if a run waits for the agent that extracts notes; `None` if extraction is off.
    pub(crate) fn extraction(&self) -> Option<bool> {
        self.extraction.map(|waits| waits == ExtractionWait::Yes)
    }

    /// Makes runs wait for the extraction of notes.
    pub(crate) fn wait_for_notes(&mut self) {
        self.extraction = self.extraction.map(|_| ExtractionWait::Yes);
    }

    /// Allows the model to change the memory without a permission request.
    pub(crate) fn allow(&self, policy: &mut Policy) {
        // The directory has no effect, because the rule is only the name of a tool.
        let root = std::path::Path::new("/");
        let _ = policy.add_rules(RuleSource::Session, Behavior::Allow, &[MEMORY_TOOL.to_owned()], root);
    }
}
