//! Streams that are cut, split, slow, or damaged.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use windlass_types::{ModelErrorKind, ModelEvent, StreamDelta};

use super::endpoint::Endpoint;
use super::open::{answers, open};
use super::stream::{Ending, Transcript};
use crate::violation::{ensure, within};
use crate::{Gate, Violation};

/// Checks that an answer that is cut at any byte does not complete and fails as [`ModelErrorKind::Cut`], or ends
/// without an error.
///
/// # Errors
/// A message that is complete before the vendor said so, or another failure.
pub async fn reports_cuts_at_every_byte(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let answer = endpoint.answer();
    let reply = endpoint.dialect.reply(&answer, 0);
    let ends = reply.event_ends();
    let signal = endpoint.dialect.end_signal(ends.len());
    // The last bytes of the event that ends the message are line ends.
    let end = ends.get(signal).copied().unwrap_or_default().saturating_sub(4);
    let request = endpoint.first_request();
    for (number, at) in (0..end).step_by(endpoint.step).enumerate() {
        let reply = reply.clone();
        server.push(if number % 2 == 0 { reply.stop_at(at) } else { reply.cut_at(at) });
        let answered = open(&*provider, &request).await?;
        let ending = answered.ending();
        // A stream without any event may also fail as no stream at all.
        let is_cut = matches!(ending, Ending::Cut | Ending::Failed(ModelErrorKind::Cut))
            || (answered.items.is_empty()
                && matches!(ending, Ending::Failed(ModelErrorKind::Protocol | ModelErrorKind::Connection)));
        ensure(is_cut, || format!("cut at byte {at} of {end}, it ended as {ending:?}: {:?}", answered.error))?;
    }
    Ok(())
}

/// Checks that an answer is the same wherever the network splits it.
///
/// # Errors
/// Different events.
pub async fn reads_any_split(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let reply = endpoint.dialect.reply(&endpoint.answer(), 0);
    let request = endpoint.first_request();
    server.push(reply.clone().one_chunk());
    let whole = answers(&*provider, &request).await?.events();
    let mut splits: Vec<(String, _)> =
        [1, 2, 3, 7, 64].map(|size| (format!("pieces of {size}"), reply.clone().chunks_of(size))).into();
    // Pieces of one byte test all splits at once; these splits are separate writes.
    for at in (1..reply.body().len()).step_by(endpoint.step * 7) {
        splits.push((format!("a split at {at}"), reply.clone().chunks_at([at]).separate_writes()));
    }
    for (what, reply) in splits {
        server.push(reply);
        let read = answers(&*provider, &request).await?.events();
        ensure(read == whole, || format!("with {what} the events are {read:?}, not {whole:?}"))?;
    }
    Ok(())
}

/// Checks that received content is shown while the rest is still to come.
///
/// # Errors
/// Text that is not shown before the end.
pub async fn shows_what_has_come(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let reply = endpoint.dialect.reply(&endpoint.answer(), 0);
    let gate = Gate::new();
    server.push(reply.clone().pause_at(first_text(endpoint, &reply.event_ends()), &gate));
    let request = Arc::new(endpoint.first_request());
    let opened = within("opening a stream", provider.stream(request)).await?;
    let mut stream = opened.map_err(|error| Violation::new(format!("the stream does not open: {error}")))?;
    loop {
        match within("the first text of a slow stream", stream.next()).await? {
            Some(Ok(item)) if is_text(&item.event) => break,
            Some(Ok(_)) => {}
            other => return Err(Violation::new(format!("before its first text the stream gives {other:?}"))),
        }
    }
    gate.open();
    let mut last = None;
    while let Some(item) = within("the rest of a slow stream", stream.next()).await? {
        last = Some(item);
    }
    let is_whole = last.is_some_and(|item| item.is_ok_and(|item| item.event == ModelEvent::MessageStop));
    ensure(is_whole, || "the rest of a slow stream does not end the message".to_owned())
}

fn is_text(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::BlockDelta { delta: StreamDelta::Text(_) | StreamDelta::Thinking(_), .. })
}

/// Returns the end of the events that show the first text or reasoning, and of a few more.
fn first_text(endpoint: &Endpoint, ends: &[usize]) -> usize {
    let before = match endpoint.dialect {
        crate::wire::Dialect::Responses => 5,
        crate::wire::Dialect::Messages => 4,
        _ => 2,
    };
    ends.get(before).copied().unwrap_or_default()
}

/// Checks that dropping a stream closes its connection, so that the vendor stops writing.
///
/// # Errors
/// The connection stays open.
pub async fn closes_when_dropped(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let reply = endpoint.dialect.reply(&endpoint.answer(), 0);
    server.push(reply.clone().hang_at(first_text(endpoint, &reply.event_ends())));
    let request = Arc::new(endpoint.first_request());
    let opened = within("opening a stream", provider.stream(request)).await?;
    let mut stream = opened.map_err(|error| Violation::new(format!("the stream does not open: {error}")))?;
    within("the first item of a stream", stream.next()).await?;
    drop(stream);
    let closed = tokio::time::timeout(Duration::from_secs(10), server.wait_hang_ups(1)).await;
    ensure(closed.is_ok(), || "a dropped stream leaves its connection open".to_owned())
}

/// Checks that events added by a later version of the vendor change nothing.
///
/// # Errors
/// Different events, or a failure.
pub async fn ignores_unknown_events(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let request = endpoint.first_request();
    let pieces = endpoint.dialect.pieces(&endpoint.answer(), 0);
    server.push(endpoint.dialect.stream(pieces.clone()));
    let whole = answers(&*provider, &request).await?.events();
    let last = endpoint.dialect.end_signal(pieces.len());
    for unknown in endpoint.dialect.unknown_events() {
        for at in 1..=last {
            let mut pieces = pieces.clone();
            pieces.insert(at, unknown.clone());
            server.push(endpoint.dialect.stream(pieces));
            let read = answers(&*provider, &request).await;
            let read =
                read.map_err(|violation| Violation::new(format!("{unknown:?} before event {at}: {violation}")))?;
            ensure(read.events() == whole, || {
                format!("with {unknown:?} before event {at} the events are {:?}, not {whole:?}", read.events())
            })?;
        }
    }
    Ok(())
}

/// Size of one event that no provider may keep, in bytes.
const TOO_MUCH: usize = 40 << 20;

/// Checks that endless data from a server is not kept: an event that does not end fails, and of the body of an error
/// only the beginning is read.
///
/// # Errors
/// A message that is complete, another failure, or an error whose text is long.
pub async fn bounds_what_it_keeps(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let request = endpoint.first_request();
    let first = endpoint.dialect.pieces(&endpoint.answer(), 0).into_iter().next().unwrap_or_default();
    // Without the line ends, or in the middle of a binary event, the following bytes belong to it.
    let begun = first.slice(..first.len().saturating_sub(8));
    server.push(endpoint.dialect.stream(vec![begun, vec![b'a'; TOO_MUCH].into()]));
    let answered = within("an event without an end", open(&*provider, &request)).await??;
    let ending = answered.ending();
    ensure(ending == Ending::Failed(ModelErrorKind::Protocol), || {
        format!("an event of {TOO_MUCH} bytes ended as {ending:?}: {:?}", answered.error)
    })?;
    server.push(crate::wire::Reply::status(500, vec![b'a'; TOO_MUCH]));
    let answered = within("an error without an end", open(&*provider, &request)).await??;
    let error = answered.error.ok_or_else(|| Violation::new("an error of many bytes is no error"))?;
    ensure(error.message.len() < 10_000, || format!("the text of an error has {} bytes", error.message.len()))
}

/// Checks damaged streams: events that are lost, doubled or in another order, bytes that are not text, values of other
/// kinds. Each ends, without a panic, as a message that follows the grammar or as a failure.
///
/// # Errors
/// A stream that breaks the grammar, does not end, or panics.
pub async fn survives_damage(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let request = endpoint.first_request();
    for (what, pieces) in damaged(&endpoint.dialect.pieces(&endpoint.answer(), 0)) {
        server.push(endpoint.dialect.stream(pieces));
        let read = within(&what, open(&*provider, &request)).await?;
        let read: Transcript = read.map_err(|violation| Violation::new(format!("{what}: {violation}")))?;
        // A message that is complete has valid blocks.
        if read.ending() == Ending::Complete && what.starts_with("event") {
            drop(read.blocks());
        }
    }
    Ok(())
}

fn damaged(pieces: &[Bytes]) -> Vec<(String, Vec<Bytes>)> {
    let mut corpus = Vec::new();
    for at in 0..pieces.len() {
        let mut lost = pieces.to_vec();
        let piece = lost.remove(at);
        corpus.push((format!("event {at} lost"), lost));
        let mut doubled = pieces.to_vec();
        doubled.insert(at, piece.clone());
        corpus.push((format!("event {at} doubled"), doubled));
        if at > 0 {
            let mut swapped = pieces.to_vec();
            swapped.swap(at - 1, at);
            corpus.push((format!("event {at} before its turn"), swapped));
        }
        for (name, damage) in DAMAGES {
            let mut hurt = pieces.to_vec();
            if let Some(slot) = hurt.get_mut(at) {
                *slot = damage(&piece);
            }
            corpus.push((format!("event {at} with {name}"), hurt));
        }
    }
    corpus.push(("twice".to_owned(), [pieces, pieces].concat()));
    corpus.push(("backwards".to_owned(), pieces.iter().rev().cloned().collect()));
    corpus
}

type Damage = fn(&Bytes) -> Bytes;

const DAMAGES: &[(&str, Damage)] = &[
    ("half of it", |piece| piece.slice(..piece.len() / 2)),
    ("bytes that are no UTF-8", |piece| replaced(piece, b"\"", b"\"\xff\xfe")),
    ("NUL bytes", |piece| replaced(piece, b"{", b"{\0")),
    ("null for every text", |piece| replaced(piece, b":\"", b":null,\"x\":\"")),
    ("lists for objects", |piece| replaced(piece, b":{", b":[{")),
    ("huge numbers", |piece| replaced(piece, b":0", b":99999999999999999999999999")),
    ("negative numbers", |piece| replaced(piece, b":1", b":-1")),
    ("texts for numbers", |piece| replaced(piece, b":0", b":\"0\"")),
    ("deep nesting", |piece| replaced(piece, b":null", "[".repeat(50_000).as_bytes())),
];

/// Replaces every occurrence; in binary dialects the checksums are then wrong.
fn replaced(piece: &Bytes, from: &[u8], to: &[u8]) -> Bytes {
    let mut out = Vec::new();
    let mut rest: &[u8] = piece;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        let (before, behind) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(to);
        rest = behind.get(from.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out.into()
}
