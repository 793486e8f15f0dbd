//! Tools listed in requests. A listed tool keeps its position in later requests, so that the provider's cache and its
//! state for the beginning of the conversation stay valid.

use std::sync::Arc;
use windlass_types::{AddedTools, ModelRequest, ToolSpec};

/// Tool list of the requests of a conversation.
///
/// A tool that is not offered any more stays in the list: a call of it is refused. A later tool is added at the current
/// end of the conversation. A changed definition cannot be added: the list begins anew, as it does when a summary
/// replaces the conversation.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    first: Arc<[Arc<ToolSpec>]>,
    added: Vec<AddedTools>,
    /// `true` if a request has contained the list.
    sent: bool,
}

impl ListedTools {
    /// Updates the list for the next request: `offered` are the tools that the model may call now, and `messages` the
    /// length of the conversation. `logged`: additions of earlier processes, with their positions. Returns the names of
    /// the tools added now.
    pub(crate) fn update(
        &mut self,
        offered: &Arc<[Arc<ToolSpec>]>,
        messages: usize,
        logged: &[(usize, Vec<String>)],
    ) -> Vec<String> {
        if !self.sent {
            *self = Self::resumed(offered, logged);
        }
        let changed = |spec: &Arc<ToolSpec>| self.listed().any(|listed| listed.name == spec.name && listed != spec);
        if offered.iter().any(changed) {
            *self = Self { first: Arc::clone(offered), added: Vec::new(), sent: true };
            return Vec::new();
        }
        let is_new = |spec: &&Arc<ToolSpec>| self.listed().all(|listed| listed.name != spec.name);
        let new: Vec<Arc<ToolSpec>> = offered.iter().filter(is_new).cloned().collect();
        let names = new.iter().map(|spec| spec.name.clone()).collect();
        if !new.is_empty() {
            self.added.push(AddedTools::new(messages, new));
        }
        names
    }

    /// Returns the list with the additions of earlier processes at their positions, as far as they are offered again.
    fn resumed(offered: &Arc<[Arc<ToolSpec>]>, logged: &[(usize, Vec<String>)]) -> Self {
        let offered_tool = |name: &String| offered.iter().find(|spec| spec.name == *name).cloned();
        let added: Vec<AddedTools> = logged
            .iter()
            .map(|(after, names)| AddedTools::new(*after, names.iter().filter_map(offered_tool).collect()))
            .filter(|added| !added.tools.is_empty())
            .collect();
        if added.is_empty() {
            return Self { first: Arc::clone(offered), added, sent: true };
        }
        let is_added_later = |spec: &&Arc<ToolSpec>| logged.iter().any(|(_, names)| names.contains(&spec.name));
        Self { first: offered.iter().filter(|spec| !is_added_later(spec)).cloned().collect(), added, sent: true }
    }

    /// `true` if a request of this conversation has contained the list.
    pub(crate) fn has_begun(&self) -> bool {
        self.sent
    }

    /// `true` if a request of this conversation listed a tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.sent && self.listed().any(|listed| listed.name == name)
    }

    /// Starts a new list for a new conversation.
    pub(crate) fn forget(&mut self) {
        self.sent = false;
    }

    /// Adds the list to a request. A model that accepts no tools in the middle of a conversation gets all of them in
    /// front.
    pub(crate) fn list(&self, request: &mut ModelRequest, appends: bool) {
        if self.added.is_empty() {
            request.tools = Arc::clone(&self.first);
        } else if appends {
            request.tools = Arc::clone(&self.first);
            request.added_tools.clone_from(&self.added);
        } else {
            request.tools = self.listed().cloned().collect();
        }
    }

    fn listed(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.first.iter().chain(self.added.iter().flat_map(|added| &added.tools))
    }
}

#[cfg(test)]
mod tests;
