//! A host that answers from a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use windlass_permission::CanUseTool;
use windlass_types::{PermissionAnswer, PermissionRequest};

use super::lock;
use crate::Gate;

/// A host that answers permission requests from a queue and records them.
///
/// When the queue is empty it denies, with the reason that the script is over; [`ScriptedHost::otherwise`] sets another
/// answer.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use windlass_permission::CanUseTool;
/// use windlass_testkit::can_use_tool::question;
/// use windlass_testkit::fake::ScriptedHost;
/// use windlass_types::PermissionAnswer;
///
/// let host = ScriptedHost::new().allow().deny("not on a Friday");
/// assert_eq!(host.can_use_tool(question("Bash")).await, PermissionAnswer::allow());
/// assert_eq!(host.can_use_tool(question("Bash")).await, PermissionAnswer::deny("not on a Friday"));
/// assert!(matches!(host.can_use_tool(question("Bash")).await, PermissionAnswer::Deny { .. }));
/// assert_eq!(host.requests().len(), 3);
/// # });
/// ```
#[derive(Debug, Clone, Default)]
pub struct ScriptedHost(Arc<Mutex<HostState>>);

#[derive(Debug, Default)]
struct HostState {
    script: VecDeque<HostStep>,
    otherwise: Option<PermissionAnswer>,
    requests: Vec<PermissionRequest>,
    withdrawn: usize,
}

#[derive(Debug)]
enum HostStep {
    Answer(PermissionAnswer),
    AnswerAt(Gate, PermissionAnswer),
    Panic(String),
    Hang,
}

impl ScriptedHost {
    /// Returns a host with an empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows the next permission request unchanged.
    #[must_use]
    pub fn allow(self) -> Self {
        self.answer(PermissionAnswer::allow())
    }

    /// Denies the next permission request with this message.
    #[must_use]
    pub fn deny(self, message: impl Into<String>) -> Self {
        self.answer(PermissionAnswer::deny(message))
    }

    /// Gives this answer to the next permission request.
    #[must_use]
    pub fn answer(self, answer: PermissionAnswer) -> Self {
        self.step(HostStep::Answer(answer))
    }

    /// Gives this answer to the next permission request once the gate is open.
    #[must_use]
    pub fn answer_at(self, gate: &Gate, answer: PermissionAnswer) -> Self {
        self.step(HostStep::AnswerAt(gate.clone(), answer))
    }

    /// Panics at the next permission request.
    #[must_use]
    pub fn panic(self, message: impl Into<String>) -> Self {
        self.step(HostStep::Panic(message.into()))
    }

    /// Never answers the next permission request.
    #[must_use]
    pub fn hang(self) -> Self {
        self.step(HostStep::Hang)
    }

    /// Sets the answer to all permission requests after the script is over.
    #[must_use]
    pub fn otherwise(self, answer: PermissionAnswer) -> Self {
        lock(&self.0).otherwise = Some(answer);
        self
    }

    fn step(self, step: HostStep) -> Self {
        lock(&self.0).script.push_back(step);
        self
    }

    /// Returns every permission request so far, in order.
    pub fn requests(&self) -> Vec<PermissionRequest> {
        lock(&self.0).requests.clone()
    }

    /// Returns the number of permission requests that were withdrawn before they were answered.
    pub fn withdrawn(&self) -> usize {
        lock(&self.0).withdrawn
    }

    /// Returns the number of steps of the script that are left.
    pub fn remaining(&self) -> usize {
        lock(&self.0).script.len()
    }
}

/// Counts a permission request that is dropped before its answer.
struct DroppedQuestion<'a> {
    host: &'a ScriptedHost,
    answered: bool,
}

impl Drop for DroppedQuestion<'_> {
    fn drop(&mut self) {
        if !self.answered && !std::thread::panicking() {
            lock(&self.host.0).withdrawn += 1;
        }
    }
}

#[async_trait]
impl CanUseTool for ScriptedHost {
    #[expect(clippy::panic, reason = "the script asks for it")]
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let step = {
            let mut state = lock(&self.0);
            state.requests.push(request);
            state.script.pop_front()
        };
        let mut asked = DroppedQuestion { host: self, answered: false };
        let answer = match step {
            Some(HostStep::Answer(answer)) => answer,
            Some(HostStep::AnswerAt(gate, answer)) => {
                gate.pass().await;
                answer
            }
            Some(HostStep::Panic(message)) => panic!("{message}"),
            Some(HostStep::Hang) => std::future::pending().await,
            None => lock(&self.0)
                .otherwise
                .clone()
                .unwrap_or_else(|| PermissionAnswer::deny("the script has no answer to this question")),
        };
        asked.answered = true;
        answer
    }
}
