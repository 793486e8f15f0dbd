//! Masking of credentials in answers to a client.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use memchr::memmem::{self, Finder};

use crate::Secret;

/// Minimum length of a masked text, in bytes. Shorter texts are no credentials, and masking them would garble answers.
const MIN_MASKED_BYTES: usize = 8;

const MASK: u8 = b'*';

/// Texts that must not pass.
#[derive(Clone)]
pub(super) struct Needles(Arc<Vec<Finder<'static>>>);

impl Needles {
    pub(super) fn new(secrets: &[Secret]) -> Self {
        let long = secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= MIN_MASKED_BYTES);
        Self(Arc::new(long.map(|secret| Finder::new(secret.as_bytes()).into_owned()).collect()))
    }

    pub(super) fn found_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|needle| needle.find(text).is_some())
    }

    /// Creates a filter for one stream of bytes.
    pub(super) fn filter(&self) -> RedactionFilter {
        RedactionFilter { needles: self.clone(), held: BytesMut::new() }
    }
}

/// Filter that masks needles in a stream, however it is split, and keeps its length. It holds back only a possible
/// beginning of a needle: the end of an event never is one.
pub(super) struct RedactionFilter {
    needles: Needles,
    held: BytesMut,
}

impl RedactionFilter {
    /// Returns the bytes that can be passed on after this chunk.
    pub(super) fn pass(&mut self, chunk: Bytes) -> Bytes {
        let mut text = if self.held.is_empty() {
            chunk
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(&chunk);
            joined.freeze()
        };
        for needle in self.needles.0.iter() {
            text = masked(text, needle);
        }
        let begun = self.needles.0.iter().map(|needle| begun(&text, needle.needle())).max().unwrap_or(0);
        let held = text.split_off(text.len().saturating_sub(begun));
        self.held.extend_from_slice(&held);
        text
    }

    /// Returns the bytes held back, at the end of the stream.
    pub(super) fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.held).freeze()
    }
}

fn masked(text: Bytes, needle: &Finder<'_>) -> Bytes {
    let Some(first) = needle.find(&text) else { return text };
    let width = needle.needle().len();
    let mut copy = BytesMut::from(text.as_ref());
    let mut found = Some(first);
    while let Some(at) = found {
        if let Some(place) = copy.get_mut(at..at + width) {
            place.fill(MASK);
        }
        found = memmem::find(copy.get(at + width..).unwrap_or_default(), needle.needle()).map(|next| at + width + next);
    }
    copy.freeze()
}

/// Returns the length of the longest end of `text` that is a proper prefix of `needle`.
fn begun(text: &[u8], needle: &[u8]) -> usize {
    let most = text.len().min(needle.len().saturating_sub(1));
    (1..=most).rev().find(|length| needle.get(..*length).is_some_and(|start| text.ends_with(start))).unwrap_or(0)
}

#[cfg(test)]
mod tests;
