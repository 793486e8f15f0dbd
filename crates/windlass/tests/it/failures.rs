//! Reports to a host when the API fails, over a real socket.

use crate::common::{Seen, provider, watch};
use std::time::{Duration, Instant};
use windlass::options::{LimitOptions, ModelOptions};
use windlass::{
    Anthropic, EventKind, Outcome,
    event::{Continuation, RunFailure, RunFailureKind, Status, Utilization},
    provider::ModelErrorKind,
    query,
};
use windlass_testkit::wire::{Message, Reply, WireServer};

fn failure(seen: &Seen) -> &RunFailure {
    match &seen.result().outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn statuses(seen: &Seen) -> Vec<&Status> {
    let status = |event: &'_ windlass::Event| matches!(event.kind, EventKind::Status(_));
    seen.events
        .iter()
        .filter(|event| status(event))
        .filter_map(|event| match &event.kind {
            EventKind::Status(status) => Some(status),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn every_refusal_has_a_kind_a_status_and_a_way_out() {
    use ModelErrorKind as Kind;
    let model = RunFailureKind::Model;
    let too_long = "prompt is too long: 208310 tokens > 200000 maximum";
    for (status, kind, said, expected, advice) in [
        (401, "authentication_error", "invalid x-api-key", model(Kind::Authentication), "check ANTHROPIC_API_KEY"),
        (403, "permission_error", "not yours", model(Kind::PermissionDenied), "the key may not do this"),
        (404, "not_found_error", "model: nope", model(Kind::NotFound), "check the model name"),
        (400, "invalid_request_error", too_long, RunFailureKind::PromptTooLong, "Begin a new session, or send less."),
        (400, "invalid_request_error", "credit balance is too low", model(Kind::Billing), "billing page"),
        (400, "invalid_request_error", "tools.0: bad", model(Kind::InvalidRequest), "tools.0: bad"),
        (413, "request_too_large", "too many bytes", model(Kind::RequestTooLarge), "Send less at once"),
        (429, "rate_limit_error", "slow down", model(Kind::RateLimited), "Wait a while"),
        (500, "api_error", "oops", model(Kind::Server), "Try again later."),
        (529, "overloaded_error", "Overloaded", model(Kind::Overloaded), "set a fallback model"),
    ] {
        let server = WireServer::start().await.unwrap();
        server.push(Reply::error(status, kind, said));
        let seen =
            watch(query("hi").provider(provider(&server.url())).limits(LimitOptions::new().max_retries(0))).await;
        let failure = failure(&seen);
        assert_eq!((failure.kind, failure.status), (expected, Some(status)), "{failure:?}");
        assert!(failure.message.contains(advice) && failure.message.contains(said), "{status}: {}", failure.message);
        assert!(!failure.message.contains('\n') && !failure.message.contains("sk-test-key"), "{}", failure.message);
        assert_eq!((server.request_count(), seen.result().turns), (1, 1), "{status}");
    }
}

#[tokio::test]
async fn what_cannot_get_better_is_not_repeated() {
    for (status, kind) in [(401, "authentication_error"), (404, "not_found_error"), (413, "request_too_large")] {
        let server = WireServer::start().await.unwrap();
        server.on_request(move |_| Reply::error(status, kind, "no"));
        let seen = watch(query("hi").provider(provider(&server.url()))).await;
        failure(&seen);
        assert_eq!(server.request_count(), 1, "{status}");
    }
}

/// A server that cannot be trusted is none to wait for: the run ends at once and says why.
#[tokio::test]
async fn a_connection_that_cannot_be_trusted_is_not_repeated() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let connections = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&connections);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let provider = Anthropic::builder().api_key("sk-test-key").base_url(url).build().unwrap();
    let seen = watch(query("hi").provider(provider).model(ModelOptions::new().fallback("other"))).await;
    let failure = failure(&seen);
    assert_eq!(failure.kind, RunFailureKind::Model(ModelErrorKind::Configuration));
    assert!(failure.message.starts_with("cannot connect securely to 127.0.0.1:"), "{}", failure.message);
    // One asks for the window of the fallback model, which no list has.
    assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(seen.result().cost.nano(), 0);
}

/// A server that asks for no wait is not asked ten times within a moment.
#[tokio::test]
async fn a_server_that_asks_for_no_wait_is_given_time() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "0"));
    let began = Instant::now();
    failure(&watch(query("hi").provider(provider(&server.url())).limits(LimitOptions::new().max_retries(2))).await);
    // Three quarters of half a second and of a second.
    assert!(began.elapsed() >= Duration::from_millis(1_125), "{:?}", began.elapsed());
    assert_eq!(server.request_count(), 3);
}

/// A wait that the provider asks for and that is not waited is named.
#[tokio::test]
async fn a_wait_that_is_too_long_is_named() {
    let server = WireServer::start().await.unwrap();
    let limited = Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "18000");
    server.push(limited);
    let seen = watch(query("hi").provider(provider(&server.url()))).await;
    let message = &failure(&seen).message;
    assert!(message.contains("asks to wait 18000 s") && message.contains("slow down"), "{message}");
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn what_the_server_says_of_a_repeat_is_done() {
    for (status, kind, said, requests) in [
        (529, "overloaded_error", "false", 1),
        (400, "invalid_request_error", "true", 2),
        (400, "invalid_request_error", "false", 1),
    ] {
        let server = WireServer::start().await.unwrap();
        server.on_request(move |_| Reply::error(status, kind, "no").header("x-should-retry", said));
        failure(&watch(query("hi").provider(provider(&server.url())).limits(LimitOptions::new().max_retries(1))).await);
        assert_eq!(server.request_count(), requests, "{status} {said}");
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_for_as_long_as_the_server_says() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "1"));
    server.push(Message::new().text("ok"));
    let began = Instant::now();
    let seen = watch(query("hi").provider(provider(&server.url())).limits(LimitOptions::new().max_retries(1))).await;
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!((&seen.result().outcome, seen.texts.as_slice()), (&Outcome::Success, ["ok".to_owned()].as_slice()));
    let retries: Vec<_> = statuses(&seen)
        .into_iter()
        .filter_map(|status| match status {
            Status::Retrying(retry) => Some((retry.attempt, retry.delay_ms, retry.http_status)),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [(1, 1000, Some(429))]);

    // Longer than anybody wants to sit in front of.
    server.push(Reply::error(429, "rate_limit_error", "slow down").header("retry-after", "3600"));
    let seen = watch(query("hi").provider(provider(&server.url()))).await;
    assert_eq!(failure(&seen).kind, RunFailureKind::Model(ModelErrorKind::RateLimited));
}

#[tokio::test]
async fn the_fallback_model_takes_over_after_three_overloaded_answers() {
    let server = WireServer::start().await.unwrap();
    for _ in 0..3 {
        server.push(Reply::error(529, "overloaded_error", "Overloaded"));
    }
    server.push(Message::new().text("from the other one"));
    let query =
        query("hi").provider(provider(&server.url())).model("opus").model(ModelOptions::new().fallback("haiku"));
    let seen = watch(query).await;
    assert_eq!(seen.result().text, "from the other one");
    let models: Vec<_> =
        server.requests().iter().map(|request| request.json().unwrap()["model"].as_str().unwrap().to_owned()).collect();
    assert_eq!(models[..3], vec![models[0].clone(); 3]);
    assert!(models[0].contains("opus") && models[3].contains("haiku"), "{models:?}");
    let calls: Vec<_> = statuses(&seen)
        .into_iter()
        .filter_map(|status| match status {
            Status::Requesting { continuation, .. } => Some(*continuation),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [Continuation::Prompt, Continuation::Retry, Continuation::Retry, Continuation::Fallback]);
    assert!(statuses(&seen).iter().any(|status| matches!(status, Status::FallingBack { .. })));
}

#[tokio::test]
async fn nobody_at_the_address_is_said_with_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let seen =
        watch(query("hi").provider(provider(&format!("http://{address}"))).limits(LimitOptions::new().max_retries(0)))
            .await;
    let failure = failure(&seen);
    assert_eq!(failure.kind, RunFailureKind::Model(ModelErrorKind::Connection));
    assert!(failure.message.contains("127.0.0.1") && failure.message.contains("Check the network"), "{failure:?}");
}

#[tokio::test]
async fn a_silent_stream_is_given_up_and_what_it_said_is_withdrawn() {
    let server = WireServer::start().await.unwrap();
    let reply = Reply::from(Message::new().text_deltas(["half", " of it"]));
    // After the first delta: start, block start, ping, delta.
    let half = reply.event_ends()[3];
    server.push(reply.hang_at(half));
    let limit = Duration::from_millis(150);
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).idle_timeout(limit).build().unwrap();
    let seen = watch(query("hi").provider(provider).limits(LimitOptions::new().max_retries(0))).await;
    assert_eq!(failure(&seen).kind, RunFailureKind::Model(ModelErrorKind::Timeout));
    assert_eq!((seen.withdrawn, seen.texts.len()), (1, 0));
    server.wait_hang_ups(1).await;
}

#[tokio::test]
async fn the_allowance_of_a_subscription_is_told_when_it_changes() {
    let server = WireServer::start().await.unwrap();
    let unified = |reply: Reply, status: &str, used: &str| {
        reply
            .header("anthropic-ratelimit-unified-status", status)
            .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
            .header("anthropic-ratelimit-unified-5h-utilization", used)
    };
    let limited = || Reply::error(429, "rate_limit_error", "not now").header("retry-after", "0");
    server.push(unified(limited(), "rejected", "1"));
    server.push(unified(limited(), "rejected", "1"));
    server.push(unified(Message::new().text("ok").into(), "allowed", "0.01"));
    let seen = watch(query("hi").provider(provider(&server.url()))).await;
    let told: Vec<_> = seen
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::RateLimit(limit) => Some((limit.status.as_str(), limit.utilization.map(Utilization::get))),
            EventKind::Status(Status::Retrying(_)) => Some(("retrying", None)),
            _ => None,
        })
        .collect();
    let (used_up, retrying, free) = (("rejected", Some(1.0)), ("retrying", None), ("allowed", Some(0.01)));
    assert_eq!(told, [used_up, retrying, retrying, free]);
}
