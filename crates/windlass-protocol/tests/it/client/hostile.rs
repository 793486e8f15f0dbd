//! Peers that break off, flood, stall or talk nonsense.

use crate::client::fake::{Peer, pair, ready, ready_over, refused};
use futures_util::{FutureExt, StreamExt};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use windlass_hook::{Hook, Interest, PreToolUseAction, hook_fn};
use windlass_protocol::client::{Client, ClientError, ClientOptions, Message};
use windlass_types::HookEventName;

fn result() -> Value {
    json!({ "type": "result", "subtype": "success", "is_error": false, "result": "ok" })
}

fn message_of(bytes: usize) -> Value {
    json!({ "type": "hologram", "text": "x".repeat(bytes) })
}

#[tokio::test(start_paused = true)]
async fn lines_may_come_in_pieces() {
    let (mut client, mut peer) = ready_over(1, ClientOptions::new()).await;
    let (_, got) = tokio::join!(peer.send(result()), client.result());
    assert_eq!(got.unwrap().result.as_deref(), Some("ok"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_known_is_kept_and_what_is_no_message_left_out() {
    let (mut client, mut peer) = ready(ClientOptions::new()).await;
    peer.send_text("\n  \nwarning: stray\n[1]\n{\"type\":\"keep_alive\"}\r\n{\"type\":\"hologram\",\"n\":1.50}\n")
        .await;
    let Some(Message::Other(other)) = client.next().await.unwrap() else { panic!("not kept") };
    assert_eq!((other.kind.as_str(), other.raw.as_str()), ("hologram", r#"{"type":"hologram","n":1.50}"#));
    drop(peer);
    assert!(client.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn nonsense_ends_it_with_a_reason() {
    for line in
        ["{\n", "{\"type\":\"control_request\"}\n", "{\"type\":\"\u{0}\"}\n", "{\"type\":\"control_response\"}\n"]
    {
        let (mut client, mut peer) = ready(ClientOptions::new()).await;
        let orders = client.handle().clone();
        peer.send(result()).await;
        peer.send_text(line).await;
        assert!(matches!(client.next().await, Ok(Some(Message::Result(_)))), "{line}");
        assert!(matches!(client.next().await, Err(ClientError::Malformed { .. })), "{line}");
        assert!(client.next().await.unwrap().is_none(), "{line}");
        assert!(matches!(orders.interrupt().await, Err(ClientError::Closed)), "{line}");
    }
    let (mut client, mut peer) = ready(ClientOptions::new().max_line(1_000)).await;
    peer.send(message_of(2_000)).await;
    assert!(matches!(client.next().await, Err(ClientError::TooLong { limit: 1_000 })));
}

#[tokio::test(start_paused = true)]
async fn the_end_is_peace_between_turns_and_an_error_within_one() {
    let (mut client, peer) = ready(ClientOptions::new()).await;
    drop(peer);
    assert!(client.next().await.unwrap().is_none());

    let (mut client, mut peer) = ready(ClientOptions::new()).await;
    client.prompt("go").await.unwrap();
    peer.send_text("{\"type\":\"assist").await;
    drop(peer);
    assert!(matches!(client.result().await, Err(ClientError::Closed)));
    assert!(client.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn messages_are_a_stream_that_ends_with_an_error() {
    let (mut client, mut peer) = ready(ClientOptions::new()).await;
    peer.send(result()).await;
    peer.send_text("{\n").await;
    let all: Vec<_> = client.messages().collect().await;
    assert!(matches!(all.as_slice(), [Ok(Message::Result(_)), Err(ClientError::Malformed { .. })]), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_never_ready_is_not_waited_for() {
    let error = refused(async |_: &mut Peer, _| {}, ClientOptions::new()).await;
    assert!(
        matches!(&error, ClientError::TimedOut { order, limit } if order == "initialize" && limit.as_secs() == 60),
        "{error}"
    );
    let (reader, writer, peer) = pair(64);
    drop(peer);
    assert!(matches!(Client::connect(reader, writer, ClientOptions::new()).await, Err(ClientError::Closed)));
}

#[tokio::test(start_paused = true)]
async fn a_peer_may_refuse() {
    let no = async |peer: &mut Peer, line: Value| {
        let body = json!({ "subtype": "error", "request_id": line["request_id"], "error": "no" });
        peer.send(json!({ "type": "control_response", "response": body })).await;
    };
    let error = refused(no, ClientOptions::new()).await;
    assert!(matches!(&error, ClientError::Refused { error, code: None } if error == "no"), "{error}");
}

struct Gate;

impl Hook for Gate {
    fn name(&self) -> &str {
        "gate"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }
}

#[tokio::test]
async fn a_hook_that_would_never_be_asked_is_refused_before_anything_is_sent() {
    let hook = hook_fn("gate").before_tool(["^act$"], |_| async { Ok(PreToolUseAction::Continue) });
    let (reader, writer) = (tokio::io::empty(), tokio::io::sink());
    let error = Client::connect(reader, writer, ClientOptions::new().hook(hook)).await.unwrap_err();
    assert!(matches!(&error, ClientError::Hooks(hooks) if hooks.hook == "gate"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_cannot_keep_a_gate_closed_is_refused() {
    let yes = async |peer: &mut Peer, line: Value| {
        assert_eq!(line["request"]["hooks"]["PreToolUse"][0]["onFailure"], "block");
        peer.answer(&line["request_id"], json!({})).await;
    };
    let error = refused(yes, ClientOptions::new().hook(Gate)).await;
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn late_double_and_unknown_answers_change_nothing() {
    let (client, mut peer) = ready(ClientOptions::new().order_timeout(Duration::from_secs(3))).await;
    let orders = client.handle().clone();
    let error = orders.interrupt().await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    let asked = peer.next().await.unwrap();
    let taken_back = peer.next().await.unwrap();
    assert_eq!(
        (&taken_back["type"], &taken_back["request_id"]),
        (&json!("control_cancel_request"), &asked["request_id"])
    );
    for id in [&asked["request_id"], &asked["request_id"], &json!("unknown")] {
        peer.answer(id, json!({})).await;
    }
    let nothing = json!({});
    let (answered, ()) = tokio::join!(orders.control("fly", &nothing), async {
        let asked = peer.next().await.unwrap();
        peer.answer(&asked["request_id"], json!({ "n": 1 })).await;
        peer.answer(&asked["request_id"], json!({ "n": 2 })).await;
    });
    assert_eq!(answered.unwrap().as_str(), r#"{"n":1}"#);
}

#[tokio::test(start_paused = true)]
async fn messages_that_are_not_read_are_bounded_and_orders_get_through() {
    let (mut client, peer) = ready_over(100, ClientOptions::new().max_waiting(10_000)).await;
    let Peer { mut input, mut output } = peer;
    let (lines, mut queue) = tokio::sync::mpsc::unbounded_channel::<Value>();
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    tokio::spawn(async move {
        while let Some(line) = queue.recv().await {
            output.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    // Time passes only when nothing else can happen.
    let settled = async || {
        tokio::time::sleep(Duration::from_millis(1)).await;
        written.load(Ordering::SeqCst)
    };
    for _ in 0..14 {
        lines.send(message_of(900)).unwrap();
    }
    let before = settled().await;
    assert!((10..=12).contains(&before), "{before}");

    let orders = client.handle().clone();
    let order = tokio::spawn(async move { orders.interrupt().await });
    let asked: Value = serde_json::from_str(&input.next_line().await.unwrap().unwrap()).unwrap();
    let body = json!({ "subtype": "success", "request_id": asked["request_id"] });
    lines.send(json!({ "type": "control_response", "response": body })).unwrap();
    order.await.unwrap().unwrap();

    for _ in 0..100 {
        lines.send(message_of(900)).unwrap();
    }
    let after = settled().await;
    assert!((15..=24).contains(&after), "{after}");
    for _ in 0..114 {
        assert!(matches!(client.next().await, Ok(Some(Message::Other(_)))));
    }
    drop(lines);
    assert!(client.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_makes_prompts_wait_but_not_the_end() {
    let (client, peer) = ready(ClientOptions::new()).await;
    let long = "x".repeat(3_000_000);
    client.prompt(long.as_str()).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(60), client.prompt(long.as_str())).await.is_err());
    let error = client.close().await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    drop(peer);
}

#[tokio::test(start_paused = true)]
async fn an_order_does_not_outlive_its_client() {
    let (client, mut peer) = ready(ClientOptions::new()).await;
    let orders = client.handle().clone();
    let order = tokio::spawn(async move { orders.interrupt().await });
    peer.next().await.unwrap();
    drop(client);
    let error = order.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_long_is_not_sent() {
    let (client, mut peer) = ready(ClientOptions::new().max_line(1_000)).await;
    let long = "x".repeat(2_000);
    assert!(matches!(client.prompt(long.as_str()).await, Err(ClientError::RequestTooLong { limit: 1_000 })));
    let error = client.handle().set_model(Some(&long)).await.unwrap_err();
    assert!(matches!(error, ClientError::RequestTooLong { .. }), "{error}");
    assert!(peer.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn next_may_be_dropped_at_any_time() {
    let (mut client, mut peer) = ready_over(7, ClientOptions::new()).await;
    let writing = tokio::spawn(async move {
        for _ in 0..50 {
            peer.send(result()).await;
        }
        peer
    });
    let mut read = 0;
    while read < 50 {
        // Dropped whenever it would have to wait.
        match client.next().now_or_never() {
            Some(message) => {
                assert!(matches!(message.unwrap(), Some(Message::Result(_))));
                read += 1;
            }
            None => tokio::task::yield_now().await,
        }
    }
    drop(writing.await.unwrap());
    assert!(client.next().await.unwrap().is_none());
}

/// Pieces of lines, most of them good for something.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"\n".to_vec()),
        Just(br#"{"type":"result","subtype":"success","is_error":true}"#.to_vec()),
        Just(br#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","tool_name":"x","input":{}}}"#.to_vec()),
        Just(br#"{"type":"control_cancel_request","request_id":"a"}"#.to_vec()),
        Just(br#"{"type":"control_response","response":{"request_id":"a"}}"#.to_vec()),
        Just(br#"{"type":"assistant","message":{"content":[{"type":"text","text":"x"}]}}"#.to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
        r#"\{"type":"[a-z_]{0,12}","[a-z_]{1,10}":(null|1|\[\]|\{\}|"x")\}"#.prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A client ends, and ends once, after any input.
    #[test]
    fn whatever_comes_is_survived(pieces in proptest::collection::vec(piece(), 0..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (mut client, peer) = ready_over(50, ClientOptions::new().max_line(300).max_waiting(100)).await;
            let Peer { mut input, mut output } = peer;
            let listening = tokio::spawn(async move { while let Ok(Some(_)) = input.next_line().await {} });
            tokio::spawn(async move {
                for piece in pieces {
                    if output.write_all(&piece).await.is_err() {
                        return;
                    }
                }
            });
            let rest = async { while let Ok(Some(_)) = client.next().await {} };
            tokio::time::timeout(Duration::from_secs(600), rest).await.expect("it ends");
            assert!(client.next().await.unwrap().is_none());
            drop(client);
            tokio::time::timeout(Duration::from_secs(600), listening).await.expect("it hangs up").unwrap();
        });
    }
}
