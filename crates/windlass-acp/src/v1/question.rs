//! Questions of the model (`AskUserQuestion`) as a form of the client.

use super::elicitation;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_types::text::visible_line;
use windlass_types::{JsonText, PermissionAnswer, PermissionRequest};

/// Name of the tool that asks the person.
const TOOL: &str = "AskUserQuestion";

/// Form with the questions of one call.
pub(crate) struct QuestionElicitation {
    input: Map<String, Value>,
    questions: Vec<ElicitedQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitedQuestion {
    question: String,
    #[serde(default)]
    header: String,
    options: Vec<ElicitedOption>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Deserialize)]
struct ElicitedOption {
    label: String,
    #[serde(default)]
    description: String,
}

impl QuestionElicitation {
    /// The form of a request, if it has questions that can be read.
    pub(crate) fn of(request: &PermissionRequest) -> Option<Self> {
        if request.tool != TOOL {
            return None;
        }
        let input: Map<String, Value> = request.input.to().ok()?;
        let questions: Vec<ElicitedQuestion> = serde_json::from_value(input.get("questions")?.clone()).ok()?;
        (!questions.is_empty()).then_some(Self { input, questions })
    }

    /// Parameters of the request to the client. Each question has a property to choose, and one for another answer.
    pub(crate) fn params(&self, session: &str, call: &str) -> Value {
        let mut properties = Map::new();
        for (at, question) in self.questions.iter().enumerate() {
            let options: Vec<Value> = question
                .options
                .iter()
                .map(
                    |option| json!({ "const": option.label, "title": option.label, "description": option.description }),
                )
                .collect();
            let text = json!({ "title": question.header, "description": question.question });
            let mut choice = if let Value::Object(fields) = text { fields } else { Map::new() };
            if question.multi_select {
                choice.insert("type".to_owned(), "array".into());
                choice.insert("items".to_owned(), json!({ "anyOf": options }));
            } else {
                choice.insert("type".to_owned(), "string".into());
                choice.insert("oneOf".to_owned(), options.into());
            }
            properties.insert(chosen_name(at), Value::Object(choice));
            let title = format!("{}: another answer", question.header);
            properties.insert(other_name(at), json!({ "type": "string", "title": title }));
        }
        let texts: Vec<&str> = self.questions.iter().map(|question| question.question.as_str()).collect();
        let schema = json!({ "type": "object", "properties": properties });
        elicitation::form(session, Some(call), &texts.join("\n"), &schema)
    }

    /// The permission in the answer of a client: the input with the answers. An answer that is not understood denies.
    pub(crate) fn verdict(&self, answer: &Result<Value, String>) -> PermissionAnswer {
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => {
                let message = format!("The editor could not ask the questions: {}", visible_line(reason));
                return PermissionAnswer::deny(message);
            }
        };
        match (answer.get("action").and_then(Value::as_str), answer.get("content")) {
            (Some("accept"), Some(Value::Object(content))) => self.allow(content),
            (Some("cancel"), _) => {
                let message = "The user dismissed the questions.".to_owned();
                PermissionAnswer::Deny { message, interrupt: true }
            }
            _ => PermissionAnswer::deny("The user did not answer the questions."),
        }
    }

    fn allow(&self, content: &Map<String, Value>) -> PermissionAnswer {
        let mut answers = Map::new();
        for (at, question) in self.questions.iter().enumerate() {
            let Some(mut chosen) = chosen(question, content.get(&chosen_name(at))) else {
                return PermissionAnswer::deny("The editor chose an answer that was not offered.");
            };
            let other = content.get(&other_name(at)).and_then(Value::as_str).map(str::trim);
            if let Some(other) = other.filter(|other| !other.is_empty()) {
                if !question.multi_select {
                    chosen.clear();
                }
                chosen.push(other.to_owned());
            }
            match (question.multi_select, chosen.pop()) {
                (_, None) => {}
                (false, Some(only)) => drop(answers.insert(question.question.clone(), only.into())),
                (true, Some(last)) => {
                    chosen.push(last);
                    answers.insert(question.question.clone(), chosen.into());
                }
            }
        }
        let mut input = self.input.clone();
        let has_answers = !answers.is_empty();
        input.insert("answers".to_owned(), Value::Object(answers));
        match JsonText::of(&input) {
            Ok(input) if has_answers => PermissionAnswer::Allow { updated_input: Some(input), updates: Vec::new() },
            _ => PermissionAnswer::deny("The user did not answer the questions."),
        }
    }
}

/// The offered answers in a value; `None` if it has another one.
fn chosen(question: &ElicitedQuestion, value: Option<&Value>) -> Option<Vec<String>> {
    let labels: Vec<&str> = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(label)) if label.is_empty() => Vec::new(),
        Some(Value::String(label)) => vec![label],
        Some(Value::Array(labels)) => labels.iter().map(Value::as_str).collect::<Option<_>>()?,
        Some(_) => return None,
    };
    let is_offered = |label: &&str| question.options.iter().any(|option| option.label == **label);
    labels.iter().all(is_offered).then(|| labels.into_iter().map(str::to_owned).collect())
}

fn chosen_name(at: usize) -> String {
    format!("question{}", at + 1)
}

fn other_name(at: usize) -> String {
    format!("question{}Other", at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{Behavior, CallDigest, Decision, DecisionReason, ToolUse};

    fn form() -> QuestionElicitation {
        let questions = json!([
            { "question": "Which?", "header": "One", "options": [{ "label": "A", "description": "a" }, { "label": "B" }] },
            { "question": "Whom?", "header": "Many", "multiSelect": true, "options": [{ "label": "C" }, { "label": "D" }] },
        ]);
        let input = JsonText::of(&json!({ "questions": questions })).unwrap();
        let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "why");
        let request =
            PermissionRequest::new(ToolUse::new("t", TOOL, input), "Which?".to_owned(), decision, CallDigest::new("d"));
        QuestionElicitation::of(&request).unwrap()
    }

    fn answers(content: &Value) -> Option<Value> {
        let answer = form().verdict(&Ok(json!({ "action": "accept", "content": content })));
        let PermissionAnswer::Allow { updated_input: Some(input), .. } = answer else { return None };
        Some(input.to::<Value>().unwrap()["answers"].clone())
    }

    #[test]
    fn chosen_and_own_answers_reach_the_input() {
        let given = json!({ "question1": "B", "question2": ["C", "D"] });
        assert_eq!(answers(&given), Some(json!({ "Which?": "B", "Whom?": ["C", "D"] })));
        let own = json!({ "question1": "A", "question1Other": " neither ", "question2Other": "all" });
        assert_eq!(answers(&own), Some(json!({ "Which?": "neither", "Whom?": ["all"] })));
    }

    #[test]
    fn without_an_offered_answer_the_call_is_denied() {
        for content in [json!({}), json!({ "question1": "E" }), json!({ "question2": [1] }), json!({ "question1": 1 })]
        {
            assert_eq!(answers(&content), None, "{content}");
        }
        for answer in [json!({ "action": "decline" }), json!({ "action": "accept" }), json!({}), Value::Null] {
            let verdict = form().verdict(&Ok(answer));
            assert!(matches!(verdict, PermissionAnswer::Deny { interrupt: false, .. }), "{verdict:?}");
        }
        let dismissed = form().verdict(&Ok(json!({ "action": "cancel" })));
        assert!(matches!(dismissed, PermissionAnswer::Deny { interrupt: true, .. }), "{dismissed:?}");
    }

    #[test]
    fn the_form_offers_each_answer() {
        let params = form().params("s", "t");
        assert_eq!(
            (&params["mode"], &params["toolCallId"], &params["message"]),
            (&json!("form"), &json!("t"), &json!("Which?\nWhom?"))
        );
        let properties = &params["requestedSchema"]["properties"];
        assert_eq!(properties["question1"]["oneOf"][1]["const"], "B");
        assert_eq!(properties["question2"]["items"]["anyOf"][0]["const"], "C");
        assert_eq!(properties["question1Other"]["type"], "string");
    }
}
