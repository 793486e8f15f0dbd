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
    /// Whether the hook is about an occasion that its interests cover. One that panics is asked, and fails there.
    fn listens(&self, cx: &HookContext, call: &HookCall) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.hook.listens(cx, call))).unwrap_or(true)
    }
}

impl Hooks {
    /// The longest that a hook may take for an answer if neither it nor its session sets another limit: ten minutes.
    pub const TIME_LIMIT: Duration = Duration::from_secs(600);

    /// Hooks in the order in which they count.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        let registered = hooks.into_iter().map(|hook| Registered { interests: hook.interests(), hook }).collect();
        Self { registered, limit: Self::TIME_LIMIT }
    }

    /// Sets the limit for hooks that set none of their own, see [`Hook::time_limit`].
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Whether no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.registered.is_empty()
    }

    /// Whether every hook can be asked about what it listens to. A session with one that cannot does not open.
    ///
    /// # Errors
    /// The first hook that waits for something that never happens.
    pub fn check(&self) -> Result<(), HooksError> {
        for Registered { hook, interests } in self.registered.iter() {
            for interest in interests {
                interest.check().map_err(|source| HooksError { hook: hook.name().to_owned(), source })?;
            }
        }
        Ok(())
    }

    /// What the hooks listen to, all together.
    pub fn interests(&self) -> Vec<Interest> {
        self.registered.iter().flat_map(|registered| registered.interests.iter().cloned()).collect()
    }

    /// The names of the hooks that an occasion concerns, in declared order.
    pub fn listening<'a>(&'a self, cx: &'a HookContext, call: &'a HookCall) -> impl Iterator<Item = &'a str> {
        self.concerned(cx, call).map(|registered| registered.hook.name())
    }

    /// What people are to read while the hooks of an occasion are asked, a line for each that has one, in declared order.
    pub fn status_messages(&self, cx: &HookContext, call: &HookCall) -> Vec<String> {
        // Most hooks have none, and whether one is concerned is not known for free.
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

    /// The same hooks, each asked anew what it listens to.
    #[must_use]
    pub fn renewed(&self) -> Self {
        let hooks = self.registered.iter().map(|registered| Arc::clone(&registered.hook));
        Self::new(hooks).with_time_limit(self.limit)
    }

    /// Asks all hooks that listen to an occasion, in parallel, and merges their
    /// answers in declared order. Panics are failures. There is no limit of time.
    ///
    /// Cancel safe: dropping the future drops the hooks' futures.
    pub async fn run(&self, cx: &HookContext, call: &HookCall) -> HookOutcome {
        self.run_timed(cx, call, |_| std::future::pending()).await
    }

    /// Does the same, and drops hooks that take longer than their limit: they have failed. `sleep` waits for so long.
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

/// The answer of a hook that answers in time.
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

/// What comes of asking a hook, also when it fails or panics.
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

/// A hook that would never be asked about something that it listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HooksError {
    /// The hook's name.
    pub hook: String,
    /// What it listens to, and why that never happens.
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
