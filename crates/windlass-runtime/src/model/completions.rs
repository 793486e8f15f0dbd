//! Model messages that tool calls request: writing and payment.

use crate::budget::Places;
use crate::model::billing::{TextFailure, paid};
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_context::estimate_request;
use windlass_core::{EffectId, Input, Limits, ModelProfile};
use windlass_model::ModelProvider;
use windlass_tool::{BoxFuture, Completed, Completion, Completions, ToolError};
use windlass_types::{Message, ModelInfo, ModelRequest, SectionScope, ServerTool, StopReason, SystemSection};

/// Estimated tokens of the results of one search, for the reservation.
const SEARCH_TOKENS: u64 = 10_000;

/// Model requests of running calls.
#[derive(Clone)]
pub(crate) struct CallCompletions {
    pub(crate) provider: Arc<dyn ModelProvider>,
    /// The model of the session.
    pub(crate) model: ModelProfile,
    pub(crate) limits: Limits,
    /// Source of the payment.
    pub(crate) places: Places,
    pub(crate) results: mpsc::UnboundedSender<Input>,
}

impl CallCompletions {
    fn profile(&self, name: Option<&str>) -> ModelProfile {
        let Some(name) = name else { return self.model.clone() };
        let id = self.provider.resolve_model(name);
        let info = self.provider.model_info(&id);
        ModelProfile::new(id, info)
    }

    async fn write(self, completion: Completion) -> Result<Completed, ToolError> {
        let model = self.profile(completion.model.as_deref());
        let request = request(completion, &model);
        let account = self.places.budget().open(self.results.clone());
        let claim = account.claim(EffectId::BESIDE, self.cost(&request, &model));
        let message = paid(&*self.provider, (&model, &request), claim, &self.results).await;
        let (message, usage) = message.map_err(|why| match why {
            TextFailure::Budget => ToolError::rejected("The budget of the session does not buy a message of a model."),
            TextFailure::Failed(why) => ToolError::rejected(format!("The model {} did not answer: {why}.", model.id)),
        })?;
        let mut completed = Completed::new(model.id.to_string(), message.text, usage);
        completed.stop_reason = message.stop_reason.unwrap_or(StopReason::EndTurn);
        completed.searches = message.searches;
        Ok(completed)
    }

    /// Returns the highest cost of a request, with its searches. `None`: no limit.
    fn cost(&self, request: &ModelRequest, model: &ModelProfile) -> Option<windlass_core::CallCost> {
        let searches: u64 = request.server_tools.iter().map(searches).sum();
        let input = estimate_request(request).saturating_add(searches.saturating_mul(SEARCH_TOKENS));
        let mut cost = self.limits.cost_beside(model, input, request.max_output_tokens)?;
        cost.input = cost.input.saturating_add(model.info.web_search.unwrap_or_default().times(searches));
        Some(cost)
    }
}

impl Completions for CallCompletions {
    fn model_info(&self, model: Option<&str>) -> ModelInfo {
        self.profile(model).info
    }

    fn complete(&self, completion: Completion) -> BoxFuture<'static, Result<Completed, ToolError>> {
        Box::pin(self.clone().write(completion))
    }
}

impl fmt::Debug for CallCompletions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfCalls").field("model", &self.model.id).finish_non_exhaustive()
    }
}

/// Builds the request, without vendor tools that the model does not support.
fn request(completion: Completion, model: &ModelProfile) -> Arc<ModelRequest> {
    let limit = completion.max_output_tokens.min(model.info.max_output_tokens).max(1);
    let message = Message::user_text(completion.prompt).into();
    let mut request = ModelRequest::new(model.id.to_string(), vec![message], limit);
    request.system =
        completion.system.map(|text| SystemSection::new(text, SectionScope::Session)).into_iter().collect();
    request.effort = completion.effort.and_then(|effort| model.info.effort_for(effort));
    request.server_tools = completion.server_tools;
    request.server_tools.retain(|tool| match tool {
        ServerTool::WebSearch(_) => model.info.web_search.is_some(),
        _ => false,
    });
    request.cache = None;
    Arc::new(request)
}

fn searches(tool: &ServerTool) -> u64 {
    match tool {
        ServerTool::WebSearch(search) => u64::from(search.max_uses),
        _ => 0,
    }
}
