use super::*;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{ReadBuf, duplex};

/// Reader that yields its bytes one by one, and is never ready twice in a row.
struct Drip {
    bytes: std::vec::IntoIter<u8>,
    ready: bool,
}

impl AsyncRead for Drip {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        self.ready = !self.ready;
        if !self.ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(byte) = self.bytes.next() {
            buf.put_slice(&[byte]);
        }
        Poll::Ready(Ok(()))
    }
}

fn lines_of(text: &str, fault: &LineFault) -> LineTransport {
    let input = Drip { bytes: text.as_bytes().to_vec().into_iter(), ready: false };
    LineTransport::new(input, tokio::io::sink(), fault.clone(), Sent::default())
}

fn response(id: usize, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

#[tokio::test]
async fn no_half_read_line_is_lost_when_receiving_is_given_up() {
    let text: String = (0..20).map(|id| response(id, "grüße 🙂") + "\r\n").collect();
    let mut lines = lines_of(&text, &LineFault::default());
    let mut found = Vec::new();
    loop {
        tokio::select! {
            biased;
            message = lines.receive() => match message {
                Some(message) => found.push(serde_json::to_string(&message).unwrap()),
                None => break,
            },
            // Every other poll of `receive` is dropped half-way.
            () = tokio::task::yield_now() => {}
        }
    }
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|message| message.contains("grüße 🙂")));
}

#[tokio::test]
async fn greetings_and_nonsense_are_skipped_up_to_a_limit() {
    let fault = LineFault::default();
    let text = format!("Server is ready!\n\n{{\"a\":1}}\n{}", response(1, "x"));
    let mut lines = lines_of(&text, &fault);
    assert!(lines.receive().await.is_some(), "a last line without its end counts");
    assert!(lines.receive().await.is_none());
    assert!(fault.get().is_some_and(|fault| fault.contains("no message")));

    let (mut far, near) = duplex(1 << 16);
    let flood = tokio::spawn(async move { while far.write_all(b"nonsense\n").await.is_ok() {} });
    let mut lines = LineTransport::new(near, tokio::io::sink(), LineFault::default(), Sent::default());
    assert!(lines.receive().await.is_none());
    flood.await.unwrap();
}

#[tokio::test]
async fn a_line_without_an_end_is_given_up() {
    let (mut far, near) = duplex(1 << 16);
    let flood = tokio::spawn(async move {
        let part = [b'x'; 1 << 16];
        let mut sent = 0_usize;
        while far.write_all(&part).await.is_ok() {
            sent += part.len();
        }
        sent
    });
    let fault = LineFault::default();
    let mut lines = LineTransport::new(near, tokio::io::sink(), fault.clone(), Sent::default());
    assert!(lines.receive().await.is_none());
    assert!(fault.get().is_some_and(|fault| fault.contains("more than")));
    assert!(flood.await.unwrap() < 2 * MAX_LINE_BYTES);
}

#[tokio::test]
async fn messages_go_out_in_order_and_a_server_that_does_not_read_costs_little() {
    let (near, far) = duplex(1 << 20);
    let mut lines = LineTransport::new(tokio::io::empty(), near, LineFault::default(), Sent::default());
    let ping = |id: usize| serde_json::from_str(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).unwrap();
    let mut sent = tokio::task::JoinSet::new();
    for id in 0..50 {
        sent.spawn(lines.send(ping(id)));
    }
    assert!(sent.join_all().await.iter().all(Result::is_ok));
    let mut read = BufReader::new(far).lines();
    for id in 0..50 {
        assert!(read.next_line().await.unwrap().unwrap().contains(&format!("\"id\":{id},")));
    }
    // From here on there is no reader and no room.
    let (near, _far) = duplex(1);
    let mut lines = LineTransport::new(tokio::io::empty(), near, LineFault::default(), Sent::default());
    let mut sent = tokio::task::JoinSet::new();
    for id in 0..2 * MAX_WAITING_MESSAGES {
        sent.spawn(lines.send(ping(id)));
    }
    for _ in 0..MAX_WAITING_MESSAGES - 1 {
        let refused = sent.join_next().await.unwrap().unwrap();
        assert!(matches!(refused, Err(SendError::TooMany)), "{refused:?}");
    }
}
