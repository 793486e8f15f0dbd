//! Endings of answers and requests: reasons to stop, and failures at once or inside the stream.

use std::time::Duration;

use windlass_types::{ModelErrorKind, StopReason};

use super::endpoint::Endpoint;
use super::open::{answers, open};
use super::stream::Ending;
use crate::Violation;
use crate::violation::ensure;
use crate::wire::{Answer, ChatForm, Dialect, Failure, FailureKind, Finish, Part};

/// Checks that each of the vendor's reasons to stop is known.
///
/// # Errors
/// A message that is not complete, or that stopped for another reason.
pub async fn knows_reasons_to_stop(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    for (finish, reason) in reasons(endpoint.dialect) {
        let mut answer = Answer::new(&endpoint.model);
        if finish != Finish::MalformedCall {
            answer = answer.part(Part::Text(vec!["so far".to_owned()]));
        }
        server.push(endpoint.dialect.reply(&answer.finish(finish), 0));
        let answered = answers(&*provider, &endpoint.first_request()).await?;
        ensure(answered.stop_reason() == Some(&reason), || {
            format!("the vendor stopped for {finish:?}, which was read as {:?}", answered.stop_reason())
        })?;
    }
    Ok(())
}

fn reasons(dialect: Dialect) -> Vec<(Finish, StopReason)> {
    let mut reasons = vec![(Finish::Done, StopReason::EndTurn), (Finish::MaxTokens, StopReason::MaxTokens)];
    match dialect {
        Dialect::Messages => reasons.push((Finish::Refusal, StopReason::Refusal)),
        Dialect::Responses | Dialect::Chat(ChatForm::Plain) => {
            reasons.push((Finish::Refusal, StopReason::Refusal));
            reasons.push((Finish::Filtered, StopReason::ContentFilter));
        }
        Dialect::Chat(_) => reasons.push((Finish::Filtered, StopReason::ContentFilter)),
        Dialect::Gemini | Dialect::Converse => {
            reasons.push((Finish::Filtered, StopReason::ContentFilter));
            reasons.push((Finish::MalformedCall, StopReason::MalformedToolCall));
        }
        Dialect::Ollama => {}
    }
    reasons
}

const FAILURES: [FailureKind; 7] = [
    FailureKind::Invalid,
    FailureKind::Authentication,
    FailureKind::Overflow,
    FailureKind::RateLimited,
    FailureKind::Quota,
    FailureKind::Overloaded,
    FailureKind::Server,
];

fn kind(dialect: Dialect, failure: FailureKind) -> ModelErrorKind {
    match failure {
        FailureKind::Invalid => ModelErrorKind::InvalidRequest,
        FailureKind::Authentication => ModelErrorKind::Authentication,
        FailureKind::Overflow => ModelErrorKind::PromptTooLong,
        FailureKind::RateLimited => ModelErrorKind::RateLimited,
        // Credit, if the vendor's messages and codes are about that.
        FailureKind::Quota if matches!(dialect, Dialect::Messages | Dialect::Responses | Dialect::Chat(_)) => {
            ModelErrorKind::Billing
        }
        FailureKind::Quota => ModelErrorKind::QuotaExhausted,
        FailureKind::Overloaded => ModelErrorKind::Overloaded,
        FailureKind::Server => ModelErrorKind::Server,
    }
}

/// Checks that each failure of the vendor has its kind, message and named wait, and is not retried by the provider.
///
/// # Errors
/// Another kind, no message, another wait, or a second request.
pub async fn knows_failures(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    for failure in FAILURES {
        let wait = Duration::from_secs(17);
        let wanted = if failure == FailureKind::RateLimited { Some(wait) } else { None };
        // The only vendor that says when a quota is available again.
        let has_reset = endpoint.dialect == Dialect::Gemini && failure == FailureKind::Quota;
        let mut scripted = Failure::from(failure);
        scripted.wait = if has_reset { Some(wait) } else { wanted };
        let reply = endpoint.dialect.error(&scripted);
        server.on_request(move |_| reply.clone());
        let before = server.request_count();
        let answered = open(&*provider, &endpoint.first_request()).await?;
        let expected = kind(endpoint.dialect, failure);
        let ending = answered.ending();
        ensure(ending == Ending::Failed(expected), || {
            format!("the vendor failed with {failure:?}, which was read as {ending:?}: {:?}", answered.error)
        })?;
        let sent = server.request_count() - before;
        ensure(sent == 1, || format!("a request that failed with {failure:?} was sent {sent} times"))?;
        let error = answered.error.as_ref().ok_or_else(|| Violation::new("a failure without an error"))?;
        ensure(!error.message.trim().is_empty(), || format!("{failure:?} has no words"))?;
        ensure(!has_reset || error.resets_at.is_some(), || {
            format!("{failure:?} does not say when it ends: {error:?}")
        })?;
        ensure(wanted.is_none() || endpoint.dialect == Dialect::Converse || error.retry_after == wanted, || {
            format!("the vendor asked to wait {wanted:?}, which was read as {:?}", error.retry_after)
        })?;
    }
    Ok(())
}

/// Checks that a failure inside the stream, after the status 200, is a failure of its kind, and that no earlier part
/// completes.
///
/// # Errors
/// A message that is complete, or another kind.
pub async fn knows_failures_inside_streams(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let answer = endpoint.answer();
    let last = endpoint.dialect.end_signal(endpoint.dialect.pieces(&answer, 0).len());
    let kinds: &[FailureKind] = match endpoint.dialect {
        Dialect::Ollama => &[FailureKind::Server],
        Dialect::Messages => &[FailureKind::Overloaded, FailureKind::Server, FailureKind::RateLimited],
        Dialect::Converse => &[FailureKind::RateLimited, FailureKind::Server, FailureKind::Overloaded],
        _ => &[FailureKind::RateLimited, FailureKind::Overloaded, FailureKind::Server, FailureKind::Quota],
    };
    for failure in kinds {
        for events in [0, 1, 3, last] {
            server.push(endpoint.dialect.failing_reply(&answer, events, &Failure::from(*failure)));
            let answered = open(&*provider, &endpoint.first_request()).await?;
            let ending = answered.ending();
            let expected = kind(endpoint.dialect, *failure);
            // The meaning of a chunk without a status is a guess, but never an answer.
            let may_guess = matches!(endpoint.dialect, Dialect::Chat(_) | Dialect::Ollama)
                && matches!(ending, Ending::Failed(ModelErrorKind::Server | ModelErrorKind::Overloaded));
            ensure(ending == Ending::Failed(expected) || may_guess, || {
                format!(
                    "after {events} events the vendor failed with {failure:?}, which was read as {ending:?}: {:?}",
                    answered.error
                )
            })?;
        }
    }
    Ok(())
}
