//! Client over real sockets.

use std::time::Duration;

use windlass_http::{Bytes, Events, HeaderMap, HttpClient, HttpError, HttpErrorKind, HttpOptions, Secret};
use windlass_testkit::wire::{Gate, Message, Reply, WireServer};

fn client(server: &WireServer) -> HttpClient {
    client_with(server, HttpOptions::default())
}

fn client_with(server: &WireServer, options: HttpOptions) -> HttpClient {
    HttpClient::new(&server.url(), options).unwrap()
}

async fn events(client: &HttpClient) -> Result<Events, HttpError> {
    let body = Bytes::from_static(b"{}");
    Ok(client.post("/x", HeaderMap::new(), body).await?.events())
}

/// Returns the number of events, and the error at the end of the stream.
async fn count(events: &mut Events) -> (usize, Option<HttpErrorKind>) {
    let mut count = 0;
    while let Some(event) = events.next().await {
        match event {
            Ok(_) => count += 1,
            Err(error) => return (count, Some(error.kind())),
        }
    }
    (count, None)
}

#[tokio::test]
async fn keeps_one_connection_also_when_the_end_is_not_read() {
    let server = WireServer::start().await.unwrap();
    let client = client(&server);
    let reply = Reply::from(Message::new().text("hello"));
    let total = reply.event_ends().len();
    for turn in 1..=20 {
        server.push(reply.clone().separate_writes());
        let mut events = events(&client).await.unwrap();
        for _ in 0..total {
            events.next().await.unwrap().unwrap();
        }
        events.release();
        // The rest of the body is read by another task of this runtime.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.request_count(), turn);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_is_replaced() {
    let server = WireServer::start().await.unwrap();
    let client = client(&server);
    for _ in 0..5 {
        server.push(Reply::from(Message::new().text("x")).until_close());
        assert_eq!(count(&mut events(&client).await.unwrap()).await.1, None);
    }
}

/// The server closes the connection when the next request is already on its way.
#[tokio::test]
async fn a_request_on_a_connection_that_the_server_closes_is_sent_again_at_once() {
    for closed in [Reply::close(), Reply::reset()] {
        let server = WireServer::start().await.unwrap();
        let client = client(&server);
        let answer = || Reply::from(Message::new().text("x"));
        for reply in [answer(), closed, answer()] {
            server.push(reply);
        }
        assert_eq!(count(&mut events(&client).await.unwrap()).await.1, None);
        assert_eq!(count(&mut events(&client).await.unwrap()).await.1, None);
        assert_eq!((server.request_count(), server.connections()), (3, 2));
        // Only once: a server that closes the new connection as well is broken.
        server.push(Reply::close());
        server.push(Reply::close());
        assert_eq!(events(&client).await.unwrap_err().kind(), HttpErrorKind::Connection);
    }
}

#[tokio::test]
async fn says_how_an_answer_failed() {
    let mut options = HttpOptions::default();
    options.idle_timeout = Duration::from_millis(150);
    let reply = Reply::from(Message::new().text("hello"));
    let middle = reply.event_ends()[1] + 3;
    let cases = [
        ("never", Reply::never(), Err(HttpErrorKind::Timeout)),
        ("close", Reply::close(), Err(HttpErrorKind::Connection)),
        ("reset", Reply::reset(), Err(HttpErrorKind::Connection)),
        ("not HTTP", Reply::raw("hello\r\n\r\n"), Err(HttpErrorKind::Connection)),
        ("silent", reply.clone().hang_at(middle), Ok((2, Some(HttpErrorKind::Timeout)))),
        ("cut", reply.clone().cut_at(middle), Ok((2, Some(HttpErrorKind::Cut)))),
        ("reset inside", reply.clone().reset_at(middle), Ok((2, Some(HttpErrorKind::Cut)))),
        ("ended early", reply.clone().stop_at(middle), Ok((2, None))),
        ("closed early", reply.clone().until_close().cut_at(middle), Ok((2, None))),
    ];
    for (name, reply, expected) in cases {
        let server = WireServer::start().await.unwrap();
        server.push(reply);
        let outcome = match events(&client_with(&server, options.clone())).await {
            Ok(mut events) => Ok(count(&mut events).await),
            Err(error) => Err(error.kind()),
        };
        assert_eq!(outcome, expected, "{name}");
    }
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error_that_names_the_host() {
    let gone = WireServer::start().await.unwrap();
    let url = gone.url();
    drop(gone);
    tokio::task::yield_now().await;
    let client = HttpClient::new(&format!("{url}/secret?token=1"), HttpOptions::default()).unwrap();
    let error = events(&client).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Connection);
    assert!(error.to_string().contains("127.0.0.1:"), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[tokio::test]
async fn does_not_follow_redirects() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::status(307, "").header("location", "/elsewhere"));
    let response = client(&server).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap();
    assert_eq!(response.status(), 307);
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn an_error_body_is_read_up_to_a_limit() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::status(500, "x".repeat(100_000)).header("retry-after", "9"));
    let response = client(&server).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap();
    assert_eq!(response.header("Retry-After"), Some("9"));
    assert_eq!(response.text(1000).await.unwrap().len(), 1000);
}

/// An error whose body never ends is reported at once all the same.
#[tokio::test]
async fn an_error_body_that_drips_is_not_waited_for() {
    let server = WireServer::start().await.unwrap();
    let body = "it is broken".repeat(100);
    let dripping: Vec<Gate> = (0..8).map(|_| Gate::new()).collect();
    let reply = dripping
        .iter()
        .enumerate()
        .fold(Reply::status(500, body), |reply, (at, gate)| reply.pause_at(12 * (at + 1), gate));
    server.push(reply);
    let response = client(&server).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap();
    // A byte now and then: the time without any never gets long.
    let drip = async {
        for gate in &dripping {
            tokio::time::sleep(Duration::from_millis(80)).await;
            gate.open();
        }
        std::future::pending::<()>().await;
    };
    let began = std::time::Instant::now();
    let reading = response.excerpt(64 * 1024, Duration::from_millis(200));
    let text = tokio::select! { text = reading => text, () = drip => unreachable!() };
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert!(text.starts_with("it is broken") && text.len() < 1200, "{text}");
}

/// A small answer that does not end is given up, too.
#[tokio::test]
async fn a_body_that_does_not_end_is_a_timeout() {
    let server = WireServer::start().await.unwrap();
    let mut options = HttpOptions::default();
    options.idle_timeout = Duration::from_millis(150);
    server.push(Reply::status(200, "{}").hang_at(1));
    let response = client_with(&server, options).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap();
    assert_eq!(response.text(1000).await.unwrap_err().kind(), HttpErrorKind::Timeout);
}

#[tokio::test]
async fn a_failed_connection_says_why() {
    let gone = WireServer::start().await.unwrap();
    let url = gone.url();
    drop(gone);
    tokio::task::yield_now().await;
    // No label of a name may have so many letters, so no name server is asked.
    let nowhere = format!("http://{}.invalid", "a".repeat(64));
    for (url, kind, message) in [
        (url.as_str(), HttpErrorKind::Connection, "refused"),
        (nowhere.as_str(), HttpErrorKind::Connection, "dns error"),
    ] {
        let error = events(&HttpClient::new(url, HttpOptions::default()).unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.is_unsent());
    }
    let server = WireServer::start().await.unwrap();
    server.push(Reply::reset());
    let error = events(&client(&server)).await.unwrap_err();
    assert!(!error.is_unsent(), "{error}");
    assert!(error.to_string().contains("broke: "), "{error}");
}

#[tokio::test]
async fn dropping_the_events_hangs_up() {
    let server = WireServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(Message::new().text("hello"));
    let first = reply.event_ends()[0];
    server.push(reply.pause_at(first, &gate));
    let mut events = events(&client(&server)).await.unwrap();
    events.next().await.unwrap().unwrap();
    drop(events);
    server.wait_hang_ups(1).await;
}

#[test]
fn unusable_base_urls_say_so_without_showing_them() {
    for url in ["", "api.example.com", "ftp://u:pw@h", "/v1", "http://"] {
        let error = HttpClient::new(url, HttpOptions::default()).unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Configuration, "{url}");
        assert!(!error.to_string().contains("pw"));
    }
    let client = HttpClient::new("http://user:pw@host/x/", HttpOptions::default()).unwrap();
    assert!(!format!("{client:?}").contains("pw"));
    assert_eq!(client.host(), "host");
}

#[test]
fn a_secret_does_not_show() {
    let secret = Secret::new(" sk-123\n");
    assert_eq!(format!("{secret:?}"), "[redacted]");
    let header = secret.header("Bearer ").unwrap();
    assert_eq!(header, "Bearer sk-123");
    assert!(!format!("{header:?}").contains("123"));
    assert!(Secret::new("a\nb").header("").is_err());
}
