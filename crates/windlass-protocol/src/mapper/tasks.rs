//! Frames of background work.

use super::{FrameEnvelope, FrameMapper};
use serde::Serialize;
use windlass_types::{
    AgentId, AgentPath, TaskEnded, TaskId, TaskInfo, TaskKind, TaskProgress, TaskStatus, TaskUsage, ToolUseId,
};

/// Running background work.
#[derive(Debug)]
pub(super) struct RunningTask {
    info: TaskInfo,
    /// Agent that began it, if not the main one.
    parent: Option<AgentId>,
    /// Path of that agent.
    path: AgentPath,
}

#[derive(Serialize)]
struct TaskStartedFrame<'a> {
    task_id: &'a str,
    tool_use_id: &'a str,
    description: &'a str,
    task_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent_type: Option<&'a str>,
    is_backgrounded: bool,
    /// Depth of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    spawn_depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_task_id: Option<&'a str>,
}

#[derive(Serialize)]
struct TaskProgressFrame<'a> {
    task_id: &'a str,
    tool_use_id: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent_type: Option<&'a str>,
    usage: TaskUsage,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_tool_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Notification<'a> {
    task_id: &'a str,
    tool_use_id: &'a str,
    status: &'static str,
    /// Empty when there is no output.
    output_file: String,
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<TaskUsage>,
}

/// All running work.
#[derive(Serialize)]
struct ChangedTasks<'a> {
    tasks: Vec<TaskEntry<'a>>,
}

#[derive(Serialize)]
struct TaskEntry<'a> {
    task_id: &'a str,
    task_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent_type: Option<&'a str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_task_id: Option<&'a str>,
}

impl FrameMapper {
    /// Appends all running background work.
    pub(crate) fn tasks_now(&mut self, session_id: &str, out: &mut Vec<u8>) {
        self.tasks_changed(FrameEnvelope::of_main(session_id), out);
    }

    /// Records the agent that began work.
    pub(super) fn task_is_of(&mut self, id: &TaskId, agent: &AgentPath) {
        if let Some(task) = self.tasks.iter_mut().rfind(|task| task.info.id == *id) {
            task.path = agent.clone();
        }
    }

    /// `true` if work is running that subagents began.
    pub(super) fn agents_have_tasks(&self) -> bool {
        self.tasks.iter().any(|task| !task.path.is_main())
    }

    /// Reports the end of work that agents below `start` began. These agents have ended, and so has their work.
    pub(super) fn end_tasks_below(&mut self, start: &AgentPath, session_id: &str, out: &mut Vec<u8>) {
        let is_below = |task: &RunningTask| task.path.tool_uses().starts_with(start.tool_uses());
        while let Some(task) = self.tasks.iter().find(|task| is_below(task)) {
            let ended =
                TaskEnded::new(task.info.clone(), TaskStatus::Stopped, "It ended with the agent that began it.");
            self.task_ended(FrameEnvelope::of_main(session_id), &ended, out);
        }
    }

    /// `true` if an agent that this call left behind is running.
    pub(super) fn left_behind(&self, call: &ToolUseId) -> bool {
        self.tasks.iter().any(|task| task.info.kind == TaskKind::LocalAgent && task.info.tool_use_id == *call)
    }

    fn tasks_changed(&mut self, envelope: FrameEnvelope<'_>, out: &mut Vec<u8>) {
        let tasks = std::mem::take(&mut self.tasks);
        let entries = tasks.iter().map(|task| TaskEntry {
            task_id: task.info.id.as_str(),
            task_type: task.info.kind.as_str(),
            subagent_type: task.info.agent_type.as_deref(),
            description: &task.info.description,
            parent_task_id: task.parent.as_ref().map(AgentId::as_str),
        });
        self.system(envelope, "background_tasks_changed", ChangedTasks { tasks: entries.collect() }, out);
        self.tasks = tasks;
    }

    pub(super) fn task_started(&mut self, envelope: FrameEnvelope<'_>, task: &TaskInfo, out: &mut Vec<u8>) {
        self.tasks.push(RunningTask {
            info: task.clone(),
            parent: envelope.agent.map(|agent| agent.id.clone()),
            path: AgentPath::default(),
        });
        self.tasks_changed(envelope, out);
        let body = TaskStartedFrame {
            task_id: task.id.as_str(),
            tool_use_id: task.tool_use_id.as_str(),
            description: &task.description,
            task_type: task.kind.as_str(),
            subagent_type: task.agent_type.as_deref(),
            is_backgrounded: true,
            spawn_depth: (task.kind == TaskKind::LocalAgent).then_some(envelope.depth + 1),
            parent_task_id: envelope.agent.map(|agent| agent.id.as_str()),
        };
        self.system(envelope, "task_started", body, out);
    }

    pub(super) fn task_progress(&mut self, envelope: FrameEnvelope<'_>, progress: &TaskProgress, out: &mut Vec<u8>) {
        let task = &progress.info;
        let body = TaskProgressFrame {
            task_id: task.id.as_str(),
            tool_use_id: task.tool_use_id.as_str(),
            description: &task.description,
            subagent_type: task.agent_type.as_deref(),
            usage: progress.usage,
            last_tool_name: progress.last_tool.as_deref(),
        };
        self.system(envelope, "task_progress", body, out);
    }

    pub(super) fn task_ended(&mut self, envelope: FrameEnvelope<'_>, ended: &TaskEnded, out: &mut Vec<u8>) {
        let file = ended.info.output_file.as_ref();
        let body = Notification {
            task_id: ended.info.id.as_str(),
            tool_use_id: ended.info.tool_use_id.as_str(),
            status: ended.status.as_str(),
            output_file: file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default(),
            summary: &ended.summary,
            usage: ended.usage,
        };
        self.system(envelope, "task_notification", body, out);
        self.tasks.retain(|task| task.info.id != ended.info.id);
        self.tasks_changed(envelope, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::{FrameMapper, FrameOptions};
    use windlass_types::{
        Event, EventKind, Outcome, RunId, RunOrigin, RunResult, SessionId, TaskEnded, TaskInfo, TaskKind, TaskStatus,
    };

    fn frame(kind: EventKind) -> String {
        let mut out = Vec::new();
        let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        let mut mapper = FrameMapper::new(FrameOptions::default(), || 7);
        mapper.answers(Some("asked".to_owned()));
        mapper.map(&event, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn background_work_is_reported_from_its_start_to_its_end() {
        let mut info = TaskInfo::new("b1".into(), TaskKind::LocalBash, "Build it", "toolu_1".into());
        let end = r#""uuid":"00000000-0000-4000-8000-000000000007","session_id":"s"}"#;
        let now = |tasks: &str| {
            format!("{{\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"tasks\":[{tasks}],{end}\n")
        };
        assert_eq!(
            frame(EventKind::TaskStarted(info.clone())),
            format!(
                "{}{},{end}\n",
                now(r#"{"task_id":"b1","task_type":"local_bash","description":"Build it"}"#),
                concat!(
                    r#"{"type":"system","subtype":"task_started","task_id":"b1","tool_use_id":"toolu_1","#,
                    r#""description":"Build it","task_type":"local_bash","is_backgrounded":true"#
                )
            )
        );
        for (file, shown) in [(Some("/o"), "/o"), (None, "")] {
            info.output_file = file.map(Into::into);
            assert_eq!(
                frame(EventKind::TaskEnded(TaskEnded::new(info.clone(), TaskStatus::Stopped, "It was stopped."))),
                format!(
                    r#"{{"type":"system","subtype":"task_notification","task_id":"b1","tool_use_id":"toolu_1","status":"stopped","output_file":"{shown}","summary":"It was stopped.",{end}{}{}"#,
                    "\n",
                    now("")
                )
            );
        }
    }

    #[test]
    fn a_run_that_work_woke_says_so_and_answers_no_message() {
        let mut result = RunResult::new(Outcome::Success, SessionId::from("s"));
        assert!(frame(EventKind::RunFinished(result.clone())).contains(r#""user_message_uuid":"asked""#));
        result.origin = RunOrigin::TaskNotification;
        let woken = frame(EventKind::RunFinished(result));
        assert!(woken.contains(r#""origin":{"kind":"task-notification"}"#), "{woken}");
        assert!(!woken.contains("user_message_uuid"), "{woken}");
    }
}
