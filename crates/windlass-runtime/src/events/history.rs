//! The last events of a session, kept for watchers.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::task::Waker;
use windlass_types::Event;

/// Maximum number of kept events.
const MAX_EVENTS: usize = 4_096;
/// Maximum size of the kept events as JSON, in bytes. The newest event is kept even if it is larger.
const MAX_BYTES: usize = 4 << 20;

/// The last events of a session, and the watchers that wait for the next one.
#[derive(Debug)]
pub(crate) struct EventHistory {
    events: VecDeque<(Arc<Event>, usize)>,
    bytes: usize,
    /// The number of the first kept event, or of the next one if none is kept.
    first: u64,
    waiting: BTreeMap<u64, Waker>,
    watchers: u64,
}

/// Event at a position.
pub(crate) enum HistoryItem {
    Event(Arc<Event>),
    /// Events up to this position are kept no longer.
    Missed(u64),
    /// The event has not happened yet.
    Ahead,
}

impl EventHistory {
    /// Keeps events from this number on.
    pub(crate) fn from(first: u64) -> Self {
        Self { events: VecDeque::new(), bytes: 0, first, waiting: BTreeMap::new(), watchers: 0 }
    }

    /// Keeps an event, which has its number, and wakes those that wait for it.
    pub(crate) fn push(&mut self, event: Event) {
        let size = size(&event);
        self.bytes = self.bytes.saturating_add(size);
        self.events.push_back((Arc::new(event), size));
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            let Some((_, size)) = self.events.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(size);
            self.first += 1;
        }
        self.wake();
    }

    pub(crate) fn at(&self, seq: u64) -> HistoryItem {
        let Some(offset) = seq.checked_sub(self.first) else { return HistoryItem::Missed(self.first) };
        let event = usize::try_from(offset).ok().and_then(|offset| self.events.get(offset));
        event.map_or(HistoryItem::Ahead, |(event, _)| HistoryItem::Event(Arc::clone(event)))
    }

    /// Returns an id for a new watcher.
    pub(crate) fn watcher(&mut self) -> u64 {
        self.watchers += 1;
        self.watchers
    }

    /// Wakes this watcher at the next event.
    pub(crate) fn wait(&mut self, watcher: u64, waker: Waker) {
        self.waiting.insert(watcher, waker);
    }

    /// Forgets a watcher.
    pub(crate) fn forget(&mut self, watcher: u64) {
        self.waiting.remove(&watcher);
    }

    pub(crate) fn wake(&mut self) {
        std::mem::take(&mut self.waiting).into_values().for_each(Waker::wake);
    }
}

/// The size of an event as JSON, in bytes.
fn size(event: &Event) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // For an event that cannot be written as JSON, the size of its written beginning is used.
    let _ = serde_json::to_writer(&mut count, event);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::queue::tests::text;

    fn numbered(seq: u64, content: &str) -> Event {
        let mut event = text(0, content);
        event.seq = seq;
        *event
    }

    #[test]
    fn the_oldest_are_dropped_first_and_positions_stay() {
        let mut kept = EventHistory::from(7);
        assert!(matches!(kept.at(7), HistoryItem::Ahead));
        for seq in 7..7 + MAX_EVENTS as u64 + 3 {
            kept.push(numbered(seq, "x"));
        }
        assert!(matches!(kept.at(0), HistoryItem::Missed(10)));
        assert!(matches!(kept.at(9), HistoryItem::Missed(10)));
        assert!(matches!(kept.at(10), HistoryItem::Event(event) if event.seq == 10));
        let last = 7 + MAX_EVENTS as u64 + 2;
        assert!(matches!(kept.at(last), HistoryItem::Event(event) if event.seq == last));
        assert!(matches!(kept.at(last + 1), HistoryItem::Ahead));
    }

    #[test]
    fn bytes_are_bounded_and_the_newest_stays() {
        let mut kept = EventHistory::from(0);
        for seq in 0..8 {
            kept.push(numbered(seq, &"x".repeat(MAX_BYTES / 2)));
            assert!(kept.bytes <= MAX_BYTES + 1_000 || kept.events.len() == 1);
        }
        assert_eq!(kept.events.len(), 1);
        kept.push(numbered(8, &"x".repeat(MAX_BYTES * 2)));
        assert!(matches!(kept.at(8), HistoryItem::Event(_)));
        kept.push(numbered(9, "x"));
        assert!(matches!(kept.at(8), HistoryItem::Missed(9)));
        assert!(kept.bytes < 1_000);
    }
}
