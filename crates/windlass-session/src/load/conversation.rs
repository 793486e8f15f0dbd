//! Selection of the lines that form the current conversation.

use super::group::{Group, Groups};
use super::{Link, Node, NodeBody};
use crate::codec::ResultLine;
use crate::store::LoadReport;
use std::collections::{HashMap, HashSet};
use windlass_types::EntryId;

/// Maximum number of compactions that are searched for one late result.
const MAX_COMPACTIONS: usize = 8;

/// Groups of the current conversation, from its beginning.
pub(super) struct Conversation {
    pub(super) groups: Vec<Group>,
    /// Nodes that a summary replaces.
    pub(super) compacted: HashSet<usize>,
    /// Nodes of the conversation whose parent is lost, with the id of that.
    lost: Vec<(usize, EntryId)>,
    /// Results after the summary that replaces their calls.
    late: Vec<usize>,
}

impl Conversation {
    /// Adds unusual findings to the warnings.
    pub(super) fn report(&self, nodes: &[Node], report: &mut LoadReport) {
        let line = |at: usize| nodes.get(at).map(|node| node.line).unwrap_or_default();
        for (at, id) in &self.lost {
            report.lost_parents += 1;
            report.warn(format!(
                "line {}: it follows on {id}, which is lost; the nearest line before it takes its place",
                line(*at)
            ));
        }
        for at in &self.late {
            report.warn(format!("line {}: it answers a call for which a summary stands already", line(*at)));
        }
    }
}

/// Finds the conversation: the path that ends in the latest line without a successor. Results belong to their message
/// at any position, so parallel calls form one path.
pub(super) fn choose(nodes: &[Node], by_id: HashMap<EntryId, usize>) -> Conversation {
    let mut groups = Groups::of(nodes, by_id);
    let mut parents: Vec<Option<usize>> = (0..groups.groups.len()).map(|group| up(nodes, &groups, group)).collect();
    follow_summaries(nodes, &groups, &mut parents);
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
    let (compacted, late) = find_compacted(nodes, &groups, &parents, &path);
    let lost = find_lost(nodes, &groups, &path);
    let mut taken: Vec<Group> = Vec::with_capacity(path.len());
    for group in path.into_iter().rev() {
        if let Some(group) = groups.groups.get_mut(group) {
            taken.push(std::mem::take(group));
        }
    }
    Conversation { groups: taken, compacted, lost, late }
}

/// Returns the nodes before a path that begins at a compaction, and the late results among them.
fn find_compacted(
    nodes: &[Node],
    groups: &Groups,
    parents: &[Option<usize>],
    path: &[usize],
) -> (HashSet<usize>, Vec<usize>) {
    let (mut compacted, mut late) = (HashSet::new(), Vec::new());
    let Some(first) = path.last().copied() else { return (compacted, late) };
    let boundary = head(groups, first).unwrap_or_default();
    let mut at = parents.get(first).copied().flatten();
    while let Some(group) = at.and_then(|group| groups.groups.get(group)) {
        compacted.extend(group.lines.iter().chain(&group.results));
        let is_result = |at: &&usize| matches!(nodes.get(**at).map(|node| &node.body), Some(NodeBody::Result(_)));
        late.extend(group.results.iter().filter(|at| **at > boundary).filter(is_result));
        at = at.and_then(|group| parents.get(group).copied().flatten());
    }
    (compacted, late)
}

/// Returns the nodes of a path whose parent is lost.
fn find_lost(nodes: &[Node], groups: &Groups, path: &[usize]) -> Vec<(usize, EntryId)> {
    let mut lost = Vec::new();
    for group in path.iter().rev().filter_map(|group| groups.groups.get(*group)) {
        for (at, node) in group.lines.iter().chain(&group.results).filter_map(|at| Some((*at, nodes.get(*at)?))) {
            let id = match &node.body {
                // A result belongs to its call, wherever that is named.
                NodeBody::Result(result) if has_call(groups, result) => None,
                _ => groups.lost(&node.parent),
            };
            lost.extend(id.map(|id| (at, id.clone())));
        }
    }
    lost
}

fn has_call(groups: &Groups, result: &ResultLine) -> bool {
    result.assistant.clone().is_some_and(|call| groups.node(&Link::Id(call)).is_some())
}

/// Moves lines after a late result to the summary that replaces its call: they continue with the summary, not with the
/// replaced part.
fn follow_summaries(nodes: &[Node], groups: &Groups, parents: &mut [Option<usize>]) {
    let compactions = compactions(nodes, groups, parents);
    if compactions.is_empty() {
        return;
    }
    for group in 0..parents.len() {
        let Some(at) = head(groups, group) else { continue };
        let Some(result) = nodes.get(at).and_then(|node| groups.node(&node.parent)) else { continue };
        let is_result = matches!(nodes.get(result).map(|node| &node.body), Some(NodeBody::Result(_)));
        let Some(call) = parents.get(group).copied().flatten().filter(|_| is_result) else { continue };
        let Some(begin) = head(groups, call) else { continue };
        let between = |(boundary, summary): &&(usize, usize)| {
            let boundary_at = head(groups, *boundary).unwrap_or_default();
            let summary_at = head(groups, *summary).unwrap_or(usize::MAX);
            begin < boundary_at && summary_at < result
        };
        let stands_for = |(boundary, _): &&(usize, usize)| is_before(parents, call, *boundary);
        let found = compactions.iter().rev().filter(between).take(MAX_COMPACTIONS).find(stands_for);
        let Some(summary_at) = found.and_then(|(_, summary)| head(groups, *summary)) else { continue };
        let after = |other: usize| other != group && head(groups, other).is_some_and(|other| other >= summary_at);
        if let Some(parent) = parents.get_mut(group) {
            *parent = groups.before(at, after);
        }
    }
}

/// Returns the boundaries with a summary, and their summaries, in file order.
fn compactions(nodes: &[Node], groups: &Groups, parents: &[Option<usize>]) -> Vec<(usize, usize)> {
    let body = |group: usize| head(groups, group).and_then(|at| nodes.get(at)).map(|node| &node.body);
    let summaries =
        (0..parents.len()).filter(|group| matches!(body(*group), Some(NodeBody::User { is_summary: true, .. })));
    summaries
        .filter_map(|summary| {
            let boundary = parents.get(summary).copied().flatten()?;
            matches!(body(boundary), Some(NodeBody::Passive { boundary: Some(_), .. })).then_some((boundary, summary))
        })
        .collect()
}

/// `true` if a group is on the path from another one back to its beginning.
fn is_before(parents: &[Option<usize>], group: usize, from: usize) -> bool {
    let mut at = Some(from);
    // A cycle ends when the path would be longer than the number of groups.
    for _ in 0..=parents.len() {
        match at {
            Some(other) if other == group => return true,
            Some(other) => at = parents.get(other).copied().flatten(),
            None => return false,
        }
    }
    false
}

fn head(groups: &Groups, group: usize) -> Option<usize> {
    groups.groups.get(group)?.lines.first().copied()
}

/// Returns the position of a group in the file: its last line, results excluded.
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

/// Returns the position of the nearest line at or before a group that is not a mere attachment, so that a dangling
/// attachment makes no old branch the latest.
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

/// Makes the parents a forest. A cycle is cut at its first group in the file, which then follows the group before it.
fn cut_cycles(groups: &Groups, parents: &mut [Option<usize>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        OnPath,
        Done,
    }
    let mut states = vec![Visit::New; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(group) = at {
            match states.get(group) {
                Some(Visit::New) => {}
                Some(Visit::OnPath) => {
                    let cycle = path.iter().rev().take_while(|other| **other != group).chain([&group]);
                    let first = cycle.min().copied().unwrap_or(group);
                    // A finished group reaches a beginning without passing here.
                    let is_done = |other: usize| states.get(other) == Some(&Visit::Done);
                    let before = head(groups, first).and_then(|line| groups.before(line, is_done));
                    if let Some(parent) = parents.get_mut(first) {
                        *parent = before;
                    }
                    break;
                }
                _ => break,
            }
            if let Some(state) = states.get_mut(group) {
                *state = Visit::OnPath;
            }
            path.push(group);
            at = parents.get(group).copied().flatten();
        }
        for group in path {
            if let Some(state) = states.get_mut(group) {
                *state = Visit::Done;
            }
        }
    }
}

/// Returns the path from a group back to the beginning.
fn walk(nodes: &[Node], groups: &Groups, parents: &[Option<usize>], from: Option<usize>) -> Vec<usize> {
    let mut path = Vec::new();
    let mut has_summary = false;
    let mut at = from;
    while let Some(group) = at {
        path.push(group);
        let Some(first) = head(groups, group) else { break };
        let body = nodes.get(first).map(|node| &node.body);
        // The summary replaces everything before a compaction, if the summary exists.
        if has_summary && matches!(body, Some(NodeBody::Passive { boundary: Some(_), .. })) {
            break;
        }
        has_summary |= matches!(body, Some(NodeBody::User { is_summary: true, .. }));
        at = parents.get(group).copied().flatten();
    }
    path
}
