//! Why the helper could not confine itself.

use std::fmt::{self, Display};

/// A step that failed, and why.
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

/// Names the step in which an error came.
pub(crate) fn context<E: Display>(step: impl Into<String>) -> impl FnOnce(E) -> Failed {
    move |error| Failed { step: step.into(), problem: error.to_string() }
}
