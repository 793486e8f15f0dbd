//! Turns of calls that change the same file.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The order in which calls change files: one call at a time for each file, first come, first served.
///
/// It belongs to a [`Workspace`](crate::Workspace), so that all agents and sessions that share the workspace share the
/// order. Clones share it too. Other processes do not see it:
/// [`compare_and_write`](crate::Workspace::compare_and_write) guards against those.
#[derive(Clone, Default)]
pub struct EditOrder(Arc<Mutex<Queues>>);

/// Files that a call is changing now, each with the calls that wait for their turn.
#[derive(Default)]
struct Queues {
    waiting: HashMap<PathBuf, VecDeque<(u64, Option<Waker>)>>,
    /// Number of the next call that waits.
    next: u64,
}

impl EditOrder {
    /// Waits for the turn to change a file. The key is its path with all links resolved.
    ///
    /// Cancel safe: a dropped future gives up its place, or passes on its turn.
    pub async fn turn(&self, path: &Path) -> EditTurn {
        let first = {
            let mut queues = self.lock();
            let Queues { waiting, next } = &mut *queues;
            match waiting.get_mut(path) {
                None => {
                    waiting.insert(path.to_owned(), VecDeque::new());
                    None
                }
                Some(queue) => {
                    *next += 1;
                    queue.push_back((*next, None));
                    Some(*next)
                }
            }
        };
        let turn = EditTurn { order: self.clone(), path: path.to_owned(), place: first };
        PendingTurn(Some(turn)).await
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for EditOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditOrder").field("files", &self.lock().waiting.len()).finish()
    }
}

/// The turn to change a file. Dropping it passes the turn on.
#[derive(Debug)]
#[must_use]
pub struct EditTurn {
    order: EditOrder,
    path: PathBuf,
    /// Number in the queue; `None` for the call that found no queue.
    place: Option<u64>,
}

impl EditTurn {
    /// `true` if no earlier call waits or has the turn: this call is no longer in the queue.
    fn has_come(&self, cx: &Context<'_>) -> bool {
        let Some(place) = self.place else { return true };
        let mut queues = self.order.lock();
        let waiter = queues.waiting.get_mut(&self.path).and_then(|queue| queue.iter_mut().find(|(at, _)| *at == place));
        match waiter {
            Some((_, waker)) => {
                *waker = Some(cx.waker().clone());
                false
            }
            None => true,
        }
    }
}

impl Drop for EditTurn {
    fn drop(&mut self) {
        let next = {
            let mut queues = self.order.lock();
            let Some(queue) = queues.waiting.get_mut(&self.path) else { return };
            if let Some(at) = queue.iter().position(|(at, _)| Some(*at) == self.place) {
                queue.remove(at);
                return;
            }
            let next = queue.pop_front();
            if next.is_none() {
                queues.waiting.remove(&self.path);
            }
            next
        };
        if let Some(waker) = next.and_then(|(_, waker)| waker) {
            waker.wake();
        }
    }
}

/// A turn that has not come yet.
struct PendingTurn(Option<EditTurn>);

impl Future for PendingTurn {
    type Output = EditTurn;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<EditTurn> {
        match self.0.take_if(|turn| turn.has_come(cx)) {
            Some(turn) => Poll::Ready(turn),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl std::task::Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>, wakes: &Arc<Wakes>) -> Option<T> {
        match future.poll(&mut Context::from_waker(&Arc::clone(wakes).into())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_come_in_order_and_pass_over_calls_that_gave_up() {
        let (order, wakes) = (EditOrder::default(), Arc::<Wakes>::default());
        let (path, shared) = (Path::new("/a"), order.clone());
        let first = poll(pin!(order.turn(path)), &wakes).unwrap();
        assert!(poll(pin!(order.turn(Path::new("/b"))), &wakes).is_some(), "another file has its own turns");
        let mut second = Box::pin(shared.turn(path));
        let (mut third, mut fourth) = (pin!(shared.turn(path)), pin!(order.turn(path)));
        assert!(poll(second.as_mut(), &wakes).is_none() && poll(third.as_mut(), &wakes).is_none());
        assert!(poll(fourth.as_mut(), &wakes).is_none());
        drop(second);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
        drop(first);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        assert!(poll(fourth.as_mut(), &wakes).is_none(), "the third is before it");
        let turn = poll(third.as_mut(), &wakes).unwrap();
        drop(turn);
        drop(poll(fourth.as_mut(), &wakes).unwrap());
        assert!(order.lock().waiting.is_empty());
    }

    #[test]
    fn a_turn_that_was_given_to_a_dropped_call_passes_on() {
        let (order, wakes) = (EditOrder::default(), Arc::<Wakes>::default());
        let path = Path::new("/a");
        let first = poll(pin!(order.turn(path)), &wakes).unwrap();
        let mut second = Box::pin(order.turn(path));
        let mut third = pin!(order.turn(path));
        assert!(poll(second.as_mut(), &wakes).is_none() && poll(third.as_mut(), &wakes).is_none());
        drop(first);
        drop(second);
        assert!(poll(third.as_mut(), &wakes).is_some());
    }
}
