//! Hooks, asked within their limits of time.

use windlass_hook::{HookContext, Hooks};
use windlass_types::{HookCall, HookOutcome};

/// Asks the hooks that listen to an occasion. The model does not read why one failed, so the log of the program has it.
pub(crate) async fn ask(hooks: &Hooks, cx: &HookContext, call: &HookCall) -> HookOutcome {
    let outcome = hooks.run_timed(cx, call, tokio::time::sleep).await;
    for (hook, failure) in &outcome.failures {
        tracing::warn!(hook, failure, event = %call.event(), "a hook failed");
    }
    outcome
}
