//! Many watchers of one session.

use crate::world::{Open, model, soon, world};
use futures_util::StreamExt;
use std::sync::Arc;
use windlass_model::ScriptedTurn;
use windlass_runtime::{EventFeed, Watched};
use windlass_types::{Delta, EventKind};

/// A model whose answer is so many blocks of text, none of which joins another.
fn blocks(count: usize) -> windlass_model::ScriptedModel {
    model(move |_, _| (0..count).fold(ScriptedTurn::new(), |turn, at| turn.text(format!("part {at}."))))
}

/// Events that a watcher sees up to the end of the run, as numbers and texts.
async fn see(feed: &mut EventFeed) -> Vec<(u64, String)> {
    let mut seen = Vec::new();
    while let Some(item) = soon(feed.try_next()).await.unwrap() {
        match item {
            Watched::Event(event) => {
                let text = match &event.kind {
                    EventKind::BlockDelta { delta: Delta::Text(text), .. } => text.clone(),
                    _ => String::new(),
                };
                seen.push((event.seq, text));
                if matches!(event.kind, EventKind::RunFinished(_)) {
                    return seen;
                }
            }
            Watched::Missed { from, to } => seen.push((from, format!("missed up to {to}"))),
        }
    }
    panic!("the run did not end: {seen:?}")
}

#[tokio::test]
async fn all_watchers_see_the_same_events_under_the_same_numbers() {
    let Open { handle, events, .. } = world(blocks(5), []).open().await;
    events.detach();
    let (mut one, mut two) = (handle.subscribe(), handle.subscribe_from(0).unwrap());
    handle.prompt("go").unwrap();
    let seen = see(&mut one).await;
    assert_eq!(see(&mut two).await, seen);
    assert_eq!(seen.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (0..seen.len() as u64).collect::<Vec<_>>());
    assert!(seen.iter().any(|(_, text)| text == "part 4."));
    // One that comes later reads the past first.
    let mut late = handle.subscribe_from(2).unwrap();
    assert_eq!(see(&mut late).await, seen[2..]);
    assert_eq!(late.position(), seen.len() as u64);
    assert!(!handle.has_ended());
    handle.close().await.unwrap();
    assert!(handle.has_ended());
    assert!(soon(late.try_next()).await.unwrap().is_none());
}

#[tokio::test]
async fn watchers_see_what_the_stream_of_the_host_has_read() {
    let mut open = world(blocks(2), []).open().await;
    let mut feed = open.handle.subscribe();
    open.say("go");
    let read = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let seen = see(&mut feed).await;
    let numbers: Vec<u64> = read.iter().map(|event| event.seq).collect();
    assert_eq!(seen.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), numbers);
    // The last events of a session whose host has gone are for the watchers.
    let Open { handle, events, .. } = open;
    drop(events);
    handle.ended().await;
    while soon(feed.try_next()).await.unwrap().is_some() {}
}

#[tokio::test]
async fn what_was_not_kept_is_reported_as_missed() {
    let mut open = world(blocks(1), []).open().await;
    open.succeed("go").await;
    // No one watched until now.
    let mut feed = open.handle.subscribe_from(0).unwrap();
    let position = open.handle.subscribe().position();
    open.say("go on");
    soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let seen = see(&mut feed).await;
    assert_eq!(seen[0], (0, format!("missed up to {position}")));
    assert_eq!(seen[1].0, position);
}

#[tokio::test]
async fn a_position_that_is_not_known_yet_is_an_error() {
    let open = world(blocks(1), []).open().await;
    let error = open.handle.subscribe_from(500).unwrap_err();
    assert_eq!((error.asked, error.next), (500, 0));
    assert!(error.to_string().contains("begin anew"), "{error}");
}

/// Numbers begin anew with each opening, and the opening says so.
#[tokio::test]
async fn each_opening_has_an_id_of_its_own() {
    let store = windlass_session::MemoryStore::new();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let Open { handle, events, .. } = world(blocks(1), []).stored(&store).open().await;
        let feed = handle.subscribe();
        assert_eq!((feed.opening(), handle.weak().opening()), (handle.opening(), handle.opening()));
        assert_eq!((feed.opening().len(), feed.position()), (32, 0));
        seen.insert(feed.opening().to_owned());
        drop((feed, events));
        handle.close().await.unwrap();
    }
    assert_eq!(seen.len(), 3);
}

/// A watcher that never reads holds up nothing, and learns how much it has missed.
#[tokio::test]
async fn a_watcher_that_never_reads_misses_and_holds_up_nothing() {
    let Open { handle, events, .. } = world(blocks(9_000), []).open().await;
    events.detach();
    let mut idle = handle.subscribe();
    let mut busy = handle.subscribe();
    handle.prompt("go").unwrap();
    let seen = see(&mut busy).await;
    assert!(seen.last().is_some_and(|(seq, _)| *seq > 9_000));
    let Some(Watched::Missed { from: 0, to }) = soon(idle.try_next()).await.unwrap() else { panic!("nothing missed") };
    assert!(to > 4_000);
    let Some(Watched::Event(event)) = soon(idle.try_next()).await.unwrap() else { panic!("no event") };
    assert_eq!(event.seq, to);
}

#[tokio::test]
async fn a_detached_session_ends_with_its_last_handle_or_watcher() {
    let Open { handle, events, .. } = world(blocks(1), []).open().await;
    events.detach();
    let ended = handle.ended();
    let feed = handle.subscribe();
    drop(handle);
    feed.handle().prompt("go").unwrap();
    let mut feed = feed;
    see(&mut feed).await;
    drop(feed);
    soon(ended).await;
}

/// A weak handle inside of the library does not keep the session open.
#[tokio::test]
async fn a_weak_handle_gives_orders_and_keeps_no_session_open() {
    let Open { handle, events, .. } = world(blocks(1), []).open().await;
    events.detach();
    let (weak, mut feed) = (handle.weak(), handle.subscribe());
    drop(handle);
    weak.prompt("go").unwrap();
    see(&mut feed).await;
    drop(feed);
    soon(weak.ended()).await;
    assert!(weak.has_ended() && weak.prompt("again").is_err());
}

#[tokio::test]
async fn a_thousand_watchers_share_each_event() {
    let Open { handle, events, .. } = world(blocks(20), []).open().await;
    events.detach();
    let feeds: Vec<EventFeed> = (0..1_000).map(|_| handle.subscribe()).collect();
    let watchers: Vec<_> = feeds.into_iter().map(|feed| tokio::spawn(feed.take(10).collect::<Vec<_>>())).collect();
    handle.prompt("go").unwrap();
    let mut first: Option<Vec<Arc<windlass_types::Event>>> = None;
    for watcher in watchers {
        let seen = soon(watcher).await.unwrap().into_iter().map(|item| match item.unwrap() {
            Watched::Event(event) => event,
            missed => panic!("{missed:?}"),
        });
        let seen: Vec<_> = seen.collect();
        let first = first.get_or_insert_with(|| seen.clone());
        assert!(seen.iter().zip(first.iter()).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
