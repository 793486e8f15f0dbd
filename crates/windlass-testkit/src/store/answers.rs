//! Answers to pending permission requests.

use super::sample::{TOKEN, question};
use super::{OrBroken, fill, key, open, refused, same};
use crate::Violation;
use crate::violation::ensure;
use windlass_session::{SessionKey, SessionStore, StoreErrorKind, StoredAnswer};
use windlass_types::{CallDigest, EntryId, PendingQuestion, QuestionId, QuestionToken, Timestamp};

/// Checks that an answer to a permission request is kept once, unchanged, and taken once, and that a second answer is
/// refused, also when the first one was taken. Answers belong to their session, and are deleted with it. A store
/// without answers keeps this rule.
///
/// # Errors
/// The rule is broken.
pub async fn an_answer_is_given_once_and_taken_once(store: &dyn SessionStore) -> Result<(), Violation> {
    let Some(answers) = store.answers() else { return Ok(()) };
    let (one, two) = (key("answers", 1), key("answers", 2));
    for key in [&one, &two] {
        fill(store, key, 0..1).await?;
    }
    let asked = question("toolu_1", EntryId::from_bits(1), CallDigest::new("abc123"));
    let (token, at) = (QuestionToken::new(TOKEN), Timestamp::from_millis(1_780_000_000_000));
    let answer = StoredAnswer::new(&one, &asked, token, false, at)
        .with_message(Some("Not now: \u{1f600}\n\"later\"".to_owned()));
    same("an answer before it was given", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &None)?;
    // An answer can also be given while the session is in use.
    let lease = open(store, &one).await?;
    answers.give(&one, &answer).await.or_broken("give")?;
    same("an answer", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &Some(answer.clone()))?;
    let mut other = answer.clone();
    other.allow = true;
    refused(answers.give(&one, &other).await, StoreErrorKind::Exists, "a second answer is refused")?;
    same("an answer in another session", &answers.answer_to(&two, &asked.id).await.or_broken("find")?, &None)?;
    ensure(answers.take(&one, &asked.id).await.or_broken("take")?, || "the first one to take it has it".to_owned())?;
    ensure(!answers.take(&one, &asked.id).await.or_broken("take")?, || "it was taken twice".to_owned())?;
    refused(answers.give(&one, &other).await, StoreErrorKind::Exists, "an answer that was taken stays the first")?;
    same("an answer that was taken", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &Some(answer))?;
    of_agents_apart(store, &two, (&asked, at)).await?;
    let unknown = QuestionId::from_bits(8);
    same("an answer to another question", &answers.answer_to(&one, &unknown).await.or_broken("find")?, &None)?;
    store.close(lease).await.or_broken("close")?;
    store.delete(&one).await.or_broken("delete")?;
    fill(store, &one, 0..1).await?;
    same("an answer of a deleted session", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &None)
}

/// Checks that an answer to a permission request of an agent is found with the key of that agent, counts for no other,
/// and is deleted with the session.
async fn of_agents_apart(
    store: &dyn SessionStore,
    session: &SessionKey,
    (asked, at): (&PendingQuestion, Timestamp),
) -> Result<(), Violation> {
    let Some(answers) = store.answers() else { return Ok(()) };
    let (one, other) = (session.of_agent("a1".into()), session.of_agent("a2".into()));
    for agent in [&one, &other] {
        fill(store, agent, 0..1).await?;
    }
    let answer = StoredAnswer::new(&one, asked, QuestionToken::new(TOKEN), true, at);
    answers.give(&one, &answer).await.or_broken("give to an agent")?;
    same("an answer to an agent", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &Some(answer))?;
    for apart in [session, &other] {
        let found = answers.answer_to(apart, &asked.id).await.or_broken("find")?;
        let counts = found.is_some_and(|found| found.check(apart, asked).is_ok());
        ensure(!counts, || "an answer counts for another agent".to_owned())?;
    }
    ensure(answers.take(&one, &asked.id).await.or_broken("take")?, || "an agent has not got its answer".to_owned())?;
    let listed = store.agents(session).await.or_broken("agents")?;
    ensure(listed.len() == 2, || "answers of agents are taken for agents".to_owned())?;
    store.delete(session).await.or_broken("delete")?;
    fill(store, session, 0..1).await?;
    fill(store, &one, 0..1).await?;
    same("an answer of a deleted agent", &answers.answer_to(&one, &asked.id).await.or_broken("find")?, &None)
}
