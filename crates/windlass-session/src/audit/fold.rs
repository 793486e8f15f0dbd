//! Records of a log, gathered by call.

use super::changes::changed;
use super::{CallAudit, CallLine, LineState, QuestionAudit, ResultAudit, VerdictAudit};
use crate::codec::ResultLine;
use crate::load::{Coverage, Node, NodeBody};
use std::collections::HashMap;
use windlass_types::{EntryId, EntryKind, PermissionMode, Timestamp, ToolUse, ToolUseId};

/// Returns the calls of a log from its records in file order.
pub(super) fn calls(nodes: Vec<Node>, coverage: &Coverage) -> Vec<CallAudit> {
    let mut fold = Fold::default();
    for node in nodes {
        let place = RecordPlace { line: node.line, entry: node.id, at: node.timestamp, state: coverage.of(node.line) };
        fold.add_record(&place, node.body);
    }
    fold.calls
}

/// Position and state of a record.
struct RecordPlace {
    line: u64,
    entry: EntryId,
    at: Timestamp,
    state: LineState,
}

#[derive(Default)]
struct Fold {
    calls: Vec<CallAudit>,
    /// Index of the last call with each id.
    by_id: HashMap<ToolUseId, usize>,
    mode: Option<PermissionMode>,
}

impl Fold {
    fn add_record(&mut self, place: &RecordPlace, body: NodeBody) {
        match body {
            NodeBody::User { user, .. } => self.mode = user.permission_mode.or(self.mode),
            NodeBody::Assistant(message) => {
                for call in message.content.iter().filter_map(|block| block.as_tool_use()) {
                    self.begin(place, call);
                }
            }
            NodeBody::Result(result) => self.result(place, &result),
            NodeBody::Beside(kind) => self.add_beside(place, kind),
            NodeBody::Passive { .. } => {}
        }
    }

    fn add_beside(&mut self, place: &RecordPlace, kind: EntryKind) {
        match kind {
            EntryKind::Mode(mode) => self.mode = Some(mode),
            EntryKind::Decision(verdict) => {
                let mode = self.mode;
                self.about(place, &verdict.tool_use_id.clone(), |call| {
                    call.mode = mode.or(call.mode);
                    call.settle_questions();
                    if let (None, Some(made)) = (&call.tool, &verdict.made) {
                        (call.tool, call.input) = (Some(made.tool.clone()), Some(made.input.clone()));
                    }
                    call.verdicts.push(VerdictAudit { at: place.at, verdict });
                });
            }
            EntryKind::Question(question) => self.about(place, &question.tool_use_id.clone(), |call| {
                if let Some(known) = call.questions.iter_mut().find(|known| known.question.id == question.id) {
                    // A later opening gave the request another token.
                    known.question = question;
                    return;
                }
                // A call is asked about anew when the earlier request does not match it any more.
                call.settle_questions();
                call.questions.push(QuestionAudit { at: place.at, question, is_open: true });
            }),
            EntryKind::Intent { tool_use_id, .. } => self.about(place, &tool_use_id, |call| {
                call.settle_questions();
                // A call whose agent waited begins once more.
                call.begun.get_or_insert(place.at);
                call.waits_for = None;
            }),
            EntryKind::AgentWaits(waiting) => self.about(place, &waiting.tool_use_id.clone(), |call| {
                call.waits_for = Some(waiting.agent);
            }),
            _ => {}
        }
    }

    /// Adds a call of a message.
    fn begin(&mut self, place: &RecordPlace, call: &ToolUse) {
        let at = self.calls.len();
        let mut audit = CallAudit::new(place, call.id.clone(), self.mode);
        (audit.tool, audit.input) = (Some(call.name.clone()), Some(call.input.clone()));
        self.calls.push(audit);
        self.by_id.insert(call.id.clone(), at);
    }

    fn result(&mut self, place: &RecordPlace, line: &ResultLine) {
        self.about(place, &line.result.tool_use_id, |call| {
            call.settle_questions();
            call.waits_for = None;
            let is_error = line.result.is_error;
            call.result = Some(ResultAudit { at: place.at, is_error, is_made_up: line.synthetic });
            if !is_error && !line.synthetic {
                let tool = call.tool.as_deref().unwrap_or_default();
                call.changed = changed(tool, call.input.as_ref(), line.structured.as_ref());
            }
        });
    }

    /// Records a fact about a call. A call whose message is lost begins with the first record about it.
    fn about(&mut self, place: &RecordPlace, id: &ToolUseId, note: impl FnOnce(&mut CallAudit)) {
        let at = *self.by_id.entry(id.clone()).or_insert(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(CallAudit::new(place, id.clone(), self.mode));
        }
        if let Some(call) = self.calls.get_mut(at) {
            call.lines = call.lines.max(place.state);
            note(call);
        }
    }
}

impl CallAudit {
    fn new(place: &RecordPlace, tool_use_id: ToolUseId, mode: Option<PermissionMode>) -> Self {
        Self {
            tool_use_id,
            tool: None,
            input: None,
            place: CallLine { line: place.line, entry: place.entry.clone(), at: place.at },
            mode,
            verdicts: Vec::new(),
            questions: Vec::new(),
            begun: None,
            waits_for: None,
            result: None,
            changed: Vec::new(),
            lines: place.state,
        }
    }

    fn settle_questions(&mut self) {
        self.questions.iter_mut().for_each(|question| question.is_open = false);
    }
}
