//! Reminders of the todo list, and of the remaining budget.

use crate::reminder::PLAIN_HEAD;
use std::collections::BTreeMap;
use windlass_types::text::clean_line;
use windlass_types::{ContentBlock, Entry, EntryKind, JsonText};

/// Beginning of the text about the todo list.
const TODOS: &str = "The todo list was not touched for ";
/// Beginning of the text about the budget, up to the percentage.
const BUDGET: &str = "Of the money for this session at most ";
/// Percentages of the remaining budget at which a reminder is due.
const LEVELS: [u8; 3] = [25, 10, 5];
/// Number of remaining turns at which a reminder is due, and minimum turns of a run for it.
const LAST_TURNS: u32 = 2;
const MIN_RUN_TURNS: u32 = 5;
/// Maximum number of characters of a task as shown.
const MAX_TASK_CHARS: usize = 200;

/// Reminders for a model. Default: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReminderSettings {
    /// Number of its messages after which a model is reminded of an untouched list with open tasks. `None`: never.
    pub todos_after: Option<u32>,
    /// `true` if the model is told that the budget of the session, or the turns of the run, will soon be used up.
    pub budget: bool,
}

impl ReminderSettings {
    /// Returns all reminders: of the todo list after ten messages, and of the budget.
    #[must_use]
    pub fn all() -> Self {
        Self { todos_after: Some(10), budget: true }
    }
}

/// Remainders of the limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LimitsLeft {
    /// Remaining budget, in percent. `None`: not limited.
    pub money_percent: Option<u8>,
    /// Maximum and remaining number of turns of the run. `None`: not limited.
    pub turns: Option<(u32, u32)>,
}

impl LimitsLeft {
    /// Returns the remainders. `money`: limit and spending, in any unit. `turns`: limit and used turns.
    #[must_use]
    pub fn new(money: Option<(u64, u64)>, turns: Option<(u32, u32)>) -> Self {
        let percent = |(all, spent): (u64, u64)| {
            let remaining = u128::from(all.saturating_sub(spent)).saturating_mul(100);
            u8::try_from(remaining.checked_div(u128::from(all)).unwrap_or(0)).unwrap_or(100)
        };
        Self { money_percent: money.map(percent), turns: turns.map(|(all, used)| (all, all.saturating_sub(used))) }
    }
}

/// Reminders in the conversation, and their subjects: a fold over the log, so that a resumed session repeats none.
#[derive(Debug, Default)]
pub struct KnownReminders {
    todos: Option<Todos>,
    /// Number of messages of the model since the list was written.
    messages: u32,
    /// `true` if the conversation contains the reminder about this list.
    said_todos: bool,
    /// Lowest percentage named in the conversation.
    said_budget: Option<u8>,
}

/// A todo list, as far as reminders need it.
#[derive(Debug)]
struct Todos {
    done: usize,
    all: usize,
    current: Option<String>,
    next: Option<String>,
}

impl Todos {
    /// Reads a list. `None` if there is no open task, or if it has another form.
    fn read(list: &JsonText) -> Option<Self> {
        let tasks: Vec<BTreeMap<String, JsonText>> = list.to().ok()?;
        let field = |task: &BTreeMap<String, JsonText>, name: &str| task.get(name)?.to::<String>().ok();
        let is = |task: &BTreeMap<String, JsonText>, status: &str| field(task, "status").as_deref() == Some(status);
        let line = |task: &BTreeMap<String, JsonText>| {
            Some(clean_line(&field(task, "content")?).chars().take(MAX_TASK_CHARS).collect::<String>())
        };
        // A task that waits for another open one is not the next.
        let is_open = |id: &String| {
            let is_it = |task: &BTreeMap<String, JsonText>| field(task, "id").as_ref() == Some(id);
            tasks.iter().any(|task| is_it(task) && !is(task, "completed"))
        };
        let waits = |task: &BTreeMap<String, JsonText>| {
            let before = task.get("blockedBy").and_then(|before| before.to::<Vec<String>>().ok());
            before.is_some_and(|before| before.iter().any(is_open))
        };
        let done = tasks.iter().filter(|task| is(task, "completed")).count();
        let current = tasks.iter().find(|task| is(task, "in_progress")).and_then(line);
        let mut pending = tasks.iter().filter(|task| is(task, "pending"));
        let next = pending.clone().find(|task| !waits(task)).or_else(|| pending.next()).and_then(line);
        (current.is_some() || next.is_some()).then_some(Self { done, all: tasks.len(), current, next })
    }

    fn text(&self, messages: u32) -> String {
        let current = self.current.as_ref().map(|task| format!(" In progress: {task:?}.")).unwrap_or_default();
        let next = self.next.as_ref().map(|task| format!(" Next: {task:?}.")).unwrap_or_default();
        format!(
            "{TODOS}{messages} messages: {} of {} tasks are done.{current}{next} Bring it up to date if it is not, and clear \
             it if it no longer fits the work. The user did not write this, so do not mention it.",
            self.done, self.all
        )
    }
}

impl KnownReminders {
    /// Applies an entry of the log.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::Assistant(_) => self.messages = self.messages.saturating_add(1),
            EntryKind::Todos(list) => {
                (self.todos, self.messages, self.said_todos) = (Todos::read(list), 0, false);
            }
            EntryKind::User(user) if user.is_meta => {
                user.content.iter().filter_map(ContentBlock::as_text).for_each(|text| self.hear(text));
            }
            // The summary has the list, and none of the texts.
            EntryKind::Compacted(_) => (self.messages, self.said_todos, self.said_budget) = (0, false, None),
            _ => {}
        }
    }

    fn hear(&mut self, text: &str) {
        let heads = ["<system-reminder>\n", PLAIN_HEAD];
        let inner = heads.iter().find_map(|head| text.strip_prefix(head)).unwrap_or_default().trim_start();
        if inner.starts_with(TODOS) {
            self.said_todos = true;
        }
        let percent = inner.strip_prefix(BUDGET).and_then(|rest| rest.split_once(' ')?.0.parse::<u8>().ok());
        self.said_budget = match (self.said_budget, percent) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => before.or(now),
        };
    }

    /// Returns the reminders that are due before the next message, as texts. Each is given once: about a list until it
    /// is written again, about the budget once below 25, 10 and 5 percent, and about turns once in a run.
    #[must_use]
    pub fn due(&self, settings: ReminderSettings, left: LimitsLeft) -> Vec<String> {
        let todos = settings.todos_after.filter(|after| self.messages >= *after && !self.said_todos);
        let todos = todos.and(self.todos.as_ref()).map(|todos| todos.text(self.messages));
        let money = left.money_percent.filter(|_| settings.budget).and_then(|left| self.budget(left));
        let turns = left.turns.filter(|(all, left)| settings.budget && *all >= MIN_RUN_TURNS && *left == LAST_TURNS);
        let turns = turns.map(|(all, left)| {
            format!(
                "Of the {all} turns of this run {left} are left, the next one included. Finish what matters most, then say \
                 what is done and what is not."
            )
        });
        [todos, money, turns].into_iter().flatten().collect()
    }

    fn budget(&self, left: u8) -> Option<String> {
        let level = LEVELS.into_iter().rev().find(|level| left <= *level)?;
        (self.said_budget.is_none_or(|said| level < said)).then(|| {
            format!(
                "{BUDGET}{level} percent are left. Finish what matters most, then say what is done and what is not."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReminderStyle, reminder};
    use windlass_types::{AssistantEntry, Timestamp, Usage, UserEntry};

    fn entry(kind: EntryKind) -> Entry {
        Entry::new("e".into(), None, Timestamp::default(), kind)
    }

    fn said(text: &str, style: ReminderStyle) -> Entry {
        let mut user = UserEntry::new(vec![ContentBlock::text(style.framed(reminder(text)))]);
        user.is_meta = true;
        entry(EntryKind::User(user))
    }

    fn list(tasks: &[(&str, &str)]) -> Entry {
        let mut list = Vec::new();
        for (content, status) in tasks {
            list.push(BTreeMap::from([("content", *content), ("status", *status), ("activeForm", "x")]));
        }
        entry(EntryKind::Todos(JsonText::of(&list).unwrap()))
    }

    fn money(all: u64, spent: u64) -> LimitsLeft {
        LimitsLeft::new(Some((all, spent)), None)
    }

    #[test]
    fn a_list_that_is_not_touched_is_brought_up_once() {
        let settings = ReminderSettings::all();
        for style in [ReminderStyle::Tags, ReminderStyle::Plain] {
            let mut known = KnownReminders::default();
            let message = || {
                let (content, lines) = (Vec::new(), Vec::new());
                let said = AssistantEntry::new("m".into(), "m".to_owned(), content, lines, None, Usage::default());
                entry(EntryKind::Assistant(said))
            };
            known.apply(&list(&[("Read.", "completed"), ("Write\nit.", "in_progress"), ("Test.", "pending")]));
            for _ in 0..9 {
                known.apply(&message());
                assert_eq!(known.due(settings, LimitsLeft::default()), [""; 0]);
            }
            known.apply(&message());
            let due = known.due(settings, LimitsLeft::default());
            assert_eq!(due.len(), 1);
            let parts = "10 messages: 1 of 3 tasks are done. In progress: \"Write it.\". Next: \"Test.\".";
            assert!(due[0].contains(parts), "{due:?}");
            assert_eq!(known.due(ReminderSettings::default(), LimitsLeft::default()), [""; 0]);
            known.apply(&said(&due[0], style));
            (0..30).for_each(|_| known.apply(&message()));
            assert_eq!(known.due(settings, LimitsLeft::default()), [""; 0]);
            known.apply(&list(&[("Test.", "pending")]));
            (0..10).for_each(|_| known.apply(&message()));
            assert_eq!(known.due(settings, LimitsLeft::default()).len(), 1, "another list");
            known.apply(&list(&[("Test.", "completed")]));
            (0..10).for_each(|_| known.apply(&message()));
            assert_eq!(known.due(settings, LimitsLeft::default()), [""; 0], "nothing is open");
        }
    }

    #[test]
    fn what_is_left_is_said_once_at_each_level() {
        let settings = ReminderSettings::all();
        let mut known = KnownReminders::default();
        let mut levels = Vec::new();
        for spent in 0..=110 {
            let due = known.due(settings, money(100, spent));
            assert_eq!(known.due(ReminderSettings::default(), money(100, spent)), [""; 0]);
            for text in due {
                levels.push((spent, text.clone()));
                known.apply(&said(&text, ReminderStyle::Tags));
            }
        }
        let at: Vec<u64> = levels.iter().map(|(spent, _)| *spent).collect();
        assert_eq!(at, [75, 90, 95], "{levels:?}");
        // A conversation that starts low gets the lowest level alone.
        assert!(KnownReminders::default().due(settings, money(100, 97))[0].contains("at most 5 percent"));
        assert_eq!(KnownReminders::default().due(settings, money(0, 0)).len(), 1);
        for (all, used, said) in [(10, 7, 0), (10, 8, 1), (10, 9, 0), (4, 2, 0), (u32::MAX, 0, 0)] {
            let left = LimitsLeft::new(None, Some((all, used)));
            assert_eq!(KnownReminders::default().due(settings, left).len(), said, "{used} of {all}");
        }
    }

    #[test]
    fn the_next_task_is_one_that_waits_for_none() {
        let list = r#"[{"id":"1","content":"A","status":"pending","blockedBy":["3"]},
            {"id":"2","content":"B","status":"pending","blockedBy":["9"]},{"id":"3","content":"C","status":"pending"}]"#;
        let read = |list: &str| Todos::read(&JsonText::parse_strict(list).unwrap()).unwrap().next;
        assert_eq!(read(list).as_deref(), Some("B"), "what it waits for is gone");
        let closed = r#"[{"id":"1","content":"A","status":"pending","blockedBy":["1"]}]"#;
        assert_eq!(read(closed).as_deref(), Some("A"));
    }

    #[test]
    fn a_list_of_another_shape_is_no_list() {
        for list in ["{}", "[]", "[1]", "\"x\"", r#"[{"content":1,"status":"pending"}]"#] {
            let mut known = KnownReminders::default();
            known.apply(&entry(EntryKind::Todos(JsonText::parse_strict(list).unwrap())));
            assert!(known.todos.is_none(), "{list}");
        }
    }
}
