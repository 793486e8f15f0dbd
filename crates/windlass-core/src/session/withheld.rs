//! Tools whose definitions are withheld until the model has searched for them.

use super::Session;
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_context::{FoundTools, TOOL_SEARCH, Withholding, search_tools, withheld_tools};
use windlass_types::{ContentBlock, EntryKind, JsonText, Role, ToolSpec};

impl Session {
    /// Returns the tools that the next request lists. The search tool is among them if another one is withheld.
    pub(crate) fn offered_now(&self) -> Arc<[Arc<ToolSpec>]> {
        let usable = self.usable_now();
        let withheld = self.withheld_among(&usable);
        let searches = !withheld.is_empty() || !self.state.withheld_tools().is_empty();
        if withheld.is_empty() && (searches || usable.iter().all(|spec| spec.name != TOOL_SEARCH)) {
            return usable;
        }
        let is_offered = |spec: &&Arc<ToolSpec>| match spec.name.as_str() {
            TOOL_SEARCH => searches,
            name => !withheld.contains(name),
        };
        usable.iter().filter(is_offered).cloned().collect()
    }

    /// Returns the definitions that are withheld from the next request.
    pub(crate) fn withheld_now(&self) -> Vec<Arc<ToolSpec>> {
        let usable = self.usable_now();
        let withheld = self.withheld_among(&usable);
        usable.iter().filter(|spec| withheld.contains(spec.name.as_str())).cloned().collect()
    }

    /// Returns the names of the withheld tools. A tool listed by a request of this conversation is not withheld later.
    /// A conversation that is continued in another process withholds the tools of its log, so that its beginning is the
    /// same.
    fn withheld_among<'a>(&self, usable: &'a [Arc<ToolSpec>]) -> BTreeSet<&'a str> {
        let (state, models) = (&self.state, &self.models);
        let is_loaded = |name: &str| {
            state.loaded_tools().contains(name) || models.loading.contains(name) || models.listed.has(name)
        };
        let searchable = usable.iter().any(|spec| spec.name == TOOL_SEARCH);
        let is_beginning = || !state.transcript().iter().any(|message| message.role == Role::Assistant);
        let window = self.current_model().info.context_window;
        let may_withhold = models.listed.has_begun() || is_beginning();
        let budget = &self.config.tools.budget;
        let withholding = if may_withhold { budget.withholding(usable, window) } else { Withholding::Nothing };
        let candidates = usable.iter().filter(|spec| searchable && spec.may_be_withheld() && !is_loaded(&spec.name));
        let is_withheld =
            |spec: &&Arc<ToolSpec>| withholding.includes(spec) || state.withheld_tools().contains(&spec.name);
        candidates.filter(is_withheld).map(|spec| spec.name.as_str()).collect()
    }

    /// `true` if a call of the tool must wait until the model has loaded it.
    pub(crate) fn withholds(&self, name: &str) -> bool {
        self.withheld_now().iter().any(|spec| spec.name == name)
    }

    /// Appends the names of the withheld tools, as far as the conversation lacks them. Called before the request of a
    /// turn.
    pub(crate) fn append_withheld(&mut self) {
        let withheld = self.withheld_now();
        let new = |spec: &&Arc<ToolSpec>| !self.state.withheld_tools().contains(&spec.name);
        let new: Vec<&ToolSpec> = withheld.iter().filter(new).map(AsRef::as_ref).collect();
        if new.is_empty() {
            return;
        }
        let text = self.config.request.reminders.framed(withheld_tools(&new));
        let names = new.iter().map(|spec| spec.name.clone()).collect();
        let text = self.record_runtime_texts(vec![ContentBlock::text(text)]);
        let withheld = self.record(None, EntryKind::ToolsWithheld(names));
        self.append_unawaited(vec![text, withheld]);
    }

    /// Searches the tools that the model could load, and loads the matches: the next request lists them.
    pub(crate) fn search_tools(&mut self, input: &JsonText) -> FoundTools {
        let usable = self.usable_now();
        let found: Vec<Arc<ToolSpec>> = usable.iter().filter(|spec| spec.may_be_withheld()).cloned().collect();
        let found = search_tools(input, &found);
        self.models.loading.extend(found.names.iter().cloned());
        found
    }
}
