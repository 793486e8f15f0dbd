//! Recording provider.

use super::asked::{RecordedRequest, VolatileSettings};
use super::facts::{self, Facts};
use super::line::{CassetteEnd, CassetteErrorLine, CassetteLine, CassetteRequest};
use super::{Scrub, VERSION};
use crate::{KnownModel, ModelError, ModelInfo, ModelProvider, ModelStream, SessionFact, wire};
use async_trait::async_trait;
use futures_core::Stream;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use windlass_types::{
    BlockStart, ContentBlock, JsonText, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, StreamDelta,
};

/// Provider that passes everything on to another and writes it to a cassette.
///
/// A call is written when its stream has ended or was dropped, in one piece; until then it is kept in memory. When the
/// cassette cannot be written, the next call fails; [`Recorder::finish`] reports it at the end. A cassette contains the
/// whole conversation: [`Scrub`] removes keys and the configured values, no more.
///
/// ```
/// # mod windlass { pub use windlass_model as testing; }
/// use windlass::testing::{Recorder, Replayer, Scrub, Script, ScriptedModel};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (dir, live) = (std::env::temp_dir(), ScriptedModel::new(Script::new()));
/// # let path = dir.join(format!("windlass-doc-{}.jsonl", std::process::id()));
/// let scrub = Scrub::new().place("HOME", "/home/me");
/// let recorder = Recorder::start(live, std::fs::File::create(&path)?, scrub.clone())?;
/// // Run an agent with `recorder` as its provider; then, without a network:
/// recorder.finish()?;
/// let replayer = Replayer::load(std::io::BufReader::new(std::fs::File::open(&path)?), scrub)?;
/// assert_eq!(replayer.remaining(), 0);
/// # Ok(std::fs::remove_file(path)?)
/// # }
/// ```
///
/// # Format
/// JSON Lines. The first line is `{"windlass_cassette":2,"provider":NAME}`. Then, for each call, all its lines
/// together, in the order in which calls ended, and between calls the facts that requests depend on:
///
/// | line | meaning |
/// |---|---|
/// | `{"fact":NAME,"of":SUBJECT,"value":…}` | a fact that holds from here on: `model_id` of a name, `model_info` of a model, `booked_model`, or a [`SessionFact`] |
/// | `{"call":N,"request":{…}}` | call N began (counted from zero) with this request; `"count":true` for a count of tokens |
/// | `{"item":EVENT}` | an item of its stream, as a frame of the Messages API |
/// | `{"end":"complete"}` | its stream ended; `"dropped"`: the caller dropped it |
/// | `{"failed":ERROR}` | its stream ended with an error |
/// | `{"refused":ERROR}` | it was refused before a stream began |
/// | `{"tokens":N}` | the count |
///
/// A request has `model`, `system`, `tools` and `messages`, which must be the same on replay, and `settings`, which
/// need not. Parts equal to the request before it in the file are left out: `system` and `tools` are absent, `messages`
/// begins after the first `same_messages`. An item whose frame was recorded has `raw`: `true` when it is the text of
/// `item`, else the text itself. `item_text` replaces an `item` that has line breaks.
pub struct Recorder<P> {
    provider: P,
    log: Arc<CassetteLog>,
}

struct CassetteLog {
    state: Mutex<RecorderState>,
}

struct RecorderState {
    scrub: Scrub,
    facts: Facts,
    sink: Box<dyn Write + Send>,
    calls: u64,
    written: usize,
    before: Option<RecordedRequest>,
    broken: Option<io::Error>,
}

impl<P: fmt::Debug> fmt::Debug for Recorder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl<P: ModelProvider> Recorder<P> {
    /// Begins a cassette.
    ///
    /// # Errors
    /// The first line cannot be written.
    pub fn start(provider: P, sink: impl Write + Send + 'static, scrub: Scrub) -> io::Result<Self> {
        let mut sink: Box<dyn Write + Send> = Box::new(sink);
        let header = CassetteLine {
            windlass_cassette: Some(VERSION),
            provider: Some(provider.name().to_owned()),
            ..CassetteLine::default()
        };
        write_lines(&mut sink, &[header])?;
        let facts = Facts::default();
        let state = RecorderState { scrub, facts, sink, calls: 0, written: 0, before: None, broken: None };
        Ok(Self { provider, log: Arc::new(CassetteLog { state: Mutex::new(state) }) })
    }

    /// Flushes the cassette and reports whether all of it was written. Streams that are still open are not in it yet.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.log.state();
        match state.broken.take() {
            Some(error) => Err(error),
            None => state.sink.flush(),
        }
    }

    fn begin(&self, request: &ModelRequest, count: bool) -> Result<RecordedCall, ModelError> {
        let mut state = self.log.state();
        if let Some(error) = &state.broken {
            let text = format!("the cassette cannot be written: {error}");
            return Err(ModelError::new(ModelErrorKind::Configuration, text));
        }
        let number = state.calls;
        state.calls = number.saturating_add(1);
        let scrub = state.scrub.clone();
        drop(state);
        let asked = RecordedRequest::of(request, &scrub);
        Ok(RecordedCall { number, count, asked, settings: VolatileSettings::of(request), log: Arc::clone(&self.log) })
    }
}

impl CassetteLog {
    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scrub(&self) -> Scrub {
        self.state().scrub.clone()
    }

    /// Writes a fact, unless it is known.
    fn note(&self, fact: &str, of: &str, value: &impl Serialize) {
        let Ok(value) = JsonText::of(value) else { return };
        self.state().note(fact, of, value);
    }
}

impl RecorderState {
    fn note(&mut self, fact: &str, of: &str, value: JsonText) {
        let value = JsonText::parse(self.scrub.clean(value.as_str())).unwrap_or(value);
        if self.broken.is_some() || !self.facts.add(fact, of, self.written, value.clone()) {
            return;
        }
        let of = Some(of.to_owned()).filter(|of| !of.is_empty());
        let line = CassetteLine { fact: Some(fact.to_owned()), of, value: Some(value), ..CassetteLine::default() };
        if let Err(error) = write_lines(&mut self.sink, &[line]) {
            self.broken = Some(error);
        }
    }

    /// Returns the recorded value of a session fact.
    fn session_fact(&mut self, fact: SessionFact, current: &str) -> Option<String> {
        if fact == SessionFact::Results {
            self.scrub.add_results(current);
            return None;
        }
        // The ids of a recording have one seed: simultaneous sessions are not distinguished.
        let first = self.facts.at(fact.name(), "", 0).filter(|_| fact == SessionFact::Ids);
        if let Some(first) = first {
            return first.to().ok();
        }
        self.note(fact.name(), "", JsonText::of(current).ok()?);
        Some(current.to_owned())
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<P: ModelProvider> ModelProvider for Recorder<P> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        let id = self.provider.resolve_model(name);
        self.log.note(facts::RESOLVED, name, &id);
        id
    }

    fn similar_models(&self, name: &str) -> Vec<String> {
        self.provider.similar_models(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let info = self.provider.model_info(model);
        self.log.note(facts::INFO, model, &info);
        info
    }

    fn known_models(&self) -> Vec<KnownModel> {
        self.provider.known_models()
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        let booked = self.provider.answering_model(asked, answered);
        self.log.note(facts::BOOKED, &facts::booked(asked, answered), &booked.as_deref().unwrap_or_default());
        booked
    }

    fn ready(&self, model: &str) -> Result<(), ModelError> {
        self.provider.ready(model)
    }

    async fn prepare(&self, model: &str) {
        self.provider.prepare(model).await;
    }

    fn opening_notice(&self, model: &str) -> Option<String> {
        self.provider.opening_notice(model)
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        self.log.state().session_fact(fact, current)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let call = self.begin(&request, false)?;
        match self.provider.stream(request).await {
            Ok(inner) => Ok(Box::pin(Recording { inner, items: Vec::new(), call: Some(call) })),
            Err(error) => {
                call.end(CassetteLine { refused: Some(call.error(&error)), ..CassetteLine::default() });
                Err(error)
            }
        }
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        let call = self.begin(&request, true)?;
        let counted = self.provider.count_tokens(request).await;
        call.end(match &counted {
            Ok(tokens) => CassetteLine { tokens: Some(*tokens), ..CassetteLine::default() },
            Err(error) => CassetteLine { refused: Some(call.error(error)), ..CassetteLine::default() },
        });
        counted
    }
}

/// A call that is being recorded.
struct RecordedCall {
    number: u64,
    count: bool,
    asked: RecordedRequest,
    settings: VolatileSettings,
    log: Arc<CassetteLog>,
}

impl RecordedCall {
    fn error(&self, error: &ModelError) -> CassetteErrorLine {
        let scrub = self.log.scrub();
        CassetteErrorLine::of(error, |text| scrub.clean(text))
    }

    fn end(&self, last: CassetteLine) {
        self.write(Vec::new(), last);
    }

    fn write(&self, mut items: Vec<ModelItem>, last: CassetteLine) {
        scrub_items(&mut items, &self.log.scrub());
        let mut state = self.log.state();
        let state = &mut *state;
        let request = CassetteRequest::new(&self.asked, self.settings.clone(), state.before.as_ref());
        let mut lines = vec![CassetteLine {
            call: Some(self.number),
            count: self.count,
            request: Some(request),
            ..CassetteLine::default()
        }];
        lines.extend(items.iter().map(CassetteLine::of_item));
        lines.push(last);
        match write_lines(&mut state.sink, &lines) {
            Ok(()) => {
                state.before = Some(self.asked.clone());
                state.written = state.written.saturating_add(1);
            }
            Err(error) => state.broken = Some(error),
        }
    }
}

fn write_lines(sink: &mut Box<dyn Write + Send>, lines: &[CassetteLine]) -> io::Result<()> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    sink.write_all(&text)?;
    sink.flush()
}

struct Recording {
    inner: ModelStream,
    items: Vec<ModelItem>,
    call: Option<RecordedCall>,
}

impl Recording {
    fn end(&mut self, last: CassetteLine) {
        if let Some(call) = self.call.take() {
            call.write(std::mem::take(&mut self.items), last);
        }
    }
}

impl Stream for Recording {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.inner.as_mut().poll_next(cx));
        match &next {
            Some(Ok(item)) => self.items.push(item.clone()),
            Some(Err(error)) => {
                let failed = self.call.as_ref().map(|call| call.error(error));
                self.end(CassetteLine { failed, ..CassetteLine::default() });
            }
            None => self.end(CassetteLine { end: Some(CassetteEnd::Complete), ..CassetteLine::default() }),
        }
        Poll::Ready(next)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // The caller need not poll again after the message's end.
        let whole = matches!(self.items.last(), Some(ModelItem { event: ModelEvent::MessageStop, .. }));
        let end = if whole { CassetteEnd::Complete } else { CassetteEnd::Dropped };
        self.end(CassetteLine { end: Some(end), ..CassetteLine::default() });
    }
}

/// Removes secrets and places from the items of one stream, even if a block splits them between deltas.
fn scrub_items(items: &mut [ModelItem], scrub: &Scrub) {
    let mut blocks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter_mut().enumerate() {
        if let Some((index, _)) = text_of(&mut item.event) {
            blocks.entry(index).or_default().push(at);
        } else if let ModelEvent::BlockStart { block: BlockStart::Whole(block), .. } = &mut item.event {
            scrub_whole(block, scrub);
        }
    }
    for places in blocks.values() {
        let mut texts: Vec<String> = places
            .iter()
            .filter_map(|at| items.get_mut(*at).and_then(|item| text_of(&mut item.event)).map(|(_, text)| text.clone()))
            .collect();
        scrub.clean_pieces(&mut texts);
        for (at, text) in places.iter().zip(texts) {
            let Some(item) = items.get_mut(*at) else { continue };
            if let Some((_, old)) = text_of(&mut item.event).filter(|(_, old)| **old != text) {
                *old = text;
                // The original frame contains the removed values.
                item.raw = item.raw.as_ref().map(|_| wire::event_json(&item.event));
            }
        }
    }
    for item in items {
        item.raw = item.raw.take().map(|raw| JsonText::parse(scrub.clean(raw.as_str())).unwrap_or(raw));
    }
}

/// Returns the text that an event adds to a block. Signatures are excluded: they are opaque.
fn text_of(event: &mut ModelEvent) -> Option<(usize, &mut String)> {
    match event {
        ModelEvent::BlockStart { index, block: BlockStart::Text(text) }
        | ModelEvent::BlockStart { index, block: BlockStart::Thinking { thinking: text, .. } }
        | ModelEvent::BlockDelta {
            index,
            delta: StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text),
        } => Some((*index, text)),
        _ => None,
    }
}

fn scrub_whole(block: &mut ContentBlock, scrub: &Scrub) {
    match block {
        ContentBlock::Text { text, .. } | ContentBlock::Thinking { thinking: text, .. } => *text = scrub.clean(text),
        ContentBlock::ToolUse(call) => scrub_json(&mut call.input, scrub),
        ContentBlock::Unknown(json) => scrub_json(json, scrub),
        _ => {}
    }
}

fn scrub_json(json: &mut JsonText, scrub: &Scrub) {
    if let Ok(clean) = JsonText::parse(scrub.clean(json.as_str())) {
        *json = clean;
    }
}
