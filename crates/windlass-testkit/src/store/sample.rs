//! Data for the rules.

use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_session::{LogHeader, ProjectKey, SessionKey, token_hash};
use windlass_types::{
    AgentIdentity, Api, AssistantEntry, AuditedDecision, Behavior, CallDigest, ContentBlock, Decision, DecisionReason,
    Entry, EntryId, EntryKind, JsonText, MatchedRule, ModelFact, ModelUsage, NanoUsd, Origin, PendingQuestion,
    PermissionMode, PermissionRequest, QuestionId, QuestionToken, QueuedPrompt, Quotation, RuleSource, RunId,
    RunRecord, SessionId, SpentRecord, StopReason, Timestamp, ToolResult, ToolResultEntry, ToolUse, TrimRecord,
    TrimmedResult, Usage, UserEntry, WaitingCall,
};

/// Returns the key of a session of a project, by name and number.
pub fn key(project: &str, number: u32) -> SessionKey {
    SessionKey::new(ProjectKey::from_slug(format!("-kit-{project}")), SessionId::from_bits(u128::from(number)))
}

/// Returns the header of the kit's sessions.
pub fn header() -> LogHeader {
    LogHeader::new("/kit", "0.0.0", "kit").with_git_branch(Some("main".to_owned()))
}

/// Returns a run with every kind of entry: a prompt, reasoning, parallel calls with odd input texts, results in order
/// of completion, and all records beside them.
pub fn entries() -> Vec<Entry> {
    let id = |number: u128| EntryId::from_bits(number);
    let mut entries = Vec::new();
    let mut add = |number: u128, parent: Option<u128>, kind: EntryKind| {
        let time = Timestamp::from_millis(1_780_000_000_000 + entries.len() as u64);
        entries.push(Entry::new(id(number), parent.map(id), time, kind));
    };
    let mut user = UserEntry::new(vec![ContentBlock::text("Fix it.\n\u{1f600} \"now\"\u{2028}")]);
    user.run = Some(RunId::from("run-1"));
    user.permission_mode = Some(PermissionMode::AcceptEdits);
    add(1, None, EntryKind::User(user));
    add(2, None, EntryKind::Mode(PermissionMode::Plan));
    add(3, None, EntryKind::Model("model-x".to_owned()));
    add(4, None, EntryKind::Cwd("/kit/sub dir".to_owned()));
    add(12, Some(1), assistant(vec![id(10), id(11), id(12)]));
    let digest = CallDigest::new("abc123");
    let rule = MatchedRule::new("Bash(ls:*)", Behavior::Allow, RuleSource::ProjectSettings);
    let decision = Decision::new(Behavior::Allow, DecisionReason::Rule, "a rule allows it").with_rule(rule);
    add(20, None, EntryKind::Decision(AuditedDecision::new("toolu_2".into(), Some(digest.clone()), decision)));
    add(33, None, EntryKind::Question(question("toolu_2", id(12), digest.clone())));
    add(21, None, EntryKind::Intent { tool_use_id: "toolu_2".into(), assistant: id(12), digest });
    let agent = AgentIdentity::new("a1".into(), "gen\u{e9}ral");
    add(34, None, EntryKind::AgentWaits(WaitingCall::new("toolu_2".into(), id(12), agent)));
    add(22, Some(12), result(ToolResult::error("toolu_2", "no such file"), id(12), None));
    let blocks = vec![ContentBlock::text("one"), ContentBlock::text("two")];
    let structured = JsonText::parse("{\"n\": 1.0,\n \"m\":[ ]}").ok();
    add(23, Some(11), result(ToolResult::ok("toolu_1", blocks), id(11), structured));
    let todos = "[{\"content\":\"x\",\n\"status\":\"pending\"}]";
    add(26, None, EntryKind::ReplayDropped);
    add(36, None, EntryKind::ModelLearned(ModelFact::window("model \u{e9}", 12_288)));
    add(37, None, EntryKind::ModelLearned(ModelFact::without_images("model-x")));
    add(27, None, EntryKind::ToolsAdded(vec!["mcp__a__b".to_owned(), "é".to_owned()]));
    add(28, None, EntryKind::ToolsWithheld(vec!["mcp__a__c".to_owned()]));
    let trimmed = TrimmedResult::new("toolu_2".into(), "a note\n\"é\"");
    add(29, None, EntryKind::ResultsTrimmed(TrimRecord::new(vec![trimmed], 9_000, 8_000)));
    add(24, None, EntryKind::Todos(JsonText::parse(todos).unwrap_or_else(|_| JsonText::empty_object())));
    let mut reminder = UserEntry::new(vec![ContentBlock::text("a"), ContentBlock::text("b")]);
    reminder.is_meta = true;
    add(25, Some(23), EntryKind::User(reminder));
    let text = vec![ContentBlock::text("Done.")];
    let usage = Usage::new(7, 8);
    let done = AssistantEntry::new("msg_2".into(), "m".into(), text, vec![id(30)], Some(StopReason::EndTurn), usage);
    add(30, Some(25), EntryKind::Assistant(done));
    let mut spent = ModelUsage::default();
    spent.add(usage, Some(NanoUsd::new(1_234_567)));
    let spent = BTreeMap::from([("m".to_owned(), spent)]);
    let held = BTreeMap::from([("m".to_owned(), NanoUsd::new(5))]);
    add(35, None, EntryKind::Spent(SpentRecord::new(NanoUsd::new(1_234_567), spent.clone(), held)));
    add(38, None, EntryKind::RunResumed { run: RunId::from("run-1"), of: RunId::from("run-0"), turns: 1 });
    let mut queued = QueuedPrompt::new(id(90), vec![ContentBlock::text("and\n\u{e9}")]);
    queued.quoted.push(Quotation::new("a mail", "words\n\u{2028}"));
    add(39, None, EntryKind::PromptQueued(queued));
    add(40, None, EntryKind::PromptUnqueued(id(90)));
    let record = RunRecord::new(RunId::from("run-1"), "success", 2, NanoUsd::new(1_234_567), spent);
    add(31, None, EntryKind::RunFinished(record));
    entries
}

fn assistant(block_ids: Vec<EntryId>) -> EntryKind {
    let call = |id: &str, input: &str| {
        let input = JsonText::parse(input).unwrap_or_else(|_| JsonText::empty_object());
        let mut call = ToolUse::new(id, "Read", input);
        call.replay = JsonText::parse(format!("{{\n \"id\": \"fc_{id}\",  \"n\":1.0}}")).ok();
        ContentBlock::ToolUse(call)
    };
    let content = vec![
        ContentBlock::Thinking { thinking: "hm \u{e9}".to_owned(), signature: "c2ln".to_owned() },
        call("toolu_1", r#"{"b":1.50, "a":"\u00e9\/","n":123456789012345678901234567890}"#),
        call("toolu_2", "{\n  \"path\": \"x\\ny\"\n}"),
    ];
    let mut usage = Usage::new(100, 20);
    usage.cache_creation_input_tokens = 30;
    usage.cache_creation_1h_input_tokens = 10;
    usage.cache_read_input_tokens = 5;
    usage.web_search_requests = 1;
    let mut message =
        AssistantEntry::new("msg_1".into(), "m".into(), content, block_ids, Some(StopReason::ToolUse), usage);
    message.origin = Some(Arc::new(Origin::new(Api::new("kit", Api::RESPONSES), "m", "m-2026")));
    EntryKind::Assistant(message)
}

fn result(result: ToolResult, assistant: EntryId, structured: Option<JsonText>) -> EntryKind {
    let mut entry = ToolResultEntry::new(result, assistant);
    entry.structured = structured;
    EntryKind::ToolResult(entry)
}

/// Returns a pending permission request for a call of the message in these lines.
pub(super) fn question(call: &str, line: EntryId, digest: CallDigest) -> PendingQuestion {
    let call = ToolUse::new(call, "Bash", JsonText::empty_object());
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "may it?");
    let mut request = PermissionRequest::new(call, "rm -r \u{1f600}".to_owned(), decision, digest);
    request.id = QuestionId::from_bits(7);
    let token = token_hash(&QuestionToken::new(TOKEN));
    PendingQuestion::new(&request, line, "/kit/sub dir".to_owned(), token)
}

/// The token of the permission request.
pub(super) const TOKEN: &str = "the token of the kit";
