//! Conformance of HTTP transports: checks of the promises of [`HttpTransport`] against a server on this machine.
//!
//! ```no_run
//! use std::sync::Arc;
//! use windlass_http::{HttpOptions, HttpTransport, NetworkTransport};
//!
//! # async fn run() -> Result<(), windlass_testkit::Violation> {
//! // A transport for a base URL, of plain HTTP.
//! windlass_testkit::transport::all(&|url: &str| {
//!     Arc::new(NetworkTransport::new(url, &HttpOptions::default()).expect("it is a URL")) as Arc<dyn HttpTransport>
//! })
//! .await
//! # }
//! ```

#[doc(no_inline)]
pub use crate::Violation;

use std::future::poll_fn;
use std::sync::Arc;

use windlass_http::{Bytes, HttpBody, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpTransport};

use crate::Gate;
use crate::violation::{ensure, within};
use crate::wire::{Message, Reply, WireServer};

/// Makes the transport to check, for a base URL.
pub type Make<'a> = &'a (dyn Fn(&str) -> Arc<dyn HttpTransport> + Sync);

/// Text that must never be shown.
const SECRET: &str = "sk-kit-secret-42";

/// Checks all promises.
///
/// # Errors
/// The first broken promise.
pub async fn all(make: Make<'_>) -> Result<(), Violation> {
    sends_what_it_is_given(make).await?;
    gives_any_status(make).await?;
    hands_chunks_on_as_they_come(make).await?;
    tells_a_cut_from_an_end(make).await?;
    marks_what_has_not_left(make).await?;
    hangs_up_when_dropped(make).await
}

async fn start() -> Result<WireServer, Violation> {
    WireServer::start().await.map_err(|error| Violation::new(format!("the server cannot start: {error}")))
}

fn request(server: &WireServer) -> HttpRequest {
    HttpRequest::post(format!("{}/v1/x?a=b%20c", server.url()))
        .with_header("x-api-key", SECRET)
        .with_header("content-type", "application/json")
        .with_body("{\"a\":\"\u{e9}\"}")
}

async fn send(transport: &dyn HttpTransport, request: HttpRequest) -> Result<HttpResponse, Violation> {
    let sent = within("sending", transport.send(request)).await?;
    sent.map_err(|error| Violation::new(format!("a request that the server answers failed: {error}")))
}

async fn next(body: &mut HttpBody) -> Result<Option<Result<Bytes, HttpError>>, Violation> {
    within("reading the body", poll_fn(|context| body.as_mut().poll_next(context))).await
}

/// Returns the bytes of a body, and the error that ended it.
async fn read(body: &mut HttpBody) -> Result<(Vec<u8>, Option<HttpError>), Violation> {
    let mut whole = Vec::new();
    while let Some(chunk) = next(body).await? {
        match chunk {
            Ok(chunk) => whole.extend_from_slice(&chunk),
            Err(error) => return Ok((whole, Some(error))),
        }
    }
    Ok((whole, None))
}

/// Checks that method, path, headers and body arrive unchanged, once, and that the answer comes back with its headers.
///
/// # Errors
/// Something else arrives, or comes back.
pub async fn sends_what_it_is_given(make: Make<'_>) -> Result<(), Violation> {
    let server = start().await?;
    let transport = make(&server.url());
    server.on_request(|_| Reply::status(200, "ok").header("x-one", "1").header("x-one", "2"));
    let answer = send(&*transport, request(&server)).await?;
    let ones: Vec<&[u8]> = answer.headers().filter(|(name, _)| *name == "x-one").map(|(_, value)| value).collect();
    ensure(ones == [b"1", b"2"], || format!("a header that comes twice came as {ones:?}"))?;
    let (body, error) = read(&mut answer.into_body()).await?;
    ensure(error.is_none() && body == b"ok", || format!("the body came as {body:?}, {error:?}"))?;
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        return Err(Violation::new(format!("one request was sent as {}", requests.len())));
    };
    let sent = (&*request.method, &*request.path, &*request.body);
    let expected = ("POST", "/v1/x?a=b%20c", "{\"a\":\"\u{e9}\"}".as_bytes());
    ensure(sent == expected, || format!("{expected:?} was sent as {sent:?}"))?;
    for (name, value) in [("x-api-key", SECRET), ("content-type", "application/json"), ("content-length", "10")] {
        let came = request.header(name);
        ensure(came == Some(value), || format!("the header {name} was sent as {came:?}"))?;
    }
    Ok(())
}

/// Checks that every status is an answer. Redirects are not followed, and no status is a reason to send again.
///
/// # Errors
/// A status is an error, or makes another request.
pub async fn gives_any_status(make: Make<'_>) -> Result<(), Violation> {
    for status in [204, 307, 401, 404, 429, 500, 503] {
        let server = start().await?;
        let transport = make(&server.url());
        server.push(Reply::status(status, "").header("location", "/elsewhere").header("retry-after", "0"));
        let answer = send(&*transport, request(&server)).await?;
        ensure(answer.status() == status, || format!("status {status} came as {}", answer.status()))?;
        read(&mut answer.into_body()).await?;
        let count = server.request_count();
        ensure(count == 1, || format!("status {status} made {count} requests of one"))?;
    }
    Ok(())
}

/// Checks that a chunk arrives before the server sends the next one.
///
/// # Errors
/// The chunk arrives later.
pub async fn hands_chunks_on_as_they_come(make: Make<'_>) -> Result<(), Violation> {
    let server = start().await?;
    let transport = make(&server.url());
    let gate = Gate::new();
    let reply = Reply::from(Message::new().text("hello"));
    let whole = reply.body();
    let first = reply.event_ends().first().copied().unwrap_or_default();
    server.push(reply.pause_at(first, &gate));
    let mut body = send(&*transport, request(&server)).await?.into_body();
    let mut came = Vec::new();
    while came.len() < first {
        match next(&mut body).await? {
            Some(Ok(chunk)) => came.extend_from_slice(&chunk),
            end => return Err(Violation::new(format!("a stream ended after {} bytes: {end:?}", came.len()))),
        }
    }
    gate.open();
    let (rest, error) = read(&mut body).await?;
    came.extend_from_slice(&rest);
    ensure(error.is_none() && came == whole, || format!("{} bytes came of {}: {error:?}", came.len(), whole.len()))
}

/// Checks that a body that is cut ends with an error of the kind `Cut`, and a whole one without.
///
/// # Errors
/// The body ends otherwise.
pub async fn tells_a_cut_from_an_end(make: Make<'_>) -> Result<(), Violation> {
    let reply = Reply::from(Message::new().text("hello"));
    let middle = reply.body().len() / 2;
    for reply in [reply.clone().cut_at(middle), reply.clone().reset_at(middle)] {
        let server = start().await?;
        let transport = make(&server.url());
        server.push(reply);
        let (_, error) = read(&mut send(&*transport, request(&server)).await?.into_body()).await?;
        let kind = error.as_ref().map(HttpError::kind);
        ensure(kind == Some(HttpErrorKind::Cut), || format!("a cut body ended with {error:?}"))?;
    }
    Ok(())
}

/// Checks that a failed connection is an error that says so and that the request was not sent; a connection that breaks
/// before the answer is an error that does not, and makes no second request. Neither shows a secret.
///
/// # Errors
/// Another error, or a second request.
pub async fn marks_what_has_not_left(make: Make<'_>) -> Result<(), Violation> {
    let server = start().await?;
    let request_to_none = request(&server);
    let away = make(&server.url());
    drop(server);
    let server = start().await?;
    let broken = make(&server.url());
    server.push(Reply::reset());
    for (transport, request, unsent) in [(away, request_to_none, true), (broken, request(&server), false)] {
        let shown = format!("{request:?} {transport:?}");
        let error = match within("sending", transport.send(request)).await? {
            Ok(answer) => return Err(Violation::new(format!("there is no server, and it answered {answer:?}"))),
            Err(error) => error,
        };
        ensure(error.kind() == HttpErrorKind::Connection && error.is_unsent() == unsent, || {
            let what = if unsent { "no server" } else { "a connection that broke" };
            format!("{what} is the error {:?}, unsent {}: {error}", error.kind(), error.is_unsent())
        })?;
        let texts = format!("{shown} {error} {error:?}");
        ensure(!texts.contains(SECRET), || format!("a secret is shown: {texts}"))?;
    }
    let count = server.request_count();
    ensure(count == 1, || format!("a connection that broke made {count} requests of one"))
}

/// Checks that a request whose future is dropped, and an answer whose body is dropped, also end on the server.
///
/// # Errors
/// The request stays open on the server.
pub async fn hangs_up_when_dropped(make: Make<'_>) -> Result<(), Violation> {
    let server = start().await?;
    let transport = make(&server.url());
    server.push(Reply::never());
    let sending = tokio::spawn({
        let (transport, request) = (Arc::clone(&transport), request(&server));
        async move { transport.send(request).await.map(drop) }
    });
    within("a request", server.wait_requests(1)).await?;
    sending.abort();
    within("hanging up a request", server.wait_hang_ups(1)).await?;

    let gate = Gate::new();
    let reply = Reply::from(Message::new().text("hello"));
    let first = reply.event_ends().first().copied().unwrap_or_default();
    server.push(reply.pause_at(first, &gate));
    let mut body = send(&*transport, request(&server)).await?.into_body();
    next(&mut body).await?;
    drop(body);
    within("hanging up an answer", server.wait_hang_ups(2)).await
}
