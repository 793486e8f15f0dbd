//! Parallel processing of many items on a few threads.

use crate::Interrupted;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Minimum number of items for which more threads are started.
const MIN_PARALLEL_ITEMS: usize = 16;
/// Number of items that a thread takes at a time.
const CHUNK_ITEMS: usize = 16;
const MAX_THREADS: usize = 4;

/// Returns the results of `work` in the order of the items, or [`Interrupted`] if `stop` ended the work early.
pub(crate) fn for_each<T: Sync, R: Send>(
    items: &[T],
    stop: &(dyn Fn() -> bool + Sync),
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Interrupted> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<R>)>> = Mutex::new(Vec::new());
    let work_through_chunks = || {
        while !stop() {
            let first_item = next.fetch_add(CHUNK_ITEMS, Ordering::Relaxed);
            let results: Vec<R> = items.iter().skip(first_item).take(CHUNK_ITEMS).map(&work).collect();
            if results.is_empty() {
                break;
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((first_item, results));
        }
    };
    if items.len() < MIN_PARALLEL_ITEMS {
        work_through_chunks();
    } else {
        // The number of processors is queried only here, because the query reads system files.
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // A failed spawn is ignored, because this thread can do all the work.
                let _spawned = std::thread::Builder::new().spawn_scoped(scope, work_through_chunks);
            }
            work_through_chunks();
        });
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(first_item, _)| *first_item);
    let results: Vec<R> = done.into_iter().flat_map(|(_, results)| results).collect();
    if results.len() == items.len() { Ok(results) } else { Err(Interrupted) }
}
