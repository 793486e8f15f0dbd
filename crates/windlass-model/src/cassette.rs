//! Recording of model calls, and their replay without a network.
//!
//! [`Recorder`] wraps any provider and writes what is asked and answered to a
//! *cassette*; [`Replayer`] is a provider that answers from it, the same items
//! in the same order, as long as it is asked the same. [`Scrub`] says what must
//! not get into the file, and what differs from machine to machine.
//!
//! # Format
//! JSON Lines. The first line is `{"windlass_cassette":1,"provider":NAME}`. Then,
//! for each call, all its lines together, in the order in which calls ended:
//!
//! | line | meaning |
//! |---|---|
//! | `{"call":N,"request":{…}}` | call N began (counted from zero) with this request; `"count":true` for a count of tokens |
//! | `{"item":EVENT}` | an item of its stream, as a frame of the Messages API |
//! | `{"end":"complete"}` | its stream ended; `"dropped"`: nobody wanted more of it |
//! | `{"failed":ERROR}` | its stream ended with an error |
//! | `{"refused":ERROR}` | it was refused before a stream began |
//! | `{"tokens":N}` | the count |
//!
//! A request holds `model`, `system`, `tools` and `messages`, which must be the
//! same on replay, and `settings`, which need not. What equals the request before
//! it in the file is left out: `system` and `tools` are absent, `messages`
//! begins after the first `same_messages`. An item whose frame was recorded has `raw`: `true`
//! when it is the text of `item`, else the text itself. `item_text` stands for
//! an `item` that has line breaks.

mod asked;
mod line;
mod record;
mod replay;
mod scrub;

pub use record::Recorder;
pub use replay::{CassetteError, Replayer};
pub use scrub::Scrub;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

#[cfg(test)]
mod tests;
