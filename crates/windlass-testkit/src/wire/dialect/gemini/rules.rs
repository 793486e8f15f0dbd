//! Requests that `streamGenerateContent` accepts.

use serde_json::Value;

use super::super::super::{
    Asked, RecordedRequest, Said,
    rules::{BrokenRules, items, text, tool_names, words},
};

/// Placeholders for the signature of a call of another model. Source: the page of the API on thought signatures.
const NO_SIGNATURE: [&str; 2] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

pub(in super::super) fn read(request: &RecordedRequest, body: &Value, faults: &mut BrokenRules) -> Asked {
    let path = request.path.split('?').next().unwrap_or_default();
    let model = path.rsplit('/').next().and_then(|last| last.strip_suffix(":streamGenerateContent"));
    faults.unless(model.is_some(), || format!("{path} is not found"));
    faults.unless(request.path.contains("alt=sse"), || "without alt=sse the answer is one list".to_owned());
    let is_open = request.header("x-goog-api-key").or(request.header("authorization")).is_some();
    faults.unless(is_open || request.path.contains("key="), || "Method doesn't allow unregistered callers".to_owned());
    let mut asked = Asked { model: model.unwrap_or_default().to_owned(), ..Asked::default() };
    top_level(&asked.model, body, faults);
    let declared = items(body, "tools").iter().flat_map(|tool| items(tool, "functionDeclarations"));
    asked.tools = declared.map(|tool| text(tool, "name").to_owned()).collect();
    tool_names(&asked.tools, is_name, faults);
    if let Some(system) = body.get("systemInstruction") {
        asked.said.push(Said::System(items(system, "parts").iter().map(words).collect()));
    }
    turns(body, &mut asked, faults);
    asked
}

/// Members below which names are the user's own.
const OWN_NAMES: [&str; 5] = ["args", "response", "parametersJsonSchema", "responseJsonSchema", "properties"];

/// Renames members to those of the published shape: the API accepts `include_thoughts` for `includeThoughts`, and its
/// SDKs send both.
pub(in super::super) fn name_as_published(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_as_published),
        Value::Object(members) => {
            for (name, mut inner) in std::mem::take(members) {
                let mut words = name.split('_');
                let mut published = words.next().unwrap_or_default().to_owned();
                for word in words {
                    let mut letters = word.chars();
                    published.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                    published.push_str(letters.as_str());
                }
                if !OWN_NAMES.contains(&published.as_str()) {
                    name_as_published(&mut inner);
                }
                members.insert(published, inner);
            }
        }
        _ => {}
    }
}

/// `true` if a name has only letters, digits, `_`, `.`, `:` and `-`, at most 128, and begins with a letter or `_`.
fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_.:-".contains(&b);
    name.len() <= 128
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(fits)
}

fn top_level(model: &str, body: &Value, faults: &mut BrokenRules) {
    let thinking = body.pointer("/generationConfig/thinkingConfig").unwrap_or(&Value::Null);
    let both = thinking.get("thinkingBudget").is_some() && thinking.get("thinkingLevel").is_some();
    faults.unless(!both, || "You can only set only one of thinking budget and thinking level.".to_owned());
    // Source: the page of the API on thinking.
    let has_levels = generation(model).is_none_or(|generation| generation >= 3);
    faults.unless(has_levels || thinking.get("thinkingLevel").is_none(), || {
        "Thinking level is not supported for this model.".to_owned()
    });
    let has_budgets = generation(model).is_none_or(|generation| generation <= 3);
    faults.unless(has_budgets || thinking.get("thinkingBudget").is_none(), || {
        "Thinking budget is not supported for this model.".to_owned()
    });
    for tool in items(body, "tools").iter().flat_map(|tool| items(tool, "functionDeclarations")) {
        let both = tool.get("parameters").is_some() && tool.get("parametersJsonSchema").is_some();
        faults.unless(!both, || format!("{}: one of parameters and parametersJsonSchema", text(tool, "name")));
    }
}

fn turns(body: &Value, asked: &mut Asked, faults: &mut BrokenRules) {
    let contents = items(body, "contents");
    faults.unless(!contents.is_empty(), || "contents is not specified".to_owned());
    faults.unless(contents.first().is_none_or(|first| text(first, "role") != "model"), || {
        "Please ensure that single turn requests begin with a user role".to_owned()
    });
    // Names of the calls of the turn before.
    let mut open: Vec<String> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let parts = items(content, "parts");
        faults.unless(!parts.is_empty(), || format!("contents[{at}].parts must not be empty."));
        parts.iter().for_each(|part| one_kind(part, faults));
        if text(content, "role") == "model" {
            faults.unless(open.is_empty(), || format!("no function response parts for the calls {open:?}"));
            open = model_turn(parts, at, is_current(contents, at), asked, faults);
        } else {
            user_turn(parts, at, &open, asked, faults);
            open.clear();
        }
    }
    faults.unless(open.is_empty(), || format!("no function response parts for the calls {open:?}"));
}

/// `true` if a turn of the model belongs to the step that is running: no text of the user follows it. Signatures are
/// checked in these turns.
fn is_current(contents: &[Value], at: usize) -> bool {
    let is_said = |content: &Value| {
        text(content, "role") == "user"
            && !items(content, "parts").iter().any(|part| part.get("functionResponse").is_some())
    };
    !contents.iter().skip(at).any(is_said)
}

fn one_kind(part: &Value, faults: &mut BrokenRules) {
    let kinds =
        ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"];
    let count = kinds.iter().filter(|kind| part.get(**kind).is_some()).count();
    faults.unless(count == 1, || format!("required oneof field 'data' must have one initialized field, not {count}"));
}

fn model_turn(
    parts: &[Value],
    at: usize,
    is_current: bool,
    asked: &mut Asked,
    faults: &mut BrokenRules,
) -> Vec<String> {
    let mut names = Vec::new();
    for part in parts {
        let signature = text(part, "thoughtSignature");
        if !signature.is_empty() && !NO_SIGNATURE.contains(&signature) {
            asked.said.push(Said::Reasoning(signature.to_owned()));
        }
        if let Some(call) = part.get("functionCall") {
            let name = text(call, "name");
            // The first call of a step carries the signature for all parallel calls.
            faults.unless(
                !names.is_empty() || !signature.is_empty() || !is_current || !is_checked(&asked.model),
                || {
                    format!(
                        "Function call is missing a thought_signature in functionCall parts: {name}, position {at}."
                    )
                },
            );
            let id = call_id(call, at, names.len());
            let input = call.get("args").cloned().unwrap_or_default();
            asked.said.push(Said::Call { id, name: name.to_owned(), input });
            names.push(name.to_owned());
        } else if part.get("thought") != Some(&Value::Bool(true)) && !text(part, "text").is_empty() {
            asked.said.push(Said::Assistant(text(part, "text").to_owned()));
        }
    }
    names
}

/// `true` if the model is of a generation that requires signatures.
fn is_checked(model: &str) -> bool {
    generation(model).is_some_and(|generation| generation >= 3)
}

/// Returns the generation, such as the 3 of `gemini-3.1-pro`.
fn generation(model: &str) -> Option<u32> {
    model.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next())?.parse().ok()
}

fn call_id(call: &Value, turn: usize, position: usize) -> String {
    match text(call, "id") {
        "" => format!("turn {turn}, call {position}"),
        id => id.to_owned(),
    }
}

fn user_turn(parts: &[Value], at: usize, open: &[String], asked: &mut Asked, faults: &mut BrokenRules) {
    let mut answered = Vec::new();
    for part in parts {
        if let Some(response) = part.get("functionResponse") {
            let id = call_id(response, at.saturating_sub(1), answered.len());
            answered.push(text(response, "name").to_owned());
            let result = response.get("response").unwrap_or(&Value::Null);
            faults.unless(result.is_object(), || "function_response.response must be an object".to_owned());
            let words = ["output", "error", "result"].iter().find_map(|name| result.get(*name)).unwrap_or(result);
            let text = words.as_str().map_or_else(|| words.to_string(), str::to_owned);
            asked.said.push(Said::Result { id, text });
        } else {
            asked.said.push(Said::User(words(part)));
        }
    }
    faults.unless(answered == open, || {
        format!(
            "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: calls {open:?}, responses {answered:?}"
        )
    });
}
