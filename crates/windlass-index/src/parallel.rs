//! Parallel processing of many items on a few threads.

use crate::Interrupted;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of items below which a thread is not worth it.
const MIN_PARALLEL_ITEMS: usize = 16;
/// Number of items that a thread takes at a time.
const CHUNK_ITEMS: usize = 16;
const MAX_THREADS: usize = 4;

/// Returns the results of `work` in the order of the items. `stop` is polled every few items.
pub(crate) fn for_each<T: Sync, R: Send>(
    items: &[T],
    stop: &(dyn Fn() -> bool + Sync),
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Interrupted> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<R>)>> = Mutex::new(Vec::new());
    let run = || {
        while !stop() {
            let from = next.fetch_add(CHUNK_ITEMS, Ordering::Relaxed);
            let results: Vec<R> = items.iter().skip(from).take(CHUNK_ITEMS).map(&work).collect();
            if results.is_empty() {
                break;
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((from, results));
        }
    };
    if items.len() < MIN_PARALLEL_ITEMS {
        run();
    } else {
        // Querying the number of processors reads files of the system.
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Without another thread this one does all the work.
                let _spawned = std::thread::Builder::new().spawn_scoped(scope, run);
            }
            run();
        });
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(from, _)| *from);
    let results: Vec<R> = done.into_iter().flat_map(|(_, results)| results).collect();
    if results.len() == items.len() { Ok(results) } else { Err(Interrupted) }
}
