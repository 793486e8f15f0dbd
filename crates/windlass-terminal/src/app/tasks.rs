//! Agents and background work: a list to open or stop them from.

use super::App;
use super::choosing::{Choice, Choosing};
use super::reply::CommandReply;
use crate::layout::{plural, tokens};
use crate::picker::{Picker, PickerItem};
use crate::presenter::{AgentRow, TaskRow};
use windlass_conversation::Request;
use windlass_types::{AgentPath, TaskId};

impl App {
    /// Shows agents and background work.
    pub(super) fn open_tasks(&mut self) {
        let presenter = self.surface.presenter();
        let agents = presenter.agents().iter().map(agent_item);
        let tasks = presenter.tasks().iter().map(task_item);
        let items: Vec<PickerItem<Choice>> = agents.chain(tasks).collect();
        if items.is_empty() {
            return self.local_output("No agent and no background work runs.");
        }
        self.picker = Some(Choosing { title: "Open which one?".to_owned(), picker: Picker::new(items) });
    }

    /// Shows the work of an agent.
    pub(super) fn open_agent(&mut self, path: &AgentPath) {
        let row = self.surface.presenter().agents().iter().find(|row| row.path == *path);
        let Some((title, text)) = row.map(|row| (agent_title(row), row.log.join("\n"))) else {
            return self.local_output("The agent has ended. The transcript has its answer.");
        };
        self.reply(CommandReply::Page { title, text });
    }

    /// Asks what to do with background work.
    pub(super) fn open_task(&mut self, id: &TaskId) {
        let items = vec![
            PickerItem::new("Show the end of its output", "", Choice::TaskOutput(id.clone())),
            PickerItem::new("Stop it", "", Choice::StopTask(id.clone())),
        ];
        self.picker = Some(Choosing { title: format!("Background task {id}"), picker: Picker::new(items) });
    }

    /// Asks for the end of the output of background work.
    pub(super) fn tail_task(&mut self, id: &TaskId) {
        self.request(format!("output {id}"), Request::TaskOutput(id.to_string()));
    }

    /// Stops background work.
    pub(super) fn stop_task(&mut self, id: &TaskId) {
        self.request("stop", Request::StopTask(id.clone()));
    }

    /// Shows the end of the output of background work.
    pub(super) fn show_output(&mut self, task: &str, tail: &str, is_truncated: bool) {
        if tail.trim().is_empty() {
            return self.local_output(&format!("Background task {task} has written nothing yet."));
        }
        let title = if is_truncated { format!("End of the output of {task}") } else { format!("Output of {task}") };
        self.reply(CommandReply::Page { title, text: tail.to_owned() });
    }
}

fn agent_title(row: &AgentRow) -> String {
    format!("{} {}", row.agent_type, row.description).trim_end().to_owned()
}

fn agent_item(row: &AgentRow) -> PickerItem<Choice> {
    let state = if row.is_done { "done" } else { "works" };
    let detail = format!("{state}, {}, {} tokens", plural(row.work.calls, "call"), tokens(row.work.tokens));
    PickerItem::new(&agent_title(row), &detail, Choice::Agent(row.path.clone()))
}

fn task_item(row: &TaskRow) -> PickerItem<Choice> {
    PickerItem::new(&row.info.description, row.info.id.as_str(), Choice::Task(row.info.id.clone()))
}
