//! Nodes that belong together: the lines of one message and its results.

use super::{Link, Node, NodeBody};
use crate::repair::derived_id;
use std::collections::{HashMap, HashSet};
use windlass_types::{EntryId, MessageId};

/// How far back a neighbour is looked for, in records.
const FARTHEST: usize = 10_000;

/// How far back the lines of a message are followed.
const MOST_BLOCKS: usize = 64;

/// A message with its results, or any other line of the conversation.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The lines of the message in its own order; one line if it is no message of the model.
    pub(super) lines: Vec<usize>,
    /// The results of its calls, those that seem to belong here, and messages of the
    /// user between them, in file order.
    pub(super) results: Vec<usize>,
}

/// All groups, in order of their first line in the file.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// The group of each node that stands in the conversation.
    pub(super) of_node: Vec<Option<usize>>,
    by_id: HashMap<EntryId, usize>,
    /// The ids of lines that stand in no conversation, or in that of another agent.
    others: HashSet<EntryId>,
}

impl Groups {
    pub(super) fn of(nodes: &[Node], mut by_id: HashMap<EntryId, usize>) -> Self {
        let mut others = HashSet::new();
        by_id.retain(|id, at| {
            let is_chained = nodes.get(*at).is_some_and(Node::is_chained);
            if !is_chained {
                others.insert(id.clone());
            }
            is_chained
        });
        // Ids that reading gave out are referred to by what was appended later.
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            by_id.entry(node.id.clone()).or_insert(at);
            if let NodeBody::Assistant(message) = &node.body {
                for id in block_ids(&node.id, message.content.len()) {
                    by_id.entry(id).or_insert(at);
                }
            }
        }
        let mut groups = Self { groups: Vec::new(), of_node: vec![None; nodes.len()], by_id, others };
        groups.join_lines(nodes);
        groups.attach_results(nodes);
        groups.attach_interjections(nodes);
        for group in &mut groups.groups {
            order_lines(nodes, &groups.by_id, &mut group.lines);
        }
        groups
    }

    /// The node that a link leads to, if it is there.
    pub(super) fn node(&self, link: &Link) -> Option<usize> {
        resolve(&self.by_id, link)
    }

    /// The id that a link names and that no line has.
    pub(super) fn lost<'a>(&self, link: &'a Link) -> Option<&'a EntryId> {
        match link {
            Link::Id(id) if !self.by_id.contains_key(id) && !self.others.contains(id) => Some(id),
            _ => None,
        }
    }

    /// The nearest line of the conversation before a node, in file order, that
    /// `accept` takes.
    pub(super) fn before(&self, node: usize, accept: impl Fn(usize) -> bool) -> Option<usize> {
        let earlier = self.of_node.get(..node).unwrap_or_default();
        earlier.iter().rev().take(FARTHEST).filter_map(|group| *group).find(|group| accept(*group))
    }

    /// Whether a line with this message id that follows directly on the line
    /// `before` belongs to its message. It does even under another id if a call was
    /// made before: the next message can only follow on a result.
    fn is_same_message(&self, nodes: &[Node], id: &MessageId, before: usize) -> bool {
        let mut at = Some(before);
        for step in 0..MOST_BLOCKS {
            match at.and_then(|at| nodes.get(at)) {
                Some(Node { body: NodeBody::Assistant(message), parent, aside: false, .. }) => {
                    let has_call = message.content.iter().any(|block| block.as_tool_use().is_some());
                    if has_call || (step == 0 && message.message_id == *id) {
                        return true;
                    }
                    at = resolve(&self.by_id, parent);
                }
                _ => return false,
            }
        }
        false
    }

    /// Lines of one message: the same message id, and each names another as the
    /// one before it. Where that name is lost, the neighbour in the file counts.
    fn join_lines(&mut self, nodes: &[Node]) {
        let mut union = Union::new(nodes.len());
        let mut before: Option<usize> = None;
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            if let NodeBody::Assistant(message) = &node.body {
                let named = resolve(&self.by_id, &node.parent);
                let is_known = named.is_some() || node.parent == Link::Root;
                let other = if is_known { named } else { before };
                if let Some(other) = other.filter(|other| self.is_same_message(nodes, &message.message_id, *other)) {
                    union.join(at, other);
                }
            }
            // A result between two lines of a message does not part them.
            if !matches!(node.body, NodeBody::Result(_)) {
                before = Some(at);
            }
        }
        let mut group_of_root = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            if !node.is_chained() || matches!(node.body, NodeBody::Result(_)) {
                continue;
            }
            let group = *group_of_root.entry(union.root(at)).or_insert_with(|| {
                self.groups.push(Group::default());
                self.groups.len() - 1
            });
            if let Some(of_node) = self.of_node.get_mut(at) {
                *of_node = Some(group);
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.lines.push(at);
            }
        }
    }

    fn attach_results(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            let NodeBody::Result(result) = &node.body else { continue };
            let named = [result.assistant.clone().map_or(Link::Unknown, Link::Id), node.parent.clone()];
            let named = named.iter().find_map(|link| {
                let line = self
                    .node(link)
                    .filter(|line| matches!(nodes.get(*line), Some(Node { body: NodeBody::Assistant(_), .. })))?;
                self.of_node.get(line).copied().flatten()
            });
            let id = &result.result.tool_use_id;
            let calls = |group: usize| {
                self.groups.get(group).is_some_and(|group| {
                    group.lines.iter().filter_map(|line| nodes.get(*line)).any(|line| match &line.body {
                        NodeBody::Assistant(message) => {
                            message.content.iter().any(|b| b.as_tool_use().is_some_and(|call| call.id == *id))
                        }
                        _ => false,
                    })
                })
            };
            let group = named.or_else(|| self.before(at, calls)).or_else(|| self.before(at, |_| true));
            let Some(group) = group else { continue };
            if let Some(of_node) = self.of_node.get_mut(at) {
                *of_node = Some(group);
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.results.push(at);
            }
        }
    }

    /// A message that the user sent while calls ran follows on one result, and the next
    /// message on another: it belongs to the message whose calls they were.
    fn attach_interjections(&mut self, nodes: &[Node]) {
        let last_results: Vec<Option<usize>> = self
            .groups
            .iter()
            .map(|group| {
                let is_real = |at: &&usize| match nodes.get(**at) {
                    // A result that a repair appended later does not show when calls ran.
                    Some(Node { body: NodeBody::Result(result), .. }) => !result.synthetic,
                    _ => false,
                };
                group.results.iter().rfind(is_real).copied()
            })
            .collect();
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_chained()) {
            let NodeBody::User { is_summary: false, .. } = &node.body else { continue };
            let group = self.node(&node.parent).and_then(|parent| self.of_node.get(parent).copied().flatten());
            let Some(group) = group else { continue };
            if last_results.get(group).copied().flatten().is_none_or(|last| last < at) {
                continue;
            }
            let own = self.of_node.get_mut(at).and_then(|of_node| of_node.replace(group));
            if let Some(own) = own.and_then(|own| self.groups.get_mut(own)) {
                own.lines.clear();
            }
            if let Some(group) = self.groups.get_mut(group) {
                group.results.push(at);
                group.results.sort_unstable();
            }
        }
    }
}

/// The ids of the blocks of one line: its last block has its own.
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

/// Puts the lines of a message in the order in which they follow each other.
/// File order is that order unless lines changed places.
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
        let mut at = line;
        let base = loop {
            if let Some(depth) = depths.get(&at) {
                break *depth;
            }
            path.push(at);
            // A cycle is cut where it would exceed the message.
            match parent(at).filter(|parent| inside.contains(parent) && path.len() <= inside.len()) {
                Some(parent) => at = parent,
                None => break 0,
            }
        };
        for (up, node) in path.iter().rev().enumerate() {
            depths.entry(*node).or_insert(base + up + 1);
        }
    }
    lines.sort_by_key(|line| (depths.get(line).copied().unwrap_or_default(), *line));
}

/// Disjoint sets of nodes.
struct Union {
    parent: Vec<usize>,
}

impl Union {
    fn new(len: usize) -> Self {
        Self { parent: (0..len).collect() }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while let Some(up) = self.parent.get(at).copied().filter(|up| *up != at) {
            let next = self.parent.get(up).copied().unwrap_or(up);
            if let Some(slot) = self.parent.get_mut(at) {
                *slot = next;
            }
            at = next;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parent.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
}
