//! All hooks of a session.

use crate::hook::ask;
use crate::{Hook, HookContext, Interest};
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use windlass_types::{HookCall, HookOutcome};

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
        let answers = join_all(listening.iter().map(|registered| async {
            let answer = AssertUnwindSafe(ask(&*registered.hook, cx, call)).catch_unwind().await;
            answer.unwrap_or_else(|_| Err("it panicked".into()))
        }))
        .await;
        let mut outcome = HookOutcome::default();
        for (registered, answer) in listening.iter().zip(answers) {
            let name = registered.hook.name();
            let mut answer = answer
                .unwrap_or_else(|error| HookOutcome::failed(event, name, format!("the hook {name:?} failed: {error}")));
            answer.ran = vec![name.to_owned()];
            outcome.merge(answer);
        }
        outcome
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|registered| registered.hook.name())).finish()
    }
}

#[cfg(test)]
mod tests;
