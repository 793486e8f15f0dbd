//! The tools that requests list. What a request listed, the next one lists at the same place, so that the provider's cache
//! and what it bound to the beginning of the conversation stay valid.

use std::sync::Arc;
use windlass_types::{AddedTools, ModelRequest, ToolSpec};

/// The tools that the requests of a conversation list.
///
/// A tool that is offered no longer stays in the list: a call of it is refused. One that comes later is added where the
/// conversation is then. A definition that changed has no such way: the list begins anew, as it does when the
/// conversation is replaced by a summary.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    first: Arc<[Arc<ToolSpec>]>,
    added: Vec<AddedTools>,
    /// Whether a request had them.
    sent: bool,
}

impl ListedTools {
    /// The list for the next request: `offered` are the tools that the model may call now, and `messages` the length of the
    /// conversation. `logged`: what earlier processes added, and where. Returns the names of tools that are added now.
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

    /// The list with what earlier processes added at its place, as far as it is offered again.
    fn resumed(offered: &Arc<[Arc<ToolSpec>]>, logged: &[(usize, Vec<String>)]) -> Self {
        let named = |name: &String| offered.iter().find(|spec| spec.name == *name).cloned();
        let added: Vec<AddedTools> = logged
            .iter()
            .map(|(after, names)| AddedTools::new(*after, names.iter().filter_map(named).collect()))
            .filter(|added| !added.tools.is_empty())
            .collect();
        if added.is_empty() {
            return Self { first: Arc::clone(offered), added, sent: true };
        }
        let later = |spec: &&Arc<ToolSpec>| logged.iter().any(|(_, names)| names.contains(&spec.name));
        Self { first: offered.iter().filter(|spec| !later(spec)).cloned().collect(), added, sent: true }
    }

    /// Whether a request of this conversation had them.
    pub(crate) fn has_begun(&self) -> bool {
        self.sent
    }

    /// Whether a request of this conversation listed a tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.sent && self.listed().any(|listed| listed.name == name)
    }

    /// The conversation begins anew, and so does the list.
    pub(crate) fn forget(&mut self) {
        self.sent = false;
    }

    /// Lists them in a request. A model that takes no tools in the middle of a conversation gets all of them in front.
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
