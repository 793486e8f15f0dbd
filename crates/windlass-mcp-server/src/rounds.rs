//! Questions of one call to a client that cannot be asked while the call runs: from the revision 2026-07-28 on its
//! request is answered with the questions, and the client sends the request again with the answers.

use crate::{ClientAnswer, Question};
use rmcp::model::{InputRequests, InputResponses};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Questions of a call, and their answers.
#[derive(Default)]
pub(crate) struct QuestionRounds {
    state: Mutex<RoundState>,
    /// Notified when a question has been asked.
    bell: Notify,
}

#[derive(Default)]
struct RoundState {
    /// Answers to questions that were not asked yet.
    given: InputResponses,
    open: BTreeMap<String, (Question, oneshot::Sender<ClientAnswer>)>,
}

impl QuestionRounds {
    fn lock(&self) -> MutexGuard<'_, RoundState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the answers of a request. A wrong answer leaves its question open.
    pub(crate) fn give(&self, responses: InputResponses) {
        let mut state = self.lock();
        for (name, response) in responses {
            match state.open.remove(&name) {
                Some((question, waits)) => match question.answer(&response) {
                    // The call may have ended meanwhile.
                    Some(answer) => drop(waits.send(answer)),
                    None => drop(state.open.insert(name, (question, waits))),
                },
                None => drop(state.given.insert(name, response)),
            }
        }
    }

    /// Asks all questions at once, and waits for the answers, in the same order. Of two with one name the first is
    /// asked.
    pub(crate) async fn ask(&self, questions: Vec<Question>) -> Vec<ClientAnswer> {
        let waits: Vec<_> = {
            let mut state = self.lock();
            questions.into_iter().map(|question| state.begin(question)).collect()
        };
        self.bell.notify_one();
        let mut answers = Vec::with_capacity(waits.len());
        for answer in waits {
            answers.push(answer.await.unwrap_or(ClientAnswer::Unsupported));
        }
        answers
    }

    /// Waits until a question is open, and returns the open ones.
    pub(crate) async fn asked(&self) -> InputRequests {
        loop {
            let open = self.requests();
            if !open.is_empty() {
                return open;
            }
            self.bell.notified().await;
        }
    }

    /// Returns the open questions.
    pub(crate) fn requests(&self) -> InputRequests {
        let mut state = self.lock();
        // The answer is not awaited any more, for example because a call was stopped.
        state.open.retain(|_, (_, waits)| !waits.is_closed());
        let open = state.open.iter();
        open.filter_map(|(name, (question, _))| Some((name.clone(), question.request(name)?))).collect()
    }
}

impl RoundState {
    fn begin(&mut self, question: Question) -> oneshot::Receiver<ClientAnswer> {
        let (sender, answer) = oneshot::channel();
        let name = question.name().to_owned();
        let given = self.given.remove(&name).and_then(|given| question.answer(&given));
        match given {
            Some(given) => drop(sender.send(given)),
            None if question.request(&name).is_none() || self.open.contains_key(&name) => {
                drop(sender.send(ClientAnswer::Unsupported));
            }
            None => drop(self.open.insert(name, (question, sender))),
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use windlass::JsonText;

    fn form(name: &str) -> Question {
        Question::form("Who?", JsonText::parse(r#"{"type":"object","properties":{}}"#).unwrap()).named(name)
    }

    fn responses(value: Value) -> InputResponses {
        serde_json::from_value(value).unwrap()
    }

    #[tokio::test]
    async fn what_was_answered_before_it_was_asked_is_not_asked() {
        let rounds = QuestionRounds::default();
        rounds.give(responses(json!({"a": {"action": "accept", "content": {"x": 1}}, "other": 5})));
        let answers = rounds.ask(vec![form("a")]).await;
        assert_eq!(answers, [ClientAnswer::Accepted(JsonText::parse(r#"{"x":1}"#).unwrap())]);
    }

    #[tokio::test]
    async fn questions_stay_open_until_each_has_an_answer_of_its_kind() {
        let rounds = QuestionRounds::default();
        let mut asking = Box::pin(rounds.ask(vec![form("a"), Question::roots(), form("a")]));
        let open = tokio::select! { _ = &mut asking => panic!("nothing was answered"), open = rounds.asked() => open };
        assert_eq!(open.keys().collect::<Vec<_>>(), ["a", "roots"]);
        rounds.give(responses(json!({"a": 5, "roots": {"roots": []}})));
        let open = tokio::select! { _ = &mut asking => panic!("one is open"), open = rounds.asked() => open };
        assert_eq!(open.keys().collect::<Vec<_>>(), ["a"]);
        rounds.give(responses(json!({"a": {"action": "decline"}})));
        let roots = ClientAnswer::Accepted(JsonText::parse(r#"{"roots":[]}"#).unwrap());
        assert_eq!(asking.await, [ClientAnswer::Declined, roots, ClientAnswer::Unsupported]);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_asked() {
        let rounds = QuestionRounds::default();
        {
            let mut asking = Box::pin(rounds.ask(vec![form("a")]));
            tokio::select! { _ = &mut asking => panic!("nothing was answered"), _ = rounds.asked() => {} }
        }
        assert!(rounds.requests().is_empty());
    }
}
