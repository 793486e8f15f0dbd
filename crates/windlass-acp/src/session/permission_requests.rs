//! Permission requests that wait for the client.

use crate::rpc;
use crate::v1::elicitation;
use crate::v1::permission::{self, Choice, Verdict};
use crate::v1::presenter::call_id;
use crate::v1::question::QuestionElicitation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_types::text::visible_line;
use windlass_types::{PermissionAnswer, PermissionRequest, RuleValue};

/// Permission requests of a session that wait for the client.
pub(crate) struct AskedQuestions {
    session: String,
    number: u64,
    cwd: PathBuf,
    next: u64,
    /// `true` if the client shows forms.
    shows_forms: bool,
    open: BTreeMap<u64, OpenQuestion>,
}

struct OpenQuestion {
    id: String,
    shown: ShownQuestion,
}

/// Form in which a client is shown a question.
enum ShownQuestion {
    /// Options to choose from.
    Choices(Vec<Choice>),
    /// Questions of the model.
    Form(QuestionElicitation),
}

/// Answer to a question.
pub(crate) struct AnsweredQuestion {
    pub(crate) question: String,
    pub(crate) answer: PermissionAnswer,
    /// Rules of calls that are rejected from now on.
    pub(crate) rejected: Vec<RuleValue>,
}

impl AskedQuestions {
    pub(crate) fn new(session: String, number: u64, cwd: PathBuf, shows_forms: bool) -> Self {
        Self { session, number, cwd, next: 0, shows_forms, open: BTreeMap::new() }
    }

    /// The request to the client.
    pub(crate) fn ask(&mut self, question: &str, request: &PermissionRequest) -> Value {
        let number = self.number();
        let call = call_id(&request.agent, &request.tool_use_id);
        let (method, params, shown) = match QuestionElicitation::of(request).filter(|_| self.shows_forms) {
            Some(form) => (elicitation::METHOD, form.params(&self.session, &call), ShownQuestion::Form(form)),
            None => {
                let choices = permission::choices(request);
                let params = permission::params(&self.session, &call, request, &choices, &self.cwd);
                ("session/request_permission", params, ShownQuestion::Choices(choices))
            }
        };
        self.open.insert(number, OpenQuestion { id: question.to_owned(), shown });
        rpc::request(&self.request_id(number), method, &params)
    }

    /// Takes the answer to the request with this number, if it is open.
    pub(crate) fn answered(&mut self, number: u64, answer: &Result<Value, String>) -> Option<AnsweredQuestion> {
        let OpenQuestion { id: question, shown } = self.open.remove(&number)?;
        let choices = match shown {
            ShownQuestion::Choices(choices) => choices,
            ShownQuestion::Form(form) => {
                return Some(AnsweredQuestion { question, answer: form.verdict(answer), rejected: Vec::new() });
            }
        };
        let (answer, rejected) = match permission::verdict(&choices, answer) {
            Ok(Verdict::Allow(updates)) => (PermissionAnswer::Allow { updated_input: None, updates }, Vec::new()),
            Ok(Verdict::Deny) => (PermissionAnswer::deny("The user rejected the call."), Vec::new()),
            Ok(Verdict::DenyAlways(rules)) => {
                let all: Vec<String> = rules.iter().map(|rule| visible_line(&rule.to_string())).collect();
                let text = format!("The user rejects {} in this session.", all.join(", "));
                (PermissionAnswer::deny(text), rules)
            }
            Err(answer) => (answer, Vec::new()),
        };
        Some(AnsweredQuestion { question, answer, rejected })
    }

    /// Forgets a question. Returns the id of its request, if it is open.
    pub(crate) fn withdraw(&mut self, question: &str) -> Option<String> {
        let number = self.open.iter().find(|(_, open)| open.id == question).map(|(number, _)| *number)?;
        self.open.remove(&number);
        Some(self.request_id(number))
    }

    /// Forgets all questions. Returns the ids of their requests.
    pub(crate) fn withdraw_all(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open);
        open.into_keys().map(|number| self.request_id(number)).collect()
    }

    /// A fresh number of a request to the client.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Id on the wire of the request with this number.
    pub(crate) fn request_id(&self, number: u64) -> String {
        format!("{}-{number}", self.number)
    }
}
