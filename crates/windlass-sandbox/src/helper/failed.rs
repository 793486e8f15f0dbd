//! Errors of the helper while it confines itself.

use std::fmt::{self, Display};

/// Step that failed, with the reason.
#[derive(Debug)]
pub(crate) struct Failed {
    step: String,
    problem: String,
}

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.problem)
    }
}

/// Adds to an error the step in which it occurred.
pub(crate) fn context<E: Display>(step: impl Into<String>) -> impl FnOnce(E) -> Failed {
    move |error| Failed { step: step.into(), problem: error.to_string() }
}
