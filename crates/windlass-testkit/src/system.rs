//! Conformance of clocks and sources of ids.
//!
//! ```
//! use windlass_testkit::fake::{ManualClock, SequentialIds};
//! use windlass_testkit::system;
//!
//! # fn main() -> Result<(), windlass_testkit::Violation> {
//! system::gives_the_time(&ManualClock::new())?;
//! system::gives_distinct_ids(&SequentialIds::new())?;
//! assert!(system::gives_random_ids(&SequentialIds::new()).is_err());
//! # Ok(())
//! # }
//! ```

use std::collections::HashSet;

use windlass_tool::{Clock, Ids};
use windlass_types::Timestamp;

use crate::Violation;
use crate::violation::{calmly, ensure};

/// Checks that a clock gives a time of this century, as text that reads back the same, and does not run backwards while
/// it is not set.
///
/// # Errors
/// The clock breaks the promise.
pub fn gives_the_time(clock: &dyn Clock) -> Result<(), Violation> {
    let mut last = calmly("read the clock", || clock.now())?;
    let year = last.to_string().get(..4).and_then(|year| year.parse::<u32>().ok());
    ensure(year.is_some_and(|year| (2020..2100).contains(&year)), || format!("the clock gives {last}"))?;
    for _ in 0..1000 {
        let now = calmly("read the clock", || clock.now())?;
        ensure(now >= last, || format!("the clock ran from {last} back to {now}"))?;
        last = now;
    }
    ensure(Timestamp::parse(&last.to_string()) == Some(last), || format!("{last} does not read back"))
}

/// Checks that no id is given twice, also when several threads take them.
///
/// # Errors
/// An id was given twice.
pub fn gives_distinct_ids(ids: &dyn Ids) -> Result<(), Violation> {
    const EACH: usize = 2_000;
    let all: Vec<u128> = calmly("take identifiers", || {
        std::thread::scope(|scope| {
            let take = || (0..EACH).map(|_| ids.bits()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
            let mut all = take();
            for thread in threads {
                match thread.join() {
                    Ok(more) => all.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    })?;
    let mut seen = HashSet::new();
    let twice = all.iter().find(|bits| !seen.insert(**bits));
    ensure(twice.is_none(), || format!("{:032x} came twice among {}", twice.copied().unwrap_or_default(), all.len()))
}

/// Checks that ids look random: every bit is set about half of the time, except a few that a format fixes (a UUID fixes
/// six). For real sources only; a source for tests may count.
///
/// # Errors
/// Too many bits are set always, never, or far too often.
pub fn gives_random_ids(ids: &dyn Ids) -> Result<(), Violation> {
    const TAKEN: u32 = 1024;
    // Eight standard deviations from half: practically impossible by chance.
    const USUAL: std::ops::RangeInclusive<u32> = 384..=640;
    const FIXED: usize = 8;
    let taken: Vec<u128> = calmly("take identifiers", || (0..TAKEN).map(|_| ids.bits()).collect())?;
    let on = |bit: u32| taken.iter().map(|bits| u32::try_from((bits >> bit) & 1).unwrap_or(0)).sum::<u32>();
    let odd: Vec<u32> = (0..128).filter(|bit| !USUAL.contains(&on(*bit))).collect();
    ensure(odd.len() <= FIXED, || format!("{} of 128 bits do not look random: {odd:?}", odd.len()))
}
