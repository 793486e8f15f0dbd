//! State of the models of a session and of their requests.

use crate::listed::ListedTools;
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_types::{Effort, ModelRequest, RateLimit, SystemSection, Thinking, ToolSpec};

/// State of the model requests until now.
#[derive(Debug, Default)]
pub(crate) struct Models {
    /// `true` while the fallback model is in use.
    pub(crate) falling_back: bool,
    /// Cached prefix of the last request.
    prefix: Option<Prefix>,
    /// `true` if the conversation was compacted since the last request.
    pub(crate) history_replaced: bool,
    /// Tools that requests list.
    pub(crate) listed: ListedTools,
    /// Names of the tools that the model has searched for and that the next request adds.
    pub(crate) loading: BTreeSet<String>,
    /// Ids of the models without a price for which the host was warned that the budget has no effect.
    pub(crate) warned_unpriced: BTreeSet<String>,
    /// Rate limit of the subscription, as last reported to the host.
    pub(crate) rate_limit: Option<RateLimit>,
    /// Reasoning left out by the provider, as last reported to the host: number of blocks, and reason.
    pub(crate) dropped_reasoning: Option<(usize, String)>,
}

/// Parts of a request that form its cached prefix.
#[derive(Debug, Clone, PartialEq)]
struct Prefix {
    model: String,
    system: Vec<SystemSection>,
    tools: Arc<[Arc<ToolSpec>]>,
    /// Reasoning requested by the prompt of the run, where the provider caches that with the conversation.
    asked: Option<(Thinking, Option<Effort>)>,
}

impl Prefix {
    /// Returns the first part that differs from the earlier prefix, if any.
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
    /// Records the prefix of a request. `asked`: reasoning settings from the prompt of the run. Returns the reason why
    /// the provider cannot use its cache of the last request.
    pub(crate) fn note_prefix(
        &mut self,
        request: &ModelRequest,
        asked: Option<(Thinking, Option<Effort>)>,
    ) -> Option<&'static str> {
        // For a provider whose requests mark the content to cache, these settings are part of the prefix.
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
