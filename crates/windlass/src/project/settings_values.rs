//! Settings of a project as values of the crates below: the Bash tool, and facts about models.

use super::LoadedProject;
use super::variables::Variables;
use std::sync::Arc;
use windlass_model::{ModelOverride, ModelOverrides};
use windlass_project::Setting;
use windlass_tool::DynTool;

impl LoadedProject {
    /// Bash tool as settings and variables of the project configure it, for [`Toolkit::replacing_shared`]. `None` if
    /// they do not change it. A session with the project applies them automatically.
    ///
    /// [`Toolkit::replacing_shared`]: crate::tool::Toolkit::replacing_shared
    pub fn bash(&self) -> Option<Arc<dyn DynTool>> {
        self.bash_with(&self.session_variables())
    }

    pub(crate) fn bash_with(&self, variables: &Variables) -> Option<Arc<dyn DynTool>> {
        let settings = &self.resolved().session;
        let is_on = |setting: &Option<Setting<bool>>| setting.as_ref().is_some_and(|setting| setting.value);
        let snapshot = settings.shell_snapshot.as_ref().map(|content| content.value);
        let bash = variables.bash(is_on(&settings.background_long_commands), snapshot);
        match is_on(&settings.command_terminals) {
            true => Some(Arc::new(bash.unwrap_or_default().with_terminals())),
            false => bash.map(|bash| Arc::new(bash) as Arc<dyn DynTool>),
        }
    }

    /// Model overrides from the active settings: limits, prices, aliases. A session with the project applies them
    /// automatically.
    pub fn model_overrides(&self) -> ModelOverrides {
        let mut overrides = ModelOverrides::new();
        for (name, setting) in &self.resolved().models.by_name {
            let (model, mut values) = (&setting.value, ModelOverride::new());
            (values.context_window, values.max_output_tokens) = (model.context_window, model.max_output_tokens);
            (values.default_output_tokens, values.max_images) = (model.default_output_tokens, model.max_images);
            (values.rates.input, values.rates.output) = (model.input_price, model.output_price);
            values.rates.cache_read = model.cache_read_price;
            (values.rates.cache_write, values.rates.cache_write_1h) =
                (model.cache_write_price, model.cache_write_1h_price);
            if !values.names().is_empty() {
                overrides.add(name, values);
            }
            for alias in &model.aliases {
                overrides.add_alias(alias, name);
            }
        }
        overrides
    }
}
