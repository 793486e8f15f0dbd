//! What a call of a model is booked with.
//!
//! A call that came to its end is booked with the provider's own count. For a call that did not, the provider bills
//! what it has read and written until then, but has reported only what it knew at the first frame. Such a call is
//! booked with the larger of what was reported and an estimate of what was streamed, and with an estimate of its
//! input if no input was reported. Estimates are high, but never above what was reserved.

use crate::{EffectId, ModelFailure, ModelProfile};
use std::sync::Arc;
use windlass_context::{StreamedTokens, estimate_request};
use windlass_types::{CacheTtl, ModelErrorKind, ModelEvent, ModelRequest, Timestamp, Usage};

/// A call that has not ended, and what it has used until now.
#[derive(Debug)]
pub(crate) struct Bill {
    /// The model that was asked.
    pub(crate) model: ModelProfile,
    /// The model that answers, if it is another one whose price is known.
    pub(crate) answered_by: Option<Box<ModelProfile>>,
    pub(crate) request: Arc<ModelRequest>,
    pub(crate) started: Timestamp,
    /// What was reported with its first frame, and the most until now.
    first: Option<Usage>,
    reported: Usage,
    streamed: StreamedTokens,
    /// The reservation of what it may cost at most.
    pub(crate) reservation: Option<EffectId>,
}

impl Bill {
    pub(crate) fn new(
        model: ModelProfile,
        request: Arc<ModelRequest>,
        started: Timestamp,
        reservation: Option<EffectId>,
    ) -> Self {
        let (reported, streamed) = (Usage::default(), StreamedTokens::default());
        Self { model, answered_by: None, request, started, first: None, reported, streamed, reservation }
    }

    /// Counts an event of its stream.
    pub(crate) fn note(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::MessageStart { usage, .. } => {
                self.first.get_or_insert(*usage);
                self.reported.raise(*usage);
            }
            ModelEvent::MessageDelta { usage, .. } => self.reported.raise(*usage),
            event => self.streamed.add(event),
        }
    }

    /// What it used, when its message is complete.
    pub(crate) fn complete(&self) -> Usage {
        let mut usage = self.reported;
        // Some gateways report no usage after the first frame.
        if usage.output_tokens <= self.first.unwrap_or_default().output_tokens {
            usage.output_tokens = usage.output_tokens.max(self.written());
        }
        self.with_input(usage)
    }

    /// What it has used, when it is abandoned.
    pub(crate) fn abandoned(&self) -> Usage {
        let mut usage = self.reported;
        usage.output_tokens = usage.output_tokens.max(self.written());
        self.with_input(usage)
    }

    /// What it has used, when it failed.
    pub(crate) fn failed(&self, failure: &ModelFailure) -> Usage {
        if self.first.is_none() && did_not_run(failure) { Usage::default() } else { self.abandoned() }
    }

    /// An estimate of what was written, which cannot be more than was allowed.
    fn written(&self) -> u64 {
        self.streamed.tokens().min(u64::from(self.request.max_output_tokens))
    }

    /// Usage with an estimate of the input if no input was reported: all of it as if written to the cache.
    fn with_input(&self, mut usage: Usage) -> Usage {
        if usage.total_input() > 0 {
            return usage;
        }
        let input = estimate_request(&self.request);
        match self.request.cache {
            None => usage.input_tokens = input,
            Some(ttl) => {
                usage.cache_creation_input_tokens = input;
                usage.cache_creation_1h_input_tokens = if ttl == CacheTtl::OneHour { input } else { 0 };
            }
        }
        usage
    }
}

/// Whether a call that failed before its message began was refused, or never reached the model.
fn did_not_run(failure: &ModelFailure) -> bool {
    failure.unbilled
        || match failure.kind {
            // The model may have begun before the failure.
            ModelErrorKind::Timeout | ModelErrorKind::Connection | ModelErrorKind::Cut | ModelErrorKind::Protocol => {
                false
            }
            ModelErrorKind::Server => failure.status.is_some(),
            _ => true,
        }
}
