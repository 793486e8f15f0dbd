//! Words of a prompt that ask for more thought: `think` < `think hard` < `think harder` < `ultrathink`.

use windlass_types::{Effort, ModelInfo, Thinking};

/// How much thought the words of a prompt ask for, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ThinkingLevel {
    /// `think`, where it is an order: at the beginning of a sentence, or behind a word such as `please`.
    Think,
    /// `think hard`.
    ThinkHard,
    /// `think harder`.
    ThinkHarder,
    /// `ultrathink`.
    Ultrathink,
}

impl ThinkingLevel {
    /// The strongest level that a text of the user asks for.
    ///
    /// Whole words count, in any case. What the user only shows does not: code in backticks and fences, lines that are
    /// quoted by `>` or indented by a tab or four blanks, and what stands between a tag and its end. Nor does what is
    /// negated (`do not think hard`), or `think` in a statement (`I think`).
    pub fn in_text(text: &str) -> Option<Self> {
        let text = own_words(text);
        let words = words(&text);
        let mut strongest = None;
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| words.get(before)).filter(|_| !word.begins);
            let next = words.get(at + 1).filter(|next| !next.begins).map(|next| next.text.as_str());
            let level = match (word.text.as_str(), next) {
                ("ultrathink", _) => Self::Ultrathink,
                ("think", Some("harder")) => Self::ThinkHarder,
                ("think", Some("hard")) => Self::ThinkHard,
                ("think", _) if before.is_none_or(|before| ORDERS.contains(&before.text.as_str())) => Self::Think,
                _ => continue,
            };
            if before.is_none_or(|before| !NEGATIONS.contains(&before.text.as_str())) {
                strongest = strongest.max(Some(level));
            }
        }
        strongest
    }
}

/// Words behind which `think` is an order.
const ORDERS: [&str; 11] =
    ["please", "and", "then", "now", "first", "but", "just", "also", "so", "carefully", "should"];
const NEGATIONS: [&str; 6] = ["not", "don't", "don\u{2019}t", "never", "without", "cannot"];

struct Word {
    /// In lower case.
    text: String,
    /// Whether a sentence or a line begins with it.
    begins: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut word, mut begins) = (String::new(), true);
    for c in text.chars().chain(['\n']) {
        // What joins letters to one name, as in `rethink.rs` or `think_hard`, is part of the word.
        if c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}' | '_' | '-' | '/') {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push(Word { text: std::mem::take(&mut word), begins });
            begins = false;
        }
        begins |= matches!(c, '.' | '!' | '?' | ':' | ';' | ',' | '\n' | '(');
    }
    words
}

/// A text without what the user only shows in it.
fn own_words(text: &str) -> String {
    let mut own = String::new();
    let mut fence: Option<&str> = None;
    let mut tag: Option<String> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(end) = fence {
            fence = (!trimmed.starts_with(end)).then_some(end);
            continue;
        }
        if let Some(name) = &tag {
            if line.contains(&format!("</{name}>")) {
                tag = None;
            }
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if fence.is_some() || trimmed.starts_with('>') || line.starts_with('\t') || line.starts_with("    ") {
            continue;
        }
        if let Some(name) = opened(trimmed) {
            tag = (!line.contains(&format!("</{name}>"))).then(|| name.to_owned());
            continue;
        }
        // Every second part stands in backticks; a single one closes nothing.
        let parts: Vec<&str> = line.split('`').collect();
        let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
        for (at, part) in parts.iter().enumerate() {
            own.push_str(if at.is_multiple_of(2) || at >= closed { part } else { " code " });
        }
        own.push('\n');
    }
    own
}

/// The name of the tag that a line begins with.
fn opened(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix('<')?.split_once(|c: char| c == '>' || c.is_whitespace())?;
    let is_name = name.chars().next().is_some_and(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name.then_some(name)
}

/// What the words mean for a model: a budget for models that take one, else an effort.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThinkingKeywords {
    /// Most tokens of thought by level, the least first.
    pub budgets: [u32; 4],
    /// The effort by level, the least first. A model without it is asked for the strongest that is weaker.
    pub efforts: [Effort; 4],
}

impl Default for ThinkingKeywords {
    /// 4,000, 10,000, 20,000 and 31,999 tokens; medium, high, xhigh and max effort.
    fn default() -> Self {
        Self {
            budgets: [4_000, 10_000, 20_000, 31_999],
            efforts: [Effort::Medium, Effort::High, Effort::XHigh, Effort::Max],
        }
    }
}

impl ThinkingKeywords {
    /// How a model reasons at a level, and with which effort. Never less than without the words.
    ///
    /// A model that only takes a budget gets one. One that decides itself how much it thinks keeps doing so, with more
    /// effort if it takes one. A model that takes none of both stays as it is, and so does one whose reasoning the host has
    /// switched off.
    pub fn settings(
        &self,
        level: ThinkingLevel,
        model: &ModelInfo,
        thinking: Thinking,
        effort: Option<Effort>,
    ) -> (Thinking, Option<Effort>) {
        if thinking == Thinking::Off {
            return (thinking, effort);
        }
        let at = match level {
            ThinkingLevel::Think => 0,
            ThinkingLevel::ThinkHard => 1,
            ThinkingLevel::ThinkHarder => 2,
            ThinkingLevel::Ultrathink => 3,
        };
        let budget = self.budgets.get(at).copied().unwrap_or_default();
        let wanted = self.efforts.get(at).copied().and_then(|effort| model.effort_for(effort));
        if model.adaptive_thinking {
            return (Thinking::Adaptive, effort.max(wanted));
        }
        if model.thinking_budget {
            let given = if let Thinking::Budget(given) = thinking { given } else { 0 };
            return (Thinking::Budget(budget.max(given)), effort);
        }
        (thinking, effort.max(wanted))
    }
}

#[cfg(test)]
mod tests;
