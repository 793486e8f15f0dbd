use futures_util::future::join_all;
use windlass_http::{
    Bytes, HeaderMap, HeaderName, HeaderValue, HttpClient, HttpErrorKind, HttpOptions, proxy::CredentialProxy,
};
use windlass_testkit::wire::{Gate, Message, Reply};

use crate::proxy::world::{KEY, connect, exchange, post, status, world};

const END: &str = "\r\n0\r\n\r\n";

fn message() -> Reply {
    Reply::from(Message::new().text_deltas(["Hello", " there"])).separate_writes()
}

#[tokio::test]
async fn an_answer_passes_byte_for_byte_with_the_real_key() {
    let (server, proxy) = world().await;
    server.push(message());
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, r#"{"model":"m","stream":true}"#)).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream; charset=utf-8\r\n"), "{head}");
    assert!(head.contains("request-id: req_wire\r\n"), "{head}");
    let body = client.until(END).await;
    let text: String = body.split("\r\n").skip(1).step_by(2).collect();
    assert_eq!(text.as_bytes(), message().body());
    let request = server.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("host"), Some(server.address().to_string().as_str()));
    assert_eq!(request.header("content-length"), Some("27"));
    assert_eq!(request.body, r#"{"model":"m","stream":true}"#);
    assert!(!format!("{:?}", request.headers).contains(proxy.nonce()));
}

#[tokio::test]
async fn each_event_comes_before_the_upstream_sends_the_next() {
    let (server, proxy) = world().await;
    let reply = message();
    let gates: Vec<(usize, Gate)> = reply.event_ends().into_iter().map(|end| (end, Gate::new())).collect();
    let paused = gates.iter().fold(reply.clone(), |reply, (end, gate)| reply.pause_at(*end, gate));
    server.push(paused);
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    client.until("\r\n\r\n").await;
    let body = String::from_utf8(reply.body().to_vec()).unwrap();
    let mut from = 0;
    for (end, gate) in &gates {
        client.until(&body[from..*end]).await;
        from = *end;
        gate.open();
    }
    client.until(END).await;
}

#[tokio::test]
async fn the_upload_begins_before_the_client_has_sent_it_all() {
    let (server, proxy) = world().await;
    server.push(Reply::status(200, "{\"ok\":true}"));
    let mut client = connect(&proxy).await;
    let whole = post(&proxy, &"x".repeat(100_000));
    let (first, second) = whole.split_at(50_000);
    client.send(first).await;
    // The head is upstream already: the connection is made when there are bytes to send.
    server.wait_connections(1).await;
    assert_eq!(server.request_count(), 0);
    client.send(second).await;
    client.until("{\"ok\":true}").await;
    assert_eq!(server.requests()[0].body.len(), 100_000);
}

#[tokio::test]
async fn a_client_that_goes_ends_the_request_upstream() {
    let (server, proxy) = world().await;
    let (gate, after) = (Gate::new(), message().event_ends()[3]);
    // Before the head, and inside the body.
    for (number, reply) in [message().pause_at(0, &gate), message().hang_at(after)].into_iter().enumerate() {
        server.push(reply);
        let mut client = connect(&proxy).await;
        client.send(&post(&proxy, "{}")).await;
        server.wait_requests(number + 1).await;
        if number == 1 {
            client.until("event: content_block_delta").await;
        }
        drop(client);
        server.wait_hang_ups(number + 1).await;
    }
}

#[tokio::test]
async fn a_cut_upstream_is_a_cut_for_the_client() {
    let (server, proxy) = world().await;
    let after = message().event_ends()[3];
    for reply in [message().cut_at(after), message().reset_at(after)] {
        server.push(reply);
        let text = exchange(&proxy, &post(&proxy, "{}")).await;
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(!text.ends_with(END), "a cut looks like an end: {text}");
    }
    // Also with a length.
    server.push(Reply::status(200, "0123456789").cut_at(5));
    let text = exchange(&proxy, &post(&proxy, "{}")).await;
    assert!(text.contains("content-length: 10\r\n") && text.ends_with("\r\n\r\n01234"), "{text}");
    // Before the head, an error can be reported.
    for reply in [Reply::close(), Reply::reset()] {
        server.push(reply);
        assert_eq!(status(&proxy, &post(&proxy, "{}")).await, 502);
    }
}

#[tokio::test]
async fn errors_of_the_api_pass() {
    let (server, proxy) = world().await;
    for (code, kind) in [(400, "invalid_request_error"), (401, "authentication_error"), (529, "overloaded_error")] {
        server.push(Reply::error(code, kind, "why").header("retry-after", "7"));
        let mut client = connect(&proxy).await;
        client.send(&post(&proxy, "{}")).await;
        let head = client.until("\r\n\r\n").await;
        assert!(head.starts_with(&format!("HTTP/1.1 {code} ")) && head.contains("retry-after: 7\r\n"), "{head}");
        client.until(kind).await;
    }
}

fn client(proxy: &CredentialProxy) -> (HttpClient, HeaderMap) {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("x-api-key"), HeaderValue::from_str(proxy.nonce()).unwrap());
    (HttpClient::new(&proxy.url(), HttpOptions::default()).unwrap(), headers)
}

#[tokio::test]
async fn a_hundred_streams_at_a_time() {
    let (server, proxy) = world().await;
    let gate = Gate::new();
    let half = message().event_ends()[3];
    let held = gate.clone();
    server.on_request(move |_| message().pause_at(half, &held));
    let (client, headers) = client(&proxy);
    let streams = join_all((0..100).map(|_| async {
        let body = Bytes::from_static(b"{}");
        let mut events = client.post("/v1/messages", headers.clone(), body).await.unwrap().events();
        let mut count = 0;
        while let Some(event) = events.next().await {
            event.unwrap();
            count += 1;
        }
        count
    }));
    let all_there = async {
        gate.wait_arrived(100).await;
        gate.open();
    };
    let (counts, ()) = tokio::join!(streams, all_there);
    assert_eq!(counts, vec![message().event_ends().len(); 100]);
}

#[tokio::test]
async fn a_shutdown_lets_answers_finish_and_cuts_what_takes_too_long() {
    let (server, proxy) = world().await;
    let (gate, half) = (Gate::new(), message().event_ends()[3]);
    server.push(message().pause_at(half, &gate));
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    gate.wait_arrived(1).await;
    let idle = connect(&proxy).await;
    let address = proxy.url();
    let finish = async {
        // Closed by the shutdown that has begun, so that no new request is taken.
        assert_eq!(idle.rest().await, "");
        gate.open();
        client.until(END).await;
    };
    tokio::join!(proxy.shutdown(), finish);
    let gone = HttpClient::new(&address, HttpOptions::default()).unwrap();
    let error = gone.post("/v1/messages", HeaderMap::new(), Bytes::new()).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Connection);

    let mut options = crate::proxy::world::options(&server);
    options.grace = std::time::Duration::from_millis(50);
    let proxy = CredentialProxy::bind(options).await.unwrap();
    server.push(message().hang_at(half));
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    client.until("event: content_block_delta").await;
    proxy.shutdown().await;
    assert!(!client.rest().await.ends_with(END));
    server.wait_hang_ups(1).await;
}

#[tokio::test]
async fn a_dropped_proxy_is_gone_at_once() {
    let (server, proxy) = world().await;
    server.push(message().hang_at(message().event_ends()[3]));
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    client.until("event: content_block_delta").await;
    drop(proxy);
    assert!(!client.rest().await.ends_with(END));
    server.wait_hang_ups(1).await;
}
