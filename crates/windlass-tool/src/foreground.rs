//! Calls that could continue in the background, while they are waited for.

use crate::Cancel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_types::ToolUseId;

/// The calls of a session that are waited for and could continue in the background (`cx.state::<Foreground>()`).
///
/// ```
/// use std::sync::Arc;
/// use windlass_tool::Foreground;
///
/// let calls = Arc::new(Foreground::default());
/// let call = calls.enter("toolu_1".into());
/// assert!(calls.move_to_background(None) && call.is_asked());
/// drop(call);
/// assert!(!calls.move_to_background(None), "the call has ended");
/// ```
#[derive(Debug, Default)]
pub struct Foreground(Mutex<HashMap<ToolUseId, Cancel>>);

impl Foreground {
    /// Registers a call that could continue, until the returned value is dropped.
    pub fn enter(self: &Arc<Self>, call: ToolUseId) -> ForegroundCall {
        let asked = Cancel::new();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), asked.clone());
        ForegroundCall { calls: Arc::clone(self), call, asked }
    }

    /// Asks a call to continue in the background; `None`: all of them. Returns `true` if there was one.
    pub fn move_to_background(&self, call: Option<&ToolUseId>) -> bool {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let requests: Vec<&Cancel> =
            calls.iter().filter(|(id, _)| call.is_none_or(|call| call == *id)).map(|(_, asked)| asked).collect();
        requests.iter().for_each(|asked| asked.cancel());
        !requests.is_empty()
    }
}

/// A call that could continue in the background.
#[derive(Debug)]
pub struct ForegroundCall {
    calls: Arc<Foreground>,
    call: ToolUseId,
    asked: Cancel,
}

impl ForegroundCall {
    /// `true` if the call was asked to continue in the background.
    pub fn is_asked(&self) -> bool {
        self.asked.is_cancelled()
    }

    /// Waits until the call is asked to continue in the background. Cancel safe.
    pub fn asked(&self) -> crate::Cancelled {
        self.asked.cancelled()
    }
}

impl Drop for ForegroundCall {
    fn drop(&mut self) {
        self.calls.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call);
    }
}
