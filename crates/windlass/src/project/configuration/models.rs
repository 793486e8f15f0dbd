//! The model of a session, and the options of its requests.

use super::state::Configuration;
use crate::project::ProjectError;

/// Applies the model and its request options. The program precedes the agent, then come variables and settings.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, variables, agent, .. } = configuration;
    let resolved = project.resolved();
    let model = || {
        let settings = || resolved.models.model.as_ref().map(|model| model.value.as_str());
        agent
            .definition()
            .and_then(|agent| agent.model.as_deref())
            .or(variables.model.as_deref())
            .or_else(settings)
            .map(str::to_owned)
    };
    options.model.name = options.model.name.take().or_else(model);
    let mut overrides = project.model_overrides();
    overrides.extend(std::mem::take(&mut options.model.overrides));
    options.model.overrides = overrides;
    let fallback = || resolved.models.fallback.as_ref()?.value.first().map(|model| model.trim().to_owned());
    options.model.fallback = options.model.fallback.take().or_else(fallback);
    options.limits.base.max_turns = agent.max_turns(options.limits.base.max_turns);
    options.limits.max_retries = options.limits.max_retries.or(variables.max_retries);
    options.limits.structured_output_retries =
        options.limits.structured_output_retries.or(variables.structured_output_retries);
    options.model.requests.max_output_tokens = options.model.requests.max_output_tokens.or(variables.max_output_tokens);
    options.model.thinking = options.model.thinking.or(variables.thinking);
    options.model.effort = options.model.effort.or(agent.definition().and_then(|agent| agent.effort));
    let effort = project.resolved().session.effort.as_ref().map(|effort| effort.value);
    options.model.effort = options.model.effort.or(effort);
    options.model.requests.send_user_id = options.model.requests.send_user_id.or(Some(variables.send_user_id));
    Ok(())
}
