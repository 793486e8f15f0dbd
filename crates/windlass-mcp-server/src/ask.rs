//! Questions to the client: to its user, to its model, and about the directories of its user.

use rmcp::model::{
    ClientCapabilities, ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability,
    InputRequest, JsonObject, RootsCapabilities, SamplingCapability, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass::JsonText;

/// Question that a call puts to the client that made it.
///
/// ```
/// use windlass_mcp_server::Question;
///
/// let question = Question::roots().named("directories");
/// assert_eq!(question.name(), "directories");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    name: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Form { message: String, schema: JsonText },
    Page { message: String, url: String },
    Message { prompt: String, max_tokens: u32 },
    Roots,
}

/// Ability of a client to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientAbility {
    /// The user fills in forms.
    Forms,
    /// The user visits pages.
    Pages,
    /// The model of the client writes messages.
    Sampling,
    /// The client names the directories in which its user works.
    Roots,
    /// The client takes tasks, and polls them.
    Tasks,
}

/// Answer of a client to a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientAnswer {
    /// Answer: the values of a form, an empty object for a visited page, the message of a model
    /// (`{"role","content","model",..}`), or roots (`{"roots":[..]}`).
    Accepted(JsonText),
    /// The user declined.
    Declined,
    /// The user left the question open.
    Cancelled,
    /// The client does not support the question, or answered incorrectly.
    Unsupported,
}

impl Question {
    fn new(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Creates a form for the user. `schema` is a JSON Schema of an object whose members are texts, numbers, booleans
    /// or choices.
    #[must_use]
    pub fn form(message: impl Into<String>, schema: JsonText) -> Self {
        Self::new("form", Kind::Form { message: message.into(), schema })
    }

    /// Creates a question that asks the user to visit a page. Actions on the page do not pass through the client.
    #[must_use]
    pub fn page(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new("page", Kind::Page { message: message.into(), url: url.into() })
    }

    /// Creates a prompt for the client's model, which writes at most `max_tokens` tokens.
    #[must_use]
    pub fn message(prompt: impl Into<String>, max_tokens: u32) -> Self {
        Self::new("message", Kind::Message { prompt: prompt.into(), max_tokens })
    }

    /// Creates a question about the directories in which the user works.
    #[must_use]
    pub fn roots() -> Self {
        Self::new("roots", Kind::Roots)
    }

    /// Sets the name under which clients of 2026-07-28 answer the question. Default: its kind. Questions that one call
    /// asks together, or one after the other, need different names.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns the name under which the question is answered.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the ability that a client needs.
    #[must_use]
    pub fn needs(&self) -> ClientAbility {
        match self.kind {
            Kind::Form { .. } => ClientAbility::Forms,
            Kind::Page { .. } => ClientAbility::Pages,
            Kind::Message { .. } => ClientAbility::Sampling,
            Kind::Roots => ClientAbility::Roots,
        }
    }

    /// Returns the request that asks the question; `None` if its schema is no form. `id` names a page for clients that
    /// need to know it.
    pub(crate) fn request(&self, id: &str) -> Option<InputRequest> {
        let request = match &self.kind {
            Kind::Form { message, schema } => json!({
                "method": "elicitation/create",
                "params": {"mode": "form", "message": message, "requestedSchema": schema.to::<Value>().ok()?},
            }),
            Kind::Page { message, url } => json!({
                "method": "elicitation/create",
                "params": {"mode": "url", "message": message, "url": url, "elicitationId": id},
            }),
            Kind::Message { prompt, max_tokens } => json!({
                "method": "sampling/createMessage",
                "params": {
                    "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
                    "maxTokens": max_tokens,
                },
            }),
            Kind::Roots => json!({"method": "roots/list", "params": {}}),
        };
        serde_json::from_value(request).ok()
    }

    /// Reads the answer of a client; `None` if it does not fit the question.
    pub(crate) fn answer(&self, given: &Value) -> Option<ClientAnswer> {
        let whole = || JsonText::of(given).ok().map(ClientAnswer::Accepted);
        match self.kind {
            Kind::Form { .. } | Kind::Page { .. } => {
                let result = ElicitResult::deserialize(given).ok()?;
                match result.action {
                    ElicitationAction::Accept => {
                        let content = result.content.unwrap_or_else(|| json!({}));
                        content.is_object().then(|| JsonText::of(&content).ok()).flatten().map(ClientAnswer::Accepted)
                    }
                    ElicitationAction::Decline => Some(ClientAnswer::Declined),
                    _ => Some(ClientAnswer::Cancelled),
                }
            }
            Kind::Message { .. } => given.get("content").is_some_and(Value::is_object).then(whole).flatten(),
            Kind::Roots => given.get("roots").is_some_and(Value::is_array).then(whole).flatten(),
        }
    }
}

impl ClientAbility {
    /// `true` if a client has declared the ability.
    pub(crate) fn is_in(self, declared: &ClientCapabilities) -> bool {
        let elicitation = declared.elicitation.as_ref();
        match self {
            // Older clients only support forms and do not declare that.
            Self::Forms => elicitation.is_some_and(|known| known.form.is_some() || known.url.is_none()),
            Self::Pages => elicitation.is_some_and(|known| known.url.is_some()),
            Self::Sampling => declared.sampling.is_some(),
            Self::Roots => declared.roots.is_some(),
            Self::Tasks => declared.supports_tasks(),
        }
    }

    /// Adds the ability to the capabilities that a client would have to declare.
    pub(crate) fn declare(self, declared: &mut ClientCapabilities) {
        let elicitation = |declared: &mut ClientCapabilities| declared.elicitation.take().unwrap_or_default();
        match self {
            Self::Forms => {
                let mut known: ElicitationCapability = elicitation(declared);
                known.form = Some(FormElicitationCapability::default());
                declared.elicitation = Some(known);
            }
            Self::Pages => {
                let mut known = elicitation(declared);
                known.url = Some(UrlElicitationCapability::default());
                declared.elicitation = Some(known);
            }
            Self::Sampling => declared.sampling = Some(SamplingCapability::default()),
            Self::Roots => declared.roots = Some(RootsCapabilities::default()),
            Self::Tasks => {
                declared.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
            }
        }
    }
}
