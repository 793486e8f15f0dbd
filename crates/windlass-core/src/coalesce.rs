//! Coalescing of queued events with newer ones.

use std::mem::swap;
use windlass_types::{Delta, EventKind};

/// Joins an event with a queued one, if one can represent both: a delta is appended to the delta before it, and
/// progress of a call or task replaces its earlier progress. Returns `true` if joined; the event is used up then.
/// Otherwise the event is unchanged and must be queued.
///
/// `waiting`: the queued events, newest first, each with `true` if it is of the same agent.
pub fn coalesce<'a>(mut waiting: impl Iterator<Item = (bool, &'a mut EventKind)>, event: &mut EventKind) -> bool {
    match event {
        EventKind::BlockDelta { index, delta } => match waiting.next() {
            Some((true, EventKind::BlockDelta { index: before, delta: text })) if before == index => {
                append(text, delta)
            }
            _ => false,
        },
        EventKind::ToolProgress(_) | EventKind::TaskProgress(_) => {
            match waiting.find(|(is_same, before)| *is_same && is_newer(event, before)) {
                Some((_, before)) => {
                    swap(before, event);
                    true
                }
                None => false,
            }
        }
        _ => false,
    }
}

/// `true` if the event is the later report of the same call or task.
fn is_newer(event: &EventKind, before: &EventKind) -> bool {
    match (event, before) {
        (EventKind::ToolProgress(now), EventKind::ToolProgress(before)) => now.tool_use_id == before.tool_use_id,
        (EventKind::TaskProgress(now), EventKind::TaskProgress(before)) => now.info.id == before.info.id,
        _ => false,
    }
}

/// Appends a delta to a queued one of the same kind.
fn append(waiting: &mut Delta, more: &Delta) -> bool {
    match (waiting, more) {
        (Delta::Text(waiting), Delta::Text(more))
        | (Delta::Thinking(waiting), Delta::Thinking(more))
        | (Delta::ToolInput(waiting), Delta::ToolInput(more)) => {
            waiting.push_str(more);
            true
        }
        _ => false,
    }
}
