//! Conversion of nodes to entries.

use super::conversation::Conversation;
use super::group::{Group, block_ids};
use super::{Link, Node, NodeBody};
use crate::store::LoadReport;
use std::collections::HashMap;
use windlass_types::{AssistantEntry, Entry, EntryId, EntryKind, ToolResultEntry, ToolUseId};

/// An entry with its position in the file.
struct Placed {
    at: usize,
    entry: Entry,
}

/// Returns the entries of the conversation, merged with those beside it. The order is that of the file as far as the
/// conversation's own order allows.
pub(super) fn emit(nodes: Vec<Node>, conversation: &Conversation, report: &mut LoadReport) -> Vec<Entry> {
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut chain: Vec<Placed> = Vec::with_capacity(nodes.len());
    let mut segment: Vec<Placed> = Vec::new();
    let mut results: Vec<Placed> = Vec::new();
    for group in &conversation.groups {
        let (placed, group_results, is_message) = entries_of(&mut nodes, group);
        if is_message {
            close_segment(&mut chain, &mut segment, &mut results);
        }
        if is_message {
            chain.extend(placed);
        } else {
            segment.extend(placed);
        }
        results.extend(group_results);
    }
    close_segment(&mut chain, &mut segment, &mut results);
    let beside: Vec<Placed> = nodes
        .into_iter()
        .enumerate()
        .filter_map(|(at, node)| {
            let node = node?;
            match node.body {
                NodeBody::Beside(kind) => {
                    let parent = match node.parent {
                        Link::Id(id) => Some(id),
                        _ => None,
                    };
                    Some(Placed { at, entry: Entry::new(node.id, parent, node.timestamp, kind) })
                }
                _ => {
                    if conversation.compacted.contains(&at) {
                        report.compacted += 1;
                    } else {
                        report.off_branch += 1;
                    }
                    report.off_branch_ids.push(node.id);
                    None
                }
            }
        })
        .collect();
    merge(chain, beside)
}

/// Returns the entries of a log in the order of their lines, each with its last line.
pub(super) fn emit_appended(nodes: Vec<Node>) -> Vec<(u64, Entry)> {
    let groups = groups_in_order(&nodes);
    let lines: Vec<u64> = nodes.iter().map(|node| node.line).collect();
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut entries = Vec::new();
    for (at, group) in groups {
        let line = |placed: &Placed| lines.get(placed.at).copied().unwrap_or_default();
        let (placed, results, _) = entries_of(&mut nodes, &group);
        entries.extend(placed.into_iter().chain(results).map(|placed| (line(&placed), placed.entry)));
        if let Some(Node { line, id, parent, timestamp, body: NodeBody::Beside(kind), .. }) =
            nodes.get_mut(at).and_then(Option::take)
        {
            entries.push((line, Entry::new(id, link_id(&parent), timestamp, kind)));
        }
    }
    entries
}

/// Returns a group for each node, and one for the lines of a message that stand together.
fn groups_in_order(nodes: &[Node]) -> Vec<(usize, Group)> {
    let message = |node: &Node| match &node.body {
        NodeBody::Assistant(line) => Some(line.message_id.clone()),
        _ => None,
    };
    let mut groups: Vec<(usize, Group)> = Vec::new();
    let mut last = None;
    for (at, node) in nodes.iter().enumerate() {
        let of = message(node);
        match groups.last_mut() {
            Some((_, group)) if of.is_some() && of == last => group.lines.push(at),
            _ if matches!(node.body, NodeBody::Result(_)) => {
                groups.push((at, Group { lines: Vec::new(), results: vec![at] }));
            }
            _ => groups.push((at, Group { lines: vec![at], results: Vec::new() })),
        }
        last = of;
    }
    groups
}

/// Appends the results of a message and the lines after it up to the next message, each in its order, together in file
/// order.
fn close_segment(chain: &mut Vec<Placed>, segment: &mut Vec<Placed>, results: &mut Vec<Placed>) {
    let mut results = std::mem::take(results).into_iter().peekable();
    for placed in std::mem::take(segment) {
        while let Some(result) = results.next_if(|result| result.at < placed.at) {
            chain.push(result);
        }
        chain.push(placed);
    }
    chain.extend(results);
}

fn merge(mut chain: Vec<Placed>, beside: Vec<Placed>) -> Vec<Entry> {
    // An entry that comes late in the file for its place in the conversation must not move the entries beside it.
    let mut next = usize::MAX;
    for placed in chain.iter_mut().rev() {
        placed.at = placed.at.min(next);
        next = placed.at;
    }
    let mut entries = Vec::with_capacity(chain.len() + beside.len());
    let mut beside = beside.into_iter().peekable();
    for placed in chain {
        while let Some(aside) = beside.next_if(|aside| aside.at < placed.at) {
            entries.push(aside.entry);
        }
        entries.push(placed.entry);
    }
    entries.extend(beside.map(|aside| aside.entry));
    entries
}

/// Returns the entries of a group, those of its results, and `true` if it is a message of the model.
fn entries_of(nodes: &mut [Option<Node>], group: &Group) -> (Vec<Placed>, Vec<Placed>, bool) {
    let is_chained = |node: &mut Node| !matches!(node.body, NodeBody::Beside(_));
    let lines: Vec<(usize, Node)> =
        group.lines.iter().filter_map(|at| Some((*at, nodes.get_mut(*at)?.take_if(is_chained)?))).collect();
    let mut calls = HashMap::new();
    let mut placed = Vec::new();
    let mut message: Option<Placed> = None;
    for (at, node) in lines {
        let parent = link_id(&node.parent);
        match node.body {
            NodeBody::Assistant(_) => add_line(&mut message, &mut calls, at, node),
            NodeBody::User { user, .. } => {
                placed.push(Placed { at, entry: Entry::new(node.id, parent, node.timestamp, EntryKind::User(user)) });
            }
            NodeBody::Passive { json, .. } => {
                placed
                    .push(Placed { at, entry: Entry::new(node.id, parent, node.timestamp, EntryKind::Foreign(json)) });
            }
            NodeBody::Result(_) | NodeBody::Beside(_) => {}
        }
    }
    let is_message = message.is_some();
    placed.extend(message);
    let mut results = Vec::new();
    for at in &group.results {
        let Some(node) = nodes.get_mut(*at).and_then(Option::take) else { continue };
        let result = match node.body {
            NodeBody::Result(result) => result,
            NodeBody::User { user, .. } => {
                let parent = link_id(&node.parent);
                let entry = Entry::new(node.id, parent, node.timestamp, EntryKind::User(user));
                results.push(Placed { at: *at, entry });
                continue;
            }
            _ => continue,
        };
        let named =
            calls.get(&result.result.tool_use_id).cloned().or(result.assistant).or_else(|| link_id(&node.parent));
        let mut entry = ToolResultEntry::new(result.result, named.unwrap_or_else(|| node.id.clone()));
        entry.structured = result.structured;
        entry.synthetic = result.synthetic;
        let parent = link_id(&node.parent).or_else(|| Some(entry.assistant.clone()));
        results
            .push(Placed { at: *at, entry: Entry::new(node.id, parent, node.timestamp, EntryKind::ToolResult(entry)) });
    }
    (placed, results, is_message)
}

fn link_id(link: &Link) -> Option<EntryId> {
    match link {
        Link::Id(id) => Some(id.clone()),
        _ => None,
    }
}

/// Adds a line of a message to it.
fn add_line(message: &mut Option<Placed>, calls: &mut HashMap<ToolUseId, EntryId>, at: usize, node: Node) {
    let NodeBody::Assistant(line) = node.body else { return };
    // A line of another program may contain several blocks.
    let ids = block_ids(&node.id, line.content.len());
    for (block, id) in line.content.iter().zip(&ids) {
        if let Some(call) = block.as_tool_use() {
            calls.entry(call.id.clone()).or_insert_with(|| id.clone());
        }
    }
    match message {
        Some(Placed { at: last, entry: Entry { id, timestamp, kind: EntryKind::Assistant(whole), .. } }) => {
            *last = (*last).max(at);
            *id = node.id.clone();
            *timestamp = node.timestamp;
            whole.block_ids.extend(ids);
            whole.content.extend(line.content);
            whole.stop_reason = line.stop_reason.or(whole.stop_reason.take());
            whole.usage = line.usage;
            whole.origin = line.origin.or(whole.origin.take());
        }
        _ => {
            let parent = link_id(&node.parent);
            let mut whole =
                AssistantEntry::new(line.message_id, line.model, line.content, ids, line.stop_reason, line.usage);
            whole.origin = line.origin;
            let entry = Entry::new(node.id, parent, node.timestamp, EntryKind::Assistant(whole));
            *message = Some(Placed { at, entry });
        }
    }
}
