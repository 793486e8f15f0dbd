//! Conversations over several turns, and the requests that they lead to.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use windlass_model::ModelProvider;
use windlass_session::Transcript as Conversation;
use windlass_types::{ContentBlock, JsonText, Origin, ToolResult, ToolUse, Usage};

use super::endpoint::{Endpoint, Replay};
use super::open::answers;
use super::stream::{Ending, Transcript};
use crate::Violation;
use crate::violation::ensure;
use crate::wire::{Answer, Asked, Dialect, Failure, Part, Said, Tokens, WireServer};

/// Requests that follow the vendor's rules, and the fault of the others.
#[derive(Debug, Default)]
struct SeenRequests {
    asked: Vec<Asked>,
    broken: Option<String>,
}

/// A conversation with a server that checks each request.
struct Drive<'a> {
    endpoint: &'a Endpoint,
    server: WireServer,
    provider: Arc<dyn ModelProvider>,
    conversation: Conversation,
    seen: Arc<Mutex<SeenRequests>>,
    given: Vec<Answer>,
}

impl<'a> Drive<'a> {
    async fn start(endpoint: &'a Endpoint) -> Result<Self, Violation> {
        let (server, provider) = endpoint.connect().await?;
        Ok(Self {
            endpoint,
            server,
            provider,
            conversation: Conversation::new(),
            seen: Arc::default(),
            given: Vec::new(),
        })
    }

    /// Lets the model answer, and adds the answer to the conversation.
    async fn turn(&mut self, answer: Answer) -> Result<Transcript, Violation> {
        let dialect = self.endpoint.dialect;
        let (seen, scripted) = (Arc::clone(&self.seen), answer.clone());
        self.server.on_request(move |request| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            match dialect.read(request) {
                Ok(asked) => {
                    seen.asked.push(asked);
                    dialect.reply(&scripted, request.index)
                }
                Err(broken) => {
                    seen.broken = Some(format!("{broken}, in {}", String::from_utf8_lossy(&request.body)));
                    dialect.error(&Failure::invalid(broken))
                }
            }
        });
        let request = self.endpoint.request(self.conversation.messages());
        let answered = answers(&*self.provider, &request).await;
        if let Some(broken) = self.seen.lock().unwrap_or_else(PoisonError::into_inner).broken.take() {
            return Err(Violation::new(format!(
                "request {} breaks a rule of the vendor: {broken}",
                self.given.len() + 1
            )));
        }
        let answered = answered?;
        let api = self.provider.model_info(&self.endpoint.model).api;
        let origin = Origin::new(api, &*self.endpoint.model, &*self.endpoint.model);
        self.conversation.push_assistant(answered.blocks()?, Some(Arc::new(origin)));
        self.given.push(answer);
        Ok(answered)
    }

    /// Answers all open calls, in order.
    fn answer_calls(&mut self) {
        let calls: Vec<ToolUse> = self.conversation.open_calls().cloned().collect();
        for call in calls {
            let result = format!("{} of {}", call.name, call.input.as_str());
            self.conversation.push_result(ToolResult::ok(call.id, result));
        }
    }

    fn say(&mut self, text: &str) {
        self.conversation.push_user(vec![ContentBlock::text(text)]);
    }

    fn asked(&self) -> Vec<Asked> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }
}

/// Checks that reasoning, text and calls of several turns are sent back unchanged: reasoning word for word and in its
/// place, calls in order with their ids and inputs, results beside them. No request changes the content of an earlier
/// one.
///
/// # Errors
/// A request breaks a rule of the vendor, or does not contain the conversation.
pub async fn keeps_a_conversation(endpoint: &Endpoint) -> Result<(), Violation> {
    let mut drive = Drive::start(endpoint).await?;
    drive.say("look around");
    for answer in turns(endpoint) {
        drive.turn(answer).await?;
        drive.answer_calls();
        if !drive.conversation.is_ready() {
            drive.say("go on");
        }
    }
    let asked = drive.asked();
    for (number, asked) in asked.iter().enumerate() {
        let given = drive.given.get(..number).unwrap_or_default();
        says_what_was_given(endpoint, asked, given)
            .map_err(|violation| Violation::new(format!("request {}: {violation}", number + 1)))?;
    }
    extends(&asked)
}

/// Returns answers with each order of parts that the dialect has.
fn turns(endpoint: &Endpoint) -> Vec<Answer> {
    let new = || Answer::new(&endpoint.model);
    let reads = r#"{"path":"/ü","limit":null,"mode":"text"}"#;
    let mut turns = vec![
        new()
            .reasoning(["First ", "look, \"so\".\n"], "dG9rZW4x")
            .text(["I look", " around."])
            .call("callAAAA1", "Read", [reads])
            .call("callAAAA2", "Now", ["{}"])
            .call("callAAAA3", "Read", ["{\"path\"", ":\"/b\"}"]),
        new().reasoning(["Then"], "dG9rZW4y").call("callAAAA4", "Search", [r#"{"query":"x","kind":"code","at":null}"#]),
        new().call("callAAAA5", "Read", [r#"{"path":"/c"}"#]),
        new().reasoning(["Done"], "dG9rZW4z").text(["All seen."]),
        new().text(["Yes."]),
    ];
    if !matches!(endpoint.dialect, Dialect::Chat(_) | Dialect::Ollama) {
        turns.push(new().reasoning(["One"], "dG9rZW40").text(["a"]).reasoning(["Two"], "dG9rZW41").call(
            "callAAAA6",
            "Now",
            ["{}"],
        ));
        // Reasoning of which only the token is known.
        turns.push(new().reasoning([], "dG9rZW42").text(["End."]));
    }
    turns
}

fn says_what_was_given(endpoint: &Endpoint, asked: &Asked, given: &[Answer]) -> Result<(), Violation> {
    let parts = || given.iter().flat_map(Answer::parts);
    let mut reasoning = Vec::new();
    for answer in given {
        let goes_back = match endpoint.replay {
            Replay::Always => true,
            Replay::WithCalls => answer.has_calls(),
            Replay::Never => false,
        };
        for part in answer.parts() {
            if let (Part::Reasoning { text, token }, true) = (part, goes_back) {
                reasoning.push(endpoint.dialect.replayed(&text.concat(), token));
            }
        }
    }
    same("the reasoning", &asked.reasoning(), &reasoning)?;
    let texts: String =
        parts().filter_map(|part| if let Part::Text(text) = part { Some(text.concat()) } else { None }).collect();
    same("the texts", &asked.assistant().concat(), &texts)?;
    let calls: Vec<(String, String, Value)> = parts()
        .filter_map(|part| match part {
            Part::Call { id, name, input } => {
                Some((id.clone(), name.clone(), serde_json::from_str(&input.concat()).unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let said = asked.said.iter().filter_map(|said| match said {
        Said::Call { name, input, .. } => Some((name.clone(), input.clone())),
        _ => None,
    });
    let expected: Vec<_> = calls.iter().map(|(_, name, input)| (name.clone(), input.clone())).collect();
    same("the calls", &said.collect::<Vec<_>>(), &expected)?;
    same("the ids of results", &asked.results(), &asked.calls())?;
    if !matches!(endpoint.dialect, Dialect::Gemini | Dialect::Ollama) {
        let ids: Vec<&str> = calls.iter().map(|(id, ..)| id.as_str()).collect();
        same("the ids of calls", &asked.calls(), &ids)?;
    }
    Ok(())
}

fn same<A: PartialEq<B> + std::fmt::Debug + ?Sized, B: std::fmt::Debug + ?Sized>(
    what: &str,
    found: &A,
    expected: &B,
) -> Result<(), Violation> {
    ensure(found == expected, || format!("{what} in the request are {found:?}, but were {expected:?}"))
}

/// Checks that each request contains the one before, and more.
fn extends(asked: &[Asked]) -> Result<(), Violation> {
    for (number, pair) in asked.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        ensure(after.said.starts_with(&before.said), || {
            format!("request {} does not begin as the one before: {:?}, then {:?}", number + 2, before.said, after.said)
        })?;
        ensure(before.tools == after.tools, || format!("the tools of request {} changed", number + 2))?;
    }
    Ok(())
}

/// Checks that a history that another vendor began is accepted: its ids fit no rule of this vendor, its reasoning is
/// gone, its results may be blank.
///
/// # Errors
/// A request breaks a rule of the vendor, or the ids change from one request to the next.
pub async fn takes_a_foreign_history(endpoint: &Endpoint) -> Result<(), Violation> {
    let mut drive = Drive::start(endpoint).await?;
    drive.say("look around");
    let long = format!("call_{}|fc_{}", "x".repeat(300), "y".repeat(200));
    let ids = [
        long.as_str(),
        "toolu_01A09q90qw90lq917835lq9",
        "functions.Read:0",
        "call_ä",
        "chatcmpl-tool-9f0c0a1b2c3d4e5f",
        "1",
    ];
    let call = |id: &&str| ContentBlock::ToolUse(ToolUse::new(*id, "Read", path()));
    let (first, second) = ids.split_at(3);
    let foreign = |text: &str, ids: &[&str]| {
        let text = (!text.is_empty()).then(|| ContentBlock::text(text));
        text.into_iter().chain(ids.iter().map(call)).collect::<Vec<_>>()
    };
    drive.conversation.push_assistant(foreign("I look.", first), None);
    for (id, result) in first.iter().zip(["", " \n", "three"]) {
        drive.conversation.push_result(ToolResult::ok(*id, result));
    }
    drive.conversation.push_assistant(foreign("", second), None);
    for id in second {
        drive.conversation.push_result(ToolResult::error(*id, "not found"));
    }
    drive.turn(Answer::new(&endpoint.model).text(["So it is."])).await?;
    drive.say("and now?");
    drive.turn(Answer::new(&endpoint.model).call("callAAAA1", "Read", [r#"{"path":"/x"}"#])).await?;
    drive.answer_calls();
    drive.turn(Answer::new(&endpoint.model).text(["Done."])).await?;
    let asked = drive.asked();
    for asked in &asked {
        ensure(asked.results() == asked.calls(), || {
            format!("calls {:?}, results {:?}", asked.calls(), asked.results())
        })?;
        ensure(asked.reasoning().is_empty(), || format!("reasoning that was never given: {:?}", asked.reasoning()))?;
    }
    ensure(asked.last().is_some_and(|last| last.calls().len() == 7), || "a call is lost".to_owned())?;
    extends(&asked)
}

fn path() -> JsonText {
    JsonText::parse(r#"{"path":"/x"}"#).unwrap_or_else(|_| JsonText::empty_object())
}

/// Checks that each token is counted once: input without the cached part, output with its reasoning.
///
/// # Errors
/// Different counts.
pub async fn counts_usage_once(endpoint: &Endpoint) -> Result<(), Violation> {
    let mut drive = Drive::start(endpoint).await?;
    drive.say("hi");
    let tokens = Tokens::new(1_000, 700, 90, 40);
    let answered = drive.turn(endpoint.answer().tokens(tokens)).await?;
    let mut expected = Usage::new(300, 90);
    expected.cache_read_input_tokens = 700;
    if endpoint.dialect == Dialect::Ollama {
        expected = Usage::new(1_000, 90);
    }
    let found = answered.usage();
    let figures = |usage: &Usage| (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens);
    ensure(figures(&found) == figures(&expected), || format!("usage is {found:?}, but was {expected:?}"))?;
    ensure(answered.ending() == Ending::Complete, || "it is not complete".to_owned())
}
