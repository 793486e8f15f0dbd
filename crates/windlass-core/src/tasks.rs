//! Work that goes on in the background, and what the model is told of its end.
//!
//! The driver says when a task starts and ends. The host hears of both at once.
//! The model hears of the end at the next safe point of the run that goes on; if
//! none does, a run of its own begins with it.

use crate::machine::Phase;
use crate::run::Run;
use crate::{Effect, EffectId, Machine};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use windlass_context::{reminder, task_notification};
use windlass_types::{
    ContentBlock, Continuation, Entry, EntryId, EntryKind, EventKind, JsonText, RunId, RunOrigin, TaskEnded, TaskId,
    TaskInfo, TaskKind, TaskProgress, TaskStatus, TaskUsage, ToolUseId,
};

/// How many runs in a row may begin by themselves. Then news waits for the next
/// prompt, so that work which starts work does not go on for ever.
const MAX_WAKES: u32 = 50;

/// How the names of tools begin whose data is written by programs elsewhere.
const FOREIGN: &str = "mcp__";

/// The tasks of a session. They do not outlive it.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    alive: BTreeMap<TaskId, Alive>,
    /// Ends that the model has not heard of.
    news: Vec<News>,
    /// Runs that began by themselves since the last prompt.
    wakes: u32,
    /// The entry of the last prompt: what a run that begins by itself does is done for it.
    pub(crate) prompt: Option<EntryId>,
}

#[derive(Debug)]
struct Alive {
    info: TaskInfo,
    /// The run and turn that began it.
    run: RunId,
    turn: u32,
    /// Whether it was told to stop.
    stopping: bool,
    /// Whether the model knows that it ends.
    known: bool,
}

#[derive(Debug)]
struct News {
    text: String,
    /// Whether it is worth a run of its own.
    wakes: bool,
}

impl Tasks {
    /// What a log tells of: work whose end is not in it is gone, since the process that kept it is.
    pub(crate) fn left_by(log: &[Entry]) -> Self {
        let mut lost: Vec<TaskEnded> = Vec::new();
        let mut foreign: HashSet<&ToolUseId> = HashSet::new();
        for entry in log {
            match &entry.kind {
                EntryKind::Assistant(message) => {
                    let calls = message.content.iter().filter_map(|block| match block {
                        ContentBlock::ToolUse(call) if call.name.starts_with(FOREIGN) => Some(&call.id),
                        _ => None,
                    });
                    foreign.extend(calls);
                }
                // A server that says it started something would have its words read as the runtime's.
                EntryKind::ToolResult(entry) if foreign.contains(&entry.result.tool_use_id) => {}
                EntryKind::ToolResult(entry) => {
                    let Some(fields) = entry.structured.as_ref().and_then(named_task) else { continue };
                    match fields {
                        Named::Started(kind, id, file) => {
                            lost.push(gone(kind, id, file, &entry.result.tool_use_id));
                        }
                        Named::Stopped(id) => lost.retain(|ended| ended.info.id != id),
                    }
                }
                EntryKind::User(user) if user.is_meta && !lost.is_empty() => {
                    let texts: Vec<&str> = user.content.iter().filter_map(ContentBlock::as_text).collect();
                    lost.retain(|ended| {
                        let name = format!("<task-id>{}</task-id>", ended.info.id);
                        !texts.iter().any(|text| text.contains(&name))
                    });
                }
                _ => {}
            }
        }
        let news = lost.iter().map(|ended| News { text: task_notification(ended), wakes: false }).collect();
        Self { news, ..Self::default() }
    }

    /// Whether the model should hear of something now.
    fn wakes(&self) -> bool {
        self.news.iter().any(|news| news.wakes)
    }

    /// The user stopped the run: what waits, waits for the next prompt.
    pub(crate) fn hold(&mut self) {
        for news in &mut self.news {
            news.wakes = false;
        }
    }

    /// A prompt begins: runs may begin by themselves again.
    pub(crate) fn prompted(&mut self) {
        self.wakes = 0;
    }

    /// Nothing goes on any more, and nobody is told.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// What the data of a result says of background work.
enum Named {
    Started(TaskKind, TaskId, Option<PathBuf>),
    Stopped(TaskId),
}

fn named_task(structured: &JsonText) -> Option<Named> {
    // Nearly all results say nothing of the kind, and are not read.
    let names = ["\"backgroundTaskId\"", "\"task_id\"", "\"async_launched\""];
    if !names.iter().any(|name| structured.as_str().contains(name)) {
        return None;
    }
    let fields: BTreeMap<String, JsonText> = structured.to().ok()?;
    let text = |name: &str| fields.get(name)?.to::<String>().ok();
    if text("status").as_deref() == Some("async_launched") {
        let file = text("outputFile").map(PathBuf::from);
        return Some(Named::Started(TaskKind::LocalAgent, text("agentId")?.into(), file));
    }
    match (text("backgroundTaskId"), text("task_id"), text("task_type")) {
        (Some(id), ..) => {
            Some(Named::Started(TaskKind::LocalBash, id.into(), text("rawOutputPath").map(PathBuf::from)))
        }
        (None, Some(id), Some(_)) => Some(Named::Stopped(id.into())),
        _ => None,
    }
}

fn gone(kind: TaskKind, id: TaskId, file: Option<PathBuf>, tool_use_id: &ToolUseId) -> TaskEnded {
    let mut info = TaskInfo::new(id, kind, "", tool_use_id.clone());
    info.output_file = file;
    TaskEnded::new(info, TaskStatus::Stopped, "It was stopped: the process that kept it going has ended.")
}

impl Machine {
    /// The work that goes on in the background.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskInfo> {
        self.tasks.alive.values().map(|task| &task.info)
    }

    /// Whether nothing goes on and nothing is about to: no run, no prompt, no background work, and nothing
    /// that the host has yet to hear of.
    pub fn is_quiet(&self) -> bool {
        self.is_settled() && self.tasks.alive.is_empty()
    }

    /// Whether no run goes on and none is about to, and there is nothing that the host has yet to hear of.
    /// Background work may go on.
    pub fn is_settled(&self) -> bool {
        self.is_idle() && !self.out.has_events() && !self.may_wake()
    }

    /// The run of an agent below the main one is its only one: whoever called it has its report then.
    fn may_wake(&self) -> bool {
        self.config.agent.is_none() && self.tasks.wakes() && self.tasks.wakes < MAX_WAKES
    }

    /// A running call left work behind.
    pub(crate) fn task_started(&mut self, call: EffectId, info: TaskInfo) {
        let counts = self.batch.committed && self.batch.waiting_for(call).is_some();
        let Some(run) = self.run.as_ref().filter(|_| counts && !self.tasks.alive.contains_key(&info.id)) else {
            // Of a call that does not count, nothing may go on.
            self.effect(Effect::StopTask(info.id));
            return;
        };
        let (run, turn) = (run.id.clone(), run.turns);
        self.event(EventKind::TaskStarted(info.clone()), None);
        self.tasks.alive.insert(info.id.clone(), Alive { info, run, turn, stopping: false, known: false });
    }

    /// Work says how far it is.
    pub(crate) fn task_progress(&mut self, id: &TaskId, usage: TaskUsage, last_tool: Option<String>) {
        let Some(task) = self.tasks.alive.get(id) else { return };
        let mut progress = TaskProgress::new(task.info.clone(), usage);
        progress.last_tool = last_tool;
        self.out.event(task.run.clone(), task.turn, EventKind::TaskProgress(progress), None);
    }

    /// Work ended. Of work that is not known nothing is said.
    pub(crate) fn task_ended(&mut self, ended: TaskEnded) {
        let Some(task) = self.tasks.alive.remove(&ended.info.id) else { return };
        if !task.known {
            // Whoever stopped it does not want to be asked about it.
            let wakes = ended.status != TaskStatus::Stopped;
            self.tasks.news.push(News { text: task_notification(&ended), wakes });
        }
        self.out.event(task.run, task.turn, EventKind::TaskEnded(ended), None);
    }

    /// The model stops work. It is not told when that has ended.
    pub(crate) fn stop_task(&mut self, id: &TaskId) {
        let Some(task) = self.tasks.alive.get_mut(id) else { return };
        task.known = true;
        if !std::mem::replace(&mut task.stopping, true) {
            self.effect(Effect::StopTask(id.clone()));
        }
    }

    /// Stops everything before the session closes. Returns whether something still goes on.
    pub(crate) fn stop_tasks(&mut self) -> bool {
        let alive = self.tasks.alive.values_mut().filter(|task| !task.stopping);
        let told: Vec<TaskId> = alive
            .map(|task| {
                task.stopping = true;
                task.info.id.clone()
            })
            .collect();
        for id in told {
            self.effect(Effect::StopTask(id));
        }
        !self.tasks.alive.is_empty()
    }

    /// Records what the model has not heard of, as a text of the runtime.
    pub(crate) fn record_news(&mut self) -> Option<Entry> {
        if self.tasks.news.is_empty() {
            return None;
        }
        let news = std::mem::take(&mut self.tasks.news);
        let blocks = news.iter().map(|news| ContentBlock::text(reminder(&news.text))).collect();
        Some(self.record_user(blocks, true))
    }

    /// The same, if it should not wait for a prompt.
    pub(crate) fn record_urgent_news(&mut self) -> Option<Entry> {
        if self.tasks.wakes() { self.record_news() } else { None }
    }

    /// Begins a run with what the model has not heard of, if it should hear it now.
    pub(crate) fn wake(&mut self) -> bool {
        if !matches!(self.phase, Phase::Idle) || !self.may_wake() {
            return false;
        }
        self.tasks.wakes += 1;
        let mut run = Run::new(self.fresh_run_id(), self.now);
        run.origin = RunOrigin::TaskNotification;
        run.prompt.clone_from(&self.tasks.prompt);
        self.run = Some(run);
        let mut started = self.run_started(true);
        started.origin = RunOrigin::TaskNotification;
        self.event(EventKind::RunStarted(started), None);
        self.tell_notices();
        let entry = self.record_news();
        self.append(entry.into_iter().collect(), false);
        self.call_model(Continuation::Prompt);
        true
    }
}
