//! Resource usage of a program, and the reason why it is stopped.

use crate::ProgramLimits;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use windlass_tool::ToolCx;
use windlass_types::Timestamp;

/// Number of steps between two checks of the clock.
const BETWEEN_LOOKS: u64 = 64;

/// Resource usage of a program, and the reason why it is stopped.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) limits: ProgramLimits,
    steps: AtomicU64,
    /// Start of the present computation, and the computing time before, in milliseconds.
    computing: Mutex<(Timestamp, u64)>,
    why: Mutex<Option<String>>,
    cancelled: AtomicBool,
    printed: Mutex<Printed>,
    cx: ToolCx,
}

/// Printed text of a program.
#[derive(Debug, Default)]
struct Printed {
    text: String,
    is_cut: bool,
}

impl Meter {
    pub(crate) fn new(limits: ProgramLimits, cx: ToolCx) -> Arc<Self> {
        let computing = Mutex::new((cx.clock().now(), 0));
        let (why, printed) = (Mutex::default(), Mutex::default());
        Arc::new(Self {
            limits,
            steps: AtomicU64::new(0),
            computing,
            why,
            cancelled: AtomicBool::new(false),
            printed,
            cx,
        })
    }

    /// Marks the program as abandoned by its caller.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Reason why the program is stopped, if it is.
    pub(crate) fn over(&self) -> Option<String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `true` if the program is stopped.
    pub(crate) fn is_over(&self) -> bool {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn stop(&self, why: String) -> String {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why).clone()
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Marks the begin or continuation of computing.
    pub(crate) fn begin(&self) {
        self.computing.lock().unwrap_or_else(PoisonError::into_inner).0 = self.cx.clock().now();
    }

    /// Marks the begin of waiting for calls.
    pub(crate) fn pause(&self) {
        let mut computing = self.computing.lock().unwrap_or_else(PoisonError::into_inner);
        computing.1 += milliseconds(self.cx.clock().now(), computing.0);
    }

    /// Takes a step. The error is the reason why there is none.
    pub(crate) fn step(&self) -> Result<(), String> {
        if let Some(why) = self.over() {
            return Err(why);
        }
        let steps = self.steps.fetch_add(1, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(self.stop("the program was stopped".to_owned()));
        }
        if steps >= self.limits.steps {
            return Err(self.stop(format!("the program took more than {} steps", self.limits.steps)));
        }
        if !steps.is_multiple_of(BETWEEN_LOOKS) {
            return Ok(());
        }
        let (since, before) = *self.computing.lock().unwrap_or_else(PoisonError::into_inner);
        let most = u64::try_from(self.limits.computing.as_millis()).unwrap_or(u64::MAX);
        match before.saturating_add(milliseconds(self.cx.clock().now(), since)) > most {
            true => Err(self.stop(format!("the program computed for more than {most} ms"))),
            false => Ok(()),
        }
    }

    /// Prints a line.
    pub(crate) fn print(&self, line: &[u8]) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.limits.output.saturating_sub(printed.text.len());
        let (kept, is_cut) = beginning(line, room);
        printed.text.push_str(&kept);
        printed.text.push('\n');
        printed.is_cut |= is_cut;
    }

    /// Printed text.
    pub(crate) fn printed(&self) -> String {
        let printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = printed.text.trim_end_matches('\n').to_owned();
        if printed.is_cut {
            text.push_str(&format!("\n[What was printed beyond {} bytes is left out.]", self.limits.output));
        }
        text
    }
}

/// Beginning of a text, of at most `most` bytes; `true` if it is cut.
pub(crate) fn beginning(bytes: &[u8], most: usize) -> (String, bool) {
    let mut kept = String::from_utf8_lossy(bytes.get(..most).unwrap_or(bytes)).into_owned();
    while kept.len() > most && kept.pop().is_some() {}
    (kept, bytes.len() > most)
}

fn milliseconds(now: Timestamp, since: Timestamp) -> u64 {
    u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX)
}
