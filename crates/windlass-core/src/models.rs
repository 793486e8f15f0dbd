//! What is known of the models of a session and their calls.

use crate::listed::ListedTools;
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_types::{Effort, ModelRequest, RateLimit, SystemSection, Thinking, ToolSpec};

/// What is known of the calls of models until now.
#[derive(Debug, Default)]
pub(crate) struct Models {
    /// Whether the fallback model is in use.
    pub(crate) falling_back: bool,
    /// What the cached prefix of the last request was made of.
    prefix: Option<Prefix>,
    /// Whether the conversation was compacted since the last request.
    pub(crate) history_replaced: bool,
    /// The tools that requests list.
    pub(crate) listed: ListedTools,
    /// The tools that the model has searched for and that the next request adds, by name.
    pub(crate) loading: BTreeSet<String>,
    /// The models without a price of which the host knows that the budget does not hold for them.
    pub(crate) warned_unpriced: BTreeSet<String>,
    /// What the host knows of the subscription's allowance.
    pub(crate) rate_limit: Option<RateLimit>,
    /// The models that have refused images: they are sent notes instead.
    pub(crate) without_images: BTreeSet<String>,
    /// What the host knows of reasoning that the provider left out: how many blocks, and why.
    pub(crate) dropped_reasoning: Option<(usize, String)>,
}

/// What the cached prefix of a request is made of.
#[derive(Debug, Clone, PartialEq)]
struct Prefix {
    model: String,
    system: Vec<SystemSection>,
    tools: Arc<[Arc<ToolSpec>]>,
    /// How the prompt of the run asked the model to reason, where the provider caches that with the conversation.
    asked: Option<(Thinking, Option<Effort>)>,
}

impl Prefix {
    /// What differs from the prefix before, if it differs.
    fn broken_since(&self, before: &Self) -> Option<&'static str> {
        if self.model != before.model {
            Some("model")
        } else if self.system != before.system {
            Some("system")
        } else if !Arc::ptr_eq(&self.tools, &before.tools) && self.tools != before.tools {
            Some("tools")
        } else if self.asked != before.asked {
            Some("thinking")
        } else {
            None
        }
    }
}

impl Models {
    /// Notes the prefix of a request. `asked`: what the
    /// prompt of the run makes of the model's reasoning. Returns what keeps the provider from using its cache of the last one.
    pub(crate) fn note_prefix(
        &mut self,
        request: &ModelRequest,
        asked: Option<(Thinking, Option<Effort>)>,
    ) -> Option<&'static str> {
        // A request that marks what to cache goes to a provider for which this is part of it.
        let asked = asked.filter(|_| request.cache.is_some());
        let prefix = Prefix {
            model: request.model.clone(),
            system: request.system.clone(),
            tools: Arc::clone(&request.tools),
            asked,
        };
        let broken = self.prefix.as_ref().and_then(|before| prefix.broken_since(before));
        self.prefix = Some(prefix);
        let replaced = std::mem::take(&mut self.history_replaced);
        broken.or(replaced.then_some("history"))
    }
}
