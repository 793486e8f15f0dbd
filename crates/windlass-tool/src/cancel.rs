//! Cancellation without a runtime.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A signal that work should stop. Cheap to clone; all clones share it.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    waiting: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    next: u64,
    wakers: Vec<(u64, Waker)>,
    children: Vec<std::sync::Weak<Inner>>,
}

impl Cancel {
    /// Returns a signal that is not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a signal that is given when this one is, and can be given alone.
    pub fn child(&self) -> Self {
        let child = Self::new();
        {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.children.retain(|child| child.strong_count() > 0);
            waiting.children.push(Arc::downgrade(&child.0));
        }
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Gives the signal. Giving it again has no effect.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        let (wakers, children) = {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            (std::mem::take(&mut waiting.wakers), std::mem::take(&mut waiting.children))
        };
        for (_, waker) in wakers {
            waker.wake();
        }
        for child in children.into_iter().filter_map(|child| child.upgrade()) {
            Self(child).cancel();
        }
    }

    /// `true` if the signal was given. For loops that do not await.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Waits for the signal. Cancel safe.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { cancel: self.clone(), ticket: None }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

/// Waits for a [`Cancel`] signal.
#[derive(Debug)]
#[must_use = "a future does nothing until it is awaited"]
pub struct Cancelled {
    cancel: Cancel,
    ticket: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let inner = Arc::clone(&self.cancel.0);
        let mut waiting = inner.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Checked under the lock: a signal given after this finds the waker.
        if inner.cancelled.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let ticket = match self.ticket {
            Some(ticket) => ticket,
            None => {
                let ticket = waiting.next;
                waiting.next += 1;
                self.ticket = Some(ticket);
                ticket
            }
        };
        match waiting.wakers.iter_mut().find(|(of, _)| *of == ticket) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => waiting.wakers.push((ticket, cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut waiting = self.cancel.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.wakers.retain(|(of, _)| *of != ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn every_waiter_is_woken_once_and_dropped_ones_are_forgotten() {
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let cancel = Cancel::new();
        let child = cancel.child();
        let mut a = Box::pin(cancel.cancelled());
        let mut b = Box::pin(child.cancelled());
        let mut gone = Box::pin(cancel.cancelled());
        assert!(a.as_mut().poll(&mut cx).is_pending());
        assert!(a.as_mut().poll(&mut cx).is_pending());
        assert!(b.as_mut().poll(&mut cx).is_pending());
        assert!(gone.as_mut().poll(&mut cx).is_pending());
        drop(gone);
        cancel.cancel();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(a.as_mut().poll(&mut cx).is_ready());
        assert!(b.as_mut().poll(&mut cx).is_ready());
        assert!(cancel.child().is_cancelled());
    }

    #[test]
    fn a_child_does_not_cancel_its_parent() {
        let cancel = Cancel::new();
        cancel.child().cancel();
        assert!(!cancel.is_cancelled());
    }
}
