//! Words of a prompt that ask for more thinking: `think` < `think hard` < `think harder` < `ultrathink`.

use windlass_types::{Effort, ModelInfo, Thinking};

/// Thinking level that the words of a prompt ask for, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ThinkingLevel {
    /// `think` as an order: at the beginning of a sentence, or after a word such as `please`.
    Think,
    /// `think hard`.
    ThinkHard,
    /// `think harder`.
    ThinkHarder,
    /// `ultrathink`.
    Ultrathink,
}

impl ThinkingLevel {
    /// Returns the highest level that a text of the user asks for.
    ///
    /// Whole words are matched, in any case. Quoted content is ignored: code in backticks and fences, lines that begin
    /// with `>` or are indented by a tab or four blanks, and text between a tag and its end. Negated words (`do not
    /// think hard`) and `think` in a statement (`I think`) are ignored, too.
    pub fn in_text(text: &str) -> Option<Self> {
        let text = own_words(text);
        let words = words(&text);
        let mut strongest = None;
        for (at, word) in words.iter().enumerate() {
            let previous_word =
                at.checked_sub(1).and_then(|previous_word| words.get(previous_word)).filter(|_| !word.begins);
            let next = words.get(at + 1).filter(|next| !next.begins).map(|next| next.text.as_str());
            let level = match (word.text.as_str(), next) {
                ("ultrathink", _) => Self::Ultrathink,
                ("think", Some("harder")) => Self::ThinkHarder,
                ("think", Some("hard")) => Self::ThinkHard,
                ("think", _)
                    if previous_word.is_none_or(|previous_word| ORDERS.contains(&previous_word.text.as_str())) =>
                {
                    Self::Think
                }
                _ => continue,
            };
            if previous_word.is_none_or(|previous_word| !NEGATIONS.contains(&previous_word.text.as_str())) {
                strongest = strongest.max(Some(level));
            }
        }
        strongest
    }
}

/// Words after which `think` is an order.
const ORDERS: [&str; 11] =
    ["please", "and", "then", "now", "first", "but", "just", "also", "so", "carefully", "should"];
const NEGATIONS: [&str; 6] = ["not", "don't", "don\u{2019}t", "never", "without", "cannot"];

struct Word {
    /// Word in lower case.
    text: String,
    /// `true` if a sentence or a line begins with the word.
    begins: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut word, mut begins) = (String::new(), true);
    for c in text.chars().chain(['\n']) {
        // Characters that join letters to one name, as in `rethink.rs` or `think_hard`, are part of the word.
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

/// Returns a text without quoted content.
fn own_words(text: &str) -> String {
    let mut own_lines = String::new();
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
        // Every second part is in backticks; a single one closes nothing.
        let parts: Vec<&str> = line.split('`').collect();
        let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
        for (at, part) in parts.iter().enumerate() {
            own_lines.push_str(if at.is_multiple_of(2) || at >= closed { part } else { " code " });
        }
        own_lines.push('\n');
    }
    own_lines
}

/// Returns the name of the tag that a line begins with.
fn opened(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix('<')?.split_once(|c: char| c == '>' || c.is_whitespace())?;
    let is_name = name.chars().next().is_some_and(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name.then_some(name)
}

/// Settings for the words: a budget for models that accept one, else an effort.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThinkingKeywords {
    /// Maximum thinking tokens by level, the lowest first.
    pub budgets: [u32; 4],
    /// Effort by level, the lowest first. For a model without it, the strongest weaker one is requested.
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
    /// Returns the reasoning settings of a model at a level, with the effort. Never less than without the words.
    ///
    /// A model that only accepts a budget gets one. A model that decides its thinking itself keeps doing so, with more
    /// effort if it accepts one. A model that accepts neither is unchanged, and so is one whose reasoning the host has
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
        let index = match level {
            ThinkingLevel::Think => 0,
            ThinkingLevel::ThinkHard => 1,
            ThinkingLevel::ThinkHarder => 2,
            ThinkingLevel::Ultrathink => 3,
        };
        let budget = self.budgets.get(index).copied().unwrap_or_default();
        let supported = self.efforts.get(index).copied().and_then(|effort| model.effort_for(effort));
        if model.adaptive_thinking {
            return (Thinking::Adaptive, effort.max(supported));
        }
        if model.thinking_budget {
            let host_budget = if let Thinking::Budget(host_budget) = thinking { host_budget } else { 0 };
            return (Thinking::Budget(budget.max(host_budget)), effort);
        }
        (thinking, effort.max(supported))
    }
}

#[cfg(test)]
mod tests;
