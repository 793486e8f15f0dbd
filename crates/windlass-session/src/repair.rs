//! Repair of any list of entries into a valid conversation.

mod naming;
#[cfg(test)]
mod tests;

pub use naming::RenamedCall;

use crate::PendingQuestions;
use crate::transcript::{BEGINNING_LOST, has_assistant_content, has_user_content, lost_result_text};
use std::collections::{BTreeMap, HashMap, HashSet};
use windlass_types::{
    AssistantEntry, ContentBlock, Entry, EntryId, EntryKind, Timestamp, ToolResult, ToolResultEntry, ToolUseId,
    UserEntry,
};

/// Changes made by a repair.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// Results created for calls without one. They have stable ids; appended to the log, in this order, they save the
    /// next load the repair. They name calls by the ids of the log.
    pub synthetic: Vec<Entry>,
    /// Number of results that answer no call, or one that is answered already.
    pub dropped_results: usize,
    /// Number of messages without content that could be sent, and of repeated messages of the model.
    pub dropped_messages: usize,
    /// Number of results at a position other than after their call.
    pub moved_results: usize,
    /// `true` if the conversation did not begin with the user.
    pub beginning_lost: bool,
    /// Calls with another id than in the log, because an earlier call has that one or because it is empty. In message
    /// order.
    pub renamed: Vec<RenamedCall>,
}

impl RepairReport {
    /// `true` if the log was intact and no change was needed.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// Repairs a list of entries: every call gets exactly one result, after its message. Results without a call, second
/// results and messages without content are removed. A conversation that does not begin with the user gets a beginning.
/// A call with the id of an earlier one gets an id of its own ([`CallIds`](crate::CallIds)).
///
/// Total, and stable: the same input gives the same ids, repairing twice equals repairing once, and valid entries stay
/// unchanged. Contents and entries beside the conversation are never changed except for ids of calls.
pub fn repair(entries: Vec<Entry>) -> (Vec<Entry>, RepairReport) {
    repair_keeping(entries, &PendingQuestions::default())
}

/// Repairs a list of entries like [`repair`], but leaves calls of the last message open whose permission requests [wait
/// for an answer](PendingQuestions), or whose agents do: for continuing the session.
pub fn repair_but_pending(entries: Vec<Entry>) -> (Vec<Entry>, RepairReport) {
    let pending = PendingQuestions::of(&entries);
    repair_keeping(entries, &pending)
}

fn repair_keeping(entries: Vec<Entry>, pending: &PendingQuestions) -> (Vec<Entry>, RepairReport) {
    let mut calls = Calls::of(&entries);
    calls.keep_open(pending);
    let mut report = RepairReport::default();
    let (groups, answered) = Groups::of(entries, &calls, &mut report);
    let mut repaired = groups.joined(&calls, &answered, &mut report);
    report.renamed = naming::name_calls(&mut repaired);
    (repaired, report)
}

/// A message of the model and the entries after it up to the next one.
#[derive(Default)]
struct Group {
    head: Option<(usize, Entry)>,
    rest: Vec<Entry>,
    /// Number of entries in `rest` up to the last result of this message.
    last_result: usize,
}

/// Entries grouped by the message of the model that they follow, without the dropped ones.
struct Groups {
    groups: Vec<Group>,
    /// Misplaced results, by the index of the message that they answer.
    moved: BTreeMap<usize, Vec<Entry>>,
}

impl Groups {
    /// Groups the entries. Also returns the calls that have a result.
    fn of(entries: Vec<Entry>, calls: &Calls, report: &mut RepairReport) -> (Self, HashSet<(usize, ToolUseId)>) {
        let mut sorted = Self { groups: vec![Group::default()], moved: BTreeMap::new() };
        let mut results = Results { calls, answered: HashSet::new() };
        let mut current = None;
        for (at, entry) in entries.into_iter().enumerate() {
            match &entry.kind {
                EntryKind::Assistant(_) if calls.by_message.contains_key(&at) => {
                    current = Some(at);
                    sorted.groups.push(Group { head: Some((at, entry)), rest: Vec::new(), last_result: 0 });
                }
                EntryKind::Assistant(_) => report.dropped_messages += 1,
                EntryKind::User(user) if !has_user_content(&user.content) => report.dropped_messages += 1,
                EntryKind::ToolResult(result) => match results.target(result, current) {
                    None => report.dropped_results += 1,
                    Some(target) if Some(target) != current => {
                        report.moved_results += 1;
                        sorted.moved.entry(target).or_default().push(entry);
                    }
                    Some(_) => sorted.push(entry, true),
                },
                _ => sorted.push(entry, false),
            }
        }
        (sorted, results.answered)
    }

    /// Adds an entry after the last message.
    fn push(&mut self, entry: Entry, is_result: bool) {
        if let Some(group) = self.groups.last_mut() {
            group.rest.push(entry);
            if is_result {
                group.last_result = group.rest.len();
            }
        }
    }

    /// Returns all entries in order, each message with one result for each of its calls.
    fn joined(
        mut self,
        calls: &Calls,
        answered: &HashSet<(usize, ToolUseId)>,
        report: &mut RepairReport,
    ) -> Vec<Entry> {
        let mut repaired = Vec::new();
        let mut begun = false;
        for group in self.groups {
            let Some((at, head)) = group.head else {
                begun = group.rest.iter().any(|entry| matches!(entry.kind, EntryKind::User(_)));
                repaired.extend(group.rest);
                continue;
            };
            if !begun {
                begun = true;
                report.beginning_lost = true;
                repaired.push(beginning(&head));
            }
            let synthetic = calls.unanswered(at, &head, answered);
            report.synthetic.extend(synthetic.iter().cloned());
            repaired.push(head);
            let mut rest = group.rest;
            let behind = rest.split_off(group.last_result.min(rest.len()));
            repaired.extend(rest);
            repaired.extend(self.moved.remove(&at).unwrap_or_default());
            repaired.extend(synthetic);
            repaired.extend(behind);
        }
        repaired
    }
}

/// All calls, by the index of the entry that contains them.
#[derive(Default)]
struct Calls {
    by_message: HashMap<usize, Vec<(ToolUseId, EntryId)>>,
    message_of_line: HashMap<EntryId, usize>,
    started: HashSet<(usize, ToolUseId)>,
    /// Calls that stay without a result.
    kept_open: HashSet<(usize, ToolUseId)>,
}

impl Calls {
    fn of(entries: &[Entry]) -> Self {
        let mut calls = Self::default();
        for (at, entry) in entries.iter().enumerate() {
            let EntryKind::Assistant(assistant) = &entry.kind else { continue };
            let lines = || assistant.block_ids.iter().chain([&entry.id]);
            if !has_assistant_content(&assistant.content)
                || lines().any(|line| calls.message_of_line.contains_key(line))
            {
                continue;
            }
            calls.by_message.insert(at, calls_of(&entry.id, assistant));
            calls.message_of_line.extend(lines().map(|line| (line.clone(), at)));
        }
        let mut current = None;
        for (at, entry) in entries.iter().enumerate() {
            match &entry.kind {
                EntryKind::Assistant(_) if calls.by_message.contains_key(&at) => current = Some(at),
                EntryKind::Intent { tool_use_id, assistant, .. } => {
                    if let Some(message) = calls.message_of_line.get(assistant).copied().or(current) {
                        calls.started.insert((message, tool_use_id.clone()));
                    }
                }
                _ => {}
            }
        }
        calls
    }

    /// Leaves calls of the last message open whose permission requests wait for an answer, or whose agents do.
    fn keep_open(&mut self, pending: &PendingQuestions) {
        let Some((last, calls)) = self.by_message.iter().max_by_key(|(at, _)| **at) else { return };
        let waits = |(id, line): &&(ToolUseId, EntryId)| {
            let question = pending.about(id).filter(|question| question.assistant == *line);
            let waits = pending.waiting(id).is_some_and(|waiting| waiting.assistant == *line);
            waits || (question.is_some() && !self.started.contains(&(*last, id.clone())))
        };
        self.kept_open = calls.iter().filter(waits).map(|(id, _)| (*last, id.clone())).collect();
    }

    fn has(&self, message: usize, id: &ToolUseId) -> bool {
        self.by_message.get(&message).is_some_and(|calls| calls.iter().any(|(call, _)| call == id))
    }

    fn unanswered(&self, at: usize, head: &Entry, answered: &HashSet<(usize, ToolUseId)>) -> Vec<Entry> {
        let calls = self.by_message.get(&at).map_or(&[] as &[_], Vec::as_slice);
        calls
            .iter()
            .filter(|(id, _)| {
                let call = (at, id.clone());
                !answered.contains(&call) && !self.kept_open.contains(&call)
            })
            .map(|(id, line)| {
                let started = self.started.contains(&(at, id.clone()));
                let result = ToolResult::error(id.clone(), lost_result_text(started));
                synthetic_result(line, head.timestamp, result)
            })
            .collect()
    }
}

/// Returns the calls of a message, each with its line.
fn calls_of(entry: &EntryId, assistant: &AssistantEntry) -> Vec<(ToolUseId, EntryId)> {
    let mut seen = HashSet::new();
    let blocks = assistant.content.iter().enumerate();
    blocks
        .filter_map(|(at, block)| Some((at, block.as_tool_use()?)))
        .filter(|(_, call)| seen.insert(call.id.clone()))
        .map(|(at, call)| (call.id.clone(), assistant.block_ids.get(at).unwrap_or(entry).clone()))
        .collect()
}

struct Results<'a> {
    calls: &'a Calls,
    answered: HashSet<(usize, ToolUseId)>,
}

impl Results<'_> {
    /// Returns the message with the call that a result answers, if that call has no result yet.
    fn target(&mut self, result: &ToolResultEntry, current: Option<usize>) -> Option<usize> {
        let id = &result.result.tool_use_id;
        let named = self.calls.message_of_line.get(&result.assistant).copied();
        let message = named.filter(|at| self.calls.has(*at, id)).or(current.filter(|at| self.calls.has(*at, id)))?;
        self.answered.insert((message, id.clone())).then_some(message)
    }
}

/// Returns the result of a call that never got one. Its id is a hash of the call's line and id.
fn synthetic_result(line: &EntryId, timestamp: Timestamp, result: ToolResult) -> Entry {
    let id = derived_id("result", &[line.as_str(), result.tool_use_id.as_str()]);
    let mut entry = ToolResultEntry::new(result, line.clone());
    entry.synthetic = true;
    Entry::new(id, Some(line.clone()), timestamp, EntryKind::ToolResult(entry))
}

fn beginning(first: &Entry) -> Entry {
    let mut user = UserEntry::new(vec![ContentBlock::text(BEGINNING_LOST)]);
    user.is_meta = true;
    Entry::new(derived_id("beginning", &[first.id.as_str()]), None, first.timestamp, EntryKind::User(user))
}

/// Returns an id that is always the same for the same parts.
pub(crate) fn derived_id(purpose: &str, parts: &[&str]) -> EntryId {
    let mut hasher = blake3::Hasher::new();
    for part in [purpose].iter().chain(parts) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bits = [0_u8; 16];
    hasher.finalize_xof().fill(&mut bits);
    EntryId::from_bits(u128::from_le_bytes(bits))
}
