//! Model requests: the choice of the model, the cost, and the metadata of answers.

use super::{Session, duration_ms};
use crate::billing::Bill;
use crate::rate_limit::is_news;
use crate::request::{Purpose, asked_for};
use crate::{Effect, ModelProfile};
use std::sync::Arc;
use windlass_types::text::clause;
use windlass_types::{EntryKind, EventKind, ModelRequest, ModelUsage, RateLimit, Status, Usage};

impl Session {
    /// Returns the model of the next request.
    pub(crate) fn current_model(&self) -> &ModelProfile {
        match &self.config.fallback {
            Some(fallback) if self.models.falling_back => fallback,
            _ => self.run.scope.model.as_ref().unwrap_or(&self.config.model),
        }
    }

    /// Returns the model of a request for this purpose.
    pub(crate) fn model_for(&self, purpose: &Purpose) -> &ModelProfile {
        match (purpose, &self.config.auto_compact.summarizer) {
            (Purpose::Summary { .. }, Some(summarizer)) => summarizer,
            _ => self.current_model(),
        }
    }

    /// `true` if a fallback model can take over.
    pub(crate) fn has_fallback(&self) -> bool {
        self.config.fallback.is_some() && !self.models.falling_back
    }

    /// Switches to the fallback model.
    pub(crate) fn fall_back(&mut self) {
        let from = self.current_model().id.clone();
        self.models.falling_back = true;
        let to = self.current_model().id.clone();
        self.status(Status::FallingBack { from, to });
    }

    pub(crate) fn warn_unpriced(&mut self, model: &str) {
        if self.models.warned_unpriced.insert(model.to_owned()) {
            self.status(Status::PriceUnknown { model: model.to_owned() });
        }
    }

    /// Omits the replay data of earlier messages from all further requests, because the provider has refused it.
    pub(crate) fn drop_replay(&mut self, refusal: &str) {
        let entry = self.record(None, EntryKind::ReplayDropped);
        self.append_unawaited(vec![entry]);
        self.models.history_replaced = true;
        self.notice(format!(
            "The provider refused the reasoning of earlier messages, which is left out from here on: {}.",
            clause(refusal)
        ));
    }

    /// Updates the tool list of the next request, and logs each added tool.
    pub(crate) fn list_tools(&mut self) {
        let offered = self.offered_now();
        let (tool_list, state) = (&mut self.models.listed, &self.state);
        let logged = if tool_list.has_begun() { Vec::new() } else { state.added_tools() };
        let added = tool_list.update(&offered, state.transcript().len(), &logged);
        if !added.is_empty() {
            let entry = self.record(None, EntryKind::ToolsAdded(added));
            self.append_unawaited(vec![entry]);
        }
    }

    /// Reports reasoning that the provider left out of the prompt, unless the report repeats the last one.
    pub(crate) fn note_dropped_reasoning(&mut self, blocks: usize, reason: &str) {
        let report = (blocks, reason.to_owned());
        if self.models.dropped_reasoning.as_ref() != Some(&report) {
            self.notice(format!(
                "The provider left earlier reasoning out of the prompt: {}. Blocks left out: {blocks}.",
                clause(reason)
            ));
            self.models.dropped_reasoning = Some(report);
        }
    }

    /// Returns the cache key of this conversation: common to all its requests, and used by no other.
    pub(crate) fn key(&self) -> Arc<str> {
        let session = self.config.ids.session_id.as_str();
        match &self.config.agent {
            Some(agent) => format!("{session}-{}", agent.identity.id).into(),
            None => session.into(),
        }
    }

    /// Reports a request whose beginning differs from the last one, so that the provider's cache does not apply.
    pub(crate) fn note_prefix(&mut self, request: &ModelRequest) {
        let asked = asked_for(self, self.current_model());
        if let Some(cause) = self.models.note_prefix(request, asked) {
            self.status(Status::CacheBroken { cause: cause.to_owned() });
        }
    }

    /// Stores the rate limit of an answer, and reports it if it is new to the host.
    pub(crate) fn note_rate_limit(&mut self, reported: &RateLimit) {
        if self.models.rate_limit.as_ref().is_none_or(|known| is_news(known, reported)) {
            self.models.rate_limit = Some(reported.clone());
            self.event(EventKind::RateLimit(reported.clone()), None);
        }
    }

    /// Books the usage of a complete or aborted request, and releases its reservation. Providers bill both kinds.
    pub(crate) fn book(&mut self, bill: Bill, usage: Usage) {
        let Bill { model, answered_by, started, reservation, .. } = bill;
        let model = answered_by.map_or(model, |answered_by| *answered_by);
        let call = self.charge(&model, usage);
        self.spent = self.spent.saturating_add(call.cost);
        if reservation.is_some() || usage != Usage::default() {
            self.effect(Effect::Settle { reservation, model: model.id.clone(), call: Box::new(call) });
        }
        if self.run.is_open {
            self.run.usage += usage;
            self.run.api_ms += duration_ms(self.now, started);
        }
        if usage != Usage::default() {
            self.event(EventKind::UsageUpdated { model: model.id, usage, cost: self.spent }, None);
        }
    }

    /// Books the usage of a request outside the conversation. The shared ledger already contains it.
    pub(crate) fn book_beside(&mut self, model: &ModelProfile, usage: Usage) {
        self.charge(model, usage);
        self.event(EventKind::UsageUpdated { model: model.id.clone(), usage, cost: self.spent }, None);
    }

    /// Books the usage of an agent below this one. The shared ledger already contains it.
    pub(crate) fn book_of_agent(&mut self, model: &ModelProfile, usage: Usage) {
        self.charge(model, usage);
    }

    fn charge(&mut self, model: &ModelProfile, usage: Usage) -> ModelUsage {
        let call = ModelUsage::of_call(usage, model.info.cost(&usage), &model.info);
        self.state.spending().charge(&model.id, &call);
        call
    }
}
