//! The check of a model's price before the model is set.

use crate::{Ports, SessionError};
use std::sync::Arc;
use windlass_core::{Limits, ModelProfile};
use windlass_model::ModelProvider;

/// Refuses models without a known price where the budget of the session does. Clones share the provider.
#[derive(Debug, Clone)]
pub(crate) struct PriceCheck {
    /// `None`: the budget allows every model, or there is none.
    refusing: Option<Arc<RefusingBudget>>,
}

#[derive(Debug)]
struct RefusingBudget {
    provider: Arc<dyn ModelProvider>,
    limits: Limits,
}

impl PriceCheck {
    pub(crate) fn new(limits: &Limits, ports: &Ports) -> Self {
        let refusing = limits
            .refuse_unpriced_models()
            .then(|| Arc::new(RefusingBudget { provider: Arc::clone(&ports.provider), limits: limits.clone() }));
        Self { refusing }
    }

    /// Checks the model of a name.
    pub(crate) fn check_named(&self, name: &str) -> Result<(), SessionError> {
        let Some(refusing) = &self.refusing else { return Ok(()) };
        let id = refusing.provider.resolve_model(name);
        let info = refusing.provider.model_info(&id);
        self.check(&ModelProfile::new(id, info))
    }

    /// Checks a model.
    pub(crate) fn check(&self, model: &ModelProfile) -> Result<(), SessionError> {
        match &self.refusing {
            Some(refusing) if !refusing.limits.allow_price_of(model) => {
                Err(SessionError::UnpricedModel { model: model.id.clone() })
            }
            _ => Ok(()),
        }
    }
}
