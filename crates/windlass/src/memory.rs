//! What agents remember from session to session.

mod agents;
mod extract;
mod ranking;
mod recall;

pub(crate) use agents::{OfAgents, as_port, with_tool};
pub use recall::RankMemories;
pub use windlass_project::{
    MemoryBudget, MemoryDirectory, MemoryEntry, MemoryError, MemoryKind, MemoryName, MemoryNote,
};

use crate::session::Options;
use extract::Extraction;
use ranking::ModelRanking;
use recall::Recall;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_permission::Policy;
use windlass_project::{MEMORY_DESCRIPTION, MEMORY_TOOL, MemoryAction, MemoryInput, ShownMemory};
use windlass_runtime::SessionHandle;
use windlass_tool::{Clock, DynTool, SystemClock, ToolCx, ToolError, tool_fn_with};
use windlass_types::{Behavior, RuleSource, Timestamp};

/// A memory that sessions have: a directory of small notes. The model reads the index of it behind the first prompt, and has
/// the tool `Memory` to write, change, forget, read and search notes.
///
/// Changing its own memory needs no question; plan mode and deny rules on `Memory` hold. Several sessions may have one memory
/// at a time.
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
/// query("Answer in Norwegian from now on.").provider(model).memory(Memory::at(&notes)).await?;
/// assert!(std::fs::read_to_string(notes.join("answers.md"))?.ends_with("In Norwegian.\n"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a memory does nothing until a session has it"]
pub struct Memory {
    directory: MemoryDirectory,
    budget: MemoryBudget,
    ranking: Option<Ranking>,
    clock: Arc<dyn Clock>,
    /// Agents that have notes of their own.
    agents: Option<Arc<OfAgents>>,
    /// Whether an agent notes after a run what is worth it, and whether the run waits for it.
    extraction: Option<Waits>,
}

/// What finds the notes that fit a prompt.
#[derive(Debug, Clone)]
enum Ranking {
    Program(Arc<dyn RankMemories>),
    Model(String),
}

/// What of a memory follows a session once it is open.
#[derive(Default)]
pub(crate) struct Following {
    extraction: Option<Arc<Extraction>>,
    ranking: Option<Arc<ModelRanking>>,
}

impl Following {
    pub(crate) fn follow(&self, handle: &SessionHandle) {
        self.extraction.iter().for_each(|extraction| extraction.follow(handle));
        self.ranking.iter().for_each(|ranking| ranking.follow(handle));
    }
}

/// Whether a run waits for the agent that notes what is worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    Yes,
}

impl Memory {
    /// The memory in a directory, which is made when the first note is written.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::of(MemoryDirectory::at(path))
    }

    /// The memory in a directory that has more to say, such as where it must lie.
    pub fn of(directory: MemoryDirectory) -> Self {
        Self {
            directory,
            budget: MemoryBudget::default(),
            ranking: None,
            clock: Arc::new(SystemClock::default()),
            agents: None,
            extraction: None,
        }
    }

    /// How much of the index the model reads, and from when on a note counts as old. Default: 200 lines, 25,000 characters,
    /// 90 days.
    pub fn budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// What finds the notes that fit a prompt, among those that the index has no room for; a small model, for example.
    /// Default: the words that notes and prompt have in common.
    pub fn ranked_by(mut self, ranking: impl RankMemories) -> Self {
        self.ranking = Some(Ranking::Program(Arc::new(ranking)));
        self
    }

    /// The model that finds the notes that fit a prompt, by id or alias, among those that the index has no room for: a small one,
    /// such as `haiku`. It is asked once for each prompt, within 10 seconds, and what that costs counts to the session's budget;
    /// if it gives no answer, the words that notes and prompt have in common decide. Replaces [`ranked_by`](Self::ranked_by).
    /// Default: none, since it costs requests.
    pub fn ranked_by_model(mut self, name: impl Into<String>) -> Self {
        self.ranking = Some(Ranking::Model(name.into()));
        self
    }

    /// Whether an agent notes what is worth remembering whenever a run has ended by itself. It has the tool `Memory` and no
    /// other, reads what the user said and what was answered, makes at most 6 requests to the session's model and takes at
    /// most two minutes. What it costs counts to the session's budget. A [query](crate::query()) ends when it has ended; a
    /// session continues meanwhile, and closing it ends the agent. In plan mode there is none. Default: no, since it
    /// costs requests.
    pub fn extracting(mut self, on: bool) -> Self {
        self.extraction = on.then_some(Waits::No);
        self
    }

    /// The clock by which notes are dated and count as old when a session opens. Default: that of this machine.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Its directory.
    pub fn directory(&self) -> &MemoryDirectory {
        &self.directory
    }

    /// Lets agents have notes of their own.
    pub(crate) fn with_agents(mut self, agents: Arc<OfAgents>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// The notes of the agent that calls, if it has some of its own.
    fn of_caller(&self, cx: &ToolCx) -> Option<MemoryDirectory> {
        self.agents.as_ref()?.of_type(cx.agents().ok()?.agent_type()?)
    }

    /// Carries out a call. An agent with notes of its own can also read those of the session, whose index it has read.
    fn carry_out(
        &self,
        own: Option<&MemoryDirectory>,
        input: &MemoryInput,
        now: Timestamp,
    ) -> Result<String, MemoryError> {
        let done = own.unwrap_or(&self.directory).carry_out(input, &self.budget, now);
        match (done, own) {
            (Err(MemoryError::Unknown { .. }), Some(_)) if input.action == MemoryAction::Read => {
                self.directory.carry_out(input, &self.budget, now)
            }
            (done, _) => done,
        }
    }

    /// The tool by which the model has it.
    fn tool(&self) -> Arc<dyn DynTool> {
        let call = |memory: Arc<Self>, input: MemoryInput, cx: ToolCx| async move {
            // Days are those that the session counts.
            let (now, own) = (cx.clock().now(), memory.of_caller(&cx));
            let work = move || memory.carry_out(own.as_ref(), &input, now);
            let ended = |error| ToolError::rejected("The session is about to end.").with_source(error);
            let done = tokio::task::spawn_blocking(work).await.map_err(ended)?;
            done.map_err(|error| ToolError::rejected(error.to_string()).with_source(error))
        };
        let tool = tool_fn_with(MEMORY_TOOL, MEMORY_DESCRIPTION, self.clone(), call);
        Arc::new(tool.with_access_of(MemoryInput::access).with_title(MemoryInput::title))
    }

    /// What the model of a session that opens now reads of it.
    async fn shown(&self) -> Result<ShownMemory, MemoryError> {
        let (directory, now, budget) = (self.directory.clone(), self.clock.now(), self.budget);
        let work = move || directory.entries().map(|(entries, words)| ShownMemory::new(&entries, &words, &budget, now));
        // The work does not panic, and the runtime is not about to end while a session opens.
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Ok(ShownMemory::default()))
    }
}

impl Options {
    /// Gives the session a memory, in the place of one that it has.
    pub(crate) fn remember(&mut self, memory: Memory) {
        let tools = &mut self.tools.toolkit.tools;
        if self.tools.memory.is_some() {
            tools.retain(|tool| tool.name() != MEMORY_TOOL);
        }
        tools.push(memory.tool());
        self.tools.memory = Some(memory);
    }

    /// Has runs wait for what is noted of them: the session ends with its run.
    pub(crate) fn wait_for_notes(&mut self) {
        let extraction = self.tools.memory.as_mut().and_then(|memory| memory.extraction.as_mut());
        extraction.into_iter().for_each(|extraction| *extraction = Waits::Yes);
    }

    /// Lets the model change its own memory without a question.
    pub(crate) fn allow_memory(&self, policy: &mut Policy) {
        if self.tools.memory.is_some() {
            // A rule with the name of a tool alone can be used in any directory.
            let _ = policy.add_rules(
                RuleSource::Session,
                Behavior::Allow,
                &[MEMORY_TOOL.to_owned()],
                std::path::Path::new("/"),
            );
        }
    }

    /// Has the model read its memory behind the first prompt, if it is offered the tool. What the index has no room
    /// for is looked through at each prompt. A memory that cannot be read is a notice.
    /// Returns what is to follow the session once it is open.
    pub(crate) async fn recall(&mut self, is_offered: impl Fn(&str) -> bool, notices: &mut Vec<String>) -> Following {
        let mut following = Following::default();
        let Some(memory) = self.tools.memory.clone().filter(|_| is_offered(MEMORY_TOOL)) else { return following };
        let shown = match memory.shown().await {
            Ok(shown) => shown,
            Err(error) => {
                notices.push(format!("the memory cannot be read: {error}"));
                return following;
            }
        };
        let directory = memory.directory.path().display().to_string();
        self.prompts.instructions.extend(shown.for_model(MEMORY_TOOL, &directory));
        if !shown.hidden.is_empty() {
            let ranking = memory.ranking.map(|ranking| match ranking {
                Ranking::Program(ranking) => ranking,
                Ranking::Model(name) => {
                    let model = following.ranking.insert(Arc::new(ModelRanking::new(name)));
                    Arc::clone(model) as Arc<dyn RankMemories>
                }
            });
            self.hooks.code.push(Arc::new(Recall::new(shown, ranking)));
        }
        if let Some(waits) = memory.extraction {
            let extraction = following.extraction.insert(Arc::new(Extraction::new(waits == Waits::Yes)));
            self.hooks.code.push(Arc::clone(extraction) as _);
        }
        following
    }
}
