//! Replaying provider.

use super::asked::RecordedRequest;
use super::facts::{self, Facts};
use super::line::{CassetteEnd, CassetteErrorLine, CassetteLine};
use super::{Scrub, VERSION};
use crate::{Catalogue, ModelError, ModelInfo, ModelProvider, ModelStream, SessionFact, is_priced_otherwise, wire};
use async_trait::async_trait;
use futures_core::Stream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use windlass_types::{
    BlockStart, ContentBlock, JsonText, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, StreamDelta,
};

/// Reason why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The cassette cannot be read.
    #[error("the cassette cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The text is not a cassette.
    #[error("this is not a cassette: its first line is not {{\"windlass_cassette\":{VERSION},…}}")]
    NotACassette,
    /// The cassette has an unknown version.
    #[error("the cassette has version {found}; this program reads versions up to {VERSION}")]
    Version {
        /// Version named by the cassette.
        found: u64,
    },
    /// A line is damaged, missing or out of place.
    #[error("line {line} of the cassette: {reason}")]
    Line {
        /// Line number, from one.
        line: usize,
        /// Description of the problem.
        reason: String,
    },
}

/// Provider that answers from a cassette: the same items, frames and errors in the same order.
///
/// Each request must equal the next recorded one. A different request fails with [`ModelErrorKind::Replay`], and the
/// message names the first difference. Facts that requests depend on have their recorded values, so that the date, the
/// git status or another set of keys makes no difference. Clones share their position in the cassette.
#[derive(Debug, Clone)]
pub struct Replayer {
    name: Arc<str>,
    calls: Arc<[RecordedAnswer]>,
    facts: Arc<Facts>,
    used: Arc<Mutex<Vec<bool>>>,
    scrub: Arc<Mutex<Scrub>>,
    catalogue: Catalogue,
    info: Option<ModelInfo>,
    any_order: bool,
}

#[derive(Debug)]
struct RecordedAnswer {
    number: u64,
    count: bool,
    asked: RecordedRequest,
    items: Vec<ModelItem>,
    last: Last,
}

#[derive(Debug)]
enum Last {
    Open,
    End(CassetteEnd),
    Failed(CassetteErrorLine),
    Refused(CassetteErrorLine),
    Tokens(u64),
}

#[derive(Deserialize)]
struct Header {
    windlass_cassette: u64,
    #[serde(default)]
    provider: String,
}

impl Replayer {
    /// Reads a cassette. `scrub` must name the same secrets, places and rewrites as the recording, with the values of
    /// this machine.
    ///
    /// # Errors
    /// The cassette cannot be read, has an unknown version, or is damaged.
    pub fn load(reader: impl BufRead, scrub: Scrub) -> Result<Self, CassetteError> {
        let mut lines = reader.lines().enumerate();
        let header = match lines.next() {
            Some((_, line)) => read_header(&line?)?,
            None => return Err(CassetteError::NotACassette),
        };
        let (mut calls, mut facts): (Vec<RecordedAnswer>, _) = (Vec::new(), Facts::default());
        let mut end = 1;
        for (at, text) in lines {
            let text = text?;
            end = at + 1;
            if !text.is_empty() {
                let wrong = |reason: String| CassetteError::Line { line: end, reason };
                let line: CassetteLine = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
                match (&line.fact, &line.value) {
                    (Some(fact), Some(value)) => add_fact(&mut facts, &calls, (fact, &line), value).map_err(wrong)?,
                    _ => add_line(&mut calls, line).map_err(wrong)?,
                }
            }
        }
        if let Some(RecordedAnswer { number, last: Last::Open, .. }) = calls.last() {
            return Err(CassetteError::Line {
                line: end,
                reason: format!("call {number} has no end: the file is cut"),
            });
        }
        calls.sort_by_key(|call| call.number);
        let used = vec![false; calls.len()];
        Ok(Self {
            name: header.provider.into(),
            calls: calls.into(),
            facts: Arc::new(facts),
            used: Arc::new(Mutex::new(used)),
            scrub: Arc::new(Mutex::new(scrub)),
            catalogue: Catalogue::new(),
            info: None,
            any_order: false,
        })
    }

    /// Sets the description of every model. Default: that of the [`Catalogue`].
    #[must_use]
    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = Some(info);
        self
    }

    /// Lets a request match any unused recorded one, for programs that call models in parallel.
    #[must_use]
    pub fn with_any_order(mut self) -> Self {
        self.any_order = true;
        self
    }

    /// Returns the number of recorded calls that were not requested.
    pub fn remaining(&self) -> usize {
        self.used().iter().filter(|used| !**used).count()
    }

    fn used(&self) -> MutexGuard<'_, Vec<bool>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scrub(&self) -> Scrub {
        self.scrub.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a recorded fact, at the present position in the cassette.
    fn fact<T: DeserializeOwned>(&self, fact: &str, of: &str) -> Option<T> {
        let calls = self.used().iter().filter(|used| **used).count();
        self.facts.at(fact, of, calls)?.to().ok()
    }

    /// Returns the recorded call that a request repeats.
    fn find(&self, request: &ModelRequest, count: bool) -> Result<&RecordedAnswer, ModelError> {
        let asked = RecordedRequest::of(request, &self.scrub());
        let mut used = self.used();
        let mut open = self.calls.iter().zip(used.iter_mut()).filter(|(_, used)| !**used);
        let Some((next, mark)) = open.next() else {
            return Err(replay_error(run_out(self.calls.len(), request)));
        };
        let fits = |call: &RecordedAnswer| call.count == count && call.asked == asked;
        if fits(next) {
            *mark = true;
            return Ok(next);
        }
        if self.any_order
            && let Some((call, mark)) = open.find(|(call, _)| fits(call))
        {
            *mark = true;
            return Ok(call);
        }
        Err(replay_error(next.divergence(&asked, count)))
    }
}

impl RecordedAnswer {
    fn divergence(&self, asked: &RecordedRequest, count: bool) -> String {
        let place = format!("request {} differs from the cassette", self.number + 1);
        if self.count != count {
            let what = |count| if count { "a count of tokens" } else { "an answer" };
            return format!("{place}: expected a request for {}, but got one for {}", what(self.count), what(count));
        }
        let difference = self.asked.difference(asked).unwrap_or_else(|| "an unknown place".to_owned());
        format!("{place} at {difference}")
    }
}

fn replay_error(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::Replay, text)
}

fn run_out(calls: usize, request: &ModelRequest) -> String {
    let last = request.messages.last().map(|message| crate::script::describe(message.role, &message.content));
    let last = last.unwrap_or_else(|| "nothing".to_owned());
    format!("the cassette ends after request {calls}, and there is another one, which ends with {last}")
}

fn read_header(text: &str) -> Result<Header, CassetteError> {
    let header: Header = serde_json::from_str(text).map_err(|_| CassetteError::NotACassette)?;
    match header.windlass_cassette {
        1..=VERSION => Ok(header),
        found => Err(CassetteError::Version { found }),
    }
}

/// Adds a fact after the calls read so far, or describes its error.
fn add_fact(
    facts: &mut Facts,
    calls: &[RecordedAnswer],
    (fact, line): (&str, &CassetteLine),
    value: &JsonText,
) -> Result<(), String> {
    if let Some(RecordedAnswer { number, last: Last::Open, .. }) = calls.last() {
        return Err(format!("call {number} has no end"));
    }
    let of = line.of.as_deref().unwrap_or_default();
    let read = match fact {
        facts::INFO => value.to::<ModelInfo>().map(drop),
        _ => value.to::<String>().map(drop),
    };
    read.map_err(|error| format!("the fact {fact}: {error}"))?;
    facts.add(fact, of, calls.len(), value.clone());
    Ok(())
}

/// Adds a line to the calls read so far, or describes its error.
fn add_line(calls: &mut Vec<RecordedAnswer>, line: CassetteLine) -> Result<(), String> {
    let item = line.read_item();
    if let (Some(number), Some(request)) = (line.call, line.request) {
        if let Some(RecordedAnswer { number, last: Last::Open, .. }) = calls.last() {
            return Err(format!("call {number} has no end"));
        }
        if calls.iter().any(|call| call.number == number) {
            return Err(format!("there are two calls {number}"));
        }
        let asked = request.read(calls.last().map(|call| &call.asked))?;
        calls.push(RecordedAnswer { number, count: line.count, asked, items: Vec::new(), last: Last::Open });
        return Ok(());
    }
    let Some(call) = calls.last_mut().filter(|call| matches!(call.last, Last::Open)) else {
        return Err("it belongs to no call".to_owned());
    };
    if let Some(item) = item {
        call.items.push(item.map_err(|error| error.to_string())?);
        return Ok(());
    }
    let end = (line.end.map(Last::End))
        .or(line.failed.map(Last::Failed))
        .or(line.refused.map(Last::Refused))
        .or(line.tokens.map(Last::Tokens));
    let fits = match (&end, call.count) {
        (Some(Last::Tokens(_)), count) => count,
        (Some(Last::Refused(_)), _) => true,
        (Some(_), count) => !count,
        (None, _) => false,
    };
    call.last = end.filter(|_| fits).ok_or("it is not a line that can stand here")?;
    Ok(())
}

#[async_trait]
impl ModelProvider for Replayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn resolve_model(&self, name: &str) -> String {
        let recorded: Option<String> = self.fact(facts::RESOLVED, name);
        // A request without a model gets the recorded one, also where the recording only looked the default up.
        let is_called = |id: &String| name != "default" || self.calls.iter().any(|call| call.asked.model == *id);
        let called = || self.calls.first().filter(|_| name == "default").map(|first| first.asked.model.clone());
        recorded.filter(is_called).or_else(called).unwrap_or_else(|| self.catalogue.resolve(name))
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        let recorded = || self.fact(facts::INFO, model);
        self.info.clone().or_else(recorded).unwrap_or_else(|| self.catalogue.info(model))
    }

    fn answering_model(&self, asked: &str, answered: &str) -> Option<String> {
        match self.fact::<String>(facts::BOOKED, &facts::booked(asked, answered)) {
            Some(booked) => Some(booked).filter(|booked| !booked.is_empty()),
            None => {
                is_priced_otherwise(&self.model_info(asked), &self.model_info(answered)).then(|| answered.to_owned())
            }
        }
    }

    fn recorded_fact(&self, fact: SessionFact, current: &str) -> Option<String> {
        if fact == SessionFact::Results {
            self.scrub.lock().unwrap_or_else(PoisonError::into_inner).add_results(current);
            return None;
        }
        let recorded: String = self.fact(fact.name(), "")?;
        Some(self.scrub().expand(&recorded))
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let call = self.find(&request, false)?;
        let scrub = self.scrub();
        let mut items: VecDeque<Result<ModelItem, ModelError>> =
            call.items.iter().map(|item| Ok(expand(item, &scrub))).collect();
        match &call.last {
            Last::Refused(error) => return Err(error.error()),
            Last::Failed(error) => items.push_back(Err(error.error())),
            Last::End(CassetteEnd::Dropped) => {
                let text = format!("request {} was given up here when it was recorded", call.number + 1);
                items.push_back(Err(replay_error(text)));
            }
            Last::End(CassetteEnd::Complete) | Last::Tokens(_) | Last::Open => {}
        }
        Ok(Box::pin(ReplayStream(items)))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        let call = self.find(&request, true)?;
        match &call.last {
            Last::Tokens(tokens) => Ok(*tokens),
            Last::Refused(error) => Err(error.error()),
            _ => Err(replay_error(format!("request {} holds no count of tokens", call.number + 1))),
        }
    }
}

struct ReplayStream(VecDeque<Result<ModelItem, ModelError>>);

impl Stream for ReplayStream {
    type Item = Result<ModelItem, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

/// Returns the item with this machine's values in place of their marks.
fn expand(item: &ModelItem, scrub: &Scrub) -> ModelItem {
    let mut item = item.clone();
    if !scrub.expands() {
        return item;
    }
    let before = item.event.clone();
    let json = |json: &JsonText| JsonText::parse(scrub.expand_json(json.as_str())).unwrap_or_else(|_| json.clone());
    match &mut item.event {
        ModelEvent::BlockStart { block, .. } => match block {
            BlockStart::Text(text)
            | BlockStart::Thinking { thinking: text, .. }
            | BlockStart::Whole(ContentBlock::Text { text, .. } | ContentBlock::Thinking { thinking: text, .. }) => {
                *text = scrub.expand(text);
            }
            BlockStart::Whole(ContentBlock::ToolUse(call)) => call.input = json(&call.input),
            BlockStart::Whole(ContentBlock::Unknown(block)) => *block = json(block),
            _ => {}
        },
        ModelEvent::BlockDelta { delta, .. } => match delta {
            StreamDelta::Text(text) | StreamDelta::Thinking(text) => *text = scrub.expand(text),
            StreamDelta::ToolInput(text) => *text = scrub.expand_json(text),
            _ => {}
        },
        _ => {}
    }
    // A frame may contain JSON inside a JSON string: it is written anew rather than expanded.
    let changed = item.event != before;
    item.raw = item.raw.as_ref().map(|raw| if changed { wire::event_json(&item.event) } else { json(raw) });
    item
}
