//! Which of the lines are the current conversation.

use super::group::{Group, Groups};
use super::{Link, Node, NodeBody};
use std::collections::HashMap;
use windlass_types::EntryId;

/// The groups of the current conversation, from its beginning.
pub(super) struct Conversation {
    pub(super) groups: Vec<Group>,
}

/// Finds the conversation: the path that ends in the latest line that nothing
/// follows. Results belong to their message wherever they stand, so parallel
/// calls are one path.
pub(super) fn choose(nodes: &[Node], by_id: HashMap<EntryId, usize>) -> Conversation {
    let mut groups = Groups::of(nodes, by_id);
    let mut parents: Vec<Option<usize>> = (0..groups.groups.len()).map(|group| up(nodes, &groups, group)).collect();
    cut_cycles(&groups, &mut parents);
    let mut has_child = vec![false; parents.len()];
    for parent in parents.iter().copied().flatten() {
        if let Some(has_child) = has_child.get_mut(parent) {
            *has_child = true;
        }
    }
    let real = |group: &usize| head(&groups, *group).is_some();
    let ends = (0..parents.len()).filter(|group| has_child.get(*group) == Some(&false)).filter(real);
    let best = ends.max_by_key(|group| (plain_position(nodes, &groups, &parents, *group), position(&groups, *group)));
    let path = walk(nodes, &groups, &parents, best.or_else(|| (0..parents.len()).rev().find(real)));
    let mut taken: Vec<Group> = Vec::with_capacity(path.len());
    for group in path.into_iter().rev() {
        if let Some(group) = groups.groups.get_mut(group) {
            taken.push(std::mem::take(group));
        }
    }
    Conversation { groups: taken }
}

fn head(groups: &Groups, group: usize) -> Option<usize> {
    groups.groups.get(group)?.lines.first().copied()
}

/// Where a group stands in the file: its last line, results aside.
fn position(groups: &Groups, group: usize) -> usize {
    groups.groups.get(group).and_then(|group| group.lines.iter().max().copied()).unwrap_or_default()
}

fn up(nodes: &[Node], groups: &Groups, group: usize) -> Option<usize> {
    let at = head(groups, group)?;
    let node = nodes.get(at)?;
    let named = groups.node(&node.parent).and_then(|parent| groups.of_node.get(parent).copied().flatten());
    let is_beginning = match &node.body {
        // The model never speaks first, so such a line has lost its parent.
        NodeBody::Assistant(_) => false,
        NodeBody::Passive { boundary: Some(before), .. } => {
            let before = before.clone().map_or(Link::Unknown, Link::Id);
            let before = groups.node(&before).and_then(|parent| groups.of_node.get(parent).copied().flatten());
            return before.or(named).filter(|up| *up != group).or_else(|| nearest(groups, at, group));
        }
        _ => node.parent == Link::Root,
    };
    if is_beginning {
        return None;
    }
    named.filter(|up| *up != group).or_else(|| nearest(groups, at, group))
}

fn nearest(groups: &Groups, at: usize, group: usize) -> Option<usize> {
    groups.before(at, |other| other != group)
}

/// The position of the nearest line at or before a group that is no mere
/// attachment, so that a dangling attachment makes no old branch the latest.
fn plain_position(nodes: &[Node], groups: &Groups, parents: &[Option<usize>], group: usize) -> usize {
    let mut at = Some(group);
    for _ in 0..parents.len() {
        let Some(group) = at else { break };
        let lines = groups.groups.get(group).map_or(&[] as &[usize], |group| &group.lines);
        if lines.iter().any(|line| nodes.get(*line).is_some_and(Node::is_plain)) {
            return position(groups, group);
        }
        at = parents.get(group).copied().flatten();
    }
    0
}

/// Makes the parents a forest. A cycle is cut at its first group in the file,
/// which then follows on what stands before it.
fn cut_cycles(groups: &Groups, parents: &mut [Option<usize>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnPath,
        Done,
    }
    let mut states = vec![State::New; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(group) = at {
            match states.get(group) {
                Some(State::New) => {}
                Some(State::OnPath) => {
                    let cycle = path.iter().rev().take_while(|other| **other != group).chain([&group]);
                    let first = cycle.min().copied().unwrap_or(group);
                    // What is done leads to a beginning without coming by here.
                    let is_done = |other: usize| states.get(other) == Some(&State::Done);
                    let before = head(groups, first).and_then(|line| groups.before(line, is_done));
                    if let Some(parent) = parents.get_mut(first) {
                        *parent = before;
                    }
                    break;
                }
                _ => break,
            }
            if let Some(state) = states.get_mut(group) {
                *state = State::OnPath;
            }
            path.push(group);
            at = parents.get(group).copied().flatten();
        }
        for group in path {
            if let Some(state) = states.get_mut(group) {
                *state = State::Done;
            }
        }
    }
}

/// The path from a group back to the beginning.
fn walk(nodes: &[Node], groups: &Groups, parents: &[Option<usize>], from: Option<usize>) -> Vec<usize> {
    let mut path = Vec::new();
    let mut has_summary = false;
    let mut at = from;
    while let Some(group) = at {
        path.push(group);
        let Some(first) = head(groups, group) else { break };
        let body = nodes.get(first).map(|node| &node.body);
        // What was before a compaction is replaced by its summary, if that is there.
        if has_summary && matches!(body, Some(NodeBody::Passive { boundary: Some(_), .. })) {
            break;
        }
        has_summary |= matches!(body, Some(NodeBody::User { is_summary: true, .. }));
        at = parents.get(group).copied().flatten();
    }
    path
}
