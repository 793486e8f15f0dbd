//! Conformance of model providers: checks of the promises of [`ModelProvider`].
//!
//! Each function checks one promise and returns its observations, or the [`Violation`]. A provider's test sets up an
//! endpoint (such as [`WireServer`](crate::wire::WireServer)) for each situation and calls them: A provider's test sets
//! up an endpoint (such as [`WireServer`](crate::wire::WireServer)) for each situation and calls them:
//!
//! ```
//! use std::sync::Arc;
//! use windlass_model::{ScriptedModel, ScriptedTurn};
//! use windlass_testkit::provider;
//! use windlass_types::{StreamDelta, Message, ModelRequest};
//!
//! # async fn run() -> Result<(), provider::Violation> {
//! let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("hello"));
//! let request = ModelRequest::new("m", vec![Message::user_text("hi").into()], 100);
//! let answer = provider::answers(&model, &request).await?;
//! assert_eq!(answer.text(), "hello");
//! provider::gives_frames(&model, &request).await?;
//! provider::survives_cancellation(&model, &request).await?;
//! provider::describes_models(&model, &["m", "an unknown model"])?;
//! # Ok(())
//! # }
//! ```
//!
//! [`all`] runs them, and further checks for long sessions, against a server of the vendor's dialect, which accepts
//! only requests that follow the vendor's published rules ([`Dialect`](crate::wire::Dialect)):
//!
//! ```no_run
//! # use windlass_model::ModelProvider;
//! use windlass_testkit::provider::{self, Endpoint};
//! use windlass_testkit::wire::Dialect;
//!
//! # async fn run(provider_at: fn(&str) -> std::sync::Arc<dyn ModelProvider>) -> Result<(), provider::Violation> {
//! provider::all(&Endpoint::new(Dialect::Responses, "gpt-5.4", provider_at)).await
//! # }
//! ```

mod endings;
mod endpoint;
mod faults;
mod fold;
mod history;
mod known;
mod open;
mod requests;
mod stream;

#[doc(no_inline)]
pub use crate::Violation;
pub use endings::{knows_failures, knows_failures_inside_streams, knows_reasons_to_stop};
pub use endpoint::{Endpoint, Replay};
pub use faults::{
    bounds_what_it_keeps, closes_when_dropped, ignores_unknown_events, reads_any_split, reports_cuts_at_every_byte,
    shows_what_has_come, survives_damage,
};
pub use fold::{blocks, conversation};
pub use history::{counts_usage_once, keeps_a_conversation, takes_a_foreign_history};
pub use known::lists_models;
pub use open::answers;
pub use requests::sends_valid_requests;
pub use stream::{Ending, Transcript, read};

use crate::violation::ensure;
use futures_util::{FutureExt, StreamExt};
use open::open;
use std::error::Error;
use std::sync::Arc;
use windlass_model::{ModelError, ModelProvider};
use windlass_types::{ModelErrorKind, ModelEvent, ModelItem, ModelRequest, StreamDelta};

/// Checks that a request whose answer breaks off never completes, and ends as a cut: with [`ModelErrorKind::Cut`] or
/// without an error.
///
/// # Errors
/// The stream completes, ends in another way, or does not follow the grammar.
pub async fn reports_a_cut(provider: &dyn ModelProvider, request: &ModelRequest) -> Result<Transcript, Violation> {
    let transcript = open(provider, request).await?;
    let ending = transcript.ending();
    ensure(matches!(ending, Ending::Cut | Ending::Failed(ModelErrorKind::Cut)), || {
        format!("the answer was cut, but its stream ended as {ending:?}: {:?}", transcript.error)
    })?;
    Ok(transcript)
}

/// Checks that a request that fails, at once or inside its stream, fails with this kind and a message, and shows none
/// of these secrets in any text.
///
/// # Errors
/// The request does not fail, fails with another kind or without a message, or shows a secret.
pub async fn fails(
    provider: &dyn ModelProvider,
    request: &ModelRequest,
    kind: ModelErrorKind,
    secrets: &[&str],
) -> Result<ModelError, Violation> {
    let transcript = open(provider, request).await?;
    let ending = transcript.ending();
    ensure(ending == Ending::Failed(kind), || format!("expected a failure of kind {kind:?}, but got {ending:?}"))?;
    let error = transcript.error.ok_or_else(|| Violation::new("a failure without an error"))?;
    ensure(!error.message.trim().is_empty(), || format!("a failure of kind {kind:?} without words"))?;
    let mut texts = vec![format!("{error:?}"), error.to_string(), format!("{provider:?}")];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    for secret in secrets {
        ensure(texts.iter().all(|text| !text.contains(secret)), || {
            format!("the error or the provider shows the secret {secret:?}")
        })?;
    }
    Ok(error)
}

/// Checks that a request that fails is sent once: the loop retries, not the provider. `sent` returns the number of
/// requests that the endpoint has seen.
///
/// # Errors
/// The request does not fail, or is sent more or less than once.
pub async fn does_not_retry(
    provider: &dyn ModelProvider,
    request: &ModelRequest,
    sent: impl Fn() -> usize,
) -> Result<ModelError, Violation> {
    let before = sent();
    let transcript = open(provider, request).await?;
    let error = transcript.error.ok_or_else(|| Violation::new("the request was to fail, but did not"))?;
    let times = sent().saturating_sub(before);
    ensure(times == 1, || format!("one failing request was sent {times} times"))?;
    Ok(error)
}

/// Checks that items carry the provider's own frames when a request asks for them, and only then.
///
/// # Errors
/// A frame is missing, is there without a request for it, or the request does not complete.
pub async fn gives_frames(provider: &dyn ModelProvider, request: &ModelRequest) -> Result<(), Violation> {
    for wanted in [true, false] {
        let mut request = request.clone();
        request.raw_frames = wanted;
        let transcript = answers(provider, &request).await?;
        // A rate limit from an answer's headers has no frame.
        let framed = |item: &&ModelItem| {
            !matches!(
                item.event,
                ModelEvent::RateLimit(_)
                    | ModelEvent::ReasoningDropped { .. }
                    | ModelEvent::WebSearched(_)
                    | ModelEvent::BlockDelta { delta: StreamDelta::Replay(_), .. }
            )
        };
        for item in transcript.items.iter().filter(framed) {
            ensure(item.raw.is_some() == wanted, || {
                format!("frames were wanted: {wanted}, but an item came with {:?}: {:?}", item.raw, item.event)
            })?;
        }
    }
    Ok(())
}

/// Checks that dropping a call before it is answered, and its stream before it ends, leaves the provider usable.
///
/// # Errors
/// A request after that does not complete.
pub async fn survives_cancellation(provider: &dyn ModelProvider, request: &ModelRequest) -> Result<(), Violation> {
    let request_arc = Arc::new(request.clone());
    // Polled once, then dropped.
    drop(provider.stream(Arc::clone(&request_arc)).now_or_never());
    let opened = provider.stream(request_arc).await;
    let mut stream = opened.map_err(|error| Violation::new(format!("after a cancelled call: {error}")))?;
    let first = stream.next().await;
    ensure(matches!(first, Some(Ok(_))), || format!("after a cancelled call the stream begins with {first:?}"))?;
    drop(stream);
    answers(provider, request).await.map(drop)
}

/// Checks that simultaneous calls do not mix: each completes as it does alone.
///
/// # Errors
/// One of them does not complete, or its text differs from that of a call alone.
pub async fn runs_in_parallel(provider: &dyn ModelProvider, requests: &[ModelRequest]) -> Result<(), Violation> {
    let mut alone = Vec::new();
    for request in requests {
        alone.push(answers(provider, request).await?.text());
    }
    let together = futures_util::future::join_all(requests.iter().map(|request| answers(provider, request))).await;
    for (alone, together) in alone.into_iter().zip(together) {
        let together = together?.text();
        ensure(alone == together, || format!("alone: {alone:?}, beside others: {together:?}"))?;
    }
    Ok(())
}

/// Checks that resolved names resolve to themselves, and that limits make sense.
///
/// # Errors
/// The first name for which this does not hold.
pub fn describes_models(provider: &dyn ModelProvider, names: &[&str]) -> Result<(), Violation> {
    ensure(!provider.name().is_empty(), || "the provider has no name".to_owned())?;
    for name in names {
        let model = provider.resolve_model(name);
        let again = provider.resolve_model(&model);
        ensure(model == again, || format!("{name} resolves to {model}, but that to {again}"))?;
        let info = provider.model_info(&model);
        ensure(info.default_output_tokens > 0, || format!("{model} writes no tokens by default"))?;
        ensure(info.default_output_tokens <= info.max_output_tokens, || {
            format!("{model} writes more by default than it can: {info:?}")
        })?;
        ensure(u64::from(info.max_output_tokens) < info.context_window, || {
            format!("{model} writes more than its window holds: {info:?}")
        })?;
    }
    Ok(())
}

/// Checks every promise of this kit that an endpoint can show.
///
/// # Errors
/// All broken promises, a line for each.
pub async fn all(endpoint: &Endpoint) -> Result<(), Violation> {
    let mut broken = Vec::new();
    let mut note = |name: &str, result: Result<(), Violation>| {
        if let Err(violation) = result {
            broken.push(format!("{name}: {violation}"));
        }
    };
    note("basics", basics(endpoint).await);
    note("sends_valid_requests", sends_valid_requests(endpoint).await);
    note("keeps_a_conversation", keeps_a_conversation(endpoint).await);
    note("takes_a_foreign_history", takes_a_foreign_history(endpoint).await);
    note("counts_usage_once", counts_usage_once(endpoint).await);
    note("knows_reasons_to_stop", knows_reasons_to_stop(endpoint).await);
    note("knows_failures", knows_failures(endpoint).await);
    note("knows_failures_inside_streams", knows_failures_inside_streams(endpoint).await);
    note("reads_any_split", reads_any_split(endpoint).await);
    note("shows_what_has_come", shows_what_has_come(endpoint).await);
    note("closes_when_dropped", closes_when_dropped(endpoint).await);
    note("ignores_unknown_events", ignores_unknown_events(endpoint).await);
    note("survives_damage", survives_damage(endpoint).await);
    if endpoint.step == 1 {
        note("bounds_what_it_keeps", bounds_what_it_keeps(endpoint).await);
    }
    note("reports_cuts_at_every_byte", reports_cuts_at_every_byte(endpoint).await);
    if broken.is_empty() { Ok(()) } else { Err(Violation::new(broken.join("\n"))) }
}

/// Checks the promises that one answer can show.
async fn basics(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let (dialect, answer) = (endpoint.dialect, endpoint.answer());
    dialect.serve(&server, move |_| answer.clone());
    let request = endpoint.first_request();
    let answered = answers(&*provider, &request).await?;
    ensure(answered.text() == "a é🌍 b", || format!("the text is {:?}", answered.text()))?;
    let thought = answered.blocks()?.iter().any(windlass_types::ContentBlock::is_thinking);
    ensure(thought == endpoint.has_reasoning(), || format!("whether reasoning came: {thought}"))?;
    let calls = answered.tool_inputs();
    ensure(calls == [("Read".to_owned(), r#"{"path":"/x"}"#.to_owned())], || format!("the calls are {calls:?}"))?;
    gives_frames(&*provider, &request).await?;
    survives_cancellation(&*provider, &request).await?;
    runs_in_parallel(&*provider, &vec![request; 4]).await?;
    describes_models(&*provider, &[&endpoint.model, "unheard-of"])
}
