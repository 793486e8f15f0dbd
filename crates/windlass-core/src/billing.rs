//! Usage booked for a model request.
//!
//! A completed request is booked with the provider's own figures. For an incomplete one the provider bills all that was
//! read and written until then, but has reported only the figures of the first frame. Such a request is booked with the
//! larger of the reported usage and an estimate of the streamed output. If no input was reported, its input is
//! estimated. Estimates are high, but never above the reservation.

use crate::{EffectId, ModelFailure, ModelProfile};
use std::sync::Arc;
use windlass_context::{StreamedTokens, estimate_request};
use windlass_types::{AttemptId, CacheTtl, ModelErrorKind, ModelEvent, ModelRequest, Timestamp, Usage};

/// A model request that has not ended, and its usage until now.
#[derive(Debug)]
pub(crate) struct Bill {
    /// Model that was asked.
    pub(crate) model: ModelProfile,
    /// Model that answers, if it is another one whose price is known.
    pub(crate) answered_by: Option<Box<ModelProfile>>,
    pub(crate) request: Arc<ModelRequest>,
    pub(crate) started: Timestamp,
    /// Id of the attempt.
    pub(crate) attempt: AttemptId,
    /// Arrival of the first piece of content.
    pub(crate) first_content: Option<Timestamp>,
    /// Usage reported with the first frame, and the maximum reported until now.
    first: Option<Usage>,
    reported: Usage,
    streamed: StreamedTokens,
    /// Reservation of the maximum cost.
    pub(crate) reservation: Option<EffectId>,
}

impl Bill {
    pub(crate) fn new(
        model: ModelProfile,
        request: Arc<ModelRequest>,
        (attempt, started): (AttemptId, Timestamp),
        reservation: Option<EffectId>,
    ) -> Self {
        let (reported, streamed) = (Usage::default(), StreamedTokens::default());
        Self {
            model,
            answered_by: None,
            request,
            started,
            attempt,
            first_content: None,
            first: None,
            reported,
            streamed,
            reservation,
        }
    }

    /// Applies an event of the stream.
    pub(crate) fn note(&mut self, now: Timestamp, event: &ModelEvent) {
        if matches!(event, ModelEvent::BlockDelta { .. }) {
            self.first_content.get_or_insert(now);
        }
        match event {
            ModelEvent::MessageStart { usage, .. } => {
                self.first.get_or_insert(*usage);
                self.reported.raise(*usage);
            }
            ModelEvent::MessageDelta { usage, .. } => self.reported.raise(*usage),
            event => self.streamed.add(event),
        }
    }

    /// Returns the usage of a complete message.
    pub(crate) fn complete(&self) -> Usage {
        let mut usage = self.reported;
        // Some gateways report no usage after the first frame.
        if usage.output_tokens <= self.first.unwrap_or_default().output_tokens {
            usage.output_tokens = usage.output_tokens.max(self.written());
        }
        self.with_input(usage)
    }

    /// Returns the usage of an abandoned request.
    pub(crate) fn abandoned(&self) -> Usage {
        let mut usage = self.reported;
        usage.output_tokens = usage.output_tokens.max(self.written());
        self.with_input(usage)
    }

    /// Returns the usage of a failed request.
    pub(crate) fn failed(&self, failure: &ModelFailure) -> Usage {
        if self.first.is_none() && did_not_run(failure) { Usage::default() } else { self.abandoned() }
    }

    /// Estimates the output tokens, capped at the allowed maximum.
    fn written(&self) -> u64 {
        self.streamed.tokens().min(u64::from(self.request.max_output_tokens))
    }

    /// Returns the usage with an estimate of the input if no input was reported: all of it as if written to the cache.
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

/// `true` if a request that failed before its message began was refused, or never reached the model.
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
