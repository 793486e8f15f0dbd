use super::*;
use tokio::io::{DuplexStream, duplex};

const LONG: Duration = Duration::from_secs(60);

/// Returns a connection, and the other end of its streams.
fn connected() -> (LanguageConnection, DuplexStream, Decoder) {
    let (ours, theirs) = duplex(1 << 20);
    let (reader, writer) = tokio::io::split(ours);
    (LanguageConnection::new(reader, writer, json!({"a": {"b": 7}})), theirs, Decoder::default())
}

async fn receive(stream: &mut DuplexStream, decoder: &mut Decoder) -> Value {
    loop {
        if let Some(message) = decoder.next().unwrap() {
            return message;
        }
        let mut bytes = vec![0; 4096];
        let count = stream.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the connection has ended");
        decoder.push(&bytes[..count]);
    }
}

async fn send(stream: &mut DuplexStream, message: Value) {
    stream.write_all(&encode(&message)).await.unwrap();
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order() {
    let (connection, mut server, mut decoder) = connected();
    let both = async { tokio::join!(connection.request("a", json!(1), LONG), connection.request("b", json!(2), LONG)) };
    let serve = async {
        let (first, second) = (receive(&mut server, &mut decoder).await, receive(&mut server, &mut decoder).await);
        send(&mut server, json!({"id": 999, "result": "no one asked"})).await;
        send(&mut server, json!([1])).await;
        send(&mut server, json!({"id": second["id"], "error": {"code": 1, "message": "no"}})).await;
        send(&mut server, json!({"id": first["id"], "result": first["method"]})).await;
    };
    let ((a, b), ()) = tokio::join!(both, serve);
    assert_eq!((a, b), (Ok(json!("a")), Err(NoAnswer::Refused("no".to_owned()))));
}

#[tokio::test]
async fn requests_of_the_server_are_answered() {
    let (_connection, mut server, mut decoder) = connected();
    let items = json!({"items": [{"section": "a.b"}, {"section": "x"}, {}]});
    send(&mut server, json!({"id": "s1", "method": "workspace/configuration", "params": items})).await;
    let answer = receive(&mut server, &mut decoder).await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!("s1"), &json!([7, null, {"a": {"b": 7}}])));
    send(&mut server, json!({"id": 2, "method": "window/showDocument", "params": {"uri": "http://a"}})).await;
    assert_eq!(receive(&mut server, &mut decoder).await["error"]["code"], METHOD_NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_cancelled_at_the_server() {
    let (connection, mut server, mut decoder) = connected();
    let limit = Duration::from_secs(5);
    assert_eq!(connection.request("slow", Value::Null, limit).await, Err(NoAnswer::TimedOut));
    let asked = receive(&mut server, &mut decoder).await;
    let cancelled = receive(&mut server, &mut decoder).await;
    assert_eq!((&cancelled["method"], &cancelled["params"]["id"]), (&json!("$/cancelRequest"), &asked["id"]));
    // A dropped request is cancelled, too.
    assert!(timeout(limit, connection.request("slow", Value::Null, LONG)).await.is_err());
    assert_eq!(receive(&mut server, &mut decoder).await["method"], "slow");
    assert_eq!(receive(&mut server, &mut decoder).await["method"], "$/cancelRequest");
    assert!(connection.shared.pending().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_server_answers_all() {
    for bytes in
        [&b""[..], b"Content-Length: x\r\n\r\n", b"Content-Length: 99999999\r\n\r\n", b"Content-Length: 1\r\n\r\n!"]
    {
        let (connection, mut server, mut decoder) = connected();
        let serve = async {
            receive(&mut server, &mut decoder).await;
            server.write_all(bytes).await.unwrap();
            if bytes.is_empty() {
                drop(server);
            }
        };
        let (answer, ()) = tokio::join!(connection.request("a", Value::Null, LONG), serve);
        assert_eq!(answer, Err(NoAnswer::Closed));
        assert!(connection.ended().is_some());
        assert_eq!(connection.request("a", Value::Null, LONG).await, Err(NoAnswer::Closed));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_takes_a_bounded_part() {
    let (ours, theirs) = duplex(64);
    let (reader, writer) = tokio::io::split(ours);
    let connection = LanguageConnection::new(reader, writer, Value::Null);
    let asked = (0..500).map(|_| connection.request("a", json!("x".repeat(1000)), Duration::from_secs(2)));
    let answers = futures_of(asked).await;
    let timed_out = answers.iter().filter(|answer| **answer == Err(NoAnswer::TimedOut)).count();
    assert_eq!((timed_out, answers.len()), (MOST_PENDING, 500), "the others are refused at once");
    drop(theirs);
}

/// Polls all futures concurrently.
async fn futures_of<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut open: Vec<_> = futures.into_iter().map(|future| (Some(Box::pin(future)), None)).collect();
    std::future::poll_fn(move |cx| {
        for (future, output) in &mut open {
            if let Some(running) = future
                && let std::task::Poll::Ready(found) = running.as_mut().poll(cx)
            {
                (*future, *output) = (None, Some(found));
            }
        }
        if open.iter().any(|(future, _)| future.is_some()) {
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(open.iter_mut().filter_map(|(_, output)| output.take()).collect())
    })
    .await
}
