//! Generation settings of a request.

use crate::models::ThinkingControl;
use crate::request::schema;
use crate::request::target::GeminiTarget;
use serde::Serialize;
use windlass_http::provider::JsonBody as Json;
use windlass_types::{Effort, ModelRequest, Thinking};

/// Budgets from which on a level is implied, for models that have levels only.
const MEDIUM_BUDGET: u32 = 4_096;
const HIGH_BUDGET: u32 = 16_384;

/// Writes the member `generationConfig`.
pub(super) fn write(out: &mut Json, request: &ModelRequest, target: &GeminiTarget<'_>) {
    out.raw("{\"maxOutputTokens\":");
    out.json(&request.max_output_tokens);
    if let Some(thinking) = thinking(request, target.family.dial) {
        out.raw(",\"thinkingConfig\":");
        out.json(&thinking);
    }
    if let Some(format) = &request.response_format {
        out.raw(",\"responseMimeType\":\"application/json\",\"responseJsonSchema\":");
        out.raw(&schema::accepted(format.schema.as_str()));
    }
    out.raw("}");
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
}

fn thinking(request: &ModelRequest, dial: ThinkingControl) -> Option<ThinkingConfig> {
    let include_thoughts = request.thinking != Thinking::Off;
    match dial {
        ThinkingControl::None => None,
        ThinkingControl::Level { .. } => {
            let thinking_level = level(request, dial);
            Some(ThinkingConfig { include_thoughts, thinking_level, thinking_budget: None })
        }
        ThinkingControl::Budget { least, most, can_be_off } => {
            let budget = match request.thinking {
                Thinking::Off if can_be_off => 0,
                Thinking::Off => i64::from(least),
                Thinking::Budget(budget) => i64::from(budget.clamp(least, most)),
                // The model decides.
                _ => -1,
            };
            Some(ThinkingConfig { include_thoughts, thinking_level: None, thinking_budget: Some(budget) })
        }
    }
}

/// Returns the level to request; `None` leaves it to the model. The API refuses levels that a model does not have.
fn level(request: &ModelRequest, dial: ThinkingControl) -> Option<&'static str> {
    let ThinkingControl::Level { has_minimal, has_low, has_medium, has_xhigh } = dial else { return None };
    let low = if has_low { "LOW" } else { "MINIMAL" };
    let effort = match (request.thinking, request.effort) {
        // These models always reason: the lowest level is closest.
        (Thinking::Off, _) => return Some(if has_minimal { "MINIMAL" } else { low }),
        (_, Some(effort)) => effort,
        (Thinking::Budget(budget), None) => match budget {
            HIGH_BUDGET.. => Effort::High,
            MEDIUM_BUDGET.. => Effort::Medium,
            _ => Effort::Low,
        },
        _ => return None,
    };
    Some(match effort {
        Effort::Low => low,
        Effort::Medium if has_medium => "MEDIUM",
        Effort::Medium if has_low => "LOW",
        Effort::XHigh | Effort::Max if has_xhigh => "XHIGH",
        _ => "HIGH",
    })
}
