//! All hooks of a session.

use crate::hook::ask;
use crate::{Hook, HookContext, HookError, Interest, InterestError};
use futures_util::FutureExt;
use futures_util::future::{Either, join_all, select};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use windlass_types::{HookCall, HookEventName, HookOutcome};

/// The hooks of a session, in declared order. Cheap to clone.
#[derive(Clone)]
pub struct Hooks {
    registered: Arc<[Registered]>,
    limit: Duration,
}

impl Default for Hooks {
    fn default() -> Self {
        Self::new([])
    }
}

struct Registered {
    hook: Arc<dyn Hook>,
    interests: Vec<Interest>,
}

impl Registered {
    /// `true` if the hook listens to an occasion that its interests cover. A hook that panics here is asked, and fails
    /// there.
    fn listens(&self, cx: &HookContext, call: &HookCall) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.hook.listens(cx, call))).unwrap_or(true)
    }
}

impl Hooks {
    /// Maximum time for an answer if neither the hook nor the session sets another: ten minutes.
    pub const TIME_LIMIT: Duration = Duration::from_secs(600);

    /// Returns a set of hooks, in the order in which their answers count.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        let registered = hooks.into_iter().map(|hook| Registered { interests: hook.interests(), hook }).collect();
        Self { registered, limit: Self::TIME_LIMIT }
    }

    /// Sets the time limit for hooks that set none of their own, see [`Hook::time_limit`].
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// `true` if no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.registered.is_empty()
    }

    /// Checks that every hook can be asked about its interests. A session with a hook that cannot be asked does not
    /// open. A session with one that cannot does not open.
    ///
    /// # Errors
    /// The first hook with an interest in something that never happens.
    pub fn check(&self) -> Result<(), HooksError> {
        for Registered { hook, interests } in self.registered.iter() {
            for interest in interests {
                interest.check().map_err(|source| HooksError { hook: hook.name().to_owned(), source })?;
            }
        }
        Ok(())
    }

    /// Interests of all hooks.
    pub fn interests(&self) -> Vec<Interest> {
        self.registered.iter().flat_map(|registered| registered.interests.iter().cloned()).collect()
    }

    /// Names of the hooks that listen to an occasion, in declared order.
    pub fn listening<'a>(&'a self, cx: &'a HookContext, call: &'a HookCall) -> impl Iterator<Item = &'a str> {
        self.concerned(cx, call).map(|registered| registered.hook.name())
    }

    /// Returns the lines that people read while the hooks of an occasion are asked, one for each hook that has one, in
    /// declared order.
    pub fn status_messages(&self, cx: &HookContext, call: &HookCall) -> Vec<String> {
        // Most hooks have no message, and finding the hooks that listen has a cost.
        if self.registered.iter().all(|registered| registered.hook.status_message().is_none()) {
            return Vec::new();
        }
        let messages = self.concerned(cx, call).filter_map(|registered| registered.hook.status_message());
        messages.map(str::to_owned).collect()
    }

    fn concerned<'a>(&'a self, cx: &'a HookContext, call: &'a HookCall) -> impl Iterator<Item = &'a Registered> {
        let (event, tool) = (call.event(), call.tool_name());
        let covers =
            move |registered: &&Registered| registered.interests.iter().any(|interest| interest.covers(event, tool));
        self.registered.iter().filter(covers).filter(|registered| registered.listens(cx, call))
    }

    /// Returns the same hooks, each asked again for its interests.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let hooks = self.registered.iter().map(|registered| Arc::clone(&registered.hook));
        Self::new(hooks).with_time_limit(self.limit)
    }

    /// Asks all hooks that listen to an occasion, in parallel, and merges their answers in declared order. A panic is a
    /// failure. There is no time limit.
    ///
    /// Cancel safe: dropping the future drops the hooks' futures.
    pub async fn run(&self, cx: &HookContext, call: &HookCall) -> HookOutcome {
        self.run_timed(cx, call, |_| std::future::pending()).await
    }

    /// Like [`run`](Self::run), but drops hooks that take longer than their limit: they have failed. `sleep` waits for
    /// a duration. `sleep` waits for so long.
    ///
    /// Cancel safe: dropping the future drops the hooks' futures.
    pub async fn run_timed<W>(&self, cx: &HookContext, call: &HookCall, sleep: impl Fn(Duration) -> W) -> HookOutcome
    where
        W: Future<Output = ()>,
    {
        let event = call.event();
        let listening: Vec<&Registered> = self.concerned(cx, call).collect();
        let asked = listening.iter().map(|Registered { hook, .. }| {
            let limit = hook.time_limit().unwrap_or(self.limit);
            let closes = hook.closes_gates();
            settled(hook.name(), event, closes, within(limit, &sleep, ask(&**hook, cx, call)))
        });
        let mut outcome = HookOutcome::default();
        for (registered, mut answer) in listening.iter().zip(join_all(asked).await) {
            answer.ran = vec![registered.hook.name().to_owned()];
            outcome.merge(answer);
        }
        outcome
    }
}

/// Returns the answer of a hook, or an error if it does not answer in time.
async fn within<W: Future<Output = ()>>(
    limit: Duration,
    sleep: impl Fn(Duration) -> W,
    answer: impl Future<Output = Result<HookOutcome, HookError>>,
) -> Result<HookOutcome, HookError> {
    match select(pin!(answer), pin!(sleep(limit))).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Err(format!("it did not answer within {} s", limit.as_secs_f64()).into()),
    }
}

/// Returns the outcome of asking a hook, also when it fails or panics.
pub(crate) async fn settled(
    hook: &str,
    event: HookEventName,
    closes: bool,
    answer: impl Future<Output = Result<HookOutcome, HookError>>,
) -> HookOutcome {
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    answer
        .unwrap_or_else(|_| Err("it panicked".into()))
        .unwrap_or_else(|error| failed(hook, event, closes, format!("the hook {hook:?} failed: {error}")))
}

fn failed(hook: &str, event: HookEventName, closes: bool, reason: String) -> HookOutcome {
    if closes {
        return HookOutcome::failed(event, hook, reason);
    }
    let mut outcome = HookOutcome::default();
    outcome.failures.push((hook.to_owned(), reason));
    outcome
}

/// Error of a hook that would never be asked about one of its interests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HooksError {
    /// Name of the hook.
    pub hook: String,
    /// Interest that can never be met, and the reason.
    pub source: InterestError,
}

impl fmt::Display for HooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hook {:?} cannot be used: {}", self.hook, self.source)
    }
}

impl Error for HooksError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.registered.iter().map(|registered| registered.hook.name())).finish()
    }
}

#[cfg(test)]
mod tests;
