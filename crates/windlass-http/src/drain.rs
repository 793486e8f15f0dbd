//! Rest of an answer whose end was seen.

use std::{future::poll_fn, time::Duration};

use crate::HttpBody;

/// Maximum time and number of bytes for the rest of a finished answer before its connection is given up.
const DRAIN_TIME: Duration = Duration::from_secs(2);
const DRAIN_BYTES: usize = 64 * 1024;

/// Reads the rest of a body in the background for a moment, because a connection whose answer is not read to its end is
/// lost. Without a runtime the body is dropped.
pub(crate) fn drain(mut body: HttpBody) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(tokio::time::timeout(DRAIN_TIME, async move {
        let mut read = 0_usize;
        while let Some(Ok(chunk)) = poll_fn(|cx| body.as_mut().poll_next(cx)).await {
            read = read.saturating_add(chunk.len());
            if read > DRAIN_BYTES {
                break;
            }
        }
    }));
}
