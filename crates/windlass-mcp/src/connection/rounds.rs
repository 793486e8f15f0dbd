//! Requests that a server answers in rounds: it requests input first, and receives the request again with the answers.

use super::Connection;
use crate::McpError;
use crate::text::{LONGEST_ERROR, clipped};
use rmcp::model::{InputRequiredResult, InputResponses};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// Pause before a request is sent again whose server requested no input: doubled after each further such round.
const PAUSE: Duration = Duration::from_millis(50);

/// Progress of the rounds of one request.
#[derive(Debug, Default)]
pub(super) struct InputRounds {
    count: u32,
    without_input: u32,
}

/// Input that is sent with the next round of a request.
#[derive(Debug)]
pub(super) struct RoundInput {
    pub(super) responses: Option<InputResponses>,
    /// Opaque state that the server wants back unchanged.
    pub(super) state: Option<String>,
}

impl RoundInput {
    /// Puts the input into the parameters of a request, in place of that of an earlier round.
    pub(super) fn add_to(self, params: &mut Value) {
        let Value::Object(params) = params else { return };
        let parts =
            [("inputResponses", self.responses.map(|all| json!(all))), ("requestState", self.state.map(Value::from))];
        for (name, value) in parts {
            match value {
                Some(value) => drop(params.insert(name.to_owned(), value)),
                None => drop(params.remove(name)),
            }
        }
    }
}

impl Connection {
    /// Collects the input for the next round. Dropping the future withdraws the open elicitations.
    pub(super) async fn input(
        &self,
        wanted: InputRequiredResult,
        rounds: &mut InputRounds,
    ) -> Result<RoundInput, McpError> {
        rounds.count += 1;
        let requests = wanted.input_requests.unwrap_or_default();
        let is_empty = requests.is_empty();
        let (name, limits) = (|| self.server.clone(), self.limits.rounds);
        if rounds.count > limits.rounds {
            return Err(McpError::TooManyRounds { name: name(), limit: limits.rounds });
        }
        if wanted.request_state.as_ref().is_some_and(|state| state.len() > limits.state_bytes) {
            return Err(McpError::StateTooLarge { name: name(), limit: limits.state_bytes });
        }
        if is_empty && wanted.request_state.is_none() {
            return Err(self.bad_answer());
        }
        if is_empty {
            sleep(PAUSE.saturating_mul(1 << rounds.without_input.min(5))).await;
            rounds.without_input += 1;
        }
        let responses = self.answers.input(requests).await.map_err(|error| McpError::Refused {
            code: i64::from(error.code.0),
            message: clipped(&error.message, LONGEST_ERROR),
        })?;
        Ok(RoundInput { responses: (!is_empty).then_some(responses), state: wanted.request_state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_round_does_not_give_is_not_sent_again() {
        let mut params = json!({ "name": "a", "inputResponses": { "old": 1 }, "requestState": "old" });
        let responses = InputResponses::from([("k".to_owned(), json!({ "action": "accept" }))]);
        RoundInput { responses: Some(responses), state: None }.add_to(&mut params);
        assert_eq!(params, json!({ "name": "a", "inputResponses": { "k": { "action": "accept" } } }));
        RoundInput { responses: None, state: Some("s".to_owned()) }.add_to(&mut params);
        assert_eq!(params, json!({ "name": "a", "requestState": "s" }));
    }
}
