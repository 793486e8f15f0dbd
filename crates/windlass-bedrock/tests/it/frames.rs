//! Frames in the form of the API, written by hand: lengths, headers, payload and checksums.

use serde_json::{Value, json};
use windlass_testkit::wire::Reply;

/// Returns an answer of these frames.
pub(crate) fn answer(frames: &[Vec<u8>]) -> Reply {
    Reply::status(200, frames.concat())
        .header("content-type", "application/vnd.amazon.eventstream")
        .header("x-amzn-requestid", "req-1")
}

/// Returns the end positions of an answer's frames.
pub(crate) fn ends(frames: &[Vec<u8>]) -> Vec<usize> {
    let lengths = frames.iter().map(Vec::len);
    lengths
        .scan(0, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect()
}

/// Returns an event, with the padding that the API adds.
pub(crate) fn event(name: &str, mut payload: Value) -> Vec<u8> {
    payload["p"] = "abcdefghijkl".into();
    let headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.to_string().as_bytes())
}

pub(crate) fn exception(name: &str, payload: Value) -> Vec<u8> {
    let headers = [(":exception-type", name), (":content-type", "application/json"), (":message-type", "exception")];
    frame(&headers, payload.to_string().as_bytes())
}

pub(crate) fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap());
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let number = |number: usize| u32::try_from(number).unwrap().to_be_bytes();
    let mut bytes = [number(16 + head.len() + payload.len()), number(head.len())].concat();
    bytes.extend_from_slice(&checksum(&bytes).to_be_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&checksum(&bytes).to_be_bytes());
    bytes
}

/// Computes CRC-32 bit by bit, independently of the tested code.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

pub(crate) fn start() -> Vec<u8> {
    event("messageStart", json!({"role": "assistant"}))
}

pub(crate) fn text(at: u64, text: &str) -> Vec<u8> {
    delta(at, json!({"text": text}))
}

pub(crate) fn thinking(at: u64, text: &str) -> Vec<u8> {
    delta(at, json!({"reasoningContent": {"text": text}}))
}

pub(crate) fn signature(at: u64, signature: &str) -> Vec<u8> {
    delta(at, json!({"reasoningContent": {"signature": signature}}))
}

pub(crate) fn delta(at: u64, delta: Value) -> Vec<u8> {
    event("contentBlockDelta", json!({"contentBlockIndex": at, "delta": delta}))
}

pub(crate) fn call(at: u64, id: &str, name: &str) -> Vec<u8> {
    let start = json!({"toolUse": {"toolUseId": id, "name": name}});
    event("contentBlockStart", json!({"contentBlockIndex": at, "start": start}))
}

pub(crate) fn input(at: u64, input: &str) -> Vec<u8> {
    delta(at, json!({"toolUse": {"input": input}}))
}

pub(crate) fn stop(at: u64) -> Vec<u8> {
    event("contentBlockStop", json!({"contentBlockIndex": at}))
}

pub(crate) fn end(reason: &str) -> Vec<u8> {
    event("messageStop", json!({"stopReason": reason}))
}

pub(crate) fn metadata() -> Vec<u8> {
    let usage = json!({"inputTokens": 60, "outputTokens": 27, "totalTokens": 137, "cacheReadInputTokens": 40,
        "cacheWriteInputTokens": 10, "cacheDetails": [{"ttl": "1h", "inputTokens": 10}]});
    event("metadata", json!({"usage": usage, "metrics": {"latencyMs": 551}}))
}
