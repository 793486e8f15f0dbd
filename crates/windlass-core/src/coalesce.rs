//! Joins events that wait with newer ones.

use windlass_types::{Delta, EventKind};

/// Joins an event with one of those that wait, if one can stand for both: a delta is appended to the delta before it,
/// and progress of a call or task replaces its progress before. Otherwise the event is returned, to wait behind them.
///
/// `waiting`: the newest event first, each with whether it is of the same agent.
pub fn coalesce<'a>(
    mut waiting: impl Iterator<Item = (bool, &'a mut EventKind)>,
    event: EventKind,
) -> Option<EventKind> {
    match event {
        EventKind::BlockDelta { index, delta } => match waiting.next() {
            Some((true, EventKind::BlockDelta { index: before, delta: text })) if *before == index => {
                append(text, delta).map(|delta| EventKind::BlockDelta { index, delta })
            }
            _ => Some(EventKind::BlockDelta { index, delta }),
        },
        event @ (EventKind::ToolProgress(_) | EventKind::TaskProgress(_)) => {
            match waiting.find(|(is_same, before)| *is_same && is_newer(&event, before)) {
                Some((_, before)) => {
                    *before = event;
                    None
                }
                None => Some(event),
            }
        }
        event => Some(event),
    }
}

/// Whether an event is the later report of the same call or task.
fn is_newer(event: &EventKind, before: &EventKind) -> bool {
    match (event, before) {
        (EventKind::ToolProgress(now), EventKind::ToolProgress(before)) => now.tool_use_id == before.tool_use_id,
        (EventKind::TaskProgress(now), EventKind::TaskProgress(before)) => now.info.id == before.info.id,
        _ => false,
    }
}

/// Appends a delta to one that waits, or returns it if it is of another kind.
fn append(waiting: &mut Delta, more: Delta) -> Option<Delta> {
    match (waiting, &more) {
        (Delta::Text(waiting), Delta::Text(more))
        | (Delta::Thinking(waiting), Delta::Thinking(more))
        | (Delta::ToolInput(waiting), Delta::ToolInput(more)) => {
            waiting.push_str(more);
            None
        }
        _ => Some(more),
    }
}
