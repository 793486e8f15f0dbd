//! A person's inputs and all that they are shown.

use crate::world::{Counts, calls, conversation, rest, says, script, text, until};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use windlass_conversation::{
    ConversationOptions, Input, LiveConversation, Message, MessageState, SessionState, Update,
};
use windlass_runtime::SystemIds;
use windlass_types::{Outcome, PermissionAnswer};

fn say(conversation: &mut LiveConversation, text: &str) {
    conversation.handle(Input::Message(Box::new(Message::text(text).with_id(text))));
}

fn is_idle(update: &Update) -> bool {
    matches!(update, Update::State(SessionState::Idle))
}

fn question(updates: &[Update]) -> String {
    let id = updates.iter().find_map(|update| match update {
        Update::Question(id) => Some(id.clone()),
        _ => None,
    });
    id.expect("a question was shown")
}

#[tokio::test(start_paused = true)]
async fn prompts_are_answered_in_order_and_the_end_waits_for_them() {
    let counts = Counts::default();
    let mut conversation = conversation(script([says("one"), says("two")]), &counts);
    say(&mut conversation, "a");
    say(&mut conversation, "b");
    conversation.handle(Input::End);
    let updates = rest(&mut conversation).await;
    assert_eq!(text(&updates), "onetwo");
    let completed = updates.iter().filter_map(|update| match update {
        Update::Message(id, MessageState::Completed) => Some(id.as_str()),
        _ => None,
    });
    assert_eq!(completed.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(counts.opened.load(Ordering::SeqCst), 1);
    assert!(conversation.next().await.is_none(), "the end stays the end");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_once_and_its_call_runs() {
    let counts = Counts::default();
    let mut conversation = conversation(script([calls("act"), says("done")]), &counts);
    say(&mut conversation, "a");
    let updates = until(&mut conversation, |update| matches!(update, Update::Question(_))).await;
    let id = question(&updates);
    assert_eq!(conversation.question(&id).map(|request| request.tool.as_str()), Some("act"));
    assert!(!conversation.answer("other", PermissionAnswer::allow()));
    assert!(conversation.answer(&id, PermissionAnswer::allow()));
    assert!(!conversation.answer(&id, PermissionAnswer::allow()), "one question has one answer");
    let updates = until(&mut conversation, is_idle).await;
    assert_eq!(text(&updates), "done");
    assert_eq!(counts.acted.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_with_its_run() {
    let counts = Counts::default();
    let mut conversation = conversation(script([calls("act")]), &counts);
    say(&mut conversation, "a");
    let id = question(&until(&mut conversation, |update| matches!(update, Update::Question(_))).await);
    conversation
        .handle(Input::Request("i".to_owned(), windlass_conversation::Request::Interrupt { cancels_queued: false }));
    let updates = until(&mut conversation, is_idle).await;
    let withdrawn = |update: &Update| matches!(update, Update::QuestionWithdrawn(gone) if *gone == id);
    assert!(updates.iter().any(withdrawn), "{updates:?}");
    assert!(conversation.question(&id).is_none());
    assert!(!conversation.answer(&id, PermissionAnswer::allow()));
    assert_eq!(counts.acted.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn clear_continues_in_another_session() {
    let counts = Counts::default();
    let mut conversation = conversation(script([says("one"), says("two")]), &counts);
    for prompt in ["a", "/clear", "b"] {
        say(&mut conversation, prompt);
    }
    conversation.handle(Input::End);
    let updates = rest(&mut conversation).await;
    assert_eq!(text(&updates), "onetwo");
    assert_eq!(conversation.session().map(|session| session.session_id().to_string()).as_deref(), Some("s2"));
}

#[tokio::test(start_paused = true)]
async fn closing_stops_a_call_that_does_not_listen() {
    let counts = Counts::default();
    let mut conversation = conversation(script([calls("hang")]), &counts);
    say(&mut conversation, "a");
    let id = question(&until(&mut conversation, |update| matches!(update, Update::Question(_))).await);
    assert!(conversation.answer(&id, PermissionAnswer::allow()));
    until(&mut conversation, |update| {
        matches!(update, Update::Event(event) if matches!(event.kind, windlass_types::EventKind::ToolStarted(_)))
    })
    .await;
    let began = tokio::time::Instant::now();
    conversation.handle(Input::Close);
    let updates = rest(&mut conversation).await;
    assert!(began.elapsed() <= Duration::from_secs(4));
    let outcome = updates.iter().find_map(|update| match update {
        Update::Event(event) => match &event.kind {
            windlass_types::EventKind::RunFinished(result) => Some(result.outcome.clone()),
            _ => None,
        },
        _ => None,
    });
    assert!(matches!(outcome, Some(Outcome::Interrupted { .. })), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_opened_ends_the_conversation_with_the_reason() {
    let mut conversation =
        LiveConversation::new(ConversationOptions::default(), Arc::new(SystemIds::default()), |_, _| async {
            Err("no key is set".into())
        });
    say(&mut conversation, "a");
    let updates = rest(&mut conversation).await;
    let refused = |update: &Update| matches!(update, Update::Refused(reason) if reason.contains("no key is set"));
    assert!(updates.iter().any(refused), "{updates:?}");
    assert_eq!(conversation.take_open_failure().map(|failure| failure.to_string()).as_deref(), Some("no key is set"));
}
