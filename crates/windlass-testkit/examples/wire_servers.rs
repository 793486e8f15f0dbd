//! Servers of all dialects for clients in any language: the name of the model selects the answer.
//!
//! Prints one JSON object with the addresses, and runs until its standard input ends.

#![allow(clippy::print_stdout, reason = "the addresses are its output")]

use std::io::{self, Read};
use std::time::Duration;

use serde_json::{Map, Value};
use windlass_testkit::wire::{
    Answer, ChatForm, Dialect, Failure, FailureKind, Finish, RecordedRequest, Reply, WireServer,
};

const DIALECTS: [(&str, Dialect); 7] = [
    ("messages", Dialect::Messages),
    ("responses", Dialect::Responses),
    ("chat", Dialect::Chat(ChatForm::Plain)),
    ("chat-reasoning", Dialect::Chat(ChatForm::ReasoningContent)),
    ("gemini", Dialect::Gemini),
    ("converse", Dialect::Converse),
    ("ollama", Dialect::Ollama),
];

const FAILURES: [(&str, FailureKind); 7] = [
    ("invalid", FailureKind::Invalid),
    ("authentication", FailureKind::Authentication),
    ("overflow", FailureKind::Overflow),
    ("rate-limited", FailureKind::RateLimited),
    ("quota", FailureKind::Quota),
    ("overloaded", FailureKind::Overloaded),
    ("server", FailureKind::Server),
];

fn answer(model: &str) -> Answer {
    let answer = Answer::new(model);
    match model.trim_start_matches("gemini-3-") {
        "tools" => answer.text(["Let me ", "look."]).call("call_1", "Read", ["{\"path\":", "\"/ä\"}"]),
        "parallel" => answer.reasoning(["hm"], "c2lnbmF0dXJl").call("call_1", "Read", ["{\"path\":\"/a\"}"]).call(
            "call_2",
            "Read",
            ["{\"path\":", "\"/b\"}"],
        ),
        "reasoning" => answer.reasoning(["First ", "this."], "c2lnbmF0dXJl").text(["Done."]),
        "cut" => answer.text(["half"]).finish(Finish::MaxTokens),
        "refused" => answer.text(["No."]).finish(Finish::Refusal),
        "filtered" => answer.finish(Finish::Filtered),
        _ => answer.text(["Grüße, ", "Welt ", "🌍"]),
    }
}

fn reply(dialect: Dialect, request: &RecordedRequest) -> Reply {
    let asked = match dialect.read(request) {
        Ok(asked) => asked,
        Err(broken) => return dialect.error(&Failure::invalid(broken)),
    };
    let failing = FAILURES.iter().find(|(name, _)| asked.model.ends_with(name));
    match failing {
        Some((_, kind)) if asked.model.contains("inside") => {
            dialect.failing_reply(&answer(&asked.model), 3, &Failure::from(*kind))
        }
        Some((_, kind)) => dialect.error(&Failure::from(*kind).wait(Duration::from_secs(1))),
        None => dialect.reply(&answer(&asked.model), request.index),
    }
}

fn main() -> io::Result<()> {
    let mut servers = Vec::new();
    let mut addresses = Map::new();
    for (name, dialect) in DIALECTS {
        let server = WireServer::start_on_thread()?;
        server.on_request(move |request| reply(dialect, request));
        addresses.insert(name.to_owned(), server.url().into());
        servers.push(server);
    }
    println!("{}", Value::Object(addresses));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
