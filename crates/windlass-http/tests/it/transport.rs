//! Transport over sockets, and others, against the duties of the port.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::timeout;
use windlass_http::{
    Bytes, HeaderMap, HttpClient, HttpError, HttpErrorKind, HttpOptions, HttpRequest, HttpResponse, HttpTransport,
    NetworkTransport,
};
use windlass_testkit::transport;

fn network(url: &str) -> Arc<dyn HttpTransport> {
    Arc::new(NetworkTransport::new(url, &HttpOptions::default()).unwrap())
}

#[tokio::test]
async fn the_transport_over_sockets_keeps_the_promises() {
    transport::all(&network).await.unwrap();
}

/// Fault of a wrapper.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    SendsTwice,
    HidesStatus,
    WaitsForTheBody,
    HidesCuts,
    SaysUnsent,
    LetsRun,
}

#[derive(Debug)]
struct Careless(Arc<dyn HttpTransport>, Wrong);

#[async_trait::async_trait]
impl HttpTransport for Careless {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Self(inner, wrong) = self;
        match wrong {
            Wrong::SendsTwice => {
                let _ = inner.send(request.clone()).await;
                inner.send(request).await
            }
            Wrong::HidesStatus => {
                let answer = inner.send(request).await?;
                let is_fine = answer.status() < 300;
                if is_fine { Ok(answer) } else { Err(HttpError::new(HttpErrorKind::Protocol, "no")) }
            }
            Wrong::WaitsForTheBody => {
                let answer = inner.send(request).await?;
                let head = HttpResponse::new(answer.status()).with_header("x-one", "1").with_header("x-one", "2");
                let whole: Vec<_> = answer.into_body().collect().await;
                Ok(head.with_body(stream::iter(whole)))
            }
            Wrong::HidesCuts => {
                let answer = inner.send(request).await?;
                Ok(answer.map_body(|body| Box::pin(body.take_while(|chunk| std::future::ready(chunk.is_ok())))))
            }
            Wrong::SaysUnsent => inner.send(request).await.map_err(HttpError::unsent),
            Wrong::LetsRun => {
                let inner = Arc::clone(inner);
                tokio::spawn(async move { inner.send(request).await }).await.unwrap()
            }
        }
    }
}

#[tokio::test]
async fn the_kit_finds_each_broken_promise() {
    let careless = |wrong| move |url: &str| Arc::new(Careless(network(url), wrong)) as Arc<dyn HttpTransport>;
    for (wrong, words) in [
        (Wrong::SendsTwice, "one request was sent as 2"),
        (Wrong::HidesStatus, "failed"),
        (Wrong::HidesCuts, "a cut body ended with None"),
        (Wrong::SaysUnsent, "unsent true"),
    ] {
        let found = transport::all(&careless(wrong)).await;
        let text = found.expect_err(&format!("{wrong:?} was not found")).to_string();
        assert!(text.contains(words), "{wrong:?}: {text}");
    }
    // The server waits for an action that these never take, and so does the kit, for longer than a test should.
    let patience = Duration::from_secs(1);
    let late = careless(Wrong::WaitsForTheBody);
    assert!(!matches!(timeout(patience, transport::hands_chunks_on_as_they_come(&late)).await, Ok(Ok(()))));
    let running = careless(Wrong::LetsRun);
    assert!(!matches!(timeout(patience, transport::hangs_up_when_dropped(&running)).await, Ok(Ok(()))));
}

/// Transport that answers with a body of a given kind.
#[derive(Debug)]
struct Body(fn() -> HttpResponse);

#[async_trait::async_trait]
impl HttpTransport for Body {
    async fn send(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        Ok((self.0)())
    }
}

fn client(body: fn() -> HttpResponse) -> HttpClient {
    let mut options = HttpOptions::default();
    options.idle_timeout = Duration::from_secs(10);
    options.max_event_bytes = 1000;
    options.transport = Some(Arc::new(Body(body)));
    HttpClient::new("https://user:secret@api.example.com", options).unwrap()
}

#[tokio::test(start_paused = true)]
async fn bounds_hold_over_any_transport() {
    let endless = || HttpResponse::new(200).with_body(stream::repeat_with(|| Ok(Bytes::from_static(b"data: x"))));
    let silent = || HttpResponse::new(200).with_body(stream::pending());
    let post = |body| async move { client(body).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap() };

    let mut events = post(endless).await.events();
    assert_eq!(events.next().await.unwrap().unwrap_err().kind(), HttpErrorKind::Protocol);
    assert_eq!(post(endless).await.text(100).await.unwrap().len(), 100);

    let before = tokio::time::Instant::now();
    let mut events = post(silent).await.events();
    assert_eq!(events.next().await.unwrap().unwrap_err().kind(), HttpErrorKind::Timeout);
    assert!(events.next().await.is_none());
    assert_eq!(post(silent).await.text(100).await.unwrap_err().kind(), HttpErrorKind::Timeout);
    assert_eq!(before.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn only_silence_that_is_waited_for_counts() {
    // Each chunk arrives 6 s after it is requested: less than the limit, and together more.
    let slow = || {
        HttpResponse::new(200).with_body(stream::unfold(0, |at| async move {
            tokio::time::sleep(Duration::from_secs(6)).await;
            (at < 5).then(|| (Ok(Bytes::from(format!("data: {at}\n\n"))), at + 1))
        }))
    };
    let mut events = client(slow).post("/x", HeaderMap::new(), Bytes::new()).await.unwrap().events();
    for at in 0..5 {
        // A slow reader.
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(&*events.next().await.unwrap().unwrap().data, at.to_string());
    }
    assert!(events.next().await.is_none());
}

#[test]
fn no_debug_form_shows_headers_addresses_or_bodies() {
    let request = HttpRequest::post("https://user:secret@h/?key=secret")
        .with_header("x-api-key", "secret")
        .with_header("no\nheader", "x")
        .with_body("secret");
    assert_eq!(request.header("X-API-Key"), Some("secret"));
    assert_eq!(request.headers().count(), 1);
    let answer = HttpResponse::new(200).with_header("set-cookie", "secret").with_bytes("secret");
    let texts = format!("{request:?} {answer:?} {:?}", client(|| HttpResponse::new(200)));
    assert!(!texts.contains("secret"), "{texts}");
}
