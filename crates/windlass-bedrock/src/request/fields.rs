//! Model-specific request fields: the control of reasoning.

use crate::models::ReasoningControl;
use crate::request::target::ConverseTarget;
use serde::Serialize;
use windlass_types::{Effort, ModelRequest, Thinking};

/// Minimum thinking budget that Claude takes, in tokens.
const MIN_BUDGET: u32 = 1_024;

/// Budgets from which on an effort is implied, for models that have efforts only.
const MEDIUM_BUDGET: u32 = 4_096;
const HIGH_BUDGET: u32 = 16_384;

/// `additionalModelRequestFields` of a request.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct AdditionalFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ReasoningFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OfEffort>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    anthropic_beta: &'a [String],
    #[serde(rename = "reasoningConfig", skip_serializing_if = "Option::is_none")]
    reasoning_config: Option<NovaReasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<OfEffort>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ReasoningFields {
    Enabled {
        budget_tokens: u32,
    },
    /// The newest models return the reasoning text only on request.
    Adaptive {
        display: &'static str,
    },
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct OfEffort {
    effort: &'static str,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct NovaReasoning {
    #[serde(rename = "type")]
    kind: &'static str,
    max_reasoning_effort: &'static str,
}

impl AdditionalFields<'_> {
    pub(super) fn is_empty(&self) -> bool {
        *self == AdditionalFields::default()
    }

    /// `true` if an output limit beside these fields would be refused.
    pub(super) fn forbids_limit(&self) -> bool {
        self.reasoning_config.as_ref().is_some_and(|config| config.max_reasoning_effort == "high")
    }
}

/// Returns the requested fields that the model supports.
pub(super) fn of<'a>(request: &'a ModelRequest, target: ConverseTarget<'_>) -> AdditionalFields<'a> {
    let mut fields = AdditionalFields::default();
    match target.family.dial {
        ReasoningControl::None => {}
        ReasoningControl::Claude => {
            fields.thinking = claude(request, target);
            fields.output_config = request.effort.map(|effort| OfEffort { effort: effort.as_str() });
            fields.anthropic_beta = &request.betas;
        }
        ReasoningControl::Nova => {
            // Reasoning is off unless it is requested.
            if request.thinking != Thinking::Off {
                let max_reasoning_effort = word(effort(request).unwrap_or(Effort::Medium), &NOVA);
                fields.reasoning_config = Some(NovaReasoning { kind: "enabled", max_reasoning_effort });
            }
        }
        ReasoningControl::Effort { off, words } => fields.reasoning_effort = asked(request, off, words),
        ReasoningControl::Reasoning { off, words } => {
            fields.reasoning = asked(request, off, words).map(|effort| OfEffort { effort });
        }
    }
    fields
}

const NOVA: [(Effort, &str); 3] = [(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

/// Returns the reasoning field of Claude: adaptive models refuse a budget, older ones take only a budget.
fn claude(request: &ModelRequest, target: ConverseTarget<'_>) -> Option<ReasoningFields> {
    let info = target.info;
    let most = request.max_output_tokens.saturating_sub(1);
    let budget = match request.thinking {
        Thinking::Off => return None,
        Thinking::Budget(budget) if info.thinking_budget => budget,
        _ if info.adaptive_thinking => return Some(ReasoningFields::Adaptive { display: "summarized" }),
        Thinking::Budget(budget) => budget,
        _ if info.thinking_budget => most,
        _ => return None,
    };
    // The output limit covers the reasoning, and must exceed the budget.
    (most >= MIN_BUDGET).then(|| ReasoningFields::Enabled { budget_tokens: budget.clamp(MIN_BUDGET, most) })
}

/// Returns the effort to request; `None` leaves it to the model. `off` is the value closest to no reasoning.
fn asked(request: &ModelRequest, off: &'static str, words: &[(Effort, &'static str)]) -> Option<&'static str> {
    match request.thinking {
        Thinking::Off => Some(off),
        _ => effort(request).map(|effort| word(effort, words)),
    }
}

fn effort(request: &ModelRequest) -> Option<Effort> {
    match (request.effort, request.thinking) {
        (Some(effort), _) => Some(effort),
        (None, Thinking::Budget(budget)) => Some(match budget {
            HIGH_BUDGET.. => Effort::High,
            MEDIUM_BUDGET.. => Effort::Medium,
            _ => Effort::Low,
        }),
        _ => None,
    }
}

/// Returns the word for an effort: the strongest one of the model that is not stronger, else the weakest.
fn word(effort: Effort, words: &[(Effort, &'static str)]) -> &'static str {
    let fitting = words.iter().rev().find(|(one, _)| *one <= effort).or_else(|| words.first());
    fitting.map_or("medium", |(_, word)| *word)
}
