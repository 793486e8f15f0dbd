//! Digest of a log: figures of its session, and texts for searching.

#[cfg(test)]
mod tests;

use crate::codec::{COST, RUN_RESUMED, SPENT};
use crate::summary::prompt_text;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_types::{ApiUsage, NanoUsd, Timestamp, Usage};

/// Maximum number of characters of one text that a search reads.
const TEXT_CHARS: usize = 4_000;

/// Figures of the lines of a log. A fold: later lines are added to the state of earlier ones, so the digest of a log
/// that grew needs the new lines alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SessionDigest {
    /// Model of the last message.
    pub model: Option<String>,
    /// Number of prompts written by the user.
    pub prompts: u64,
    /// Number of messages written by the model.
    pub answers: u64,
    /// Number of tool calls in these messages.
    pub tool_uses: u64,
    /// Cost of the session with all requests of its log; interrupted ones at their reservation. `None`: the log has no
    /// cost.
    pub cost: Option<NanoUsd>,
    /// Time of the latest line.
    pub last_active: Option<Timestamp>,
    /// Maximum cost of all requests at the last line about them; background requests may outlive that.
    at_most: NanoUsd,
    /// Tokens of all messages but the last.
    settled: Usage,
    /// Last message, of which each block has a line, and its tokens.
    last: Option<(String, Usage)>,
    /// Last run, while the log has no end of it.
    open_run: Option<String>,
    /// `true` if the last message has no calls, and another program has stored it.
    is_foreign_answer: bool,
}

/// A text of a session by which it can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogText {
    /// Source of the text.
    pub kind: LogTextKind,
    /// Time of the text.
    pub at: Option<Timestamp>,
    /// First 4,000 characters of the text.
    pub text: String,
}

/// Source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LogTextKind {
    /// Title or tag of the session.
    Title,
    /// Prompt of the user.
    Prompt,
    /// Text of the model.
    Answer,
}

impl LogText {
    /// Returns a text without a time.
    pub fn new(kind: LogTextKind, text: impl Into<String>) -> Self {
        Self { kind, at: None, text: text.into() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DigestLine<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default, rename = "totalCostUSD")]
    total_cost: Option<f64>,
    #[serde(borrow, default)]
    prompt_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_origin: Option<&'a RawValue>,
    /// Maximum cost of open requests by model, in US dollars.
    #[serde(borrow, default, rename = "heldUSD")]
    held: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RunName {
    run: String,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<ApiUsage>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

impl DigestLine<'_> {
    /// Returns the cost of all requests, open ones at their reservation.
    fn at_most(&self) -> Option<NanoUsd> {
        let held = self.held.and_then(|held| serde_json::from_str::<BTreeMap<String, f64>>(held.get()).ok());
        let held = held.unwrap_or_default().into_values().map(NanoUsd::from_usd);
        Some(held.fold(NanoUsd::from_usd(self.total_cost?), NanoUsd::saturating_add))
    }
}

impl SessionDigest {
    /// Returns the tokens of all messages of the model.
    pub fn usage(&self) -> Usage {
        self.settled + self.last.as_ref().map(|(_, usage)| *usage).unwrap_or_default()
    }

    /// `true` if the last run has not ended: its process ended before it, or handed it over. A run that waits for
    /// answers has ended.
    pub fn has_open_run(&self) -> bool {
        self.open_run.is_some() && !self.is_foreign_answer
    }

    /// Adds a line, without its line break, and passes its texts to `found`. A line outside the session's conversation
    /// changes nothing.
    pub fn add(&mut self, line: &[u8], mut found: impl FnMut(LogText)) {
        let Ok(line) = serde_json::from_slice::<DigestLine<'_>>(line) else { return };
        if line.is_sidechain {
            return;
        }
        let at = line.timestamp.and_then(|text| serde_json::from_str(text.get()).ok());
        let mut found = |kind, text: &str| found(LogText { kind, at, text: text.chars().take(TEXT_CHARS).collect() });
        match line.kind.as_deref() {
            Some("user") => {
                if !line.is_compact_summary {
                    self.is_foreign_answer = false;
                    self.open_run = line.prompt_id.and_then(name).or(self.open_run.take());
                }
                if !line.is_meta && !line.is_compact_summary {
                    self.prompt(line.message, &mut found);
                }
            }
            Some("assistant") => self.answer(line.message, line.windlass_origin.is_some(), &mut found),
            Some(RUN_RESUMED) => self.open_run = line.run.and_then(name),
            Some(COST) => {
                let ended = line.windlass_run.and_then(|run| serde_json::from_str::<RunName>(run.get()).ok());
                if ended.is_some_and(|ended| self.open_run.as_ref() == Some(&ended.run)) {
                    self.open_run = None;
                }
                let total = line.total_cost.map(|total| NanoUsd::from_usd(total).max(self.at_most));
                self.cost = total.or(self.cost);
            }
            Some(SPENT) => {
                self.at_most = line.at_most().unwrap_or(self.at_most);
                self.cost = Some(self.at_most);
            }
            _ => {}
        }
        self.last_active = self.last_active.max(at);
    }

    fn prompt(&mut self, message: Option<&RawValue>, found: &mut impl FnMut(LogTextKind, &str)) {
        let Some(message) = message.and_then(|text| serde_json::from_str::<Message<'_>>(text.get()).ok()) else {
            return;
        };
        let blocks = blocks(message.content);
        if blocks.iter().any(|block| block.kind.as_deref() == Some("tool_result")) {
            return;
        }
        let texts: Vec<String> =
            blocks.iter().filter_map(|block| prompt_text(block.text.as_deref()?, &mut None)).collect();
        self.prompts += u64::from(!texts.is_empty());
        texts.iter().for_each(|text| found(LogTextKind::Prompt, text));
    }

    fn answer(&mut self, message: Option<&RawValue>, is_own: bool, found: &mut impl FnMut(LogTextKind, &str)) {
        let Some(message) = message.and_then(|text| serde_json::from_str::<Message<'_>>(text.get()).ok()) else {
            return;
        };
        let usage = message.usage.map(Usage::from).unwrap_or_default();
        let id = message.id.unwrap_or_default();
        match &mut self.last {
            Some((last, known)) if *last == id && !id.is_empty() => known.raise(usage),
            _ => {
                self.settled = self.usage();
                self.last = Some((id.into_owned(), usage));
                self.answers += 1;
            }
        }
        // Other programs record failures as messages of a fake model.
        if let Some(model) = message.model.filter(|model| !model.is_empty() && !model.starts_with('<')) {
            self.model = Some(model.into_owned());
        }
        self.is_foreign_answer = !is_own;
        for block in blocks(message.content) {
            self.is_foreign_answer &= block.kind.as_deref() != Some("tool_use");
            self.tool_uses += u64::from(block.kind.as_deref() == Some("tool_use"));
            let text = block.text.filter(|text| !text.trim().is_empty());
            if let Some(text) = text.filter(|_| block.kind.as_deref() == Some("text")) {
                found(LogTextKind::Answer, &text);
            }
        }
    }
}

/// Returns a text of a line.
fn name(json: &RawValue) -> Option<String> {
    serde_json::from_str(json.get()).ok()
}

/// Returns the blocks of a message's content, which may be a plain text.
fn blocks(content: Option<&RawValue>) -> Vec<Block<'_>> {
    let Some(content) = content.map(RawValue::get) else { return Vec::new() };
    match serde_json::from_str::<Cow<'_, str>>(content) {
        Ok(text) => vec![Block { kind: Some("text".into()), text: Some(text) }],
        Err(_) => serde_json::from_str(content).unwrap_or_default(),
    }
}
