//! Equivalent tools for different families of models.

use super::Session;
use crate::Alternative;
use std::sync::Arc;
use windlass_context::ModelFamily;
use windlass_types::ToolSpec;

impl Session {
    /// Returns the tools that the next request may list, and those that are withheld from it. Of alternatives these are
    /// the tools of the model that the conversation began with, those of the current model, and earlier additions. A
    /// listed tool stays listed.
    pub(crate) fn usable_now(&self) -> Arc<[Arc<ToolSpec>]> {
        let specs = &self.config.tools.specs;
        if self.config.tools.alternatives.is_empty() {
            return Arc::clone(specs);
        }
        let current = ModelFamily::of(&self.current_model().id);
        let begun = self.state.first_model().map_or(current, |model| ModelFamily::of(&model));
        let added = self.state.added_tools();
        let is_active = |one: &Alternative| {
            let was_added = || added.iter().any(|(_, names)| names.iter().any(|name| one.tools.contains(name)));
            one.families.contains(&current) || one.families.contains(&begun) || was_added()
        };
        let alternatives = &self.config.tools.alternatives;
        let is_present = |name: &String| specs.iter().any(|spec| spec.name == *name);
        // If none of the tools that a model was trained on is present, the model gets the others.
        if !alternatives.iter().filter(|one| is_active(one)).any(|one| one.tools.iter().any(is_present)) {
            return Arc::clone(specs);
        }
        let is_offered = |spec: &&Arc<ToolSpec>| {
            let mut owners = alternatives.iter().filter(|one| one.tools.contains(&spec.name)).peekable();
            owners.peek().is_none() || owners.any(is_active)
        };
        specs.iter().filter(is_offered).cloned().collect()
    }
}
