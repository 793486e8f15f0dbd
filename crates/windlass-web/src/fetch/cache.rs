//! Cache of pages that were read a short time ago.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_types::Timestamp;

/// Maximum number of pages, and maximum number of bytes of all pages together.
const MOST_PAGES: usize = 64;
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Page in the form that the model can read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadablePage {
    /// Address of the page after redirects.
    pub(super) url: String,
    pub(super) status: u16,
    /// Number of bytes of the body.
    pub(super) bytes: usize,
    pub(super) media_type: String,
    pub(super) text: String,
    /// `true` if the body was longer than the part read.
    pub(super) is_cut: bool,
}

/// Pages that were read last, by the requested address.
#[derive(Debug, Default)]
pub(super) struct PageCache(Mutex<VecDeque<(String, Timestamp, Arc<ReadablePage>)>>);

impl PageCache {
    /// Returns a page that was cached at most this time ago. A clock that was set back makes a page old.
    pub(super) fn get(&self, url: &str, now: Timestamp, within: Duration) -> Option<Arc<ReadablePage>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(_, at, _)| *at <= now && now <= at.after(within));
        pages.iter().find(|(known, ..)| known == url).map(|(.., page)| Arc::clone(page))
    }

    pub(super) fn put(&self, url: &str, now: Timestamp, page: Arc<ReadablePage>) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(known, ..)| known != url);
        pages.push_back((url.to_owned(), now, page));
        let size = |pages: &VecDeque<(String, Timestamp, Arc<ReadablePage>)>| -> usize {
            pages.iter().map(|(url, _, page)| url.len() + page.text.len()).sum()
        };
        while pages.len() > MOST_PAGES || size(&pages) > MOST_BYTES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Arc<ReadablePage> {
        let (url, media_type) = ("https://example.com/".to_owned(), "text/plain".to_owned());
        Arc::new(ReadablePage { url, status: 200, bytes: 1, media_type, text: text.to_owned(), is_cut: false })
    }

    #[test]
    fn pages_age_and_room_is_bounded() {
        let cache = PageCache::default();
        let (at, within) = (Timestamp::from_millis, Duration::from_secs(1));
        cache.put("a", at(1_000), page("a"));
        assert!(cache.get("a", at(2_000), within).is_some());
        assert!(cache.get("b", at(2_000), within).is_none());
        assert!(cache.get("a", at(2_001), within).is_none());
        cache.put("a", at(5_000), page("a"));
        assert!(cache.get("a", at(4_000), within).is_none(), "the clock was set back");
        for number in 0..100 {
            cache.put(&number.to_string(), at(9_000), page("x"));
        }
        assert!(cache.get("35", at(9_000), within).is_none() && cache.get("36", at(9_000), within).is_some());
        cache.put("large", at(9_000), page(&"x".repeat(MOST_BYTES + 1)));
        assert!(cache.get("99", at(9_000), within).is_none() && cache.get("large", at(9_000), within).is_none());
    }
}
