//! Model requests of a session.

use crate::ModelProfile;
use crate::session::{OutputDemand, Session};
use windlass_context::{compaction_prompt, from_message, with_last_word, without_images};
use windlass_types::{Effort, ModelRequest, ResponseFormat, Thinking, ToolChoice};

/// Maximum output tokens of a summary.
const SUMMARY_TOKENS: u32 = 20_000;

/// Tokens reserved for an answer beside a thinking budget.
const MIN_ANSWER_TOKENS: u32 = 8_000;

/// Purpose of a model request.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// The next message of the conversation.
    Turn,
    /// A summary of the conversation.
    Summary {
        /// Focus of the summary, given by the user.
        focus: Option<String>,
        /// Number of messages at the beginning that are left out, because the request is too long with them.
        skip: usize,
    },
}

/// Builds the request for a purpose.
pub(crate) fn build(session: &Session, model: &ModelProfile, purpose: &Purpose) -> ModelRequest {
    let settings = &session.config.request;
    let mut messages = session.state.messages_for(&model.info.api, &model.id);
    if session.state.learned().refuses_images(&model.id) {
        messages = without_images(messages);
    }
    let (thinking, effort) = reasoning(session, model);
    // A thinking budget set by the prompt leaves room for the answer, unless the host has set a limit.
    let min_output_tokens = match thinking {
        Thinking::Budget(tokens) if session.run.level.is_some() => tokens.saturating_add(MIN_ANSWER_TOKENS),
        _ => 0,
    };
    let wanted = settings.max_output_tokens.unwrap_or(model.info.default_output_tokens.max(min_output_tokens));
    let mut limit = wanted.min(model.info.max_output_tokens).max(1);
    let mut request = ModelRequest::new(model.id.clone(), messages, limit);
    request.system.clone_from(&settings.system);
    (request.thinking, request.effort) = supported_reasoning(model, thinking, effort);
    request.betas.clone_from(&settings.betas);
    request.user_id.clone_from(&settings.user_id);
    request.cache = settings.cache.filter(|_| model.info.prompt_cache);
    request.raw_frames = settings.raw_frames;
    request.session_key = Some(session.key());
    request.extra.clone_from(&settings.extra);
    // A request that leaves messages out has another beginning anyway.
    let has_whole_conversation = !matches!(purpose, Purpose::Summary { skip: 1.., .. });
    session.models.listed.list(&mut request, has_whole_conversation && model.info.appends_tools);
    if matches!(purpose, Purpose::Turn) && session.run.output == OutputDemand::Forced {
        demand_output(session, model, &mut request);
    }
    if let Purpose::Summary { focus, skip } = purpose {
        let messages = match *skip {
            0 => request.messages,
            skip => from_message(&request.messages, skip),
        };
        request.messages = with_last_word(messages, &compaction_prompt(focus.as_deref()));
        request.raw_frames = false;
        limit = limit.min(SUMMARY_TOKENS);
    }
    limit_output(&mut request, limit);
    request
}

/// Demands the structured output: as response format where the server supports one, else as a call of its tool.
fn demand_output(session: &Session, model: &ModelProfile, request: &mut ModelRequest) {
    let Some(name) = session.config.tools.structured_output.as_deref() else { return };
    let schema = request.tools.iter().find(|tool| tool.name == name).map(|tool| tool.input_schema.clone());
    match schema.filter(|_| model.info.answer_format) {
        Some(schema) => {
            request.response_format = Some(ResponseFormat::json_schema(name, schema));
            request.tool_choice = ToolChoice::None;
        }
        None => request.tool_choice = ToolChoice::Tool(name.to_owned()),
    }
}

/// Returns the reasoning settings: those of the session, or higher ones if the prompt of the run asks for that.
fn reasoning(session: &Session, model: &ModelProfile) -> (Thinking, Option<Effort>) {
    let settings = &session.config.request;
    let effort = session.run.scope.effort.or(settings.effort);
    match (session.run.level, &settings.thinking_keywords) {
        (Some(level), Some(keywords)) => keywords.settings(level, &model.info, settings.thinking, effort),
        _ => (settings.thinking, effort),
    }
}

/// Returns the reasoning settings as far as the model supports them.
fn supported_reasoning(model: &ModelProfile, thinking: Thinking, effort: Option<Effort>) -> (Thinking, Option<Effort>) {
    let thinking = match thinking {
        Thinking::Adaptive if model.info.adaptive_thinking => Thinking::Adaptive,
        Thinking::Budget(tokens) if model.info.thinking_budget => Thinking::Budget(tokens),
        // Newer models have no budget: they decide themselves how much to reason.
        Thinking::Budget(_) if model.info.adaptive_thinking => Thinking::Adaptive,
        _ => Thinking::Off,
    };
    (thinking, effort.and_then(|effort| model.info.effort_for(effort)))
}

/// Returns the reasoning settings set by the prompt of the run, if they differ from the session's.
pub(crate) fn asked_for(session: &Session, model: &ModelProfile) -> Option<(Thinking, Option<Effort>)> {
    let settings = &session.config.request;
    let (thinking, effort) = reasoning(session, model);
    let asked = supported_reasoning(model, thinking, effort);
    (asked != supported_reasoning(model, settings.thinking, settings.effort)).then_some(asked)
}

/// Lowers the output limit, and the thinking budget with it, which must stay below.
pub(crate) fn limit_output(request: &mut ModelRequest, max_output_tokens: u32) {
    /// Minimum budget that the Messages API accepts.
    const MIN_THINKING_TOKENS: u32 = 1_024;
    request.max_output_tokens = max_output_tokens;
    if let Thinking::Budget(budget) = request.thinking {
        let max_budget = max_output_tokens.saturating_sub(1);
        request.thinking = if max_budget < MIN_THINKING_TOKENS {
            Thinking::Off
        } else {
            Thinking::Budget(budget.clamp(MIN_THINKING_TOKENS, max_budget))
        };
    }
}
