//! All hooks of a session.

use crate::hook::ask;
use crate::{Hook, HookContext, HookError, Interest, InterestError};
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use windlass_types::{HookCall, HookEventName, HookOutcome};

/// The hooks of a session, in declared order. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks(Arc<[Registered]>);

struct Registered {
    hook: Arc<dyn Hook>,
    interests: Vec<Interest>,
}

impl Hooks {
    /// Hooks in the order in which they count.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        Self(hooks.into_iter().map(|hook| Registered { interests: hook.interests(), hook }).collect())
    }

    /// Whether no hook is registered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every hook can be asked about what it listens to. A session with one that cannot does not open.
    ///
    /// # Errors
    /// The first hook that waits for something that never happens.
    pub fn check(&self) -> Result<(), HooksError> {
        for Registered { hook, interests } in self.0.iter() {
            for interest in interests {
                interest.check().map_err(|source| HooksError { hook: hook.name().to_owned(), source })?;
            }
        }
        Ok(())
    }

    /// What the hooks listen to, all together.
    pub fn interests(&self) -> Vec<Interest> {
        self.0.iter().flat_map(|registered| registered.interests.iter().cloned()).collect()
    }

    /// The same hooks, each asked anew what it listens to.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self::new(self.0.iter().map(|registered| Arc::clone(&registered.hook)))
    }

    /// Asks all hooks that listen to an occasion, in parallel, and merges their
    /// answers in declared order. Panics are failures.
    ///
    /// Cancel safe: dropping the future drops the hooks' futures.
    pub async fn run(&self, cx: &HookContext, call: &HookCall) -> HookOutcome {
        let (event, tool) = (call.event(), call.tool_name());
        let listening: Vec<&Registered> = self
            .0
            .iter()
            .filter(|registered| registered.interests.iter().any(|interest| interest.covers(event, tool)))
            .collect();
        let asked = listening.iter().map(|Registered { hook, .. }| settled(hook.name(), event, ask(&**hook, cx, call)));
        let mut outcome = HookOutcome::default();
        for (registered, mut answer) in listening.iter().zip(join_all(asked).await) {
            answer.ran = vec![registered.hook.name().to_owned()];
            outcome.merge(answer);
        }
        outcome
    }
}

/// What comes of asking a hook, also when it fails or panics.
pub(crate) async fn settled(
    hook: &str,
    event: HookEventName,
    answer: impl Future<Output = Result<HookOutcome, HookError>>,
) -> HookOutcome {
    let answer = AssertUnwindSafe(answer).catch_unwind().await;
    answer
        .unwrap_or_else(|_| Err("it panicked".into()))
        .unwrap_or_else(|error| HookOutcome::failed(event, hook, format!("the hook {hook:?} failed: {error}")))
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
        f.debug_list().entries(self.0.iter().map(|registered| registered.hook.name())).finish()
    }
}

#[cfg(test)]
mod tests;
