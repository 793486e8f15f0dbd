//! Groups of nodes: the lines of one message and its results.

use super::{Link, Node, NodeBody};
use crate::repair::derived_id;
use std::collections::{HashMap, HashSet};
use windlass_types::{EntryId, MessageId};

/// Maximum number of nodes that are searched backwards for a group.
const MAX_DISTANCE: usize = 10_000;

/// Maximum number of parent links that are followed within one message.
const MAX_BLOCKS: usize = 64;

/// A message with its results, or any other line of the conversation.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Lines of the message in its own order; one line if it is not a message of the model.
    pub(super) lines: Vec<usize>,
    /// Results of its calls, results attached by position, and user messages between them, in file order.
    pub(super) results: Vec<usize>,
}

/// All groups, in order of their first line in the file.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// Group of each node that is part of the conversation.
    pub(super) of_node: Vec<Option<usize>>,
    by_id: HashMap<EntryId, usize>,
    /// Ids of lines that are not chained: outside every conversation, or in that of another agent.
    unchained_ids: HashSet<EntryId>,
}

impl Groups {
    pub(super) fn of(nodes: &[Node], mut by_id: HashMap<EntryId, usize>) -> Self {
        let mut unchained_ids = HashSet::new();
        by_id.retain(|id, index| {
            let is_chained = nodes.get(*index).is_some_and(Node::is_chained);
            if !is_chained {
                unchained_ids.insert(id.clone());
            }
            is_chained
        });
        // Block ids are generated when a log is read, and lines that were appended later may refer to them.
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            by_id.entry(node.id.clone()).or_insert(index);
            if let NodeBody::Assistant(message) = &node.body {
                for id in block_ids(&node.id, message.content.len()) {
                    by_id.entry(id).or_insert(index);
                }
            }
        }
        let mut groups = Self { groups: Vec::new(), of_node: vec![None; nodes.len()], by_id, unchained_ids };
        groups.join_lines(nodes);
        groups.attach_results(nodes);
        groups.attach_interjections(nodes);
        for group in &mut groups.groups {
            order_lines(nodes, &groups.by_id, &mut group.lines);
        }
        groups
    }

    /// Returns the node that a link names, if it exists.
    pub(super) fn node(&self, link: &Link) -> Option<usize> {
        resolve(&self.by_id, link)
    }

    /// Returns the id of a link if no line has that id.
    pub(super) fn lost<'a>(&self, link: &'a Link) -> Option<&'a EntryId> {
        match link {
            Link::Id(id) if !self.by_id.contains_key(id) && !self.unchained_ids.contains(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the group of the nearest preceding node whose group `accept` accepts.
    pub(super) fn before(&self, node: usize, accept: impl Fn(usize) -> bool) -> Option<usize> {
        let earlier = self.of_node.get(..node).unwrap_or_default();
        earlier.iter().rev().take(MAX_DISTANCE).filter_map(|group| *group).find(|group| accept(*group))
    }

    /// `true` if a line with the message id `id` and the parent `parent` continues the message of `parent`. After a
    /// call the id may differ, because a new message can only follow a result.
    fn is_same_message(&self, nodes: &[Node], id: &MessageId, parent: usize) -> bool {
        let mut index = Some(parent);
        for step in 0..MAX_BLOCKS {
            match index.and_then(|index| nodes.get(index)) {
                Some(Node { body: NodeBody::Assistant(message), parent, aside: false, .. }) => {
                    let has_call = message.content.iter().any(|block| block.as_tool_use().is_some());
                    if has_call || (step == 0 && message.message_id == *id) {
                        return true;
                    }
                    index = resolve(&self.by_id, parent);
                }
                _ => return false,
            }
        }
        false
    }

    /// Joins the lines of one message: each has another one as its parent, and they share the message id. If the parent
    /// is lost, the preceding line in the file takes its place.
    fn join_lines(&mut self, nodes: &[Node]) {
        let mut sets = DisjointSets::new(nodes.len());
        let mut previous_line: Option<usize> = None;
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            if let NodeBody::Assistant(message) = &node.body {
                let parent = resolve(&self.by_id, &node.parent);
                let is_known = parent.is_some() || node.parent == Link::Root;
                let other = if is_known { parent } else { previous_line };
                if let Some(other) = other.filter(|other| self.is_same_message(nodes, &message.message_id, *other)) {
                    sets.join(index, other);
                }
            }
            // A result between two lines of a message does not separate them.
            if !matches!(node.body, NodeBody::Result(_)) {
                previous_line = Some(index);
            }
        }
        let mut group_of_root = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            if !node.is_chained() || matches!(node.body, NodeBody::Result(_)) {
                continue;
            }
            let group = *group_of_root.entry(sets.root(index)).or_insert_with(|| {
                self.groups.push(Group::default());
                self.groups.len() - 1
            });
            if let Some(slot) = self.of_node.get_mut(index) {
                *slot = Some(group);
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.lines.push(index);
            }
        }
    }

    fn attach_results(&mut self, nodes: &[Node]) {
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            let NodeBody::Result(result) = &node.body else { continue };
            let links = [result.assistant.clone().map_or(Link::Unknown, Link::Id), node.parent.clone()];
            let named_group = links.iter().find_map(|link| {
                let line = self
                    .node(link)
                    .filter(|line| matches!(nodes.get(*line), Some(Node { body: NodeBody::Assistant(_), .. })))?;
                self.of_node.get(line).copied().flatten()
            });
            let id = &result.result.tool_use_id;
            let has_call = |group: usize| {
                self.groups.get(group).is_some_and(|group| {
                    group.lines.iter().filter_map(|line| nodes.get(*line)).any(|line| match &line.body {
                        NodeBody::Assistant(message) => {
                            message.content.iter().any(|b| b.as_tool_use().is_some_and(|call| call.id == *id))
                        }
                        _ => false,
                    })
                })
            };
            let group = named_group.or_else(|| self.before(index, has_call)).or_else(|| self.before(index, |_| true));
            let Some(group) = group else { continue };
            if let Some(slot) = self.of_node.get_mut(index) {
                *slot = Some(group);
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.results.push(index);
            }
        }
    }

    /// Attaches user messages that were sent while calls ran to the group of these calls: such a message follows one
    /// result, and a later result of the group comes after it in the file.
    fn attach_interjections(&mut self, nodes: &[Node]) {
        let last_results: Vec<Option<usize>> = self
            .groups
            .iter()
            .map(|group| {
                let is_logged = |index: &&usize| match nodes.get(**index) {
                    // A repair appended the synthetic results later, so their place does not tell when calls ran.
                    Some(Node { body: NodeBody::Result(result), .. }) => !result.synthetic,
                    _ => false,
                };
                group.results.iter().rfind(is_logged).copied()
            })
            .collect();
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            let NodeBody::User { is_summary: false, .. } = &node.body else { continue };
            let group = self.node(&node.parent).and_then(|parent| self.of_node.get(parent).copied().flatten());
            let Some(group) = group else { continue };
            if last_results.get(group).copied().flatten().is_none_or(|last| last < index) {
                continue;
            }
            let previous_group = self.of_node.get_mut(index).and_then(|slot| slot.replace(group));
            if let Some(previous_group) = previous_group.and_then(|previous_group| self.groups.get_mut(previous_group))
            {
                previous_group.lines.clear();
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.results.push(index);
                group.results.sort_unstable();
            }
        }
    }
}

/// Returns the ids of the blocks of one line. The last block has the id of the line, the others have derived ids.
pub(super) fn block_ids(line: &EntryId, blocks: usize) -> Vec<EntryId> {
    let last = blocks.saturating_sub(1);
    (0..blocks)
        .map(|block| match block {
            block if block == last => line.clone(),
            block => derived_id("block", &[line.as_str(), &block.to_string()]),
        })
        .collect()
}

fn resolve(by_id: &HashMap<EntryId, usize>, link: &Link) -> Option<usize> {
    match link {
        Link::Id(id) => by_id.get(id).copied(),
        Link::Node(node) => Some(*node),
        Link::Root | Link::Unknown => None,
    }
}

/// Sorts the lines of a message so that parents come first. File order is kept unless a line precedes its parent.
fn order_lines(nodes: &[Node], by_id: &HashMap<EntryId, usize>, lines: &mut [usize]) {
    let parent = |line: usize| nodes.get(line).and_then(|node| resolve(by_id, &node.parent));
    let displaced = |line: &usize| parent(*line).is_some_and(|parent| parent > *line && lines.contains(&parent));
    if lines.len() < 2 || !lines.iter().any(displaced) {
        return;
    }
    let inside: HashSet<usize> = lines.iter().copied().collect();
    let mut depths: HashMap<usize, usize> = HashMap::new();
    for line in lines.iter().copied() {
        let mut path = Vec::new();
        let mut index = line;
        let base = loop {
            if let Some(depth) = depths.get(&index) {
                break *depth;
            }
            path.push(index);
            // A path that is longer than the message has a cycle, and ends here.
            match parent(index).filter(|parent| inside.contains(parent) && path.len() <= inside.len()) {
                Some(parent) => index = parent,
                None => break 0,
            }
        };
        for (offset, node) in path.iter().rev().enumerate() {
            depths.entry(*node).or_insert(base + offset + 1);
        }
    }
    lines.sort_by_key(|line| (depths.get(line).copied().unwrap_or_default(), *line));
}

/// Disjoint sets of nodes.
struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    fn new(len: usize) -> Self {
        Self { parent: (0..len).collect() }
    }

    fn root(&mut self, mut index: usize) -> usize {
        while let Some(parent) = self.parent.get(index).copied().filter(|parent| *parent != index) {
            let next = self.parent.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.parent.get_mut(index) {
                *slot = next;
            }
            index = next;
        }
        index
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parent.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}
