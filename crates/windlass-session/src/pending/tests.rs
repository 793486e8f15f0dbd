use super::*;
use crate::{ProjectKey, SessionKey, Transcript, repair, repair_but_pending};
use windlass_types::{
    AgentIdentity, AssistantEntry, Behavior, CallDigest, ContentBlock, Decision, DecisionReason, JsonText,
    PermissionRequest, QuestionToken, Timestamp, TokenHash, ToolResult, ToolResultEntry, ToolUse, Usage, UserEntry,
    WaitingCall,
};

fn at(number: u128, parent: Option<u128>, kind: EntryKind) -> Entry {
    Entry::new(EntryId::from_bits(number), parent.map(EntryId::from_bits), Timestamp::from_millis(number as u64), kind)
}

fn user(number: u128) -> Entry {
    at(number, None, EntryKind::User(UserEntry::new(vec![ContentBlock::text("u")])))
}

/// Returns a message whose calls are in the lines after its number.
fn message(number: u128, calls: &[&str]) -> Entry {
    let call = |id: &&str| ContentBlock::ToolUse(ToolUse::new(*id, "Bash", JsonText::empty_object()));
    let lines: Vec<EntryId> = (1..=calls.len() as u128).map(|at| EntryId::from_bits(number + at)).collect();
    let last = lines.last().unwrap().clone();
    let content = calls.iter().map(call).collect();
    let entry = AssistantEntry::new("m".into(), "m".into(), content, lines, None, Usage::default());
    Entry::new(last, None, Timestamp::default(), EntryKind::Assistant(entry))
}

fn about(call: &str, line: u128, id: &str) -> PendingQuestion {
    let call = ToolUse::new(call, "Bash", JsonText::empty_object());
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "?");
    let mut request = PermissionRequest::new(call, "rm -r build".into(), decision, CallDigest::new("d"));
    request.id = id.into();
    let token = token_hash(&QuestionToken::new(format!("token of {id}")));
    PendingQuestion::new(&request, EntryId::from_bits(line), "/w".into(), token)
}

fn question(number: u128, call: &str, line: u128, id: &str) -> Entry {
    at(number, None, EntryKind::Question(about(call, line, id)))
}

fn result(number: u128, call: &str, line: u128) -> Entry {
    let entry = ToolResultEntry::new(ToolResult::ok(call, "ok"), EntryId::from_bits(line));
    at(number, Some(line), EntryKind::ToolResult(entry))
}

fn intent(number: u128, call: &str, line: u128) -> Entry {
    let (assistant, digest) = (EntryId::from_bits(line), CallDigest::new("d"));
    at(number, None, EntryKind::Intent { tool_use_id: call.into(), assistant, digest })
}

fn open(entries: &[Entry]) -> Vec<String> {
    PendingQuestions::of(entries).iter().map(|question| question.id.to_string()).collect()
}

fn open_calls(entries: Vec<Entry>) -> Vec<String> {
    let (entries, _) = repair_but_pending(entries);
    Transcript::from_entries(&entries).open_calls().map(|call| call.id.to_string()).collect()
}

#[test]
fn a_call_stays_open_while_its_question_is() {
    let asked = vec![user(1), message(10, &["a", "b"]), question(20, "a", 11, "q")];
    assert_eq!(open(&asked), ["q"]);
    assert_eq!(open_calls(asked.clone()), ["a"], "the other call never ran, and is answered");
    let (repaired, report) = repair_but_pending(asked.clone());
    assert_eq!(report.synthetic.len(), 1);
    assert_eq!(repair_but_pending(repaired.clone()).0, repaired, "repairing twice is repairing once");
    let (settled, report) = repair(asked);
    assert_eq!(report.synthetic.len(), 2, "who does not continue the session sees no open call");
    assert!(!Transcript::from_entries(&settled).has_open_calls());
}

#[test]
fn what_has_a_result_or_has_begun_has_no_open_question() {
    let asked = || vec![user(1), message(10, &["a"]), question(20, "a", 11, "q")];
    for (what, last) in [("a result", result(30, "a", 11)), ("an intent", intent(30, "a", 11))] {
        let mut entries = asked();
        entries.push(last);
        assert!(open(&entries).is_empty(), "{what}");
        assert!(open_calls(entries.clone()).is_empty(), "{what}");
        // A question that comes later in the log does not open the call again.
        entries.push(question(40, "a", 11, "again"));
        assert!(open(&entries).is_empty(), "{what}");
        assert!(open_calls(entries).is_empty(), "{what}");
    }
}

#[test]
fn only_the_last_message_can_have_open_questions() {
    let entries = vec![user(1), message(10, &["a"]), question(20, "a", 11, "q"), message(30, &["b"])];
    assert!(open(&entries).is_empty());
    assert!(open_calls(entries).is_empty());
    // Questions about a line outside the last message, or with another call.
    for stray in [question(20, "a", 99, "q"), question(20, "b", 11, "q")] {
        assert!(open_calls(vec![user(1), message(10, &["a"]), stray]).is_empty());
    }
}

#[test]
fn the_last_question_about_a_call_counts() {
    let entries = [user(1), message(10, &["a"]), question(20, "a", 11, "q"), question(21, "a", 11, "r")];
    assert_eq!(open(&entries), ["r"]);
}

#[test]
fn an_answer_counts_for_its_question_alone() {
    let key = |session: &str| SessionKey::new(ProjectKey::from_slug("-p"), session.into());
    let (session, token) = (key("s"), QuestionToken::new("token of q"));
    let asked = about("a", 11, "q");
    let answer = |session: &str, asked: &PendingQuestion, token: &QuestionToken| {
        StoredAnswer::new(&key(session), asked, token.clone(), true, Timestamp::default())
    };
    let agent = session.of_agent("a1".into());
    assert_eq!(answer("s", &asked, &token).check(&agent, &asked), Err(AnswerRefusal::OtherAgent));
    let of_agent = StoredAnswer::new(&agent, &asked, token.clone(), true, Timestamp::default());
    assert_eq!(of_agent.check(&agent, &asked), Ok(()));
    assert_eq!(of_agent.check(&session, &asked), Err(AnswerRefusal::OtherAgent));
    assert_eq!(of_agent.check(&session.of_agent("a2".into()), &asked), Err(AnswerRefusal::OtherAgent));
    assert_eq!(answer("s", &asked, &token).check(&session, &asked), Ok(()));
    assert_eq!(answer("t", &asked, &token).check(&session, &asked), Err(AnswerRefusal::OtherSession));
    assert_eq!(answer("s", &about("a", 11, "r"), &token).check(&session, &asked), Err(AnswerRefusal::OtherQuestion));
    let mut other = asked.clone();
    other.digest = CallDigest::new("e");
    assert_eq!(answer("s", &other, &token).check(&session, &asked), Err(AnswerRefusal::OtherCall));
    for wrong in ["token of r", "", asked.token.as_str()] {
        let refused = answer("s", &asked, &QuestionToken::new(wrong)).check(&session, &asked);
        assert_eq!(refused, Err(AnswerRefusal::WrongToken), "{wrong}");
    }
    // A log with an invalid hash accepts no token.
    let mut odd = asked.clone();
    for hash in ["", "zz", "00"] {
        odd.token = TokenHash::new(hash);
        assert_eq!(answer("s", &odd, &token).check(&session, &odd), Err(AnswerRefusal::WrongToken), "{hash}");
    }
}

fn waits(number: u128, call: &str, line: u128) -> Entry {
    let agent = AgentIdentity::new("a1".into(), "scout");
    at(number, None, EntryKind::AgentWaits(WaitingCall::new(call.into(), EntryId::from_bits(line), agent)))
}

fn waiting(entries: &[Entry]) -> Vec<String> {
    PendingQuestions::of(entries).waiting_calls().map(|waiting| waiting.tool_use_id.to_string()).collect()
}

#[test]
fn a_call_waits_for_its_agent_until_it_begins_again_or_ends() {
    let begun = vec![user(1), message(10, &["a", "b"]), intent(20, "a", 11)];
    let left = [begun.clone(), vec![waits(21, "a", 11)]].concat();
    assert_eq!((waiting(&left), open_calls(left.clone())), (vec!["a".to_owned()], vec!["a".to_owned()]));
    assert!(!PendingQuestions::of(&left).is_empty());
    let repaired = repair_but_pending(left.clone()).0;
    assert_eq!(repair_but_pending(repaired.clone()).0, repaired, "the repair does not last");
    // A question about the call itself may be open as well.
    let asked = [left.clone(), vec![question(30, "a", 11, "q")]].concat();
    assert_eq!((waiting(&asked).len(), open(&asked).len(), open_calls(asked.clone()).len()), (1, 1, 1));
    for end in [result(31, "a", 11), message(40, &["c"])] {
        let ended = [asked.clone(), vec![end]].concat();
        assert!(PendingQuestions::of(&ended).is_empty());
        assert!(!open_calls(ended).contains(&"a".to_owned()));
    }
    // The call begins once more, and the log of its agent decides whether that still waits.
    let again = [asked, vec![intent(31, "a", 11)]].concat();
    assert_eq!((waiting(&again).len(), open(&again).len(), open_calls(again.clone()).len()), (1, 0, 1));
    let again = [again, vec![waits(32, "a", 11)]].concat();
    assert_eq!((waiting(&again).len(), open_calls(again).len()), (1, 1));
}

#[test]
fn a_call_that_has_not_begun_or_has_ended_does_not_wait_for_an_agent() {
    let beginning = vec![user(1), message(10, &["a"])];
    for behind in [
        vec![waits(21, "a", 11)],
        vec![intent(20, "a", 11), waits(21, "a", 99)],
        vec![intent(20, "a", 11), waits(21, "b", 11)],
        vec![intent(20, "a", 11), result(21, "a", 11), waits(22, "a", 11)],
    ] {
        let entries = [beginning.clone(), behind].concat();
        assert!(waiting(&entries).is_empty() && open_calls(entries.clone()).is_empty(), "{entries:?}");
    }
}

#[test]
fn tokens_differ_by_secret_and_question_and_are_not_shown() {
    let (one, other) = (TokenSecret::new(1, 2), TokenSecret::new(2, 1));
    let token = one.token(&"q".into());
    assert_eq!(token.reveal().len(), 40);
    assert_eq!(token, one.token(&"q".into()));
    assert_ne!(token, one.token(&"r".into()));
    assert_ne!(token, other.token(&"q".into()));
    assert!(is_token_of(&token, &token_hash(&token)));
    let shown = format!("{token:?} {one:?}");
    assert!(!shown.contains(token.reveal()), "{shown}");
}
