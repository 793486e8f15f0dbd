//! Sessions for tests.

use proptest::prelude::*;
use windlass_session::{LogEncoder, LogHeader};
use windlass_types::{
    AssistantEntry, CallDigest, ContentBlock, Entry, EntryId, EntryKind, JsonText, SessionId, StopReason, Timestamp,
    ToolResult, ToolResultEntry, ToolUse, Usage, UserEntry,
};

/// One turn: a prompt, a message with calls, and the order in which the calls end.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) prompt: String,
    pub(crate) thinks: bool,
    pub(crate) text: Option<String>,
    pub(crate) inputs: Vec<String>,
    pub(crate) order: Vec<usize>,
    pub(crate) steer: bool,
}

pub(crate) fn turn() -> impl Strategy<Value = Turn> {
    let input = prop_oneof![
        Just("{}".to_owned()),
        Just("{\"b\":1.50,\n\t\"a\": \"\\u00e9\\/\"}".to_owned()),
        Just("{\"n\":123456789012345678901234567890,\"e\":1E+2}".to_owned()),
        "[a-z\u{e9}\u{1f600}\"\\\\\n]{0,8}".prop_map(|text| serde_json::json!({ "text": text }).to_string()),
    ];
    let inputs = prop::collection::vec(input, 0..4);
    (".{1,12}x", any::<bool>(), prop::option::of("[a-z \n\u{2028}]{0,9}y"), inputs, any::<bool>())
        .prop_flat_map(|(prompt, thinks, text, inputs, steer)| {
            let order = Just((0..inputs.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just((prompt, thinks, text, inputs, steer)), order)
        })
        .prop_map(|((prompt, thinks, text, inputs, steer), order)| Turn { prompt, thinks, text, inputs, order, steer })
}

/// Writes sessions as the loop does. Ids look random; call ids repeat if `repeats` is set.
pub(crate) struct Writer {
    pub(crate) entries: Vec<Entry>,
    last: Option<EntryId>,
    count: u64,
    /// `true` if every message numbers its call ids from the beginning again.
    pub(crate) repeats: bool,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), last: None, count: 0, repeats: false }
    }

    /// Continues after an entry, with ids that begin at `count`.
    pub(crate) fn after(last: EntryId, count: u64) -> Self {
        Self { entries: Vec::new(), last: Some(last), count, repeats: false }
    }

    fn id(&mut self) -> EntryId {
        self.count += 1;
        // An odd multiplier spreads the counter over all digits.
        EntryId::from_bits(u128::from(self.count).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    }

    fn push(&mut self, id: EntryId, parent: Option<EntryId>, kind: EntryKind) {
        let time = Timestamp::from_millis(1_780_000_000_000 + self.entries.len() as u64);
        self.entries.push(Entry::new(id, parent, time, kind));
    }

    pub(crate) fn user(&mut self, text: &str) {
        let (id, parent) = (self.id(), self.last.clone());
        self.push(id.clone(), parent, EntryKind::User(UserEntry::new(vec![ContentBlock::text(text)])));
        self.last = Some(id);
    }

    /// Writes a message of the model. Returns the lines of its calls.
    pub(crate) fn assistant(&mut self, content: Vec<ContentBlock>) -> Vec<EntryId> {
        let ids: Vec<EntryId> = content.iter().map(|_| self.id()).collect();
        let last = ids.last().cloned().unwrap();
        let message = format!("msg_{}", self.count);
        let calls = content.iter().zip(&ids).filter(|(block, _)| block.as_tool_use().is_some());
        let calls = calls.map(|(_, id)| id.clone()).collect();
        let stop = Some(StopReason::EndTurn);
        let usage = Usage::new(self.count, 2);
        let entry = AssistantEntry::new(message.into(), "m".into(), content, ids, stop, usage);
        let parent = self.last.clone();
        self.push(last.clone(), parent, EntryKind::Assistant(entry));
        self.last = Some(last);
        calls
    }

    pub(crate) fn intent(&mut self, call: &str, line: &EntryId) {
        let id = self.id();
        let digest = CallDigest::new("d1");
        self.push(id, None, EntryKind::Intent { tool_use_id: call.into(), assistant: line.clone(), digest });
    }

    pub(crate) fn result(&mut self, call: &str, line: &EntryId, text: &str) {
        let id = self.id();
        let result = ToolResultEntry::new(ToolResult::ok(call, text), line.clone());
        self.push(id.clone(), Some(line.clone()), EntryKind::ToolResult(result));
        self.last = Some(id);
    }

    pub(crate) fn turn(&mut self, turn: &Turn) {
        self.user(&turn.prompt);
        let number = if self.repeats { 0 } else { self.count };
        let name = |at: usize| format!("c{number}.{at}");
        let mut content = Vec::new();
        if turn.thinks {
            content.push(ContentBlock::Thinking { thinking: "t\u{e9}".to_owned(), signature: "c2ln".to_owned() });
        }
        content.extend(turn.text.as_ref().map(ContentBlock::text));
        for (at, input) in turn.inputs.iter().enumerate() {
            let input = JsonText::parse(input.as_str()).unwrap();
            content.push(ContentBlock::ToolUse(ToolUse::new(name(at), "Read", input)));
        }
        if content.iter().all(ContentBlock::is_thinking) {
            content.push(ContentBlock::text("fin"));
        }
        let lines = self.assistant(content);
        for (done, at) in turn.order.iter().enumerate() {
            self.intent(&name(*at), &lines[*at]);
            self.result(&name(*at), &lines[*at], &format!("r{at}"));
            if turn.steer && done == 0 {
                self.user("steer");
            }
        }
        if !turn.inputs.is_empty() {
            self.assistant(vec![ContentBlock::text("and on")]);
        }
    }
}

pub(crate) fn session() -> impl Strategy<Value = Vec<Entry>> {
    written(false)
}

/// Generates a session in which every message uses the same ids for its calls.
pub(crate) fn repeating_session() -> impl Strategy<Value = Vec<Entry>> {
    written(true)
}

fn written(repeats: bool) -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(turn(), 1..5).prop_map(move |turns| {
        let mut writer = Writer { repeats, ..Writer::new() };
        for turn in &turns {
            writer.turn(turn);
        }
        writer.entries
    })
}

pub(crate) fn log_of(entries: &[Entry]) -> Vec<u8> {
    let mut encoder = LogEncoder::new(SessionId::from_bits(7), LogHeader::new("/w", "1", "test"));
    let mut log = Vec::new();
    for chunk in entries.chunks(4) {
        for entry in chunk {
            encoder.entry(entry, &mut log);
        }
        encoder.checksum(&mut log);
    }
    log
}
