//! Lists to choose from: points to rewind to, and sessions to resume.

use super::App;
use super::end::TerminalEnd;
use super::services::{Outcome, SessionChoice};
use crate::input::TerminalInput;
use crate::layout::plural;
use crate::live::InputArea;
use crate::picker::{Picker, PickerItem, PickerResult};
use crate::prompt_area::picker_area;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_conversation::{Message, Request, RewindScope, Rewound};
use windlass_types::{AgentPath, EntryId, TaskId};

/// Maximum number of prompts that can be rewound to.
const MOST_POINTS: usize = 500;

/// Meaning of an entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// A prompt to rewind to.
    Point(EntryId, String),
    /// Parts that are rewound.
    Rewind(EntryId, RewindScope),
    /// A session to resume.
    Session(String),
    /// A prompt that stands for the entry.
    Line(String),
    /// An agent whose work is shown.
    Agent(AgentPath),
    /// Background task to open or stop.
    Task(TaskId),
    /// Background work whose output is shown.
    TaskOutput(TaskId),
    /// Background work that is stopped.
    StopTask(TaskId),
}

/// A list that is shown, with its title.
#[derive(Debug)]
pub(super) struct Choosing {
    pub(super) title: String,
    pub(super) picker: Picker<Choice>,
}

/// Prompts of the session that can be rewound to, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RewindPoints {
    /// Prompts that were sent and have no turn yet, by their ids.
    sent: BTreeMap<String, String>,
    taken: Vec<(EntryId, String)>,
}

impl RewindPoints {
    /// A prompt was sent.
    pub(super) fn sent(&mut self, id: &str, text: &str) {
        self.sent.insert(id.to_owned(), text.lines().next().unwrap_or_default().to_owned());
    }

    /// The turn of a prompt begins.
    pub(super) fn taken(&mut self, id: &str) {
        let Some(text) = self.sent.remove(id) else { return };
        if self.taken.len() >= MOST_POINTS {
            self.taken.remove(0);
        }
        self.taken.push((EntryId::from(id), text));
    }

    /// The conversation is empty again.
    pub(super) fn clear(&mut self) {
        self.taken.clear();
    }
}

impl App {
    /// Rows of the list.
    pub(super) fn picker_rows(&mut self, rows: usize) -> Option<InputArea> {
        let Choosing { title, picker } = self.picker.as_mut()?;
        picker.set_page(rows.saturating_sub(3));
        Some(picker_area(title, picker, &self.surface.layout()))
    }

    /// Takes an input for the list.
    pub(super) fn pick(&mut self, input: &TerminalInput) {
        let Some(choosing) = &mut self.picker else { return };
        match choosing.picker.handle(input, self.prompt.keymap()) {
            PickerResult::Taken => {}
            PickerResult::Closed => self.picker = None,
            PickerResult::Chosen(choice) => {
                self.picker = None;
                self.chosen(choice);
            }
        }
    }

    /// Carries out the meaning of an entry.
    pub(super) fn chosen(&mut self, choice: Choice) {
        match choice {
            Choice::Point(to, text) => {
                let scopes = [
                    ("Code and conversation", RewindScope::Both),
                    ("Conversation alone", RewindScope::Conversation),
                    ("Code alone", RewindScope::Files),
                ];
                let item = |(name, scope)| PickerItem::new(name, "", Choice::Rewind(to.clone(), scope));
                let items = scopes.map(item).into();
                self.picker = Some(Choosing { title: format!("Rewind to before: {text}"), picker: Picker::new(items) });
            }
            Choice::Rewind(to, scope) => {
                self.request("rewind", Request::Rewind { to: to.clone(), scope, dry_run: false });
                if scope != RewindScope::Files
                    && let Some(at) = self.rewinds.taken.iter().position(|(id, _)| *id == to)
                {
                    self.rewinds.taken.truncate(at);
                }
            }
            Choice::Session(id) => self.leave(TerminalEnd::Resume(id)),
            Choice::Line(line) => {
                if !self.run_called(&line) {
                    self.send(Message::text(line));
                }
            }
            Choice::Agent(path) => self.open_agent(&path),
            Choice::Task(id) => self.open_task(&id),
            Choice::TaskOutput(id) => self.tail_task(&id),
            Choice::StopTask(id) => self.stop_task(&id),
        }
    }

    /// Shows the prompts that can be rewound to.
    pub(super) fn open_rewind(&mut self) {
        if self.rewinds.taken.is_empty() {
            self.hint = Some("Nothing can be rewound yet: no prompt was answered since the start.".to_owned());
            return;
        }
        let points = self.rewinds.taken.iter().rev();
        let items = points.map(|(id, text)| PickerItem::new(text, "", Choice::Point(id.clone(), text.clone())));
        self.picker =
            Some(Choosing { title: "Rewind to before which prompt?".to_owned(), picker: Picker::new(items.collect()) });
        self.surface.request_frame();
    }

    /// Tells what a rewind has done.
    pub(super) fn rewound(&mut self, outcome: &Result<Rewound, String>) {
        let text = match outcome {
            Ok(rewound) => {
                let files = rewound.files.as_ref().map_or(0, |files| files.files.len());
                let conversation = rewound.conversation.is_some();
                match (conversation, files) {
                    (true, 0) => "The conversation was rewound; no file changed.".to_owned(),
                    (true, files) => format!("The conversation and {} were rewound.", plural(files, "file")),
                    (false, files) => format!("{} were rewound.", plural(files, "file")),
                }
            }
            Err(reason) => format!("Nothing was rewound: {reason}"),
        };
        self.local_output(&text);
    }

    /// Asks for the sessions that can be resumed.
    pub(super) fn find_sessions(&mut self) {
        let services = Arc::clone(&self.services);
        self.jobs.spawn(async move { Outcome::Sessions(services.sessions().await) });
    }

    /// Shows sessions to resume.
    pub(super) fn open_sessions(&mut self, sessions: Vec<SessionChoice>) {
        if sessions.is_empty() {
            return self.local_output("No session of this directory can be resumed.");
        }
        let item =
            |session: SessionChoice| PickerItem::new(&session.title, &session.detail, Choice::Session(session.id));
        let items = sessions.into_iter().map(item).collect();
        self.picker = Some(Choosing { title: "Resume which session?".to_owned(), picker: Picker::new(items) });
    }
}
